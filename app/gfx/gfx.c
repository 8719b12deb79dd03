/* SPDX-License-Identifier: MIT */
#include "gfx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cglm/cglm.h>
#include <epoxy/gl.h>

#include "../colormap.h"
#include "damage.h"
#include "draw2d.h"
#include "heatmap.h"
#include "mask.h"
#include "matrix.h"
#include "plan.h"
#include "shader.h"

struct gfx {
    struct context context;
    struct glyphs *glyphs;
    struct texture_limits limits;
    struct draw2d draw2d;
    struct heatmap heatmap;
    struct matrix_view matrix;
    struct mask_view mask;
    GLuint colors;
    GLuint framebuffer, renderbuffer;
    int width, height;                   /* of the framebuffer, 0 = none */
    int drawable_width, drawable_height; /* of the window */
    struct frame_record last;
    struct gfx_stats stats;
    char renderer[160];
    struct plan plan;
};

/* --- life --- */

/* One row a map; read with texelFetch. */
static GLuint make_colors(struct texture_limits *limits)
{
    static uint8_t rgba[COLORMAP_COUNT][256][4];
    for (int m = 0; m < COLORMAP_COUNT; m++) {
        const struct colormap *map = colormap_get((enum colormap_id)m);
        for (int i = 0; i < 256; i++) {
            memcpy(rgba[m][i], map->rgb[i], 3);
            rgba[m][i][3] = 255;
        }
    }
    GLuint texture = texture_create(DRAW_RGBA8, 256, COLORMAP_COUNT, rgba, 256, limits);
    glActiveTexture(GL_TEXTURE0 + UNIT_COLORS);
    glBindTexture(GL_TEXTURE_2D, texture);
    return texture;
}

static void set_state(struct gfx *gfx)
{
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    glDisable(GL_DITHER);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    snprintf(gfx->renderer, sizeof gfx->renderer, "%s%s, %s", gfx->context.gles ? "" : "OpenGL ",
             (const char *)glGetString(GL_VERSION), (const char *)glGetString(GL_RENDERER));
    context_drawable_size(&gfx->context, &gfx->drawable_width, &gfx->drawable_height);
}

struct gfx *gfx_create(const struct gfx_params *params, char *error, size_t error_size)
{
    struct gfx *gfx = calloc(1, sizeof *gfx);
    if (!gfx) {
        snprintf(error, error_size, "There is not enough memory for the window.");
        return NULL;
    }
    gfx->glyphs = glyphs_create(params->font, error, error_size);
    if (!gfx->glyphs || !context_create(&gfx->context, &params->window, error, error_size)) {
        gfx_destroy(&gfx);
        return NULL;
    }
    texture_limits_init(&gfx->limits);
    bool gles = gfx->context.gles;
    if (!draw2d_create(&gfx->draw2d, gles, error, error_size) ||
        !heatmap_create(&gfx->heatmap, gles, error, error_size) ||
        !matrix_create(&gfx->matrix, gles, error, error_size) ||
        !mask_create(&gfx->mask, gles, error, error_size)) {
        gfx_destroy(&gfx);
        return NULL;
    }
    gfx->colors = make_colors(&gfx->limits);
    set_state(gfx);
    return gfx;
}

static void free_framebuffer(struct gfx *gfx)
{
    if (gfx->framebuffer) {
        glDeleteFramebuffers(1, &gfx->framebuffer);
        glDeleteRenderbuffers(1, &gfx->renderbuffer);
    }
    gfx->framebuffer = gfx->renderbuffer = 0;
    gfx->width = gfx->height = 0;
}

void gfx_destroy(struct gfx **gfx_pointer)
{
    struct gfx *gfx = *gfx_pointer;
    if (!gfx) {
        return;
    }
    if (gfx->context.gl) {
        free_framebuffer(gfx);
        draw2d_destroy(&gfx->draw2d);
        heatmap_destroy(&gfx->heatmap);
        matrix_destroy(&gfx->matrix);
        mask_destroy(&gfx->mask);
        glDeleteTextures(1, &gfx->colors);
    }
    glyphs_destroy(&gfx->glyphs);
    context_destroy(&gfx->context);
    free(gfx);
    *gfx_pointer = NULL;
}

/* --- the frame's picture --- */

