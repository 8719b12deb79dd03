/* SPDX-License-Identifier: MIT */
/* The worker: newest wins, giving up, failures, and an end at any time. Worth running under a
 * thread sanitizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "folder_rig.h"
#include "job.h"
#include "nonlocal/system.h"

enum { PATIENCE = 100 }; /* seconds */

static atomic_int wakes;

static void wake(void *user)
{
    assert_ptr_equal(user, &wakes);
    atomic_fetch_add(&wakes, 1);
}

static struct job *create(void)
{
    nl_error error = {0};
    struct job *job = job_create(NL_CPU_AUTO, 2, wake, &wakes, &error);
    assert_non_null(job);
    assert_int_equal(job_threads(job), 2);
    assert_non_null(job_kernels(job));
    return job;
}

static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000L * ms}, NULL);
}

/* Until the worker sleeps; *result is the last of what it published. True when there was any. */
static bool finish(struct job *job, struct result *result)
{
    const time_t end = time(NULL) + PATIENCE;
    bool any = false;
    for (bool busy = true; busy;) {
        struct result newer = {0};
        busy = job_state(job).busy;
        if (job_take(job, &newer)) {
            result_release(result);
            *result = newer;
            any = true;
        }
        if (busy)
            pause_ms(1);
        assert_true(time(NULL) < end);
    }
    return any;
}

static struct doc doc_of(const char *source)
{
    struct doc doc;
    doc_init(&doc);
    snprintf(doc.source, sizeof doc.source, "%s", source);
    return doc;
}

static void set(struct doc *doc, enum param_id id, double number)
{
    param_set(doc, id, (struct param_value){.number = number});
}

static void check_complete(const struct result *result, const struct doc *doc, uint64_t source)
{
    const struct stage_keys keys = stage_keys(doc, source, result->source->source.kind);
    assert_int_equal(result->error.status, NL_OK);
    assert_true(result->source->part.key == source);
    assert_true(result->features->part.key == keys.features);
    assert_true(result->attention->part.key == keys.attention);
    assert_true(result->dissim->part.key == keys.dissim);
    assert_true(result->order->part.key == keys.order);
    assert_ptr_equal(result->order->dissim, result->dissim);
    assert_true(result->cells->part.key == keys.cells);
    assert_ptr_equal(result->cells->dissim, result->dissim);
    assert_true(result->overview->part.key == keys.overview);
    assert_true(result->quality->part.key == keys.quality);
    assert_ptr_equal(result->attention->features, result->features);
}

static void test_nothing_asked(void **state)
{
    struct job *job = create();
    struct result result = {0};
    (void)state;
    assert_false(job_state(job).busy);
    assert_false(job_take(job, &result));
    job_cancel(job);
    assert_false(job_state(job).busy);
    job_destroy(&job);
    assert_null(job);
    job_destroy(&job); /* twice is harmless */
}

static void test_one_request(void **state)
{
    struct job *job = create();
    struct result result = {0};
    const struct doc doc = doc_of("@sample");
    (void)state;
    atomic_store(&wakes, 0);
    job_post(job, &doc, 7);
    assert_true(job_state(job).busy);
    assert_true(finish(job, &result));
    check_complete(&result, &doc, 7);
    assert_int_equal(atomic_load(&wakes), 3); /* the map, the matrix, how good its order is */
    struct result again = {0};
    assert_false(job_take(job, &again)); /* it has been taken */
    result_release(&result);
    job_destroy(&job);
}

static void test_the_newest_request_wins(void **state)
{
    struct job *job = create();
    struct result result = {0};
    struct doc doc = doc_of("@sample");
    (void)state;
    for (int i = 0; i < 60; i++) {
        set(&doc, PARAM_PATCH, 3 + i % 9);
        set(&doc, PARAM_SIMILARITY, i % NL_SIMILARITY_COUNT);
        set(&doc, PARAM_STRIDE, 4 + i % 2);
        job_post(job, &doc, 1);
        if (i % 4 == 0)
            pause_ms(i % 20);
    }
    set(&doc, PARAM_SIMILARITY, NL_COSINE);
    job_post(job, &doc, 1);
    assert_true(finish(job, &result));
    check_complete(&result, &doc, 1);
    result_release(&result);
    job_destroy(&job);
}

static void test_finished_parts_are_kept(void **state)
{
    struct job *job = create();
    struct result first = {0}, second = {0}, table = {0}, third = {0};
    struct doc doc = doc_of("@sample");
    const struct doc iris = doc_of("@iris");
    (void)state;
    job_post(job, &doc, 1);
    assert_true(finish(job, &first));
    set(&doc, PARAM_SIMILARITY, NL_GAUSSIAN);
    job_post(job, &doc, 1);
    assert_true(finish(job, &second));
    check_complete(&second, &doc, 1);
    assert_ptr_equal(first.source, second.source);
    assert_ptr_equal(first.features, second.features);
    assert_ptr_equal(first.order, second.order);
    assert_ptr_not_equal(first.attention, second.attention);
    job_post(job, &iris, 2);
    assert_true(finish(job, &table));
    check_complete(&table, &iris, 2);
    job_post(job, &doc, 1); /* back: nothing is loaded or computed again */
    assert_true(finish(job, &third));
    assert_ptr_equal(third.source, second.source);
    assert_ptr_equal(third.attention, second.attention);
    assert_ptr_equal(third.order, second.order);
    job_destroy(&job); /* results outlive the worker */
    check_complete(&table, &iris, 2);
    check_complete(&third, &doc, 1);
    result_release(&first);
    result_release(&second);
    result_release(&table);
    result_release(&third);
}

