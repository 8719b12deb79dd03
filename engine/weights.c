/* SPDX-License-Identifier: MIT */
#include "nonlocal/weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "weight_names.h"

enum { MAX_SHAPE = NL_TENSOR_MAX_DIMS * 22 + 3 }; /* characters of a shape as text */

static const double batch_norm_eps = 1e-5; /* torch's default; a state_dict does not hold it */

static const struct nl_weight_role theta_role = {{"theta"}, false};
static const struct nl_weight_role phi_role = {{"phi"}, false};
static const struct nl_weight_role g_role = {{"g"}, false};
static const struct nl_weight_role w_role = {{"W", "W_z"}, false};
static const struct nl_weight_role attn_role = {{"attn_g", "W"}, false};
static const struct nl_weight_role out_role = {{"out_proj"}, false};
static const struct nl_weight_role in_role = {{"in_proj_weight", "q_proj_weight"}, true};
static const struct nl_weight_role concat_role = {
    {"concat_project.weight", "concat_project.0.weight", "W_f.weight", "W_f.0.weight"}, true};

struct picker {
    struct nl_weight_names names;
    size_t channels;
    nl_error *error;
};

/* ---- tensors as matrices ---- */

/* "(8, 16, 1, 1)"; room for MAX_SHAPE characters. */
static void put_shape(const size_t *shape, size_t ndim, char *text)
{
    int length = snprintf(text, MAX_SHAPE, "(");
    for (size_t k = 0; k < ndim; k++)
        length += snprintf(text + length, MAX_SHAPE - (size_t)length, "%s%zu", k > 0 ? ", " : "",
                           shape[k]);
    snprintf(text + length, MAX_SHAPE - (size_t)length, ndim == 1 ? ",)" : ")");
}

/* "(l, 16)"; rows 0 = any number. */
static void put_expected(size_t rows, size_t cols, char *text)
{
    if (rows == 0)
        snprintf(text, MAX_SHAPE, "(l, %zu)", cols);
    else
        snprintf(text, MAX_SHAPE, "(%zu, %zu)", rows, cols);
}

static nl_status fail_shape(const struct picker *picker, const nl_tensor *tensor,
                            const char *expected)
{
    char found[MAX_SHAPE];
    put_shape(tensor->shape, tensor->ndim, found);
    return nl_fail(picker->error, NL_FORMAT,
                   "%s has the shape %s; a %s block on %zu channels needs %s", tensor->name, found,
                   picker->names.system, picker->channels, expected);
}

/* Fails unless the tensor could be read and all of its values are finite. */
static nl_status check_values(const struct picker *picker, const nl_tensor *tensor)
{
    if (tensor->problem[0])
        return nl_fail(picker->error, NL_FORMAT, "%s is needed but cannot be read: %s",
                       tensor->name, tensor->problem);
    for (size_t i = 0; i < tensor->count; i++) {
        if (isfinite(tensor->data[i]))
            continue;
        size_t place[NL_TENSOR_MAX_DIMS], rest = i;
        char text[MAX_SHAPE];
        for (size_t k = tensor->ndim; k-- > 0; rest /= tensor->shape[k])
            place[k] = rest % tensor->shape[k] + 1;
        put_shape(place, tensor->ndim, text);
        return nl_fail(picker->error, NL_FORMAT, "the value at %s of %s, counted from 1, is %s",
                       text, tensor->name,
                       isnan(tensor->data[i]) ? "NaN" : "infinite or beyond 3.4e38");
    }
    return NL_OK;
}

/* Marks a needed tensor and checks it: (rows, cols) with any trailing 1s, rows 0 = any number. */
static nl_status check_matrix(struct picker *picker, const nl_tensor *tensor, size_t rows,
                              size_t cols)
{
    char expected[MAX_SHAPE];
    nl_weight_names_use(&picker->names, tensor);
    nl_status status = check_values(picker, tensor);
    if (status != NL_OK)
        return status;
    bool fits = tensor->ndim >= 2 && tensor->shape[1] == cols &&
                (rows == 0 ? tensor->shape[0] > 0 : tensor->shape[0] == rows);
    for (size_t k = 2; k < tensor->ndim; k++)
        fits = fits && tensor->shape[k] == 1;
    if (fits)
        return NL_OK;
    put_expected(rows, cols, expected);
    return fail_shape(picker, tensor, expected);
}

