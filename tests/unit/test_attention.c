/* SPDX-License-Identifier: MIT */
/*
 * One row, all rows and y of every similarity, self rule and kind of width, on every tier, with one
 * thread and with three, against the plain calculation in attention_ref.c.
 */
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
#include "thin.h"

enum { DV = 5 };

/* What a test varies; 0 keys means self-attention. */
struct setting {
    size_t n, m, d;
    nl_attention_params params;
    bool weighted; /* features not all alike: ω = 1, 2, 3 … normalised */
};

struct worst {
    double row, y; /* error in units of the bound */
};

static nl_pool *three;

static int make_pool(void **state)
{
    (void)state;
    return nl_pool_create(3, &three, NULL);
}

static int free_pool(void **state)
{
    (void)state;
    nl_pool_free(&three);
    return 0;
}

/*
 * exp(entropy) must be what was asked for, to 1e-4 and what float scores allow, wherever the row
 * says that it is.
 */
static void check_perplexity(const struct setting *s, const struct ref_row *ref, unsigned notes)
{
    const double asked = s->params.perplexity_percent ? s->params.perplexity * (double)s->m / 100
                                                      : s->params.perplexity;
    const double got = exp(ref->entropy);
    if (s->params.perplexity == 0 || s->params.perplexity_shared)
        return;
    const bool possible = asked < (double)ref->left * (1 - 1e-5) && asked > (double)ref->ties;
    if (ref->left > 1 && possible)
        assert_true(notes & NL_NOTE_PERPLEXITY_MET);
    const double tolerance = 1e-4 + ref_entropy_bound(ref);
    if ((notes & NL_NOTE_PERPLEXITY_MET) && !(fabs(got - asked) <= tolerance * asked))
        fail_msg("%s, %zu × %zu × %zu, self %d: the perplexity is %g, not %g, and the row says met",
                 nl_similarities[s->params.similarity].name, s->n, s->m, s->d, s->params.self, got,
                 asked);
    if (asked > (double)ref->left || asked < 1)
        assert_true(notes & (NL_NOTE_PERPLEXITY_MISS | NL_NOTE_UNIFORM));
}

static void check_figures(const struct ref_row *ref, const float *a, size_t m,
                          const nl_row_figures *figures)
{
    double sum = 0;
    size_t largest = 0;
    for (size_t j = 0; j < m; j++) {
        sum += (double)a[j];
        largest = a[j] > a[largest] ? j : largest;
    }
    assert_true(fabs(figures->sum - sum) <= 1e-12);
    assert_true(fabs(sum - 1) <= 1e-6);
    assert_int_equal(figures->largest_at, largest);
    assert_true(figures->largest == a[largest]);
    assert_true(fabs(figures->entropy - ref->entropy) <= ref_entropy_bound(ref));
    assert_true(fabs(figures->effective - exp(figures->entropy)) <= 1e-9 * figures->effective);
}

/* One row of the answers against the plain calculation. */
static void check_row(const struct setting *s, const double *scores, size_t i, const float *row,
                      const float *rows, const float *y, const nl_matrix *values,
                      const nl_row_figures *figures, struct worst *worst)
{
    double *a = test_malloc(s->m * sizeof *a);
    const double width = s->params.perplexity > 0 ? figures->width : ref_width(&s->params);
    const struct ref_row ref = ref_weights(&s->params, scores, s->m, i, width, a);
    if (ref.left == 0) {
        assert_int_equal(figures->notes, NL_NOTE_NO_KEYS);
        for (size_t j = 0; j < s->m; j++)
            assert_true(row[j] == 0 && rows[j] == 0);
        for (size_t c = 0; c < DV; c++)
            assert_true(y[c] == 0);
        test_free(a);
        return;
    }
    const double bound = ref_bound(&ref);
    for (size_t j = 0; j < s->m; j++) {
        const double error = fmax(fabs((double)row[j] - a[j]), fabs((double)rows[j] - a[j]));
        worst->row = fmax(worst->row, error / bound);
        if (!(error <= bound))
            fail_msg(
                "%s, %zu × %zu × %zu, self %d, perplexity %g: A(%zu, %zu) is %g and %g, not %g",
                nl_similarities[s->params.similarity].name, s->n, s->m, s->d, s->params.self,
                s->params.perplexity, i, j, (double)row[j], (double)rows[j], a[j]);
    }
    /* Weights are off by `bound` each; sums over 128 keys run in float. */
    for (size_t c = 0; c < DV; c++) {
        double expected = 0, size = 0, rounding = 0;
        for (size_t j = 0; j < s->m; j++) {
            const double v = (double)nl_row(values, j)[c];
            expected += a[j] * v;
            size += fabs(v);
            rounding += 129 * 0x1p-24 * a[j] * fabs(v);
        }
        const double error = fabs((double)y[c] - expected);
        worst->y = fmax(worst->y, error / (bound * size + rounding));
        assert_true(error <= bound * size + rounding);
    }
    check_figures(&ref, row, s->m, figures);
    check_perplexity(s, &ref, figures->notes);
    test_free(a);
}

