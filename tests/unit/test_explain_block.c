/* SPDX-License-Identifier: MIT */
/*
 * Explanations of outputs, linear maps and dissimilarities, of whole blocks step by step, and what
 * is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "block_rig.h"
#include "explain_rig.h"

static const double u = 0x1p-24;

/* How far a linear map may be from its explanation: 36 roundings, as block_bounds.c counts them. */
static double linear_bound(const nl_linear *map, const float *x, size_t channel)
{
    double size = map->bias.data ? fabs((double)map->bias.data[channel]) : 0;
    for (size_t k = 0; k < map->weight.cols; k++)
        size += fabs((double)nl_row(&map->weight, channel)[k] * (double)x[k]);
    return 37 * u * size;
}

static void check_linear(const nl_linear *map, const float *x, size_t channel, double expected)
{
    const size_t in = map->weight.cols, count = in + (map->bias.data ? 1 : 0);
    double *terms = test_malloc(count * sizeof *terms);
    nl_sum sum;
    for (size_t k = 0; k < in; k++)
        terms[k] = (double)nl_row(&map->weight, channel)[k] * (double)x[k];
    if (map->bias.data)
        terms[in] = (double)map->bias.data[channel];
    assert_int_equal(nl_explain_linear(map, x, channel, &sum, NULL), NL_OK);
    assert_sum_of(&sum, terms, count, 1e-14);
    for (size_t t = 0; t < sum.count; t++)
        if (sum.terms[t].index == in)
            assert_true(sum.terms[t].left == terms[in] && sum.terms[t].right == 1);
    assert_near(sum.total, expected, linear_bound(map, x, channel));
    test_free(terms);
}

static void test_linear_maps(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 6, NL_EXPLAIN_TERMS, 40};
    for (size_t w = 0; w < COUNT(widths); w++) {
        nl_matrix x = random_features(9, widths[w], 0, 1, 3);
        nl_matrix weight = random_features(5, widths[w], 0, 1, 4);
        nl_matrix bias = random_features(1, 5, 0, 1, 5);
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            const nl_linear map = {weight, with_bias ? bias : (nl_matrix){0}};
            nl_matrix y;
            assert_int_equal(nl_linear_apply_alloc(&map, &x, &alone, &y, NULL), NL_OK);
            for (size_t i = 0; i < 9; i++)
                for (size_t c = 0; c < 5; c++)
                    check_linear(&map, nl_row(&x, i), c, (double)nl_row(&y, i)[c]);
            nl_matrix_free(&y);
        }
        test_free(x.data);
        test_free(weight.data);
        test_free(bias.data);
    }
}

/* One number of A V; `accuracy` is that of the weights, relative to the largest of the row. */
static void check_output(const nl_attention *attention, const nl_matrix *v, size_t i, size_t c,
                         double expected)
{
    const size_t m = v->rows;
    float *a = test_malloc(m * sizeof *a);
    double *terms = test_malloc(m * sizeof *terms), size = 0, largest = 0, mass = 0, exponent = 0;
    nl_sum sum;
    assert_int_equal(nl_attention_row(attention, i, &alone, a, NULL, NULL), NL_OK);
    for (size_t j = 0; j < m; j++) {
        nl_weight_steps steps;
        assert_int_equal(nl_explain_weight(attention, i, j, &alone, &steps, NULL), NL_OK);
        terms[j] = (double)a[j] * (double)nl_row(v, j)[c];
        size += fabs(terms[j]);
        mass += fabs((double)nl_row(v, j)[c]);
        largest = fmax(largest, fabs((double)a[j]));
        exponent = steps.left_out ? exponent : fmax(exponent, fabs(steps.exponent));
    }
    assert_int_equal(nl_explain_output(attention, v, i, c, &alone, &sum, NULL), NL_OK);
    assert_sum_of(&sum, terms, m, 1e-14 * (1 + size));
    for (size_t t = 0; t < sum.count; t++) {
        assert_true(sum.terms[t].left == (double)a[sum.terms[t].index]);
        assert_true(sum.terms[t].right == (double)nl_row(v, sum.terms[t].index)[c]);
    }
    const double roundings = (double)(m < 128 ? m : 128) + 2;
    assert_near(sum.total, expected,
                2 * (1e-5 + 4 * u * exponent) * largest * mass + roundings * u * size);
    test_free(a);
    test_free(terms);
}

