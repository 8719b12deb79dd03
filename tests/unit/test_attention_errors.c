/* SPDX-License-Identifier: MIT */
/* Everything that the attention functions refuse, and in which words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attention_ref.h"

static const nl_exec alone = {0};

static nl_attention_params defaults(void)
{
    nl_attention_params params;
    nl_attention_params_init(&params);
    return params;
}

static void assert_refused(const nl_attention_params *params, const nl_matrix *queries,
                           const nl_matrix *keys, bool same_rows, const char *names)
{
    nl_attention *attention = (nl_attention *)&alone;
    nl_error error = {0};
    const nl_status status =
        nl_attention_create(params, queries, keys, same_rows, &alone, &attention, &error);
    assert_invalid(status, &error, names);
    assert_null(attention);
    assert_int_equal(
        nl_attention_create(params, queries, keys, same_rows, &alone, &attention, NULL),
        NL_INVALID);
}

static void test_parameters(void **state)
{
    (void)state;
    float numbers[] = {1, 2, 3, 4, 5, 6};
    const nl_matrix x = nl_matrix_view(numbers, 3, 2, 2);
    static const struct {
        double value;
        const char *name;
    } bad[] = {{0, "0"}, {-1.5, "-1.5"}, {NAN, "nan"}, {INFINITY, "inf"}, {-INFINITY, "-inf"}};
    for (size_t b = 0; b < COUNT(bad); b++) {
        static const char *const words[] = {"temperature", "scale", "width h", "noise sigma",
                                            "perplexity"};
        for (size_t word = 0; word < COUNT(words); word++) {
            nl_attention_params params = defaults();
            double *const members[] = {&params.temperature, &params.scale, &params.h, &params.sigma,
                                       &params.perplexity};
            *members[word] = bad[b].value;
            if (bad[b].value == 0 && word >= 3) { /* 0 is no noise, and off */
                nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
                nl_attention_free(&attention);
                continue;
            }
            assert_refused(&params, &x, &x, true, bad[b].name);
            assert_refused(&params, &x, &x, true, words[word]);
        }
    }
    nl_attention_params params = defaults();
    params.similarity = NL_SIMILARITY_COUNT;
    char number[12];
    snprintf(number, sizeof number, "%d", NL_SIMILARITY_COUNT);
    assert_refused(&params, &x, &x, true, number);
    params.similarity = (nl_similarity_id)-1;
    assert_refused(&params, &x, &x, true, "-1");
}

static void test_feature_weights(void **state)
{
    (void)state;
    float numbers[] = {1, 2, 3, 4};
    const nl_matrix x = nl_matrix_view(numbers, 2, 2, 2);
    static const float bad[] = {-0.5f, NAN, INFINITY};
    for (size_t b = 0; b < COUNT(bad); b++) {
        const float omega[] = {1, bad[b]};
        nl_attention_params params = defaults();
        params.similarity = NL_EUCLIDEAN;
        params.omega = omega;
        assert_refused(&params, &x, &x, true, "weight of feature 2");
    }
}

static void test_self_rule_needs_the_same_rows(void **state)
{
    (void)state;
    float numbers[] = {1, 2, 3, 4}, other[] = {1, 2, 3, 4};
    const nl_matrix x = nl_matrix_view(numbers, 2, 2, 2), y = nl_matrix_view(other, 2, 2, 2);
    for (int self = NL_SELF_MAX; self <= NL_SELF_EXCLUDE; self++) {
        nl_attention_params params = defaults();
        params.self = (nl_self)self;
        assert_refused(&params, &x, &y, false, "same positions");
        nl_attention *attention = create_attention(&params, &x, &y, true, &alone);
        nl_attention_free(&attention);
        attention = create_attention(&params, &x, &x, false, &alone); /* the same pointer */
        nl_attention_free(&attention);
        nl_attention_free(&attention);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    float numbers[12] = {0};
    const nl_matrix x = nl_matrix_view(numbers, 3, 2, 2), wide = nl_matrix_view(numbers, 3, 4, 4);
    const nl_matrix tall = nl_matrix_view(numbers, 6, 2, 2);
    const nl_matrix no_rows = nl_matrix_view(numbers, 0, 2, 2);
    const nl_matrix no_cols = nl_matrix_view(numbers, 3, 0, 2);
    const nl_attention_params params = defaults();
    assert_refused(&params, &no_rows, &x, false, "queries (0 × 2)");
    assert_refused(&params, &no_cols, &no_cols, true, "queries (3 × 0)");
    assert_refused(&params, &x, &no_rows, false, "keys (0 × 2)");
    assert_refused(&params, &x, &wide, false, "keys of 3 × 4");
    assert_refused(&params, &x, &tall, true, "keys of 6 × 2");
    nl_attention *attention = create_attention(&params, &x, &tall, false, &alone);
    nl_attention_free(&attention);
}

static void test_numbers_that_are_not_finite(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t b = 0; b < COUNT(bad); b++) {
        float numbers[] = {1, 2, 3, 4, 5, bad[b]}, good[] = {1, 2, 3, 4, 5, 6};
        const nl_matrix x = nl_matrix_view(numbers, 2, 3, 3), y = nl_matrix_view(good, 2, 3, 3);
        for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
            nl_attention_params params = defaults();
            params.similarity = ref_exponentials[similarity];
            assert_refused(&params, &x, &x, true, "feature 3 of row 2 of the queries");
            assert_refused(&params, &y, &x, false, "feature 3 of row 2 of the keys");
        }
    }
}

