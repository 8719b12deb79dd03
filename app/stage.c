/* SPDX-License-Identifier: MIT */
#include "stage.h"

#include <math.h>

#include "file.h"

void stage_features_params(const struct doc *doc, nl_features_params *params)
{
    *params = (nl_features_params){
        .kind = (nl_feature_id)param_choice(doc, PARAM_FEATURES),
        .patch = (size_t)param_number(doc, PARAM_PATCH),
        .stride = (size_t)param_number(doc, PARAM_STRIDE),
        .norm = (nl_norm_id)param_choice(doc, PARAM_FEATURE_NORM),
        .position = param_number(doc, PARAM_POSITION),
    };
}

bool stage_scales_by_root(const struct doc *doc)
{
    return param_choice(doc, PARAM_SYSTEM) == NL_SYSTEM_TRANSFORMER ||
           param_choice(doc, PARAM_SCALE) == 1;
}

void stage_attention_params(const struct doc *doc, size_t l, nl_attention_params *params)
{
    const struct param_value perplexity = doc->params[PARAM_PERPLEXITY];
    const int similarity = param_choice(doc, PARAM_SIMILARITY);
    nl_attention_params_init(params);
    params->similarity = (nl_similarity_id)similarity;
    params->normalizer = (nl_normalizer)param_choice(doc, PARAM_NORMALIZE);
    if (nl_similarities[similarity].exponential) {
        params->temperature = param_number(doc, PARAM_TEMPERATURE);
        /* over the count no width can be found: the panel hides it, the command line refuses it */
        params->perplexity = params->normalizer == NL_NORMALIZE_SUM ? perplexity.number : 0;
        params->perplexity_percent = perplexity.percent;
        params->perplexity_shared = param_choice(doc, PARAM_PERPLEXITY_PER) == 1;
    }
    params->scale = stage_scales_by_root(doc) ? 1 / sqrt((double)l) : 1;
    if (similarity == NL_GAUSSIAN || similarity == NL_EMBEDDED_GAUSSIAN)
        params->lambda = param_number(doc, PARAM_LAMBDA);
    params->h = param_number(doc, PARAM_H);
    params->sigma = param_number(doc, PARAM_SIGMA);
    params->self = (nl_self)param_choice(doc, PARAM_SELF);
    params->search = (size_t)param_number(doc, PARAM_SEARCH);
}

/* The columns of a table that are features. */
static nl_status used_columns(const struct doc *doc, const nl_matrix *values, nl_matrix *x,
                              nl_error *error)
{
    size_t used = 0;
    for (size_t k = 0; k < values->cols; k++)
        used += doc->ready || doc_uses_column(doc, k);
    if (used == 0)
        return nl_fail(error, NL_INVALID, "no column is chosen; features need at least one");
    nl_status status = nl_matrix_alloc(x, values->rows, used, error);
    for (size_t i = 0; status == NL_OK && i < values->rows; i++) {
        float *to = nl_row(x, i);
        for (size_t k = 0; k < values->cols; k++)
            if (doc->ready || doc_uses_column(doc, k))
                *to++ = nl_row(values, i)[k];
    }
    return status;
}

/* Tables and arrays: the numbers as they are, on a grid, with the row scaling. */
static nl_status numbers(const struct doc *doc, const struct source *source,
                         struct stage_features *features, nl_error *error)
{
    static const nl_norm_id scaling[] = {NL_NORM_NONE, NL_NORM_ZSCORE, NL_NORM_UNIT};
    nl_status status;
    if (source->kind == SOURCE_TABLE) {
        status = used_columns(doc, &source->table.values, &features->x, error);
    } else {
        const nl_npy *npy = &source->npy;
        size_t d = npy->shape[npy->ndim - 1];
        nl_matrix view = nl_matrix_view(npy->data, npy->count / d, d, d);
        status = nl_matrix_copy(&features->x, &view, error);
    }
    if (status != NL_OK)
        return status;
    const size_t *shape = source->npy.shape, ndim = source->npy.ndim;
    features->grid = (nl_grid){.gw = features->x.rows, .gh = 1, .patch = 1, .stride = 1};
    if (source->kind == SOURCE_ARRAY && ndim > 2) {
        features->frames = ndim == 4 ? shape[0] : 1;
        features->grid.gw = shape[ndim - 2];
        features->grid.gh = features->x.rows / shape[ndim - 2];
    }
    features->grid.width = features->grid.gw;
    features->grid.height = features->grid.gh;
    if (!doc->ready)
        features->constant_columns =
            nl_normalize(&features->x, scaling[param_choice(doc, PARAM_ROWS)]);
    return NL_OK;
}

