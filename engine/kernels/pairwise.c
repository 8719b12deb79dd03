/* SPDX-License-Identifier: MIT */
/*
 * Dissimilarities of rows against packed rows. One lane holds one pair and its sum is a single
 * chain with k ascending, fused where it multiplies: exactly the scalar statement, bit for bit.
 *
 * A step of a chain waits for the one before, so that a register tile of ROWS queries against WIDE
 * panels keeps many chains going at once.
 */
#include "tier.h"

enum {
    WIDE = PANEL_VECS == 1 ? 4 : 1, /* panels */
    /* Sixteen registers hold 6 × 2 sums; the chains that need constants are better off with 4. */
    SQUARE_ROWS = PANEL_VECS == 2 ? 6 : 4,
    ROWS = 4,
};

/* What a term adds to the chain, and what becomes of the sum. */
enum chain { EUCLIDEAN, SQUARES, MANHATTAN, CHEBYSHEV, CHORD };

/* a − b, on the multipliers: those that add have enough to do. */
NL_INLINE vec difference_by_fma(vec a, vec b)
{
    return vec_fms(a, vec_set1(1), b);
}

NL_INLINE vec add_term(enum chain chain, vec acc, vec q, vec key)
{
    if (chain == EUCLIDEAN || chain == SQUARES) {
        const vec difference = vec_sub(q, key);
        return vec_fma(difference, difference, acc);
    }
    const vec size = vec_abs(difference_by_fma(q, key));
    return chain == MANHATTAN ? vec_add(acc, size) : vec_max(size, acc);
}

/* The same for numbers in two floats each. */
NL_INLINE vec add_chord(vec acc, vec q_high, vec q_low, vec high, vec low)
{
    const vec difference = vec_add(vec_sub(q_high, high), difference_by_fma(q_low, low));
    return vec_fma(difference, difference, acc);
}

/* `nq` queries (1, ROWS or SQUARE_ROWS) against `np` neighbouring panels (1 or WIDE). */
NL_INLINE void chain_tile(enum chain chain, int nq, int np, const float *q, size_t q_stride,
                          const float *panels, size_t d, float *out, size_t out_stride,
                          size_t columns)
{
    const size_t width = chain == CHORD ? 2 * d : d; /* floats a row */
    const int vecs = np * PANEL_VECS;
    vec acc[SQUARE_ROWS * WIDE * PANEL_VECS];
    for (int a = 0; a < nq * vecs; a++)
        acc[a] = vec_zero();
    for (size_t k = 0; k < width; k += chain == CHORD ? 2 : 1) {
        vec key[WIDE * PANEL_VECS], low[WIDE * PANEL_VECS];
        for (int v = 0; v < vecs; v++) {
            const float *lanes = panels + (size_t)(v / PANEL_VECS) * NL_LANES * width +
                                 k * NL_LANES + (size_t)(v % PANEL_VECS) * VEC_LANES;
            key[v] = vec_load(lanes);
            low[v] = chain == CHORD ? vec_load(lanes + NL_LANES) : key[v];
        }
        for (int i = 0; i < nq; i++) {
            const float *q_ik = q + (size_t)i * q_stride + k;
            for (int v = 0; v < vecs; v++) {
                vec *sum = &acc[i * vecs + v];
                *sum = chain == CHORD
                           ? add_chord(*sum, vec_set1(q_ik[0]), vec_set1(q_ik[1]), key[v], low[v])
                           : add_term(chain, *sum, vec_set1(q_ik[0]), key[v]);
            }
        }
    }
    for (int i = 0; i < nq; i++) {
        for (size_t v = 0; v < (size_t)vecs && v * VEC_LANES < columns; v++) {
            vec sum = acc[(size_t)(i * vecs) + v];
            if (chain == EUCLIDEAN)
                sum = vec_sqrt(sum);
            else if (chain == CHORD)
                sum = vec_mul(sum, vec_set1(0.5f));
            vec_store_part(out + (size_t)i * out_stride + v * VEC_LANES, sum,
                           columns - v * VEC_LANES);
        }
    }
}

