/* SPDX-License-Identifier: MIT */
/*
 * Optimal leaf order (Bar-Joseph, Gifford, Jaakkola 2001), exact. M(u, w) is the shortest path
 * through the leaves of the smallest cluster that holds u and w, from u to w. With the leaves in
 * the tree's order a cluster is a span, and
 *     M(u, w) = min over m, k of M(u, m) + D(m, k) + M(k, w)
 * is two products of blocks of M and D in which + has become min and × has become +: O(n³) at
 * worst, for balanced trees, and O(n²) for chains.
 */
#include <math.h>

#include "alloc.h"
#include "panels.h"
#include "pool.h"
#include "tree.h"

/* A cluster as a span of leaves: [begin, split) on the left, [split, end) on the right. */
struct span {
    size_t begin, split, end;
};

struct leaves {
    const nl_kernels *kernels;
    size_t n;
    nl_tree *tree;
    const size_t *rows; /* row of each leaf, in the tree's order */
    double *d, *m;      /* n × n, by leaves */
    double *scratch;    /* GRAIN × n for each worker */
    struct span *spans; /* of each cluster, leaves included */
};

enum { GRAIN = 16 };

static struct span span_of(const struct leaves *l, size_t cluster)
{
    return l->spans[cluster];
}

static bool is_leaf(const struct span *span)
{
    return span->end - span->begin == 1;
}

/* The leaves at which a path through the span that ends in u can have its other end. */
static struct span opposite(const struct span *span, size_t u)
{
    if (is_leaf(span))
        return *span;
    return u < span->split ? (struct span){span->split, 0, span->end}
                           : (struct span){span->begin, 0, span->split};
}

static void place_spans(struct leaves *l)
{
    const size_t n = l->n;
    l->spans[n + l->tree->count - 1] = (struct span){0, 0, n};
    for (size_t m = l->tree->count; m-- > 0;) {
        const nl_merge *merge = &l->tree->merges[m];
        struct span *span = &l->spans[n + m];
        const size_t size = merge->left < n ? 1 : l->tree->merges[merge->left - n].size;
        span->split = span->begin + size;
        l->spans[merge->left] = (struct span){span->begin, 0, span->split};
        l->spans[merge->right] = (struct span){span->split, 0, span->end};
    }
}

struct join_loop {
    const struct leaves *leaves;
    struct span span, left, right;
};

/* t (rows of `right`) = min over m of M(u, m) + D(m, ·) for u in [u, end), on one side of left. */
static void towards(const struct join_loop *loop, size_t u, size_t end, double *t)
{
    const struct leaves *l = loop->leaves;
    const size_t n = l->n, c = loop->right.begin, width = loop->right.end - c;
    const struct span other = opposite(&loop->left, u);
    l->kernels->min_plus(l->m + u * n + other.begin, n, end - u, other.end - other.begin,
                         l->d + other.begin * n + c, n, width, t, width);
}

/* M(u, w) for u in [u, end) and every w of the right span. */
static void across(const struct join_loop *loop, size_t u, size_t end, const double *t)
{
    const struct leaves *l = loop->leaves;
    const size_t n = l->n, c = loop->right.begin, width = loop->right.end - c;
    const size_t sides[3] = {c, is_leaf(&loop->right) ? c + 1 : loop->right.split, loop->right.end};
    for (size_t side = 0; side < 2 && sides[side] < sides[side + 1]; side++) {
        const size_t w = sides[side];
        const struct span other = opposite(&loop->right, w);
        l->kernels->min_plus(t + other.begin - c, width, end - u, other.end - other.begin,
                             l->m + other.begin * n + w, n, sides[side + 1] - w, l->m + u * n + w,
                             n);
    }
    for (size_t w = c; w < loop->right.end; w++)
        for (size_t i = u; i < end; i++)
            l->m[w * n + i] = l->m[i * n + w];
}

static void join_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct join_loop *loop = context;
    const struct leaves *l = loop->leaves;
    double *t = l->scratch + worker * GRAIN * l->n;
    const size_t split = is_leaf(&loop->left) ? loop->left.end : loop->left.split;
    for (size_t u = loop->left.begin + begin; u < loop->left.begin + end;) {
        size_t stop = loop->left.begin + end;
        if (u < split && split < stop)
            stop = split;
        towards(loop, u, stop, t);
        across(loop, u, stop, t);
        u = stop;
    }
}

/* Additions that a cluster takes, about. */
static double cost_of(const struct leaves *l, size_t cluster)
{
    const nl_merge *merge = &l->tree->merges[cluster - l->n];
    const struct span left = span_of(l, merge->left), right = span_of(l, merge->right);
    const double a = (double)(left.end - left.begin), b = (double)(right.end - right.begin);
    const double inner_a = is_leaf(&left) ? 1 : (double)(left.split - left.begin);
    const double inner_b = is_leaf(&right) ? 1 : (double)(right.split - right.begin);
    return 2 * inner_a * (a - inner_a + 1) * b + 2 * inner_b * (b - inner_b + 1) * a;
}

