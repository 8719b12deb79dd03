/* SPDX-License-Identifier: MIT */
/* The kernels along one row of scores: max, exp_sum, moments, scale. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "check.h"

enum { EXP, EXP_END, EXP_TOTAL, MOMENTS };

struct worst check_row_worst[] = {
    [EXP] = {"exp_sum, elements", 0},
    [EXP_END] = {"exp_sum, elements where 0 is right (1: was 0)", 0},
    [EXP_TOTAL] = {"exp_sum, sum", 0},
    [MOMENTS] = {"moments", 0},
    {NULL, 0},
};

/* Kinds of rows of scores: uniform in [top − span, top], with what is sprinkled over them. */
struct row_kind {
    const char *name;
    float top;
    double span;
    float beta;
    bool left_out; /* every third score is −∞ */
};

static const struct row_kind kinds[] = {
    {"plain", 0.5f, 3, 1, false},
    {"keys left out", 0.5f, 3, 1, true},
    {"to the end of the exponent", 12, 100, 1, false},
    {"past the end of the exponent", -4, 1000, 2.5f, true},
    {"large scores, small beta", 1e30f, 1e30, 1e-29f, false},
    {"small scores, large beta", -1e-30f, 1e-30, 1e30f, false},
    {"denormal differences", 0x1p-140f, 0x1p-140, 1e30f, true},
    {"equal", 0.1f, 0, 7, false},
    {"beta so small that all count", 0.5f, 3, 1e-30f, true},
    {"beta so large that one counts", 0.5f, 3, 1e30f, false},
    {"beta of almost nothing", 0.5f, 3, 1e-38f, false},
    {"the lowest float and almost no beta", -FLT_MAX, 0, 1e-36f, false},
    {"differences that overflow", 3e38f, 6e38, 1e-30f, true},
};

static struct grid make_row(const struct row_kind *kind, size_t m)
{
    struct grid x = grid_make(1, m, m);
    for (size_t j = 0; j < m; j++) {
        const double down = kind->span * fabs((double)check_number(FILL_UNIT));
        x.data[j] = (float)fmax((double)kind->top - down, (double)-FLT_MAX);
        if (kind->left_out && j % 3 == 1)
            x.data[j] = -INFINITY;
    }
    if (m > 0)
        x.data[m / 2] = kind->top;
    return x;
}

/* Below this a tier may give 0 (kernels/tier.h): the last exponent that leaves a normal float. */
static const double lowest = -87;

/*
 * p = exp(t) with t = beta · (x − top) rounded twice, so that t is off by at most 2u|t| and p by
 * that factor; exp itself is right to 2e-7. p below e^lowest may become 0.
 */
static bool may_be_zero(double t)
{
    return t < lowest * (1 - 4 * UNIT);
}

static double exp_error(double t)
{
    const double relative = (2e-7 + 2 * UNIT * fabs(t)) * SECOND_ORDER;
    return may_be_zero(t) ? exp(t) + exp(lowest) * 1e-6 : relative * exp(t);
}

/* Lanes are added up in float over at most this many vectors, then in double. */
enum { FLUSH = 8 };

static void check_exp_sum(const struct row_kind *kind, size_t m)
{
    struct grid x = make_row(kind, m), p = grid_make(1, m, m), scalar = grid_make(1, m, m);
    memcpy(p.data, x.data, m * sizeof *p.data);
    memcpy(scalar.data, x.data, m * sizeof *p.data);
    const double total = check_tier->exp_sum(p.data, m, kind->beta, kind->top);
    const double scalar_total = nl_kernels_scalar.exp_sum(scalar.data, m, kind->beta, kind->top);
    double added = 0, expected = 0, error = 0;
    for (size_t j = 0; j < m; j++) {
        const double t = (double)kind->beta * ((double)x.data[j] - (double)kind->top);
        struct worst *worst = &check_row_worst[may_be_zero(t) ? EXP_END : EXP];
        check_close(worst, (double)p.data[j], exp(t), exp_error(t), "%s, %zu of %zu", kind->name, j,
                    m);
        check_close(worst, (double)p.data[j], (double)scalar.data[j], 2 * exp_error(t),
                    "%s, %zu of %zu, scalar", kind->name, j, m);
        assert_true(p.data[j] >= 0 && p.data[j] <= 1);
        if (x.data[j] == -INFINITY)
            assert_true(p.data[j] == 0);
        if (x.data[j] == kind->top)
            assert_true(p.data[j] == 1);
        added += (double)p.data[j];
        expected += exp(t);
        error += exp_error(t);
    }
    const double rounding = FLUSH * UNIT * SECOND_ORDER * added;
    check_close(&check_row_worst[EXP_TOTAL], total, added, rounding, "%s, sum of %zu", kind->name,
                m);
    check_close(&check_row_worst[EXP_TOTAL], total, expected, rounding + error,
                "%s, exact sum of %zu", kind->name, m);
    check_close(&check_row_worst[EXP_TOTAL], total, scalar_total, rounding + 2 * error,
                "%s, sum of %zu, scalar", kind->name, m);
    grid_free(&x);
    grid_free(&p);
    grid_free(&scalar);
}

/*
 * p as above, then p·t with the error of t and one rounding, p·t² with twice that; FLUSH roundings
 * of the float sums. Terms below e^lowest may count nothing.
 */
