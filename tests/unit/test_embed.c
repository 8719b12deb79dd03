/* SPDX-License-Identifier: MIT */
/* Embeddings, their linear maps, the random numbers and the eigenproblem behind them. */
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
#include "eigen.h"
#include "golden_pca.h"
#include "golden_random.h"
#include "iris.h"
#include "nonlocal/embed.h"
#include "random.h"

static const nl_exec alone = {0};

static void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g ± %.2g", got, expected, tolerance);
}

/* One rounding from double to float, or one that sat on the edge of it. */
static void assert_float(float got, double expected)
{
    assert_near((double)got, expected, 1.001 * 0x1p-24 * fabs(expected) + 1e-15);
}

/*
 * a v = λ v and v_r · v_s = [r = s], both to a small multiple of d ε ‖a‖ (a backward stable method
 * leaves p(d) ε ‖a‖ with a modest p), and descending values.
 */
static void check_eigen(const double *a, size_t d, double *values)
{
    double *v = test_malloc(d * d * sizeof *v), *scratch = test_malloc(2 * d * sizeof *scratch);
    double norm = 0;
    for (size_t at = 0; at < d * d; at++) {
        v[at] = a[at];
        norm += a[at] * a[at];
    }
    const double tolerance = 10 * (double)d * DBL_EPSILON;
    norm = sqrt(norm);
    assert_true(nl_eigen_symmetric(v, d, values, scratch));
    for (size_t r = 0; r < d; r++) {
        assert_true(r == 0 || values[r] <= values[r - 1]);
        for (size_t i = 0; i < d; i++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += a[i * d + k] * v[r * d + k];
            assert_near(sum, values[r] * v[r * d + i], tolerance * norm);
        }
        for (size_t s = 0; s <= r; s++) {
            double dot = 0;
            for (size_t k = 0; k < d; k++)
                dot += v[r * d + k] * v[s * d + k];
            assert_near(dot, r == s, tolerance);
        }
    }
    test_free(v);
    test_free(scratch);
}

static void test_eigen_known(void **state)
{
    (void)state;
    double values[8];
    check_eigen((const double[]){5}, 1, values);
    assert_near(values[0], 5, 0);
    check_eigen((const double[]){2, 1, 1, 2}, 2, values);
    assert_near(values[0], 3, 4e-15);
    assert_near(values[1], 1, 4e-15);
    const double diagonal[] = {1, 0, 0, 0, 0, 7, 0, 0, 0, 0, -3, 0, 0, 0, 0, 7};
    check_eigen(diagonal, 4, values);
    static const double sorted[] = {7, 7, 1, -3};
    for (int r = 0; r < 4; r++)
        assert_near(values[r], sorted[r], 0);
    /* −1 on both sides of 2: 2 − 2 cos(π r / (d + 1)) */
    double chain[49] = {0};
    for (size_t i = 0; i < 7; i++) {
        chain[i * 7 + i] = 2;
        if (i > 0)
            chain[i * 7 + i - 1] = chain[(i - 1) * 7 + i] = -1;
    }
    check_eigen(chain, 7, values);
    for (int r = 0; r < 7; r++)
        assert_near(values[r], 2 - 2 * cos(3.14159265358979323846 * (7 - r) / 8), 1e-14);
}

/* Values over eleven orders of magnitude, each right to ε of the largest. */
static void test_eigen_hilbert(void **state)
{
    (void)state;
    double a[64], values[8];
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++)
            a[i * 8 + k] = 1 / (double)(i + k + 1);
    check_eigen(a, 8, values);
    for (int r = 0; r < 8; r++)
        assert_near(values[r], golden_hilbert8[r], 80 * DBL_EPSILON * golden_hilbert8[0]);
}

