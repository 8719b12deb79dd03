/* SPDX-License-Identifier: MIT */
/*
 * Laying out by cutting: take a strip off a side of a rectangle, go on with what is left. A strip
 * is never wider than what is there, and nothing gets a negative size.
 */
#ifndef NONLOCAL_APP_UI_LAYOUT_H
#define NONLOCAL_APP_UI_LAYOUT_H

#include "draw.h"

/* Each returns the strip and leaves `gap` between it and the rest. */
struct draw_rect ui_cut_left(struct draw_rect *rest, float width, float gap);
struct draw_rect ui_cut_right(struct draw_rect *rest, float width, float gap);
struct draw_rect ui_cut_top(struct draw_rect *rest, float height, float gap);
struct draw_rect ui_cut_bottom(struct draw_rect *rest, float height, float gap);

struct draw_rect ui_inset(struct draw_rect rect, float x, float y);
/* Of the given size in the middle of rect, or all of rect where that is smaller. */
struct draw_rect ui_center(struct draw_rect rect, float width, float height);
/* Cell i of n equal ones side by side, on whole pixels. */
struct draw_rect ui_nth(struct draw_rect rect, int i, int n, float gap);

/* A cursor that walks down; it may pass the bottom (in a scroll area). */
struct ui_column {
    struct draw_rect rect;
    float y, gap;
};

struct ui_column ui_column(struct draw_rect rect, float gap);
struct draw_rect ui_column_next(struct ui_column *column, float height);
void ui_column_skip(struct ui_column *column, float height);
/* Height of what has been placed, without the last gap. */
float ui_column_used(const struct ui_column *column);

#endif
