/* SPDX-License-Identifier: MIT */
#include "job.h"

#include <math.h>
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
    /* The newest of the matrix's parts, not all of them of one document while a request is being
     * answered; kept and published are only sets that belong together. */
    struct result drafts[2];
    struct result *current, *draft;
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/*
 * A stage that is nearly done is more use finished: while a slider moves, requests come faster than
 * stages end, and the view follows all the same. Figures that nobody waits for give way at once.
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

static void begin_stage(struct job *job, const char *stage, bool patient)
{
    pthread_mutex_lock(&job->lock);
    job->stage = stage;
    pthread_mutex_unlock(&job->lock);
    atomic_store(&job->fraction, 0);
    atomic_store(&job->started, patient ? now_ms() : -INFINITY);
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

static void set_current(struct job *job, int k)
{
    job->current = &job->kept[k];
    job->draft = &job->drafts[k];
}

static bool run_source(struct job *job, nl_error *error)
{
    for (int k = 0; k < 2; k++) {
        if (job->kept[k].source && job->kept[k].source->part.key == job->request.source_key) {
            set_current(job, k);
            return true;
        }
    }
    begin_stage(job, TR_N("Opening"), true);
    struct source_part *source =
        source_part_load(job->request.doc.source, job->request.source_key, error);
    if (!source) { /* the one at hand stays */
        set_error(job->current, error, job->request.source_key);
        publish(job);
        return false;
    }
    set_current(job, source->source.kind == SOURCE_PICTURE);
    result_release(job->current); /* every other part belonged to the old source */
    result_release(job->draft);
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
        begin_stage(job, TR_N("Features"), true);
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
    begin_stage(job, TR_N("Attention"), true);
    struct attention_part *attention =
        attention_part_make(doc, current->features, keys->attention, &job->exec, error);
    if (!attention)
        return false;
    part_release(&current->attention);
    current->attention = attention;
    current->milliseconds = now_ms() - start;
    return true;
}

static bool run_dissim(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *draft = job->draft;
    const double start = now_ms();
    if (draft->dissim && draft->dissim->part.key == keys->dissim)
        return true;
    begin_stage(job, TR_N("Dissimilarity"), true);
    struct dissim_part *dissim = dissim_part_make(&job->request.doc, job->current->features,
                                                  keys->dissim, &job->exec, error);
    if (!dissim)
        return false;
    part_release(&draft->dissim);
    draft->dissim = dissim;
    job->current->dissim_ms = now_ms() - start;
    return true;
}

static bool run_order(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *draft = job->draft;
    if (!run_dissim(job, keys, error))
        return false;
    if (draft->order && draft->order->part.key == keys->order)
        return true;
    begin_stage(job, TR_N("Order"), true);
    struct order_part *order =
        order_part_make(&job->request.doc, job->current->source, job->current->features,
                        draft->dissim, keys->order, &job->exec, error);
    if (!order)
        return false;
    part_release(&draft->order);
    draft->order = order;
    return true;
}

static bool run_cells(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *draft = job->draft;
    const struct doc *doc = &job->request.doc;
    if (!draft->cells || draft->cells->part.key != keys->cells) {
        begin_stage(job, TR_N("Matrix"), true);
        struct cells_part *cells =
            cells_part_make(doc, job->current->source, job->current->attention, draft->order,
                            keys->cells, &job->exec, error);
        if (!cells)
            return false;
        part_release(&draft->cells);
        draft->cells = cells;
    }
    if (draft->overview && draft->overview->part.key == keys->overview)
        return true;
    begin_stage(job, TR_N("Matrix"), true);
    struct overview_part *overview = overview_part_make(
        doc, job->current->features, draft->cells, draft->order, keys->overview, &job->exec, error);
    if (!overview)
        return false;
    part_release(&draft->overview);
    draft->overview = overview;
    return true;
}

static bool run_quality(struct job *job, const struct stage_keys *keys, nl_error *error)
{
    struct result *current = job->current;
    if (current->quality && current->quality->part.key == keys->quality)
        return true;
    begin_stage(job, TR_N("Quality of the order"), false);
    struct quality_part *quality = quality_part_make(
        current->source, current->order, current->quality, keys->quality, &job->exec, error);
    if (!quality)
        return false;
    part_release(&current->quality);
    current->quality = quality;
    return true;
}

/* Nothing old is shown under new parameters: what failed goes, and all that is made from it. */
static void drop_matrix(struct job *job, const struct stage_keys *keys)
{
    struct result *current = job->current;
    result_release(job->draft);
    current->failed.order = keys->order;
    current->failed.cells = keys->cells;
    current->failed.overview = keys->overview;
    current->failed.quality = keys->quality;
    part_release(&current->dissim);
    part_release(&current->order);
    part_release(&current->cells);
    part_release(&current->overview);
    part_release(&current->quality);
}

/* All of the draft becomes what is shown. */
static void adopt_draft(struct job *job)
{
    struct result *current = job->current;
    const struct result *draft = job->draft;
    part_release(&current->dissim);
    part_release(&current->order);
    part_release(&current->cells);
    part_release(&current->overview);
    current->dissim = part_hold(draft->dissim);
    current->order = part_hold(draft->order);
    current->cells = part_hold(draft->cells);
    current->overview = part_hold(draft->overview);
}

/* D, its order and the numbers shown, all or none of them; false when given up. */
static bool run_matrix(struct job *job, const struct stage_keys *keys)
{
    struct result *current = job->current;
    nl_error error = {0};
    if (run_order(job, keys, &error) && run_cells(job, keys, &error)) {
        adopt_draft(job);
        return true;
    }
    if (error.status == NL_CANCELLED)
        return false;
    drop_matrix(job, keys);
    if (current->error.status == NL_OK)
        set_error(current, &error, keys->order);
    return true;
}

/* A ready D says nothing of what its rows are made of: there is nothing to attend by. */
static bool no_attention(struct job *job, const struct stage_keys *keys)
{
    part_release(&job->current->attention);
    job->current->failed.attention = keys->attention;
    return true;
}

/*
 * A failed stage leaves its part away, and those made from it. Weights that cannot be had are no
 * reason to go without the matrix. How good the order is comes last: nobody waits for it.
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
    current->error_key = 0;
    current->failed = (struct stage_keys){0};
    const bool given = job->request.doc.ready && current->source->source.kind != SOURCE_PICTURE;
    if (given ? !run_features(job, &keys, &error) || !no_attention(job, &keys)
              : !run_attention(job, &keys, &error)) {
        if (error.status == NL_CANCELLED)
            return;
        set_error(current, &error, keys.attention);
        current->failed.attention = keys.attention;
        part_release(&current->attention);
        if (!has_features(current, &keys)) {
            drop_matrix(job, &keys);
            publish(job);
            return;
        }
    }
    publish(job);
    if (!run_matrix(job, &keys))
        return;
    publish(job);
    if (!current->order || run_quality(job, &keys, &error)) {
        publish(job);
        return;
    }
    if (error.status == NL_CANCELLED)
        return;
    current->failed.quality = keys.quality;
    part_release(&current->quality);
    if (current->error.status == NL_OK)
        set_error(current, &error, keys.quality);
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
    set_current(job, 0);
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
    result_release(&job->drafts[0]);
    result_release(&job->drafts[1]);
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
