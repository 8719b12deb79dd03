/* SPDX-License-Identifier: MIT */
/*
 * The order in which commands are drawn. Changing shader programs costs more than the quads, so
 * commands of one layer are gathered into a batch, past others that they do not overlap: what a
 * person sees is the drawing order of the list.
 */
#ifndef NONLOCAL_APP_GFX_PLAN_H
#define NONLOCAL_APP_GFX_PLAN_H

#include "draw2d.h"

enum { PLAN_IMAGE = DRAW2D_LAYERS }; /* heat maps and matrices: never gathered */

enum { PLAN_MAX_ITEMS = 2 * DRAW_MAX_CMDS };

struct plan_item {
    struct box box;
    int cmd;
    int next; /* in its batch, -1 at the end */
};

struct plan_batch {
    struct box box; /* around all its items */
    int layer, first, last, count;
};

struct plan {
    struct plan_item items[PLAN_MAX_ITEMS];
    struct plan_batch batches[PLAN_MAX_ITEMS];
    int item_count, batch_count;
};

void plan_clear(struct plan *plan);
void plan_add(struct plan *plan, int layer, int cmd, struct box box);

#endif
