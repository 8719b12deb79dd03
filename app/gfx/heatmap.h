/* SPDX-License-Identifier: MIT */
/*
 * DRAW_HEATMAP: the picture, dimmed, and over it the weights of one query.
 *
 * The place of a weight on the bar, 0..1, which is also its opacity:
 *   linear, sqrt   s = (w - low) / (high - low), clamped; sqrt takes its root
 *   log            log(w / floor) / log(high / floor), clamped; floor = low, or four decades below
 *                  high when low is 0
 *   signed         low < 0: the same on |w| with 0 in the place of low and max(-low, high) in that
 * of high; the colour stands at 0.5 ± half of it, so that zero is the map's middle
 */
#ifndef NONLOCAL_APP_GFX_HEATMAP_H
#define NONLOCAL_APP_GFX_HEATMAP_H

#include "draw2d.h"
#include "texture.h"

enum { HEATMAP_SCALES = 4, HEATMAP_UNIFORMS = 15 };

struct heatmap_program {
    GLuint id;
    GLint uniforms[HEATMAP_UNIFORMS];
};

struct heatmap {
    struct heatmap_program programs[2][HEATMAP_SCALES]; /* [MINIFY][SCALE] of heatmap.frag */
    struct levels picture;
    struct folded weights;
};

bool heatmap_create(struct heatmap *heatmap, bool gles, char *error, size_t error_size);
void heatmap_destroy(struct heatmap *heatmap);

/* Nothing may wait in draw2d. */
void heatmap_draw(struct heatmap *heatmap, struct draw2d *draw2d, const struct draw_list *list,
                  const struct draw_cmd *cmd, mat4 projection, struct texture_limits *limits);

#endif