static void test_eigen_random(void **state)
{
    (void)state;
    enum { LARGEST = 120 };
    static double a[LARGEST * LARGEST], values[LARGEST];
    static const double scales[] = {1, 1e-150, 1e150};
    struct nl_random random;
    nl_random_seed(&random, 3);
    for (size_t d = 1; d <= LARGEST; d += d < 20 ? 1 : 25) {
        for (size_t scale = 0; scale < COUNT(scales); scale++) {
            double trace = 0, sum = 0, norm = 0;
            for (size_t i = 0; i < d; i++)
                for (size_t k = 0; k <= i; k++)
                    a[i * d + k] = a[k * d + i] = scales[scale] * nl_random_normal(&random);
            check_eigen(a, d, values);
            for (size_t i = 0; i < d; i++) {
                trace += a[i * d + i];
                sum += values[i];
                norm = fmax(norm, fabs(values[i]));
            }
            assert_near(sum, trace, 10 * (double)(d * d) * DBL_EPSILON * norm);
        }
    }
}

/* Matrices with many equal values: zero, identity, rank one, blocks. */
static void test_eigen_degenerate(void **state)
{
    (void)state;
    enum { D = 40 };
    static double a[D * D], values[D];
    check_eigen(a, D, values);
    assert_near(values[0], 0, 0);
    for (size_t at = 0; at < D * D; at++)
        a[at] = 1;
    check_eigen(a, D, values);
    assert_near(values[0], D, 1e-12);
    assert_near(values[1], 0, 1e-12);
    for (size_t i = 0; i < D; i++)
        for (size_t k = 0; k < D; k++)
            a[i * D + k] = i / 4 == k / 4 ? (i == k ? 2 : 1) : 0;
    check_eigen(a, D, values);
    for (size_t r = 0; r < D; r++)
        assert_near(values[r], r < D / 4 ? 5 : 1, 1e-13);
    a[3] = NAN;
    double scratch[2 * D];
    assert_false(nl_eigen_symmetric(a, D, values, scratch));
}

static void test_random_numbers(void **state)
{
    (void)state;
    struct nl_random random;
    for (size_t seed = 0; seed < COUNT(golden_seeds); seed++) {
        nl_random_seed(&random, golden_seeds[seed]);
        for (size_t i = 0; i < COUNT(golden_u64[0]); i++)
            assert_true(nl_random_u64(&random) == golden_u64[seed][i]);
    }
    nl_random_seed(&random, 1);
    for (size_t i = 0; i < COUNT(golden_normals); i++)
        assert_near(nl_random_normal(&random), golden_normals[i], 1e-14);
    /* Seeding forgets the second number of a pair. */
    nl_random_normal(&random);
    nl_random_seed(&random, 1);
    assert_near(nl_random_normal(&random), golden_normals[0], 1e-14);
    nl_random_seed(&random, 9);
    for (int i = 0; i < 100000; i++) {
        const double u = nl_random_uniform(&random);
        assert_true(u >= 0 && u < 1);
    }
}

/* Mean, variance and fourth moment of 200,000 numbers, within five standard errors. */
static void test_normal_moments(void **state)
{
    (void)state;
    enum { N = 200000 };
    struct nl_random random;
    double sum = 0, squares = 0, fourth = 0;
    nl_random_seed(&random, 12345);
    for (int i = 0; i < N; i++) {
        const double x = nl_random_normal(&random);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    assert_near(sum / N, 0, 5 / sqrt(N));
    assert_near(squares / N, 1, 5 * sqrt(2.0 / N));
    assert_near(fourth / N, 3, 5 * sqrt(96.0 / N));
}

static void assert_matrix(const nl_matrix *matrix, const double *expected, size_t rows, size_t cols)
{
    assert_int_equal(matrix->rows, rows);
    assert_int_equal(matrix->cols, cols);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < cols; k++)
            assert_float(nl_row(matrix, i)[k], expected[i * cols + k]);
}

static nl_embedding create(nl_embedding_id kind, size_t dim, uint64_t seed, const nl_matrix *x)
{
    nl_embedding embedding;
    nl_embedding_params params;
    nl_error error = {0};
    nl_embedding_params_init(&params);
    assert_int_equal(params.kind, NL_EMBED_IDENTITY);
    assert_int_equal(params.dim, 0);
    assert_int_equal(params.seed, 1);
    params.kind = kind;
    params.dim = dim;
    params.seed = seed;
    if (nl_embedding_create(&params, x, &alone, &embedding, &error) != NL_OK)
        fail_msg("%s", error.message);
    return embedding;
}

