/* SPDX-License-Identifier: MIT */
/* What must hold for every block without knowing its numbers: the identities of the mathematics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "block_rig.h"
#include "iris.h"

/* Accuracy of weights relative to the row's largest, for exponents up to this size. */
static double accuracy(double exponent)
{
    return 1e-5 + 4 * 0x1p-24 * exponent;
}

/* Every system over a sum: m weights whose errors are 2⁻²³ of each, and nothing negative. */
static void test_softmax_rows_sum_to_1(void **state)
{
    (void)state;
    nl_matrix x = random_features(24, 10, 0, 1, 1);
    const nl_shape clip = {2, 3, 4, 10};
    for (int system = 0; system < NL_SYSTEM_COUNT; system++) {
        for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
            if (system == NL_SYSTEM_NLM && ref_exponentials[similarity] == NL_EMBEDDED_GAUSSIAN)
                continue;
            nl_block_params params = block_of((nl_system_id)system, ref_exponentials[similarity]);
            nl_weights weights = weights_of((nl_system_id)system, &x, 0, 3);
            params.heads = system == NL_SYSTEM_TRANSFORMER ? 2 : 1;
            nl_trace trace = run_block(&params, &weights, &x, clip);
            assert_int_equal(trace.a.rows, params.heads * 24);
            for (size_t i = 0; i < trace.a.rows; i++) {
                assert_near(row_sum(&trace.a, i), 1, 1e-6);
                for (size_t j = 0; j < trace.a.cols; j++)
                    assert_true(nl_row(&trace.a, i)[j] >= 0);
            }
            nl_trace_free(&trace);
            nl_weights_free(&weights);
        }
    }
    test_free(x.data);
}

/* Largest row sum of magnitudes: what a linear map can make of an error. */
static double gain(const nl_matrix *weight)
{
    double most = 0;
    for (size_t i = 0; i < weight->rows; i++) {
        double sum = 0;
        for (size_t k = 0; k < weight->cols; k++)
            sum += fabs((double)nl_row(weight, i)[k]);
        most = fmax(most, sum);
    }
    return most;
}

static void check_permuted(nl_system_id system, nl_similarity_id similarity)
{
    enum { N = 29, D = 7 };
    nl_matrix x = random_features(N, D, 0, 1, 5), moved = random_features(N, D, 0, 1, 6);
    nl_block_params params = block_of(system, similarity);
    nl_weights weights = weights_of(system, &x, 0, 9);
    params.layernorm = NL_LAYERNORM_NONE;
    params.subsample = NL_SUBSAMPLE_NONE;
    params.gamma = 1;
    for (size_t i = 0; i < N; i++)
        memcpy(nl_row(&moved, i), nl_row(&x, i * 8 % N), D * sizeof(float));
    nl_trace before = run_block(&params, &weights, &x, table_shape(&x));
    nl_trace after = run_block(&params, &weights, &moved, table_shape(&x));
    const double largest = largest_entry(&before.a), off = accuracy(largest_entry(&before.s));
    double map = system == NL_SYSTEM_NLM ? 1 : gain(&weights.w.map.weight);
    if (system == NL_SYSTEM_SAGAN)
        map /= nl_spectral_norm(&weights.w.map.weight, NULL);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++)
            assert_near((double)nl_row(&after.a, i)[j],
                        (double)nl_row(&before.a, i * 8 % N)[j * 8 % N], 2 * off * largest);
        for (size_t k = 0; k < D; k++)
            assert_near((double)nl_row(&after.z, i)[k], (double)nl_row(&before.z, i * 8 % N)[k],
                        2 * off * largest * N * largest_entry(&before.v) * map + 1e-6);
    }
    nl_trace_free(&before);
    nl_trace_free(&after);
    nl_weights_free(&weights);
    test_free(x.data);
    test_free(moved.data);
}

static void test_permuting_positions_permutes_the_answer(void **state)
{
    (void)state;
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        check_permuted(NL_SYSTEM_NONLOCAL, (nl_similarity_id)similarity);
        check_permuted(NL_SYSTEM_SAGAN, (nl_similarity_id)similarity);
        check_permuted(NL_SYSTEM_TRANSFORMER, (nl_similarity_id)similarity);
        if (!nl_similarities[similarity].embedded)
            check_permuted(NL_SYSTEM_NLM, (nl_similarity_id)similarity);
    }
}

