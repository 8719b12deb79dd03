/* SPDX-License-Identifier: MIT */
#include "app.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "tr.h"

static void default_query(struct doc *doc, const struct source *source)
{
    doc->query_count = 1;
    if (strcmp(doc->source, "@sample") == 0)
        doc->queries[0] = (struct doc_query){.x = 202, .y = 147}; /* the cat's left eye */
    else if (source->kind == SOURCE_PICTURE)
        doc->queries[0] = (struct doc_query){.x = (double)source->bitmap.width / 2,
                                             .y = (double)source->bitmap.height / 2};
    else
        doc->queries[0] = (struct doc_query){.by_row = true};
}

/* A scene's document before anything was chosen, or with the parameters given at the start. */
static void init_doc(struct doc *doc, enum scene_id scene, const struct doc *given)
{
    if (given)
        *doc = *given;
    else
        doc_init(doc);
    doc->ready = false; /* of the file that is being opened alone */
    snprintf(doc->source, sizeof doc->source, "%s", scene == SCENE_TABLE ? "@iris" : "@sample");
    if (scene != SCENE_TABLE) {
        if (!doc->params[PARAM_ORDER]
                 .given) /* neighbours in a picture are no order to see much in */
            param_set(doc, PARAM_ORDER, (struct param_value){.number = NL_ORDER_VAT});
        return;
    }
    if (!doc->params[PARAM_ORDER].given)
        param_set(doc, PARAM_ORDER, (struct param_value){.number = NL_ORDER_LABEL});
    if (!doc->params[PARAM_PERPLEXITY].given) /* 2 % of a table would be a few rows */
        param_set(doc, PARAM_PERPLEXITY, (struct param_value){.number = 10, .percent = true});
}

/* Nothing zoomed, every map spread over its whole bar. */
static void show_all(struct view *view)
{
    view->picture = view->scatter = (struct zoom){1, 0.5, 0.5};
    for (int s = 0; s < SCENE_COUNT; s++) {
        view->matrix[s] = (struct zoom){1, 0.5, 0.5};
        for (int i = 0; i < SHOWN_COUNT; i++)
            view->range[s][i][0] = view->range[s][i][1] = NAN;
    }
    view->branch = SIZE_MAX;
}

struct app *app_create(const struct app_params *params, nl_error *error)
{
    struct app *app = calloc(1, sizeof *app);
    if (!app) {
        nl_fail(error, NL_NOMEM, "no memory for the program");
        return NULL;
    }
    if (undo_create(&app->undo, error) != NL_OK)
        goto fail;
    app->job = job_create(params->cpu, params->threads, params->wake, params->user, error);
    if (!app->job)
        goto fail;
    for (int s = 0; s < SCENE_COUNT; s++) {
        init_doc(&app->docs[s], (enum scene_id)s, params->doc);
        app->docs[s].source_key = ++app->last_source_key;
    }
    app->theme = params->theme;
    app->user_scale = params->ui_scale > 0 ? params->ui_scale : 1;
    app->user_scale_fixed = params->ui_scale > 0;
    app->shown = params->view;
    app->stale_since[0] = app->stale_since[1] = -1;
    app->reorder.start = -1;
    show_all(&app->view);
    app->view.scatter_x = 2; /* Iris: petal length and width part the classes best */
    app->view.scatter_y = 3;
    app->view.hover_row = app->view.hover_query = SIZE_MAX;
    ui_init(&app->ui, params->text, &params->clipboard);
    if (params->open) {
        app_open(app, params->open);
        app->opening.keep_query = params->doc && params->doc->query_count > 0;
        app->opening.keep_ready = params->doc && params->doc->ready;
    }
    return app;
fail:
    app_destroy(&app);
    return NULL;
}

void app_destroy(struct app **pointer)
{
    struct app *app = *pointer;
    if (!app)
        return;
    job_destroy(&app->job);
    for (int s = 0; s < SCENE_COUNT; s++)
        result_release(&app->results[s]);
    undo_free(&app->undo);
    reorder_free(&app->reorder);
    detail_free(&app->detail);
    for (int s = 0; s < SCENE_COUNT; s++)
        selection_free(&app->selections[s]);
    free(app->row_weights);
    free(app);
    *pointer = NULL;
}

