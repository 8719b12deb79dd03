/* SPDX-License-Identifier: MIT */
#include "draw2d.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../colormap.h"
#include "shader.h"
#include "shaders.h"

enum {
    MAX_QUADS = 16384,
    WHOLE_SHAPE_AREA = 4096, /* pixels up to which a rounded box is not worth cutting up */
};

/* The band of a fill: deeper than any box. */
static const float ENDLESS = 1e6f;

struct vertex {
    float x, y;
    float place[2];
    float form[4];
    uint8_t color[4];
};

/* --- boxes --- */

/* Keeps huge or undefined numbers from overflowing. */
static int whole(float value)
{
    return value > -1e6f ? (value < 1e6f ? (int)floorf(value) : 1000000) : -1000000;
}

/* Halves go up, and so do numbers that are a half but for rounding errors: layouts at a UI scale of
 * 1.25 are full of them, and two that meet must agree. */
static int nearest(float value)
{
    return whole(value + 0.5f + 1.0f / 64.0f);
}

struct box box_rounded(struct draw_rect rect)
{
    struct box box = {nearest(rect.x), nearest(rect.y), nearest(rect.x + rect.w),
                      nearest(rect.y + rect.h)};
    if (rect.w > 0.0f && box.x1 <= box.x0) {
        box.x1 = box.x0 + 1;
    }
    if (rect.h > 0.0f && box.y1 <= box.y0) {
        box.y1 = box.y0 + 1;
    }
    return box;
}

struct box box_around(struct draw_rect rect)
{
    return (struct box){whole(rect.x), whole(rect.y), -whole(-(rect.x + rect.w)),
                        -whole(-(rect.y + rect.h))};
}

struct box box_intersection(struct box a, struct box b)
{
    return (struct box){a.x0 > b.x0 ? a.x0 : b.x0, a.y0 > b.y0 ? a.y0 : b.y0,
                        a.x1 < b.x1 ? a.x1 : b.x1, a.y1 < b.y1 ? a.y1 : b.y1};
}

/* A clip edge between pixels must not add one, so a clip is rounded without a least width. */
struct box box_clip(struct draw_rect clip)
{
    return (struct box){nearest(clip.x), nearest(clip.y), nearest(clip.x + clip.w),
                        nearest(clip.y + clip.h)};
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

static int max_int(int a, int b)
{
    return a > b ? a : b;
}

/* --- life --- */

static GLuint make_index_buffer(void)
{
    GLuint *indices = malloc(sizeof *indices * 6 * MAX_QUADS);
    if (!indices) {
        return 0;
    }
    static const GLuint corners[6] = {0, 1, 2, 2, 1, 3};
    for (size_t i = 0; i < 6 * MAX_QUADS; i++) {
        indices[i] = (GLuint)(i / 6 * 4) + corners[i % 6];
    }
    GLuint buffer = 0;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)sizeof *indices * 6 * MAX_QUADS, indices,
                 GL_STATIC_DRAW);
    free(indices);
    return buffer;
}

static void attribute(GLuint index, GLint size, GLenum type, size_t offset)
{
    glEnableVertexAttribArray(index);
    glVertexAttribPointer(index, size, type, type == GL_UNSIGNED_BYTE, sizeof(struct vertex),
                          (const void *)offset);
}

