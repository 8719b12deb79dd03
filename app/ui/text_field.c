/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "widgets.h"

/* The caller's buffer while one frame edits it. */
struct field {
    char *text;
    size_t length, capacity;
};

/* --- Editing --------------------------------------------------------------------------------- */

static size_t selection_start(const struct ui *ui)
{
    return ui->edit.caret < ui->edit.anchor ? ui->edit.caret : ui->edit.anchor;
}

static size_t selection_end(const struct ui *ui)
{
    return ui->edit.caret < ui->edit.anchor ? ui->edit.anchor : ui->edit.caret;
}

static void erase(struct ui *ui, struct field *field, size_t from, size_t to)
{
    memmove(field->text + from, field->text + to, field->length - to + 1);
    field->length -= to - from;
    ui->edit.caret = ui->edit.anchor = from;
}

/* Puts text over the selection: whole characters, as many as there is room for, in one line. */
static void insert(struct ui *ui, struct field *field, const char *utf8, size_t length)
{
    erase(ui, field, selection_start(ui), selection_end(ui));
    for (size_t at = 0; at < length;) {
        size_t start = at;
        uint32_t code = ui_utf8_next(utf8, length, &at);
        size_t bytes = at - start;
        bool broken = code == 0xFFFD && bytes == 1;
        bool space = code == '\n' || code == '\t';
        if (broken || (!space && (code < ' ' || code == 0x7F)))
            continue;
        if (field->length + bytes >= field->capacity)
            return;
        char *place = field->text + ui->edit.caret;
        memmove(place + bytes, place, field->length - ui->edit.caret + 1);
        if (space)
            *place = ' ';
        else
            memcpy(place, utf8 + start, bytes);
        field->length += bytes;
        ui->edit.caret = ui->edit.anchor = ui->edit.caret + bytes;
    }
}

static size_t next_character(const struct field *field, size_t at)
{
    if (at < field->length)
        ui_utf8_next(field->text, field->length, &at);
    return at;
}

static bool in_word(char byte)
{
    return (unsigned char)byte > '/' && !strchr(":;<=>?@[]\\^`{|}~", byte);
}

static size_t word_left(const struct field *field, size_t at)
{
    while (at > 0 && !in_word(field->text[at - 1]))
        at--;
    while (at > 0 && in_word(field->text[at - 1]))
        at--;
    return at;
}

static size_t word_right(const struct field *field, size_t at)
{
    while (at < field->length && !in_word(field->text[at]))
        at++;
    while (at < field->length && in_word(field->text[at]))
        at++;
    return at;
}

static void move_caret(struct ui *ui, size_t to, bool select)
{
    ui->edit.caret = to;
    if (!select)
        ui->edit.anchor = to;
}

static void copy_selection(const struct ui *ui, const struct field *field)
{
    size_t from = selection_start(ui), to = selection_end(ui);
    if (from < to && ui->clipboard.set)
        ui->clipboard.set(ui->clipboard.user, field->text + from, to - from);
}

/* Ctrl with a letter; false when it is not one of editing's. */
static bool clipboard_key(struct ui *ui, struct field *field, uint32_t key)
{
    switch (key) {
    case 'a':
        ui->edit.anchor = 0;
        ui->edit.caret = field->length;
        return true;
    case 'c':
        copy_selection(ui, field);
        return true;
    case 'x':
        copy_selection(ui, field);
        erase(ui, field, selection_start(ui), selection_end(ui));
        return true;
    case 'v': {
        const char *pasted = ui->clipboard.get ? ui->clipboard.get(ui->clipboard.user) : NULL;
        if (pasted)
            insert(ui, field, pasted, strlen(pasted));
        return true;
    }
    default:
        return false;
    }
}

static bool caret_key(struct ui *ui, const struct field *field, const struct input_key *event)
{
    bool select = event->mods & UI_MOD_SHIFT, word = event->mods & UI_MOD_CTRL;
    bool selected = ui->edit.caret != ui->edit.anchor;
    size_t caret = ui->edit.caret;
    switch (event->key) {
    case UI_KEY_LEFT:
        if (selected && !select && !word)
            caret = selection_start(ui);
        else
            caret = word ? word_left(field, caret) : ui_utf8_previous(field->text, caret);
        break;
    case UI_KEY_RIGHT:
        if (selected && !select && !word)
            caret = selection_end(ui);
        else
            caret = word ? word_right(field, caret) : next_character(field, caret);
        break;
    case UI_KEY_HOME:
    case UI_KEY_UP:
        caret = 0;
        break;
    case UI_KEY_END:
    case UI_KEY_DOWN:
        caret = field->length;
        break;
    default:
        return false;
    }
    move_caret(ui, caret, select);
    return true;
}

