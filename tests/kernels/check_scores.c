/* SPDX-License-Identifier: MIT */
/* The kernels with three dimensions: dot, sqdist, euclidean, mix. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"

enum { DOT, SQDIST, EUCLIDEAN, MIX };

struct worst check_score_worst[] = {
    [DOT] = {"dot", 0},
    [SQDIST] = {"sqdist", 0},
    [EUCLIDEAN] = {"euclidean", 0},
    [MIX] = {"mix", 0},
    {NULL, 0},
};

/*
 * A problem: n queries and m keys of d features (mix: n rows of m weights, m values of d columns)
 * and what they are filled with.
 */
struct problem {
    size_t n, m, d;
    enum fill q, key;
};

typedef void (*check_fn)(const struct problem *problem);

/* While one dimension runs through 0..LONGEST, the other two take these values. */
static const size_t others[][2] = {{1, 1}, {3, 17}, {16, 3}, {17, 44}, {64, 16}};

static void sweep(check_fn check)
{
    for (size_t o = 0; o < COUNT(others); o++) {
        const size_t a = others[o][0], b = others[o][1];
        check_seed(o + 1);
        for (size_t x = 0; x <= LONGEST; x = check_next(x)) {
            check(&(struct problem){x, a, b, FILL_UNIT, FILL_UNIT});
            check(&(struct problem){a, x, b, FILL_UNIT, FILL_UNIT});
            check(&(struct problem){a, b, x, FILL_UNIT, FILL_UNIT});
        }
    }
}

/* Fills whose products and sums stay finite. */
static const enum fill extremes[][2] = {
    {FILL_HUGE, FILL_TINY},   {FILL_TINY, FILL_HUGE},   {FILL_TINY, FILL_TINY},
    {FILL_DENORM, FILL_HUGE}, {FILL_DENORM, FILL_UNIT}, {FILL_UNIT, FILL_DENORM},
    {FILL_DENORM, FILL_TINY}, {FILL_LARGE, FILL_LARGE}, {FILL_SIGNS, FILL_SIGNS},
    {FILL_EQUAL, FILL_EQUAL}, {FILL_SIGNS, FILL_UNIT},  {FILL_DENORM, FILL_DENORM},
};

static void sweep_extremes(check_fn check, bool differences)
{
    static const size_t sizes[][3] = {{1, 65, 5}, {4, 16, 31}, {5, 17, 33}, {7, 40, 300}};
    for (size_t e = 0; e < COUNT(extremes); e++) {
        const enum fill q = extremes[e][0], key = extremes[e][1];
        if (differences && (q == FILL_HUGE || key == FILL_HUGE)) /* squares would overflow */
            continue;
        check_seed(100 + e);
        for (size_t s = 0; s < COUNT(sizes); s++)
            check(&(struct problem){sizes[s][0], sizes[s][1], sizes[s][2], q, key});
    }
}

/* Queries, keys, weights, and outputs of the tier and of the scalar table, poisoned. */
struct buffers {
    struct grid q, keys, w, out, scalar;
    float *panels;
};

/* An odd stride above the columns. */
static size_t odd_stride(size_t cols)
{
    return (cols + 3) | 1;
}

static struct buffers buffers_make(const struct problem *p)
{
    struct buffers b = {
        .q = grid_make(p->n, p->d, odd_stride(p->d)),
        .keys = grid_make(p->m, p->d, p->d),
        .w = grid_make(1, p->d, p->d),
        .out = grid_make(p->n, p->m, odd_stride(p->m)),
        .scalar = grid_make(p->n, p->m, odd_stride(p->m)),
    };
    grid_fill(&b.q, p->q);
    grid_fill(&b.keys, p->key);
    grid_fill(&b.w, FILL_UNIT);
    b.panels = check_pack(&b.keys);
    return b;
}

static void buffers_free(struct buffers *b)
{
    grid_free(&b->q);
    grid_free(&b->keys);
    grid_free(&b->w);
    grid_free(&b->out);
    grid_free(&b->scalar);
    free(b->panels);
}

#define AT "%zu × %zu × %zu at (%zu, %zu)"
#define AT_VALUES p->n, p->m, p->d, i, j