bool draw2d_create(struct draw2d *draw2d, bool gles, char *error, size_t error_size)
{
    memset(draw2d, 0, sizeof *draw2d);
    static const struct {
        const char *name;
        const unsigned char *fragment;
    } parts[DRAW2D_LAYERS] = {
        [DRAW2D_FLAT] = {"flat", shader_flat_frag},
        [DRAW2D_SHAPE] = {"shape", shader_shape_frag},
        [DRAW2D_GLYPH] = {"glyph", shader_glyph_frag},
    };
    for (int i = 0; i < DRAW2D_LAYERS; i++) {
        draw2d->programs[i] = shader_build(gles, parts[i].name, "", shader_quad_vert,
                                           parts[i].fragment, error, error_size);
        if (!draw2d->programs[i]) {
            return false;
        }
        draw2d->projections[i] = glGetUniformLocation(draw2d->programs[i], "projection");
    }
    glGenVertexArrays(1, &draw2d->array);
    glBindVertexArray(draw2d->array);
    glGenBuffers(1, &draw2d->vertex_buffer);
    glBindBuffer(GL_ARRAY_BUFFER, draw2d->vertex_buffer);
    attribute(0, 2, GL_FLOAT, offsetof(struct vertex, x));
    attribute(1, 2, GL_FLOAT, offsetof(struct vertex, place));
    attribute(2, 4, GL_FLOAT, offsetof(struct vertex, form));
    attribute(3, 4, GL_UNSIGNED_BYTE, offsetof(struct vertex, color));
    draw2d->index_buffer = make_index_buffer();
    draw2d->vertices = malloc(sizeof *draw2d->vertices * 4 * MAX_QUADS);
    if (!draw2d->index_buffer || !draw2d->vertices) {
        snprintf(error, error_size, "There is not enough memory for drawing.");
        return false;
    }
    return true;
}

void draw2d_destroy(struct draw2d *draw2d)
{
    for (int i = 0; i < DRAW2D_LAYERS; i++) {
        if (draw2d->programs[i]) {
            glDeleteProgram(draw2d->programs[i]);
        }
    }
    if (draw2d->array) {
        glDeleteVertexArrays(1, &draw2d->array);
        glDeleteBuffers(1, &draw2d->vertex_buffer);
        glDeleteBuffers(1, &draw2d->index_buffer);
    }
    if (draw2d->atlas) {
        glDeleteTextures(1, &draw2d->atlas);
    }
    free(draw2d->vertices);
    memset(draw2d, 0, sizeof *draw2d);
}

void draw2d_set_projection(struct draw2d *draw2d, mat4 projection)
{
    for (int i = 0; i < DRAW2D_LAYERS; i++) {
        glUseProgram(draw2d->programs[i]);
        glUniformMatrix4fv(draw2d->projections[i], 1, GL_FALSE, projection[0]);
    }
}

void draw2d_update_atlas(struct draw2d *draw2d, struct glyphs *glyphs,
                         struct texture_limits *limits)
{
    struct glyph_atlas atlas = glyphs_atlas(glyphs);
    bool fresh = !draw2d->atlas || draw2d->atlas_generation != atlas.generation;
    if (fresh && draw2d->atlas) {
        glDeleteTextures(1, &draw2d->atlas);
        draw2d->atlas = 0;
    }
    if (!fresh && atlas.dirty_top >= atlas.dirty_bottom) {
        return;
    }
    if (fresh) {
        glGenTextures(1, &draw2d->atlas);
    }
    glActiveTexture(GL_TEXTURE0 + UNIT_ATLAS);
    glBindTexture(GL_TEXTURE_2D, draw2d->atlas);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    int top = fresh ? 0 : atlas.dirty_top, bottom = fresh ? atlas.height : atlas.dirty_bottom;
    if (fresh) {
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, atlas.width, atlas.height, 0, GL_RED,
                     GL_UNSIGNED_BYTE, atlas.pixels);
    } else {
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, top, atlas.width, bottom - top, GL_RED,
                        GL_UNSIGNED_BYTE, atlas.pixels + (size_t)top * (size_t)atlas.width);
    }
    limits->uploaded += (uint64_t)atlas.width * (uint64_t)(bottom - top);
    draw2d->atlas_generation = atlas.generation;
    glyphs_atlas_clean(glyphs);
}

/* --- quads --- */

