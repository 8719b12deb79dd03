/* SPDX-License-Identifier: MIT */
/* What one call of the kernel nlm_block works on. */
#ifndef NL_KERNELS_NLM_H
#define NL_KERNELS_NLM_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NL_NLM_MAX_PATCH = 127,
    NL_NLM_MAX_ROWS = 128, /* of a block */
};

/*
 * rows × columns pixels p, each compared with the candidate q that lies `to_q` elements from it, by
 * their patches' distance Σ ω (p − q)². The pair's weight counts for both: q's value is added up at
 * p, and p's value at q.
 *
 * Vector kernels read and write whole vectors. The image must be readable, and finite, for two
 * vectors of NL_LANES beyond the last column and half a patch; the sums of p and q must be there up
 * to the next multiple of NL_LANES columns, and come back unchanged outside [skip, columns).
 */
struct nl_nlm_block {
    size_t rows, columns; /* rows <= NL_NLM_MAX_ROWS */
    size_t skip;          /* columns at the start that do not count, fewer than NL_LANES */

    /* The image: `channels` planes (1 or 3), borders mirrored so that every patch is complete. */
    const float *p; /* first pixel of the block in the first plane */
    ptrdiff_t to_q;
    size_t stride, plane; /* elements from row to row, from plane to plane */
    size_t channels;

    /* ω: taps[i] · taps[k] at row i, column k of a patch; NULL means 1 everywhere. */
    size_t patch; /* side, odd */
    const float *taps;
    float scale, noise; /* weight = 2^min(noise − scale · distance, 0) */

    /* Planes of sums: the weights, the values of each channel, then the largest weight. */
    float *totals;
    ptrdiff_t totals_at; /* where those of the block's first pixel p are, or would be */
    ptrdiff_t totals_to_q;
    size_t totals_stride, totals_plane;
    bool largest; /* the last plane exists */
    /* Rows of the block whose sums at p, and at q, are wanted. */
    size_t p_begin, p_end, q_begin, q_end;

    float *scratch; /* rows × scratch_stride, at least nl_nlm_scratch_stride(columns, patch) */
    size_t scratch_stride;
};

static inline size_t nl_nlm_scratch_stride(size_t columns, size_t patch)
{
    return (columns + 15) / 16 * 16 + (patch - 1 + 15) / 16 * 16;
}

#endif
