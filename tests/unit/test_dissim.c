/* SPDX-License-Identifier: MIT */
/* Dissimilarity: the figures of Fisher's iris data, exactness, every tier and thread count. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nonlocal/dissim.h"

#include "alloc.h"
#include "dissim_rig.h"
#include "iris.h"

static nl_matrix dissim(const nl_matrix *x, const nl_exec *exec)
{
    return dissim_of(NL_METRIC_EUCLIDEAN, x, exec);
}

static long double exact_distance(const nl_matrix *x, size_t i, size_t j)
{
    long double sum = 0;
    for (size_t k = 0; k < x->cols; k++) {
        long double difference = (long double)nl_row(x, i)[k] - (long double)nl_row(x, j)[k];
        sum += difference * difference;
    }
    return sqrtl(sum);
}

/*
 * Against long double. The difference is rounded once (2⁻²⁴ relative, so the square twice that),
 * then d fused additions of non-negative terms, each 2⁻²⁴; the root halves the sum of these, and is
 * rounded once more.
 */
static void check_exact(const nl_matrix *x, const nl_matrix *d)
{
    const long double bound = ((2 + (long double)x->cols) / 2 + 1) * 0x1p-24L * 1.001L;
    for (size_t i = 0; i < x->rows; i++) {
        assert_true(nl_row(d, i)[i] == 0 && !signbit(nl_row(d, i)[i]));
        for (size_t j = 0; j < x->rows; j++) {
            long double expected = exact_distance(x, i, j), got = (long double)nl_row(d, i)[j];
            /* what leaves the range of normal floats has no relative error to speak of */
            long double slack = bound * expected + (expected < 1e-37L ? 0x1p-149L : 0);
            if (!(fabsl(got - expected) <= slack))
                fail_msg("D(%zu, %zu) of %zu × %zu is %.9Lg, not %.9Lg", i, j, x->rows, x->cols,
                         got, expected);
            assert_memory_equal(nl_row(d, i) + j, nl_row(d, j) + i, sizeof(float));
        }
    }
}

static void iris_classes(int classes[IRIS_ROWS])
{
    for (int i = 0; i < IRIS_ROWS; i++)
        classes[i] = i / IRIS_CLASS;
}

static void test_iris_largest(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix(), d = dissim(&x, &plain_exec);
    size_t i = 0, j = 0;
    float largest = nl_dissim_largest(&d, &i, &j);
    assert_true(fabs((double)largest - 7.085196) < 5e-7);
    assert_int_equal(i + 1, 119);
    assert_int_equal(j + 1, 14);
    check_exact(&x, &d);
    nl_matrix_free(&d);
}

static void test_iris_block_means(void **state)
{
    (void)state;
    const double expected[9] = {0.682881, 3.301223, 4.824142, 3.301223, 0.977413,
                                1.842412, 4.824142, 1.842412, 1.153245};
    int classes[IRIS_ROWS];
    double means[9], four[16];
    nl_matrix x = iris_matrix(), d = dissim(&x, &plain_exec);
    iris_classes(classes);
    nl_block_means(&d, classes, 3, means);
    for (size_t b = 0; b < 9; b++)
        assert_true(fabs(means[b] - expected[b]) < 5.1e-7);
    nl_block_means(&d, classes, 4, four); /* an empty class */
    for (size_t a = 0; a < 4; a++)
        for (size_t b = 0; b < 4; b++)
            assert_true(four[4 * a + b] == (a < 3 && b < 3 ? means[3 * a + b] : 0));
    nl_matrix_free(&d);
}

static void test_c49_iris_zero_pairs(void **state)
{
    (void)state;
    size_t zeros = 0;
    nl_matrix x = iris_matrix(), d = dissim(&x, &plain_exec);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t j = 0; j < i; j++)
            if (nl_row(&d, i)[j] == 0) {
                assert_int_equal(i + 1, 143);
                assert_int_equal(j + 1, 102);
                zeros++;
            }
    assert_int_equal(zeros, 1);
    nl_matrix_free(&d);
}

