/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include <math.h>

static float limit(float size, float room)
{
    return fmaxf(fminf(size, room), 0);
}

struct draw_rect ui_cut_left(struct draw_rect *rest, float width, float gap)
{
    float w = limit(width, rest->w), used = limit(width + gap, rest->w);
    struct draw_rect strip = {rest->x, rest->y, w, rest->h};
    rest->x += used;
    rest->w -= used;
    return strip;
}

struct draw_rect ui_cut_right(struct draw_rect *rest, float width, float gap)
{
    float w = limit(width, rest->w);
    struct draw_rect strip = {rest->x + rest->w - w, rest->y, w, rest->h};
    rest->w -= limit(width + gap, rest->w);
    return strip;
}

struct draw_rect ui_cut_top(struct draw_rect *rest, float height, float gap)
{
    float h = limit(height, rest->h), used = limit(height + gap, rest->h);
    struct draw_rect strip = {rest->x, rest->y, rest->w, h};
    rest->y += used;
    rest->h -= used;
    return strip;
}

struct draw_rect ui_cut_bottom(struct draw_rect *rest, float height, float gap)
{
    float h = limit(height, rest->h);
    struct draw_rect strip = {rest->x, rest->y + rest->h - h, rest->w, h};
    rest->h -= limit(height + gap, rest->h);
    return strip;
}

struct draw_rect ui_inset(struct draw_rect rect, float x, float y)
{
    float dx = limit(x, rect.w / 2), dy = limit(y, rect.h / 2);
    return (struct draw_rect){rect.x + dx, rect.y + dy, rect.w - 2 * dx, rect.h - 2 * dy};
}

struct draw_rect ui_center(struct draw_rect rect, float width, float height)
{
    float w = limit(width, rect.w), h = limit(height, rect.h);
    return (struct draw_rect){rect.x + floorf((rect.w - w) / 2), rect.y + floorf((rect.h - h) / 2),
                              w, h};
}

struct draw_rect ui_nth(struct draw_rect rect, int i, int n, float gap)
{
    if (n < 1)
        return (struct draw_rect){rect.x, rect.y, 0, rect.h};
    float pitch = (rect.w + gap) / (float)n;
    float x0 = roundf(pitch * (float)i), x1 = roundf(pitch * (float)(i + 1)) - gap;
    return (struct draw_rect){rect.x + x0, rect.y, fmaxf(x1 - x0, 0), rect.h};
}

struct ui_column ui_column(struct draw_rect rect, float gap)
{
    return (struct ui_column){rect, rect.y, gap};
}

struct draw_rect ui_column_next(struct ui_column *column, float height)
{
    struct draw_rect strip = {column->rect.x, column->y, column->rect.w, fmaxf(height, 0)};
    column->y += strip.h + column->gap;
    return strip;
}

void ui_column_skip(struct ui_column *column, float height)
{
    column->y += height;
}

float ui_column_used(const struct ui_column *column)
{
    return fmaxf(column->y - column->rect.y - column->gap, 0);
}
