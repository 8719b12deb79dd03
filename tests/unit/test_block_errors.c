/* SPDX-License-Identifier: MIT */
/*
 * What a block refuses and in which words, what it leaves behind when memory is out, and the raw
 * scores of dot and concat with both normalisers against double.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "alloc.h"
#include "block_rig.h"

static void assert_refused(const nl_block_params *params, const nl_weights *weights,
                           const nl_matrix *x, nl_shape shape, const char *names)
{
    nl_trace trace;
    nl_matrix z;
    nl_error error = {0};
    const long live = nl_alloc_live();
    const nl_status status =
        nl_block_run_alloc(params, weights, x, shape, &alone, &trace, &z, &error);
    assert_invalid(status, &error, names);
    assert_null(z.data);
    for (int s = 0; s < 9; s++)
        assert_null((&trace.x)[s].data);
    assert_int_equal(nl_block_run_alloc(params, weights, x, shape, &alone, NULL, &z, NULL),
                     NL_INVALID);
    assert_int_equal(nl_alloc_live(), live);
}

static void test_pooling_leaves_nothing(void **state)
{
    (void)state;
    nl_matrix x = random_features(14, 6, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 2);
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, (nl_similarity_id)similarity);
        for (int pool = NL_SUBSAMPLE_PAPER; pool < NL_SUBSAMPLE_COUNT; pool++) {
            params.subsample = (nl_subsample)pool;
            assert_refused(&params, &weights, &x, (nl_shape){1, 1, 14, 6}, "1 × 14");
            assert_refused(&params, &weights, &x, (nl_shape){1, 14, 1, 6}, "14 × 1");
            assert_refused(&params, &weights, &x, (nl_shape){2, 1, 7, 6}, "sub-sampling");
        }
        /* and a self rule has no key of its own */
        params.attention.self = NL_SELF_MAX;
        assert_refused(&params, &weights, &x, (nl_shape){1, 2, 7, 6}, "same positions");
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

static void test_conventions_of_other_systems(void **state)
{
    (void)state;
    nl_matrix x = random_features(8, 6, 0, 1, 1);
    const nl_shape shape = {1, 2, 4, 6};
    for (int system = 0; system < NL_SYSTEM_COUNT; system++) {
        nl_weights weights = weights_of((nl_system_id)system, &x, 0, 2);
        nl_block_params params = block_of((nl_system_id)system, NL_GAUSSIAN);
        params.heads = 0;
        assert_refused(&params, &weights, &x, shape, "0 heads");
        params.heads = 4;
        assert_refused(&params, &weights, &x, shape,
                       system == NL_SYSTEM_TRANSFORMER ? "6 features do not divide into 4 heads"
                                                       : "4 heads");
        params.heads = 1;
        if (system == NL_SYSTEM_NONLOCAL || system == NL_SYSTEM_SAGAN)
            params.layernorm = NL_LAYERNORM_PRE;
        else
            params.subsample = NL_SUBSAMPLE_PAPER;
        assert_refused(&params, &weights, &x, shape,
                       params.layernorm == NL_LAYERNORM_PRE ? "LayerNorm" : "sub-sampling");
        params = block_of((nl_system_id)system, NL_GAUSSIAN);
        if (system == NL_SYSTEM_NLM) {
            params.layernorm = NL_LAYERNORM_POST;
            assert_refused(&params, NULL, &x, shape, "LayerNorm");
        } else {
            assert_refused(&params, NULL, &x, shape, "needs weights");
        }
        nl_weights_free(&weights);
    }
    nl_block_params params = block_of(NL_SYSTEM_NLM, NL_DOT);
    assert_refused(&params, NULL, &x, shape, "no embedding");
    test_free(x.data);
}

