/* SPDX-License-Identifier: MIT */
/*
 * What every template includes: the vector header of the tier it is compiled for, the tier's
 * kernel prototypes, and the loops over lanes that templates share.
 */
#ifndef NL_TIER_H
#define NL_TIER_H

#include <string.h>

#include "kernels.h"
#include NL_VEC_HEADER

#define X(type, name, parameters) type NL_TIER(nl_##name) parameters;
NL_KERNEL_LIST(X)
#undef X

#define NL_INLINE static inline __attribute__((always_inline))

/* Vectors that make up one panel of NL_LANES keys. */
enum { PANEL_VECS = NL_LANES / VEC_LANES };

/* Vectors that vec_exp2 takes at once: as many as fit into the registers. */
enum { EXP2_VECS = 3 * NL_TILE_ROWS / 4 };

#ifndef NL_VEC_EXP2_PARTS
/*
 * x = n + r, n whole, |r| <= 1/2; x is brought into [−126, 127]. Adding 1.5·2²³ rounds to a whole
 * number and leaves it in the lowest bits, from where a shift puts it into an exponent.
 */
static inline vec vec_exp2_whole_part(vec x, vec *r)
{
    const vec magic = vec_set1(12582912.0f);
    vec y = vec_min(vec_max(x, vec_set1(-126.0f)), vec_set1(127.0f));
    vec t = vec_add(y, magic);
    *r = vec_sub(y, vec_sub(t, magic));
    return t;
}

/* e · 2^n of that n */
static inline vec vec_exp2_join(vec e, vec t)
{
    return vec_add_exponent(e, t);
}
#endif

/* The first `count` lanes only, for the end of a row of exact size. */
static inline void vec_store_part(float *p, vec x, size_t count)
{
    float lanes[VEC_LANES];
    if (count >= VEC_LANES) {
        vec_store(p, x);
        return;
    }
    vec_store(lanes, x);
    memcpy(p, lanes, count * sizeof *p);
}

static inline vec vec_load_part(const float *p, size_t count, float fill)
{
    float lanes[VEC_LANES];
    if (count >= VEC_LANES)
        return vec_load(p);
    for (int i = 0; i < VEC_LANES; i++)
        lanes[i] = (size_t)i < count ? p[i] : fill;
    return vec_load(lanes);
}

/*
 * exp(x) for x <= 0, relative error below 2e-7; 0 below -87, where a float runs out of exponent.
 * e^x = 2^n · e^r with n = round(x / ln 2) and |r| <= ln(2)/2; ln 2 is taken off in two parts so
 * that r is exact, and the Taylor series of e^r to r^7 / 7! leaves 6e-9.
 */
static inline vec vec_exp(vec x)
{
    const vec lowest = vec_set1(-87.0f);
    vec y = vec_max(x, lowest);
    vec n = vec_round(vec_mul(y, vec_set1(1.44269504f)));
    vec r = vec_fma(n, vec_set1(-0.693145752f), y);
    r = vec_fma(n, vec_set1(-1.42860677e-6f), r);
    vec e = vec_set1(1.0f / 5040);
    e = vec_fma(e, r, vec_set1(1.0f / 720));
    e = vec_fma(e, r, vec_set1(1.0f / 120));
    e = vec_fma(e, r, vec_set1(1.0f / 24));
    e = vec_fma(e, r, vec_set1(1.0f / 6));
    e = vec_fma(e, r, vec_set1(0.5f));
    e = vec_fma(e, r, vec_set1(1.0f));
    e = vec_fma(e, r, vec_set1(1.0f));
    return vec_where_ge(vec_scale2(e, n), x, lowest);
}

/*
 * x[i] = 2^x[i] for x <= 126, relative error below 1.7e-7, 1 for 0; above it is 2^126 at least,
 * below 2^−125 anything from 0 to there. 2^x = 2^n · 2^r with n = round(x), |r| <= 1/2, and
 * the polynomial 1 + … of degree 5 whose largest relative error is smallest (9.2e-8 before
 * rounding). Step by step for several vectors: one after the other, the processor would wait for
 * each step of a long chain.
 */
NL_INLINE void vec_exp2(vec *x, int count)
{
    static const float c[] = {0.00967151299f, 0.0555073395f, 0.240222424f, 0.693147004f, 1.0f};
    vec n[EXP2_VECS], r[EXP2_VECS], e[EXP2_VECS];
#pragma GCC unroll 8
    for (int i = 0; i < count; i++)
        n[i] = vec_exp2_whole_part(x[i], &r[i]);
#pragma GCC unroll 8
    for (int i = 0; i < count; i++)
        e[i] = vec_set1(0.00132647203f);
#pragma GCC unroll 8
    for (int k = 0; k < 5; k++)
#pragma GCC unroll 8
        for (int i = 0; i < count; i++)
            e[i] = vec_fma(e[i], r[i], vec_set1(c[k]));
#pragma GCC unroll 8
    for (int i = 0; i < count; i++)
        x[i] = vec_exp2_join(e[i], n[i]);
}

/* 2^n for whole n <= 0, exactly; 0 below -126. */
static inline vec vec_exp2_whole(vec n)
{
    const vec lowest = vec_set1(-126.0f);
    return vec_where_ge(vec_scale2(vec_set1(1.0f), vec_max(n, lowest)), n, lowest);
}

/* to[k][i] = from[i][k] for any `rows` × `cols`. */
static inline void transpose(const float *from, size_t from_stride, size_t rows, size_t cols,
                             float *to, size_t to_stride)
{
    for (size_t i = 0; i < rows; i += VEC_LANES) {
        for (size_t k = 0; k < cols; k += VEC_LANES) {
            const float *block = from + i * from_stride + k;
            float *out = to + k * to_stride + i;
            if (rows - i >= VEC_LANES && cols - k >= VEC_LANES) {
                vec_transpose(block, from_stride, out, to_stride);
                continue;
            }
            for (size_t r = 0; r < VEC_LANES && r < rows - i; r++)
                for (size_t c = 0; c < VEC_LANES && c < cols - k; c++)
                    out[c * to_stride + r] = block[r * from_stride + c];
        }
    }
}

#endif
