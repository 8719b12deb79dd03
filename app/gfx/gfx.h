/* SPDX-License-Identifier: MIT */
/*
 * The window that shows draw lists. All GL and all text drawing happens behind this header, on the
 * thread that called gfx_create.
 *
 * A frame lives in a picture of its own. gfx_draw compares the regions of a list with those of the
 * last one, redraws only where they differ, and copies the picture to the window.
 */
#ifndef NONLOCAL_APP_GFX_GFX_H
#define NONLOCAL_APP_GFX_GFX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ui/draw.h"
#include "context.h"
#include "glyphs.h"

struct gfx;

struct gfx_params {
    struct context_params window;
    const char *font; /* file or family before the usual ones; NULL: none */
};

struct gfx_stats {
    double draw_ms; /* of the last gfx_draw that drew; in a window, with the wait of the swap */
    uint64_t upload_bytes; /* textures filled by it */
    int draw_calls;
    int damage_count;    /* rectangles redrawn */
    int64_t damage_area; /* pixels in them */
    uint64_t frames;     /* drawn so far */
};

/* NULL and one sentence on failure: no display, no OpenGL, no font. */
struct gfx *gfx_create(const struct gfx_params *params, char *error, size_t error_size);
void gfx_destroy(struct gfx **gfx);

/*
 * Draws what changed and shows it. False, without drawing, when nothing did or the list is empty
 * (a minimised window). All of it is drawn when the list's size or background differs from the
 * last.
 */
bool gfx_draw(struct gfx *gfx, const struct draw_list *list);

void gfx_present_again(struct gfx *gfx); /* the last frame: after an expose event */
void gfx_invalidate(struct gfx *gfx);    /* the next gfx_draw draws everything */
void gfx_resize(struct gfx *gfx);        /* after any event about the window's size or screen */

/* Pixels to lay out for, and points of the window that mouse events are in. */
void gfx_drawable_size(const struct gfx *gfx, int *width, int *height);
void gfx_window_size(const struct gfx *gfx, int *width, int *height);

/* The last frame, list width × list height RGBA, top row first. False before the first. */
bool gfx_read(struct gfx *gfx, uint8_t *rgba);

struct glyphs *gfx_glyphs(struct gfx *gfx); /* to measure with; lives as long as gfx */
SDL_Window *gfx_window(struct gfx *gfx);
struct gfx_stats gfx_stats(const struct gfx *gfx);
const char *gfx_renderer(const struct gfx *gfx); /* "OpenGL 3.3 …, llvmpipe …" */
bool gfx_is_offscreen(const struct gfx *gfx);

#endif
