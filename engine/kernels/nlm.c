/* SPDX-License-Identifier: MIT */
/*
 * Non-local means, one offset at a time: squared differences of a block and its shifted self are
 * summed over the patch's height, then over its width. No sum is ever reduced by subtraction, so
 * that a distance keeps its relative accuracy where a running sum would leave the residue of an
 * edge it has passed.
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

NL_INLINE vec squared_difference(const float *p, const float *q, size_t plane, size_t channels)
{
    vec difference = vec_sub(vec_load(p), vec_load(q));
    vec sum = vec_mul(difference, difference);
    for (size_t c = 1; c < channels; c++) {
        difference = vec_sub(vec_load(p + c * plane), vec_load(q + c * plane));
        sum = vec_fma(difference, difference, sum);
    }
    return sum;
}

/* The place of a column in a block: squared differences of its pixels are taken as they come. */
struct column {
    const float *p, *q;
    size_t stride, plane, channels;
};

NL_INLINE vec difference_at(const struct column *column, size_t row)
{
    const size_t at = row * column->stride;
    return squared_difference(column->p + at, column->q + at, column->plane, column->channels);
}

/*
 * out[i] = sum of the differences in rows i..i + patch − 1, for `rows` rows. Rows are cut into
 * pieces of `patch`: a window is the tail of one piece and the head of the next, so that three
 * additions a window are enough.
 */
NL_INLINE void window_sums(const struct column *column, size_t rows, size_t patch, float *out,
                           size_t stride)
{
    vec tail[NL_NLM_MAX_PATCH];
    for (size_t k = 0; k < patch; k++)
        tail[k] = difference_at(column, k);
    for (size_t i = 0; i < rows; i += patch) {
        const size_t count = rows - i < patch ? rows - i : patch;
        for (size_t k = patch - 1; k > 0; k--)
            tail[k - 1] = vec_add(tail[k - 1], tail[k]);
        vec_store(out + i * stride, tail[0]);
        vec head = vec_zero();
        if (count < patch) {
            for (size_t k = 1; k < count; k++) {
                head = vec_add(head, difference_at(column, i + patch + k - 1));
                vec_store(out + (i + k) * stride, vec_add(tail[k], head));
            }
            return;
        }
        for (size_t k = 1; k < patch; k++) {
            tail[k - 1] = difference_at(column, i + patch + k - 1);
            head = vec_add(head, tail[k - 1]);
            vec_store(out + (i + k) * stride, vec_add(tail[k], head));
        }
        if (i + patch < rows)
            tail[patch - 1] = difference_at(column, i + 2 * patch - 1);
    }
}

/* The same with weights. */
NL_INLINE void weighted_sums(const struct column *column, size_t rows, size_t patch,
                             const float *taps, float *out, size_t stride)
{
    vec d[NL_NLM_MAX_ROWS + NL_NLM_MAX_PATCH];
    for (size_t k = 0; k < rows + patch - 1; k++)
        d[k] = difference_at(column, k);
    for (size_t i = 0; i < rows; i++) {
        vec sum = vec_zero();
        for (size_t k = 0; k < patch; k++)
            sum = vec_fma(vec_set1(taps[k]), d[i + k], sum);
        vec_store(out + i * stride, sum);
    }
}

/* Squared differences summed over the patch's height; scratch[i][x] is that of the column half a
 * patch to the left of x. */
NL_INLINE void column_sums(const struct nl_nlm_block *b, size_t patch, size_t channels)
{
    const size_t width = (b->columns + VEC_LANES - 1) / VEC_LANES * VEC_LANES + patch - 1;
    const float *p = b->p - (patch / 2) * (b->stride + 1);
    for (size_t x = 0; x < width; x += VEC_LANES) {
        const struct column column = {p + x, p + x + b->to_q, b->stride, b->plane, channels};
        if (b->taps)
            weighted_sums(&column, b->rows, patch, b->taps, b->scratch + x, b->scratch_stride);
        else
            window_sums(&column, b->rows, patch, b->scratch + x, b->scratch_stride);
    }
}

/* The sum of seven neighbours for each of VEC_LANES places. */
static inline vec usual_row_sum(const float *sums)
{
#if defined(vec_slide)
    /* A load across two cache lines costs twice: shift in registers. */
    vec a = vec_load(sums), b = vec_load(sums + VEC_LANES);
    vec two = vec_add(a, vec_slide(a, b, 1)), two_b = vec_add(b, vec_slide(b, b, 1));
    vec four = vec_add(two, vec_slide(two, two_b, 2));
    return vec_add(four, vec_add(vec_slide(two, two_b, 4), vec_slide(a, b, 6)));
#else
    vec s01 = vec_add(vec_load(sums), vec_load(sums + 1));
    vec s23 = vec_add(vec_load(sums + 2), vec_load(sums + 3));
    vec s45 = vec_add(vec_load(sums + 4), vec_load(sums + 5));
    return vec_add(vec_add(s01, s23), vec_add(s45, vec_load(sums + 6)));
#endif
}

