/* SPDX-License-Identifier: MIT */
/* A matrix too large to be held: means and maxima over blocks of it, and single pairs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "dissim_rig.h"

/* The bits of the whole, whatever rows are asked for, in whatever order, and twice. */
static void test_single_pairs_are_those_of_the_whole(void **state)
{
    enum { N = 70, D = 13 };
    static const size_t rows[] = {69, 0, 3, 3, 17, 41}, columns[] = {5, 3, 69, 0, 33};
    nl_matrix x = {0}, d = {0}, between = {0};
    nl_error error = {0};
    (void)state;
    assert_int_equal(nl_matrix_alloc(&x, N, D, &error), NL_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < D; k++)
            nl_row(&x, i)[k] = i == 3 ? 0 : sinf((float)(i * D + k) * 0.7f);
    assert_int_equal(nl_matrix_alloc(&d, N, N, &error), NL_OK);
    assert_int_equal(nl_matrix_alloc(&between, 6, 5, &error), NL_OK);
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        const nl_dissim_params params = {(nl_metric_id)metric, 0.8};
        assert_int_equal(nl_dissim_run(&params, &x, &plain_exec, &d, NULL, &error), NL_OK);
        assert_int_equal(
            nl_dissim_between(&params, &x, rows, columns, &plain_exec, &between, &error), NL_OK);
        for (size_t p = 0; p < 6; p++)
            for (size_t q = 0; q < 5; q++)
                assert_true(nl_row(&between, p)[q] == nl_row(&d, rows[p])[columns[q]]);
    }
    const nl_dissim_params open_width = {NL_METRIC_GAUSSIAN, 0};
    assert_int_equal(
        nl_dissim_between(&open_width, &x, rows, columns, &plain_exec, &between, &error),
        NL_INVALID);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    nl_matrix_free(&between);
    assert_int_equal(nl_alloc_live(), 0);
}

static void test_blocks_give_the_overview_of_the_whole(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {40, 40}, {100, 7}, {1500, 64}, {333, 100}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        const size_t n = sizes[s][0], side = sizes[s][1];
        nl_matrix x = random_rows(n, 6, s), whole, mean, largest;
        size_t *order = malloc(n * sizeof *order);
        for (size_t p = 0; p < n; p++)
            order[p] = n - 1 - p;
        assert_int_equal(nl_matrix_alloc(&whole, side, side, NULL), NL_OK);
        assert_int_equal(nl_matrix_alloc(&mean, side, side, NULL), NL_OK);
        assert_int_equal(nl_matrix_alloc(&largest, side, side, NULL), NL_OK);
        for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
            const nl_dissim_params params = {(nl_metric_id)metric, 0};
            const size_t *shown = metric % 2 ? order : NULL;
            nl_matrix d = dissim_of(params.metric, &x, &plain_exec);
            assert_int_equal(nl_matrix_overview(&d, shown, &plain_exec, &whole, NULL), NL_OK);
            assert_int_equal(
                nl_dissim_overview(&params, &x, shown, &plain_exec, &mean, &largest, NULL, NULL),
                NL_OK);
            size_t i, j;
            assert_true(nl_dissim_largest(&largest, &i, &j) == nl_dissim_largest(&d, &i, &j));
            for (size_t a = 0; a < side; a++)
                for (size_t b = 0; b < side; b++) {
                    const float expected = nl_row(&whole, a)[b];
                    assert_true(fabsf(nl_row(&mean, a)[b] - expected) <= 1e-6f * expected);
                    assert_true(nl_row(&largest, a)[b] >= nl_row(&mean, a)[b] * 0.999999f);
                }
            nl_matrix_free(&d);
        }
        free(order);
        nl_matrix_free(&x);
        nl_matrix_free(&whole);
        nl_matrix_free(&mean);
        nl_matrix_free(&largest);
    }
    assert_true(nl_dissim_bytes(1048576) > 4.3e12 && nl_dissim_bytes(4096) == 4096.0 * 4096 * 4);
    assert_true(nl_dissim_overview_bytes(65536, 44, 1024, 8) < 1e8);
    assert_int_equal(nl_alloc_live(), 0);
}

/* Of what is not finite, the mean of the rest. */
static void test_an_overview_leaves_out_what_is_not_finite(void **state)
{
    nl_matrix scores, mean;
    (void)state;
    assert_int_equal(nl_matrix_alloc(&scores, 4, 4, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&mean, 2, 2, NULL), NL_OK);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            nl_row(&scores, i)[j] = i == j || (i < 2 && j >= 2) ? -INFINITY : (float)(4 * i + j);
    assert_int_equal(nl_matrix_overview(&scores, NULL, &plain_exec, &mean, NULL), NL_OK);
    assert_true(nl_row(&mean, 0)[0] == 2.5f); /* 1 and 4 */
    assert_true(isnan(nl_row(&mean, 0)[1]));
    assert_true(nl_row(&mean, 1)[0] == 10.5f); /* 8, 9, 12, 13 */
    assert_true(nl_row(&mean, 1)[1] == 12.5f); /* 11 and 14 */
    nl_matrix_free(&scores);
    nl_matrix_free(&mean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_pairs_are_those_of_the_whole),
        cmocka_unit_test(test_blocks_give_the_overview_of_the_whole),
        cmocka_unit_test(test_an_overview_leaves_out_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
