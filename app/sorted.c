/* SPDX-License-Identifier: MIT */
/* The parts behind the matrix panel: D, its order, the numbers shown, and how good the order is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"

/* --- D ---- */

static void dissim_destroy(struct part *part)
{
    nl_matrix_free(&((struct dissim_part *)part)->d);
}

static void refuse_size(struct dissim_part *part, int limit, bool picture)
{
    snprintf(part->refused, sizeof part->refused,
             "n = %zu: the matrix would take %.1f GB. Up to n = %d it is shown; %s gets there.",
             part->n, nl_dissim_bytes(part->n) * 1e-9, limit,
             picture ? "a larger stride or a smaller longer side" : "a file with fewer rows");
}

/* D of the rows, or the rows themselves where the source is D. */
static nl_status fill_dissim(const struct doc *doc, const nl_matrix *x, bool numbers,
                             const nl_exec *exec, struct dissim_part *part, nl_error *error)
{
    const nl_dissim_params params = {(nl_metric_id)param_choice(doc, PARAM_METRIC),
                                     param_number(doc, PARAM_BANDWIDTH)};
    nl_status status;
    if (doc->ready && numbers) {
        part->given = true;
        status = nl_matrix_copy(&part->d, x, error);
        return status == NL_OK ? nl_dissim_adopt(&part->d, error) : status;
    }
    status = nl_matrix_alloc(&part->d, x->rows, x->rows, error);
    return status == NL_OK ? nl_dissim_run(&params, x, exec, &part->d, &part->bandwidth, error)
                           : status;
}

struct dissim_part *dissim_part_make(const struct doc *doc, const struct features_part *features,
                                     uint64_t key, const nl_exec *exec, nl_error *error)
{
    const nl_matrix *x = &features->features.x;
    struct dissim_part *part = part_new(sizeof *part, key, dissim_destroy, error);
    if (!part)
        return NULL;
    part->features_key = features->part.key;
    part->metric = (nl_metric_id)param_choice(doc, PARAM_METRIC);
    part->n = x->rows;
    const int limit =
        doc->ready && features->features.picture.width == 0 ? DISSIM_MAX : BLOCKWISE_MAX;
    if (x->rows > (size_t)limit)
        refuse_size(part, limit, features->features.picture.width > 0);
    if (x->rows > DISSIM_MAX)
        return part;
    nl_status status =
        fill_dissim(doc, x, features->features.picture.width == 0, exec, part, error);
    if (status == NL_OK)
        part->largest = nl_dissim_largest(&part->d, &part->largest_i, &part->largest_j);
    else
        part_release(&part);
    return part;
}

/* --- Order ---- */

static void order_destroy(struct part *part)
{
    struct order_part *order = (struct order_part *)part;
    free(order->order);
    free(order->permutation);
    free(order->position);
    dendrogram_free(&order->dendrogram);
    part_release(&order->dissim);
}

/*
 * An order that needs D whole is replaced where D is not held. One that needs what this source has
 * not was chosen for another, which this one has just replaced.
 */
static nl_order_id order_for(const struct doc *doc, const struct source *source,
                             const struct dissim_part *dissim, unsigned *notes)
{
    const nl_order_id id = (nl_order_id)param_choice(doc, PARAM_ORDER);
    if ((nl_orders[id].needs_classes && !source->table.labels) ||
        (nl_orders[id].needs_keys && source->kind != SOURCE_PICTURE))
        return NL_ORDER_INPUT;
    if (dissim->d.rows > 0 || !nl_orders[id].needs_matrix)
        return id;
    *notes |= ORDER_NOTE_NO_MATRIX;
    return NL_ORDER_PCA;
}

static nl_status run_order(const struct doc *doc, const struct source_part *source,
                           const struct features_part *features, const nl_exec *exec,
                           struct order_part *part, nl_tree *tree, nl_error *error)
{
    const struct dissim_part *dissim = part->dissim;
    double *keys = NULL;
    unsigned notes = 0;
    part->id = order_for(doc, &source->source, dissim, &part->notes);
    nl_order_params params = {.id = part->id,
                              .leaf = (nl_leaf)param_choice(doc, PARAM_LEAF),
                              .classes = source->source.table.labels};
    nl_status status = NL_OK;
    if (nl_orders[params.id].needs_keys && source->source.kind == SOURCE_PICTURE) {
        params.keys = keys = malloc(part->n * sizeof *keys);
        status = keys ? stage_brightness(&features->features, exec, keys, error)
                      : nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", part->n);
    }
    if (status == NL_OK)
        status = nl_order_run(&params, part->n, dissim->d.rows > 0 ? &dissim->d : NULL,
                              dissim->given ? NULL : &features->features.x, exec, part->order, tree,
                              &notes, error);
    free(keys);
    part->notes |= notes;
    return status;
}

