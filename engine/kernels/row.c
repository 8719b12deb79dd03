/* SPDX-License-Identifier: MIT */
/* What happens along a row of scores: its maximum, the exponential and its sums, y = Σ a v. */
#include "tier.h"

/* Float lanes are added up over this many vectors, then in double: so few that a row of weights
 * sums to 1 within 1e-6 on every tier. */
enum { FLUSH = 8 };

enum { SUMS = 8 }; /* vectors that are added up at a time in y = Σ a v */

float NL_TIER(nl_max)(const float *x, size_t m)
{
    float largest = x[0], lanes[VEC_LANES];
    size_t j = 0;
    if (m >= VEC_LANES) {
        vec top = vec_load(x);
        for (j = VEC_LANES; m - j >= VEC_LANES; j += VEC_LANES)
            top = vec_max(top, vec_load(x + j));
        vec_store(lanes, top);
        for (int l = 0; l < VEC_LANES; l++)
            largest = lanes[l] > largest ? lanes[l] : largest;
    }
    for (; j < m; j++)
        largest = x[j] > largest ? x[j] : largest;
    return largest;
}

float NL_TIER(nl_largest)(const float *x, size_t m)
{
    vec top = vec_zero(), zeros = vec_zero();
    for (size_t j = 0; j < m; j += VEC_LANES) {
        /* the end once more rather than lane by lane */
        vec x_j = m < VEC_LANES       ? vec_load_part(x, m, 0)
                  : m - j < VEC_LANES ? vec_load(x + m - VEC_LANES)
                                      : vec_load(x + j);
        top = vec_max(top, vec_max(x_j, vec_sub(vec_zero(), x_j)));
        zeros = vec_fma(x_j, vec_zero(), zeros); /* ∞·0 and NaN·0 are NaN, and stay so */
    }
    float lanes[VEC_LANES], nans[VEC_LANES], largest = 0;
    vec_store(lanes, top);
    vec_store(nans, zeros);
    for (int l = 0; l < VEC_LANES; l++) {
        if (nans[l] != 0)
            return nans[l];
        largest = lanes[l] > largest ? lanes[l] : largest;
    }
    return largest;
}

static double lanes_sum(const double *total)
{
    double sum = 0;
    for (int l = 0; l < VEC_LANES; l++)
        sum += total[l];
    return sum;
}

double NL_TIER(nl_exp_sum)(float *x, size_t m, float beta, float top)
{
    double total[VEC_LANES] = {0};
    for (size_t j0 = 0; j0 < m; j0 += FLUSH * VEC_LANES) {
        size_t j1 = m - j0 < FLUSH * VEC_LANES ? m : j0 + FLUSH * VEC_LANES;
        vec sum = vec_zero();
        for (size_t j = j0; j < j1; j += VEC_LANES) {
            vec x_j = vec_load_part(x + j, m - j, -3.4e38f);
            vec p = vec_exp(vec_mul(vec_set1(beta), vec_sub(x_j, vec_set1(top))));
            vec_store_part(x + j, p, m - j);
            sum = vec_add(sum, m - j >= VEC_LANES ? p : vec_load_part(x + j, m - j, 0));
        }
        vec_add_to_double(total, sum);
    }
    return lanes_sum(total);
}

struct nl_moments NL_TIER(nl_moments)(const float *x, size_t m, float beta, float top)
{
    double total[3][VEC_LANES] = {{0}};
    for (size_t j0 = 0; j0 < m; j0 += FLUSH * VEC_LANES) {
        size_t j1 = m - j0 < FLUSH * VEC_LANES ? m : j0 + FLUSH * VEC_LANES;
        vec sum_p = vec_zero(), sum_pt = vec_zero(), sum_ptt = vec_zero();
        for (size_t j = j0; j < j1; j += VEC_LANES) {
            vec x_j = vec_load_part(x + j, m - j, top);
            vec t = vec_mul(vec_set1(beta), vec_sub(x_j, vec_set1(top)));
            vec p = vec_exp(t);
            if (m - j < VEC_LANES) { /* lanes past the end count nothing */
                float lanes[VEC_LANES];
                vec_store(lanes, p);
                p = vec_load_part(lanes, m - j, 0);
            }
            t = vec_max(t, vec_set1(-88.0f)); /* 0 · −∞ would not be 0 */
            vec pt = vec_mul(p, t);
            sum_p = vec_add(sum_p, p);
            sum_pt = vec_add(sum_pt, pt);
            sum_ptt = vec_fma(pt, t, sum_ptt);
        }
        vec_add_to_double(total[0], sum_p);
        vec_add_to_double(total[1], sum_pt);
        vec_add_to_double(total[2], sum_ptt);
    }
    return (struct nl_moments){lanes_sum(total[0]), lanes_sum(total[1]), lanes_sum(total[2])};
}

