/* SPDX-License-Identifier: MIT */
/* A table's rows as points over two of its columns; colour and size follow the query's row of A. */
#include <math.h>
#include <stdio.h>

#include "../colormap.h"
#include "../overlay.h"
#include "../tr.h"
#include "../view.h"

struct axes {
    struct draw_rect rect;
    size_t column[2];
    double low[2], high[2];
    double x0, y0, x1, y1; /* part shown, 0..1 */
};

static const nl_matrix *values_of(const struct scene *scene)
{
    const struct source *source = &scene->result->source->source;
    return source->kind == SOURCE_TABLE ? &source->table.values
                                        : &scene->result->attention->features->features.x;
}

static void fit(struct axes *axes, const nl_matrix *values)
{
    for (int a = 0; a < 2; a++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < values->rows; i++) {
            low = fmin(low, (double)nl_row(values, i)[axes->column[a]]);
            high = fmax(high, (double)nl_row(values, i)[axes->column[a]]);
        }
        double margin = high > low ? (high - low) * 0.06 : fmax(fabs(high) * 1e-3, 1);
        axes->low[a] = low - margin;
        axes->high[a] = high + margin;
    }
}

static void to_screen(const struct axes *axes, const float *row, float *x, float *y)
{
    double u = ((double)row[axes->column[0]] - axes->low[0]) / (axes->high[0] - axes->low[0]);
    double v = 1 - ((double)row[axes->column[1]] - axes->low[1]) / (axes->high[1] - axes->low[1]);
    *x = axes->rect.x + (float)((u - axes->x0) / (axes->x1 - axes->x0)) * axes->rect.w;
    *y = axes->rect.y + (float)((v - axes->y0) / (axes->y1 - axes->y0)) * axes->rect.h;
}