static void test_numbers_that_do_not_exist(void **state)
{
    (void)state;
    nl_matrix x = random_features(8, 6, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 2);
    const nl_block_params good = block_of(NL_SYSTEM_NONLOCAL, NL_EMBEDDED_GAUSSIAN);
    nl_block_params bad[8];
    for (size_t b = 0; b < COUNT(bad); b++)
        bad[b] = good;
    bad[0].system = NL_SYSTEM_COUNT;
    bad[1].system = (nl_system_id)-1;
    bad[2].subsample = NL_SUBSAMPLE_COUNT;
    bad[3].subsample = (nl_subsample)-1;
    bad[4].layernorm = NL_LAYERNORM_COUNT;
    bad[5].layernorm = (nl_layernorm)-1;
    bad[6].attention.similarity = (nl_similarity_id)100000;
    bad[7].attention.similarity = (nl_similarity_id)-1;
    for (size_t b = 0; b < COUNT(bad); b++)
        assert_refused(&bad[b], &weights, &x, table_shape(&x), "no such");
    nl_weights_free(&weights);
    test_free(x.data);
}

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    nl_matrix x = random_features(8, 6, 0, 1, 1);
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 2);
    nl_block_params params = block_of(NL_SYSTEM_NONLOCAL, NL_CONCAT);
    assert_refused(&params, &weights, &x, (nl_shape){1, 3, 3, 6}, "1 × 3 × 3 × 6");
    assert_refused(&params, &weights, &x, (nl_shape){1, 2, 4, 5}, "1 × 2 × 4 × 5");
    assert_refused(&params, &weights, &x, (nl_shape){0, 2, 4, 6}, "0 × 2 × 4 × 6");
    const nl_matrix none = nl_matrix_view(x.data, 0, 6, 7);
    assert_refused(&params, &weights, &none, (nl_shape){0, 1, 1, 6}, "0 × 6");
    /* weights that go with other channels, or are not there */
    const nl_matrix narrow = nl_matrix_view(x.data, 8, 5, x.stride);
    assert_refused(&params, &weights, &narrow, table_shape(&narrow), "from 6 features");
    nl_matrix concat = weights.concat;
    weights.concat = nl_matrix_view(concat.data, 1, 5, 5);
    assert_refused(&params, &weights, &x, table_shape(&x), "needs 6 weights w_f, there are 5");
    weights.concat = (nl_matrix){0};
    assert_refused(&params, &weights, &x, table_shape(&x), "there are 0");
    weights.concat = concat;
    nl_matrix w = weights.w.map.weight;
    weights.w.map.weight = nl_matrix_view(w.data, 5, w.cols, w.stride);
    assert_refused(&params, &weights, &x, table_shape(&x), "gives 5 channels, the input has 6");
    weights.w.map.weight = w;
    nl_row(&x, 7)[5] = NAN;
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        params = block_of(NL_SYSTEM_NONLOCAL, (nl_similarity_id)similarity);
        assert_refused(&params, &weights, &x, table_shape(&x), "row 8");
    }
    nl_weights_free(&weights);
    test_free(x.data);
}

/* S and A of 16385² numbers; without a trace the same map is no problem, but takes long. */
static void test_trace_limit(void **state)
{
    (void)state;
    enum { N = 16385 };
    float *zeros = test_calloc(N, sizeof *zeros);
    const nl_matrix x = nl_matrix_view(zeros, N, 1, 1);
    const nl_block_params params = block_of(NL_SYSTEM_NLM, NL_EUCLIDEAN);
    nl_trace trace;
    nl_matrix z;
    nl_error error = {0};
    const long live = nl_alloc_live();
    assert_int_equal(
        nl_block_run_alloc(&params, NULL, &x, table_shape(&x), &alone, &trace, &z, &error),
        NL_LIMIT);
    assert_int_equal(error.status, NL_LIMIT);
    assert_non_null(strstr(error.message, "16385 × 16385"));
    assert_null(z.data);
    assert_null(trace.x.data);
    assert_int_equal(nl_alloc_live(), live);
    test_free(zeros);
}

/* ---- memory ---- */

