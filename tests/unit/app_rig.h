/* SPDX-License-Identifier: MIT */
/*
 * The program without a screen: frames with a clock of their own, a measurer whose widths are
 * known, and files in an empty folder that goes away again. Include after cmocka.h.
 */
#ifndef NONLOCAL_TESTS_APP_RIG_H
#define NONLOCAL_TESTS_APP_RIG_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "folder_rig.h"
#include "ui/text_fake.h"

enum { RIG_PATIENCE = 100 }; /* seconds, for sanitizers and emulators */

struct rig {
    struct app *app;
    struct ui_text text;
    struct inputs in;
    struct ui_frame frame;
    atomic_int wakes;
};

static inline void rig_wake(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

/* file: what to open, NULL = the sample. */
static inline void rig_open(struct rig *rig, const char *file, int width, int height)
{
    nl_error error = {0};
    memset(rig, 0, sizeof *rig);
    rig->text = ui_text_fake();
    const struct app_params params = {
        .threads = 2, .text = &rig->text, .wake = rig_wake, .user = &rig->wakes, .open = file};
    rig->app = app_create(&params, &error);
    assert_non_null(rig->app);
    rig->in.window_w = rig->in.drawable_w = width;
    rig->in.window_h = rig->in.drawable_h = height;
    rig->in.scale = 1;
    rig->in.time = 100;
    rig->in.mouse_x = rig->in.mouse_y = -1;
}

static inline void rig_close(struct rig *rig)
{
    app_destroy(&rig->app);
    assert_null(rig->app);
}

/* Nothing overrun, nothing unbalanced, nothing outside the window. */
static inline void rig_check_frame(const struct rig *rig)
{
    const struct ui_faults *faults = &rig->app->ui.faults;
    const struct draw_list *list = &rig->app->list;
    assert_int_equal(faults->items + faults->ids + faults->scrolls, 0);
    assert_int_equal(faults->duplicates, 0);
    assert_int_equal(faults->unbalanced, 0);
    assert_int_equal(list->dropped, 0);
    assert_int_equal(list->width, rig->in.drawable_w);
    assert_int_equal(list->height, rig->in.drawable_h);
    for (int i = 0; i < list->cmd_count; i++) {
        const struct draw_rect clip = list->cmds[i].clip;
        assert_true(clip.x >= 0 && clip.x + clip.w <= (float)list->width);
        assert_true(clip.y >= 0 && clip.y + clip.h <= (float)list->height);
    }
}

/* One frame with the events gathered in rig->in; afterwards they are spent. */
static inline void rig_frame(struct rig *rig)
{
    app_step(rig->app, &rig->in, &rig->frame);
    rig_check_frame(rig);
    inputs_next(&rig->in);
    rig->in.time += 1.0 / 64;
}

static inline void rig_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static inline void rig_settle_until(struct rig *rig, bool (*settled)(const struct app *app))
{
    const time_t end = time(NULL) + RIG_PATIENCE;
    for (int quiet = 0; quiet < 2;) {
        rig_frame(rig);
        bool done = settled(rig->app) && !rig->frame.again;
        quiet = done ? quiet + 1 : 0;
        if (!settled(rig->app)) { /* waits for the worker, whose clock is the real one */
            rig_pause();
            rig->in.time += 0.001 - 1.0 / 64;
        }
        assert_true(time(NULL) < end);
    }
}

/* Frames until the window shows what the document asks for. */
static inline void rig_settle(struct rig *rig)
{
    rig_settle_until(rig, app_complete);
}

/* The same, and until the worker has nothing left to do. */
static inline void rig_settle_all(struct rig *rig)
{
    rig_settle_until(rig, app_settled);
}

static inline void rig_move(struct rig *rig, float x, float y)
{
    rig->in.mouse_x = x;
    rig->in.mouse_y = y;
}

/* Press in one frame, release in the next, and the frame in which it shows. */
static inline void rig_click(struct rig *rig, float x, float y)
{
    rig_move(rig, x, y);
    inputs_press(&rig->in, UI_LEFT);
    rig_frame(rig);
    inputs_release(&rig->in, UI_LEFT);
    rig_frame(rig);
    rig_frame(rig);
}

static inline void rig_key(struct rig *rig, uint32_t key, unsigned mods)
{
    inputs_key(&rig->in, key, mods);
    rig_frame(rig);
    rig_frame(rig);
}

static inline const struct doc *rig_doc(const struct rig *rig)
{
    return &rig->app->docs[rig->app->scene];
}

static inline struct result *rig_result(struct rig *rig)
{
    return &rig->app->results[rig->app->scene];
}

/* The picture with the weights over it, or the matrix; NULL when it is not drawn. */
static inline const struct draw_cmd *rig_find(const struct rig *rig, enum draw_kind kind)
{
    const struct draw_list *list = &rig->app->list;
    for (int i = 0; i < list->cmd_count; i++)
        if (list->cmds[i].kind == kind && (kind != DRAW_HEATMAP || list->cmds[i].u.heat.weights))
            return &list->cmds[i];
    return NULL;
}

/* The first command that draws a text with these words in it, or NULL. */
static inline const struct draw_cmd *rig_find_text(const struct rig *rig, const char *words)
{
    const struct draw_list *list = &rig->app->list;
    for (int i = 0; i < list->cmd_count; i++)
        if (list->cmds[i].kind == DRAW_TEXT && strstr(list->text + list->cmds[i].text, words))
            return &list->cmds[i];
    return NULL;
}

/* Where a share of the picture's width and height is on the screen, while all of it shows. */
static inline void rig_picture_point(const struct rig *rig, float u, float v, float *x, float *y)
{
    const struct draw_cmd *heat = rig_find(rig, DRAW_HEATMAP);
    assert_non_null(heat);
    *x = floorf(heat->rect.x + u * heat->rect.w) + 0.5f;
    *y = floorf(heat->rect.y + v * heat->rect.h) + 0.5f;
}

static inline void rig_click_picture(struct rig *rig, float u, float v)
{
    float x, y;
    rig_picture_point(rig, u, v, &x, &y);
    rig_click(rig, x, y);
}

/* As if a panel had asked for it. */
static inline void rig_set(struct rig *rig, enum param_id id, double number)
{
    edit_param(&rig->app->edits, id, (struct param_value){.number = number}, true);
    rig_frame(rig);
}

static inline void rig_drop(struct rig *rig, const char *path)
{
    snprintf(rig->in.dropped, sizeof rig->in.dropped, "%s", path);
    rig_frame(rig);
}

/* The row on the screen is the query's row of the attention on the screen, to the last bit. */
static inline void rig_check_row(struct rig *rig)
{
    const struct attention_part *attention = rig_result(rig)->attention;
    const struct row_view *row = &rig->app->row;
    nl_error error = {0};
    size_t query;
    assert_non_null(attention);
    assert_true(row->key != 0);
    assert_int_equal(stage_query_row(&attention->features->features,
                                     rig_result(rig)->source->source.kind,
                                     &rig_doc(rig)->queries[0], &query, &error),
                     NL_OK);
    assert_int_equal(row->query, query);
    assert_int_equal(row->n, attention->features->features.x.rows);
    float *weights = calloc(row->n, sizeof *weights);
    nl_row_figures figures;
    const nl_exec exec = {.kernels = job_kernels(rig->app->job)};
    assert_non_null(weights);
    assert_int_equal(
        nl_attention_row(attention->attention.attention, query, &exec, weights, &figures, &error),
        NL_OK);
    assert_memory_equal(weights, row->weights, row->n * sizeof *weights);
    assert_true(figures.largest == row->figures.largest && figures.entropy == row->figures.entropy);
    if (param_choice(rig_doc(rig), PARAM_NORMALIZE) == NL_NORMALIZE_SUM &&
        nl_similarities[param_choice(rig_doc(rig), PARAM_SIMILARITY)].exponential)
        assert_true(fabs(figures.sum - 1) < 1e-4 || figures.notes & NL_NOTE_NO_KEYS);
    const struct draw_source *shown = &rig->app->list.sources[DRAW_SLOT_WEIGHTS];
    assert_true(shown->key == row->key && shown->pixels == row->weights);
    free(weights);
}

/* --- Files ---------------------------------------------------------------------------------- */

static inline void rig_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void rig_write_text(const char *path, const char *text)
{
    rig_write(path, text, strlen(text));
}

/* A picture with something to see in it: two gradients and a grid. */
static inline void rig_write_picture(const char *path, size_t width, size_t height)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P6\n%zu %zu\n255\n", width, height);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) {
            const bool line = x % 7 == 3 || y % 5 == 2;
            putc(line ? 240 : (int)(255 * x / width), file);
            putc((int)(255 * y / height), file);
            putc((int)((x * 31 + y * 17) % 64), file);
        }
    assert_int_equal(fclose(file), 0);
}

#endif
