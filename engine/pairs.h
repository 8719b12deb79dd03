/* SPDX-License-Identifier: MIT */
/* Rows made ready for a metric once, and tiles of dissimilarities computed from them. */
#ifndef NL_PAIRS_H
#define NL_PAIRS_H

#include "kernels/kernels.h"
#include "nonlocal/dissim.h"

typedef void (*nl_pair_kernel)(const float *q, size_t q_stride, size_t n, const float *panels,
                               size_t m, size_t d, float *out, size_t out_stride);

struct nl_pairs {
    nl_metric_id metric;
    const nl_kernels *kernels;
    nl_pair_kernel kernel;
    const nl_matrix *x;  /* as the caller has them, for pairs that need more than float */
    const size_t *order; /* row p of a tile is row order[p] of x; NULL = p */
    nl_matrix rows;      /* what the kernel reads: x scaled, or unit rows in two floats a number */
    float *panels;       /* the same, packed */
    size_t d;
    int exponent;        /* rows = x · 2^−exponent */
    bool *directionless; /* cosine, correlation: zero or constant rows */
    bool any_directionless;
    double bandwidth; /* gaussian-kernel: b; 0 = tiles hold scaled squares, not yet D */
};

/*
 * x, order (n rows, or NULL) and exec's kernels must outlive pairs, which nl_pairs_free ends, also
 * after a failure. x is finite, with at least one row and column; largest is its largest magnitude.
 */
nl_status nl_pairs_make(const nl_dissim_params *params, const nl_matrix *x, float largest,
                        const size_t *order, const nl_exec *exec, struct nl_pairs *pairs,
                        nl_error *error);
void nl_pairs_free(struct nl_pairs *pairs);

/*
 * out (rows × cols, out_stride apart) = D of rows [i, i + rows) against rows [j, j + cols); j is a
 * multiple of NL_LANES. Infinite where D is beyond the range of float.
 */
void nl_pairs_tile(const struct nl_pairs *pairs, size_t i, size_t rows, size_t j, size_t cols,
                   float *out, size_t out_stride);

/* One row's tile of scaled squares [j, j + cols) of row i becomes D, once the bandwidth is known.
 */
void nl_pairs_finish_gaussian(const struct nl_pairs *pairs, size_t i, size_t j, size_t cols,
                              float *out);

/* The checks that every function on rows makes first; *largest becomes what nl_pairs_make wants. */
nl_status nl_pairs_check(const nl_dissim_params *params, const nl_matrix *x, const nl_exec *exec,
                         float *largest, nl_error *error);

#endif
