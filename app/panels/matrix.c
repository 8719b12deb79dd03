/* SPDX-License-Identifier: MIT */
/*
 * D, S or A in the chosen order: zoomed in, cells carry their numbers; the query's row, what the
 * pointer is over and what is selected are marked.
 */
#include <math.h>
#include <stdio.h>

#include "../colormap.h"
#include "../overlay.h"
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

/* Single pairs are at hand, not only means over many. */
static bool sees_cells(const struct scene *scene)
{
    return cells_matrix(scene->result->cells)->rows > 0 || scene->detail->key;
}

/* The finished picture of all is enough while its cells are no larger than pixels. */
static bool wants_overview(const struct scene *scene, const struct frame *frame)
{
    const struct overview_part *overview = scene->result->overview;
    if (!overview || overview->mean.rows == 0 || scene->order.moving || scene->detail->key)
        return false;
    const double cells =
        (frame->x1 - frame->x0) / (double)scene->order.n * (double)overview->mean.rows;
    return cells_matrix(scene->result->cells)->rows == 0 || cells >= (double)frame->rect.w;
}

static void draw_cells(struct ui *ui, const struct frame *frame, const struct scene *scene,
                       const struct bar *bar, const float range[2])
{
    const struct detail *detail = scene->detail; /* the slot begins where it does */
    const double left = detail->key ? (double)detail->x0 : 0;
    const double top = detail->key ? (double)detail->y0 : 0;
    const struct draw_matrix matrix = {
        .n = (float)scene->order.n,
        .x0 = (float)(frame->x0 - left),
        .y0 = (float)(frame->y0 - top),
        .x1 = (float)(frame->x1 - left),
        .y1 = (float)(frame->y1 - top),
        .low = (float)bar->low,
        .high = (float)bar->high,
        .from = range[0],
        .to = range[1],
        .map = bar->map,
        .scale = bar->scale,
        .overview = wants_overview(scene, frame),
    };
    draw_matrix(ui->list, frame->rect, &matrix);
}

/* A number in black or white, whichever stands out from the cell's colour. */
static draw_color ink_on(const struct bar *bar, const float range[2], double value)
{
    uint8_t rgb[3];
    double place = bar->scale == DRAW_SCALE_LINEAR
                       ? (bar->high > bar->low ? (value - bar->low) / (bar->high - bar->low) : 0)
                       : overlay_position(bar->scale, value, bar->high);
    place = (place - (double)range[0]) / (double)(range[1] - range[0]);
    colormap_at((enum colormap_id)bar->map, (float)fmin(fmax(place, 0), 1), rgb);
    return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 128 ? 0x101418ffu : 0xffffffffu;
}

enum { NUMBER_SIDE = 44, NUMBERS_MAX = 1600 }; /* units; what the list of texts has room for */

/* Every cell's number inside it, once cells are large enough to hold one. */
static void draw_numbers(struct ui *ui, const struct frame *frame, const struct scene *scene,
                         const struct bar *bar, const float range[2])
{
    const struct order_view *order = &scene->order;
    const float side = frame->rect.w / (float)(frame->x1 - frame->x0);
    const double shown = (frame->x1 - frame->x0) * (frame->y1 - frame->y0);
    if (!sees_cells(scene) || order->moving || side < ui_px(ui->style, NUMBER_SIDE) ||
        shown > NUMBERS_MAX)
        return;
    const size_t end_x = (size_t)fmin(ceil(frame->x1), (double)order->n);
    const size_t end_y = (size_t)fmin(ceil(frame->y1), (double)order->n);
    struct ui_type type = ui_type_caption(ui);
    for (size_t y = (size_t)fmax(frame->y0, 0); y < end_y; y++)
        for (size_t x = (size_t)fmax(frame->x0, 0); x < end_x; x++) {
            const double value =
                detail_value(scene->detail, scene->result->cells, order->order, y, x);
            const struct draw_rect cell = {frame->rect.x + (float)((double)x - frame->x0) * side,
                                           frame->rect.y + (float)((double)y - frame->y0) * side,
                                           side, side};
            char text[32];
            type.color = isfinite(value) ? ink_on(bar, range, value) : 0xffffffffu;
            view_number(value, text, sizeof text);
            if (ui_text_width(&ui->text, type, text) <= side) /* half a number is a wrong one */
                ui_text_in(ui->list, &ui->text, cell, UI_ALIGN_CENTER, type, text);
        }
}

enum { RUNS_MAX = 12 };