/* The order θ φ g w_f W and the deviation 1/√fan-in, number by number; zero leaves W at 0. */
static void test_random_embedding(void **state)
{
    (void)state;
    nl_matrix x = random_features(4, 5, 0, 1, 1);
    for (int zero = 0; zero < 2; zero++) {
        static const double nothing[5][3];
        nl_embedding e = create(zero ? NL_EMBED_ZERO : NL_EMBED_RANDOM, zero ? 0 : 3, 7, &x);
        assert_matrix(&e.theta.weight, &golden_theta[0][0], 3, 5);
        assert_matrix(&e.phi.weight, &golden_phi[0][0], 3, 5);
        assert_matrix(&e.g.weight, &golden_g[0][0], 3, 5);
        assert_matrix(&e.concat, &golden_w_f[0][0], 1, 6);
        assert_matrix(&e.w.weight, zero ? &nothing[0][0] : &golden_w[0][0], 5, 3);
        assert_true(!e.theta.bias.data && !e.phi.bias.data && !e.g.bias.data && !e.w.bias.data);
        nl_embedding_free(&e);
        assert_null(e.theta.weight.data);
        nl_embedding_free(&e);
    }
    test_free(x.data);
}

static void test_identity_embedding(void **state)
{
    (void)state;
    nl_matrix x = random_features(6, 9, 0, 1, 2), y;
    nl_embedding e = create(NL_EMBED_IDENTITY, 9, 1, &x);
    const nl_linear *maps[] = {&e.theta, &e.phi, &e.g, &e.w};
    for (size_t map = 0; map < COUNT(maps); map++) {
        assert_int_equal(nl_linear_apply_alloc(maps[map], &x, &alone, &y, NULL), NL_OK);
        assert_int_equal(y.cols, 9);
        for (size_t i = 0; i < x.rows; i++)
            assert_memory_equal(nl_row(&y, i), nl_row(&x, i), 9 * sizeof(float));
        nl_matrix_free(&y);
    }
    nl_embedding_free(&e);
    test_free(x.data);
}

static void test_pca_of_iris(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix(), h, z;
    nl_embedding e = create(NL_EMBED_PCA, 4, 1, &x);
    for (size_t i = 0; i < 4; i++) {
        assert_float(e.w.bias.data[i], golden_iris_mean[i]);
        for (size_t k = 0; k < 4; k++) {
            assert_near((double)nl_row(&e.theta.weight, i)[k], golden_iris_components[i][k], 1e-7);
            assert_true(nl_row(&e.phi.weight, i)[k] == nl_row(&e.theta.weight, i)[k]);
            assert_true(nl_row(&e.g.weight, i)[k] == nl_row(&e.theta.weight, i)[k]);
            assert_true(nl_row(&e.w.weight, k)[i] == nl_row(&e.theta.weight, i)[k]);
        }
    }
    /* Weights and bias are rounded to float: 2⁻²⁴ of Σ |v x| + |bias|, below 30, a few times. */
    assert_int_equal(nl_linear_apply_alloc(&e.theta, &x, &alone, &h, NULL), NL_OK);
    for (size_t r = 0; r < COUNT(golden_iris_rows); r++)
        for (size_t k = 0; k < 4; k++)
            assert_near((double)nl_row(&h, (size_t)golden_iris_rows[r] - 1)[k],
                        golden_iris_projected[r][k], 4 * 30 * 0x1p-24);
    double variance[4] = {0};
    for (size_t i = 0; i < IRIS_ROWS; i++)
        for (size_t k = 0; k < 4; k++)
            variance[k] += (double)nl_row(&h, i)[k] * (double)nl_row(&h, i)[k] / IRIS_ROWS;
    for (size_t k = 0; k < 4; k++)
        assert_near(variance[k], golden_iris_variances[k], 1e-5);
    /* All components kept: W takes the answer back to x. */
    assert_int_equal(nl_linear_apply_alloc(&e.w, &h, &alone, &z, NULL), NL_OK);
    for (size_t i = 0; i < IRIS_ROWS; i++)
        for (size_t k = 0; k < 4; k++)
            assert_near((double)nl_row(&z, i)[k], (double)nl_row(&x, i)[k], 2e-5);
    nl_matrix_free(&h);
    nl_matrix_free(&z);
    nl_embedding_free(&e);
}

