/* SPDX-License-Identifier: MIT */
/*
 * Fused attention: scores, softmax and the weighted sum of values for a block of queries, block of
 * keys after block of keys, with no n × m matrix anywhere.
 *
 * Queries sit in the lanes. One micro-kernel, a tile of ROWS × VECS vectors held in registers,
 * serves both products: Sᵀ = K Qᵀ (rows are keys) and Oᵀ = Vᵀ P (rows are channels). Maxima and
 * sums over keys are then plain vertical operations, and d needs no padding.
 *
 * The running maximum of a query is rounded up to a whole number (exponents are in base 2), so that
 * rescaling what has been added up is exact, and is needed only when the maximum grows.
 */
#include "attend.h"
#include "tier.h"

enum {
    VECS = 3, /* vectors of queries a step */
    STEP = VECS * VEC_LANES,
    ROWS = NL_TILE_ROWS,
    STEPS = NL_ATTEND_BLOCK / STEP, /* query steps that a block may hold */
    /* A score's float sum runs over this many features before it is put aside, so that the
     * rounding error does not grow with d. */
    SUM = 64,
};

struct tile {
    vec sum[ROWS][VECS];
};

NL_INLINE void tile_load(struct tile *tile, const float *c)
{
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECS; v++)
            tile->sum[r][v] = vec_load(c + r * STEP + v * VEC_LANES);
}

NL_INLINE void tile_store(const struct tile *tile, float *c)
{
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECS; v++)
            vec_store(c + r * STEP + v * VEC_LANES, tile->sum[r][v]);
}

/* sum[r] += Σ_k a[k][r] · b[k]; rows of a are NL_LANES apart, rows of b STEP. */
NL_INLINE void tile_multiply(struct tile *tile, const float *a, const float *b, size_t count)
{
#pragma GCC unroll 2
    for (size_t k = 0; k < count; k++, a += NL_LANES, b += STEP) {
        vec b_k[VECS];
#pragma GCC unroll 3
        for (int v = 0; v < VECS; v++)
            b_k[v] = vec_load(b + v * VEC_LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            vec a_rk = vec_set1(a[r]);
#pragma GCC unroll 3
            for (int v = 0; v < VECS; v++)
                tile->sum[r][v] = vec_fma(a_rk, b_k[v], tile->sum[r][v]);
        }
    }
}

/* sum[r] −= Σ_k ω[k] (a[k][r] − b[k])²; ω already holds the scale. */
NL_INLINE void tile_distance(struct tile *tile, const float *a, const float *b, const float *omega,
                             size_t count)
{
    for (size_t k = 0; k < count; k++, a += NL_LANES, b += STEP) {
        vec b_k[VECS], w = vec_set1(-omega[k]);
#pragma GCC unroll 3
        for (int v = 0; v < VECS; v++)
            b_k[v] = vec_load(b + v * VEC_LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            vec a_rk = vec_set1(a[r]);
#pragma GCC unroll 3
            for (int v = 0; v < VECS; v++) {
                vec difference = vec_sub(a_rk, b_k[v]);
                tile->sum[r][v] = vec_fma(vec_mul(w, difference), difference, tile->sum[r][v]);
            }
        }
    }
}

/* One step of queries with what it has gathered so far. */
struct step {
    const float *q; /* d × STEP, scaled */
    float *o;       /* channels × STEP */
    float *top;     /* STEP: the running maximum, a whole number */
    float *sum;     /* STEP: Σ 2^(e − top) */
};

/* Scores of one tile of keys; `tops` takes part in their maximum for the first `count` rows. */
NL_INLINE void score_tile(const struct nl_attend_block *b, bool distance, const float *keys,
                          const float *shift, const float *q, const float *omega, size_t count,
                          float *s, vec *tops)
{
    struct tile tile;
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < VECS; v++)
            tile.sum[r][v] = vec_zero();
    for (size_t k = 0; k < b->d; k += SUM) {
        const size_t features = b->d - k < SUM ? b->d - k : SUM;
        struct tile part = tile;
        if (k > 0) { /* put what there is aside and start from 0 */
            tile_store(&tile, s);
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
                for (int v = 0; v < VECS; v++)
                    part.sum[r][v] = vec_zero();
        }
        if (distance)
            tile_distance(&part, keys + k * NL_LANES, q + k * STEP, omega + k, features);
        else
            tile_multiply(&part, keys + k * NL_LANES, q + k * STEP, features);
        if (k > 0) {
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
                for (int v = 0; v < VECS; v++)
                    part.sum[r][v] =
                        vec_add(part.sum[r][v], vec_load(s + r * STEP + v * VEC_LANES));
        }
        tile = part;
    }
    if (shift) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
            for (int v = 0; v < VECS; v++)
                tile.sum[r][v] =
                    vec_sub(tile.sum[r][v], vec_set1((size_t)r < count ? shift[r] : 0));
    }
    tile_store(&tile, s);
    if (count >= ROWS) {
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
            for (int v = 0; v < VECS; v++)
                tops[v] = vec_max(tops[v], tile.sum[r][v]);
    } else {
        for (size_t r = 0; r < count; r++)
            for (int v = 0; v < VECS; v++)
                tops[v] = vec_max(tops[v], vec_load(s + r * STEP + (size_t)v * VEC_LANES));
    }
}

