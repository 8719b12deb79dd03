/* SPDX-License-Identifier: MIT */
#include "ui.h"

#include <math.h>
#include <string.h>

#define TIP_DELAY 0.5 /* seconds */

void ui_init(struct ui *ui, const struct ui_text *text, const struct ui_clipboard *clipboard)
{
    memset(ui, 0, sizeof *ui);
    ui->text = *text;
    if (clipboard)
        ui->clipboard = *clipboard;
    ui->wake_at = -1;
}

struct draw_rect ui_window(const struct ui *ui)
{
    return (struct draw_rect){0, 0, (float)ui->frame_list->width, (float)ui->frame_list->height};
}

/* --- Ids ------------------------------------------------------------------------------------ */

static ui_id hash_bytes(ui_id seed, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    ui_id hash = seed ^ UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
    return hash ? hash : 1;
}

static ui_id top_id(const struct ui *ui)
{
    int depth = ui->id_depth < UI_MAX_IDS ? ui->id_depth : UI_MAX_IDS;
    return depth ? ui->ids[depth - 1] : 0;
}

ui_id ui_id_of(const struct ui *ui, const char *name)
{
    return hash_bytes(top_id(ui), name, strlen(name));
}

ui_id ui_id_of_int(const struct ui *ui, int64_t number)
{
    return hash_bytes(top_id(ui), &number, sizeof number);
}

ui_id ui_id_of_pointer(const struct ui *ui, const void *pointer)
{
    return hash_bytes(top_id(ui), &pointer, sizeof pointer);
}

ui_id ui_id_part(ui_id of, const char *part)
{
    return hash_bytes(of, part, strlen(part));
}

void ui_id_push(struct ui *ui, ui_id id)
{
    if (ui->id_depth < UI_MAX_IDS)
        ui->ids[ui->id_depth] = id;
    else
        ui->faults.ids++;
    ui->id_depth++;
}

void ui_id_pop(struct ui *ui)
{
    if (ui->id_depth > 0)
        ui->id_depth--;
    else
        ui->faults.unbalanced++;
}

/* --- Items: where the widgets are ------------------------------------------------------------ */

static const struct ui_item *find_item(const struct ui *ui, int frame, ui_id id)
{
    for (int i = 0; id && i < ui->item_count[frame]; i++)
        if (ui->items[frame][i].id == id)
            return &ui->items[frame][i];
    return NULL;
}

/* An open pop-up is all there is; when it has closed, its list in the last frame is not there. */
static bool reachable(const struct ui *ui, const struct ui_item *item)
{
    return item->layer == (ui->popup.id ? UI_LAYER_POPUP : UI_LAYER_BASE);
}

/* The topmost item under the pointer that has all the flags. */
static const struct ui_item *item_under(const struct ui *ui, int frame, unsigned flags)
{
    for (int i = ui->item_count[frame] - 1; i >= 0; i--) {
        const struct ui_item *item = &ui->items[frame][i];
        if (reachable(ui, item) && (item->flags & flags) == flags &&
            draw_rect_contains(item->seen, ui->in->mouse_x, ui->in->mouse_y))
            return item;
    }
    return NULL;
}

static void add_item(struct ui *ui, ui_id id, struct draw_rect rect, unsigned flags)
{
    int *count = &ui->item_count[ui->now];
    if (find_item(ui, ui->now, id))
        ui->faults.duplicates++;
    if (*count == UI_MAX_ITEMS) {
        ui->faults.items++;
        return;
    }
    int depth = ui->scroll_depth < UI_MAX_SCROLLS ? ui->scroll_depth : UI_MAX_SCROLLS;
    ui->items[ui->now][(*count)++] = (struct ui_item){
        .id = id,
        .scroll = depth && ui->layer == UI_LAYER_BASE ? ui->scrolls[depth - 1] : 0,
        .rect = rect,
        .seen = draw_rect_intersect(rect, draw_clip_current(ui->list)),
        .flags = (uint8_t)flags,
        .layer = (uint8_t)ui->layer,
    };
}

