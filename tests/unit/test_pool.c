/* SPDX-License-Identifier: MIT */
/* The thread pool: every index once, cancelling, progress, callers that share it. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "attention_ref.h"
#include "pool.h"

enum { LONGEST = 1000, WORKERS = 8 };

struct counts {
    atomic_int visits[LONGEST];
    atomic_int in_use[WORKERS];
    atomic_int wrong; /* asserting belongs to the main thread */
    size_t count, grain, workers;
};

static void visit(void *context, size_t worker, size_t begin, size_t end)
{
    struct counts *counts = context;
    if (worker >= counts->workers || begin >= end || end > counts->count ||
        end - begin > counts->grain || begin % counts->grain != 0) {
        atomic_fetch_add(&counts->wrong, 1);
        return;
    }
    if (atomic_fetch_add(&counts->in_use[worker], 1) != 0)
        atomic_fetch_add(&counts->wrong, 1);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&counts->visits[i], 1);
    atomic_fetch_sub(&counts->in_use[worker], 1);
}

static void check_loop(const nl_exec *exec, size_t count, size_t grain)
{
    static struct counts counts;
    memset(&counts, 0, sizeof counts);
    counts.count = count;
    counts.grain = grain ? grain : 1;
    counts.workers = nl_exec_workers(exec);
    assert_int_equal(nl_parallel(exec, count, grain, visit, &counts, NULL), NL_OK);
    assert_int_equal(atomic_load(&counts.wrong), 0);
    for (size_t i = 0; i < LONGEST; i++)
        assert_int_equal(atomic_load(&counts.visits[i]), i < count);
}

/* Every size of loop and piece, with none, one and many threads: each index exactly once. */
static void test_every_index_once(void **state)
{
    (void)state;
    static const size_t threads[] = {1, 2, 3, WORKERS};
    static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 16, 17, 100, 999, 1000};
    static const size_t grains[] = {0, 1, 2, 3, 16, 999, 1000, 5000, SIZE_MAX};
    for (size_t t = 0; t <= COUNT(threads); t++) {
        nl_exec exec = {0};
        if (t < COUNT(threads)) {
            assert_int_equal(nl_pool_create(threads[t], &exec.pool, NULL), NL_OK);
            assert_int_equal(nl_pool_threads(exec.pool), threads[t]);
        }
        assert_int_equal(nl_exec_workers(&exec), t < COUNT(threads) ? threads[t] : 1);
        for (size_t s = 0; s < COUNT(sizes); s++)
            for (size_t g = 0; g < COUNT(grains); g++)
                check_loop(&exec, sizes[s], grains[g]);
        nl_pool_free(&exec.pool);
        nl_pool_free(&exec.pool);
    }
}

static void test_many_small_loops(void **state)
{
    (void)state;
    nl_exec exec = {0};
    assert_int_equal(nl_pool_create(WORKERS, &exec.pool, NULL), NL_OK);
    for (int loop = 0; loop < 2000; loop++)
        check_loop(&exec, (size_t)(loop % 9), 1);
    nl_pool_free(&exec.pool);
}

static void test_pools_come_and_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        nl_exec exec = {0};
        assert_int_equal(nl_pool_create(1 + i % WORKERS, &exec.pool, NULL), NL_OK);
        if (i % 2)
            check_loop(&exec, 20, 3);
        nl_pool_free(&exec.pool);
        assert_null(exec.pool);
    }
}

/* Threads of the default, and how many are too many. */
static void test_thread_counts(void **state)
{
    (void)state;
    nl_pool *pool;
    nl_error error = {0};
    assert_int_equal(nl_pool_create(0, &pool, &error), NL_OK);
    assert_in_range(nl_pool_threads(pool), 1, 256);
    nl_pool_free(&pool);
    pool = (nl_pool *)&error;
    assert_invalid(nl_pool_create(257, &pool, &error), &error, "257");
    assert_null(pool);
    assert_int_equal(nl_pool_threads(NULL), 1);
    nl_pool_free(&pool);
}

struct watch {
    atomic_int polls, blocks;
    int stop_after; /* blocks */
    atomic_int inside;
    double last;
    int calls;
    bool fell, overlapped;
};

