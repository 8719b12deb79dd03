/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "../tr.h"
#include "../view.h"

/* "name value" pairs from left to right, the value brighter. */
static void pair(struct ui *ui, struct draw_rect *rest, const char *name, const char *value)
{
    const struct ui_style *style = ui->style;
    struct ui_type muted = ui_type_caption(ui), bright = ui_type_caption(ui);
    bright.color = style->text;
    const float gap = ui_px(style, 4);
    const float first = *name ? ui_text_width(&ui->text, muted, name) + gap : 0;
    const float second = ui_text_width(&ui->text, bright, value);
    if (first + second > rest->w)
        return;
    if (*name)
        ui_label(ui, ui_cut_left(rest, first, 0), UI_ALIGN_LEFT, muted, name);
    ui_label(ui, ui_cut_left(rest, second + 1, ui_px(style, 20)), UI_ALIGN_LEFT, bright, value);
}

void panel_status(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    const struct attention_part *attention = scene->result->attention;
    const struct row_view *row = scene->row;
    char text[128], name[64];
    (void)edits;
    draw_region_begin(ui->list, rect);
    ui_clip_begin(ui, rect);
    draw_fill(ui->list, rect, 0, style->panel);
    draw_fill(ui->list, (struct draw_rect){rect.x, rect.y, rect.w, style->hair}, 0, style->line);
    struct draw_rect rest = ui_inset(rect, ui_px(style, 12), 0);
    if (attention) {
        const struct stage_features *features = &attention->features->features;
        struct ui_type caption = ui_type_caption(ui);
        snprintf(text, sizeof text, "%s · %s %.2f ms · %s %.0f ms", scene->tier, tr("row"),
                 row->milliseconds, tr("features"), scene->result->milliseconds);
        const float width = ui_text_width(&ui->text, caption, text) + 1;
        if (rest.w > 2 * width)
            ui_label(ui, ui_cut_right(&rest, width, ui_px(style, 12)), UI_ALIGN_RIGHT, caption,
                     text);
        const bool hover = view->hover_row < row->n;
        const bool own = !attention->attention.pooled_keys; /* the query has a weight of its own */
        const struct stage_features *where = hover ? &attention->attention.keys : features;
        const size_t at = hover ? view->hover_row : row->query;
        if (row->key && scene->kind == SOURCE_PICTURE) {
            double x, y;
            stage_cell_pixel(where, at, &x, &y);
            snprintf(text, sizeof text, "%.0f, %.0f", x, y);
            pair(ui, &rest, tr("pixel"), text);
        }
        if (row->key)
            pair(ui, &rest, scene->kind == SOURCE_PICTURE ? tr("patch") : tr("row"),
                 hover ? view_key_name(scene, at, name, sizeof name)
                       : view_row_name(scene, at, name, sizeof name));
        if (row->key && (hover || own))
            pair(ui, &rest, "a =", view_number((double)row->weights[at], name, sizeof name));
        if (row->key && row->figures.distribution) {
            snprintf(text, sizeof text, "%.1f %s %zu", row->figures.effective, tr("of"), row->n);
            pair(ui, &rest, tr("effective keys"), text);
        }
        snprintf(text, sizeof text, "%zu × %zu", features->x.rows, features->x.cols);
        pair(ui, &rest, "X n × d", text);
    }
    ui_clip_end(ui);
}
