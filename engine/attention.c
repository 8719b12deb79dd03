/* SPDX-License-Identifier: MIT */
/* Preparing attention: checking, packing, and what can be computed once for all rows. */
#include "attention.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "pool.h"

const nl_similarity nl_similarities[NL_SIMILARITY_COUNT + 1] = {
    [NL_GAUSSIAN] = {"gaussian", "Gaussian", "exp(x_i·x_j / τ)", false, true, NL_NORMALIZE_SUM, 1},
    [NL_EMBEDDED_GAUSSIAN] = {"embedded-gaussian", "Embedded Gaussian",
                              "exp(scale · θ(x_i)·φ(x_j) / τ)", true, true, NL_NORMALIZE_SUM, 1},
    [NL_EUCLIDEAN] = {"euclidean", "Euclidean", "exp(−max(δ_ij − 2σ², 0) / (h² τ))", false, true,
                      NL_NORMALIZE_SUM, 1},
    [NL_COSINE] = {"cosine", "Cosine", "exp(cos(x_i, x_j) / τ)", false, true, NL_NORMALIZE_SUM,
                   0.1},
    [NL_DOT] = {"dot", "Dot product", "scale · θ(x_i)·φ(x_j)", true, false, NL_NORMALIZE_COUNT, 0},
    [NL_CONCAT] = {"concat", "Concatenation", "ReLU(w_f·[θ(x_i), φ(x_j)])", true, false,
                   NL_NORMALIZE_COUNT, 0},
};

void nl_attention_params_init(nl_attention_params *params)
{
    *params = (nl_attention_params){
        .similarity = NL_GAUSSIAN, .temperature = 1, .scale = 1, .h = 0.1, .self = NL_SELF_KEEP};
}

static nl_status check_positive(double value, const char *what, nl_error *error)
{
    if (value > 0 && isfinite(value))
        return NL_OK;
    return nl_fail(error, NL_INVALID, "the %s is %g, it must be above 0", what, value);
}

static nl_status check_not_negative(double value, const char *what, nl_error *error)
{
    if (value >= 0 && isfinite(value))
        return NL_OK;
    return nl_fail(error, NL_INVALID, "the %s is %g, it must be 0 or more", what, value);
}

static nl_status check_numbers(const nl_attention_params *p, nl_error *error)
{
    nl_status status = check_positive(p->temperature, "temperature", error);
    if (status == NL_OK)
        status = check_positive(p->scale, "scale", error);
    if (status == NL_OK)
        status = check_positive(p->h, "filter width h", error);
    if (status == NL_OK)
        status = check_not_negative(p->sigma, "noise sigma", error);
    if (status == NL_OK)
        status = check_not_negative(p->lambda, "lambda", error);
    if (status == NL_OK)
        status = check_not_negative(p->perplexity, "perplexity", error);
    return status;
}

static nl_status check_params(const nl_attention_params *p, const nl_matrix *queries,
                              bool same_rows, nl_error *error)
{
    if ((unsigned)p->similarity >= NL_SIMILARITY_COUNT)
        return nl_fail(error, NL_INVALID, "there is no similarity number %d", (int)p->similarity);
    if ((unsigned)p->normalizer >= NL_NORMALIZE_KINDS)
        return nl_fail(error, NL_INVALID, "there is no normaliser number %d", (int)p->normalizer);
    nl_status status = check_numbers(p, error);
    if (status != NL_OK)
        return status;
    const nl_similarity *similarity = &nl_similarities[p->similarity];
    if (p->self != NL_SELF_KEEP && !same_rows)
        return nl_fail(error, NL_INVALID,
                       "a rule for the query's own weight needs queries and keys to be the same "
                       "positions");
    if (p->perplexity > 0 && (!similarity->exponential || p->normalizer != NL_NORMALIZE_SUM))
        return nl_fail(error, NL_INVALID,
                       "a perplexity needs an exponential similarity over its sum");
    if (p->lambda > 0 && p->similarity != NL_GAUSSIAN && p->similarity != NL_EMBEDDED_GAUSSIAN)
        return nl_fail(error, NL_INVALID, "lambda is for gaussian and embedded-gaussian alone");
    if (p->similarity == NL_CONCAT && !p->concat)
        return nl_fail(error, NL_INVALID, "concat needs the weights w_f");
    if (p->search > 0 &&
        (p->search % 2 == 0 || !same_rows || p->grid_width == 0 || p->grid_height == 0 ||
         queries->rows % (p->grid_width * p->grid_height) != 0))
        return nl_fail(error, NL_INVALID,
                       "a search window of %zu needs an odd side and a grid of the same rows",
                       p->search);
    return NL_OK;
}

/* Numbers that a thread looks at or packs at once: some tenths of a millisecond. */
enum { PIECE = 1 << 18 };

