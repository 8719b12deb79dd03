/* SPDX-License-Identifier: MIT */
#include "nonlocal/block.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

const nl_convention nl_subsamples[NL_SUBSAMPLE_COUNT + 1] = {
    [NL_SUBSAMPLE_NONE] = {"none", "None"},
    [NL_SUBSAMPLE_PAPER] = {"paper", "After φ and g"},
    [NL_SUBSAMPLE_OFFICIAL] = {"official", "Before φ and g"},
};

const nl_convention nl_layernorms[NL_LAYERNORM_COUNT + 1] = {
    [NL_LAYERNORM_NONE] = {"none", "None"},
    [NL_LAYERNORM_PRE] = {"pre", "Before"},
    [NL_LAYERNORM_POST] = {"post", "After"},
};

void nl_block_params_init(nl_block_params *params, nl_system_id system)
{
    *params = (nl_block_params){.system = system, .heads = 1};
    nl_attention_params_init(&params->attention);
    params->attention.similarity = system == NL_SYSTEM_NLM ? NL_EUCLIDEAN : NL_EMBEDDED_GAUSSIAN;
    if (system == NL_SYSTEM_NLM)
        params->attention.self = NL_SELF_MAX;
    if (system == NL_SYSTEM_SAGAN)
        params->subsample = NL_SUBSAMPLE_PAPER;
    if (system == NL_SYSTEM_TRANSFORMER) {
        params->layernorm = NL_LAYERNORM_POST;
        params->scale_sqrt = true;
    }
}

