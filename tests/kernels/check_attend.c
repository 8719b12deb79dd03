/* SPDX-License-Identifier: MIT */
/* Fused attention and what prepares it: attend, pack, largest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct worst check_attend_worst[] = {{"attend", 0}, {NULL, 0}};

/* A block of queries and what it reads. */
struct trial {
    size_t n, m, d, dv;
    bool distance, shift;
    enum fill fill;
    double scale;
};

/* Values by channel: panel c holds NL_LANES channels of every key. */
static float *pack_values(const struct grid *v)
{
    float *packed = calloc(nl_panels_size(v->cols, 1) * v->rows, sizeof *packed);
    assert_non_null(packed);
    for (size_t j = 0; j < v->rows; j++)
        for (size_t c = 0; c < v->cols; c++)
            packed[c / NL_LANES * NL_LANES * v->rows + j * NL_LANES + c % NL_LANES] =
                *grid_at(v, j, c);
    return packed;
}

/* Exponent of query i and key j in base 2, and the sum of its terms' magnitudes. */
static double exponent(const struct nl_attend_block *b, const struct grid *keys, size_t i, size_t j,
                       double *size)
{
    double sum = b->shift ? -(double)b->shift[j] : 0;
    *size = fabs(sum);
    for (size_t k = 0; k < b->d; k++) {
        const double q = (double)b->q[i * b->q_stride + k], key = (double)*grid_at(keys, j, k);
        const double term =
            b->distance ? -(double)b->omega[k] * (q - key) * (q - key) : (double)b->scale * q * key;
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

/*
 * An exponent's chains are at most 64 features long, then ceil(d/64) of their sums are added, with
 * three roundings more a term (scale, difference, ω): Δe <= (64 + d/64 + 4) u Σ|terms|. A weight is
 * off by ln 2 · Δe and the exponential's 2.1e-7, with its own rounding 2.8e-7; y, a mean of values,
 * by twice the largest relative error of a weight and by one rounding a key, times max |v|.
 */
static void check_answers(const struct nl_attend_block *b, const struct grid *keys,
                          const struct grid *v, const struct grid *y, const struct trial *t)
{
    double *e = malloc(b->m * sizeof *e);
    assert_non_null(e);
    for (size_t i = 0; i < b->n; i++) {
        double top = -INFINITY, total = 0, slack = 0;
        for (size_t j = 0; j < b->m; j++) {
            double size;
            e[j] = exponent(b, keys, i, j, &size);
            top = fmax(top, e[j]);
            slack = fmax(slack, size * UNIT * (double)(64 + b->d / 64 + 4));
        }
        for (size_t j = 0; j < b->m; j++)
            total += e[j] = exp2(e[j] - top);
        for (size_t c = 0; c < b->dv; c++) {
            double sum = 0, largest = 0;
            for (size_t j = 0; j < b->m; j++) {
                sum += e[j] * (double)*grid_at(v, j, c);
                largest = fmax(largest, fabs((double)*grid_at(v, j, c)));
            }
            const double weight = exp(0.6931472 * slack) - 1 + 2.8e-7;
            const double bound =
                (2 * weight + (double)(b->m + 8) * UNIT) * largest * SECOND_ORDER + TINY;
            check_close(&check_attend_worst[0], (double)*grid_at(y, i, c), sum / total, bound,
                        "attend n %zu m %zu d %zu dv %zu fill %d at %zu %zu", t->n, t->m, t->d,
                        t->dv, (int)t->fill, i, c);
        }
    }
    free(e);
}

static void run(const struct trial *t)
{
    struct grid q = grid_make(t->n, t->d, t->d + 3), keys = grid_make(t->m, t->d, t->d + 1);
    struct grid v = grid_make(t->m, t->dv, t->dv), y = grid_make(t->n, t->dv, t->dv + 5);
    float *shift = malloc((t->m + 1) * sizeof *shift), *omega = malloc((t->d + 1) * sizeof *omega);
    float *scratch = aligned_alloc(64, (nl_attend_scratch(t->d, t->dv) * 4 + 63) / 64 * 64);
    assert_true(shift && omega && scratch);
    check_seed(t->n * 1000003 + t->m * 10007 + t->d * 101 + t->dv);
    grid_fill(&q, t->fill);
    grid_fill(&keys, t->fill);
    grid_fill(&v, FILL_UNIT);
    for (size_t j = 0; j < t->m; j++)
        shift[j] = 20 * check_number(FILL_UNIT);
    for (size_t k = 0; k < t->d; k++)
        omega[k] = (float)t->scale * (1.5f + check_number(FILL_UNIT));
    float *panels = check_pack(&keys), *values = pack_values(&v);
    const struct nl_attend_block block = {
        .q = q.data,
        .q_stride = q.stride,
        .n = t->n,
        .d = t->d,
        .keys = panels,
        .m = t->m,
        .values = values,
        .dv = t->dv,
        .distance = t->distance,
        .scale = (float)t->scale,
        .shift = t->shift ? shift : NULL,
        .omega = t->distance ? omega : NULL,
        .y = y.data,
        .y_stride = y.stride,
        .scratch = scratch,
    };
    check_tier->attend(&block);
    grid_check_written(&y, "attend");
    check_answers(&block, &keys, &v, &y, t);
    free(panels);
    free(values);
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
        for (int distance = 0; distance < 2; distance++) {
            const bool shift = size % 2 == 0;
            if (size <= NL_ATTEND_BLOCK)
                run(&(struct trial){size, 21, 5, 3, distance, shift, FILL_UNIT, 1});
            run(&(struct trial){17, size, 5, 3, distance, shift, FILL_UNIT, 1});
            run(&(struct trial){5, 19, size, 3, distance, shift, FILL_UNIT, 0.3});
            run(&(struct trial){5, 19, 7, size, distance, shift, FILL_UNIT, 1});
        }
    }
    run(&(struct trial){NL_ATTEND_BLOCK, 1000, 65, 49, false, true, FILL_UNIT, 1});
}

/* Sharp rows, equal scores, exponents in the thousands, numbers without a span. */
static void test_attend_values(void **state)
{
    static const double scales[] = {1e-6, 1, 30, 1e4};
    (void)state;
    for (size_t s = 0; s < COUNT(scales); s++) {
        for (int distance = 0; distance < 2; distance++) {
            run(&(struct trial){50, 300, 3, 17, distance, false, FILL_UNIT, scales[s]});
            run(&(struct trial){50, 300, 3, 17, distance, false, FILL_SIGNS, scales[s]});
            run(&(struct trial){3, 300, 4, 5, distance, true, FILL_EQUAL, scales[s]});
            run(&(struct trial){3, 40, 4, 5, distance, false, FILL_DENORM, scales[s]});
            run(&(struct trial){3, 40, 4, 5, distance, false, FILL_TINY, scales[s]});
        }
    }
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
        cmocka_unit_test(test_attend_sizes),
        cmocka_unit_test(test_attend_values),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_largest),
    };
    return cmocka_run_group_tests_name(tier, tests, NULL, NULL);
}
