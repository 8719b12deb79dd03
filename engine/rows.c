/* SPDX-License-Identifier: MIT */
/* From scores to weights: one row, all rows, and the answers that they give. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "attention.h"
#include "fused.h"
#include "pool.h"

void nl_raw_scores(const nl_attention *a, const nl_kernels *kernels, size_t first, size_t rows,
                   float *r, size_t r_stride)
{
    const nl_attention_params *p = &a->params;
    const float *q = nl_row(a->queries, first);
    const size_t q_stride = a->queries->stride;
    if (p->similarity == NL_EUCLIDEAN)
        kernels->sqdist(q, q_stride, rows, a->omega, a->keys, a->m, a->d, r, r_stride);
    else if (p->similarity != NL_CONCAT)
        kernels->dot(q, q_stride, rows, a->keys, a->m, a->d, r, r_stride);

    for (size_t i = 0; i < rows; i++) {
        float *r_i = r + i * r_stride;
        if (p->similarity == NL_CONCAT) {
            for (size_t j = 0; j < a->m; j++)
                r_i[j] = fmaxf(a->query_part[first + i] + a->key_part[j], 0);
        } else if (p->similarity == NL_DOT && p->scale != 1) {
            kernels->scale(r_i, a->m, (float)p->scale);
        } else if (p->similarity == NL_COSINE) {
            for (size_t j = 0; j < a->m; j++)
                r_i[j] = r_i[j] > 1 ? 1 : r_i[j] < -1 ? -1 : r_i[j];
        } else if (p->similarity == NL_EUCLIDEAN && p->sigma > 0) {
            const float noise = (float)(2 * p->sigma * p->sigma);
            for (size_t j = 0; j < a->m; j++)
                r_i[j] = r_i[j] + noise < 0 ? r_i[j] + noise : 0;
        }
        for (size_t j = 0; a->key_shift && j < a->m; j++)
            r_i[j] -= a->key_shift[j];
    }
}

/* Puts −∞ where keys lie outside the window around the query; returns how many are inside. */
static size_t apply_search(const nl_attention *a, size_t query, float *r)
{
    const size_t w = a->params.grid_width, h = a->params.grid_height, half = a->params.search / 2;
    const size_t frame = query / (w * h) * (w * h);
    const size_t x = query % w, y = (query - frame) / w;
    const size_t x0 = x > half ? x - half : 0, x1 = w - x > half ? x + half + 1 : w;
    const size_t y0 = y > half ? y - half : 0, y1 = h - y > half ? y + half + 1 : h;
    for (size_t j = 0; j < a->m; j++) {
        size_t kx = j % w, ky = (j - frame) / w;
        if (j < frame || j >= frame + w * h || kx < x0 || kx >= x1 || ky < y0 || ky >= y1)
            r[j] = -INFINITY;
    }
    return (x1 - x0) * (y1 - y0);
}

/* True when every key that is left has the score `top`. */
static bool all_equal(const float *r, size_t m, float top)
{
    for (size_t j = 0; j < m; j++)
        if (r[j] != top && r[j] != -INFINITY)
            return false;
    return true;
}

bool nl_row_prepare(const nl_attention *a, const nl_kernels *kernels, size_t query, float *r,
                    struct nl_row_rule *rule)
{
    const nl_attention_params *p = &a->params;
    *rule = (struct nl_row_rule){.beta = (float)a->beta, .keys = a->m};
    /* −∞ marks what is left out until the maximum is known */
    if (p->search > 0)
        rule->keys = apply_search(a, query, r);
    rule->candidates = rule->keys;
    const bool alone = rule->keys == 1 && p->self == NL_SELF_MAX;
    if (p->self != NL_SELF_KEEP && !alone) {
        r[query] = -INFINITY;
        rule->top = kernels->max(r, a->m);
        if (p->self == NL_SELF_MAX)
            r[query] = rule->top;
        else
            rule->keys--;
    } else {
        rule->top = kernels->max(r, a->m);
    }
    if (rule->keys == 0)
        return false;
    rule->uniform = all_equal(r, a->m, rule->top);
    if (!nl_is_exponential(a)) {
        for (size_t j = 0; rule->keys < a->m && j < a->m; j++)
            r[j] = r[j] == -INFINITY ? 0 : r[j];
        return true;
    }
    double beta = a->beta;
    if (p->perplexity > 0 && !p->perplexity_shared)
        beta = nl_find_beta(kernels, r, a->m, rule->top, a->target, &rule->notes);
    else if (p->perplexity > 0)
        rule->notes |= NL_NOTE_PERPLEXITY_MET;
    rule->beta = (float)fmin(fmax(beta, 1e-30), 1e30);
    return true;
}

