/* SPDX-License-Identifier: MIT */
/* Every metric against long double, its exact cases, and the same bits everywhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "dissim_rig.h"
#include "nonlocal/explain.h"
#include "nonlocal/features.h"

#define U 0x1p-24L

/* Unit row in long double; false without a direction. */
static bool exact_unit(const float *x, size_t d, bool centred, long double *unit)
{
    long double mean = 0, squares = 0;
    bool constant = true;
    for (size_t k = 0; k < d; k++) {
        mean += (long double)x[k] / (long double)d;
        constant = constant && x[k] == x[0];
    }
    for (size_t k = 0; k < d; k++) {
        unit[k] = (long double)x[k] - (centred ? mean : 0);
        squares += unit[k] * unit[k];
    }
    for (size_t k = 0; k < d; k++)
        unit[k] /= sqrtl(squares);
    return squares > 0 && !(centred && constant);
}

static long double exact_chord(const float *a, const float *b, size_t d, bool centred, float sign)
{
    long double u[512], v[512], sum = 0;
    assert_true(d <= 512);
    if (!exact_unit(a, d, centred, u) || !exact_unit(b, d, centred, v))
        return 1;
    for (size_t k = 0; k < d; k++)
        sum += (u[k] - (long double)sign * v[k]) * (u[k] - (long double)sign * v[k]);
    return sum / 2;
}

/* D of two rows, and the bound of MATH.md's chains: see tests/kernels/check_pairs.c. */
static long double exact(nl_metric_id metric, const float *a, const float *b, size_t d,
                         double bandwidth, long double *bound)
{
    long double squares = 0, sum = 0, largest = 0, steps = (long double)d, value;
    for (size_t k = 0; k < d; k++) {
        long double difference = fabsl((long double)a[k] - (long double)b[k]);
        squares += difference * difference;
        sum += difference;
        largest = fmaxl(largest, difference);
    }
    switch (metric) {
    case NL_METRIC_EUCLIDEAN:
        *bound = ((steps + 2) / 2 + 1) * U * sqrtl(squares);
        value = sqrtl(squares);
        break;
    case NL_METRIC_SQEUCLIDEAN:
        *bound = (steps + 2) * U * squares;
        value = squares;
        break;
    case NL_METRIC_MANHATTAN:
        *bound = (steps + 1) * U * sum;
        value = sum;
        break;
    case NL_METRIC_CHEBYSHEV:
        *bound = U * largest;
        value = largest;
        break;
    case NL_METRIC_GAUSSIAN:
        value = -expm1l(-squares / (2 * (long double)bandwidth * (long double)bandwidth));
        /* t e^−t <= 1 − e^−t: a relative error of t is at most as large in the result */
        *bound = ((steps + 3) * U + 1e-10L) * value;
        break;
    default:
        value = exact_chord(a, b, d, metric == NL_METRIC_CORRELATION, 1);
        /* unit rows are right to about 2⁻⁴⁹ a number, up to 2⁻⁹⁴ nothing is told from 0 */
        *bound = (steps + 6) * U * value + 2 * sqrtl(2 * value) * 0x1p-47L + 0x1p-94L;
    }
    *bound = *bound * 1.001L + 0x1p-149L;
    return value;
}

static void check_exact(nl_metric_id metric, const nl_matrix *x, const nl_matrix *d,
                        double bandwidth)
{
    for (size_t i = 0; i < x->rows; i++) {
        assert_true(nl_row(d, i)[i] == 0 && !signbit(nl_row(d, i)[i]));
        for (size_t j = 0; j < x->rows; j++) {
            long double bound, got = (long double)nl_row(d, i)[j];
            long double expected =
                exact(metric, nl_row(x, i), nl_row(x, j), x->cols, bandwidth, &bound);
            assert_memory_equal(nl_row(d, i) + j, nl_row(d, j) + i, sizeof(float));
            if (i != j && !(fabsl(got - expected) <= bound))
                fail_msg("%s D(%zu, %zu) of %zu × %zu is %.10Lg, not %.10Lg (bound %.3Lg)",
                         nl_metrics[metric].name, i, j, x->rows, x->cols, got, expected, bound);
        }
    }
}

