/* SPDX-License-Identifier: MIT */
/* Orders and trees: against scipy, numpy and brute force; the same everywhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "order_rig.h"
#include "iris.h"

static void check_golden(nl_order_id id, const nl_matrix *d, const nl_matrix *x,
                         const unsigned *expected)
{
    size_t order[ORDER_ROWS];
    run_order(id, NL_LEAF_PLAIN, d, x, NULL, order, NULL);
    for (size_t p = 0; p < ORDER_ROWS; p++)
        if (order[p] != expected[p])
            fail_msg("%s: position %zu has row %zu, not %u", nl_orders[id].name, p, order[p],
                     expected[p]);
}

static void test_vat_spectral_and_pca_are_the_references(void **state)
{
    (void)state;
    nl_matrix x = golden_rows(), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    check_golden(NL_ORDER_VAT, &d, NULL, golden_vat);
    check_golden(NL_ORDER_SPECTRAL, &d, NULL, golden_spectral);
    check_golden(NL_ORDER_PCA, &d, &x, golden_pca);
    for (size_t i = 0; i < ORDER_ROWS; i++)
        for (size_t j = 0; j < ORDER_ROWS; j++)
            nl_row(&d, i)[j] = sqrtf(nl_row(&d, i)[j]);
    check_golden(NL_ORDER_PCA, &d, NULL, golden_scaling);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

/* Classical scaling of Euclidean distances is the first component of the rows. */
static void test_scaling_of_distances_is_pca(void **state)
{
    (void)state;
    nl_matrix x = random_rows(200, 4, 5);
    for (size_t i = 0; i < 200; i++)
        nl_row(&x, i)[2] *= 3;
    nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    size_t pca[200], scaling[200];
    run_order(NL_ORDER_PCA, NL_LEAF_PLAIN, &d, &x, NULL, pca, NULL);
    run_order(NL_ORDER_PCA, NL_LEAF_PLAIN, &d, NULL, NULL, scaling, NULL);
    assert_memory_equal(pca, scaling, sizeof pca);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

/* Whether dissimilarities are tiny or huge, the Fiedler vector keeps a line in its order. */
static void test_spectral_at_every_scale(void **state)
{
    (void)state;
    static const float scales[] = {1e-9f, 1e-3f, 1, 1e3f};
    for (size_t s = 0; s < COUNT(scales); s++) {
        nl_matrix d;
        size_t order[150];
        assert_int_equal(nl_matrix_alloc(&d, 150, 150, NULL), NL_OK);
        for (size_t i = 0; i < 150; i++)
            for (size_t j = 0; j < 150; j++) {
                const float a = (float)(i * 37 % 150), b = (float)(j * 37 % 150);
                nl_row(&d, i)[j] = scales[s] * fabsf(a - b);
            }
        run_order(NL_ORDER_SPECTRAL, NL_LEAF_PLAIN, &d, NULL, NULL, order, NULL);
        const bool rising = order[0] * 37 % 150 == 0;
        for (size_t p = 0; p < 150; p++)
            assert_int_equal(order[p] * 37 % 150, rising ? p : 149 - p);
        nl_matrix_free(&d);
    }
}

/* Prim by the book, ties by the lower row. */
static void test_vat_with_ties(void **state)
{
    (void)state;
    for (size_t n = 1; n < 70; n += 3) {
        nl_matrix x = whole_rows(n, 2, 4, n), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
        size_t order[70], first = 0;
        bool in[70] = {false};
        float largest = -1;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (nl_row(&d, i)[j] > largest) {
                    largest = nl_row(&d, i)[j];
                    first = i;
                }
        run_order(NL_ORDER_VAT, NL_LEAF_PLAIN, &d, NULL, NULL, order, NULL);
        for (size_t p = 0; p < n; p++) {
            size_t next = first;
            float nearest = INFINITY;
            for (size_t j = 0; p > 0 && j < n; j++)
                for (size_t i = 0; !in[j] && i < n; i++)
                    if (in[i] && nl_row(&d, i)[j] < nearest) {
                        nearest = nl_row(&d, i)[j];
                        next = j;
                    }
            assert_int_equal(order[p], next);
            in[next] = true;
        }
        nl_matrix view = nl_matrix_view(d.data, n, n, d.stride); /* no padding to rely on */
        size_t again[70];
        run_order(NL_ORDER_VAT, NL_LEAF_PLAIN, &view, NULL, NULL, again, NULL);
        assert_memory_equal(order, again, n * sizeof *order);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

static void test_ivat_is_the_smallest_step_that_leads_there(void **state)
{
    (void)state;
    for (size_t n = 1; n < 50; n += 6) {
        nl_matrix x = n % 2 ? random_rows(n, 2, n) : whole_rows(n, 2, 5, n);
        nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec), out, paths;
        size_t order[50];
        assert_int_equal(nl_matrix_alloc(&out, n, n, NULL), NL_OK);
        assert_int_equal(nl_matrix_copy(&paths, &d, NULL), NL_OK);
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    nl_row(&paths, i)[j] = fminf(nl_row(&paths, i)[j],
                                                 fmaxf(nl_row(&paths, i)[k], nl_row(&paths, k)[j]));
        run_order(NL_ORDER_VAT, NL_LEAF_PLAIN, &d, NULL, NULL, order, NULL);
        assert_int_equal(nl_ivat(&d, order, &plain_exec, &out, NULL), NL_OK);
        check_matrices_agree(&out, &paths);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
        nl_matrix_free(&out);
        nl_matrix_free(&paths);
    }
}

static void test_brightness_sorts_by_the_keys(void **state)
{
    (void)state;
    const double keys[] = {0.5, 0.1, 0.5, -2, 0.1};
    const size_t expected[] = {3, 1, 4, 0, 2};
    size_t order[5];
    nl_order_params params;
    nl_order_params_init(&params);
    assert_true(params.id == NL_ORDER_INPUT && params.leaf == NL_LEAF_OPTIMAL);
    params = (nl_order_params){.id = NL_ORDER_BRIGHTNESS, .keys = keys};
    assert_int_equal(nl_order_run(&params, 5, NULL, NULL, &plain_exec, order, NULL, NULL, NULL),
                     NL_OK);
    assert_memory_equal(order, expected, sizeof expected);
}

/* Fisher's iris data has dozens of tied merges: bounds, never one exact order. */
static void test_iris_paths(void **state)
{
    (void)state;
    static const struct {
        nl_order_id id;
        double bound;
    } paths[] = {{NL_ORDER_AVERAGE, 52.2}, {NL_ORDER_COMPLETE, 51.4}, {NL_ORDER_SINGLE, 66},
                 {NL_ORDER_WARD, 51},      {NL_ORDER_VAT, 83},        {NL_ORDER_SPECTRAL, 95}};
    nl_matrix x = iris_matrix(), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    int classes[IRIS_ROWS];
    for (int i = 0; i < IRIS_ROWS; i++)
        classes[i] = i / IRIS_CLASS;
    for (size_t k = 0; k < COUNT(paths); k++) {
        size_t order[IRIS_ROWS], setosa = 0;
        run_order(paths[k].id, NL_LEAF_OPTIMAL, &d, NULL, NULL, order, NULL);
        check_permutation(order, IRIS_ROWS);
        const double path = nl_path_length(&d, order);
        const size_t runs = nl_class_runs(classes, IRIS_ROWS, order);
        if (path > paths[k].bound || runs < 9 || runs > 19)
            fail_msg("%s: %.4f, %zu runs", nl_orders[paths[k].id].name, path, runs);
        for (size_t p = 1; p < IRIS_ROWS; p++) /* setosa is one block, the others mix */
            setosa += (classes[order[p]] == 0) != (classes[order[p - 1]] == 0);
        assert_true(setosa == 1 || paths[k].id == NL_ORDER_SPECTRAL);
        if (paths[k].id == NL_ORDER_VAT)
            assert_int_equal(order[0] + 1, 14);
    }
    nl_matrix_free(&d);
}

/* All orders of one matrix, one after the other. */
struct all_orders {
    const nl_matrix *d, *x;
    const double *keys;
    size_t *orders; /* NL_ORDER_COUNT × 2 × n */
};

static void order_everything(const nl_exec *exec, const struct all_orders *all, size_t *orders)
{
    const size_t n = all->d->rows;
    for (int id = NL_ORDER_SINGLE; id < NL_ORDER_COUNT; id++)
        for (int leaf = 0; leaf < 2; leaf++) {
            const nl_order_params params = {(nl_order_id)id, (nl_leaf)leaf, NULL, all->keys};
            /* pca: of the rows, and classical scaling */
            assert_int_equal(nl_order_run(&params, n, all->d, leaf ? all->x : NULL, exec,
                                          orders + (size_t)(2 * id + leaf) * n, NULL, NULL, NULL),
                             NL_OK);
        }
}

static void check_everything(const nl_exec *exec, void *context)
{
    const struct all_orders *all = context;
    const size_t n = all->d->rows, count = 2 * NL_ORDER_COUNT * n;
    size_t *orders = calloc(count, sizeof *orders);
    order_everything(exec, all, orders);
    for (size_t at = 0; at < count; at++)
        if (orders[at] != all->orders[at])
            fail_msg("%s: position %zu differs", nl_orders[at / n / 2].name, at % n);
    free(orders);
}

static void test_c39_the_same_order_on_every_tier_and_thread_count(void **state)
{
    (void)state;
    for (int ties = 0; ties < 3; ties++) {
        nl_matrix x = ties == 2 ? iris_matrix()
                      : ties    ? whole_rows(150, 3, 4, 3)
                                : random_rows(211, 8, 3);
        const nl_exec scalar = {.kernels = nl_kernels_get(NL_CPU_SCALAR, NULL)};
        nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &scalar);
        double keys[211];
        for (size_t i = 0; i < x.rows; i++)
            keys[i] = (double)(i * 5 % 7);
        struct all_orders all = {&d, &x, keys, calloc(2 * NL_ORDER_COUNT * x.rows, sizeof(size_t))};
        order_everything(&scalar, &all, all.orders);
        for (int id = NL_ORDER_SINGLE; id < NL_ORDER_COUNT; id++)
            check_permutation(all.orders + (size_t)(2 * id) * x.rows, x.rows);
        on_every_tier(check_everything, &all);
        free(all.orders);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
    }
}

/* D given directly is D: the order from it is the order from the features. */
static void test_c36_a_ready_matrix_gives_the_same_order(void **state)
{
    (void)state;
    nl_matrix x = iris_matrix(), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec), ready;
    assert_int_equal(nl_matrix_copy(&ready, &d, NULL), NL_OK);
    assert_int_equal(nl_dissim_adopt(&ready, NULL), NL_OK);
    for (int id = NL_ORDER_SINGLE; id < NL_ORDER_PCA; id++) {
        size_t a[IRIS_ROWS], b[IRIS_ROWS];
        run_order((nl_order_id)id, NL_LEAF_OPTIMAL, &d, &x, NULL, a, NULL);
        run_order((nl_order_id)id, NL_LEAF_OPTIMAL, &ready, NULL, NULL, b, NULL);
        assert_memory_equal(a, b, sizeof a);
    }
    nl_matrix_free(&d);
    nl_matrix_free(&ready);
}

