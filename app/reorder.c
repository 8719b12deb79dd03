/* SPDX-License-Identifier: MIT */
#include "reorder.h"

#include <stdlib.h>
#include <string.h>

struct reorder_rank {
    float place;
    uint32_t row;
};

void reorder_free(struct reorder *reorder)
{
    free(reorder->from);
    free(reorder->permutation);
    free(reorder->position);
    free(reorder->order);
    free(reorder->ranks);
    *reorder = (struct reorder){.start = -1};
}

static bool room_for(struct reorder *reorder, size_t n)
{
    if (reorder->capacity >= n)
        return true;
    reorder_free(reorder);
    reorder->from = malloc(n * sizeof *reorder->from);
    reorder->permutation = malloc(n * sizeof *reorder->permutation);
    reorder->position = malloc(n * sizeof *reorder->position);
    reorder->order = malloc(n * sizeof *reorder->order);
    reorder->ranks = malloc(n * sizeof *reorder->ranks);
    if (!reorder->from || !reorder->permutation || !reorder->position || !reorder->order ||
        !reorder->ranks) {
        reorder_free(reorder);
        return false;
    }
    reorder->capacity = n;
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct reorder_rank *left = a, *right = b;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* The order at a share 0..1 of the way. */
static void stand_at(struct reorder *reorder, const struct order_part *part, double share)
{
    const float eased = (float)(share * share * (3 - 2 * share));
    for (size_t i = 0; i < reorder->n; i++) {
        const float from = reorder->from[i];
        reorder->ranks[i] =
            (struct reorder_rank){from + eased * (part->position[i] - from), (uint32_t)i};
    }
    qsort(reorder->ranks, reorder->n, sizeof *reorder->ranks, by_place);
    for (size_t p = 0; p < reorder->n; p++) {
        const uint32_t row = reorder->ranks[p].row;
        reorder->order[p] = row;
        reorder->permutation[p] = (float)row;
        reorder->position[row] = (float)p;
    }
    reorder->frame++;
}

/* The rows are where the part has them. */
static void arrive(struct reorder *reorder, uint64_t source_key, const struct order_part *part)
{
    reorder->start = -1;
    reorder->source_key = source_key;
    reorder->order_key = part->part.key;
    reorder->n = room_for(reorder, part->n) ? part->n : 0;
    if (reorder->n > 0)
        memcpy(reorder->position, part->position, reorder->n * sizeof *reorder->position);
}

static void set_out(struct reorder *reorder, const struct order_part *part, double time)
{
    memcpy(reorder->from, reorder->position, reorder->n * sizeof *reorder->from);
    reorder->order_key = part->part.key;
    reorder->start = time;
}

struct order_view reorder_step(struct reorder *reorder, uint64_t source_key,
                               const struct order_part *part, double time, bool animate)
{
    if (!part || part->n == 0)
        return (struct order_view){0};
    struct order_view view = {
        part->n, part->order, part->permutation, part->position, part->part.key, part->path, false};
    const bool whole = part->dissim->d.rows > 0;
    const bool same_rows = reorder->source_key == source_key && reorder->n == part->n;
    if (!animate || !whole || !same_rows) {
        if (reorder->order_key != part->part.key || reorder->start >= 0 || !same_rows)
            arrive(reorder, source_key, part);
        return view;
    }
    if (reorder->order_key != part->part.key) {
        if (memcmp(reorder->position, part->position, part->n * sizeof *part->position) == 0)
            arrive(reorder, source_key, part); /* another way to the same order */
        else
            set_out(reorder, part, time);
    }
    if (reorder->start < 0)
        return view;
    const double share = (time - reorder->start) / REORDER_SECONDS;
    if (share >= 1 || share < 0) {
        arrive(reorder, source_key, part);
        return view;
    }
    stand_at(reorder, part, share);
    view.order = reorder->order;
    view.permutation = reorder->permutation;
    view.position = reorder->position;
    view.key = (part->part.key ^ reorder->frame) * 0x9e3779b97f4a7c15u | 1;
    view.path = nl_path_length(&part->dissim->d, reorder->order);
    view.moving = true;
    return view;
}
