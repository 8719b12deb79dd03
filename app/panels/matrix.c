/* SPDX-License-Identifier: MIT */
/* The dissimilarity matrix in the chosen order, with the query's row and column marked. */
#include <math.h>
#include <stdio.h>

#include "../colormap.h"
#include "../tr.h"
#include "../view.h"

struct frame {
    struct draw_rect rect;
    double x0, y0, x1, y1; /* cells shown, in positions */
};

static struct frame place(struct draw_rect space, const struct zoom *zoom, size_t n)
{
    struct frame frame;
    const float side = floorf(fminf(space.w, space.h));
    frame.rect = (struct draw_rect){space.x, space.y, side, side};
    view_zoom_window(zoom, &frame.x0, &frame.y0, &frame.x1, &frame.y1);
    frame.x0 *= (double)n;
    frame.x1 *= (double)n;
    frame.y0 *= (double)n;
    frame.y1 *= (double)n;
    return frame;
}

/* A band `thick` or more over a row or column: a line while cells are small, else its outline. */
static void mark_band(struct ui *ui, struct draw_rect band, draw_color color)
{
    const float hair = ui->style->hair;
    if (fminf(band.w, band.h) <= 4 * hair)
        draw_fill(ui->list, band, 0, color);
    else
        draw_stroke(ui->list, band, 0, 2 * hair, color);
}

/* The query's row: what row i of the matrix is. */
static void mark_row(struct ui *ui, const struct frame *frame, double position, draw_color color)
{
    const double per_cell = (double)frame->rect.h / (frame->y1 - frame->y0);
    const float y = frame->rect.y + (float)((position - frame->y0) * per_cell);
    const float thick = fmaxf((float)per_cell, ui->style->hair);
    mark_band(ui, (struct draw_rect){frame->rect.x, y, frame->rect.w, thick}, color);
}

/* A key's column. */
static void mark_column(struct ui *ui, const struct frame *frame, double position, draw_color color)
{
    const double per_cell = (double)frame->rect.w / (frame->x1 - frame->x0);
    const float x = frame->rect.x + (float)((position - frame->x0) * per_cell);
    const float thick = fmaxf((float)per_cell, ui->style->hair);
    mark_band(ui, (struct draw_rect){x, frame->rect.y, thick, frame->rect.h}, color);
}

static void draw_cells(struct ui *ui, const struct frame *frame, const struct order_part *order)
{
    /* the overview is enough while a pixel covers at least one of its cells */
    const double shown = frame->x1 - frame->x0, n = (double)order->dissim->d.rows;
    const bool overview = order->overview.rows > 0 && shown > n / 4;
    const struct draw_matrix matrix = {
        .x0 = (float)frame->x0,
        .y0 = (float)frame->y0,
        .x1 = (float)frame->x1,
        .y1 = (float)frame->y1,
        .low = 0,
        .high = order->dissim->largest,
        .map = COLORMAP_VIRIDIS,
        .overview = overview,
    };
    draw_matrix(ui->list, frame->rect, &matrix);
}

static void hover(struct ui *ui, const struct scene *scene, const struct order_part *order,
                  size_t i, size_t j)
{
    char query[64], key[64], number[32], text[200];
    snprintf(text, sizeof text, "%s %s, %s %s   D = %s", tr("query"),
             view_row_name(scene, order->order[i], query, sizeof query), tr("key"),
             view_row_name(scene, order->order[j], key, sizeof key),
             view_number((double)nl_row(&order->dissim->d, order->order[i])[order->order[j]],
                         number, sizeof number));
    ui_note(ui, text);
}

