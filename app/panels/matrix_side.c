/* SPDX-License-Identifier: MIT */
/* Beside or below the matrix: what it shows, in which order, and how good that order is. */
#include <math.h>
#include <stdio.h>

#include "../tr.h"
#include "../view.h"

struct side {
    struct ui *ui;
    struct ui_column column;
    const struct scene *scene;
    struct edits *edits;
};

/* The rows of a choice that make sense for what is shown. */
struct offer {
    enum param_id id;
    int ids[16];
    int count;
};

static bool order_fits(const struct scene *scene, int id)
{
    const struct source *source = &scene->result->source->source;
    const nl_order *order = &nl_orders[id];
    return (!order->needs_classes || source->table.labels) &&
           (!order->needs_keys || source->kind == SOURCE_PICTURE) &&
           (!order->needs_matrix || scene->result->order->dissim->d.rows > 0);
}

static bool fits(const struct scene *scene, enum param_id id, int choice)
{
    if (id == PARAM_ORDER)
        return order_fits(scene, choice);
    if (id != PARAM_SHOWN)
        return true;
    if (choice == SHOWN_MEANS)
        return scene->result->source->source.table.labels;
    return !scene->result->order->dissim->given ||
           (choice != SHOWN_SCORES && choice != SHOWN_WEIGHTS);
}

static const char *offer_name(void *user, int i)
{
    const struct offer *offer = user;
    return tr(param_table[offer->id].choice_label(offer->ids[i]));
}

static void choice(struct side *side, enum param_id id, int now)
{
    const struct param_spec *spec = &param_table[id];
    char reason[120];
    struct offer offer = {.id = id};
    int at = -1; /* not on offer: nothing is shown as chosen */
    if (param_idle(side->scene->doc, id, side->scene->kind, reason, sizeof reason))
        return;
    for (int i = 0; i < param_choices(id); i++) {
        if (!fits(side->scene, id, i))
            continue;
        if (i == now)
            at = offer.count;
        offer.ids[offer.count++] = i;
    }
    const struct ui_choices choices = {.name = offer_name, .user = &offer, .count = offer.count};
    struct draw_rect box =
        ui_row(side->ui, &side->column, spec->key, tr(spec->label), tr(spec->help));
    box = ui_center(box, box.w, side->ui->style->control);
    box.w = fminf(box.w, ui_px(side->ui->style, 220));
    if (ui_dropdown_of(side->ui, box, spec->key, &choices, &at, tr(spec->help)) & UI_CHANGED)
        edit_param(side->edits, id, (struct param_value){.number = offer.ids[at]}, true);
}

static void note(struct side *side, const char *text)
{
    struct ui_type type = ui_type_caption(side->ui);
    struct draw_rect rect = side->column.rect;
    const float height = ui_text_wrap(NULL, &side->ui->text, rect, type, text, NULL);
    ui_paragraph(side->ui, ui_column_next(&side->column, height + ui_px(side->ui->style, 4)), type,
                 text);
}

/* The kernel's width; the slider's low end stands for the median distance. */
static void bandwidth(struct side *side)
{
    const struct param_spec *spec = &param_table[PARAM_BANDWIDTH];
    const double chosen = param_number(side->scene->doc, PARAM_BANDWIDTH);
    const struct overview_part *overview = side->scene->result->overview;
    const double whole = side->scene->result->order->dissim->bandwidth, lowest = 1e-3;
    const double found = whole > 0 || !overview ? whole : overview->bandwidth;
    char reason[120], text[64];
    if (param_idle(side->scene->doc, PARAM_BANDWIDTH, side->scene->kind, reason, sizeof reason))
        return;
    double number = fmax(chosen, lowest);
    snprintf(text, sizeof text, "%.3g", chosen > 0 ? chosen : found);
    const struct ui_range range = {lowest, 1e3, lowest, 0, true};
    const int result = ui_row_slider(side->ui, &side->column, spec->key, tr(spec->label), &range,
                                     &number, text, tr(spec->help));
    if (result)
        edit_param(side->edits, PARAM_BANDWIDTH,
                   (struct param_value){.number = number > lowest ? number : 0},
                   (result & UI_COMMITTED) != 0);
    if (chosen == 0)
        note(side, tr("The bandwidth is the median distance."));
}

