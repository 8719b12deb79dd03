/* SPDX-License-Identifier: MIT */
#ifndef NL_MEDIAN_H
#define NL_MEDIAN_H

#include "nonlocal/matrix.h"

/*
 * The median of the distances whose scaled squares, · 2^(−2 exponent), stand above the diagonal of
 * d; of those above 0 where it would be 0; 1 where all are 0. The mean of two middle ones.
 */
nl_status nl_median_distance(const nl_matrix *d, int exponent, double *median, nl_error *error);

#endif
