/* SPDX-License-Identifier: MIT */
/* "What does this point read?": the picture, the query, the heat map, and the row's figures. */
#include <math.h>
#include <stdio.h>

#include "../tr.h"
#include "../view.h"

static const draw_color key_color = 0xe69f00ffu; /* under the pointer; the same on both themes */
static const float dimmed = 0.45f, saturation = 0.6f; /* of the picture under the weights */

struct frame {
    struct draw_rect rect; /* where the picture is on the screen */
    double x0, y0, x1, y1; /* the part of it that is shown, 0..1 */
};

/* The largest rectangle of the picture's shape in the space there is. */
static struct frame place(struct draw_rect space, const nl_bitmap *bitmap, const struct zoom *zoom)
{
    struct frame frame = {.rect = space};
    const float aspect = (float)bitmap->width / (float)bitmap->height;
    float w = space.w, h = space.h;
    if (w > h * aspect)
        w = h * aspect;
    else
        h = w / aspect;
    /* a strip of a picture stays visible */
    w = fminf(space.w, fmaxf(w, 8));
    h = fminf(space.h, fmaxf(h, 8));
    frame.rect = (struct draw_rect){space.x, space.y, floorf(w), floorf(h)};
    view_zoom_window(zoom, &frame.x0, &frame.y0, &frame.x1, &frame.y1);
    return frame;
}

static void to_screen(const struct frame *frame, double u, double v, float *x, float *y)
{
    *x = frame->rect.x + (float)((u - frame->x0) / (frame->x1 - frame->x0)) * frame->rect.w;
    *y = frame->rect.y + (float)((v - frame->y0) / (frame->y1 - frame->y0)) * frame->rect.h;
}

static void from_screen(const struct frame *frame, float x, float y, double *u, double *v)
{
    *u = frame->x0 + (frame->x1 - frame->x0) * (double)((x - frame->rect.x) / frame->rect.w);
    *v = frame->y0 + (frame->y1 - frame->y0) * (double)((y - frame->rect.y) / frame->rect.h);
    *u = fmin(fmax(*u, 0), 1);
    *v = fmin(fmax(*v, 0), 1);
}

static void draw_map(struct ui *ui, const struct frame *frame, const struct scene *scene)
{
    const struct doc *doc = scene->doc;
    const struct attention_part *attention = scene->result->attention;
    const bool weights = attention && scene->row->key;
    struct draw_heat heat = {
        .u0 = (float)frame->x0,
        .v0 = (float)frame->y0,
        .u1 = (float)frame->x1,
        .v1 = (float)frame->y1,
        .cover_u = 1,
        .cover_v = 1,
        .dim = weights ? dimmed : 1,
        .saturation = weights ? saturation : 1,
        .opacity = (float)param_number(doc, PARAM_OPACITY) / 100,
        .high = scene->row->figures.largest,
        .map = view_heat_map(scene),
        .scale = (enum draw_scale)param_choice(doc, PARAM_OVERLAY),
        .weights = weights,
    };
    if (weights) {
        const nl_grid *grid = &attention->attention.keys.grid;
        if (view_is_signed(scene)) {
            heat.high = fmaxf(heat.high, -scene->row->figures.smallest);
            heat.low = -heat.high;
        }
        heat.cover_u = (float)grid->width / (float)(grid->gw * grid->stride);
        heat.cover_v = (float)grid->height / (float)(grid->gh * grid->stride);
    }
    draw_heatmap(ui->list, frame->rect, &heat);
}

/* Where a cell's centre is on the screen. */
static void cell_screen(const struct frame *frame, const struct scene *scene,
                        const struct stage_features *features, size_t row, float *x, float *y)
{
    const nl_bitmap *bitmap = &scene->result->source->source.bitmap;
    double px, py;
    stage_cell_pixel(features, row, &px, &py);
    to_screen(frame, fmin(px / (double)bitmap->width, 1), fmin(py / (double)bitmap->height, 1), x,
              y);
}