static void submit(struct draw2d *draw2d)
{
    glBindVertexArray(draw2d->array);
    glBindBuffer(GL_ARRAY_BUFFER, draw2d->vertex_buffer);
    glBufferData(GL_ARRAY_BUFFER,
                 (GLsizeiptr)(sizeof(struct vertex) * 4 * (size_t)draw2d->quad_count),
                 draw2d->vertices, GL_STREAM_DRAW);
    glDrawElements(GL_TRIANGLES, 6 * draw2d->quad_count, GL_UNSIGNED_INT, NULL);
    draw2d->quad_count = 0;
    draw2d->calls++;
}

void draw2d_flush(struct draw2d *draw2d)
{
    if (draw2d->quad_count == 0) {
        return;
    }
    glUseProgram(draw2d->programs[draw2d->layer]);
    submit(draw2d);
}

/* What a quad carries from the shape or glyph it shows a part of. */
struct fill {
    float place_x, place_y; /* attribute `place` at pixel (0, 0); grows with the pixels */
    float form[4];
    draw_color color;
};

static void add_quad(struct draw2d *draw2d, struct box box, const struct fill *fill)
{
    if (box_is_empty(box)) {
        return;
    }
    if (draw2d->quad_count == MAX_QUADS) {
        draw2d_flush(draw2d);
    }
    struct vertex *vertex = &draw2d->vertices[4 * draw2d->quad_count++];
    for (int i = 0; i < 4; i++, vertex++) {
        vertex->x = (float)(i & 1 ? box.x1 : box.x0);
        vertex->y = (float)(i & 2 ? box.y1 : box.y0);
        vertex->place[0] = fill->place_x + vertex->x;
        vertex->place[1] = fill->place_y + vertex->y;
        memcpy(vertex->form, fill->form, sizeof vertex->form);
        for (int c = 0; c < 4; c++) {
            vertex->color[c] = (uint8_t)(fill->color >> (24 - 8 * c));
        }
    }
}

void draw2d_rectangle(struct draw2d *draw2d, struct box box)
{
    static const struct fill plain = {0};
    add_quad(draw2d, box, &plain);
    if (draw2d->quad_count > 0) {
        submit(draw2d);
    }
}

/* --- rounded boxes --- */

struct rounded {
    struct box box;
    float radius;
    int corner; /* side of the squares that hold the corners; 0 = none */
    int width;  /* of a stroke, 0 for a fill */
    bool whole; /* all of it is drawn as one shape */
};

static struct rounded rounded_of(const struct draw_cmd *cmd)
{
    struct rounded r = {.box = box_rounded(cmd->rect)};
    int w = r.box.x1 - r.box.x0, h = r.box.y1 - r.box.y0, side = min_int(w, h);
    r.radius = fminf(fmaxf(cmd->radius, 0.0f), 0.5f * (float)side);
    if (cmd->kind == DRAW_STROKE) {
        r.width = min_int(max_int(nearest(cmd->width), 1), max_int((side + 1) / 2, 1));
    }
    if (r.radius >= 0.5f) {
        r.corner = max_int(-whole(-r.radius), r.width);
        r.whole = 2 * r.corner > side || (int64_t)w * h <= WHOLE_SHAPE_AREA;
    }
    return r;
}

static void add_cut(struct draw2d *draw2d, struct box box, struct box clip, const struct fill *fill)
{
    add_quad(draw2d, box_intersection(box, clip), fill);
}

/* Sides between the corners: of a stroke, four strips; of a fill, a cross without its arms' ends.
 */