void nl_trace_free(nl_trace *trace)
{
    nl_matrix *all[] = {&trace->x, &trace->q, &trace->k, &trace->v, &trace->s,
                        &trace->a, &trace->h, &trace->y, &trace->z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        nl_matrix_free(all[i]);
}

nl_status nl_max_pool_alloc(const nl_matrix *x, nl_shape shape, nl_matrix *pooled,
                            nl_shape *pooled_shape, nl_error *error)
{
    const size_t h = shape.h / 2, w = shape.w / 2;
    *pooled = (nl_matrix){0};
    if (h == 0 || w == 0)
        return nl_fail(error, NL_INVALID,
                       "nothing is left of %zu × %zu positions after pooling 2 × 2; switch "
                       "sub-sampling off",
                       shape.h, shape.w);
    nl_status status = nl_matrix_alloc(pooled, shape.t * h * w, x->cols, error);
    *pooled_shape = (nl_shape){shape.t, h, w, x->cols};
    for (size_t j = 0; status == NL_OK && j < pooled->rows; j++) {
        const size_t t = j / (h * w), y = j / w % h, px = j % w;
        const size_t first = (t * shape.h + 2 * y) * shape.w + 2 * px;
        const size_t corners[] = {first, first + 1, first + shape.w, first + shape.w + 1};
        float *out = nl_row(pooled, j);
        memcpy(out, nl_row(x, first), x->cols * sizeof *out);
        for (size_t i = 1; i < 4; i++)
            for (size_t k = 0; k < x->cols; k++)
                out[k] = fmaxf(out[k], nl_row(x, corners[i])[k]);
    }
    return status;
}

void nl_layer_norm(nl_matrix *x, const nl_matrix *weight, const nl_matrix *bias)
{
    const double eps = 1e-5, d = (double)x->cols;
    for (size_t i = 0; i < x->rows; i++) {
        float *x_i = nl_row(x, i);
        double mean = 0, variance = 0;
        for (size_t k = 0; k < x->cols; k++)
            mean += (double)x_i[k] / d;
        for (size_t k = 0; k < x->cols; k++)
            variance += ((double)x_i[k] - mean) * ((double)x_i[k] - mean) / d;
        for (size_t k = 0; k < x->cols; k++) {
            double scaled = ((double)x_i[k] - mean) / sqrt(variance + eps);
            double w = weight && weight->data ? (double)weight->data[k] : 1;
            x_i[k] = (float)(scaled * w + (bias && bias->data ? (double)bias->data[k] : 0));
        }
    }
}

/* One block at work: what its steps share. */
struct run {
    const nl_block_params *params;
    const nl_weights *weights;
    nl_shape shape;
    const nl_exec *exec;
    nl_trace trace; /* s and a only if the caller wants them */
    bool keep_weights;
    nl_error *error;
};

static nl_status check_params(const struct run *run, const nl_matrix *x)
{
    const nl_block_params *p = run->params;
    const nl_shape shape = run->shape;
    if (shape.t * shape.h * shape.w != x->rows || shape.c != x->cols || x->rows == 0)
        return nl_fail(run->error, NL_INVALID,
                       "a map of %zu × %zu × %zu × %zu does not have %zu × %zu numbers", shape.t,
                       shape.h, shape.w, shape.c, x->rows, x->cols);
    if ((unsigned)p->system >= NL_SYSTEM_COUNT || (unsigned)p->subsample >= NL_SUBSAMPLE_COUNT ||
        (unsigned)p->layernorm >= NL_LAYERNORM_COUNT ||
        (unsigned)p->attention.similarity >= NL_SIMILARITY_COUNT)
        return nl_fail(run->error, NL_INVALID, "there is no such system or convention");
    if (p->heads < 1 || (p->heads > 1 && p->system != NL_SYSTEM_TRANSFORMER))
        return nl_fail(run->error, NL_INVALID, "%zu heads: only the transformer has more than one",
                       p->heads);
    if (p->layernorm != NL_LAYERNORM_NONE && p->system != NL_SYSTEM_TRANSFORMER)
        return nl_fail(run->error, NL_INVALID, "LayerNorm belongs to the transformer");
    if (p->subsample != NL_SUBSAMPLE_NONE && p->system != NL_SYSTEM_NONLOCAL &&
        p->system != NL_SYSTEM_SAGAN)
        return nl_fail(run->error, NL_INVALID,
                       "sub-sampling belongs to the non-local block and SAGAN");
    if (p->system == NL_SYSTEM_NLM && nl_similarities[p->attention.similarity].embedded)
        return nl_fail(run->error, NL_INVALID, "non-local means has no embedding: take %s",
                       "gaussian, euclidean or cosine");
    if (p->system != NL_SYSTEM_NLM && !run->weights)
        return nl_fail(run->error, NL_INVALID, "the block needs weights");
    return NL_OK;
}

/* σ that a map's weight is divided by; 1 = none. A zero matrix stays zero. */
static double spectral_divisor(const nl_stored_map *stored, nl_system_id system)
{
    const nl_matrix *m = &stored->map.weight;
    double sigma = 0;
    if (!stored->spectral && system != NL_SYSTEM_SAGAN)
        return 1;
    if (stored->u.data && stored->v.data) {
        for (size_t i = 0; i < m->rows; i++)
            for (size_t k = 0; k < m->cols; k++)
                sigma +=
                    (double)stored->u.data[i] * (double)nl_row(m, i)[k] * (double)stored->v.data[k];
    } else {
        sigma = nl_spectral_norm(m, NULL);
    }
    return sigma != 0 ? sigma : 1;
}

nl_status nl_stored_map_apply_alloc(const nl_stored_map *stored, nl_system_id system,
                                    const nl_matrix *x, const nl_exec *exec, nl_matrix *y,
                                    nl_error *error)
{
    const double sigma = spectral_divisor(stored, system);
    nl_linear map = stored->map;
    nl_matrix divided = {0};
    nl_status status = NL_OK;
    if (isnan(sigma))
        return nl_fail(error, NL_NOMEM, "no memory for a spectral norm");
    if (sigma != 1) {
        status = nl_matrix_copy(&divided, &map.weight, error);
        for (size_t i = 0; status == NL_OK && i < divided.rows; i++)
            for (size_t k = 0; k < divided.cols; k++)
                nl_row(&divided, i)[k] = (float)((double)nl_row(&divided, i)[k] / sigma);
        map.weight = divided;
    }
    if (status == NL_OK)
        status = nl_linear_apply_alloc(&map, x, exec, y, error);
    nl_matrix_free(&divided);
    return status;
}

static nl_status project(const struct run *run, const nl_stored_map *stored, const nl_matrix *x,
                         nl_matrix *y)
{
    return nl_stored_map_apply_alloc(stored, run->params->system, x, run->exec, y, run->error);
}

/* max-pool *x in place. */
static nl_status pool_in_place(const struct run *run, nl_matrix *x)
{
    nl_matrix pooled;
    nl_shape shape;
    nl_status status = nl_max_pool_alloc(x, run->shape, &pooled, &shape, run->error);
    if (status == NL_OK) {
        nl_matrix_free(x);
        *x = pooled;
    }
    return status;
}

/* φ or g of `source` into *out: pooled before (official) or after (paper), or not at all. */
static nl_status project_keys(const struct run *run, const nl_stored_map *stored,
                              const nl_matrix *source, nl_matrix *out)
{
    const nl_subsample subsample = run->params->subsample;
    nl_matrix pooled = {0};
    nl_status status = NL_OK;
    if (subsample == NL_SUBSAMPLE_OFFICIAL) {
        nl_shape shape;
        status = nl_max_pool_alloc(source, run->shape, &pooled, &shape, run->error);
        source = &pooled;
    }
    if (status == NL_OK && stored)
        status = project(run, stored, source, out);
    else if (status == NL_OK)
        status = nl_matrix_copy(out, source, run->error);
    if (status == NL_OK && subsample == NL_SUBSAMPLE_PAPER)
        status = pool_in_place(run, out);
    nl_matrix_free(&pooled);
    return status;
}

/* Q, K and V of `source` (x, or LN(x)). */
static nl_status make_qkv(struct run *run, const nl_matrix *source)
{
    const nl_weights *w = run->weights;
    const bool plain = run->params->system == NL_SYSTEM_NLM;
    const bool embedded = nl_similarities[run->params->attention.similarity].embedded;
    nl_trace *t = &run->trace;
    nl_status status = embedded ? project(run, &w->theta, source, &t->q)
                                : nl_matrix_copy(&t->q, source, run->error);
    if (status == NL_OK)
        status = project_keys(run, embedded ? &w->phi : NULL, source, &t->k);
    if (status == NL_OK)
        status = project_keys(run, plain ? NULL : &w->g, source, &t->v);
    return status;
}

static nl_matrix columns(const nl_matrix *m, size_t first, size_t count)
{
    return nl_matrix_view(m->data + first, m->rows, count, m->stride);
}

static nl_matrix rows(const nl_matrix *m, size_t first, size_t count)
{
    return nl_matrix_view(nl_row(m, first), count, m->cols, m->stride);
}

/* w_f of the head that owns columns first … of θ and φ: what belongs to them. */
static float *head_concat(const struct run *run, size_t first, size_t dq)
{
    const float *w_f = run->weights->concat.data;
    float *own = nl_alloc(2 * dq, sizeof *own);
    if (own) {
        memcpy(own, w_f + first, dq * sizeof *own);
        memcpy(own + dq, w_f + run->trace.q.cols + first, dq * sizeof *own);
    }
    return own;
}

static nl_status run_head(struct run *run, size_t head)
{
    nl_trace *t = &run->trace;
    const size_t heads = run->params->heads, n = t->q.rows;
    const size_t dq = t->q.cols / heads, dv = t->v.cols / heads;
    const nl_matrix q = columns(&t->q, head * dq, dq), k = columns(&t->k, head * dq, dq);
    const nl_matrix v = columns(&t->v, head * dv, dv);
    nl_matrix h = columns(&t->h, head * dv, dv);
    nl_attention *attention = NULL;
    nl_attention_params params = run->params->attention;
    if (run->params->scale_sqrt)
        params.scale = 1 / sqrt((double)dq);
    if (params.omega)
        params.omega += head * dq;
    float *w_f = NULL;
    if (params.similarity == NL_CONCAT) {
        w_f = head_concat(run, head * dq, dq);
        if (!w_f)
            return nl_fail(run->error, NL_NOMEM, "no memory for %zu weights w_f", 2 * dq);
        params.concat = w_f;
    }
    nl_status status =
        nl_attention_create(&params, &q, &k, q.rows == k.rows, run->exec, &attention, run->error);
    if (status == NL_OK)
        status = nl_attention_apply(attention, &v, run->exec, &h, run->error);
    if (status == NL_OK && run->keep_weights) {
        nl_matrix s = rows(&t->s, head * n, n), a = rows(&t->a, head * n, n);
        status = nl_attention_scores(attention, run->exec, &s, run->error);
        if (status == NL_OK)
            status = nl_attention_rows(attention, run->exec, &a, run->error);
    }
    nl_attention_free(&attention);
    nl_free(w_f);
    return status;
}

static nl_status run_heads(struct run *run)
{
    nl_trace *t = &run->trace;
    const size_t heads = run->params->heads, n = t->q.rows, m = t->k.rows;
    if (t->q.cols % heads != 0 || t->v.cols % heads != 0)
        return nl_fail(run->error, NL_INVALID, "%zu features do not divide into %zu heads",
                       t->q.cols, heads);
    if (run->params->attention.similarity == NL_CONCAT &&
        run->weights->concat.cols != 2 * t->q.cols)
        return nl_fail(run->error, NL_INVALID, "concat needs %zu weights w_f, there are %zu",
                       2 * t->q.cols, run->weights->concat.cols);
    nl_status status = nl_matrix_alloc(&t->h, n, t->v.cols, run->error);
    if (status == NL_OK && run->keep_weights) {
        if ((double)heads * (double)n * (double)m > NL_TRACE_MAX)
            return nl_fail(run->error, NL_LIMIT,
                           "S and A of %zu × %zu × %zu numbers are over the limit of %d million "
                           "each; trace a smaller map",
                           heads, n, m, NL_TRACE_MAX / 1000000);
        status = nl_matrix_alloc(&t->s, heads * n, m, run->error);
        if (status == NL_OK)
            status = nl_matrix_alloc(&t->a, heads * n, m, run->error);
    }
    for (size_t head = 0; status == NL_OK && head < heads; head++)
        status = run_head(run, head);
    return status;
}

/* Z from X and Y. Adding 0·y or a zero y leaves x bit for bit. */
static nl_status finish(struct run *run)
{
    nl_trace *t = &run->trace;
    const nl_system_id system = run->params->system;
    const nl_weights *w = run->weights;
    nl_status status = nl_matrix_copy(&t->z, system == NL_SYSTEM_NLM ? &t->y : &t->x, run->error);
    if (status != NL_OK || system == NL_SYSTEM_NLM)
        return status;
    if (t->y.cols != t->z.cols)
        return nl_fail(run->error, NL_INVALID,
                       "the output map gives %zu channels, the input has %zu", t->y.cols,
                       t->z.cols);
    double factor = 1;
    if (system == NL_SYSTEM_SAGAN)
        factor = w->has_gamma ? w->gamma : run->params->gamma;
    for (size_t i = 0; i < t->z.rows; i++) {
        float *z_i = nl_row(&t->z, i);
        const float *y_i = nl_row(&t->y, i);
        for (size_t k = 0; k < t->z.cols; k++)
            z_i[k] = factor == 0 || y_i[k] == 0 ? z_i[k]
                                                : (float)((double)z_i[k] + factor * (double)y_i[k]);
    }
    if (run->params->layernorm == NL_LAYERNORM_POST)
        nl_layer_norm(&t->z, &w->norm_weight, &w->norm_bias);
    return NL_OK;
}

static nl_status run_block(struct run *run, const nl_matrix *x)
{
    nl_trace *t = &run->trace;
    nl_matrix normed = {0};
    const nl_matrix *source = x;
    nl_status status = check_params(run, x);
    if (status == NL_OK)
        status = nl_matrix_copy(&t->x, x, run->error);
    if (status == NL_OK && run->params->layernorm == NL_LAYERNORM_PRE) {
        status = nl_matrix_copy(&normed, x, run->error);
        if (status == NL_OK)
            nl_layer_norm(&normed, &run->weights->norm_weight, &run->weights->norm_bias);
        source = &normed;
    }
    if (status == NL_OK)
        status = make_qkv(run, source);
    if (status == NL_OK)
        status = run_heads(run);
    if (status == NL_OK)
        status = run->params->system == NL_SYSTEM_NLM
                     ? nl_matrix_copy(&t->y, &t->h, run->error)
                     : project(run, &run->weights->w, &t->h, &t->y);
    if (status == NL_OK)
        status = finish(run);
    nl_matrix_free(&normed);
    return status;
}

nl_status nl_block_run_alloc(const nl_block_params *params, const nl_weights *weights,
                             const nl_matrix *x, nl_shape shape, const nl_exec *exec,
                             nl_trace *trace, nl_matrix *z, nl_error *error)
{
    struct run run = {.params = params,
                      .weights = weights,
                      .shape = shape,
                      .exec = exec,
                      .keep_weights = trace != NULL,
                      .error = error};
    *z = (nl_matrix){0};
    if (trace)
        *trace = (nl_trace){0};
    nl_status status = run_block(&run, x);
    if (status == NL_OK)
        status = nl_matrix_copy(z, &run.trace.z, error);
    if (status == NL_OK && trace)
        *trace = run.trace;
    else
        nl_trace_free(&run.trace);
    return status;
}

static void take(nl_stored_map *stored, nl_linear *map)
{
    stored->map = *map;
    *map = (nl_linear){0};
}

size_t nl_default_dim(nl_system_id system, size_t channels)
{
    if (system == NL_SYSTEM_SAGAN)
        return channels / 8 ? channels / 8 : 1;
    return system == NL_SYSTEM_TRANSFORMER ? channels : (channels + 1) / 2;
}

nl_status nl_weights_make(const nl_embedding_params *params, nl_system_id system,
                          const nl_matrix *x, const nl_exec *exec, nl_weights *weights,
                          nl_error *error)
{
    nl_embedding_params wanted = *params;
    nl_embedding maps;
    const size_t c = x->cols;
    *weights = (nl_weights){0};
    if (wanted.dim == 0 && wanted.kind != NL_EMBED_IDENTITY) {
        wanted.dim = nl_default_dim(system, c);
        if (system == NL_SYSTEM_SAGAN && wanted.value_dim == 0)
            wanted.value_dim = c / 2 ? c / 2 : 1;
    }
    nl_status status = nl_embedding_create(&wanted, x, exec, &maps, error);
    if (status != NL_OK)
        return status;
    take(&weights->theta, &maps.theta);
    take(&weights->phi, &maps.phi);
    take(&weights->g, &maps.g);
    take(&weights->w, &maps.w);
    weights->concat = maps.concat;
    maps.concat = (nl_matrix){0};
    nl_embedding_free(&maps);
    return NL_OK;
}