/* What was added up under the old maximum, brought under the new one: a power of two. */
NL_INLINE void raise_top(const struct step *step, const vec *tops, size_t channels, bool first)
{
    vec factor[VECS];
    bool grown = false;
    for (int v = 0; v < VECS; v++) {
        vec old = vec_load(step->top + v * VEC_LANES);
        grown = grown || vec_any_greater(tops[v], old);
        factor[v] = vec_exp2_whole(vec_sub(old, tops[v]));
        vec_store(step->top + v * VEC_LANES, tops[v]);
    }
    if (!grown || first)
        return;
    for (int v = 0; v < VECS; v++) {
        float *sum = step->sum + v * VEC_LANES;
        vec_store(sum, vec_mul(vec_load(sum), factor[v]));
    }
    for (size_t c = 0; c < channels; c++)
        for (int v = 0; v < VECS; v++) {
            float *o = step->o + c * STEP + (size_t)v * VEC_LANES;
            vec_store(o, vec_mul(vec_load(o), factor[v]));
        }
}

/* p = 2^(s − top) in place, summed. */
NL_INLINE void exponentials(const struct step *step, const vec *tops, float *s, size_t keys)
{
    vec sum[VECS];
#pragma GCC unroll 3
    for (int v = 0; v < VECS; v++)
        sum[v] = vec_load(step->sum + v * VEC_LANES);
    for (size_t j = 0; j < keys; j++)
#pragma GCC unroll 3
        for (int v = 0; v < VECS; v++) {
            float *s_j = s + j * STEP + (size_t)v * VEC_LANES;
            vec p = vec_exp2(vec_sub(vec_load(s_j), tops[v]));
            sum[v] = vec_add(sum[v], p);
            vec_store(s_j, p);
        }
#pragma GCC unroll 3
    for (int v = 0; v < VECS; v++)
        vec_store(step->sum + v * VEC_LANES, sum[v]);
}

NL_INLINE void key_block(const struct nl_attend_block *b, bool distance, const float *omega,
                         const struct step *step, size_t j0, float *s, size_t channels)
{
    const size_t keys = b->m - j0 < NL_ATTEND_KEYS ? b->m - j0 : NL_ATTEND_KEYS;
    vec tops[VECS];
    for (int v = 0; v < VECS; v++)
        tops[v] = vec_load(step->top + v * VEC_LANES);
    for (size_t j = 0; j < keys; j += ROWS)
        score_tile(
            b, distance, b->keys + (j0 + j) / NL_LANES * NL_LANES * b->d + (j0 + j) % NL_LANES,
            b->shift ? b->shift + j0 + j : NULL, step->q, omega, keys - j, s + j * STEP, tops);
    for (int v = 0; v < VECS; v++)
        tops[v] = vec_ceil(tops[v]);
    raise_top(step, tops, channels, j0 == 0);
    exponentials(step, tops, s, keys);
    for (size_t c = 0; c < channels; c += ROWS) {
        struct tile tile;
        tile_load(&tile, step->o + c * STEP);
        tile_multiply(&tile,
                      b->values + c / NL_LANES * NL_LANES * b->m + c % NL_LANES + j0 * NL_LANES, s,
                      keys);
        tile_store(&tile, step->o + c * STEP);
    }
}

/* Queries [first, first + STEP) as d × STEP, times the scale; lanes past the end are 0. */
static void pack_queries(const struct nl_attend_block *b, size_t first, float factor, float *q)
{
    const size_t count = b->n - first < STEP ? b->n - first : STEP;
    if (count < STEP)
        memset(q, 0, b->d * STEP * sizeof *q);
    transpose(b->q + first * b->q_stride, b->q_stride, count, b->d, q, STEP);
    for (size_t k = 0; k < b->d * STEP; k += VEC_LANES)
        vec_store(q + k, vec_mul(vec_load(q + k), vec_set1(factor)));
}

/* y = oᵀ / Σ. */
static void write_answers(const struct nl_attend_block *b, size_t first, const struct step *step)
{
    const size_t count = b->n - first < STEP ? b->n - first : STEP;
    vec inverse[VECS];
    for (int v = 0; v < VECS; v++)
        inverse[v] = vec_div(vec_set1(1), vec_load(step->sum + v * VEC_LANES));
    for (size_t c = 0; c < b->dv; c++)
        for (int v = 0; v < VECS; v++) {
            float *o = step->o + c * STEP + (size_t)v * VEC_LANES;
            vec_store(o, vec_mul(vec_load(o), inverse[v]));
        }
    transpose(step->o, STEP, b->dv, count, b->y + first * b->y_stride, b->y_stride);
}

/* Cuts the scratch memory into the steps' parts; the rest of it is for scores. */
static float *lay_out(const struct nl_attend_block *b, struct step *steps, size_t count,
                      size_t channels)
{
    float *at = b->scratch;
    for (size_t i = 0; i < count; i++) {
        float *q = at;
        steps[i] = (struct step){q, q + b->d * STEP, q + (b->d + channels) * STEP,
                                 q + (b->d + channels + 1) * STEP};
        at += (b->d + channels + 2) * STEP;
        pack_queries(b, i * STEP, b->distance ? 1 : b->scale, q);
        memset(steps[i].o, 0, channels * STEP * sizeof *at);
        for (int l = 0; l < STEP; l++) {
            steps[i].top[l] = -1e30f;
            steps[i].sum[l] = 0;
        }
    }
    return at;
}

NL_INLINE void attend(const struct nl_attend_block *b, bool distance)
{
    const size_t channels = (b->dv + ROWS - 1) / ROWS * ROWS;
    const size_t count = (b->n + STEP - 1) / STEP;
    struct step steps[STEPS];
    float *s = lay_out(b, steps, count, channels);
    for (size_t j0 = 0; j0 < b->m; j0 += NL_ATTEND_KEYS)
        for (size_t i = 0; i < count; i++)
            key_block(b, distance, b->omega, &steps[i], j0, s, channels);
    for (size_t i = 0; i < count; i++)
        write_answers(b, i * STEP, &steps[i]);
}

void NL_TIER(nl_attend)(const struct nl_attend_block *block)
{
    if (block->distance)
        attend(block, true);
    else
        attend(block, false);
}