/* A ring around a cell's centre: a large one for the query; tag may be NULL. */
static void mark_cell(struct ui *ui, const struct frame *frame, const struct scene *scene,
                      const struct stage_features *features, size_t row, draw_color color,
                      bool ring, const char *tag)
{
    const struct ui_style *style = ui->style;
    float x, y;
    cell_screen(frame, scene, features, row, &x, &y);
    const float radius = ui_px(style, ring ? 9 : 6), width = ui_px(style, 2);
    draw_ring(ui->list, x, y, radius, width + ui_px(style, 3), 0x101010ffu);
    draw_ring(ui->list, x, y, radius, width, color);
    if (ring)
        draw_ring(ui->list, x, y, radius + width / 2 + 0.5f, 1, 0xffffffb0u);
    if (tag)
        view_tag(ui, frame->rect, x, y, color == key_color, tag);
}

static void draw_selection(struct ui *ui, const struct frame *frame, const struct scene *scene)
{
    const nl_grid *grid = &scene->result->attention->features->features.grid;
    if (!scene->selection->key)
        return;
    const struct draw_mask mask = {
        .u0 = (float)frame->x0,
        .v0 = (float)frame->y0,
        .u1 = (float)frame->x1,
        .v1 = (float)frame->y1,
        .cover_u = (float)grid->width / (float)(grid->gw * grid->stride),
        .cover_v = (float)grid->height / (float)(grid->gh * grid->stride),
        .columns = (int)grid->gw,
        .rows = (int)grid->gh,
    };
    draw_mask(ui->list, frame->rect, &mask, ui->style->accent);
}

/* The query, and what the pointer is over; in the matrix that is a query and a key. */
static void draw_marks(struct ui *ui, const struct frame *frame, const struct scene *scene,
                       const struct view *view)
{
    const struct attention_part *attention = scene->result->attention;
    const struct stage_features *features = &attention->features->features;
    const struct row_view *row = scene->row;
    if (!row->key)
        return;
    mark_cell(ui, frame, scene, features, row->query, ui_query_colors[0], true, NULL);
    float dx = 0, dy = 0;
    if (view->hover_query < row->queries && view->hover_row < row->n) {
        float x, y;
        cell_screen(frame, scene, features, view->hover_query, &x, &y);
        cell_screen(frame, scene, &attention->attention.keys, view->hover_row, &dx, &dy);
        dx -= x;
        dy -= y;
    }
    if (view->hover_query < row->queries)
        mark_cell(ui, frame, scene, features, view->hover_query, 0xffffffffu, false,
                  view_query_tag(view));
    if (view->hover_row < row->n)
        mark_cell(ui, frame, scene, &attention->attention.keys, view->hover_row, key_color, false,
                  view_key_tag(ui, view, dx, dy));
}

/* The cell under the pointer, or SIZE_MAX. */
static size_t cell_at(const struct scene *scene, const struct stage_features *features,
                      const struct frame *frame, float x, float y, double *px, double *py)
{
    const nl_bitmap *bitmap = &scene->result->source->source.bitmap;
    double u, v;
    size_t row;
    from_screen(frame, x, y, &u, &v);
    *px = fmin(floor(u * (double)bitmap->width), (double)bitmap->width - 1);
    *py = fmin(floor(v * (double)bitmap->height), (double)bitmap->height - 1);
    const struct doc_query query = {.x = *px, .y = *py};
    if (stage_query_row(features, SOURCE_PICTURE, &query, &row, NULL) != NL_OK)
        return SIZE_MAX;
    return row;
}

/* Arrow keys move the query by a cell. */
static void move_by_keys(struct ui *ui, const struct scene *scene, struct edits *edits)
{
    const nl_grid *grid = &scene->result->attention->features->features.grid;
    const size_t row = scene->row->query;
    if (scene->row->n == 0)
        return;
    if (ui_key(ui, UI_KEY_LEFT, 0) && row % grid->gw > 0)
        edit_query_row(edits, row - 1, true);
    if (ui_key(ui, UI_KEY_RIGHT, 0) && row % grid->gw + 1 < grid->gw)
        edit_query_row(edits, row + 1, true);
    if (ui_key(ui, UI_KEY_UP, 0) && row >= grid->gw)
        edit_query_row(edits, row - grid->gw, true);
    if (ui_key(ui, UI_KEY_DOWN, 0) && row + grid->gw < grid->gw * grid->gh)
        edit_query_row(edits, row + grid->gw, true);
}

