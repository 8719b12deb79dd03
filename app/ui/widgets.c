/* SPDX-License-Identifier: MIT */
#include "widgets.h"

#include <math.h>

struct ui_type ui_type_body(const struct ui *ui)
{
    draw_color color = ui_is_disabled(ui) ? ui->style->disabled : ui->style->text;
    return (struct ui_type){DRAW_FONT_REGULAR, ui->style->body, color};
}

struct ui_type ui_type_muted(const struct ui *ui)
{
    draw_color color = ui_is_disabled(ui) ? ui->style->disabled : ui->style->muted;
    return (struct ui_type){DRAW_FONT_REGULAR, ui->style->body, color};
}

struct ui_type ui_type_caption(const struct ui *ui)
{
    struct ui_type type = ui_type_muted(ui);
    type.size = ui->style->caption;
    return type;
}

struct ui_type ui_type_bold(const struct ui *ui)
{
    struct ui_type type = ui_type_body(ui);
    type.font = DRAW_FONT_BOLD;
    return type;
}

void ui_label(struct ui *ui, struct draw_rect rect, enum ui_align align, struct ui_type type,
              const char *text)
{
    ui_text_in(ui->list, &ui->text, rect, align, type, text);
}

void ui_title(struct ui *ui, struct draw_rect rect, const char *title, const char *caption)
{
    struct ui_type bold = ui_type_bold(ui);
    float baseline = ui_text_baseline(&ui->text, rect, bold);
    float used = ui_text_in(ui->list, &ui->text, rect, UI_ALIGN_LEFT, bold, title);
    if (!caption)
        return;
    ui_cut_left(&rect, used, ui->style->gap);
    /* Moves the smaller type down to the title's baseline. */
    rect.y += baseline - ui_text_baseline(&ui->text, rect, ui_type_caption(ui));
    ui_text_rich(ui->list, &ui->text, rect, UI_ALIGN_LEFT, ui_type_caption(ui), caption);
}

float ui_paragraph(struct ui *ui, struct draw_rect rect, struct ui_type type, const char *text)
{
    return ui_text_wrap(ui->list, &ui->text, rect, type, text, NULL);
}

void ui_separator(struct ui *ui, struct draw_rect rect)
{
    float hair = ui->style->hair;
    struct draw_rect rule = {rect.x, floorf(rect.y + (rect.h - hair) / 2), rect.w, hair};
    draw_fill(ui->list, rule, 0, ui->style->line);
}

void ui_triangle_down(struct ui *ui, float center_x, float center_y, draw_color color)
{
    /* From rows of one pixel: no glyph that a font may lack. */
    float half = ui_px(ui->style, 3.5f * ui->style->type), rows = ui_px(ui->style, 5);
    float x = floorf(center_x), y = roundf(center_y - rows / 2);
    for (float row = 0; row < rows; row++) {
        float reach = half * (1 - (row + 0.5f) / rows);
        draw_fill(ui->list, (struct draw_rect){x - reach, y + row, 2 * reach, 1}, 0, color);
    }
}

struct draw_rect ui_panel_begin(struct ui *ui, struct draw_rect rect, const char *title,
                                const char *caption)
{
    const struct ui_style *style = ui->style;
    draw_region_begin(ui->list, rect);
    draw_fill(ui->list, rect, style->radius, style->panel);
    draw_stroke(ui->list, rect, style->radius, style->hair, style->line);
    ui_clip_begin(ui, ui_inset(rect, style->hair, style->hair));
    struct draw_rect inside = ui_inset(rect, style->padding, 0);
    if (title)
        ui_title(ui, ui_cut_top(&inside, style->header, 0), title, caption);
    else
        ui_cut_top(&inside, style->padding, 0);
    ui_cut_bottom(&inside, style->padding, 0);
    return inside;
}

void ui_panel_end(struct ui *ui)
{
    ui_clip_end(ui);
}

/* --- Buttons -------------------------------------------------------------------------------- */

float ui_button_width(const struct ui *ui, const char *label)
{
    return ceilf(ui_text_width(&ui->text, ui_type_body(ui), label)) + 3 * ui->style->unit;
}

struct button_look {
    draw_color fill, border, text;
};