/* A figure of the order shown and, beside it, of the file's own order. */
static void figure(struct side *side, const char *name, const char *chosen, const char *input)
{
    const struct ui_style *style = side->ui->style;
    struct draw_rect line = ui_column_next(&side->column, ui_px(style, 20));
    line.w = fminf(line.w, ui_px(style, 360));
    const float value = fminf(ui_px(style, 96), floorf(line.w * 0.3f));
    ui_label(side->ui, ui_cut_left(&line, line.w - 2 * value, 0), UI_ALIGN_LEFT,
             ui_type_muted(side->ui), name);
    ui_label(side->ui, ui_cut_left(&line, value, 0), UI_ALIGN_RIGHT, ui_type_body(side->ui),
             chosen);
    ui_label(side->ui, line, UI_ALIGN_RIGHT, ui_type_muted(side->ui), input ? input : "");
}

/* A count in full with its digits in threes, a very large one as 4.35·10⁹. */
static void count_text(double count, char *text, size_t size)
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    const unsigned long long n = (unsigned long long)fmin(floor(count + 0.5), 1e7);
    int power = 0;
    if (n < 1000)
        snprintf(text, size, "%llu", n);
    else if (n < 1000000)
        snprintf(text, size, "%llu,%03llu", n / 1000, n % 1000);
    else if (n < 10000000)
        snprintf(text, size, "%llu,%03llu,%03llu", n / 1000000, n / 1000 % 1000, n % 1000);
    else {
        double lead = count;
        for (; lead >= 9.995; lead /= 10)
            power++;
        snprintf(text, size, "%.2f·10%s%s", lead, power >= 10 ? raised[power / 10 % 10] : "",
                 raised[power % 10]);
    }
}

static void count_pair(struct side *side, const char *name, double chosen, double input)
{
    char a[40], b[40];
    count_text(chosen, a, sizeof a);
    count_text(input, b, sizeof b);
    figure(side, name, a, b);
}

static void number_pair(struct side *side, const char *name, const char *format, double chosen,
                        double input)
{
    char a[40], b[40];
    snprintf(a, sizeof a, format, chosen);
    snprintf(b, sizeof b, format, input);
    figure(side, name, a, b);
}

static void quality(struct side *side)
{
    const struct order_part *order = side->scene->result->order;
    const struct quality_part *quality = side->scene->result->quality;
    const bool known = quality && quality->order_key == order->part.key;
    const bool large = order->path_input >= 1e5;
    const bool wide = side->column.rect.w >= ui_px(side->ui->style, 330);
    const char *events = wide ? tr("Anti-Robinson events") : tr("AR events");
    const char *deviation = wide ? tr("Their deviation") : tr("AR deviation");
    figure(side, "", wide ? tr("this order") : tr("this"), wide ? tr("file order") : tr("file"));
    number_pair(side, tr("Path length"), large ? "%.0f" : "%.2f", side->scene->order.path,
                order->path_input);
    if (known) {
        count_pair(side, events, (double)quality->chosen.ar_events,
                   (double)quality->input.ar_events);
        if (quality->input.ar_deviation < 1000)
            number_pair(side, deviation, "%.2f", quality->chosen.ar_deviation,
                        quality->input.ar_deviation);
        else
            count_pair(side, deviation, quality->chosen.ar_deviation, quality->input.ar_deviation);
    } else {
        figure(side, events, "…", "…");
        figure(side, deviation, "…", "…");
    }
    if (order->class_runs > 0)
        count_pair(side, tr("Class runs"), (double)order->class_runs,
                   (double)order->class_runs_input);
    if (known && !isnan(quality->silhouette)) {
        char text[40];
        snprintf(text, sizeof text, "%.3f", quality->silhouette);
        figure(side, wide ? tr("Silhouette of the classes") : tr("Silhouette"), text, NULL);
    }
}

static void bytes_of(double bytes, char *text, size_t size)
{
    const char *unit = bytes < 1e6 ? "kB" : bytes < 1e9 ? "MB" : "GB";
    const double value = bytes / (bytes < 1e6 ? 1e3 : bytes < 1e9 ? 1e6 : 1e9);
    snprintf(text, size, bytes < 1e6 ? "%.0f %s" : "%.1f %s", value, unit);
}

