/* SPDX-License-Identifier: MIT */
/*
 * Agglomerative trees by nearest-neighbour chains (Murtagh 1985; Müllner 2011). A cluster lives in
 * the slot of its lowest row, so that ties by the lower slot are ties by the lower row.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "tree.h"

struct chains {
    nl_order_id linkage;
    size_t n;
    double *d;      /* n × n distances of slots; squares of them for Ward */
    size_t *sizes;  /* rows in each slot's cluster; 0 = the slot is gone */
    size_t *active; /* slots that are left, ascending */
    size_t left;    /* how many */
    double *heights;
    size_t *chain;
};

nl_status nl_poll(const nl_exec *exec, nl_error *error)
{
    if (exec->cancelled && exec->cancelled(exec->user))
        return nl_fail(error, NL_CANCELLED, "cancelled");
    return NL_OK;
}

void nl_tree_free(nl_tree *tree)
{
    nl_free(tree->merges);
    *tree = (nl_tree){0};
}

/* Distance of the union of i and j to k, from theirs (Lance and Williams 1967). */
static double updated(const struct chains *c, size_t i, size_t j, size_t k)
{
    const double ik = c->d[i * c->n + k], jk = c->d[j * c->n + k], ij = c->d[i * c->n + j];
    const double ni = (double)c->sizes[i], nj = (double)c->sizes[j], nk = (double)c->sizes[k];
    switch (c->linkage) {
    case NL_ORDER_SINGLE:
        return ik < jk ? ik : jk;
    case NL_ORDER_COMPLETE:
        return ik > jk ? ik : jk;
    case NL_ORDER_AVERAGE:
        return (ni * ik + nj * jk) / (ni + nj);
    default:
        return fmax(((ni + nk) * ik + (nj + nk) * jk - nk * ij) / (ni + nj + nk), 0);
    }
}

/* The nearest slot to i: on a tie the one before it in the chain, otherwise the lowest. */
static size_t nearest(const struct chains *c, size_t i, size_t previous, double *distance)
{
    const double *row = c->d + i * c->n;
    size_t best = previous;
    double smallest = previous < c->n ? row[previous] : INFINITY;
    for (size_t a = 0; a < c->left; a++) {
        const size_t j = c->active[a];
        if (j != i && (row[j] < smallest || best == c->n)) {
            smallest = row[j];
            best = j;
        }
    }
    *distance = smallest;
    return best;
}

/* The cluster in the higher slot joins that in the lower one. */
static void join(struct chains *c, size_t i, size_t j, double distance, nl_merge *merge)
{
    const size_t low = i < j ? i : j, high = i < j ? j : i;
    /* rounding must not put a cluster below its parts */
    const double height = fmax(distance, fmax(c->heights[low], c->heights[high]));
    for (size_t a = 0; a < c->left; a++) {
        const size_t k = c->active[a];
        if (k != low && k != high)
            c->d[low * c->n + k] = updated(c, low, high, k);
    }
    size_t kept = 0;
    for (size_t a = 0; a < c->left; a++) {
        const size_t k = c->active[a];
        if (k != low && k != high)
            c->d[k * c->n + low] = c->d[low * c->n + k];
        if (k != high)
            c->active[kept++] = k;
    }
    c->left = kept;
    c->sizes[low] += c->sizes[high];
    c->sizes[high] = 0;
    c->heights[low] = height;
    *merge = (nl_merge){low, high, height, c->sizes[low]};
}

static nl_status run_chains(struct chains *c, const nl_exec *exec, nl_merge *merges,
                            nl_error *error)
{
    size_t length = 0, merged = 0;
    for (size_t step = 0; c->left > 1; step++) {
        if (step % 64 == 0 && nl_poll(exec, error) != NL_OK)
            return NL_CANCELLED;
        if (length == 0)
            c->chain[length++] = c->active[0];
        const size_t i = c->chain[length - 1];
        const size_t previous = length > 1 ? c->chain[length - 2] : c->n;
        double distance;
        const size_t j = nearest(c, i, previous, &distance);
        if (j == previous) {
            join(c, i, j, distance, &merges[merged++]);
            length -= 2;
        } else {
            c->chain[length++] = j;
        }
    }
    return NL_OK;
}

