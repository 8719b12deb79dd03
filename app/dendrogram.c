/* SPDX-License-Identifier: MIT */
#include "dendrogram.h"

#include <stdlib.h>

#include "nonlocal/base.h"

void dendrogram_free(struct dendrogram *dendrogram)
{
    free(dendrogram->branches);
    free(dendrogram->above);
    *dendrogram = (struct dendrogram){0};
}

/* A child of merge m: where it stands, how high it is, which leaves it has. */
struct child {
    double at, height;
    size_t first, last;
};

static struct child take_in(struct dendrogram *made, size_t cluster, size_t m,
                            const float *position)
{
    if (cluster < made->leaves) {
        const size_t p = (size_t)position[cluster];
        made->above[p] = m;
        return (struct child){(double)p + 0.5, 0, p, p};
    }
    struct branch *branch = &made->branches[cluster - made->leaves];
    branch->parent = m;
    return (struct child){branch->at, branch->height, branch->first, branch->last};
}

nl_status dendrogram_create(const nl_tree *tree, const float *position, struct dendrogram *made,
                            nl_error *error)
{
    *made = (struct dendrogram){0};
    if (tree->count == 0)
        return NL_OK;
    made->count = tree->count;
    made->leaves = tree->count + 1;
    made->branches = calloc(made->count, sizeof *made->branches);
    made->above = calloc(made->leaves, sizeof *made->above);
    if (!made->branches || !made->above) {
        dendrogram_free(made);
        return nl_fail(error, NL_NOMEM, "no memory for a tree of %zu rows", tree->count + 1);
    }
    for (size_t m = 0; m < made->count; m++) {
        const nl_merge *merge = &tree->merges[m];
        struct child left = take_in(made, merge->left, m, position);
        struct child right = take_in(made, merge->right, m, position);
        if (left.at > right.at) {
            const struct child swap = left;
            left = right;
            right = swap;
        }
        made->branches[m] = (struct branch){
            .at = (left.at + right.at) / 2,
            .low = left.at,
            .high = right.at,
            .height = merge->height,
            .under = {left.height, right.height},
            .first = left.first,
            .last = right.last,
            .parent = SIZE_MAX,
        };
    }
    return NL_OK;
}

size_t dendrogram_cut(const struct dendrogram *dendrogram, size_t position, double height)
{
    size_t found = SIZE_MAX;
    for (size_t m = dendrogram->above[position];
         m != SIZE_MAX && dendrogram->branches[m].height <= height;
         m = dendrogram->branches[m].parent)
        found = m;
    return found;
}
