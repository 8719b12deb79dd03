/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../figure.h"
#include "../file.h"
#include "output.h"
#include "verb.h"

enum { OVERVIEW_SIDE = 1024 };

struct work {
    struct verb_exec exec;
    struct source source;
    struct stage_features features;
    size_t n;      /* rows of D: of the table, or its columns with --of columns */
    bool columns;  /* --of columns */
    bool overview; /* d is s × s means over n × n */
    nl_matrix d;   /* in file order; an overview in the order chosen */
    float largest; /* of all n × n */
    size_t *order;
    nl_tree tree;
    unsigned notes;   /* NL_ORDER_NOTE_ */
    double bandwidth; /* that was used; 0 = none */
    size_t constant;  /* --of columns: constant ones */
};

static void work_free(struct work *work)
{
    free(work->order);
    nl_tree_free(&work->tree);
    nl_matrix_free(&work->d);
    stage_features_free(&work->features);
    source_free(&work->source);
    verb_exec_free(&work->exec);
}

/* Class of each row of D; NULL without. */
static const int *labels_of(const struct work *work)
{
    return work->columns ? NULL : work->source.table.labels;
}

static nl_dissim_params dissim_params(const struct doc *doc)
{
    return (nl_dissim_params){
        .metric = (nl_metric_id)param_choice(doc, PARAM_METRIC),
        .bandwidth = param_number(doc, PARAM_BANDWIDTH),
    };
}

/* The file is D itself. */
static nl_status adopt(struct work *work, nl_error *error)
{
    nl_error inner = {0};
    nl_status status = nl_matrix_copy(&work->d, &work->features.x, error);
    if (status != NL_OK)
        return status;
    status = nl_dissim_adopt(&work->d, &inner);
    return status == NL_OK ? NL_OK
                           : nl_fail(error, status, "%s: %s", work->source.name, inner.message);
}

static nl_status compute_matrix(const struct doc *doc, struct work *work, nl_error *error)
{
    const nl_exec *exec = &work->exec.exec;
    const nl_dissim_params params = dissim_params(doc);
    size_t i = 0, j = 0;
    nl_status status;
    if (doc->ready) {
        status = adopt(work, error);
    } else {
        status = nl_matrix_alloc(&work->d, work->n, work->n, error);
        if (status == NL_OK && work->columns)
            status = nl_dissim_columns(&work->features.x, exec, &work->d, &work->constant, error);
        else if (status == NL_OK)
            status =
                nl_dissim_run(&params, &work->features.x, exec, &work->d, &work->bandwidth, error);
    }
    if (status == NL_OK)
        work->largest = nl_dissim_largest(&work->d, &i, &j);
    return status;
}

static nl_status compute_order(const struct doc *doc, struct work *work, nl_error *error)
{
    const nl_exec *exec = &work->exec.exec;
    const bool rows = !doc->ready && !work->columns;
    double *keys = NULL;
    nl_order_params params = {
        .id = (nl_order_id)param_choice(doc, PARAM_ORDER),
        .leaf = (nl_leaf)param_choice(doc, PARAM_LEAF),
        .classes = labels_of(work),
    };
    nl_status status = NL_OK;
    if (params.id == NL_ORDER_BRIGHTNESS && work->source.kind == SOURCE_PICTURE && rows) {
        keys = calloc(work->n, sizeof *keys);
        if (!keys)
            return nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", work->n);
        status = stage_brightness(&work->features, exec, keys, error);
        params.keys = keys;
    }
    if (status == NL_OK)
        status = nl_order_run(&params, work->n, work->overview ? NULL : &work->d,
                              rows ? &work->features.x : NULL, exec, work->order, &work->tree,
                              &work->notes, error);
    free(keys);
    return status;
}

/* More rows than are held whole: what then is possible, and what is not. */
static nl_status check_size(const struct args *args, const struct work *work, nl_error *error)
{
    const nl_order *order = &nl_orders[param_choice(&args->doc, PARAM_ORDER)];
    const bool png = !args->output || file_has_extension(args->output, ".png");
    const double bytes = nl_dissim_bytes(work->n);
    if (work->n <= NL_DISSIM_WHOLE_ROWS)
        return NL_OK;
    if (!work->columns && !args->doc.ready && png && !order->needs_matrix)
        return NL_OK;
    return nl_fail(error, NL_LIMIT,
                   "n = %zu: the matrix would take %.2f GB, and it is held whole up to n = %d; %s",
                   work->n, bytes * 1e-9, NL_DISSIM_WHOLE_ROWS,
                   work->columns || args->doc.ready ? "take fewer"
                   : work->source.kind == SOURCE_PICTURE
                       ? "take a larger --stride or a smaller --max-side, or -o OUT.png with "
                         "--order input, pca or brightness"
                       : "take fewer rows, or -o OUT.png with --order input, label or pca");
}

