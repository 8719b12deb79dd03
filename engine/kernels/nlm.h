/* SPDX-License-Identifier: MIT */
/* What one call of the kernel nlm_block works on. */
#ifndef NL_KERNELS_NLM_H
#define NL_KERNELS_NLM_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NL_NLM_MAX_PATCH = 127,
    NL_NLM_MAX_ROWS = 128, /* of a block */
    NL_NLM_OFFSETS = 7,    /* at once */
    NL_NLM_MARGIN = 32,    /* columns beside a block that whole vectors may touch */
};

/*
 * rows × columns pixels p, each compared with `offsets` candidates q, neighbours in a row, by their
 * patches' distance Σ ω (p − q)². The first candidate lies `to_q` elements from p, the next ones to
 * its right. A pair's weight counts for both: q's value is added up at p, and p's value at q.
 *
 * Of the pairs with candidate k those of columns [skip − k, limit − k) count, as far as these are
 * columns of the block.
 *
 * Vector kernels read and write whole vectors. The image must be readable, and finite, for half a
 * patch around p and q and NL_NLM_MARGIN columns beside that, and the sums must be there for so
 * many columns; those of pairs that do not count come back unchanged.
 */
struct nl_nlm_block {
    size_t rows, columns; /* rows <= NL_NLM_MAX_ROWS */
    size_t offsets;       /* 1 to NL_NLM_OFFSETS */
    size_t skip, limit;

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
    ptrdiff_t totals_at;   /* where those of the block's first pixel p are, or would be */
    ptrdiff_t totals_to_q; /* from there to those of its first candidate */
    size_t totals_stride, totals_plane;
    bool largest; /* the last plane exists */
    /* Rows of the block whose sums at p, and at q, are wanted. */
    size_t p_begin, p_end, q_begin, q_end;

    float *scratch; /* nl_nlm_scratch_size floats, a multiple of NL_LANES floats apart */
};

/* Floats from row to row in a block's scratch: those that a patch needs beside the columns, or the
 * margins. */
static inline size_t nl_nlm_scratch_stride(size_t columns, size_t patch)
{
    const size_t beside = patch - 1 > 2 * NL_NLM_MARGIN ? patch - 1 : 2 * NL_NLM_MARGIN;
    return ((columns + 15) / 16 + (beside + 15) / 16) * 16;
}

/* For each offset the sums of each row, and the weights of one. */
static inline size_t nl_nlm_scratch_size(size_t rows, size_t columns, size_t patch)
{
    return NL_NLM_OFFSETS * (rows + 1) * nl_nlm_scratch_stride(columns, patch);
}

#endif