static void check_moments(const struct row_kind *kind, size_t m)
{
    struct grid x = make_row(kind, m), before = grid_make(1, m, m);
    memcpy(before.data, x.data, m * sizeof *x.data);
    const struct nl_moments got = check_tier->moments(x.data, m, kind->beta, kind->top);
    const struct nl_moments scalar = nl_kernels_scalar.moments(x.data, m, kind->beta, kind->top);
    assert_int_equal(m == 0 || memcmp(x.data, before.data, m * sizeof *x.data) == 0, 1);
    double sum[3] = {0}, error[3] = {0};
    for (size_t j = 0; j < m; j++) {
        const double t = (double)kind->beta * ((double)x.data[j] - (double)kind->top);
        const double p = exp(t);
        if (!(p > 0))
            continue;
        const double terms[3] = {p, p * t, p * t * t};
        for (int order = 0; order < 3; order++) {
            const double size = fabs(terms[order]);
            sum[order] += terms[order];
            error[order] += exp_error(t) * pow(fabs(t), order) +
                            (3 * order + FLUSH) * UNIT * SECOND_ORDER * size + 4 * TINY;
        }
    }
    const double gots[3] = {got.p, got.pt, got.ptt};
    const double scalars[3] = {scalar.p, scalar.pt, scalar.ptt};
    for (int order = 0; order < 3; order++) {
        check_close(&check_row_worst[MOMENTS], gots[order], sum[order], error[order],
                    "%s, order %d of %zu", kind->name, order, m);
        check_close(&check_row_worst[MOMENTS], gots[order], scalars[order], 2 * error[order],
                    "%s, order %d of %zu, scalar", kind->name, order, m);
    }
    grid_free(&x);
    grid_free(&before);
}

static void test_exp_sum(void **state)
{
    (void)state;
    check_seed(20);
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        for (size_t m = 0; m <= LONGEST; m = check_next(m))
            check_exp_sum(&kinds[kind], m);
        check_exp_sum(&kinds[kind], 5003); /* over several flushes of every tier */
    }
}

/* The exponential from 0 down to where it leaves the floats, in steps of 1/1024. */
static void test_exp_range(void **state)
{
    (void)state;
    enum { STEPS = 110 * 1024 };
    struct grid x = grid_make(1, STEPS, STEPS);
    for (size_t j = 0; j < STEPS; j++)
        x.data[j] = -(float)j / 1024;
    check_tier->exp_sum(x.data, STEPS, 1, 0);
    for (size_t j = 0; j < STEPS; j++) {
        const double t = -(double)j / 1024;
        check_close(&check_row_worst[may_be_zero(t) ? EXP_END : EXP], (double)x.data[j], exp(t),
                    may_be_zero(t) ? exp_error(t) : 2e-7 * exp(t), "exp(%g)", t);
    }
    grid_free(&x);
}

static void test_moments(void **state)
{
    (void)state;
    check_seed(30);
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        for (size_t m = 0; m <= LONGEST; m = check_next(m))
            check_moments(&kinds[kind], m);
        check_moments(&kinds[kind], 5003);
    }
}

/* The largest number at every place of rows of every length. */
static void test_max(void **state)
{
    (void)state;
    static const float tops[][2] = {
        {-2, -3},     {5, -1}, {-1e-40f, -1}, {1e30f, 1e30f - 1e24f}, {-FLT_MAX, -INFINITY},
        {INFINITY, 0}};
    for (size_t m = 1; m <= LONGEST; m = check_next(m)) {
        struct grid x = grid_make(1, m, m);
        for (size_t at = 0; at<m; at += m> 40 ? 7 : 1) {
            const float *top = tops[at % COUNT(tops)];
            for (size_t j = 0; j < m; j++)
                x.data[j] = j % 5 == 3 ? -INFINITY : top[1];
            x.data[at] = top[0];
            assert_true(check_tier->max(x.data, m) == top[0]);
        }
        for (size_t j = 0; j < m; j++)
            x.data[j] = -INFINITY;
        assert_true(check_tier->max(x.data, m) == -INFINITY);
        x.data[m - 1] = -7;
        assert_true(check_tier->max(x.data, m) == -7);
        for (size_t j = 0; j < m; j++)
            x.data[j] = j % 2 ? 0.0f : -0.0f;
        assert_true(check_tier->max(x.data, m) == 0);
        grid_free(&x);
    }
}

/* One product, one rounding: the same bits everywhere. */
static void test_scale(void **state)
{
    (void)state;
    static const enum fill fills[] = {FILL_UNIT, FILL_HUGE, FILL_TINY, FILL_DENORM, FILL_SIGNS};
    static const float factors[] = {0.3f, -1e-20f, 0, 1e30f};
    check_seed(40);
    for (size_t f = 0; f < COUNT(fills); f++) {
        for (size_t m = 0; m <= LONGEST; m = check_next(m)) {
            const float factor = factors[m % COUNT(factors)];
            struct grid x = grid_make(1, m, m), before = grid_make(1, m, m);
            grid_fill(&before, fills[f]);
            memcpy(x.data, before.data, m * sizeof *x.data);
            check_tier->scale(x.data, m, factor);
            for (size_t j = 0; j < m; j++)
                check_same_bits(x.data[j], before.data[j] * factor, "scale, %zu of %zu", j, m);
            grid_free(&x);
            grid_free(&before);
        }
    }
}

int check_rows(const char *tier)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_max),       cmocka_unit_test(test_exp_sum),
        cmocka_unit_test(test_exp_range), cmocka_unit_test(test_moments),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests_name(tier, tests, NULL, NULL);
}
