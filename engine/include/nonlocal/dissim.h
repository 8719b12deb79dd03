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
    NL_METRIC_EUCLIDEAN, /* √ Σ_k (x_ik − x_jk)²: a sum, not a mean */
    NL_METRIC_COUNT,
} nl_metric_id;

typedef struct nl_metric {
    const char *name;    /* as on the command line */
    const char *label;   /* as on the screen, English */
    const char *formula; /* one line of text */
} nl_metric;

/* Indexed by nl_metric_id; ends with a row whose name is NULL. */
extern NL_API const nl_metric nl_metrics[NL_METRIC_COUNT + 1];

/*
 * D (n × n, the caller's) of the rows of X (n × d), n, d >= 1. D(i, i) is 0 exactly, D symmetric
 * exactly, never negative; equal rows are exactly 0 apart. The same bits on every instruction set
 * and thread count: one fused chain a pair, k ascending, on X scaled by a power of two so that no
 * square over- or underflows. NL_INVALID when X holds a number that is not finite.
 */
NL_API nl_status nl_dissim(nl_metric_id metric, const nl_matrix *x, const nl_exec *exec,
                           nl_matrix *d, nl_error *error);

typedef enum nl_order_id {
    NL_ORDER_INPUT, /* as in the file */
    NL_ORDER_LABEL, /* by class, in order of first appearance; stable */
    NL_ORDER_COUNT,
} nl_order_id;

typedef struct nl_order {
    const char *name;   /* as on the command line */
    const char *label;  /* as on the screen, English */
    bool needs_classes; /* makes sense only with a label column */
} nl_order;

/* Indexed by nl_order_id; ends with a row whose name is NULL. */
extern NL_API const nl_order nl_orders[NL_ORDER_COUNT + 1];

/*
 * order[p] = row shown at position p, n of them. classes (n class numbers from 0, or NULL) is
 * needed where the table says so; NL_INVALID without it.
 */
NL_API nl_status nl_order_rows(nl_order_id id, size_t n, const int *classes, size_t *order,
                               nl_error *error);

/* Σ_p D(order[p], order[p+1]), in double. order NULL means file order. */
NL_API double nl_path_length(const nl_matrix *d, const size_t *order);

/* The largest D(i, j), the first in row-major order of equals; i >= j. n >= 1. */
NL_API float nl_dissim_largest(const nl_matrix *d, size_t *i, size_t *j);

/*
 * means (count × count, the caller's) of D over pairs of classes, the diagonal included; an empty
 * block is 0.
 */
NL_API void nl_block_means(const nl_matrix *d, const int *classes, size_t count, double *means);

/*
 * overview (s × s, the caller's, 1 <= s <= n) of D in the order shown: cell (y, x) is the mean of
 * D over positions [y·n/s, (y+1)·n/s) × [x·n/s, (x+1)·n/s), at least one each. order NULL means
 * file order. Independent of the thread count.
 */
NL_API nl_status nl_matrix_overview(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                                    nl_matrix *overview, nl_error *error);

/* Runs of equal class along the order; count classes in a perfect one. */
NL_API size_t nl_class_runs(const int *classes, size_t n, const size_t *order);

#ifdef __cplusplus
}
#endif

#endif
