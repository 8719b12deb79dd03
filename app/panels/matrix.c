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

/* A band over the row and the column at this position, at least one pixel thick. */
static void mark_position(struct ui *ui, const struct frame *frame, double position,
                          draw_color color, bool column)
{
    const struct ui_style *style = ui->style;
    const double per_y = (double)frame->rect.h / (frame->y1 - frame->y0);
    const double per_x = (double)frame->rect.w / (frame->x1 - frame->x0);
    const float thick = fmaxf((float)per_y, style->hair);
    const float y = frame->rect.y + (float)((position - frame->y0) * per_y);
    const float x = frame->rect.x + (float)((position - frame->x0) * per_x);
    if (thick <= 4 * style->hair) {
        draw_fill(ui->list, (struct draw_rect){frame->rect.x, y, frame->rect.w, thick}, 0, color);
        if (column)
            draw_fill(ui->list, (struct draw_rect){x, frame->rect.y, thick, frame->rect.h}, 0,
                      color);
        return;
    }
    draw_stroke(ui->list, (struct draw_rect){frame->rect.x, y, frame->rect.w, thick}, 0,
                style->hair * 2, color);
    if (column)
        draw_stroke(ui->list, (struct draw_rect){x, frame->rect.y, thick, frame->rect.h}, 0,
                    style->hair * 2, color);
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
             view_number((double)nl_row(&order->dissim->d, order->order[i])[order->order[j]], number,
                         sizeof number));
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
    const double x = frame->x0 + (frame->x1 - frame->x0) *
                                     (double)((signal.x - frame->rect.x) / frame->rect.w);
    const double y = frame->y0 + (frame->y1 - frame->y0) *
                                     (double)((signal.y - frame->rect.y) / frame->rect.h);
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
    view->hover_next = order->order[j];
    hover(ui, scene, order, i, j);
}

static const char *order_label(void *user, int i)
{
    (void)user;
    return tr(nl_orders[i].label);
}

/* Order drop-down and the figures that say how good the order is. */
static void draw_side(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                      const struct order_part *order, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    char text[64];
    int choice = param_choice(scene->doc, PARAM_ORDER);
    struct draw_rect line = ui_cut_top(&rect, style->control, ui_px(style, 6));
    ui_label(ui, ui_cut_left(&line, ui_px(style, 52), ui_px(style, 4)), UI_ALIGN_LEFT,
             ui_type_muted(ui), tr("Order"));
    const bool labels = scene->result->source->source.table.labels != NULL;
    const struct ui_choices choices = {.name = order_label, .count = labels ? NL_ORDER_COUNT : 1};
    struct draw_rect box = ui_cut_left(&line, ui_px(style, 130), ui_px(style, 16));
    if (ui_dropdown_of(ui, box, "order", &choices, &choice, tr(param_table[PARAM_ORDER].help)) &
        UI_CHANGED)
        edit_param(edits, PARAM_ORDER, (struct param_value){.number = choice}, true);
    if (!order)
        return;
    snprintf(text, sizeof text, "%s %.2f", tr("path length"), order->path);
    ui_label(ui, line, UI_ALIGN_LEFT, ui_type_muted(ui), text);
}

static void explain_absence(struct ui *ui, struct draw_rect inside, const struct scene *scene,
                            const struct order_part *order)
{
    const char *text = order                        ? order->dissim->refused
                       : scene->result->error.status ? scene->result->error.message
                                                     : tr("One moment …");
    struct draw_rect box = ui_inset(inside, ui_px(ui->style, 16), ui_px(ui->style, 16));
    ui_paragraph(ui, box, ui_type_muted(ui), text);
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
        snprintf(caption, sizeof caption, "%s · %zu × %zu · %.1f MB", tr("Euclidean distance D_{ij}"),
                 order->dissim->d.rows, order->dissim->d.cols,
                 (double)order->dissim->d.rows * (double)order->dissim->d.cols * 4e-6);
    struct draw_rect inside = ui_panel_begin(ui, rect, tr("How unlike are the points?"), caption);
    if (!there) {
        explain_absence(ui, inside, scene, order);
        ui_panel_end(ui);
        return;
    }
    struct draw_rect side = ui_cut_bottom(&inside, style->control, ui_px(style, 8));
    struct draw_rect bar = ui_cut_right(&inside, ui_px(style, 12 + 6 + 40), ui_px(style, 10));
    const struct frame frame = place(inside, &view->matrix, order->dissim->d.rows);
    bar.x = frame.rect.x + frame.rect.w + ui_px(style, 10);
    bar.h = frame.rect.h;
    side.y = frame.rect.y + frame.rect.h + ui_px(style, 8);
    const bool linked = attention && scene->row->key && scene->row->n == order->dissim->d.rows &&
                        order->dissim->features_key == attention->features->part.key;
    ui_clip_begin(ui, frame.rect);
    draw_cells(ui, &frame, order);
    if (linked && view->hover_row < scene->row->n)
        mark_position(ui, &frame, (double)order->position[view->hover_row], style->result, false);
    if (linked)
        mark_position(ui, &frame, (double)order->position[scene->row->query], ui_query_colors[0],
                      true);
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
