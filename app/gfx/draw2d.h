/* SPDX-License-Identifier: MIT */
/*
 * Everything flat: fills, strokes, lines, rings, discs, text, colour bars, collected into quads of
 * one buffer and drawn in few calls.
 *
 * Rectangles, and lines along an axis, are set on whole pixels (their edges rounded, at least one
 * pixel wide), so that they are crisp at every UI scale; rings, discs and slanted lines keep their
 * fractions and are antialiased. A ring's width lies half inside and half outside its radius; a
 * line reaches half its width beyond its ends.
 */
#ifndef NONLOCAL_APP_GFX_DRAW2D_H
#define NONLOCAL_APP_GFX_DRAW2D_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cglm/cglm.h>
#include <epoxy/gl.h>

#include "../ui/draw.h"
#include "glyphs.h"
#include "texture.h"

/* One shader program each. */
enum draw2d_layer { DRAW2D_FLAT, DRAW2D_SHAPE, DRAW2D_GLYPH, DRAW2D_LAYERS };

/* Whole pixels, half-open. */
struct box {
    int x0, y0, x1, y1;
};

struct vertex;

struct draw2d {
    GLuint programs[DRAW2D_LAYERS];
    GLint projections[DRAW2D_LAYERS];
    GLuint array, vertex_buffer, index_buffer;
    GLuint atlas;
    int atlas_height;
    unsigned atlas_generation;
    struct vertex *vertices;
    int quad_count;
    enum draw2d_layer layer; /* of the quads that wait */
    int calls;               /* draw calls, counted up */
};

bool draw2d_create(struct draw2d *draw2d, bool gles, char *error, size_t error_size);
void draw2d_destroy(struct draw2d *draw2d);
void draw2d_set_projection(struct draw2d *draw2d, mat4 projection);

/* Uploads what is new in the atlas. Not while glyph quads wait. */
void draw2d_update_atlas(struct draw2d *draw2d, struct glyphs *glyphs,
                         struct texture_limits *limits);

/* Adds the part of a command that belongs to the layer; draws those of another layer first. */
void draw2d_add(struct draw2d *draw2d, enum draw2d_layer layer, const struct draw_list *list,
                const struct draw_cmd *cmd, struct glyphs *glyphs);
void draw2d_flush(struct draw2d *draw2d);

/* Draws a rectangle with the program in use; nothing may wait. */
void draw2d_rectangle(struct draw2d *draw2d, struct box box);

/* Layers that a command has parts in, as bits 1 << layer, and the pixels that it may touch. */
unsigned draw2d_layers(const struct draw_cmd *cmd);
struct box draw2d_bounds(const struct draw_list *list, const struct draw_cmd *cmd,
                         struct glyphs *glyphs);

/* A rectangle on whole pixels: rounded edges, or just wide enough to hold all of it. */
struct box box_rounded(struct draw_rect rect);
struct box box_around(struct draw_rect rect);
struct box box_clip(struct draw_rect clip); /* rounded, but may be empty */
struct box box_intersection(struct box a, struct box b);

static inline bool box_is_empty(struct box box)
{
    return box.x0 >= box.x1 || box.y0 >= box.y1;
}

#endif
