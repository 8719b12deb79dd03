/* SPDX-License-Identifier: MIT */
/* The control panel: rows made from the parameter table. */
#include <math.h>
#include <stdio.h>

#include "../tr.h"
#include "../view.h"
#include "nonlocal/block.h"

struct panel {
    struct ui *ui;
    struct ui_column column;
    const struct scene *scene;
    struct edits *edits;
};

static bool shown(const struct panel *panel, enum param_id id)
{
    char reason[120];
    return !param_idle(panel->scene->doc, id, panel->scene->kind, reason, sizeof reason);
}

static const char *choice_label(void *user, int i)
{
    const struct param_spec *spec = user;
    return tr(spec->choice_label(i));
}

static void choice_row(struct panel *panel, enum param_id id)
{
    const struct param_spec *spec = &param_table[id];
    if (!shown(panel, id))
        return;
    int choice = param_choice(panel->scene->doc, id);
    struct draw_rect rect =
        ui_row(panel->ui, &panel->column, spec->key, tr(spec->label), tr(spec->help));
    rect = ui_center(rect, rect.w, panel->ui->style->control);
    const struct ui_choices choices = {
        .name = choice_label, .user = (void *)(uintptr_t)spec, .count = param_choices(id)};
    if (!(ui_dropdown_of(panel->ui, rect, spec->key, &choices, &choice, tr(spec->help)) &
          UI_CHANGED))
        return;
    if (id == PARAM_SYSTEM)
        edit_system(panel->edits, choice);
    else
        edit_param(panel->edits, id, (struct param_value){.number = choice}, true);
}

/* The span of a slider; the command line takes more. */
struct span {
    double low, high, step;
    bool logarithmic;
};

/* A slider put back to its default follows the system again. */
static void edit_number(struct panel *panel, enum param_id id, int result, struct param_value value,
                        double initial)
{
    const bool committed = (result & UI_COMMITTED) != 0;
    if (committed && value.number == initial)
        edit_reset(panel->edits, id);
    else if (result)
        edit_param(panel->edits, id, value, committed);
}

static void number_row(struct panel *panel, enum param_id id, struct span span, const char *text)
{
    const struct param_spec *spec = &param_table[id];
    const struct param_value now = panel->scene->doc->params[id];
    char buffer[64];
    if (!shown(panel, id))
        return;
    double number = now.number;
    if (!text) {
        snprintf(buffer, sizeof buffer, "%.4g%s%s", number, *spec->unit ? " " : "", spec->unit);
        text = buffer;
    }
    const struct ui_range range = {span.low, span.high, param_default(panel->scene->doc, id).number,
                                   span.step, span.logarithmic};
    int result = ui_row_slider(panel->ui, &panel->column, spec->key, tr(spec->label), &range,
                               &number, text, tr(spec->help));
    edit_number(panel, id, result, (struct param_value){.number = number}, range.initial);
}

/* Perplexity is a share of the keys on the slider; its low end switches it off. */
static void perplexity_row(struct panel *panel)
{
    if (!shown(panel, PARAM_PERPLEXITY))
        return;
    const struct param_spec *spec = &param_table[PARAM_PERPLEXITY];
    const struct param_value now = panel->scene->doc->params[PARAM_PERPLEXITY];
    const double lowest = 0.05, off_below = 0.1;
    char text[64];
    double number = now.number;
    if (!now.percent && number > 0 && panel->scene->row->n > 0)
        number = 100 * number / (double)panel->scene->row->n;
    if (number < lowest)
        number = lowest;
    if (now.number == 0)
        snprintf(text, sizeof text, "%s", tr("off"));
    else
        snprintf(text, sizeof text, now.percent ? "%.3g %%" : "%.4g", now.number);
    const struct ui_range range = {lowest, 100, spec->fallback.number, 0, true};
    int result = ui_row_slider(panel->ui, &panel->column, spec->key, tr(spec->label), &range,
                               &number, text, tr(spec->help));
    if (!result)
        return;
    struct param_value value = {.number = number < off_below ? 0 : number, .percent = true};
    edit_param(panel->edits, PARAM_PERPLEXITY, value, (result & UI_COMMITTED) != 0);
}

static void attention_rows(struct panel *panel)
{
    char found[64];
    const nl_row_figures *figures = &panel->scene->row->figures;
    choice_row(panel, PARAM_SYSTEM);
    choice_row(panel, PARAM_SIMILARITY);
    choice_row(panel, PARAM_NORMALIZE);
    choice_row(panel, PARAM_SUBSAMPLE);
    perplexity_row(panel);
    choice_row(panel, PARAM_PERPLEXITY_PER);
    number_row(panel, PARAM_TEMPERATURE, (struct span){0.001, 100, 0, true}, NULL);
    number_row(panel, PARAM_H, (struct span){0.001, 2, 0, true}, NULL);
    if (shown(panel, PARAM_PERPLEXITY_PER) && panel->scene->row->key) {
        bool width = shown(panel, PARAM_SIGMA); /* euclidean */
        if (figures->notes & (NL_NOTE_UNIFORM | NL_NOTE_PERPLEXITY_MISS))
            snprintf(found, sizeof found, "%s", tr("none"));
        else
            snprintf(found, sizeof found, "%s = %.3g", width ? "h" : "τ", figures->width);
        ui_row_value(panel->ui, &panel->column, tr("Found"), found);
    }
    choice_row(panel, PARAM_SCALE);
    choice_row(panel, PARAM_SELF);
    number_row(panel, PARAM_SIGMA, (struct span){0, 0.2, 0.005, false}, NULL);
    number_row(panel, PARAM_LAMBDA, (struct span){0, 1, 0.01, false}, NULL);
}