/* The means over pairs of classes, each in the middle of its block, while classes lie together. */
static void draw_means(struct ui *ui, const struct frame *frame, const struct scene *scene,
                       const struct bar *bar, const float range[2])
{
    const struct cells_part *cells = scene->result->cells;
    const int *labels = scene->result->source->source.table.labels;
    const struct order_view *order = &scene->order;
    const float side = frame->rect.w / (float)(frame->x1 - frame->x0);
    size_t starts[RUNS_MAX + 1], runs = 0;
    if (cells->shown != SHOWN_MEANS || !labels || order->moving ||
        side >= ui_px(ui->style, NUMBER_SIDE))
        return;
    for (size_t p = 0; p < order->n; p++) {
        if (p > 0 && labels[order->order[p]] == labels[order->order[p - 1]])
            continue;
        if (runs == RUNS_MAX)
            return;
        starts[runs++] = p;
    }
    starts[runs] = order->n;
    for (size_t a = 0; a < runs; a++)
        for (size_t b = a; b < runs; b++) {
            /* above the diagonal, in its own block in the corner */
            const size_t y0 = starts[a], y1 = a == b ? (y0 + starts[a + 1]) / 2 : starts[a + 1];
            const size_t x0 = a == b ? y1 : starts[b], x1 = starts[b + 1];
            const float width = side * (float)(x1 - x0), height = side * (float)(y1 - y0);
            struct ui_type type = ui_type_caption(ui);
            char text[32];
            if (x0 <= y0 || width < ui_px(ui->style, 34) || height < ui_px(ui->style, 16))
                continue;
            const double mean = (double)nl_row(&cells->own, order->order[y0])[order->order[x1 - 1]];
            const struct draw_rect block = {frame->rect.x + (float)((double)x0 - frame->x0) * side,
                                            frame->rect.y + (float)((double)y0 - frame->y0) * side,
                                            width, height};
            type.color = ink_on(bar, range, mean);
            ui_text_in(ui->list, &ui->text, block, UI_ALIGN_CENTER, type,
                       view_number(mean, text, sizeof text));
        }
}

/* Selected rows: a strip at the right edge, and a square around each run of them. */
static void draw_selection(struct ui *ui, struct draw_rect strip, const struct frame *frame,
                           const struct scene *scene)
{
    const struct selection *selection = scene->selection;
    const struct order_view *order = &scene->order;
    const float hair = ui->style->hair;
    const double side = (double)frame->rect.h / (frame->y1 - frame->y0);
    float drawn = strip.y; /* runs closer than a pixel are one */
    if (!selection->key || selection->n != order->n)
        return;
    for (size_t p = (size_t)fmax(frame->y0, 0); p < order->n && (double)p < frame->y1;) {
        if (selection->mask[order->order[p]] == 0) {
            p++;
            continue;
        }
        size_t first = p;
        while (first > 0 && selection->mask[order->order[first - 1]] > 0)
            first--;
        while (p < order->n && selection->mask[order->order[p]] > 0)
            p++;
        const float y = strip.y + (float)(((double)first - frame->y0) * side);
        const float below = strip.y + (float)(((double)p - frame->y0) * side);
        const float top = fmaxf(floorf(y), drawn), bottom = fmaxf(floorf(below), floorf(y) + 1);
        if (bottom <= drawn)
            continue;
        drawn = bottom;
        draw_fill(ui->list, (struct draw_rect){strip.x, top, strip.w, bottom - top}, 0,
                  ui->style->accent);
        if (below - y >= 4 * hair) {
            const float x = frame->rect.x + (float)(((double)first - frame->x0) * side);
            draw_stroke(ui->list, (struct draw_rect){floorf(x), floorf(y), below - y, below - y}, 0,
                        2 * hair, ui->style->accent);
        }
    }
}

/* What the cell at positions (y, x) says. */
static void say_cell(struct ui *ui, const struct scene *scene, size_t y, size_t x)
{
    const struct cells_part *cells = scene->result->cells;
    const size_t *order = scene->order.order;
    const double value = detail_value(scene->detail, cells, order, y, x);
    const char *letter = view_matrix_letter(cells->shown);
    char query[64], key[64], number[32], text[240];
    snprintf(text, sizeof text, "%s %s, %s %s\n%s%s = %s", tr("query"),
             view_row_name(scene, order[y], query, sizeof query), tr("key"),
             view_row_name(scene, order[x], key, sizeof key),
             cells->shown == SHOWN_MEANS && y < x ? tr("mean of their classes, ") : "", letter,
             view_number(value, number, sizeof number));
    ui_note(ui, text);
}