static bool stop_after(void *user)
{
    struct watch *watch = user;
    atomic_fetch_add(&watch->polls, 1);
    return atomic_load(&watch->blocks) >= watch->stop_after;
}

static void count_block(void *context, size_t worker, size_t begin, size_t end)
{
    struct watch *watch = context;
    (void)worker, (void)begin, (void)end;
    atomic_fetch_add(&watch->blocks, 1);
}

/* Blocks not yet begun are left out; each thread may finish the one that it is in. */
static void test_cancel(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= WORKERS; threads *= 2) {
        for (int after = 0; after < 50; after += 7) {
            struct watch watch = {.stop_after = after};
            nl_exec exec = {.cancelled = stop_after, .user = &watch};
            nl_error error = {0};
            assert_int_equal(nl_pool_create(threads, &exec.pool, NULL), NL_OK);
            assert_int_equal(nl_parallel(&exec, 10000, 1, count_block, &watch, &error),
                             NL_CANCELLED);
            assert_int_equal(error.status, NL_CANCELLED);
            assert_in_range(atomic_load(&watch.blocks), after, after + (int)threads - 1);
            /* The pool is as good as new. */
            exec.cancelled = NULL;
            check_loop(&exec, 100, 3);
            nl_pool_free(&exec.pool);
        }
    }
}

static void note_progress(void *user, double fraction)
{
    struct watch *watch = user;
    if (atomic_fetch_add(&watch->inside, 1) != 0)
        watch->overlapped = true;
    if (!(fraction >= watch->last))
        watch->fell = true;
    watch->last = fraction;
    watch->calls++;
    atomic_fetch_sub(&watch->inside, 1);
}

/* One call at a time, a fraction that never falls, and 1 at the end. */
static void test_progress(void **state)
{
    (void)state;
    for (size_t threads = 1; threads <= WORKERS; threads *= 2) {
        for (size_t grain = 1; grain <= 64; grain *= 4) {
            struct watch watch = {0};
            nl_exec exec = {.progress = note_progress, .user = &watch};
            assert_int_equal(nl_pool_create(threads, &exec.pool, NULL), NL_OK);
            assert_int_equal(nl_parallel(&exec, 1000, grain, count_block, &watch, NULL), NL_OK);
            assert_false(watch.fell);
            assert_false(watch.overlapped);
            assert_true(watch.last == 1);
            assert_true(watch.calls >= 1 && watch.calls <= (int)(1000 / grain) + 1);
            nl_pool_free(&exec.pool);
        }
    }
}

struct caller {
    nl_exec exec;
    long sums[64];
    bool wrong;
};

static void add_up(void *context, size_t worker, size_t begin, size_t end)
{
    long *sums = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        sums[i] += (long)i;
}

static void *call_often(void *argument)
{
    struct caller *caller = argument;
    for (int loop = 0; loop < 200; loop++)
        if (nl_parallel(&caller->exec, COUNT(caller->sums), 5, add_up, caller->sums, NULL) != NL_OK)
            caller->wrong = true;
    return NULL;
}

/* Callers on several threads wait for their turn. */
static void test_callers_take_turns(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    static struct caller callers[CALLERS];
    pthread_t handles[CALLERS];
    nl_pool *pool;
    assert_int_equal(nl_pool_create(3, &pool, NULL), NL_OK);
    for (size_t c = 0; c < CALLERS; c++) {
        callers[c] = (struct caller){.exec = {.pool = pool}};
        assert_int_equal(pthread_create(&handles[c], NULL, call_often, &callers[c]), 0);
    }
    for (size_t c = 0; c < CALLERS; c++) {
        assert_int_equal(pthread_join(handles[c], NULL), 0);
        assert_false(callers[c].wrong);
        for (size_t i = 0; i < COUNT(callers[c].sums); i++)
            assert_int_equal(callers[c].sums[i], 200 * (long)i);
    }
    nl_pool_free(&pool);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_index_once),
        cmocka_unit_test(test_many_small_loops),
        cmocka_unit_test(test_pools_come_and_go),
        cmocka_unit_test(test_thread_counts),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_callers_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
