/* SPDX-License-Identifier: MIT */
/*
 * The worker. It takes the newest request from a mailbox of one slot, computes the stages whose
 * keys have changed, and publishes a result after each group of them: attention first, so that the
 * map answers at once, then the matrix and its order.
 *
 * Only job_post, job_take, job_state and job_destroy are called by the main thread; none of them
 * waits for a computation except job_destroy, which cancels first.
 */
#ifndef NONLOCAL_APP_JOB_H
#define NONLOCAL_APP_JOB_H

#include "result.h"

struct job;

/* wake is called from the worker when there is something to take; it must not call back. */
struct job *job_create(nl_cpu cpu, size_t threads, void (*wake)(void *user), void *user,
                       nl_error *error);
void job_destroy(struct job **job);

/*
 * Asks for the document's results. doc->source is loaded when source_key differs from that of the
 * source at hand. Replaces a request that has not been taken up; one that is running is cancelled
 * where the stage at work would not be used any more.
 */
void job_post(struct job *job, const struct doc *doc, uint64_t source_key);

/* The newest result not yet taken: *result gets its own references. False when there is none. */
bool job_take(struct job *job, struct result *result);

struct job_state {
    bool busy;
    double fraction;   /* of the stage at work, 0..1 */
    const char *stage; /* for tr(): "Features", ... */
};
struct job_state job_state(struct job *job);

/* Gives up what is running; what was published stays. */
void job_cancel(struct job *job);

/* The kernels in use, for the rows that the main thread computes itself. */
const nl_kernels *job_kernels(const struct job *job);
size_t job_threads(const struct job *job);

#endif
