/* SPDX-License-Identifier: MIT */
#include "nonlocal/attention.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "panels.h"
#include "pool.h"

const nl_similarity nl_similarities[NL_SIMILARITY_COUNT + 1] = {
    [NL_GAUSSIAN] = {"gaussian", "Gaussian", "exp(x_i·x_j / τ)", false, 1},
    [NL_EMBEDDED_GAUSSIAN] = {"embedded-gaussian", "Embedded Gaussian",
                              "exp(scale · θ(x_i)·φ(x_j) / τ)", true, 1},
    [NL_EUCLIDEAN] = {"euclidean", "Euclidean", "exp(−max(δ_ij − 2σ², 0) / (h² τ))", false, 1},
    [NL_COSINE] = {"cosine", "Cosine", "exp(cos(x_i, x_j) / τ)", false, 0.1},
};

struct nl_attention {
    nl_attention_params params;
    const nl_matrix *queries; /* borrowed, or &normalised */
    nl_matrix normalised;     /* cosine: queries of length 1 */
    float *keys;              /* packed */
    float *omega;             /* euclidean: −ω, so that the kernel's sum is −δ */
    size_t n, m, d;
    double beta;   /* of every row, unless perplexity sets one for each */
    double target; /* ln of the perplexity asked for; < 0 = off */
};

void nl_attention_params_init(nl_attention_params *params)
{
    *params = (nl_attention_params){
        .similarity = NL_GAUSSIAN, .temperature = 1, .scale = 1, .h = 0.1, .self = NL_SELF_KEEP};
}

static nl_status check_params(const nl_attention_params *p, bool same_rows, nl_error *error)
{
    if ((unsigned)p->similarity >= NL_SIMILARITY_COUNT)
        return nl_fail(error, NL_INVALID, "there is no similarity number %d", (int)p->similarity);
    if (!(p->temperature > 0) || !isfinite(p->temperature))
        return nl_fail(error, NL_INVALID, "the temperature is %g, it must be above 0",
                       p->temperature);
    if (!(p->scale > 0) || !isfinite(p->scale))
        return nl_fail(error, NL_INVALID, "the scale is %g, it must be above 0", p->scale);
    if (!(p->h > 0) || !isfinite(p->h))
        return nl_fail(error, NL_INVALID, "the filter width h is %g, it must be above 0", p->h);
    if (!(p->sigma >= 0) || !isfinite(p->sigma))
        return nl_fail(error, NL_INVALID, "the noise sigma is %g, it must be 0 or more", p->sigma);
    if (p->perplexity != 0 && !(p->perplexity > 0 && isfinite(p->perplexity)))
        return nl_fail(error, NL_INVALID, "the perplexity is %g, it must be 0 (off) or more",
                       p->perplexity);
    if (p->self != NL_SELF_KEEP && !same_rows)
        return nl_fail(error, NL_INVALID,
                       "a rule for the query's own weight needs queries and keys to be the same "
                       "positions");
    return NL_OK;
}

static nl_status check_matrix(const nl_matrix *matrix, const char *what, nl_error *error)
{
    size_t row, col;
    if (matrix->rows == 0 || matrix->cols == 0)
        return nl_fail(error, NL_INVALID, "there are no %s (%zu × %zu)", what, matrix->rows,
                       matrix->cols);
    if (!nl_matrix_finite(matrix, &row, &col))
        return nl_fail(error, NL_INVALID, "feature %zu of row %zu of the %s is not a finite number",
                       col + 1, row + 1, what);
    return NL_OK;
}

static double largest_size(const nl_matrix *matrix)
{
    double largest = 0;
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t k = 0; k < matrix->cols; k++)
            largest = fmax(largest, fabs((double)nl_row(matrix, i)[k]));
    return largest;
}

