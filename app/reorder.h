/* SPDX-License-Identifier: MIT */
/*
 * The matrix on its way from one order to another: between the two, every row stands where the
 * straight line from its old position to its new one leads, by rank. Each frame so shows an order
 * of its own, whose path length can be counted.
 */
#ifndef NONLOCAL_APP_REORDER_H
#define NONLOCAL_APP_REORDER_H

#include "result.h"

#define REORDER_SECONDS 0.6

/* The order on the screen. */
struct order_view {
    size_t n; /* 0 = there is none */
    const size_t *order;
    const float *permutation, *position; /* as in order_part */
    uint64_t key;
    double path; /* of this order; 0 where D is not held whole */
    bool moving;
};

struct reorder {
    uint64_t source_key, order_key; /* whose order stands, or is being gone to */
    size_t n, capacity;
    float *from, *permutation, *position;
    size_t *order;
    struct reorder_rank *ranks;
    double start; /* inputs.time at which the way began; < 0 = nothing moves */
    unsigned frame;
};

void reorder_free(struct reorder *reorder);

/* Where the rows are at this time; part NULL: nowhere. animate false goes there at once. */
struct order_view reorder_step(struct reorder *reorder, uint64_t source_key,
                               const struct order_part *part, double time, bool animate);

#endif
