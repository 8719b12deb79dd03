/* SPDX-License-Identifier: MIT */
/* Single pairs of a D that is not held: computed for the few that a zoomed matrix shows. */
#ifndef NONLOCAL_APP_DETAIL_H
#define NONLOCAL_APP_DETAIL_H

#include "result.h"

enum { DETAIL_SIDE = 256 }; /* positions a side at most: less than a frame's work */

struct detail {
    uint64_t key; /* of the numbers; 0 = there are none */
    uint64_t overview_key;
    size_t y0, x0; /* the first position down and across */
    nl_matrix d;   /* in the order shown */
};

void detail_free(struct detail *detail);

/*
 * Makes the detail that of positions [y0, y1) × [x0, x1), on this thread, if they are few enough
 * and not there already. Of a D that is held whole, and of none, there is no detail.
 */
void detail_step(struct detail *detail, const struct result *result, const double window[4],
                 const nl_exec *exec);

/* D at positions (y, x) of the order shown, from whichever part holds it; NaN where none does. */
double detail_value(const struct detail *detail, const struct cells_part *cells,
                    const size_t *order, size_t y, size_t x);

#endif