static void check_memory(const nl_block_params *params, const nl_weights *weights,
                         const nl_matrix *x, nl_shape shape)
{
    const long live = nl_alloc_live();
    long countdown = 0;
    for (;; countdown++) {
        nl_trace trace;
        nl_matrix z;
        nl_error error = {0};
        nl_alloc_fail_after(countdown);
        const nl_status status =
            nl_block_run_alloc(params, weights, x, shape, &alone, &trace, &z, &error);
        nl_alloc_fail_after(-1);
        if (status == NL_OK) {
            nl_trace_free(&trace);
            nl_matrix_free(&z);
            break;
        }
        assert_int_equal(status, NL_NOMEM);
        assert_int_equal(error.status, NL_NOMEM);
        assert_non_null(strstr(error.message, "no memory"));
        assert_null(z.data);
        for (int s = 0; s < 9; s++)
            assert_null((&trace.x)[s].data);
        assert_int_equal(nl_alloc_live(), live);
    }
    assert_int_equal(nl_alloc_live(), live);
    assert_true(countdown >= 12);
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    nl_matrix x = random_features(12, 8, 0, 1, 1);
    const nl_shape shape = {1, 3, 4, 8};
    for (int system = 0; system < NL_SYSTEM_COUNT; system++) {
        nl_weights weights = weights_of((nl_system_id)system, &x, 0, 2);
        for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
            if (system == NL_SYSTEM_NLM && nl_similarities[similarity].embedded)
                continue;
            nl_block_params params = block_of((nl_system_id)system, (nl_similarity_id)similarity);
            if (system == NL_SYSTEM_TRANSFORMER) {
                params.heads = 2;
                params.layernorm = similarity % 2 ? NL_LAYERNORM_PRE : NL_LAYERNORM_POST;
            }
            if (system == NL_SYSTEM_NONLOCAL && similarity % 2)
                params.subsample = NL_SUBSAMPLE_OFFICIAL;
            check_memory(&params, &weights, &x, shape);
        }
        nl_weights_free(&weights);
    }
    test_free(x.data);
}

static void test_weights_without_memory(void **state)
{
    (void)state;
    nl_matrix x = random_features(12, 8, 0, 1, 1);
    const long live = nl_alloc_live();
    for (int kind = 0; kind < NL_EMBED_COUNT; kind++) {
        const nl_embedding_params params = {.kind = (nl_embedding_id)kind, .seed = 1};
        nl_status status = NL_NOMEM;
        for (long countdown = 0; status != NL_OK; countdown++) {
            nl_weights weights;
            nl_alloc_fail_after(countdown);
            status = nl_weights_make(&params, NL_SYSTEM_NONLOCAL, &x, &alone, &weights, NULL);
            nl_alloc_fail_after(-1);
            assert_true(status == NL_OK || status == NL_NOMEM);
            assert_true(status == NL_OK || !weights.theta.map.weight.data);
            nl_weights_free(&weights);
            assert_int_equal(nl_alloc_live(), live);
        }
    }
    test_free(x.data);
}

/* ---- raw scores and both normalisers against double ---- */

enum { N = 45, M = 37, D = 40 };

struct scene {
    nl_matrix q, k;
    float w_f[2 * D];
    nl_attention_params params;
    nl_attention *attention;
};

static void open_scene(struct scene *scene, nl_similarity_id similarity, nl_normalizer normalizer,
                       nl_self self, float mean)
{
    const bool same = self != NL_SELF_KEEP;
    scene->q = random_features(N, D, mean, 0.3f, 3);
    scene->k = same ? random_features(N, D, mean, 0.3f, 3) : random_features(M, D, mean, 0.3f, 4);
    for (size_t k = 0; k < COUNT(scene->w_f); k++)
        scene->w_f[k] = (float)((double)(k * 7 % 11) - 4.0) / 8;
    nl_attention_params_init(&scene->params);
    scene->params.similarity = similarity;
    scene->params.normalizer = normalizer;
    scene->params.self = self;
    scene->params.scale = 0.3;
    scene->params.concat = scene->w_f;
    scene->params.temperature = 1.7;
    scene->params.h = 0.5;
    scene->attention = create_attention(&scene->params, &scene->q, &scene->k, same, &alone);
}

static void close_scene(struct scene *scene)
{
    nl_attention_free(&scene->attention);
    test_free(scene->q.data);
    test_free(scene->k.data);
}