/* r /= C, also where 1 / C is beyond the range of float. */
static nl_status divide_raw(const nl_attention *a, const nl_kernels *kernels, size_t query,
                            float *r, double c, nl_error *error)
{
    double largest = 0;
    for (size_t j = 0; j < a->m; j++)
        largest = fmax(largest, fabs((double)r[j]));
    if (largest / c > (double)FLT_MAX)
        return nl_fail(error, NL_INVALID,
                       "the similarities of query %zu add up to %.6g, so near 0 that the weights "
                       "over it overflow; normalise by the count",
                       query + 1, c);
    if (c > 1e-30 && c < 1e30)
        kernels->scale(r, a->m, (float)(1 / c));
    for (size_t j = 0; j < a->m && !(c > 1e-30 && c < 1e30); j++)
        r[j] = (float)((double)r[j] / c);
    return NL_OK;
}

/* dot and concat: r / C. */
static nl_status normalize_raw(const nl_attention *a, const nl_kernels *kernels, size_t query,
                               const struct nl_row_rule *rule, float *r, double *normalizer,
                               nl_error *error)
{
    double sum = 0;
    bool all_zero = true;
    for (size_t j = 0; j < a->m; j++) {
        sum += (double)r[j];
        all_zero = all_zero && r[j] == 0;
    }
    *normalizer = a->params.normalizer == NL_NORMALIZE_SUM ? sum : (double)rule->candidates;
    if (all_zero)
        return NL_OK; /* a row of zeros, whatever it is divided by */
    if (!(*normalizer > 0))
        return nl_fail(error, NL_INVALID,
                       "the similarities of query %zu add up to %.6g: weights over a sum need a "
                       "positive one; normalise by the count",
                       query + 1, sum);
    return divide_raw(a, kernels, query, r, *normalizer, error);
}

/* Exponentials over the count: nothing is taken off, so they can overflow. */
static nl_status normalize_count(const nl_attention *a, const nl_kernels *kernels, size_t query,
                                 const struct nl_row_rule *rule, float *r, double *normalizer,
                                 nl_error *error)
{
    double largest = (double)rule->beta * (double)rule->top;
    *normalizer = (double)rule->candidates;
    if (largest > 88.7)
        return nl_fail(error, NL_INVALID,
                       "the largest exponent of query %zu is %.4g and its exponential overflows; "
                       "normalise by the sum",
                       query + 1, largest);
    kernels->exp_sum(r, a->m, rule->beta, rule->top);
    kernels->scale(r, a->m, (float)(exp(largest) / *normalizer));
    return NL_OK;
}

nl_status nl_row_normalize(const nl_attention *a, const nl_kernels *kernels, size_t query,
                           const struct nl_row_rule *rule, float *r, double *normalizer,
                           nl_error *error)
{
    if (!nl_is_exponential(a))
        return normalize_raw(a, kernels, query, rule, r, normalizer, error);
    if (a->params.normalizer == NL_NORMALIZE_COUNT)
        return normalize_count(a, kernels, query, rule, r, normalizer, error);
    *normalizer = kernels->exp_sum(r, a->m, rule->beta, rule->top);
    kernels->scale(r, a->m, (float)(1 / *normalizer));
    return NL_OK;
}

/* Raw scores to weights; a row without keys becomes zeros. */
static nl_status weigh(const nl_attention *a, const nl_kernels *kernels, size_t query, float *r,
                       struct nl_row_rule *rule, double *normalizer, nl_error *error)
{
    *normalizer = 0;
    if (!nl_row_prepare(a, kernels, query, r, rule)) {
        memset(r, 0, a->m * sizeof *r);
        rule->notes |= NL_NOTE_NO_KEYS;
        return NL_OK;
    }
    return nl_row_normalize(a, kernels, query, rule, r, normalizer, error);
}

static bool is_zero_row(const float *row, size_t d)
{
    size_t k = 0;
    while (k < d && row[k] == 0)
        k++;
    return k == d;
}

/* −Σ a ln a in nats, of weights that sum to 1. */
static double entropy_of(const float *weights, size_t m)
{
    double entropy = 0;
    for (size_t j = 0; j < m; j++)
        if (weights[j] > 0)
            entropy -= (double)weights[j] * log((double)weights[j]);
    return entropy > 0 ? entropy : 0;
}

