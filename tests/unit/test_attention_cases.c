/* SPDX-License-Identifier: MIT */
/*
 * Faults that users of neighbouring programs met, each by its number, and what the figures and
 * notes of a row say. The published values of raw Iris are in golden_attention.h.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attention_ref.h"
#include "golden_attention.h"
#include "iris.h"

static const nl_exec alone = {0};

static nl_attention_params params_of(nl_similarity_id similarity)
{
    nl_attention_params params;
    nl_attention_params_init(&params);
    params.similarity = similarity;
    params.temperature = nl_similarities[similarity].temperature;
    return params;
}

/* Row `query` of x against itself. */
static nl_row_figures row_of(const nl_attention_params *params, const nl_matrix *x, size_t query,
                             float *weights)
{
    nl_row_figures figures;
    nl_attention *attention = create_attention(params, x, x, true, &alone);
    assert_int_equal(nl_attention_row(attention, query, &alone, weights, &figures, NULL), NL_OK);
    nl_attention_free(&attention);
    return figures;
}

static void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.9g, expected %.9g ± %.2g", got, expected, tolerance);
}

/* The weights of the three classes; a golden digit is right to 4·2⁻²⁴ of the exponent 123. */
static void assert_masses(const float *weights, const double *masses)
{
    for (size_t class = 0; class < 3; class ++) {
        double mass = 0;
        for (size_t j = 0; j < IRIS_CLASS; j++)
            mass += (double)weights[class * IRIS_CLASS + j];
        assert_near(mass, masses[class], masses[class] * (1e-5 + 4 * 0x1p-24 * 124));
    }
}

static void test_c01_no_overflow_on_raw_iris(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix(), a;
    size_t above = 0, rows_above = 0, own_maxima = 0, own = 0;
    double largest = 0;
    for (size_t i = 0; i < IRIS_ROWS; i++) {
        const size_t before = above;
        for (size_t j = 0; j < IRIS_ROWS; j++) {
            double logit = 0;
            for (size_t k = 0; k < IRIS_COLS; k++)
                logit += (double)nl_row(&x, i)[k] * (double)nl_row(&x, j)[k];
            above += logit > 88.72;
            largest = fmax(largest, logit);
        }
        rows_above += above > before;
    }
    assert_int_equal(above, GOLDEN_ABOVE_88);
    assert_int_equal(rows_above, GOLDEN_ROWS_ABOVE_88);
    assert_near(largest, golden_largest_logit, 1e-9);

    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        if (!nl_cpu_available(cpu))
            continue;
        const nl_exec exec = {.kernels = nl_kernels_get(cpu, NULL)};
        const nl_attention_params params = params_of(NL_GAUSSIAN);
        nl_attention *attention = create_attention(&params, &x, &x, true, &exec);
        assert_int_equal(nl_matrix_alloc(&a, IRIS_ROWS, IRIS_ROWS, NULL), NL_OK);
        assert_int_equal(nl_attention_rows(attention, &exec, &a, NULL), NL_OK);
        own_maxima = 0;
        for (size_t i = 0; i < IRIS_ROWS; i++) {
            double sum = 0;
            size_t best;
            for (size_t j = 0; j < IRIS_ROWS; j++) {
                assert_true(isfinite(nl_row(&a, i)[j]));
                sum += (double)nl_row(&a, i)[j];
            }
            assert_near(sum, 1, 1e-6);
            assert_int_equal(nl_top(nl_row(&a, i), IRIS_ROWS, 1, &best), 1);
            own_maxima += best == i;
            own = best == i ? i + 1 : own;
        }
        assert_int_equal(own_maxima, GOLDEN_OWN_MAXIMA);
        assert_int_equal(own, GOLDEN_OWN_MAXIMUM);
        nl_attention_free(&attention);
        nl_matrix_free(&a);
    }
}

/* Dot products reward long vectors: setosa's first row reads virginica. */
static void test_gaussian_reads_the_wrong_class_on_raw_iris(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix();
    float weights[IRIS_ROWS];
    const nl_attention_params params = params_of(NL_GAUSSIAN);
    const nl_row_figures figures = row_of(&params, &x, 0, weights);
    size_t order[IRIS_ROWS];
    assert_masses(weights, golden_masses_of_1);
    assert_int_equal(nl_top(weights, IRIS_ROWS, IRIS_ROWS, order), IRIS_ROWS);
    assert_int_equal(order[0] + 1, GOLDEN_TOP_OF_1);
    assert_int_equal(order[GOLDEN_RANK_OF_1 - 1], 0);
    assert_int_equal(figures.largest_at + 1, GOLDEN_TOP_OF_1);
    assert_near((double)figures.largest, golden_top_weight_of_1, 3e-5);
    assert_near((double)weights[0], golden_own_weight_of_1, 4e-5 * golden_own_weight_of_1);
}

