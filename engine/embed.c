/* SPDX-License-Identifier: MIT */
#include "nonlocal/embed.h"

#include <math.h>

#include "alloc.h"
#include "eigen.h"
#include "panels.h"
#include "pool.h"
#include "random.h"

const nl_embedding_kind nl_embeddings[NL_EMBED_COUNT + 1] = {
    [NL_EMBED_IDENTITY] = {"identity", "Identity"},
    [NL_EMBED_PCA] = {"pca", "PCA"},
    [NL_EMBED_RANDOM] = {"random", "Random"},
    [NL_EMBED_ZERO] = {"zero", "Zero W"},
};

void nl_embedding_params_init(nl_embedding_params *params)
{
    *params = (nl_embedding_params){.kind = NL_EMBED_IDENTITY, .seed = 1};
}

static void linear_free(nl_linear *map)
{
    nl_matrix_free(&map->weight);
    nl_matrix_free(&map->bias);
}

void nl_embedding_free(nl_embedding *embedding)
{
    linear_free(&embedding->theta);
    linear_free(&embedding->phi);
    linear_free(&embedding->g);
    linear_free(&embedding->w);
    nl_matrix_free(&embedding->concat);
}

static nl_status identity_map(nl_linear *map, size_t d, nl_error *error)
{
    nl_status status = nl_matrix_alloc(&map->weight, d, d, error);
    for (size_t i = 0; status == NL_OK && i < d; i++)
        nl_row(&map->weight, i)[i] = 1;
    return status;
}

static nl_status random_matrix(nl_matrix *matrix, struct nl_random *random, size_t out, size_t in,
                               nl_error *error)
{
    nl_status status = nl_matrix_alloc(matrix, out, in, error);
    for (size_t i = 0; status == NL_OK && i < out; i++)
        for (size_t k = 0; k < in; k++)
            nl_row(matrix, i)[k] = (float)(nl_random_normal(random) / sqrt((double)in));
    return status;
}

static nl_status identity_embedding(nl_embedding *e, size_t d, nl_error *error)
{
    nl_linear *maps[] = {&e->theta, &e->phi, &e->g, &e->w};
    nl_status status = NL_OK;
    for (int i = 0; i < 4 && status == NL_OK; i++)
        status = identity_map(maps[i], d, error);
    return status;
}

static nl_status random_embedding(nl_embedding *e, size_t d, size_t l, size_t lv, uint64_t seed,
                                  bool zero_w, nl_error *error)
{
    struct nl_random random;
    nl_random_seed(&random, seed);
    nl_status status = random_matrix(&e->theta.weight, &random, l, d, error);
    if (status == NL_OK)
        status = random_matrix(&e->phi.weight, &random, l, d, error);
    if (status == NL_OK)
        status = random_matrix(&e->g.weight, &random, lv, d, error);
    if (status == NL_OK)
        status = random_matrix(&e->concat, &random, 1, 2 * l, error);
    if (status == NL_OK)
        status = zero_w ? nl_matrix_alloc(&e->w.weight, d, lv, error)
                        : random_matrix(&e->w.weight, &random, d, lv, error);
    return status;
}

struct covariance_loop {
    const nl_matrix *x;
    const double *mean;
    double *covariance; /* d × d, lower triangle */
};

/* Rows [begin, end) of Σ_i (x_i − μ)(x_i − μ)ᵀ / n, lower triangle, i ascending. */
static void covariance_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct covariance_loop *loop = context;
    const size_t n = loop->x->rows, d = loop->x->cols;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        const float *x_i = nl_row(loop->x, i);
        for (size_t a = begin; a < end; a++) {
            double *row = loop->covariance + a * d;
            double centred = ((double)x_i[a] - loop->mean[a]) / (double)n;
            for (size_t b = 0; b <= a; b++)
                row[b] += centred * ((double)x_i[b] - loop->mean[b]);
        }
    }
}