/*
 * A float sum over NL_SUM_CHUNK features has an error of at most NL_SUM_CHUNK · u · Σ|terms|, and
 * the answer is rounded once more. Sums in double add nothing that counts. Every step that ends
 * below the normal floats adds TINY.
 */
static void check_dot(const struct problem *p)
{
    struct buffers b = buffers_make(p);
    check_tier->dot(b.q.data, b.q.stride, p->n, b.panels, p->m, p->d, b.out.data, b.out.stride);
    nl_kernels_scalar.dot(b.q.data, b.q.stride, p->n, b.panels, p->m, p->d, b.scalar.data,
                          b.scalar.stride);
    grid_check_written(&b.out, "dot");
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->m; j++) {
            double sum = 0, size = 0;
            for (size_t k = 0; k < p->d; k++) {
                const double term = (double)*grid_at(&b.q, i, k) * (double)*grid_at(&b.keys, j, k);
                sum += term;
                size += fabs(term);
            }
            const double got = (double)*grid_at(&b.out, i, j);
            const double scalar = (double)*grid_at(&b.scalar, i, j);
            const double bound =
                (NL_SUM_CHUNK + 1) * UNIT * SECOND_ORDER * size + (double)(p->d + 1) * TINY;
            check_close(&check_score_worst[DOT], got, sum, bound, AT, AT_VALUES);
            check_close(&check_score_worst[DOT], got, scalar, bound + UNIT * size, AT ", scalar",
                        AT_VALUES);
        }
    }
    buffers_free(&b);
}

/*
 * As dot, and each term w · (q − k) · (q − k) has three more roundings: the difference (twice in
 * the product) and its product with w. That product may lose TINY, which the difference multiplies.
 */
static void check_sqdist(const struct problem *p)
{
    struct buffers b = buffers_make(p);
    check_tier->sqdist(b.q.data, b.q.stride, p->n, b.w.data, b.panels, p->m, p->d, b.out.data,
                       b.out.stride);
    nl_kernels_scalar.sqdist(b.q.data, b.q.stride, p->n, b.w.data, b.panels, p->m, p->d,
                             b.scalar.data, b.scalar.stride);
    grid_check_written(&b.out, "sqdist");
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->m; j++) {
            double sum = 0, size = 0, lost = TINY;
            for (size_t k = 0; k < p->d; k++) {
                const double difference =
                    (double)*grid_at(&b.q, i, k) - (double)*grid_at(&b.keys, j, k);
                const double term = (double)*grid_at(&b.w, 0, k) * difference * difference;
                sum += term;
                size += fabs(term);
                lost += TINY * (1 + fabs(difference));
            }
            const double got = (double)*grid_at(&b.out, i, j);
            const double scalar = (double)*grid_at(&b.scalar, i, j);
            const double bound = (NL_SUM_CHUNK + 4) * UNIT * SECOND_ORDER * size + lost;
            check_close(&check_score_worst[SQDIST], got, sum, bound, AT, AT_VALUES);
            check_close(&check_score_worst[SQDIST], got, scalar, bound + UNIT * size, AT ", scalar",
                        AT_VALUES);
        }
    }
    buffers_free(&b);
}

/*
 * One chain: the difference counts twice, then d additions, all of positive terms, so the relative
 * error of the sum is at most (d + 2) u; the root halves it and rounds. What the sum loses below
 * the normal floats, d · TINY, shows as its root at most.
 */
static void check_euclidean(const struct problem *p)
{
    struct buffers b = buffers_make(p);
    check_tier->euclidean(b.q.data, b.q.stride, p->n, b.panels, p->m, p->d, b.out.data,
                          b.out.stride);
    nl_kernels_scalar.euclidean(b.q.data, b.q.stride, p->n, b.panels, p->m, p->d, b.scalar.data,
                                b.scalar.stride);
    grid_check_written(&b.out, "euclidean");
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->m; j++) {
            double sum = 0;
            for (size_t k = 0; k < p->d; k++) {
                const double difference =
                    (double)*grid_at(&b.q, i, k) - (double)*grid_at(&b.keys, j, k);
                sum += difference * difference;
            }
            const double steps = (double)p->d;
            const double bound =
                ((steps + 2) / 2 + 1) * UNIT * SECOND_ORDER * sqrt(sum) + sqrt(steps * TINY);
            check_close(&check_score_worst[EUCLIDEAN], (double)*grid_at(&b.out, i, j), sqrt(sum),
                        bound, AT, AT_VALUES);
            check_same_bits(*grid_at(&b.out, i, j), *grid_at(&b.scalar, i, j),
                            "euclidean, " AT ", scalar", AT_VALUES);
        }
    }
    buffers_free(&b);
}

