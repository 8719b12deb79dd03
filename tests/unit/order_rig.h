/* SPDX-License-Identifier: MIT */
/* Orders and trees, run and checked, for tests. Include after cmocka.h. */
#ifndef NONLOCAL_TESTS_ORDER_RIG_H
#define NONLOCAL_TESTS_ORDER_RIG_H

#include <stdlib.h>
#include <string.h>

#include "dissim_rig.h"
#include "golden_orders.h"
#include "nonlocal/dissim.h"

static const nl_order_id linkages[] = {NL_ORDER_SINGLE, NL_ORDER_COMPLETE, NL_ORDER_AVERAGE,
                                       NL_ORDER_WARD};

/* Any order of d; x and keys may be NULL. */
static inline void run_order(nl_order_id id, nl_leaf leaf, const nl_matrix *d, const nl_matrix *x,
                             const double *keys, size_t *order, nl_tree *tree)
{
    const nl_order_params params = {.id = id, .leaf = leaf, .keys = keys};
    nl_error error = {.message = ""};
    unsigned notes = 9;
    if (nl_order_run(&params, d->rows, d, x, &plain_exec, order, tree, &notes, &error) != NL_OK)
        fail_msg("%s: %s", nl_orders[id].name, error.message);
    assert_int_equal(notes, 0);
}

static inline void check_permutation(const size_t *order, size_t n)
{
    bool *seen = calloc(n, sizeof *seen);
    for (size_t p = 0; p < n; p++) {
        assert_true(order[p] < n && !seen[order[p]]);
        seen[order[p]] = true;
    }
    free(seen);
}

/* Numbered as scipy does, and its leaves from left to right are the order. */
static inline void check_tree(const nl_tree *tree, const size_t *order, size_t n)
{
    size_t *first = calloc(2 * n, sizeof *first), *size = calloc(2 * n, sizeof *size);
    bool *used = calloc(2 * n, sizeof *used);
    assert_int_equal(tree->count, n - 1);
    for (size_t p = 0; p < n; p++) {
        first[order[p]] = p;
        size[order[p]] = 1;
    }
    for (size_t m = 0; m < tree->count; m++) {
        const nl_merge *merge = &tree->merges[m];
        assert_true(merge->left < n + m && merge->right < n + m && merge->left != merge->right);
        assert_false(used[merge->left] || used[merge->right]);
        used[merge->left] = used[merge->right] = true;
        assert_true(m == 0 || merge->height >= tree->merges[m - 1].height);
        assert_int_equal(first[merge->right], first[merge->left] + size[merge->left]);
        assert_int_equal(merge->size, size[merge->left] + size[merge->right]);
        first[n + m] = first[merge->left];
        size[n + m] = merge->size;
    }
    free(first);
    free(size);
    free(used);
}

static inline nl_matrix golden_rows(void)
{
    return random_rows(ORDER_ROWS, ORDER_COLS, ORDER_SEED);
}

#endif