static size_t rows_of_piece(const nl_matrix *matrix)
{
    const size_t rows = PIECE / matrix->cols / NL_LANES * NL_LANES;
    return rows ? rows : NL_LANES;
}

/* Preparing is quick beside what follows: it reports no progress of its own. */
static nl_status prepare_rows(const nl_exec *exec, const nl_matrix *rows, nl_block_fn piece,
                              void *context, nl_error *error)
{
    nl_exec quiet = *exec;
    quiet.progress = NULL;
    return nl_parallel(&quiet, rows->rows, rows_of_piece(rows), piece, context, error);
}

struct largest_loop {
    const nl_kernels *kernels;
    const nl_matrix *matrix;
    _Atomic int32_t largest; /* floats >= 0 are ordered as their bits are, NaN above all */
};

static void largest_of_rows(void *context, size_t worker, size_t begin, size_t end)
{
    struct largest_loop *loop = context;
    const float size = fabsf(nl_rows_largest(loop->kernels, loop->matrix, begin, end));
    int32_t bits, known = atomic_load(&loop->largest);
    (void)worker;
    memcpy(&bits, &size, sizeof bits);
    while (bits > known && !atomic_compare_exchange_weak(&loop->largest, &known, bits))
        continue;
}

/* The largest magnitude of a matrix to *largest; an error names the first that is not finite. */
static nl_status check_matrix(const nl_kernels *kernels, const nl_exec *exec,
                              const nl_matrix *matrix, const char *what, double *largest,
                              nl_error *error)
{
    struct largest_loop loop = {.kernels = kernels, .matrix = matrix};
    size_t row, col;
    float size;
    if (matrix->rows == 0 || matrix->cols == 0)
        return nl_fail(error, NL_INVALID, "there are no %s (%zu × %zu)", what, matrix->rows,
                       matrix->cols);
    nl_status status = prepare_rows(exec, matrix, largest_of_rows, &loop, error);
    const int32_t bits = atomic_load(&loop.largest);
    memcpy(&size, &bits, sizeof size);
    *largest = (double)size;
    if (status == NL_OK && isnan(size) && !nl_matrix_finite(matrix, &row, &col))
        return nl_fail(error, NL_INVALID, "feature %zu of row %zu of the %s is not a finite number",
                       col + 1, row + 1, what);
    return status;
}

/* The sum of `count` weights; −1 with an error when one of them is not usable. */
static double sum_of_weights(const float *w, size_t count, bool may_be_negative, nl_error *error)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(w[k]) || (w[k] < 0 && !may_be_negative)) {
            nl_fail(error, NL_INVALID, "the weight of feature %zu is %g, it must be %s", k + 1,
                    (double)w[k], may_be_negative ? "finite" : "0 or more");
            return -1;
        }
        sum += fabs((double)w[k]);
    }
    return sum;
}

/* Finite features must give finite scores in float; *reach bounds their magnitude. */
static nl_status check_range(const nl_attention_params *p, size_t d, double q, double k,
                             double *reach, nl_error *error)
{
    double weights = 1, score;
    if (p->similarity == NL_EUCLIDEAN && p->omega)
        weights = sum_of_weights(p->omega, d, false, error);
    else if (p->similarity == NL_CONCAT)
        weights = sum_of_weights(p->concat, 2 * d, true, error);
    if (weights < 0)
        return NL_INVALID;
    *reach = 1;
    if (p->similarity == NL_COSINE)
        return NL_OK;
    if (p->similarity == NL_EUCLIDEAN)
        score = q + k > 1e19 ? INFINITY : weights * (q + k) * (q + k);
    else if (p->similarity == NL_CONCAT)
        score = weights * fmax(q, k);
    else
        score = (double)d * k * (q + p->lambda * k) * (p->similarity == NL_DOT ? p->scale : 1);
    if (score > (double)FLT_MAX / 2)
        return nl_fail(error, NL_INVALID,
                       "features as large as %g give scores beyond the range of numbers; divide "
                       "them by a constant first",
                       fmax(q, k));
    *reach = score;
    return NL_OK;
}

static nl_status check_all(const nl_attention_params *params, const nl_kernels *kernels,
                           const nl_exec *exec, const nl_matrix *queries, const nl_matrix *keys,
                           bool same_rows, double *reach, nl_error *error)
{
    double q = 0, k = 0;
    nl_status status = check_params(params, queries, same_rows, error);
    if (status == NL_OK)
        status = check_matrix(kernels, exec, queries, "queries", &q, error);
    if (status == NL_OK && keys != queries)
        status = check_matrix(kernels, exec, keys, "keys", &k, error);
    else
        k = q;
    if (status == NL_OK &&
        (queries->cols != keys->cols || (same_rows && queries->rows != keys->rows)))
        status = nl_fail(error, NL_INVALID, "queries of %zu × %zu do not go with keys of %zu × %zu",
                         queries->rows, queries->cols, keys->rows, keys->cols);
    return status == NL_OK ? check_range(params, keys->cols, q, k, reach, error) : status;
}

