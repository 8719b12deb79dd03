/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "widgets.h"

static bool logarithmic(const struct ui_range *range)
{
    return range->log && range->min > 0 && range->max > range->min;
}

static double clamp(const struct ui_range *range, double value)
{
    /* In this order NaN becomes min. */
    if (!(value > range->min))
        return range->min;
    return value < range->max ? value : fmax(range->max, range->min);
}

/* On the grid, whose last step may be a short one. */
static double snap(const struct ui_range *range, double value)
{
    value = clamp(range, value);
    if (!(range->step > 0) || value >= range->max)
        return value;
    return clamp(range, range->min + round((value - range->min) / range->step) * range->step);
}

double ui_range_at(const struct ui_range *range, double position)
{
    if (!(position > 0))
        return range->min;
    if (position >= 1)
        return fmax(range->max, range->min);
    double value = logarithmic(range) ? range->min * pow(range->max / range->min, position)
                                      : range->min + position * (range->max - range->min);
    return snap(range, value);
}

double ui_range_position(const struct ui_range *range, double value)
{
    if (!(range->max > range->min))
        return 0;
    value = clamp(range, value);
    if (logarithmic(range))
        return log(value / range->min) / log(range->max / range->min);
    return (value - range->min) / (range->max - range->min);
}

/* The next grid point above or below, also from a value between two. */
static double next_on_grid(const struct ui_range *range, double value, int direction)
{
    double at = (value - range->min) / range->step;
    at = direction > 0 ? floor(at + 1e-6) + 1 : ceil(at - 1e-6) - 1;
    return clamp(range, range->min + at * range->step);
}

/*
 * A step of the keyboard or the wheel: a hundredth of the track, or a tenth when big. On a grid at
 * least one point; small steps on a linear grid exactly one.
 */
static double stepped(const struct ui_range *range, double value, int direction, bool big)
{
    double part = big ? 0.1 : 0.01;
    double next = ui_range_at(range, ui_range_position(range, value) + direction * part);
    if (!(range->step > 0))
        return next;
    double single = next_on_grid(range, value, direction);
    if (!big && !logarithmic(range))
        return single;
    return fabs(next - value) > fabs(single - value) ? next : single;
}

