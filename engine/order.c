/* SPDX-License-Identifier: MIT */
#include "nonlocal/dissim.h"

#include <limits.h>
#include <math.h>

#include "seriate.h"
#include "tree.h"

const nl_order nl_orders[NL_ORDER_COUNT + 1] = {
    [NL_ORDER_INPUT] = {"input", "As in the file"},
    [NL_ORDER_LABEL] = {"label", "By class", .needs_classes = true},
    [NL_ORDER_SINGLE] = {"single", "Single linkage", .tree = true, .needs_matrix = true},
    [NL_ORDER_COMPLETE] = {"complete", "Complete linkage", .tree = true, .needs_matrix = true},
    [NL_ORDER_AVERAGE] = {"average", "Average linkage", .tree = true, .needs_matrix = true},
    [NL_ORDER_WARD] = {"ward", "Ward's linkage", .tree = true, .needs_matrix = true},
    [NL_ORDER_VAT] = {"vat", "VAT", .needs_matrix = true},
    [NL_ORDER_SPECTRAL] = {"spectral", "Spectral", .needs_matrix = true},
    [NL_ORDER_PCA] = {"pca", "First component"},
    [NL_ORDER_BRIGHTNESS] = {"brightness", "Brightness", .needs_keys = true},
};

const nl_leaf_order nl_leaf_orders[NL_LEAF_COUNT + 1] = {
    [NL_LEAF_PLAIN] = {"plain", "Plain"},
    [NL_LEAF_OPTIMAL] = {"optimal", "Optimal"},
};

nl_status nl_order_rows(nl_order_id id, size_t n, const int *classes, size_t *order,
                        nl_error *error)
{
    if ((unsigned)id >= NL_ORDER_COUNT)
        return nl_fail(error, NL_INVALID, "there is no order number %d", (int)id);
    if (nl_orders[id].needs_classes && !classes)
        return nl_fail(error, NL_INVALID,
                       "the order '%s' needs labels, and this data has no label column",
                       nl_orders[id].name);
    if (id > NL_ORDER_LABEL)
        return nl_fail(error, NL_INVALID, "the order '%s' needs more than classes",
                       nl_orders[id].name);
    if (id == NL_ORDER_INPUT) {
        for (size_t p = 0; p < n; p++)
            order[p] = p;
        return NL_OK;
    }
    for (size_t i = 0; i < n; i++)
        if (classes[i] < 0)
            return nl_fail(error, NL_INVALID, "class numbers must not be negative");
    for (int class = 0; n > 0;) {
        int next = INT_MAX; /* numbers may be missing: a class too many must not cost a round */
        for (size_t i = 0; i < n; i++) {
            if (classes[i] == class)
                *order++ = i;
            else if (classes[i] > class && classes[i] < next)
                next = classes[i];
        }
        if (class == next)
            break;
        class = next;
    }
    return NL_OK;
}

void nl_order_params_init(nl_order_params *params)
{
    *params = (nl_order_params){.id = NL_ORDER_INPUT, .leaf = NL_LEAF_OPTIMAL};
}

static nl_status order_by_tree(const nl_order_params *params, const nl_matrix *d,
                               const nl_exec *exec, size_t *order, nl_tree *tree, unsigned *notes,
                               nl_error *error)
{
    nl_status status = nl_linkage(params->id, d, exec, tree, error);
    if (status == NL_OK)
        status = nl_tree_leaves(tree, d->rows, order, error);
    if (status == NL_OK && params->leaf == NL_LEAF_OPTIMAL) {
        if (d->rows <= NL_LEAF_MAX_ROWS)
            status = nl_leaves_optimal(tree, d, exec, order, error);
        else
            *notes |= NL_ORDER_NOTE_PLAIN_LEAVES;
    }
    return status;
}

static nl_status order_by_given_keys(const nl_order_params *params, size_t n, size_t *order,
                                     nl_error *error)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(params->keys[i]))
            return nl_fail(error, NL_INVALID, "the key of row %zu is not a finite number", i + 1);
    return nl_order_by_keys(params->keys, n, order, error);
}

static nl_status check_order(const nl_order_params *params, size_t n, const nl_matrix *d,
                             const nl_matrix *x, nl_error *error)
{
    const nl_order_id id = params->id;
    if ((unsigned)id >= NL_ORDER_COUNT || (unsigned)params->leaf >= NL_LEAF_COUNT)
        return nl_fail(error, NL_INVALID, "there is no order number %d with leaves %d", (int)id,
                       (int)params->leaf);
    if (n == 0)
        return nl_fail(error, NL_INVALID, "there are no rows to order");
    if (nl_orders[id].needs_keys && !params->keys)
        return nl_fail(error, NL_INVALID, "the order '%s' is for pictures", nl_orders[id].name);
    if ((nl_orders[id].needs_matrix && !d) || (id == NL_ORDER_PCA && !d && !x))
        return nl_fail(error, NL_INVALID, "the order '%s' needs the dissimilarity matrix",
                       nl_orders[id].name);
    if ((d && (d->rows != n || d->cols != n)) || (x && x->rows != n))
        return nl_fail(error, NL_INVALID, "%zu rows are to be ordered, and there are %zu", n,
                       d ? d->rows : x->rows);
    return NL_OK;
}

static nl_status run_order(const nl_order_params *params, size_t n, const nl_matrix *d,
                           const nl_matrix *x, const nl_exec *exec, size_t *order, nl_tree *tree,
                           unsigned *notes, nl_error *error)
{
    nl_status status;
    bool settled = true;
    switch (params->id) {
    case NL_ORDER_VAT:
        status = nl_vat_order(d, exec, order, error);
        break;
    case NL_ORDER_SPECTRAL:
        status = nl_order_spectral(d, exec, order, &settled, error);
        break;
    case NL_ORDER_PCA:
        status = x ? nl_order_pca(x, exec, order, &settled, error)
                   : nl_order_scaling(d, exec, order, &settled, error);
        break;
    case NL_ORDER_BRIGHTNESS:
        status = order_by_given_keys(params, n, order, error);
        break;
    default:
        status = nl_orders[params->id].tree
                     ? order_by_tree(params, d, exec, order, tree, notes, error)
                     : nl_order_rows(params->id, n, params->classes, order, error);
    }
    if (!settled)
        *notes |= NL_ORDER_NOTE_UNSETTLED;
    return status;
}

nl_status nl_order_run(const nl_order_params *params, size_t n, const nl_matrix *d,
                       const nl_matrix *x, const nl_exec *exec, size_t *order, nl_tree *tree,
                       unsigned *notes, nl_error *error)
{
    nl_tree grown = {0};
    unsigned noted = 0;
    nl_status status = check_order(params, n, d, x, error);
    if (status == NL_OK)
        status = run_order(params, n, d, x, exec, order, &grown, &noted, error);
    if (!tree || status != NL_OK)
        nl_tree_free(&grown);
    if (tree)
        *tree = grown;
    if (notes)
        *notes = noted;
    return status;
}