static nl_status chains_make(struct chains *c, const nl_matrix *d, nl_error *error)
{
    const size_t n = c->n;
    c->d = nl_alloc(n * n, sizeof *c->d);
    c->sizes = nl_alloc(n, sizeof *c->sizes);
    c->active = nl_alloc(n, sizeof *c->active);
    c->heights = nl_alloc(n, sizeof *c->heights);
    c->chain = nl_alloc(n + 1, sizeof *c->chain);
    if (!c->d || !c->sizes || !c->active || !c->heights || !c->chain)
        return nl_fail(error, NL_NOMEM, "no memory for the tree of %zu rows: it takes %.1f MB", n,
                       (double)n * (double)n * 8e-6);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const double there = (double)nl_row(d, i)[j];
            c->d[i * n + j] = c->linkage == NL_ORDER_WARD ? there * there : there;
        }
        c->sizes[i] = 1;
        c->active[i] = i;
    }
    c->left = n;
    return NL_OK;
}

static void chains_free(struct chains *c)
{
    nl_free(c->d);
    nl_free(c->sizes);
    nl_free(c->active);
    nl_free(c->heights);
    nl_free(c->chain);
}

/* Merges by height, equals in the order in which they were found. left + n · size is unused. */
static void sort_merges(nl_merge *merges, nl_merge *spare, size_t count)
{
    nl_merge *from = merges, *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            const size_t middle = begin + width < count ? begin + width : count;
            const size_t end = begin + 2 * width < count ? begin + 2 * width : count;
            size_t a = begin, b = middle;
            for (size_t at = begin; at < end; at++) {
                if (a < middle && (b == end || from[a].height <= from[b].height))
                    to[at] = from[a++];
                else
                    to[at] = from[b++];
            }
        }
        nl_merge *swap = from;
        from = to;
        to = swap;
    }
    if (from != merges)
        memcpy(merges, from, count * sizeof *merges);
}

static size_t find(size_t *parents, size_t i)
{
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* Slots become cluster numbers. A cluster's root is its lowest row, as its slot was. */
static nl_status number_merges(nl_tree *tree, size_t n, nl_error *error)
{
    size_t *parents = nl_alloc(n, sizeof *parents), *clusters = nl_alloc(n, sizeof *clusters);
    size_t *sizes = nl_alloc(n, sizeof *sizes);
    nl_status status = NL_OK;
    if (!parents || !clusters || !sizes)
        status = nl_fail(error, NL_NOMEM, "no memory to number the clusters of %zu rows", n);
    for (size_t i = 0; status == NL_OK && i < n; i++) {
        parents[i] = clusters[i] = i;
        sizes[i] = 1;
    }
    for (size_t m = 0; status == NL_OK && m < tree->count; m++) {
        nl_merge *merge = &tree->merges[m];
        size_t a = find(parents, merge->left), b = find(parents, merge->right);
        const size_t low = a < b ? a : b, high = a < b ? b : a;
        sizes[low] += sizes[high];
        *merge = (nl_merge){clusters[low], clusters[high], merge->height, sizes[low]};
        parents[high] = low;
        clusters[low] = n + m;
    }
    nl_free(parents);
    nl_free(clusters);
    nl_free(sizes);
    return status;
}

nl_status nl_linkage(nl_order_id linkage, const nl_matrix *d, const nl_exec *exec, nl_tree *tree,
                     nl_error *error)
{
    const size_t n = d->rows;
    struct chains chains = {.linkage = linkage, .n = n};
    nl_merge *spare = nl_alloc(n, sizeof *spare);
    *tree = (nl_tree){nl_alloc(n, sizeof *tree->merges), n - 1};
    nl_status status = NL_OK;
    if (!tree->merges || !spare)
        status = nl_fail(error, NL_NOMEM, "no memory for the tree of %zu rows", n);
    if (status == NL_OK)
        status = chains_make(&chains, d, error);
    if (status == NL_OK)
        status = run_chains(&chains, exec, tree->merges, error);
    chains_free(&chains);
    if (status == NL_OK) {
        sort_merges(tree->merges, spare, tree->count);
        status = number_merges(tree, n, error);
    }
    for (size_t m = 0; status == NL_OK && linkage == NL_ORDER_WARD && m < tree->count; m++)
        tree->merges[m].height = sqrt(tree->merges[m].height);
    nl_free(spare);
    if (status != NL_OK)
        nl_tree_free(tree);
    return status;
}

nl_status nl_tree_leaves(const nl_tree *tree, size_t n, size_t *order, nl_error *error)
{
    size_t *stack = nl_alloc(n + 1, sizeof *stack);
    size_t depth = 0, p = 0;
    if (!stack)
        return nl_fail(error, NL_NOMEM, "no memory for the leaves of %zu rows", n);
    stack[depth++] = n + tree->count - 1;
    while (depth > 0) {
        const size_t cluster = stack[--depth];
        if (cluster < n) {
            order[p++] = cluster;
        } else {
            stack[depth++] = tree->merges[cluster - n].right;
            stack[depth++] = tree->merges[cluster - n].left;
        }
    }
    nl_free(stack);
    return NL_OK;
}
