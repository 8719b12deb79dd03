/* SPDX-License-Identifier: MIT */
/* The vector operations that the templates use, on AVX2 + FMA: eight floats. */
#ifndef NL_VEC_H
#define NL_VEC_H

#include <immintrin.h>

#define NL_TIER(name) name##_avx2
#define NL_TIER_CPU NL_CPU_AVX2
enum { VEC_LANES = 8 };
/* Rows of a register tile of three vectors a row that the sixteen registers hold. */
#define NL_TILE_ROWS 4

typedef __m256 vec;

static inline vec vec_zero(void)
{
    return _mm256_setzero_ps();
}

static inline vec vec_set1(float x)
{
    return _mm256_set1_ps(x);
}

static inline vec vec_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void vec_store(float *p, vec x)
{
    _mm256_storeu_ps(p, x);
}

/* Past the caches: what is large and not read soon need not be fetched before it is overwritten. p
 * is a multiple of the vector's size; other threads may read only after vec_stream_end. */
static inline void vec_stream(float *p, vec x)
{
    _mm256_stream_ps(p, x);
}

static inline void vec_stream_end(void)
{
    _mm_sfence();
}

static inline vec vec_add(vec a, vec b)
{
    return _mm256_add_ps(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return _mm256_sub_ps(a, b);
}

static inline vec vec_mul(vec a, vec b)
{
    return _mm256_mul_ps(a, b);
}

/* a·b + c, rounded once */
static inline vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* a·b − c, rounded once */
static inline vec vec_fms(vec a, vec b, vec c)
{
    return _mm256_fmsub_ps(a, b, c);
}

static inline vec vec_abs(vec x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

static inline vec vec_max(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

static inline vec vec_div(vec a, vec b)
{
    return _mm256_div_ps(a, b);
}

static inline vec vec_sqrt(vec x)
{
    return _mm256_sqrt_ps(x);
}

static inline vec vec_round(vec x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vec vec_ceil(vec x)
{
    return _mm256_ceil_ps(x);
}

static inline bool vec_any_greater(vec a, vec b)
{
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0;
}

/* x·2^n for whole n with a normal result */
static inline vec vec_scale2(vec x, vec n)
{
    __m256i bits = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), bits));
}

/* x with the whole number in the lowest bits of t added to its exponent */
static inline vec vec_add_exponent(vec x, vec t)
{
    __m256i bits = _mm256_slli_epi32(_mm256_castps_si256(t), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), bits));
}

/* x where a >= b, otherwise 0 */
static inline vec vec_where_ge(vec x, vec a, vec b)
{
    return _mm256_and_ps(x, _mm256_cmp_ps(a, b, _CMP_GE_OQ));
}

/* to[k][i] = from[i][k] for an 8 × 8 block: pairs of rows, of pairs, then of halves change places
 */
static inline void vec_transpose(const float *from, size_t from_stride, float *to, size_t to_stride)
{
    __m256 r[8], t[8];
    for (int i = 0; i < 8; i++)
        r[i] = _mm256_loadu_ps(from + (size_t)i * from_stride);
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(to + (size_t)i * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_storeu_ps(to + (size_t)(i + 4) * to_stride,
                         _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

/* total[lane] += x[lane] for VEC_LANES lanes */
static inline void vec_add_to_double(double *total, vec x)
{
    __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
    __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
    _mm256_storeu_pd(total, _mm256_add_pd(_mm256_loadu_pd(total), low));
    _mm256_storeu_pd(total + 4, _mm256_add_pd(_mm256_loadu_pd(total + 4), high));
}

/* the nearest floats to VEC_LANES doubles */
static inline vec vec_from_double(const double *p)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(p + 4)),
                           _mm256_cvtpd_ps(_mm256_loadu_pd(p)));
}

/* The same for double: four of them. */
enum { VECD_LANES = 4 };

typedef __m256d vecd;

static inline vecd vecd_set1(double x)
{
    return _mm256_set1_pd(x);
}

static inline vecd vecd_load(const double *p)
{
    return _mm256_loadu_pd(p);
}

static inline void vecd_store(double *p, vecd x)
{
    _mm256_storeu_pd(p, x);
}

static inline vecd vecd_add(vecd a, vecd b)
{
    return _mm256_add_pd(a, b);
}

static inline vecd vecd_min(vecd a, vecd b)
{
    return _mm256_min_pd(a, b);
}

#endif