static void test_outputs(void **state)
{
    (void)state;
    static const float w[12] = {1, -1, 0.5f, 1, 2, 0, 1, 1, 0.5f, -1, 1, 1};
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        for (int cross = 0; cross < 2; cross++) {
            nl_matrix x = random_features(23, 6, 0, 1, 3), k = random_features(9, 6, 0, 1, 4);
            const nl_matrix *keys = cross ? &k : &x;
            nl_matrix v = random_features(keys->rows, 4, 0, 1, 5), y;
            nl_attention_params params;
            nl_attention_params_init(&params);
            params.similarity = (nl_similarity_id)similarity;
            params.normalizer = nl_similarities[similarity].normalizer;
            params.self = cross ? NL_SELF_KEEP : NL_SELF_MAX;
            params.h = 0.7;
            params.concat = w;
            nl_attention *attention = create_attention(&params, &x, keys, !cross, &alone);
            assert_int_equal(nl_matrix_alloc(&y, 23, 4, NULL), NL_OK);
            assert_int_equal(nl_attention_apply(attention, &v, &alone, &y, NULL), NL_OK);
            for (size_t i = 0; i < 23; i++)
                for (size_t c = 0; c < 4; c++)
                    check_output(attention, &v, i, c, (double)nl_row(&y, i)[c]);
            nl_attention_free(&attention);
            nl_matrix_free(&y);
            test_free(x.data);
            test_free(k.data);
            test_free(v.data);
        }
    }
}

/* ---- whole blocks ---- */

static nl_matrix columns(const nl_matrix *m, size_t first, size_t count)
{
    return nl_matrix_view(m->data + first, m->rows, count, m->stride);
}

/* The map that is applied: its weight over the spectral norm for sagan. */
static nl_linear applied(const nl_stored_map *stored, nl_system_id system)
{
    nl_linear map = {.bias = stored->map.bias};
    assert_int_equal(nl_matrix_copy(&map.weight, &stored->map.weight, NULL), NL_OK);
    const double sigma =
        system == NL_SYSTEM_SAGAN ? nl_spectral_norm(&stored->map.weight, NULL) : 1;
    for (size_t i = 0; i < map.weight.rows; i++)
        for (size_t k = 0; k < map.weight.cols; k++)
            nl_row(&map.weight, i)[k] = (float)((double)nl_row(&map.weight, i)[k] / sigma);
    return map;
}

static void check_projection(const nl_stored_map *stored, nl_system_id system, const nl_matrix *x,
                             const nl_matrix *projected)
{
    nl_linear map = applied(stored, system);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t c = 0; c < map.weight.rows; c++)
            check_linear(&map, nl_row(x, i), c, (double)nl_row(projected, i)[c]);
    nl_matrix_free(&map.weight);
}

/* From A to H, head by head. */
static void check_heads(const nl_block_params *block, const nl_trace *t)
{
    const size_t l = t->q.cols / block->heads, lv = t->v.cols / block->heads, n = t->q.rows;
    for (size_t head = 0; head < block->heads; head++) {
        const nl_matrix q = columns(&t->q, head * l, l), k = columns(&t->k, head * l, l);
        const nl_matrix v = columns(&t->v, head * lv, lv);
        nl_attention_params params = block->attention;
        params.scale = block->scale_sqrt ? 1 / sqrt((double)l) : 1;
        nl_attention *attention = create_attention(&params, &q, &k, q.rows == k.rows, &alone);
        for (size_t i = 0; i < n; i++) {
            double largest = 0, exponent = 0;
            for (size_t j = 0; j < k.rows; j++) {
                largest = fmax(largest, (double)nl_row(&t->a, head * n + i)[j]);
                exponent = fmax(exponent, fabs((double)nl_row(&t->s, head * n + i)[j]));
            }
            for (size_t j = 0; j < k.rows; j++) {
                const double s_ij = (double)nl_row(&t->s, head * n + i)[j];
                nl_weight_steps steps;
                assert_int_equal(nl_explain_weight(attention, i, j, &alone, &steps, NULL), NL_OK);
                assert_near(steps.exponent, s_ij, 1e-5 * exponent);
                assert_near(steps.weight, (double)nl_row(&t->a, head * n + i)[j],
                            largest * (1e-5 + 4 * u * exponent));
            }
            for (size_t c = 0; c < lv; c++)
                check_output(attention, &v, i, c, (double)nl_row(&t->h, i)[head * lv + c]);
        }
        nl_attention_free(&attention);
    }
}