static struct button_look button_look(const struct ui *ui, const struct ui_signal *signal,
                                      enum ui_button_kind kind)
{
    const struct ui_style *style = ui->style;
    struct button_look look = {style->raised, style->line, style->text};
    if (kind == UI_BUTTON_ACCENT)
        look = (struct button_look){style->accent, style->accent, style->on_accent};
    else if (kind == UI_BUTTON_TAB)
        look = (struct button_look){0, 0, style->muted};
    else if (kind == UI_BUTTON_TAB_CHOSEN)
        look = (struct button_look){style->selection, 0, style->text};

    if (ui_is_disabled(ui)) {
        look.text = style->disabled;
        look.fill = kind == UI_BUTTON_ACCENT ? style->raised : look.fill;
        look.border = kind == UI_BUTTON_ACCENT ? style->line : look.border;
    } else if (signal->hovered || signal->held) {
        /* A pressed button springs back while the pointer is outside: then releasing does nothing
         */
        float strength = signal->held && signal->hovered ? 0.16f : 0.08f;
        look.fill = look.fill ? ui_mix(look.fill, style->text, strength) : style->hover;
        look.text = kind == UI_BUTTON_TAB ? style->text : look.text;
    }
    return look;
}

bool ui_button(struct ui *ui, struct draw_rect rect, const char *name, const char *label,
               enum ui_button_kind kind, const char *tooltip)
{
    const struct ui_style *style = ui->style;
    ui_id id = ui_id_of(ui, name);
    struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_FOCUS);
    struct button_look look = button_look(ui, &signal, kind);
    bool clicked = signal.clicked || ui_activated(ui, &signal);
    draw_fill(ui->list, rect, style->control_radius, look.fill);
    draw_stroke(ui->list, rect, style->control_radius, style->hair, look.border);
    struct ui_type type = ui_type_body(ui);
    type.color = look.text;
    ui_label(ui, ui_inset(rect, style->unit / 2, 0), UI_ALIGN_CENTER, type, label);
    ui_focus_ring(ui, id, rect, style->control_radius);
    ui_tooltip(ui, id, tooltip);
    ui->again |= clicked;
    return clicked;
}

static void draw_check(struct ui *ui, struct draw_rect box, draw_color color)
{
    float width = fmaxf(box.w / 8, 1);
    float x0 = box.x + box.w * 0.24f, x1 = box.x + box.w * 0.43f, x2 = box.x + box.w * 0.78f;
    float y0 = box.y + box.h * 0.52f, y1 = box.y + box.h * 0.71f, y2 = box.y + box.h * 0.30f;
    draw_line(ui->list, x0, y0, x1, y1, width, color);
    draw_line(ui->list, x1, y1, x2, y2, width, color);
}

int ui_checkbox(struct ui *ui, struct draw_rect rect, const char *name, const char *label,
                bool *value, const char *tooltip)
{
    const struct ui_style *style = ui->style;
    ui_id id = ui_id_of(ui, name);
    struct ui_signal signal = ui_interact(ui, id, rect, UI_ITEM_FOCUS);
    bool toggled = signal.clicked || ui_activated(ui, &signal);
    if (toggled)
        *value = !*value;

    struct draw_rect box = ui_cut_left(&rect, style->box, style->gap);
    box = ui_center(box, style->box, style->box);
    float radius = roundf(style->control_radius * 0.6f);
    bool pale = ui_is_disabled(ui);
    draw_color fill = *value && !pale ? style->accent : style->raised;
    if (signal.hovered)
        fill = ui_mix(fill, style->text, 0.1f);
    draw_fill(ui->list, box, radius, fill);
    /* The empty box's edge is all there is to see of it: muted, not line. */
    if (!*value || pale)
        draw_stroke(ui->list, box, radius, style->hair, pale ? style->disabled : style->muted);
    if (*value)
        draw_check(ui, box, pale ? style->disabled : style->on_accent);
    if (label)
        ui_label(ui, rect, UI_ALIGN_LEFT, ui_type_body(ui), label);
    ui_focus_ring(ui, id, box, radius);
    ui_tooltip(ui, id, tooltip);
    ui->again |= toggled;
    return toggled ? UI_CHANGED | UI_COMMITTED : 0;
}

/* --- Progress ------------------------------------------------------------------------------- */