/* A box picks the cells whose centres it covers. */
static void pick_box(const struct scene *scene, const struct frame *frame, struct draw_rect box,
                     bool done, struct edits *edits)
{
    const nl_bitmap *bitmap = &scene->result->source->source.bitmap;
    struct pick pick = {.kind = box.w == 0 && box.h == 0 ? PICK_NOTHING : PICK_CELLS};
    from_screen(frame, box.x, box.y, &pick.x0, &pick.y0);
    from_screen(frame, box.x + box.w, box.y + box.h, &pick.x1, &pick.y1);
    pick.x0 *= (double)bitmap->width;
    pick.x1 *= (double)bitmap->width;
    pick.y0 *= (double)bitmap->height;
    pick.y1 *= (double)bitmap->height;
    edit_pick(edits, &pick, done);
}

static void react(struct ui *ui, const struct frame *frame, const struct scene *scene,
                  struct view *view, struct edits *edits)
{
    const nl_bitmap *bitmap = &scene->result->source->source.bitmap;
    const ui_id id = ui_id_of(ui, "picture");
    const struct ui_signal signal = ui_interact(
        ui, id, frame->rect, UI_ITEM_FOCUS | UI_ITEM_WHEEL | UI_ITEM_MIDDLE | UI_ITEM_RIGHT);
    const double most = fmax((double)bitmap->width, (double)bitmap->height) / 8;
    if (view_zoom_input(&view->picture, &signal, frame->rect, most) ||
        (signal.focused && view_zoom_keys(ui, &view->picture, most)))
        ui_again(ui);
    ui_focus_ring(ui, id, frame->rect, 0);
    double px, py;
    struct draw_rect box;
    const enum box_state state = view_box_input(ui, view, &signal, frame->rect, &box);
    if (state == BOX_MOVED || state == BOX_DONE)
        pick_box(scene, frame, box, state == BOX_DONE, edits);
    if (state != BOX_NONE)
        return;
    const struct attention_part *attention = scene->result->attention;
    const size_t row =
        cell_at(scene, &attention->features->features, frame, signal.x, signal.y, &px, &py);
    const size_t key =
        cell_at(scene, &attention->attention.keys, frame, signal.x, signal.y, &px, &py);
    if (signal.button == UI_LEFT && row != SIZE_MAX) {
        if ((signal.pressed || signal.held) && row != scene->row->query)
            edit_query_pixel(edits, px, py, false);
        if (signal.released)
            edit_query_pixel(edits, px, py, true);
    }
    if (signal.focused)
        move_by_keys(ui, scene, edits);
    if (!signal.hovered || key >= scene->row->n || !scene->row->key)
        return;
    char name[64], number[32], text[160];
    view->hover_next = key;
    ui_set_cursor(ui, signal.held && signal.button != UI_LEFT ? UI_CURSOR_MOVE : UI_CURSOR_CROSS);
    snprintf(text, sizeof text, "%s %s   a = %s", tr("key"),
             view_key_name(scene, key, name, sizeof name),
             view_number((double)scene->row->weights[key], number, sizeof number));
    ui_note(ui, text);
}

/* A patch of the picture as a small picture. */
static void thumbnail(struct ui *ui, struct draw_rect rect, const struct scene *scene, size_t row)
{
    const nl_grid *grid = &scene->result->attention->attention.keys.grid;
    const double w = (double)grid->width, h = (double)grid->height;
    const double x0 = (double)nl_grid_patch_start(grid, row % grid->gw);
    const double y0 = (double)nl_grid_patch_start(grid, row / grid->gw);
    const struct draw_heat heat = {
        .u0 = (float)(x0 / w),
        .v0 = (float)(y0 / h),
        .u1 = (float)((x0 + (double)grid->patch) / w),
        .v1 = (float)((y0 + (double)grid->patch) / h),
        .cover_u = 1,
        .cover_v = 1,
        .dim = 1,
        .saturation = 1,
    };
    draw_heatmap(ui->list, rect, &heat);
}