static void add_straight_parts(struct draw2d *draw2d, const struct rounded *r, struct box clip,
                               draw_color color)
{
    struct fill fill = {.color = color};
    struct box b = r->box;
    int c = r->corner;
    if (r->width == 0) {
        add_cut(draw2d, (struct box){b.x0 + c, b.y0, b.x1 - c, b.y0 + c}, clip, &fill);
        add_cut(draw2d, (struct box){b.x0, b.y0 + c, b.x1, b.y1 - c}, clip, &fill);
        add_cut(draw2d, (struct box){b.x0 + c, b.y1 - c, b.x1 - c, b.y1}, clip, &fill);
        return;
    }
    int w = r->width;
    int inset = c > 0 ? c : w; /* without corners the upright strips end under the level ones */
    int level_inset = c;
    add_cut(draw2d, (struct box){b.x0 + level_inset, b.y0, b.x1 - level_inset, b.y0 + w}, clip,
            &fill);
    add_cut(draw2d,
            (struct box){b.x0 + level_inset, max_int(b.y1 - w, b.y0 + w), b.x1 - level_inset, b.y1},
            clip, &fill);
    add_cut(draw2d, (struct box){b.x0, b.y0 + inset, b.x0 + w, b.y1 - inset}, clip, &fill);
    add_cut(draw2d, (struct box){max_int(b.x1 - w, b.x0 + w), b.y0 + inset, b.x1, b.y1 - inset},
            clip, &fill);
}

static void add_round_parts(struct draw2d *draw2d, const struct rounded *r, struct box clip,
                            draw_color color)
{
    struct box b = r->box;
    float half_w = 0.5f * (float)(b.x1 - b.x0), half_h = 0.5f * (float)(b.y1 - b.y0);
    struct fill fill = {
        .place_x = -((float)b.x0 + half_w),
        .place_y = -((float)b.y0 + half_h),
        .form = {half_w, half_h, r->radius, r->width > 0 ? (float)r->width : ENDLESS},
        .color = color};
    if (r->whole) {
        add_cut(draw2d, b, clip, &fill);
        return;
    }
    int c = r->corner;
    add_cut(draw2d, (struct box){b.x0, b.y0, b.x0 + c, b.y0 + c}, clip, &fill);
    add_cut(draw2d, (struct box){b.x1 - c, b.y0, b.x1, b.y0 + c}, clip, &fill);
    add_cut(draw2d, (struct box){b.x0, b.y1 - c, b.x0 + c, b.y1}, clip, &fill);
    add_cut(draw2d, (struct box){b.x1 - c, b.y1 - c, b.x1, b.y1}, clip, &fill);
}

/* --- circles and lines --- */

static void add_circle(struct draw2d *draw2d, const struct draw_cmd *cmd, struct box clip)
{
    bool ring = cmd->kind == DRAW_RING;
    float radius = cmd->radius + (ring ? 0.5f * cmd->width : 0.0f);
    struct fill fill = {.place_x = -cmd->rect.x,
                        .place_y = -cmd->rect.y,
                        .form = {radius, radius, radius, ring ? cmd->width : ENDLESS},
                        .color = cmd->color};
    float reach = radius + 0.5f;
    struct draw_rect around = {cmd->rect.x - reach, cmd->rect.y - reach, 2 * reach, 2 * reach};
    add_cut(draw2d, box_around(around), clip, &fill);
}

static bool is_along_axis(const struct draw_cmd *cmd)
{
    return fabsf(cmd->rect.w) < 0.01f || fabsf(cmd->rect.h) < 0.01f;
}

/* Exactly as many pixels across as the width says, wherever the line lies. */
static struct box axis_line_box(const struct draw_cmd *cmd)
{
    int width = max_int(nearest(cmd->width), 1);
    float half = 0.5f * (float)width;
    float x0 = fminf(cmd->rect.x, cmd->rect.x + cmd->rect.w);
    float y0 = fminf(cmd->rect.y, cmd->rect.y + cmd->rect.h);
    float w = fabsf(cmd->rect.w), h = fabsf(cmd->rect.h);
    struct box box = {nearest(x0 - half), nearest(y0 - half), nearest(x0 + w + half),
                      nearest(y0 + h + half)};
    if (w < 0.01f) {
        box.x1 = box.x0 + width;
    }
    if (h < 0.01f) {
        box.y1 = box.y0 + width;
    }
    return box;
}