static void test_iris_path_length(void **state)
{
    (void)state;
    size_t order[IRIS_ROWS];
    nl_matrix x = iris_matrix(), d = dissim(&x, &plain_exec);
    assert_true(fabs(nl_path_length(&d, NULL) - 143.2329) < 5.1e-5);
    assert_int_equal(nl_order_rows(NL_ORDER_INPUT, IRIS_ROWS, NULL, order, NULL), NL_OK);
    assert_true(nl_path_length(&d, order) == nl_path_length(&d, NULL));
    for (size_t p = 0; p < IRIS_ROWS / 2; p++) { /* the other way round it is as long */
        size_t swap = order[p];
        order[p] = order[IRIS_ROWS - 1 - p];
        order[IRIS_ROWS - 1 - p] = swap;
    }
    assert_true(fabs(nl_path_length(&d, order) - nl_path_length(&d, NULL)) < 1e-9);
    size_t there = 75; /* from row 1 to row 76 and nowhere else */
    nl_matrix two = nl_matrix_view(d.data, 2, 2, d.stride);
    assert_true(nl_path_length(&two, (const size_t[]){0, there}) == (double)nl_row(&d, 0)[there]);
    nl_matrix_free(&d);
}

static const size_t sizes[] = {1, 2, 3, 15, 16, 17, 31, 32, 33, 100};
static const size_t dims[] = {1, 4, 7, 48, 145};

static void test_c41_every_size_is_exact(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (size_t t = 0; t < COUNT(dims); t++) {
            nl_matrix x = random_rows(sizes[s], dims[t], 7 * s + t), d = dissim(&x, &plain_exec);
            check_exact(&x, &d);
            nl_matrix_free(&x);
            nl_matrix_free(&d);
        }
    assert_int_equal(nl_alloc_live(), 0);
}

/* Odd strides, in and out, and nothing written beside the n × n numbers. */
/* D so large that it is written past the caches, and one that cannot be for its stride. */
static void test_large_matrices(void **state)
{
    (void)state;
    enum { N = 2101, STRIDE = N + 2 };
    nl_exec exec = {0};
    nl_matrix x = random_rows(N, 3, 5), d, odd;
    assert_int_equal(nl_pool_create(2, &exec.pool, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&odd, N, STRIDE, NULL), NL_OK);
    nl_matrix view = nl_matrix_view(odd.data, N, N, STRIDE);
    for (int cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        if (!nl_cpu_available((nl_cpu)cpu))
            continue;
        exec.kernels = nl_kernels_get((nl_cpu)cpu, NULL);
        d = dissim(&x, &exec);
        assert_int_equal(nl_dissim(NL_METRIC_EUCLIDEAN, &x, &exec, &view, NULL), NL_OK);
        for (size_t i = 0; i < N; i++)
            assert_memory_equal(nl_row(&d, i), nl_row(&view, i), N * sizeof(float));
        for (size_t i = 0; i < N; i += 7)
            for (size_t j = 0; j <= i; j++)
                assert_true(nl_row(&d, i)[j] == nl_row(&d, j)[i]);
        nl_matrix_free(&d);
    }
    nl_pool_free(&exec.pool);
    nl_matrix_free(&odd);
    nl_matrix_free(&x);
}

static void test_views_with_odd_strides(void **state)
{
    (void)state;
    enum { N = 37, D = 5, X_STRIDE = 7, D_STRIDE = N + 3 };
    float numbers[N * X_STRIDE], out[N * D_STRIDE];
    uint64_t seed = 3;
    for (size_t k = 0; k < COUNT(numbers); k++)
        numbers[k] = k % X_STRIDE < D ? next_random(&seed) : NAN; /* between rows: not looked at */
    for (size_t k = 0; k < COUNT(out); k++)
        out[k] = -7;
    nl_matrix x = nl_matrix_view(numbers, N, D, X_STRIDE);
    nl_matrix d = nl_matrix_view(out, N, N, D_STRIDE);
    assert_int_equal(nl_dissim(NL_METRIC_EUCLIDEAN, &x, &plain_exec, &d, NULL), NL_OK);
    check_exact(&x, &d);
    for (size_t k = 0; k < COUNT(out); k++)
        assert_true(k % D_STRIDE < N || out[k] == -7);
}

