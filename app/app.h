/* SPDX-License-Identifier: MIT */
/*
 * The program without a window: inputs in, a draw list out. Knows neither SDL nor GL, so that tests
 * drive it with plain data.
 */
#ifndef NONLOCAL_APP_APP_H
#define NONLOCAL_APP_APP_H

#include "undo.h"
#include "view.h"

/* Something was opened and is not there yet. */
struct app_opening {
    uint64_t key; /* 0 = nothing */
    char path[DOC_PATH];
    bool keep_query; /* the query was given together with the file */
    bool keep_ready; /* and that it is D itself */
};

/* What the window shows: all of it, or one panel alone. */
enum app_view { APP_WINDOW, APP_HEATMAP, APP_MATRIX };

struct app {
    struct doc docs[SCENE_COUNT];
    struct result results[SCENE_COUNT];
    enum scene_id scene;
    struct undo undo;
    struct job *job;
    struct app_opening opening;
    uint64_t last_source_key;
    struct stage_keys posted; /* of the last request */
    double stale_since[2];    /* map, matrix: inputs.time; < 0 = not stale */

    struct row_view row;
    float *row_weights; /* capacity floats */
    size_t row_capacity;

    struct reorder reorder;
    struct order_view order; /* of this frame */
    struct detail detail;
    struct selection selections[SCENE_COUNT];

    struct view view;
    struct edits edits;
    enum ui_theme theme;
    float user_scale;      /* Ctrl + and − */
    bool user_scale_fixed; /* --ui-scale was given: the system's scale counts nothing */
    char message[480];
    uint64_t said_key; /* of the stage whose failure was said last; 0 = none */
    double message_until;
    enum app_view shown;
    bool quit;

    struct ui_style style;
    struct ui ui;
    struct draw_list list;
};

struct app_params {
    nl_cpu cpu;
    size_t threads;
    const struct ui_text *text; /* measures; must outlive the app */
    struct ui_clipboard clipboard;
    void (*wake)(void *user); /* from the worker: a result is there */
    void *user;
    const struct doc *doc; /* parameters to start with; NULL = defaults */
    const char *open;      /* file or built-in; NULL = @sample */
    enum ui_theme theme;
    float ui_scale; /* 0 = the system's */
    enum app_view view;
};

/* Large: allocated once. NULL with an error. */
struct app *app_create(const struct app_params *params, nl_error *error);
void app_destroy(struct app **app);

/* One frame: takes results, lets the panels react to inputs, fills app->list. */
void app_step(struct app *app, const struct inputs *inputs, struct ui_frame *frame);

/* Opens a file as if it had been dropped on the window. */
void app_open(struct app *app, const char *path);

/* The frame shows the document as it is; how good the order is may still be counted. */
bool app_complete(const struct app *app);

/* The same, and nothing is being computed. */
bool app_settled(const struct app *app);

#endif