static nl_status fill_order(const struct doc *doc, const struct source_part *source,
                            const struct features_part *features, const nl_exec *exec,
                            struct order_part *part, nl_error *error)
{
    const nl_matrix *d = &part->dissim->d;
    const int *labels = source->source.table.labels;
    nl_tree tree = {0};
    nl_status status = run_order(doc, source, features, exec, part, &tree, error);
    if (status != NL_OK)
        return status;
    for (size_t p = 0; p < part->n; p++) {
        part->permutation[p] = (float)part->order[p];
        part->position[part->order[p]] = (float)p;
    }
    if (d->rows > 0) {
        part->path = nl_path_length(d, part->order);
        part->path_input = nl_path_length(d, NULL);
    }
    if (labels) {
        part->class_runs = nl_class_runs(labels, part->n, part->order);
        part->class_runs_input = nl_class_runs(labels, part->n, NULL);
    }
    status = dendrogram_create(&tree, part->position, &part->dendrogram, error);
    nl_tree_free(&tree);
    return status;
}

struct order_part *order_part_make(const struct doc *doc, const struct source_part *source,
                                   const struct features_part *features, struct dissim_part *dissim,
                                   uint64_t key, const nl_exec *exec, nl_error *error)
{
    const size_t n = dissim->refused[0] ? 0 : dissim->n;
    struct order_part *part = part_new(sizeof *part, key, order_destroy, error);
    if (!part)
        return NULL;
    part->dissim = part_hold(dissim);
    part->n = n;
    part->order = calloc(n ? n : 1, sizeof *part->order);
    part->permutation = calloc(n ? n : 1, sizeof *part->permutation);
    part->position = calloc(n ? n : 1, sizeof *part->position);
    nl_status status = NL_OK;
    if (!part->order || !part->permutation || !part->position)
        status = nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", n);
    else if (n > 0)
        status = fill_order(doc, source, features, exec, part, error);
    if (status != NL_OK)
        part_release(&part);
    return part;
}

/* --- The numbers shown ---- */

static void cells_destroy(struct part *part)
{
    struct cells_part *cells = (struct cells_part *)part;
    nl_matrix_free(&cells->own);
    part_release(&cells->dissim);
}

const nl_matrix *cells_matrix(const struct cells_part *cells)
{
    return cells->own.rows > 0 ? &cells->own : &cells->dissim->d;
}

uint64_t cells_key(const struct cells_part *cells)
{
    return cells->own.rows > 0 ? cells->part.key : cells->dissim->part.key;
}

/* Ends of the bar: of what is finite; around 0 where there are both signs. */
static void fit_bar(struct cells_part *cells)
{
    float low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < cells->own.rows; i++) {
        const float *row = nl_row(&cells->own, i);
        for (size_t j = 0; j < cells->own.cols; j++)
            if (isfinite(row[j])) {
                low = fminf(low, row[j]);
                high = fmaxf(high, row[j]);
            }
    }
    cells->low = low <= high ? low : 0;
    if (cells->shown == SHOWN_WEIGHTS && cells->low > 0)
        cells->low = 0; /* a softmax reaches down to it, or nearly */
    cells->high = low <= high ? high : 0;
    cells->is_signed = cells->low < 0 && cells->high > 0;
    if (cells->is_signed) {
        cells->high = fmaxf(-cells->low, cells->high);
        cells->low = -cells->high;
    }
}

