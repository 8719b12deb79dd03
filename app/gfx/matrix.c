/* SPDX-License-Identifier: MIT */
#include "matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../colormap.h"
#include "shader.h"
#include "shaders.h"

enum uniform {
    PROJECTION,
    CELL_MAP,
    COVERED,
    TILE,
    SIZE,
    SHIFT,
    RANGE,
    SPREAD,
    SCALE,
    MAP,
    MISSING,
    UNIFORM_COUNT
};

static const char *const uniform_names[UNIFORM_COUNT] = {
    "projection", "cell_map", "covered", "tile", "size",    "shift",
    "range",      "spread",   "scale",   "map",  "missing",
};

_Static_assert((int)UNIFORM_COUNT <= (int)MATRIX_UNIFORMS, "room for the uniforms");

bool matrix_create(struct matrix_view *view, bool gles, char *error, size_t error_size)
{
    memset(view, 0, sizeof *view);
    for (int permuted = 0; permuted < 2; permuted++) {
        for (int taps = 1; taps <= MATRIX_MAX_TAPS; taps++) {
            struct matrix_program *program = &view->programs[permuted][taps - 1];
            char defines[64];
            snprintf(defines, sizeof defines, "#define PERMUTED %d\n#define TAPS %d\n", permuted,
                     taps);
            program->id = shader_build(gles, "matrix", defines, shader_image_vert,
                                       shader_matrix_frag, error, error_size);
            if (!program->id) {
                return false;
            }
            for (int i = 0; i < UNIFORM_COUNT; i++) {
                program->uniforms[i] = glGetUniformLocation(program->id, uniform_names[i]);
            }
        }
    }
    return true;
}

void matrix_destroy(struct matrix_view *view)
{
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < MATRIX_MAX_TAPS; j++) {
            if (view->programs[i][j].id) {
                glDeleteProgram(view->programs[i][j].id);
            }
        }
    }
    table_free(&view->matrix);
    table_free(&view->overview);
    folded_free(&view->permutation);
    memset(view, 0, sizeof *view);
}

/* The overview has its own number of cells; the part shown is the same part of the whole. */
struct window {
    double x0, y0, x1, y1;
};

static struct window window_of(const struct draw_matrix *matrix, const struct tiles *tiles)
{
    const double share = matrix->overview && matrix->n > 0 ? tiles->width / (double)matrix->n : 1;
    return (struct window){matrix->x0 * share, matrix->y0 * share, matrix->x1 * share,
                           matrix->y1 * share};
}

static int taps_for(double cells_a_pixel, const struct tiles *tiles)
{
    if (tiles->columns * tiles->rows > 1) {
        return 1; /* samples of one pixel could lie in several textures */
    }
    double taps = ceil(cells_a_pixel - 0.01);
    return taps < 1.0 ? 1 : taps > MATRIX_MAX_TAPS ? MATRIX_MAX_TAPS : (int)taps;
}

static void set_look(const struct matrix_program *program, const struct draw_matrix *matrix)
{
    float span = matrix->high - matrix->low;
    glUniform2f(program->uniforms[RANGE], matrix->low, span > 0.0f ? 1.0f / span : 0.0f);
    float places = matrix->to - matrix->from;
    glUniform2f(program->uniforms[SPREAD], matrix->from, places > 0.0f ? 1.0f / places : 1e6f);
    glUniform1i(program->uniforms[SCALE], (GLint)matrix->scale);
    int map = matrix->map >= 0 && matrix->map < COLORMAP_COUNT ? matrix->map : 0;
    glUniform1i(program->uniforms[MAP], map);
    /* Mid-grey is in none of the maps but the grey one. */
    glUniform3f(program->uniforms[MISSING], 0.5f, 0.5f, 0.5f);
}

void matrix_draw(struct matrix_view *view, struct draw2d *draw2d, const struct draw_list *list,
                 const struct draw_cmd *cmd, mat4 projection, struct texture_limits *limits)
{
    const struct draw_matrix *matrix = &cmd->u.matrix;
    struct table *table = matrix->overview ? &view->overview : &view->matrix;
    enum draw_slot slot = matrix->overview ? DRAW_SLOT_OVERVIEW : DRAW_SLOT_MATRIX;
    struct box box = box_intersection(box_rounded(cmd->rect), box_clip(cmd->clip));
    if (!table_update(table, &list->sources[slot], limits) || box_is_empty(box)) {
        return;
    }
    const struct tiles *tiles = &table->tiles;
    bool permuted =
        !matrix->overview &&
        folded_update(&view->permutation, &list->sources[DRAW_SLOT_PERMUTATION], limits) &&
        view->permutation.width * view->permutation.height == tiles->width &&
        tiles->width == tiles->height;

    struct window w = window_of(matrix, tiles);
    double across = (w.x1 - w.x0) / cmd->rect.w, down = (w.y1 - w.y0) / cmd->rect.h;
    int taps = taps_for(fmax(fabs(across), fabs(down)), tiles);
    const struct matrix_program *program = &view->programs[permuted][taps - 1];
    glUseProgram(program->id);
    glUniformMatrix4fv(program->uniforms[PROJECTION], 1, GL_FALSE, projection[0]);
    /* gl_FragCoord counts from the bottom: y = height - gl_FragCoord.y. */
    double top = w.y0 - down * cmd->rect.y;
    glUniform4f(program->uniforms[CELL_MAP], (GLfloat)across,
                (GLfloat)(w.x0 - across * cmd->rect.x), (GLfloat)-down,
                (GLfloat)(top + down * list->height));
    glUniform2f(program->uniforms[COVERED], (GLfloat)across, (GLfloat)down);
    glUniform2i(program->uniforms[SIZE], tiles->width, tiles->height);
    glUniform1i(program->uniforms[SHIFT], view->permutation.shift);
    set_look(program, matrix);
    if (permuted) {
        glActiveTexture(GL_TEXTURE0 + UNIT_PERMUTATION);
        glBindTexture(GL_TEXTURE_2D, view->permutation.texture);
    }
    /* A permutation scatters every tile over the whole rectangle: each draws what it holds. */
    for (int i = 0; i < tiles->columns * tiles->rows; i++) {
        struct tile tile = tiles_get(tiles, i);
        glUniform4i(program->uniforms[TILE], tile.x0, tile.y0, tile.x1, tile.y1);
        glActiveTexture(GL_TEXTURE0 + UNIT_MATRIX);
        glBindTexture(GL_TEXTURE_2D, tile.texture);
        draw2d_rectangle(draw2d, box);
    }
}
