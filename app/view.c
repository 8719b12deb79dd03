/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "colormap.h"
#include "overlay.h"
#include "tr.h"

static void add_edit(struct edits *edits, struct edit edit)
{
    if (edits->count < EDITS_MAX)
        edits->items[edits->count++] = edit;
}

void edit_param(struct edits *edits, enum param_id id, struct param_value value, bool committed)
{
    add_edit(edits, (struct edit){
                        .kind = EDIT_PARAM, .param = id, .value = value, .committed = committed});
}

void edit_reset(struct edits *edits, enum param_id id)
{
    add_edit(edits, (struct edit){.kind = EDIT_RESET, .param = id, .committed = true});
}

void edit_system(struct edits *edits, int system)
{
    add_edit(edits, (struct edit){.kind = EDIT_SYSTEM, .number = system, .committed = true});
}

void edit_query_row(struct edits *edits, size_t row, bool committed)
{
    add_edit(edits, (struct edit){.kind = EDIT_QUERY,
                                  .query = {.by_row = true, .row = row},
                                  .committed = committed});
}

void edit_query_pixel(struct edits *edits, double x, double y, bool committed)
{
    add_edit(edits,
             (struct edit){.kind = EDIT_QUERY, .query = {.x = x, .y = y}, .committed = committed});
}

void edit_scene(struct edits *edits, enum scene_id scene)
{
    add_edit(edits, (struct edit){.kind = EDIT_SCENE, .number = (int)scene, .committed = true});
}

void edit_command(struct edits *edits, enum command_id command)
{
    add_edit(edits, (struct edit){.kind = EDIT_COMMAND, .number = (int)command, .committed = true});
}

void edit_column(struct edits *edits, size_t column)
{
    add_edit(edits, (struct edit){.kind = EDIT_COLUMN, .number = (int)column, .committed = true});
}

void edit_ready(struct edits *edits, bool ready)
{
    add_edit(edits, (struct edit){.kind = EDIT_READY, .number = ready, .committed = true});
}

void edit_pick(struct edits *edits, const struct pick *pick, bool committed)
{
    add_edit(edits, (struct edit){.kind = EDIT_PICK, .pick = *pick, .committed = committed});
}

void view_weights_source(const struct scene *scene, struct draw_list *list)
{
    const struct attention_part *attention = scene->result->attention;
    if (!attention || !scene->row->key)
        return;
    const nl_grid *grid = &attention->attention.keys.grid;
    list->sources[DRAW_SLOT_WEIGHTS] = (struct draw_source){
        scene->row->key, DRAW_R32F, (int)grid->gw, (int)grid->gh, grid->gw, scene->row->weights};
}

static const char *place_name(const struct scene *scene, size_t row, bool key, char *buffer,
                              size_t size)
{
    const struct source *source = scene->result->source ? &scene->result->source->source : NULL;
    const struct attention_part *attention = scene->result->attention;
    const nl_table *table = source ? &source->table : NULL;
    if (source && source->kind == SOURCE_TABLE && row < table->values.rows) {
        if (table->labels)
            snprintf(buffer, size, "%zu (%s)", table->row_numbers[row],
                     table->classes[table->labels[row]]);
        else
            snprintf(buffer, size, "%zu", table->row_numbers[row]);
    } else if (attention && attention->features->features.grid.gh > 1) {
        const size_t gw =
            key ? attention->attention.keys.grid.gw : attention->features->features.grid.gw;
        snprintf(buffer, size, "(%zu, %zu)", row % gw, row / gw);
    } else {
        snprintf(buffer, size, "%zu", row + 1);
    }
    return buffer;
}

const char *view_row_name(const struct scene *scene, size_t row, char *buffer, size_t size)
{
    return place_name(scene, row, false, buffer, size);
}

const char *view_key_name(const struct scene *scene, size_t key, char *buffer, size_t size)
{
    return place_name(scene, key, true, buffer, size);
}

const char *view_number(double value, char *buffer, size_t size)
{
    if (value == 0)
        snprintf(buffer, size, "0");
    else if (!isfinite(value))
        snprintf(buffer, size, isnan(value) ? "?" : value > 0 ? "∞" : "−∞");
    else if (fabs(value) < 1e-4 || fabs(value) >= 1e6)
        snprintf(buffer, size, "%.1e", value);
    else if (fabs(value) >= 999.5)
        snprintf(buffer, size, "%.0f", value);
    else
        snprintf(buffer, size, "%.3g", value);
    return buffer;
}

void view_bar(struct ui *ui, struct draw_rect rect, int map, const char *const numbers[3])
{
    const struct ui_style *style = ui->style;
    const struct ui_type type = ui_type_caption(ui);
    struct draw_rect bar = ui_cut_left(&rect, ui_px(style, 12), ui_px(style, 6));
    const float line = ui_px(style, 14);
    draw_bar(ui->list, bar, map);
    for (int i = 0; i < 3; i++) {
        float share = (float)i / 2;
        struct draw_rect at = {rect.x, rect.y + (rect.h - line) * (1 - share), rect.w, line};
        ui_text_in(ui->list, &ui->text, at, UI_ALIGN_LEFT, type, numbers[i]);
    }
}