static void test_c41_one_two_and_three_rows(void **state)
{
    (void)state;
    static const double keys[] = {1, 2, 3};
    for (size_t n = 1; n <= 3; n++) {
        for (int equal = 0; equal < 2; equal++) {
            nl_matrix x = random_rows(n, 2, n);
            for (size_t i = 0; equal && i < n; i++)
                nl_row(&x, i)[0] = nl_row(&x, i)[1] = 1;
            nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
            for (int id = NL_ORDER_SINGLE; id < NL_ORDER_COUNT; id++)
                for (int leaf = 0; leaf < 2; leaf++) {
                    size_t order[3];
                    nl_tree tree;
                    run_order((nl_order_id)id, (nl_leaf)leaf, &d, leaf ? &x : NULL, keys, order,
                              &tree);
                    check_permutation(order, n);
                    if (nl_orders[id].tree)
                        check_tree(&tree, order, n);
                    else
                        assert_int_equal(tree.count, 0);
                    nl_tree_free(&tree);
                }
            nl_matrix_free(&x);
            nl_matrix_free(&d);
        }
    }
    size_t order[1];
    assert_int_equal(
        nl_order_run(&(nl_order_params){0}, 0, NULL, NULL, &plain_exec, order, NULL, NULL, NULL),
        NL_INVALID);
}

