/* SPDX-License-Identifier: MIT */
#include "panels.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

float *nl_panels_pack_with(const nl_kernels *kernels, const nl_matrix *source)
{
    float *panels = nl_alloc_dirty(nl_panels_size(source->rows, source->cols), sizeof *panels);
    if (panels)
        kernels->pack(source->data, source->stride, source->rows, source->cols, panels);
    return panels;
}

float *nl_panels_pack(const nl_matrix *source)
{
    return nl_panels_pack_with(&nl_kernels_scalar, source);
}

float nl_rows_largest(const nl_kernels *kernels, const nl_matrix *matrix, size_t begin, size_t end)
{
    /* between the rows of its own memory a matrix has zeros: it can be read in one go */
    const bool gapless = matrix->owned || matrix->stride == matrix->cols;
    const size_t rows = gapless ? end - begin : 1;
    float largest = 0;
    for (size_t i = begin; i < end; i += rows) {
        const float size =
            kernels->largest(nl_row(matrix, i), (rows - 1) * matrix->stride + matrix->cols);
        largest = size > largest || isnan(size) ? size : largest;
        if (isnan(largest))
            break;
    }
    return largest;
}

bool nl_matrix_finite(const nl_matrix *matrix, size_t *row, size_t *col)
{
    for (size_t i = 0; i < matrix->rows; i++) {
        const float *x_i = nl_row(matrix, i);
        for (size_t k = 0; k < matrix->cols; k++) {
            if (!isfinite(x_i[k])) {
                *row = i;
                *col = k;
                return false;
            }
        }
    }
    return true;
}

const nl_kernels *nl_exec_kernels(const nl_exec *exec, nl_error *error)
{
    return exec->kernels ? exec->kernels : nl_kernels_get(NL_CPU_AUTO, error);
}