/* Keys that mix adds up in float before it goes on in double. */
enum { MIX_CHUNK = 128 };

/* y = A · V, with the problem's n rows of m weights and m values of d columns; bound as for dot. */
static void check_mix(const struct problem *p)
{
    struct grid a = grid_make(p->n, p->m, odd_stride(p->m));
    struct grid v = grid_make(p->m, p->d, odd_stride(p->d));
    struct grid y = grid_make(p->n, p->d, odd_stride(p->d));
    struct grid scalar = grid_make(p->n, p->d, odd_stride(p->d));
    grid_fill(&a, p->q);
    grid_fill(&v, p->key);
    check_tier->mix(a.data, a.stride, p->n, p->m, v.data, v.stride, p->d, y.data, y.stride);
    nl_kernels_scalar.mix(a.data, a.stride, p->n, p->m, v.data, v.stride, p->d, scalar.data,
                          scalar.stride);
    grid_check_written(&y, "mix");
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->d; j++) {
            double sum = 0, size = 0;
            for (size_t k = 0; k < p->m; k++) {
                const double term = (double)*grid_at(&a, i, k) * (double)*grid_at(&v, k, j);
                sum += term;
                size += fabs(term);
            }
            const double got = (double)*grid_at(&y, i, j);
            const double bound =
                (MIX_CHUNK + 1) * UNIT * SECOND_ORDER * size + (double)(p->m + 1) * TINY;
            check_close(&check_score_worst[MIX], got, sum, bound, AT, AT_VALUES);
            check_close(&check_score_worst[MIX], got, (double)*grid_at(&scalar, i, j),
                        bound + UNIT * size, AT ", scalar", AT_VALUES);
        }
    }
    grid_free(&a);
    grid_free(&v);
    grid_free(&y);
    grid_free(&scalar);
}

static void test_dot_sizes(void **state)
{
    (void)state;
    sweep(check_dot);
}

static void test_dot_extremes(void **state)
{
    (void)state;
    sweep_extremes(check_dot, false);
}

static void test_sqdist_sizes(void **state)
{
    (void)state;
    sweep(check_sqdist);
}

static void test_sqdist_extremes(void **state)
{
    (void)state;
    sweep_extremes(check_sqdist, true);
}

static void test_euclidean_sizes(void **state)
{
    (void)state;
    sweep(check_euclidean);
}

static void test_euclidean_extremes(void **state)
{
    (void)state;
    sweep_extremes(check_euclidean, true);
}

static void test_mix_sizes(void **state)
{
    (void)state;
    sweep(check_mix);
}

static void test_mix_extremes(void **state)
{
    (void)state;
    sweep_extremes(check_mix, false);
}

/* Sums beyond the largest float are infinite, not NaN, and only where they are. */
static void test_overflow(void **state)
{
    (void)state;
    const struct problem p = {5, 70, 40, FILL_HUGE, FILL_UNIT};
    struct buffers b = buffers_make(&p);
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < p.d; k++)
            *grid_at(&b.q, i, k) = i == 2 ? 1.0f : 2e38f;
    for (size_t at = 0; at < nl_panels_size(p.m, p.d); at++)
        b.panels[at] = 3;
    check_tier->dot(b.q.data, b.q.stride, p.n, b.panels, p.m, p.d, b.out.data, b.out.stride);
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < p.m; j++)
            assert_true(*grid_at(&b.out, i, j) == (i == 2 ? 120.0f : INFINITY));
    check_tier->euclidean(b.q.data, b.q.stride, p.n, b.panels, p.m, p.d, b.out.data, b.out.stride);
    for (size_t i = 0; i < p.n; i++)
        for (size_t j = 0; j < p.m; j++)
            assert_true(*grid_at(&b.out, i, j) == (i == 2 ? sqrtf(160.0f) : INFINITY));
    buffers_free(&b);
}

