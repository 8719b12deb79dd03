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
 * rescaling what has been added up is exact. It need not be the largest: a power of two more or
 * less changes no digit, and so it is raised only when sums grow out of bounds.
 *
 * What a step of queries reads again and again stays in the first cache: the scores of a block of
 * keys and SUM features of the queries. Keys and values of the next block are fetched meanwhile.
 */
#include "attend.h"
#include "tier.h"

enum {
    VECS = 3, /* vectors of queries a step at most; the last step of a block may have fewer */
    STEP = VECS * VEC_LANES,
    ROWS = NL_TILE_ROWS,
    STEPS = NL_ATTEND_BLOCK / STEP, /* query steps that a block may hold */
    /* A score's float sum runs over this many features before it is put aside, so that the
     * rounding error does not grow with d. */
    SUM = 64,
    LINE = 64 / sizeof(float), /* floats that one prefetch brings */
};

/* A block's exponentials add up to no more than NL_ATTEND_KEYS under their own maximum. */
#define LARGEST_SUM 0x1p15f

/* `rows` and `vecs`, at most ROWS and VECS, are constants wherever a function takes them. */
struct tile {
    vec sum[ROWS][VECS];
};

NL_INLINE void tile_clear(struct tile *tile, int rows, int vecs)
{
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            tile->sum[r][v] = vec_zero();
}

/* tile += c; rows of c are STEP apart. */
NL_INLINE void tile_add(struct tile *tile, int rows, int vecs, const float *c)
{
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            tile->sum[r][v] = vec_add(tile->sum[r][v], vec_load(c + r * STEP + v * VEC_LANES));
}

NL_INLINE void tile_store(const struct tile *tile, int rows, int vecs, float *c)
{
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            vec_store(c + r * STEP + v * VEC_LANES, tile->sum[r][v]);
}

/* sum[r] += Σ_k a[k][r] · b[k]; rows of a are a_stride apart, rows of b STEP. */
NL_INLINE void tile_multiply(struct tile *tile, int rows, int vecs, const float *a, size_t a_stride,
                             const float *b, size_t count)
{
#pragma GCC unroll 4
    for (size_t k = 0; k < count; k++, a += a_stride, b += STEP) {
        vec b_k[VECS];
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            b_k[v] = vec_load(b + v * VEC_LANES);
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++) {
            vec a_rk = vec_set1(a[r]);
#pragma GCC unroll 3
            for (int v = 0; v < vecs; v++)
                tile->sum[r][v] = vec_fma(a_rk, b_k[v], tile->sum[r][v]);
        }
    }
}

/* sum[r] −= Σ_k ω[k] (a[k][r] − b[k])²; ω already holds the scale. */
NL_INLINE void tile_distance(struct tile *tile, int vecs, const float *a, const float *b,
                             const float *omega, size_t count)
{
    for (size_t k = 0; k < count; k++, a += NL_LANES, b += STEP) {
        vec b_k[VECS], w = vec_set1(-omega[k]);
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            b_k[v] = vec_load(b + v * VEC_LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            vec a_rk = vec_set1(a[r]);
#pragma GCC unroll 3
            for (int v = 0; v < vecs; v++) {
                vec difference = vec_sub(a_rk, b_k[v]);
                tile->sum[r][v] = vec_fma(vec_mul(w, difference), difference, tile->sum[r][v]);
            }
        }
    }
}

/* Rows of the next block of keys, to be fetched a few at a time between tiles. */
struct ahead {
    const float *at;
    size_t rows, stride, width, share;
};

static void look_ahead(struct ahead *ahead)
{
    for (size_t i = 0; i < ahead->share && ahead->rows > 0; i++) {
        for (size_t k = 0; k < ahead->width; k += LINE)
            __builtin_prefetch(ahead->at + k, 0, 2);
        ahead->at += ahead->stride;
        ahead->rows--;
    }
}