nl_status stage_features_run(const struct doc *doc, const struct source *source,
                             const nl_exec *exec, struct stage_features *features, nl_error *error)
{
    nl_status status;
    *features = (struct stage_features){.frames = 1};
    if (source->kind == SOURCE_PICTURE) {
        nl_features_params params;
        stage_features_params(doc, &params);
        status = nl_picture_from_bitmap(&source->bitmap, (size_t)param_number(doc, PARAM_MAX_SIDE),
                                        &features->picture, error);
        if (status == NL_OK) {
            features->grid = nl_grid_of(&features->picture, &params);
            status = nl_features_alloc(&features->picture, &params, exec, &features->x,
                                       &features->constant_columns, error);
        }
    } else {
        status = numbers(doc, source, features, error);
    }
    if (status != NL_OK)
        stage_features_free(features);
    return status;
}

void stage_features_free(struct stage_features *features)
{
    nl_picture_free(&features->picture);
    nl_matrix_free(&features->x);
    *features = (struct stage_features){0};
}

nl_status stage_weights_load(const char *path, nl_system_id system, size_t channels,
                             nl_similarity_id similarity, nl_weights *weights, nl_error *error)
{
    struct file file = {0};
    nl_tensors tensors = {0};
    nl_error inner = {0};
    *weights = (nl_weights){0};
    nl_status status = file_read(path, &file, error);
    if (status != NL_OK)
        return status;
    status = nl_tensors_load(file.bytes, file.size, &tensors, &inner);
    if (status == NL_OK)
        status = nl_weights_pick(&tensors, system, channels, similarity, weights, &inner);
    nl_tensors_free(&tensors);
    file_free(&file);
    return status == NL_OK ? NL_OK : nl_fail(error, status, "%s: %s", path, inner.message);
}

/* θ, φ and w_f from the document's file of weights, or made for x. */
static nl_status get_maps(const struct doc *doc, const nl_matrix *x, const nl_exec *exec,
                          nl_weights *maps, nl_error *error)
{
    const nl_system_id system = (nl_system_id)param_choice(doc, PARAM_SYSTEM);
    if (doc->weights[0])
        return stage_weights_load(doc->weights, system, x->cols,
                                  (nl_similarity_id)param_choice(doc, PARAM_SIMILARITY), maps,
                                  error);
    const nl_embedding_id kind = (nl_embedding_id)param_choice(doc, PARAM_EMBED);
    const nl_embedding_params params = {
        .kind = kind, /* identity: one chosen for another embedding waits for its return */
        .dim = kind == NL_EMBED_IDENTITY ? 0 : (size_t)param_number(doc, PARAM_DIM),
        .seed = (uint64_t)param_number(doc, PARAM_SEED),
    };
    return nl_weights_make(&params, system, x, exec, maps, error);
}

static nl_shape shape_of(const struct stage_features *features)
{
    return (nl_shape){features->frames, features->grid.gh / features->frames, features->grid.gw,
                      features->x.cols};
}

/* The convention by which keys are pooled; rows without a grid have no neighbourhoods to pool. */
static nl_subsample subsample_of(const struct doc *doc, const struct stage_features *features)
{
    const int system = param_choice(doc, PARAM_SYSTEM);
    const bool rows = features->grid.gh == 1 && features->picture.width == 0;
    if (rows || (system != NL_SYSTEM_NONLOCAL && system != NL_SYSTEM_SAGAN))
        return NL_SUBSAMPLE_NONE;
    return (nl_subsample)param_choice(doc, PARAM_SUBSAMPLE);
}

/* The grid of pooled keys: cells twice as large, an odd last one dropped. */
static void coarsen(struct stage_features *keys)
{
    keys->grid.gh = keys->grid.gh / keys->frames / 2 * keys->frames;
    keys->grid.gw /= 2;
    keys->grid.stride *= 2;
    keys->grid.patch += keys->grid.stride / 2;
}

/* φ(x), pooled before or after. */
static nl_status embed_keys(const struct doc *doc, const nl_weights *maps,
                            const struct stage_features *source, const nl_exec *exec,
                            nl_matrix *keys, nl_error *error)
{
    const nl_system_id system = (nl_system_id)param_choice(doc, PARAM_SYSTEM);
    const nl_subsample subsample = subsample_of(doc, source);
    const nl_matrix *x = &source->x;
    nl_matrix pooled = {0}, projected = {0};
    nl_shape shape;
    nl_status status = NL_OK;
    if (subsample == NL_SUBSAMPLE_OFFICIAL) {
        status = nl_max_pool_alloc(x, shape_of(source), &pooled, &shape, error);
        x = &pooled;
    }
    if (status == NL_OK)
        status = nl_stored_map_apply_alloc(&maps->phi, system, x, exec, &projected, error);
    if (status == NL_OK && subsample == NL_SUBSAMPLE_PAPER) {
        status = nl_max_pool_alloc(&projected, shape_of(source), keys, &shape, error);
        nl_matrix_free(&projected);
    } else {
        *keys = projected;
    }
    nl_matrix_free(&pooled);
    return status;
}

