/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "widgets.h"

static const char *name_of(const struct ui_choices *choices, int i)
{
    const char *name = NULL;
    if (i < 0 || i >= choices->count)
        name = choices->none;
    else if (choices->names)
        name = choices->names[i];
    else if (choices->name)
        name = choices->name(choices->user, i);
    return name ? name : "";
}

static int clamp_index(int i, int count)
{
    i = i < count ? i : count - 1;
    return i > 0 ? i : 0;
}

/* --- The open list --------------------------------------------------------------------------- */

struct list_look {
    struct draw_rect box;
    float row, edge;
    int visible; /* rows that fit */
};

/* Below the control; above it when there is more room; as wide as its longest name. */
static struct list_look place_list(struct ui *ui, struct draw_rect anchor,
                                   const struct ui_choices *choices)
{
    const struct ui_style *style = ui->style;
    struct draw_rect window = ui_window(ui);
    struct list_look look = {.row = style->control, .edge = style->unit / 2};
    float widest = 0;
    for (int i = 0; i < choices->count; i++)
        widest = fmaxf(widest, ui_text_width(&ui->text, ui_type_body(ui), name_of(choices, i)));
    /* Text, the mark of the present choice, the scroll bar. */
    float width = fmaxf(anchor.w, ceilf(widest) + 3 * style->unit + style->box + style->bar);
    float room = window.h - 2 * style->unit - 2 * look.edge;
    look.visible = clamp_index((int)floorf(room / look.row), choices->count + 1);
    look.visible = look.visible > 0 ? look.visible : 1;
    look.box.w = fmaxf(fminf(width, window.w - 2 * style->unit), 1);
    look.box.h = look.row * (float)look.visible + 2 * look.edge;

    float below = anchor.y + anchor.h + style->hair, above = anchor.y - style->hair - look.box.h;
    bool fits_below = below + look.box.h <= window.h - style->unit;
    float y = fits_below || above < style->unit ? below : above;
    look.box.x = fmaxf(fminf(anchor.x, window.w - style->unit - look.box.w), 0);
    look.box.y = fmaxf(fminf(y, window.h - style->unit - look.box.h), 0);
    return look;
}

static uint32_t lower(uint32_t code)
{
    return code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code;
}

/* The next name, round the end, that begins with this letter. */
static void jump_to(struct ui *ui, const struct ui_choices *choices, uint32_t letter)
{
    for (int step = 1; step <= choices->count; step++) {
        int i = (ui->popup.index + step) % choices->count;
        const char *name = name_of(choices, i);
        size_t at = 0;
        if (*name && lower(ui_utf8_next(name, strlen(name), &at)) == lower(letter)) {
            ui->popup.index = i;
            ui->popup.moved = true;
            return;
        }
    }
}

static void jump_by_letters(struct ui *ui, const struct ui_choices *choices)
{
    const struct inputs *in = ui->in;
    /* Text where the platform sends it, else the bare key, but not both. */
    for (size_t at = 0; at < (size_t)in->text_length;) {
        uint32_t letter = ui_utf8_next(in->text, (size_t)in->text_length, &at);
        if (letter > ' ')
            jump_to(ui, choices, letter);
    }
    for (int i = 0; i < in->key_count; i++) {
        const struct input_key *event = &in->keys[i];
        if (ui->key_used[i] || event->key >= UI_KEY_FIRST_NAMED || event->mods > UI_MOD_SHIFT)
            continue;
        ui->key_used[i] = true;
        if (in->text_length == 0)
            jump_to(ui, choices, event->key);
    }
}