/* Where nothing tells rows apart they stay as they are in the file. */
static void test_equal_rows_stay_in_file_order(void **state)
{
    (void)state;
    static const double keys[40];
    nl_matrix x, d;
    assert_int_equal(nl_matrix_alloc(&x, 40, 3, NULL), NL_OK);
    for (size_t i = 0; i < 40; i++)
        for (size_t k = 0; k < 3; k++)
            nl_row(&x, i)[k] = 0.3f;
    d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    for (int id = NL_ORDER_SINGLE; id < NL_ORDER_COUNT; id++) {
        size_t order[40];
        run_order((nl_order_id)id, NL_LEAF_PLAIN, &d, &x, keys, order, NULL);
        for (size_t p = 0; p < 40; p++)
            assert_int_equal(order[p], p);
    }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

struct watch {
    long polls_left;
    double fraction;
    size_t reports;
};

static bool countdown(void *user)
{
    return --((struct watch *)user)->polls_left < 0;
}

static void rising(void *user, double fraction)
{
    struct watch *watch = user;
    assert_true(fraction >= watch->fraction && fraction <= 1 + 1e-9);
    watch->fraction = fraction;
    watch->reports++;
}

static void test_every_poll_can_cancel(void **state)
{
    (void)state;
    static const double keys[300];
    nl_matrix x = random_rows(300, 6, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    const long live = nl_alloc_live();
    for (int id = NL_ORDER_SINGLE; id < NL_ORDER_COUNT; id++) {
        const nl_order_params params = {(nl_order_id)id, NL_LEAF_OPTIMAL, NULL, keys};
        long polls = 0;
        for (nl_status status = NL_CANCELLED; status != NL_OK; polls += 1 + polls / 8) {
            struct watch watch = {polls, 0, 0};
            const nl_exec exec = {.cancelled = countdown, .progress = rising, .user = &watch};
            size_t order[300];
            nl_tree tree;
            status = nl_order_run(&params, 300, &d, &x, &exec, order, &tree, NULL, NULL);
            assert_true(status == NL_OK || (status == NL_CANCELLED && !tree.merges));
            nl_tree_free(&tree);
            assert_int_equal(nl_alloc_live(), live);
            if (status == NL_OK && nl_orders[id].tree)
                assert_true(watch.reports > 10 && watch.fraction > 0.99 && polls > 10);
        }
    }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    static const double keys[50];
    nl_matrix x = random_rows(50, 4, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    const long live = nl_alloc_live();
    for (int id = NL_ORDER_SINGLE; id < NL_ORDER_COUNT; id++) {
        for (int rows = 0; rows < 2; rows++) {
            const nl_order_params params = {(nl_order_id)id, NL_LEAF_OPTIMAL, NULL, keys};
            long failed = 0;
            for (nl_status status = NL_NOMEM; status != NL_OK; failed++) {
                nl_error error = {.message = ""};
                size_t order[50];
                nl_tree tree;
                nl_alloc_fail_after(failed);
                status = nl_order_run(&params, 50, &d, rows ? &x : NULL, &plain_exec, order, &tree,
                                      NULL, &error);
                nl_alloc_fail_after(-1);
                assert_true(status == NL_OK ||
                            (status == NL_NOMEM && strstr(error.message, "memory")));
                nl_tree_free(&tree);
                assert_int_equal(nl_alloc_live(), live);
            }
            assert_true(failed >= 2);
        }
    }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

static void check_refusal(const nl_order_params *params, size_t n, const nl_matrix *d,
                          const nl_matrix *x, const char *word)
{
    size_t order[8];
    nl_error error = {.message = ""};
    assert_int_equal(nl_order_run(params, n, d, x, &plain_exec, order, NULL, NULL, &error),
                     NL_INVALID);
    if (!strstr(error.message, word))
        fail_msg("'%s' is not in: %s", word, error.message);
}

static void test_errors(void **state)
{
    (void)state;
    static const double bad[] = {1, NAN, 2, 3, 4};
    nl_matrix x = random_rows(5, 2, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    check_refusal(&(nl_order_params){.id = NL_ORDER_COUNT}, 5, &d, &x, "order");
    check_refusal(&(nl_order_params){.id = NL_ORDER_WARD, .leaf = NL_LEAF_COUNT}, 5, &d, &x,
                  "leav");
    check_refusal(&(nl_order_params){.id = NL_ORDER_LABEL}, 5, &d, &x, "labels");
    check_refusal(&(nl_order_params){.id = NL_ORDER_BRIGHTNESS}, 5, &d, &x, "pictures");
    check_refusal(&(nl_order_params){.id = NL_ORDER_BRIGHTNESS, .keys = bad}, 5, &d, &x, "row 2");
    check_refusal(&(nl_order_params){.id = NL_ORDER_VAT}, 5, NULL, &x, "matrix");
    check_refusal(&(nl_order_params){.id = NL_ORDER_PCA}, 5, NULL, NULL, "matrix");
    check_refusal(&(nl_order_params){.id = NL_ORDER_PCA}, 4, &d, NULL, "4 rows");
    check_refusal(&(nl_order_params){.id = NL_ORDER_PCA}, 4, NULL, &x, "4 rows");
    size_t order[5];
    assert_int_equal(nl_order_rows(NL_ORDER_VAT, 5, NULL, order, NULL), NL_INVALID);
    assert_int_equal(nl_ivat(&d, order, &plain_exec, &x, NULL), NL_INVALID);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
    assert_int_equal(nl_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vat_spectral_and_pca_are_the_references),
        cmocka_unit_test(test_scaling_of_distances_is_pca),
        cmocka_unit_test(test_spectral_at_every_scale),
        cmocka_unit_test(test_vat_with_ties),
        cmocka_unit_test(test_ivat_is_the_smallest_step_that_leads_there),
        cmocka_unit_test(test_brightness_sorts_by_the_keys),
        cmocka_unit_test(test_iris_paths),
        cmocka_unit_test(test_c39_the_same_order_on_every_tier_and_thread_count),
        cmocka_unit_test(test_c36_a_ready_matrix_gives_the_same_order),
        cmocka_unit_test(test_c41_one_two_and_three_rows),
        cmocka_unit_test(test_equal_rows_stay_in_file_order),
        cmocka_unit_test(test_every_poll_can_cancel),
        cmocka_unit_test(test_every_allocation_failing_once),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