static void matrix_figures(struct side *side)
{
    const struct order_part *order = side->scene->result->order;
    const struct dissim_part *dissim = order->dissim;
    const struct overview_part *overview = side->scene->result->overview;
    char text[200], first[64], second[64], whole[32];
    const bool named =
        side->scene->result->features &&
        dissim->features_key == side->scene->result->features->part.key; /* rows have their names */
    if (dissim->d.rows > 0) {
        if (named)
            snprintf(text, sizeof text, "%s %.4g, %s %s %s %s", tr("Largest D"),
                     (double)dissim->largest, tr("between"),
                     view_row_name(side->scene, dissim->largest_i, first, sizeof first), tr("and"),
                     view_row_name(side->scene, dissim->largest_j, second, sizeof second));
        else
            snprintf(text, sizeof text, "%s %.4g", tr("Largest D"), (double)dissim->largest);
        note(side, text);
        bytes_of(nl_dissim_bytes(order->n), text, sizeof text);
        figure(side, tr("Memory"), text, NULL);
    } else if (overview && overview->bytes > 0) {
        bytes_of(nl_dissim_bytes(order->n), whole, sizeof whole);
        bytes_of(overview->bytes, first, sizeof first);
        if (overview->step > 1)
            snprintf(second, sizeof second, ", %s %zu", tr("one row in"), overview->step);
        snprintf(text, sizeof text, "n = %zu: D %s %s. %s %d × %d%s, %s (%s).", order->n,
                 tr("would take"), whole, tr("Shown are means over"), OVERVIEW_SIDE, OVERVIEW_SIDE,
                 overview->step > 1 ? second : "", tr("computed in blocks"), first);
        note(side, text);
    }
}

/* What is picked out, and how near it is to itself and to the rest. */
static void selection(struct side *side)
{
    const struct selection *selection = side->scene->selection;
    const struct ui_style *style = side->ui->style;
    char text[200];
    if (!selection->key)
        return;
    struct draw_rect line = ui_column_next(&side->column, style->row);
    const char *label = tr("Clear");
    line.w = fminf(line.w, ui_px(style, 360));
    struct draw_rect button = ui_cut_right(&line, ui_button_width(side->ui, label), style->gap);
    button = ui_center(button, button.w, style->control);
    struct ui_type accent = ui_type_body(side->ui);
    accent.color = style->accent;
    snprintf(text, sizeof text, "%zu %s %zu %s", selection->count, tr("of"), selection->n,
             tr("rows selected"));
    ui_label(side->ui, line, UI_ALIGN_LEFT, accent, text);
    if (ui_button(side->ui, button, "deselect", label, UI_BUTTON_PLAIN,
                  command_table[COMMAND_DESELECT].key_name))
        edit_command(side->edits, COMMAND_DESELECT);
    if (isnan(selection->within))
        return;
    snprintf(text, sizeof text, "%.4g", selection->within);
    figure(side, tr("Mean D among them"), text, NULL);
    if (!isnan(selection->outside)) {
        snprintf(text, sizeof text, "%.4g", selection->outside);
        figure(side, tr("Mean D to the others"), text, NULL);
    }
}

static void notes(struct side *side)
{
    const struct order_part *order = side->scene->result->order;
    if (order->notes & ORDER_NOTE_NO_MATRIX)
        note(side, tr("The order chosen needs all of D: sorted by the first component instead."));
    if (order->notes & NL_ORDER_NOTE_PLAIN_LEAVES)
        note(side, tr("More than 2,000 rows: leaves in the plain order."));
    if (order->notes & NL_ORDER_NOTE_UNSETTLED)
        note(side, tr("The eigenvector did not settle: the order is approximate."));
    if (order->id == NL_ORDER_WARD && !order->dissim->given &&
        order->dissim->metric != NL_METRIC_EUCLIDEAN)
        note(side, tr("Ward's criterion means Euclidean distances; these are others."));
}

float panel_matrix_side(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                        struct edits *edits)
{
    const struct order_part *order = scene->result->order;
    struct side side = {ui, ui_column(rect, 0), scene, edits};
    selection(&side);
    choice(&side, PARAM_SHOWN, param_choice(scene->doc, PARAM_SHOWN));
    choice(&side, PARAM_METRIC, param_choice(scene->doc, PARAM_METRIC));
    bandwidth(&side);
    choice(&side, PARAM_ORDER,
           order->notes & ORDER_NOTE_NO_MATRIX ? (int)order->id
                                               : param_choice(scene->doc, PARAM_ORDER));
    if (nl_orders[order->id].tree)
        choice(&side, PARAM_LEAF, param_choice(scene->doc, PARAM_LEAF));
    notes(&side);
    if (order->dissim->d.rows > 0)
        quality(&side);
    matrix_figures(&side);
    return ui_column_used(&side.column);
}
