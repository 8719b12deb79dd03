/* SPDX-License-Identifier: MIT */
/*
 * Measuring and placing text. The widths come from a callback, so that the interface runs without
 * a font; baselines and starting points are whole pixels, so that it is sharp.
 */
#ifndef NONLOCAL_APP_UI_TEXT_H
#define NONLOCAL_APP_UI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "draw.h"

/* Answers must not change while a frame is being built. Text is UTF-8 and need not end with 0. */
struct ui_text {
    void *user;
    float (*width)(void *user, enum draw_font font, float size, const char *utf8, size_t length);
    /* Both positive: above and below the baseline. */
    void (*metrics)(void *user, enum draw_font font, float size, float *ascent, float *descent);
};

struct ui_type {
    enum draw_font font;
    float size;
    draw_color color;
};

enum ui_align { UI_ALIGN_LEFT, UI_ALIGN_CENTER, UI_ALIGN_RIGHT };

/* Width of a 0-terminated string. */
float ui_text_width(const struct ui_text *text, struct ui_type type, const char *utf8);
float ui_text_width_n(const struct ui_text *text, struct ui_type type, const char *utf8,
                      size_t length);
float ui_text_line_height(const struct ui_text *text, struct ui_type type);
/* The baseline that centres a line between the top and the bottom of rect. */
float ui_text_baseline(const struct ui_text *text, struct draw_rect rect, struct ui_type type);

/* How many bytes of whole characters fit in `width`. */
size_t ui_text_fit(const struct ui_text *text, struct ui_type type, const char *utf8, size_t length,
                   float width);

/* From a point on; returns the width, so that runs can be set one after the other. */
float ui_text_run(struct draw_list *list, const struct ui_text *text, float x, float baseline,
                  struct ui_type type, const char *utf8);

/* One line in rect, centred vertically, ending in "…" when too long. Returns the width drawn. */
float ui_text_in(struct draw_list *list, const struct ui_text *text, struct draw_rect rect,
                 enum ui_align align, struct ui_type type, const char *utf8);

/*
 * The same with subscripts and superscripts: "a_{ij}", "x^{2}". Only with braces, so that the
 * names of files and columns keep their underscores.
 */
float ui_text_rich(struct draw_list *list, const struct ui_text *text, struct draw_rect rect,
                   enum ui_align align, struct ui_type type, const char *utf8);
float ui_text_rich_width(const struct ui_text *text, struct ui_type type, const char *utf8);

/*
 * Wraps at spaces, between Chinese characters, at '\n', and inside a word that is wider than rect.
 * Returns the height used; list may be NULL to measure only. `widest`, when not NULL, receives the
 * width of the longest line.
 */
float ui_text_wrap(struct draw_list *list, const struct ui_text *text, struct draw_rect rect,
                   struct ui_type type, const char *utf8, float *widest);

/*
 * The code point at *at, which moves past it. Bytes that are not UTF-8 count one by one as U+FFFD.
 * *at must be less than length.
 */
uint32_t ui_utf8_next(const char *utf8, size_t length, size_t *at);
/* Start of the character before `at` (0 stays 0). */
size_t ui_utf8_previous(const char *utf8, size_t at);

#endif
