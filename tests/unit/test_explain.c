/* SPDX-License-Identifier: MIT */
/*
 * Explanations of weights: their sum against double, the chain of steps from there to the weight,
 * and the weight against nl_attention_row. test_explain_block.c has the rest of a block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "block_rig.h"
#include "explain_rig.h"
#include "nonlocal/explain.h"

enum { N = 20, GW = 5, GH = 4 }; /* queries, the grid of a search window */

/* A setting, and what it is applied to. */
struct setting {
    nl_attention_params params;
    const nl_matrix *queries, *keys;
    bool same_rows;
};

/* What the terms are made of, from the definition. */
static double term_of(const struct setting *s, size_t i, size_t j, size_t k, double *left,
                      double *right)
{
    const nl_attention_params *p = &s->params;
    const size_t d = s->queries->cols;
    const float *q = nl_row(s->queries, i), *key = nl_row(s->keys, j);
    if (p->similarity == NL_CONCAT) {
        *left = (double)p->concat[k];
        *right = (double)(k < d ? q[k] : key[k - d]);
        return *left * *right;
    }
    double qq = 0, kk = 0;
    *left = (double)q[k];
    *right = (double)key[k];
    if (p->similarity == NL_EUCLIDEAN) {
        const double omega = p->omega ? (double)p->omega[k] : 1 / (double)d;
        return omega * (*left - *right) * (*left - *right);
    }
    for (size_t c = 0; c < d; c++) {
        qq += (double)q[c] * (double)q[c];
        kk += (double)key[c] * (double)key[c];
    }
    if (p->similarity == NL_COSINE) {
        *left /= qq > 0 ? sqrt(qq) : 1;
        *right /= kk > 0 ? sqrt(kk) : 1;
    }
    return *left * *right;
}

/* The terms by definition; 2⁻²⁴ is what ω = 1/d and unit rows are rounded by. */
static double check_terms(const struct setting *s, size_t i, size_t j, const nl_sum *sum)
{
    const bool rounded = s->params.similarity == NL_EUCLIDEAN || s->params.similarity == NL_COSINE;
    const size_t count = (s->params.similarity == NL_CONCAT ? 2 : 1) * s->queries->cols;
    double *terms = test_malloc(count * sizeof *terms), total = 0, size = 0, left, right;
    for (size_t k = 0; k < count; k++) {
        terms[k] = term_of(s, i, j, k, &left, &right);
        total += terms[k];
        size += fabs(terms[k]);
    }
    const double off = (rounded ? 4 * 0x1p-24 : 1e-14) * size + 1e-300;
    assert_sum_of(sum, terms, count, off);
    for (size_t t = 0; t < sum->count; t++) {
        term_of(s, i, j, sum->terms[t].index, &left, &right);
        assert_near(sum->terms[t].left, left, 2 * 0x1p-24 * fabs(left));
        assert_near(sum->terms[t].right, right, 2 * 0x1p-24 * fabs(right));
    }
    assert_near(sum->total, total, off);
    test_free(terms);
    return total;
}

static bool in_window(const nl_attention_params *p, size_t i, size_t j)
{
    const long half = (long)(p->search / 2);
    const long dy = (long)(i / GW) - (long)(j / GW), dx = (long)(i % GW) - (long)(j % GW);
    return p->search == 0 || (labs(dy) <= half && labs(dx) <= half);
}

/* r, from the total of the sum. */
static double raw_of(const struct setting *s, size_t j, double total, double *shift)
{
    const nl_attention_params *p = &s->params;
    double kk = 0;
    for (size_t k = 0; k < s->keys->cols; k++)
        kk += (double)nl_row(s->keys, j)[k] * (double)nl_row(s->keys, j)[k];
    *shift = p->lambda * kk / 2;
    switch (p->similarity) {
    case NL_EUCLIDEAN:
        return -fmax(total - 2 * p->sigma * p->sigma, 0);
    case NL_CONCAT:
        return fmax(total, 0);
    case NL_DOT:
        return p->scale * total;
    default:
        return total - *shift;
    }
}

