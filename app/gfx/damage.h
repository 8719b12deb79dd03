/* SPDX-License-Identifier: MIT */
/* Where two frames differ, as a few rectangles. Plain arithmetic, no GL. */
#ifndef NONLOCAL_APP_GFX_DAMAGE_H
#define NONLOCAL_APP_GFX_DAMAGE_H

#include "draw2d.h"

enum { DAMAGE_MAX = 8 };

struct damage {
    struct box boxes[DAMAGE_MAX]; /* disjoint */
    int count;
};

/* What is remembered of a frame. */
struct frame_record {
    int width, height; /* 0: no frame yet */
    draw_color background;
    int region_count;
    struct draw_region regions[DRAW_MAX_REGIONS];
};

/* Compares, and remembers the list for the next time. */
struct damage damage_find(struct frame_record *last, const struct draw_list *list);

#endif