/* All answers of one setting on one tier; one thread and three must agree to the last bit. */
static void check_tier(const struct setting *s, const nl_attention_params *params,
                       const nl_matrix *queries, const nl_matrix *keys, const nl_matrix *values,
                       const double *scores, const nl_kernels *kernels, struct worst *worst)
{
    const nl_exec exec[2] = {{.kernels = kernels}, {.kernels = kernels, .pool = three}};
    nl_matrix rows[2] = {{0}}, y[2] = {{0}};
    float *row = test_malloc(s->m * sizeof *row);
    nl_attention *attention[2];
    for (int t = 0; t < 2; t++) {
        assert_int_equal(nl_matrix_alloc(&rows[t], s->n, s->m, NULL), NL_OK);
        assert_int_equal(nl_matrix_alloc(&y[t], s->n, DV, NULL), NL_OK);
        attention[t] = create_attention(params, queries, keys, keys == queries, &exec[t]);
        assert_int_equal(nl_attention_queries(attention[t]), s->n);
        assert_int_equal(nl_attention_keys(attention[t]), s->m);
        assert_int_equal(nl_attention_rows(attention[t], &exec[t], &rows[t], NULL), NL_OK);
        assert_int_equal(nl_attention_apply(attention[t], values, &exec[t], &y[t], NULL), NL_OK);
    }
    assert_memory_equal(rows[0].data, rows[1].data, s->n * rows[0].stride * sizeof(float));
    assert_memory_equal(y[0].data, y[1].data, s->n * y[0].stride * sizeof(float));
    for (size_t i = 0; i < s->n; i++) {
        nl_row_figures figures;
        assert_int_equal(nl_attention_row(attention[1], i, &exec[1], row, &figures, NULL), NL_OK);
        check_row(s, scores + i * s->m, i, row, nl_row(&rows[0], i), nl_row(&y[0], i), values,
                  &figures, worst);
    }
    for (int t = 0; t < 2; t++) {
        nl_attention_free(&attention[t]);
        nl_matrix_free(&rows[t]);
        nl_matrix_free(&y[t]);
    }
    test_free(row);
}

static void check_setting(struct setting s, struct worst *worst)
{
    const bool cross = s.m > 0;
    s.m = cross ? s.m : s.n;
    const bool far = s.params.similarity == NL_COSINE;
    nl_matrix queries = random_features(s.n, s.d, far ? 0.2f : 0.4f, 0.3f, s.n + s.d);
    nl_matrix keys = cross ? random_features(s.m, s.d, 0.5f, 0.2f, s.m + s.d + 1) : (nl_matrix){0};
    nl_matrix values = random_features(s.m, DV, 0, 1, 99);
    double *scores = test_malloc(s.n * s.m * sizeof *scores);
    float *omega = test_malloc(s.d * sizeof *omega);
    nl_attention_params params = s.params;
    for (size_t c = 0; c < s.d; c++)
        omega[c] = 2 * (float)(c + 1) / (float)(s.d * (s.d + 1));
    if (s.weighted)
        s.params.omega = params.omega = omega;
    ref_scores(&s.params, &queries, cross ? &keys : &queries, scores);
    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++)
        if (nl_cpu_available(cpu))
            check_tier(&s, &params, &queries, cross ? &keys : &queries, &values, scores,
                       nl_kernels_get(cpu, NULL), worst);
    test_free(queries.data);
    test_free(keys.data);
    test_free(values.data);
    test_free(scores);
    test_free(omega);
}

static const size_t all_n[] = {1, 2, 3, 17, 150, 301};
static const size_t all_d[] = {1, 3, 27, 44, 432};

static nl_attention_params params_of(nl_similarity_id similarity)
{
    nl_attention_params params;
    nl_attention_params_init(&params);
    params.similarity = similarity;
    params.temperature = nl_similarities[similarity].temperature;
    params.scale = similarity == NL_EMBEDDED_GAUSSIAN ? 0.25 : 1;
    return params;
}

static void say(const char *what, const struct worst *worst)
{
    printf("# %s: the worst error is %.3f of the bound in A, %.3f in y\n", what, worst->row,
           worst->y);
}

