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
    VECS = 3, /* vectors of queries a step; the last step of a block may have 1 */
    STEP = VECS * VEC_LANES,
    ROWS = NL_TILE_ROWS,
    STEPS = NL_ATTEND_BLOCK / STEP, /* query steps that a block may hold */
    /* A score's float sum runs over this many features before it is put aside, so that the
     * rounding error does not grow with d. */
    SUM = 64,
    LINE = 64 / sizeof(float), /* floats that one prefetch brings */
};

/* Under their own maximum a block's exponentials add up to no more than NL_ATTEND_KEYS; beyond this
 * the running one is too far below it. */
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

/* c = Σ_k a[k][r] · b[k], added to what is there if `add`; rows of c are STEP apart. */
NL_INLINE void product(int rows, int vecs, const float *a, size_t a_stride, const float *b,
                       size_t count, bool add, float *c)
{
    struct tile tile;
    tile_clear(&tile, rows, vecs);
    tile_multiply(&tile, rows, vecs, a, a_stride, b, count);
    if (add)
        tile_add(&tile, rows, vecs, c);
    tile_store(&tile, rows, vecs, c);
}

/* The same for any number of rows up to ROWS: one piece of code for scores and answers. */
static void product_tile(size_t rows, int vecs, const float *a, size_t a_stride, const float *b,
                         size_t count, bool add, float *c)
{
    switch (rows) {
#define CASE(rows)                                                                                 \
    case rows:                                                                                     \
        if (vecs == 1)                                                                             \
            product(rows, 1, a, a_stride, b, count, add, c);                                       \
        else                                                                                       \
            product(rows, VECS, a, a_stride, b, count, add, c);                                    \
        break
        CASE(1);
        CASE(2);
        CASE(3);
        CASE(4);
#if NL_TILE_ROWS == 8
        CASE(5);
        CASE(6);
        CASE(7);
        CASE(8);
#endif
#undef CASE
    }
}

/* c = −Σ_k ω[k] (a[k][r] − b[k])², likewise, for ROWS rows. */
NL_INLINE void distance_tile(int vecs, const float *a, const float *b, const float *omega,
                             size_t count, bool add, float *c)
{
    struct tile tile;
    tile_clear(&tile, ROWS, vecs);
    tile_distance(&tile, vecs, a, b, omega, count);
    if (add)
        tile_add(&tile, ROWS, vecs, c);
    tile_store(&tile, ROWS, vecs, c);
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
    int vecs;       /* of which queries fill some: 1 or VECS */
};

/* A block of keys on its way through the steps. */
struct key_block {
    size_t first, keys;
    float *s; /* keys × STEP: scores, then weights */
    struct ahead next_keys, next_values;
};

static bool is_softmax(const struct nl_attend_block *b)
{
    return b->kind == NL_ATTEND_SOFTMAX || b->kind == NL_ATTEND_DISTANCE;
}

/* Sums over features. They are the outer loop: their part of the queries is then used for all keys
 * while it is in the cache. */
static void score_keys(const struct nl_attend_block *b, const struct step *step,
                       struct key_block *block)
{
    for (size_t k = 0; k < b->d; k += SUM) {
        const size_t features = b->d - k < SUM ? b->d - k : SUM;
        const float *q = step->q + k * STEP;
        for (size_t j = 0; j < block->keys; j += ROWS) {
            const size_t key = block->first + j;
            const float *keys =
                b->keys + key / NL_LANES * NL_LANES * b->d + key % NL_LANES + k * NL_LANES;
            float *s = block->s + j * STEP;
            look_ahead(&block->next_keys);
            if (b->kind != NL_ATTEND_DISTANCE)
                product_tile(ROWS, step->vecs, keys, NL_LANES, q, features, k > 0, s);
            else if (step->vecs == 1)
                distance_tile(1, keys, q, b->omega + k, features, k > 0, s);
            else
                distance_tile(VECS, keys, q, b->omega + k, features, k > 0, s);
        }
    }
}