struct bar view_matrix_bar(const struct scene *scene)
{
    const struct cells_part *cells = scene->result->cells;
    const struct overview_part *overview = scene->result->overview;
    const bool weights = cells->shown == SHOWN_WEIGHTS;
    const bool alike = weights || cells->shown == SHOWN_SCORES; /* large where rows are alike */
    const bool whole = cells_matrix(cells)->rows > 0;
    return (struct bar){
        .map = cells->is_signed ? COLORMAP_DIVERGING
               : weights        ? param_choice(scene->doc, PARAM_COLORMAP)
                                : COLORMAP_VIRIDIS,
        .low = (double)cells->low,
        .from = cells->from,
        .high = (double)(whole || !overview ? cells->high : overview->high),
        .scale = weights && cells->low == 0
                     ? (enum draw_scale)param_choice(scene->doc, PARAM_OVERLAY)
                     : DRAW_SCALE_LINEAR,
        .low_word = alike ? tr("unlike") : tr("alike"),
        .high_word = alike ? tr("alike") : tr("unlike"),
    };
}

const char *view_matrix_letter(enum shown_id shown)
{
    return shown == SHOWN_SCORES ? "S" : shown == SHOWN_WEIGHTS ? "A" : "D";
}

bool view_is_signed(const struct scene *scene)
{
    return scene->row->key && scene->row->figures.smallest < 0;
}

int view_heat_map(const struct scene *scene)
{
    return view_is_signed(scene) ? COLORMAP_DIVERGING : param_choice(scene->doc, PARAM_COLORMAP);
}

void view_heat_bar(struct ui *ui, struct draw_rect rect, const struct scene *scene)
{
    const bool is_signed = view_is_signed(scene);
    const double largest =
        is_signed ? fmax((double)scene->row->figures.largest, -(double)scene->row->figures.smallest)
                  : (double)scene->row->figures.largest;
    const enum draw_scale scale = (enum draw_scale)param_choice(scene->doc, PARAM_OVERLAY);
    char text[3][32];
    const char *numbers[3];
    for (int i = 0; i < 3; i++)
        numbers[i] =
            view_number(is_signed ? (i - 1) * largest : overlay_weight(scale, i / 2.0, largest),
                        text[i], sizeof text[i]);
    view_bar(ui, rect, view_heat_map(scene), numbers);
}

float view_figure(struct ui *ui, struct draw_rect rect, enum ui_align align, const char *name,
                  const char *value)
{
    const struct ui_style *style = ui->style;
    struct draw_rect top = ui_cut_top(&rect, ui_px(style, 15), 0);
    struct ui_type bold = ui_type_bold(ui);
    bold.size = style->caption;
    ui_label(ui, top, align, ui_type_caption(ui), name);
    ui_label(ui, ui_cut_top(&rect, ui_px(style, 15), 0), align, bold, value);
    return ui_px(style, 37);
}

void view_zoom_window(const struct zoom *zoom, double *x0, double *y0, double *x1, double *y1)
{
    const double half = 0.5 / zoom->factor;
    *x0 = zoom->x - half;
    *x1 = zoom->x + half;
    *y0 = zoom->y - half;
    *y1 = zoom->y + half;
}

static void keep_inside(struct zoom *zoom, double most)
{
    zoom->factor = fmin(fmax(zoom->factor, 1), fmax(most, 1));
    const double half = 0.5 / zoom->factor;
    zoom->x = fmin(fmax(zoom->x, half), 1 - half);
    zoom->y = fmin(fmax(zoom->y, half), 1 - half);
}

bool view_zoom_input(struct zoom *zoom, const struct ui_signal *signal, struct draw_rect rect,
                     double most)
{
    const struct zoom before = *zoom;
    if (rect.w <= 0 || rect.h <= 0)
        return false;
    if (signal->wheel_y != 0) {
        /* the point under the pointer stays there */
        double u = (double)(signal->x - rect.x) / (double)rect.w - 0.5;
        double v = (double)(signal->y - rect.y) / (double)rect.h - 0.5;
        double x = zoom->x + u / zoom->factor, y = zoom->y + v / zoom->factor;
        zoom->factor =
            fmin(fmax(zoom->factor * pow(1.25, (double)signal->wheel_y), 1), fmax(most, 1));
        zoom->x = x - u / zoom->factor;
        zoom->y = y - v / zoom->factor;
    }
    if (signal->held && (signal->button == UI_MIDDLE || signal->button == UI_RIGHT)) {
        zoom->x -= (double)signal->dx / (double)rect.w / zoom->factor;
        zoom->y -= (double)signal->dy / (double)rect.h / zoom->factor;
    }
    keep_inside(zoom, most);
    return memcmp(&before, zoom, sizeof before) != 0;
}