static nl_status fill_paths(struct leaves *l, const nl_exec *exec, nl_error *error)
{
    nl_exec quiet = *exec;
    quiet.progress = NULL; /* one fraction for the whole, not one a cluster */
    double total = 0, done = 0, told = 0;
    for (size_t m = 0; m < l->tree->count; m++)
        total += cost_of(l, l->n + m);
    for (size_t m = 0; m < l->tree->count; m++) {
        const nl_merge *merge = &l->tree->merges[m];
        struct join_loop loop = {l, span_of(l, l->n + m), span_of(l, merge->left),
                                 span_of(l, merge->right)};
        const size_t rows = loop.left.end - loop.left.begin;
        const double cost = cost_of(l, l->n + m);
        nl_status status = NL_OK;
        if (cost > 1e5)
            status = nl_parallel(&quiet, rows, GRAIN, join_rows, &loop, error);
        else
            for (size_t u = 0; u < rows; u += GRAIN)
                join_rows(&loop, 0, u, rows - u < GRAIN ? rows : u + GRAIN);
        done += cost;
        if (status != NL_OK || (m % 64 == 0 && (status = nl_poll(exec, error)) != NL_OK))
            return status;
        if (exec->progress && done - told > total / 256) {
            exec->progress(exec->user, done / total);
            told = done;
        }
    }
    return NL_OK;
}

/* The pair m, k in the middle of the shortest path from u (left) to w (right), lowest rows. */
static void find_middle(const struct leaves *l, const struct span *left, const struct span *right,
                        size_t u, size_t w, size_t *m_out, size_t *k_out)
{
    const size_t n = l->n, *rows = l->rows;
    const struct span ms = opposite(left, u), ks = opposite(right, w);
    bool found = false;
    for (size_t m = ms.begin; m < ms.end; m++) {
        for (size_t k = ks.begin; k < ks.end; k++) {
            if (l->m[u * n + m] + l->d[m * n + k] + l->m[k * n + w] != l->m[u * n + w])
                continue;
            if (!found || rows[m] < rows[*m_out] || (m == *m_out && rows[k] < rows[*k_out])) {
                *m_out = m;
                *k_out = k;
                found = true;
            }
        }
    }
}

/* The ends of the shortest path of all; of equals the one with the lowest end. */
static void find_ends(const struct leaves *l, size_t *first, size_t *last)
{
    const struct span *root = &l->spans[l->n + l->tree->count - 1];
    size_t best_low = 0, best_high = 0;
    double best = INFINITY;
    for (size_t u = root->begin; u < root->split; u++) {
        for (size_t w = root->split; w < root->end; w++) {
            const double length = l->m[u * l->n + w];
            const size_t a = l->rows[u], b = l->rows[w];
            const size_t low = a < b ? a : b, high = a < b ? b : a;
            if (length > best ||
                (length == best && (low > best_low || (low == best_low && high > best_high))))
                continue;
            best = length;
            best_low = low;
            best_high = high;
            *first = u;
            *last = w;
        }
    }
    if (l->rows[*first] > l->rows[*last]) {
        size_t swap = *first;
        *first = *last;
        *last = swap;
    }
}

struct visit {
    size_t cluster, first, last;
};

/* Reads the shortest path back, turning the branches that it wants turned. */
static void read_path(struct leaves *l, struct visit *stack, size_t *order)
{
    size_t depth = 1, p = 0;
    stack[0].cluster = l->n + l->tree->count - 1;
    find_ends(l, &stack[0].first, &stack[0].last);
    while (depth > 0) {
        const struct visit visit = stack[--depth];
        if (visit.cluster < l->n) {
            order[p++] = l->rows[visit.first];
            continue;
        }
        nl_merge *merge = &l->tree->merges[visit.cluster - l->n];
        const struct span left = span_of(l, merge->left), right = span_of(l, merge->right);
        const bool turned = visit.first >= right.begin;
        const size_t u = turned ? visit.last : visit.first;
        const size_t w = turned ? visit.first : visit.last;
        size_t m = u, k = w;
        find_middle(l, &left, &right, u, w, &m, &k);
        const struct visit on_left = {merge->left, turned ? m : u, turned ? u : m};
        const struct visit on_right = {merge->right, turned ? w : k, turned ? k : w};
        stack[depth++] = turned ? on_left : on_right;
        stack[depth++] = turned ? on_right : on_left;
        if (turned) {
            const size_t swap = merge->left;
            merge->left = merge->right;
            merge->right = swap;
        }
    }
}

nl_status nl_leaves_optimal(nl_tree *tree, const nl_matrix *d, const nl_exec *exec, size_t *order,
                            nl_error *error)
{
    const size_t n = d->rows;
    struct leaves l = {.n = n, .tree = tree};
    size_t *rows = nl_alloc(n, sizeof *rows);
    struct visit *stack = nl_alloc(n + 1, sizeof *stack);
    nl_status status = NL_OK;
    if (n < 2)
        goto done;
    l.kernels = nl_exec_kernels(exec, error);
    if (!l.kernels) {
        status = NL_UNSUPPORTED;
        goto done;
    }
    l.d = nl_alloc(n * n, sizeof *l.d);
    l.m = nl_alloc(n * n, sizeof *l.m);
    l.scratch = nl_alloc(nl_exec_workers(exec) * GRAIN * n, sizeof *l.scratch);
    l.spans = nl_alloc(n + tree->count, sizeof *l.spans);
    if (!rows || !stack || !l.d || !l.m || !l.scratch || !l.spans) {
        status = nl_fail(error, NL_NOMEM,
                         "no memory for the optimal leaf order of %zu rows: it takes %.1f MB", n,
                         (double)n * (double)n * 16e-6);
        goto done;
    }
    for (size_t p = 0; p < n; p++)
        rows[p] = order[p];
    l.rows = rows;
    for (size_t p = 0; p < n; p++)
        for (size_t q = 0; q < n; q++)
            l.d[p * n + q] = (double)nl_row(d, rows[p])[rows[q]];
    place_spans(&l);
    status = fill_paths(&l, exec, error);
    if (status == NL_OK)
        read_path(&l, stack, order);
done:
    nl_free(rows);
    nl_free(stack);
    nl_free(l.d);
    nl_free(l.m);
    nl_free(l.scratch);
    nl_free(l.spans);
    return status;
}