static double dot(const float *a, const float *b, size_t d)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

struct unit_loop {
    const nl_matrix *source;
    nl_matrix *unit;
};

static void unit_piece(void *context, size_t worker, size_t begin, size_t end)
{
    const struct unit_loop *loop = context;
    const size_t d = loop->source->cols;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const float *x_i = nl_row(loop->source, i);
        float *unit_i = nl_row(loop->unit, i);
        double squares = dot(x_i, x_i, d);
        double inverse = squares > 0 ? 1 / sqrt(squares) : 0;
        for (size_t k = 0; k < d; k++)
            unit_i[k] = (float)((double)x_i[k] * inverse);
    }
}

/* Rows of length 1; a zero row stays zero, so that its cosines are 0. */
static nl_status unit_rows(nl_matrix *unit, const nl_matrix *source, const nl_exec *exec,
                           nl_error *error)
{
    struct unit_loop loop = {source, unit};
    nl_status status = nl_matrix_alloc(unit, source->rows, source->cols, error);
    return status == NL_OK ? prepare_rows(exec, source, unit_piece, &loop, error) : status;
}

struct pack_loop {
    const nl_kernels *kernels;
    const nl_matrix *keys;
    float *panels;
};

/* Rows [begin, end); all but the last piece are whole panels. */
static void pack_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct pack_loop *loop = context;
    const nl_matrix *keys = loop->keys;
    (void)worker;
    loop->kernels->pack(nl_row(keys, begin), keys->stride, end - begin, keys->cols,
                        loop->panels + begin * keys->cols);
}

static nl_status pack_keys(nl_attention *a, const nl_kernels *kernels, const nl_exec *exec,
                           const nl_matrix *keys, nl_error *error)
{
    a->keys = nl_alloc_dirty(nl_panels_size(keys->rows, keys->cols), sizeof *a->keys);
    if (!a->keys)
        return nl_fail(error, NL_NOMEM, "no memory for %zu packed keys of %zu features (%.1f MiB)",
                       keys->rows, keys->cols,
                       (double)keys->rows * (double)keys->cols * 4 / 1048576);
    struct pack_loop loop = {kernels, keys, a->keys};
    return prepare_rows(exec, keys, pack_rows, &loop, error);
}

static nl_status prepare_cosine(nl_attention *a, const nl_kernels *kernels, const nl_exec *exec,
                                const nl_matrix *queries, const nl_matrix *keys, nl_error *error)
{
    nl_matrix unit = {0};
    nl_status status = unit_rows(&a->normalised, queries, exec, error);
    a->queries = &a->normalised;
    if (status == NL_OK && keys != queries)
        status = unit_rows(&unit, keys, exec, error);
    if (status == NL_OK)
        status = pack_keys(a, kernels, exec, keys == queries ? &a->normalised : &unit, error);
    nl_matrix_free(&unit);
    return status;
}

/* out[i] = factor · w·x_i, or factor · x_i·x_i without w. */
struct dot_loop {
    const nl_matrix *rows;
    const float *w;
    double factor;
    float *out;
};

static void dot_piece(void *context, size_t worker, size_t begin, size_t end)
{
    const struct dot_loop *loop = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const float *x_i = nl_row(loop->rows, i);
        loop->out[i] = (float)(loop->factor * dot(loop->w ? loop->w : x_i, x_i, loop->rows->cols));
    }
}

/* The numbers of a loop's rows, in memory of their own. */
static nl_status dots_alloc(struct dot_loop *loop, const nl_exec *exec, float **out,
                            nl_error *error)
{
    loop->out = *out = nl_alloc(loop->rows->rows, sizeof **out);
    if (!*out)
        return nl_fail(error, NL_NOMEM, "no memory for %zu numbers", loop->rows->rows);
    return prepare_rows(exec, loop->rows, dot_piece, loop, error);
}

/* λ‖k_j‖²/2; the scale that the dot product gets from β comes with it. */
static nl_status prepare_lambda(nl_attention *a, const nl_exec *exec, const nl_matrix *keys,
                                nl_error *error)
{
    struct dot_loop loop = {.rows = keys, .factor = a->params.lambda / 2};
    return dots_alloc(&loop, exec, &a->key_shift, error);
}

