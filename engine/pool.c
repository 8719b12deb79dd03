/* SPDX-License-Identifier: MIT */
/*
 * Workers sleep on a condition variable between loops; inside a loop they take blocks from one
 * atomic counter. Nothing spins: a spinning barrier costs milliseconds when the machine is busy.
 */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "alloc.h"

enum { MAX_THREADS = 256 };

struct loop {
    const nl_exec *exec;
    nl_block_fn block;
    void *context;
    size_t count, grain, pieces;
    atomic_size_t next, done;
    atomic_bool stop;
    pthread_mutex_t progress_lock;
    double reported; /* guarded by progress_lock */
};

struct nl_pool {
    pthread_mutex_t turn; /* held by the caller whose loop is running */
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake, idle;
    struct loop *loop;
    size_t generation, busy;
    bool quit;
    size_t threads; /* the caller's included */
    pthread_t handles[MAX_THREADS];
};

struct worker_start {
    nl_pool *pool;
    size_t worker;
};

static void report(struct loop *loop)
{
    if (!loop->exec->progress)
        return;
    pthread_mutex_lock(&loop->progress_lock);
    double fraction = (double)atomic_load(&loop->done) / (double)loop->pieces;
    if (fraction > loop->reported) {
        loop->reported = fraction;
        loop->exec->progress(loop->exec->user, fraction);
    }
    pthread_mutex_unlock(&loop->progress_lock);
}

static void run_blocks(struct loop *loop, size_t worker)
{
    const nl_exec *exec = loop->exec;
    while (!atomic_load_explicit(&loop->stop, memory_order_relaxed)) {
        if (exec->cancelled && exec->cancelled(exec->user)) {
            atomic_store(&loop->stop, true);
            return;
        }
        size_t piece = atomic_fetch_add(&loop->next, 1);
        if (piece >= loop->pieces)
            return;
        size_t begin = piece * loop->grain;
        size_t end = loop->count - begin < loop->grain ? loop->count : begin + loop->grain;
        loop->block(loop->context, worker, begin, end);
        atomic_fetch_add(&loop->done, 1);
        report(loop);
    }
}

static void *worker_main(void *argument)
{
    struct worker_start *start = argument;
    nl_pool *pool = start->pool;
    size_t worker = start->worker, seen = 0;
    nl_free(start);
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->generation == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->quit)
            break;
        seen = pool->generation;
        struct loop *loop = pool->loop;
        if (!loop) /* woke after the loop had ended */
            continue;
        pool->busy++;
        pthread_mutex_unlock(&pool->lock);
        run_blocks(loop, worker);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->idle);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static size_t usable_processors(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (size_t)CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

nl_status nl_pool_create(size_t threads, nl_pool **out, nl_error *error)
{
    *out = NULL;
    if (threads > MAX_THREADS)
        return nl_fail(error, NL_INVALID, "%zu threads asked for, at most %d are possible", threads,
                       MAX_THREADS);
    if (threads == 0)
        threads = usable_processors();
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    nl_pool *pool = nl_alloc(1, sizeof *pool);
    if (!pool)
        return nl_fail(error, NL_NOMEM, "no memory for a pool of %zu threads", threads);
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->threads = 1;
    for (size_t i = 1; i < threads; i++) {
        struct worker_start *start = nl_alloc(1, sizeof *start);
        if (!start) {
            nl_pool_free(&pool);
            return nl_fail(error, NL_NOMEM, "no memory for a pool of %zu threads", threads);
        }
        *start = (struct worker_start){pool, i};
        if (pthread_create(&pool->handles[i], NULL, worker_main, start) != 0) {
            nl_free(start); /* fewer threads than asked for still give the right answer */
            break;
        }
        pool->threads++;
    }
    *out = pool;
    return NL_OK;
}

size_t nl_pool_threads(const nl_pool *pool)
{
    return pool ? pool->threads : 1;
}

void nl_pool_free(nl_pool **pool_pointer)
{
    nl_pool *pool = *pool_pointer;
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 1; i < pool->threads; i++)
        pthread_join(pool->handles[i], NULL);
    pthread_cond_destroy(&pool->idle);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    nl_free(pool);
    *pool_pointer = NULL;
}

size_t nl_exec_workers(const nl_exec *exec)
{
    return nl_pool_threads(exec->pool);
}

static void run_on_pool(nl_pool *pool, struct loop *loop)
{
    pthread_mutex_lock(&pool->turn);
    pthread_mutex_lock(&pool->lock);
    pool->loop = loop;
    pool->generation++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);

    run_blocks(loop, 0);

    pthread_mutex_lock(&pool->lock);
    pool->loop = NULL; /* a worker that has not woken yet finds nothing to do */
    while (pool->busy > 0)
        pthread_cond_wait(&pool->idle, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->turn);
}

nl_status nl_parallel(const nl_exec *exec, size_t count, size_t grain, nl_block_fn block,
                      void *context, nl_error *error)
{
    struct loop loop = {.exec = exec, .block = block, .context = context, .count = count};
    loop.grain = grain ? grain : 1;
    loop.pieces = count / loop.grain + (count % loop.grain != 0);
    pthread_mutex_init(&loop.progress_lock, NULL);
    if (exec->pool && exec->pool->threads > 1 && loop.pieces > 1)
        run_on_pool(exec->pool, &loop);
    else
        run_blocks(&loop, 0);
    pthread_mutex_destroy(&loop.progress_lock);
    if (atomic_load(&loop.stop))
        return nl_fail(error, NL_CANCELLED, "cancelled");
    return NL_OK;
}
