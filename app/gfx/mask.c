/* SPDX-License-Identifier: MIT */
#include "mask.h"

#include <math.h>
#include <string.h>

#include "shader.h"
#include "shaders.h"

enum uniform { PROJECTION, CELL_MAP, CELLS, EDGE, COLOR, FILL, UNIFORM_COUNT };

static const char *const uniform_names[UNIFORM_COUNT] = {
    "projection", "cell_map", "cells", "edge", "color", "fill",
};

_Static_assert((int)UNIFORM_COUNT <= (int)MASK_UNIFORMS, "room for the uniforms");

static const float fill_share = 0.22f, edge_pixels = 1.5f;

bool mask_create(struct mask_view *view, bool gles, char *error, size_t error_size)
{
    memset(view, 0, sizeof *view);
    view->program =
        shader_build(gles, "mask", "", shader_image_vert, shader_mask_frag, error, error_size);
    for (int i = 0; view->program && i < UNIFORM_COUNT; i++) {
        view->uniforms[i] = glGetUniformLocation(view->program, uniform_names[i]);
    }
    return view->program != 0;
}

void mask_destroy(struct mask_view *view)
{
    if (view->program) {
        glDeleteProgram(view->program);
    }
    folded_free(&view->mask);
    memset(view, 0, sizeof *view);
}

void mask_draw(struct mask_view *view, struct draw2d *draw2d, const struct draw_list *list,
               const struct draw_cmd *cmd, mat4 projection, struct texture_limits *limits)
{
    const struct draw_mask *mask = &cmd->u.mask;
    const struct draw_rect rect = cmd->rect;
    struct box box = box_intersection(box_rounded(rect), box_clip(cmd->clip));
    if (box_is_empty(box) ||
        !folded_update(&view->mask, &list->sources[DRAW_SLOT_SELECTION], limits) ||
        (int64_t)mask->columns * mask->rows != (int64_t)view->mask.width * view->mask.height) {
        return;
    }
    double columns = (double)mask->cover_u * mask->columns;
    double rows = (double)mask->cover_v * mask->rows;
    double across = (mask->u1 - mask->u0) * columns / rect.w;
    double down = (mask->v1 - mask->v0) * rows / rect.h;
    const draw_color color = cmd->color;
    glUseProgram(view->program);
    glUniformMatrix4fv(view->uniforms[PROJECTION], 1, GL_FALSE, projection[0]);
    /* gl_FragCoord counts from the bottom: y = height - gl_FragCoord.y. */
    glUniform4f(view->uniforms[CELL_MAP], (GLfloat)across,
                (GLfloat)(mask->u0 * columns - across * rect.x), (GLfloat)-down,
                (GLfloat)(mask->v0 * rows - down * rect.y + down * list->height));
    glUniform3i(view->uniforms[CELLS], mask->columns, mask->rows, view->mask.shift);
    glUniform2f(view->uniforms[EDGE], (GLfloat)(edge_pixels * across),
                (GLfloat)(edge_pixels * down));
    glUniform4f(view->uniforms[COLOR], (float)(color >> 24) / 255.0f,
                (float)(color >> 16 & 255) / 255.0f, (float)(color >> 8 & 255) / 255.0f,
                (float)(color & 255) / 255.0f);
    glUniform1f(view->uniforms[FILL], fill_share);
    glActiveTexture(GL_TEXTURE0 + UNIT_MASK);
    glBindTexture(GL_TEXTURE_2D, view->mask.texture);
    draw2d_rectangle(draw2d, box);
}
