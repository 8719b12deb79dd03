/* SPDX-License-Identifier: MIT */
/*
 * What passes between the application and its panels. A panel reads a struct scene, keeps its
 * transient state in struct view, and asks for changes through struct edits; it computes nothing
 * and changes nothing else.
 */
#ifndef NONLOCAL_APP_VIEW_H
#define NONLOCAL_APP_VIEW_H

#include "command.h"
#include "job.h"
#include "ui/widgets.h"

enum scene_id { SCENE_PICTURE, SCENE_TABLE, SCENE_COUNT };

enum { TOP_SHOWN = 5, TOP_MASS = 10 };

/* The query's row of A, as the main thread computed it. */
struct row_view {
    uint64_t key;          /* of attention and query; 0 = there is no row */
    uint64_t refused_key;  /* the same of a row that cannot be computed; 0 = none */
    char refused[200];     /* why */
    size_t query, queries; /* row of X, and how many there are */
    size_t n;              /* keys */
    const float *weights;  /* n */
    nl_row_figures figures;
    size_t top[TOP_MASS];
    size_t top_count;
    double top_mass; /* of the TOP_MASS largest */
    double milliseconds;
};

/* Everything a panel may read. */
struct scene {
    enum scene_id id;
    const struct doc *doc;
    const struct result *result; /* parts may be NULL while nothing is there yet */
    const struct row_view *row;
    enum source_kind kind; /* of the result's source */
    bool stale;            /* the result is not (yet) the document's, for long enough to say so */
    struct job_state job;
    const char *tier;    /* instruction set in use */
    const char *message; /* an error to show, "" = none */
};

/* A map that can be zoomed: what part of it is shown. */
struct zoom {
    double factor; /* 1 = all of it fits */
    double x, y;   /* centre, 0..1 */
};

/* Transient state: outside the document, outside undo. */
struct view {
    struct ui_scroll controls;
    struct zoom picture, matrix, scatter;
    struct ui_scroll help_scroll;
    bool help;                /* the list of keys is open */
    size_t hover_row;         /* key under the pointer in any panel, SIZE_MAX = none */
    size_t hover_next;        /* what this frame's panels found */
    int scatter_x, scatter_y; /* columns */
};

enum edit_kind { EDIT_PARAM, EDIT_RESET, EDIT_SYSTEM, EDIT_QUERY, EDIT_SCENE, EDIT_COMMAND };

struct edit {
    enum edit_kind kind;
    bool committed; /* a step of undo ends here */
    enum param_id param;
    struct param_value value;
    struct doc_query query;
    int number; /* system, scene or command */
};

enum { EDITS_MAX = 32 };

struct edits {
    struct edit items[EDITS_MAX];
    int count;
};

void edit_param(struct edits *edits, enum param_id id, struct param_value value, bool committed);
void edit_reset(struct edits *edits, enum param_id id);
void edit_system(struct edits *edits, int system);
void edit_query_row(struct edits *edits, size_t row, bool committed);
void edit_query_pixel(struct edits *edits, double x, double y, bool committed);
void edit_scene(struct edits *edits, enum scene_id scene);
void edit_command(struct edits *edits, enum command_id command);

/* The panels, one file each. */
void panel_topbar(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits);
void panel_controls(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                    struct view *view, struct edits *edits);
void panel_picture(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                   struct view *view, struct edits *edits);
void panel_scatter(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                   struct view *view, struct edits *edits);
void panel_matrix(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits);
void panel_status(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits);
void panel_help(struct ui *ui, const struct scene *scene, struct view *view, struct edits *edits);

/* Shared by panels. */

/* The weights as a texture, when there is a row. */
void view_weights_source(const struct scene *scene, struct draw_list *list);
/* "(38, 29)" for a picture's cell, "17 (setosa)" for a table's row; returns buffer. */
const char *view_row_name(const struct scene *scene, size_t row, char *buffer, size_t size);
/* The same for a key: another cell where keys are pooled. */
const char *view_key_name(const struct scene *scene, size_t key, char *buffer, size_t size);
/* Weights below 0: shown on a map of two hues, centred on 0. */
bool view_is_signed(const struct scene *scene);
/* The colour map of the weights: the document's, or the one of two hues. */
int view_heat_map(const struct scene *scene);
/* A number in at most three significant digits, as the bars write it. */
const char *view_number(double value, char *buffer, size_t size);
/* A vertical bar with three numbers beside it, low at the bottom. */
void view_bar(struct ui *ui, struct draw_rect rect, int map, const char *const numbers[3]);
/* The bar of the query's weights, with the numbers of the overlay's scale. */
void view_heat_bar(struct ui *ui, struct draw_rect rect, const struct scene *scene);
/* A figure: muted name above a bold value; returns the height. */
float view_figure(struct ui *ui, struct draw_rect rect, enum ui_align align, const char *name,
                  const char *value);
/* Wheel zooms at the pointer, middle and right drags pan; true when the view changed. */
bool view_zoom_input(struct zoom *zoom, const struct ui_signal *signal, struct draw_rect rect,
                     double most);
/* The part of 0..1 × 0..1 that is shown. */
void view_zoom_window(const struct zoom *zoom, double *x0, double *y0, double *x1, double *y1);
/* Why a panel has nothing to show: work under way, an error, or else what a person could do. */
void view_absence(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  const char *invitation);
/* A veil with the stage at work and Cancel over a panel whose content is out of date. */
void view_stale(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                struct edits *edits, const char *id);

#endif
