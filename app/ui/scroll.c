/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "widgets.h"

static float clamp_offset(float y, float content, float view)
{
    return fmaxf(fminf(roundf(y), ceilf(content - view)), 0);
}

float ui_scroll_bar(struct ui *ui, struct draw_rect rect, ui_id id, float content, float view,
                    float y)
{
    const struct ui_style *style = ui->style;
    float hidden = content - view;
    if (!(hidden > 0) || !(rect.h > 0))
        return 0;
    float length = fminf(fmaxf(rect.h * view / content, ui_px(style, 24)), rect.h);
    float travel = rect.h - length, top = rect.y + travel * y / hidden;
    struct ui_signal signal = ui_interact(ui, id, rect, 0);
    if (signal.pressed) {
        bool grabbed = signal.y >= top && signal.y < top + length;
        ui->drag.id = id;
        ui->drag.offset = grabbed ? signal.y - top : length / 2;
    }
    if ((signal.held || signal.released) && ui->drag.id == id && travel > 0) {
        y = clamp_offset((signal.y - ui->drag.offset - rect.y) / travel * hidden, content, view);
        top = rect.y + travel * fminf(y / hidden, 1);
        ui->again |= signal.dy != 0;
    }
    struct draw_rect thumb = {rect.x, roundf(top), rect.w, length};
    thumb = ui_center(thumb, style->bar, length);
    draw_color color =
        signal.held || signal.hovered ? style->muted : ui_mix(style->line, style->muted, 0.4f);
    draw_fill(ui->list, thumb, style->bar / 2, color);
    return y;
}

/* How far the content must move so that what Tab reached can be seen. */
static float reveal(struct ui *ui, struct draw_rect rect, ui_id id)
{
    const struct ui_item *items = ui->items[!ui->now];
    float margin = ui->style->unit;
    for (int i = 0; ui->reveal && i < ui->item_count[!ui->now]; i++) {
        const struct ui_item *item = &items[i];
        if (item->id != ui->reveal || item->scroll != id)
            continue;
        ui->reveal = 0;
        float above = rect.y + margin - item->rect.y;
        float below = item->rect.y + item->rect.h + margin - (rect.y + rect.h);
        return above > 0 ? -above : fmaxf(below, 0);
    }
    return 0;
}

struct draw_rect ui_scroll_begin(struct ui *ui, struct draw_rect rect, const char *name,
                                 struct ui_scroll *scroll)
{
    const struct ui_style *style = ui->style;
    ui_id id = ui_id_of(ui, name);
    struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_WHEEL);
    float y = scroll->y - signal.wheel_y * 2 * style->row + reveal(ui, rect, id);
    scroll->y = clamp_offset(y, scroll->content, rect.h);

    ui_id_push(ui, id);
    if (ui->scroll_depth < UI_MAX_SCROLLS)
        ui->scrolls[ui->scroll_depth] = id;
    else
        ui->faults.scrolls++;
    ui->scroll_depth++;
    /* Rules and focus rings may reach into the padding; above and below nothing may. */
    ui_clip_begin(ui, (struct draw_rect){rect.x - style->padding, rect.y,
                                         rect.w + 2 * style->padding, rect.h});
    return (struct draw_rect){rect.x, rect.y - scroll->y, rect.w, fmaxf(rect.h, scroll->content)};
}

void ui_scroll_end(struct ui *ui, struct draw_rect rect, struct ui_scroll *scroll,
                   float content_height)
{
    const struct ui_style *style = ui->style;
    float before = scroll->y;
    if (ui->scroll_depth == 0) {
        ui->faults.unbalanced++;
        return;
    }
    ui->scroll_depth--;
    struct draw_rect bar = {rect.x + rect.w, rect.y, style->padding, rect.h};
    scroll->y =
        ui_scroll_bar(ui, bar, ui_id_of(ui, "scroll bar"), content_height, rect.h, scroll->y);
    scroll->y = clamp_offset(scroll->y, content_height, rect.h);
    /* The content was drawn with the old offset, or clamped by the old height. */
    ui->again |= scroll->y != before || scroll->content != content_height;
    scroll->content = content_height;
    ui_clip_end(ui);
    ui_id_pop(ui);
}
