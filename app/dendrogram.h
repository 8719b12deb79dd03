/* SPDX-License-Identifier: MIT */
/* Where the branches of a tree of clusters stand beside its leaves in the order shown. */
#ifndef NONLOCAL_APP_DENDROGRAM_H
#define NONLOCAL_APP_DENDROGRAM_H

#include "nonlocal/dissim.h"

/* A merge; its leaves are consecutive, because the order is one of the tree's. */
struct branch {
    double at;          /* between its two children; leaf p stands at p + 0.5 */
    double low, high;   /* where the children are */
    double height;      /* of the merge */
    double under[2];    /* heights of the children at low and high, 0 for a leaf */
    size_t first, last; /* positions of its leaves */
    size_t parent;      /* index of the merge that takes it in, SIZE_MAX at the root */
};

struct dendrogram {
    struct branch *branches; /* as nl_tree's merges; NULL without a tree */
    size_t count, leaves;    /* leaves = count + 1 */
    size_t *above;           /* leaves: the merge that takes the leaf at a position in */
};

/* position[row] of every row; empty for an empty tree. */
nl_status dendrogram_create(const nl_tree *tree, const float *position, struct dendrogram *made,
                            nl_error *error);
void dendrogram_free(struct dendrogram *dendrogram);

/*
 * The largest branch with the leaf at a position that is no higher than `height`: what cutting the
 * tree there would leave. SIZE_MAX where even the leaf's first merge is higher.
 */
size_t dendrogram_cut(const struct dendrogram *dendrogram, size_t position, double height);

#endif
