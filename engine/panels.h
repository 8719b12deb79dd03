/* SPDX-License-Identifier: MIT */
/* Packing rows into the panels that kernels read (see kernels.h). */
#ifndef NL_PANELS_H
#define NL_PANELS_H

#include "kernels/kernels.h"
#include "nonlocal/matrix.h"

/* Rows of source as keys; the caller frees it with nl_free. NULL when memory is out. */
float *nl_panels_pack(const nl_matrix *source);
/* The same with a tier's own packing. */
float *nl_panels_pack_with(const nl_kernels *kernels, const nl_matrix *source);

/* The largest magnitude of rows [begin, end); NaN where a number is not finite. */
float nl_rows_largest(const nl_kernels *kernels, const nl_matrix *matrix, size_t begin, size_t end);

/* True when every number of the matrix is finite; otherwise the place of the first that is not. */
bool nl_matrix_finite(const nl_matrix *matrix, size_t *row, size_t *col);

/* exec->kernels, or the best there are; NULL with an error. */
const nl_kernels *nl_exec_kernels(const nl_exec *exec, nl_error *error);

#endif
