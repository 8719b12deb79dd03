/* SPDX-License-Identifier: MIT */
/*
 * Euclidean dissimilarity of rows against packed rows. One lane holds one pair and its sum is a
 * single chain of fused multiply-adds with k ascending: exactly the scalar statement, bit for bit.
 */
#include "tier.h"

enum { QUERIES = 4 };

NL_INLINE void distance_panel(int nq, const float *q, size_t q_stride, const float *panel, size_t d,
                              float *out, size_t out_stride, size_t columns)
{
    vec acc[QUERIES * PANEL_VECS];
    for (int a = 0; a < nq * PANEL_VECS; a++)
        acc[a] = vec_zero();
    for (size_t k = 0; k < d; k++) {
        for (int v = 0; v < PANEL_VECS; v++) {
            vec key = vec_load(panel + k * NL_LANES + v * VEC_LANES);
            for (int i = 0; i < nq; i++) {
                vec difference = vec_sub(vec_set1(q[(size_t)i * q_stride + k]), key);
                acc[i * PANEL_VECS + v] = vec_fma(difference, difference, acc[i * PANEL_VECS + v]);
            }
        }
    }
    for (int i = 0; i < nq; i++)
        for (size_t v = 0; v < PANEL_VECS && v * VEC_LANES < columns; v++)
            vec_store_part(out + (size_t)i * out_stride + v * VEC_LANES,
                           vec_sqrt(acc[(size_t)i * PANEL_VECS + v]), columns - v * VEC_LANES);
}

void NL_TIER(nl_euclidean)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                           size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n;) {
        size_t step = n - i >= QUERIES ? QUERIES : 1;
        const float *q_i = q + i * q_stride;
        float *out_i = out + i * out_stride;
        for (size_t j = 0; j < m; j += NL_LANES) {
            if (step == QUERIES)
                distance_panel(QUERIES, q_i, q_stride, panels + j * d, d, out_i + j, out_stride,
                               m - j);
            else
                distance_panel(1, q_i, q_stride, panels + j * d, d, out_i + j, out_stride, m - j);
        }
        i += step;
    }
}