/* One of the patches read most, `side` large, with its weight beside or below it. */
static void top_patch(struct ui *ui, struct draw_rect picture, struct draw_rect number,
                      enum ui_align align, const struct scene *scene, const struct view *view,
                      size_t t)
{
    char text[32];
    const size_t key = scene->row->top[t];
    thumbnail(ui, picture, scene, key);
    if (key == view->hover_row)
        draw_stroke(ui->list, picture, 0, ui_px(ui->style, 2), ui->style->result);
    const double weight = (double)scene->row->weights[key];
    if (weight >= 0.001)
        snprintf(text, sizeof text, "%.3f", weight);
    else
        view_number(weight, text, sizeof text);
    ui_label(ui, number, align, ui_type_body(ui), text);
}

/* Name and value of figure f; false past the last. */
static bool row_figure(const struct row_view *row, int f, const char **name, char *value,
                       size_t size)
{
    if (!row->figures.distribution) { /* dot and concat: no probabilities */
        *name = f == 0 ? tr("largest") : f == 1 ? tr("smallest") : tr("sum");
        view_number(f == 0   ? (double)row->figures.largest
                    : f == 1 ? (double)row->figures.smallest
                             : row->figures.sum,
                    value, size);
        return f < 3;
    }
    switch (f) {
    case 0:
        *name = tr("entropy");
        snprintf(value, size, "%.3f nats", row->figures.entropy);
        return true;
    case 1:
        *name = tr("effective keys");
        snprintf(value, size, "%.1f", row->figures.effective);
        return true;
    case 2:
        *name = tr("top 10 hold");
        snprintf(value, size, "%.0f %%", 100 * row->top_mass);
        return true;
    default:
        return false;
    }
}

/* In a column beside the picture. */
static void figures_beside(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                           const struct view *view)
{
    const struct ui_style *style = ui->style;
    const char *name;
    char value[64];
    ui_label(ui, ui_cut_top(&rect, ui_px(style, 18), ui_px(style, 2)), UI_ALIGN_RIGHT,
             ui_type_caption(ui), tr("largest"));
    for (size_t t = 0; t < scene->row->top_count && t < TOP_SHOWN && rect.h > ui_px(style, 130);
         t++) {
        struct draw_rect line = ui_cut_top(&rect, ui_px(style, 24), ui_px(style, 3));
        struct draw_rect number = ui_cut_right(&line, ui_px(style, 46), ui_px(style, 4));
        top_patch(ui, ui_cut_right(&line, ui_px(style, 24), 0), number, UI_ALIGN_RIGHT, scene, view,
                  t);
    }
    ui_cut_top(&rect, ui_px(style, 8), 0);
    for (int f = 0; row_figure(scene->row, f, &name, value, sizeof value); f++) {
        if (rect.h < ui_px(style, 30))
            return;
        ui_cut_top(&rect, view_figure(ui, rect, UI_ALIGN_RIGHT, name, value), 0);
    }
}

enum { STRIP_HEIGHT = 116, STRIP_WIDTH = 360 }; /* units that figures_below needs */

/* In a strip under the picture: larger patches, figures to their right. */
static void figures_below(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                          const struct view *view)
{
    const struct ui_style *style = ui->style;
    const char *name;
    char value[64];
    ui_label(ui, ui_cut_top(&rect, ui_px(style, 18), ui_px(style, 4)), UI_ALIGN_LEFT,
             ui_type_caption(ui), tr("largest five weights, and the patches they belong to"));
    const float column = ui_px(style, 112);
    const float cell = (rect.w - column) / TOP_SHOWN;
    const float side =
        floorf(fminf(fminf(cell - style->gap, rect.h - ui_px(style, 20)), ui_px(style, 96)));
    struct draw_rect figures = ui_cut_right(&rect, column, 0);
    for (size_t t = 0; t < scene->row->top_count && t < TOP_SHOWN; t++) {
        struct draw_rect patch = ui_cut_left(&rect, side, ui_px(style, 10));
        struct draw_rect number = {patch.x, patch.y + side + ui_px(style, 2), side,
                                   ui_px(style, 18)};
        patch.h = side;
        top_patch(ui, patch, number, UI_ALIGN_CENTER, scene, view, t);
    }
    for (int f = 0; row_figure(scene->row, f, &name, value, sizeof value); f++)
        if (figures.h >= ui_px(style, 30))
            ui_cut_top(&figures, view_figure(ui, figures, UI_ALIGN_RIGHT, name, value), 0);
}

