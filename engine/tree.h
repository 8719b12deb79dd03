/* SPDX-License-Identifier: MIT */
/* Trees of clusters over a dissimilarity matrix, and the orders in which they can be read. */
#ifndef NL_TREE_H
#define NL_TREE_H

#include "nonlocal/dissim.h"

/*
 * The tree of one of the four linkages by chains of nearest neighbours, in O(n²). The left child
 * holds the lower row. *tree is empty on failure.
 */
nl_status nl_linkage(nl_order_id linkage, const nl_matrix *d, const nl_exec *exec, nl_tree *tree,
                     nl_error *error);

/* Its n leaves from left to right. */
nl_status nl_tree_leaves(const nl_tree *tree, size_t n, size_t *order, nl_error *error);

/*
 * order, the tree's leaves, becomes the shortest path that turning branches gives, the end with
 * the lower row first; the merges' left and right follow.
 */
nl_status nl_leaves_optimal(nl_tree *tree, const nl_matrix *d, const nl_exec *exec, size_t *order,
                            nl_error *error);

/* VAT's order; what it needs is n numbers a few times. */
nl_status nl_vat_order(const nl_matrix *d, const nl_exec *exec, size_t *order, nl_error *error);

/* NL_CANCELLED when exec says so. */
nl_status nl_poll(const nl_exec *exec, nl_error *error);

#endif
