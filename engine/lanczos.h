/* SPDX-License-Identifier: MIT */
/* The leading eigenvector of a symmetric operator that is only known by what it does to vectors. */
#ifndef NL_LANCZOS_H
#define NL_LANCZOS_H

#include "nonlocal/exec.h"

/* y = A x, n numbers each; NL_CANCELLED ends the search. */
typedef nl_status (*nl_apply_fn)(void *context, const double *x, double *y, nl_error *error);

/*
 * vector (n numbers) becomes the unit eigenvector of A's largest eigenvalue, among vectors that
 * sum to 0 where `centred` says so. *settled is false when it is still approximate. Lanczos' method
 * with full reorthogonalisation from a start that rises with the index, so that what is undecided
 * stays in that order; the same bits on every thread count as long as `apply` is.
 */
nl_status nl_lanczos(nl_apply_fn apply, void *context, size_t n, bool centred, double *vector,
                     bool *settled, nl_error *error);

#endif