/* One step of queries with what it has gathered so far. */
struct step {
    const float *q; /* d × STEP, scaled */
    float *o;       /* dv × STEP */
    float *top;     /* STEP: the running maximum, a whole number */
    float *sum;     /* STEP: Σ 2^(e − top) */
    int vecs;       /* of which queries fill so many vectors */
};

/* A block of keys on its way through the steps. */
struct key_block {
    size_t first, keys;
    float *s; /* keys × STEP: scores, then weights */
    struct ahead next_keys, next_values;
};

/* Takes the shifts of `count` keys off the tile. */
NL_INLINE void tile_shift(struct tile *tile, int vecs, const float *shift, size_t count)
{
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            tile->sum[r][v] = vec_sub(tile->sum[r][v], vec_set1((size_t)r < count ? shift[r] : 0));
}

NL_INLINE void tile_scale(struct tile *tile, int vecs, float factor)
{
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            tile->sum[r][v] = vec_mul(tile->sum[r][v], vec_set1(factor));
}

/* top = max(top, tile). It stays in memory: registers that held it from tile to tile would be
 * missing in tile_multiply. */
NL_INLINE void tile_max(const struct tile *tile, int vecs, float *top)
{
#pragma GCC unroll 3
    for (int v = 0; v < vecs; v++) {
        vec largest = vec_load(top + v * VEC_LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            largest = vec_max(largest, tile->sum[r][v]);
        vec_store(top + v * VEC_LANES, largest);
    }
}

/* The same for the first `count` rows of a tile that is in memory. */
NL_INLINE void rows_max(const float *s, size_t count, int vecs, float *top)
{
    for (size_t r = 0; r < count; r++)
        for (int v = 0; v < vecs; v++) {
            float *top_v = top + v * VEC_LANES;
            vec_store(top_v, vec_max(vec_load(top_v), vec_load(s + r * STEP + v * VEC_LANES)));
        }
}

/* Sums over all features become scores of the keys from `key` on, at s, and let into the maximum.
 */
NL_INLINE void finish_scores(const struct nl_attend_block *b, enum nl_attend_kind kind,
                             struct tile *tile, int vecs, size_t key, float *s, float *top)
{
    const size_t count = b->m - key < ROWS ? b->m - key : ROWS;
    if (kind == NL_ATTEND_PRODUCT)
        tile_scale(tile, vecs, b->scale);
    else if (b->shift)
        tile_shift(tile, vecs, b->shift + key, count);
    tile_store(tile, ROWS, vecs, s);
    if (top && count == ROWS)
        tile_max(tile, vecs, top);
    else if (top)
        rows_max(s, count, vecs, top);
}

/* Scores of a block of keys; `top`, if there is one, takes part in their maximum. Features are the
 * outer loop: their part of the queries is then used for all keys while it is in the cache. */
NL_INLINE void score_keys(const struct nl_attend_block *b, enum nl_attend_kind kind, int vecs,
                          const struct step *step, struct key_block *block, float *top)
{
    for (size_t k = 0; k < b->d; k += SUM) {
        const size_t features = b->d - k < SUM ? b->d - k : SUM;
        for (size_t j = 0; j < block->keys; j += ROWS) {
            const size_t key = block->first + j;
            const float *keys = b->keys + key / NL_LANES * NL_LANES * b->d + key % NL_LANES;
            float *s = block->s + j * STEP;
            struct tile tile;
            look_ahead(&block->next_keys);
            tile_clear(&tile, ROWS, vecs);
            if (kind == NL_ATTEND_DISTANCE)
                tile_distance(&tile, vecs, keys + k * NL_LANES, step->q + k * STEP, b->omega + k,
                              features);
            else
                tile_multiply(&tile, ROWS, vecs, keys + k * NL_LANES, NL_LANES, step->q + k * STEP,
                              features);
            if (k > 0)
                tile_add(&tile, ROWS, vecs, s);
            if (b->d - k > SUM)
                tile_store(&tile, ROWS, vecs, s);
            else
                finish_scores(b, kind, &tile, vecs, key, s, top);
        }
    }
}

/* s = scale · max(q + k, 0) */
NL_INLINE void relu_keys(const struct nl_attend_block *b, int vecs, const struct step *step,
                         const struct key_block *block)
{
    for (size_t j = 0; j < block->keys; j++) {
        const vec key = vec_set1(b->keys[block->first + j]), scale = vec_set1(b->scale);
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++) {
            vec sum = vec_add(vec_load(step->q + v * VEC_LANES), key);
            vec_store(block->s + j * STEP + (size_t)v * VEC_LANES,
                      vec_mul(scale, vec_max(sum, vec_zero())));
        }
    }
}