/* --- The pointer ----------------------------------------------------------------------------- */

static unsigned button_taken(const struct ui_item *item, unsigned pressed)
{
    if (!item || item->flags & UI_ITEM_DISABLED)
        return 0;
    if (pressed & UI_LEFT)
        return UI_LEFT;
    if (pressed & UI_RIGHT && item->flags & UI_ITEM_RIGHT)
        return UI_RIGHT;
    if (pressed & UI_MIDDLE && item->flags & UI_ITEM_MIDDLE)
        return UI_MIDDLE;
    return 0;
}

static void finish_capture(struct ui *ui, const struct ui_item *under)
{
    ui->released = ui->active;
    ui->button = ui->active_button;
    if (under && under->id == ui->active && ui->in->released & ui->active_button)
        ui->clicked = ui->active;
    ui->active = 0;
}

static void press(struct ui *ui, const struct ui_item *under)
{
    const struct inputs *in = ui->in;
    if (ui->popup.id && !under) {
        /* The press that closes a pop-up does nothing else. */
        ui->popup.id = 0;
        ui->again = true;
        return;
    }
    unsigned button = button_taken(under, in->pressed);
    if (in->pressed & UI_LEFT && !ui->popup.id) {
        ui->focus = button && under->flags & UI_ITEM_FOCUS ? under->id : 0;
        ui->reveal = 0;
        ui->focus_visible = false;
    }
    if (!button)
        return;
    ui->pressed = ui->active = under->id;
    ui->button = ui->active_button = button;
    if (button == UI_LEFT && in->double_click)
        ui->double_clicked = under->id;
    /* A click so quick that it fits in one frame. */
    if (!(in->down & button))
        finish_capture(ui, under);
}

static void track_pointer(struct ui *ui)
{
    const struct inputs *in = ui->in;
    const struct ui_item *under = item_under(ui, !ui->now, 0);
    const struct ui_item *wheel = item_under(ui, !ui->now, UI_ITEM_WHEEL);
    ui->pressed = ui->released = ui->clicked = ui->double_clicked = 0;
    ui->dx = in->mouse_x - ui->last_x;
    ui->dy = in->mouse_y - ui->last_y;
    ui->last_x = in->mouse_x;
    ui->last_y = in->mouse_y;

    /* The button can come up unseen, while another window has the pointer. */
    bool lost = !(in->down & ui->active_button) && !(in->pressed & ui->active_button);
    if (ui->active && (in->released & ui->active_button || lost))
        finish_capture(ui, under);
    if (!ui->active && in->pressed)
        press(ui, under);

    ui->hot = under && (!ui->active || ui->active == under->id) ? under->id : 0;
    if (ui->active)
        ui->wheel_target = ui->active;
    else
        ui->wheel_target = wheel && !(wheel->flags & UI_ITEM_DISABLED) ? wheel->id : 0;
}

static void track_hover(struct ui *ui)
{
    const struct inputs *in = ui->in;
    if (ui->hot != ui->tip.id) {
        ui->tip.id = ui->hot;
        ui->tip.since = in->time;
        ui->tip.hidden = false;
    }
    /* Who acts has read it. */
    if (in->pressed || in->key_count || in->wheel_y != 0 || in->wheel_x != 0)
        ui->tip.hidden = true;
    ui->tip.shown = false;
}

/* --- The keyboard ---------------------------------------------------------------------------- */

bool ui_key(struct ui *ui, uint32_t key, unsigned mods)
{
    if (ui->layer < ui->top_layer)
        return false;
    for (int i = 0; i < ui->in->key_count; i++) {
        const struct input_key *event = &ui->in->keys[i];
        if (!ui->key_used[i] && event->key == key && event->mods == mods) {
            ui->key_used[i] = true;
            return true;
        }
    }
    return false;
}

