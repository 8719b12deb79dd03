/* SPDX-License-Identifier: MIT */
/*
 * The immediate-mode core: who is under the pointer, who holds it, who has the keyboard.
 *
 *     ui_begin(ui, inputs, list, style);
 *     ... panels call widgets (widgets.h) or ui_interact() ...
 *     ui_end(ui, &frame);
 *
 * Pointer and Tab are resolved at ui_begin() against the places where the widgets of the last
 * frame were, the later ones on top: a press reaches exactly one widget, in whatever order panels
 * draw. A widget therefore reacts from its second frame on; ui_end() asks for that frame.
 *
 * A widget takes the current value, returns the new one with flags, and keeps nothing of the
 * caller's. It is known by its id, a name hashed with the names on the id stack; ids are not shown
 * and not translated.
 */
#ifndef NONLOCAL_APP_UI_UI_H
#define NONLOCAL_APP_UI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "draw.h"
#include "inputs.h"
#include "style.h"
#include "text.h"

typedef uint64_t ui_id; /* 0 = none */

/* What a widget that holds a value returns. */
enum ui_result {
    UI_CHANGED = 1,   /* the value is a new one: show it */
    UI_COMMITTED = 2, /* the person is done with it: one step of undo */
};

enum ui_cursor {
    UI_CURSOR_ARROW,
    UI_CURSOR_HAND,
    UI_CURSOR_CROSS,
    UI_CURSOR_TEXT,
    UI_CURSOR_MOVE,
    UI_CURSOR_WAIT
};

/* What the platform should do after the frame. */
struct ui_frame {
    bool again;                 /* draw another frame at once */
    double wake_in;             /* else after so many seconds; negative: sleep until an event */
    enum ui_cursor cursor;      /* shape of the pointer */
    bool text_focus;            /* a text field has the keyboard: start text input … */
    struct draw_rect text_rect; /* … here */
};

/* The string that get() returns stays valid until the next call. Either may be NULL. */
struct ui_clipboard {
    void *user;
    void (*set)(void *user, const char *utf8, size_t length);
    const char *(*get)(void *user);
};

enum ui_item_flags {
    UI_ITEM_FOCUS = 1,     /* Tab stops here, a press gives it the keyboard */
    UI_ITEM_WHEEL = 2,     /* wants the wheel */
    UI_ITEM_MIDDLE = 4,    /* captures the middle and … */
    UI_ITEM_RIGHT = 8,     /* … the right button too, beside the left */
    UI_ITEM_DISABLED = 16, /* set by the core */
};

/* What the pointer and the keyboard do to one widget in this frame. */
struct ui_signal {
    ui_id id;
    bool hovered; /* the pointer is over it, nothing above it, nobody else holds the pointer */
    bool held;    /* it holds the pointer: from the press to the release, also outside */
    bool pressed, released;
    bool clicked; /* released where it was pressed */
    bool double_clicked;
    bool focused;    /* has the keyboard */
    unsigned button; /* the one pressed, held or released */
    float x, y;      /* pointer */
    float dx, dy;    /* how far it moved since the last frame */
    float wheel_x, wheel_y;
};

enum {
    UI_MAX_ITEMS = 1024,
    UI_MAX_IDS = 32,
    UI_MAX_SCROLLS = 8,
    UI_MAX_EDIT = 1024, /* bytes of a text field that Escape can bring back */
    UI_MAX_TIP = 512,
};

enum ui_layer { UI_LAYER_BASE, UI_LAYER_POPUP };

struct ui_item {
    ui_id id, scroll;            /* scroll area it lies in */
    struct draw_rect rect, seen; /* whole, and what the clip leaves of it */
    uint8_t flags, layer;
};

/* Mistakes of the caller and overflows, counted since ui_init(); all stay 0 in a sound program. */
struct ui_faults {
    int items, ids, scrolls; /* capacity exceeded */
    int duplicates;          /* one id used twice in a frame */
    int unbalanced;          /* a push without its pop, or the reverse */
};

/* Large (an overlay list lives in it): static or allocated once. Fields are the core's. */
struct ui {
    const struct inputs *in; /* these three during a frame only */
    const struct ui_style *style;
    struct draw_list *list; /* where widgets draw: the frame's list or the overlay */
    struct draw_list *frame_list;
    struct ui_text text;
    struct ui_clipboard clipboard;
    struct ui_faults faults;

    struct ui_item items[2][UI_MAX_ITEMS]; /* this frame's and the last one's */
    int item_count[2], now;
    ui_id ids[UI_MAX_IDS];
    int id_depth;
    ui_id scrolls[UI_MAX_SCROLLS];
    int scroll_depth;
    int disabled_depth, disabled_at;
    enum ui_layer layer, top_layer;

