/* SPDX-License-Identifier: MIT */
/* A colour bar whose map can be spread over a part of the values. */
#include <math.h>

#include "../colormap.h"
#include "../overlay.h"
#include "../tr.h"
#include "../view.h"

static const float least_apart = 0.01f, key_step = 0.02f;

double view_bar_value(const struct bar *bar, double place)
{
    if (bar->scale == DRAW_SCALE_LINEAR)
        return bar->low + place * (bar->high - bar->low);
    return place == 0 && bar->scale == DRAW_SCALE_SQRT
               ? 0
               : overlay_weight(bar->scale, place, bar->high);
}

static draw_color end_color(int map, float place)
{
    uint8_t rgb[3];
    colormap_at((enum colormap_id)map, place, rgb);
    return (draw_color)rgb[0] << 24 | (draw_color)rgb[1] << 16 | (draw_color)rgb[2] << 8 | 0xffu;
}

/* One end of the map as a handle; `end` is 0 for the low one. */
static bool handle(struct ui *ui, struct draw_rect bar, ui_id id, int end, float initial,
                   float range[2])
{
    const struct ui_style *style = ui->style;
    const float reach = ui_px(style, 7), over = ui_px(style, 3), thick = ui_px(style, 5);
    const float y = bar.y + bar.h * (1 - range[end]);
    const float before = range[end];
    const struct draw_rect area = {bar.x - over, y - reach, bar.w + 2 * over, 2 * reach};
    const struct ui_signal signal = ui_interact(ui, id, area, UI_ITEM_FOCUS);
    const float low = end ? range[0] + least_apart : 0, high = end ? 1 : range[1] - least_apart;
    if (signal.held && signal.button == UI_LEFT && bar.h > 0 && (signal.dy != 0 || signal.dx != 0))
        range[end] = 1 - (signal.y - bar.y) / bar.h;
    if (signal.focused) {
        range[end] += key_step * (float)(ui_key(ui, UI_KEY_UP, 0) - ui_key(ui, UI_KEY_DOWN, 0));
        if (ui_key(ui, UI_KEY_DELETE, 0))
            range[end] = initial;
    }
    if (signal.double_clicked)
        range[end] = initial;
    range[end] = fminf(fmaxf(range[end], low), high);
    const struct draw_rect knob = {bar.x - over,
                                   floorf(bar.y + bar.h * (1 - range[end]) - thick / 2),
                                   bar.w + 2 * over, thick};
    draw_fill(ui->list, ui_inset(knob, -style->hair, -style->hair), thick / 2, style->panel);
    draw_fill(ui->list, knob, thick / 2,
              signal.hovered || signal.held ? style->accent : style->text);
    ui_focus_ring(ui, id, knob, thick / 2);
    if (signal.hovered || signal.held)
        ui_set_cursor(ui, UI_CURSOR_HAND);
    ui_tooltip(ui, id,
               end ? tr("Values from here up get the map's last colour. Double click: the largest.")
                   : tr("Values up to here get the map's first colour. Double click: the "
                        "smallest."));
    return range[end] != before;
}

/* A line of text whose middle is at y, kept within rect. */
static void number_at(struct ui *ui, struct draw_rect rect, float y, struct ui_type type,
                      const char *text)
{
    const float line = ui_px(ui->style, 14);
    const float top = fminf(fmaxf(y - line / 2, rect.y), rect.y + rect.h - line);
    ui_text_in(ui->list, &ui->text, (struct draw_rect){rect.x, floorf(top), rect.w, line},
               UI_ALIGN_LEFT, type, text);
}

/* The values at the handles and between them, and what the ends mean. */
static void numbers(struct ui *ui, struct draw_rect rect, const struct bar *bar,
                    const float range[2])
{
    const struct ui_type type = ui_type_caption(ui);
    struct ui_type bright = type;
    bright.color = ui->style->text;
    const float line = ui_px(ui->style, 14), y0 = rect.y + rect.h * (1 - range[0]);
    const float y1 = rect.y + rect.h * (1 - range[1]), middle = (y0 + y1) / 2;
    const double places[3] = {(double)range[0], (double)(range[0] + range[1]) / 2,
                              (double)range[1]};
    char text[32];
    number_at(ui, rect, fminf(fmaxf(y1, rect.y + line / 2), y0 - line), bright,
              view_number(view_bar_value(bar, places[2]), text, sizeof text));
    number_at(ui, rect, y0, bright, view_number(view_bar_value(bar, places[0]), text, sizeof text));
    if (y0 - y1 > 6 * line) {
        number_at(ui, rect, y1 + line * 1.5f, type, bar->high_word);
        number_at(ui, rect, y0 - line * 1.5f, type, bar->low_word);
    }
    if (y0 - y1 > 4 * line)
        number_at(ui, rect, middle, type,
                  view_number(view_bar_value(bar, places[1]), text, sizeof text));
}

void view_bar_range(const struct bar *bar, const float chosen[2], float range[2])
{
    range[1] = isnan(chosen[1]) ? 1 : chosen[1];
    range[0] = isnan(chosen[0]) ? fminf(bar->from, range[1] - least_apart) : chosen[0];
}

bool view_range_bar(struct ui *ui, struct draw_rect rect, const char *id, const struct bar *bar,
                    float chosen[2])
{
    const struct ui_style *style = ui->style;
    float range[2];
    view_bar_range(bar, chosen, range);
    ui_cut_left(&rect, ui_px(style, 3), 0); /* the handles reach over */
    const struct draw_rect all = ui_cut_left(&rect, ui_px(style, 12), ui_px(style, 8));
    const float top = floorf(all.y + all.h * (1 - range[1]));
    const float bottom = floorf(all.y + all.h * (1 - range[0]));
    draw_fill(ui->list, (struct draw_rect){all.x, all.y, all.w, top - all.y}, 0,
              end_color(bar->map, 1));
    draw_fill(ui->list, (struct draw_rect){all.x, bottom, all.w, all.y + all.h - bottom}, 0,
              end_color(bar->map, 0));
    draw_bar(ui->list, (struct draw_rect){all.x, top, all.w, bottom - top}, bar->map);
    const ui_id of = ui_id_of(ui, id);
    const bool low = handle(ui, all, ui_id_part(of, "low"), 0, bar->from, range);
    const bool high = handle(ui, all, ui_id_part(of, "high"), 1, 1, range);
    numbers(ui, rect, bar, range);
    if (low)
        chosen[0] = range[0];
    if (high)
        chosen[1] = range[1];
    return low || high;
}
