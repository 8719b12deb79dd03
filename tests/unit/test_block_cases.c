/* SPDX-License-Identifier: MIT */
/* Cases from the field by their numbers, and the parts of a block: pooling, norms, residual. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "block_rig.h"

static const nl_shape picture = {1, 5, 7, 10};

/* dot divides by the number of keys that are left after pooling. */
static void test_c09_dot_divides_by_the_pooled_count(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 10, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 2);
    nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, NL_DOT);
    for (int subsample = 0; subsample < NL_SUBSAMPLE_COUNT; subsample++) {
        params.subsample = (nl_subsample)subsample;
        nl_trace trace = run_block(&params, &weights, &x, picture);
        const size_t m = subsample == NL_SUBSAMPLE_NONE ? 35 : 2 * 3;
        bool negative = false;
        assert_size(&trace.a, 35, m);
        for (size_t i = 0; i < 35; i++) {
            for (size_t j = 0; j < m; j++) {
                const double s = (double)nl_row(&trace.s, i)[j];
                assert_near((double)nl_row(&trace.a, i)[j], s / (double)m, 2 * 0x1p-24 * fabs(s));
                negative = negative || s < 0;
            }
        }
        assert_true(negative); /* the range is signed */
        nl_trace_free(&trace);
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

/* w_f = −1 on positive features: every similarity is 0, a zero map with a note and no NaN. */
static void test_c10_concat_of_zeros(void **state)
{
    (void)state;
    nl_matrix x = random_features(12, 4, 0, 1, 1);
    for (size_t i = 0; i < 12; i++)
        for (size_t k = 0; k < 4; k++)
            nl_row(&x, i)[k] = fabsf(nl_row(&x, i)[k]) + 0.1f;
    nl_embedding_params identity;
    nl_embedding_params_init(&identity);
    nl_weights weights;
    assert_int_equal(nl_weights_make(&identity, NL_SYSTEM_NONLOCAL, &x, &alone, &weights, NULL),
                     NL_OK);
    for (size_t k = 0; k < 8; k++)
        weights.concat.data[k] = -1;
    nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, NL_CONCAT);
    for (int normalizer = 0; normalizer < NL_NORMALIZE_KINDS; normalizer++) {
        params.attention.normalizer = (nl_normalizer)normalizer;
        nl_trace trace = run_block(&params, &weights, &x, table_shape(&x));
        assert_true(largest_entry(&trace.a) == 0 && largest_entry(&trace.s) == 0);
        assert_equal_bits(&trace.z, &x);
        nl_trace_free(&trace);
        params.attention.concat = weights.concat.data;
        nl_attention *attention = create_attention(&params.attention, &x, &x, true, &alone);
        nl_row_figures figures;
        float row[12];
        for (size_t i = 0; i < 12; i++) {
            assert_int_equal(nl_attention_row(attention, i, &alone, row, &figures, NULL), NL_OK);
            assert_true(figures.notes & NL_NOTE_ALL_ZERO);
            assert_true(figures.sum == 0 && !figures.distribution && figures.keys == 12);
        }
        nl_attention_free(&attention);
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

/* Only φ and g are pooled: the residual fits. */
static void test_c11_only_keys_and_values_are_pooled(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 10, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 4, 2);
    nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, NL_EMBEDDED_GAUSSIAN);
    for (int subsample = NL_SUBSAMPLE_PAPER; subsample < NL_SUBSAMPLE_COUNT; subsample++) {
        params.subsample = (nl_subsample)subsample;
        nl_trace trace = run_block(&params, &weights, &x, picture);
        assert_equal_bits(&trace.x, &x);
        assert_size(&trace.q, 35, 4);
        assert_size(&trace.k, 6, 4);
        assert_size(&trace.v, 6, 4);
        assert_size(&trace.s, 35, 6);
        assert_size(&trace.a, 35, 6);
        assert_size(&trace.h, 35, 4);
        assert_size(&trace.y, 35, 10);
        assert_size(&trace.z, 35, 10);
        nl_trace_free(&trace);
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

/* Pooling before and after φ and g differ; where there is no φ, only the values do. */
static void test_c13_paper_and_official_pooling_differ(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 10, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 4, 2);
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, (nl_similarity_id)similarity);
        params.subsample = NL_SUBSAMPLE_PAPER;
        nl_trace paper = run_block(&params, &weights, &x, picture);
        params.subsample = NL_SUBSAMPLE_OFFICIAL;
        nl_trace official = run_block(&params, &weights, &x, picture);
        assert_true(largest_difference(&paper.z, &official.z) > 1e-3);
        if (nl_similarities[similarity].embedded)
            assert_true(largest_difference(&paper.k, &official.k) > 1e-3);
        else
            assert_equal_bits(&paper.k, &official.k);
        nl_trace_free(&paper);
        nl_trace_free(&official);
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

/* W and its bias start at zero: Z is X, bit for bit, −0 included. */
static void test_c14_zero_output_map_leaves_x(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 10, 0, 1, 1);
    nl_embedding_params zero = {.kind = NL_EMBED_ZERO, .seed = 3};
    nl_row(&x, 4)[2] = -0.0f;
    nl_row(&x, 5)[3] = 1e-42f;
    nl_row(&x, 6)[3] = 0;
    static const nl_system_id systems[] = {NL_SYSTEM_NONLOCAL, NL_SYSTEM_SAGAN,
                                           NL_SYSTEM_TRANSFORMER};
    for (size_t s = 0; s < COUNT(systems); s++) {
        nl_weights weights;
        assert_int_equal(nl_weights_make(&zero, systems[s], &x, &alone, &weights, NULL), NL_OK);
        for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
            nl_block_params params = block_of(systems[s], (nl_similarity_id)similarity);
            params.layernorm = NL_LAYERNORM_NONE;
            params.gamma = 0.7;
            nl_trace trace = run_block(&params, &weights, &x, picture);
            assert_equal_bits(&trace.z, &x);
            nl_trace_free(&trace);
        }
        nl_weights_free(&weights);
    }
    test_free(x.data);
}