static void test_euclidean_reads_its_class_on_raw_iris(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix();
    float weights[IRIS_ROWS];
    nl_attention_params params = params_of(NL_EUCLIDEAN);
    params.h = 0.5;
    assert_int_equal(row_of(&params, &x, 0, weights).largest_at, 0);
    assert_masses(weights, golden_masses_h05);
    params.h = 1;
    row_of(&params, &x, 0, weights);
    assert_masses(weights, golden_masses_h1);
}

/* cos = 1 + τ ln(a_ij / a_ii) with ln of a ratio of floats. */
static void test_smallest_cosine_of_raw_iris(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix();
    float weights[IRIS_ROWS];
    const nl_attention_params params = params_of(NL_COSINE);
    double smallest = 1;
    for (size_t i = 0; i < IRIS_ROWS; i++) {
        row_of(&params, &x, i, weights);
        for (size_t j = 0; j < IRIS_ROWS; j++)
            smallest = fmin(smallest, 1 + 0.1 * log((double)weights[j] / (double)weights[i]));
    }
    assert_near(smallest, golden_smallest_cosine, 1e-5);
}

/* θ ≠ φ: row i is what query i reads, and it is not column i. */
static void test_c02_rows_belong_to_queries(void **state)
{
    (void)state;
    float theta[] = {1, 0, 0, 2, 3, 1}, phi[] = {0, 1, 1, 1, 2, 0}, row[3];
    nl_matrix q = nl_matrix_view(theta, 3, 2, 2), k = nl_matrix_view(phi, 3, 2, 2), a;
    const nl_attention_params params = params_of(NL_EMBEDDED_GAUSSIAN);
    nl_attention *attention = create_attention(&params, &q, &k, true, &alone);
    assert_int_equal(nl_attention_row(attention, 0, &alone, row, NULL, NULL), NL_OK);
    const double sum = 1 + exp(1) + exp(2); /* scores 0, 1, 2 */
    for (int j = 0; j < 3; j++)
        assert_near((double)row[j], exp(j) / sum, 1e-6);
    assert_int_equal(nl_matrix_alloc(&a, 3, 3, NULL), NL_OK);
    assert_int_equal(nl_attention_rows(attention, &alone, &a, NULL), NL_OK);
    assert_memory_equal(a.data, row, sizeof row);
    assert_true(fabsf(nl_row(&a, 1)[0] - row[1]) > 0.1f);
    assert_true(fabsf(nl_row(&a, 2)[0] - row[2]) > 0.1f);
    nl_attention_free(&attention);
    nl_matrix_free(&a);
}

/* scale = 1/√64 multiplies: logarithms of weights are the raw dot products divided by 8. */
static void test_c07_scaled_logits_are_raw_over_8(void **state)
{
    (void)state;
    enum { N = 20, D = 64 };
    nl_matrix q = random_features(N, D, 0, 1, 1), k = random_features(N, D, 0, 1, 2);
    nl_attention_params params = params_of(NL_EMBEDDED_GAUSSIAN);
    params.scale = 1 / sqrt(D);
    nl_attention *attention = create_attention(&params, &q, &k, true, &alone);
    float row[N];
    for (size_t i = 0; i < N; i++) {
        double raw[N];
        assert_int_equal(nl_attention_row(attention, i, &alone, row, NULL, NULL), NL_OK);
        for (size_t j = 0; j < N; j++) {
            raw[j] = 0;
            for (size_t c = 0; c < D; c++)
                raw[j] += (double)nl_row(&q, i)[c] * (double)nl_row(&k, j)[c];
            assert_near(log((double)row[j] / (double)row[0]), (raw[j] - raw[0]) / 8, 2e-5);
        }
    }
    nl_attention_free(&attention);
    test_free(q.data);
    test_free(k.data);
}

