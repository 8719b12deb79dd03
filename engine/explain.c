/* SPDX-License-Identifier: MIT */
#include "nonlocal/explain.h"

#include <math.h>

#include "alloc.h"
#include "attention.h"

/* Puts a term where it belongs; the smallest one falls into the rest. */
static void add_term(nl_sum *sum, nl_term term)
{
    sum->total += term.value;
    size_t at = sum->count;
    if (sum->count < NL_EXPLAIN_TERMS) {
        sum->count++;
    } else {
        nl_term *last = &sum->terms[--at];
        sum->rest_count++;
        if (fabs(term.value) <= fabs(last->value)) {
            sum->rest += term.value;
            return;
        }
        sum->rest += last->value;
    }
    for (; at > 0 && fabs(sum->terms[at - 1].value) < fabs(term.value); at--)
        sum->terms[at] = sum->terms[at - 1];
    sum->terms[at] = term;
}

static float key_at(const nl_attention *a, size_t j, size_t k)
{
    return a->keys[j / NL_LANES * NL_LANES * a->d + k * NL_LANES + j % NL_LANES];
}

/* The sum behind the raw score, and the raw score. */
static void explain_score(const nl_attention *a, size_t i, size_t j, nl_weight_steps *steps)
{
    const nl_attention_params *p = &a->params;
    const float *q_i = a->queries ? nl_row(a->queries, i) : NULL;
    if (p->similarity == NL_CONCAT) {
        for (size_t k = 0; k < a->d; k++)
            add_term(&steps->sum, (nl_term){k, (double)a->concat[k], (double)q_i[k],
                                            (double)a->concat[k] * (double)q_i[k]});
        for (size_t k = 0; k < a->d; k++) {
            double w = (double)a->concat[a->d + k], x = (double)nl_row(&a->concat_keys, j)[k];
            add_term(&steps->sum, (nl_term){a->d + k, w, x, w * x});
        }
        steps->raw = fmax(steps->sum.total, 0);
        return;
    }
    for (size_t k = 0; k < a->d; k++) {
        double q = (double)q_i[k], key = (double)key_at(a, j, k);
        double value =
            p->similarity == NL_EUCLIDEAN ? -(double)a->omega[k] * (q - key) * (q - key) : q * key;
        add_term(&steps->sum, (nl_term){k, q, key, value});
    }
    steps->raw = steps->sum.total;
    if (p->similarity == NL_EUCLIDEAN)
        steps->raw = -fmax(steps->sum.total - 2 * p->sigma * p->sigma, 0);
    else if (p->similarity == NL_COSINE)
        steps->raw = fmin(fmax(steps->raw, -1), 1);
    else if (p->similarity == NL_DOT)
        steps->raw *= p->scale;
    if (a->key_shift) {
        steps->shift = (double)a->key_shift[j];
        steps->raw -= steps->shift;
    }
}