static void fill_figures(const nl_attention *a, size_t query, const float *weights,
                         const struct nl_row_rule *rule, double normalizer, nl_row_figures *figures)
{
    *figures = (nl_row_figures){.notes = rule->notes, .keys = rule->keys, .normalizer = normalizer};
    figures->largest = figures->smallest = weights[0];
    for (size_t j = 0; j < a->m; j++) {
        figures->sum += (double)weights[j];
        figures->smallest = weights[j] < figures->smallest ? weights[j] : figures->smallest;
        if (weights[j] > figures->largest) {
            figures->largest = weights[j];
            figures->largest_at = j;
        }
    }
    figures->distribution = figures->smallest >= 0 && fabs(figures->sum - 1) < 1e-4;
    if (rule->keys > 0 && rule->uniform)
        figures->notes |= NL_NOTE_UNIFORM;
    if (figures->distribution) {
        figures->entropy = entropy_of(weights, a->m);
        figures->effective = exp(figures->entropy);
    }
    if (nl_is_exponential(a) && rule->keys > 0)
        figures->width = nl_width_of(&a->params, (double)rule->beta);
    if (a->params.similarity == NL_COSINE && is_zero_row(nl_row(a->queries, query), a->d))
        figures->notes |= NL_NOTE_ZERO_QUERY;
    if (a->params.similarity == NL_CONCAT && figures->largest == 0)
        figures->notes |= NL_NOTE_ALL_ZERO;
}

nl_status nl_attention_row(const nl_attention *attention, size_t query, const nl_exec *exec,
                           float *weights, nl_row_figures *figures, nl_error *error)
{
    struct nl_row_rule rule;
    double normalizer;
    if (query >= attention->n)
        return nl_fail(error, NL_INVALID, "query %zu is outside: there are %zu", query + 1,
                       attention->n);
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    if (!kernels)
        return NL_UNSUPPORTED;
    nl_raw_scores(attention, kernels, query, 1, weights, attention->m);
    nl_status status = weigh(attention, kernels, query, weights, &rule, &normalizer, error);
    if (status == NL_OK && figures)
        fill_figures(attention, query, weights, &rule, normalizer, figures);
    return status;
}

/* Rows at a time: as many as the kernels take side by side. */
enum { BLOCK = 4, GRAIN = 4 * BLOCK };

/* What becomes of a block of rows of weights (or scores). */
enum rows_use { USE_WEIGHTS, USE_SCORES, USE_COLUMN, USE_VALUES };

struct rows_loop {
    const nl_attention *attention;
    const nl_kernels *kernels;
    enum rows_use use;
    const nl_matrix *values; /* USE_VALUES */
    size_t column;           /* USE_COLUMN */
    nl_matrix *out;
    float *scratch;      /* BLOCK rows of m for each worker, where out does not hold the rows */
    nl_status *statuses; /* one for each GRAIN of rows */
    nl_error *errors;    /* of the same */
};

static void finish_scores(const nl_attention *a, const struct nl_row_rule *rule, bool left,
                          float *r)
{
    for (size_t j = 0; j < a->m; j++) {
        if (!left)
            r[j] = nl_is_exponential(a) ? -INFINITY : 0;
        else if (nl_is_exponential(a))
            r[j] *= rule->beta;
    }
}

static nl_status finish_row(const struct rows_loop *loop, size_t query, float *r, nl_error *error)
{
    const nl_attention *a = loop->attention;
    struct nl_row_rule rule;
    double normalizer;
    if (loop->use != USE_SCORES)
        return weigh(a, loop->kernels, query, r, &rule, &normalizer, error);
    bool left = nl_row_prepare(a, loop->kernels, query, r, &rule);
    finish_scores(a, &rule, left, r);
    return NL_OK;
}

static void rows_block(void *context, size_t worker, size_t begin, size_t end)
{
    const struct rows_loop *loop = context;
    const nl_attention *a = loop->attention;
    nl_status status = NL_OK;
    for (size_t i = begin; i < end && status == NL_OK; i += BLOCK) {
        const size_t rows = end - i < BLOCK ? end - i : BLOCK;
        float *w = loop->scratch ? loop->scratch + worker * BLOCK * a->m : nl_row(loop->out, i);
        const size_t w_stride = loop->scratch ? a->m : loop->out->stride;
        nl_raw_scores(a, loop->kernels, i, rows, w, w_stride);
        for (size_t r = 0; r < rows && status == NL_OK; r++)
            status = finish_row(loop, i + r, w + r * w_stride, &loop->errors[begin / GRAIN]);
        if (loop->use == USE_VALUES && status == NL_OK)
            loop->kernels->mix(w, w_stride, rows, a->m, loop->values->data, loop->values->stride,
                               loop->values->cols, nl_row(loop->out, i), loop->out->stride);
        for (size_t r = 0; loop->use == USE_COLUMN && r < rows; r++)
            loop->out->data[i + r] = w[r * w_stride + loop->column];
    }
    loop->statuses[begin / GRAIN] = status;
}