static double by_keyboard(struct ui *ui, const struct ui_range *range, double value)
{
    static const struct {
        enum ui_key key;
        int direction;
        bool big;
    } steps[] = {{UI_KEY_LEFT, -1, false}, {UI_KEY_DOWN, -1, false},  {UI_KEY_RIGHT, 1, false},
                 {UI_KEY_UP, 1, false},    {UI_KEY_PAGE_UP, 1, true}, {UI_KEY_PAGE_DOWN, -1, true}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        while (ui_key(ui, steps[i].key, 0))
            value = stepped(range, value, steps[i].direction, steps[i].big);
    if (ui_key(ui, UI_KEY_HOME, 0))
        value = range->min;
    if (ui_key(ui, UI_KEY_END, 0))
        value = fmax(range->max, range->min);
    if (ui_key(ui, UI_KEY_DELETE, 0))
        value = snap(range, range->initial);
    return value;
}

/* Whole notches; touch pads send fractions, which add up. */
static double by_wheel(struct ui *ui, const struct ui_signal *signal, const struct ui_range *range,
                       double value)
{
    if (signal->wheel_y == 0 || signal->held)
        return value;
    if (ui->wheel_rest_id != signal->id)
        ui->wheel_rest = 0;
    ui->wheel_rest_id = signal->id;
    float turned = fmaxf(fminf(ui->wheel_rest + signal->wheel_y, 100), -100);
    int notches = (int)truncf(turned);
    ui->wheel_rest = turned - (float)notches;
    for (int i = 0; i < abs(notches); i++)
        value = stepped(range, value, notches > 0 ? 1 : -1, false);
    return value;
}

struct track {
    float x0, x1, y; /* of the knob's centre */
};

static float knob_x(const struct track *track, const struct ui_range *range, double value)
{
    return track->x0 + (track->x1 - track->x0) * (float)ui_range_position(range, value);
}

/* Follows the pointer from the press to the release; *ended when it lets go. */
static double by_drag(struct ui *ui, const struct ui_signal *signal, const struct track *track,
                      const struct ui_range *range, double value, bool *ended)
{
    /* A press on the knob must not change the value by a rounding of pixels. */
    bool moved = signal->dx != 0;
    if (signal->pressed) {
        float from_knob = knob_x(track, range, value) - signal->x;
        bool grabbed = fabsf(from_knob) <= ui->style->knob + 1;
        ui->drag.id = signal->id;
        ui->drag.start = value;
        ui->drag.offset = grabbed ? from_knob : 0;
        ui->drag.changed = false;
        moved = !grabbed;
    }
    float length = track->x1 - track->x0;
    if (signal->button == UI_LEFT && moved && length > 0)
        value = ui_range_at(range, (signal->x + ui->drag.offset - track->x0) / length);
    if (signal->held && ui_key(ui, UI_KEY_ESC, 0)) {
        value = ui->drag.start;
        ui->active = 0;
    }
    /* Also when the button came up unseen, or the slider was disabled under the hand. */
    *ended = ui->active != signal->id;
    if (*ended)
        ui->drag.id = 0;
    return value;
}

static void draw_slider(struct ui *ui, const struct ui_signal *signal, const struct track *track,
                        float x)
{
    const struct ui_style *style = ui->style;
    bool pale = ui_is_disabled(ui);
    float thick = style->track, y = roundf(track->y - thick / 2);
    struct draw_rect whole = {track->x0, y, track->x1 - track->x0, thick};
    struct draw_rect part = {track->x0, y, x - track->x0, thick};
    draw_fill(ui->list, whole, thick / 2, style->line);
    draw_fill(ui->list, part, thick / 2, pale ? style->disabled : style->accent);
    float radius = style->knob + (signal->hovered || signal->held ? style->hair : 0);
    draw_disc(ui->list, x, track->y, radius, pale ? style->disabled : style->text);
    /* One ring's width of air, so that the ring is seen as one. */
    float air = radius + style->ring;
    struct draw_rect knob = {x - air, track->y - air, 2 * air, 2 * air};
    ui_focus_ring(ui, signal->id, knob, air);
}

int ui_slider(struct ui *ui, struct draw_rect rect, const char *name, const struct ui_range *range,
              double *value, const char *shown, const char *tooltip)
{
    const struct ui_style *style = ui->style;
    ui_id id = ui_id_of(ui, name);
    if (shown) {
        struct draw_rect right = ui_cut_right(&rect, fminf(style->value, rect.w / 2), 0);
        ui_label(ui, right, UI_ALIGN_RIGHT, ui_type_body(ui), shown);
    }
    struct track track = {rect.x + style->knob, rect.x + rect.w - style->knob,
                          roundf(rect.y + rect.h / 2)};
    track.x1 = fmaxf(track.x1, track.x0);
    struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_FOCUS | UI_ITEM_WHEEL);

    double old = isnan(*value) ? range->min : *value, next = old;
    bool commit = false;
    if (signal.double_clicked) {
        /* The second press only resets: it does not start a drag. */
        next = snap(range, range->initial);
        ui->active = ui->drag.id = 0;
        commit = next != old;
    } else if (signal.pressed || ui->drag.id == id) {
        next = by_drag(ui, &signal, &track, range, old, &commit);
        ui->drag.changed |= next != old;
        commit = commit && ui->drag.changed;
    } else {
        next = signal.focused ? by_keyboard(ui, range, old) : old;
        next = by_wheel(ui, &signal, range, next);
        commit = next != old;
    }
    int result = (next != old ? UI_CHANGED : 0) | (commit ? UI_COMMITTED : 0);
    *value = next;
    ui->again |= result != 0;
    draw_slider(ui, &signal, &track, knob_x(&track, range, next));
    ui_tooltip(ui, id, tooltip);
    return result;
}