static nl_matrix run_metric(nl_metric_id metric, const nl_matrix *x, double *bandwidth)
{
    const nl_dissim_params params = {metric, *bandwidth};
    nl_error error = {.message = ""};
    nl_matrix d;
    assert_int_equal(nl_matrix_alloc(&d, x->rows, x->rows, NULL), NL_OK);
    if (nl_dissim_run(&params, x, &plain_exec, &d, bandwidth, &error) != NL_OK)
        fail_msg("%s", error.message);
    return d;
}

static void test_every_metric_is_exact(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 17, 33, 70}, dims[] = {1, 3, 8, 44, 147};
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++)
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t t = 0; t < COUNT(dims); t++) {
                double bandwidth = s % 2 ? 0.7 : 0;
                nl_matrix x = random_rows(sizes[s], dims[t], 9 * s + t);
                nl_matrix d = run_metric((nl_metric_id)metric, &x, &bandwidth);
                assert_true((bandwidth > 0) == (metric == NL_METRIC_GAUSSIAN));
                check_exact((nl_metric_id)metric, &x, &d, bandwidth);
                nl_matrix_free(&x);
                nl_matrix_free(&d);
            }
    assert_int_equal(nl_alloc_live(), 0);
}

/* Rows 10⁻² to 10⁻⁷ apart: 1 − cos computed as such would have lost its digits at 10⁻⁴. */
static void test_nearly_equal_rows_keep_their_digits(void **state)
{
    (void)state;
    static const float offsets[] = {0, 3, 1000};
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++)
        for (size_t o = 0; o < COUNT(offsets); o++) {
            double bandwidth = 0.5;
            float apart = 1e-2f;
            nl_matrix x = random_rows(24, 9, o);
            for (size_t i = 1; i < 24; i++) {
                for (size_t k = 0; k < 9; k++)
                    nl_row(&x, i)[k] = nl_row(&x, 0)[k] + apart * nl_row(&x, i)[k];
                apart *= 0.6f;
            }
            for (size_t i = 0; i < 24; i++)
                for (size_t k = 0; k < 9; k++)
                    nl_row(&x, i)[k] += offsets[o];
            nl_matrix d = run_metric((nl_metric_id)metric, &x, &bandwidth);
            check_exact((nl_metric_id)metric, &x, &d, bandwidth);
            nl_matrix_free(&x);
            nl_matrix_free(&d);
        }
}