double NL_TIER(nl_peak)(size_t iterations)
{
    enum { CHAINS = 3 * NL_TILE_ROWS }; /* as attention keeps: enough to hide the units' latency */
    vec sum[CHAINS];
    const vec a = vec_set1(0.999f), b = vec_set1(1e-3f);
#pragma GCC unroll 24
    for (int k = 0; k < CHAINS; k++)
        sum[k] = vec_set1((float)k);
    for (size_t i = 0; i < iterations; i++)
#pragma GCC unroll 24
        for (int k = 0; k < CHAINS; k++)
            sum[k] = vec_fma(a, b, sum[k]);
    float lanes[VEC_LANES];
    volatile float sink; /* keeps the work */
#pragma GCC unroll 24
    for (int k = 1; k < CHAINS; k++)
        sum[0] = vec_add(sum[0], sum[k]);
    vec_store(lanes, sum[0]);
    sink = lanes[0];
    (void)sink;
    return 2.0 * CHAINS * VEC_LANES * (double)iterations;
}

void NL_TIER(nl_scale)(float *x, size_t m, float factor)
{
    size_t j = 0;
    for (; m - j >= VEC_LANES; j += VEC_LANES)
        vec_store(x + j, vec_mul(vec_load(x + j), vec_set1(factor)));
    for (; j < m; j++)
        x[j] *= factor;
}

/* `rows` rows of y over `vecs` vectors of columns (the last one cut to `columns`): rows × vecs sums
 * at a time, which must be enough to hide the latency of one, and few enough for the registers. */
NL_INLINE void mix_block(int rows, int vecs, const float *a, size_t a_stride, size_t m,
                         const float *v, size_t v_stride, size_t columns, float *y, size_t y_stride)
{
    enum { KEYS = 128 };
    double total[SUMS * VEC_LANES] = {0};
    for (size_t j0 = 0; j0 < m; j0 += KEYS) {
        size_t j1 = m - j0 < KEYS ? m : j0 + KEYS;
        vec acc[SUMS];
        for (int i = 0; i < rows * vecs; i++)
            acc[i] = vec_zero();
        for (size_t j = j0; j < j1; j++) {
            vec v_j[SUMS];
            for (size_t c = 0; c < (size_t)vecs; c++)
                v_j[c] =
                    vec_load_part(v + j * v_stride + c * VEC_LANES, columns - c * VEC_LANES, 0);
            for (int i = 0; i < rows; i++) {
                vec a_ij = vec_set1(a[(size_t)i * a_stride + j]);
                for (int c = 0; c < vecs; c++)
                    acc[i * vecs + c] = vec_fma(a_ij, v_j[c], acc[i * vecs + c]);
            }
        }
        for (int i = 0; i < rows * vecs; i++)
            vec_add_to_double(total + i * VEC_LANES, acc[i]);
    }
    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t c = 0; c < (size_t)vecs; c++)
            vec_store_part(y + i * y_stride + c * VEC_LANES,
                           vec_from_double(total + (i * (size_t)vecs + c) * VEC_LANES),
                           columns - c * VEC_LANES);
}

/* All columns of 4 rows, or of one; the sums of a row are the same ones in both cases. */
NL_INLINE void mix_rows(int rows, const float *a, size_t a_stride, size_t m, const float *v,
                        size_t v_stride, size_t dv, float *y, size_t y_stride)
{
    enum { WIDE = 4 * VEC_LANES, PAIR = 2 * VEC_LANES };
    size_t c = 0;
    for (; rows == 1 && dv - c >= 2 * WIDE; c += 2 * WIDE)
        mix_block(1, 8, a, a_stride, m, v + c, v_stride, 2 * WIDE, y + c, y_stride);
    for (; rows == 1 && dv - c >= WIDE; c += WIDE)
        mix_block(1, 4, a, a_stride, m, v + c, v_stride, WIDE, y + c, y_stride);
    for (; dv - c >= PAIR; c += PAIR)
        mix_block(rows, 2, a, a_stride, m, v + c, v_stride, PAIR, y + c, y_stride);
    for (; c < dv; c += VEC_LANES)
        mix_block(rows, 1, a, a_stride, m, v + c, v_stride, dv - c, y + c, y_stride);
}

void NL_TIER(nl_mix)(const float *a, size_t a_stride, size_t n, size_t m, const float *v,
                     size_t v_stride, size_t dv, float *y, size_t y_stride)
{
    size_t i = 0;
    for (; n - i >= 4; i += 4)
        mix_rows(4, a + i * a_stride, a_stride, m, v, v_stride, dv, y + i * y_stride, y_stride);
    for (; i < n; i++)
        mix_rows(1, a + i * a_stride, a_stride, m, v, v_stride, dv, y + i * y_stride, y_stride);
}

const struct nl_kernels NL_TIER(nl_kernels) = {.cpu = NL_TIER_CPU,
#define X(type, name, parameters) .name = NL_TIER(nl_##name),
                                               NL_KERNEL_LIST(X)
#undef X
};
