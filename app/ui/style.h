/* SPDX-License-Identifier: MIT */
/* Colours and sizes of the interface. Every size is in whole pixels, already scaled. */
#ifndef NONLOCAL_APP_UI_STYLE_H
#define NONLOCAL_APP_UI_STYLE_H

#include <stdbool.h>

#include "draw.h"

enum ui_theme { UI_DARK, UI_LIGHT, UI_THEME_COUNT };

enum { UI_QUERY_COLORS = 7 };

/* Okabe and Ito's colours, told apart by colour-blind people too, in the order query points take
 * them; the same on both themes because they lie on pictures. */
extern const draw_color ui_query_colors[UI_QUERY_COLORS];

struct ui_style {
    enum ui_theme theme;
    float scale; /* 1 = 96 dpi */
    float type;  /* 1; 1.6 in projector mode: type, and what must hold type */
    bool reduce_motion;

    draw_color background, panel, raised; /* window, panels, controls */
    draw_color hover, held;               /* a control under the pointer, and pressed */
    draw_color line;                      /* borders and rules */
    draw_color text, muted, disabled;
    draw_color accent, on_accent; /* query, focus, active; text on a fill of it */
    draw_color selection;         /* chosen tab or row, selected text */
    draw_color result;            /* the weight being explained */
    draw_color shadow;            /* under pop-ups and tooltips only */

    float body, caption, title; /* type sizes */

    float hair;           /* thickness of borders and rules */
    float ring;           /* thickness of the focus ring */
    float unit, gap;      /* 8 */
    float padding;        /* inside panels */
    float header;         /* height of a panel's title line, padding included */
    float radius;         /* panels */
    float control_radius; /* buttons, boxes */
    float row, control;   /* a row of controls, and the control in it */
    float label, value;   /* widths: label on the left, a slider's value on the right */
    float track, knob;    /* slider: thickness, radius */
    float box;            /* check box */
    float bar;            /* width of a scroll bar */
};

/* Fills every field. Scales outside what a screen can show are clamped. */
void ui_style_set(struct ui_style *style, enum ui_theme theme, float scale, float type);

/* A length in units of 1/96 inch as whole pixels. */
float ui_px(const struct ui_style *style, float units);

/* t = 0 is a, t = 1 is b; alpha too. */
draw_color ui_mix(draw_color a, draw_color b, float t);

#endif
