/* SPDX-License-Identifier: MIT */
/* How the application comes by answers: what it lacks, whom it asks, the query's row. */
#ifndef NONLOCAL_APP_ANSWER_H
#define NONLOCAL_APP_ANSWER_H

#include "app.h"

#define APP_STALE_AFTER 0.25 /* seconds before an old view is dimmed */

enum source_kind result_kind(const struct result *result);

/* Shows a message for a while. */
void app_say(struct app *app, double time, const char *message);

/* Asks the worker for what is missing, once for each state of the document. */
void app_post_work(struct app *app, double time);

/* The query's row, on this thread and in this frame, when query or attention changed. */
void app_compute_row(struct app *app, double time);

/* The map (v = 0) or the matrix (1) has been another document's for long enough to say so. */
bool app_is_stale(const struct app *app, int v, double time);

#endif