void ui_focus_set(struct ui *ui, ui_id id)
{
    ui->again |= ui->focus != id;
    ui->focus = ui->reveal = id;
    ui->focus_visible = true;
}

static bool tab_stop(const struct ui_item *item)
{
    return item->flags & UI_ITEM_FOCUS && !(item->flags & UI_ITEM_DISABLED) &&
           item->layer == UI_LAYER_BASE;
}

/* Moves the focus in drawing order, round the end. */
static void move_focus(struct ui *ui, int step)
{
    const struct ui_item *items = ui->items[!ui->now];
    int count = ui->item_count[!ui->now];
    int at = step > 0 ? -1 : count;
    for (int i = 0; i < count; i++)
        if (items[i].id == ui->focus && tab_stop(&items[i]))
            at = i;
    for (int tried = 0; tried < count; tried++) {
        at = (at + step + count) % count;
        if (tab_stop(&items[at])) {
            ui_focus_set(ui, items[at].id);
            return;
        }
    }
}

static void track_focus(struct ui *ui)
{
    const struct inputs *in = ui->in;
    memset(ui->key_used, 0, sizeof ui->key_used);
    for (int i = 0; i < in->key_count; i++) {
        const struct input_key *event = &in->keys[i];
        if (event->key >= UI_KEY_FIRST_NAMED)
            ui->focus_visible = true;
        if (event->key != UI_KEY_TAB || event->mods & ~(unsigned)UI_MOD_SHIFT || ui->active)
            continue;
        ui->key_used[i] = true;
        ui->popup.id = 0;
        move_focus(ui, event->mods & UI_MOD_SHIFT ? -1 : 1);
    }
}

/* --- The frame ------------------------------------------------------------------------------- */

void ui_begin(struct ui *ui, const struct inputs *in, struct draw_list *list,
              const struct ui_style *style)
{
    ui->in = in;
    ui->style = style;
    ui->list = ui->frame_list = list;
    draw_begin(list, in->drawable_w, in->drawable_h, style->background);
    draw_begin(&ui->overlay, in->drawable_w, in->drawable_h, 0);

    ui->now = !ui->now;
    ui->item_count[ui->now] = 0;
    ui->again = false;
    ui->wake_at = -1;
    ui->cursor = UI_CURSOR_ARROW;
    ui->popup.opened = false;
    ui->layer = UI_LAYER_BASE;

    track_pointer(ui);
    track_focus(ui);
    track_hover(ui);
    /* After the two above, which may have closed the pop-up. */
    ui->top_layer = ui->popup.id ? UI_LAYER_POPUP : UI_LAYER_BASE;
}

/* Who is no longer drawn holds nothing. */
static void forget_vanished(struct ui *ui)
{
    const struct ui_item *focus = find_item(ui, ui->now, ui->focus);
    if (!focus || focus->flags & UI_ITEM_DISABLED)
        ui->focus = 0;
    if (!find_item(ui, ui->now, ui->active))
        ui->active = 0;
    if (ui->popup.id && !find_item(ui, ui->now, ui->popup.id)) {
        ui->popup.id = 0;
        ui->again = true;
    }
    if (ui->edit.id && !find_item(ui, ui->now, ui->edit.id))
        ui->edit.id = 0;
}

static void check_balance(struct ui *ui)
{
    bool balanced = ui->id_depth == 0 && ui->scroll_depth == 0 && ui->disabled_depth == 0 &&
                    ui->frame_list->clip_count == 0 && ui->overlay.clip_count == 0 &&
                    ui->layer == UI_LAYER_BASE;
    ui->faults.unbalanced += !balanced;
    ui->id_depth = ui->scroll_depth = ui->disabled_depth = ui->disabled_at = 0;
    ui->frame_list->clip_count = 0;
    ui->layer = UI_LAYER_BASE;
    ui->list = ui->frame_list;
}

