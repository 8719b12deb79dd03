/* SPDX-License-Identifier: MIT */
/*
 * Non-local means: squared differences of a block and its shifted self are summed over the patch's
 * height, then over its width. No sum is ever reduced by subtraction, so that a distance keeps its
 * relative accuracy where a running sum would leave the residue of an edge it has passed.
 *
 * What a few neighbouring offsets add at a place is summed in registers first. Their weights in a
 * row are kept: what they add at the candidates is read from there, each shifted by its offset.
 */
#include "tier.h"

/* The patch side that has code of its own. */
enum { USUAL_PATCH = 7 };

/*
 * 2^t for t <= 0, at least 2^−126. t is split into a whole part and |r| <= 1/2; the polynomial is
 * 1 at r = 0 and elsewhere fitted to a relative error of 1.1e-7.
 */
static inline vec exp2_weight(vec t)
{
    t = vec_max(t, vec_set1(-126.0f));
    vec n = vec_round(t);
    vec r = vec_sub(t, n);
    vec e = vec_set1(0.00132647273f);
    e = vec_fma(e, r, vec_set1(0.00967151299f));
    e = vec_fma(e, r, vec_set1(0.0555073358f));
    e = vec_fma(e, r, vec_set1(0.240222424f));
    e = vec_fma(e, r, vec_set1(0.693147004f));
    e = vec_fma(e, r, vec_set1(1.0f));
    return vec_scale2(e, n);
}

/* A column of a block on its way down. */
struct column {
    const float *p; /* the next pixel; its candidate lies to_q from it */
    ptrdiff_t to_q;
    size_t stride, plane, channels;
};

/* The next squared differences, summed over the channels. */
NL_INLINE vec next_difference(struct column *column)
{
    const float *p = column->p;
    vec difference = vec_sub(vec_load(p), vec_load(p + column->to_q));
    vec sum = vec_mul(difference, difference);
    for (size_t c = 1; c < column->channels; c++) {
        p += column->plane;
        difference = vec_sub(vec_load(p), vec_load(p + column->to_q));
        sum = vec_fma(difference, difference, sum);
    }
    column->p += column->stride;
    return sum;
}

/*
 * out[i] = sum of the differences in rows i..i + patch − 1, for `rows` rows. Rows are cut into
 * pieces of `patch`: a window is the tail of one piece and the head of the next, so that three
 * additions a window are enough.
 */
NL_INLINE void window_sums(struct column column, size_t rows, size_t patch, float *out,
                           size_t stride)
{
    vec tail[NL_NLM_MAX_PATCH];
    for (size_t k = 0; k < patch; k++)
        tail[k] = next_difference(&column);
    for (size_t i = 0; i < rows; i += patch) {
        const size_t count = rows - i < patch ? rows - i : patch;
        for (size_t k = patch - 1; k > 0; k--)
            tail[k - 1] = vec_add(tail[k - 1], tail[k]);
        vec_store(out, tail[0]);
        out += stride;
        vec head = vec_zero();
        if (count < patch) {
            for (size_t k = 1; k < count; k++) {
                head = vec_add(head, next_difference(&column));
                vec_store(out, vec_add(tail[k], head));
                out += stride;
            }
            return;
        }
        for (size_t k = 1; k < patch; k++) {
            tail[k - 1] = next_difference(&column);
            head = vec_add(head, tail[k - 1]);
            vec_store(out, vec_add(tail[k], head));
            out += stride;
        }
        if (i + patch < rows)
            tail[patch - 1] = next_difference(&column);
    }
}

/* The same with weights. */
NL_INLINE void weighted_sums(struct column column, size_t rows, size_t patch, const float *taps,
                             float *out, size_t stride)
{
    vec d[NL_NLM_MAX_ROWS + NL_NLM_MAX_PATCH];
    for (size_t k = 0; k < rows + patch - 1; k++)
        d[k] = next_difference(&column);
    for (size_t i = 0; i < rows; i++) {
        vec sum = vec_zero();
        for (size_t k = 0; k < patch; k++)
            sum = vec_fma(vec_set1(taps[k]), d[i + k], sum);
        vec_store(out + i * stride, sum);
    }
}