/* Row 1 of Iris with the exponent q·k − λ‖k‖²/2; also its own rank. */
static void lambda_row(const nl_matrix *x, double lambda, float *weights, double *setosa,
                       size_t *rank)
{
    nl_attention_params params;
    nl_attention_params_init(&params);
    params.lambda = lambda;
    nl_attention *attention = create_attention(&params, x, x, true, &alone);
    assert_int_equal(nl_attention_row(attention, 0, &alone, weights, NULL, NULL), NL_OK);
    nl_attention_free(&attention);
    *setosa = 0;
    *rank = 1;
    for (size_t j = 0; j < IRIS_ROWS; j++) {
        *setosa += j < IRIS_CLASS ? (double)weights[j] : 0;
        *rank += weights[j] > weights[0];
    }
}

/* From the dot product, which rewards long vectors, to the distance, which rewards near ones. */
static void test_lambda_leads_from_dot_product_to_distance(void **state)
{
    (void)state;
    const nl_matrix x = iris_matrix();
    float weights[IRIS_ROWS], euclidean[IRIS_ROWS];
    double setosa, before = 0;
    size_t rank;
    lambda_row(&x, 0, weights, &setosa, &rank);
    assert_true(setosa < 1e-6);
    assert_int_equal(rank, 116);
    lambda_row(&x, 0.5, weights, &setosa, &rank);
    assert_near(setosa, 0.32, 0.005);
    for (double lambda = 0; lambda <= 1; lambda += 0.125) {
        lambda_row(&x, lambda, weights, &setosa, &rank);
        assert_true(setosa > before);
        before = setosa;
    }
    lambda_row(&x, 1, weights, &setosa, &rank);
    assert_near(setosa, 0.99, 0.005);
    assert_int_equal(rank, 1);
    /* h² d = 2 τ */
    nl_attention_params params;
    nl_attention_params_init(&params);
    params.similarity = NL_EUCLIDEAN;
    params.h = sqrt(2.0 / IRIS_COLS);
    nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
    assert_int_equal(nl_attention_row(attention, 0, &alone, euclidean, NULL, NULL), NL_OK);
    nl_attention_free(&attention);
    for (size_t j = 0; j < IRIS_ROWS; j++)
        assert_near((double)weights[j], (double)euclidean[j],
                    2 * accuracy(124) * (double)euclidean[0]);
}

