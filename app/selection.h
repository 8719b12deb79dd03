/* SPDX-License-Identifier: MIT */
/* Rows that a person picked out, by a box or a branch; all views show the same ones. */
#ifndef NONLOCAL_APP_SELECTION_H
#define NONLOCAL_APP_SELECTION_H

#include "reorder.h"

/* What a box covers. */
enum pick_kind {
    PICK_NOTHING,
    PICK_POSITIONS, /* positions [first, last] of the order shown, and [first2, last2] */
    PICK_CELLS,     /* cells of the grid whose centres lie in the box, in pixels of the original */
    PICK_POINTS,    /* rows whose values of two columns lie in the box */
};

struct pick {
    enum pick_kind kind;
    size_t first, last, first2, last2;
    size_t column_x, column_y;
    double x0, y0, x1, y1; /* in any order */
};

struct selection {
    uint64_t rows_key; /* whose rows; others have none of these */
    uint64_t key;      /* of the mask, for a texture; 0 = nothing is selected */
    size_t n, count, capacity;
    float *mask;         /* n: 1 = selected */
    bool committed;      /* the person is done picking: it may be measured, which is O(n²) */
    uint64_t dissim_key; /* of the D that was measured; 0 = not yet */
    double within;       /* mean D among the selected rows; NaN where D is not held whole */
    double outside;      /* mean D from them to all others; NaN without others */
    unsigned changes;    /* counts up */
};

void selection_free(struct selection *selection);
void selection_clear(struct selection *selection);

/*
 * Selects what is picked of the rows of a result, on the order shown. False, with the selection
 * empty, where nothing lies there or memory is short.
 */
bool selection_pick(struct selection *selection, const struct pick *pick,
                    const struct result *result, const struct order_view *order);
/* Nothing is selected of rows that have gone; what is committed is measured by the D there is. */
void selection_follow(struct selection *selection, const struct result *result);

#endif
