/* SPDX-License-Identifier: MIT */
/* Dissimilarity matrices: D(i, j) of rows, the orders that show them, and how good an order is. */
#ifndef NONLOCAL_DISSIM_H
#define NONLOCAL_DISSIM_H

#include "nonlocal/exec.h"
#include "nonlocal/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nl_metric_id {
    NL_METRIC_EUCLIDEAN,   /* √ Σ_k (x_ik − x_jk)²: a sum, not a mean */
    NL_METRIC_SQEUCLIDEAN, /* Σ_k (x_ik − x_jk)² */
    NL_METRIC_MANHATTAN,   /* Σ_k |x_ik − x_jk| */
    NL_METRIC_CHEBYSHEV,   /* max_k |x_ik − x_jk| */
    NL_METRIC_COSINE,      /* 1 − cos(x_i, x_j) */
    NL_METRIC_CORRELATION, /* the same of rows less their means */
    NL_METRIC_GAUSSIAN,    /* 1 − exp(−d²/2b²), d euclidean, b the bandwidth */
    NL_METRIC_COUNT,
} nl_metric_id;

/* Which way a function of two rows goes. */
typedef enum nl_kind {
    NL_KIND_DISSIMILARITY, /* 0 where rows are equal, larger where they are less alike */
    NL_KIND_SIMILARITY,    /* largest where rows are alike */
} nl_kind;

typedef struct nl_metric {
    const char *name;    /* as on the command line */
    const char *label;   /* as on the screen, English */
    const char *formula; /* one line of text */
    nl_kind kind;
} nl_metric;

/* Indexed by nl_metric_id; ends with a row whose name is NULL. */
extern NL_API const nl_metric nl_metrics[NL_METRIC_COUNT + 1];

typedef struct nl_dissim_params {
    nl_metric_id metric; /* default euclidean */
    double bandwidth;    /* b of gaussian-kernel, in units of the distance; 0 (default): the median
                            of the distances i < j (of those above 0, if the median is 0) */
} nl_dissim_params;

NL_API void nl_dissim_params_init(nl_dissim_params *params);

/*
 * D (n × n, the caller's) of the rows of X (n × d), n, d >= 1. D(i, i) is 0 exactly, D symmetric
 * exactly, never negative; equal rows are exactly 0 apart and nearly equal ones have the right
 * digits. A pair with a row of zeros (for correlation: of one constant) has cosine dissimilarity 1,
 * unless i = j. The same bits on every instruction set and thread count: one fused chain a pair, k
 * ascending, on X scaled by a power of two so that no square over- or underflows. *bandwidth (may
 * be NULL) becomes the b that was used, 0 for other metrics.
 *
 * NL_INVALID when X holds a number that is not finite, NL_LIMIT when a dissimilarity is beyond the
 * range of float.
 */
NL_API nl_status nl_dissim_run(const nl_dissim_params *params, const nl_matrix *x,
                               const nl_exec *exec, nl_matrix *d, double *bandwidth,
                               nl_error *error);

/* The same with a metric's defaults. */
NL_API nl_status nl_dissim(nl_metric_id metric, const nl_matrix *x, const nl_exec *exec,
                           nl_matrix *d, nl_error *error);

/*
 * D (d × d, the caller's) of the columns of X (n × d): 1 − |correlation|, as exact as nl_dissim. A
 * constant column is 1 away from all others; *constant (may be NULL) counts them.
 */
NL_API nl_status nl_dissim_columns(const nl_matrix *x, const nl_exec *exec, nl_matrix *d,
                                   size_t *constant, nl_error *error);

/* 1 − exp(−squared/2b²), b > 0: what gaussian-kernel makes of one squared distance. */
NL_API double nl_gaussian_dissim(double squared, double bandwidth);

/*
 * Makes a matrix that somebody else computed exact: NL_INVALID, naming the first cell (row-major,
 * from 1) with its first fault, unless it is square, finite, non-negative, symmetric and zero on
 * the diagonal, each up to 1e-6 of its largest entry; what is left of that is removed.
 */
NL_API nl_status nl_dissim_adopt(nl_matrix *d, nl_error *error);