/* Raises the running maximum to that of these scores, rounded up; what was added up under the old
 * one is brought under the new one, by a power of two. */
NL_INLINE void raise_top(const struct step *step, int vecs, const float *largest, size_t channels)
{
    vec factor[VECS];
    for (int v = 0; v < vecs; v++) {
        float *top = step->top + v * VEC_LANES, *sum = step->sum + v * VEC_LANES;
        vec new_top = vec_ceil(vec_load(largest + v * VEC_LANES));
        factor[v] = vec_exp2_whole(vec_sub(vec_load(top), new_top));
        vec_store(top, new_top);
        vec_store(sum, vec_mul(vec_load(sum), factor[v]));
    }
    for (size_t c = 0; c < channels; c++)
        for (int v = 0; v < vecs; v++) {
            float *o = step->o + c * STEP + (size_t)v * VEC_LANES;
            vec_store(o, vec_mul(vec_load(o), factor[v]));
        }
}

/* p = 2^(s − top) in place for a few keys, summed. */
NL_INLINE void exponentials_of(int keys, int vecs, const vec *tops, vec *sum, float *s)
{
    vec p[EXP2_VECS];
#pragma GCC unroll 8
    for (int j = 0; j < keys; j++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++)
            p[j * vecs + v] = vec_sub(vec_load(s + j * STEP + v * VEC_LANES), tops[v]);
    vec_exp2(p, keys * vecs);
#pragma GCC unroll 8
    for (int j = 0; j < keys; j++)
#pragma GCC unroll 3
        for (int v = 0; v < vecs; v++) {
            sum[v] = vec_add(sum[v], p[j * vecs + v]);
            vec_store(s + j * STEP + v * VEC_LANES, p[j * vecs + v]);
        }
}

/* Of all keys of the block. False, and the scores are spoilt, if a query's are so far above its
 * running maximum that sums could overflow. */
NL_INLINE bool exponentials(const struct step *step, int vecs, const struct key_block *block)
{
    const int together = EXP2_VECS / vecs;
    const vec limit = vec_set1(LARGEST_SUM);
    vec tops[VECS], sum[VECS];
    bool large = false;
    size_t j = 0;
#pragma GCC unroll 3
    for (int v = 0; v < vecs; v++) {
        tops[v] = vec_load(step->top + v * VEC_LANES);
        sum[v] = vec_zero();
    }
    for (; block->keys - j >= (size_t)together; j += (size_t)together)
        exponentials_of(together, vecs, tops, sum, block->s + j * STEP);
    for (; j < block->keys; j++)
        exponentials_of(1, vecs, tops, sum, block->s + j * STEP);
    for (int v = 0; v < vecs; v++)
        large = large || vec_any_greater(sum[v], limit);
    for (int v = 0; !large && v < vecs; v++) {
        float *total = step->sum + v * VEC_LANES;
        vec_store(total, vec_add(vec_load(total), sum[v]));
    }
    return !large;
}