static void draw_tip(struct ui *ui)
{
    const struct ui_style *style = ui->style;
    struct ui_type type = {DRAW_FONT_REGULAR, style->body, style->text};
    struct draw_rect window = ui_window(ui), box;
    float pad = style->unit, edge = style->unit / 2, widest;
    float room = fminf(ui_px(style, 320) * style->type, window.w - 2 * (edge + pad));
    if (!ui->tip.shown || room <= 0)
        return;
    box.h = ui_text_wrap(NULL, &ui->text, (struct draw_rect){0, 0, room, 0}, type, ui->tip.text,
                         &widest) +
            2 * edge;
    box.w = ceilf(widest) + 2 * pad;
    /* Below the pointer, or above it when there is no room. */
    float x = ui->in->mouse_x + ui_px(style, 12), y = ui->in->mouse_y + ui_px(style, 20);
    if (y + box.h > window.h - edge)
        y = ui->in->mouse_y - box.h - ui_px(style, 8);
    box.x = roundf(fmaxf(fminf(x, window.w - edge - box.w), 0));
    box.y = roundf(fmaxf(fminf(y, window.h - edge - box.h), 0));
    draw_region_begin(ui->list, (struct draw_rect){box.x - edge, box.y - edge, box.w + 2 * edge,
                                                   box.h + 2 * edge});
    ui_overlay_box(ui, box);
    struct draw_rect inside = {box.x + pad, box.y + edge, room, box.h};
    ui_text_wrap(ui->list, &ui->text, inside, type, ui->tip.text, NULL);
}

/*
 * The layout may have moved under a pointer at rest, or shrunk away: then what is hovered changes
 * with no event, and another frame shows it.
 */
static bool hover_stale(const struct ui *ui)
{
    const struct ui_item *under = item_under(ui, ui->now, 0);
    return !ui->active && (under ? under->id : 0) != ui->hot;
}

void ui_end(struct ui *ui, struct ui_frame *frame)
{
    check_balance(ui);
    forget_vanished(ui);
    draw_append(ui->frame_list, &ui->overlay);
    draw_tip(ui);
    draw_end(ui->frame_list);

    *frame = (struct ui_frame){
        .again = ui->again || hover_stale(ui),
        .wake_in = ui->wake_at < 0 ? -1 : fmax(ui->wake_at - ui->in->time, 0),
        .cursor = ui->cursor,
        .text_focus = ui->edit.id != 0,
        .text_rect = ui->text_rect,
    };
    ui->in = NULL;
    ui->style = NULL;
}

/* --- Behaviour ------------------------------------------------------------------------------- */

struct ui_signal ui_interact(struct ui *ui, ui_id id, struct draw_rect rect, unsigned flags)
{
    struct ui_signal signal = {.id = id, .x = ui->in->mouse_x, .y = ui->in->mouse_y};
    if (ui->disabled_at) {
        add_item(ui, id, rect, flags | UI_ITEM_DISABLED);
        if (ui->active == id)
            ui->active = 0;
        return signal;
    }
    add_item(ui, id, rect, flags);
    signal.hovered = ui->hot == id;
    signal.held = ui->active == id;
    signal.pressed = ui->pressed == id;
    signal.released = ui->released == id;
    signal.clicked = ui->clicked == id;
    signal.double_clicked = ui->double_clicked == id;
    signal.focused = ui->focus == id;
    if (signal.held || signal.pressed || signal.released) {
        signal.button = ui->button;
        signal.dx = ui->dx;
        signal.dy = ui->dy;
    }
    if (ui->wheel_target == id && flags & UI_ITEM_WHEEL) {
        signal.wheel_x = ui->in->wheel_x;
        signal.wheel_y = ui->in->wheel_y;
    }
    return signal;
}

bool ui_activated(struct ui *ui, const struct ui_signal *signal)
{
    return signal->focused && (ui_key(ui, UI_KEY_ENTER, 0) || ui_key(ui, UI_KEY_SPACE, 0));
}