/* The only key is the query itself, and it is left out: zeros and a note, never NaN. */
static void test_c20_no_keys_left(void **state)
{
    (void)state;
    float numbers[] = {0.3f, 0.7f}, weight = 5, value = 9, answer = 5;
    nl_matrix x = nl_matrix_view(numbers, 1, 2, 2), a = nl_matrix_view(&weight, 1, 1, 1);
    nl_matrix values = nl_matrix_view(&value, 1, 1, 1), y = nl_matrix_view(&answer, 1, 1, 1);
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
        for (int width = 0; width < 3; width++) {
            nl_attention_params params = params_of(ref_exponentials[similarity]);
            nl_row_figures figures;
            params.self = NL_SELF_EXCLUDE;
            params.perplexity = width > 0 ? 5 : 0;
            params.perplexity_shared = width == 2;
            nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
            weight = 5;
            assert_int_equal(nl_attention_row(attention, 0, &alone, &weight, &figures, NULL),
                             NL_OK);
            assert_true(weight == 0);
            assert_int_equal(figures.notes, NL_NOTE_NO_KEYS);
            assert_true(figures.sum == 0 && figures.entropy == 0 && figures.largest == 0);
            weight = answer = 5;
            assert_int_equal(nl_attention_rows(attention, &alone, &a, NULL), NL_OK);
            assert_int_equal(nl_attention_apply(attention, &values, &alone, &y, NULL), NL_OK);
            assert_true(weight == 0 && answer == 0);
            nl_attention_free(&attention);
        }
    }
}

/* A small h: with keep, Y = X; with max, the query's own weight is the largest of the others. */
static void test_c21_own_weight(void **state)
{
    (void)state;
    enum { N = 40, D = 6 };
    nl_matrix x = random_features(N, D, 0.5f, 0.3f, 4), y;
    nl_attention_params params = params_of(NL_EUCLIDEAN);
    float weights[N];
    size_t order[3];
    assert_int_equal(nl_matrix_alloc(&y, N, D, NULL), NL_OK);
    params.h = 1e-3;
    nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
    assert_int_equal(nl_attention_apply(attention, &x, &alone, &y, NULL), NL_OK);
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(nl_row(&y, i), nl_row(&x, i), D * sizeof(float));
    nl_attention_free(&attention);

    params.h = 0.1;
    params.self = NL_SELF_MAX;
    for (size_t i = 0; i < N; i++) {
        row_of(&params, &x, i, weights);
        assert_int_equal(nl_top(weights, N, 3, order), 3);
        assert_true(order[0] == i || order[1] == i);
        assert_true(weights[order[0]] == weights[order[1]]);
        assert_true(weights[order[2]] < weights[order[1]]);
    }
    nl_matrix_free(&y);
    test_free(x.data);
}

static void test_c27_constant_rows_are_uniform(void **state)
{
    (void)state;
    static const float levels[] = {0, 0.1f, 1, 255, 1e-30f};
    enum { N = 37, D = 27 };
    static float numbers[N * D];
    float weights[N];
    nl_matrix x = nl_matrix_view(numbers, N, D, D);
    for (size_t level = 0; level < COUNT(levels); level++) {
        for (size_t at = 0; at < COUNT(numbers); at++)
            numbers[at] = levels[level];
        for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
            for (int rule = 0; rule < 9; rule++) {
                nl_attention_params params = params_of(ref_exponentials[similarity]);
                params.self = (nl_self)(rule % 3);
                params.perplexity = rule >= 3 ? 5 : 0;
                params.perplexity_shared = rule >= 6;
                const nl_row_figures figures = row_of(&params, &x, 11, weights);
                const bool without = params.self == NL_SELF_EXCLUDE;
                for (size_t j = 0; j < N; j++)
                    assert_true(weights[j] == (without && j == 11 ? 0 : 1.0f / (N - without)));
                assert_true(figures.notes & NL_NOTE_UNIFORM);
                assert_near(figures.effective, N - without, 1e-4);
            }
        }
    }
}

static void test_contrast_has_no_uniform_note(void **state)
{
    (void)state;
    nl_matrix x = random_features(9, 3, 0, 1, 12);
    float weights[9];
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
        nl_attention_params params = params_of(ref_exponentials[similarity]);
        assert_int_equal(row_of(&params, &x, 2, weights).notes, 0);
        params.perplexity = 4;
        assert_int_equal(row_of(&params, &x, 2, weights).notes, NL_NOTE_PERPLEXITY_MET);
    }
    test_free(x.data);
}

