/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double message_seconds = 12;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

enum source_kind result_kind(const struct result *result)
{
    return result->source ? result->source->source.kind : SOURCE_NONE;
}

void app_say(struct app *app, double time, const char *message)
{
    snprintf(app->message, sizeof app->message, "%s", message);
    app->message_until = time + message_seconds;
}

/* It is there, or was tried and cannot be had: nothing more will come. */
static bool answered(const void *part, uint64_t key, uint64_t failed)
{
    return part ? ((const struct part *)part)->key == key : failed == key;
}

/* What the window does not have of what the document asks for, or'ed together. */
enum lack { LACK_MAP = 1, LACK_MATRIX = 2, LACK_FIGURES = 4 };

static unsigned lack_of(const struct app *app)
{
    const struct result *result = &app->results[app->scene];
    const struct doc *doc = &app->docs[app->scene];
    unsigned lack = 0;
    if (app->opening.key || !result->source || result->source->part.key != doc->source_key)
        return LACK_MAP | LACK_MATRIX | LACK_FIGURES;
    const struct stage_keys keys = stage_keys(doc, doc->source_key, result_kind(result));
    const struct stage_keys *failed = &result->failed;
    if (!answered(result->attention, keys.attention, failed->attention))
        lack |= LACK_MAP;
    if (!answered(result->order, keys.order, failed->order) ||
        !answered(result->cells, keys.cells, failed->cells) ||
        !answered(result->overview, keys.overview, failed->overview))
        lack |= LACK_MATRIX;
    if (!answered(result->quality, keys.quality, failed->quality))
        lack |= LACK_FIGURES;
    return lack;
}

bool app_complete(const struct app *app)
{
    return (lack_of(app) & (LACK_MAP | LACK_MATRIX)) == 0;
}

bool app_settled(const struct app *app)
{
    return lack_of(app) == 0 && !job_state(app->job).busy;
}

void app_post_work(struct app *app, double time)
{
    const unsigned lack = lack_of(app);
    for (int v = 0; v < 2; v++) {
        const bool lacking = lack & (v ? LACK_MATRIX : LACK_MAP);
        if (!lacking)
            app->stale_since[v] = -1;
        else if (app->stale_since[v] < 0)
            app->stale_since[v] = time;
    }
    if (lack == 0) {
        app->posted = (struct stage_keys){0};
        return;
    }
    struct doc doc = app->docs[app->scene];
    if (app->opening.key) {
        snprintf(doc.source, sizeof doc.source, "%s", app->opening.path);
        doc.source_key = app->opening.key;
        doc.ready = app->opening.keep_ready; /* what was chosen for the columns of another file */
        memset(doc.left_out, 0, sizeof doc.left_out);
    }
    const struct stage_keys keys =
        stage_keys(&doc, doc.source_key, result_kind(&app->results[app->scene]));
    if (memcmp(&app->posted, &keys, sizeof keys) == 0)
        return;
    app->posted = keys;
    job_post(app->job, &doc, doc.source_key);
}

static bool room_for_row(struct app *app, size_t n)
{
    if (app->row_capacity >= n)
        return true;
    float *larger = realloc(app->row_weights, n * sizeof *larger);
    if (!larger)
        return false;
    app->row_weights = larger;
    app->row_capacity = n;
    return true;
}

void app_compute_row(struct app *app, double time)
{
    const struct result *result = &app->results[app->scene];
    const struct doc *doc = &app->docs[app->scene];
    const struct attention_part *attention = result->attention;
    struct row_view *row = &app->row;
    nl_error error = {0};
    size_t query;
    if (!attention || doc->query_count == 0) {
        *row = (struct row_view){0};
        return;
    }
    const struct stage_features *features = &attention->features->features;
    if (stage_query_row(features, result_kind(result), &doc->queries[0], &query, &error) != NL_OK)
        query = 0; /* another source's query: the first row is always there */
    uint64_t key = (attention->part.key ^ (query + 1)) * 0x9e3779b97f4a7c15u;
    key = key ? key : 1;
    if (row->key == key || row->refused_key == key)
        return;
    const size_t n = nl_attention_keys(attention->attention.attention);
    const nl_exec exec = {.kernels = job_kernels(app->job)};
    const double start = now_ms();
    *row = (struct row_view){.query = query, .n = n, .queries = features->x.rows};
    if (!room_for_row(app, n))
        nl_fail(&error, NL_NOMEM, "no memory for a row of %zu weights", n);
    else if (nl_attention_row(attention->attention.attention, query, &exec, app->row_weights,
                              &row->figures, &error) == NL_OK)
        row->key = key;
    if (!row->key) {
        row->refused_key = key;
        snprintf(row->refused, sizeof row->refused, "%.199s", error.message);
        app_say(app, time, error.message);
        return;
    }
    row->weights = app->row_weights;
    row->top_count = nl_top(row->weights, n, TOP_MASS, row->top);
    for (size_t t = 0; t < row->top_count; t++)
        row->top_mass += (double)row->weights[row->top[t]];
    row->milliseconds = now_ms() - start;
}

bool app_is_stale(const struct app *app, int v, double time)
{
    return app->stale_since[v] >= 0 && time - app->stale_since[v] >= APP_STALE_AFTER;
}