/* The same for whole blocks and other temperatures. */
static void test_lambda_of_1_is_euclidean(void **state)
{
    (void)state;
    nl_matrix x = random_features(31, 6, 0, 1, 2);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 4);
    static const double temperatures[] = {0.25, 1, 3};
    for (size_t t = 0; t < COUNT(temperatures); t++) {
        nl_block_params dot = block_of(NL_SYSTEM_NONLOCAL, NL_GAUSSIAN);
        nl_block_params distance = block_of(NL_SYSTEM_NONLOCAL, NL_EUCLIDEAN);
        dot.attention.lambda = 1;
        dot.attention.temperature = temperatures[t];
        distance.attention.h = sqrt(2 * temperatures[t] / 6);
        nl_trace a = run_block(&dot, &weights, &x, table_shape(&x));
        nl_trace b = run_block(&distance, &weights, &x, table_shape(&x));
        const double off = accuracy(largest_entry(&a.s)) + accuracy(largest_entry(&b.s));
        assert_true(largest_difference(&a.a, &b.a) <= off * largest_entry(&b.a));
        nl_trace_free(&a);
        nl_trace_free(&b);
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

static void test_one_head_is_scaled_embedded_gaussian(void **state)
{
    (void)state;
    nl_matrix x = random_features(26, 9, 0, 1, 3);
    nl_weights weights = weights_of(NL_SYSTEM_TRANSFORMER, &x, 0, 8);
    nl_block_params head = block_of(NL_SYSTEM_TRANSFORMER, NL_EMBEDDED_GAUSSIAN);
    nl_block_params block = block_of(NL_SYSTEM_NONLOCAL, NL_EMBEDDED_GAUSSIAN);
    head.layernorm = NL_LAYERNORM_NONE;
    block.scale_sqrt = true;
    nl_trace a = run_block(&head, &weights, &x, table_shape(&x));
    nl_trace b = run_block(&block, &weights, &x, table_shape(&x));
    assert_equal_bits(&a.s, &b.s);
    assert_equal_bits(&a.a, &b.a);
    assert_equal_bits(&a.z, &b.z);
    block.scale_sqrt = false;
    block.attention.scale = 1 / sqrt(9);
    nl_trace c = run_block(&block, &weights, &x, table_shape(&x));
    assert_equal_bits(&a.z, &c.z);
    nl_trace_free(&a);
    nl_trace_free(&b);
    nl_trace_free(&c);
    nl_weights_free(&weights);
    test_free(x.data);
}

/* ω belongs to the columns of X, and so each head has its own. */
static void test_heads_have_their_own_patch_weights(void **state)
{
    (void)state;
    enum { N = 13, D = 6, HEADS = 2 };
    static const float omega[D] = {0.5f, 0.25f, 0.25f, 0, 0.125f, 2};
    nl_matrix x = random_features(N, D, 0, 1, 3), s;
    nl_weights weights = weights_of(NL_SYSTEM_TRANSFORMER, &x, 0, 8);
    nl_block_params params = block_of(NL_SYSTEM_TRANSFORMER, NL_EUCLIDEAN);
    params.heads = HEADS;
    params.attention.omega = omega;
    nl_trace trace = run_block(&params, &weights, &x, table_shape(&x));
    assert_int_equal(nl_matrix_alloc(&s, N, N, NULL), NL_OK);
    for (size_t head = 0; head < HEADS; head++) {
        const size_t first = head * D / HEADS;
        const nl_matrix own = nl_matrix_view(x.data + first, N, D / HEADS, x.stride);
        const nl_matrix got = nl_matrix_view(nl_row(&trace.s, head * N), N, N, trace.s.stride);
        params.attention.omega = omega + first;
        nl_attention *attention = create_attention(&params.attention, &own, &own, true, &alone);
        assert_int_equal(nl_attention_scores(attention, &alone, &s, NULL), NL_OK);
        assert_equal_bits(&got, &s);
        nl_attention_free(&attention);
    }
    nl_matrix_free(&s);
    nl_trace_free(&trace);
    nl_weights_free(&weights);
    test_free(x.data);
}

/* A window as large as the picture is no window, too. */
static void test_nlm_is_euclidean_on_the_same_patches(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 12, 0.5f, 0.2f, 3);
    const nl_shape shape = {1, 5, 7, 12};
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 8);
    for (int self = 0; self <= NL_SELF_EXCLUDE; self++) {
        nl_block_params nlm = block_of(NL_SYSTEM_NLM, NL_EUCLIDEAN);
        nl_block_params block = block_of(NL_SYSTEM_NONLOCAL, NL_EUCLIDEAN);
        nlm.attention.self = block.attention.self = (nl_self)self;
        nl_trace a = run_block(&nlm, NULL, &x, shape), b = run_block(&block, &weights, &x, shape);
        assert_equal_bits(&a.a, &b.a);
        nlm.attention.search = 15;
        nlm.attention.grid_width = 7;
        nlm.attention.grid_height = 5;
        nl_trace window = run_block(&nlm, NULL, &x, shape);
        assert_equal_bits(&a.a, &window.a);
        assert_true(largest_difference(&a.z, &window.z) <= 2 * accuracy(largest_entry(&a.s)) *
                                                               largest_entry(&a.a) * 35 *
                                                               largest_entry(&a.v));
        nl_trace_free(&a);
        nl_trace_free(&b);
        nl_trace_free(&window);
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

/* Do two queries disagree about which of two keys is more similar? */
static bool ranks_differ(const nl_matrix *s)
{
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < s->cols; j++)
            for (size_t k = 0; k < j; k++) {
                const float *first = nl_row(s, 0), *s_i = nl_row(s, i);
                if ((first[j] - first[k]) * (s_i[j] - s_i[k]) < 0)
                    return true;
            }
    return false;
}

/* ReLU(u_i + v_j): every query ranks the keys by v_j, so it cannot look for look-alikes. */
static void test_concat_ranks_the_keys_the_same_for_every_query(void **state)
{
    (void)state;
    nl_matrix x = random_features(33, 8, 0, 1, 3);
    for (uint64_t seed = 1; seed < 6; seed++) {
        nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, seed);
        nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, NL_CONCAT);
        nl_trace concat = run_block(&params, &weights, &x, table_shape(&x));
        params = block_of(NL_SYSTEM_NONLOCAL, NL_DOT);
        nl_trace dot = run_block(&params, &weights, &x, table_shape(&x));
        assert_true(largest_entry(&concat.s) > 0);
        assert_false(ranks_differ(&concat.s));
        assert_true(ranks_differ(&dot.s));
        nl_trace_free(&concat);
        nl_trace_free(&dot);
        nl_weights_free(&weights);
    }
    test_free(x.data);
}