bool view_zoom_keys(struct ui *ui, struct zoom *zoom, double most)
{
    const struct zoom before = *zoom;
    const double step = 0.1 / zoom->factor;
    if (ui_key(ui, '+', 0) || ui_key(ui, '+', UI_MOD_SHIFT) || ui_key(ui, '=', 0))
        zoom->factor *= 1.25;
    if (ui_key(ui, '-', 0))
        zoom->factor /= 1.25;
    zoom->x +=
        step * (ui_key(ui, UI_KEY_RIGHT, UI_MOD_SHIFT) - ui_key(ui, UI_KEY_LEFT, UI_MOD_SHIFT));
    zoom->y += step * (ui_key(ui, UI_KEY_DOWN, UI_MOD_SHIFT) - ui_key(ui, UI_KEY_UP, UI_MOD_SHIFT));
    keep_inside(zoom, most);
    return memcmp(&before, zoom, sizeof before) != 0;
}

enum box_state view_box_input(struct ui *ui, struct view *view, const struct ui_signal *signal,
                              struct draw_rect rect, struct draw_rect *box)
{
    struct box_drag *drag = &view->box;
    const float least = ui_px(ui->style, 3);
    if (signal->pressed && signal->button == UI_LEFT && ui->in->mods == UI_MOD_SHIFT)
        *drag = (struct box_drag){signal->id, signal->x, signal->y, -1, -1};
    if (drag->panel != signal->id)
        return BOX_NONE;
    if (!signal->held && !signal->released) { /* the panel was away */
        drag->panel = 0;
        return BOX_NONE;
    }
    const float x0 = fminf(drag->x, signal->x), y0 = fminf(drag->y, signal->y);
    *box = draw_rect_intersect(rect, (struct draw_rect){x0, y0, fmaxf(drag->x, signal->x) - x0,
                                                        fmaxf(drag->y, signal->y) - y0});
    if (fabsf(drag->x - signal->x) < least && fabsf(drag->y - signal->y) < least)
        box->w = box->h = 0;
    if (signal->released) {
        drag->panel = 0;
        return BOX_DONE;
    }
    draw_fill(ui->list, *box, 0, (ui->style->accent & 0xffffff00u) | 0x30u);
    draw_stroke(ui->list, *box, 0, 2 * ui->style->hair, ui->style->accent);
    ui_set_cursor(ui, UI_CURSOR_CROSS);
    const bool moved = drag->last_x != signal->x || drag->last_y != signal->y;
    drag->last_x = signal->x;
    drag->last_y = signal->y;
    return moved ? BOX_MOVED : BOX_HELD;
}

void view_tag(struct ui *ui, struct draw_rect rect, float x, float y, bool below, const char *word)
{
    const struct ui_style *style = ui->style;
    struct ui_type type = ui_type_caption(ui);
    const float width = ui_text_width(&ui->text, type, word) + ui_px(style, 10);
    const float height = ui_px(style, 16), away = ui_px(style, 11);
    const float above_y = y - away - height, below_y = y + away;
    struct draw_rect tag = {x + away, below ? below_y : above_y, width, height};
    if (tag.x + tag.w > rect.x + rect.w)
        tag.x = x - away - width;
    if (tag.y < rect.y || tag.y + tag.h > rect.y + rect.h)
        tag.y = below ? above_y : below_y;
    tag.x = floorf(tag.x);
    tag.y = floorf(tag.y);
    type.color = 0xffffffffu;
    draw_fill(ui->list, tag, style->control_radius, 0x101418d8u);
    ui_text_in(ui->list, &ui->text, tag, UI_ALIGN_CENTER, type, word);
}

const char *view_query_tag(const struct view *view)
{
    return view->hover_query == view->hover_row ? tr("query = key") : tr("query");
}

const char *view_key_tag(const struct ui *ui, const struct view *view, float dx, float dy)
{
    if (view->hover_query == SIZE_MAX || view->hover_query == view->hover_row)
        return NULL;
    return fabsf(dx) < ui_px(ui->style, 140) && fabsf(dy) < ui_px(ui->style, 64) ? NULL : tr("key");
}

void view_absence(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  const char *invitation)
{
    const float margin = ui_px(ui->style, 16);
    const char *text = scene->job.busy               ? tr("One moment …")
                       : scene->result->error.status ? scene->result->error.message
                                                     : invitation;
    ui_paragraph(ui, ui_inset(rect, margin, margin), ui_type_muted(ui), text);
}

void view_stale(struct ui *ui, struct draw_rect rect, const struct scene *scene, bool stale,
                struct edits *edits, const char *id)
{
    const struct ui_style *style = ui->style;
    if (!stale)
        return;
    draw_fill(ui->list, rect, 0, (style->panel & 0xffffff00u) | 0x99u);
    if (!scene->job.busy) { /* given up */
        const char *label = tr("Compute");
        struct draw_rect button = ui_center(rect, ui_button_width(ui, label), style->control);
        if (ui_button(ui, button, id, label, UI_BUTTON_ACCENT,
                      command_table[COMMAND_COMPUTE].key_name))
            edit_command(edits, COMMAND_COMPUTE);
        return;
    }
    struct draw_rect box = ui_center(rect, ui_px(style, 260), style->control);
    if (ui_progress(ui, box, id, tr(scene->job.stage), (float)scene->job.fraction, tr("Cancel")))
        edit_command(edits, COMMAND_CANCEL);
}
