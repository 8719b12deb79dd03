/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../figure.h"
#include "../file.h"
#include "output.h"
#include "verb.h"

struct work {
    struct verb_exec exec;
    struct source source;
    struct stage_features features;
    nl_matrix d;
    size_t *order;
};

static void work_free(struct work *work)
{
    free(work->order);
    nl_matrix_free(&work->d);
    stage_features_free(&work->features);
    source_free(&work->source);
    verb_exec_free(&work->exec);
}

static nl_status compute(const struct args *args, struct work *work, nl_error *error)
{
    const struct doc *doc = &args->doc;
    nl_status status =
        stage_features_run(doc, &work->source, &work->exec.exec, &work->features, error);
    if (status != NL_OK)
        return status;
    const size_t n = work->features.x.rows;
    work->order = calloc(n, sizeof *work->order);
    if (!work->order)
        return nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", n);
    status = nl_order_rows((nl_order_id)param_choice(doc, PARAM_ORDER), n,
                           work->source.table.labels, work->order, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&work->d, n, n, error);
    if (status == NL_OK)
        status = nl_dissim((nl_metric_id)param_choice(doc, PARAM_METRIC), &work->features.x,
                           &work->exec.exec, &work->d, error);
    return status;
}

/* The row's number as its file counts it, from 1. */
static size_t row_number(const struct work *work, size_t row)
{
    return work->source.kind == SOURCE_TABLE ? work->source.table.row_numbers[row] : row + 1;
}

/* A cell of a CSV file, in quotes where it must be. */
static void add_cell(struct text *text, const char *cell)
{
    const char *quote = strpbrk(cell, ",;\t\"\r\n") ? "\"" : "";
    text_add(text, "%s", quote);
    for (; *cell; cell++)
        text_add(text, "%s%c", *cell == '"' ? "\"" : "", *cell);
    text_add(text, "%s\n", quote);
}

static nl_status write_order(const char *path, const struct work *work, nl_error *error)
{
    const nl_table *table = &work->source.table;
    struct text text = {0};
    text_add(&text, table->labels ? "position,row,label\n" : "position,row\n");
    for (size_t p = 0; p < work->d.rows; p++) {
        size_t row = work->order[p];
        text_add(&text, "%zu,%zu%s", p + 1, row_number(work, row), table->labels ? "," : "\n");
        if (table->labels)
            add_cell(&text, table->classes[table->labels[row]]);
    }
    return text_write(&text, path, error);
}

static nl_status write_csv(const char *path, const nl_matrix *d, nl_error *error)
{
    struct text text = {0};
    for (size_t i = 0; i < d->rows; i++)
        for (size_t j = 0; j < d->cols; j++)
            text_add(&text, "%.9g%c", (double)nl_row(d, i)[j], j + 1 < d->cols ? ',' : '\n');
    return text_write(&text, path, error);
}

static nl_status write_output(const struct args *args, const struct work *work, nl_error *error)
{
    const struct doc *doc = &args->doc;
    const size_t shape[2] = {work->d.rows, work->d.rows};
    char title[400];
    if (!args->output)
        return NL_OK;
    if (file_has_extension(args->output, ".npy"))
        return npy_write(args->output, &work->d, shape, 2, error);
    if (file_has_extension(args->output, ".csv"))
        return write_csv(args->output, &work->d, error);
    snprintf(title, sizeof title, "%s · %s distance · order: %s · n = %zu", work->source.name,
             nl_metrics[param_choice(doc, PARAM_METRIC)].label,
             nl_orders[param_choice(doc, PARAM_ORDER)].label, work->d.rows);
    return figure_matrix(args->output, &work->d, work->order, title, error);
}

static void print_classes(const struct work *work)
{
    const nl_table *table = &work->source.table;
    const size_t count = table->class_count;
    double *means = count <= 64 ? calloc(count * count, sizeof *means) : NULL;
    printf("class_runs %zu\n", nl_class_runs(table->labels, work->d.rows, work->order));
    if (!means)
        return;
    nl_block_means(&work->d, table->labels, count, means);
    for (size_t a = 0; a < count; a++)
        for (size_t b = a; b < count; b++)
            printf("block_mean[%s,%s] %.6f\n", table->classes[a], table->classes[b],
                   means[a * count + b]);
    free(means);
}

static void print_quality(const struct work *work)
{
    size_t i = 0, j = 0;
    double largest = (double)nl_dissim_largest(&work->d, &i, &j);
    printf("rows %zu\nfeatures %zu\n", work->d.rows, work->features.x.cols);
    printf("largest %.6f\nlargest_rows %zu,%zu\n", largest, row_number(work, i),
           row_number(work, j));
    printf("path_length %.6f\n", nl_path_length(&work->d, work->order));
    printf("path_length_input %.6f\n", nl_path_length(&work->d, NULL));
    if (work->source.table.labels)
        print_classes(work);
}

static nl_status check_output(const struct args *args, nl_error *error)
{
    const char *out = args->output;
    if (out && !file_has_extension(out, ".npy") && !file_has_extension(out, ".csv") &&
        !file_has_extension(out, ".png"))
        return nl_fail(error, NL_INVALID, "-o %s: the ending must be .npy, .csv or .png", out);
    return NL_OK;
}

int verb_dissim(const struct args *args)
{
    struct work work = {0};
    nl_error error = {0};
    char note[200];
    if (check_output(args, &error) != NL_OK) {
        fprintf(stderr, "nonlocal dissim: %s\n", error.message);
        return EXIT_BAD_USAGE;
    }
    nl_status status = verb_exec_create(&args->doc, &work.exec, &error);
    if (status == NL_OK)
        status = source_load(args->doc.source, &args->csv, &work.source, &error);
    if (status == NL_OK)
        status = verb_check_idle(args, work.source.kind, &error);
    if (status == NL_OK)
        status = compute(args, &work, &error);
    if (status == NL_OK)
        status = write_output(args, &work, &error);
    if (status == NL_OK && args->order_out)
        status = write_order(args->order_out, &work, &error);
    if (status == NL_OK) {
        print_quality(&work);
        if (*source_note(&work.source, note, sizeof note))
            verb_note("%s", note);
        if (work.features.constant_columns)
            verb_note("%zu constant columns became 0 as z-scores", work.features.constant_columns);
    }
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