static void react(struct ui *ui, const struct frame *frame, const struct scene *scene,
                  const struct order_part *order, struct view *view, struct edits *edits)
{
    const size_t n = order->dissim->d.rows;
    const ui_id id = ui_id_of(ui, "matrix");
    const struct ui_signal signal = ui_interact(
        ui, id, frame->rect, UI_ITEM_FOCUS | UI_ITEM_WHEEL | UI_ITEM_MIDDLE | UI_ITEM_RIGHT);
    if (view_zoom_input(&view->matrix, &signal, frame->rect, fmax((double)n / 4, 1)))
        ui_again(ui);
    ui_focus_ring(ui, id, frame->rect, 0);
    const double x =
        frame->x0 + (frame->x1 - frame->x0) * (double)((signal.x - frame->rect.x) / frame->rect.w);
    const double y =
        frame->y0 + (frame->y1 - frame->y0) * (double)((signal.y - frame->rect.y) / frame->rect.h);
    const size_t j = (size_t)fmin(fmax(floor(x), 0), (double)n - 1);
    const size_t i = (size_t)fmin(fmax(floor(y), 0), (double)n - 1);
    if (signal.button == UI_LEFT) {
        if (signal.pressed || signal.held)
            if (order->order[i] != scene->row->query)
                edit_query_row(edits, order->order[i], false);
        if (signal.released)
            edit_query_row(edits, order->order[i], true);
    }
    if (signal.focused && scene->row->key) {
        const size_t at = (size_t)order->position[scene->row->query];
        if (ui_key(ui, UI_KEY_UP, 0) && at > 0)
            edit_query_row(edits, order->order[at - 1], true);
        if (ui_key(ui, UI_KEY_DOWN, 0) && at + 1 < n)
            edit_query_row(edits, order->order[at + 1], true);
    }
    if (!signal.hovered)
        return;
    ui_set_cursor(ui, signal.held && signal.button != UI_LEFT ? UI_CURSOR_MOVE : UI_CURSOR_CROSS);
    if (!scene->result->attention->attention.pooled_keys)
        view->hover_next = order->order[j];
    hover(ui, scene, order, i, j);
}

/* The orders that make sense for what is shown. */
struct offer {
    int ids[NL_ORDER_COUNT];
    int count;
};

static struct offer offered(const struct source *source)
{
    struct offer offer = {.count = 0};
    for (int id = 0; id < NL_ORDER_COUNT; id++)
        if ((!nl_orders[id].needs_classes || source->table.labels) &&
            (!nl_orders[id].needs_keys || source->kind == SOURCE_PICTURE))
            offer.ids[offer.count++] = id;
    return offer;
}

static const char *order_label(void *user, int i)
{
    const struct offer *offer = user;
    return tr(nl_orders[offer->ids[i]].label);
}

/* A line of the figures, left out where the panel ends. */
static void quality(struct ui *ui, struct ui_column *column, struct draw_rect rect, float height,
                    const char *name, const char *value)
{
    if (column->y + height > rect.y + rect.h)
        return;
    struct draw_rect line = ui_column_next(column, height);
    ui_label(ui, ui_cut_left(&line, ui->style->label, ui->style->gap), UI_ALIGN_LEFT,
             ui_type_muted(ui), name);
    ui_label(ui, line, UI_ALIGN_LEFT, ui_type_body(ui), value);
}

/* The order's drop-down and, as far as there is room, how good the order is. */
static void draw_side(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                      const struct order_part *order, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    const struct source *source = &scene->result->source->source;
    char text[120];
    struct offer offer = offered(source);
    int choice = 0;
    while (choice + 1 < offer.count && offer.ids[choice] != param_choice(scene->doc, PARAM_ORDER))
        choice++;
    struct ui_column column = ui_column(rect, 0);
    const struct ui_choices choices = {.name = order_label, .user = &offer, .count = offer.count};
    struct draw_rect box =
        ui_row(ui, &column, "order", tr("Order"), tr(param_table[PARAM_ORDER].help));
    box = ui_center(box, box.w, style->control);
    box.w = fminf(box.w, ui_px(style, 180));
    if (ui_dropdown_of(ui, box, "order", &choices, &choice, tr(param_table[PARAM_ORDER].help)) &
        UI_CHANGED)
        edit_param(edits, PARAM_ORDER, (struct param_value){.number = offer.ids[choice]}, true);
    if (order->notes & NL_ORDER_NOTE_PLAIN_LEAVES)
        ui_label(ui, ui_column_next(&column, ui_px(style, 22)), UI_ALIGN_LEFT, ui_type_muted(ui),
                 tr("More than 2,000 rows: leaves in the plain order"));
    const float row = ui_px(style, 22);
    snprintf(text, sizeof text, "%.2f", order->path);
    quality(ui, &column, rect, row, tr("Path length"), text);
    if (param_choice(scene->doc, PARAM_ORDER) != NL_ORDER_INPUT) {
        snprintf(text, sizeof text, "%.2f", order->path_input);
        quality(ui, &column, rect, row, tr("In file order"), text);
    }
    snprintf(text, sizeof text, "%.4g", (double)order->dissim->largest);
    quality(ui, &column, rect, row, tr("Largest"), text);
    quality(ui, &column, rect, row, tr("Between"),
            view_row_name(scene, order->dissim->largest_i, text, sizeof text));
    quality(ui, &column, rect, row, tr("and"),
            view_row_name(scene, order->dissim->largest_j, text, sizeof text));
    if (order->class_runs > 0) {
        snprintf(text, sizeof text, "%zu (%zu %s)", order->class_runs, source->table.class_count,
                 tr("classes"));
        quality(ui, &column, rect, row, tr("Class runs"), text);
    }
    const double bytes = (double)order->dissim->d.rows * (double)order->dissim->d.stride * 4;
    snprintf(text, sizeof text, bytes < 1e6 ? "%.0f kB" : "%.1f MB",
             bytes / (bytes < 1e6 ? 1e3 : 1e6));
    quality(ui, &column, rect, row, tr("Memory"), text);
}