static bool delete_key(struct ui *ui, struct field *field, const struct input_key *event)
{
    bool back = event->key == UI_KEY_BACKSPACE, word = event->mods & UI_MOD_CTRL;
    size_t from = selection_start(ui), to = selection_end(ui);
    if (!back && event->key != UI_KEY_DELETE)
        return false;
    if (from == to && back)
        from = word ? word_left(field, from) : ui_utf8_previous(field->text, from);
    else if (from == to)
        to = word ? word_right(field, to) : next_character(field, to);
    erase(ui, field, from, to);
    return true;
}

/* --- The keyboard ---------------------------------------------------------------------------- */

enum field_end { FIELD_GOES_ON, FIELD_ENTERED, FIELD_ESCAPED };

/* While a field has the keyboard, no plain key may reach the program's shortcuts. */
static bool swallows(const struct input_key *event)
{
    bool function = event->key >= UI_KEY_F1 && event->key <= UI_KEY_F12;
    return !function && !(event->mods & UI_MOD_CTRL);
}

static enum field_end type_keys(struct ui *ui, struct field *field)
{
    const struct inputs *in = ui->in;
    enum field_end end = FIELD_GOES_ON;
    size_t typed = 0;
    for (int i = 0; i < in->key_count; i++) {
        const struct input_key *event = &in->keys[i];
        if (event->text_at > typed) {
            insert(ui, field, in->text + typed, event->text_at - typed);
            typed = event->text_at;
        }
        if (ui->key_used[i] || event->mods & (UI_MOD_ALT | UI_MOD_SUPER))
            continue;
        bool ctrl = event->mods == UI_MOD_CTRL;
        if (event->key == UI_KEY_ENTER && !ctrl)
            end = FIELD_ENTERED;
        else if (event->key == UI_KEY_ESC && !ctrl)
            end = FIELD_ESCAPED;
        ui->key_used[i] = caret_key(ui, field, event) || delete_key(ui, field, event) ||
                          (ctrl && clipboard_key(ui, field, event->key)) || swallows(event);
    }
    if ((size_t)in->text_length > typed)
        insert(ui, field, in->text + typed, (size_t)in->text_length - typed);
    return end;
}

/* What Escape will bring back. */
static void remember(struct ui *ui, const struct field *field)
{
    ui->edit.restorable = field->length < UI_MAX_EDIT;
    if (ui->edit.restorable)
        memcpy(ui->edit.original, field->text, field->length + 1);
    ui->edit.changed = false;
}

static void begin_edit(struct ui *ui, ui_id id, const struct field *field)
{
    /* The field before this one may have been drawn already: it commits in the next frame. */
    if (ui->edit.id && ui->edit.changed)
        ui->edit.lost = ui->edit.id;
    remember(ui, field);
    ui->edit.id = id;
    ui->edit.scroll = 0;
    /* By Tab: all selected, ready to be replaced. A press then sets the caret. */
    ui->edit.anchor = 0;
    ui->edit.caret = field->length;
}

static void escape(struct ui *ui, struct field *field)
{
    size_t length = strlen(ui->edit.original);
    if (ui->edit.restorable && length < field->capacity) {
        memcpy(field->text, ui->edit.original, length + 1);
        field->length = length;
    }
    ui->edit.changed = false;
    ui->edit.id = ui->focus = 0;
    ui->again = true;
}

/* --- The pointer ----------------------------------------------------------------------------- */

/* The gap between characters that is nearest to x (from the text's start). */
static size_t caret_at(const struct ui *ui, const struct field *field, float x)
{
    struct ui_type type = ui_type_body(ui);
    size_t left = ui_text_fit(&ui->text, type, field->text, field->length, x);
    size_t right = next_character(field, left);
    float from = ui_text_width_n(&ui->text, type, field->text, left);
    float to = ui_text_width_n(&ui->text, type, field->text, right);
    return x - from < to - x ? left : right;
}

static void point(struct ui *ui, const struct ui_signal *signal, const struct field *field,
                  struct draw_rect inside)
{
    if (!signal->pressed && !signal->held)
        return;
    size_t at = caret_at(ui, field, signal->x - inside.x + ui->edit.scroll);
    if (signal->double_clicked) {
        ui->edit.anchor = word_left(field, next_character(field, at));
        ui->edit.caret = word_right(field, ui->edit.anchor);
    } else if (signal->pressed) {
        move_caret(ui, at, ui->in->mods & UI_MOD_SHIFT);
    } else if (signal->dx != 0) {
        move_caret(ui, at, true);
    }
}

/* --- Drawing --------------------------------------------------------------------------------- */

static float offset_of(const struct ui *ui, const struct field *field, size_t at)
{
    return roundf(ui_text_width_n(&ui->text, ui_type_body(ui), field->text, at));
}