static double beta_of(const nl_attention_params *p, double width)
{
    if (p->similarity == NL_EUCLIDEAN)
        return 1 / (width * width * p->temperature);
    return (p->similarity == NL_EMBEDDED_GAUSSIAN ? p->scale : 1) / width;
}

/* One pair: terms, then each step from the one before. */
static void check_pair(const struct setting *s, size_t i, size_t j, const nl_weight_steps *w,
                       const nl_row_figures *figures)
{
    const nl_attention_params *p = &s->params;
    const bool exponential = nl_similarities[p->similarity].exponential;
    const double u = 4 * 0x1p-24; /* what was kept as float between the steps */
    double shift;
    const double total = check_terms(s, i, j, &w->sum);
    const double raw = raw_of(s, j, total, &shift);
    assert_near(w->shift, shift, u * fabs(shift));
    assert_near(w->raw, raw, u * (fabs(raw) + fabs(total) + fabs(shift)) + 1e-7);
    const bool own = s->same_rows && i == j;
    const bool left_out = !in_window(p, i, j) || (own && p->self == NL_SELF_EXCLUDE);
    assert_int_equal(w->left_out, left_out);
    if (left_out) {
        assert_true(w->weight == 0 && !w->replaced);
        return;
    }
    assert_int_equal(w->replaced, own && p->self == NL_SELF_MAX);
    if (!w->replaced)
        assert_true(w->score == w->raw);
    assert_near(w->normalizer, figures->normalizer, 1e-5 * fabs(figures->normalizer));
    if (!exponential) {
        assert_true(w->width == 0 && w->exponent == 0 && w->top == 0);
        assert_true(w->similarity == w->score);
    } else {
        assert_near(w->width, figures->width, 1e-6 * figures->width);
        if (p->perplexity == 0)
            assert_near(w->width, ref_width(p), 1e-6 * w->width);
        assert_near(w->exponent, beta_of(p, w->width) * w->score, 2e-6 * fabs(w->exponent));
        assert_true(w->exponent <= w->top + 1e-5 * fabs(w->top) + 1e-6 ||
                    p->normalizer == NL_NORMALIZE_COUNT);
        if (p->normalizer == NL_NORMALIZE_COUNT)
            assert_true(w->top == 0);
        assert_near(w->similarity, exp(w->exponent - w->top), 1e-14 * w->similarity);
    }
    assert_near(w->weight, w->normalizer != 0 ? w->similarity / w->normalizer : 0,
                1e-14 * fabs(w->weight));
}

/* The largest other score is what a replaced own one becomes. */
static void check_replaced(const nl_attention *attention, size_t i, size_t m,
                           const nl_weight_steps *own)
{
    double largest = -INFINITY;
    for (size_t j = 0; j < m; j++) {
        nl_weight_steps other;
        if (j == i)
            continue;
        assert_int_equal(nl_explain_weight(attention, i, j, &alone, &other, NULL), NL_OK);
        if (!other.left_out)
            largest = fmax(largest, other.score);
    }
    assert_near(own->score, largest, 4 * 0x1p-24 * fabs(largest) + 1e-6);
}

static void check_setting(const struct setting *s)
{
    const size_t m = s->keys->rows;
    nl_attention *attention =
        create_attention(&s->params, s->queries, s->keys, s->same_rows, &alone);
    float *row = test_malloc(m * sizeof *row);
    for (size_t i = 0; i < s->queries->rows; i += 3) {
        nl_row_figures figures;
        double largest = 0, exponent = 0;
        nl_weight_steps steps;
        nl_error error = {0};
        if (nl_attention_row(attention, i, &alone, row, &figures, &error) != NL_OK) {
            /* a sum that is not positive: the explanation says so too */
            nl_error same = {0};
            assert_int_equal(nl_explain_weight(attention, i, 0, &alone, &steps, &same), NL_INVALID);
            assert_string_equal(same.message, error.message);
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            assert_int_equal(nl_explain_weight(attention, i, j, &alone, &steps, NULL), NL_OK);
            check_pair(s, i, j, &steps, &figures);
            if (!steps.left_out)
                exponent = fmax(exponent, fabs(steps.exponent));
            if (steps.replaced)
                check_replaced(attention, i, m, &steps);
            largest = fmax(largest, fabs((double)row[j]));
        }
        for (size_t j = 0; j < m; j++) {
            assert_int_equal(nl_explain_weight(attention, i, j, &alone, &steps, NULL), NL_OK);
            assert_near(steps.weight, (double)row[j], largest * (1e-5 + 4 * 0x1p-24 * exponent));
        }
    }
    nl_attention_free(&attention);
    test_free(row);
}

