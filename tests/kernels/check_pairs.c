/* SPDX-License-Identifier: MIT */
/*
 * The kernels of dissimilarities and orders: squares, manhattan, chebyshev, chord, any_below,
 * place, min_plus. All of them have the scalar statement's bits, and so the bounds are those of one
 * chain of roundings.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { SQUARES, MANHATTAN, CHEBYSHEV, CHORD, KINDS };

struct worst check_pair_worst[] = {
    [SQUARES] = {"squares", 0},
    [MANHATTAN] = {"manhattan", 0},
    [CHEBYSHEV] = {"chebyshev", 0},
    [CHORD] = {"chord", 0},
    {NULL, 0},
};

typedef void (*pair_fn)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                        size_t d, float *out, size_t out_stride);

static pair_fn kernel_of(const struct nl_kernels *kernels, int kind)
{
    const pair_fn kernels_of[KINDS] = {kernels->squares, kernels->manhattan, kernels->chebyshev,
                                       kernels->chord};
    return kernels_of[kind];
}

/* The sum in double, and how far off one chain of floats may be. */
struct exact {
    double value, bound;
};

/*
 * Squares: the difference counts twice, then d additions of positive terms. Manhattan: one rounding
 * a difference, d additions. Chebyshev: one rounding. Chord: three roundings a difference, which
 * count twice; the low halves are small, but the high ones may cancel, so that bound is of what the
 * parts are. Below the normal floats each rounding can lose TINY.
 */
static struct exact exact_pair(int kind, const float *q, const float *key, size_t d)
{
    const double steps = (double)d, u = UNIT * SECOND_ORDER;
    double sum = 0, largest = 0, slack = 0;
    for (size_t k = 0; k < d; k++) {
        double difference = (double)q[k] - (double)key[k], size;
        if (kind == CHORD) {
            const double low = (double)q[2 * k + 1] - (double)key[2 * k + 1];
            difference = (double)q[2 * k] - (double)key[2 * k];
            size = fabs(difference) + fabs(low);
            difference += low;
            slack += fabs(difference) * 2 * size * u + size * size * u * u;
        }
        sum += kind == MANHATTAN ? fabs(difference) : difference * difference;
        largest = fmax(largest, fabs(difference));
    }
    switch (kind) {
    case SQUARES:
        return (struct exact){sum, (steps + 2) * u * sum + 2 * steps * TINY};
    case MANHATTAN:
        return (struct exact){sum, (steps + 1) * u * sum + 2 * steps * TINY};
    case CHEBYSHEV:
        return (struct exact){largest, u * largest + TINY};
    default:
        return (struct exact){sum / 2, (steps + 3) * u * sum + 2 * slack + 2 * steps * TINY};
    }
}

struct problem {
    size_t n, m, d;
    enum fill q, key;
};

static void check_kind(int kind, const struct problem *p)
{
    const size_t width = kind == CHORD ? 2 * p->d : p->d;
    struct grid q = grid_make(p->n, width, (width + 3) | 1), keys = grid_make(p->m, width, width);
    struct grid out = grid_make(p->n, p->m, (p->m + 3) | 1);
    struct grid scalar = grid_make(p->n, p->m, (p->m + 3) | 1);
    const char *name = check_pair_worst[kind].name;
    grid_fill(&q, p->q);
    grid_fill(&keys, p->key);
    float *panels = check_pack(&keys);
    kernel_of(check_tier, kind)(q.data, q.stride, p->n, panels, p->m, p->d, out.data, out.stride);
    kernel_of(&nl_kernels_scalar, kind)(q.data, q.stride, p->n, panels, p->m, p->d, scalar.data,
                                        scalar.stride);
    grid_check_written(&out, name);
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->m; j++) {
            const struct exact exact =
                exact_pair(kind, grid_at(&q, i, 0), grid_at(&keys, j, 0), p->d);
            check_close(&check_pair_worst[kind], (double)*grid_at(&out, i, j), exact.value,
                        exact.bound, "(%zu, %zu) of %zu × %zu × %zu", i, j, p->n, p->m, p->d);
            check_same_bits(*grid_at(&out, i, j), *grid_at(&scalar, i, j),
                            "%s (%zu, %zu) of %zu × %zu × %zu", name, i, j, p->n, p->m, p->d);
        }
    }
    free(panels);
    grid_free(&q);
    grid_free(&keys);
    grid_free(&out);
    grid_free(&scalar);
}

