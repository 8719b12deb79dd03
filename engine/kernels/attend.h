/* SPDX-License-Identifier: MIT */
/* What one call of the kernel `attend` works on: a block of queries against all keys. */
#ifndef NL_KERNELS_ATTEND_H
#define NL_KERNELS_ATTEND_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NL_ATTEND_KEYS = 96,    /* keys a step: their scores stay in the cache */
    NL_ATTEND_QUERIES = 48, /* queries a step at most, on any tier */
    NL_ATTEND_STEPS = 4,    /* query steps a block: each key block serves all of them */
    NL_ATTEND_BLOCK = NL_ATTEND_QUERIES * NL_ATTEND_STEPS,
};

/*
 * y[i] = Σ_j softmax_j(e_ij) v_j with exponents
 *     e_ij = scale · q_i·k_j − shift_j              (NL_ATTEND_SOFTMAX)
 *     e_ij = −Σ_k ω_k (q_ik − k_jk)² − shift_j      (NL_ATTEND_DISTANCE)
 * in base 2: scale, ω and shift hold the factor log2(e). Or y[i] = Σ_j a_ij v_j with
 *     a_ij = scale · q_i·k_j                        (NL_ATTEND_PRODUCT)
 *     a_ij = scale · max(q_i + k_j, 0)              (NL_ATTEND_RELU: d = 1)
 */
enum nl_attend_kind {
    NL_ATTEND_SOFTMAX,
    NL_ATTEND_DISTANCE,
    NL_ATTEND_PRODUCT,
    NL_ATTEND_RELU,
};

struct nl_attend_block {
    enum nl_attend_kind kind;
    const float *q; /* n × d, n <= NL_ATTEND_BLOCK */
    size_t q_stride, n, d;
    const float *keys; /* packed, m of them; NL_ATTEND_RELU: as they are */
    size_t m;
    const float *values; /* m × dv */
    size_t v_stride, dv;
    float scale;
    const float *shift; /* m of them, or NULL for 0 */
    const float *omega; /* d weights; NL_ATTEND_DISTANCE only */
    float *y;           /* n × dv */
    size_t y_stride;
    float *scratch; /* nl_attend_scratch(d, dv) floats, 64-byte aligned */
    /* Asked after every block of keys, and at least every few milliseconds, unless NULL: true ends
     * the call, and what y holds means nothing. */
    bool (*stop)(void *context);
    void *context;
};

/* Floats of scratch memory that a block takes. */
static inline size_t nl_attend_scratch(size_t d, size_t dv)
{
    return NL_ATTEND_BLOCK * (d + dv + 2) + NL_ATTEND_QUERIES * NL_ATTEND_KEYS;
}

#endif
