/* SPDX-License-Identifier: MIT */
#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "canvas.h"
#include "colormap.h"
#include "overlay.h"

enum {
    MARGIN = 16,
    GAP = 12,
    BAR_WIDTH = 14,
    LABEL_WIDTH = 76,
    TITLE = 24,
    TEXT = 13,
    PANEL_SIDE = 480, /* longer side of a picture in the figure, in pixels */
    MATRIX_SIDE = 640,
};

static const uint32_t paper = 0xffffff, ink = 0x1b2430, muted = 0x5b6675;
static const double dimmed = 0.45, saturation = 0.6; /* of the picture under the weights */

/* The bar with its largest, middle and smallest number; values[] from the bottom up. */
static nl_status paint_bar(struct canvas *canvas, int x, int y, int height, int map,
                           const double values[3], nl_error *error)
{
    nl_status status = NL_OK;
    for (int row = 0; row < height; row++) {
        uint8_t rgb[3];
        colormap_at((enum colormap_id)map, 1 - ((float)row + 0.5f) / (float)height, rgb);
        canvas_fill(canvas, x, y + row, BAR_WIDTH, 1,
                    (uint32_t)(rgb[0] << 16 | rgb[1] << 8 | rgb[2]));
    }
    for (int i = 0; i < 3 && status == NL_OK; i++) {
        char text[32];
        int at = y + height - i * height / 2;
        int baseline = i == 0 ? at : i == 1 ? at + TEXT / 3 : at + TEXT * 3 / 4;
        snprintf(text, sizeof text, "%.3g", values[i]);
        status =
            canvas_text(canvas, x + BAR_WIDTH + 6, baseline, TEXT, ALIGN_LEFT, ink, text, error);
    }
    return status;
}

struct panel {
    int x, y, w, h; /* of the picture in the figure */
};

/* A panel of the picture's shape, its longer side PANEL_SIDE. */
static struct panel panel_for(const struct source *source)
{
    const double w = (double)source->bitmap.width, h = (double)source->bitmap.height;
    const double zoom = PANEL_SIDE / fmax(w, h);
    return (struct panel){MARGIN, MARGIN + TITLE, (int)fmax(floor(w * zoom + 0.5), 1),
                          (int)fmax(floor(h * zoom + 0.5), 1)};
}

/* What a figure of weights is made of. */
struct heat {
    const struct doc *doc;
    const nl_grid *grid;
    const float *weights; /* NULL: the picture alone, as it is */
    double largest;       /* magnitude */
    bool is_signed;       /* some are below 0: two hues, 0 in the middle */
};

static int map_of(const struct heat *heat)
{
    return heat->is_signed ? COLORMAP_DIVERGING : param_choice(heat->doc, PARAM_COLORMAP);
}

static uint32_t heat_color(const struct heat *heat, const float *rgb, size_t cell)
{
    const enum draw_scale scale = (enum draw_scale)param_choice(heat->doc, PARAM_OVERLAY);
    const bool map = heat->weights != NULL;
    const double weight = map ? (double)heat->weights[cell] : 0;
    const double position = overlay_position(scale, fabs(weight), heat->largest);
    const double place = heat->is_signed ? 0.5 + copysign(position, weight) / 2 : position;
    /* as in shaders/heatmap.frag */
    double grey = 0.2126 * (double)rgb[0] + 0.7152 * (double)rgb[1] + 0.0722 * (double)rgb[2];
    double alpha = position * param_number(heat->doc, PARAM_OPACITY) / 100;
    uint8_t hot[3];
    uint32_t color = 0;
    colormap_at((enum colormap_id)map_of(heat), (float)place, hot);
    for (int c = 0; c < 3; c++) {
        double under = (double)rgb[c] * 255;
        if (map)
            under = dimmed * (grey + saturation * ((double)rgb[c] - grey)) * 255;
        color = color << 8 | (uint32_t)(under + alpha * (hot[c] - under) + 0.5);
    }
    return color;
}

/* Pooling drops an odd last cell: its pixels show what is beside them. */
static size_t cell_of(size_t pixel, size_t stride, size_t cells)
{
    return pixel / stride < cells ? pixel / stride : cells - 1;
}