/* cos with a zero vector is 0: finite weights, exp(0) against exp(cos / τ), and a note. */
static void test_c30_zero_vector_cosine(void **state)
{
    (void)state;
    float numbers[] = {3, 0, 0, 0, -1, 0, 0, 2}, weights[4];
    nl_matrix x = nl_matrix_view(numbers, 4, 2, 2);
    const nl_attention_params params = params_of(NL_COSINE);
    nl_row_figures figures = row_of(&params, &x, 1, weights);
    for (size_t j = 0; j < 4; j++)
        assert_true(weights[j] == 0.25f);
    assert_int_equal(figures.notes, NL_NOTE_ZERO_QUERY | NL_NOTE_UNIFORM);
    figures = row_of(&params, &x, 0, weights);
    const double sum = exp(10) + 2 + exp(-10);
    const double expected[4] = {exp(10) / sum, 1 / sum, exp(-10) / sum, 1 / sum};
    for (size_t j = 0; j < 4; j++)
        assert_near((double)weights[j], expected[j], 1e-5 * expected[j]);
    assert_int_equal(figures.notes, 0);
}

/* Rows of any length have a cosine, from the smallest floats to the largest. */
static void test_cosine_of_extreme_rows(void **state)
{
    (void)state;
    float numbers[] = {3e38f, 0, 1e-44f, 0, 0, 2e38f, 0, -1e-40f}, weights[4];
    nl_matrix x = nl_matrix_view(numbers, 4, 2, 2);
    const nl_attention_params params = params_of(NL_COSINE);
    row_of(&params, &x, 0, weights);
    assert_true(weights[0] == weights[1] && weights[2] == weights[3]);
    assert_near((double)weights[0], 0.5 / (1 + exp(-10)), 1e-6);
}

/* Finite features never give NaN: an answer that is finite, or a refusal in words. */
static void test_c01_extreme_features(void **state)
{
    (void)state;
    static const float sizes[] = {1e-45f, 1e-30f, 1e-10f, 1e10f, 5e17f, 1e19f, 1e20f, 3e38f};
    float numbers[12], weights[4];
    nl_matrix x = nl_matrix_view(numbers, 4, 3, 3);
    for (size_t size = 0; size < COUNT(sizes); size++) {
        for (size_t at = 0; at < COUNT(numbers); at++)
            numbers[at] = sizes[size] * (float[]){1, -1, 0.5f, 0, -0.7f}[at % 5];
        for (int what = 0; what < REF_EXPONENTIALS * 6; what++) {
            nl_attention_params params = params_of(ref_exponentials[what / 6]);
            nl_attention *attention;
            nl_error error = {0};
            params.self = (nl_self)(what % 3);
            params.perplexity = what / 3 % 2 ? 2 : 0;
            const nl_status status =
                nl_attention_create(&params, &x, &x, true, &alone, &attention, &error);
            if (status != NL_OK) {
                assert_true(sizes[size] > 1e18f && params.similarity != NL_COSINE);
                assert_null(attention);
                assert_invalid(status, &error, "features as large as");
                continue;
            }
            for (size_t i = 0; i < 4; i++) {
                nl_row_figures figures;
                assert_int_equal(nl_attention_row(attention, i, &alone, weights, &figures, NULL),
                                 NL_OK);
                assert_near(figures.sum, 1, 1e-6);
                assert_true(isfinite(figures.entropy) && isfinite(figures.width));
            }
            nl_attention_free(&attention);
        }
    }
}

/* Keys a millionth apart beside one far away: β must leave the scale of the whole row. */
static void test_perplexity_of_near_ties(void **state)
{
    (void)state;
    float numbers[] = {0, 1e-6f, 2e-6f, 3e-6f, 100}, weights[5];
    nl_matrix x = nl_matrix_view(numbers, 5, 1, 1);
    nl_attention_params params = params_of(NL_EUCLIDEAN);
    static const double asked[] = {1.5, 3, 4.5, 4.999};
    for (size_t p = 0; p < COUNT(asked); p++) {
        params.perplexity = asked[p];
        const nl_row_figures figures = row_of(&params, &x, 0, weights);
        assert_near(figures.effective, asked[p], 1e-4 * asked[p]);
        assert_int_equal(figures.notes, NL_NOTE_PERPLEXITY_MET);
    }
}