void panel_matrix(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    const struct order_part *order = scene->result->order;
    const struct attention_part *attention = scene->result->attention;
    const bool there = order && order->dissim->d.rows > 0 && scene->result->source;
    char caption[160] = "";
    if (there)
        snprintf(caption, sizeof caption, "D_{ij}, %zu × %zu", order->dissim->d.rows,
                 order->dissim->d.cols);
    struct draw_rect inside = ui_panel_begin(ui, rect, tr("How unlike are they?"), caption);
    if (!there) {
        if (order)
            ui_paragraph(ui, ui_inset(inside, ui_px(style, 16), ui_px(style, 16)),
                         ui_type_muted(ui), order->dissim->refused);
        else
            view_absence(ui, inside, scene, tr("One moment …"));
        ui_panel_end(ui);
        return;
    }
    const float foot = style->row + ui_px(style, 8);
    const float side_height = inside.h - foot; /* of the matrix, if width allows */
    struct draw_rect bar = ui_cut_right(&inside, ui_px(style, 12 + 6 + 46), ui_px(style, 10));
    struct draw_rect square = {inside.x, inside.y, inside.w, fmaxf(side_height, 0)};
    struct draw_rect side = inside;
    const struct frame frame = place(square, &view->matrix, order->dissim->d.rows);
    bar.x = frame.rect.x + frame.rect.w + ui_px(style, 10);
    bar.h = frame.rect.h;
    side.w = inside.w + bar.w + ui_px(style, 10);
    if (inside.w - frame.rect.w > ui_px(style, 220)) { /* a wide, low panel: beside it */
        side.x = bar.x + bar.w;
        side.w = inside.x + inside.w + bar.w - side.x;
    } else {
        side.y = frame.rect.y + frame.rect.h + ui_px(style, 8);
        side.h = inside.y + inside.h - side.y;
    }
    const bool linked = attention && scene->row->key &&
                        scene->row->queries == order->dissim->d.rows &&
                        order->dissim->features_key == attention->features->part.key;
    ui_clip_begin(ui, frame.rect);
    draw_cells(ui, &frame, order);
    if (linked && !attention->attention.pooled_keys && view->hover_row < scene->row->n)
        mark_column(ui, &frame, (double)order->position[view->hover_row], style->result);
    if (linked)
        mark_row(ui, &frame, (double)order->position[scene->row->query], ui_query_colors[0]);
    view_stale(ui, frame.rect, scene, edits, "matrix-progress");
    ui_clip_end(ui);
    if (linked)
        react(ui, &frame, scene, order, view, edits);
    char low[32], middle[32], high[32];
    const char *numbers[3] = {
        view_number(0, low, sizeof low),
        view_number((double)order->dissim->largest / 2, middle, sizeof middle),
        view_number((double)order->dissim->largest, high, sizeof high),
    };
    view_bar(ui, bar, COLORMAP_VIRIDIS, numbers);
    draw_side(ui, side, scene, order, edits);
    ui_panel_end(ui);
}