/* Z is X plus γ times what the explanation of Y leads to. */
static void check_residual(const nl_weights *weights, nl_system_id system, const nl_trace *t,
                           double gamma)
{
    nl_linear map = applied(&weights->w, system);
    for (size_t i = 0; i < t->z.rows; i++) {
        for (size_t c = 0; c < t->z.cols; c++) {
            nl_sum sum;
            const double x = (double)nl_row(&t->x, i)[c];
            assert_int_equal(nl_explain_linear(&map, nl_row(&t->h, i), c, &sum, NULL), NL_OK);
            assert_near(x + gamma * sum.total, (double)nl_row(&t->z, i)[c],
                        fabs(gamma) * linear_bound(&map, nl_row(&t->h, i), c) +
                            2 * u * (fabs(x) + fabs(gamma * sum.total)));
        }
    }
    nl_matrix_free(&map.weight);
}

static void check_block(nl_system_id system, size_t heads)
{
    nl_matrix x = random_features(12, 24, 0, 1, 9);
    nl_weights weights = weights_of(system, &x, 0, 5);
    nl_block_params params = block_of(system, NL_EMBEDDED_GAUSSIAN);
    params.layernorm = NL_LAYERNORM_NONE;
    params.subsample = NL_SUBSAMPLE_NONE;
    params.scale_sqrt = system == NL_SYSTEM_TRANSFORMER;
    params.heads = heads;
    params.gamma = 0.6;
    nl_trace trace = run_block(&params, &weights, &x, table_shape(&x));
    check_projection(&weights.theta, system, &x, &trace.q);
    check_projection(&weights.phi, system, &x, &trace.k);
    check_projection(&weights.g, system, &x, &trace.v);
    check_heads(&params, &trace);
    check_projection(&weights.w, system, &trace.h, &trace.y);
    check_residual(&weights, system, &trace, system == NL_SYSTEM_SAGAN ? 0.6 : 1);
    nl_trace_free(&trace);
    nl_weights_free(&weights);
    test_free(x.data);
}

static void test_blocks_step_by_step(void **state)
{
    (void)state;
    check_block(NL_SYSTEM_TRANSFORMER, 1);
    check_block(NL_SYSTEM_TRANSFORMER, 4);
    check_block(NL_SYSTEM_SAGAN, 1);
    check_block(NL_SYSTEM_NONLOCAL, 1);
}

/* ---- dissimilarities ---- */

/* One term, where it does not need the whole row. */
static double simple_term(nl_metric_id metric, double a, double b)
{
    return metric == NL_METRIC_MANHATTAN || metric == NL_METRIC_CHEBYSHEV ? fabs(a - b)
                                                                          : (a - b) * (a - b);
}

static void check_dissim(nl_metric_id metric, const nl_matrix *x, size_t i, size_t j,
                         double expected, double bandwidth)
{
    const size_t d = x->cols;
    const bool direction = metric == NL_METRIC_COSINE || metric == NL_METRIC_CORRELATION;
    double *terms = test_malloc(d * sizeof *terms), size = 0, value;
    nl_sum sum;
    assert_int_equal(nl_explain_dissim(metric, x, i, j, &sum, &value, NULL), NL_OK);
    for (size_t k = 0; k < d && !direction; k++) {
        terms[k] = simple_term(metric, (double)nl_row(x, i)[k], (double)nl_row(x, j)[k]);
        size += terms[k];
    }
    if (!direction)
        assert_sum_of(&sum, terms, d, 1e-14 * size);
    for (size_t t = 0; t < sum.count; t++) {
        const nl_term *term = &sum.terms[t];
        const double off = term->left - term->right;
        if (direction)
            assert_near(term->value, off * off / 2, 1e-15 * term->value);
        else
            assert_true(term->left == (double)nl_row(x, i)[term->index] &&
                        term->right == (double)nl_row(x, j)[term->index]);
        assert_true(t == 0 || term->value <= sum.terms[t - 1].value);
    }
    if (metric == NL_METRIC_GAUSSIAN)
        value = nl_gaussian_dissim(value * value, bandwidth);
    if (i == j || expected == 0)
        assert_true(value == 0);
    /* a chain of d roundings in float, a root, a division */
    assert_near(value, expected, ((double)d + 8) * u * expected + (direction ? 1e-12 : 0));
    test_free(terms);
}

static void check_metric(nl_metric_id metric, const nl_matrix *x)
{
    const nl_dissim_params params = {.metric = metric};
    double bandwidth;
    nl_matrix d;
    nl_error error = {0};
    assert_int_equal(nl_matrix_alloc(&d, x->rows, x->rows, NULL), NL_OK);
    if (nl_dissim_run(&params, x, &alone, &d, &bandwidth, &error) != NL_OK)
        fail_msg("%s: %s", nl_metrics[metric].name, error.message);
    for (size_t i = 0; i < x->rows; i++)
        for (size_t j = 0; j < x->rows; j++)
            check_dissim(metric, x, i, j, (double)nl_row(&d, i)[j], bandwidth);
    nl_matrix_free(&d);
}

