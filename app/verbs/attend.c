/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "../figure.h"
#include "../file.h"
#include "output.h"
#include "verb.h"

/* One end of the attention. */
struct side {
    struct source source;
    struct stage_features features;
};

struct work {
    struct verb_exec exec;
    struct side asked;       /* where the queries are */
    struct side other;       /* --keys */
    const struct side *read; /* where the keys are: &asked or &other */
    struct stage_attention attention;
    nl_matrix weights; /* one row a query over the keys (or what it receives) */
    size_t rows[DOC_QUERIES];
    nl_row_figures figures[DOC_QUERIES];
};

static void side_free(struct side *side)
{
    stage_features_free(&side->features);
    source_free(&side->source);
}

static void work_free(struct work *work)
{
    nl_matrix_free(&work->weights);
    stage_attention_free(&work->attention);
    side_free(&work->asked);
    side_free(&work->other);
    verb_exec_free(&work->exec);
}

static void print_extent(const struct args *args, const struct work *work, const struct side *side)
{
    const nl_picture *picture = &side->features.picture;
    const nl_grid *grid = &side->features.grid;
    const nl_matrix *x = &side->features.x;
    char feature[64];
    printf("%s: ", side->source.name);
    if (side->source.kind == SOURCE_PICTURE) {
        printf("%zu × %zu pixels", picture->original_width, picture->original_height);
        if (picture->width != picture->original_width)
            printf(", reduced to %zu × %zu", picture->width, picture->height);
        printf(
            "\nfeatures %s, patch %zu, stride %zu\n",
            param_format(PARAM_FEATURES, args->doc.params[PARAM_FEATURES], feature, sizeof feature),
            grid->patch, grid->stride);
    } else {
        printf("%zu rows, %zu features\n", x->rows, x->cols);
    }
    if (side->features.frames > 1)
        printf("%zu frames, ", side->features.frames);
    printf("grid %zu × %zu, n = %zu, d = %zu", grid->gw, grid->gh / side->features.frames, x->rows,
           x->cols);
    if (work->attention.theta.data)
        printf(", l = %zu", work->attention.embedded);
    printf("\n");
}

static void print_place(const struct source *source, const struct stage_features *features,
                        size_t row)
{
    const nl_grid *grid = &features->grid;
    const nl_table *table = &source->table;
    const size_t frame = grid->gh / features->frames;
    if (source->kind == SOURCE_PICTURE) {
        double x, y;
        stage_cell_pixel(features, row, &x, &y);
        printf("cell (%zu, %zu), centre at pixel %.0f,%.0f", row % grid->gw, row / grid->gw, x, y);
    } else if (features->frames > 1) {
        printf("frame %zu, cell (%zu, %zu)", row / grid->gw / frame, row % grid->gw,
               row / grid->gw % frame);
    } else if (grid->gh > 1) {
        printf("cell (%zu, %zu)", row % grid->gw, row / grid->gw);
    } else {
        printf("row %zu", source->kind == SOURCE_TABLE ? table->row_numbers[row] : row + 1);
        if (table->labels)
            printf(" (%s)", table->classes[table->labels[row]]);
    }
}