static void test_c39_same_bits_on_every_tier_and_thread_count(void **state)
{
    (void)state;
    const size_t threads[] = {1, 3, 8};
    size_t tiers = 0;
    nl_exec scalar = {.kernels = nl_kernels_get(NL_CPU_SCALAR, NULL)};
    assert_non_null(scalar.kernels);
    for (size_t s = 0; s <= COUNT(sizes); s++) {
        nl_matrix x = s < COUNT(sizes) ? random_rows(sizes[s], 23, s) : iris_matrix();
        nl_matrix reference = dissim(&x, &scalar);
        for (int cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
            if (!nl_cpu_available((nl_cpu)cpu))
                continue;
            for (size_t t = 0; t < COUNT(threads); t++) {
                nl_exec exec = {.kernels = nl_kernels_get((nl_cpu)cpu, NULL)};
                assert_int_equal(nl_kernels_cpu(exec.kernels), cpu);
                assert_int_equal(nl_pool_create(threads[t], &exec.pool, NULL), NL_OK);
                nl_matrix d = dissim(&x, &exec);
                check_matrices_agree(&d, &reference);
                nl_matrix_free(&d);
                nl_pool_free(&exec.pool);
            }
            tiers++;
        }
        nl_matrix_free(&reference);
        nl_matrix_free(&x);
    }
    assert_true(tiers >= COUNT(sizes) + 1);
}

static void test_c31_equal_rows_are_exactly_zero_apart(void **state)
{
    (void)state;
    nl_matrix x = random_rows(40, 9, 5);
    memcpy(nl_row(&x, 33), nl_row(&x, 2), 9 * sizeof(float));
    for (size_t k = 0; k < 9; k++) { /* −0 and 0 are equal */
        nl_row(&x, 10)[k] = 0.0f;
        nl_row(&x, 20)[k] = -0.0f;
    }
    nl_matrix d = dissim(&x, &plain_exec);
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 40; j++) {
            size_t low = i < j ? i : j, high = i < j ? j : i;
            bool equal = i == j || (low == 2 && high == 33) || (low == 10 && high == 20);
            assert_true((nl_row(&d, i)[j] == 0) == equal);
            assert_false(signbit(nl_row(&d, i)[j]));
        }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

