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

float nl_matrix_largest(const nl_matrix *matrix)
{
    /* Without their sign, floats are ordered as whole numbers are, NaN after infinity: so ordered,
     * the loop becomes vector instructions. */
    int32_t largest = 0;
    float value;
    for (size_t i = 0; i < matrix->rows; i++) {
        const float *x_i = nl_row(matrix, i);
        for (size_t k = 0; k < matrix->cols; k++) {
            int32_t bits;
            memcpy(&bits, &x_i[k], sizeof bits);
            bits &= 0x7fffffff;
            largest = bits > largest ? bits : largest;
        }
    }
    memcpy(&value, &largest, sizeof value);
    return value;
}

bool nl_matrix_finite(const nl_matrix *matrix, size_t *row, size_t *col)
{
    if (isfinite(nl_matrix_largest(matrix)))
        return true;
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