/* `nq` queries (1, ROWS or SQUARE_ROWS) against all keys. */
NL_INLINE void chain_strip(enum chain chain, int nq, const float *q, size_t q_stride,
                           const float *panels, size_t m, size_t d, float *out, size_t out_stride)
{
    const size_t width = chain == CHORD ? 2 * d : d;
    for (size_t j = 0; j < m;) {
        const bool wide = m - j > (WIDE - 1) * NL_LANES; /* the last panel may be a part of one */
        const float *panel = panels + j * width;
        if (wide)
            chain_tile(chain, nq, WIDE, q, q_stride, panel, d, out + j, out_stride, m - j);
        else
            chain_tile(chain, nq, 1, q, q_stride, panel, d, out + j, out_stride, m - j);
        j += wide ? WIDE * NL_LANES : NL_LANES;
    }
}

NL_INLINE void chain_rows(enum chain chain, const float *q, size_t q_stride, size_t n,
                          const float *panels, size_t m, size_t d, float *out, size_t out_stride)
{
    const int rows = chain == EUCLIDEAN || chain == SQUARES ? SQUARE_ROWS : ROWS;
    size_t i = 0;
    for (; n - i >= (size_t)rows; i += (size_t)rows)
        chain_strip(chain, rows, q + i * q_stride, q_stride, panels, m, d, out + i * out_stride,
                    out_stride);
    for (; n - i >= ROWS; i += ROWS)
        chain_strip(chain, ROWS, q + i * q_stride, q_stride, panels, m, d, out + i * out_stride,
                    out_stride);
    for (; i < n; i++)
        chain_strip(chain, 1, q + i * q_stride, q_stride, panels, m, d, out + i * out_stride,
                    out_stride);
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

void NL_TIER(nl_chord)(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                       size_t d, float *out, size_t out_stride)
{
    chain_rows(CHORD, q, q_stride, n, panels, m, d, out, out_stride);
}

bool NL_TIER(nl_any_below)(const float *x, size_t stride, size_t rows, size_t cols, float bound)
{
    const vec bounds = vec_set1(bound);
    bool below = false;
    for (size_t i = 0; i < rows; i++) {
        const float *x_i = x + i * stride;
        for (size_t j = 0; j < cols; j += VEC_LANES)
            below |= vec_any_greater(bounds, vec_load_part(x_i + j, cols - j, bound));
    }
    return below;
}

NL_INLINE void copy_rows(const float *from, size_t from_stride, size_t rows, size_t cols, float *to,
                         size_t to_stride, bool stream)
{
    for (size_t i = 0; i < rows; i++) {
        const float *from_i = from + i * from_stride;
        float *to_i = to + i * to_stride;
        for (size_t j = 0; j < cols; j += VEC_LANES) {
            if (stream && cols - j >= VEC_LANES)
                vec_stream(to_i + j, vec_load(from_i + j));
            else
                vec_store_part(to_i + j, vec_load_part(from_i + j, cols - j, 0), cols - j);
        }
    }
}

void NL_TIER(nl_place)(const float *tile, size_t rows, size_t cols, float *out, float *mirror,
                       size_t stride, bool stream)
{
    float turned[NL_PLACE_SIDE * NL_PLACE_SIDE] __attribute__((aligned(64)));
    if (mirror)
        transpose(tile, NL_PLACE_SIDE, rows, cols, turned, NL_PLACE_SIDE);
    if (stream) {
        copy_rows(tile, NL_PLACE_SIDE, rows, cols, out, stride, true);
        if (mirror)
            copy_rows(turned, NL_PLACE_SIDE, cols, rows, mirror, stride, true);
        vec_stream_end();
    } else {
        copy_rows(tile, NL_PLACE_SIDE, rows, cols, out, stride, false);
        if (mirror)
            copy_rows(turned, NL_PLACE_SIDE, cols, rows, mirror, stride, false);
    }
}