/* The same for `length` values of which any number of dimensions, but one, have length 1. */
static nl_status check_vector(struct picker *picker, const nl_tensor *tensor, size_t length)
{
    char expected[MAX_SHAPE];
    size_t long_dims = 0;
    nl_weight_names_use(&picker->names, tensor);
    nl_status status = check_values(picker, tensor);
    if (status != NL_OK)
        return status;
    for (size_t k = 0; k < tensor->ndim; k++)
        long_dims += tensor->shape[k] != 1;
    if (tensor->count == length && long_dims <= 1)
        return NL_OK;
    put_shape(&length, 1, expected);
    return fail_shape(picker, tensor, expected);
}

/* rows × cols values of a tensor that was checked, from row `first` on. */
static nl_status copy_rows(const struct picker *picker, const nl_tensor *tensor, size_t first,
                           size_t rows, size_t cols, nl_matrix *matrix)
{
    nl_status status = nl_matrix_alloc(matrix, rows, cols, picker->error);
    for (size_t i = 0; status == NL_OK && i < rows; i++)
        memcpy(nl_row(matrix, i), tensor->data + (first + i) * cols, cols * sizeof(float));
    return status;
}

/* A needed matrix; tensor NULL = it is missing under that name. */
static nl_status take_matrix(struct picker *picker, const nl_tensor *tensor, const char *name,
                             size_t rows, size_t cols, nl_matrix *matrix)
{
    char expected[MAX_SHAPE];
    put_expected(rows, cols, expected);
    if (!tensor)
        return nl_weight_names_fail_missing(&picker->names, name, expected, picker->channels,
                                            picker->error);
    nl_status status = check_matrix(picker, tensor, rows, cols);
    if (status == NL_OK)
        status = copy_rows(picker, tensor, 0, tensor->shape[0], cols, matrix);
    return status;
}

/* A vector that may be missing; then the matrix stays empty. */
static nl_status take_vector(struct picker *picker, const nl_tensor *tensor, size_t length,
                             nl_matrix *matrix)
{
    if (!tensor)
        return NL_OK;
    nl_status status = check_vector(picker, tensor, length);
    if (status == NL_OK)
        status = copy_rows(picker, tensor, 0, 1, length, matrix);
    return status;
}

/* ---- modules ---- */

static nl_status check_variance(const struct picker *picker, const nl_tensor *tensor)
{
    for (size_t i = 0; i < tensor->count; i++)
        if (tensor->data[i] < 0)
            return nl_fail(picker->error, NL_FORMAT, "variance %zu of %s is negative (%g)", i + 1,
                           tensor->name, (double)tensor->data[i]);
    return NL_OK;
}

/*
 * Folds (y − mean) / √(var + eps) · weight + bias into the map: Ioffe and Szegedy 2015, algorithm
 * 2. Tensors are mean, variance, weight and bias; the last two may be NULL.
 */
static nl_status fold_values(const struct picker *picker, const nl_tensor *const tensors[4],
                             nl_linear *map)
{
    bool finite = true;
    for (size_t i = 0; i < map->weight.rows; i++) {
        float *row = nl_row(&map->weight, i), *bias = nl_row(&map->bias, 0) + i;
        double factor = 1 / sqrt((double)tensors[1]->data[i] + batch_norm_eps);
        if (tensors[2])
            factor *= (double)tensors[2]->data[i];
        double shift = ((double)*bias - (double)tensors[0]->data[i]) * factor;
        if (tensors[3])
            shift += (double)tensors[3]->data[i];
        *bias = (float)shift;
        finite = finite && isfinite(*bias);
        for (size_t k = 0; k < map->weight.cols; k++) {
            row[k] = (float)(factor * (double)row[k]);
            finite = finite && isfinite(row[k]);
        }
    }
    if (finite)
        return NL_OK;
    return nl_fail(picker->error, NL_FORMAT,
                   "%s and the other values of its BatchNorm make weights beyond the range of "
                   "float",
                   tensors[1]->name);
}

