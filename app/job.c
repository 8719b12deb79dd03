/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tr.h"

struct request {
    struct doc doc;
    uint64_t source_key;
};

struct job {
    pthread_t thread;
    nl_pool *pool;
    nl_exec exec;
    void (*wake)(void *user);
    void *user;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t posted;
    struct request mailbox;
    bool waiting, quit, busy;
    struct result published;
    bool fresh; /* published and not yet taken */
    const char *stage;

    atomic_bool stop;       /* give up at once */
    atomic_bool cancel;     /* the request is out of date: give up what would take long */
    _Atomic double started; /* when the stage at work began, in milliseconds */
    _Atomic double fraction;

    /* The worker's own. */
    struct request request;
    struct result kept[2]; /* a picture's and a table's: scenes switch without loading again */
    struct result *current;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/*
 * A stage that is nearly done is more use finished: while a slider moves, requests come faster than
 * stages end, and the view follows all the same.
 */
static const double patience_ms = 60;

static bool cancelled(void *user)
{
    struct job *job = user;
    if (atomic_load_explicit(&job->stop, memory_order_relaxed))
        return true;
    return atomic_load_explicit(&job->cancel, memory_order_relaxed) &&
           now_ms() - atomic_load_explicit(&job->started, memory_order_relaxed) > patience_ms;
}

static void progress(void *user, double fraction)
{
    struct job *job = user;
    atomic_store_explicit(&job->fraction, fraction, memory_order_relaxed);
}

static void begin_stage(struct job *job, const char *stage)
{
    pthread_mutex_lock(&job->lock);
    job->stage = stage;
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->fraction, 0);
    atomic_store(&job->started, now_ms());
}

static void publish(struct job *job)
{
    struct result old;
    pthread_mutex_lock(&job->lock);
    old = job->published;
    result_hold(&job->published, job->current);
    job->fresh = true;
    pthread_mutex_unlock(&job->lock);
    result_release(&old);
    job->wake(job->user);
}

static void set_error(struct result *result, const nl_error *error, uint64_t key)
{
    result->error = *error;
    result->error_key = key;
}

static bool run_source(struct job *job, nl_error *error)
{
    for (int k = 0; k < 2; k++) {
        if (job->kept[k].source && job->kept[k].source->part.key == job->request.source_key) {
            job->current = &job->kept[k];
            return true;
        }
    }
    begin_stage(job, TR_N("Opening"));
    struct source_part *source =
        source_part_load(job->request.doc.source, job->request.source_key, error);
    if (!source) { /* the one at hand stays */
        set_error(job->current, error, job->request.source_key);
        publish(job);
        return false;
    }
    job->current = &job->kept[source->source.kind == SOURCE_PICTURE];
    result_release(job->current); /* every other part belonged to the old source */
    job->current->source = source;
    return true;
}

static bool has_features(const struct result *result, const struct stage_keys *keys)
{
    return result->features && result->features->part.key == keys->features;
}

static bool run_features(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *current = job->current;
    if (has_features(current, keys))
        return true;
    struct features_part *features;
    if (current->attention && current->attention->features->part.key == keys->features) {
        /* a request that was given up came in between; the weights still hold theirs */
        features = part_hold(current->attention->features);
    } else {
        begin_stage(job, TR_N("Features"));
        features = features_part_make(&job->request.doc, current->source, keys->features,
                                      &job->exec, error);
    }
    if (!features)
        return false;
    part_release(&current->features);
    current->features = features;
    return true;
}

static bool run_attention(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *current = job->current;
    const struct doc *doc = &job->request.doc;
    const double start = now_ms();
    if (!run_features(job, keys, error))
        return false;
    if (current->attention && current->attention->part.key == keys->attention)
        return true;
    begin_stage(job, TR_N("Attention"));
    struct attention_part *attention =
        attention_part_make(doc, current->features, keys->attention, &job->exec, error);
    if (!attention)
        return false;
    part_release(&current->attention);
    current->attention = attention;
    current->milliseconds = now_ms() - start;
    return true;
}

static bool run_order(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *current = job->current;
    const struct doc *doc = &job->request.doc;
    const double start = now_ms();
    if (!current->dissim || current->dissim->part.key != keys->dissim) {
        begin_stage(job, TR_N("Dissimilarity"));
        struct dissim_part *dissim =
            dissim_part_make(doc, current->features, keys->dissim, &job->exec, error);
        if (!dissim)
            return false;
        part_release(&current->dissim);
        current->dissim = dissim;
        current->dissim_ms = now_ms() - start;
    }
    if (current->order && current->order->part.key == keys->order)
        return true;
    begin_stage(job, TR_N("Order"));
    struct order_part *order = order_part_make(doc, current->source, current->features,
                                               current->dissim, keys->order, &job->exec, error);
    if (!order)
        return false;
    part_release(&current->order);
    current->order = order;
    return true;
}