static nl_status prepare_concat(nl_attention *a, const nl_exec *exec, const nl_matrix *queries,
                                const nl_matrix *keys, const float *w_f, nl_error *error)
{
    struct dot_loop of_queries = {.rows = queries, .w = w_f, .factor = 1};
    struct dot_loop of_keys = {.rows = keys, .w = w_f + a->d, .factor = 1};
    a->concat = nl_alloc(2 * a->d, sizeof *a->concat);
    if (!a->concat)
        return nl_fail(error, NL_NOMEM, "no memory for %zu weights w_f", 2 * a->d);
    memcpy(a->concat, w_f, 2 * a->d * sizeof *w_f);
    nl_status status = nl_matrix_copy(&a->concat_keys, keys, error);
    if (status == NL_OK)
        status = dots_alloc(&of_queries, exec, &a->query_part, error);
    if (status == NL_OK)
        status = dots_alloc(&of_keys, exec, &a->key_part, error);
    return status;
}

/* −ω, or −1/d each. */
static nl_status prepare_omega(nl_attention *a, const float *omega, nl_error *error)
{
    a->omega = nl_alloc(a->d, sizeof *a->omega);
    if (!a->omega)
        return nl_fail(error, NL_NOMEM, "no memory for %zu weights", a->d);
    for (size_t k = 0; k < a->d; k++)
        a->omega[k] = omega ? -omega[k] : (float)(-1.0 / (double)a->d);
    return NL_OK;
}

static nl_status prepare(nl_attention *a, const nl_kernels *kernels, const nl_exec *exec,
                         const nl_attention_params *params, const nl_matrix *queries,
                         const nl_matrix *keys, nl_error *error)
{
    nl_status status;
    if (params->similarity == NL_COSINE)
        status = prepare_cosine(a, kernels, exec, queries, keys, error);
    else if (params->similarity == NL_CONCAT)
        status = prepare_concat(a, exec, queries, keys, params->concat, error);
    else
        status = pack_keys(a, kernels, exec, keys, error);
    if (status == NL_OK && params->similarity == NL_EUCLIDEAN)
        status = prepare_omega(a, params->omega, error);
    if (status == NL_OK && params->lambda > 0)
        status = prepare_lambda(a, exec, keys, error);
    return status;
}

static double fixed_beta(const nl_attention_params *p)
{
    switch (p->similarity) {
    case NL_EUCLIDEAN:
        return 1 / (p->h * p->h * p->temperature);
    case NL_EMBEDDED_GAUSSIAN:
        return p->scale / p->temperature;
    case NL_DOT:
        return p->scale;
    case NL_CONCAT:
        return 1;
    default:
        return 1 / p->temperature;
    }
}

/* One β for all rows: the median of those found for rows spread evenly. */
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
    a->params.perplexity_shared = false; /* until it is found, rows find their own */
    for (size_t s = 0; s < rows; s++) {
        struct nl_row_rule rule;
        size_t query = s * a->n / rows;
        nl_raw_scores(a, kernels, query, 1, r, a->m);
        if (!nl_row_prepare(a, kernels, query, r, &rule))
            continue;
        size_t at = count++;
        for (; at > 0 && found[at - 1] > (double)rule.beta; at--)
            found[at] = found[at - 1];
        found[at] = (double)rule.beta;
    }
    a->params.perplexity_shared = true;
    nl_free(r);
    if (count > 0)
        a->beta = count % 2 ? found[count / 2] : (found[count / 2 - 1] + found[count / 2]) / 2;
    return NL_OK;
}

nl_status nl_attention_create(const nl_attention_params *params, const nl_matrix *queries,
                              const nl_matrix *keys, bool same_rows, const nl_exec *exec,
                              nl_attention **attention, nl_error *error)
{
    *attention = NULL;
    same_rows = same_rows || queries == keys;
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    if (!kernels)
        return NL_UNSUPPORTED;
    double reach;
    nl_status status = check_all(params, kernels, exec, queries, keys, same_rows, &reach, error);
    if (status != NL_OK)
        return status;
    nl_attention *a = nl_alloc(1, sizeof *a);
    if (!a)
        return nl_fail(error, NL_NOMEM, "no memory for the attention of %zu keys", keys->rows);
    a->params = *params;
    a->params.omega = a->params.concat = NULL;
    a->same_rows = same_rows;
    a->queries = queries;
    a->n = queries->rows;
    a->m = keys->rows;
    a->d = keys->cols;
    a->reach = reach;
    a->beta = fixed_beta(params);
    if (params->perplexity > 0)
        a->target = log(params->perplexity_percent ? params->perplexity * (double)a->m / 100
                                                   : params->perplexity);
    status = prepare(a, kernels, exec, params, queries, keys, error);
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
    nl_free(a->key_shift);
    nl_free(a->concat);
    nl_matrix_free(&a->concat_keys);
    nl_free(a->query_part);
    nl_free(a->key_part);
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