/* Each row's entry of largest magnitude becomes positive. */
static void fix_signs(double *v, size_t d)
{
    for (size_t r = 0; r < d; r++) {
        double *v_r = v + r * d;
        size_t largest = 0;
        for (size_t k = 1; k < d; k++)
            largest = fabs(v_r[k]) > fabs(v_r[largest]) ? k : largest;
        const double sign = v_r[largest] < 0 ? -1 : 1;
        for (size_t k = 0; k < d; k++)
            v_r[k] *= sign;
    }
}

/* x → V (x − μ) for the leading `count` rows of v. */
static nl_status component_map(nl_linear *map, const double *v, const double *mean, size_t d,
                               size_t count, nl_error *error)
{
    nl_status status = nl_matrix_alloc(&map->weight, count, d, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&map->bias, 1, count, error);
    for (size_t r = 0; status == NL_OK && r < count; r++) {
        const double *v_r = v + r * d;
        double shift = 0;
        for (size_t k = 0; k < d; k++) {
            shift -= v_r[k] * mean[k];
            nl_row(&map->weight, r)[k] = (float)v_r[k];
        }
        map->bias.data[r] = (float)shift;
    }
    return status;
}

/* The way back, h → Vᵀ h + μ. */
static nl_status component_back(nl_linear *map, const double *v, const double *mean, size_t d,
                                size_t count, nl_error *error)
{
    nl_status status = nl_matrix_alloc(&map->weight, d, count, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&map->bias, 1, d, error);
    for (size_t k = 0; status == NL_OK && k < d; k++) {
        map->bias.data[k] = (float)mean[k];
        for (size_t r = 0; r < count; r++)
            nl_row(&map->weight, k)[r] = (float)v[r * d + k];
    }
    return status;
}

static nl_status maps_from_components(nl_embedding *e, const double *v, const double *mean,
                                      size_t d, size_t l, size_t lv, nl_error *error)
{
    nl_status status = component_map(&e->theta, v, mean, d, l, error);
    if (status == NL_OK)
        status = component_map(&e->phi, v, mean, d, l, error);
    if (status == NL_OK)
        status = component_map(&e->g, v, mean, d, lv, error);
    if (status == NL_OK)
        status = component_back(&e->w, v, mean, d, lv, error);
    return status;
}

/* w_f of concat for embeddings that draw nothing else. */
static nl_status random_concat(nl_embedding *e, size_t l, uint64_t seed, nl_error *error)
{
    struct nl_random random;
    nl_random_seed(&random, seed);
    return random_matrix(&e->concat, &random, 1, 2 * l, error);
}