/* The picture in the panel, by nearest neighbour of equal or larger size, under its weights. */
static void paint_picture(struct canvas *canvas, struct panel panel, const nl_picture *shown,
                          const struct heat *heat)
{
    const nl_grid *grid = heat->grid;
    for (int y = 0; y < panel.h; y++) {
        const float *row = nl_row(&shown->rgb, (size_t)y * shown->height / (size_t)panel.h);
        size_t gy = cell_of((size_t)y * grid->height / (size_t)panel.h, grid->stride, grid->gh);
        for (int x = 0; x < panel.w; x++) {
            size_t px = (size_t)x * shown->width / (size_t)panel.w;
            size_t gx = cell_of((size_t)x * grid->width / (size_t)panel.w, grid->stride, grid->gw);
            canvas_fill(canvas, panel.x + x, panel.y + y, 1, 1,
                        heat_color(heat, row + 3 * px, gy * grid->gw + gx));
        }
    }
}

static void mark_query(struct canvas *canvas, struct panel panel,
                       const struct stage_features *features, size_t row)
{
    const nl_picture *picture = &features->picture;
    double x, y;
    stage_cell_pixel(features, row, &x, &y);
    x = panel.x + x * panel.w / (double)picture->original_width;
    y = panel.y + y * panel.h / (double)picture->original_height;
    canvas_ring(canvas, x, y, 9, 5, 0x101010);
    canvas_ring(canvas, x, y, 9, 2.2, 0x56b4e9);
}

/* The heat map of query q with its title and bar. */
static nl_status paint_map(struct canvas *canvas, struct panel panel, const struct doc *doc,
                           const struct figure_side *read, const nl_picture *shown,
                           const float *weights, const char *title, nl_error *error)
{
    const enum draw_scale scale = (enum draw_scale)param_choice(doc, PARAM_OVERLAY);
    struct heat heat = {doc, &read->features->grid, weights, 0, false};
    double values[3];
    for (size_t j = 0; j < heat.grid->gw * heat.grid->gh; j++) {
        heat.largest = fmax(heat.largest, fabs((double)weights[j]));
        heat.is_signed = heat.is_signed || weights[j] < 0;
    }
    paint_picture(canvas, panel, shown, &heat);
    for (int i = 0; i < 3; i++)
        values[i] =
            heat.is_signed ? (i - 1) * heat.largest : overlay_weight(scale, i / 2.0, heat.largest);
    nl_status status =
        canvas_text(canvas, panel.x, MARGIN + TEXT, TEXT, ALIGN_LEFT, muted, title, error);
    if (status == NL_OK)
        status = paint_bar(canvas, panel.x + panel.w + GAP, panel.y, panel.h < 60 ? 60 : panel.h,
                           map_of(&heat), values, error);
    return status;
}

/* The picture that asks, with every query marked. */
static nl_status paint_asked(struct canvas *canvas, struct panel panel, const struct doc *doc,
                             const struct figure_side *asked, const size_t *rows, size_t count,
                             nl_error *error)
{
    nl_picture shown;
    const struct heat heat = {doc, &asked->features->grid, NULL, 0, false};
    nl_status status = nl_picture_from_bitmap(&asked->source->bitmap, PANEL_SIDE, &shown, error);
    if (status != NL_OK)
        return status;
    paint_picture(canvas, panel, &shown, &heat);
    for (size_t q = 0; q < count; q++)
        mark_query(canvas, panel, asked->features, rows[q]);
    nl_picture_free(&shown);
    return canvas_text(canvas, panel.x, MARGIN + TEXT, TEXT, ALIGN_LEFT, muted, asked->source->name,
                       error);
}