/* Every shape with a fixed width, and with a perplexity without the query itself. */
static void check_shapes(nl_similarity_id similarity)
{
    struct worst worst = {0};
    for (size_t a = 0; a < COUNT(all_n); a++) {
        for (size_t b = 0; b < COUNT(all_d); b++) {
            if (thin_skips(all_n[a], all_n[a], all_d[b], 1000000))
                continue;
            struct setting s = {all_n[a], 0, all_d[b], params_of(similarity), false};
            check_setting(s, &worst);
            if (s.n == 301 && s.d > 44)
                continue; /* as at 150, and slow */
            s.params.self = NL_SELF_EXCLUDE;
            s.params.perplexity = 5;
            check_setting(s, &worst);
        }
    }
    say(nl_similarities[similarity].name, &worst);
}

/* Every self rule with every kind of width. */
static void check_rules(nl_similarity_id similarity)
{
    static const size_t shapes[][2] = {{1, 3}, {2, 1}, {3, 27}, {17, 44}, {150, 3}};
    struct worst worst = {0};
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        for (int self = NL_SELF_KEEP; self <= NL_SELF_EXCLUDE; self++) {
            for (int width = 0; width < 5; width++) {
                struct setting s = {shapes[shape][0], 0, shapes[shape][1], params_of(similarity),
                                    width == 4};
                s.params.self = (nl_self)self;
                s.params.perplexity = (const double[]){0, 4.5, 10, 20, 7}[width];
                s.params.perplexity_percent = width == 2 || width == 3;
                s.params.perplexity_shared = width == 3;
                s.params.sigma = width == 1 ? 0.05 : 0;
                check_setting(s, &worst);
            }
        }
    }
    say(nl_similarities[similarity].name, &worst);
}

/* Keys that are not the queries, more of them and fewer. */
static void check_cross(nl_similarity_id similarity)
{
    static const size_t shapes[][3] = {{17, 150, 44}, {150, 17, 27}, {1, 301, 3},
                                       {301, 1, 3},   {5, 64, 432},  {33, 16, 1}};
    struct worst worst = {0};
    for (size_t shape = 0; shape < COUNT(shapes); shape++) {
        for (int width = 0; width < 3; width++) {
            struct setting s = {shapes[shape][0], shapes[shape][1], shapes[shape][2],
                                params_of(similarity), width == 1};
            s.params.perplexity = (const double[]){0, 3, 25}[width];
            s.params.perplexity_percent = width == 2;
            check_setting(s, &worst);
        }
    }
    say(nl_similarities[similarity].name, &worst);
}

static void test_gaussian_shapes(void **state)
{
    (void)state;
    check_shapes(NL_GAUSSIAN);
}

static void test_embedded_gaussian_shapes(void **state)
{
    (void)state;
    check_shapes(NL_EMBEDDED_GAUSSIAN);
}

static void test_euclidean_shapes(void **state)
{
    (void)state;
    check_shapes(NL_EUCLIDEAN);
}

static void test_cosine_shapes(void **state)
{
    (void)state;
    check_shapes(NL_COSINE);
}

static void test_self_rules_and_widths(void **state)
{
    (void)state;
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++)
        check_rules(ref_exponentials[similarity]);
}

static void test_cross_attention(void **state)
{
    (void)state;
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++)
        check_cross(ref_exponentials[similarity]);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The shared width is the median over 64 rows spread evenly, and every row uses it. */
static void test_shared_width_is_the_median(void **state)
{
    (void)state;
    enum { N = 200, SAMPLE = 64 };
    nl_matrix x = random_features(N, 9, 0.5f, 0.3f, 3);
    const nl_exec exec = {0};
    float *row = test_malloc(N * sizeof *row);
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
        nl_attention_params params = params_of(ref_exponentials[similarity]);
        nl_row_figures figures;
        double beta[SAMPLE];
        params.perplexity = 12;
        nl_attention *attention = create_attention(&params, &x, &x, true, &exec);
        for (size_t s = 0; s < SAMPLE; s++) {
            assert_int_equal(
                nl_attention_row(attention, s * N / SAMPLE, &exec, row, &figures, NULL), NL_OK);
            beta[s] = params.similarity == NL_EUCLIDEAN ? 1 / (figures.width * figures.width)
                                                        : 1 / figures.width;
        }
        nl_attention_free(&attention);
        qsort(beta, SAMPLE, sizeof *beta, compare_doubles);
        const double median = (beta[SAMPLE / 2 - 1] + beta[SAMPLE / 2]) / 2;
        const double width = params.similarity == NL_EUCLIDEAN ? sqrt(1 / median) : 1 / median;
        params.perplexity_shared = true;
        attention = create_attention(&params, &x, &x, true, &exec);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(nl_attention_row(attention, i, &exec, row, &figures, NULL), NL_OK);
            assert_true(fabs(figures.width - width) <= 1e-6 * width);
        }
        nl_attention_free(&attention);
    }
    test_free(row);
    test_free(x.data);
}