/* If a BatchNorm follows the module `alias`.0, folds it into the map. */
static nl_status fold_batch_norm(struct picker *picker, const char *alias, nl_stored_map *stored)
{
    static const char *const endings[] = {".1.running_mean", ".1.running_var", ".1.weight",
                                          ".1.bias"};
    const size_t out = stored->map.weight.rows;
    const nl_tensor *tensors[4];
    bool any = false;
    for (size_t k = 0; k < 4; k++) {
        tensors[k] = nl_weight_names_find(&picker->names, alias, endings[k]);
        any = any || tensors[k];
    }
    if (!any)
        return NL_OK;
    for (size_t k = 0; k < 4; k++) {
        char name[96], expected[MAX_SHAPE];
        snprintf(name, sizeof name, "%s%s", alias, endings[k]);
        put_shape(&out, 1, expected);
        if (!tensors[k] && k < 2)
            return nl_weight_names_fail_missing(&picker->names, name, expected, picker->channels,
                                                picker->error);
        nl_status status = tensors[k] ? check_vector(picker, tensors[k], out) : NL_OK;
        if (status != NL_OK)
            return status;
    }
    nl_weight_names_use(&picker->names,
                        nl_weight_names_find(&picker->names, alias, ".1.num_batches_tracked"));
    if (stored->spectral)
        return nl_fail(picker->error, NL_UNSUPPORTED,
                       "%s%s has spectral norm and BatchNorm, which cannot be folded; save it "
                       "without one of them",
                       picker->names.prefix, alias);
    nl_status status = check_variance(picker, tensors[1]);
    if (status == NL_OK && !stored->map.bias.data)
        status = nl_matrix_alloc(&stored->map.bias, 1, out, picker->error);
    return status == NL_OK ? fold_values(picker, tensors, &stored->map) : status;
}

/* A linear module: weight (rows, cols), rows 0 = any, bias, spectral norm and BatchNorm. */
static nl_status take_map(struct picker *picker, const struct nl_weight_role *role, size_t rows,
                          size_t cols, nl_stored_map *stored)
{
    struct nl_weight_source source;
    char usual[64];
    const struct nl_weight_names *names = &picker->names;
    const nl_tensor *tensor = nl_weight_names_role(names, role, &source), *u = NULL, *v = NULL;
    snprintf(usual, sizeof usual, "%s.weight", role->names[0]);
    nl_status status = take_matrix(picker, tensor, usual, rows, cols, &stored->map.weight);
    if (status != NL_OK)
        return status;
    status = take_vector(picker, nl_weight_names_find(names, source.key, ".bias"),
                         stored->map.weight.rows, &stored->map.bias);
    stored->spectral = source.form->u != NULL;
    if (stored->spectral) {
        u = nl_weight_names_find(names, source.key, source.form->u);
        v = nl_weight_names_find(names, source.key, source.form->v);
    }
    if (status == NL_OK && u && v)
        status = take_vector(picker, u, stored->map.weight.rows, &stored->u);
    if (status == NL_OK && u && v)
        status = take_vector(picker, v, cols, &stored->v);
    if (status == NL_OK && source.sequential)
        status = fold_batch_norm(picker, source.alias, stored);
    return status;
}

/* w_f, 1 × 2l, whose bias has no place in ReLU(w_f·[θ, φ]). */
static nl_status take_concat(struct picker *picker, bool needed, size_t l, nl_matrix *concat)
{
    struct nl_weight_source source;
    char bias_name[96];
    const nl_tensor *tensor = nl_weight_names_role(&picker->names, &concat_role, &source);
    if (!tensor && !needed)
        return NL_OK;
    nl_status status = take_matrix(picker, tensor, concat_role.names[0], 1, 2 * l, concat);
    if (status != NL_OK)
        return status;
    snprintf(bias_name, sizeof bias_name, "%.*sbias", (int)(strlen(source.name) - strlen("weight")),
             source.name);
    const nl_tensor *bias = nl_weight_names_find(&picker->names, bias_name, "");
    if (!bias)
        return NL_OK;
    status = check_vector(picker, bias, 1);
    if (status == NL_OK && bias->data[0] != 0)
        status = nl_fail(picker->error, NL_UNSUPPORTED,
                         "%s is %g; the concat similarity has no bias, make the layer with "
                         "bias=False",
                         bias->name, (double)bias->data[0]);
    return status;
}