static const char *row_note(unsigned notes)
{
    if (notes & NL_NOTE_NO_KEYS)
        return tr("no key is left: all weights are 0");
    if (notes & NL_NOTE_UNIFORM)
        return tr("no contrast: uniform weights");
    if (notes & NL_NOTE_PERPLEXITY_MISS)
        return tr("perplexity out of reach: nearest width");
    if (notes & NL_NOTE_ZERO_QUERY)
        return tr("zero vector: its cosines are 0 by definition");
    return NULL;
}

void panel_picture(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                   struct view *view, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    const struct result *result = scene->result;
    char caption[200], name[64];
    const bool ready = result->source && result->attention && scene->kind == SOURCE_PICTURE;
    caption[0] = 0;
    if (ready && !scene->row->key)
        snprintf(caption, sizeof caption, "%s", scene->row->refused);
    if (ready && scene->row->key) {
        const char *note = row_note(scene->row->figures.notes);
        if (note)
            snprintf(caption, sizeof caption, "%s", note);
        else
            snprintf(caption, sizeof caption, "%s %s · %s a_{ij}", tr("query patch"),
                     view_row_name(scene, scene->row->query, name, sizeof name),
                     tr("heat = weight"));
    }
    struct draw_rect inside = ui_panel_begin(ui, rect, tr("What does this point read?"), caption);
    if (!ready) {
        view_absence(ui, inside, scene,
                     tr("Drop a picture here, or name one on the command line."));
        ui_panel_end(ui);
        return;
    }
    const float bar_width = ui_px(style, 12 + 6 + 52), bar_gap = ui_px(style, 10);
    const nl_bitmap *bitmap = &result->source->source.bitmap;
    const float flat = (inside.w - bar_width - bar_gap) * (float)bitmap->height /
                       (float)bitmap->width; /* height of the picture at full width */
    const bool below = inside.h - flat >= ui_px(style, STRIP_HEIGHT) + style->gap &&
                       inside.w >= ui_px(style, STRIP_WIDTH);
    const bool beside = !below && inside.w > ui_px(style, 430);
    struct draw_rect figures = {0};
    if (below)
        figures = ui_cut_bottom(&inside, fminf(inside.h - flat - style->gap, ui_px(style, 150)),
                                style->gap);
    else if (beside)
        figures = ui_cut_right(&inside, ui_px(style, 92), style->gap);
    struct draw_rect bar = ui_cut_right(&inside, bar_width, bar_gap);
    const struct frame frame = place(inside, bitmap, &view->picture);
    /* bar and figures stand at the picture, not at the panel's far side */
    bar.x -= inside.w - frame.rect.w;
    bar.h = fminf(bar.h, fmaxf(frame.rect.h, ui_px(style, 48)));
    if (below)
        figures.y = frame.rect.y + fmaxf(frame.rect.h, bar.h) + style->gap;
    ui_clip_begin(ui, frame.rect);
    draw_map(ui, &frame, scene);
    draw_selection(ui, &frame, scene);
    draw_marks(ui, &frame, scene, view);
    react(ui, &frame, scene, view, edits);
    view_stale(ui, frame.rect, scene, scene->stale_map, edits, "picture-progress");
    ui_clip_end(ui);
    view_heat_bar(ui, bar, scene);
    if (below && scene->row->key)
        figures_below(ui, figures, scene, view);
    else if (beside && scene->row->key)
        figures_beside(ui, figures, scene, view);
    ui_panel_end(ui);
}