/* s(i, j), an exponent for exponentials, with the magnitude of what it is summed from. */
static double plain_score(const struct scene *scene, size_t i, size_t j, double *size)
{
    const nl_attention_params *p = &scene->params;
    const float *q = nl_row(&scene->q, i), *k = nl_row(&scene->k, j);
    double dot = 0, delta = 0, qq = 0, kk = 0, linear = 0, sizes = 0, linear_sizes = 0;
    for (size_t c = 0; c < D; c++) {
        const double q_c = (double)q[c], k_c = (double)k[c];
        const double w_q = (double)scene->w_f[c] * q_c, w_k = (double)scene->w_f[D + c] * k_c;
        dot += q_c * k_c;
        sizes += fabs(q_c * k_c);
        delta += (q_c - k_c) * (q_c - k_c) / D;
        qq += q_c * q_c;
        kk += k_c * k_c;
        linear += w_q + w_k;
        linear_sizes += fabs(w_q) + fabs(w_k);
    }
    *size = sizes / p->temperature;
    switch (p->similarity) {
    case NL_CONCAT:
        *size = linear_sizes;
        return fmax(linear, 0);
    case NL_DOT:
        *size = sizes * p->scale;
        return dot * p->scale;
    case NL_EMBEDDED_GAUSSIAN:
        *size = sizes * p->scale / p->temperature;
        return dot * p->scale / p->temperature;
    case NL_EUCLIDEAN:
        *size = delta / (p->h * p->h * p->temperature);
        return -*size;
    case NL_COSINE:
        *size = sizes / sqrt(qq * kk) / p->temperature;
        return dot / sqrt(qq * kk) / p->temperature;
    default:
        return dot / p->temperature;
    }
}

/* One row of scores and weights in double; returns the bound of the weights. */
static double plain_row(const struct scene *scene, size_t i, double *s, double *a, double *s_bound)
{
    const nl_attention_params *p = &scene->params;
    const bool exponential = nl_similarities[p->similarity].exponential;
    const size_t m = scene->k.rows;
    double others = -INFINITY, exponent = 0, c = 0, largest = 0;
    *s_bound = 0;
    for (size_t j = 0; j < m; j++) {
        double size;
        s[j] = plain_score(scene, i, j, &size);
        *s_bound = fmax(*s_bound, 42 * 0x1p-24 * size);
        if (j != i)
            others = fmax(others, s[j]);
        exponent = fmax(exponent, fabs(s[j]));
    }
    if (p->self == NL_SELF_MAX)
        s[i] = others;
    if (p->self == NL_SELF_EXCLUDE)
        s[i] = exponential ? -INFINITY : 0;
    for (size_t j = 0; j < m; j++) {
        a[j] = exponential ? exp(s[j]) : s[j];
        c += a[j];
    }
    if (p->normalizer == NL_NORMALIZE_COUNT)
        c = (double)m;
    for (size_t j = 0; j < m; j++) {
        a[j] /= c;
        largest = fmax(largest, fabs(a[j]));
    }
    if (exponential)
        return largest * (1e-5 + 4 * 0x1p-24 * exponent);
    return largest * 1e-5 + *s_bound / c * (1 + (double)m * largest);
}