/* Equal rows are exactly 0 apart, whatever is in them. */
static void test_equal_rows(void **state)
{
    (void)state;
    static const enum fill fills[] = {FILL_UNIT, FILL_HUGE, FILL_DENORM, FILL_SIGNS};
    for (size_t f = 0; f < COUNT(fills); f++) {
        const struct problem p = {21, 21, 37, fills[f], fills[f]};
        struct buffers b = buffers_make(&p);
        for (size_t j = 0; j < p.m; j++)
            for (size_t k = 0; k < p.d; k++)
                b.panels[(j / NL_LANES * p.d + k) * NL_LANES + j % NL_LANES] =
                    *grid_at(&b.q, 20 - j, k);
        check_tier->sqdist(b.q.data, b.q.stride, p.n, b.w.data, b.panels, p.m, p.d, b.out.data,
                           b.out.stride);
        for (size_t i = 0; i < p.n; i++)
            assert_true(*grid_at(&b.out, i, 20 - i) == 0);
        check_tier->euclidean(b.q.data, b.q.stride, p.n, b.panels, p.m, p.d, b.out.data,
                              b.out.stride);
        for (size_t i = 0; i < p.n; i++)
            check_same_bits(*grid_at(&b.out, i, 20 - i), 0.0f, "euclidean of equal rows");
        buffers_free(&b);
    }
}

/*
 * A key's score does not depend on its place among the keys nor on how many queries go along: the
 * same key everywhere gives the same score everywhere, bit for bit.
 */
static void test_place_does_not_matter(void **state)
{
    (void)state;
    const struct problem p = {6, 150, 101, FILL_UNIT, FILL_UNIT};
    struct buffers b = buffers_make(&p);
    for (size_t i = 1; i < p.n; i++)
        for (size_t k = 0; k < p.d; k++)
            *grid_at(&b.q, i, k) = *grid_at(&b.q, 0, k);
    for (size_t j = 0; j < p.m; j++)
        for (size_t k = 0; k < p.d; k++)
            b.panels[(j / NL_LANES * p.d + k) * NL_LANES + j % NL_LANES] = *grid_at(&b.keys, 0, k);
    for (int kernel = 0; kernel < 2; kernel++) {
        if (kernel == 0)
            check_tier->dot(b.q.data, b.q.stride, p.n, b.panels, p.m, p.d, b.out.data,
                            b.out.stride);
        else
            check_tier->sqdist(b.q.data, b.q.stride, p.n, b.w.data, b.panels, p.m, p.d, b.out.data,
                               b.out.stride);
        for (size_t i = 0; i < p.n; i++)
            for (size_t j = 0; j < p.m; j++)
                check_same_bits(*grid_at(&b.out, i, j), *grid_at(&b.out, 0, 0),
                                "kernel %d, (%zu, %zu)", kernel, i, j);
    }
    buffers_free(&b);
}

/* A sum over many features is no worse than over few: the bounds above do not grow with d. */
static void test_long_sums(void **state)
{
    (void)state;
    check_seed(7);
    check_dot(&(struct problem){5, 33, 20000, FILL_EQUAL, FILL_EQUAL});
    check_sqdist(&(struct problem){5, 33, 20000, FILL_EQUAL, FILL_UNIT});
    check_mix(&(struct problem){5, 20000, 33, FILL_EQUAL, FILL_EQUAL});
}

int check_scores(const char *tier)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dot_sizes),
        cmocka_unit_test(test_dot_extremes),
        cmocka_unit_test(test_sqdist_sizes),
        cmocka_unit_test(test_sqdist_extremes),
        cmocka_unit_test(test_euclidean_sizes),
        cmocka_unit_test(test_euclidean_extremes),
        cmocka_unit_test(test_mix_sizes),
        cmocka_unit_test(test_mix_extremes),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_place_does_not_matter),
        cmocka_unit_test(test_long_sums),
    };
    return cmocka_run_group_tests_name(tier, tests, NULL, NULL);
}