/* Everything that may be combined with a similarity, in turn. */
static void check_similarity(nl_similarity_id similarity, size_t d)
{
    const nl_similarity *about = &nl_similarities[similarity];
    nl_matrix x = random_features(N, d, 0.3f, 0.7f, 5), other = random_features(11, d, 0, 0.8f, 6);
    nl_matrix w = random_features(1, 2 * d, 0.2f, 0.5f, 7), omega = random_features(1, d, 0, 1, 8);
    size_t settings = 0;
    for (size_t k = 0; k < d; k++)
        omega.data[k] = fabsf(omega.data[k]) / (float)d;
    for (unsigned bits = 0; bits < 1u << 9; bits++) {
        struct setting s = {
            .queries = &x, .keys = bits & 1 ? &other : &x, .same_rows = !(bits & 1)};
        nl_attention_params *p = &s.params;
        nl_attention_params_init(p);
        p->similarity = similarity;
        p->concat = w.data;
        p->normalizer = bits & 2 ? NL_NORMALIZE_COUNT : NL_NORMALIZE_SUM;
        p->self = (nl_self)(bits >> 2 & 3);
        p->perplexity = bits & 16 ? 4 : 0;
        p->perplexity_shared = (bits & 48) == 48;
        p->lambda = bits & 64 ? 0.4 : 0;
        p->sigma = bits & 128 ? 0.3 : 0;
        p->search = bits & 256 ? 3 : 0;
        p->grid_width = GW;
        p->grid_height = GH;
        p->temperature = about->exponential ? 0.7 : 1;
        p->scale = 0.8;
        p->h = 0.6;
        if (similarity == NL_EUCLIDEAN && bits & 32)
            p->omega = omega.data;
        const bool valid =
            (bits >> 2 & 3) != 3 && (s.same_rows || (p->self == NL_SELF_KEEP && p->search == 0)) &&
            (p->perplexity == 0 || (about->exponential && p->normalizer == NL_NORMALIZE_SUM)) &&
            (p->lambda == 0 || similarity == NL_GAUSSIAN || similarity == NL_EMBEDDED_GAUSSIAN) &&
            (p->sigma == 0 || similarity == NL_EUCLIDEAN);
        if (!valid)
            continue;
        check_setting(&s);
        settings++;
    }
    assert_true(settings >= 14);
    test_free(x.data);
    test_free(other.data);
    test_free(w.data);
    test_free(omega.data);
}

#define SIMILARITY_TEST(name, similarity)                                                          \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check_similarity(similarity, 7);                                                           \
        check_similarity(similarity, 2 * NL_EXPLAIN_TERMS + 5); /* more than can be listed */      \
    }

SIMILARITY_TEST(gaussian, NL_GAUSSIAN)
SIMILARITY_TEST(embedded_gaussian, NL_EMBEDDED_GAUSSIAN)
SIMILARITY_TEST(euclidean, NL_EUCLIDEAN)
SIMILARITY_TEST(cosine, NL_COSINE)
SIMILARITY_TEST(dot, NL_DOT)
SIMILARITY_TEST(concat, NL_CONCAT)

