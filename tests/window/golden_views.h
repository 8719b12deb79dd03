/* SPDX-License-Identifier: MIT */
/* The views that are compared with golden pictures, and how each of them comes about. */
#ifndef NONLOCAL_TESTS_GOLDEN_VIEWS_H
#define NONLOCAL_TESTS_GOLDEN_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct stage;

struct golden_view {
    const char *name;
    int width, height;
    float scale;
    void (*act)(struct stage *stage); /* after the first view has settled; NULL = nothing */
};

enum { GOLDEN_VIEWS = 13, GOLDEN_ERROR = 512 };

extern const struct golden_view golden_views[GOLDEN_VIEWS];

/* Draws the view into rgb; false with an error. */
bool golden_draw(const struct golden_view *view, uint8_t *rgb, char error[GOLDEN_ERROR]);

#endif
