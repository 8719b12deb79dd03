/* SPDX-License-Identifier: MIT */
/* Fused attention and what prepares it: attend, pack, largest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct worst check_attend_worst[] = {{"attend", 0}, {"attend sums", 0}, {NULL, 0}};

/* A block of queries and what it reads. */
struct trial {
    size_t n, m, d, dv;
    enum nl_attend_kind kind;
    bool shift;
    enum fill fill;
    double scale;
    double slope; /* by which exponents grow from key to key, with shift */
};

static bool is_softmax(const struct nl_attend_block *b)
{
    return b->kind == NL_ATTEND_SOFTMAX || b->kind == NL_ATTEND_DISTANCE;
}

/* Exponent of query i and key j in base 2 (or their weight), and the sum of its terms' magnitudes.
 */
static double score(const struct nl_attend_block *b, const struct grid *keys, size_t i, size_t j,
                    double *size)
{
    double sum = b->shift && is_softmax(b) ? -(double)b->shift[j] : 0;
    *size = fabs(sum);
    for (size_t k = 0; k < b->d; k++) {
        const double q = (double)b->q[i * b->q_stride + k], key = (double)*grid_at(keys, j, k);
        double term = (double)b->scale * q * key;
        if (b->kind == NL_ATTEND_DISTANCE)
            term = -(double)b->omega[k] * (q - key) * (q - key);
        if (b->kind == NL_ATTEND_RELU)
            term = (double)b->scale * fmax(q + key, 0);
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/* An exponent's chains are at most 64 features long, then ceil(d/64) of their sums are added, with
 * three roundings more a term (scale, difference, ω): Δe <= (64 + d/64 + 4) u Σ|terms|. */
static double score_error(const struct nl_attend_block *b, double size)
{
    return size * UNIT * (double)(64 + b->d / 64 + 4);
}

/* y is added up in chains of NL_ATTEND_KEYS keys, whose sums are then added. */
static double chain_error(const struct nl_attend_block *b)
{
    const size_t chain = b->m < NL_ATTEND_KEYS ? b->m : NL_ATTEND_KEYS;
    return (double)(chain + b->m / NL_ATTEND_KEYS + 8) * UNIT;
}

/*
 * A weight is off by ln 2 · Δe and the exponential's 1.7e-7, with its own rounding 2.3e-7; y, a
 * mean of values, by twice the largest relative error of a weight and by one rounding a key in the
 * chain, times max |v|.
 */
static double mean_bound(const struct nl_attend_block *b, const struct grid *v, size_t c,
                         double slack)
{
    double largest = 0;
    for (size_t j = 0; j < b->m; j++)
        largest = fmax(largest, fabs((double)*grid_at(v, j, c)));
    const double weight = exp(0.6931472 * slack) - 1 + 2.3e-7;
    return (2 * weight + chain_error(b)) * largest;
}

/* Without softmax each weight brings its own error, and each rounding of the chain that of what has
 * been added up: at most Σ |a v|. */
static double sum_bound(const struct nl_attend_block *b, const struct grid *keys,
                        const struct grid *v, size_t i, size_t c)
{
    double bound = 0;
    for (size_t j = 0; j < b->m; j++) {
        double size;
        const double weight = fabs(score(b, keys, i, j, &size));
        bound += (score_error(b, size) + chain_error(b) * weight + TINY) *
                 fabs((double)*grid_at(v, j, c));
    }
    return bound;
}

static void check_answers(const struct nl_attend_block *b, const struct grid *keys,
                          const struct grid *v, const struct grid *y, const struct trial *t)
{
    double *e = malloc(b->m * sizeof *e);
    assert_non_null(e);
    for (size_t i = 0; i < b->n; i++) {
        double top = -INFINITY, total = 0, slack = 0;
        for (size_t j = 0; j < b->m; j++) {
            double size;
            e[j] = score(b, keys, i, j, &size);
            top = fmax(top, e[j]);
            slack = fmax(slack, score_error(b, size));
        }
        for (size_t j = 0; is_softmax(b) && j < b->m; j++)
            total += e[j] = exp2(e[j] - top);
        for (size_t c = 0; c < b->dv; c++) {
            double sum = 0;
            for (size_t j = 0; j < b->m; j++)
                sum += e[j] * (double)*grid_at(v, j, c);
            const double bound =
                is_softmax(b) ? mean_bound(b, v, c, slack) : sum_bound(b, keys, v, i, c);
            check_close(&check_attend_worst[is_softmax(b) ? 0 : 1], (double)*grid_at(y, i, c),
                        is_softmax(b) ? sum / total : sum, bound * SECOND_ORDER + TINY,
                        "attend kind %d n %zu m %zu d %zu dv %zu fill %d at %zu %zu", (int)t->kind,
                        t->n, t->m, t->d, t->dv, (int)t->fill, i, c);
        }
    }
    free(e);
}

static void run(const struct trial *t)
{
    struct grid q = grid_make(t->n, t->d, t->d + 3), keys = grid_make(t->m, t->d, t->d + 1);
    struct grid v = grid_make(t->m, t->dv, t->dv + 2), y = grid_make(t->n, t->dv, t->dv + 5);
    float *shift = malloc((t->m + 1) * sizeof *shift), *omega = malloc((t->d + 1) * sizeof *omega);
    float *scratch = aligned_alloc(64, (nl_attend_scratch(t->d, t->dv) * 4 + 63) / 64 * 64);
    assert_true(shift && omega && scratch);
    check_seed(t->n * 1000003 + t->m * 10007 + t->d * 101 + t->dv);
    grid_fill(&q, t->fill);
    grid_fill(&keys, t->fill);
    grid_fill(&v, FILL_UNIT);
    for (size_t j = 0; j < t->m; j++)
        shift[j] = 20 * check_number(FILL_UNIT) - (float)(t->slope * (double)j);
    for (size_t k = 0; k < t->d; k++)
        omega[k] = (float)t->scale * (1.5f + check_number(FILL_UNIT));
    float *panels = check_pack(&keys);
    struct grid line = grid_make(1, t->m, t->m); /* keys of one feature, unpacked */
    for (size_t j = 0; j < t->m; j++)
        line.data[j] = *grid_at(&keys, j, 0);
    const struct nl_attend_block block = {
        .kind = t->kind,
        .q = q.data,
        .q_stride = q.stride,
        .n = t->n,
        .d = t->d,
        .keys = t->kind == NL_ATTEND_RELU ? line.data : panels,
        .m = t->m,
        .values = v.data,
        .v_stride = v.stride,
        .dv = t->dv,
        .scale = (float)t->scale,
        .shift = t->shift ? shift : NULL,
        .omega = t->kind == NL_ATTEND_DISTANCE ? omega : NULL,
        .y = y.data,
        .y_stride = y.stride,
        .scratch = scratch,
    };
    assert_true(check_tier->attend(&block));
    grid_check_written(&y, "attend");
    check_answers(&block, &keys, &v, &y, t);
    free(panels);
    grid_free(&line);
    free(scratch);
    free(omega);
    free(shift);
    grid_free(&q);
    grid_free(&keys);
    grid_free(&v);
    grid_free(&y);
}

static void test_attend_sizes(void **state)
{
    (void)state;
    for (size_t size = 1; size <= LONGEST; size = check_next(size)) {
        for (enum nl_attend_kind kind = 0; kind <= NL_ATTEND_RELU; kind++) {
            const bool shift = size % 2 == 0;
            const size_t d = kind == NL_ATTEND_RELU ? 1 : 5;
            if (size <= NL_ATTEND_BLOCK)
                run(&(struct trial){size, 21, d, 3, kind, shift, FILL_UNIT, 1});
            run(&(struct trial){17, size, d, 3, kind, shift, FILL_UNIT, 1});
            if (kind != NL_ATTEND_RELU)
                run(&(struct trial){5, 19, size, 3, kind, shift, FILL_UNIT, 0.3});
            run(&(struct trial){5, 19, d, size, kind, shift, FILL_UNIT, 1});
        }
    }
    run(&(struct trial){NL_ATTEND_BLOCK, 1000, 65, 49, NL_ATTEND_SOFTMAX, true, FILL_UNIT, 1});
    run(&(struct trial){NL_ATTEND_BLOCK, 1000, 65, 49, NL_ATTEND_PRODUCT, false, FILL_UNIT, 1});
}

/* Sharp rows, equal scores, exponents in the thousands, numbers without a span. */
static void test_attend_values(void **state)
{
    static const double scales[] = {1e-6, 1, 30, 1e4};
    (void)state;
    for (size_t s = 0; s < COUNT(scales); s++) {
        for (enum nl_attend_kind kind = 0; kind <= NL_ATTEND_RELU; kind++) {
            const size_t d = kind == NL_ATTEND_RELU ? 1 : 3, d4 = kind == NL_ATTEND_RELU ? 1 : 4;
            run(&(struct trial){50, 300, d, 17, kind, false, FILL_UNIT, scales[s]});
            run(&(struct trial){50, 300, d, 17, kind, false, FILL_SIGNS, scales[s]});
            run(&(struct trial){3, 300, d4, 5, kind, true, FILL_EQUAL, scales[s]});
            run(&(struct trial){3, 40, d4, 5, kind, false, FILL_DENORM, scales[s]});
            run(&(struct trial){3, 40, d4, 5, kind, false, FILL_TINY, scales[s]});
        }
    }
}

/* Maxima that grow, by little and by much, from one block of keys to the next; or fall. */
static void test_attend_slopes(void **state)
{
    static const double slopes[] = {0.01, 0.1, 0.3, 1, 3, 30, 1e4, -0.3, -30};
    (void)state;
    for (size_t s = 0; s < COUNT(slopes); s++)
        for (enum nl_attend_kind kind = 0; kind <= NL_ATTEND_DISTANCE; kind++)
            run(&(struct trial){50, 700, 3, 9, kind, true, FILL_UNIT, 1, slopes[s]});
}

struct countdown {
    int left, asked;
};

static bool run_out(void *context)
{
    struct countdown *countdown = context;
    countdown->asked++;
    return countdown->left-- == 0;
}

/* Asked after every block of keys at the latest, and obeyed. */
static void test_attend_stops(void **state)
{
    enum { N = 50, M = 5 * NL_ATTEND_KEYS, D = 3, DV = 2 };
    float *x = calloc(M * D, sizeof *x), *y = calloc(N * DV, sizeof *y);
    float *keys = calloc(nl_panels_size(M, D), sizeof *keys);
    float *scratch = aligned_alloc(64, (nl_attend_scratch(D, DV) * 4 + 63) / 64 * 64);
    struct countdown countdown = {-1, 0};
    (void)state;
    assert_true(x && y && keys && scratch);
    const struct nl_attend_block block = {.q = x,
                                          .q_stride = D,
                                          .n = N,
                                          .d = D,
                                          .keys = keys,
                                          .m = M,
                                          .values = x,
                                          .v_stride = D,
                                          .dv = DV,
                                          .scale = 1,
                                          .y = y,
                                          .y_stride = DV,
                                          .scratch = scratch,
                                          .stop = run_out,
                                          .context = &countdown};
    assert_true(check_tier->attend(&block));
    const int asked = countdown.asked;
    assert_true(asked >= M / NL_ATTEND_KEYS);
    for (int left = 0; left < asked; left++) {
        countdown = (struct countdown){left, 0};
        assert_false(check_tier->attend(&block));
        assert_int_equal(countdown.asked, left + 1);
    }
    free(x);
    free(y);
    free(keys);
    free(scratch);
}

static void test_pack(void **state)
{
    (void)state;
    for (size_t size = 1; size <= LONGEST; size = check_next(size)) {
        for (int way = 0; way < 2; way++) {
            const size_t m = way ? size : 37, d = way ? 11 : size;
            struct grid rows = grid_make(m, d, d + 7);
            struct grid packed = grid_make(1, nl_panels_size(m, d), nl_panels_size(m, d));
            check_seed(size);
            grid_fill(&rows, FILL_UNIT);
            check_tier->pack(rows.data, rows.stride, m, d, packed.data);
            grid_check_written(&packed, "pack");
            float *expected = check_pack(&rows);
            assert_memory_equal(packed.data, expected, packed.cols * sizeof(float));
            free(expected);
            grid_free(&rows);
            grid_free(&packed);
        }
    }
}

static void test_largest(void **state)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    assert_true(check_tier->largest(NULL, 0) == 0);
    for (size_t size = 1; size <= LONGEST; size = check_next(size)) {
        struct grid x = grid_make(1, size, size);
        check_seed(size);
        grid_fill(&x, size % 3 ? FILL_UNIT : FILL_HUGE);
        float expected = 0;
        for (size_t k = 0; k < size; k++)
            expected = fmaxf(expected, fabsf(x.data[k]));
        assert_true(check_tier->largest(x.data, size) == expected);
        for (size_t o = 0; o < COUNT(odd); o++) { /* wherever it stands */
            const size_t at = (size * 7 + o) % size;
            const float keep = x.data[at];
            x.data[at] = odd[o];
            assert_true(isnan(check_tier->largest(x.data, size)));
            x.data[at] = keep;
        }
        grid_free(&x);
    }
    assert_true(check_tier->peak(1000) > 0);
}

int check_attend(const char *tier)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attend_sizes),  cmocka_unit_test(test_attend_values),
        cmocka_unit_test(test_attend_slopes), cmocka_unit_test(test_attend_stops),
        cmocka_unit_test(test_pack),          cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests_name(tier, tests, NULL, NULL);
}
