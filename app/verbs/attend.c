/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "../figure.h"
#include "../file.h"
#include "output.h"
#include "verb.h"

struct work {
    struct verb_exec exec;
    struct source source;
    struct stage_features features;
    struct stage_attention attention;
    nl_matrix weights; /* queries × n */
    size_t rows[DOC_QUERIES];
};

static void work_free(struct work *work)
{
    nl_matrix_free(&work->weights);
    stage_attention_free(&work->attention);
    stage_features_free(&work->features);
    source_free(&work->source);
    verb_exec_free(&work->exec);
}

static void print_extent(const struct args *args, const struct work *work)
{
    const nl_picture *picture = &work->features.picture;
    const nl_grid *grid = &work->features.grid;
    char feature[64];
    printf("%s: ", work->source.name);
    if (work->source.kind == SOURCE_PICTURE) {
        printf("%zu × %zu pixels", picture->original_width, picture->original_height);
        if (picture->width != picture->original_width)
            printf(", reduced to %zu × %zu", picture->width, picture->height);
        printf(
            "\nfeatures %s, patch %zu, stride %zu\n",
            param_format(PARAM_FEATURES, args->doc.params[PARAM_FEATURES], feature, sizeof feature),
            grid->patch, grid->stride);
    } else {
        printf("%zu rows, %zu features\n", work->features.x.rows, work->features.x.cols);
    }
    printf("grid %zu × %zu, n = %zu, d = %zu", grid->gw, grid->gh, work->features.x.rows,
           work->features.x.cols);
    if (work->attention.embedded != work->features.x.cols || work->attention.theta.data)
        printf(", l = %zu", work->attention.embedded);
    printf("\n");
}

static void print_place(const struct work *work, size_t row)
{
    const nl_grid *grid = &work->features.grid;
    if (work->source.kind == SOURCE_PICTURE) {
        double x, y;
        stage_cell_pixel(&work->features, row, &x, &y);
        printf("cell (%zu, %zu), centre at pixel %.0f,%.0f", row % grid->gw, row / grid->gw, x, y);
    } else if (grid->gh > 1) {
        printf("cell (%zu, %zu)", row % grid->gw, row / grid->gw);
    } else {
        size_t number =
            work->source.kind == SOURCE_TABLE ? work->source.table.row_numbers[row] : row + 1;
        printf("row %zu", number);
        if (work->source.table.labels)
            printf(" (%s)", work->source.table.classes[work->source.table.labels[row]]);
    }
}

static void print_notes(unsigned notes)
{
    if (notes & NL_NOTE_NO_KEYS)
        verb_note("no key is left for this query: its weights are zeros");
    if (notes & NL_NOTE_UNIFORM)
        verb_note("all scores of this query are equal: its weights are uniform");
    if (notes & NL_NOTE_PERPLEXITY_MISS)
        verb_note("no width gives this query the perplexity asked for: the nearest was taken");
    if (notes & NL_NOTE_ZERO_QUERY)
        verb_note("the query is a zero vector: its cosines are 0 by definition");
    if (notes & NL_NOTE_ALL_ZERO)
        verb_note("all similarities of this query are 0, and so are its weights");
}

static void print_query(const struct args *args, const struct work *work, size_t q,
                        const nl_row_figures *figures)
{
    const float *a = nl_row(&work->weights, q);
    const size_t n = work->weights.cols;
    size_t top[5], count = nl_top(a, n, 5, top);
    printf("query %zu: ", q + 1);
    print_place(work, work->rows[q]);
    printf("\n  sum %.7f\n", figures->sum);
    if (figures->distribution)
        printf("  entropy %.4f nats\n  effective keys %.2f of %zu\n", figures->entropy,
               figures->effective, figures->keys);
    else
        printf("  weights from %.6g to %.6g, divided by %.6g\n", (double)figures->smallest,
               (double)figures->largest, figures->normalizer);
    const bool euclidean = param_choice(&args->doc, PARAM_SIMILARITY) == NL_EUCLIDEAN;
    if (figures->width > 0 && !(figures->notes & (NL_NOTE_UNIFORM | NL_NOTE_PERPLEXITY_MISS)))
        printf("  %s %.5g\n", euclidean ? "filter width h" : "temperature", figures->width);
    for (size_t t = 0; t < count; t++) {
        printf("  %zu. ", t + 1);
        print_place(work, top[t]);
        printf("  weight %.6g\n", (double)a[top[t]]);
    }
    print_notes(figures->notes);
}

/* A table's rows are asked for as its file counts them, also where some were left out. */
static nl_status find_row(const struct source *source, struct doc_query *query, nl_error *error)
{
    const nl_table *table = &source->table;
    if (source->kind != SOURCE_TABLE || !query->by_row)
        return NL_OK;
    for (size_t i = 0; i < table->values.rows; i++) {
        if (table->row_numbers[i] == query->row + 1) {
            query->row = i;
            return NL_OK;
        }
    }
    if (query->row < table->rows_read)
        return nl_fail(error, NL_INVALID,
                       "the query row:%zu was left out: cells are missing in it; ask for another",
                       query->row + 1);
    return nl_fail(error, NL_INVALID, "the query row:%zu is outside: there are %zu rows",
                   query->row + 1, table->rows_read);
}

