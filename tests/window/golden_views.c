/* SPDX-License-Identifier: MIT */
#include "golden_views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "gfx/gfx.h"

enum { PATIENCE = 100 }; /* seconds */

struct stage {
    struct gfx *gfx;
    struct app *app;
    struct ui_text text;
    struct inputs in;
    struct ui_frame frame;
};

static float text_width(void *user, enum draw_font font, float size, const char *utf8,
                        size_t length)
{
    return glyphs_width(user, utf8, length, font, size);
}

static void text_metrics(void *user, enum draw_font font, float size, float *ascent, float *descent)
{
    *ascent = glyphs_ascent(user, font, size);
    *descent = glyphs_descent(user, font, size);
}

static void wake(void *user)
{
    (void)user; /* frames are drawn all the time */
}

static void step(struct stage *stage)
{
    app_step(stage->app, &stage->in, &stage->frame);
    gfx_draw(stage->gfx, &stage->app->list); /* as in the window: what changed */
    inputs_next(&stage->in);
    stage->in.time += 1.0 / 64;
}

/* Frames until nothing changes; the clock stands while the worker is at work. */
static bool settle(struct stage *stage)
{
    const time_t end = time(NULL) + PATIENCE;
    for (int quiet = 0; quiet < 3;) {
        const double now = stage->in.time;
        step(stage);
        bool done = app_settled(stage->app) && !stage->frame.again;
        quiet = done ? quiet + 1 : 0;
        if (app_settled(stage->app))
            continue; /* what moves comes to rest */
        stage->in.time = now;
        if (time(NULL) >= end)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}

/* --- What a person does ---------------------------------------------------------------------- */

static void key(struct stage *stage, uint32_t code, unsigned mods)
{
    inputs_key(&stage->in, code, mods);
    step(stage);
    step(stage);
}

static void point(struct stage *stage, float x, float y)
{
    stage->in.mouse_x = x;
    stage->in.mouse_y = y;
    step(stage);
    step(stage);
}

static void click(struct stage *stage, float x, float y)
{
    point(stage, x, y);
    inputs_press(&stage->in, UI_LEFT);
    step(stage);
    inputs_release(&stage->in, UI_LEFT);
    step(stage);
    step(stage);
}

/* Over the picture, at these shares of its width and height. */
static void point_at_picture(struct stage *stage, float u, float v)
{
    const struct draw_list *list = &stage->app->list;
    for (int i = 0; i < list->cmd_count; i++) {
        const struct draw_rect at = list->cmds[i].rect;
        if (list->cmds[i].kind == DRAW_HEATMAP && list->cmds[i].u.heat.weights) {
            point(stage, floorf(at.x + u * at.w), floorf(at.y + v * at.h));
            return;
        }
    }
}

static void to_light(struct stage *stage)
{
    key(stage, UI_KEY_F1 + 5, 0);
}

static void to_table(struct stage *stage)
{
    key(stage, UI_KEY_F1 + 2, 0);
}

static void hover(struct stage *stage)
{
    point_at_picture(stage, 0.3f, 0.62f);
}

static void zoom(struct stage *stage)
{
    point_at_picture(stage, 0.62f, 0.6f);
    stage->in.wheel_y = 6;
    step(stage);
    step(stage);
    point(stage, -1, -1);
}

static void open_list(struct stage *stage)
{
    to_table(stage);
    settle(stage);
    const struct draw_list *list = &stage->app->list;
    for (int i = 0; i < list->cmd_count; i++)
        if (list->cmds[i].kind == DRAW_TEXT &&
            strcmp(list->text + list->cmds[i].text, "Similarity") == 0) {
            click(stage, list->cmds[i].rect.x + 150, list->cmds[i].rect.y - 4);
            break;
        }
    point(stage, -1, -1);
}

/* Over the matrix, at these shares of its side. */
static void point_at_matrix(struct stage *stage, float u, float v)
{
    const struct draw_list *list = &stage->app->list;
    for (int i = 0; i < list->cmd_count; i++) {
        const struct draw_rect at = list->cmds[i].rect;
        if (list->cmds[i].kind == DRAW_MATRIX) {
            point(stage, floorf(at.x + u * at.w), floorf(at.y + v * at.h));
            return;
        }
    }
}

static void set(struct stage *stage, enum param_id id, double number)
{
    edit_param(&stage->app->edits, id, (struct param_value){.number = number}, true);
    step(stage);
    settle(stage);
}

/* A tree order, a branch picked, the pointer over a pair. */
static void sorted(struct stage *stage)
{
    to_table(stage);
    settle(stage);
    set(stage, PARAM_ORDER, NL_ORDER_AVERAGE);
    point_at_matrix(stage, -0.1f, 0.6f);
    click(stage, stage->in.mouse_x, stage->in.mouse_y);
    point_at_matrix(stage, 0.85f, 0.2f);
}

/* Class means, and single cells of them. */
static void cells(struct stage *stage)
{
    to_table(stage);
    settle(stage);
    set(stage, PARAM_SHOWN, SHOWN_MEANS);
    point_at_matrix(stage, 0.5f, 0.5f);
    for (int i = 0; i < 14; i++) {
        stage->in.wheel_y = 1;
        step(stage);
    }
    point(stage, -1, -1);
}

/* The weights' matrix, and a box over the picture. */
static void weights(struct stage *stage)
{
    set(stage, PARAM_SHOWN, SHOWN_WEIGHTS);
    point_at_picture(stage, 0.56f, 0.46f);
    stage->in.mods = UI_MOD_SHIFT;
    inputs_press(&stage->in, UI_LEFT);
    step(stage);
    point_at_picture(stage, 0.83f, 0.97f);
    inputs_release(&stage->in, UI_LEFT);
    step(stage);
    stage->in.mods = 0;
    point(stage, -1, -1);
}

static void help(struct stage *stage)
{
    key(stage, UI_KEY_F1, 0);
}

static void bad_file(struct stage *stage)
{
    to_table(stage);
    settle(stage);
    snprintf(stage->in.dropped, sizeof stage->in.dropped, "missing.png");
    step(stage);
}

const struct golden_view golden_views[GOLDEN_VIEWS] = {
    {"first-800x600", 800, 600, 1, NULL},        {"first-1366x768", 1366, 768, 1, NULL},
    {"light-1024x700", 1024, 700, 1, to_light},  {"table-1366x768", 1366, 768, 1, to_table},
    {"hover-800x600", 800, 600, 1, hover},       {"zoom-800x600", 800, 600, 1, zoom},
    {"list-800x600", 800, 600, 1, open_list},    {"help-800x600", 800, 600, 1, help},
    {"scale2-1280x960", 1280, 960, 2, NULL},     {"message-800x600", 800, 600, 1, bad_file},
    {"sorted-1366x768", 1366, 768, 1, sorted},   {"cells-1366x768", 1366, 768, 1, cells},
    {"weights-1366x768", 1366, 768, 1, weights},
};

/* --- Drawing --------------------------------------------------------------------------------- */

static bool start(struct stage *stage, const struct golden_view *view, char error[GOLDEN_ERROR])
{
    nl_error reason = {0};
    const struct gfx_params gfx_params = {
        .window = {.width = view->width, .height = view->height, .offscreen = true},
        .font = "DejaVu Sans"};
    stage->gfx = gfx_create(&gfx_params, error, GOLDEN_ERROR);
    if (!stage->gfx)
        return false;
    stage->text = (struct ui_text){gfx_glyphs(stage->gfx), text_width, text_metrics};
    /* Scalar: the same numbers and the same tier in the status strip on every machine. */
    const struct app_params params = {
        .cpu = NL_CPU_SCALAR, .text = &stage->text, .wake = wake, .view = APP_WINDOW};
    stage->app = app_create(&params, &reason);
    if (!stage->app)
        snprintf(error, GOLDEN_ERROR, "%s", reason.message);
    stage->in.window_w = stage->in.drawable_w = view->width;
    stage->in.window_h = stage->in.drawable_h = view->height;
    stage->in.scale = view->scale;
    stage->in.time = 100;
    stage->in.mouse_x = stage->in.mouse_y = -1;
    return stage->app != NULL;
}

/* The milliseconds in the status strip become the same ones everywhere. */
static void stop_the_watch(struct stage *stage)
{
    stage->app->row.milliseconds = 0.25;
    stage->app->results[stage->app->scene].milliseconds = 40;
    step(stage);
}

static bool draw(struct stage *stage, const struct golden_view *view, uint8_t *rgb,
                 char error[GOLDEN_ERROR])
{
    const size_t count = (size_t)view->width * (size_t)view->height;
    bool ready = settle(stage);
    if (ready && view->act) {
        view->act(stage);
        ready = settle(stage);
    }
    stop_the_watch(stage);
    uint8_t *rgba = malloc(4 * count);
    if (!ready || !rgba || !gfx_read(stage->gfx, rgba)) {
        free(rgba);
        snprintf(error, GOLDEN_ERROR, ready ? "nothing was drawn" : "the view was never ready");
        return false;
    }
    for (size_t p = 0; p < count; p++)
        memcpy(rgb + 3 * p, rgba + 4 * p, 3);
    free(rgba);
    return true;
}

bool golden_draw(const struct golden_view *view, uint8_t *rgb, char error[GOLDEN_ERROR])
{
    static struct stage stage;
    stage = (struct stage){0};
    bool drawn = start(&stage, view, error) && draw(&stage, view, rgb, error);
    app_destroy(&stage.app);
    gfx_destroy(&stage.gfx);
    return drawn;
}