/* No β gives fewer keys than there are ties at the top, nor as many as there are keys. */
static void test_perplexity_missed(void **state)
{
    (void)state;
    float numbers[] = {1, 1, 1, 0, 0.5f}, weights[5];
    nl_matrix x = nl_matrix_view(numbers, 5, 1, 1);
    nl_attention_params params = params_of(NL_EUCLIDEAN);
    params.perplexity = 2;
    nl_row_figures figures = row_of(&params, &x, 0, weights);
    assert_int_equal(figures.notes, NL_NOTE_PERPLEXITY_MISS);
    assert_near(figures.effective, 3, 1e-6);
    params.perplexity = 5;
    figures = row_of(&params, &x, 0, weights);
    assert_int_equal(figures.notes, NL_NOTE_PERPLEXITY_MISS);
    assert_near(figures.effective, 5, 1e-4);
    params.perplexity = 4;
    assert_int_equal(row_of(&params, &x, 0, weights).notes, NL_NOTE_PERPLEXITY_MET);
}

/* Permuting positions permutes the answer. */
static void test_permuted_rows(void **state)
{
    (void)state;
    enum { N = 61, D = 10 };
    nl_matrix x = random_features(N, D, 0, 1, 21), turned = random_features(N, D, 0, 1, 22);
    float weights[N], other[N];
    for (size_t i = 0; i < N; i++)
        memcpy(nl_row(&turned, i * 7 % N), nl_row(&x, i), D * sizeof(float));
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
        const nl_attention_params params = params_of(ref_exponentials[similarity]);
        row_of(&params, &x, 5, weights);
        row_of(&params, &turned, 35, other);
        for (size_t j = 0; j < N; j++)
            assert_near((double)other[j * 7 % N], (double)weights[j], 1e-6 * (double)weights[j]);
    }
    test_free(x.data);
    test_free(turned.data);
}

static void test_top_ties(void **state)
{
    (void)state;
    const float weights[] = {1, 3, 3, 0, 2, 3, 2};
    static const size_t expected[] = {1, 2, 5, 4, 6, 0, 3};
    size_t index[9];
    for (size_t count = 0; count <= 9; count++) {
        for (size_t at = 0; at < COUNT(index); at++)
            index[at] = 777;
        assert_int_equal(nl_top(weights, 7, count, index), count < 7 ? count : 7);
        for (size_t at = 0; at < COUNT(index); at++)
            assert_int_equal(index[at], at < count && at < 7 ? expected[at] : 777);
    }
    assert_int_equal(nl_top(weights, 0, 3, index), 0);
}

static void test_table_of_similarities(void **state)
{
    (void)state;
    static const char *const names[REF_EXPONENTIALS] = {"gaussian", "embedded-gaussian",
                                                        "euclidean", "cosine"};
    assert_null(nl_similarities[NL_SIMILARITY_COUNT].name);
    for (int i = 0; i < NL_SIMILARITY_COUNT; i++)
        assert_true(strlen(nl_similarities[i].label) > 0 && strlen(nl_similarities[i].formula) > 0);
    for (int i = 0; i < REF_EXPONENTIALS; i++) {
        const nl_similarity *similarity = &nl_similarities[ref_exponentials[i]];
        assert_string_equal(similarity->name, names[i]);
        assert_int_equal(similarity->embedded, ref_exponentials[i] == NL_EMBEDDED_GAUSSIAN);
        assert_true(similarity->temperature == (ref_exponentials[i] == NL_COSINE ? 0.1 : 1));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c01_no_overflow_on_raw_iris),
        cmocka_unit_test(test_c01_extreme_features),
        cmocka_unit_test(test_gaussian_reads_the_wrong_class_on_raw_iris),
        cmocka_unit_test(test_euclidean_reads_its_class_on_raw_iris),
        cmocka_unit_test(test_smallest_cosine_of_raw_iris),
        cmocka_unit_test(test_c02_rows_belong_to_queries),
        cmocka_unit_test(test_c07_scaled_logits_are_raw_over_8),
        cmocka_unit_test(test_c20_no_keys_left),
        cmocka_unit_test(test_c21_own_weight),
        cmocka_unit_test(test_c27_constant_rows_are_uniform),
        cmocka_unit_test(test_contrast_has_no_uniform_note),
        cmocka_unit_test(test_c30_zero_vector_cosine),
        cmocka_unit_test(test_cosine_of_extreme_rows),
        cmocka_unit_test(test_perplexity_of_near_ties),
        cmocka_unit_test(test_perplexity_missed),
        cmocka_unit_test(test_permuted_rows),
        cmocka_unit_test(test_top_ties),
        cmocka_unit_test(test_table_of_similarities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