/* The same of a cell of the overview, where single pairs are not held. */
static void say_mean(struct ui *ui, const struct scene *scene, size_t y, size_t x)
{
    const struct overview_part *overview = scene->result->overview;
    const size_t s = overview->mean.rows, n = scene->order.n;
    char mean[32], largest[32], text[200];
    snprintf(text, sizeof text, "%s %zu–%zu, %zu–%zu\n%s D = %s, %s %s", tr("positions"),
             y * n / s + 1, (y + 1) * n / s, x * n / s + 1, (x + 1) * n / s, tr("mean"),
             view_number((double)nl_row(&overview->mean, y)[x], mean, sizeof mean), tr("largest"),
             view_number((double)nl_row(&overview->largest, y)[x], largest, sizeof largest));
    ui_note(ui, text);
}

/* The cell of an overview of side s that a position of n lies in. */
static size_t overview_cell(size_t position, size_t s, size_t n)
{
    const size_t cell = position * s / n;
    return cell + 1 < s && position >= (cell + 1) * n / s ? cell + 1 : cell;
}

/* The position under a point, as a row and a column of the order shown. */
static void position_at(const struct frame *frame, size_t n, float sx, float sy, size_t *row,
                        size_t *column)
{
    const double x =
        frame->x0 + (frame->x1 - frame->x0) * (double)((sx - frame->rect.x) / frame->rect.w);
    const double y =
        frame->y0 + (frame->y1 - frame->y0) * (double)((sy - frame->rect.y) / frame->rect.h);
    *column = (size_t)fmin(fmax(floor(x), 0), (double)n - 1);
    *row = (size_t)fmin(fmax(floor(y), 0), (double)n - 1);
}

/* A box picks the rows that it covers and those whose columns it covers. */
static void pick_box(const struct frame *frame, size_t n, struct draw_rect box, bool done,
                     struct edits *edits)
{
    struct pick pick = {.kind = PICK_POSITIONS};
    if (box.w == 0 && box.h == 0)
        pick.kind = PICK_NOTHING;
    position_at(frame, n, box.x, box.y, &pick.first, &pick.first2);
    position_at(frame, n, box.x + box.w, box.y + box.h, &pick.last, &pick.last2);
    edit_pick(edits, &pick, done);
}

static void choose_query(struct ui *ui, const struct ui_signal *signal, const struct scene *scene,
                         size_t i, struct edits *edits)
{
    const struct order_view *order = &scene->order;
    if (signal->button == UI_LEFT) {
        if ((signal->pressed || signal->held) && order->order[i] != scene->row->query)
            edit_query_row(edits, order->order[i], false);
        if (signal->released)
            edit_query_row(edits, order->order[i], true);
    }
    if (signal->focused && scene->row->key) {
        const size_t at = (size_t)order->position[scene->row->query];
        if (ui_key(ui, UI_KEY_UP, 0) && at > 0)
            edit_query_row(edits, order->order[at - 1], true);
        if (ui_key(ui, UI_KEY_DOWN, 0) && at + 1 < order->n)
            edit_query_row(edits, order->order[at + 1], true);
    }
}

static void react(struct ui *ui, const struct frame *frame, const struct scene *scene, bool linked,
                  struct view *view, struct edits *edits)
{
    const struct order_view *order = &scene->order;
    const bool whole = sees_cells(scene);
    const ui_id id = ui_id_of(ui, "matrix");
    const struct ui_signal signal = ui_interact(
        ui, id, frame->rect, UI_ITEM_FOCUS | UI_ITEM_WHEEL | UI_ITEM_MIDDLE | UI_ITEM_RIGHT);
    const double most = fmax((double)order->n / 4, 1);
    struct draw_rect box;
    size_t i, j;
    struct zoom *zoom = &view->matrix[scene->id];
    if (view_zoom_input(zoom, &signal, frame->rect, most) ||
        (signal.focused && view_zoom_keys(ui, zoom, most)))
        ui_again(ui);
    ui_focus_ring(ui, id, frame->rect, 0);
    const enum box_state state = view_box_input(ui, view, &signal, frame->rect, &box);
    if (state == BOX_MOVED || state == BOX_DONE)
        pick_box(frame, order->n, box, state == BOX_DONE, edits);
    if (state != BOX_NONE)
        return;
    position_at(frame, order->n, signal.x, signal.y, &i, &j);
    if (linked)
        choose_query(ui, &signal, scene, i, edits);
    if (!signal.hovered)
        return;
    ui_set_cursor(ui, signal.held && signal.button != UI_LEFT ? UI_CURSOR_MOVE : UI_CURSOR_CROSS);
    if (!whole) {
        const size_t s = scene->result->overview->mean.rows;
        say_mean(ui, scene, overview_cell(i, s, order->n), overview_cell(j, s, order->n));
        return;
    }
    if (linked) {
        if (!scene->result->attention->attention.pooled_keys)
            view->hover_next = order->order[j];
        view->hover_query_next = order->order[i];
    }
    if (linked || !scene->result->attention) /* names are those of the rows at hand */
        say_cell(ui, scene, i, j);
}

