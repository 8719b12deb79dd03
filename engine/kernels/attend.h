/* SPDX-License-Identifier: MIT */
/* What one call of the kernel `attend` works on: a block of queries against all keys. */
#ifndef NL_KERNELS_ATTEND_H
#define NL_KERNELS_ATTEND_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NL_ATTEND_KEYS = 128,   /* keys a step: their scores stay in the cache */
    NL_ATTEND_QUERIES = 48, /* queries a step at most, on any tier */
    NL_ATTEND_STEPS = 4,    /* query steps a block: each key block serves all of them */
    NL_ATTEND_BLOCK = NL_ATTEND_QUERIES * NL_ATTEND_STEPS,
};

/*
 * y[i] = Σ_j softmax_j(e_ij) v_j with exponents
 *     e_ij = scale · q_i·k_j − shift_j              (distance false)
 *     e_ij = −Σ_k ω_k (q_ik − k_jk)² − shift_j      (distance true)
 * in base 2: scale, ω and shift hold the factor log2(e).
 */
struct nl_attend_block {
    const float *q; /* n × d, n <= NL_ATTEND_BLOCK */
    size_t q_stride, n, d;
    const float *keys; /* packed, m of them */
    size_t m;
    const float *values; /* packed by channel: panel c holds NL_LANES channels of every key */
    size_t dv;
    bool distance;
    float scale;
    const float *shift; /* m of them, or NULL for 0 */
    const float *omega; /* d weights; distance only */
    float *y;           /* n × dv */
    size_t y_stride;
    float *scratch; /* nl_attend_scratch(d, dv) floats, 64-byte aligned */
};

/* Floats of scratch memory that a block takes. */
static inline size_t nl_attend_scratch(size_t d, size_t dv)
{
    const size_t channels = (dv + 15) / 16 * 16;
    return NL_ATTEND_BLOCK * (d + channels + 2) + NL_ATTEND_QUERIES * NL_ATTEND_KEYS;
}

#endif