typedef enum nl_order_id {
    NL_ORDER_INPUT,      /* as in the file */
    NL_ORDER_LABEL,      /* by class, in order of first appearance; stable */
    NL_ORDER_SINGLE,     /* leaves of a tree: nearest members join clusters */
    NL_ORDER_COMPLETE,   /* ... farthest members */
    NL_ORDER_AVERAGE,    /* ... the mean over all pairs of members */
    NL_ORDER_WARD,       /* ... Ward's criterion; heights as scipy's ward and R's ward.D2 */
    NL_ORDER_VAT,        /* Prim's tree from the lower row of the most distant pair */
    NL_ORDER_SPECTRAL,   /* Fiedler vector of the Laplacian of 1/(1 + D) */
    NL_ORDER_PCA,        /* first principal component; without rows, of classical scaling */
    NL_ORDER_BRIGHTNESS, /* by a number a row, such as the mean luma of its patch */
    NL_ORDER_COUNT,
} nl_order_id;

typedef struct nl_order {
    const char *name;   /* as on the command line */
    const char *label;  /* as on the screen, English */
    bool needs_classes; /* makes sense only with a label column */
    bool tree;          /* reads the leaves of a tree: a leaf order applies */
    bool needs_matrix;  /* reads all of D; the others do without (pca: with rows) */
    bool needs_keys;    /* wants a number a row */
} nl_order;

/* Indexed by nl_order_id; ends with a row whose name is NULL. */
extern NL_API const nl_order nl_orders[NL_ORDER_COUNT + 1];

typedef enum nl_leaf {
    NL_LEAF_PLAIN,   /* the child that holds the lower row goes left */
    NL_LEAF_OPTIMAL, /* the shortest path that the tree allows (Bar-Joseph et al. 2001), exact */
    NL_LEAF_COUNT,
} nl_leaf;

/* Leaf orders' names as nl_order's; indexed by nl_leaf. */
typedef struct nl_leaf_order {
    const char *name;
    const char *label;
} nl_leaf_order;

extern NL_API const nl_leaf_order nl_leaf_orders[NL_LEAF_COUNT + 1];

/* Rows up to which leaves are ordered optimally; beyond, plainly and with a note. */
#define NL_LEAF_MAX_ROWS 2000

/* Two clusters that join. Cluster c < n is row c, cluster n + m the result of merge m. */
typedef struct nl_merge {
    size_t left, right; /* in the order shown, left comes first */
    double height;      /* never falls from one merge to the next */
    size_t size;        /* rows in the result */
} nl_merge;

/* n − 1 merges, numbered as scipy's linkage numbers them; owned, ended by nl_tree_free. */
typedef struct nl_tree {
    nl_merge *merges;
    size_t count;
} nl_tree;

NL_API void nl_tree_free(nl_tree *tree);

enum {
    NL_ORDER_NOTE_PLAIN_LEAVES = 1, /* more than NL_LEAF_MAX_ROWS: the plain leaf order was taken */
    NL_ORDER_NOTE_UNSETTLED = 2,    /* an eigenvector did not settle: its order is approximate */
};

typedef struct nl_order_params {
    nl_order_id id;     /* default input */
    nl_leaf leaf;       /* default optimal; trees only */
    const int *classes; /* n class numbers from 0; label only */
    const double *keys; /* n finite numbers; brightness only */
} nl_order_params;

NL_API void nl_order_params_init(nl_order_params *params);

/*
 * order[p] = row shown at position p, for n >= 1 rows. d (n × n, exact as nl_dissim makes it) may
 * be NULL where the table says that the order does not need it; x (n rows of features) is for pca
 * and may be NULL with d. Ties go by the lower row; where an order has no natural direction, the
 * end with the lower row comes first. The same order, to the last row, on every run, thread count
 * and instruction set.
 *
 * *tree (may be NULL) becomes the tree of an order that has one, otherwise empty; *notes (may be
 * NULL) the NL_ORDER_NOTE_ flags. Memory for trees: 8 n² bytes, optimal leaves 16 n² more.
 *
 * Müllner 2011 (nearest-neighbour chains), Bar-Joseph et al. 2001, Bezdek and Hathaway 2002 (VAT),
 * Atkins et al. 1998 (spectral), Torgerson 1952 (classical scaling).
 */
NL_API nl_status nl_order_run(const nl_order_params *params, size_t n, const nl_matrix *d,
                              const nl_matrix *x, const nl_exec *exec, size_t *order, nl_tree *tree,
                              unsigned *notes, nl_error *error);