/* Finite features must give finite scores in float. */
static nl_status check_range(const nl_attention_params *p, const nl_matrix *queries,
                             const nl_matrix *keys, nl_error *error)
{
    const size_t d = keys->cols;
    double weights = p->omega ? 0 : 1;
    for (size_t k = 0; p->similarity == NL_EUCLIDEAN && p->omega && k < d; k++) {
        if (!(p->omega[k] >= 0) || !isfinite(p->omega[k]))
            return nl_fail(error, NL_INVALID,
                           "the weight of feature %zu is %g, it must be 0 or more", k + 1,
                           (double)p->omega[k]);
        weights += (double)p->omega[k];
    }
    if (p->similarity == NL_COSINE)
        return NL_OK;
    const double q = largest_size(queries), k = largest_size(keys);
    const double score =
        p->similarity == NL_EUCLIDEAN ? weights * (q + k) * (q + k) : (double)d * q * k;
    if (score > (double)FLT_MAX / 2 || (p->similarity == NL_EUCLIDEAN && q + k > 1e19))
        return nl_fail(error, NL_INVALID,
                       "features as large as %g give scores beyond the range of numbers; divide "
                       "them by a constant first",
                       fmax(q, k));
    return NL_OK;
}

/* Rows of length 1; a zero row stays zero, so that its cosines are 0. */
static nl_status unit_rows(nl_matrix *unit, const nl_matrix *source, nl_error *error)
{
    nl_status status = nl_matrix_copy(unit, source, error);
    for (size_t i = 0; status == NL_OK && i < unit->rows; i++) {
        float *x_i = nl_row(unit, i);
        double squares = 0;
        for (size_t k = 0; k < unit->cols; k++)
            squares += (double)x_i[k] * (double)x_i[k];
        double inverse = squares > 0 ? 1 / sqrt(squares) : 0;
        for (size_t k = 0; k < unit->cols; k++)
            x_i[k] = (float)((double)x_i[k] * inverse);
    }
    return status;
}

static nl_status prepare_cosine(nl_attention *a, const nl_matrix *queries, const nl_matrix *keys,
                                nl_error *error)
{
    nl_matrix unit = {0};
    nl_status status = unit_rows(&a->normalised, queries, error);
    a->queries = &a->normalised;
    if (status == NL_OK && keys != queries)
        status = unit_rows(&unit, keys, error);
    if (status == NL_OK)
        a->keys = nl_panels_pack(keys == queries ? &a->normalised : &unit);
    nl_matrix_free(&unit);
    return status;
}

static bool prepare_omega(nl_attention *a)
{
    a->omega = nl_alloc(a->d, sizeof *a->omega);
    for (size_t k = 0; a->omega && k < a->d; k++)
        a->omega[k] = a->params.omega ? -a->params.omega[k] : (float)(-1.0 / (double)a->d);
    return a->omega != NULL;
}

static double fixed_beta(const nl_attention_params *p)
{
    switch (p->similarity) {
    case NL_EUCLIDEAN:
        return 1 / (p->h * p->h * p->temperature);
    case NL_EMBEDDED_GAUSSIAN:
        return p->scale / p->temperature;
    default:
        return 1 / p->temperature;
    }
}

/* The parameter that β stands for: h of euclidean (τ as given), τ of the others. */
static double width_of(const nl_attention_params *p, double beta)
{
    switch (p->similarity) {
    case NL_EUCLIDEAN:
        return sqrt(1 / (beta * p->temperature));
    case NL_EMBEDDED_GAUSSIAN:
        return p->scale / beta;
    default:
        return 1 / beta;
    }
}

static nl_status share_beta(nl_attention *a, const nl_exec *exec, nl_error *error);

nl_status nl_attention_create(const nl_attention_params *params, const nl_matrix *queries,
                              const nl_matrix *keys, bool same_rows, const nl_exec *exec,
                              nl_attention **attention, nl_error *error)
{
    *attention = NULL;
    same_rows = same_rows || queries == keys;
    nl_status status = check_params(params, same_rows, error);
    if (status == NL_OK)
        status = check_matrix(queries, "queries", error);
    if (status == NL_OK && keys != queries)
        status = check_matrix(keys, "keys", error);
    if (status != NL_OK)
        return status;
    if (queries->cols != keys->cols || (same_rows && queries->rows != keys->rows))
        return nl_fail(error, NL_INVALID, "queries of %zu × %zu do not go with keys of %zu × %zu",
                       queries->rows, queries->cols, keys->rows, keys->cols);

    status = check_range(params, queries, keys, error);
    if (status != NL_OK)
        return status;

    nl_attention *a = nl_alloc(1, sizeof *a);
    if (!a)
        return nl_fail(error, NL_NOMEM, "no memory for the attention of %zu keys", keys->rows);
    a->params = *params;
    a->queries = queries;
    a->n = queries->rows;
    a->m = keys->rows;
    a->d = keys->cols;
    a->beta = fixed_beta(params);
    a->target = -1;
    if (params->perplexity > 0)
        a->target = log(params->perplexity_percent ? params->perplexity * (double)a->m / 100
                                                   : params->perplexity);
    if (params->similarity == NL_COSINE)
        status = prepare_cosine(a, queries, keys, error);
    else
        a->keys = nl_panels_pack(keys);
    if (status == NL_OK && (!a->keys || (params->similarity == NL_EUCLIDEAN && !prepare_omega(a))))
        status =
            nl_fail(error, NL_NOMEM, "no memory for %zu packed keys of %zu features (%.1f MiB)",
                    a->m, a->d, (double)a->m * (double)a->d * 4 / 1048576);
    a->params.omega = NULL;
    if (status == NL_OK && params->perplexity > 0 && params->perplexity_shared)
        status = share_beta(a, exec, error);
    if (status != NL_OK)
        nl_attention_free(&a);
    *attention = a;
    return status;
}

