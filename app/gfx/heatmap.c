/* SPDX-License-Identifier: MIT */
#include "heatmap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../colormap.h"
#include "shader.h"
#include "shaders.h"

enum uniform {
    PROJECTION,
    TEXEL_MAP,
    COVERED,
    SHARP,
    LEVEL,
    EXTENT,
    TONE,
    CELL_MAP,
    CELLS,
    RANGE,
    OPACITY,
    MAP,
    IS_SIGNED,
    UNIFORM_COUNT
};

static const char *const uniform_names[UNIFORM_COUNT] = {
    "projection", "texel_map", "covered", "sharp",   "level", "extent",    "tone",
    "cell_map",   "cells",     "range",   "opacity", "map",   "is_signed",
};

_Static_assert((int)UNIFORM_COUNT <= (int)HEATMAP_UNIFORMS, "room for the uniforms");

/* A logarithmic bar needs a lowest value; with none given, four decades are shown. */
static const float LOG_DECADES = 1e-4f;

bool heatmap_create(struct heatmap *heatmap, bool gles, char *error, size_t error_size)
{
    memset(heatmap, 0, sizeof *heatmap);
    for (int minify = 0; minify < 2; minify++) {
        for (int scale = 0; scale < HEATMAP_SCALES; scale++) {
            struct heatmap_program *program = &heatmap->programs[minify][scale];
            char defines[64];
            snprintf(defines, sizeof defines, "#define MINIFY %d\n#define SCALE %d\n", minify,
                     scale);
            program->id = shader_build(gles, "heatmap", defines, shader_image_vert,
                                       shader_heatmap_frag, error, error_size);
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

void heatmap_destroy(struct heatmap *heatmap)
{
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < HEATMAP_SCALES; j++) {
            if (heatmap->programs[i][j].id) {
                glDeleteProgram(heatmap->programs[i][j].id);
            }
        }
    }
    levels_free(&heatmap->picture);
    folded_free(&heatmap->weights);
    memset(heatmap, 0, sizeof *heatmap);
}

/* value = scale × pixel + shift, along x and along y (downwards). Double, because a place in a
 * picture of 20,000 pixels at high zoom needs more than 24 bits until a tile is chosen. */
struct line {
    double scale, shift;
};

static struct line line_of(double at_start, double at_end, double start, double length)
{
    double scale = (at_end - at_start) / length;
    return (struct line){scale, at_start - scale * start};
}

/* gl_FragCoord counts from the bottom: y = height - gl_FragCoord.y. */
static void set_lines(GLint location, struct line x, struct line y, double height)
{
    glUniform4f(location, (GLfloat)x.scale, (GLfloat)x.shift, (GLfloat)-y.scale,
                (GLfloat)(y.shift + y.scale * height));
}

static void set_range(const struct heatmap_program *program, const struct draw_heat *heat)
{
    bool is_signed = heat->low < 0.0f;
    float low = is_signed ? 0.0f : heat->low;
    float high = is_signed ? fmaxf(-heat->low, heat->high) : heat->high;
    float zero = low, factor = high > low ? 1.0f / (high - low) : 0.0f;
    if (heat->scale == DRAW_SCALE_LOG) {
        float least = low > 0.0f ? low : LOG_DECADES * high;
        zero = least > 0.0f ? log2f(least) : 0.0f;
        factor = least > 0.0f && high > least ? 1.0f / (log2f(high) - zero) : 0.0f;
    }
    glUniform4f(program->uniforms[RANGE], zero, factor, 0.0f, 0.0f);
    glUniform1i(program->uniforms[IS_SIGNED], is_signed);
}

static void set_weights(const struct heatmap *heatmap, const struct heatmap_program *program,
                        const struct draw_heat *heat, struct draw_rect rect, double frame_height)
{
    const struct folded *weights = &heatmap->weights;
    double u_cells = (double)heat->cover_u * weights->width;
    double v_cells = (double)heat->cover_v * weights->height;
    set_lines(program->uniforms[CELL_MAP],
              line_of(heat->u0 * u_cells, heat->u1 * u_cells, rect.x, rect.w),
              line_of(heat->v0 * v_cells, heat->v1 * v_cells, rect.y, rect.h), frame_height);
    glUniform3i(program->uniforms[CELLS], weights->width, weights->height, weights->shift);
    set_range(program, heat);
    glUniform1f(program->uniforms[OPACITY], heat->opacity);
    int map = heat->map >= 0 && heat->map < COLORMAP_COUNT ? heat->map : 0;
    glUniform1i(program->uniforms[MAP], map);
    glActiveTexture(GL_TEXTURE0 + UNIT_WEIGHTS);
    glBindTexture(GL_TEXTURE_2D, weights->texture);
}

/* Smooth up to three pixels a texel, square ones with an edge of one pixel from four on. */
static float sharpness(double texels_a_pixel)
{
    double zoom = 1.0 / texels_a_pixel;
    double share = fmin(fmax(zoom - 3.0, 0.0), 1.0);
    return (float)(1.0 + share * (zoom - 1.0));
}

/* The pixels whose centres fall into texels from..to; a tile at the border takes all beyond it. */
static void cut_axis(struct line line, int from, int to, int end, int *low, int *high)
{
    if (from > 0) {
        int first = (int)fmin(fmax(ceil((from - line.shift) / line.scale - 0.5), -1e6), 1e6);
        *low = first > *low ? first : *low;
    }
    if (to < end) {
        int behind = (int)fmin(fmax(ceil((to - line.shift) / line.scale - 0.5), -1e6), 1e6);
        *high = behind < *high ? behind : *high;
    }
}

static void draw_tiles(const struct level *level, const struct heatmap_program *program,
                       struct line x, struct line y, struct box box, struct draw2d *draw2d)
{
    for (int i = 0; i < level->tiles.columns * level->tiles.rows; i++) {
        struct tile tile = tiles_get(&level->tiles, i);
        struct box part = box;
        cut_axis(x, tile.x0, tile.x1, level->width, &part.x0, &part.x1);
        cut_axis(y, tile.y0, tile.y1, level->height, &part.y0, &part.y1);
        if (box_is_empty(part)) {
            continue;
        }
        glUniform4i(program->uniforms[LEVEL], tile.origin_x, tile.origin_y, level->width,
                    level->height);
        glActiveTexture(GL_TEXTURE0 + UNIT_PICTURE);
        glBindTexture(GL_TEXTURE_2D, tile.texture);
        draw2d_rectangle(draw2d, part);
    }
}

void heatmap_draw(struct heatmap *heatmap, struct draw2d *draw2d, const struct draw_list *list,
                  const struct draw_cmd *cmd, mat4 projection, struct texture_limits *limits)
{
    const struct draw_heat *heat = &cmd->u.heat;
    const struct draw_source *picture = &list->sources[DRAW_SLOT_PICTURE];
    struct box box = box_intersection(box_rounded(cmd->rect), box_clip(cmd->clip));
    if (!(heat->u1 > heat->u0 && heat->v1 > heat->v0) || box_is_empty(box)) {
        return;
    }
    double wide = picture->width, tall = picture->height;
    struct line x = line_of(heat->u0 * wide, heat->u1 * wide, cmd->rect.x, cmd->rect.w);
    struct line y = line_of(heat->v0 * tall, heat->v1 * tall, cmd->rect.y, cmd->rect.h);
    double most = fmax(x.scale, y.scale);
    int wanted = most >= 2.0 ? ilogb(most) : 0;
    const struct level *level = levels_update(&heatmap->picture, picture, wanted, limits);
    if (!level) {
        return;
    }
    int depth = (int)(level - heatmap->picture.level);
    double part = ldexp(1.0, -depth);
    x = (struct line){x.scale * part, x.shift * part};
    y = (struct line){y.scale * part, y.shift * part};

    bool weights = heat->weights &&
                   folded_update(&heatmap->weights, &list->sources[DRAW_SLOT_WEIGHTS], limits);
    int minify = most > 1.0001;
    const struct heatmap_program *program =
        &heatmap->programs[minify][weights ? 1 + (int)heat->scale : 0];
    glUseProgram(program->id);
    glUniformMatrix4fv(program->uniforms[PROJECTION], 1, GL_FALSE, projection[0]);
    set_lines(program->uniforms[TEXEL_MAP], x, y, list->height);
    glUniform2f(program->uniforms[COVERED], (GLfloat)fmin(fmax(x.scale, 1.0), 2.0),
                (GLfloat)fmin(fmax(y.scale, 1.0), 2.0));
    glUniform1f(program->uniforms[SHARP], sharpness(most));
    glUniform2f(program->uniforms[EXTENT], (GLfloat)(wide * part), (GLfloat)(tall * part));
    glUniform2f(program->uniforms[TONE], heat->dim, heat->saturation);
    if (weights) {
        set_weights(heatmap, program, heat, cmd->rect, list->height);
    }
    draw_tiles(level, program, x, y, box, draw2d);
}
