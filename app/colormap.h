/* SPDX-License-Identifier: MIT */
/* The colour maps: one table for the window, the figures and the help. */
#ifndef NONLOCAL_APP_COLORMAP_H
#define NONLOCAL_APP_COLORMAP_H

#include <stdint.h>

enum colormap_id {
    COLORMAP_INFERNO,
    COLORMAP_VIRIDIS,
    COLORMAP_CIVIDIS,
    COLORMAP_GREY,
    COLORMAP_DIVERGING,
    COLORMAP_COUNT
};

struct colormap {
    const char *name;  /* on the command line and in files */
    const char *label; /* for tr() */
    uint8_t rgb[256][3];
};

/* Filled on the first call; index with enum colormap_id. */
const struct colormap *colormap_get(enum colormap_id id);

/* Colour at t in 0..1 (clamped), linear between the 256 entries, as three bytes. */
void colormap_at(enum colormap_id id, float t, uint8_t rgb[3]);

#endif