void nl_attention_free(nl_attention **attention)
{
    nl_attention *a = *attention;
    if (!a)
        return;
    nl_matrix_free(&a->normalised);
    nl_free(a->keys);
    nl_free(a->omega);
    nl_free(a);
    *attention = NULL;
}

size_t nl_attention_queries(const nl_attention *attention)
{
    return attention->n;
}

size_t nl_attention_keys(const nl_attention *attention)
{
    return attention->m;
}

/* Raw scores r of `rows` queries from `first` on, before self rule and β. */
static void raw_scores(const nl_attention *a, const nl_kernels *kernels, size_t first, size_t rows,
                       float *r, size_t r_stride)
{
    const float *q = nl_row(a->queries, first);
    const size_t q_stride = a->queries->stride;
    if (a->params.similarity == NL_EUCLIDEAN)
        kernels->sqdist(q, q_stride, rows, a->omega, a->keys, a->m, a->d, r, r_stride);
    else
        kernels->dot(q, q_stride, rows, a->keys, a->m, a->d, r, r_stride);

    for (size_t i = 0; i < rows; i++) {
        float *r_i = r + i * r_stride;
        if (a->params.similarity == NL_COSINE) {
            for (size_t j = 0; j < a->m; j++)
                r_i[j] = r_i[j] > 1 ? 1 : r_i[j] < -1 ? -1 : r_i[j];
        } else if (a->params.similarity == NL_EUCLIDEAN && a->params.sigma > 0) {
            const float noise = (float)(2 * a->params.sigma * a->params.sigma);
            for (size_t j = 0; j < a->m; j++)
                r_i[j] = r_i[j] + noise < 0 ? r_i[j] + noise : 0;
        }
    }
}

/* Replaces r[query] by the rule and gives the row's maximum; false when no key is left. */
static bool apply_self(const nl_attention *a, const nl_kernels *kernels, size_t query, float *r,
                       float *top)
{
    if (a->params.self == NL_SELF_KEEP || a->m == 1) {
        *top = r[0];
        if (a->params.self == NL_SELF_EXCLUDE)
            return false;
        *top = kernels->max(r, a->m);
        return true;
    }
    r[query] = -INFINITY;
    *top = kernels->max(r, a->m);
    if (a->params.self == NL_SELF_MAX)
        r[query] = *top;
    return true;
}

/* Entropy of softmax(t) in nats from the moments of t, all t <= 0. */
static double entropy_of(struct nl_moments sum)
{
    return log(sum.p) - sum.pt / sum.p;
}

/*
 * β with entropy(β) = target. Entropy falls as β grows, so a bracket always exists; Newton steps
 * in ln β (dH/d ln β = −Var(t)) are taken where they stay inside it, halving otherwise.
 */