static void test_c31_equal_rows_are_exactly_zero_apart(void **state)
{
    (void)state;
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        nl_matrix x = random_rows(40, 9, 5);
        memcpy(nl_row(&x, 33), nl_row(&x, 2), 9 * sizeof(float));
        nl_matrix d = dissim_of((nl_metric_id)metric, &x, &plain_exec);
        for (size_t i = 0; i < 40; i++)
            for (size_t j = 0; j < 40; j++) {
                bool equal = i == j || (i == 2 && j == 33) || (i == 33 && j == 2);
                assert_true((nl_row(&d, i)[j] == 0) == equal);
                assert_false(signbit(nl_row(&d, i)[j]));
                assert_true(metric != NL_METRIC_COSINE || nl_row(&d, i)[j] <= 2);
            }
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

static void test_c30_rows_without_a_direction(void **state)
{
    (void)state;
    for (int correlation = 0; correlation < 2; correlation++) {
        nl_matrix x = random_rows(20, 7, 1);
        for (size_t k = 0; k < 7; k++) {
            nl_row(&x, 3)[k] = correlation ? 0.3f : 0;
            nl_row(&x, 11)[k] = correlation ? -7 : -0.0f;
            nl_row(&x, 15)[k] = 3 * nl_row(&x, 14)[k]; /* parallel, and rounded */
            nl_row(&x, 16)[k] = -nl_row(&x, 14)[k];
        }
        nl_matrix d =
            dissim_of(correlation ? NL_METRIC_CORRELATION : NL_METRIC_COSINE, &x, &plain_exec);
        for (size_t j = 0; j < 20; j++) {
            assert_true(nl_row(&d, 3)[j] == (j == 3 ? 0 : 1));
            assert_true(nl_row(&d, j)[11] == (j == 11 ? 0 : 1));
        }
        assert_true(nl_row(&d, 14)[16] == 2);
        assert_true(nl_row(&d, 14)[15] < 1e-13f);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

static void check_tier(const nl_exec *exec, void *context)
{
    const nl_matrix *references = context, *x = references + NL_METRIC_COUNT;
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        nl_matrix d = dissim_of((nl_metric_id)metric, x, exec);
        check_matrices_agree(&d, &references[metric]);
        nl_matrix_free(&d);
    }
    nl_matrix columns;
    assert_int_equal(nl_matrix_alloc(&columns, x->cols, x->cols, NULL), NL_OK);
    assert_int_equal(nl_dissim_columns(x, exec, &columns, NULL, NULL), NL_OK);
    check_matrices_agree(&columns, x + 1);
    nl_matrix_free(&columns);
}

static void test_c39_same_bits_on_every_tier_and_thread_count(void **state)
{
    (void)state;
    static const float scales[] = {1, 1e15f, 1e-25f};
    for (size_t s = 0; s < COUNT(scales); s++) {
        nl_exec scalar = {.kernels = nl_kernels_get(NL_CPU_SCALAR, NULL)};
        nl_matrix all[NL_METRIC_COUNT + 2], *x = &all[NL_METRIC_COUNT];
        *x = random_rows(83, 21, s);
        for (size_t i = 0; i < x->rows; i++)
            for (size_t k = 0; k < x->cols; k++)
                nl_row(x, i)[k] *= scales[s];
        for (int metric = 0; metric < NL_METRIC_COUNT; metric++)
            all[metric] = dissim_of((nl_metric_id)metric, x, &scalar);
        assert_int_equal(nl_matrix_alloc(x + 1, x->cols, x->cols, NULL), NL_OK);
        assert_int_equal(nl_dissim_columns(x, &scalar, x + 1, NULL, NULL), NL_OK);
        on_every_tier(check_tier, all);
        for (size_t m = 0; m < COUNT(all); m++)
            nl_matrix_free(&all[m]);
    }
    assert_int_equal(nl_alloc_live(), 0);
}

/* Every function says which way it goes, and goes that way. */
static void test_c33_every_metric_declares_its_kind(void **state)
{
    (void)state;
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        assert_int_equal(nl_metrics[metric].kind, NL_KIND_DISSIMILARITY);
        assert_true(*nl_metrics[metric].name && *nl_metrics[metric].label);
        assert_true(*nl_metrics[metric].formula);
        nl_matrix x = random_rows(30, 6, 2), d = dissim_of((nl_metric_id)metric, &x, &plain_exec);
        for (size_t i = 0; i < 30; i++)
            for (size_t j = 0; j < 30; j++)
                assert_true(nl_row(&d, i)[i] < nl_row(&d, i)[j] || i == j);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
    assert_null(nl_metrics[NL_METRIC_COUNT].name);
}

/* Standardised columns give other distances than raw ones. */
static void test_c34_scaling_changes_the_values(void **state)
{
    (void)state;
    nl_matrix x = random_rows(30, 3, 2);
    for (size_t i = 0; i < 30; i++)
        nl_row(&x, i)[1] *= 40;
    nl_matrix raw = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    nl_normalize(&x, NL_NORM_ZSCORE);
    nl_matrix scaled = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    check_exact(NL_METRIC_EUCLIDEAN, &x, &scaled, 0);
    size_t i, j;
    assert_true(nl_dissim_largest(&raw, &i, &j) > 30);
    assert_true(nl_dissim_largest(&scaled, &i, &j) < 8);
    nl_matrix_free(&x);
    nl_matrix_free(&raw);
    nl_matrix_free(&scaled);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static void test_the_default_bandwidth_is_the_median_distance(void **state)
{
    (void)state;
    for (size_t n = 2; n < 40; n++) {
        nl_matrix x = random_rows(n, 3, n), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
        float sorted[40 * 40];
        size_t count = 0;
        double bandwidth = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++)
                sorted[count++] = nl_row(&d, i)[j];
        qsort(sorted, count, sizeof *sorted, by_size);
        const double middle = ((double)sorted[(count - 1) / 2] + (double)sorted[count / 2]) / 2;
        nl_matrix kernel = run_metric(NL_METRIC_GAUSSIAN, &x, &bandwidth);
        assert_true(fabs(bandwidth - middle) < 1e-6 * middle);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
        nl_matrix_free(&kernel);
    }
    /* most rows equal: the median of what differs; all equal: nothing differs */
    nl_matrix x = random_rows(20, 2, 1);
    for (size_t i = 0; i < 18; i++)
        nl_row(&x, i)[0] = nl_row(&x, i)[1] = 0;
    double bandwidth = 0;
    nl_matrix d = run_metric(NL_METRIC_GAUSSIAN, &x, &bandwidth);
    assert_true(bandwidth > 0 && nl_row(&d, 0)[1] == 0 && nl_row(&d, 0)[19] > 0);
    nl_matrix_free(&d);
    for (size_t i = 18; i < 20; i++)
        nl_row(&x, i)[0] = nl_row(&x, i)[1] = 0;
    bandwidth = 0;
    d = run_metric(NL_METRIC_GAUSSIAN, &x, &bandwidth);
    assert_true(nl_row(&d, 0)[19] == 0);
    nl_matrix_free(&d);
    nl_matrix_free(&x);
}

/* Beside ordinary rows, two whose difference has no square among the floats. */
static void test_small_distances_beside_large_ones(void **state)
{
    (void)state;
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        if (metric == NL_METRIC_SQEUCLIDEAN)
            continue;
        double bandwidth = 1e-20;
        nl_matrix x = random_rows(4, 5, 3);
        for (size_t k = 0; k < 5; k++) {
            nl_row(&x, 1)[k] = 1e-25f * nl_row(&x, 0)[k];
            nl_row(&x, 2)[k] = 1.5e-25f * nl_row(&x, 3)[k];
        }
        nl_matrix d = run_metric((nl_metric_id)metric, &x, &bandwidth);
        assert_true(nl_row(&d, 1)[2] > 0);
        check_exact((nl_metric_id)metric, &x, &d, bandwidth);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

static void test_beyond_the_range_of_float(void **state)
{
    (void)state;
    static const nl_metric_id too_large[] = {NL_METRIC_EUCLIDEAN, NL_METRIC_SQEUCLIDEAN,
                                             NL_METRIC_MANHATTAN, NL_METRIC_CHEBYSHEV};
    nl_matrix x = random_rows(3, 4, 3), d;
    assert_int_equal(nl_matrix_alloc(&d, 3, 3, NULL), NL_OK);
    for (size_t k = 0; k < 4; k++) {
        nl_row(&x, 0)[k] = 3e38f;
        nl_row(&x, 2)[k] = -3e38f;
    }
    for (size_t m = 0; m < COUNT(too_large); m++) {
        nl_error error = {.message = ""};
        assert_int_equal(nl_dissim(too_large[m], &x, &plain_exec, &d, &error), NL_LIMIT);
        assert_non_null(strstr(error.message, "rows 1 and"));
    }
    nl_matrix cosine = dissim_of(NL_METRIC_COSINE, &x, &plain_exec);
    assert_true(nl_row(&cosine, 0)[2] == 2);
    nl_matrix_free(&cosine);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void test_columns_by_their_correlation(void **state)
{
    (void)state;
    nl_matrix x = random_rows(50, 9, 4), d, columns;
    size_t constant = 0;
    for (size_t i = 0; i < 50; i++) {
        nl_row(&x, i)[3] = 7;
        nl_row(&x, i)[5] = 2 - 4 * nl_row(&x, i)[4];
        nl_row(&x, i)[6] = 1e-4f * nl_row(&x, i)[6] - nl_row(&x, i)[4];
        nl_row(&x, i)[7] = nl_row(&x, i)[1];
    }
    assert_int_equal(nl_matrix_alloc(&d, 9, 9, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&columns, 9, 50, NULL), NL_OK);
    for (size_t i = 0; i < 50; i++)
        for (size_t k = 0; k < 9; k++)
            nl_row(&columns, k)[i] = nl_row(&x, i)[k];
    assert_int_equal(nl_dissim_columns(&x, &plain_exec, &d, &constant, NULL), NL_OK);
    assert_int_equal(constant, 1);
    for (size_t a = 0; a < 9; a++) {
        for (size_t b = 0; b < 9; b++) {
            const float *left = nl_row(&columns, a), *right = nl_row(&columns, b);
            const long double expected = fminl(exact_chord(left, right, 50, true, 1),
                                               exact_chord(left, right, 50, true, -1));
            const long double got = (long double)nl_row(&d, a)[b];
            if (a == b)
                assert_true(got == 0);
            else if (!(fabsl(got - expected) <=
                       60 * U * expected + 2 * sqrtl(2 * expected) * 0x1p-47L + 0x1p-94L))
                fail_msg("columns %zu and %zu: %Lg, not %Lg", a, b, got, expected);
            assert_true(nl_row(&d, a)[b] == nl_row(&d, b)[a]);
        }
    }
    assert_true(nl_row(&d, 1)[7] == 0 && nl_row(&d, 3)[4] == 1 && nl_row(&d, 4)[6] < 1e-7f);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    nl_matrix_free(&columns);
}

/* The sum that is shown gives the number that is shown. */
static void test_the_explanation_gives_the_matrix(void **state)
{
    (void)state;
    nl_matrix x = random_rows(12, 6, 8);
    for (size_t k = 0; k < 6; k++)
        nl_row(&x, 5)[k] = 0;
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        double bandwidth = 0.6;
        nl_matrix d = run_metric((nl_metric_id)metric, &x, &bandwidth);
        for (size_t i = 0; i < 12; i++)
            for (size_t j = 0; j < 12; j++) {
                nl_sum sum;
                double value;
                assert_int_equal(
                    nl_explain_dissim((nl_metric_id)metric, &x, i, j, &sum, &value, NULL), NL_OK);
                if (metric == NL_METRIC_GAUSSIAN)
                    value = nl_gaussian_dissim(value * value, bandwidth);
                assert_true(fabs(value - (double)nl_row(&d, i)[j]) < 1e-6);
            }
        nl_matrix_free(&d);
    }
    nl_matrix_free(&x);
}

static void check_fault(size_t row, size_t col, float number, const char *words)
{
    nl_matrix x = random_rows(6, 3, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    nl_error error = {.message = ""};
    char place[60];
    nl_row(&d, row)[col] = number;
    nl_row(&d, 5)[5] = 9; /* a later fault is not the one to name */
    snprintf(place, sizeof place, "row %zu, column %zu", row + 1, col + 1);
    assert_int_equal(nl_dissim_adopt(&d, &error), NL_INVALID);
    if (!strstr(error.message, words) || !strstr(error.message, place))
        fail_msg("'%s' lacks '%s' or '%s'", error.message, words, place);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void test_c52_the_first_true_cause_is_named(void **state)
{
    (void)state;
    check_fault(1, 3, NAN, "not a finite");
    check_fault(0, 2, -INFINITY, "not a finite");
    check_fault(2, 4, -0.1f, "negative");
    check_fault(3, 3, 0.1f, "diagonal");
    nl_matrix flat = random_rows(2, 3, 1);
    nl_error error = {.message = ""};
    assert_int_equal(nl_dissim_adopt(&flat, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "2 × 3"));
    nl_matrix_free(&flat);
    check_fault(0, 3, 9, "mirror");
}

/* What rounding left in somebody's matrix goes, everything else stays as it is. */
static void test_rounding_in_a_ready_matrix_is_removed(void **state)
{
    (void)state;
    nl_matrix x = random_rows(30, 3, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    nl_matrix copy;
    assert_int_equal(nl_matrix_copy(&copy, &d, NULL), NL_OK);
    assert_int_equal(nl_dissim_adopt(&copy, NULL), NL_OK);
    check_matrices_agree(&copy, &d);
    nl_row(&copy, 4)[4] = 2e-8f;
    nl_row(&copy, 5)[5] = -2e-8f;
    nl_row(&copy, 7)[2] = nextafterf(nl_row(&copy, 7)[2], 9);
    assert_int_equal(nl_dissim_adopt(&copy, NULL), NL_OK);
    check_matrices_agree(&copy, &d);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    nl_matrix_free(&copy);
}

static nl_status run_all(const nl_matrix *x, nl_matrix *d, nl_matrix *columns, nl_matrix *small,
                         const nl_exec *exec, nl_error *error)
{
    const nl_dissim_params params = {NL_METRIC_GAUSSIAN, 0};
    nl_status status = nl_dissim_run(&params, x, exec, d, NULL, error);
    if (status == NL_OK)
        status = nl_dissim(NL_METRIC_CORRELATION, x, exec, d, error);
    if (status == NL_OK)
        status = nl_dissim_columns(x, exec, columns, NULL, error);
    if (status == NL_OK)
        status = nl_dissim_overview(&params, x, NULL, exec, small, NULL, NULL, error);
    return status;
}

static bool countdown(void *user)
{
    return --*(long *)user < 0;
}

static void test_every_allocation_failing_and_every_poll_cancelling(void **state)
{
    (void)state;
    nl_matrix x = random_rows(90, 5, 1), d, columns, small;
    assert_int_equal(nl_matrix_alloc(&d, 90, 90, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&columns, 5, 5, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&small, 9, 9, NULL), NL_OK);
    const long live = nl_alloc_live();
    long failed = 0;
    for (nl_status status = NL_NOMEM; status != NL_OK; failed++) {
        nl_error error = {.message = ""};
        nl_alloc_fail_after(failed);
        status = run_all(&x, &d, &columns, &small, &plain_exec, &error);
        nl_alloc_fail_after(-1);
        assert_true(status == NL_OK || (status == NL_NOMEM && strstr(error.message, "memory")));
        assert_int_equal(nl_alloc_live(), live);
    }
    assert_true(failed > 10);
    long polls = 0;
    for (nl_status status = NL_CANCELLED; status != NL_OK; polls++) {
        long left = polls;
        const nl_exec exec = {.cancelled = countdown, .user = &left};
        status = run_all(&x, &d, &columns, &small, &exec, NULL);
        assert_true(status == NL_OK || status == NL_CANCELLED);
        assert_int_equal(nl_alloc_live(), live);
    }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    nl_matrix_free(&columns);
    nl_matrix_free(&small);
}

static void test_errors(void **state)
{
    (void)state;
    nl_matrix x = random_rows(5, 3, 1), d, wrong;
    nl_error error;
    assert_int_equal(nl_matrix_alloc(&d, 5, 5, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&wrong, 4, 4, NULL), NL_OK);
    nl_dissim_params params;
    nl_dissim_params_init(&params);
    assert_int_equal(params.metric, NL_METRIC_EUCLIDEAN);
    params.bandwidth = -1;
    assert_int_equal(nl_dissim_run(&params, &x, &plain_exec, &d, NULL, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "bandwidth"));
    params.bandwidth = 0;
    assert_int_equal(nl_dissim_columns(&x, &plain_exec, &wrong, NULL, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "4 × 4"));
    nl_matrix large = nl_matrix_view(x.data, 6, 6, 6);
    assert_int_equal(nl_dissim_overview(&params, &x, NULL, &plain_exec, &large, NULL, NULL, &error),
                     NL_INVALID);
    assert_int_equal(nl_dissim_overview(&params, &x, NULL, &plain_exec, &d, &wrong, NULL, &error),
                     NL_INVALID);
    nl_row(&x, 3)[2] = NAN;
    assert_int_equal(nl_dissim_columns(&x, &plain_exec, &d, NULL, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "feature 3 of row 4"));
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    nl_matrix_free(&wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_metric_is_exact),
        cmocka_unit_test(test_nearly_equal_rows_keep_their_digits),
        cmocka_unit_test(test_c31_equal_rows_are_exactly_zero_apart),
        cmocka_unit_test(test_c30_rows_without_a_direction),
        cmocka_unit_test(test_c39_same_bits_on_every_tier_and_thread_count),
        cmocka_unit_test(test_c33_every_metric_declares_its_kind),
        cmocka_unit_test(test_c34_scaling_changes_the_values),
        cmocka_unit_test(test_the_default_bandwidth_is_the_median_distance),
        cmocka_unit_test(test_small_distances_beside_large_ones),
        cmocka_unit_test(test_beyond_the_range_of_float),
        cmocka_unit_test(test_columns_by_their_correlation),
        cmocka_unit_test(test_the_explanation_gives_the_matrix),
        cmocka_unit_test(test_c52_the_first_true_cause_is_named),
        cmocka_unit_test(test_rounding_in_a_ready_matrix_is_removed),
        cmocka_unit_test(test_every_allocation_failing_and_every_poll_cancelling),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
