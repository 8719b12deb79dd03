/* SPDX-License-Identifier: MIT */
/* Figures of an order and of classes, against their definitions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "dissim_rig.h"
#include "golden_orders.h"

/* Chen 2002, triple by triple. */
static void by_definition(const nl_matrix *d, const size_t *order, uint64_t *events,
                          double *deviation)
{
    const size_t n = d->rows;
    *events = 0;
    *deviation = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            for (size_t k = j + 1; k < n; k++) {
                const size_t a = order ? order[i] : i, b = order ? order[j] : j;
                const size_t c = order ? order[k] : k;
                const double far = (double)nl_row(d, a)[c];
                const double near[] = {(double)nl_row(d, a)[b], (double)nl_row(d, b)[c]};
                for (int side = 0; side < 2; side++)
                    if (near[side] > far) {
                        ++*events;
                        *deviation += near[side] - far;
                    }
            }
}

static void check_quality(const nl_matrix *d, const size_t *order, const nl_exec *exec)
{
    uint64_t events;
    double deviation;
    nl_quality quality;
    by_definition(d, order, &events, &deviation);
    assert_int_equal(nl_quality_of(d, order, exec, &quality, NULL), NL_OK);
    assert_int_equal(quality.ar_events, events);
    assert_true(fabs(quality.ar_deviation - deviation) <= 1e-10 * deviation);
    assert_true(quality.path_length == nl_path_length(d, order));
}

