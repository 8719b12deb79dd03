/* SPDX-License-Identifier: MIT */
/* DRAW_MASK: the selected cells of a grid over its picture. */
#ifndef NONLOCAL_APP_GFX_MASK_H
#define NONLOCAL_APP_GFX_MASK_H

#include "draw2d.h"
#include "texture.h"

enum { MASK_UNIFORMS = 6 };

struct mask_view {
    GLuint program;
    GLint uniforms[MASK_UNIFORMS];
    struct folded mask;
};

bool mask_create(struct mask_view *view, bool gles, char *error, size_t error_size);
void mask_destroy(struct mask_view *view);

/* Nothing may wait in draw2d. */
void mask_draw(struct mask_view *view, struct draw2d *draw2d, const struct draw_list *list,
               const struct draw_cmd *cmd, mat4 projection, struct texture_limits *limits);

#endif
