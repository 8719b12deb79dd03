/* SPDX-License-Identifier: MIT */
#include "nonlocal/matrix.h"

#include <string.h>

#include "alloc.h"

nl_status nl_matrix_alloc(nl_matrix *matrix, size_t rows, size_t cols, nl_error *error)
{
    const size_t lane = NL_ALIGNMENT / sizeof(float);
    *matrix = (nl_matrix){0};
    size_t stride = cols > SIZE_MAX - lane ? SIZE_MAX : (cols + lane - 1) / lane * lane;
    size_t count;
    float *data = NULL;
    if (!__builtin_mul_overflow(rows, stride, &count))
        data = nl_alloc(count, sizeof *data);
    if (!data)
        return nl_fail(error, NL_NOMEM, "no memory for a matrix of %zu × %zu numbers (%.1f MiB)",
                       rows, cols, (double)rows * (double)stride * 4 / 1048576);
    *matrix = (nl_matrix){data, rows, cols, stride, true};
    return NL_OK;
}

nl_status nl_matrix_copy(nl_matrix *matrix, const nl_matrix *source, nl_error *error)
{
    nl_status status = nl_matrix_alloc(matrix, source->rows, source->cols, error);
    for (size_t i = 0; status == NL_OK && i < source->rows; i++)
        memcpy(nl_row(matrix, i), nl_row(source, i), source->cols * sizeof(float));
    return status;
}

nl_matrix nl_matrix_view(float *data, size_t rows, size_t cols, size_t stride)
{
    return (nl_matrix){data, rows, cols, stride, false};
}

void nl_matrix_free(nl_matrix *matrix)
{
    if (matrix->owned)
        nl_free(matrix->data);
    *matrix = (nl_matrix){0};
}