static double find_beta(const nl_kernels *kernels, const float *r, size_t m, float top,
                        double target, unsigned *notes)
{
    enum { MAX_STEPS = 100 };
    const double tolerance = 1e-6;
    float lowest = top;
    size_t left = 0;
    for (size_t j = 0; j < m; j++) {
        if (r[j] == -INFINITY)
            continue;
        left++;
        lowest = r[j] < lowest ? r[j] : lowest;
    }
    const double span = (double)top - (double)lowest;
    if (!(span > 0)) {
        *notes |= NL_NOTE_UNIFORM;
        return 1e-30;
    }
    if (target >= log((double)left)) {
        *notes |= NL_NOTE_PERPLEXITY_MISS;
        return 1e-6 / span;
    }
    /* Keys nearly as good as the best may need a β far above 1/span to be told apart. */
    double low = log(1e-4 / span), high = fmax(log(1e9 / span), log(1e30)), u = log(5 / span);
    double off = INFINITY;
    for (int step = 0; step < MAX_STEPS && high - low > 1e-9; step++) {
        double beta = exp(u);
        struct nl_moments sum = kernels->moments(r, m, (float)beta, top);
        double entropy = entropy_of(sum), mean = sum.pt / sum.p;
        double variance = sum.ptt / sum.p - mean * mean;
        off = fabs(entropy - target);
        if (off <= tolerance)
            break;
        if (entropy > target)
            low = u;
        else
            high = u;
        double newton = variance > 0 ? u + (entropy - target) / variance : low;
        u = newton > low && newton < high ? newton : (low + high) / 2;
    }
    *notes |= off <= 1e-4 ? NL_NOTE_PERPLEXITY_MET : NL_NOTE_PERPLEXITY_MISS;
    return exp(u);
}

/* β of this row, within what float and the exponential can hold. */
static float row_beta(const nl_attention *a, const nl_kernels *kernels, const float *r, float top,
                      unsigned *notes)
{
    double beta = a->beta;
    if (a->target >= 0 || a->params.perplexity > 0) {
        if (a->params.perplexity_shared)
            *notes |= NL_NOTE_PERPLEXITY_MET;
        else
            beta = find_beta(kernels, r, a->m, top, a->target, notes);
    }
    return (float)fmin(fmax(beta, 1e-30), 1e30);
}

static void fill_figures(const nl_attention *a, const nl_kernels *kernels, const float *r,
                         float beta, float top, nl_row_figures *figures)
{
    struct nl_moments sum = kernels->moments(r, a->m, beta, top);
    figures->entropy = fmax(entropy_of(sum), 0);
    figures->effective = exp(figures->entropy);
    figures->width = width_of(&a->params, (double)beta);
}

/* True when every key that is left has the score `top`. */
static bool all_equal(const float *r, size_t m, float top)
{
    for (size_t j = 0; j < m; j++)
        if (r[j] != top && r[j] != -INFINITY)
            return false;
    return true;
}

/* Scores to weights, in place; figures may be NULL. */
static void weigh(const nl_attention *a, const nl_kernels *kernels, size_t query, float *r,
                  nl_row_figures *figures)
{
    unsigned notes = 0;
    float top;
    if (figures)
        *figures = (nl_row_figures){0};
    if (!apply_self(a, kernels, query, r, &top)) {
        memset(r, 0, a->m * sizeof *r);
        if (figures)
            figures->notes = NL_NOTE_NO_KEYS;
        return;
    }
    float beta = row_beta(a, kernels, r, top, &notes);
    if (figures) {
        notes |= all_equal(r, a->m, top) ? NL_NOTE_UNIFORM : 0;
        fill_figures(a, kernels, r, beta, top, figures);
    }
    double sum = kernels->exp_sum(r, a->m, beta, top);
    kernels->scale(r, a->m, (float)(1 / sum));
    if (!figures)
        return;
    for (size_t j = 0; j < a->m; j++) {
        figures->sum += (double)r[j];
        if (r[j] > figures->largest) {
            figures->largest = r[j];
            figures->largest_at = j;
        }
    }
    if (a->params.similarity == NL_COSINE) {
        const float *q = nl_row(a->queries, query);
        size_t k = 0;
        while (k < a->d && q[k] == 0)
            k++;
        notes |= k == a->d ? NL_NOTE_ZERO_QUERY : 0;
    }
    figures->notes = notes;
}

nl_status nl_attention_row(const nl_attention *attention, size_t query, const nl_exec *exec,
                           float *weights, nl_row_figures *figures, nl_error *error)
{
    if (query >= attention->n)
        return nl_fail(error, NL_INVALID, "query %zu is outside: there are %zu", query + 1,
                       attention->n);
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    if (!kernels)
        return NL_UNSUPPORTED;
    raw_scores(attention, kernels, query, 1, weights, attention->m);
    weigh(attention, kernels, query, weights, figures);
    return NL_OK;
}