/* o += Σ_j v[j] p[j] for `rows` channels; rows of v are v_stride apart. */
NL_INLINE void value_tile(int rows, int vecs, const float *v, size_t v_stride,
                          const struct key_block *block, float *o)
{
    struct tile tile;
    tile_clear(&tile, rows, vecs);
    tile_multiply(&tile, rows, vecs, v, v_stride, block->s, block->keys);
    tile_add(&tile, rows, vecs, o);
    tile_store(&tile, rows, vecs, o);
}

/* All channels; the last tile has only the rows that are left. */
NL_INLINE void mix_channels(const struct nl_attend_block *b, int vecs, const struct step *step,
                            struct key_block *block)
{
    const float *v = b->values + block->first * b->v_stride;
    float *o = step->o;
    size_t left = b->dv;
    for (; left >= ROWS; left -= ROWS, v += ROWS, o += (size_t)ROWS * STEP) {
        look_ahead(&block->next_values);
        value_tile(ROWS, vecs, v, b->v_stride, block, o);
    }
    switch (left) {
#define LAST(rows)                                                                                 \
    case rows:                                                                                     \
        value_tile(rows < ROWS ? rows : 1, vecs, v, b->v_stride, block, o);                        \
        break;
        LAST(1) LAST(2) LAST(3) LAST(4) LAST(5) LAST(6) LAST(7)
#undef LAST
    }
}

static void mix_values(const struct nl_attend_block *b, const struct step *step,
                       struct key_block *block)
{
    if (step->vecs == 1)
        mix_channels(b, 1, step, block);
    else if (step->vecs == 2)
        mix_channels(b, 2, step, block);
    else
        mix_channels(b, VECS, step, block);
}

/* Scores and their exponentials. After the first block the running maximum is taken on trust: it is
 * looked for anew only if a sum shows that it has grown by much. */
NL_INLINE void weigh_keys(const struct nl_attend_block *b, enum nl_attend_kind kind, int vecs,
                          const struct step *step, struct key_block *block)
{
    bool trusted = block->first > 0;
    do {
        float top[STEP];
        memcpy(top, step->top, sizeof top);
        score_keys(b, kind, vecs, step, block, trusted ? NULL : top);
        if (!trusted)
            raise_top(step, vecs, top, block->first > 0 ? b->dv : 0);
        trusted = false;
    } while (!exponentials(step, vecs, block));
}

NL_INLINE void step_keys(const struct nl_attend_block *b, enum nl_attend_kind kind, int vecs,
                         const struct step *step, struct key_block *block)
{
    if (kind == NL_ATTEND_RELU)
        relu_keys(b, vecs, step, block);
    else if (kind == NL_ATTEND_PRODUCT)
        score_keys(b, kind, vecs, step, block, NULL);
    else
        weigh_keys(b, kind, vecs, step, block);
    mix_values(b, step, block);
}

/* Queries [first, first + STEP) as d × STEP, times the factor; lanes past the end are 0. */
static void pack_queries(const struct nl_attend_block *b, size_t first, float factor, float *q)
{
    const size_t count = b->n - first < STEP ? b->n - first : STEP;
    if (count < STEP)
        memset(q, 0, b->d * STEP * sizeof *q);
    transpose(b->q + first * b->q_stride, b->q_stride, count, b->d, q, STEP);
    for (size_t k = 0; factor != 1 && k < b->d * STEP; k += VEC_LANES)
        vec_store(q + k, vec_mul(vec_load(q + k), vec_set1(factor)));
}

/* y = oᵀ, over Σ if there is one. */
static void write_answers(const struct nl_attend_block *b, size_t first, const struct step *step)
{
    const size_t count = b->n - first < STEP ? b->n - first : STEP;
    if (b->kind == NL_ATTEND_SOFTMAX || b->kind == NL_ATTEND_DISTANCE) {
        vec inverse[VECS];
        for (int v = 0; v < step->vecs; v++)
            inverse[v] = vec_div(vec_set1(1), vec_load(step->sum + v * VEC_LANES));
        for (size_t c = 0; c < b->dv; c++)
            for (int v = 0; v < step->vecs; v++) {
                float *o = step->o + c * STEP + (size_t)v * VEC_LANES;
                vec_store(o, vec_mul(vec_load(o), inverse[v]));
            }
    }
    transpose(step->o, STEP, b->dv, count, b->y + first * b->y_stride, b->y_stride);
}