/* Where the numbers of a row (or, received, of a column) lie. */
static const struct stage_features *keys_of(const struct args *args, const struct work *work)
{
    return args->received ? &work->asked.features : &work->attention.keys;
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

static void print_figures(const struct args *args, const nl_row_figures *figures)
{
    const bool euclidean = param_choice(&args->doc, PARAM_SIMILARITY) == NL_EUCLIDEAN;
    printf("\n  sum %.7f\n", figures->sum);
    if (figures->distribution)
        printf("  entropy %.4f nats\n  effective keys %.2f of %zu\n", figures->entropy,
               figures->effective, figures->keys);
    else
        printf("  weights from %.6g to %.6g, divided by %.6g\n", (double)figures->smallest,
               (double)figures->largest, figures->normalizer);
    if (figures->width > 0 && !(figures->notes & (NL_NOTE_UNIFORM | NL_NOTE_PERPLEXITY_MISS)))
        printf("  %s %.5g\n", euclidean ? "filter width h" : "temperature", figures->width);
}

static void print_query(const struct args *args, const struct work *work, size_t q)
{
    const float *a = nl_row(&work->weights, q);
    size_t top[5], count = nl_top(a, work->weights.cols, 5, top);
    printf(args->received ? "received by query %zu: " : "query %zu: ", q + 1);
    print_place(&work->asked.source, &work->asked.features, work->rows[q]);
    if (args->received) {
        double sum = 0;
        for (size_t i = 0; i < work->weights.cols; i++)
            sum += (double)a[i];
        printf("\n  sum %.7f (of a column: it need not be 1)\n", sum);
    } else {
        print_figures(args, &work->figures[q]);
    }
    for (size_t t = 0; t < count; t++) {
        printf("  %zu. ", t + 1);
        print_place(&work->read->source, keys_of(args, work), top[t]);
        printf("  weight %.6g\n", (double)a[top[t]]);
    }
    print_notes(work->figures[q].notes);
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

static nl_status load_side(const struct args *args, const char *path, const nl_exec *exec,
                           struct side *side, nl_error *error)
{
    nl_status status = source_load(path, &args->csv, &side->source, error);
    if (status == NL_OK)
        status = verb_check_idle(args, side->source.kind, error);
    if (status == NL_OK)
        status = stage_features_run(&args->doc, &side->source, exec, &side->features, error);
    return status;
}

/* Between two sources no key is a query's own. */
static nl_status load_keys(const struct args *args, struct doc *doc, struct work *work,
                           nl_error *error)
{
    work->read = &work->asked;
    if (!args->keys)
        return NL_OK;
    static const enum param_id own[] = {PARAM_SELF, PARAM_SEARCH};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (doc->params[own[i]].given)
            return nl_fail(error, NL_INVALID, "--%s has no effect with --keys; leave it out",
                           param_table[own[i]].key);
    param_set(doc, PARAM_SELF, (struct param_value){.number = NL_SELF_KEEP});
    work->read = &work->other;
    return load_side(args, args->keys, &work->exec.exec, &work->other, error);
}

static nl_status prepare(const struct args *args, struct work *work, nl_error *error)
{
    struct doc doc = args->doc;
    nl_status status = verb_exec_create(&doc, &work->exec, error);
    if (status == NL_OK)
        status = load_side(args, doc.source, &work->exec.exec, &work->asked, error);
    if (status == NL_OK)
        status = load_keys(args, &doc, work, error);
    for (int q = 0; status == NL_OK && q < doc.query_count; q++) {
        struct doc_query query = doc.queries[q];
        status = find_row(&work->asked.source, &query, error);
        if (status == NL_OK)
            status = stage_query_row(&work->asked.features, work->asked.source.kind, &query,
                                     &work->rows[q], error);
    }
    if (status == NL_OK)
        status = stage_attention_between(&doc, &work->asked.features.x, &work->read->features,
                                         !args->keys, &work->exec.exec, &work->attention, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&work->weights, (size_t)doc.query_count,
                                 args->received ? work->asked.features.x.rows
                                                : nl_attention_keys(work->attention.attention),
                                 error);
    if (status == NL_OK && args->received && work->attention.pooled_keys)
        status = nl_fail(error, NL_INVALID,
                         "--received has no effect on pooled keys: no key is a query's own");
    return status;
}

static nl_status compute(const struct args *args, struct work *work, nl_error *error)
{
    const nl_attention *attention = work->attention.attention;
    const nl_exec *exec = &work->exec.exec;
    nl_status status = NL_OK;
    for (size_t q = 0; status == NL_OK && q < work->weights.rows; q++) {
        float *weights = nl_row(&work->weights, q);
        status = args->received
                     ? nl_attention_received(attention, work->rows[q], exec, weights, error)
                     : nl_attention_row(attention, work->rows[q], exec, weights, &work->figures[q],
                                        error);
    }
    return status;
}

static nl_status write_csv(const struct args *args, const struct work *work, nl_error *error)
{
    const nl_grid *grid = &keys_of(args, work)->grid;
    struct text text = {0};
    const size_t frame = grid->gh / keys_of(args, work)->frames; /* rows of one */
    text_add(&text, "query,t,y,x,weight\n");
    for (size_t q = 0; q < work->weights.rows; q++)
        for (size_t j = 0; j < work->weights.cols; j++)
            text_add(&text, "%zu,%zu,%zu,%zu,%.9g\n", q + 1, j / grid->gw / frame,
                     j / grid->gw % frame, j % grid->gw, (double)nl_row(&work->weights, q)[j]);
    return text_write(&text, args->output, error);
}

static nl_status write_output(const struct args *args, const struct work *work, nl_error *error)
{
    const nl_grid *grid = &keys_of(args, work)->grid;
    const size_t frames = keys_of(args, work)->frames;
    const size_t picture[3] = {work->weights.rows, grid->gh, grid->gw};
    const size_t clip[4] = {work->weights.rows, frames, grid->gh / frames, grid->gw};
    if (file_has_extension(args->output, ".npy"))
        return npy_write(args->output, &work->weights, frames > 1 ? clip : picture,
                         frames > 1 ? 4 : 3, error);
    if (file_has_extension(args->output, ".csv"))
        return write_csv(args, work, error);
    const struct figure_side asked = {&work->asked.source, &work->asked.features};
    const struct figure_side read = {&work->read->source, keys_of(args, work)};
    return figure_attend(args->output, &args->doc, &asked, &read, &work->weights, work->rows,
                         error);
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

static void print_all(const struct args *args, const struct work *work)
{
    print_extent(args, work, &work->asked);
    if (args->keys)
        print_extent(args, work, work->read);
    for (size_t q = 0; q < work->weights.rows; q++)
        print_query(args, work, q);
    for (const struct side *side = &work->asked;; side = work->read) {
        verb_note_source(&side->source, side->features.constant_columns);
        if (side == work->read)
            break;
    }
}

int verb_attend(const struct args *args)
{
    static struct work work;
    nl_error error = {0};
    const char *usage = NULL;
    if (args->doc.query_count == 0)
        usage = "no query; add --query X,Y or --query row:N";
    else if (args->received && args->keys)
        usage = "--received has no effect with --keys; leave it out";
    else if (check_output(args, SOURCE_NONE, &error) != NL_OK)
        usage = error.message;
    if (usage) {
        fprintf(stderr, "nonlocal attend: %s\n", usage);
        return EXIT_BAD_USAGE;
    }
    nl_status status = prepare(args, &work, &error);
    if (status == NL_OK)
        status = check_output(args, work.read->source.kind, &error);
    if (status == NL_OK)
        status = compute(args, &work, &error);
    if (status == NL_OK && args->output)
        status = write_output(args, &work, &error);
    if (status == NL_OK)
        print_all(args, &work);
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