    ui_id hot, wheel_target; /* under the pointer */
    ui_id active;            /* holds the pointer, with this button: */
    unsigned active_button;
    ui_id pressed, released, clicked, double_clicked; /* in this frame */
    unsigned button;
    float last_x, last_y, dx, dy;
    float wheel_rest; /* fraction of a notch not yet used by a stepping widget */
    ui_id wheel_rest_id;
    ui_id focus, reveal; /* reveal: scroll it into view */
    bool focus_visible;  /* the keyboard was used last */
    bool key_used[INPUTS_MAX_KEYS];

    struct {
        ui_id id;
        double start; /* value at the press */
        float offset; /* from the grabbed point to the knob's centre */
        bool changed;
    } drag;
    struct {
        ui_id id; /* the widget that owns the open pop-up */
        int index;
        float scroll;
        bool opened, moved; /* in this frame; the highlight was moved by keys */
    } popup;
    struct {
        ui_id id, lost; /* being edited; lost the keyboard before it could commit */
        size_t caret, anchor;
        float scroll;
        bool changed, restorable;
        char original[UI_MAX_EDIT];
    } edit;
    struct {
        ui_id id;
        double since;
        bool hidden, shown;
        char text[UI_MAX_TIP];
    } tip;

    bool again;
    double wake_at; /* negative: never */
    enum ui_cursor cursor;
    struct draw_rect text_rect;
    struct draw_list overlay;
};

void ui_init(struct ui *ui, const struct ui_text *text, const struct ui_clipboard *clipboard);

/* Begins the list too. All three must stay until ui_end(). */
void ui_begin(struct ui *ui, const struct inputs *in, struct draw_list *list,
              const struct ui_style *style);
/* Draws pop-ups and the tooltip on top, ends the list, tells what comes next. */
void ui_end(struct ui *ui, struct ui_frame *frame);

/* --- Ids ---- */

ui_id ui_id_of(const struct ui *ui, const char *name);
ui_id ui_id_of_int(const struct ui *ui, int64_t number);
ui_id ui_id_of_pointer(const struct ui *ui, const void *pointer);
/* An id that belongs to another widget's: its scroll bar, its pop-up. */
ui_id ui_id_part(ui_id of, const char *part);
void ui_id_push(struct ui *ui, ui_id id);
void ui_id_pop(struct ui *ui);

/* --- Behaviour ---- */

/*
 * Declares that a widget is at rect and tells what happens to it. Panels use it for whatever is no
 * ready-made widget: the picture, the matrix, a gallery's cells.
 */
struct ui_signal ui_interact(struct ui *ui, ui_id id, struct draw_rect rect, unsigned flags);
/* A focused widget was activated by Enter or Space. */
bool ui_activated(struct ui *ui, const struct ui_signal *signal);

/*
 * True once for a key pressed in this frame with exactly these modifiers, which nobody took yet.
 * The program asks for its own shortcuts after the panels have had theirs.
 */
bool ui_key(struct ui *ui, uint32_t key, unsigned mods);

void ui_focus_set(struct ui *ui, ui_id id); /* 0: nobody */
bool ui_is_disabled(const struct ui *ui);
/* What is between the two ignores pointer and keyboard and is drawn pale. Nests. */
void ui_disabled_begin(struct ui *ui, bool disabled);
void ui_disabled_end(struct ui *ui);

void ui_clip_begin(struct ui *ui, struct draw_rect rect);
void ui_clip_end(struct ui *ui);

/* --- Around a widget ---- */

/* After half a second over the widget. text may be NULL. */
void ui_tooltip(struct ui *ui, ui_id id, const char *text);
/* At the pointer, at once: values read under it. */
void ui_note(struct ui *ui, const char *text);
/* The ring of a widget that has the keyboard, when the keyboard is being used. */
void ui_focus_ring(struct ui *ui, ui_id id, struct draw_rect rect, float radius);
void ui_set_cursor(struct ui *ui, enum ui_cursor cursor);
void ui_again(struct ui *ui);                /* something moves: draw another frame */
void ui_wake_at(struct ui *ui, double time); /* in the clock of inputs.time */

/* What follows is drawn over everything, in a region of its own, and takes all input. */
struct ui_overlay {
    struct draw_list *list;
    enum ui_layer layer;
    int disabled_at;
};
struct ui_overlay ui_overlay_begin(struct ui *ui, struct draw_rect rect);
void ui_overlay_end(struct ui *ui, struct ui_overlay before);
/* A raised box with border and shadow, for pop-ups and tooltips. */
void ui_overlay_box(struct ui *ui, struct draw_rect rect);
/* The window's rectangle, in drawable pixels. */
struct draw_rect ui_window(const struct ui *ui);

#endif
