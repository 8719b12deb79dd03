/* SPDX-License-Identifier: MIT */
/* Orders of rows by one number each. */
#ifndef NL_SERIATE_H
#define NL_SERIATE_H

#include "nonlocal/dissim.h"

/* By rising key, equals by the lower row. */
nl_status nl_order_by_keys(const double *keys, size_t n, size_t *order, nl_error *error);

/* *settled: see nl_lanczos. */
nl_status nl_order_spectral(const nl_matrix *d, const nl_exec *exec, size_t *order, bool *settled,
                            nl_error *error);
nl_status nl_order_pca(const nl_matrix *x, const nl_exec *exec, size_t *order, bool *settled,
                       nl_error *error);
nl_status nl_order_scaling(const nl_matrix *d, const nl_exec *exec, size_t *order, bool *settled,
                           nl_error *error);

#endif
