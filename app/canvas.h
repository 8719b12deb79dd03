/* SPDX-License-Identifier: MIT */
/* A picture in memory to draw figures on: rectangles, rings, text. Needs no screen. */
#ifndef NONLOCAL_APP_CANVAS_H
#define NONLOCAL_APP_CANVAS_H

#include "nonlocal/base.h"

struct canvas {
    int width, height;
    uint8_t *rgb;      /* height rows of width × 3; owned */
    struct font *font; /* loaded with the first text; owned */
};

enum canvas_align { ALIGN_LEFT, ALIGN_CENTRE, ALIGN_RIGHT };

nl_status canvas_create(struct canvas *canvas, int width, int height, uint32_t background,
                        nl_error *error);
void canvas_free(struct canvas *canvas);

/* Colours are 0xRRGGBB; everything is clipped to the canvas. */
void canvas_fill(struct canvas *canvas, int x, int y, int w, int h, uint32_t color);
/* An antialiased circle of the given line width around (x, y). */
void canvas_ring(struct canvas *canvas, double x, double y, double radius, double width,
                 uint32_t color);

/*
 * One line of UTF-8 text, `size` pixels an em, baseline at y. NL_IO when fontconfig knows no font
 * (Debian: fonts-dejavu-core).
 */
nl_status canvas_text(struct canvas *canvas, double x, double y, double size,
                      enum canvas_align align, uint32_t color, const char *text, nl_error *error);
nl_status canvas_text_width(struct canvas *canvas, double size, const char *text, double *width,
                            nl_error *error);

/* Writes a PNG, complete or not at all. */
nl_status canvas_write_png(const struct canvas *canvas, const char *path, nl_error *error);

/* The same for any RGB pixels. */
nl_status png_write(const char *path, const uint8_t *rgb, int width, int height, nl_error *error);

#endif