static void test_every_metric(void **state)
{
    (void)state;
    static const size_t widths[] = {1, 4, NL_EXPLAIN_TERMS + 7};
    for (size_t w = 0; w < COUNT(widths); w++) {
        nl_matrix x = random_features(13, widths[w], 0.5f, 1, 3);
        for (size_t k = 0; k < widths[w]; k++) {
            nl_row(&x, 2)[k] = 0;                 /* no direction */
            nl_row(&x, 3)[k] = 4;                 /* none for correlation */
            nl_row(&x, 5)[k] = nl_row(&x, 4)[k];  /* equal rows */
            nl_row(&x, 6)[k] = -nl_row(&x, 4)[k]; /* opposite rows */
            nl_row(&x, 8)[k] *= 1e-12f;
            nl_row(&x, 9)[k] *= 1e9f;
        }
        for (int metric = 0; metric < NL_METRIC_COUNT; metric++)
            check_metric((nl_metric_id)metric, &x);
        test_free(x.data);
    }
}

/* ---- errors ---- */

static void test_indices_outside(void **state)
{
    (void)state;
    nl_matrix x = random_features(5, 3, 0, 1, 1), v = random_features(4, 2, 0, 1, 2);
    nl_matrix right = random_features(5, 2, 0, 1, 2);
    const nl_linear map = {.weight = x};
    nl_attention_params params;
    nl_error error = {0};
    nl_sum sum;
    double value = 1;
    nl_attention_params_init(&params);
    nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
    assert_invalid(nl_explain_output(attention, &v, 0, 0, &alone, &sum, &error), &error, "4 × 2");
    assert_invalid(nl_explain_output(attention, &right, 0, 2, &alone, &sum, &error), &error,
                   "channel 3");
    assert_invalid(nl_explain_output(attention, &right, 5, 0, &alone, &sum, &error), &error, "5");
    assert_true(sum.count == 0 && sum.total == 0);
    assert_invalid(nl_explain_linear(&map, x.data, 5, &sum, &error), &error, "channel 6");
    assert_invalid(nl_explain_dissim(NL_METRIC_COUNT, &x, 0, 1, &sum, &value, &error), &error,
                   "metric");
    for (int metric = 0; metric < NL_METRIC_COUNT; metric++) {
        assert_invalid(nl_explain_dissim((nl_metric_id)metric, &x, 5, 1, &sum, &value, &error),
                       &error, "rows 6 and 2");
        assert_invalid(nl_explain_dissim((nl_metric_id)metric, &x, 0, 5, &sum, &value, &error),
                       &error, "there are 5");
        assert_true(value == 0 && sum.count == 0);
    }
    nl_attention_free(&attention);
    test_free(x.data);
    test_free(v.data);
    test_free(right.data);
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    nl_matrix x = random_features(5, 3, 0, 1, 1);
    nl_attention_params params;
    nl_error error = {0};
    nl_sum sum;
    double value;
    nl_attention_params_init(&params);
    nl_attention *attention = create_attention(&params, &x, &x, true, &alone);
    const long live = nl_alloc_live();
    nl_alloc_fail_after(0);
    assert_int_equal(nl_explain_output(attention, &x, 0, 0, &alone, &sum, &error), NL_NOMEM);
    for (int metric = NL_METRIC_COSINE; metric <= NL_METRIC_CORRELATION; metric++) {
        nl_alloc_fail_after(0); /* for the next one only */
        assert_int_equal(nl_explain_dissim((nl_metric_id)metric, &x, 0, 1, &sum, &value, &error),
                         NL_NOMEM);
    }
    nl_alloc_fail_after(-1);
    assert_int_equal(error.status, NL_NOMEM);
    assert_int_equal(nl_alloc_live(), live);
    assert_true(sum.count == 0 && value == 0);
    for (long failing = 0;; failing++) {
        assert_true(failing < 20);
        nl_alloc_fail_after(failing);
        const nl_status status = nl_explain_output(attention, &x, 0, 0, &alone, &sum, NULL);
        nl_alloc_fail_after(-1);
        assert_int_equal(nl_alloc_live(), live);
        if (status == NL_OK)
            break;
        assert_int_equal(status, NL_NOMEM);
    }
    nl_attention_free(&attention);
    test_free(x.data);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear_maps),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_blocks_step_by_step),
        cmocka_unit_test(test_every_metric),
        cmocka_unit_test(test_indices_outside),
        cmocka_unit_test(test_every_allocation_failing_once),
    };
    return cmocka_run_group_tests_name("explain_block", tests, NULL, NULL);
}