bool ui_is_disabled(const struct ui *ui)
{
    return ui->disabled_at != 0;
}

void ui_disabled_begin(struct ui *ui, bool disabled)
{
    ui->disabled_depth++;
    if (disabled && !ui->disabled_at)
        ui->disabled_at = ui->disabled_depth;
}

void ui_disabled_end(struct ui *ui)
{
    if (ui->disabled_depth == 0) {
        ui->faults.unbalanced++;
        return;
    }
    if (ui->disabled_at == ui->disabled_depth)
        ui->disabled_at = 0;
    ui->disabled_depth--;
}

void ui_clip_begin(struct ui *ui, struct draw_rect rect)
{
    draw_clip_push(ui->list, rect);
}

void ui_clip_end(struct ui *ui)
{
    if (ui->list->clip_count > 0)
        draw_clip_pop(ui->list);
    else
        ui->faults.unbalanced++;
}

/* --- Around a widget ------------------------------------------------------------------------- */

/* Cuts at a whole character. */
static void set_tip(struct ui *ui, const char *text)
{
    size_t length = 0, size = strlen(text);
    for (size_t at = 0; at < size && at < UI_MAX_TIP; length = at < UI_MAX_TIP ? at : length)
        ui_utf8_next(text, size, &at);
    memcpy(ui->tip.text, text, length);
    ui->tip.text[length] = '\0';
    ui->tip.shown = length > 0;
}

void ui_tooltip(struct ui *ui, ui_id id, const char *text)
{
    if (!text || !*text || ui->tip.id != id || ui->tip.hidden || ui->active)
        return;
    if (ui->in->time >= ui->tip.since + TIP_DELAY)
        set_tip(ui, text);
    else
        ui_wake_at(ui, ui->tip.since + TIP_DELAY);
}

void ui_note(struct ui *ui, const char *text)
{
    set_tip(ui, text);
}

void ui_focus_ring(struct ui *ui, ui_id id, struct draw_rect rect, float radius)
{
    float width = ui->style->ring;
    if (ui->focus != id || !ui->focus_visible)
        return;
    struct draw_rect outside = {rect.x - width, rect.y - width, rect.w + 2 * width,
                                rect.h + 2 * width};
    draw_stroke(ui->list, outside, radius + width, width, ui->style->accent);
}

void ui_set_cursor(struct ui *ui, enum ui_cursor cursor)
{
    ui->cursor = cursor;
}

void ui_again(struct ui *ui)
{
    ui->again = true;
}

void ui_wake_at(struct ui *ui, double time)
{
    if (ui->wake_at < 0 || time < ui->wake_at)
        ui->wake_at = time;
}

struct ui_overlay ui_overlay_begin(struct ui *ui, struct draw_rect rect)
{
    struct ui_overlay before = {ui->list, ui->layer, ui->disabled_at};
    float edge = ui->style->unit / 2;
    ui->list = &ui->overlay;
    ui->layer = UI_LAYER_POPUP;
    ui->disabled_at = 0;
    draw_region_begin(ui->list, (struct draw_rect){rect.x - edge, rect.y - edge, rect.w + 2 * edge,
                                                   rect.h + 2 * edge});
    return before;
}

void ui_overlay_end(struct ui *ui, struct ui_overlay before)
{
    ui->list = before.list;
    ui->layer = before.layer;
    ui->disabled_at = before.disabled_at;
}

void ui_overlay_box(struct ui *ui, struct draw_rect rect)
{
    const struct ui_style *style = ui->style;
    float drop = roundf(style->unit / 4);
    struct draw_rect below = {rect.x - style->hair, rect.y + drop, rect.w + 2 * style->hair,
                              rect.h};
    draw_fill(ui->list, below, style->radius, style->shadow);
    draw_fill(ui->list, rect, style->radius, style->raised);
    draw_stroke(ui->list, rect, style->radius, style->hair, style->line);
}