/*
 * A failed stage leaves its part away, and those made from it: nothing old is shown under new
 * parameters. Weights that cannot be had are no reason to go without the matrix.
 */
static void run_request(struct job *job)
{
    nl_error error = {0};
    if (!run_source(job, &error))
        return;
    struct result *current = job->current;
    const struct stage_keys keys =
        stage_keys(&job->request.doc, job->request.source_key, current->source->source.kind);
    current->error = (nl_error){0};
    current->error_key = current->failed_order = 0;
    if (!run_attention(job, &keys, &error)) {
        if (error.status == NL_CANCELLED)
            return;
        set_error(current, &error, keys.attention);
        part_release(&current->attention);
        if (!has_features(current, &keys)) {
            current->failed_order = keys.order;
            part_release(&current->order);
            publish(job);
            return;
        }
    }
    publish(job);
    if (!run_order(job, &keys, &error)) {
        if (error.status == NL_CANCELLED)
            return;
        current->failed_order = keys.order;
        part_release(&current->order);
        if (current->error.status == NL_OK)
            set_error(current, &error, keys.order);
    }
    publish(job);
}

static void *worker(void *argument)
{
    struct job *job = argument;
    pthread_mutex_lock(&job->lock);
    for (;;) {
        while (!job->waiting && !job->quit) {
            job->busy = false; /* also when a request was given up before it began */
            pthread_cond_wait(&job->posted, &job->lock);
        }
        if (job->quit)
            break;
        job->request = job->mailbox;
        job->waiting = false;
        job->busy = true;
        atomic_store(&job->cancel, false);
        atomic_store(&job->stop, false);
        pthread_mutex_unlock(&job->lock);
        run_request(job);
        pthread_mutex_lock(&job->lock);
        job->busy = job->waiting;
    }
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

struct job *job_create(nl_cpu cpu, size_t threads, void (*wake)(void *user), void *user,
                       nl_error *error)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job) {
        nl_fail(error, NL_NOMEM, "no memory for the worker");
        return NULL;
    }
    job->wake = wake;
    job->user = user;
    job->current = &job->kept[0];
    job->exec.kernels = nl_kernels_get(cpu, error);
    if (!job->exec.kernels || nl_pool_create(threads, &job->pool, error) != NL_OK)
        goto fail;
    job->exec.pool = job->pool;
    job->exec.cancelled = cancelled;
    job->exec.progress = progress;
    job->exec.user = job;
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->posted, NULL);
    if (pthread_create(&job->thread, NULL, worker, job) == 0)
        return job;
    nl_fail(error, NL_NOMEM, "the worker's thread could not be started");
    pthread_cond_destroy(&job->posted);
    pthread_mutex_destroy(&job->lock);
fail:
    nl_pool_free(&job->pool);
    free(job);
    return NULL;
}

void job_destroy(struct job **pointer)
{
    struct job *job = *pointer;
    if (!job)
        return;
    pthread_mutex_lock(&job->lock);
    job->quit = true;
    atomic_store(&job->stop, true);
    pthread_cond_signal(&job->posted);
    pthread_mutex_unlock(&job->lock);
    pthread_join(job->thread, NULL);
    result_release(&job->published);
    result_release(&job->kept[0]);
    result_release(&job->kept[1]);
    nl_pool_free(&job->pool);
    pthread_cond_destroy(&job->posted);
    pthread_mutex_destroy(&job->lock);
    free(job);
    *pointer = NULL;
}

void job_post(struct job *job, const struct doc *doc, uint64_t source_key)
{
    pthread_mutex_lock(&job->lock);
    job->mailbox.doc = *doc;
    job->mailbox.source_key = source_key;
    job->waiting = true;
    job->busy = true;
    /* The worker goes through finished stages by key, so giving up costs only the one at work. */
    atomic_store(&job->cancel, true);
    pthread_cond_signal(&job->posted);
    pthread_mutex_unlock(&job->lock);
}

bool job_take(struct job *job, struct result *result)
{
    pthread_mutex_lock(&job->lock);
    bool fresh = job->fresh;
    if (fresh) {
        job->fresh = false;
        result_hold(result, &job->published);
    }
    pthread_mutex_unlock(&job->lock);
    return fresh;
}

struct job_state job_state(struct job *job)
{
    struct job_state state = {.fraction = atomic_load(&job->fraction)};
    pthread_mutex_lock(&job->lock);
    state.busy = job->busy;
    state.stage = job->stage ? job->stage : "";
    pthread_mutex_unlock(&job->lock);
    return state;
}

void job_cancel(struct job *job)
{
    pthread_mutex_lock(&job->lock);
    job->waiting = false;
    atomic_store(&job->stop, true);
    pthread_mutex_unlock(&job->lock);
}

const nl_kernels *job_kernels(const struct job *job)
{
    return job->exec.kernels;
}

size_t job_threads(const struct job *job)
{
    return nl_pool_threads(job->pool);
}
