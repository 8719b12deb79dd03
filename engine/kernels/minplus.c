/* SPDX-License-Identifier: MIT */
/*
 * The product of matrices in which + has become min and × has become +, in double. Every sum is
 * rounded on its own and a minimum is exact, so all tiers agree to the last bit.
 */
#include "tier.h"

enum { ROWS = 4, VECS = 3, COLUMNS = VECS * VECD_LANES };

/* nr rows and COLUMNS columns of out. */
NL_INLINE void block(int nr, const double *a, size_t a_stride, const double *b, size_t b_stride,
                     size_t depth, double *out, size_t out_stride)
{
    vecd best[ROWS * VECS];
    for (int i = 0; i < nr * VECS; i++)
        best[i] = vecd_set1(__builtin_inf());
    for (size_t k = 0; k < depth; k++) {
        vecd b_k[VECS];
        for (int v = 0; v < VECS; v++)
            b_k[v] = vecd_load(b + k * b_stride + v * VECD_LANES);
        for (int i = 0; i < nr; i++) {
            const vecd a_ik = vecd_set1(a[(size_t)i * a_stride + k]);
            for (int v = 0; v < VECS; v++)
                best[i * VECS + v] = vecd_min(vecd_add(a_ik, b_k[v]), best[i * VECS + v]);
        }
    }
    for (int i = 0; i < nr; i++)
        for (int v = 0; v < VECS; v++)
            vecd_store(out + (size_t)i * out_stride + v * VECD_LANES, best[i * VECS + v]);
}

/* One row, columns [begin, m): what is left of blocks. */
static void rest(const double *a, const double *b, size_t b_stride, size_t depth, size_t begin,
                 size_t m, double *out)
{
    for (size_t j = begin; j < m; j++)
        out[j] = __builtin_inf();
    for (size_t k = 0; k < depth; k++) {
        for (size_t j = begin; j < m; j++) {
            const double sum = a[k] + b[k * b_stride + j];
            out[j] = sum < out[j] ? sum : out[j];
        }
    }
}

void NL_TIER(nl_min_plus)(const double *a, size_t a_stride, size_t n, size_t depth, const double *b,
                          size_t b_stride, size_t m, double *out, size_t out_stride)
{
    const size_t whole = m / COLUMNS * COLUMNS;
    for (size_t i = 0; i < n;) {
        const size_t step = n - i >= ROWS ? ROWS : 1;
        const double *a_i = a + i * a_stride;
        double *out_i = out + i * out_stride;
        for (size_t j = 0; j < whole; j += COLUMNS) {
            if (step == ROWS)
                block(ROWS, a_i, a_stride, b + j, b_stride, depth, out_i + j, out_stride);
            else
                block(1, a_i, a_stride, b + j, b_stride, depth, out_i + j, out_stride);
        }
        for (size_t r = 0; r < step; r++)
            rest(a_i + r * a_stride, b, b_stride, depth, whole, m, out_i + r * out_stride);
        i += step;
    }
}
