/* SPDX-License-Identifier: MIT */
/*
 * The widgets. All strings come from the caller, already translated; `id` is not shown (ui.h);
 * `tooltip` may be NULL. Values go in and come out through a pointer to the caller's own copy,
 * which is not kept; widgets with a value return enum ui_result flags.
 */
#ifndef NONLOCAL_APP_UI_WIDGETS_H
#define NONLOCAL_APP_UI_WIDGETS_H

#include "layout.h"
#include "ui.h"

/* --- Text ---- */

struct ui_type ui_type_body(const struct ui *ui);
struct ui_type ui_type_muted(const struct ui *ui);   /* labels and units */
struct ui_type ui_type_caption(const struct ui *ui); /* small and muted */
struct ui_type ui_type_bold(const struct ui *ui);

void ui_label(struct ui *ui, struct draw_rect rect, enum ui_align align, struct ui_type type,
              const char *text);
/* A bold title and, on the same baseline, a muted caption ("a_{ij}" makes a subscript). */
void ui_title(struct ui *ui, struct draw_rect rect, const char *title, const char *caption);
/* Wrapped; returns the height used. */
float ui_paragraph(struct ui *ui, struct draw_rect rect, struct ui_type type, const char *text);

/* --- Frames ---- */

void ui_separator(struct ui *ui, struct draw_rect rect); /* a rule across the middle of rect */

/*
 * Starts a region with the frame and title of a panel and clips to it; returns the inside. title
 * may be NULL (then the inside begins at the top padding), caption too.
 */
struct draw_rect ui_panel_begin(struct ui *ui, struct draw_rect rect, const char *title,
                                const char *caption);
void ui_panel_end(struct ui *ui);

struct ui_scroll {
    float y, content; /* offset; height of the content in the last frame */
};

/*
 * Clips to rect and returns where the content goes: moved up by the offset, as high as may be. The
 * bar stands in the padding to the right of rect. Ids inside are local to the area. Tab brings
 * what it reaches into view.
 */
struct draw_rect ui_scroll_begin(struct ui *ui, struct draw_rect rect, const char *id,
                                 struct ui_scroll *scroll);
/* rect as given to ui_scroll_begin(); content_height from ui_column_used(). */
void ui_scroll_end(struct ui *ui, struct draw_rect rect, struct ui_scroll *scroll,
                   float content_height);
/* The bar alone: returns the new offset. */
float ui_scroll_bar(struct ui *ui, struct draw_rect rect, ui_id id, float content, float view,
                    float y);

/* --- Buttons ---- */

enum ui_button_kind {
    UI_BUTTON_PLAIN,
    UI_BUTTON_ACCENT,
    UI_BUTTON_TAB, /* one of several, not chosen: no box */
    UI_BUTTON_TAB_CHOSEN
};

/* True in the frame in which it is clicked or activated. */
bool ui_button(struct ui *ui, struct draw_rect rect, const char *id, const char *label,
               enum ui_button_kind kind, const char *tooltip);
/* What a button needs for its label. */
float ui_button_width(const struct ui *ui, const char *label);

int ui_checkbox(struct ui *ui, struct draw_rect rect, const char *id, const char *label,
                bool *value, const char *tooltip);

/* --- Choices ---- */

/* name(user, i) for i in 0..count-1, or names[i] when names is not NULL. */
struct ui_choices {
    const char *const *names;
    const char *(*name)(void *user, int i);
    void *user;
    int count;
    const char *none; /* shown when the choice is out of range; may be NULL */
    bool flat;        /* without a box, for the bar at the top */
};

/* Up and Down step it, Enter and Space open it; letters jump in the open list. */
int ui_dropdown(struct ui *ui, struct draw_rect rect, const char *id, const char *const *names,
                int count, int *choice, const char *tooltip);
int ui_dropdown_of(struct ui *ui, struct draw_rect rect, const char *id,
                   const struct ui_choices *choices, int *choice, const char *tooltip);

/* --- Numbers ---- */

struct ui_range {
    double min, max;
    double initial; /* a double click or Delete goes back to it */
    double step;    /* grid from min on; max can always be reached; 0 = continuous */
    bool log;       /* needs min > 0 */
};

/*
 * `shown` is the value as text, with its unit, right of the track; NULL leaves the track the whole
 * width. A drag reports UI_CHANGED whenever the value differs and UI_COMMITTED once at the end,
 * and only if it changed; Escape takes it back.
 */
int ui_slider(struct ui *ui, struct draw_rect rect, const char *id, const struct ui_range *range,
              double *value, const char *shown, const char *tooltip);
/* The mapping of the track: position in 0..1. Exact at both ends. */
double ui_range_at(const struct ui_range *range, double position);
double ui_range_position(const struct ui_range *range, double value);

/* --- Text that is typed ---- */

/*
 * Edits `text` (0-terminated, at most capacity bytes with the 0) in place. Enter always commits;
 * losing the keyboard commits what has changed; Escape brings back what was there. `hint` is shown
 * while it is empty; may be NULL.
 */
int ui_text_field(struct ui *ui, struct draw_rect rect, const char *id, char *text, size_t capacity,
                  const char *hint, const char *tooltip);

/* --- Progress ---- */

/*
 * fraction < 0: not known. label and cancel may be NULL (no text, no button). True in the frame in
 * which Cancel is pressed.
 */
bool ui_progress(struct ui *ui, struct draw_rect rect, const char *id, const char *label,
                 float fraction, const char *cancel);

/* --- Rows of the control panel: muted label, control ---- */

/* Takes the next row, writes its label (with the tooltip), returns where the control goes. */
struct draw_rect ui_row(struct ui *ui, struct ui_column *column, const char *id, const char *label,
                        const char *tooltip);
/* A caption over the rows that follow, with a rule across the panel above it. */
void ui_row_section(struct ui *ui, struct ui_column *column, const char *caption);
void ui_row_value(struct ui *ui, struct ui_column *column, const char *label, const char *value);
int ui_row_dropdown(struct ui *ui, struct ui_column *column, const char *id, const char *label,
                    const char *const *names, int count, int *choice, const char *tooltip);
int ui_row_slider(struct ui *ui, struct ui_column *column, const char *id, const char *label,
                  const struct ui_range *range, double *value, const char *shown,
                  const char *tooltip);
int ui_row_checkbox(struct ui *ui, struct ui_column *column, const char *id, const char *label,
                    bool *value, const char *tooltip);

/* A small triangle that points down, for what opens below. */
void ui_triangle_down(struct ui *ui, float center_x, float center_y, draw_color color);

#endif