/* Runs the loop; the error reported is that of the lowest row, whatever the thread count. */
static nl_status run_rows(struct rows_loop *loop, const nl_exec *exec, nl_error *error)
{
    const nl_attention *a = loop->attention;
    const size_t grains = (a->n + GRAIN - 1) / GRAIN;
    const bool scratch = loop->use == USE_VALUES || loop->use == USE_COLUMN;
    nl_status status = NL_OK;
    loop->kernels = nl_exec_kernels(exec, error);
    if (!loop->kernels)
        return NL_UNSUPPORTED;
    loop->statuses = nl_alloc(grains, sizeof *loop->statuses);
    loop->errors = nl_alloc(grains, sizeof *loop->errors);
    if (scratch)
        loop->scratch = nl_alloc(nl_exec_workers(exec) * BLOCK * a->m, sizeof *loop->scratch);
    if (!loop->statuses || !loop->errors || (scratch && !loop->scratch))
        status =
            nl_fail(error, NL_NOMEM, "no memory for %d rows of %zu weights a thread", BLOCK, a->m);
    else
        status = nl_parallel(exec, a->n, GRAIN, rows_block, loop, error);
    for (size_t g = 0; g < grains && status == NL_OK; g++) {
        status = loop->statuses[g];
        if (status != NL_OK && error)
            *error = loop->errors[g];
    }
    nl_free(loop->statuses);
    nl_free(loop->errors);
    nl_free(loop->scratch);
    return status;
}

static nl_status check_square(const nl_attention *a, const nl_matrix *out, nl_error *error)
{
    if (out->rows == a->n && out->cols == a->m)
        return NL_OK;
    return nl_fail(error, NL_INVALID, "the weights are %zu × %zu, not %zu × %zu", a->n, a->m,
                   out->rows, out->cols);
}

nl_status nl_attention_rows(const nl_attention *attention, const nl_exec *exec, nl_matrix *weights,
                            nl_error *error)
{
    struct rows_loop loop = {.attention = attention, .use = USE_WEIGHTS, .out = weights};
    nl_status status = check_square(attention, weights, error);
    return status == NL_OK ? run_rows(&loop, exec, error) : status;
}

nl_status nl_attention_scores(const nl_attention *attention, const nl_exec *exec, nl_matrix *scores,
                              nl_error *error)
{
    struct rows_loop loop = {.attention = attention, .use = USE_SCORES, .out = scores};
    nl_status status = check_square(attention, scores, error);
    return status == NL_OK ? run_rows(&loop, exec, error) : status;
}

nl_status nl_attention_received(const nl_attention *attention, size_t key, const nl_exec *exec,
                                float *received, nl_error *error)
{
    nl_matrix column = nl_matrix_view(received, attention->n, 1, 1);
    struct rows_loop loop = {
        .attention = attention, .use = USE_COLUMN, .column = key, .out = &column};
    if (key >= attention->m)
        return nl_fail(error, NL_INVALID, "key %zu is outside: there are %zu", key + 1,
                       attention->m);
    return run_rows(&loop, exec, error);
}

nl_status nl_attention_apply(const nl_attention *attention, const nl_matrix *values,
                             const nl_exec *exec, nl_matrix *y, nl_error *error)
{
    struct rows_loop loop = {.attention = attention, .use = USE_VALUES, .values = values, .out = y};
    if (values->rows != attention->m || y->rows != attention->n || y->cols != values->cols)
        return nl_fail(error, NL_INVALID, "values of %zu × %zu do not give an answer of %zu × %zu",
                       values->rows, values->cols, y->rows, y->cols);
    if (nl_fused_applies(attention))
        return nl_fused_apply(attention, values, exec, y, error);
    return run_rows(&loop, exec, error);
}

nl_status nl_attention_answer(const float *weights, const nl_matrix *values, const nl_exec *exec,
                              float *y, nl_error *error)
{
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    if (!kernels)
        return NL_UNSUPPORTED;
    kernels->mix(weights, values->rows, 1, values->rows, values->data, values->stride, values->cols,
                 y, values->cols);
    return NL_OK;
}

size_t nl_top(const float *weights, size_t m, size_t count, size_t *index)
{
    size_t held = 0;
    for (size_t j = 0; j < m && count > 0; j++) {
        if (held == count && !(weights[j] > weights[index[held - 1]]))
            continue;
        size_t at = held < count ? held++ : held - 1;
        for (; at > 0 && weights[index[at - 1]] < weights[j]; at--)
            index[at] = index[at - 1];
        index[at] = j;
    }
    return held;
}
