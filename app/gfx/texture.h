/* SPDX-License-Identifier: MIT */
/*
 * Pixel sources as textures. Every one is read with texelFetch and filtered, where it is, by the
 * shader: drivers filter 8-bit textures with different precision, and cannot filter R32F on GLES.
 *
 * Three ways to store them:
 *   tiles   a table cut into textures no larger than the limit, neighbours overlapping by a margin
 *   levels  a picture with its halves, quarters, ... averaged on the CPU, each level in tiles
 *   folded  a list of values wrapped into a texture of 2^shift columns, so that 1 × n always fits
 */
#ifndef NONLOCAL_APP_GFX_TEXTURE_H
#define NONLOCAL_APP_GFX_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <epoxy/gl.h>

#include "../ui/draw.h"

enum { TILE_MARGIN = 3, MAX_LEVELS = 20 };

struct texture_limits {
    int max_side;      /* of one texture, as GL says */
    int tile_side;     /* the same, or less for tests */
    uint64_t uploaded; /* bytes, counted up */
};

struct tiles {
    int width, height; /* of the whole */
    int step;          /* from one tile's first texel to the next one's */
    int margin;        /* texels of the neighbours that a tile repeats on each side */
    int columns, rows;
    GLuint *textures; /* columns × rows */
};

/* What one tile answers for (core) and where its texture begins. Half-open. */
struct tile {
    GLuint texture;
    int x0, y0, x1, y1;
    int origin_x, origin_y;
};

struct level {
    int width, height;
    uint8_t *pixels; /* RGBA; NULL at level 0, whose pixels are the source's */
    struct tiles tiles;
};

struct levels {
    uint64_t key;
    int width, height;
    struct level level[MAX_LEVELS]; /* made when first needed */
};

struct folded {
    uint64_t key;
    int width, height, shift;
    GLuint texture;
};

struct table {
    uint64_t key;
    struct tiles tiles;
};

void texture_limits_init(struct texture_limits *limits); /* asks GL, and NONLOCAL_MAX_TEXTURE */

/* All return false, and hold nothing, when there is no source or no memory. */
bool table_update(struct table *table, const struct draw_source *source,
                  struct texture_limits *limits);
bool folded_update(struct folded *folded, const struct draw_source *source,
                   struct texture_limits *limits);
/* Level `wanted` or the last there is: NULL on failure. */
const struct level *levels_update(struct levels *levels, const struct draw_source *source,
                                  int wanted, struct texture_limits *limits);

struct tile tiles_get(const struct tiles *tiles, int index);

void table_free(struct table *table);
void folded_free(struct folded *folded);
void levels_free(struct levels *levels);

/* A texture bound to its unit, with the parameters that all have. */
GLuint texture_create(enum draw_format format, int width, int height, const void *pixels,
                      size_t row_stride, struct texture_limits *limits);

#endif