static nl_status compute_overview(const struct doc *doc, struct work *work, nl_error *error)
{
    const nl_dissim_params params = dissim_params(doc);
    nl_matrix largest = {0};
    size_t i = 0, j = 0;
    nl_status status = nl_matrix_alloc(&work->d, OVERVIEW_SIDE, OVERVIEW_SIDE, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&largest, OVERVIEW_SIDE, OVERVIEW_SIDE, error);
    if (status == NL_OK)
        status = nl_dissim_overview(&params, &work->features.x, work->order, &work->exec.exec,
                                    &work->d, &largest, &work->bandwidth, error);
    if (status == NL_OK)
        work->largest = nl_dissim_largest(&largest, &i, &j);
    nl_matrix_free(&largest);
    return status;
}

static nl_status compute(const struct args *args, struct work *work, nl_error *error)
{
    const struct doc *doc = &args->doc;
    nl_status status =
        stage_features_run(doc, &work->source, &work->exec.exec, &work->features, error);
    if (status != NL_OK)
        return status;
    work->columns = param_choice(doc, PARAM_OF) == COMPARE_COLUMNS;
    work->n = work->columns ? work->features.x.cols : work->features.x.rows;
    work->overview = work->n > NL_DISSIM_WHOLE_ROWS;
    status = check_size(args, work, error);
    if (status != NL_OK)
        return status;
    work->order = calloc(work->n, sizeof *work->order);
    if (!work->order)
        return nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", work->n);
    if (!work->overview)
        status = compute_matrix(doc, work, error);
    if (status == NL_OK)
        status = compute_order(doc, work, error);
    if (status == NL_OK && work->overview)
        status = compute_overview(doc, work, error);
    return status;
}