static void check_scene(const struct scene *scene, const nl_exec *exec)
{
    const size_t m = scene->k.rows;
    nl_matrix s, a;
    float row[N], received[N];
    double plain_s[N], plain_a[N];
    assert_int_equal(nl_matrix_alloc(&s, N, m, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&a, N, m, NULL), NL_OK);
    assert_int_equal(nl_attention_scores(scene->attention, exec, &s, NULL), NL_OK);
    assert_int_equal(nl_attention_rows(scene->attention, exec, &a, NULL), NL_OK);
    for (size_t i = 0; i < N; i++) {
        double s_bound, bound = plain_row(scene, i, plain_s, plain_a, &s_bound);
        nl_row_figures figures;
        assert_int_equal(nl_attention_row(scene->attention, i, exec, row, &figures, NULL), NL_OK);
        for (size_t j = 0; j < m; j++) {
            if (isfinite(plain_s[j]))
                assert_near((double)nl_row(&s, i)[j], plain_s[j], s_bound);
            else
                assert_true((double)nl_row(&s, i)[j] == plain_s[j]);
            assert_near((double)nl_row(&a, i)[j], plain_a[j], bound);
            assert_near((double)row[j], plain_a[j], bound);
        }
        assert_near(figures.sum, row_sum(&a, i), 2 * bound * (double)m);
        assert_int_equal(figures.keys, m - (scene->params.self == NL_SELF_EXCLUDE));
    }
    for (size_t j = 0; j < m; j++) {
        assert_int_equal(nl_attention_received(scene->attention, j, exec, received, NULL), NL_OK);
        for (size_t i = 0; i < N; i++)
            assert_true(received[i] == nl_row(&a, i)[j]);
    }
    nl_matrix_free(&s);
    nl_matrix_free(&a);
}

static void test_rows_received_and_scores(void **state)
{
    (void)state;
    nl_pool *pool;
    assert_int_equal(nl_pool_create(3, &pool, NULL), NL_OK);
    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        if (!nl_cpu_available(cpu))
            continue;
        for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
            for (int way = 0; way < 2 * 3; way++) {
                const nl_exec exec = {.kernels = nl_kernels_get(cpu, NULL),
                                      .pool = way % 2 ? pool : NULL};
                struct scene scene;
                open_scene(&scene, (nl_similarity_id)similarity, (nl_normalizer)(way / 3),
                           (nl_self)(way % 3), 0.5f);
                check_scene(&scene, &exec);
                close_scene(&scene);
            }
        }
    }
    nl_pool_free(&pool);
}

/* Every call that needs the normaliser says the same, of the lowest query, on any thread count. */
static void assert_normalizer_refused(struct scene *scene, const char *first, const char *names)
{
    static const size_t threads[] = {1, 2, 5};
    float numbers[N * N], received[N], values[N] = {0}, y_numbers[N];
    nl_matrix a = nl_matrix_view(numbers, N, M, M), v = nl_matrix_view(values, M, 1, 1);
    nl_matrix y = nl_matrix_view(y_numbers, N, 1, 1);
    for (size_t t = 0; t < COUNT(threads); t++) {
        nl_exec exec = {0};
        nl_error error[3] = {{0}};
        assert_int_equal(nl_pool_create(threads[t], &exec.pool, NULL), NL_OK);
        for (int repeat = 0; repeat < 5; repeat++) {
            const nl_status status[] = {
                nl_attention_rows(scene->attention, &exec, &a, &error[0]),
                nl_attention_apply(scene->attention, &v, &exec, &y, &error[1]),
                nl_attention_received(scene->attention, 2, &exec, received, &error[2])};
            for (int call = 0; call < 3; call++) {
                assert_invalid(status[call], &error[call], first);
                assert_invalid(status[call], &error[call], names);
                assert_string_equal(error[call].message, error[0].message);
            }
        }
        assert_int_equal(nl_attention_scores(scene->attention, &exec, &a, NULL), NL_OK);
        nl_pool_free(&exec.pool);
    }
}

static void test_dot_over_a_sum_that_is_not_positive(void **state)
{
    (void)state;
    struct scene scene;
    nl_error error = {0};
    float row[M];
    open_scene(&scene, NL_DOT, NL_NORMALIZE_SUM, NL_SELF_KEEP, 0.5f);
    for (size_t k = 0; k < D; k++) {
        nl_row(&scene.q, 20)[k] *= -1;
        nl_row(&scene.q, 41)[k] *= -1;
    }
    assert_normalizer_refused(&scene, "query 21 ", "normalise by the count");
    assert_int_equal(nl_attention_row(scene.attention, 19, &alone, row, NULL, &error), NL_OK);
    assert_invalid(nl_attention_row(scene.attention, 41, &alone, row, NULL, &error), &error,
                   "query 42 ");
    close_scene(&scene);
}