/* The entry of largest magnitude of each component is positive; half of them by default. */
static void test_pca_sign_and_size(void **state)
{
    (void)state;
    nl_matrix x = random_features(60, 11, 3, 1, 9), copy;
    nl_embedding e = create(NL_EMBED_PCA, 0, 1, &x), turned;
    assert_int_equal(e.theta.weight.rows, 6);
    for (size_t r = 0; r < e.theta.weight.rows; r++) {
        const float *v_r = nl_row(&e.theta.weight, r);
        size_t largest = 0;
        for (size_t k = 1; k < 11; k++)
            largest = fabsf(v_r[k]) > fabsf(v_r[largest]) ? k : largest;
        assert_true(v_r[largest] > 0);
    }
    /* The other way round, the data have the same components. */
    assert_int_equal(nl_matrix_copy(&copy, &x, NULL), NL_OK);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t k = 0; k < x.cols; k++)
            nl_row(&copy, i)[k] *= -1;
    turned = create(NL_EMBED_PCA, 0, 1, &copy);
    for (size_t r = 0; r < 6; r++)
        for (size_t k = 0; k < 11; k++)
            assert_near((double)nl_row(&turned.theta.weight, r)[k],
                        (double)nl_row(&e.theta.weight, r)[k], 1e-7);
    nl_embedding_free(&turned);
    nl_embedding_free(&e);
    nl_matrix_free(&copy);
    test_free(x.data);
}

/* PCA of one row, of a constant column, of more columns than rows: no NaN. */
static void test_pca_of_little(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {1, 7}, {3, 20}, {50, 2}};
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        nl_matrix x = random_features(shapes[shape][0], shapes[shape][1], 1, 1, 5), h;
        for (size_t i = 0; i < x.rows; i++)
            nl_row(&x, i)[0] = 0.1f;
        nl_embedding e = create(NL_EMBED_PCA, x.cols, 1, &x);
        assert_int_equal(nl_linear_apply_alloc(&e.theta, &x, &alone, &h, NULL), NL_OK);
        for (size_t i = 0; i < h.rows; i++)
            for (size_t k = 0; k < h.cols; k++)
                assert_true(isfinite(nl_row(&h, i)[k]));
        nl_matrix_free(&h);
        nl_embedding_free(&e);
        test_free(x.data);
    }
}

/* The same map from one thread and from three. */
static void test_pca_and_threads(void **state)
{
    (void)state;
    nl_pool *pool = NULL;
    nl_embedding one, three;
    const nl_embedding_params params = {.kind = NL_EMBED_PCA, .dim = 40};
    nl_matrix x = random_features(80, 90, 0, 1, 17);
    assert_int_equal(nl_pool_create(3, &pool, NULL), NL_OK);
    assert_int_equal(nl_embedding_create(&params, &x, &alone, &one, NULL), NL_OK);
    assert_int_equal(nl_embedding_create(&params, &x, &(nl_exec){.pool = pool}, &three, NULL),
                     NL_OK);
    assert_memory_equal(one.theta.weight.data, three.theta.weight.data,
                        40 * one.theta.weight.stride * sizeof(float));
    assert_memory_equal(one.theta.bias.data, three.theta.bias.data, 40 * sizeof(float));
    nl_embedding_free(&one);
    nl_embedding_free(&three);
    nl_pool_free(&pool);
    test_free(x.data);
}