/* ‖x‖² + ‖y‖² − 2 x·y would have no right digit here. */
static void test_nearly_equal_rows_have_the_right_digits(void **state)
{
    (void)state;
    const float around[] = {1, 1000, 3e-5f, 6e7f};
    for (size_t a = 0; a < COUNT(around); a++) {
        nl_matrix x = random_rows(20, 6, a);
        for (size_t k = 0; k < 6; k++)
            nl_row(&x, 0)[k] = around[a] * (1 + nl_row(&x, 0)[k] / 8);
        for (size_t i = 1; i < 20; i++)
            memcpy(nl_row(&x, i), nl_row(&x, 0), 6 * sizeof(float));
        for (size_t i = 1; i < 20; i++) /* 1 to 19 steps to the next float */
            for (size_t step = 0; step < i; step++)
                nl_row(&x, i)[i % 6] = nextafterf(nl_row(&x, i)[i % 6], 1e9f);
        nl_matrix d = dissim(&x, &plain_exec);
        check_exact(&x, &d);
        for (size_t i = 1; i < 20; i++)
            assert_true(nl_row(&d, 0)[i] > 0);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

static void test_extremes_neither_overflow_nor_vanish(void **state)
{
    (void)state;
    const float factors[] = {1e-30f, 1e30f, 1e-38f, 1e37f, 1e-44f};
    for (size_t f = 0; f < COUNT(factors); f++) {
        nl_matrix x = random_rows(33, 5, f);
        for (size_t i = 0; i < x.rows; i++)
            for (size_t k = 0; k < x.cols; k++)
                nl_row(&x, i)[k] *= factors[f];
        nl_matrix d = dissim(&x, &plain_exec);
        check_exact(&x, &d);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
    /* a number that no scaling brings near the others */
    float mixed[] = {1e30f, 1, 1e30f, 2, -1e30f, 1};
    nl_matrix x = nl_matrix_view(mixed, 3, 2, 2), d = dissim(&x, &plain_exec);
    assert_true(fabsf(nl_row(&d, 0)[2] / 2e30f - 1) < 1e-6f);
    assert_true(isfinite(nl_row(&d, 0)[1]) && nl_row(&d, 0)[1] >= 0);
    nl_matrix_free(&d);
}

static void test_order_by_label_is_stable(void **state)
{
    (void)state;
    const int classes[] = {0, 1, 0, 3, 1, 0, 3, 2, 1};
    const size_t expected[] = {0, 2, 5, 1, 4, 8, 7, 3, 6};
    size_t order[COUNT(classes)];
    assert_int_equal(nl_order_rows(NL_ORDER_LABEL, COUNT(classes), classes, order, NULL), NL_OK);
    assert_memory_equal(order, expected, sizeof expected);
    assert_int_equal(nl_class_runs(classes, COUNT(classes), order), 4);
    assert_int_equal(nl_class_runs(classes, COUNT(classes), NULL), 9);
    assert_int_equal(nl_order_rows(NL_ORDER_INPUT, COUNT(classes), NULL, order, NULL), NL_OK);
    for (size_t p = 0; p < COUNT(classes); p++)
        assert_int_equal(order[p], p);
}

static void test_class_runs(void **state)
{
    (void)state;
    int classes[IRIS_ROWS];
    iris_classes(classes);
    assert_int_equal(nl_class_runs(classes, IRIS_ROWS, NULL), 3);
    assert_int_equal(nl_class_runs(classes, 1, NULL), 1);
    assert_int_equal(nl_class_runs(classes, 0, NULL), 0);
    assert_int_equal(nl_class_runs((const int[]){0, 1, 0, 0}, 4, NULL), 3);
    assert_int_equal(nl_class_runs((const int[]){0, 1, 0, 0}, 4, (const size_t[]){1, 0, 2, 3}), 2);
}

/* A big class number must not cost a loop of its size. */
static void test_sparse_class_numbers(void **state)
{
    (void)state;
    const int classes[] = {INT_MAX, 5, INT_MAX, 5};
    const size_t expected[] = {1, 3, 0, 2};
    size_t order[4];
    assert_int_equal(nl_order_rows(NL_ORDER_LABEL, 4, classes, order, NULL), NL_OK);
    assert_memory_equal(order, expected, sizeof expected);
}

static void check_error(nl_status status, const nl_error *error, const char *word)
{
    assert_int_equal(status, NL_INVALID);
    assert_int_equal(error->status, NL_INVALID);
    if (!strstr(error->message, word) || strchr(error->message, '\n'))
        fail_msg("the message is: %s", error->message);
}

static void test_errors(void **state)
{
    (void)state;
    nl_error error;
    size_t order[4];
    nl_matrix x = random_rows(4, 3, 1), d = dissim(&x, &plain_exec);
    check_error(nl_order_rows(NL_ORDER_LABEL, 4, NULL, order, &error), &error, "label");
    check_error(nl_order_rows(NL_ORDER_LABEL, 4, (const int[]){0, -1, 1, 0}, order, &error), &error,
                "negative");
    check_error(nl_order_rows(NL_ORDER_COUNT, 4, NULL, order, &error), &error, "order");
    check_error(nl_dissim(NL_METRIC_COUNT, &x, &plain_exec, &d, &error), &error, "metric");
    nl_matrix none = nl_matrix_view(x.data, 0, 3, x.stride);
    nl_matrix flat = nl_matrix_view(x.data, 4, 0, x.stride);
    nl_matrix small = nl_matrix_view(d.data, 3, 4, d.stride);
    nl_matrix empty = nl_matrix_view(d.data, 0, 0, d.stride);
    check_error(nl_dissim(NL_METRIC_EUCLIDEAN, &none, &plain_exec, &empty, &error), &error, "rows");
    check_error(nl_dissim(NL_METRIC_EUCLIDEAN, &flat, &plain_exec, &d, &error), &error, "4 × 0");
    check_error(nl_dissim(NL_METRIC_EUCLIDEAN, &x, &plain_exec, &small, &error), &error, "3 × 4");
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t b = 0; b < COUNT(bad); b++) {
        nl_row(&x, 2)[1] = bad[b];
        check_error(nl_dissim(NL_METRIC_EUCLIDEAN, &x, &plain_exec, &d, &error), &error,
                    "feature 2 of row 3");
    }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    assert_int_equal(nl_alloc_live(), 0);
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++) {
        nl_matrix x = random_rows(20, 3, 1), d = dissim(&x, &plain_exec);
        const long live = nl_alloc_live();
        long failed = 0;
        nl_row(&x, 0)[0] = scaled ? 1e20f : 1;
        for (nl_status status = NL_NOMEM; status != NL_OK; failed++) {
            nl_error error = {.message = ""};
            nl_alloc_fail_after(failed);
            status = nl_dissim(NL_METRIC_EUCLIDEAN, &x, &plain_exec, &d, &error);
            nl_alloc_fail_after(-1);
            assert_true(status == NL_OK || (status == NL_NOMEM && strstr(error.message, "memory")));
            assert_int_equal(nl_alloc_live(), live);
        }
        assert_true(failed >= 2); /* the packed rows, and then it went well */
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void test_cancelled(void **state)
{
    (void)state;
    const nl_exec exec = {.cancelled = always};
    nl_matrix x = random_rows(50, 3, 1), d = dissim(&x, &plain_exec);
    const long live = nl_alloc_live();
    assert_int_equal(nl_dissim(NL_METRIC_EUCLIDEAN, &x, &exec, &d, NULL), NL_CANCELLED);
    assert_int_equal(nl_alloc_live(), live);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void test_tables(void **state)
{
    (void)state;
    assert_string_equal(nl_metrics[NL_METRIC_EUCLIDEAN].name, "euclidean");
    assert_null(nl_metrics[NL_METRIC_COUNT].name);
    assert_string_equal(nl_orders[NL_ORDER_INPUT].name, "input");
    assert_string_equal(nl_orders[NL_ORDER_LABEL].name, "label");
    assert_false(nl_orders[NL_ORDER_INPUT].needs_classes);
    assert_true(nl_orders[NL_ORDER_LABEL].needs_classes);
    assert_null(nl_orders[NL_ORDER_COUNT].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_iris_largest),
        cmocka_unit_test(test_iris_block_means),
        cmocka_unit_test(test_iris_path_length),
        cmocka_unit_test(test_c49_iris_zero_pairs),
        cmocka_unit_test(test_c31_equal_rows_are_exactly_zero_apart),
        cmocka_unit_test(test_c39_same_bits_on_every_tier_and_thread_count),
        cmocka_unit_test(test_c41_every_size_is_exact),
        cmocka_unit_test(test_large_matrices),
        cmocka_unit_test(test_views_with_odd_strides),
        cmocka_unit_test(test_nearly_equal_rows_have_the_right_digits),
        cmocka_unit_test(test_extremes_neither_overflow_nor_vanish),
        cmocka_unit_test(test_order_by_label_is_stable),
        cmocka_unit_test(test_class_runs),
        cmocka_unit_test(test_sparse_class_numbers),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_every_allocation_failing_once),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