/* Rows of a block's scratch. */
static inline float *sums_of(const struct nl_nlm_block *b, size_t offset, size_t row)
{
    return b->scratch + (offset * b->rows + row) * nl_nlm_scratch_stride(b->columns, b->patch);
}

static inline float *weights_of(const struct nl_nlm_block *b, size_t offset)
{
    return sums_of(b, b->offsets, 0) + offset * nl_nlm_scratch_stride(b->columns, b->patch) +
           NL_NLM_MARGIN;
}

/* Squared differences of an offset summed over the patch's height; at column x is the sum of the
 * column half a patch to its left. */
NL_INLINE void column_sums(const struct nl_nlm_block *b, size_t offset, size_t patch,
                           size_t channels)
{
    const size_t width = (b->columns + VEC_LANES - 1) / VEC_LANES * VEC_LANES + patch - 1;
    const size_t stride = nl_nlm_scratch_stride(b->columns, patch);
    const float *p = b->p - (patch / 2) * (b->stride + 1);
    float *out = sums_of(b, offset, 0);
    for (size_t x = 0; x < width; x += VEC_LANES) {
        const struct column column = {p + x, b->to_q + (ptrdiff_t)offset, b->stride, b->plane,
                                      channels};
        if (b->taps)
            weighted_sums(column, b->rows, patch, b->taps, out + x, stride);
        else
            window_sums(column, b->rows, patch, out + x, stride);
    }
}

/* Sums of seven neighbours, vector after vector. */
#if defined(vec_slide)
/* Shifts in registers: a load across two cache lines costs twice. */
struct sevens {
    const float *sums;
    vec pairs; /* sums of two neighbours */
};

static inline struct sevens sevens_start(const float *sums)
{
    return (struct sevens){sums, vec_add(vec_load(sums), vec_load(sums + 1))};
}

/* Reads a vector beyond those that it sums. */
static inline vec sevens_next(struct sevens *s)
{
    const float *next = s->sums + VEC_LANES;
    const vec pairs = vec_add(vec_load(next), vec_load(next + 1));
    const vec fours = vec_add(s->pairs, vec_slide(s->pairs, pairs, 2));
    const vec threes = vec_add(vec_slide(s->pairs, pairs, 4), vec_load(s->sums + 6));
    *s = (struct sevens){next, pairs};
    return vec_add(fours, threes);
}
#else
struct sevens {
    const float *sums;
};

static inline struct sevens sevens_start(const float *sums)
{
    return (struct sevens){sums};
}

static inline vec sevens_next(struct sevens *s)
{
    vec s01 = vec_add(vec_load(s->sums), vec_load(s->sums + 1));
    vec s23 = vec_add(vec_load(s->sums + 2), vec_load(s->sums + 3));
    vec s45 = vec_add(vec_load(s->sums + 4), vec_load(s->sums + 5));
    vec s6 = vec_load(s->sums + 6);
    s->sums += VEC_LANES;
    return vec_add(vec_add(s01, s23), vec_add(s45, s6));
}
#endif

/* The distances of VEC_LANES pairs from their column sums. */
NL_INLINE vec row_sum(const float *sums, size_t patch, const float *taps)
{
    if (taps) {
        vec sum = vec_zero();
        for (size_t k = 0; k < patch; k++)
            sum = vec_fma(vec_set1(taps[k]), vec_load(sums + k), sum);
        return sum;
    }
    vec even = vec_load(sums), odd = vec_zero();
    for (size_t k = 1; k < patch; k += 2) {
        odd = vec_add(odd, vec_load(sums + k));
        even = vec_add(even, vec_load(sums + k + 1));
    }
    return vec_add(even, odd);
}

