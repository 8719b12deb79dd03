/* SPDX-License-Identifier: MIT */
/*
 * DRAW_MATRIX: the table of dissimilarities in file order, reordered by a permutation while it is
 * drawn, so that a new order uploads n numbers and not n². Where cells are smaller than pixels a
 * pixel shows the mean of up to 3 × 3 samples; beyond that the overview should be drawn.
 */
#ifndef NONLOCAL_APP_GFX_MATRIX_H
#define NONLOCAL_APP_GFX_MATRIX_H

#include "draw2d.h"
#include "texture.h"

enum { MATRIX_MAX_TAPS = 3, MATRIX_UNIFORMS = 11 };

struct matrix_program {
    GLuint id;
    GLint uniforms[MATRIX_UNIFORMS];
};

struct matrix_view {
    struct matrix_program programs[2][MATRIX_MAX_TAPS]; /* [PERMUTED][TAPS - 1] of matrix.frag */
    struct table matrix, overview;
    struct folded permutation;
};

bool matrix_create(struct matrix_view *view, bool gles, char *error, size_t error_size);
void matrix_destroy(struct matrix_view *view);

/* Nothing may wait in draw2d. Without a permutation the file order is shown. */
void matrix_draw(struct matrix_view *view, struct draw2d *draw2d, const struct draw_list *list,
                 const struct draw_cmd *cmd, mat4 projection, struct texture_limits *limits);

#endif
