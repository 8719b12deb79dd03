/* SPDX-License-Identifier: MIT */
#include "panels.h"

#include <math.h>

#include "alloc.h"

float *nl_panels_pack(const nl_matrix *source)
{
    const size_t d = source->cols;
    float *panels = nl_alloc(nl_panels_size(source->rows, d), sizeof *panels);
    if (!panels)
        return NULL;
    for (size_t j = 0; j < source->rows; j++) {
        const float *key_j = nl_row(source, j);
        float *lane = panels + j / NL_LANES * NL_LANES * d + j % NL_LANES;
        for (size_t k = 0; k < d; k++)
            lane[k * NL_LANES] = key_j[k];
    }
    return panels;
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
