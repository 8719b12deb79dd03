/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "../canvas.h"
#include "../file.h"
#include "../stage.h"
#include "output.h"
#include "verb.h"

struct work {
    struct verb_exec exec;
    struct source source;
    struct stage_features features;
    nl_matrix values, y;
    nl_picture answer; /* pictures only */
    bool pooled;       /* keys and values */
    size_t uncovered;
};

static void work_free(struct work *work)
{
    nl_picture_free(&work->answer);
    nl_matrix_free(&work->y);
    nl_matrix_free(&work->values);
    stage_features_free(&work->features);
    source_free(&work->source);
    verb_exec_free(&work->exec);
}

/* y = A x with queries of their own; the answer as a picture where there is one. */
static nl_status apply_once(const struct doc *doc, const nl_matrix *queries, struct work *work,
                            nl_error *error)
{
    const nl_exec *exec = &work->exec.exec;
    struct stage_attention attention;
    nl_status status =
        stage_attention_between(doc, queries, &work->features, true, exec, &attention, error);
    if (status == NL_OK)
        status = nl_attention_apply(attention.attention, &work->values, exec, &work->y, error);
    work->pooled = status == NL_OK && attention.pooled_keys;
    stage_attention_free(&attention);
    if (status != NL_OK || work->source.kind != SOURCE_PICTURE)
        return status;
    nl_picture_free(&work->answer);
    return nl_patches_assemble(&work->features.picture, &work->features.grid, &work->y,
                               &work->answer, &work->uncovered, error);
}

/* What the next round asks with: y itself, or the features of the picture that it makes. */
static nl_status next_queries(const struct doc *doc, struct work *work, nl_matrix *queries,
                              nl_error *error)
{
    nl_features_params params;
    nl_matrix_free(queries);
    if (work->source.kind != SOURCE_PICTURE)
        return nl_matrix_copy(queries, &work->y, error);
    stage_features_params(doc, &params);
    return nl_features_alloc(&work->answer, &params, &work->exec.exec, queries, NULL, error);
}

/*
 * Keys and values stay those of the input, the queries move: with softmax weights this is mean
 * shift (Fukunaga and Hostetler 1975).
 */
static nl_status compute(const struct args *args, struct work *work, nl_error *error)
{
    const struct doc *doc = &args->doc;
    const nl_exec *exec = &work->exec.exec;
    nl_matrix moved = {0};
    nl_status status = stage_features_run(doc, &work->source, exec, &work->features, error);
    if (status == NL_OK)
        status = stage_values_alloc(doc, &work->features, exec, &work->values, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&work->y, work->features.x.rows, work->values.cols, error);
    for (int round = 0; status == NL_OK && round < args->repeat; round++) {
        if (round > 0)
            status = next_queries(doc, work, &moved, error);
        if (status == NL_OK)
            status = apply_once(doc, round ? &moved : &work->features.x, work, error);
    }
    nl_matrix_free(&moved);
    return status;
}

/* With only its own cell in reach, and that one excluded. */
static bool no_key_left(const struct doc *doc, const struct work *work)
{
    const size_t search = (size_t)param_number(doc, PARAM_SEARCH);
    const size_t frame = work->features.x.rows / work->features.frames;
    return param_choice(doc, PARAM_SELF) == NL_SELF_EXCLUDE && !work->pooled &&
           (search == 1 || (search > 0 && frame == 1) || work->features.x.rows == 1);
}

static void add(nl_matrix *y, const nl_matrix *x)
{
    for (size_t i = 0; i < y->rows; i++)
        for (size_t k = 0; k < y->cols; k++)
            nl_row(y, i)[k] += nl_row(x, i)[k];
}

static nl_status write_answer(const struct args *args, struct work *work, nl_error *error)
{
    const nl_grid *grid = &work->features.grid;
    if (work->source.kind != SOURCE_PICTURE) {
        const size_t frames = work->features.frames;
        const size_t picture[3] = {grid->gh, grid->gw, work->y.cols};
        const size_t clip[4] = {frames, grid->gh / frames, grid->gw, work->y.cols};
        if (args->residual)
            add(&work->y, &work->features.x);
        return npy_write(args->output, &work->y, frames > 1 ? clip : picture,
                         frames > 1     ? 4
                         : grid->gh > 1 ? 3
                                        : 2,
                         error);
    }
    if (args->residual)
        add(&work->answer.rgb, &work->features.picture.rgb);
    const size_t shape[3] = {work->answer.height, work->answer.width, 3};
    nl_status status = file_has_extension(args->output, ".png")
                           ? picture_write_png(args->output, &work->answer, error)
                           : npy_write(args->output, &work->answer.rgb, shape, 3, error);
    if (status == NL_OK && work->uncovered > 0)
        verb_note("%zu pixels lie under no patch (the stride is larger) and keep their colour",
                  work->uncovered);
    return status;
}

static nl_status check_output(const struct args *args, enum source_kind kind, nl_error *error)
{
    const char *out = args->output;
    if (!out)
        return nl_fail(error, NL_INVALID, "no output; add -o OUT.png or -o OUT.npy");
    if (file_has_extension(out, ".npy"))
        return NL_OK;
    if (!file_has_extension(out, ".png"))
        return nl_fail(error, NL_INVALID, "-o %s: the ending must be .png or .npy", out);
    if (kind == SOURCE_TABLE || kind == SOURCE_ARRAY)
        return nl_fail(error, NL_INVALID, "-o %s: the answer is no picture; write .npy", out);
    return NL_OK;
}

int verb_apply(const struct args *args)
{
    struct work work = {0};
    nl_error error = {0};
    if (check_output(args, SOURCE_NONE, &error) != NL_OK) {
        fprintf(stderr, "nonlocal apply: %s\n", error.message);
        return EXIT_BAD_USAGE;
    }
    nl_status status = verb_exec_create(&args->doc, &work.exec, &error);
    if (status == NL_OK)
        status = source_load(args->doc.source, &args->csv, &work.source, &error);
    if (status == NL_OK)
        status = verb_check_idle(args, work.source.kind, &error);
    if (status == NL_OK)
        status = check_output(args, work.source.kind, &error);
    if (status == NL_OK)
        status = compute(args, &work, &error);
    if (status == NL_OK)
        status = write_answer(args, &work, &error);
    if (status == NL_OK) {
        printf("%s: n = %zu, d = %zu, values of %zu numbers, written to %s\n", work.source.name,
               work.features.x.rows, work.features.x.cols, work.values.cols, args->output);
        if (no_key_left(&args->doc, &work))
            verb_note("no key is left for any query: its answer is zeros");
        verb_note_source(&work.source, work.features.constant_columns);
    }
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
