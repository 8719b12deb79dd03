/* SPDX-License-Identifier: MIT */
#include "selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void selection_free(struct selection *selection)
{
    free(selection->mask);
    *selection = (struct selection){0};
}

void selection_clear(struct selection *selection)
{
    selection->key = 0;
    selection->count = 0;
    selection->n = 0;
}

/* The same file cut into the same rows, whatever features describe them. */
static uint64_t rows_key(const struct result *result)
{
    const nl_grid *grid = &result->features->features.grid;
    const size_t cut[] = {result->features->features.x.rows, grid->gw, grid->width, grid->stride};
    uint64_t key = result->source->part.key;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        key = (key ^ cut[i]) * 0x9e3779b97f4a7c15u;
    return key;
}

static bool room_for(struct selection *selection, size_t n)
{
    if (selection->capacity < n) {
        float *larger = realloc(selection->mask, n * sizeof *larger);
        if (!larger)
            return false;
        selection->mask = larger;
        selection->capacity = n;
    }
    selection->n = n;
    memset(selection->mask, 0, n * sizeof *selection->mask);
    return true;
}

static void pick_positions(struct selection *selection, size_t first, size_t last,
                           const struct order_view *order)
{
    for (size_t p = first; p <= last && p < order->n; p++)
        selection->mask[order->order[p]] = 1;
}

static bool between(double value, double a, double b)
{
    return value >= fmin(a, b) && value <= fmax(a, b);
}

static void pick_cells(struct selection *selection, const struct pick *pick,
                       const struct stage_features *features)
{
    for (size_t i = 0; i < selection->n; i++) {
        double x, y;
        stage_cell_pixel(features, i, &x, &y);
        if (between(x, pick->x0, pick->x1) && between(y, pick->y0, pick->y1))
            selection->mask[i] = 1;
    }
}

static void pick_points(struct selection *selection, const struct pick *pick,
                        const nl_matrix *values)
{
    if (pick->column_x >= values->cols || pick->column_y >= values->cols)
        return;
    for (size_t i = 0; i < selection->n && i < values->rows; i++) {
        const float *row = nl_row(values, i);
        if (between((double)row[pick->column_x], pick->x0, pick->x1) &&
            between((double)row[pick->column_y], pick->y0, pick->y1))
            selection->mask[i] = 1;
    }
}

bool selection_pick(struct selection *selection, const struct pick *pick,
                    const struct result *result, const struct order_view *order)
{
    const struct features_part *part = result->features;
    selection_clear(selection);
    if (!part || pick->kind == PICK_NOTHING || !room_for(selection, part->features.x.rows))
        return false;
    const struct source *source = &result->source->source;
    switch (pick->kind) {
    case PICK_POSITIONS:
        if (order->n == selection->n) {
            pick_positions(selection, pick->first, pick->last, order);
            pick_positions(selection, pick->first2, pick->last2, order);
        }
        break;
    case PICK_CELLS:
        pick_cells(selection, pick, &part->features);
        break;
    default:
        pick_points(selection, pick,
                    source->kind == SOURCE_TABLE ? &source->table.values : &part->features.x);
    }
    for (size_t i = 0; i < selection->n; i++)
        selection->count += selection->mask[i] > 0;
    if (selection->count == 0) {
        selection_clear(selection);
        return false;
    }
    selection->rows_key = rows_key(result);
    selection->key = (part->part.key ^ ++selection->changes) * 0x9e3779b97f4a7c15u | 1;
    selection->within = selection->outside = NAN;
    selection->dissim_key = 0;
    return true;
}

/* Means of D over pairs of two different rows. */
static void measure(struct selection *selection, const struct result *result)
{
    const nl_matrix *d = result->dissim ? &result->dissim->d : NULL;
    const size_t n = selection->n, count = selection->count;
    double means[4];
    selection->dissim_key = result->dissim ? result->dissim->part.key : 0;
    selection->within = selection->outside = NAN;
    if (!d || d->rows != n)
        return;
    int *classes = calloc(n, sizeof *classes);
    if (!classes)
        return;
    for (size_t i = 0; i < n; i++)
        classes[i] = selection->mask[i] > 0;
    nl_block_means(d, classes, 2, means);
    free(classes);
    if (count > 1) /* the block's mean has the diagonal in it */
        selection->within = means[3] * (double)count / (double)(count - 1);
    if (count < n)
        selection->outside = means[1];
}

void selection_follow(struct selection *selection, const struct result *result)
{
    if (!selection->key)
        return;
    if (!result->features || rows_key(result) != selection->rows_key)
        selection_clear(selection);
    else if (selection->committed && result->dissim &&
             result->dissim->features_key == result->features->part.key &&
             result->dissim->part.key != selection->dissim_key)
        measure(selection, result);
}
