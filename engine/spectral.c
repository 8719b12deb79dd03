/* SPDX-License-Identifier: MIT */
#include "nonlocal/block.h"

#include <math.h>

#include "alloc.h"

/* out = M v (transposed: Mᵀ v), scaled to length 1; returns the length before. */
static double apply(const nl_matrix *m, bool transposed, const double *v, double *out)
{
    const size_t length = transposed ? m->cols : m->rows;
    double squares = 0;
    for (size_t i = 0; i < length; i++)
        out[i] = 0;
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < m->cols; k++)
            out[transposed ? k : i] += (double)nl_row(m, i)[k] * v[transposed ? i : k];
    for (size_t i = 0; i < length; i++)
        squares += out[i] * out[i];
    const double norm = sqrt(squares);
    for (size_t i = 0; i < length && norm > 0; i++)
        out[i] /= norm;
    return norm;
}

static size_t longest_row(const nl_matrix *m)
{
    size_t longest = 0;
    double most = 0;
    for (size_t i = 0; i < m->rows; i++) {
        double squares = 0;
        for (size_t k = 0; k < m->cols; k++)
            squares += (double)nl_row(m, i)[k] * (double)nl_row(m, i)[k];
        longest = squares > most ? i : longest;
        most = fmax(most, squares);
    }
    return longest;
}

double nl_spectral_norm(const nl_matrix *m, double *estimates)
{
    double sigma = 0;
    double *u = nl_alloc(m->rows, sizeof *u), *v = nl_alloc(m->cols, sizeof *v);
    for (size_t i = 0; u && v && i < m->rows; i++)
        u[i] = 1 / sqrt((double)m->rows);
    if (u && v && apply(m, true, u, v) == 0) { /* every column adds up to 0: start from a row */
        for (size_t i = 0; i < m->rows; i++)
            u[i] = i == longest_row(m);
    }
    for (int i = 0; i < NL_POWER_ITERATIONS; i++) {
        if (u && v) {
            apply(m, true, u, v);
            sigma = apply(m, false, v, u); /* uᵀ M v with the new u */
        }
        if (estimates)
            estimates[i] = sigma;
    }
    nl_free(u);
    nl_free(v);
    return u && v ? sigma : NAN;
}