static void keep_caret_in_view(struct ui *ui, const struct field *field, struct draw_rect inside)
{
    float caret = offset_of(ui, field, ui->edit.caret), width = ui->style->hair * 2;
    float end = offset_of(ui, field, field->length);
    float scroll = fmaxf(ui->edit.scroll, caret + width - inside.w);
    scroll = fminf(scroll, caret);
    ui->edit.scroll = fmaxf(fminf(scroll, end + width - inside.w), 0);
}

static void draw_editing(struct ui *ui, const struct field *field, struct draw_rect inside)
{
    const struct ui_style *style = ui->style;
    float x = inside.x - ui->edit.scroll, line = roundf(style->body * 1.4f);
    struct draw_rect middle = ui_center(inside, inside.w, line);
    float from = x + offset_of(ui, field, selection_start(ui));
    float to = x + offset_of(ui, field, selection_end(ui));
    draw_fill(ui->list, (struct draw_rect){from, middle.y, to - from, middle.h}, 0,
              style->selection);
    ui_text_run(ui->list, &ui->text, x, ui_text_baseline(&ui->text, inside, ui_type_body(ui)),
                ui_type_body(ui), field->text);
    float caret = x + offset_of(ui, field, ui->edit.caret);
    ui->text_rect = (struct draw_rect){caret, middle.y, style->hair, middle.h};
    draw_fill(ui->list, ui->text_rect, 0, style->text);
}

static void draw_field(struct ui *ui, const struct field *field, struct draw_rect rect,
                       struct draw_rect inside, bool editing, const char *hint)
{
    const struct ui_style *style = ui->style;
    draw_color edge = editing ? style->accent : style->line;
    draw_fill(ui->list, rect, style->control_radius, style->background);
    draw_stroke(ui->list, rect, style->control_radius, style->hair * (editing ? 2 : 1), edge);
    ui_clip_begin(ui, inside);
    if (field->length == 0 && hint)
        ui_label(ui, inside, UI_ALIGN_LEFT, ui_type_muted(ui), hint);
    if (editing)
        draw_editing(ui, field, inside);
    else
        ui_label(ui, inside, UI_ALIGN_LEFT, ui_type_body(ui), field->text);
    ui_clip_end(ui);
}

/* --- The widget ------------------------------------------------------------------------------ */

static size_t clamp_caret(const struct field *field, size_t at)
{
    if (at >= field->length)
        return field->length;
    /* The caller may have put another text under the caret. */
    while (at > 0 && ((unsigned char)field->text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

/* One frame with the keyboard. */
static int edit(struct ui *ui, const struct ui_signal *signal, struct field *field,
                struct draw_rect inside)
{
    int result = 0;
    ui->edit.caret = clamp_caret(field, ui->edit.caret);
    ui->edit.anchor = clamp_caret(field, ui->edit.anchor);
    point(ui, signal, field, inside);
    enum field_end end = type_keys(ui, field);
    if (end == FIELD_ENTERED) {
        result = UI_COMMITTED;
        remember(ui, field);
    } else if (end == FIELD_ESCAPED) {
        escape(ui, field);
    }
    return result;
}

static uint64_t hash_text(const struct field *field)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < field->length; i++)
        hash = (hash ^ (unsigned char)field->text[i]) * UINT64_C(0x100000001B3);
    return hash;
}

int ui_text_field(struct ui *ui, struct draw_rect rect, const char *name, char *text,
                  size_t capacity, const char *hint, const char *tooltip)
{
    ui_id id = ui_id_of(ui, name);
    struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_FOCUS);
    struct draw_rect inside = ui_inset(rect, ui->style->unit, ui->style->hair);
    struct field field = {text, strlen(text), capacity};
    int result = 0;

    if (ui->edit.lost == id) {
        ui->edit.lost = 0;
        result |= UI_COMMITTED;
    }
    if (ui->edit.id == id && !signal.focused) {
        result |= ui->edit.changed ? UI_COMMITTED : 0;
        ui->edit.id = 0;
        ui->again = true;
    }
    if (signal.focused && ui->edit.id != id)
        begin_edit(ui, id, &field);
    if (signal.focused) {
        uint64_t before = hash_text(&field);
        result |= edit(ui, &signal, &field, inside);
        if (hash_text(&field) != before) {
            result |= UI_CHANGED;
            ui->edit.changed = ui->edit.id == id && !(result & UI_COMMITTED);
        }
    }
    bool editing = ui->edit.id == id;
    if (editing)
        keep_caret_in_view(ui, &field, inside);
    draw_field(ui, &field, rect, inside, editing, hint);
    if (signal.hovered || signal.held)
        ui_set_cursor(ui, UI_CURSOR_TEXT);
    ui_tooltip(ui, id, tooltip);
    ui->again |= result != 0;
    return result;
}