nl_status figure_attend(const char *path, const struct doc *doc, const struct figure_side *asked,
                        const struct figure_side *read, const nl_matrix *weights,
                        const size_t *rows, nl_error *error)
{
    const bool cross = asked->source != read->source;
    const bool front = cross && asked->source->kind == SOURCE_PICTURE;
    const nl_similarity *similarity = &nl_similarities[param_choice(doc, PARAM_SIMILARITY)];
    const struct panel first = panel_for(front ? asked->source : read->source);
    struct panel panel = panel_for(read->source);
    struct canvas canvas = {0};
    nl_picture shown = {0};
    const int step = panel.w + GAP + BAR_WIDTH + LABEL_WIDTH;
    const int lead = front ? first.w + 2 * GAP : 0;
    const int height = panel.h > first.h || !front ? panel.h : first.h;
    nl_status status =
        canvas_create(&canvas, MARGIN + lead + (int)weights->rows * step + MARGIN / 2,
                      panel.y + (height < 60 ? 60 : height) + MARGIN, paper, error);
    if (status == NL_OK)
        status = nl_picture_from_bitmap(&read->source->bitmap, PANEL_SIDE, &shown, error);
    if (status == NL_OK && front)
        status = paint_asked(&canvas, first, doc, asked, rows, weights->rows, error);
    for (size_t q = 0; status == NL_OK && q < weights->rows; q++) {
        char title[160];
        const nl_grid *grid = &asked->features->grid;
        panel.x = MARGIN + lead + (int)q * step;
        snprintf(title, sizeof title, "query %zu · cell (%zu, %zu) · weight, %s", q + 1,
                 rows[q] % grid->gw, rows[q] / grid->gw, similarity->label);
        status = paint_map(&canvas, panel, doc, read, &shown, nl_row(weights, q), title, error);
        if (!cross)
            mark_query(&canvas, panel, asked->features, rows[q]);
    }
    if (status == NL_OK)
        status = canvas_write_png(&canvas, path, error);
    nl_picture_free(&shown);
    canvas_free(&canvas);
    return status;
}

/* Mean of the matrix over the cells that pixel p of `side` covers along each axis. */
static double mean_at(const nl_matrix *matrix, const size_t *order, size_t px, size_t py,
                      size_t side)
{
    const size_t n = matrix->rows;
    size_t x0 = px * n / side, x1 = (px + 1) * n / side;
    size_t y0 = py * n / side, y1 = (py + 1) * n / side;
    x1 = x1 > x0 ? x1 : x0 + 1;
    y1 = y1 > y0 ? y1 : y0 + 1;
    double sum = 0;
    for (size_t y = y0; y < y1; y++) {
        const float *row = nl_row(matrix, order ? order[y] : y);
        for (size_t x = x0; x < x1; x++)
            sum += (double)row[order ? order[x] : x];
    }
    return sum / (double)((x1 - x0) * (y1 - y0));
}

nl_status figure_matrix(const char *path, const nl_matrix *matrix, const size_t *order,
                        const char *title, nl_error *error)
{
    const size_t n = matrix->rows;
    struct canvas canvas = {0};
    /* small matrices in whole pixels a cell, large ones averaged */
    const int side = n >= MATRIX_SIDE ? MATRIX_SIDE : (int)(MATRIX_SIDE / n * n);
    size_t i, j;
    const double largest = (double)nl_dissim_largest(matrix, &i, &j);
    nl_status status =
        canvas_create(&canvas, 2 * MARGIN + side + GAP + BAR_WIDTH + LABEL_WIDTH - MARGIN / 2,
                      2 * MARGIN + TITLE + side, paper, error);
    for (int y = 0; status == NL_OK && y < side; y++) {
        for (int x = 0; x < side; x++) {
            uint8_t rgb[3];
            double value = mean_at(matrix, order, (size_t)x, (size_t)y, (size_t)side);
            colormap_at(COLORMAP_VIRIDIS, largest > 0 ? (float)(value / largest) : 0, rgb);
            canvas_fill(&canvas, MARGIN + x, MARGIN + TITLE + y, 1, 1,
                        (uint32_t)(rgb[0] << 16 | rgb[1] << 8 | rgb[2]));
        }
    }
    const double values[3] = {0, largest / 2, largest};
    if (status == NL_OK)
        status = canvas_text(&canvas, MARGIN, MARGIN + TEXT, TEXT, ALIGN_LEFT, muted, title, error);
    if (status == NL_OK)
        status = paint_bar(&canvas, MARGIN + side + GAP, MARGIN + TITLE, side, COLORMAP_VIRIDIS,
                           values, error);
    if (status == NL_OK)
        status = canvas_write_png(&canvas, path, error);
    canvas_free(&canvas);
    return status;
}