static int ascending(const void *a, const void *b)
{
    const float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/*
 * A few keys far from everything would leave all other scores one colour: the map begins at the
 * lowest twentieth, by a sample.
 */
static void fit_map(struct cells_part *cells)
{
    enum { SAMPLE = 4096 };
    float sample[SAMPLE];
    const size_t n = cells->own.rows, step = n * n / SAMPLE + 1;
    size_t count = 0;
    for (size_t at = 0; at < n * n && count < SAMPLE; at += step) {
        const float value = nl_row(&cells->own, at / n)[at % n];
        if (isfinite(value))
            sample[count++] = value;
    }
    if (count == 0 || cells->is_signed || !(cells->high > cells->low))
        return;
    qsort(sample, count, sizeof *sample, ascending);
    cells->from = (sample[count / 20] - cells->low) / (cells->high - cells->low);
}

/* S or A, where the keys are the rows themselves. */
static nl_status attention_cells(const struct attention_part *attention, size_t n,
                                 const nl_exec *exec, struct cells_part *cells, nl_error *error)
{
    const char letter = cells->shown == SHOWN_SCORES ? 'S' : 'A';
    nl_error inner = {0};
    if (!attention) {
        snprintf(cells->refused, sizeof cells->refused,
                 "There is no attention with these settings, and so no %c.", letter);
        return NL_OK;
    }
    if (attention->attention.pooled_keys) {
        snprintf(cells->refused, sizeof cells->refused,
                 "Keys are pooled: %c has %zu rows and %zu columns, which no order of the rows "
                 "sorts. Pooling: none shows it.",
                 letter, n, nl_attention_keys(attention->attention.attention));
        return NL_OK;
    }
    nl_status status = nl_matrix_alloc(&cells->own, n, n, error);
    if (status != NL_OK)
        return status;
    if (cells->shown == SHOWN_SCORES)
        status = nl_attention_scores(attention->attention.attention, exec, &cells->own, &inner);
    else
        status = nl_attention_rows(attention->attention.attention, exec, &cells->own, &inner);
    if (status == NL_INVALID) { /* a row that these settings refuse: no reason to go without D */
        snprintf(cells->refused, sizeof cells->refused, "%.239s", inner.message);
        nl_matrix_free(&cells->own);
        return NL_OK;
    }
    if (status != NL_OK)
        return nl_fail(error, status, "%s", inner.message);
    fit_bar(cells);
    if (cells->shown == SHOWN_SCORES)
        fit_map(cells);
    return NL_OK;
}

static nl_status ivat_cells(const struct order_part *order, const nl_exec *exec,
                            struct cells_part *cells, nl_error *error)
{
    const nl_matrix *d = &order->dissim->d;
    const nl_order_params params = {.id = NL_ORDER_VAT};
    size_t *vat = malloc(d->rows * sizeof *vat);
    nl_status status =
        vat ? NL_OK : nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", d->rows);
    if (status == NL_OK)
        status = nl_order_run(&params, d->rows, d, NULL, exec, vat, NULL, NULL, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&cells->own, d->rows, d->rows, error);
    if (status == NL_OK)
        status = nl_ivat(d, vat, exec, &cells->own, error);
    free(vat);
    fit_bar(cells);
    cells->low = 0;
    return status;
}

static nl_status means_cells(const nl_table *table, const struct order_part *order,
                             struct cells_part *cells, nl_error *error)
{
    const nl_matrix *d = &order->dissim->d;
    const size_t count = table->class_count;
    if (!table->labels) {
        snprintf(cells->refused, sizeof cells->refused,
                 "There are no classes: class means need a table with a label column.");
        return NL_OK;
    }
    double *means = calloc(count * count, sizeof *means);
    nl_status status = means ? nl_matrix_copy(&cells->own, d, error)
                             : nl_fail(error, NL_NOMEM, "no memory for %zu classes", count);
    if (status == NL_OK)
        nl_block_means(d, table->labels, count, means);
    for (size_t p = 0; status == NL_OK && p < d->rows; p++) {
        const size_t i = order->order[p];
        const double *row = means + (size_t)table->labels[i] * count;
        for (size_t q = p + 1; q < d->rows; q++)
            nl_row(&cells->own, i)[order->order[q]] = (float)row[table->labels[order->order[q]]];
    }
    free(means);
    cells->high = order->dissim->largest;
    return status;
}

static nl_status fill_cells(const struct source_part *source,
                            const struct attention_part *attention, const struct order_part *order,
                            const nl_exec *exec, struct cells_part *cells, nl_error *error)
{
    if (cells->shown == SHOWN_DISSIM || order->n == 0) {
        cells->high = order->dissim->largest;
        return NL_OK;
    }
    if (order->dissim->d.rows == 0) {
        snprintf(cells->refused, sizeof cells->refused,
                 "n = %zu: this matrix would take %.1f GB, and it is held whole up to n = %d. "
                 "Choose D, of which means are computed in blocks.",
                 order->n, nl_dissim_bytes(order->n) * 1e-9, DISSIM_MAX);
        return NL_OK;
    }
    switch (cells->shown) {
    case SHOWN_IVAT:
        return ivat_cells(order, exec, cells, error);
    case SHOWN_MEANS:
        return means_cells(&source->source.table, order, cells, error);
    default:
        return attention_cells(attention, order->n, exec, cells, error);
    }
}

struct cells_part *cells_part_make(const struct doc *doc, const struct source_part *source,
                                   const struct attention_part *attention,
                                   const struct order_part *order, uint64_t key,
                                   const nl_exec *exec, nl_error *error)
{
    struct cells_part *part = part_new(sizeof *part, key, cells_destroy, error);
    if (!part)
        return NULL;
    part->dissim = part_hold(order->dissim);
    part->shown = (enum shown_id)param_choice(doc, PARAM_SHOWN);
    part->similarity = (nl_similarity_id)param_choice(doc, PARAM_SIMILARITY);
    if (fill_cells(source, attention, order, exec, part, error) != NL_OK)
        part_release(&part);
    return part;
}

static void overview_destroy(struct part *part)
{
    nl_matrix_free(&((struct overview_part *)part)->mean);
    nl_matrix_free(&((struct overview_part *)part)->largest);
}

/* Pairs times features that nobody notices waiting for: half a second where AVX2 is. */
static const double patience = 3e10;

/* Every step-th row in the order shown, so that their pairs stay within patience. */
static nl_status thinned_rows(const nl_matrix *x, const struct order_part *order, size_t step,
                              nl_matrix *thinned, nl_error *error)
{
    const size_t rows = (x->rows + step - 1) / step;
    nl_status status = nl_matrix_alloc(thinned, rows, x->cols, error);
    for (size_t p = 0; status == NL_OK && p < rows; p++)
        memcpy(nl_row(thinned, p), nl_row(x, order->order[p * step]), x->cols * sizeof(float));
    return status;
}

/* Means of what is never held whole. */
static nl_status blockwise(const struct doc *doc, const struct features_part *features,
                           const struct order_part *order, const nl_exec *exec,
                           struct overview_part *part, nl_error *error)
{
    const nl_dissim_params params = {(nl_metric_id)param_choice(doc, PARAM_METRIC),
                                     param_number(doc, PARAM_BANDWIDTH)};
    const nl_matrix *x = &features->features.x;
    const double n = (double)x->rows, pairs = n * n / 2;
    nl_matrix thinned = {0};
    const double most = n / OVERVIEW_SIDE; /* a row at least for each cell */
    part->step = (size_t)fmax(fmin(ceil(sqrt(pairs * (double)x->cols / patience)), most), 1);
    nl_status status = thinned_rows(x, order, part->step, &thinned, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&part->largest, OVERVIEW_SIDE, OVERVIEW_SIDE, error);
    if (status == NL_OK)
        status = nl_dissim_overview(&params, &thinned, NULL, exec, &part->mean, &part->largest,
                                    &part->bandwidth, error);
    if (status == NL_OK) {
        size_t i, j;
        part->high = nl_dissim_largest(&part->largest, &i, &j);
    }
    part->bytes = (double)thinned.rows * (double)thinned.stride * sizeof(float) +
                  nl_dissim_overview_bytes(thinned.rows, x->cols, OVERVIEW_SIDE,
                                           exec->pool ? nl_pool_threads(exec->pool) : 1);
    nl_matrix_free(&thinned);
    return status;
}

struct overview_part *overview_part_make(const struct doc *doc,
                                         const struct features_part *features,
                                         const struct cells_part *cells,
                                         const struct order_part *order, uint64_t key,
                                         const nl_exec *exec, nl_error *error)
{
    const nl_matrix *matrix = cells_matrix(cells);
    struct overview_part *part = part_new(sizeof *part, key, overview_destroy, error);
    if (!part || order->n <= OVERVIEW_SIDE || cells->refused[0])
        return part;
    nl_status status = nl_matrix_alloc(&part->mean, OVERVIEW_SIDE, OVERVIEW_SIDE, error);
    if (status == NL_OK && matrix->rows > 0)
        status = nl_matrix_overview(matrix, order->order, exec, &part->mean, error);
    else if (status == NL_OK)
        status = blockwise(doc, features, order, exec, part, error);
    if (status != NL_OK)
        part_release(&part);
    return part;
}

/* --- Quality ---- */

static void quality_destroy(struct part *part)
{
    (void)part;
}

/* What does not depend on the order: how good the file's own is, and the classes. */
static nl_status rate_input(const nl_table *table, const nl_matrix *d,
                            const struct quality_part *before, const nl_exec *exec,
                            struct quality_part *part, nl_error *error)
{
    if (before && before->dissim_key == part->dissim_key) {
        part->input = before->input;
        part->silhouette = before->silhouette;
        return NL_OK;
    }
    nl_status status = nl_quality_of(d, NULL, exec, &part->input, error);
    if (status == NL_OK && table->labels)
        status =
            nl_silhouette(d, table->labels, table->class_count, exec, &part->silhouette, error);
    return status;
}

struct quality_part *quality_part_make(const struct source_part *source,
                                       const struct order_part *order,
                                       const struct quality_part *before, uint64_t key,
                                       const nl_exec *exec, nl_error *error)
{
    const nl_matrix *d = &order->dissim->d;
    struct quality_part *part = part_new(sizeof *part, key, quality_destroy, error);
    if (!part)
        return NULL;
    part->silhouette = NAN;
    part->dissim_key = order->dissim->part.key;
    part->order_key = order->part.key;
    if (d->rows == 0)
        return part;
    nl_status status = nl_quality_of(d, order->order, exec, &part->chosen, error);
    if (status == NL_OK)
        status = rate_input(&source->source.table, d, before, exec, part, error);
    if (status != NL_OK)
        part_release(&part);
    return part;
}