static bool fit_framebuffer(struct gfx *gfx, int width, int height)
{
    if (gfx->framebuffer && gfx->width == width && gfx->height == height) {
        return true;
    }
    free_framebuffer(gfx);
    glGenRenderbuffers(1, &gfx->renderbuffer);
    glBindRenderbuffer(GL_RENDERBUFFER, gfx->renderbuffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glGenFramebuffers(1, &gfx->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, gfx->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              gfx->renderbuffer);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        free_framebuffer(gfx);
        return false;
    }
    gfx->width = width;
    gfx->height = height;
    memset(&gfx->last, 0, sizeof gfx->last); /* new memory: nothing is drawn yet */
    return true;
}

/* Copied pixel by pixel from the top left corner, never stretched: while a window is dragged
 * larger, the list may lag behind it by a frame. */
static void present(struct gfx *gfx)
{
    if (gfx->context.offscreen) {
        glFinish(); /* nobody sees that window, and its swap does not wait */
        return;
    }
    int width = gfx->drawable_width, height = gfx->drawable_height;
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    if (width > gfx->width || height > gfx->height) {
        glDisable(GL_SCISSOR_TEST);
        glClear(GL_COLOR_BUFFER_BIT);
    }
    int across = width < gfx->width ? width : gfx->width;
    int down = height < gfx->height ? height : gfx->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, gfx->framebuffer);
    glDisable(GL_SCISSOR_TEST);
    glBlitFramebuffer(0, gfx->height - down, across, gfx->height, 0, height - down, across, height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    SDL_GL_SwapWindow(gfx->context.window);
}

void gfx_present_again(struct gfx *gfx)
{
    if (gfx->framebuffer) {
        present(gfx);
    }
}

void gfx_invalidate(struct gfx *gfx)
{
    memset(&gfx->last, 0, sizeof gfx->last);
}

void gfx_resize(struct gfx *gfx)
{
    context_drawable_size(&gfx->context, &gfx->drawable_width, &gfx->drawable_height);
}

/* --- drawing --- */

/* Puts the commands that touch the box into the plan, and their glyphs into the atlas. False: the
 * atlas is full. */
static bool plan_box(struct gfx *gfx, const struct draw_list *list, struct box box)
{
    bool room = true;
    plan_clear(&gfx->plan);
    for (int i = 0; i < list->cmd_count; i++) {
        const struct draw_cmd *cmd = &list->cmds[i];
        bool image =
            cmd->kind == DRAW_HEATMAP || cmd->kind == DRAW_MATRIX || cmd->kind == DRAW_MASK;
        if (!image && cmd->kind != DRAW_BAR && (cmd->color & 255) == 0) {
            continue;
        }
        /* The clip is cheap to know; the width of a text is not. */
        if (box_is_empty(box_intersection(box_clip(cmd->clip), box))) {
            continue;
        }
        struct box touched = box_intersection(draw2d_bounds(list, cmd, gfx->glyphs), box);
        if (box_is_empty(touched)) {
            continue;
        }
        if (image) {
            plan_add(&gfx->plan, PLAN_IMAGE, i, touched);
            continue;
        }
        if (cmd->kind == DRAW_TEXT) {
            room &= glyphs_prepare(gfx->glyphs, list->text + cmd->text, (enum draw_font)cmd->font,
                                   cmd->size);
        }
        unsigned layers = draw2d_layers(cmd);
        for (int layer = 0; layer < DRAW2D_LAYERS; layer++) {
            if (layers & 1u << layer) {
                plan_add(&gfx->plan, layer, i, touched);
            }
        }
    }
    return room;
}

static void draw_image(struct gfx *gfx, const struct draw_list *list, const struct draw_cmd *cmd,
                       mat4 projection)
{
    draw2d_flush(&gfx->draw2d);
    if (cmd->kind == DRAW_HEATMAP) {
        heatmap_draw(&gfx->heatmap, &gfx->draw2d, list, cmd, projection, &gfx->limits);
    } else if (cmd->kind == DRAW_MASK) {
        mask_draw(&gfx->mask, &gfx->draw2d, list, cmd, projection, &gfx->limits);
    } else {
        matrix_draw(&gfx->matrix, &gfx->draw2d, list, cmd, projection, &gfx->limits);
    }
}

