/* SPDX-License-Identifier: MIT */
/*
 * What passes between the application and its panels. A panel reads a struct scene, keeps its
 * transient state in struct view, and asks for changes through struct edits; it computes nothing
 * and changes nothing else.
 */
#ifndef NONLOCAL_APP_VIEW_H
#define NONLOCAL_APP_VIEW_H

#include "command.h"
#include "detail.h"
#include "job.h"
#include "selection.h"
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
    struct order_view order; /* of the matrix, on its way to the result's */
    const struct detail *detail;
    const struct selection *selection;
    enum source_kind kind; /* of the result's source */
    /* What is shown is not (yet) what the document asks for, for long enough to say so. */
    bool stale_map, stale_matrix;
    struct job_state job;
    const char *tier;    /* instruction set in use */
    const char *message; /* an error to show, "" = none */
};

/* A map that can be zoomed: what part of it is shown. */
struct zoom {
    double factor; /* 1 = all of it fits */
    double x, y;   /* centre, 0..1 */
};

/* A box that is being drawn over a panel. */
struct box_drag {
    ui_id panel;          /* 0 = none */
    float x, y;           /* where it began, on the screen */
    float last_x, last_y; /* and where it reached in the last frame */
};

enum box_state { BOX_NONE, BOX_HELD, BOX_MOVED, BOX_DONE };

/* Transient state: outside the document, outside undo. */
struct view {
    struct ui_scroll controls, matrix_scroll;
    struct box_drag box;
    /* Places on each matrix's bar between which its map is spread; NaN = where the bar has it. */
    float range[SCENE_COUNT][SHOWN_COUNT][2];
    size_t branch; /* of the tree that the keyboard is at; beyond the last = none */
    struct zoom picture, scatter, matrix[SCENE_COUNT];
    struct ui_scroll help_scroll;
    bool help;          /* the list of keys is open */
    size_t hover_row;   /* key under the pointer in any panel, SIZE_MAX = none */
    size_t hover_next;  /* what this frame's panels found */
    size_t hover_query; /* query under the pointer in the matrix, SIZE_MAX = none */
    size_t hover_query_next;
    int scatter_x, scatter_y; /* columns */
};

enum edit_kind {
    EDIT_PARAM,
    EDIT_RESET,
    EDIT_SYSTEM,
    EDIT_QUERY,
    EDIT_SCENE,
    EDIT_COMMAND,
    EDIT_PICK,
    EDIT_COLUMN,
    EDIT_READY,
};

struct edit {
    enum edit_kind kind;
    bool committed; /* a step of undo ends here */
    enum param_id param;
    struct param_value value;
    struct doc_query query;
    struct pick pick;
    int number; /* system, scene, command, column, or whether the source is D */
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
/* A column of the table becomes a feature, or is none any more. */
void edit_column(struct edits *edits, size_t column);
void edit_ready(struct edits *edits, bool ready);
/* committed: the person has let go, what is selected can be measured. */
void edit_pick(struct edits *edits, const struct pick *pick, bool committed);

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
/* Parts of panel_matrix. The tree beside rows y0..y1 of the order shown. */
void panel_dendrogram(struct ui *ui, struct draw_rect rect, const struct scene *scene, double y0,
                      double y1, struct view *view, struct edits *edits);
/* What the matrix shows, in which order, and how good that is; returns the height that it takes. */
float panel_matrix_side(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                        struct edits *edits);
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
/* The bar of the numbers that the matrix shows. */
struct bar view_matrix_bar(const struct scene *scene);
/* "D", "S" or "A": the letter of those numbers. */
const char *view_matrix_letter(enum shown_id shown);
/* A number in at most three significant digits, as the bars write it. */
const char *view_number(double value, char *buffer, size_t size);
/* A vertical bar with three numbers beside it, low at the bottom. */
void view_bar(struct ui *ui, struct draw_rect rect, int map, const char *const numbers[3]);
/* A bar of values from low to high. */
struct bar {
    int map;
    double low, high;
    enum draw_scale scale;            /* with low = 0 unless linear */
    float from;                       /* where the map begins until somebody moves it */
    const char *low_word, *high_word; /* what its ends mean */
};
/* The value at a place 0..1 of the bar. */
double view_bar_value(const struct bar *bar, double place);
/*
 * The same with a handle at either end of the map, which drags and arrow keys move, between places
 * chosen[0] and chosen[1] of 0..1 (NaN: where the bar has it); true when one moved.
 */
bool view_range_bar(struct ui *ui, struct draw_rect rect, const char *id, const struct bar *bar,
                    float chosen[2]);
/* The places that are meant by what was chosen. */
void view_bar_range(const struct bar *bar, const float chosen[2], float range[2]);
/* The bar of the query's weights, with the numbers of the overlay's scale. */
void view_heat_bar(struct ui *ui, struct draw_rect rect, const struct scene *scene);
/* A figure: muted name above a bold value; returns the height. */
float view_figure(struct ui *ui, struct draw_rect rect, enum ui_align align, const char *name,
                  const char *value);
/* Wheel zooms at the pointer, middle and right drags pan; true when the view changed. */
bool view_zoom_input(struct zoom *zoom, const struct ui_signal *signal, struct draw_rect rect,
                     double most);
/* The same by keys, for what has the keyboard: + and − zoom, Shift and arrows pan. */
bool view_zoom_keys(struct ui *ui, struct zoom *zoom, double most);
/* The part of 0..1 × 0..1 that is shown. */
void view_zoom_window(const struct zoom *zoom, double *x0, double *y0, double *x1, double *y1);
/*
 * Shift and a drag draw a box over a panel; its input is then not for anything else. *box is what
 * it covers, inside rect: it covers something else since the last frame, or is done, or is only
 * held. A box no larger than a click covers nothing: w = h = 0.
 */
enum box_state view_box_input(struct ui *ui, struct view *view, const struct ui_signal *signal,
                              struct draw_rect rect, struct draw_rect *box);
/* A word beside a mark on the picture or plot, above or below it, on a ground of its own. */
void view_tag(struct ui *ui, struct draw_rect rect, float x, float y, bool below, const char *word);
/*
 * Words for the two marks of a pair that the pointer is over in the matrix, dx and dy apart on the
 * screen: one is enough where they are one, or so close that two would collide. NULL: none.
 */
const char *view_query_tag(const struct view *view);
const char *view_key_tag(const struct ui *ui, const struct view *view, float dx, float dy);
/* Why a panel has nothing to show: work under way, an error, or else what a person could do. */
void view_absence(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  const char *invitation);
/* A veil with the stage at work and Cancel over what is out of date. */
void view_stale(struct ui *ui, struct draw_rect rect, const struct scene *scene, bool stale,
                struct edits *edits, const char *id);

#endif