/* θ of the queries, φ of the source. */
static nl_status embed(const struct doc *doc, const nl_matrix *queries,
                       const struct stage_features *source, const nl_exec *exec,
                       struct stage_attention *attention, nl_weights *maps, nl_error *error)
{
    const nl_system_id system = (nl_system_id)param_choice(doc, PARAM_SYSTEM);
    nl_status status = get_maps(doc, &source->x, exec, maps, error);
    if (status == NL_OK)
        status = nl_stored_map_apply_alloc(&maps->theta, system, queries, exec, &attention->theta,
                                           error);
    if (status == NL_OK)
        status = embed_keys(doc, maps, source, exec, &attention->phi, error);
    return status;
}

/*
 * ω of patches, a Gaussian around their centre; empty where the document has it flat. Appended
 * position keeps its 1/d, so that ω sums to 1 and becomes flat as the Gaussian widens.
 */
static nl_status patch_weights(const struct doc *doc, const struct stage_features *features,
                               nl_matrix *omega, nl_error *error)
{
    char reason[120];
    const double a = doc->patch_gaussian;
    const size_t p = features->grid.patch, d = features->x.cols;
    const size_t channels = param_choice(doc, PARAM_FEATURES) == NL_FEATURE_LUMA ? 1 : 3;
    const size_t used = channels * p * p; /* the rest is position */
    double sum = 0;
    if (a == 0 || features->picture.width == 0 ||
        patch_weight_idle(doc, SOURCE_PICTURE, reason, sizeof reason))
        return NL_OK;
    nl_status status = nl_matrix_alloc(omega, 1, d, error);
    if (status != NL_OK)
        return status;
    const double nearest = p % 2 ? 0 : 0.5; /* squared distance of the middle pixels */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < used; k++) {
            const double dy = (double)(k / channels / p) - (double)(p - 1) / 2;
            const double dx = (double)(k / channels % p) - (double)(p - 1) / 2;
            const double weight = exp(-(dx * dx + dy * dy - nearest) / (2 * a * a));
            if (pass == 0)
                sum += weight;
            else
                omega->data[k] = (float)(weight / sum * (double)used / (double)d);
        }
    }
    for (size_t k = used; k < d; k++)
        omega->data[k] = (float)(1 / (double)d);
    return NL_OK;
}

nl_status stage_attention_between(const struct doc *doc, const nl_matrix *queries,
                                  const struct stage_features *source, bool same_rows,
                                  const nl_exec *exec, struct stage_attention *attention,
                                  nl_error *error)
{
    const bool embedded = nl_similarities[param_choice(doc, PARAM_SIMILARITY)].embedded;
    const bool pool = subsample_of(doc, source) != NL_SUBSAMPLE_NONE;
    const nl_matrix *keys = &source->x;
    nl_attention_params params;
    nl_weights maps = {0};
    nl_matrix omega = {0};
    nl_status status = NL_OK;
    *attention = (struct stage_attention){.keys = *source, .pooled_keys = pool};
    attention->keys.x = (nl_matrix){0};
    if (pool)
        coarsen(&attention->keys);
    if (embedded) {
        status = embed(doc, queries, source, exec, attention, &maps, error);
        queries = &attention->theta;
        keys = &attention->phi;
    } else if (pool) {
        nl_shape shape;
        status = nl_max_pool_alloc(keys, shape_of(source), &attention->pooled, &shape, error);
        keys = &attention->pooled;
    }
    attention->embedded = queries->cols;
    stage_attention_params(doc, queries->cols, &params);
    params.concat = maps.concat.data;
    params.grid_width = source->grid.gw;
    params.grid_height = source->grid.gh / source->frames;
    if (pool || !same_rows) {
        params.self = NL_SELF_KEEP; /* no key is a query's own */
        params.search = 0;
    }
    if (status == NL_OK)
        status = patch_weights(doc, source, &omega, error);
    params.omega = omega.data;
    if (status == NL_OK)
        status = nl_attention_create(&params, queries, keys, same_rows && !pool, exec,
                                     &attention->attention, error);
    nl_matrix_free(&omega);
    nl_weights_free(&maps);
    if (status != NL_OK)
        stage_attention_free(attention);
    return status;
}

