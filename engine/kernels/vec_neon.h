/* SPDX-License-Identifier: MIT */
/* The vector operations that the templates use, on arm64's NEON: four floats. */
#ifndef NL_VEC_H
#define NL_VEC_H

#include <arm_neon.h>

#define NL_TIER(name) name##_neon
#define NL_TIER_CPU NL_CPU_NEON
enum { VEC_LANES = 4 };
/* Rows of a register tile of three vectors a row that the thirty-two registers hold. */
#define NL_TILE_ROWS 8

typedef float32x4_t vec;

static inline vec vec_zero(void)
{
    return vdupq_n_f32(0);
}

static inline vec vec_set1(float x)
{
    return vdupq_n_f32(x);
}

static inline vec vec_load(const float *p)
{
    return vld1q_f32(p);
}

static inline void vec_store(float *p, vec x)
{
    vst1q_f32(p, x);
}

/* There are no stores past the caches of this kind here. */
static inline void vec_stream(float *p, vec x)
{
    vst1q_f32(p, x);
}

static inline void vec_stream_end(void)
{
}

static inline vec vec_add(vec a, vec b)
{
    return vaddq_f32(a, b);
}

static inline vec vec_sub(vec a, vec b)
{
    return vsubq_f32(a, b);
}

static inline vec vec_mul(vec a, vec b)
{
    return vmulq_f32(a, b);
}

/* a·b + c, rounded once */
static inline vec vec_fma(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}

/* a·b − c, rounded once */
static inline vec vec_fms(vec a, vec b, vec c)
{
    return vfmaq_f32(vnegq_f32(c), a, b);
}

static inline vec vec_abs(vec x)
{
    return vabsq_f32(x);
}

/* Of a number and a NaN it is the number, as x86 has it where the NaN is a. */
static inline vec vec_max(vec a, vec b)
{
    return vmaxnmq_f32(a, b);
}

static inline vec vec_min(vec a, vec b)
{
    return vminnmq_f32(a, b);
}

static inline vec vec_div(vec a, vec b)
{
    return vdivq_f32(a, b);
}

static inline vec vec_sqrt(vec x)
{
    return vsqrtq_f32(x);
}

static inline vec vec_round(vec x)
{
    return vrndnq_f32(x);
}

static inline vec vec_ceil(vec x)
{
    return vrndpq_f32(x);
}

static inline bool vec_any_greater(vec a, vec b)
{
    return vmaxvq_u32(vcgtq_f32(a, b)) != 0;
}

/* x·2^n for whole n with a normal result */
static inline vec vec_scale2(vec x, vec n)
{
    int32x4_t bits = vshlq_n_s32(vcvtq_s32_f32(n), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), bits));
}

/* x with the whole number in the lowest bits of t added to its exponent */
static inline vec vec_add_exponent(vec x, vec t)
{
    int32x4_t bits = vshlq_n_s32(vreinterpretq_s32_f32(t), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(x), bits));
}

/* x where a >= b, otherwise 0 */
static inline vec vec_where_ge(vec x, vec a, vec b)
{
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), vcgeq_f32(a, b)));
}

/* to[k][i] = from[i][k] for a 4 × 4 block: single floats of neighbouring rows, then pairs, change
 * places */
static inline void vec_transpose(const float *from, size_t from_stride, float *to, size_t to_stride)
{
    float64x2_t t[4];
    for (size_t i = 0; i < 4; i += 2) {
        vec r0 = vld1q_f32(from + i * from_stride), r1 = vld1q_f32(from + (i + 1) * from_stride);
        t[i] = vreinterpretq_f64_f32(vtrn1q_f32(r0, r1));
        t[i + 1] = vreinterpretq_f64_f32(vtrn2q_f32(r0, r1));
    }
    for (size_t k = 0; k < 2; k++) {
        vst1q_f32(to + k * to_stride, vreinterpretq_f32_f64(vtrn1q_f64(t[k], t[k + 2])));
        vst1q_f32(to + (k + 2) * to_stride, vreinterpretq_f32_f64(vtrn2q_f64(t[k], t[k + 2])));
    }
}

/* total[lane] += x[lane] for VEC_LANES lanes */
static inline void vec_add_to_double(double *total, vec x)
{
    vst1q_f64(total, vaddq_f64(vld1q_f64(total), vcvt_f64_f32(vget_low_f32(x))));
    vst1q_f64(total + 2, vaddq_f64(vld1q_f64(total + 2), vcvt_high_f64_f32(x)));
}

/* the nearest floats to VEC_LANES doubles */
static inline vec vec_from_double(const double *p)
{
    return vcvt_high_f32_f64(vcvt_f32_f64(vld1q_f64(p)), vld1q_f64(p + 2));
}

/* The same for double: two of them. */
enum { VECD_LANES = 2 };

typedef float64x2_t vecd;

static inline vecd vecd_set1(double x)
{
    return vdupq_n_f64(x);
}

static inline vecd vecd_load(const double *p)
{
    return vld1q_f64(p);
}

static inline void vecd_store(double *p, vecd x)
{
    vst1q_f64(p, x);
}

static inline vecd vecd_add(vecd a, vecd b)
{
    return vaddq_f64(a, b);
}

static inline vecd vecd_min(vecd a, vecd b)
{
    return vminnmq_f64(a, b);
}

#endif