/* Only rows × cols of the answers are written, and an answer may be a view of something wider. */
static void test_answers_stay_inside(void **state)
{
    (void)state;
    enum { N = 19, STRIDE = 37 };
    nl_matrix x = random_features(N, 7, 0, 1, 5);
    nl_matrix values = random_features(N, DV, 0, 1, 6);
    static float data[N * STRIDE];
    const nl_exec exec = {.pool = three};
    nl_attention_params params = params_of(NL_COSINE);
    nl_attention *attention = create_attention(&params, &x, &x, true, &exec);
    for (int what = 0; what < 2; what++) {
        nl_matrix out = nl_matrix_view(data, N, what ? DV : N, STRIDE);
        for (size_t at = 0; at < COUNT(data); at++)
            data[at] = -77;
        assert_int_equal(what ? nl_attention_apply(attention, &values, &exec, &out, NULL)
                              : nl_attention_rows(attention, &exec, &out, NULL),
                         NL_OK);
        for (size_t at = 0; at < COUNT(data); at++)
            assert_int_equal(data[at] == -77, at % STRIDE >= out.cols);
    }
    nl_attention_free(&attention);
    test_free(x.data);
    test_free(values.data);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void test_cancelled(void **state)
{
    (void)state;
    nl_matrix x = random_features(100, 3, 0, 1, 8), weights, y;
    const nl_exec exec = {.pool = three, .cancelled = always}, free_exec = {.pool = three};
    nl_attention_params params = params_of(NL_GAUSSIAN);
    nl_error error = {0};
    nl_attention *attention = create_attention(&params, &x, &x, true, &free_exec);
    nl_attention *none = attention;
    assert_int_equal(nl_matrix_alloc(&weights, 100, 100, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&y, 100, 3, NULL), NL_OK);
    assert_int_equal(nl_attention_rows(attention, &exec, &weights, &error), NL_CANCELLED);
    assert_int_equal(error.status, NL_CANCELLED);
    assert_int_equal(nl_attention_apply(attention, &x, &exec, &y, NULL), NL_CANCELLED);
    assert_int_equal(nl_attention_create(&params, &x, &x, true, &exec, &none, NULL), NL_CANCELLED);
    assert_null(none);
    nl_attention_free(&attention);
    nl_matrix_free(&weights);
    nl_matrix_free(&y);
    test_free(x.data);
}

struct polls {
    size_t left, asked;
};

static bool count_polls(void *user)
{
    struct polls *polls = user;
    polls->asked++;
    return polls->left > 0 && --polls->left == 0;
}

/* A block of queries that reads many keys takes long: it asks within a few hundred of them. */
static void test_polled_within_a_block(void **state)
{
    static const nl_similarity_id ids[] = {NL_GAUSSIAN, NL_EUCLIDEAN, NL_DOT};
    (void)state;
    enum { KEYS = 20000, QUERIES = 40 };
    nl_matrix q = random_features(QUERIES, 4, 0, 1, 8), k = random_features(KEYS, 4, 0, 1, 9), y;
    assert_int_equal(nl_matrix_alloc(&y, QUERIES, 4, NULL), NL_OK);
    for (size_t i = 0; i < COUNT(ids); i++) {
        struct polls polls = {0};
        const nl_exec exec = {.cancelled = count_polls, .user = &polls};
        nl_attention_params params = params_of(ids[i]);
        params.normalizer = nl_similarities[ids[i]].normalizer;
        params.temperature = 1;
        nl_attention *attention = create_attention(&params, &q, &k, false, &exec);
        polls.asked = 0;
        assert_int_equal(nl_attention_apply(attention, &k, &exec, &y, NULL), NL_OK);
        const size_t asked = polls.asked;
        assert_true(asked > KEYS / 300);
        for (polls.left = 1; polls.left <= asked; polls.left += 1 + polls.left / 2) {
            const size_t left = polls.left;
            assert_int_equal(nl_attention_apply(attention, &k, &exec, &y, NULL), NL_CANCELLED);
            polls.left = left;
        }
        nl_attention_free(&attention);
    }
    nl_matrix_free(&y);
    test_free(q.data);
    test_free(k.data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian_shapes),
        cmocka_unit_test(test_embedded_gaussian_shapes),
        cmocka_unit_test(test_euclidean_shapes),
        cmocka_unit_test(test_cosine_shapes),
        cmocka_unit_test(test_self_rules_and_widths),
        cmocka_unit_test(test_cross_attention),
        cmocka_unit_test(test_shared_width_is_the_median),
        cmocka_unit_test(test_answers_stay_inside),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_polled_within_a_block),
    };
    return cmocka_run_group_tests(tests, make_pool, free_pool);
}