/* How far y reaches in a direction. */
static double reach(const nl_matrix *y, const float *direction)
{
    double most = -INFINITY;
    for (size_t i = 0; i < y->rows; i++) {
        double along = 0;
        for (size_t k = 0; k < y->cols; k++)
            along += (double)nl_row(y, i)[k] * (double)direction[k];
        most = fmax(most, along);
    }
    return most;
}

static double spread_of_setosa(const nl_matrix *y)
{
    double squares = 0;
    for (size_t k = 0; k < y->cols; k++) {
        double mean = 0;
        for (size_t i = 0; i < IRIS_CLASS; i++)
            mean += (double)nl_row(y, i)[k] / IRIS_CLASS;
        for (size_t i = 0; i < IRIS_CLASS; i++)
            squares += ((double)nl_row(y, i)[k] - mean) * ((double)nl_row(y, i)[k] - mean);
    }
    return sqrt(squares / IRIS_CLASS);
}

/* Repeating y = A y is mean shift: it stays in the convex hull, and a cloud falls onto its mode. */
static void test_repeated_softmax_stays_in_the_convex_hull(void **state)
{
    (void)state;
    enum { DIRECTIONS = 100, STEPS = 25 };
    const nl_matrix x = iris_matrix();
    nl_matrix directions = random_features(DIRECTIONS, IRIS_COLS, 0, 1, 7), y;
    nl_block_params params = block_of(NL_SYSTEM_NLM, NL_EUCLIDEAN);
    params.attention.self = NL_SELF_KEEP;
    params.attention.h = 0.5;
    assert_int_equal(nl_matrix_copy(&y, &x, NULL), NL_OK);
    double spread = spread_of_setosa(&y);
    for (int step = 0; step < STEPS; step++) {
        nl_trace trace = run_block(&params, NULL, &y, table_shape(&y));
        for (size_t d = 0; d < DIRECTIONS; d++) {
            const float *direction = nl_row(&directions, d);
            assert_true(reach(&trace.z, direction) <= reach(&y, direction) + 1e-5);
        }
        nl_matrix_free(&y);
        y = trace.z;
        trace.z = (nl_matrix){0};
        nl_trace_free(&trace);
        assert_true(spread_of_setosa(&y) <= spread + 1e-5);
        spread = spread_of_setosa(&y);
    }
    assert_true(spread < 1e-3 * spread_of_setosa(&x));
    nl_matrix_free(&y);
    test_free(directions.data);
}

static void test_repeated_dot_can_leave_the_convex_hull(void **state)
{
    (void)state;
    float numbers[] = {3, 0, -3, 0, 0, 2};
    nl_matrix x = nl_matrix_view(numbers, 3, 2, 2), y = x;
    nl_embedding_params identity;
    nl_embedding_params_init(&identity);
    nl_weights weights;
    assert_int_equal(nl_weights_make(&identity, NL_SYSTEM_NONLOCAL, &x, &alone, &weights, NULL),
                     NL_OK);
    const nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, NL_DOT);
    nl_trace trace = run_block(&params, &weights, &x, table_shape(&x));
    y = trace.y;
    assert_near((double)nl_row(&y, 0)[0], 18, 1e-5); /* (9·3 + −9·−3) / 3, beyond 3 */
    nl_trace_free(&trace);
    nl_weights_free(&weights);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_softmax_rows_sum_to_1),
        cmocka_unit_test(test_permuting_positions_permutes_the_answer),
        cmocka_unit_test(test_lambda_leads_from_dot_product_to_distance),
        cmocka_unit_test(test_lambda_of_1_is_euclidean),
        cmocka_unit_test(test_one_head_is_scaled_embedded_gaussian),
        cmocka_unit_test(test_heads_have_their_own_patch_weights),
        cmocka_unit_test(test_nlm_is_euclidean_on_the_same_patches),
        cmocka_unit_test(test_concat_ranks_the_keys_the_same_for_every_query),
        cmocka_unit_test(test_repeated_softmax_stays_in_the_convex_hull),
        cmocka_unit_test(test_repeated_dot_can_leave_the_convex_hull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