/* Zeros for the pairs with one offset that do not count. */
static void leave_out(const struct nl_nlm_block *b, size_t offset, float *weights)
{
    const size_t whole = (b->columns + VEC_LANES - 1) / VEC_LANES * VEC_LANES;
    const size_t begin = b->skip > offset ? b->skip - offset : 0;
    const size_t limit = b->limit > offset ? b->limit - offset : 0;
    const size_t end = limit < b->columns ? limit : b->columns;
    for (size_t x = 0; x < begin && x < whole; x++)
        weights[x] = 0;
    for (size_t x = end; x < whole; x++)
        weights[x] = 0;
}

/* The weights of the pairs of row i with one offset. Without noise no exponent is above 0. */
NL_INLINE void weigh_row(const struct nl_nlm_block *b, size_t i, size_t offset, bool usual,
                         bool noisy)
{
    const float *sums = sums_of(b, offset, i);
    float *weights = weights_of(b, offset);
    const vec scale = vec_set1(-b->scale), noise = vec_set1(b->noise);
    struct sevens sevens = sevens_start(sums);
    for (size_t x = 0; x < b->columns; x += VEC_LANES) {
        vec sum = usual ? sevens_next(&sevens) : row_sum(sums + x, b->patch, b->taps);
        vec t = noisy ? vec_min(vec_fma(sum, scale, noise), vec_zero()) : vec_mul(sum, scale);
        vec_store(weights + x, exp2_weight(t));
    }
    leave_out(b, offset, weights);
}

static void weigh_offsets(const struct nl_nlm_block *b, size_t i)
{
    const bool usual = b->patch == USUAL_PATCH && !b->taps;
    for (size_t k = 0; k < b->offsets; k++) {
        if (usual && b->noise == 0)
            weigh_row(b, i, k, true, false);
        else if (usual)
            weigh_row(b, i, k, true, true);
        else
            weigh_row(b, i, k, false, true);
    }
}

/* What the pairs of a row add up to at one end: from one offset to the next, weights and values are
 * so many elements further. */
struct row_end {
    const float *weights, *values;
    ptrdiff_t to_weights, to_values;
    float *totals;
};

/* `vecs` vectors of places. */
NL_INLINE void gather(const struct nl_nlm_block *b, const struct row_end *end, size_t x, int vecs,
                      size_t offsets, size_t channels, bool largest)
{
    const float *weights = end->weights + x, *values = end->values + x;
    vec sum[2], value[2][3], top[2];
    for (int v = 0; v < vecs; v++)
        sum[v] = top[v] = value[v][0] = value[v][1] = value[v][2] = vec_zero();
#pragma GCC unroll 7
    for (size_t k = 0; k < offsets; k++, weights += end->to_weights, values += end->to_values) {
        for (int v = 0; v < vecs; v++) {
            const vec weight = vec_load(weights + v * VEC_LANES);
            sum[v] = vec_add(sum[v], weight);
            for (size_t c = 0; c < channels; c++)
                value[v][c] =
                    vec_fma(weight, vec_load(values + c * b->plane + v * VEC_LANES), value[v][c]);
            if (largest)
                top[v] = vec_max(weight, top[v]);
        }
    }
    for (int v = 0; v < vecs; v++) {
        float *totals = end->totals + x + v * VEC_LANES;
        vec_store(totals, vec_add(vec_load(totals), sum[v]));
        for (size_t c = 0; c < channels; c++) {
            totals += b->totals_plane;
            vec_store(totals, vec_add(vec_load(totals), value[v][c]));
        }
        totals += b->totals_plane;
        if (largest)
            vec_store(totals, vec_max(top[v], vec_load(totals)));
    }
}

NL_INLINE void gather_row(const struct nl_nlm_block *b, const struct row_end *end, size_t columns,
                          size_t channels, bool largest)
{
    size_t x = 0;
    if (b->offsets == NL_NLM_OFFSETS)
        for (; x + VEC_LANES < columns; x += 2 * VEC_LANES)
            gather(b, end, x, 2, NL_NLM_OFFSETS, channels, largest);
    for (; x < columns; x += VEC_LANES)
        gather(b, end, x, 1, b->offsets, channels, largest);
}