/* Where the parts of the panel are. */
struct parts {
    struct draw_rect tree, strip, matrix, bar, side;
    bool scrolls; /* all of it, where there is room for little more than the matrix */
};

/*
 * The matrix as large as may be: with its controls below it, or beside it in a wide, low panel.
 */
static struct parts lay_out(const struct ui *ui, struct draw_rect inside, bool tree)
{
    const struct ui_style *style = ui->style;
    const float gap = ui_px(style, 10), bar = ui_px(style, 3 + 12 + 8 + 50);
    const float strip = ui_px(style, 6), least = ui_px(style, 216), below = ui_px(style, 150);
    const bool small = inside.h < ui_px(style, 260) || inside.w < ui_px(style, 340);
    const float branches = tree && inside.w > ui_px(style, 220) ? ui_px(style, small ? 34 : 56) : 0;
    const float around = branches + strip + gap + bar;
    const float stacked = fminf(inside.w - around, inside.h - below);
    const float abreast = fminf(inside.w - around - least - gap, inside.h);
    const bool beside = abreast > stacked;
    const float best = fmaxf(abreast, stacked);
    const bool tiny = best < ui_px(style, 100);
    const float side = floorf(fmaxf(tiny ? fminf(inside.w - around, inside.h) : best, 8));
    struct parts parts = {
        .scrolls = tiny,
        .tree = {inside.x, inside.y, branches, side},
        .strip = {inside.x + branches + side + 2 * style->hair, inside.y, strip - 2 * style->hair,
                  side},
        .matrix = {inside.x + branches, inside.y, side, side},
        .bar = {inside.x + branches + strip + side + gap, inside.y, bar, side},
        .side = inside,
    };
    if (beside && !tiny) {
        ui_cut_left(&parts.side, around + side, gap);
    } else {
        parts.side.y += side + gap;
        parts.side.h = fmaxf(parts.side.h - side - gap, 0);
    }
    return parts;
}

static const char *question(enum shown_id shown)
{
    switch (shown) {
    case SHOWN_SCORES:
        return tr("How alike, before weighing?");
    case SHOWN_WEIGHTS:
        return tr("Who reads whom?");
    case SHOWN_IVAT:
        return tr("How far apart, step by step?");
    case SHOWN_MEANS:
        return tr("How unlike are the classes?");
    default:
        return tr("How unlike are they?");
    }
}

/* "D_{ij} · 150 × 150 · Euclidean". */
static void write_caption(const struct scene *scene, char *caption, size_t size)
{
    const struct cells_part *cells = scene->result->cells;
    const bool attention = cells->shown == SHOWN_SCORES || cells->shown == SHOWN_WEIGHTS;
    const char *what = attention ? nl_similarities[cells->similarity].label
                       : scene->result->order->dissim->given
                           ? TR_N("as given")
                           : nl_metrics[scene->result->order->dissim->metric].label;
    snprintf(caption, size, "%s_{ij} · %s · %zu × %zu", view_matrix_letter(cells->shown), tr(what),
             scene->order.n, scene->order.n);
}

/* Rows and columns of what other panels point at. */
static void draw_marks(struct ui *ui, const struct frame *frame, const struct scene *scene,
                       const struct view *view)
{
    const struct order_view *order = &scene->order;
    const struct row_view *row = scene->row;
    const bool own = !scene->result->attention->attention.pooled_keys;
    if (own && view->hover_row < row->n)
        mark_column(ui, frame, (double)order->position[view->hover_row], ui->style->result);
    if (view->hover_query < order->n && view->hover_query != row->query)
        mark_row(ui, frame, (double)order->position[view->hover_query], ui->style->text);
    mark_row(ui, frame, (double)order->position[row->query], ui_query_colors[0]);
}