/* The row's number as its file counts it, from 1. */
static size_t row_number(const struct work *work, size_t row)
{
    return work->source.kind == SOURCE_TABLE && !work->columns ? work->source.table.row_numbers[row]
                                                               : row + 1;
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

/* What P.csv calls a row: its class, or the column's name; NULL where there is nothing. */
static const char *label_of(const struct work *work, size_t row)
{
    const nl_table *table = &work->source.table;
    if (work->columns)
        return work->source.kind == SOURCE_TABLE ? table->names[row] : NULL;
    return table->labels ? table->classes[table->labels[row]] : NULL;
}

static nl_status write_order(const char *path, const struct work *work, nl_error *error)
{
    struct text text = {0};
    text_add(&text, label_of(work, 0) ? "position,row,label\n" : "position,row\n");
    for (size_t p = 0; p < work->n; p++) {
        const char *label = label_of(work, work->order[p]);
        text_add(&text, "%zu,%zu%s", p + 1, row_number(work, work->order[p]), label ? "," : "\n");
        if (label)
            add_cell(&text, label);
    }
    return text_write(&text, path, error);
}

static nl_status write_tree(const char *path, const struct work *work, nl_error *error)
{
    struct text text = {0};
    text_add(&text, "left,right,height,size\n");
    for (size_t m = 0; m < work->tree.count; m++) {
        const nl_merge *merge = &work->tree.merges[m];
        text_add(&text, "%zu,%zu,%.17g,%zu\n", merge->left, merge->right, merge->height,
                 merge->size);
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

/* What the numbers of D are, in words. */
static const char *measure(const struct doc *doc, const struct work *work, char *buffer,
                           size_t size)
{
    const int metric = param_choice(doc, PARAM_METRIC);
    const int scaling = param_choice(doc, PARAM_ROWS);
    char width[40] = "", rows[60] = "";
    if (doc->ready)
        return "D as given";
    if (work->columns)
        return "columns, 1 − |correlation|";
    if (metric == NL_METRIC_GAUSSIAN)
        snprintf(width, sizeof width, ", b = %.4g", work->bandwidth);
    if (work->source.kind != SOURCE_PICTURE)
        snprintf(rows, sizeof rows, ", rows: %s", param_table[PARAM_ROWS].choice_name(scaling));
    snprintf(buffer, size, "%s%s%s%s", nl_metrics[metric].label,
             metric <= NL_METRIC_CHEBYSHEV ? " distance" : "", width, rows);
    return buffer;
}

static nl_status write_figure(const struct args *args, const struct work *work, nl_error *error)
{
    const struct doc *doc = &args->doc;
    const nl_order *order = &nl_orders[param_choice(doc, PARAM_ORDER)];
    char title[500], what[200], leaves[40] = "", reduced[60] = "";
    if (order->tree && param_choice(doc, PARAM_LEAF) == NL_LEAF_OPTIMAL &&
        !(work->notes & NL_ORDER_NOTE_PLAIN_LEAVES))
        snprintf(leaves, sizeof leaves, ", optimal leaves");
    if (work->overview)
        snprintf(reduced, sizeof reduced, " · means, %d × %d", OVERVIEW_SIDE, OVERVIEW_SIDE);
    snprintf(title, sizeof title, "%s · %s · order: %s%s · n = %zu%s", work->source.name,
             measure(doc, work, what, sizeof what), order->label, leaves, work->n, reduced);
    return figure_matrix(args->output, &work->d, work->overview ? NULL : work->order, title, error);
}

static nl_status write_output(const struct args *args, const struct work *work, nl_error *error)
{
    const size_t shape[2] = {work->n, work->n};
    nl_status status = NL_OK;
    if (args->output && file_has_extension(args->output, ".npy"))
        status = npy_write(args->output, &work->d, shape, 2, error);
    else if (args->output && file_has_extension(args->output, ".csv"))
        status = write_csv(args->output, &work->d, error);
    else if (args->output)
        status = write_figure(args, work, error);
    if (status == NL_OK && args->order_out)
        status = write_order(args->order_out, work, error);
    if (status == NL_OK && args->tree_out)
        status = write_tree(args->tree_out, work, error);
    return status;
}

static nl_status print_classes(const struct work *work, nl_error *error)
{
    const nl_table *table = &work->source.table;
    const size_t count = table->class_count;
    double *means = count <= 64 ? calloc(count * count, sizeof *means) : NULL;
    double silhouette;
    nl_status status =
        nl_silhouette(&work->d, table->labels, count, &work->exec.exec, &silhouette, error);
    if (status == NL_OK) {
        printf("class_runs %zu\n", nl_class_runs(table->labels, work->n, work->order));
        printf("class_runs_input %zu\n", nl_class_runs(table->labels, work->n, NULL));
        if (!isnan(silhouette))
            printf("silhouette %.6f\n", silhouette);
    }
    if (status == NL_OK && means) {
        nl_block_means(&work->d, table->labels, count, means);
        for (size_t a = 0; a < count; a++)
            for (size_t b = a; b < count; b++)
                printf("block_mean[%s,%s] %.6f\n", table->classes[a], table->classes[b],
                       means[a * count + b]);
    }
    free(means);
    return status;
}

/* What was computed, line by line. */
static void print_choices(const struct doc *doc, const struct work *work)
{
    const nl_order *order = &nl_orders[param_choice(doc, PARAM_ORDER)];
    const nl_metric *metric = &nl_metrics[param_choice(doc, PARAM_METRIC)];
    printf("rows %zu\nfeatures %zu\n", work->features.x.rows, work->features.x.cols);
    printf("metric %s\n", doc->ready ? "given" : work->columns ? "1-|correlation|" : metric->name);
    printf("kind %s\n", metric->kind == NL_KIND_DISSIMILARITY ? "dissimilarity" : "similarity");
    if (work->bandwidth > 0)
        printf("bandwidth %.6g\n", work->bandwidth);
    if (!doc->ready && work->source.kind != SOURCE_PICTURE)
        printf("scaling %s\n", param_table[PARAM_ROWS].choice_name(param_choice(doc, PARAM_ROWS)));
    printf("order %s\n", order->name);
    if (order->tree)
        printf("leaf %s\n", work->notes & NL_ORDER_NOTE_PLAIN_LEAVES
                                ? nl_leaf_orders[NL_LEAF_PLAIN].name
                                : nl_leaf_orders[param_choice(doc, PARAM_LEAF)].name);
}

static nl_status print_quality(const struct doc *doc, const struct work *work, nl_error *error)
{
    size_t i = 0, j = 0;
    nl_quality chosen, input;
    nl_status status = NL_OK;
    if (!work->overview) {
        status = nl_quality_of(&work->d, work->order, &work->exec.exec, &chosen, error);
        if (status == NL_OK)
            status = nl_quality_of(&work->d, NULL, &work->exec.exec, &input, error);
        if (status != NL_OK)
            return status;
        nl_dissim_largest(&work->d, &i, &j);
    }
    print_choices(doc, work);
    printf("largest %.6f\n", (double)work->largest);
    if (work->overview)
        return NL_OK;
    printf("largest_rows %zu,%zu\n", row_number(work, i), row_number(work, j));
    printf("path_length %.6f\n", chosen.path_length);
    printf("path_length_input %.6f\n", input.path_length);
    printf("ar_events %llu\n", (unsigned long long)chosen.ar_events);
    printf("ar_events_input %llu\n", (unsigned long long)input.ar_events);
    printf("ar_deviation %.6f\n", chosen.ar_deviation);
    printf("ar_deviation_input %.6f\n", input.ar_deviation);
    return labels_of(work) ? print_classes(work, error) : NL_OK;
}

static void print_notes(const struct doc *doc, const struct work *work)
{
    const int order = param_choice(doc, PARAM_ORDER), metric = param_choice(doc, PARAM_METRIC);
    verb_note_source(&work->source, work->features.constant_columns);
    if (work->constant)
        verb_note("%zu constant columns have no correlation: 1 away from all others",
                  work->constant);
    if (work->notes & NL_ORDER_NOTE_PLAIN_LEAVES)
        verb_note("leaves are ordered optimally up to %d rows: the plain order was taken",
                  NL_LEAF_MAX_ROWS);
    if (work->notes & NL_ORDER_NOTE_UNSETTLED)
        verb_note("the eigenvector did not settle: the order is approximate");
    if (order == NL_ORDER_WARD && !doc->ready && (work->columns || metric != NL_METRIC_EUCLIDEAN))
        verb_note("Ward's criterion means Euclidean distances; these are others");
    if (work->overview)
        verb_note("n = %zu: D would take %.2f GB; shown are means over %d × %d cells, computed in "
                  "blocks (%.0f MB)",
                  work->n, nl_dissim_bytes(work->n) * 1e-9, OVERVIEW_SIDE, OVERVIEW_SIDE,
                  nl_dissim_overview_bytes(work->n, work->features.x.cols, OVERVIEW_SIDE,
                                           nl_pool_threads(work->exec.pool)) *
                      1e-6);
}

static nl_status check_usage(const struct args *args, nl_error *error)
{
    const char *out = args->output;
    if (out && !file_has_extension(out, ".npy") && !file_has_extension(out, ".csv") &&
        !file_has_extension(out, ".png"))
        return nl_fail(error, NL_INVALID, "-o %s: the ending must be .npy, .csv or .png", out);
    if (args->tree_out && !nl_orders[param_choice(&args->doc, PARAM_ORDER)].tree)
        return nl_fail(error, NL_INVALID,
                       "--tree-out needs a tree: --order single, complete, average or ward");
    if (args->doc.ready && (args->csv.columns || args->csv.missing != NL_MISSING_REFUSE))
        return nl_fail(error, NL_INVALID,
                       "--columns and --missing have no effect with --matrix; leave them out");
    return NL_OK;
}

int verb_dissim(const struct args *args)
{
    struct work work = {0};
    nl_error error = {0};
    if (check_usage(args, &error) != NL_OK) {
        fprintf(stderr, "nonlocal dissim: %s\n", error.message);
        return EXIT_BAD_USAGE;
    }
    nl_status status = verb_exec_create(&args->doc, &work.exec, &error);
    if (status == NL_OK)
        status = source_load(args->doc.source, &args->csv, &work.source, &error);
    if (status == NL_OK)
        status = verb_check_idle(args, work.source.kind, &error);
    if (status == NL_OK && args->doc.ready && work.source.kind == SOURCE_PICTURE)
        status = nl_fail(&error, NL_INVALID, "%s is a picture; --matrix needs a table or an array",
                         args->doc.source);
    if (status == NL_OK)
        status = compute(args, &work, &error);
    if (status == NL_OK)
        status = write_output(args, &work, &error);
    if (status == NL_OK)
        status = print_quality(&args->doc, &work, &error);
    if (status == NL_OK)
        print_notes(&args->doc, &work);
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