static void test_calls(void **state)
{
    (void)state;
    float numbers[] = {1, 2, 3, 4, 5, 6}, out[12], row[3];
    const nl_matrix x = nl_matrix_view(numbers, 3, 2, 2);
    const nl_matrix two = nl_matrix_view(numbers, 2, 2, 2);
    const nl_attention_params params = defaults();
    nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
    nl_error error = {0};
    nl_row_figures figures;
    assert_invalid(nl_attention_row(attention, 3, &alone, row, &figures, &error), &error,
                   "query 4");
    assert_invalid(nl_attention_row(attention, SIZE_MAX - 1, &alone, row, NULL, &error), &error,
                   "outside");
    static const size_t wrong[][2] = {{2, 3}, {3, 2}, {4, 3}, {3, 4}};
    for (size_t w = 0; w < COUNT(wrong); w++) {
        nl_matrix a = nl_matrix_view(out, wrong[w][0], wrong[w][1], 4);
        assert_invalid(nl_attention_rows(attention, &alone, &a, &error), &error, "3 × 3");
    }
    nl_matrix y = nl_matrix_view(out, 3, 2, 2);
    assert_invalid(nl_attention_apply(attention, &two, &alone, &y, &error), &error,
                   "values of 2 × 2");
    y = nl_matrix_view(out, 2, 2, 2);
    assert_invalid(nl_attention_apply(attention, &x, &alone, &y, &error), &error, "2 × 2");
    y = nl_matrix_view(out, 3, 3, 3);
    assert_invalid(nl_attention_apply(attention, &x, &alone, &y, &error), &error, "3 × 3");
    nl_attention_free(&attention);
}

/* The status that a call returns is the one in its error. */
static void test_tier_that_is_not_there(void **state)
{
    (void)state;
    static const char *const names[] = {"neon", "avx512", "avx2", "mmx"};
    float numbers[] = {1, 2}, row[2];
    const nl_matrix x = nl_matrix_view(numbers, 2, 1, 1);
    nl_attention_params params = defaults();
    nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
    nl_matrix a = nl_matrix_view(numbers, 2, 2, 2), y;
    char *before = getenv("NONLOCAL_CPU");
    before = before ? strdup(before) : NULL;
    size_t refused = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        nl_error error = {0};
        setenv("NONLOCAL_CPU", names[i], 1);
        const nl_kernels *kernels = nl_kernels_get(NL_CPU_AUTO, &error);
        if (kernels) {
            assert_string_equal(nl_cpu_name(nl_kernels_cpu(kernels)), names[i]);
            continue;
        }
        refused++;
        assert_non_null(strstr(error.message, names[i]));
        for (int call = 0; call < 3; call++) {
            error = (nl_error){0};
            const nl_status status =
                call == 0   ? nl_attention_row(attention, 0, &alone, row, NULL, &error)
                : call == 1 ? nl_attention_rows(attention, &alone, &a, &error)
                            : nl_attention_apply(attention, &x, &alone, (y = x, &y), &error);
            assert_int_equal(status, NL_UNSUPPORTED);
            assert_int_equal(error.status, status);
        }
    }
    assert_true(refused > 0); /* mmx at least */
    if (before)
        setenv("NONLOCAL_CPU", before, 1);
    else
        unsetenv("NONLOCAL_CPU");
    free(before);
    nl_attention_free(&attention);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_feature_weights),
        cmocka_unit_test(test_self_rule_needs_the_same_rows),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_numbers_that_are_not_finite),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_tier_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
