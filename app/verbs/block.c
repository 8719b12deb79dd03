/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../file.h"
#include "../stage.h"
#include "nonlocal/block.h"
#include "output.h"
#include "verb.h"

struct work {
    struct verb_exec exec;
    struct source source;
    nl_weights weights;
    nl_trace trace;
    nl_matrix z;
    nl_shape shape;
};

static void work_free(struct work *work)
{
    nl_matrix_free(&work->z);
    nl_trace_free(&work->trace);
    nl_weights_free(&work->weights);
    source_free(&work->source);
    verb_exec_free(&work->exec);
}

/* (n, d), (H, W, C) or (T, H, W, C). */
static nl_shape shape_of(const struct source *source)
{
    if (source->kind == SOURCE_TABLE)
        return (nl_shape){1, 1, source->table.values.rows, source->table.values.cols};
    const size_t *s = source->npy.shape;
    switch (source->npy.ndim) {
    case 2:
        return (nl_shape){1, 1, s[0], s[1]};
    case 3:
        return (nl_shape){1, s[0], s[1], s[2]};
    default:
        return (nl_shape){s[0], s[1], s[2], s[3]};
    }
}

static nl_matrix features_of(const struct source *source, nl_shape shape)
{
    if (source->kind == SOURCE_TABLE)
        return nl_matrix_view(source->table.values.data, source->table.values.rows,
                              source->table.values.cols, source->table.values.stride);
    return nl_matrix_view(source->npy.data, shape.t * shape.h * shape.w, shape.c, shape.c);
}

static void block_params(const struct doc *doc, nl_shape shape, nl_block_params *params)
{
    nl_block_params_init(params, (nl_system_id)param_choice(doc, PARAM_SYSTEM));
    stage_attention_params(doc, 1, &params->attention);
    params->scale_sqrt = stage_scales_by_root(doc);
    params->attention.scale = 1;
    params->attention.grid_width = shape.w;
    params->attention.grid_height = shape.h;
    params->subsample = (nl_subsample)param_choice(doc, PARAM_SUBSAMPLE);
    params->heads = (size_t)param_number(doc, PARAM_HEADS);
    params->layernorm = (nl_layernorm)param_choice(doc, PARAM_LAYERNORM);
    params->gamma = param_number(doc, PARAM_GAMMA);
}

static nl_status get_weights(const struct args *args, const nl_matrix *x, struct work *work,
                             nl_error *error)
{
    const struct doc *doc = &args->doc;
    const nl_system_id system = (nl_system_id)param_choice(doc, PARAM_SYSTEM);
    const nl_similarity_id similarity = (nl_similarity_id)param_choice(doc, PARAM_SIMILARITY);
    if (system == NL_SYSTEM_NLM)
        return NL_OK;
    if (doc->weights[0])
        return stage_weights_load(doc->weights, system, x->cols, similarity, &work->weights, error);
    const nl_embedding_params params = {
        .kind = (nl_embedding_id)param_choice(doc, PARAM_EMBED),
        .dim = (size_t)param_number(doc, PARAM_DIM),
        .seed = (uint64_t)param_number(doc, PARAM_SEED),
    };
    return nl_weights_make(&params, system, x, &work->exec.exec, &work->weights, error);
}

static nl_status write_trace(const char *folder, const struct work *work, size_t heads,
                             nl_error *error)
{
    const nl_trace *t = &work->trace;
    const struct {
        const char *name;
        const nl_matrix *matrix;
    } parts[] = {{"X", &t->x}, {"Q", &t->q}, {"K", &t->k}, {"V", &t->v}, {"S", &t->s},
                 {"A", &t->a}, {"H", &t->h}, {"Y", &t->y}, {"Z", &t->z}};
    nl_status status = NL_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return nl_fail(error, NL_IO, "cannot make the folder %s: %s", folder, strerror(errno));
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == NL_OK; i++) {
        char path[DOC_PATH];
        const nl_matrix *m = parts[i].matrix;
        const bool by_head = m == &t->s || m == &t->a;
        const size_t shape[3] = {heads, m->rows / heads, m->cols};
        if (snprintf(path, sizeof path, "%s/%s.npy", folder, parts[i].name) >= (int)sizeof path)
            return nl_fail(error, NL_INVALID, "the folder's name is too long");
        status = npy_write(path, m, shape, by_head ? 3 : 2, error);
    }
    return status;
}

static nl_status write_z(const struct args *args, const struct work *work, nl_error *error)
{
    const nl_shape s = work->shape;
    const size_t clip[4] = {s.t, s.h, s.w, work->z.cols};
    const size_t ndim = work->source.kind == SOURCE_TABLE ? 2 : work->source.npy.ndim;
    return npy_write(args->output, &work->z, ndim == 4 ? clip : clip + 1, ndim, error);
}

static nl_status run(const struct args *args, struct work *work, nl_error *error)
{
    nl_block_params params;
    if (work->source.kind == SOURCE_PICTURE)
        return nl_fail(error, NL_INVALID,
                       "%s is a picture; a block takes an array (.npy) or a table of features",
                       work->source.name);
    work->shape = shape_of(&work->source);
    const nl_matrix x = features_of(&work->source, work->shape);
    block_params(&args->doc, work->shape, &params);
    nl_status status = get_weights(args, &x, work, error);
    if (status == NL_OK)
        status = nl_block_run_alloc(&params, &work->weights, &x, work->shape, &work->exec.exec,
                                    args->trace ? &work->trace : NULL, &work->z, error);
    if (status == NL_OK && args->trace)
        status = write_trace(args->trace, work, params.heads, error);
    if (status == NL_OK)
        status = write_z(args, work, error);
    return status;
}

int verb_block(const struct args *args)
{
    struct work work = {0};
    nl_error error = {0};
    if (!args->output || !file_has_extension(args->output, ".npy")) {
        fprintf(stderr,
                args->output ? "nonlocal block: -o %s: the ending must be .npy\n"
                             : "nonlocal block: no output; add -o Z.npy%s\n",
                args->output ? args->output : "");
        return EXIT_BAD_USAGE;
    }
    nl_status status = verb_exec_create(&args->doc, &work.exec, &error);
    if (status == NL_OK)
        status = source_load(args->doc.source, NULL, &work.source, &error);
    if (status == NL_OK)
        status = verb_check_idle(args, work.source.kind, &error);
    if (status == NL_OK)
        status = run(args, &work, &error);
    if (status == NL_OK) {
        printf("%s: %zu × %zu × %zu × %zu, system %s, Z of %zu × %zu written to %s\n",
               work.source.name, work.shape.t, work.shape.h, work.shape.w, work.shape.c,
               nl_systems[param_choice(&args->doc, PARAM_SYSTEM)].name, work.z.rows, work.z.cols,
               args->output);
        if (work.weights.note[0])
            verb_note("%s", work.weights.note);
    }
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