static void test_exponential_over_the_count_overflows(void **state)
{
    (void)state;
    struct scene scene;
    nl_error error = {0};
    float row[M];
    open_scene(&scene, NL_GAUSSIAN, NL_NORMALIZE_COUNT, NL_SELF_KEEP, 0.5f);
    for (size_t k = 0; k < D; k++) {
        nl_row(&scene.q, 7)[k] = 40;
        nl_row(&scene.q, 33)[k] = 40;
    }
    assert_normalizer_refused(&scene, "query 8 ", "normalise by the sum");
    assert_int_equal(nl_attention_row(scene.attention, 6, &alone, row, NULL, &error), NL_OK);
    close_scene(&scene);
}

/* A block says it in the same words. */
static void test_normaliser_of_a_block(void **state)
{
    (void)state;
    nl_matrix x = random_features(35, 6, 0, 5, 1);
    nl_block_params params = block_of(NL_SYSTEM_NLM, NL_GAUSSIAN);
    params.attention.normalizer = NL_NORMALIZE_COUNT;
    assert_refused(&params, NULL, &x, table_shape(&x), "normalise by the sum");
    nl_weights weights = weights_of(NL_SYSTEM_NONLOCAL, &x, 0, 1);
    params = block_of(NL_SYSTEM_NONLOCAL, NL_DOT);
    params.attention.normalizer = NL_NORMALIZE_SUM;
    assert_refused(&params, &weights, &x, table_shape(&x), "normalise by the count");
    nl_weights_free(&weights);
    test_free(x.data);
}

/* Sums whose inverse is no float, and sums that nearly cancel: right, or refused, never NaN. */
static void test_sums_at_the_end_of_the_range(void **state)
{
    (void)state;
    static const float sizes[] = {1e-19f, 3e-20f, 1e18f};
    const nl_exec exec = {0};
    nl_error error = {0};
    nl_attention_params params;
    nl_attention_params_init(&params);
    params.similarity = NL_DOT;
    float row[3];
    for (size_t s = 0; s < COUNT(sizes); s++) {
        float numbers[] = {sizes[s], 0, 2 * sizes[s]};
        const nl_matrix x = nl_matrix_view(numbers, 3, 1, 1);
        nl_attention *attention = create_attention(&params, &x, &x, true, &exec);
        assert_int_equal(nl_attention_row(attention, 0, &exec, row, NULL, NULL), NL_OK);
        /* denormal products have few digits: 1e-38 has 24, 1e-39 has 20 */
        assert_near((double)row[0], 1.0 / 3, 1e-5);
        assert_near((double)row[2], 2.0 / 3, 1e-5);
        assert_true(row[1] == 0);
        assert_int_equal(nl_attention_row(attention, 1, &exec, row, NULL, NULL), NL_OK);
        assert_true(row[0] == 0 && row[1] == 0 && row[2] == 0);
        nl_attention_free(&attention);
    }
    float numbers[] = {1e18f, -1e18f, 1e-30f};
    const nl_matrix x = nl_matrix_view(numbers, 3, 1, 1);
    nl_attention *attention = create_attention(&params, &x, &x, true, &exec);
    assert_invalid(nl_attention_row(attention, 0, &exec, row, NULL, &error), &error, "query 1 ");
    assert_invalid(nl_attention_row(attention, 0, &exec, row, NULL, &error), &error, "overflow");
    nl_attention_free(&attention);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pooling_leaves_nothing),
        cmocka_unit_test(test_conventions_of_other_systems),
        cmocka_unit_test(test_numbers_that_do_not_exist),
        cmocka_unit_test(test_shapes_that_do_not_fit),
        cmocka_unit_test(test_trace_limit),
        cmocka_unit_test(test_every_allocation_failing_once),
        cmocka_unit_test(test_weights_without_memory),
        cmocka_unit_test(test_rows_received_and_scores),
        cmocka_unit_test(test_dot_over_a_sum_that_is_not_positive),
        cmocka_unit_test(test_exponential_over_the_count_overflows),
        cmocka_unit_test(test_normaliser_of_a_block),
        cmocka_unit_test(test_sums_at_the_end_of_the_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