static void test_c15_gamma(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 16, 0, 1, 1);
    const nl_shape shape = {1, 5, 7, 16};
    nl_weights weights = weights_of(NL_SYSTEM_SAGAN, &x, 0, 3);
    nl_block_params params = block_of(NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN);
    nl_row(&x, 4)[2] = -0.0f;
    assert_true(params.gamma == 0 && params.subsample == NL_SUBSAMPLE_PAPER);
    nl_trace trace = run_block(&params, &weights, &x, shape);
    assert_true(largest_entry(&trace.y) > 0.01); /* attention is there, and unused */
    assert_equal_bits(&trace.z, &x);
    nl_trace_free(&trace);
    params.gamma = 1;
    trace = run_block(&params, &weights, &x, shape);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t k = 0; k < x.cols; k++)
            assert_near((double)nl_row(&trace.z, i)[k],
                        (double)nl_row(&x, i)[k] + (double)nl_row(&trace.y, i)[k], 3e-7);
    nl_trace_free(&trace);
    weights.has_gamma = true; /* what a file says wins */
    trace = run_block(&params, &weights, &x, shape);
    assert_equal_bits(&trace.z, &x);
    nl_trace_free(&trace);
    nl_weights_free(&weights);
    test_free(x.data);
}

static void test_c16_channels_of_sagan(void **state)
{
    (void)state;
    nl_matrix x = random_features(12, 64, 0, 1, 1), few = random_features(12, 3, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_SAGAN, &x, 0, 3);
    assert_size(&weights.theta.map.weight, 8, 64);
    assert_size(&weights.phi.map.weight, 8, 64);
    assert_size(&weights.g.map.weight, 32, 64);
    assert_size(&weights.w.map.weight, 64, 32);
    nl_weights_free(&weights);
    weights = weights_of(NL_SYSTEM_SAGAN, &few, 0, 3);
    assert_size(&weights.theta.map.weight, 1, 3);
    assert_size(&weights.g.map.weight, 1, 3);
    nl_weights_free(&weights);
    test_free(x.data);
    test_free(few.data);
}