static void draw_all(struct ui *ui, const struct parts *parts, const struct scene *scene,
                     struct view *view, struct edits *edits)
{
    const struct cells_part *cells = scene->result->cells;
    const struct attention_part *attention = scene->result->attention;
    const struct order_part *order = scene->result->order;
    const struct bar bar = view_matrix_bar(scene);
    float *chosen = view->range[scene->id][cells->shown], range[2];
    const struct frame frame = place(parts->matrix, &view->matrix[scene->id], scene->order.n);
    const bool linked = attention && scene->row->key && scene->row->queries == scene->order.n &&
                        order->dissim->features_key == attention->features->part.key;
    const struct draw_rect area = {frame.rect.x, frame.rect.y,
                                   parts->strip.x + parts->strip.w - frame.rect.x, frame.rect.h};
    const struct draw_rect panel = draw_clip_current(ui->list);
    view_bar_range(&bar, chosen, range);
    /* a region of its own: a new query or what the pointer is over redraws no more than this */
    draw_region_begin(ui->list, draw_rect_intersect(panel, area));
    ui_clip_begin(ui, frame.rect);
    draw_cells(ui, &frame, scene, &bar, range);
    draw_numbers(ui, &frame, scene, &bar, range);
    draw_means(ui, &frame, scene, &bar, range);
    if (linked)
        draw_marks(ui, &frame, scene, view);
    ui_clip_end(ui);
    ui_clip_begin(ui, area);
    draw_selection(ui, parts->strip, &frame, scene);
    react(ui, &frame, scene, linked, view, edits);
    view_stale(ui, frame.rect, scene, scene->stale_matrix, edits, "matrix-progress");
    ui_clip_end(ui);
    draw_region_begin(ui->list, panel);
    if (order->dendrogram.count > 0 && parts->tree.w > 0 && !scene->order.moving)
        panel_dendrogram(ui, parts->tree, scene, frame.y0, frame.y1, view, edits);
    if (view_range_bar(ui, parts->bar, "matrix-bar", &bar, chosen))
        ui_again(ui);
}

static void draw_matrix_part(struct ui *ui, const struct parts *parts, const struct scene *scene,
                             struct view *view, struct edits *edits)
{
    const struct result *result = scene->result;
    const float margin = ui_px(ui->style, 16);
    const bool drawable = cells_matrix(result->cells)->rows > 0 ||
                          (result->overview && result->overview->mean.rows > 0);
    if (result->cells->refused[0] || !drawable)
        ui_paragraph(ui, ui_inset(parts->matrix, margin, margin), ui_type_muted(ui),
                     result->cells->refused);
    else
        draw_all(ui, parts, scene, view, edits);
}

/* The controls scroll, the matrix stands. */
static void draw_parts(struct ui *ui, const struct parts *parts, const struct scene *scene,
                       struct view *view, struct edits *edits)
{
    draw_matrix_part(ui, parts, scene, view, edits);
    struct draw_rect content =
        ui_scroll_begin(ui, parts->side, "matrix-side", &view->matrix_scroll);
    const float used = panel_matrix_side(ui, content, scene, edits);
    ui_scroll_end(ui, parts->side, &view->matrix_scroll, used);
}

/* All of it scrolls. */
static void draw_scrolled(struct ui *ui, struct draw_rect inside, const struct scene *scene,
                          struct view *view, struct edits *edits)
{
    struct draw_rect content = ui_scroll_begin(ui, inside, "matrix-all", &view->matrix_scroll);
    content.h = inside.h;
    const struct parts parts = lay_out(ui, content, scene->result->order->dendrogram.count > 0);
    draw_matrix_part(ui, &parts, scene, view, edits);
    const float used = panel_matrix_side(ui, parts.side, scene, edits);
    ui_scroll_end(ui, inside, &view->matrix_scroll, parts.side.y - content.y + used);
}

void panel_matrix(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits)
{
    const struct result *result = scene->result;
    const struct order_part *order = result->order;
    const float margin = ui_px(ui->style, 16);
    const bool there = order && scene->order.n > 0 && result->cells && result->source;
    char caption[160] = "";
    if (there)
        write_caption(scene, caption, sizeof caption);
    struct draw_rect inside =
        ui_panel_begin(ui, rect, question(there ? result->cells->shown : SHOWN_DISSIM), caption);
    if (!there) {
        if (order && order->dissim->refused[0])
            ui_paragraph(ui, ui_inset(inside, margin, margin), ui_type_muted(ui),
                         order->dissim->refused);
        else
            view_absence(ui, inside, scene, tr("One moment …"));
        ui_panel_end(ui);
        return;
    }
    const struct parts parts = lay_out(ui, inside, order->dendrogram.count > 0);
    if (parts.scrolls)
        draw_scrolled(ui, inside, scene, view, edits);
    else
        draw_parts(ui, &parts, scene, view, edits);
    ui_panel_end(ui);
}