static nl_status prepare(const struct args *args, struct work *work, nl_error *error)
{
    const struct doc *doc = &args->doc;
    nl_status status = verb_exec_create(doc, &work->exec, error);
    if (status == NL_OK)
        status = source_load(doc->source, &args->csv, &work->source, error);
    if (status == NL_OK)
        status = verb_check_idle(args, work->source.kind, error);
    if (status == NL_OK)
        status = stage_features_run(doc, &work->source, &work->exec.exec, &work->features, error);
    for (int q = 0; status == NL_OK && q < doc->query_count; q++) {
        struct doc_query query = doc->queries[q];
        status = find_row(&work->source, &query, error);
        if (status == NL_OK)
            status =
                stage_query_row(&work->features, work->source.kind, &query, &work->rows[q], error);
    }
    if (status == NL_OK)
        status =
            stage_attention_run(doc, &work->features, &work->exec.exec, &work->attention, error);
    if (status == NL_OK)
        status =
            nl_matrix_alloc(&work->weights, (size_t)doc->query_count, work->features.x.rows, error);
    return status;
}

static nl_status write_csv(const char *path, const struct work *work, nl_error *error)
{
    const nl_grid *grid = &work->features.grid;
    struct text text = {0};
    const size_t frame = grid->gh / work->features.frames; /* rows of one */
    text_add(&text, "query,t,y,x,weight\n");
    for (size_t q = 0; q < work->weights.rows; q++)
        for (size_t j = 0; j < work->weights.cols; j++)
            text_add(&text, "%zu,%zu,%zu,%zu,%.9g\n", q + 1, j / grid->gw / frame,
                     j / grid->gw % frame, j % grid->gw, (double)nl_row(&work->weights, q)[j]);
    return text_write(&text, path, error);
}

static nl_status write_output(const struct args *args, const struct work *work, nl_error *error)
{
    const nl_grid *grid = &work->features.grid;
    const size_t frames = work->features.frames;
    const size_t picture[3] = {work->weights.rows, grid->gh, grid->gw};
    const size_t clip[4] = {work->weights.rows, frames, grid->gh / frames, grid->gw};
    if (file_has_extension(args->output, ".npy"))
        return npy_write(args->output, &work->weights, frames > 1 ? clip : picture,
                         frames > 1 ? 4 : 3, error);
    if (file_has_extension(args->output, ".csv"))
        return write_csv(args->output, work, error);
    return figure_attend(args->output, &args->doc, &work->source, &work->features, &work->weights,
                         work->rows, error);
}

/* What can be told before anything is computed. */
static nl_status check_output(const struct args *args, enum source_kind kind, nl_error *error)
{
    const char *out = args->output;
    if (!out || file_has_extension(out, ".npy") || file_has_extension(out, ".csv"))
        return NL_OK;
    if (!file_has_extension(out, ".png"))
        return nl_fail(error, NL_INVALID, "-o %s: the ending must be .npy, .csv or .png", out);
    if (kind == SOURCE_TABLE || kind == SOURCE_ARRAY)
        return nl_fail(error, NL_INVALID,
                       "-o %s: there is no picture to draw on; write .npy or .csv", out);
    return NL_OK;
}

int verb_attend(const struct args *args)
{
    struct work work = {0};
    nl_row_figures figures[DOC_QUERIES] = {0};
    nl_error error = {0};
    char note[200];
    if (args->doc.query_count == 0 || check_output(args, SOURCE_NONE, &error) != NL_OK) {
        fprintf(stderr, "nonlocal attend: %s\n",
                args->doc.query_count ? error.message
                                      : "no query; add --query X,Y or --query row:N");
        return EXIT_BAD_USAGE;
    }
    nl_status status = prepare(args, &work, &error);
    if (status == NL_OK)
        status = check_output(args, work.source.kind, &error);
    for (size_t q = 0; status == NL_OK && q < work.weights.rows; q++)
        status = nl_attention_row(work.attention.attention, work.rows[q], &work.exec.exec,
                                  nl_row(&work.weights, q), &figures[q], &error);
    if (status == NL_OK && args->output)
        status = write_output(args, &work, &error);
    if (status == NL_OK) {
        print_extent(args, &work);
        for (size_t q = 0; q < work.weights.rows; q++)
            print_query(args, &work, q, &figures[q]);
        if (*source_note(&work.source, note, sizeof note))
            verb_note("%s", note);
        if (work.features.constant_columns)
            verb_note("%zu constant columns became 0 as z-scores", work.features.constant_columns);
    }
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