/* The quad stands upright while the shape in it is turned: `place` is turned instead. */
static void add_slanted_line(struct draw2d *draw2d, const struct draw_cmd *cmd, struct box clip)
{
    float width = fmaxf(cmd->width, 1.0f), half = 0.5f * width;
    float length = hypotf(cmd->rect.w, cmd->rect.h);
    float along_x = cmd->rect.w / length, along_y = cmd->rect.h / length;
    float centre_x = cmd->rect.x + 0.5f * cmd->rect.w;
    float centre_y = cmd->rect.y + 0.5f * cmd->rect.h;
    struct fill fill = {.form = {0.5f * length + half, half, half, ENDLESS}, .color = cmd->color};
    float reach = half + 0.5f;
    struct draw_rect around = {fminf(cmd->rect.x, cmd->rect.x + cmd->rect.w) - reach,
                               fminf(cmd->rect.y, cmd->rect.y + cmd->rect.h) - reach,
                               fabsf(cmd->rect.w) + 2 * reach, fabsf(cmd->rect.h) + 2 * reach};
    struct box box = box_intersection(box_around(around), clip);
    int before = draw2d->quad_count == MAX_QUADS ? 0 : draw2d->quad_count;
    add_quad(draw2d, box, &fill);
    if (box_is_empty(box)) {
        return;
    }
    struct vertex *vertex = &draw2d->vertices[4 * before];
    for (int i = 0; i < 4; i++, vertex++) {
        float x = vertex->x - centre_x, y = vertex->y - centre_y;
        vertex->place[0] = x * along_x + y * along_y;
        vertex->place[1] = y * along_x - x * along_y;
    }
}

/* --- text and bars --- */

/*
 * Blending in sRGB space makes light text on a dark ground look thinner than the same text dark on
 * light. Glyphs in light colours therefore get part of the coverage that linear light would give.
 */
static float light_gain(draw_color color)
{
    float luma = (0.2126f * (float)(color >> 24) + 0.7152f * (float)(color >> 16 & 255) +
                  0.0722f * (float)(color >> 8 & 255)) /
                 255.0f;
    return 0.4f * fmaxf(luma - 0.35f, 0.0f);
}

static void add_text(struct draw2d *draw2d, const struct draw_list *list,
                     const struct draw_cmd *cmd, struct box clip, struct glyphs *glyphs)
{
    const char *text = list->text + cmd->text;
    struct glyph_reader reader =
        glyphs_read(text, strlen(text), (enum draw_font)cmd->font, cmd->size);
    const struct glyph *glyph;
    int pen = nearest(cmd->rect.x), baseline = nearest(cmd->rect.y);
    struct fill fill = {.form = {light_gain(cmd->color)}, .color = cmd->color};
    while (pen < clip.x1 + (int)cmd->size && glyphs_next(glyphs, &reader, &glyph)) {
        struct box box = {.x0 = pen + glyph->left, .y0 = baseline - glyph->top};
        box.x1 = box.x0 + glyph->width;
        box.y1 = box.y0 + glyph->height;
        fill.place_x = (float)(glyph->x - box.x0);
        fill.place_y = (float)(glyph->y - box.y0);
        add_cut(draw2d, box, clip, &fill);
        pen += glyph->advance;
    }
}

static void add_bar(struct draw2d *draw2d, const struct draw_cmd *cmd, struct box clip)
{
    struct box box = box_rounded(cmd->rect);
    int height = box.y1 - box.y0;
    if (cmd->u.map < 0 || cmd->u.map >= COLORMAP_COUNT) {
        return;
    }
    int from = max_int(box.y0, clip.y0), to = min_int(box.y1, clip.y1);
    for (int y = from; y < to; y++) {
        uint8_t rgb[3];
        float t = ((float)(box.y1 - y) - 0.5f) / (float)height;
        colormap_at((enum colormap_id)cmd->u.map, t, rgb);
        struct fill fill = {.color = (draw_color)rgb[0] << 24 | (draw_color)rgb[1] << 16 |
                                     (draw_color)rgb[2] << 8 | 255u};
        add_cut(draw2d, (struct box){box.x0, y, box.x1, y + 1}, clip, &fill);
    }
}