/* Steps of 1, 2 or 5 times a power of ten, about `count` of them. */
static double tick_step(double span, int count)
{
    double raw = span / count, power = pow(10, floor(log10(raw)));
    double lead = raw / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static void draw_ticks(struct ui *ui, const struct axes *axes, int axis)
{
    const struct ui_style *style = ui->style;
    const struct ui_type type = ui_type_caption(ui);
    const double p0 = axis ? 1 - axes->y1 : axes->x0, p1 = axis ? 1 - axes->y0 : axes->x1;
    const double low = axes->low[axis] + p0 * (axes->high[axis] - axes->low[axis]);
    const double high = axes->low[axis] + p1 * (axes->high[axis] - axes->low[axis]);
    const double step = tick_step(high - low, 6);
    for (double t = ceil(low / step) * step; t <= high; t += step) {
        char text[32];
        float share = (float)((t - low) / (high - low));
        snprintf(text, sizeof text, "%.4g", fabs(t) < step / 1000 ? 0 : t);
        if (axis == 0) {
            float x = floorf(axes->rect.x + share * axes->rect.w);
            draw_fill(ui->list, (struct draw_rect){x, axes->rect.y, style->hair, axes->rect.h}, 0,
                      style->line);
            struct draw_rect at = {x - 40, axes->rect.y + axes->rect.h + ui_px(style, 2), 80,
                                   ui_px(style, 16)};
            ui_text_in(ui->list, &ui->text, at, UI_ALIGN_CENTER, type, text);
        } else {
            float y = floorf(axes->rect.y + (1 - share) * axes->rect.h);
            draw_fill(ui->list, (struct draw_rect){axes->rect.x, y, axes->rect.w, style->hair}, 0,
                      style->line);
            struct draw_rect at = {axes->rect.x - ui_px(style, 46), y - ui_px(style, 8),
                                   ui_px(style, 40), ui_px(style, 16)};
            ui_text_in(ui->list, &ui->text, at, UI_ALIGN_RIGHT, type, text);
        }
    }
}

static draw_color heat_color(int map, double position)
{
    uint8_t rgb[3];
    colormap_at((enum colormap_id)map, (float)position, rgb);
    return (draw_color)rgb[0] << 24 | (draw_color)rgb[1] << 16 | (draw_color)rgb[2] << 8 | 0xffu;
}

/* Shapes tell classes apart without colour: disc, square, triangle-like diamond, then again. */
static void draw_point(struct ui *ui, float x, float y, float radius, int shape, draw_color fill,
                       draw_color edge)
{
    const float hair = ui->style->hair;
    if (shape % 3 == 0) {
        draw_disc(ui->list, x, y, radius + hair, edge);
        draw_disc(ui->list, x, y, radius, fill);
    } else if (shape % 3 == 1) {
        const float side = radius * 0.9f;
        draw_fill(ui->list,
                  (struct draw_rect){x - side - hair, y - side - hair, 2 * (side + hair),
                                     2 * (side + hair)},
                  0, edge);
        draw_fill(ui->list, (struct draw_rect){x - side, y - side, 2 * side, 2 * side}, 0, fill);
    } else {
        draw_ring(ui->list, x, y, radius * 0.7f, radius * 0.7f + 2 * hair, edge);
        draw_ring(ui->list, x, y, radius * 0.7f, radius * 0.7f, fill);
    }
}

/* A ring around a row's point; tag may be NULL. */
static void mark_point(struct ui *ui, const struct axes *axes, float x, float y, draw_color color,
                       bool below, const char *tag)
{
    draw_ring(ui->list, x, y, ui_px(ui->style, 8), ui_px(ui->style, 2), color);
    if (tag)
        view_tag(ui, axes->rect, x, y, below, tag);
}

/* What the pointer is over, here or in another panel; in the matrix that is a query and a key. */
static void mark_hovered(struct ui *ui, const struct axes *axes, const nl_matrix *values,
                         const struct view *view)
{
    const bool query = view->hover_query < values->rows, key = view->hover_row < values->rows;
    float qx = 0, qy = 0, kx = 0, ky = 0;
    if (query)
        to_screen(axes, nl_row(values, view->hover_query), &qx, &qy);
    if (key)
        to_screen(axes, nl_row(values, view->hover_row), &kx, &ky);
    if (query)
        mark_point(ui, axes, qx, qy, ui->style->text, false, view_query_tag(view));
    if (key)
        mark_point(ui, axes, kx, ky, ui->style->result, true,
                   view_key_tag(ui, view, kx - qx, ky - qy));
}

static void draw_points(struct ui *ui, const struct axes *axes, const struct scene *scene,
                        const struct view *view)
{
    const nl_matrix *values = values_of(scene);
    const struct row_view *row = scene->row;
    const int *labels = scene->result->source->source.table.labels;
    const struct ui_style *style = ui->style;
    const struct selection *selection = scene->selection;
    const bool own = row->key && !scene->result->attention->attention.pooled_keys;
    const bool is_signed = view_is_signed(scene);
    const int map = view_heat_map(scene);
    const enum draw_scale scale = (enum draw_scale)param_choice(scene->doc, PARAM_OVERLAY);
    const size_t shown = values->rows < 2000 ? values->rows : 2000; /* the list is finite */
    for (size_t k = 0; k < 2 * shown; k++) { /* cold points first, hot ones over them */
        const size_t i = k % shown * values->rows / shown;
        float x, y;
        const double weight = own && i < row->n ? (double)row->weights[i] : 0;
        const double largest = fmax((double)row->figures.largest, -(double)row->figures.smallest);
        double position = overlay_position(scale, fabs(weight), largest);
        if ((position > 0.25) != (k >= shown))
            continue;
        double hue = is_signed && largest > 0 ? 0.5 + weight / largest / 2 : position;
        to_screen(axes, nl_row(values, i), &x, &y);
        const bool chosen = selection->key && i < selection->n && selection->mask[i] > 0;
        draw_point(ui, x, y, ui_px(style, chosen ? 4 : 3) + (float)position * ui_px(style, 3),
                   labels ? labels[i] : 0,
                   ui_mix(chosen ? ui_mix(style->raised, style->accent, 0.6f) : style->raised,
                          heat_color(map, hue), (float)fmin(2 * position, 1)),
                   chosen ? style->accent : style->muted);
    }
    mark_hovered(ui, axes, values, view);
    if (row->key && row->query < values->rows) {
        float x, y;
        to_screen(axes, nl_row(values, row->query), &x, &y);
        draw_ring(ui->list, x, y, ui_px(style, 10), ui_px(style, 2) + ui_px(style, 2), 0x101010ffu);
        draw_ring(ui->list, x, y, ui_px(style, 10), ui_px(style, 2), ui_query_colors[0]);
    }
}

/* The nearest point within reach of the pointer, or SIZE_MAX. */
static size_t point_at(const struct axes *axes, const struct scene *scene, float px, float py,
                       float reach)
{
    const nl_matrix *values = values_of(scene);
    size_t nearest = SIZE_MAX;
    float best = reach * reach;
    for (size_t i = 0; i < values->rows; i++) {
        float x, y;
        to_screen(axes, nl_row(values, i), &x, &y);
        float distance = (x - px) * (x - px) + (y - py) * (y - py);
        if (distance < best) {
            best = distance;
            nearest = i;
        }
    }
    return nearest;
}

/* A value of the axis for a place on the screen. */
static double from_screen(const struct axes *axes, int axis, float at)
{
    const float start = axis ? axes->rect.y : axes->rect.x;
    const float length = axis ? axes->rect.h : axes->rect.w;
    const double first = axis ? axes->y0 : axes->x0, last = axis ? axes->y1 : axes->x1;
    double share = first + (last - first) * (double)((at - start) / length);
    share = axis ? 1 - share : share;
    return axes->low[axis] + share * (axes->high[axis] - axes->low[axis]);
}

/* A box picks the rows whose points it covers. */
static void pick_box(const struct axes *axes, struct draw_rect box, bool done, struct edits *edits)
{
    const struct pick pick = {
        .kind = box.w == 0 && box.h == 0 ? PICK_NOTHING : PICK_POINTS,
        .column_x = axes->column[0],
        .column_y = axes->column[1],
        .x0 = from_screen(axes, 0, box.x),
        .x1 = from_screen(axes, 0, box.x + box.w),
        .y0 = from_screen(axes, 1, box.y),
        .y1 = from_screen(axes, 1, box.y + box.h),
    };
    edit_pick(edits, &pick, done);
}

static void react(struct ui *ui, const struct axes *axes, const struct scene *scene,
                  struct view *view, struct edits *edits)
{
    const ui_id id = ui_id_of(ui, "scatter");
    const struct ui_signal signal = ui_interact(
        ui, id, axes->rect, UI_ITEM_FOCUS | UI_ITEM_WHEEL | UI_ITEM_MIDDLE | UI_ITEM_RIGHT);
    const struct row_view *row = scene->row;
    if (view_zoom_input(&view->scatter, &signal, axes->rect, 64) ||
        (signal.focused && view_zoom_keys(ui, &view->scatter, 64)))
        ui_again(ui);
    ui_focus_ring(ui, id, axes->rect, 0);
    struct draw_rect box;
    const enum box_state state = view_box_input(ui, view, &signal, axes->rect, &box);
    if (state == BOX_MOVED || state == BOX_DONE)
        pick_box(axes, box, state == BOX_DONE, edits);
    if (state != BOX_NONE)
        return;
    const bool dragging = signal.held && signal.button == UI_LEFT;
    const size_t at = point_at(axes, scene, signal.x, signal.y,
                               dragging || signal.pressed ? 1e9f : ui_px(ui->style, 12));
    if (signal.button == UI_LEFT && at != SIZE_MAX) {
        if ((signal.pressed || signal.held) && at != row->query)
            edit_query_row(edits, at, false);
        if (signal.released)
            edit_query_row(edits, row->query, true);
    }
    if (signal.focused && row->n > 0) {
        if ((ui_key(ui, UI_KEY_LEFT, 0) || ui_key(ui, UI_KEY_UP, 0)) && row->query > 0)
            edit_query_row(edits, row->query - 1, true);
        if ((ui_key(ui, UI_KEY_RIGHT, 0) || ui_key(ui, UI_KEY_DOWN, 0)) &&
            row->query + 1 < row->queries)
            edit_query_row(edits, row->query + 1, true);
    }
    if (!signal.hovered || at == SIZE_MAX || !row->key || at >= row->n ||
        scene->result->attention->attention.pooled_keys)
        return;
    char name[64], number[32], text[200];
    view->hover_next = at;
    ui_set_cursor(ui, UI_CURSOR_CROSS);
    snprintf(text, sizeof text, "%s %s   a = %s", tr("row"),
             view_row_name(scene, at, name, sizeof name),
             view_number((double)row->weights[at], number, sizeof number));
    ui_note(ui, text);
}

static const char *column_name(void *user, int i)
{
    const struct source *source = user;
    static char numbered[32];
    if (source->kind == SOURCE_TABLE)
        return source->table.names[i];
    snprintf(numbered, sizeof numbered, "%d", i + 1);
    return numbered;
}

/* The two columns, as drop-downs under the plot. */
static void choose_columns(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                           struct view *view)
{
    const struct source *source = &scene->result->source->source;
    const size_t columns = values_of(scene)->cols;
    const struct ui_choices choices = {.name = column_name,
                                       .user = (void *)(uintptr_t)source,
                                       .count = (int)(columns < 256 ? columns : 256)};
    struct draw_rect left = ui_nth(rect, 0, 2, ui_px(ui->style, 16));
    struct draw_rect right = ui_nth(rect, 1, 2, ui_px(ui->style, 16));
    ui_label(ui, ui_cut_left(&left, ui_px(ui->style, 20), 0), UI_ALIGN_LEFT, ui_type_muted(ui),
             "x");
    ui_dropdown_of(ui, left, "scatter-x", &choices, &view->scatter_x, NULL);
    ui_label(ui, ui_cut_left(&right, ui_px(ui->style, 20), 0), UI_ALIGN_LEFT, ui_type_muted(ui),
             "y");
    ui_dropdown_of(ui, right, "scatter-y", &choices, &view->scatter_y, NULL);
}

/* Which shape is which class. */
static void draw_legend(struct ui *ui, struct draw_rect rect, const struct scene *scene)
{
    const nl_table *table = &scene->result->source->source.table;
    const struct ui_style *style = ui->style;
    for (size_t c = 0; table->labels && c < table->class_count && c < 6; c++) {
        const char *name = table->classes[c];
        struct ui_type type = ui_type_caption(ui);
        float width = ui_text_width(&ui->text, type, name) + 1;
        if (rect.w < width + ui_px(style, 20))
            return;
        struct draw_rect mark = ui_cut_left(&rect, ui_px(style, 14), ui_px(style, 2));
        draw_point(ui, mark.x + mark.w / 2, mark.y + mark.h / 2, ui_px(style, 4), (int)c,
                   style->panel, style->muted);
        ui_label(ui, ui_cut_left(&rect, width, ui_px(style, 14)), UI_ALIGN_LEFT, type, name);
    }
}

void panel_scatter(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                   struct view *view, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    const struct result *result = scene->result;
    const bool ready = result->source && result->attention && scene->kind != SOURCE_PICTURE;
    char caption[200] = "", name[64];
    if (ready && scene->row->key)
        snprintf(caption, sizeof caption, "%s %s · %s a_{ij}", tr("query row"),
                 view_row_name(scene, scene->row->query, name, sizeof name), tr("weight"));
    else if (ready)
        snprintf(caption, sizeof caption, "%s", scene->row->refused);
    struct draw_rect inside = ui_panel_begin(ui, rect, tr("What does this sample read?"), caption);
    if (!ready) {
        view_absence(ui, inside, scene,
                     scene->doc->ready && result->source
                         ? tr("This file is a dissimilarity matrix: it says how unlike its rows "
                              "are, not what they are made of, so that there is nothing to attend "
                              "by.")
                         : tr("Drop a table (.csv) here."));
        ui_panel_end(ui);
        return;
    }
    const nl_matrix *values = values_of(scene);
    struct draw_rect bottom = ui_cut_bottom(&inside, style->control, ui_px(style, 6));
    struct draw_rect legend = ui_cut_top(&inside, ui_px(style, 20), ui_px(style, 4));
    struct draw_rect bar = ui_cut_right(&inside, ui_px(style, 12 + 6 + 52), ui_px(style, 10));
    struct axes axes = {.rect = inside};
    ui_cut_left(&axes.rect, ui_px(style, 46), 0);
    ui_cut_bottom(&axes.rect, ui_px(style, 18), 0);
    axes.column[0] = (size_t)view->scatter_x < values->cols ? (size_t)view->scatter_x : 0;
    axes.column[1] = (size_t)view->scatter_y < values->cols ? (size_t)view->scatter_y : 0;
    view_zoom_window(&view->scatter, &axes.x0, &axes.y0, &axes.x1, &axes.y1);
    fit(&axes, values);
    draw_ticks(ui, &axes, 0);
    draw_ticks(ui, &axes, 1);
    draw_stroke(ui->list, axes.rect, 0, style->hair, style->line);
    ui_clip_begin(ui, axes.rect);
    draw_points(ui, &axes, scene, view);
    react(ui, &axes, scene, view, edits);
    view_stale(ui, axes.rect, scene, scene->stale_map, edits, "scatter-progress");
    ui_clip_end(ui);
    draw_legend(ui, legend, scene);
    bar.h = axes.rect.h;
    view_heat_bar(ui, bar, scene);
    choose_columns(ui, bottom, scene, view);
    ui_panel_end(ui);
}
