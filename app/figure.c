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

/* Pixel (x, y) of the panel from the picture, by nearest neighbour of equal or larger size. */
static void paint_heat(struct canvas *canvas, struct panel panel, const nl_picture *shown,
                       const struct stage_features *features, const struct doc *doc,
                       const float *weights, double largest)
{
    const nl_grid *grid = &features->grid;
    const enum colormap_id map = (enum colormap_id)param_choice(doc, PARAM_COLORMAP);
    const double opacity = param_number(doc, PARAM_OPACITY) / 100;
    for (int y = 0; y < panel.h; y++) {
        size_t py = (size_t)y * shown->height / (size_t)panel.h;
        size_t gy = (size_t)y * grid->height / (size_t)panel.h / grid->stride;
        for (int x = 0; x < panel.w; x++) {
            const float *rgb =
                nl_row(&shown->rgb, py) + 3 * ((size_t)x * shown->width / (size_t)panel.w);
            size_t gx = (size_t)x * grid->width / (size_t)panel.w / grid->stride;
            double position = overlay_position((enum draw_scale)param_choice(doc, PARAM_OVERLAY),
                                               (double)weights[gy * grid->gw + gx], largest);
            double grey = 0.299 * (double)rgb[0] + 0.587 * (double)rgb[1] + 0.114 * (double)rgb[2];
            double alpha = position * opacity;
            uint8_t heat[3];
            uint32_t color = 0;
            colormap_at(map, (float)position, heat);
            for (int c = 0; c < 3; c++) {
                double under = dimmed * (grey + saturation * ((double)rgb[c] - grey)) * 255;
                color = color << 8 | (uint32_t)(under + alpha * (heat[c] - under) + 0.5);
            }
            canvas_fill(canvas, panel.x + x, panel.y + y, 1, 1, color);
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

nl_status figure_attend(const char *path, const struct doc *doc, const struct source *source,
                        const struct stage_features *features, const nl_matrix *weights,
                        const size_t *rows, nl_error *error)
{
    struct canvas canvas = {0};
    nl_picture shown = {0};
    const double w = (double)source->bitmap.width, h = (double)source->bitmap.height;
    const double zoom = PANEL_SIDE / fmax(w, h);
    struct panel panel = {.y = MARGIN + TITLE};
    panel.w = (int)fmax(floor(w * zoom + 0.5), 1);
    panel.h = (int)fmax(floor(h * zoom + 0.5), 1);
    const int bar_height = panel.h < 60 ? 60 : panel.h;
    const int step = panel.w + GAP + BAR_WIDTH + LABEL_WIDTH;
    const enum draw_scale scale = (enum draw_scale)param_choice(doc, PARAM_OVERLAY);
    nl_status status = canvas_create(&canvas, MARGIN + (int)weights->rows * step + MARGIN / 2,
                                     panel.y + bar_height + MARGIN, paper, error);
    if (status == NL_OK)
        status = nl_picture_from_bitmap(&source->bitmap, PANEL_SIDE, &shown, error);
    for (size_t q = 0; status == NL_OK && q < weights->rows; q++) {
        size_t top;
        char title[160];
        const nl_similarity *similarity = &nl_similarities[param_choice(doc, PARAM_SIMILARITY)];
        const float *a = nl_row(weights, q);
        double largest = nl_top(a, weights->cols, 1, &top) ? (double)a[top] : 0;
        panel.x = MARGIN + (int)q * step;
        paint_heat(&canvas, panel, &shown, features, doc, a, largest);
        mark_query(&canvas, panel, features, rows[q]);
        double values[3];
        for (int i = 0; i < 3; i++)
            values[i] = overlay_weight(scale, i / 2.0, largest);
        snprintf(title, sizeof title, "query %zu · cell (%zu, %zu) · weight, %s", q + 1,
                 rows[q] % features->grid.gw, rows[q] / features->grid.gw, similarity->label);
        status =
            canvas_text(&canvas, panel.x, MARGIN + TEXT, TEXT, ALIGN_LEFT, muted, title, error);
        if (status == NL_OK)
            status = paint_bar(&canvas, panel.x + panel.w + GAP, panel.y, bar_height,
                               param_choice(doc, PARAM_COLORMAP), values, error);
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