/* --- commands --- */

unsigned draw2d_layers(const struct draw_cmd *cmd)
{
    switch (cmd->kind) {
    case DRAW_FILL:
    case DRAW_STROKE: {
        struct rounded r = rounded_of(cmd);
        return r.whole ? 1u << DRAW2D_SHAPE
                       : 1u << DRAW2D_FLAT | (r.corner > 0 ? 1u << DRAW2D_SHAPE : 0u);
    }
    case DRAW_LINE:
        return 1u << (is_along_axis(cmd) ? DRAW2D_FLAT : DRAW2D_SHAPE);
    case DRAW_RING:
    case DRAW_DISC:
        return 1u << DRAW2D_SHAPE;
    case DRAW_TEXT:
        return 1u << DRAW2D_GLYPH;
    case DRAW_BAR:
        return 1u << DRAW2D_FLAT;
    default:
        return 0;
    }
}

struct box draw2d_bounds(const struct draw_list *list, const struct draw_cmd *cmd,
                         struct glyphs *glyphs)
{
    struct draw_rect r = cmd->rect;
    float reach = 1.0f + cmd->width;
    switch (cmd->kind) {
    case DRAW_RING:
    case DRAW_DISC:
        reach += cmd->radius;
        r = (struct draw_rect){r.x - reach, r.y - reach, 2 * reach, 2 * reach};
        break;
    case DRAW_LINE:
        r = (struct draw_rect){fminf(r.x, r.x + r.w) - reach, fminf(r.y, r.y + r.h) - reach,
                               fabsf(r.w) + 2 * reach, fabsf(r.h) + 2 * reach};
        break;
    case DRAW_TEXT: {
        /* Glyphs may hang over on all sides: accents, italics, fallback fonts. */
        float size = fmaxf(cmd->size, 1.0f);
        float width = glyphs_width(glyphs, list->text + cmd->text, DRAW_MAX_TEXT,
                                   (enum draw_font)cmd->font, size);
        r = (struct draw_rect){r.x - 0.5f * size, r.y - 1.3f * size, width + size, 1.8f * size};
        break;
    }
    default: {
        struct box box = box_rounded(r);
        return box_intersection(box, box_clip(cmd->clip));
    }
    }
    return box_intersection(box_around(r), box_clip(cmd->clip));
}

void draw2d_add(struct draw2d *draw2d, enum draw2d_layer layer, const struct draw_list *list,
                const struct draw_cmd *cmd, struct glyphs *glyphs)
{
    if (draw2d->layer != layer) {
        draw2d_flush(draw2d);
        draw2d->layer = layer;
    }
    struct box clip = box_clip(cmd->clip);
    switch (cmd->kind) {
    case DRAW_FILL:
    case DRAW_STROKE: {
        struct rounded r = rounded_of(cmd);
        if (layer == DRAW2D_FLAT) {
            add_straight_parts(draw2d, &r, clip, cmd->color);
        } else {
            add_round_parts(draw2d, &r, clip, cmd->color);
        }
        break;
    }
    case DRAW_LINE:
        if (is_along_axis(cmd)) {
            struct fill fill = {.color = cmd->color};
            add_cut(draw2d, axis_line_box(cmd), clip, &fill);
        } else {
            add_slanted_line(draw2d, cmd, clip);
        }
        break;
    case DRAW_RING:
    case DRAW_DISC:
        add_circle(draw2d, cmd, clip);
        break;
    case DRAW_TEXT:
        add_text(draw2d, list, cmd, clip, glyphs);
        break;
    case DRAW_BAR:
        add_bar(draw2d, cmd, clip);
        break;
    default:
        break;
    }
}