static void test_c18_spectral_norm_converges(void **state)
{
    (void)state;
    float diagonal[] = {3, 0, 0, 0, 2, 0, 0, 0, 1};
    const nl_matrix m = nl_matrix_view(diagonal, 3, 3, 3);
    double estimates[NL_POWER_ITERATIONS];
    assert_near(nl_spectral_norm(&m, estimates), 3, 1e-9); /* (2/3)^60 of the way is left */
    assert_true(estimates[0] < 2.9);
    for (int i = 1; i < NL_POWER_ITERATIONS; i++)
        assert_true(estimates[i] >= estimates[i - 1] - 1e-15 && estimates[i] <= 3 + 1e-15);
    assert_true(nl_spectral_norm(&m, NULL) == estimates[NL_POWER_ITERATIONS - 1]);
    /* a bᵀ has one singular value, ‖a‖ ‖b‖; rows of odd stride */
    float product[] = {2, 4, 4, NAN, 3, 6, 6, NAN};
    const nl_matrix rank_one = nl_matrix_view(product, 2, 3, 4);
    assert_near(nl_spectral_norm(&rank_one, estimates), sqrt(13) * 3, 1e-13);
    assert_near(estimates[0], sqrt(13) * 3, 1e-13);
}

/* A zero matrix has norm 0 and stays zero; one that 1/√out is blind to has its norm all the same.
 */
static void test_spectral_norm_of_special_matrices(void **state)
{
    (void)state;
    float numbers[6] = {0};
    double estimates[NL_POWER_ITERATIONS];
    nl_matrix m = nl_matrix_view(numbers, 2, 3, 3);
    assert_true(nl_spectral_norm(&m, estimates) == 0);
    assert_true(estimates[0] == 0 && estimates[NL_POWER_ITERATIONS - 1] == 0);
    const float blind[] = {1, 2, 2, -1, -2, -2};
    memcpy(numbers, blind, sizeof numbers);
    assert_near(nl_spectral_norm(&m, NULL), sqrt(2) * 3, 1e-13);
    m = nl_matrix_view(numbers, 1, 1, 1);
    numbers[0] = -0.5f;
    assert_near(nl_spectral_norm(&m, NULL), 0.5, 0);
}

/* sagan divides plain weights by their norm; a zero map stays zero. */
static void test_sagan_divides_by_the_spectral_norm(void **state)
{
    (void)state;
    nl_matrix x = random_features(12, 8, 0, 1, 1);
    const nl_shape shape = {1, 3, 4, 8};
    nl_weights weights = weights_of(NL_SYSTEM_SAGAN, &x, 2, 3);
    nl_block_params params = block_of(NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN);
    params.gamma = 1;
    nl_trace before = run_block(&params, &weights, &x, shape);
    for (size_t i = 0; i < weights.theta.map.weight.rows; i++)
        for (size_t k = 0; k < 8; k++)
            nl_row(&weights.theta.map.weight, i)[k] *= 4; /* 4 θ has 4 σ: nothing changes */
    nl_trace after = run_block(&params, &weights, &x, shape);
    assert_equal_bits(&before.z, &after.z);
    nl_trace_free(&after);
    for (size_t i = 0; i < weights.theta.map.weight.rows; i++)
        memset(nl_row(&weights.theta.map.weight, i), 0, 8 * sizeof(float));
    after = run_block(&params, &weights, &x, shape);
    assert_true(largest_entry(&after.q) == 0);
    for (size_t i = 0; i < after.a.rows; i++)
        for (size_t j = 0; j < after.a.cols; j++)
            assert_near((double)nl_row(&after.a, i)[j], 0.5, 1e-7); /* two keys, 1 × 2 */
    nl_trace_free(&before);
    nl_trace_free(&after);
    nl_weights_free(&weights);
    test_free(x.data);
}

/* A window of one position and the query itself left out: zeros and a note, no NaN. */
static void test_c20_no_keys_left(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 10, 0, 1, 1);
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        nl_block_params params = block_of(NL_SYSTEM_NLM, (nl_similarity_id)similarity);
        nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 3);
        nl_attention_params *a = &params.attention;
        a->self = NL_SELF_EXCLUDE;
        a->search = 1;
        a->grid_width = 7;
        a->grid_height = 5;
        if (nl_similarities[similarity].embedded)
            params.system = NL_SYSTEM_NONLOCAL;
        for (int normalizer = 0; normalizer < NL_NORMALIZE_KINDS; normalizer++) {
            a->normalizer = (nl_normalizer)normalizer;
            nl_trace trace = run_block(&params, &weights, &x, picture);
            assert_true(largest_entry(&trace.a) == 0 && largest_entry(&trace.h) == 0);
            assert_true(isfinite(largest_entry(&trace.z)));
            nl_trace_free(&trace);
            float row[35], w_f[20] = {1};
            nl_row_figures figures;
            a->concat = w_f;
            nl_attention *attention = create_attention(a, &x, &x, true, &alone);
            assert_int_equal(nl_attention_row(attention, 17, &alone, row, &figures, NULL), NL_OK);
            assert_true(figures.notes & NL_NOTE_NO_KEYS);
            assert_true(figures.keys == 0 && figures.sum == 0 && figures.entropy == 0);
            for (size_t j = 0; j < 35; j++)
                assert_true(row[j] == 0);
            nl_attention_free(&attention);
        }
        nl_weights_free(&weights);
    }
    test_free(x.data);
}