/* Seconds of work, given up at once. */
static struct doc large(void)
{
    struct doc doc = doc_of("@sample");
    doc_switch_system(&doc, NL_SYSTEM_NLM);
    set(&doc, PARAM_SIMILARITY, NL_EMBEDDED_GAUSSIAN);
    set(&doc, PARAM_PATCH, 16);
    return doc;
}

static void test_giving_up(void **state)
{
    struct job *job = create();
    struct result before = {0}, after = {0};
    const struct doc small = doc_of("@sample"), much = large();
    (void)state;
    job_post(job, &small, 1);
    assert_true(finish(job, &before));
    const time_t start = time(NULL);
    job_post(job, &much, 1);
    pause_ms(20);
    job_cancel(job);
    finish(job, &after);
    assert_true(time(NULL) - start < 20);
    const struct stage_keys keys = stage_keys(&much, 1, SOURCE_PICTURE);
    assert_true(!after.order || after.order->part.key != keys.order);
    result_release(&after);
    job_post(job, &small, 1); /* and it goes on working */
    assert_true(finish(job, &after));
    check_complete(&after, &small, 1);
    result_release(&before);
    result_release(&after);
    job_destroy(&job);
}

/* Whether the worker has taken the request up or not, it ends up asleep. */
static void test_giving_up_at_once(void **state)
{
    struct job *job = create();
    struct result result = {0};
    const struct doc doc = doc_of("@iris");
    (void)state;
    for (int i = 0; i < 300; i++) {
        job_post(job, &doc, 1);
        job_cancel(job);
        finish(job, &result);
    }
    job_post(job, &doc, 1);
    finish(job, &result);
    check_complete(&result, &doc, 1);
    result_release(&result);
    job_destroy(&job);
}

static void test_failures(void **state)
{
    struct job *job = create();
    struct result result = {0};
    const struct doc missing = doc_of("no/such/file.png"), good = doc_of("@iris");
    (void)state;
    job_post(job, &missing, 1);
    assert_true(finish(job, &result));
    assert_int_equal(result.error.status, NL_IO);
    assert_true(result.error_key == 1);
    assert_non_null(strstr(result.error.message, "no/such/file.png"));
    assert_null(result.source);
    result_release(&result);

    job_post(job, &good, 2);
    assert_true(finish(job, &result));
    check_complete(&result, &good, 2);

    job_post(job, &missing, 3); /* what was there stays */
    struct result failed = {0};
    assert_true(finish(job, &failed));
    assert_true(failed.error_key == 3);
    assert_ptr_equal(failed.source, result.source);
    assert_ptr_equal(failed.order, result.order);
    result_release(&failed);

    FILE *file = fopen("far.csv", "w"); /* squares beyond what a float can say */
    assert_non_null(file);
    assert_true(fputs("x,y\n3e19,1\n-3e19,2\n1,3\n", file) >= 0 && fclose(file) == 0);
    struct doc impossible = doc_of("far.csv");
    set(&impossible, PARAM_METRIC, NL_METRIC_SQEUCLIDEAN);
    set(&impossible, PARAM_SIMILARITY, NL_COSINE);
    job_post(job, &impossible, 4);
    assert_true(finish(job, &failed));
    assert_int_not_equal(failed.error.status, NL_OK);
    assert_true(failed.error_key == stage_keys(&impossible, 4, SOURCE_TABLE).order);
    assert_non_null(failed.attention); /* the map is there nevertheless */
    result_release(&failed);
    result_release(&result);
    job_destroy(&job);
}

static void test_an_end_in_the_middle(void **state)
{
    const struct doc much = large(), small = doc_of("@iris");
    (void)state;
    for (int i = 0; i < 12; i++) {
        struct job *job = create();
        struct result result = {0};
        job_post(job, i % 3 ? &much : &small, 1);
        pause_ms(4 * i);
        if (i % 2)
            job_post(job, &small, 2);
        job_take(job, &result);
        job_destroy(&job);
        result_release(&result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_asked),
        cmocka_unit_test(test_one_request),
        cmocka_unit_test(test_the_newest_request_wins),
        cmocka_unit_test(test_finished_parts_are_kept),
        cmocka_unit_test(test_giving_up),
        cmocka_unit_test(test_giving_up_at_once),
        CASE(test_failures),
        cmocka_unit_test(test_an_end_in_the_middle),
    };
    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