/* y = W x + b: chunks of 32 in float, one more rounding for the product and one for the bias. */
static void test_linear_apply(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {
        {1, 1, 1}, {33, 44, 22}, {5, 432, 216}, {70, 3, 100}, {64, 17, 16}};
    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        for (size_t shape = 0; nl_cpu_available(cpu) && shape < COUNT(shapes); shape++) {
            const size_t n = shapes[shape][0], in = shapes[shape][1], out = shapes[shape][2];
            const nl_exec exec = {.kernels = nl_kernels_get(cpu, NULL)};
            nl_matrix x = random_features(n, in, 0, 1, 1), y;
            nl_linear map = {random_features(out, in, 0, 1, 2), random_features(1, out, 0, 1, 3)};
            float *bias = map.bias.data;
            for (int biased = 0; biased < 2; biased++) {
                map.bias.data = biased ? bias : NULL;
                assert_int_equal(nl_linear_apply_alloc(&map, &x, &exec, &y, NULL), NL_OK);
                assert_true(y.rows == n && y.cols == out && y.owned);
                for (size_t i = 0; i < n; i++) {
                    for (size_t k = 0; k < out; k++) {
                        double sum = biased ? (double)bias[k] : 0, size = fabs(sum);
                        for (size_t c = 0; c < in; c++) {
                            const double term =
                                (double)nl_row(&map.weight, k)[c] * (double)nl_row(&x, i)[c];
                            sum += term;
                            size += fabs(term);
                        }
                        assert_near((double)nl_row(&y, i)[k], sum, 34.01 * 0x1p-24 * size);
                    }
                }
                nl_matrix_free(&y);
            }
            test_free(bias);
            test_free(map.weight.data);
            test_free(x.data);
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    nl_matrix x = random_features(3, 5, 0, 1, 1), y;
    const nl_matrix nothing = nl_matrix_view(x.data, 0, 5, 5);
    const nl_matrix no_cols = nl_matrix_view(x.data, 3, 0, 5);
    nl_embedding e;
    nl_error error = {0};
    nl_embedding_params params = {.kind = NL_EMBED_IDENTITY, .dim = 4};
    assert_invalid(nl_embedding_create(&params, &x, &alone, &e, &error), &error, "4");
    assert_invalid(nl_embedding_create(&params, &x, &alone, &e, &error), &error, "5");
    for (int kind = NL_EMBED_PCA; kind < NL_EMBED_COUNT; kind++) {
        params = (nl_embedding_params){.kind = (nl_embedding_id)kind, .dim = 6};
        assert_invalid(nl_embedding_create(&params, &x, &alone, &e, &error), &error, "6");
        assert_null(e.theta.weight.data);
        params.dim = 0;
        assert_invalid(nl_embedding_create(&params, &nothing, &alone, &e, &error), &error,
                       "no features");
        assert_invalid(nl_embedding_create(&params, &no_cols, &alone, &e, &error), &error,
                       "no features");
    }
    params = (nl_embedding_params){.kind = NL_EMBED_COUNT};
    assert_invalid(nl_embedding_create(&params, &x, &alone, &e, &error), &error, "4");
    params.kind = NL_EMBED_PCA;
    nl_row(&x, 1)[2] = NAN;
    assert_invalid(nl_embedding_create(&params, &x, &alone, &e, &error), &error, "finite");
    params.kind = NL_EMBED_RANDOM;
    assert_int_equal(nl_embedding_create(&params, &x, &alone, &e, NULL), NL_OK);
    x.cols = 4;
    assert_invalid(nl_linear_apply_alloc(&e.theta, &x, &alone, &y, &error), &error, "from 5");
    assert_null(y.data);
    nl_embedding_free(&e);
    float *wide = test_calloc(NL_MAX_PCA_DIM + 1, sizeof *wide);
    const nl_matrix one = nl_matrix_view(wide, 1, NL_MAX_PCA_DIM + 1, NL_MAX_PCA_DIM + 1);
    params.kind = NL_EMBED_PCA;
    assert_int_equal(nl_embedding_create(&params, &one, &alone, &e, &error), NL_LIMIT);
    assert_non_null(strstr(error.message, "2049"));
    test_free(wide);
    test_free(x.data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eigen_known),      cmocka_unit_test(test_eigen_hilbert),
        cmocka_unit_test(test_eigen_random),     cmocka_unit_test(test_eigen_degenerate),
        cmocka_unit_test(test_random_numbers),   cmocka_unit_test(test_normal_moments),
        cmocka_unit_test(test_random_embedding), cmocka_unit_test(test_identity_embedding),
        cmocka_unit_test(test_pca_of_iris),      cmocka_unit_test(test_pca_sign_and_size),
        cmocka_unit_test(test_pca_of_little),    cmocka_unit_test(test_pca_and_threads),
        cmocka_unit_test(test_linear_apply),     cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