/* Equal terms stand by index, also where they fall off the end of the list. */
static void test_equal_terms_by_lower_index(void **state)
{
    (void)state;
    enum { D = NL_EXPLAIN_TERMS + 6 };
    float q[D], k[D];
    for (size_t c = 0; c < D; c++) {
        q[c] = c % 2 ? 1.0f : -1.0f; /* the same size, either sign */
        k[c] = c == 9 ? 2.0f : 1.0f;
    }
    const nl_matrix queries = nl_matrix_view(q, 1, D, D), keys = nl_matrix_view(k, 1, D, D);
    nl_attention_params params;
    nl_weight_steps steps;
    nl_attention_params_init(&params);
    nl_attention *attention = create_attention(&params, &queries, &keys, false, &alone);
    assert_int_equal(nl_explain_weight(attention, 0, 0, &alone, &steps, NULL), NL_OK);
    assert_int_equal(steps.sum.count, NL_EXPLAIN_TERMS);
    assert_int_equal(steps.sum.rest_count, 6);
    assert_int_equal(steps.sum.terms[0].index, 9);
    for (size_t t = 1; t < NL_EXPLAIN_TERMS; t++)
        assert_int_equal(steps.sum.terms[t].index, t <= 9 ? t - 1 : t);
    assert_true(steps.sum.total == 1 && steps.sum.rest == 0);
    assert_true(steps.weight == 1);
    nl_attention_free(&attention);
}

/* Every key left out: zeros, and flags instead of divisions by 0. */
static void test_rows_without_keys(void **state)
{
    (void)state;
    nl_matrix x = random_features(N, 3, 0, 1, 1);
    nl_attention_params params;
    nl_weight_steps steps;
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        static const float w[6] = {1, 1, 1, -1, 1, 1};
        nl_attention_params_init(&params);
        params.similarity = (nl_similarity_id)similarity;
        params.normalizer = nl_similarities[similarity].normalizer;
        params.concat = w;
        params.self = NL_SELF_EXCLUDE;
        params.search = 1;
        params.grid_width = GW;
        params.grid_height = GH;
        nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
        for (size_t j = 0; j < N; j++) {
            assert_int_equal(nl_explain_weight(attention, 7, j, &alone, &steps, NULL), NL_OK);
            assert_true(steps.left_out && !steps.replaced);
            assert_true(steps.weight == 0 && isfinite(steps.raw));
        }
        nl_attention_free(&attention);
    }
    test_free(x.data);
}

static void test_errors(void **state)
{
    (void)state;
    nl_matrix x = random_features(5, 3, 0, 1, 1), y = random_features(4, 3, 0, 1, 2);
    nl_attention_params params;
    nl_weight_steps steps;
    nl_error error = {0};
    nl_attention_params_init(&params);
    nl_attention *attention = create_attention(&params, &x, &y, false, &alone);
    const long live = nl_alloc_live();
    assert_invalid(nl_explain_weight(attention, 5, 0, &alone, &steps, &error), &error,
                   "query 6, key 1");
    assert_invalid(nl_explain_weight(attention, 4, 4, &alone, &steps, &error), &error, "5 × 4");
    assert_int_equal(nl_explain_weight(attention, 5, 0, &alone, &steps, NULL), NL_INVALID);
    assert_true(steps.weight == 0 && steps.sum.count == 0);
    nl_alloc_fail_after(0);
    error = (nl_error){0};
    assert_int_equal(nl_explain_weight(attention, 4, 3, &alone, &steps, &error), NL_NOMEM);
    nl_alloc_fail_after(-1);
    assert_int_equal(error.status, NL_NOMEM);
    assert_true(steps.weight == 0);
    assert_int_equal(nl_alloc_live(), live);
    assert_int_equal(nl_explain_weight(attention, 4, 3, &alone, &steps, NULL), NL_OK);
    nl_attention_free(&attention);
    test_free(x.data);
    test_free(y.data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),
        cmocka_unit_test(test_embedded_gaussian),
        cmocka_unit_test(test_euclidean),
        cmocka_unit_test(test_cosine),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_equal_terms_by_lower_index),
        cmocka_unit_test(test_rows_without_keys),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