void app_open(struct app *app, const char *path)
{
    app->opening.key = ++app->last_source_key;
    app->opening.keep_query = app->opening.keep_ready = false;
    snprintf(app->opening.path, sizeof app->opening.path, "%s", path);
}

static struct snapshot snapshot_of(const struct app *app)
{
    struct snapshot now = {.scene = (int)app->scene};
    memcpy(now.docs, app->docs, sizeof now.docs);
    return now;
}

static void restore(struct app *app, const struct snapshot *snapshot)
{
    memcpy(app->docs, snapshot->docs, sizeof app->docs);
    app->scene = (enum scene_id)snapshot->scene;
}

static void before_change(struct app *app, bool committed)
{
    struct snapshot now = snapshot_of(app);
    undo_before(&app->undo, &now, committed);
}

/* Of a source without classes there are no class means, of a ready D neither scores nor weights. */
static void keep_shown_possible(struct doc *doc, const struct result *result)
{
    const int shown = param_choice(doc, PARAM_SHOWN);
    const bool means = shown == SHOWN_MEANS;
    const bool attention = shown == SHOWN_SCORES || shown == SHOWN_WEIGHTS;
    if (result->source &&
        ((means && !result->source->source.table.labels) || (attention && doc->ready)))
        param_set(doc, PARAM_SHOWN, (struct param_value){.number = SHOWN_DISSIM});
}

/* What was opened has arrived: it becomes the source of the scene that shows its kind. */
static void adopt_opened(struct app *app, const struct result *result)
{
    enum scene_id scene =
        result->source->source.kind == SOURCE_PICTURE ? SCENE_PICTURE : SCENE_TABLE;
    if (app->results[SCENE_PICTURE].source || app->results[SCENE_TABLE].source)
        before_change(app, true); /* the first one is where undo begins */
    struct doc *doc = &app->docs[scene];
    snprintf(doc->source, sizeof doc->source, "%s", app->opening.path);
    doc->source_key = app->opening.key;
    if (!app->opening.keep_query)
        default_query(doc, &result->source->source);
    doc->ready = app->opening.keep_ready && scene == SCENE_TABLE;
    memset(doc->left_out, 0, sizeof doc->left_out);
    app->opening.keep_query = app->opening.keep_ready = false;
    if (nl_orders[param_choice(doc, PARAM_ORDER)].needs_classes &&
        !result->source->source.table.labels)
        param_set(doc, PARAM_ORDER, (struct param_value){.number = NL_ORDER_INPUT});
    keep_shown_possible(doc, result);
    app->scene = scene;
    app->opening.key = 0;
    show_all(&app->view);
    size_t columns = result->source->source.table.values.cols;
    if (columns > 0 &&
        ((size_t)app->view.scatter_x >= columns || (size_t)app->view.scatter_y >= columns)) {
        app->view.scatter_x = 0;
        app->view.scatter_y = columns > 1;
    }
}

/* A source that cannot be opened leaves everything as it was. */
static void forget_source(struct app *app, uint64_t key)
{
    if (app->opening.key == key) {
        app->opening.key = 0;
        return;
    }
    for (int s = 0; s < SCENE_COUNT; s++) { /* an undo led back to a file that is gone */
        const struct source_part *source = app->results[s].source;
        if (app->docs[s].source_key != key || !source)
            continue;
        app->docs[s].source_key = source->part.key;
        snprintf(app->docs[s].source, sizeof app->docs[s].source, "%s", source->path);
    }
}

static void take_results(struct app *app, double time)
{
    struct result result = {0};
    if (!job_take(app->job, &result))
        return;
    if (result.error.status != NL_OK) {
        if (result.error_key != app->said_key) /* a result comes in parts, its error with each */
            app_say(app, time, result.error.message);
        forget_source(app, result.error_key);
    }
    app->said_key = result.error_key;
    if (result.source && app->opening.key == result.source->part.key)
        adopt_opened(app, &result);
    for (int s = 0; s < SCENE_COUNT && result.source; s++) {
        struct doc *doc = &app->docs[s];
        if (doc->source_key != result.source->part.key)
            continue;
        if (doc->query_count == 0)
            default_query(doc, &result.source->source);
        result_release(&app->results[s]);
        result_hold(&app->results[s], &result);
    }
    result_release(&result);
}

static void change_scale(struct app *app, float factor)
{
    app->user_scale = fminf(fmaxf(app->user_scale * factor, 0.5f), 4);
}