/* The same for the orders that need only classes, or nothing. */
NL_API nl_status nl_order_rows(nl_order_id id, size_t n, const int *classes, size_t *order,
                               nl_error *error);

/*
 * iVAT (Havens and Bezdek 2012): out(i, j) (n × n, the caller's, not d) is the smallest d such that
 * steps of at most d lead from i to j. order is a VAT order of d.
 */
NL_API nl_status nl_ivat(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                         nl_matrix *out, nl_error *error);

/* Σ_p D(order[p], order[p+1]), in double. order NULL means file order. */
NL_API double nl_path_length(const nl_matrix *d, const size_t *order);

/* How well values rise away from the diagonal, as R's seriation counts it (Chen 2002). */
typedef struct nl_quality {
    double path_length;
    uint64_t ar_events;  /* Σ over i<j<k of [D_ij > D_ik] + [D_jk > D_ik] */
    double ar_deviation; /* the same sum of the excesses */
} nl_quality;

/* Of D in an order (NULL: file order), in O(n² log n). Independent of the thread count. */
NL_API nl_status nl_quality_of(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                               nl_quality *quality, nl_error *error);

/*
 * The mean over all rows of (b − a)/max(a, b): a the mean dissimilarity to the row's own class, b
 * the smallest mean to another class; 0 for a row alone in its class (Rousseeuw 1987). `count`
 * class numbers are possible. NaN unless at least two of them occur.
 */
NL_API nl_status nl_silhouette(const nl_matrix *d, const int *classes, size_t count,
                               const nl_exec *exec, double *mean, nl_error *error);

/* The largest D(i, j), the first in row-major order of equals; i >= j. n >= 1. */
NL_API float nl_dissim_largest(const nl_matrix *d, size_t *i, size_t *j);

/*
 * means (count × count, the caller's) of D over pairs of classes, the diagonal included; an empty
 * block is 0.
 */
NL_API void nl_block_means(const nl_matrix *d, const int *classes, size_t count, double *means);

/*
 * overview (s × s, the caller's, 1 <= s <= n) of D in the order shown: cell (y, x) is the mean of
 * D over positions [y·n/s, (y+1)·n/s) × [x·n/s, (x+1)·n/s), at least one each; of a matrix that
 * holds numbers that are not finite, the mean of the others, NaN without any. order NULL means file
 * order. Independent of the thread count.
 */
NL_API nl_status nl_matrix_overview(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                                    nl_matrix *overview, nl_error *error);

/* Rows up to which the program holds D whole. */
#define NL_DISSIM_WHOLE_ROWS 4096

/*
 * The same overview, straight from the rows of X and never with n² numbers in memory. `largest`
 * (s × s, or NULL) becomes the maximum over each cell instead of the mean. The bandwidth 0 of
 * gaussian-kernel is the median over 2,048 rows, evenly spaced, when there are more; *bandwidth
 * (may be NULL) becomes what was used, 0 for other metrics. Errors as nl_dissim_run.
 */
NL_API nl_status nl_dissim_overview(const nl_dissim_params *params, const nl_matrix *x,
                                    const size_t *order, const nl_exec *exec, nl_matrix *mean,
                                    nl_matrix *largest, double *bandwidth, nl_error *error);

/*
 * Single pairs of what is too large to be held: d(p, q) = D(rows[p], columns[q]) for the n rows and
 * m columns of d (the caller's), indices into the rows of X, each below x->rows. O(n m d), on the
 * calling thread. The bits of nl_dissim_run, unless its squares had to be scaled; gaussian-kernel
 * needs its bandwidth. Errors as nl_dissim_run.
 */
NL_API nl_status nl_dissim_between(const nl_dissim_params *params, const nl_matrix *x,
                                   const size_t *rows, const size_t *columns, const nl_exec *exec,
                                   nl_matrix *d, nl_error *error);

/* Bytes that D of n rows takes, and nl_dissim_overview on so many threads; as double: no overflow.
 */
NL_API double nl_dissim_bytes(size_t n);
NL_API double nl_dissim_overview_bytes(size_t n, size_t d, size_t s, size_t threads);

/* Runs of equal class along the order; count classes in a perfect one. */
NL_API size_t nl_class_runs(const int *classes, size_t n, const size_t *order);

#ifdef __cplusplus
}
#endif

#endif