static struct draw_rect progress_part(const struct ui *ui, struct draw_rect track, float fraction)
{
    if (fraction >= 0) {
        track.w = roundf(track.w * fminf(fraction, 1));
        return track;
    }
    /* Unknown: a quarter that travels, or stands in the middle when motion is unwelcome. */
    float at = ui->style->reduce_motion ? 0.5f : (float)fmod(ui->in->time / 1.2, 1.0);
    float from = track.x + track.w * (1.25f * at - 0.25f);
    return draw_rect_intersect(track, (struct draw_rect){from, track.y, track.w / 4, track.h});
}

bool ui_progress(struct ui *ui, struct draw_rect rect, const char *name, const char *label,
                 float fraction, const char *cancel)
{
    const struct ui_style *style = ui->style;
    bool cancelled = false;
    if (cancel) {
        struct draw_rect side = ui_cut_right(&rect, ui_button_width(ui, cancel), style->gap);
        side = ui_center(side, side.w, style->control);
        cancelled = ui_button(ui, side, name, cancel, UI_BUTTON_PLAIN, NULL);
    }
    if (label) {
        float width = ceilf(ui_text_width(&ui->text, ui_type_muted(ui), label));
        struct draw_rect side = ui_cut_left(&rect, fminf(width, rect.w * 0.6f), style->gap);
        ui_label(ui, side, UI_ALIGN_LEFT, ui_type_muted(ui), label);
    }
    struct draw_rect track = ui_center(rect, rect.w, 2 * style->track);
    draw_fill(ui->list, track, style->track, style->line);
    draw_fill(ui->list, progress_part(ui, track, fraction), style->track, style->accent);
    if (!(fraction >= 0) && !style->reduce_motion)
        ui_again(ui);
    return cancelled;
}

/* --- Rows ----------------------------------------------------------------------------------- */

struct draw_rect ui_row(struct ui *ui, struct ui_column *column, const char *name,
                        const char *label, const char *tooltip)
{
    const struct ui_style *style = ui->style;
    struct draw_rect row = ui_column_next(column, style->row);
    /* In a narrow column the control keeps the larger half. */
    float width = fminf(style->label, floorf(row.w * 0.45f));
    struct draw_rect left = ui_cut_left(&row, width, style->gap);
    ui_label(ui, left, UI_ALIGN_LEFT, ui_type_muted(ui), label);
    if (tooltip) {
        ui_id id = ui_id_part(ui_id_of(ui, name), "label");
        ui_interact(ui, id, left, 0);
        ui_tooltip(ui, id, tooltip);
    }
    return row;
}

void ui_row_section(struct ui *ui, struct ui_column *column, const char *caption)
{
    const struct ui_style *style = ui->style;
    struct draw_rect rule = ui_column_next(column, style->unit * 2);
    /* Across the padding, from border to border; the clip ends it. */
    rule.x -= style->padding;
    rule.w += 2 * style->padding;
    ui_separator(ui, rule);
    struct draw_rect line = ui_column_next(column, roundf(style->row * 0.7f));
    ui_label(ui, line, UI_ALIGN_LEFT, ui_type_caption(ui), caption);
}

void ui_row_value(struct ui *ui, struct ui_column *column, const char *label, const char *value)
{
    struct draw_rect rest = ui_row(ui, column, label, label, NULL);
    ui_label(ui, rest, UI_ALIGN_RIGHT, ui_type_body(ui), value);
}

int ui_row_dropdown(struct ui *ui, struct ui_column *column, const char *name, const char *label,
                    const char *const *names, int count, int *choice, const char *tooltip)
{
    struct draw_rect rest = ui_row(ui, column, name, label, tooltip);
    rest = ui_center(rest, rest.w, ui->style->control);
    return ui_dropdown(ui, rest, name, names, count, choice, tooltip);
}

int ui_row_slider(struct ui *ui, struct ui_column *column, const char *name, const char *label,
                  const struct ui_range *range, double *value, const char *shown,
                  const char *tooltip)
{
    struct draw_rect rest = ui_row(ui, column, name, label, tooltip);
    /* The knob at its lowest stands centred on the column's edge, as the boxes above it do. */
    float knob = fminf(ui->style->knob, ui->style->gap);
    rest.x -= knob;
    rest.w += knob;
    return ui_slider(ui, rest, name, range, value, shown, tooltip);
}

int ui_row_checkbox(struct ui *ui, struct ui_column *column, const char *name, const char *label,
                    bool *value, const char *tooltip)
{
    struct draw_rect rest = ui_row(ui, column, name, label, tooltip);
    return ui_checkbox(ui, rest, name, NULL, value, tooltip);
}