static void step_history(struct app *app, bool (*step)(struct undo *, struct snapshot *))
{
    struct snapshot now = snapshot_of(app);
    if (step(&app->undo, &now))
        restore(app, &now);
}

static void defaults(struct app *app)
{
    struct doc fresh, *doc = &app->docs[app->scene];
    const struct source_part *source = app->results[app->scene].source;
    before_change(app, true);
    init_doc(&fresh, app->scene, NULL);
    memcpy(doc->params, fresh.params, sizeof doc->params);
    memcpy(doc->left_out, fresh.left_out, sizeof doc->left_out);
    doc->patch_gaussian = fresh.patch_gaussian;
    if (app->scene == SCENE_TABLE && source && !source->source.table.labels)
        param_set(doc, PARAM_ORDER, (struct param_value){.number = NL_ORDER_INPUT});
}

static void command_exec(struct app *app, enum command_id command)
{
    switch (command) {
    case COMMAND_UNDO:
        step_history(app, undo_back);
        break;
    case COMMAND_REDO:
        step_history(app, undo_forward);
        break;
    case COMMAND_DEFAULTS:
        defaults(app);
        break;
    case COMMAND_SCENE_PICTURE:
        app->scene = SCENE_PICTURE;
        break;
    case COMMAND_SCENE_TABLE:
        app->scene = SCENE_TABLE;
        break;
    case COMMAND_FIT:
        show_all(&app->view);
        break;
    case COMMAND_DESELECT:
        selection_clear(&app->selections[app->scene]);
        break;
    case COMMAND_THEME:
        app->theme = app->theme == UI_DARK ? UI_LIGHT : UI_DARK;
        break;
    case COMMAND_LARGER:
        change_scale(app, 1.125f);
        break;
    case COMMAND_SMALLER:
        change_scale(app, 1 / 1.125f);
        break;
    case COMMAND_NORMAL_SIZE:
        app->user_scale = 1;
        break;
    case COMMAND_CANCEL:
        if (app->view.help)
            app->view.help = false;
        else if (app->message[0])
            app->message[0] = 0;
        else if (app->opening.key) { /* what is shown stays */
            app->opening.key = 0;
            job_cancel(app->job);
        } else if (!app_complete(app)) /* figures that nobody waits for need no giving up */
            job_cancel(app->job);
        break;
    case COMMAND_COMPUTE:
        app->posted = (struct stage_keys){0}; /* what is missing is asked for again */
        break;
    case COMMAND_HELP:
        app->view.help = !app->view.help;
        break;
    case COMMAND_QUIT:
        app->quit = true;
        break;
    default:
        break;
    }
}

static bool same_query(const struct doc *doc, const struct doc_query *query)
{
    const struct doc_query *now = &doc->queries[0];
    if (doc->query_count == 0 || now->by_row != query->by_row)
        return false;
    return query->by_row ? now->row == query->row : now->x == query->x && now->y == query->y;
}

static void apply_edit(struct app *app, const struct edit *edit)
{
    struct doc *doc = &app->docs[app->scene];
    switch (edit->kind) {
    case EDIT_PARAM:
        before_change(app, edit->committed);
        param_set(doc, edit->param, edit->value);
        break;
    case EDIT_RESET:
        before_change(app, true);
        param_reset(doc, edit->param);
        break;
    case EDIT_SYSTEM:
        before_change(app, true);
        doc_switch_system(doc, edit->number);
        break;
    case EDIT_QUERY:
        if (!app->undo.open && same_query(doc, &edit->query))
            break; /* a click on the query is no step of undo */
        before_change(app, edit->committed);
        doc->queries[0] = edit->query;
        doc->query_count = 1;
        break;
    case EDIT_SCENE:
        app->scene = (enum scene_id)edit->number;
        break;
    case EDIT_COMMAND:
        command_exec(app, (enum command_id)edit->number);
        break;
    case EDIT_COLUMN:
        before_change(app, true);
        doc->left_out[edit->number / 64] ^= UINT64_C(1) << edit->number % 64;
        break;
    case EDIT_READY:
        before_change(app, true);
        doc->ready = edit->number != 0;
        keep_shown_possible(doc, &app->results[app->scene]);
        break;
    case EDIT_PICK:
        selection_pick(&app->selections[app->scene], &edit->pick, &app->results[app->scene],
                       &app->order);
        app->selections[app->scene].committed = edit->committed;
        break;
    }
}