/* Cuts the scratch memory into the steps' parts; the rest of it is for scores. */
static float *lay_out(const struct nl_attend_block *b, struct step *steps, size_t count)
{
    float *at = b->scratch;
    for (size_t i = 0; i < count; i++) {
        const size_t queries = b->n - i * STEP < STEP ? b->n - i * STEP : STEP;
        float *q = at;
        steps[i] = (struct step){q, q + b->d * STEP, q + (b->d + b->dv) * STEP,
                                 q + (b->d + b->dv + 1) * STEP,
                                 (int)((queries + VEC_LANES - 1) / VEC_LANES)};
        at += (b->d + b->dv + 2) * STEP;
        pack_queries(b, i * STEP, b->kind == NL_ATTEND_SOFTMAX ? b->scale : 1, q);
        memset(steps[i].o, 0, b->dv * STEP * sizeof *at);
        for (int l = 0; l < STEP; l++) {
            steps[i].top[l] = -1e30f;
            steps[i].sum[l] = 0;
        }
    }
    return at;
}

/* The keys from `first` on, and what `steps` steps of queries fetch meanwhile: each tile its share
 * of the rows of the next block. */
static struct key_block key_block(const struct nl_attend_block *b, size_t first, size_t steps,
                                  float *s)
{
    const size_t left = b->m - first, keys = left < NL_ATTEND_KEYS ? left : NL_ATTEND_KEYS;
    const size_t next = left - keys < NL_ATTEND_KEYS ? left - keys : NL_ATTEND_KEYS;
    const size_t key_tiles = NL_ATTEND_KEYS / ROWS * ((b->d + SUM - 1) / SUM) * steps;
    const size_t value_tiles = (b->dv + ROWS - 1) / ROWS * steps;
    return (struct key_block){
        .first = first,
        .keys = keys,
        .s = s,
        .next_keys = {b->keys + (first + keys) * b->d, next, b->d, b->d,
                      NL_ATTEND_KEYS / key_tiles + 1},
        .next_values = {b->values + (first + keys) * b->v_stride, next, b->v_stride, b->dv,
                        NL_ATTEND_KEYS / value_tiles + 1},
    };
}

NL_INLINE bool attend(const struct nl_attend_block *b, enum nl_attend_kind kind)
{
    const size_t count = (b->n + STEP - 1) / STEP;
    struct step steps[STEPS];
    float *s = lay_out(b, steps, count);
    for (size_t first = 0; first < b->m; first += NL_ATTEND_KEYS) {
        struct key_block block = key_block(b, first, count, s);
        for (size_t i = 0; i < count; i++) {
            if (steps[i].vecs == 1)
                step_keys(b, kind, 1, &steps[i], &block);
            else if (steps[i].vecs == 2)
                step_keys(b, kind, 2, &steps[i], &block);
            else
                step_keys(b, kind, VECS, &steps[i], &block);
        }
        if (b->stop && b->stop(b->context))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        write_answers(b, i * STEP, &steps[i]);
    return true;
}

bool NL_TIER(nl_attend)(const struct nl_attend_block *block)
{
    switch (block->kind) {
    case NL_ATTEND_DISTANCE:
        return attend(block, NL_ATTEND_DISTANCE);
    case NL_ATTEND_PRODUCT:
        return attend(block, NL_ATTEND_PRODUCT);
    case NL_ATTEND_RELU:
        return attend(block, NL_ATTEND_RELU);
    default:
        return attend(block, NL_ATTEND_SOFTMAX);
    }
}