/* What of a table are its features: some of its columns, or nothing, where it is D itself. */
static void table_rows(struct panel *panel)
{
    const struct source_part *part = panel->scene->result->source;
    const struct doc *doc = panel->scene->doc;
    if (panel->scene->kind == SOURCE_PICTURE || !part)
        return;
    const struct source *source = &part->source;
    const nl_table *table = &source->table;
    const bool square = source->kind == SOURCE_TABLE
                            ? table->values.rows == table->values.cols
                            : source->npy.ndim == 2 && source->npy.shape[0] == source->npy.shape[1];
    bool ready = doc->ready;
    if ((square || ready) &&
        ui_row_checkbox(panel->ui, &panel->column, "ready", tr("Is D itself"), &ready,
                        tr("The numbers are dissimilarities already, not features.")))
        edit_ready(panel->edits, ready);
    if (doc->ready || source->kind != SOURCE_TABLE || table->values.cols < 2)
        return;
    for (size_t k = 0; k < table->values.cols && k < DOC_COLUMNS; k++) {
        bool used = doc_uses_column(doc, k);
        ui_id_push(panel->ui, ui_id_of_int(panel->ui, (int64_t)k));
        struct draw_rect row = ui_column_next(&panel->column, ui_px(panel->ui->style, 24));
        if (ui_checkbox(panel->ui, row, "column", table->names[k], &used,
                        tr("A feature of the rows, or left out.")))
            edit_column(panel->edits, k);
        ui_id_pop(panel->ui);
    }
}

static void feature_rows(struct panel *panel)
{
    const double position = param_number(panel->scene->doc, PARAM_POSITION);
    char off[32];
    snprintf(off, sizeof off, "%s", tr("off"));
    ui_row_section(panel->ui, &panel->column, tr("Features"));
    choice_row(panel, PARAM_FEATURES);
    number_row(panel, PARAM_PATCH, (struct span){1, 32, 1, false}, NULL);
    number_row(panel, PARAM_STRIDE, (struct span){1, 16, 1, false}, NULL);
    choice_row(panel, PARAM_FEATURE_NORM);
    number_row(panel, PARAM_POSITION, (struct span){0, 2, 0.01, false}, position > 0 ? NULL : off);
    number_row(panel, PARAM_MAX_SIDE, (struct span){32, 1024, 0, true}, NULL);
    choice_row(panel, PARAM_ROWS);
    table_rows(panel);
}

static void embedding_rows(struct panel *panel)
{
    /* not those of the weights: a dimension with which there are none must stay within reach */
    const struct features_part *features = panel->scene->result->features;
    if (!shown(panel, PARAM_EMBED))
        return;
    ui_row_section(panel->ui, &panel->column, tr("Embedding"));
    choice_row(panel, PARAM_EMBED);
    if (features && shown(panel, PARAM_DIM)) {
        const size_t d = features->features.x.cols;
        const nl_system_id system = (nl_system_id)param_choice(panel->scene->doc, PARAM_SYSTEM);
        const double initial = (double)nl_default_dim(system, d);
        char text[32];
        double l = param_number(panel->scene->doc, PARAM_DIM);
        double number = l > 0 ? l : initial;
        snprintf(text, sizeof text, "%.0f", number);
        const struct param_spec *spec = &param_table[PARAM_DIM];
        const struct ui_range range = {1, (double)d, initial, 1, false};
        int result = ui_row_slider(panel->ui, &panel->column, spec->key, tr(spec->label), &range,
                                   &number, text, tr(spec->help));
        edit_number(panel, PARAM_DIM, result, (struct param_value){.number = number}, initial);
    }
    number_row(panel, PARAM_SEED, (struct span){0, 100, 1, false}, NULL);
}

static void overlay_rows(struct panel *panel)
{
    char text[32];
    ui_row_section(panel->ui, &panel->column, tr("Overlay"));
    choice_row(panel, PARAM_OVERLAY);
    choice_row(panel, PARAM_COLORMAP);
    if (panel->scene->id == SCENE_PICTURE) {
        snprintf(text, sizeof text, "%.0f %%", param_number(panel->scene->doc, PARAM_OPACITY));
        number_row(panel, PARAM_OPACITY, (struct span){0, 100, 1, false}, text);
    }
}

void panel_controls(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                    struct view *view, struct edits *edits)
{
    struct draw_rect inside = ui_panel_begin(ui, rect, tr("Attention"), NULL);
    struct draw_rect content = ui_scroll_begin(ui, inside, "controls", &view->controls);
    struct panel panel = {ui, ui_column(content, 0), scene, edits};
    const bool given = scene->doc->ready && scene->id == SCENE_TABLE;
    if (!given)
        attention_rows(&panel);
    feature_rows(&panel);
    if (!given) { /* D alone: there is nothing to attend by */
        embedding_rows(&panel);
        overlay_rows(&panel);
    }
    ui_scroll_end(ui, inside, &view->controls, ui_column_used(&panel.column));
    ui_panel_end(ui);
}