static void apply_edits(struct app *app)
{
    for (int i = 0; i < app->edits.count; i++)
        apply_edit(app, &app->edits.items[i]);
    app->edits.count = 0;
}

/* Keys that no widget took. Ctrl + is also Ctrl = where + needs Shift, Redo also Ctrl Shift Z. */
static void shortcuts(struct app *app)
{
    for (int c = 0; c < COMMAND_COUNT; c++)
        if (command_table[c].key && ui_key(&app->ui, command_table[c].key, command_table[c].mods))
            edit_command(&app->edits, (enum command_id)c);
    if (ui_key(&app->ui, '=', UI_MOD_CTRL) || ui_key(&app->ui, '+', UI_MOD_CTRL | UI_MOD_SHIFT))
        edit_command(&app->edits, COMMAND_LARGER);
    if (ui_key(&app->ui, 'z', UI_MOD_CTRL | UI_MOD_SHIFT))
        edit_command(&app->edits, COMMAND_REDO);
    if (ui_key(&app->ui, '?', 0) || ui_key(&app->ui, '?', UI_MOD_SHIFT))
        edit_command(&app->edits, COMMAND_HELP);
}

static struct scene scene_of(struct app *app, double time)
{
    const struct result *result = &app->results[app->scene];
    return (struct scene){
        .id = app->scene,
        .doc = &app->docs[app->scene],
        .result = result,
        .row = &app->row,
        .order = app->order,
        .detail = &app->detail,
        .selection = &app->selections[app->scene],
        .kind = result_kind(result),
        .stale_map = app_is_stale(app, 0, time),
        .stale_matrix = app_is_stale(app, 1, time),
        .job = job_state(app->job),
        .tier = nl_cpu_name(nl_kernels_cpu(job_kernels(app->job))),
        .message = app->message,
    };
}

/* One panel alone, for pictures of it. */
static void lay_out_one(struct app *app, const struct scene *scene, struct draw_rect rect)
{
    if (app->shown == APP_MATRIX)
        panel_matrix(&app->ui, rect, scene, &app->view, &app->edits);
    else if (app->scene == SCENE_TABLE)
        panel_scatter(&app->ui, rect, scene, &app->view, &app->edits);
    else
        panel_picture(&app->ui, rect, scene, &app->view, &app->edits);
}

/* Where the panels go. Below a width the matrix stands under the picture. */
static void lay_out(struct app *app, const struct scene *scene)
{
    struct ui *ui = &app->ui;
    struct view *view = &app->view;
    struct edits *edits = &app->edits;
    const struct ui_style *style = &app->style;
    struct draw_rect rest = ui_window(ui);
    if (app->shown != APP_WINDOW) {
        lay_out_one(app, scene, ui_inset(rest, style->gap, style->gap));
        return;
    }
    panel_topbar(ui, ui_cut_top(&rest, ui_px(style, 40), 0), scene, view, edits);
    panel_status(ui, ui_cut_bottom(&rest, ui_px(style, 24), 0), scene, view, edits);
    rest = ui_inset(rest, style->gap, style->gap);
    const float narrow = ui_px(style, 1000);
    const bool stacked = rest.w < narrow;
    panel_controls(ui, ui_cut_left(&rest, ui_px(style, 280), style->gap), scene, view, edits);
    struct draw_rect side = stacked ? ui_cut_bottom(&rest, floorf(rest.h * 0.42f), style->gap)
                                    : ui_cut_right(&rest, floorf(rest.w * 0.40f), style->gap);
    if (app->scene == SCENE_TABLE)
        panel_scatter(ui, rest, scene, view, edits);
    else
        panel_picture(ui, rest, scene, view, edits);
    panel_matrix(ui, side, scene, view, edits);
    if (view->help)
        panel_help(ui, scene, view, edits);
}