/* ---- systems ---- */

static nl_status pick_gamma(struct picker *picker, nl_weights *weights)
{
    const nl_tensor *gamma = nl_weight_names_find(&picker->names, "gamma", "");
    if (!gamma)
        gamma = nl_weight_names_find(&picker->names, "sigma", "");
    nl_status status = gamma ? check_vector(picker, gamma, 1) : NL_OK;
    if (status == NL_OK && gamma) {
        weights->gamma = (double)gamma->data[0];
        weights->has_gamma = true;
    }
    return status;
}

/* nonlocal and sagan: four 1×1 convolutions. */
static nl_status pick_convolutions(struct picker *picker, nl_system_id system,
                                   nl_similarity_id similarity, nl_weights *weights)
{
    const size_t c = picker->channels;
    const bool nonlocal = system == NL_SYSTEM_NONLOCAL;
    nl_status status = NL_OK;
    if (nl_similarities[similarity].embedded) {
        status = take_map(picker, &theta_role, 0, c, &weights->theta);
        if (status == NL_OK)
            status = take_map(picker, &phi_role, weights->theta.map.weight.rows, c, &weights->phi);
    }
    if (status == NL_OK)
        status = take_map(picker, &g_role, 0, c, &weights->g);
    if (status == NL_OK)
        status = take_map(picker, nonlocal ? &w_role : &attn_role, c, weights->g.map.weight.rows,
                          &weights->w);
    if (status == NL_OK && similarity == NL_CONCAT)
        status = take_concat(picker, nonlocal, weights->theta.map.weight.rows, &weights->concat);
    if (status == NL_OK && system == NL_SYSTEM_SAGAN)
        status = pick_gamma(picker, weights);
    return status;
}

