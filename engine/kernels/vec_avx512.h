/* SPDX-License-Identifier: MIT */
/* The vector operations that the templates use, on AVX-512 (F+BW+VL+DQ): sixteen floats. */
#ifndef NL_VEC_H
#define NL_VEC_H

#include <immintrin.h>

#define NL_TIER(name) name##_avx512
#define NL_TIER_CPU NL_CPU_AVX512
enum { VEC_LANES = 16 };
/* Rows of a register tile of three vectors a row that the thirty-two registers hold. */
#define NL_TILE_ROWS 8

typedef __m512 vec;

static inline vec vec_zero(void)
{
    return _mm512_setzero_ps();
}

static inline vec vec_set1(float x)
{
    return _mm512_set1_ps(x);
}

static inline vec vec_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void vec_store(float *p, vec x)
{
    _mm512_storeu_ps(p, x);
}

/* Past the caches: what is large and not read soon need not be fetched before it is overwritten. p
 * is a multiple of the vector's size; other threads may read only after vec_stream_end. */
static inline void vec_stream(float *p, vec x)
{
    _mm512_stream_ps(p, x);
}

static inline void vec_stream_end(void)
{
    _mm_sfence();
}

static inline vec vec_add(vec a, vec b)
{
    return _mm512_add_ps(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return _mm512_sub_ps(a, b);
}

static inline vec vec_mul(vec a, vec b)
{
    return _mm512_mul_ps(a, b);
}

/* a·b + c, rounded once */
static inline vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* a·b − c, rounded once */
static inline vec vec_fms(vec a, vec b, vec c)
{
    return _mm512_fmsub_ps(a, b, c);
}

static inline vec vec_abs(vec x)
{
    return _mm512_abs_ps(x);
}

static inline vec vec_max(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

static inline vec vec_div(vec a, vec b)
{
    return _mm512_div_ps(a, b);
}

static inline vec vec_sqrt(vec x)
{
    return _mm512_sqrt_ps(x);
}

static inline vec vec_round(vec x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vec vec_ceil(vec x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

static inline bool vec_any_greater(vec a, vec b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0;
}

/* x·2^n for whole n with a normal result */
static inline vec vec_scale2(vec x, vec n)
{
    return _mm512_scalef_ps(x, n);
}

/* x with the whole number in the lowest bits of t added to its exponent */
static inline vec vec_add_exponent(vec x, vec t)
{
    __m512i bits = _mm512_slli_epi32(_mm512_castps_si512(t), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), bits));
}

/* x = n + r, n whole, |r| <= 1/2 */
#define NL_VEC_EXP2_PARTS
static inline vec vec_exp2_whole_part(vec x, vec *r)
{
    vec n = vec_round(x);
    *r = _mm512_sub_ps(x, n);
    return n;
}

/* e · 2^n of that n for e in [0.7, 1.5]; 0 where it would not be a normal number */
static inline vec vec_exp2_join(vec e, vec n)
{
    __mmask16 normal = _mm512_cmp_ps_mask(n, _mm512_set1_ps(-125.0f), _CMP_GE_OQ);
    return _mm512_maskz_scalef_ps(normal, e, n);
}

/* x where a >= b, otherwise 0 */
static inline vec vec_where_ge(vec x, vec a, vec b)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, b, _CMP_GE_OQ), x);
}

/* lanes n.. of a, then the first n of b; n is a constant */
#define vec_slide(a, b, n)                                                                         \
    _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(b), _mm512_castps_si512(a), n))

/* to[k][i] = from[i][k] for a 16 × 16 block: pairs of rows, of pairs, then quarters change places
 */
static inline void vec_transpose(const float *from, size_t from_stride, float *to, size_t to_stride)
{
    __m512 r[16], t[16];
    for (int i = 0; i < 16; i++)
        r[i] = _mm512_loadu_ps(from + (size_t)i * from_stride);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm512_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm512_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    /* r[4g + c] holds columns c, 4+c, 8+c, 12+c of rows 4g..4g+3 */
    for (int c = 0; c < 4; c++) {
        __m512 low01 = _mm512_shuffle_f32x4(r[c], r[c + 4], 0x88);
        __m512 low23 = _mm512_shuffle_f32x4(r[c + 8], r[c + 12], 0x88);
        __m512 high01 = _mm512_shuffle_f32x4(r[c], r[c + 4], 0xdd);
        __m512 high23 = _mm512_shuffle_f32x4(r[c + 8], r[c + 12], 0xdd);
        float *out = to + (size_t)c * to_stride;
        _mm512_storeu_ps(out, _mm512_shuffle_f32x4(low01, low23, 0x88));
        _mm512_storeu_ps(out + 4 * to_stride, _mm512_shuffle_f32x4(high01, high23, 0x88));
        _mm512_storeu_ps(out + 8 * to_stride, _mm512_shuffle_f32x4(low01, low23, 0xdd));
        _mm512_storeu_ps(out + 12 * to_stride, _mm512_shuffle_f32x4(high01, high23, 0xdd));
    }
}

/* total[lane] += x[lane] for VEC_LANES lanes */
static inline void vec_add_to_double(double *total, vec x)
{
    __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
    __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
    _mm512_storeu_pd(total, _mm512_add_pd(_mm512_loadu_pd(total), low));
    _mm512_storeu_pd(total + 8, _mm512_add_pd(_mm512_loadu_pd(total + 8), high));
}

/* the nearest floats to VEC_LANES doubles */
static inline vec vec_from_double(const double *p)
{
    __m512 low = _mm512_castps256_ps512(_mm512_cvtpd_ps(_mm512_loadu_pd(p)));
    return _mm512_insertf32x8(low, _mm512_cvtpd_ps(_mm512_loadu_pd(p + 8)), 1);
}

/* The same for double: eight of them. */
enum { VECD_LANES = 8 };

typedef __m512d vecd;

static inline vecd vecd_set1(double x)
{
    return _mm512_set1_pd(x);
}

static inline vecd vecd_load(const double *p)
{
    return _mm512_loadu_pd(p);
}

static inline void vecd_store(double *p, vecd x)
{
    _mm512_storeu_pd(p, x);
}

static inline vecd vecd_add(vecd a, vecd b)
{
    return _mm512_add_pd(a, b);
}

static inline vecd vecd_min(vecd a, vecd b)
{
    return _mm512_min_pd(a, b);
}

#endif
