/* SPDX-License-Identifier: MIT */
/*
 * Dissimilarities of rows against packed rows. One lane holds one pair and its sum is a single
 * chain with k ascending, fused where it multiplies: exactly the scalar statement, bit for bit.
 */
#include "tier.h"

enum { QUERIES = 4 };

/* What a term adds to the chain, and what becomes of the sum. */
enum chain { EUCLIDEAN, SQUARES, MANHATTAN, CHEBYSHEV };

NL_INLINE vec add_term(enum chain chain, vec acc, vec q, vec key)
{
    const vec difference = vec_sub(q, key);
    if (chain == EUCLIDEAN || chain == SQUARES)
        return vec_fma(difference, difference, acc);
    const vec size = vec_max(difference, vec_sub(key, q));
    return chain == MANHATTAN ? vec_add(acc, size) : vec_max(size, acc);
}

NL_INLINE void chain_panel(enum chain chain, int nq, const float *q, size_t q_stride,
                           const float *panel, size_t d, float *out, size_t out_stride,
                           size_t columns)
{
    vec acc[QUERIES * PANEL_VECS];
    for (int a = 0; a < nq * PANEL_VECS; a++)
        acc[a] = vec_zero();
    for (size_t k = 0; k < d; k++) {
        for (int v = 0; v < PANEL_VECS; v++) {
            vec key = vec_load(panel + k * NL_LANES + v * VEC_LANES);
            for (int i = 0; i < nq; i++)
                acc[i * PANEL_VECS + v] = add_term(chain, acc[i * PANEL_VECS + v],
                                                   vec_set1(q[(size_t)i * q_stride + k]), key);
        }
    }
    for (int i = 0; i < nq; i++) {
        for (size_t v = 0; v < PANEL_VECS && v * VEC_LANES < columns; v++) {
            vec sum = acc[(size_t)i * PANEL_VECS + v];
            vec_store_part(out + (size_t)i * out_stride + v * VEC_LANES,
                           chain == EUCLIDEAN ? vec_sqrt(sum) : sum, columns - v * VEC_LANES);
        }
    }
}

NL_INLINE void chain_rows(enum chain chain, const float *q, size_t q_stride, size_t n,
                          const float *panels, size_t m, size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n;) {
        size_t step = n - i >= QUERIES ? QUERIES : 1;
        const float *q_i = q + i * q_stride;
        float *out_i = out + i * out_stride;
        for (size_t j = 0; j < m; j += NL_LANES) {
            if (step == QUERIES)
                chain_panel(chain, QUERIES, q_i, q_stride, panels + j * d, d, out_i + j, out_stride,
                            m - j);
            else
                chain_panel(chain, 1, q_i, q_stride, panels + j * d, d, out_i + j, out_stride,
                            m - j);
        }
        i += step;
    }
}

void NL_TIER(nl_euclidean)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                           size_t d, float *out, size_t out_stride)
{
    chain_rows(EUCLIDEAN, q, q_stride, n, panels, m, d, out, out_stride);
}

void NL_TIER(nl_squares)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                         size_t d, float *out, size_t out_stride)
{
    chain_rows(SQUARES, q, q_stride, n, panels, m, d, out, out_stride);
}

void NL_TIER(nl_manhattan)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                           size_t d, float *out, size_t out_stride)
{
    chain_rows(MANHATTAN, q, q_stride, n, panels, m, d, out, out_stride);
}

void NL_TIER(nl_chebyshev)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                           size_t d, float *out, size_t out_stride)
{
    chain_rows(CHEBYSHEV, q, q_stride, n, panels, m, d, out, out_stride);
}

NL_INLINE void chord_panel(int nq, const float *q, size_t q_stride, const float *panel, size_t d,
                           float *out, size_t out_stride, size_t columns)
{
    vec acc[QUERIES * PANEL_VECS];
    for (int a = 0; a < nq * PANEL_VECS; a++)
        acc[a] = vec_zero();
    for (size_t k = 0; k < d; k++) {
        for (int v = 0; v < PANEL_VECS; v++) {
            const float *lanes = panel + 2 * k * NL_LANES + v * VEC_LANES;
            const vec high = vec_load(lanes), low = vec_load(lanes + NL_LANES);
            for (int i = 0; i < nq; i++) {
                const float *q_ik = q + (size_t)i * q_stride + 2 * k;
                vec difference =
                    vec_add(vec_sub(vec_set1(q_ik[0]), high), vec_sub(vec_set1(q_ik[1]), low));
                acc[i * PANEL_VECS + v] = vec_fma(difference, difference, acc[i * PANEL_VECS + v]);
            }
        }
    }
    for (int i = 0; i < nq; i++)
        for (size_t v = 0; v < PANEL_VECS && v * VEC_LANES < columns; v++)
            vec_store_part(out + (size_t)i * out_stride + v * VEC_LANES,
                           vec_mul(acc[(size_t)i * PANEL_VECS + v], vec_set1(0.5f)),
                           columns - v * VEC_LANES);
}

void NL_TIER(nl_chord)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                       size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n;) {
        size_t step = n - i >= QUERIES ? QUERIES : 1;
        const float *q_i = q + i * q_stride;
        float *out_i = out + i * out_stride;
        for (size_t j = 0; j < m; j += NL_LANES) {
            if (step == QUERIES)
                chord_panel(QUERIES, q_i, q_stride, panels + 2 * j * d, d, out_i + j, out_stride,
                            m - j);
            else
                chord_panel(1, q_i, q_stride, panels + 2 * j * d, d, out_i + j, out_stride, m - j);
        }
        i += step;
    }
}
