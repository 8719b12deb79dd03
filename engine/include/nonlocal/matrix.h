/* SPDX-License-Identifier: MIT */
/* A row-major matrix of float: the one container that features, weights and answers travel in. */
#ifndef NONLOCAL_MATRIX_H
#define NONLOCAL_MATRIX_H

#include "nonlocal/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * rows × cols; element (i, k) is data[i * stride + k], stride >= cols. A matrix made by
 * nl_matrix_alloc owns its data, has 64-byte aligned rows and zeros between cols and stride. Any
 * other float array can be wrapped by nl_matrix_view; it must outlive the view, and
 * nl_matrix_free leaves it alone.
 */
typedef struct nl_matrix {
    float *data;
    size_t rows;
    size_t cols;
    size_t stride;
    bool owned;
} nl_matrix;

/* A zeroed matrix. NL_NOMEM (with the size in words) when memory is out or the size overflows. */
NL_API nl_status nl_matrix_alloc(nl_matrix *matrix, size_t rows, size_t cols, nl_error *error);

/* A copy of source, owned, with padded rows. */
NL_API nl_status nl_matrix_copy(nl_matrix *matrix, const nl_matrix *source, nl_error *error);

NL_API nl_matrix nl_matrix_view(float *data, size_t rows, size_t cols, size_t stride);

NL_API void nl_matrix_free(nl_matrix *matrix);

static inline float *nl_row(const nl_matrix *matrix, size_t i)
{
    return matrix->data + i * matrix->stride;
}

#ifdef __cplusplus
}
#endif

#endif