/* Moves the highlight; true when Enter or Space takes it. */
static bool list_keys(struct ui *ui, const struct ui_choices *choices, int page)
{
    const struct {
        enum ui_key key;
        int step;
    } moves[] = {{UI_KEY_UP, -1},
                 {UI_KEY_DOWN, 1},
                 {UI_KEY_PAGE_UP, -page},
                 {UI_KEY_PAGE_DOWN, page},
                 {UI_KEY_HOME, -choices->count},
                 {UI_KEY_END, choices->count}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        while (ui_key(ui, moves[i].key, 0)) {
            ui->popup.index = clamp_index(ui->popup.index + moves[i].step, choices->count);
            ui->popup.moved = true;
        }
    if (!ui->popup.opened)
        jump_by_letters(ui, choices);
    return ui_key(ui, UI_KEY_ENTER, 0) || ui_key(ui, UI_KEY_SPACE, 0);
}

static void keep_in_view(struct ui *ui, const struct list_look *look, int count)
{
    float view = look->row * (float)look->visible, content = look->row * (float)count;
    float top = look->row * (float)ui->popup.index;
    if (ui->popup.moved || ui->popup.opened)
        ui->popup.scroll = fminf(fmaxf(ui->popup.scroll, top + look->row - view), top);
    ui->popup.scroll = fmaxf(fminf(ui->popup.scroll, content - view), 0);
    ui->popup.moved = false;
}

static void draw_rows(struct ui *ui, const struct ui_choices *choices, const struct list_look *look,
                      int chosen)
{
    const struct ui_style *style = ui->style;
    struct draw_rect inside = ui_inset(look->box, style->hair, look->edge);
    int first = (int)floorf(ui->popup.scroll / look->row);
    ui_clip_begin(ui, inside);
    for (int i = first; i < choices->count && i <= first + look->visible; i++) {
        struct draw_rect row = {inside.x, inside.y + look->row * (float)i - ui->popup.scroll,
                                inside.w, look->row};
        if (i == ui->popup.index)
            draw_fill(ui->list, ui_inset(row, look->edge - style->hair, 0), style->control_radius,
                      style->selection);
        struct draw_rect text = ui_inset(row, style->unit, 0);
        ui_cut_right(&text, style->bar, 0);
        struct draw_rect mark = ui_cut_right(&text, style->box, style->unit / 2);
        if (i == chosen)
            draw_disc(ui->list, mark.x + mark.w / 2, roundf(mark.y + mark.h / 2), ui_px(style, 3),
                      style->accent);
        ui_label(ui, text, UI_ALIGN_LEFT, ui_type_body(ui), name_of(choices, i));
    }
    ui_clip_end(ui);
}

static int row_at(const struct ui *ui, const struct list_look *look, int count, float y)
{
    float at = (y - look->box.y - look->edge + ui->popup.scroll) / look->row;
    return clamp_index((int)floorf(fmaxf(fminf(at, 1e6f), 0)), count);
}

/* The list of the open drop-down `id`: the index taken in this frame, or -1. */
static int open_list(struct ui *ui, ui_id id, struct draw_rect anchor,
                     const struct ui_choices *choices, int chosen)
{
    int taken = -1, count = choices->count;
    struct list_look look = place_list(ui, anchor, choices);
    struct ui_overlay before = ui_overlay_begin(ui, look.box);
    struct ui_signal signal = ui_interact(ui, ui_id_part(id, "list"), look.box, UI_ITEM_WHEEL);
    ui->popup.index = clamp_index(ui->popup.index, count);
    if (list_keys(ui, choices, look.visible))
        taken = ui->popup.index;
    ui->popup.scroll -= roundf(signal.wheel_y * 2 * look.row);
    keep_in_view(ui, &look, count);
    /* The pointer takes the highlight when it moves, so that it does not fight the keys at rest. */
    bool moved = ui->dx != 0 || ui->dy != 0 || signal.wheel_y != 0 || signal.pressed;
    if (signal.hovered && moved)
        ui->popup.index = row_at(ui, &look, count, signal.y);
    if (signal.clicked)
        taken = row_at(ui, &look, count, signal.y);
    if (taken >= 0 || ui_key(ui, UI_KEY_ESC, 0)) {
        ui->popup.id = 0;
        ui->again = true;
    } else {
        ui_overlay_box(ui, look.box);
        draw_rows(ui, choices, &look, chosen);
        struct draw_rect bar = ui_inset(look.box, ui->style->hair, look.edge);
        bar = ui_cut_right(&bar, ui->style->bar + ui->style->hair, 0);
        ui->popup.scroll = ui_scroll_bar(ui, bar, ui_id_part(id, "bar"), look.row * (float)count,
                                         look.row * (float)look.visible, ui->popup.scroll);
    }
    ui_overlay_end(ui, before);
    return taken;
}

/* --- The closed control ---------------------------------------------------------------------- */

static void draw_control(struct ui *ui, const struct ui_signal *signal, struct draw_rect rect,
                         const struct ui_choices *choices, int choice)
{
    const struct ui_style *style = ui->style;
    bool open = ui->popup.id == signal->id, lit = signal->hovered || signal->held || open;
    draw_color fill = choices->flat ? 0 : style->raised;
    struct ui_type type = choices->flat && !lit ? ui_type_muted(ui) : ui_type_body(ui);
    draw_fill(ui->list, rect, style->control_radius, lit ? style->hover : fill);
    if (!choices->flat)
        draw_stroke(ui->list, rect, style->control_radius, style->hair,
                    open ? style->accent : style->line);
    struct draw_rect text = ui_inset(rect, style->unit, 0);
    struct draw_rect mark = ui_cut_right(&text, style->unit, style->unit / 2);
    ui_triangle_down(ui, mark.x + mark.w / 2, mark.y + mark.h / 2, ui_type_muted(ui).color);
    ui_label(ui, text, UI_ALIGN_LEFT, type, name_of(choices, choice));
    ui_focus_ring(ui, signal->id, rect, style->control_radius);
}

static void open_popup(struct ui *ui, ui_id id, int choice)
{
    ui->popup.id = id;
    ui->popup.index = choice;
    ui->popup.scroll = 0;
    ui->popup.opened = ui->again = true;
}

/* Up and Down step the choice without opening the list: every map in turn, with one hand. */
static int step_closed(struct ui *ui, int choice, int count)
{
    static const struct {
        enum ui_key key;
        int step;
    } moves[] = {{UI_KEY_UP, -1}, {UI_KEY_DOWN, 1}};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        while (ui_key(ui, moves[i].key, 0))
            choice = clamp_index(choice + moves[i].step, count);
    if (ui_key(ui, UI_KEY_HOME, 0))
        choice = 0;
    if (ui_key(ui, UI_KEY_END, 0))
        choice = count - 1;
    return choice;
}

int ui_dropdown_of(struct ui *ui, struct draw_rect rect, const char *name,
                   const struct ui_choices *choices, int *choice, const char *tooltip)
{
    ui_id id = ui_id_of(ui, name);
    struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_FOCUS);
    int next = *choice;
    if (choices->count > 0 && !ui_is_disabled(ui)) {
        if (signal.clicked || ui_activated(ui, &signal))
            open_popup(ui, id, next);
        else if (signal.focused && ui->popup.id != id)
            next = step_closed(ui, next, choices->count);
        if (ui->popup.id == id) {
            int taken = open_list(ui, id, rect, choices, next);
            next = taken >= 0 ? taken : next;
        }
    } else if (ui->popup.id == id) {
        ui->popup.id = 0;
    }
    draw_control(ui, &signal, rect, choices, next);
    if (ui->popup.id != id)
        ui_tooltip(ui, id, tooltip);
    int result = next != *choice ? UI_CHANGED | UI_COMMITTED : 0;
    ui->again |= result != 0;
    *choice = next;
    return result;
}

int ui_dropdown(struct ui *ui, struct draw_rect rect, const char *name, const char *const *names,
                int count, int *choice, const char *tooltip)
{
    struct ui_choices choices = {.names = names, .count = count};
    return ui_dropdown_of(ui, rect, name, &choices, choice, tooltip);
}