/* Rows at a time: as many as the kernels take side by side. */
enum { BLOCK = 4 };

struct rows_loop {
    const nl_attention *attention;
    const nl_kernels *kernels;
    const nl_matrix *values; /* NULL: the weights themselves are wanted */
    nl_matrix *out;
    float *scratch; /* BLOCK rows of m for each worker */
};

static void rows_block(void *context, size_t worker, size_t begin, size_t end)
{
    const struct rows_loop *loop = context;
    const nl_attention *a = loop->attention;
    float *scratch = loop->scratch ? loop->scratch + worker * BLOCK * a->m : NULL;
    for (size_t i = begin; i < end; i += BLOCK) {
        size_t rows = end - i < BLOCK ? end - i : BLOCK;
        float *w = scratch ? scratch : nl_row(loop->out, i);
        size_t w_stride = scratch ? a->m : loop->out->stride;
        raw_scores(a, loop->kernels, i, rows, w, w_stride);
        for (size_t r = 0; r < rows; r++)
            weigh(a, loop->kernels, i + r, w + r * w_stride, NULL);
        if (loop->values)
            loop->kernels->mix(w, w_stride, rows, a->m, loop->values->data, loop->values->stride,
                               loop->values->cols, nl_row(loop->out, i), loop->out->stride);
    }
}

nl_status nl_attention_rows(const nl_attention *attention, const nl_exec *exec, nl_matrix *weights,
                            nl_error *error)
{
    if (weights->rows != attention->n || weights->cols != attention->m)
        return nl_fail(error, NL_INVALID, "the weights are %zu × %zu, not %zu × %zu", attention->n,
                       attention->m, weights->rows, weights->cols);
    struct rows_loop loop = {.attention = attention, .out = weights};
    loop.kernels = nl_exec_kernels(exec, error);
    if (!loop.kernels)
        return NL_UNSUPPORTED;
    return nl_parallel(exec, attention->n, 4 * BLOCK, rows_block, &loop, error);
}

nl_status nl_attention_apply(const nl_attention *attention, const nl_matrix *values,
                             const nl_exec *exec, nl_matrix *y, nl_error *error)
{
    const size_t m = attention->m;
    if (values->rows != m || y->rows != attention->n || y->cols != values->cols)
        return nl_fail(error, NL_INVALID, "values of %zu × %zu do not give an answer of %zu × %zu",
                       values->rows, values->cols, y->rows, y->cols);
    struct rows_loop loop = {.attention = attention, .values = values, .out = y};
    loop.kernels = nl_exec_kernels(exec, error);
    if (!loop.kernels)
        return NL_UNSUPPORTED;
    loop.scratch = nl_alloc(nl_exec_workers(exec) * BLOCK * m, sizeof *loop.scratch);
    if (!loop.scratch)
        return nl_fail(error, NL_NOMEM, "no memory for %d rows of %zu weights a thread", BLOCK, m);
    nl_status status = nl_parallel(exec, attention->n, 4 * BLOCK, rows_block, &loop, error);
    nl_free(loop.scratch);
    return status;
}

static nl_status share_beta(nl_attention *a, const nl_exec *exec, nl_error *error)
{
    enum { SAMPLE = 64 };
    double found[SAMPLE];
    const size_t rows = a->n < SAMPLE ? a->n : SAMPLE;
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    if (!kernels)
        return NL_UNSUPPORTED;
    float *r = nl_alloc(a->m, sizeof *r);
    if (!r)
        return nl_fail(error, NL_NOMEM, "no memory for a row of %zu weights", a->m);
    size_t count = 0;
    for (size_t s = 0; s < rows; s++) {
        float top;
        unsigned notes = 0;
        size_t query = s * a->n / rows;
        raw_scores(a, kernels, query, 1, r, a->m);
        if (!apply_self(a, kernels, query, r, &top))
            continue;
        double beta = find_beta(kernels, r, a->m, top, a->target, &notes);
        size_t at = count++;
        for (; at > 0 && found[at - 1] > beta; at--)
            found[at] = found[at - 1];
        found[at] = beta;
    }
    nl_free(r);
    if (count > 0)
        a->beta = count % 2 ? found[count / 2] : (found[count / 2 - 1] + found[count / 2]) / 2;
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