/* Odd sizes lose the last row and column; frames do not mix. */
static void test_max_pool(void **state)
{
    (void)state;
    static const nl_shape shapes[] = {{1, 5, 7, 3}, {3, 4, 5, 2}, {2, 2, 2, 1}, {4, 3, 3, 17}};
    for (size_t s = 0; s < COUNT(shapes); s++) {
        const nl_shape from = shapes[s];
        nl_matrix x = random_features(from.t * from.h * from.w, from.c, -3, 1, s + 1), pooled;
        nl_shape to;
        assert_int_equal(nl_max_pool_alloc(&x, from, &pooled, &to, NULL), NL_OK);
        assert_true(to.t == from.t && to.h == from.h / 2 && to.w == from.w / 2 && to.c == from.c);
        assert_size(&pooled, to.t * to.h * to.w, from.c);
        for (size_t j = 0; j < pooled.rows; j++) {
            const size_t t = j / (to.h * to.w), y = j / to.w % to.h, px = j % to.w;
            for (size_t k = 0; k < from.c; k++) {
                float most = -INFINITY;
                for (size_t dy = 0; dy < 2; dy++)
                    for (size_t dx = 0; dx < 2; dx++)
                        most = fmaxf(
                            most, nl_row(&x, (t * from.h + 2 * y + dy) * from.w + 2 * px + dx)[k]);
                assert_true(nl_row(&pooled, j)[k] == most);
            }
        }
        nl_matrix_free(&pooled);
        test_free(x.data);
    }
}

static void test_layer_norm(void **state)
{
    (void)state;
    nl_matrix x = random_features(9, 7, 5, 3, 1), w = random_features(1, 7, 1, 1, 2);
    nl_matrix bias = random_features(1, 7, 0, 1, 3), empty = {0}, normed;
    for (size_t k = 0; k < 7; k++)
        nl_row(&x, 3)[k] = 1e6f; /* constant: (x − μ) is 0 */
    for (int with = 0; with < 3; with++) {
        assert_int_equal(nl_matrix_copy(&normed, &x, NULL), NL_OK);
        nl_layer_norm(&normed,
                      with == 2 ? &w
                      : with    ? &empty
                                : NULL,
                      with == 2 ? &bias
                      : with    ? &empty
                                : NULL);
        for (size_t i = 0; i < 9; i++) {
            double mean = 0, variance = 0;
            for (size_t k = 0; k < 7; k++)
                mean += (double)nl_row(&x, i)[k] / 7;
            for (size_t k = 0; k < 7; k++)
                variance += pow((double)nl_row(&x, i)[k] - mean, 2) / 7;
            for (size_t k = 0; k < 7; k++) {
                double expected = ((double)nl_row(&x, i)[k] - mean) / sqrt(variance + 1e-5);
                if (with == 2)
                    expected = expected * (double)w.data[k] + (double)bias.data[k];
                assert_near((double)nl_row(&normed, i)[k], expected, 1e-7 * fabs(expected) + 1e-9);
            }
        }
        nl_matrix_free(&normed);
    }
    test_free(x.data);
    test_free(w.data);
    test_free(bias.data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c09_dot_divides_by_the_pooled_count),
        cmocka_unit_test(test_c10_concat_of_zeros),
        cmocka_unit_test(test_c11_only_keys_and_values_are_pooled),
        cmocka_unit_test(test_c13_paper_and_official_pooling_differ),
        cmocka_unit_test(test_c14_zero_output_map_leaves_x),
        cmocka_unit_test(test_c15_gamma),
        cmocka_unit_test(test_c16_channels_of_sagan),
        cmocka_unit_test(test_c18_spectral_norm_converges),
        cmocka_unit_test(test_spectral_norm_of_special_matrices),
        cmocka_unit_test(test_sagan_divides_by_the_spectral_norm),
        cmocka_unit_test(test_c20_no_keys_left),
        cmocka_unit_test(test_max_pool),
        cmocka_unit_test(test_layer_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