/* Query, key and value parts, stacked in one matrix or each by itself. */
static nl_status pick_in_projection(struct picker *picker, nl_weights *weights)
{
    static const char *const separate[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
    nl_stored_map *const maps[] = {&weights->theta, &weights->phi, &weights->g};
    const size_t c = picker->channels;
    const nl_tensor *stacked = nl_weight_names_find(&picker->names, "in_proj_weight", "");
    const nl_tensor *bias = nl_weight_names_find(&picker->names, "in_proj_bias", "");
    const bool split = !stacked && nl_weight_names_find(&picker->names, separate[0], "");
    char expected[MAX_SHAPE];
    put_expected(3 * c, c, expected);
    if (!stacked && !split)
        return nl_weight_names_fail_missing(&picker->names, "in_proj_weight", expected, c,
                                            picker->error);
    nl_status status = stacked ? check_matrix(picker, stacked, 3 * c, c) : NL_OK;
    if (status == NL_OK && bias)
        status = check_vector(picker, bias, 3 * c);
    for (size_t k = 0; k < 3 && status == NL_OK; k++) {
        nl_linear *map = &maps[k]->map;
        if (split)
            status = take_matrix(picker, nl_weight_names_find(&picker->names, separate[k], ""),
                                 separate[k], c, c, &map->weight);
        else
            status = copy_rows(picker, stacked, k * c, c, c, &map->weight);
        if (status == NL_OK && bias)
            status = copy_rows(picker, bias, k, 1, c, &map->bias);
    }
    return status;
}

/* The LayerNorm stands beside the projections, or beside the attention that holds them. */
static nl_status pick_norm(struct picker *picker, nl_weights *weights)
{
    static const char *const keys[] = {"norm", "norm1"};
    const struct nl_weight_names *names = &picker->names;
    for (size_t k = 0; k < 4; k++) {
        const nl_tensor *(*find)(const struct nl_weight_names *, const char *, const char *) =
            k < 2 ? nl_weight_names_find : nl_weight_names_find_above;
        const nl_tensor *weight = find(names, keys[k % 2], ".weight");
        const nl_tensor *bias = find(names, keys[k % 2], ".bias");
        if (!weight && !bias)
            continue;
        nl_status status = take_vector(picker, weight, picker->channels, &weights->norm_weight);
        if (status == NL_OK)
            status = take_vector(picker, bias, picker->channels, &weights->norm_bias);
        return status;
    }
    return NL_OK;
}

static nl_status pick_transformer(struct picker *picker, nl_similarity_id similarity,
                                  nl_weights *weights)
{
    const nl_tensor *extra = nl_weight_names_find(&picker->names, "bias_k", "");
    if (!extra)
        extra = nl_weight_names_find(&picker->names, "bias_v", "");
    if (extra)
        return nl_fail(picker->error, NL_UNSUPPORTED,
                       "%s adds a key and a value to every query, which is not supported; make "
                       "the module with add_bias_kv=False",
                       extra->name);
    nl_status status = pick_in_projection(picker, weights);
    if (status == NL_OK)
        status = take_map(picker, &out_role, picker->channels, picker->channels, &weights->w);
    if (status == NL_OK)
        status = pick_norm(picker, weights);
    if (status == NL_OK && similarity == NL_CONCAT)
        status = take_concat(picker, false, picker->channels, &weights->concat);
    return status;
}

/* The roles that a block of the system needs. */
static void list_roles(struct nl_weight_names *names, nl_system_id system,
                       nl_similarity_id similarity)
{
    size_t count = 0;
    const struct nl_weight_role **roles = names->roles;
    if (system == NL_SYSTEM_TRANSFORMER) {
        roles[count++] = &in_role;
        roles[count++] = &out_role;
    } else {
        if (nl_similarities[similarity].embedded) {
            roles[count++] = &theta_role;
            roles[count++] = &phi_role;
        }
        roles[count++] = &g_role;
        roles[count++] = system == NL_SYSTEM_SAGAN ? &attn_role : &w_role;
        if (similarity == NL_CONCAT && system == NL_SYSTEM_NONLOCAL)
            roles[count++] = &concat_role;
    }
    names->role_count = count;
}

static nl_status check_arguments(nl_system_id system, size_t channels, nl_similarity_id similarity,
                                 nl_error *error)
{
    if ((unsigned)system >= NL_SYSTEM_COUNT || (unsigned)similarity >= NL_SIMILARITY_COUNT)
        return nl_fail(error, NL_INVALID, "no such system or similarity");
    if (system == NL_SYSTEM_NLM)
        return nl_fail(error, NL_INVALID,
                       "non-local means has no weights; choose another system or no file of "
                       "weights");
    if (channels == 0 || channels > NL_TENSORS_MAX_VALUES)
        return nl_fail(error, NL_INVALID, "weights for %zu channels cannot be had", channels);
    return NL_OK;
}

nl_status nl_weights_pick(const nl_tensors *tensors, nl_system_id system, size_t channels,
                          nl_similarity_id similarity, nl_weights *weights, nl_error *error)
{
    struct picker picker = {.names = {.tensors = tensors}, .channels = channels, .error = error};
    *weights = (nl_weights){0};
    nl_status status = check_arguments(system, channels, similarity, error);
    if (status != NL_OK)
        return status;
    picker.names.system = nl_systems[system].name;
    list_roles(&picker.names, system, similarity);
    status = nl_weight_names_open(&picker.names, error);
    if (status == NL_OK)
        status = system == NL_SYSTEM_TRANSFORMER
                     ? pick_transformer(&picker, similarity, weights)
                     : pick_convolutions(&picker, system, similarity, weights);
    if (status == NL_OK)
        nl_weight_names_note(&picker.names, weights->note, sizeof weights->note);
    else
        nl_weights_free(weights);
    nl_weight_names_close(&picker.names);
    return status;
}

static void free_map(nl_stored_map *stored)
{
    nl_matrix_free(&stored->map.weight);
    nl_matrix_free(&stored->map.bias);
    nl_matrix_free(&stored->u);
    nl_matrix_free(&stored->v);
}

void nl_weights_free(nl_weights *weights)
{
    free_map(&weights->theta);
    free_map(&weights->phi);
    free_map(&weights->g);
    free_map(&weights->w);
    nl_matrix_free(&weights->concat);
    nl_matrix_free(&weights->norm_weight);
    nl_matrix_free(&weights->norm_bias);
    *weights = (nl_weights){0};
}