static nl_status pca_embedding(nl_embedding *e, const nl_matrix *x, size_t l, size_t lv,
                               const nl_exec *exec, nl_error *error)
{
    const size_t n = x->rows, d = x->cols;
    if (d > NL_MAX_PCA_DIM)
        return nl_fail(error, NL_LIMIT,
                       "PCA of %zu features is over the limit of %d; take a smaller patch or "
                       "another embedding",
                       d, NL_MAX_PCA_DIM);
    double *mean = nl_alloc(d, sizeof *mean), *values = nl_alloc(d, sizeof *values);
    double *scratch = nl_alloc(2 * d, sizeof *scratch);
    double *covariance = nl_alloc(d * d, sizeof *covariance);
    nl_status status = NL_OK;
    if (!mean || !values || !scratch || !covariance) {
        status = nl_fail(error, NL_NOMEM, "no memory for the covariance of %zu features", d);
        goto done;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            mean[k] += (double)nl_row(x, i)[k];
    for (size_t k = 0; k < d; k++)
        mean[k] /= (double)n;
    struct covariance_loop loop = {x, mean, covariance};
    status = nl_parallel(exec, d, 8, covariance_rows, &loop, error);
    if (status != NL_OK)
        goto done;
    for (size_t a = 0; a < d; a++)
        for (size_t b = 0; b < a; b++)
            covariance[b * d + a] = covariance[a * d + b];
    if (!nl_eigen_symmetric(covariance, d, values, scratch))
        status = nl_fail(error, NL_INVALID, "PCA failed: the features are not all finite");
    else {
        fix_signs(covariance, d);
        status = maps_from_components(e, covariance, mean, d, l, lv, error);
    }
done:
    nl_free(mean);
    nl_free(values);
    nl_free(scratch);
    nl_free(covariance);
    return status;
}

nl_status nl_embedding_create(const nl_embedding_params *params, const nl_matrix *x,
                              const nl_exec *exec, nl_embedding *embedding, nl_error *error)
{
    const size_t d = x->cols;
    *embedding = (nl_embedding){0};
    if (x->rows == 0 || d == 0)
        return nl_fail(error, NL_INVALID, "there are no features to embed");
    const bool identity = params->kind == NL_EMBED_IDENTITY;
    size_t l = params->dim ? params->dim : identity ? d : (d + 1) / 2;
    if (identity && l != d)
        return nl_fail(error, NL_INVALID,
                       "the identity embedding keeps all %zu features; a dimension of %zu needs "
                       "another embedding",
                       d, l);
    const size_t lv = params->value_dim ? params->value_dim : l;
    if (identity && lv != d)
        return nl_fail(error, NL_INVALID, "the identity embedding keeps all %zu features", d);
    if (l > d || lv > d)
        return nl_fail(error, NL_INVALID,
                       "an embedding of %zu dimensions is more than the %zu "
                       "features there are",
                       l > lv ? l : lv, d);
    nl_status status;
    switch (params->kind) {
    case NL_EMBED_IDENTITY:
        status = identity_embedding(embedding, d, error);
        break;
    case NL_EMBED_PCA:
        status = pca_embedding(embedding, x, l, lv, exec, error);
        break;
    case NL_EMBED_RANDOM:
    case NL_EMBED_ZERO:
        status = random_embedding(embedding, d, l, lv, params->seed, params->kind == NL_EMBED_ZERO,
                                  error);
        break;
    default:
        status = nl_fail(error, NL_INVALID, "there is no embedding number %d", (int)params->kind);
        break;
    }
    if (status == NL_OK && embedding->concat.rows == 0)
        status = random_concat(embedding, l, params->seed, error);
    if (status != NL_OK)
        nl_embedding_free(embedding);
    return status;
}

struct linear_loop {
    const nl_kernels *kernels;
    const nl_matrix *x;
    const float *panels;
    const float *bias; /* NULL: 0 */
    nl_matrix *y;
};

static void linear_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct linear_loop *loop = context;
    (void)worker;
    loop->kernels->dot(nl_row(loop->x, begin), loop->x->stride, end - begin, loop->panels,
                       loop->y->cols, loop->x->cols, nl_row(loop->y, begin), loop->y->stride);
    for (size_t i = begin; loop->bias && i < end; i++)
        for (size_t k = 0; k < loop->y->cols; k++)
            nl_row(loop->y, i)[k] += loop->bias[k];
}

nl_status nl_linear_apply_alloc(const nl_linear *map, const nl_matrix *x, const nl_exec *exec,
                                nl_matrix *y, nl_error *error)
{
    *y = (nl_matrix){0};
    if (x->cols != map->weight.cols)
        return nl_fail(error, NL_INVALID, "a map from %zu features does not take %zu",
                       map->weight.cols, x->cols);
    struct linear_loop loop = {nl_exec_kernels(exec, error), x, NULL, map->bias.data, y};
    if (!loop.kernels)
        return NL_UNSUPPORTED;
    nl_status status = nl_matrix_alloc(y, x->rows, map->weight.rows, error);
    if (status != NL_OK)
        return status;
    float *panels = nl_panels_pack(&map->weight);
    loop.panels = panels;
    if (!panels)
        status = nl_fail(error, NL_NOMEM, "no memory for a map of %zu × %zu weights",
                         map->weight.rows, map->weight.cols);
    else
        status = nl_parallel(exec, x->rows, 32, linear_rows, &loop, error);
    nl_free(panels);
    if (status != NL_OK)
        nl_matrix_free(y);
    return status;
}