/* The distances of VEC_LANES pairs from their column sums. */
NL_INLINE vec row_sum(const float *sums, size_t patch, const float *taps)
{
    if (taps) {
        vec sum = vec_zero();
        for (size_t k = 0; k < patch; k++)
            sum = vec_fma(vec_set1(taps[k]), vec_load(sums + k), sum);
        return sum;
    }
    if (patch == USUAL_PATCH)
        return usual_row_sum(sums);
    vec even = vec_load(sums), odd = vec_zero();
    for (size_t k = 1; k < patch; k += 2) {
        odd = vec_add(odd, vec_load(sums + k));
        even = vec_add(even, vec_load(sums + k + 1));
    }
    return vec_add(even, odd);
}

/* 1 in the lanes of columns x.. that count, 0 in the others. */
static inline vec counting_lanes(size_t x, size_t skip, size_t columns)
{
    static const float zeros_ones[3 * NL_LANES] = {
        [NL_LANES] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const size_t before = skip > x ? skip - x : 0, after = columns - x;
    vec lanes = vec_load(zeros_ones + NL_LANES - before);
    if (after < VEC_LANES)
        lanes = vec_mul(lanes, vec_load(zeros_ones + 2 * NL_LANES - after));
    return lanes;
}

/* Adds a weight and what it weighs to the sums at one place. */
NL_INLINE void add_weighted(float *totals, size_t totals_plane, vec weight, const float *value,
                            size_t plane, size_t channels, bool largest)
{
    vec_store(totals, vec_add(vec_load(totals), weight));
    for (size_t c = 0; c < channels; c++) {
        float *sum = totals + (c + 1) * totals_plane;
        vec_store(sum, vec_fma(weight, vec_load(value + c * plane), vec_load(sum)));
    }
    if (largest) {
        float *top = totals + (channels + 1) * totals_plane;
        vec_store(top, vec_max(weight, vec_load(top)));
    }
}

/* What the code of a row is compiled for. */
struct kind {
    size_t patch, channels;
    bool at_p, at_q; /* which sums are wanted */
    bool largest;
};

NL_INLINE void weigh_row(const struct nl_nlm_block *b, size_t i, struct kind kind)
{
    const float *sums = b->scratch + i * b->scratch_stride, *taps = b->taps;
    const float *p = b->p + i * b->stride, *q = p + b->to_q;
    const ptrdiff_t at = b->totals_at + (ptrdiff_t)(i * b->totals_stride);
    float *totals_p = kind.at_p ? b->totals + at : NULL;
    float *totals_q = kind.at_q ? b->totals + at + b->totals_to_q : NULL;
    const size_t columns = b->columns, skip = b->skip, plane = b->plane;
    const size_t totals_plane = b->totals_plane;
    const vec scale = vec_set1(-b->scale), noise = vec_set1(b->noise);
    for (size_t x = 0; x < columns; x += VEC_LANES) {
        vec t = vec_fma(row_sum(sums + x, kind.patch, taps), scale, noise);
        t = vec_sub(t, vec_max(t, vec_zero())); /* min(t, 0), exactly */
        vec weight = exp2_weight(t);
        if (x < skip || columns - x < VEC_LANES)
            weight = vec_mul(weight, counting_lanes(x, skip, columns));
        if (kind.at_p)
            add_weighted(totals_p + x, totals_plane, weight, q + x, plane, kind.channels,
                         kind.largest);
        if (kind.at_q)
            add_weighted(totals_q + x, totals_plane, weight, p + x, plane, kind.channels,
                         kind.largest);
    }
}

NL_INLINE void weigh_rows(const struct nl_nlm_block *b, struct kind kind)
{
    for (size_t i = 0; i < b->rows; i++) {
        kind.at_p = i >= b->p_begin && i < b->p_end;
        kind.at_q = i >= b->q_begin && i < b->q_end;
        if (kind.at_p && kind.at_q)
            weigh_row(b, i, (struct kind){kind.patch, kind.channels, true, true, kind.largest});
        else if (kind.at_p)
            weigh_row(b, i, (struct kind){kind.patch, kind.channels, true, false, kind.largest});
        else if (kind.at_q)
            weigh_row(b, i, (struct kind){kind.patch, kind.channels, false, true, kind.largest});
    }
}

NL_INLINE void block(const struct nl_nlm_block *b, size_t patch, size_t channels)
{
    column_sums(b, patch, channels);
    if (b->largest)
        weigh_rows(b, (struct kind){.patch = patch, .channels = channels, .largest = true});
    else
        weigh_rows(b, (struct kind){.patch = patch, .channels = channels, .largest = false});
}

void NL_TIER(nl_nlm_block)(const struct nl_nlm_block *b)
{
    if (b->rows == 0 || b->columns == 0)
        return;
    if (b->patch == USUAL_PATCH && b->channels == 1)
        block(b, USUAL_PATCH, 1);
    else if (b->patch == USUAL_PATCH)
        block(b, USUAL_PATCH, 3);
    else if (b->channels == 1)
        block(b, b->patch, 1);
    else
        block(b, b->patch, 3);
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