static void fill_sources(struct app *app, const struct scene *scene)
{
    const struct source_part *source = scene->result->source;
    struct draw_source *slots = app->list.sources;
    if (source && source->rgba)
        slots[DRAW_SLOT_PICTURE] =
            (struct draw_source){source->part.key,      DRAW_RGBA8,  source->width, source->height,
                                 (size_t)source->width, source->rgba};
    view_weights_source(scene, &app->list);
    const struct selection *selection = &app->selections[app->scene];
    if (selection->key)
        slots[DRAW_SLOT_SELECTION] = (struct draw_source){
            selection->key, DRAW_R32F, (int)selection->n, 1, selection->n, selection->mask};
    if (!scene->result->cells || app->order.n == 0)
        return;
    const nl_matrix *cells = cells_matrix(scene->result->cells);
    const struct overview_part *overview = scene->result->overview;
    const int n = (int)app->order.n;
    const struct detail *detail = &app->detail;
    if (detail->key)
        slots[DRAW_SLOT_MATRIX] =
            (struct draw_source){detail->key,         DRAW_R32F,        (int)detail->d.cols,
                                 (int)detail->d.rows, detail->d.stride, detail->d.data};
    if (cells->rows > 0) {
        slots[DRAW_SLOT_MATRIX] = (struct draw_source){
            cells_key(scene->result->cells), DRAW_R32F, n, n, cells->stride, cells->data};
        slots[DRAW_SLOT_PERMUTATION] = (struct draw_source){
            app->order.key, DRAW_R32F, n, 1, (size_t)n, app->order.permutation};
    }
    if (overview && overview->mean.rows > 0)
        slots[DRAW_SLOT_OVERVIEW] = (struct draw_source){
            overview->part.key,    DRAW_R32F,          OVERVIEW_SIDE, OVERVIEW_SIDE,
            overview->mean.stride, overview->mean.data};
}

/* The matrix's rows on their way to the order that was chosen; a press or a key ends the way. */
static void step_order(struct app *app, const struct inputs *inputs)
{
    const struct result *result = &app->results[app->scene];
    const bool skip = inputs->pressed || inputs->key_count > 0 || app->style.reduce_motion;
    app->order = reorder_step(&app->reorder, result->source ? result->source->part.key : 0,
                              result->cells ? result->order : NULL, inputs->time, !skip);
    if (app->order.moving)
        ui_again(&app->ui);
    selection_follow(&app->selections[app->scene], result);
    const nl_exec exec = {.kernels = job_kernels(app->job)};
    double window[4];
    view_zoom_window(&app->view.matrix[app->scene], &window[0], &window[1], &window[2], &window[3]);
    for (int i = 0; i < 4; i++)
        window[i] *= (double)app->order.n;
    detail_step(&app->detail, result, window, &exec);
}

void app_step(struct app *app, const struct inputs *inputs, struct ui_frame *frame)
{
    struct inputs scaled = *inputs;
    scaled.scale = app->user_scale_fixed ? app->user_scale : inputs->scale * app->user_scale;
    ui_style_set(&app->style, app->theme, scaled.scale, 1);
    if (inputs->quit)
        app->quit = true;
    if (inputs->dropped[0])
        app_open(app, inputs->dropped);
    if (app->message[0] && inputs->time >= app->message_until)
        app->message[0] = 0;

    take_results(app, inputs->time);
    app_post_work(app, inputs->time);
    app_compute_row(app, inputs->time);

    app->view.hover_next = app->view.hover_query_next = SIZE_MAX;
    ui_begin(&app->ui, &scaled, &app->list, &app->style);
    step_order(app, inputs);
    struct scene scene = scene_of(app, inputs->time);
    fill_sources(app, &scene);
    lay_out(app, &scene);
    shortcuts(app);
    for (int v = 0; v < 2; v++)
        if (app->stale_since[v] >= 0 && !app_is_stale(app, v, inputs->time))
            ui_wake_at(&app->ui, app->stale_since[v] + APP_STALE_AFTER);
    if ((scene.stale_map || scene.stale_matrix) && scene.job.busy)
        ui_wake_at(&app->ui, inputs->time + 0.1); /* progress moves */
    if (app->message[0])
        ui_wake_at(&app->ui, app->message_until);
    if (app->edits.count > 0 || app->view.hover_next != app->view.hover_row ||
        app->view.hover_query_next != app->view.hover_query)
        ui_again(&app->ui); /* what was changed shows in the next frame, at once */
    ui_end(&app->ui, frame);
    app->view.hover_row = app->view.hover_next;
    app->view.hover_query = app->view.hover_query_next;
    apply_edits(app);
    if (!app->ui.active) /* also where a drag was lost: its widget went away with its scene */
        undo_end(&app->undo);
}