static void draw_plan(struct gfx *gfx, const struct draw_list *list, mat4 projection)
{
    const struct plan *plan = &gfx->plan;
    for (int b = 0; b < plan->batch_count; b++) {
        const struct plan_batch *batch = &plan->batches[b];
        for (int i = batch->first; i >= 0; i = plan->items[i].next) {
            const struct draw_cmd *cmd = &list->cmds[plan->items[i].cmd];
            if (batch->layer == PLAN_IMAGE) {
                draw_image(gfx, list, cmd, projection);
            } else {
                draw2d_add(&gfx->draw2d, (enum draw2d_layer)batch->layer, list, cmd, gfx->glyphs);
            }
        }
    }
    draw2d_flush(&gfx->draw2d);
}

static void draw_box(struct gfx *gfx, const struct draw_list *list, struct box box, mat4 projection)
{
    if (!plan_box(gfx, list, box)) {
        /* Glyphs of earlier frames make room; what still does not fit is left out. */
        glyphs_evict(gfx->glyphs);
        plan_box(gfx, list, box);
    }
    draw2d_update_atlas(&gfx->draw2d, gfx->glyphs, &gfx->limits);
    glScissor(box.x0, list->height - box.y1, box.x1 - box.x0, box.y1 - box.y0);
    glClear(GL_COLOR_BUFFER_BIT);
    draw_plan(gfx, list, projection);
    gfx->stats.damage_area += (int64_t)(box.x1 - box.x0) * (box.y1 - box.y0);
}

static void set_background(draw_color color)
{
    glClearColor((float)(color >> 24) / 255.0f, (float)(color >> 16 & 255) / 255.0f,
                 (float)(color >> 8 & 255) / 255.0f, 1.0f);
}

static void draw_damage(struct gfx *gfx, const struct draw_list *list, const struct damage *damage)
{
    gfx->limits.uploaded = 0;
    gfx->draw2d.calls = 0;
    gfx->stats.damage_count = damage->count;
    gfx->stats.damage_area = 0;

    mat4 projection;
    glm_ortho(0.0f, (float)list->width, (float)list->height, 0.0f, -1.0f, 1.0f, projection);
    draw2d_set_projection(&gfx->draw2d, projection);
    set_background(list->background);
    glBindFramebuffer(GL_FRAMEBUFFER, gfx->framebuffer);
    glViewport(0, 0, list->width, list->height);
    glEnable(GL_SCISSOR_TEST);
    for (int i = 0; i < damage->count; i++) {
        draw_box(gfx, list, damage->boxes[i], projection);
    }
    gfx->stats.upload_bytes = gfx->limits.uploaded;
    gfx->stats.draw_calls = gfx->draw2d.calls;
}

bool gfx_draw(struct gfx *gfx, const struct draw_list *list)
{
    if (list->width < 1 || list->height < 1 || !fit_framebuffer(gfx, list->width, list->height)) {
        return false;
    }
    Uint64 start = SDL_GetPerformanceCounter();
    struct damage damage = damage_find(&gfx->last, list);
    if (damage.count == 0) {
        return false;
    }
    draw_damage(gfx, list, &damage);
    present(gfx);
    gfx->stats.frames++;
    gfx->stats.draw_ms =
        1e3 * (double)(SDL_GetPerformanceCounter() - start) / (double)SDL_GetPerformanceFrequency();
    return true;
}

/* --- questions --- */

bool gfx_read(struct gfx *gfx, uint8_t *rgba)
{
    if (!gfx->framebuffer) {
        return false;
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, gfx->framebuffer);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    size_t row = 4 * (size_t)gfx->width;
    /* GL's first row is the lowest. */
    for (int y = 0; y < gfx->height; y++) {
        glReadPixels(0, gfx->height - 1 - y, gfx->width, 1, GL_RGBA, GL_UNSIGNED_BYTE,
                     rgba + row * (size_t)y);
    }
    return true;
}

void gfx_drawable_size(const struct gfx *gfx, int *width, int *height)
{
    *width = gfx->drawable_width;
    *height = gfx->drawable_height;
}

void gfx_window_size(const struct gfx *gfx, int *width, int *height)
{
    SDL_GetWindowSize(gfx->context.window, width, height);
}

struct glyphs *gfx_glyphs(struct gfx *gfx)
{
    return gfx->glyphs;
}

SDL_Window *gfx_window(struct gfx *gfx)
{
    return gfx->context.window;
}

struct gfx_stats gfx_stats(const struct gfx *gfx)
{
    return gfx->stats;
}

const char *gfx_renderer(const struct gfx *gfx)
{
    return gfx->renderer;
}

bool gfx_is_offscreen(const struct gfx *gfx)
{
    return gfx->context.offscreen;
}
