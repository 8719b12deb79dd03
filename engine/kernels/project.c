/* SPDX-License-Identifier: MIT */
/*
 * Scores of queries against packed keys: dot products and weighted squared distances. The same
 * dot product projects features, with the rows of a weight matrix as keys.
 */
#include "tier.h"

/* Queries at a time: each key vector that is loaded serves all of them. */
enum { QUERIES = 4 };

/* One step of a sum over features: add q·k or w·(q − k)² to acc. */
NL_INLINE vec step(bool distance, vec w, vec q, vec k, vec acc)
{
    if (!distance)
        return vec_fma(q, k, acc);
    vec difference = vec_sub(q, k);
    return vec_fma(vec_mul(w, difference), difference, acc);
}

/*
 * `nq` queries (1 or QUERIES) against `np` neighbouring panels: total[query][lane of np panels].
 * Float sums over NL_SUM_CHUNK features, added in double.
 */
NL_INLINE void score_block(bool distance, int nq, int np, const float *q, size_t q_stride,
                           const float *w, const float *panels, size_t d, double *total)
{
    const int vecs = np * PANEL_VECS;
    memset(total, 0, (size_t)nq * (size_t)np * NL_LANES * sizeof *total);
    for (size_t k0 = 0; k0 < d; k0 += NL_SUM_CHUNK) {
        size_t k1 = d - k0 < NL_SUM_CHUNK ? d : k0 + NL_SUM_CHUNK;
        vec acc[QUERIES * 4 * PANEL_VECS];
        for (int a = 0; a < nq * vecs; a++)
            acc[a] = vec_zero();
        for (size_t k = k0; k < k1; k++) {
            vec w_k = distance ? vec_set1(w[k]) : vec_zero();
            vec key[4 * PANEL_VECS];
            for (int v = 0; v < vecs; v++)
                key[v] = vec_load(panels + (size_t)(v / PANEL_VECS) * NL_LANES * d + k * NL_LANES +
                                  (size_t)(v % PANEL_VECS) * VEC_LANES);
            for (int i = 0; i < nq; i++) {
                vec q_k = vec_set1(q[(size_t)i * q_stride + k]);
                for (int v = 0; v < vecs; v++)
                    acc[i * vecs + v] = step(distance, w_k, q_k, key[v], acc[i * vecs + v]);
            }
        }
        for (int a = 0; a < nq * vecs; a++)
            vec_add_to_double(total + a * VEC_LANES, acc[a]);
    }
}

NL_INLINE void score_rows(bool distance, int nq, const float *q, size_t q_stride, const float *w,
                          const float *panels, size_t m, size_t d, float *out, size_t out_stride)
{
    /* A lone query needs several panels in flight to hide the latency of its sums. */
    enum { ALONE = VEC_LANES < 8 ? 2 : 4 };
    double total[QUERIES * ALONE * NL_LANES];
    size_t j = 0;
    while (j < m) {
        bool wide = nq == 1 && m - j >= ALONE * NL_LANES;
        size_t width = wide ? ALONE * NL_LANES : NL_LANES;
        const float *panel = panels + j * d;
        if (wide)
            score_block(distance, 1, ALONE, q, q_stride, w, panel, d, total);
        else
            score_block(distance, nq, 1, q, q_stride, w, panel, d, total);
        for (int i = 0; i < nq; i++)
            for (size_t l = 0; l < width && j + l < m; l += VEC_LANES)
                vec_store_part(out + (size_t)i * out_stride + j + l,
                               vec_from_double(total + (size_t)i * width + l), m - j - l);
        j += width;
    }
}

NL_INLINE void score(bool distance, const float *q, size_t q_stride, size_t n, const float *w,
                     const float *panels, size_t m, size_t d, float *out, size_t out_stride)
{
    size_t i = 0;
    for (; n - i >= QUERIES; i += QUERIES)
        score_rows(distance, QUERIES, q + i * q_stride, q_stride, w, panels, m, d,
                   out + i * out_stride, out_stride);
    for (; i < n; i++)
        score_rows(distance, 1, q + i * q_stride, q_stride, w, panels, m, d, out + i * out_stride,
                   out_stride);
}

void NL_TIER(nl_dot)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                     size_t d, float *out, size_t out_stride)
{
    score(false, q, q_stride, n, NULL, panels, m, d, out, out_stride);
}

void NL_TIER(nl_sqdist)(const float *q, size_t q_stride, size_t n, const float *w,
                        const float *panels, size_t m, size_t d, float *out, size_t out_stride)
{
    score(true, q, q_stride, n, w, panels, m, d, out, out_stride);
}

void NL_TIER(nl_pack)(const float *rows, size_t stride, size_t m, size_t d, float *panels)
{
    for (size_t j = 0; j < m; j += NL_LANES) {
        const size_t count = m - j < NL_LANES ? m - j : NL_LANES;
        if (count < NL_LANES)
            memset(panels + j * d, 0, NL_LANES * d * sizeof *panels);
        transpose(rows + j * stride, stride, count, d, panels + j * d, NL_LANES);
    }
}