static void test_sizes(void **state)
{
    (void)state;
    static const size_t others[][2] = {{1, 1}, {3, 17}, {16, 3}, {17, 44}};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t o = 0; o < COUNT(others); o++) {
            const size_t a = others[o][0], b = others[o][1];
            check_seed(50 + o);
            for (size_t x = 0; x <= LONGEST; x = check_next(x)) {
                check_kind(kind, &(struct problem){x, a, b, FILL_UNIT, FILL_UNIT});
                check_kind(kind, &(struct problem){a, x, b, FILL_UNIT, FILL_UNIT});
                check_kind(kind, &(struct problem){a, b, x, FILL_UNIT, FILL_UNIT});
            }
        }
    }
}

static void test_extremes(void **state)
{
    (void)state;
    static const enum fill extremes[][2] = {
        {FILL_TINY, FILL_TINY},   {FILL_DENORM, FILL_UNIT}, {FILL_UNIT, FILL_DENORM},
        {FILL_DENORM, FILL_TINY}, {FILL_LARGE, FILL_LARGE}, {FILL_SIGNS, FILL_SIGNS},
        {FILL_EQUAL, FILL_EQUAL}, {FILL_SIGNS, FILL_UNIT},  {FILL_DENORM, FILL_DENORM},
    };
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t e = 0; e < COUNT(extremes); e++) {
            check_seed(60 + e);
            check_kind(kind, &(struct problem){5, 17, 33, extremes[e][0], extremes[e][1]});
            check_kind(kind, &(struct problem){7, 40, 300, extremes[e][0], extremes[e][1]});
        }
    }
}

/* Equal rows are +0 apart, whatever is in them. */
static void test_equal_rows(void **state)
{
    (void)state;
    static const enum fill fills[] = {FILL_UNIT, FILL_HUGE, FILL_DENORM, FILL_SIGNS};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t f = 0; f < COUNT(fills); f++) {
            struct grid q = grid_make(21, 38, 41), out = grid_make(21, 21, 21);
            grid_fill(&q, fills[f]);
            float *panels = check_pack(&(struct grid){q.data, 21, 38, 41});
            kernel_of(check_tier, kind)(q.data, q.stride, 21, panels, 21, kind == CHORD ? 19 : 38,
                                        out.data, out.stride);
            for (size_t i = 0; i < 21; i++)
                check_same_bits(*grid_at(&out, i, i), 0.0f, "%s of equal rows",
                                check_pair_worst[kind].name);
            free(panels);
            grid_free(&q);
            grid_free(&out);
        }
    }
}

/* One number below the bound is found wherever it is, one beside the rows never. */
static void test_any_below(void **state)
{
    (void)state;
    for (size_t cols = 0; cols <= LONGEST; cols = check_next(cols)) {
        struct grid x = grid_make(3, cols, cols + 2);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < cols; j++)
                *grid_at(&x, i, j) = i == 1 ? 0x1p-40f : INFINITY;
        assert_false(check_tier->any_below(x.data, x.stride, 3, cols, 0x1p-40f));
        assert_false(check_tier->any_below(x.data, x.stride, 0, cols, 1));
        for (size_t j = 0; j < cols; j += 1 + cols / 40) {
            *grid_at(&x, j % 3, j) = 0x1.fffffep-41f;
            assert_true(check_tier->any_below(x.data, x.stride, 3, cols, 0x1p-40f));
            *grid_at(&x, j % 3, j) = 1;
        }
        grid_free(&x);
    }
}