/* s = factor · s − shift, without shifts where there are none */
static void adjust_scores(const struct step *step, const struct key_block *block, float factor,
                          const float *shift)
{
    for (size_t j = 0; j < block->keys; j++) {
        const vec shift_j = vec_set1(shift ? shift[block->first + j] : 0);
        for (int v = 0; v < step->vecs; v++) {
            float *s = block->s + j * STEP + (size_t)v * VEC_LANES;
            vec_store(s, vec_sub(vec_mul(vec_load(s), vec_set1(factor)), shift_j));
        }
    }
}

/* s = scale · max(q + k, 0) */
static void relu_keys(const struct nl_attend_block *b, const struct step *step,
                      const struct key_block *block)
{
    for (size_t j = 0; j < block->keys; j++) {
        const vec key = vec_set1(b->keys[block->first + j]), scale = vec_set1(b->scale);
        for (int v = 0; v < step->vecs; v++) {
            vec sum = vec_add(vec_load(step->q + v * VEC_LANES), key);
            vec_store(block->s + j * STEP + (size_t)v * VEC_LANES,
                      vec_mul(scale, vec_max(sum, vec_zero())));
        }
    }
}

/* Raises the running maximum to that of these scores, rounded up; what was added up under the old
 * one is brought under the new one, by a power of two. */
static void raise_top(const struct nl_attend_block *b, const struct step *step,
                      const struct key_block *block)
{
    for (int v = 0; v < step->vecs; v++) {
        float *top = step->top + v * VEC_LANES, *sum = step->sum + v * VEC_LANES;
        vec largest = vec_load(top);
        for (size_t j = 0; j < block->keys; j++)
            largest = vec_max(largest, vec_load(block->s + j * STEP + (size_t)v * VEC_LANES));
        largest = vec_ceil(largest);
        const vec factor = vec_exp2_whole(vec_sub(vec_load(top), largest));
        vec_store(top, largest);
        vec_store(sum, vec_mul(vec_load(sum), factor));
        for (size_t c = 0; block->first > 0 && c < b->dv; c++) {
            float *o = step->o + c * STEP + (size_t)v * VEC_LANES;
            vec_store(o, vec_mul(vec_load(o), factor));
        }
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

/* Scores and their exponentials. After the first block the running maximum is taken on trust: it is
 * looked for anew only if a sum shows that it has grown by much. */
static void weigh_keys(const struct nl_attend_block *b, const struct step *step,
                       struct key_block *block)
{
    bool trusted = block->first > 0, done;
    do {
        score_keys(b, step, block);
        if (b->shift)
            adjust_scores(step, block, 1, b->shift);
        if (!trusted)
            raise_top(b, step, block);
        trusted = false;
        done = step->vecs == 1 ? exponentials(step, 1, block) : exponentials(step, VECS, block);
    } while (!done);
}

/* o += Σ_j v[j] p[j]; the last tile has only the channels that are left. */
static void mix_values(const struct nl_attend_block *b, const struct step *step,
                       struct key_block *block)
{
    const float *v = b->values + block->first * b->v_stride;
    for (size_t c = 0; c < b->dv; c += ROWS) {
        look_ahead(&block->next_values);
        product_tile(b->dv - c < ROWS ? b->dv - c : ROWS, step->vecs, v + c, b->v_stride, block->s,
                     block->keys, true, step->o + c * STEP);
    }
}

static void step_keys(const struct nl_attend_block *b, const struct step *step,
                      struct key_block *block)
{
    if (is_softmax(b)) {
        weigh_keys(b, step, block);
    } else if (b->kind == NL_ATTEND_RELU) {
        relu_keys(b, step, block);
    } else {
        score_keys(b, step, block);
        adjust_scores(step, block, b->scale, NULL);
    }
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
    if (is_softmax(b)) {
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
                                 q + (b->d + b->dv + 1) * STEP, queries <= VEC_LANES ? 1 : VECS};
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

bool NL_TIER(nl_attend)(const struct nl_attend_block *b)
{
    const size_t count = (b->n + STEP - 1) / STEP;
    struct step steps[STEPS];
    float *s = lay_out(b, steps, count);
    for (size_t first = 0; first < b->m; first += NL_ATTEND_KEYS) {
        struct key_block block = key_block(b, first, count, s);
        for (size_t i = 0; i < count; i++)
            step_keys(b, &steps[i], &block);
        if (b->stop && b->stop(b->context))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        write_answers(b, i * STEP, &steps[i]);
    return true;
}
