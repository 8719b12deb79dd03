/* SPDX-License-Identifier: MIT */
/* Trees of clusters: as scipy grows them, and their leaves in every order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "order_rig.h"

static void test_trees_are_scipys(void **state)
{
    (void)state;
    nl_matrix x = golden_rows(), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    for (size_t l = 0; l < COUNT(linkages); l++) {
        size_t order[ORDER_ROWS];
        nl_tree tree;
        run_order(linkages[l], NL_LEAF_PLAIN, &d, NULL, NULL, order, &tree);
        check_tree(&tree, order, ORDER_ROWS);
        for (size_t m = 0; m < tree.count; m++) {
            const nl_merge *merge = &tree.merges[m];
            const size_t low = merge->left < merge->right ? merge->left : merge->right;
            const double height = golden_heights[l][m];
            assert_true(fabs(merge->height - height) <= 1e-6 * height);
            assert_int_equal(low, golden_children[l][m][0]);
            assert_int_equal(merge->left + merge->right - low, golden_children[l][m][1]);
        }
        nl_tree_free(&tree);
        nl_tree_free(&tree);
    }
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

/* The child that holds the lower row goes left, everywhere. */
static void test_plain_leaves_put_the_lower_row_left(void **state)
{
    (void)state;
    for (size_t l = 0; l < COUNT(linkages); l++) {
        for (size_t n = 2; n < 60; n += 7) {
            nl_matrix x = whole_rows(n, 3, 3, n),
                      d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
            size_t order[60], lowest[120];
            nl_tree tree;
            run_order(linkages[l], NL_LEAF_PLAIN, &d, NULL, NULL, order, &tree);
            check_tree(&tree, order, n);
            for (size_t i = 0; i < n; i++)
                lowest[i] = i;
            for (size_t m = 0; m < tree.count; m++) {
                const nl_merge *merge = &tree.merges[m];
                assert_true(lowest[merge->left] < lowest[merge->right]);
                lowest[n + m] = lowest[merge->left];
            }
            assert_int_equal(order[0], 0);
            nl_tree_free(&tree);
            nl_matrix_free(&x);
            nl_matrix_free(&d);
        }
    }
}

static void test_optimal_leaves_are_as_short_as_scipys(void **state)
{
    (void)state;
    double shorter = 0;
    for (size_t s = 0; s < COUNT(golden_paths); s++) {
        const size_t n = golden_paths[s].n;
        nl_matrix x = random_rows(n, golden_paths[s].d, 1000 + s);
        nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
        size_t *order = malloc(n * sizeof *order);
        nl_tree tree;
        run_order(linkages[golden_paths[s].linkage], NL_LEAF_OPTIMAL, &d, NULL, NULL, order, &tree);
        check_tree(&tree, order, n);
        assert_true(order[0] < order[n - 1]);
        const double path = nl_path_length(&d, order);
        if (!(path <= golden_paths[s].path * (1 + 1e-6)))
            fail_msg("set %zu: %.9g, scipy's is %.9g", s, path, golden_paths[s].path);
        shorter = fmax(shorter, 1 - path / golden_paths[s].path);
        nl_tree_free(&tree);
        nl_matrix_free(&x);
        nl_matrix_free(&d);
        free(order);
    }
    print_message("# at best %.3g shorter than scipy's\n", shorter);
}

/* The shortest path over all ways to turn the branches of a tree. */
static double shortest_by_force(const nl_tree *tree, const nl_matrix *d)
{
    const size_t n = d->rows;
    double shortest = INFINITY;
    for (size_t turns = 0; turns < (size_t)1 << tree->count; turns++) {
        size_t stack[20], order[10], depth = 0, p = 0;
        stack[depth++] = n + tree->count - 1;
        while (depth > 0) {
            const size_t cluster = stack[--depth];
            if (cluster < n) {
                order[p++] = cluster;
                continue;
            }
            const nl_merge *merge = &tree->merges[cluster - n];
            const bool turned = turns >> (cluster - n) & 1;
            stack[depth++] = turned ? merge->left : merge->right;
            stack[depth++] = turned ? merge->right : merge->left;
        }
        shortest = fmin(shortest, nl_path_length(d, order));
    }
    return shortest;
}

static void test_optimal_leaves_equal_brute_force(void **state)
{
    (void)state;
    for (size_t n = 2; n <= 8; n++)
        for (uint64_t seed = 0; seed < 24; seed++) {
            nl_matrix x = seed % 2 ? random_rows(n, 3, seed) : whole_rows(n, 2, 3, seed);
            nl_matrix d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
            size_t order[8];
            nl_tree tree;
            run_order(linkages[seed % 4], NL_LEAF_OPTIMAL, &d, NULL, NULL, order, &tree);
            check_permutation(order, n);
            check_tree(&tree, order, n);
            assert_true(order[0] < order[n - 1]);
            const double expected = shortest_by_force(&tree, &d);
            assert_true(fabs(nl_path_length(&d, order) - expected) <= 1e-12 * expected);
            nl_tree_free(&tree);
            nl_matrix_free(&x);
            nl_matrix_free(&d);
        }
}

static void test_leaves_beyond_the_limit_are_plain(void **state)
{
    (void)state;
    const size_t n = NL_LEAF_MAX_ROWS + 1;
    nl_matrix x = random_rows(n, 3, 1), d = dissim_of(NL_METRIC_EUCLIDEAN, &x, &plain_exec);
    size_t *plain = malloc(n * sizeof *plain), *optimal = malloc(n * sizeof *optimal);
    const nl_order_params params = {.id = NL_ORDER_AVERAGE, .leaf = NL_LEAF_OPTIMAL};
    unsigned notes = 0;
    run_order(NL_ORDER_AVERAGE, NL_LEAF_PLAIN, &d, NULL, NULL, plain, NULL);
    assert_int_equal(nl_order_run(&params, n, &d, NULL, &plain_exec, optimal, NULL, &notes, NULL),
                     NL_OK);
    assert_int_equal(notes, NL_ORDER_NOTE_PLAIN_LEAVES);
    assert_memory_equal(plain, optimal, n * sizeof *plain);
    free(plain);
    free(optimal);
    nl_matrix_free(&x);
    nl_matrix_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trees_are_scipys),
        cmocka_unit_test(test_plain_leaves_put_the_lower_row_left),
        cmocka_unit_test(test_optimal_leaves_are_as_short_as_scipys),
        cmocka_unit_test(test_optimal_leaves_equal_brute_force),
        cmocka_unit_test(test_leaves_beyond_the_limit_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