static size_t apart(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* Whether the search window and the self rule leave key j to query i. */
static bool may_read(const nl_attention *a, size_t i, size_t j)
{
    const nl_attention_params *p = &a->params;
    const size_t w = p->grid_width, h = p->grid_height, half = p->search / 2;
    if (p->self == NL_SELF_EXCLUDE && i == j)
        return false;
    return p->search == 0 || (i / w / h == j / w / h && apart(i % w, j % w) <= half &&
                              apart(i / w % h, j / w % h) <= half);
}

/* From the raw score to the weight, with what the engine found for the whole row. */
static void explain_weight(const nl_attention *a, const struct nl_row_rule *rule, bool left,
                           const float *scores, size_t i, size_t j, double normalizer,
                           nl_weight_steps *steps)
{
    const double beta = (double)rule->beta;
    steps->normalizer = normalizer;
    const nl_attention_params *p = &a->params;
    steps->left_out = !left || !may_read(a, i, j);
    if (steps->left_out)
        return;
    steps->replaced = p->self == NL_SELF_MAX && i == j && rule->keys > 1;
    steps->score = steps->replaced ? (double)scores[j] : steps->raw;
    steps->similarity = steps->score;
    if (nl_is_exponential(a)) {
        const bool over_sum = a->params.normalizer == NL_NORMALIZE_SUM;
        steps->width = nl_width_of(&a->params, beta);
        steps->exponent = beta * steps->score;
        steps->top = over_sum ? beta * (double)rule->top : 0;
        steps->similarity = exp(steps->exponent - steps->top);
    }
    steps->weight = normalizer != 0 ? steps->similarity / normalizer : 0;
}

static nl_status check_pair(const nl_attention *a, size_t i, size_t j, nl_error *error)
{
    if (i >= a->n || j >= a->m)
        return nl_fail(error, NL_INVALID, "query %zu, key %zu is outside: there are %zu × %zu",
                       i + 1, j + 1, a->n, a->m);
    return NL_OK;
}

nl_status nl_explain_weight(const nl_attention *attention, size_t i, size_t j, const nl_exec *exec,
                            nl_weight_steps *steps, nl_error *error)
{
    const nl_attention *a = attention;
    struct nl_row_rule rule;
    double normalizer = 0;
    *steps = (nl_weight_steps){0};
    nl_status status = check_pair(a, i, j, error);
    if (status != NL_OK)
        return status;
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    if (!kernels)
        return NL_UNSUPPORTED;
    float *scores = nl_alloc(2 * a->m, sizeof *scores);
    if (!scores)
        return nl_fail(error, NL_NOMEM, "no memory for a row of %zu weights", a->m);
    float *weights = scores + a->m;
    nl_raw_scores(a, kernels, i, 1, scores, a->m);
    const bool left = nl_row_prepare(a, kernels, i, scores, &rule);
    for (size_t k = 0; k < a->m; k++)
        weights[k] = scores[k];
    if (left)
        status = nl_row_normalize(a, kernels, i, &rule, weights, &normalizer, error);
    if (status == NL_OK) {
        explain_score(a, i, j, steps);
        explain_weight(a, &rule, left, scores, i, j, normalizer, steps);
    }
    nl_free(scores);
    return status;
}

nl_status nl_explain_output(const nl_attention *attention, const nl_matrix *values, size_t i,
                            size_t channel, const nl_exec *exec, nl_sum *sum, nl_error *error)
{
    const size_t m = attention->m;
    *sum = (nl_sum){0};
    if (values->rows != m || channel >= values->cols)
        return nl_fail(error, NL_INVALID, "channel %zu of values of %zu × %zu is outside",
                       channel + 1, values->rows, values->cols);
    float *weights = nl_alloc(m, sizeof *weights);
    if (!weights)
        return nl_fail(error, NL_NOMEM, "no memory for a row of %zu weights", m);
    nl_status status = nl_attention_row(attention, i, exec, weights, NULL, error);
    for (size_t j = 0; status == NL_OK && j < m; j++) {
        double a = (double)weights[j], v = (double)nl_row(values, j)[channel];
        add_term(sum, (nl_term){j, a, v, a * v});
    }
    nl_free(weights);
    return status;
}

nl_status nl_explain_linear(const nl_linear *map, const float *x, size_t channel, nl_sum *sum,
                            nl_error *error)
{
    *sum = (nl_sum){0};
    if (channel >= map->weight.rows)
        return nl_fail(error, NL_INVALID, "channel %zu is outside: the map has %zu", channel + 1,
                       map->weight.rows);
    const float *w = nl_row(&map->weight, channel);
    for (size_t k = 0; k < map->weight.cols; k++)
        add_term(sum, (nl_term){k, (double)w[k], (double)x[k], (double)w[k] * (double)x[k]});
    if (map->bias.data)
        add_term(sum, (nl_term){map->weight.cols, (double)map->bias.data[channel], 1,
                                (double)map->bias.data[channel]});
    return NL_OK;
}

/* x_i less its mean where asked for, over its length; false without a direction. */
static bool unit_row(const float *x_i, size_t d, bool centred, double *unit)
{
    double shift = 0, squares = 0;
    bool constant = centred;
    for (size_t k = 0; k < d; k++) {
        shift += (double)x_i[k] - (double)x_i[0];
        constant = constant && x_i[k] == x_i[0];
    }
    for (size_t k = 0; k < d; k++) {
        unit[k] = (double)x_i[k];
        if (centred)
            unit[k] = unit[k] - (double)x_i[0] - shift / (double)d;
        squares += unit[k] * unit[k];
    }
    for (size_t k = 0; k < d; k++)
        unit[k] /= squares > 0 ? sqrt(squares) : 1;
    return squares > 0 && !constant;
}

/* Half the squares of the differences of unit rows: 1 − cos, term by term. */
static nl_status explain_direction(bool centred, const nl_matrix *x, size_t i, size_t j,
                                   nl_sum *sum, double *value, nl_error *error)
{
    const size_t d = x->cols;
    double *units = nl_alloc(2 * d, sizeof *units);
    if (!units)
        return nl_fail(error, NL_NOMEM, "no memory for two rows of %zu features", d);
    const bool there_i = unit_row(nl_row(x, i), d, centred, units);
    const bool there_j = unit_row(nl_row(x, j), d, centred, units + d);
    for (size_t k = 0; k < d; k++) {
        const double difference = units[k] - units[d + k];
        add_term(sum, (nl_term){k, units[k], units[d + k], difference * difference / 2});
    }
    *value = i == j ? 0 : there_i && there_j ? sum->total : 1;
    nl_free(units);
    return NL_OK;
}

nl_status nl_explain_dissim(nl_metric_id metric, const nl_matrix *x, size_t i, size_t j,
                            nl_sum *sum, double *value, nl_error *error)
{
    double largest = 0;
    *sum = (nl_sum){0};
    *value = 0;
    if ((unsigned)metric >= NL_METRIC_COUNT)
        return nl_fail(error, NL_INVALID, "there is no metric number %d", (int)metric);
    if (i >= x->rows || j >= x->rows)
        return nl_fail(error, NL_INVALID, "rows %zu and %zu: there are %zu", i + 1, j + 1, x->rows);
    if (metric == NL_METRIC_COSINE || metric == NL_METRIC_CORRELATION)
        return explain_direction(metric == NL_METRIC_CORRELATION, x, i, j, sum, value, error);
    for (size_t k = 0; k < x->cols; k++) {
        const double a = (double)nl_row(x, i)[k], b = (double)nl_row(x, j)[k];
        const double size = fabs(a - b);
        const bool squared = metric != NL_METRIC_MANHATTAN && metric != NL_METRIC_CHEBYSHEV;
        add_term(sum, (nl_term){k, a, b, squared ? size * size : size});
        largest = fmax(largest, size);
    }
    if (metric == NL_METRIC_CHEBYSHEV)
        *value = largest;
    else if (metric == NL_METRIC_MANHATTAN || metric == NL_METRIC_SQEUCLIDEAN)
        *value = sum->total;
    else
        *value = sqrt(sum->total);
    return NL_OK;
}