static void test_anti_robinson_by_definition(void **state)
{
    (void)state;
    for (size_t n = 1; n < 60; n++) {
        nl_matrix x = n % 2 ? random_rows(n, 2, n) : whole_rows(n, 2, 3, n);
        nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
        size_t order[60];
        for (size_t p = 0; p < n; p++)
            order[p] = n - 1 - p;
        for (size_t p = 0; p + 3 < n; p += 3) {
            const size_t swap = order[p];
            order[p] = order[p + 3];
            order[p + 3] = swap;
        }
        check_quality(&d, NULL, &plain_exec);
        check_quality(&d, order, &plain_exec);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

/* A line in its order rises everywhere; turned round it does, too. */
static void test_a_line_in_order_has_no_events(void **state)
{
    (void)state;
    nl_matrix x;
    nl_quality quality;
    assert_int_equal(nl_matrix_alloc(&x, 100, 1, NULL), NL_OK);
    for (size_t i = 0; i < 100; i++)
        nl_row(&x, i)[0] = (float)i;
    nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    assert_int_equal(nl_quality_of(&d, NULL, &plain_exec, &quality, NULL), NL_OK);
    assert_true(quality.ar_events == 0 && quality.ar_deviation == 0 && quality.path_length == 99);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void test_figures_are_the_references(void **state)
{
    (void)state;
    nl_matrix x = random_rows(ORDER_ROWS, ORDER_COLS, ORDER_SEED);
    nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    size_t order[ORDER_ROWS];
    int classes[ORDER_ROWS];
    nl_quality quality;
    double silhouette;
    for (size_t p = 0; p < ORDER_ROWS; p++) {
        order[p] = golden_vat[p];
        classes[p] = (int)(p * 7 % ORDER_CLASSES);
    }
    for (int vat = 0; vat < 2; vat++) {
        assert_int_equal(nl_quality_of(&d, vat ? order : NULL, &plain_exec, &quality, NULL), NL_OK);
        assert_int_equal(quality.ar_events, golden_ar_events[vat]);
        const double expected = golden_ar_deviation[vat];
        assert_true(fabs(quality.ar_deviation - expected) <= 1e-6 * expected);
    }
    assert_int_equal(nl_silhouette(&d, classes, ORDER_CLASSES, &plain_exec, &silhouette, NULL),
                     NL_OK);
    assert_true(fabs(silhouette - golden_silhouette) < 1e-6);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void test_silhouette_of_special_classes(void **state)
{
    (void)state;
    const int one[] = {0, 0, 0, 0, 0, 0}, alone[] = {0, 0, 0, 4, 1, 1}, bad[] = {0, 0, 9, 0, 0, 0};
    nl_matrix x = random_rows(6, 2, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    double silhouette, unused;
    nl_error error;
    assert_int_equal(nl_silhouette(&d, one, 3, &plain_exec, &silhouette, NULL), NL_OK);
    assert_true(isnan(silhouette));
    assert_int_equal(nl_silhouette(&d, alone, 5, &plain_exec, &silhouette, NULL), NL_OK);
    assert_true(silhouette >= -1 && silhouette <= 1);
    assert_int_equal(nl_silhouette(&d, bad, 5, &plain_exec, &unused, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "row 3"));
    for (size_t i = 0; i < 6; i++) /* all equal: 0, not 0/0 */
        for (size_t j = 0; j < 6; j++)
            nl_row(&d, i)[j] = 0;
    assert_int_equal(nl_silhouette(&d, alone, 5, &plain_exec, &silhouette, NULL), NL_OK);
    assert_true(silhouette == 0);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

/* More classes than any list of colours has. */
static void test_c44_forty_classes(void **state)
{
    (void)state;
    enum { N = 200, CLASSES = 40 };
    nl_matrix x = random_rows(N, 3, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    int classes[N];
    size_t order[N];
    double means[CLASSES * CLASSES], silhouette, sum = 0;
    for (size_t i = 0; i < N; i++)
        classes[i] = (int)(i * 11 % CLASSES);
    assert_int_equal(nl_order_rows(NL_ORDER_LABEL, N, classes, order, NULL), NL_OK);
    assert_int_equal(nl_class_runs(classes, N, order), CLASSES);
    assert_int_equal(nl_silhouette(&d, classes, CLASSES, &plain_exec, &silhouette, NULL), NL_OK);
    assert_true(silhouette > -1 && silhouette < 0);
    nl_block_means(&d, classes, CLASSES, means);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; classes[i] == 3 && j < N; j++)
            sum += classes[j] == 5 ? (double)nl_row(&d, i)[j] : 0;
    assert_true(fabs(means[3 * CLASSES + 5] - sum / 25) < 1e-12);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void check_same(const nl_exec *exec, void *context)
{
    const nl_matrix *d = context;
    nl_quality here, there;
    assert_int_equal(nl_quality_of(d, NULL, exec, &here, NULL), NL_OK);
    assert_int_equal(nl_quality_of(d, NULL, &plain_exec, &there, NULL), NL_OK);
    assert_int_equal(here.ar_events, there.ar_events);
    assert_true(here.ar_deviation == there.ar_deviation);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void test_threads_memory_and_cancelling(void **state)
{
    (void)state;
    nl_matrix x = random_rows(120, 3, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    int classes[120];
    const long live = nl_alloc_live();
    for (int i = 0; i < 120; i++)
        classes[i] = i % 3;
    on_every_tier(check_same, &d);
    const nl_exec cancelled = {.cancelled = always};
    nl_quality quality;
    double silhouette;
    assert_int_equal(nl_quality_of(&d, NULL, &cancelled, &quality, NULL), NL_CANCELLED);
    assert_int_equal(nl_silhouette(&d, classes, 3, &cancelled, &silhouette, NULL), NL_CANCELLED);
    long failed = 0;
    for (nl_status status = NL_NOMEM; status != NL_OK; failed++) {
        nl_alloc_fail_after(failed);
        status = nl_quality_of(&d, NULL, &plain_exec, &quality, NULL);
        if (status == NL_OK)
            status = nl_silhouette(&d, classes, 3, &plain_exec, &silhouette, NULL);
        nl_alloc_fail_after(-1);
        assert_true(status == NL_OK || status == NL_NOMEM);
        assert_int_equal(nl_alloc_live(), live);
    }
    assert_true(failed >= 5);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_anti_robinson_by_definition),
        cmocka_unit_test(test_a_line_in_order_has_no_events),
        cmocka_unit_test(test_figures_are_the_references),
        cmocka_unit_test(test_silhouette_of_special_classes),
        cmocka_unit_test(test_c44_forty_classes),
        cmocka_unit_test(test_threads_memory_and_cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