nl_status stage_attention_run(const struct doc *doc, const struct stage_features *features,
                              const nl_exec *exec, struct stage_attention *attention,
                              nl_error *error)
{
    return stage_attention_between(doc, &features->x, features, true, exec, attention, error);
}

void stage_attention_free(struct stage_attention *attention)
{
    nl_attention_free(&attention->attention);
    nl_matrix_free(&attention->theta);
    nl_matrix_free(&attention->phi);
    nl_matrix_free(&attention->pooled);
    *attention = (struct stage_attention){0};
}

nl_status stage_values_alloc(const struct doc *doc, const struct stage_features *features,
                             const nl_exec *exec, nl_matrix *values, nl_error *error)
{
    nl_matrix whole = {0};
    nl_status status;
    if (features->picture.width > 0)
        status = nl_patches_alloc(&features->picture, &features->grid, exec, &whole, error);
    else
        status = nl_matrix_copy(&whole, &features->x, error);
    if (status != NL_OK || subsample_of(doc, features) == NL_SUBSAMPLE_NONE) {
        *values = whole;
        return status;
    }
    nl_shape shape = shape_of(features);
    shape.c = whole.cols;
    status = nl_max_pool_alloc(&whole, shape, values, &shape, error);
    nl_matrix_free(&whole);
    return status;
}

nl_status stage_brightness(const struct stage_features *features, const nl_exec *exec, double *keys,
                           nl_error *error)
{
    const nl_features_params params = {
        .kind = NL_FEATURE_LUMA, .patch = features->grid.patch, .stride = features->grid.stride};
    nl_matrix luma = {0};
    if (features->picture.width == 0)
        return nl_fail(error, NL_INVALID, "only the patches of a picture have a brightness");
    nl_status status = nl_features_alloc(&features->picture, &params, exec, &luma, NULL, error);
    for (size_t i = 0; status == NL_OK && i < luma.rows; i++) {
        double sum = 0;
        for (size_t k = 0; k < luma.cols; k++)
            sum += (double)nl_row(&luma, i)[k];
        keys[i] = sum / (double)luma.cols;
    }
    nl_matrix_free(&luma);
    return status;
}

/* Pixels of the original picture for one of the reduced one. */
static void magnification(const struct stage_features *features, double *fx, double *fy)
{
    const nl_picture *picture = &features->picture;
    *fx = picture->width ? (double)picture->original_width / (double)picture->width : 1;
    *fy = picture->height ? (double)picture->original_height / (double)picture->height : 1;
}

nl_status stage_query_row(const struct stage_features *features, enum source_kind kind,
                          const struct doc_query *query, size_t *row, nl_error *error)
{
    const nl_grid *grid = &features->grid;
    double fx, fy;
    magnification(features, &fx, &fy);
    if (query->by_row) {
        if (query->row >= features->x.rows)
            return nl_fail(error, NL_INVALID, "the query row:%zu is outside: there are %zu rows",
                           query->row + 1, features->x.rows);
        *row = query->row;
        return NL_OK;
    }
    if (kind == SOURCE_TABLE)
        return nl_fail(error, NL_INVALID, "a table has no pixels: ask for a row, row:1 to row:%zu",
                       features->x.rows);
    double width = fx * (double)grid->width, height = fy * (double)grid->height;
    if (!(query->x >= 0 && query->y >= 0 && query->x < width && query->y < height))
        return nl_fail(error, NL_INVALID,
                       "the query %.10g,%.10g is outside: x is 0 to %.10g, y is 0 to %.10g",
                       query->x, query->y, width - 1, height - 1);
    size_t gx = (size_t)(query->x / fx / (double)grid->stride);
    size_t gy = (size_t)(query->y / fy / (double)grid->stride);
    gx = gx < grid->gw ? gx : grid->gw - 1;
    gy = gy < grid->gh ? gy : grid->gh - 1;
    *row = gy * grid->gw + gx;
    return NL_OK;
}

void stage_cell_pixel(const struct stage_features *features, size_t row, double *x, double *y)
{
    const nl_grid *grid = &features->grid;
    double fx, fy;
    magnification(features, &fx, &fy);
    /* the last cells may reach over the border; their centre is kept inside */
    *x = fmin(((double)(row % grid->gw) + 0.5) * (double)grid->stride, (double)grid->width - 0.5);
    *y = fmin(((double)(row / grid->gw) + 0.5) * (double)grid->stride, (double)grid->height - 0.5);
    *x *= fx;
    *y *= fy;
}