static void gather_grey(const struct nl_nlm_block *b, const struct row_end *end, size_t columns)
{
    if (b->largest)
        gather_row(b, end, columns, 1, true);
    else
        gather_row(b, end, columns, 1, false);
}

static void gather_colour(const struct nl_nlm_block *b, const struct row_end *end, size_t columns)
{
    if (b->largest)
        gather_row(b, end, columns, 3, true);
    else
        gather_row(b, end, columns, 3, false);
}

static void add_row(const struct nl_nlm_block *b, size_t i)
{
    void (*gather_all)(const struct nl_nlm_block *, const struct row_end *, size_t) =
        b->channels == 1 ? gather_grey : gather_colour;
    const ptrdiff_t stride = (ptrdiff_t)nl_nlm_scratch_stride(b->columns, b->patch);
    const float *p = b->p + i * b->stride, *weights = weights_of(b, 0);
    float *totals = b->totals + b->totals_at + (ptrdiff_t)(i * b->totals_stride);
    if (i >= b->p_begin && i < b->p_end) {
        const struct row_end at_p = {weights, p + b->to_q, stride, 1, totals};
        gather_all(b, &at_p, b->columns);
    }
    if (i >= b->q_begin && i < b->q_end) { /* from the start of a vector of the sums on */
        totals += b->totals_to_q;
        const size_t before = (uintptr_t)totals / sizeof *totals % VEC_LANES;
        const struct row_end at_q = {weights - before, p - before, stride - 1, -1, totals - before};
        gather_all(b, &at_q, before + b->columns + b->offsets - 1);
    }
}

/* No pairs beside the block. */
static void clear_margins(const struct nl_nlm_block *b)
{
    const size_t width = (b->columns + VEC_LANES - 1) / VEC_LANES * VEC_LANES;
    for (size_t k = 0; k < b->offsets; k++) {
        memset(weights_of(b, k) - NL_NLM_MARGIN, 0, NL_NLM_MARGIN * sizeof(float));
        memset(weights_of(b, k) + width, 0, NL_NLM_MARGIN * sizeof(float));
    }
}

void NL_TIER(nl_nlm_block)(const struct nl_nlm_block *b)
{
    if (b->rows == 0 || b->columns == 0)
        return;
    for (size_t k = 0; k < b->offsets; k++) {
        if (b->patch == USUAL_PATCH && b->channels == 1)
            column_sums(b, k, USUAL_PATCH, 1);
        else if (b->patch == USUAL_PATCH)
            column_sums(b, k, USUAL_PATCH, 3);
        else if (b->channels == 1)
            column_sums(b, k, b->patch, 1);
        else
            column_sums(b, k, b->patch, 3);
    }
    clear_margins(b);
    for (size_t i = 0; i < b->rows; i++) {
        if ((i < b->p_begin || i >= b->p_end) && (i < b->q_begin || i >= b->q_end))
            continue;
        weigh_offsets(b, i);
        add_row(b, i);
    }
}

void NL_TIER(nl_nlm_distances)(const float *p, const float *q, size_t stride, size_t plane,
                               size_t channels, size_t patch, const float *taps, size_t count,
                               float *out)
{
    for (size_t j = 0; j < count; j += VEC_LANES) {
        vec total = vec_zero();
        for (size_t row = 0; row < patch * channels; row++) {
            const size_t start = row / patch * plane + row % patch * stride;
            vec sum = vec_zero();
            for (size_t k = 0; k < patch; k++) {
                vec q_k = vec_load_part(q + start + k + j, count - j, 0);
                vec difference = vec_sub(vec_set1(p[start + k]), q_k);
                sum = vec_fma(vec_mul(vec_set1(taps[k]), difference), difference, sum);
            }
            total = vec_fma(vec_set1(taps[row % patch]), sum, total);
        }
        vec_store_part(out + j, total, count - j);
    }
}