/* A tile and its mirror image in a matrix; what is around them stays as it was. */
static void check_place(size_t rows, size_t cols, bool mirror, bool stream)
{
    enum { STRIDE = 3 * NL_PLACE_SIDE, HEIGHT = 2 * NL_PLACE_SIDE };
    struct grid tile = grid_make(rows, cols, NL_PLACE_SIDE);
    float *out = aligned_alloc(64, HEIGHT * STRIDE * sizeof *out);
    assert_non_null(out);
    for (size_t at = 0; at < HEIGHT * STRIDE; at++)
        out[at] = -7;
    grid_fill(&tile, FILL_SIGNS);
    check_tier->place(tile.data, rows, cols, out + NL_PLACE_SIDE,
                      mirror ? out + NL_PLACE_SIDE * STRIDE : NULL, STRIDE, stream);
    for (size_t i = 0; i < HEIGHT; i++) {
        for (size_t j = 0; j < STRIDE; j++) {
            float expected = -7;
            if (i < rows && j >= NL_PLACE_SIDE && j < NL_PLACE_SIDE + cols)
                expected = *grid_at(&tile, i, j - NL_PLACE_SIDE);
            if (mirror && i >= NL_PLACE_SIDE && i < NL_PLACE_SIDE + cols && j < rows)
                expected = *grid_at(&tile, j, i - NL_PLACE_SIDE);
            check_same_bits(out[i * STRIDE + j], expected, "place %zu × %zu: (%zu, %zu)", rows,
                            cols, i, j);
        }
    }
    grid_free(&tile);
    free(out);
}

static void test_place(void **state)
{
    (void)state;
    check_seed(65);
    for (size_t size = 0; size <= NL_PLACE_SIDE; size++) {
        check_place(size, size, size % 3 != 0, size % 2);
        check_place(size, NL_PLACE_SIDE, true, size % 2);
        check_place(NL_PLACE_SIDE, size, true, size % 2 == 0);
        check_place(size, 17, true, true);
        check_place(33, size, true, false);
    }
}

static double *random_doubles(size_t count, bool infinite)
{
    double *x = malloc(count * sizeof *x);
    assert_true(x != NULL || count == 0);
    for (size_t at = 0; at < count; at++) {
        x[at] = fabs((double)check_number(FILL_UNIT)) + (double)check_number(FILL_TINY);
        if (infinite && at % 7 == 3)
            x[at] = INFINITY;
    }
    return x;
}

/* Against the definition and so, exactly, against the scalar statement; nothing else is written. */
static void check_min_plus(size_t n, size_t depth, size_t m, bool infinite)
{
    const size_t a_stride = depth + 3, b_stride = m + 2, out_stride = m + 5;
    double *a = random_doubles(n * a_stride, infinite),
           *b = random_doubles(depth * b_stride, false);
    double *out = malloc(n * out_stride * sizeof *out);
    assert_true(out != NULL || n == 0);
    for (size_t at = 0; at < n * out_stride; at++)
        out[at] = -7;
    check_tier->min_plus(a, a_stride, n, depth, b, b_stride, m, out, out_stride);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < out_stride; j++) {
            double expected = j < m ? INFINITY : -7;
            for (size_t k = 0; j < m && k < depth; k++)
                expected = fmin(expected, a[i * a_stride + k] + b[k * b_stride + j]);
            if (out[i * out_stride + j] != expected)
                fail_msg("min_plus %zu × %zu × %zu: (%zu, %zu) is %.17g, not %.17g", n, depth, m, i,
                         j, out[i * out_stride + j], expected);
        }
    }
    free(a);
    free(b);
    free(out);
}

static void test_min_plus(void **state)
{
    (void)state;
    static const size_t others[][2] = {{1, 1}, {3, 17}, {16, 3}, {9, 50}};
    for (size_t o = 0; o < COUNT(others); o++) {
        const size_t a = others[o][0], b = others[o][1];
        check_seed(70 + o);
        for (size_t x = 0; x <= LONGEST; x = check_next(x)) {
            check_min_plus(x, a, b, false);
            check_min_plus(a, x, b, x % 2 == 1);
            check_min_plus(a, b, x, false);
        }
    }
}

int check_pairs(const char *tier)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_equal_rows), cmocka_unit_test(test_any_below),
        cmocka_unit_test(test_place),      cmocka_unit_test(test_min_plus),
    };
    return cmocka_run_group_tests_name(tier, tests, NULL, NULL);
}
