/* SPDX-License-Identifier: MIT */
/* The readable statement of every kernel. The other tiers must agree with this one. */
#include <math.h>

#include "kernels.h"

/* Feature k of key j in packed keys of d features. */
static float key_at(const float *panels, size_t d, size_t j, size_t k)
{
    return panels[j / NL_LANES * NL_LANES * d + k * NL_LANES + j % NL_LANES];
}

static void dot(const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,
                float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += (double)q_i[k] * (double)key_at(panels, d, j, k);
            out[i * out_stride + j] = (float)sum;
        }
    }
}

static void sqdist(const float *q, size_t q_stride, size_t n, const float *w, const float *panels,
                   size_t m, size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++) {
                double difference = (double)q_i[k] - (double)key_at(panels, d, j, k);
                sum += (double)w[k] * difference * difference;
            }
            out[i * out_stride + j] = (float)sum;
        }
    }
}

static void euclidean(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                      size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            float sum = 0;
            for (size_t k = 0; k < d; k++) {
                float difference = q_i[k] - key_at(panels, d, j, k);
                sum = fmaf(difference, difference, sum);
            }
            out[i * out_stride + j] = sqrtf(sum);
        }
    }
}

static void squares(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                    size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            float sum = 0;
            for (size_t k = 0; k < d; k++) {
                float difference = q_i[k] - key_at(panels, d, j, k);
                sum = fmaf(difference, difference, sum);
            }
            out[i * out_stride + j] = sum;
        }
    }
}

static void manhattan(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                      size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            float sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += fabsf(q_i[k] - key_at(panels, d, j, k));
            out[i * out_stride + j] = sum;
        }
    }
}

static void chebyshev(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                      size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            float largest = 0;
            for (size_t k = 0; k < d; k++)
                largest = fmaxf(largest, fabsf(q_i[k] - key_at(panels, d, j, k)));
            out[i * out_stride + j] = largest;
        }
    }
}

static void chord(const float *q, size_t q_stride, size_t n, const float *panels, size_t m,
                  size_t d, float *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        const float *q_i = q + i * q_stride;
        for (size_t j = 0; j < m; j++) {
            float sum = 0;
            for (size_t k = 0; k < d; k++) {
                float high = q_i[2 * k] - key_at(panels, 2 * d, j, 2 * k);
                float low = q_i[2 * k + 1] - key_at(panels, 2 * d, j, 2 * k + 1);
                sum = fmaf(high + low, high + low, sum);
            }
            out[i * out_stride + j] = 0.5f * sum;
        }
    }
}

static bool any_below(const float *x, size_t stride, size_t rows, size_t cols, float bound)
{
    bool below = false;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            below |= x[i * stride + j] < bound;
    return below;
}

static void place(const float *tile, size_t rows, size_t cols, float *out, float *mirror,
                  size_t stride, bool stream)
{
    (void)stream;
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            out[i * stride + j] = tile[i * NL_PLACE_SIDE + j];
            if (mirror)
                mirror[j * stride + i] = tile[i * NL_PLACE_SIDE + j];
        }
    }
}

static void min_plus(const double *a, size_t a_stride, size_t n, size_t depth, const double *b,
                     size_t b_stride, size_t m, double *out, size_t out_stride)
{
    for (size_t i = 0; i < n; i++) {
        double *out_i = out + i * out_stride;
        for (size_t j = 0; j < m; j++)
            out_i[j] = INFINITY;
        for (size_t k = 0; k < depth; k++) {
            for (size_t j = 0; j < m; j++) {
                double sum = a[i * a_stride + k] + b[k * b_stride + j];
                out_i[j] = sum < out_i[j] ? sum : out_i[j];
            }
        }
    }
}

static float max(const float *x, size_t m)
{
    float largest = x[0];
    for (size_t j = 1; j < m; j++)
        largest = x[j] > largest ? x[j] : largest;
    return largest;
}

static float largest(const float *x, size_t m)
{
    float size = 0;
    for (size_t j = 0; j < m; j++) {
        if (!isfinite(x[j]))
            return NAN;
        size = fabsf(x[j]) > size ? fabsf(x[j]) : size;
    }
    return size;
}

static double exp_sum(float *x, size_t m, float beta, float top)
{
    double sum = 0;
    for (size_t j = 0; j < m; j++) {
        x[j] = expf(beta * (x[j] - top));
        sum += (double)x[j];
    }
    return sum;
}

static struct nl_moments moments(const float *x, size_t m, float beta, float top)
{
    struct nl_moments sum = {0};
    for (size_t j = 0; j < m; j++) {
        double t = (double)(beta * (x[j] - top));
        double p = exp(t);
        if (p > 0) { /* a key left out has t = −∞ and counts nothing */
            sum.p += p;
            sum.pt += p * t;
            sum.ptt += p * t * t;
        }
    }
    return sum;
}

static double peak(size_t iterations)
{
    float sum[8] = {0};
    for (size_t i = 0; i < iterations; i++)
        for (int k = 0; k < 8; k++)
            sum[k] = sum[k] * 0.999f + 1e-3f;
    volatile float sink = 0; /* keeps the work */
    for (int k = 0; k < 8; k++)
        sink = sink + sum[k];
    return 16.0 * (double)iterations;
}

static void scale(float *x, size_t m, float factor)
{
    for (size_t j = 0; j < m; j++)
        x[j] *= factor;
}

static void mix(const float *a, size_t a_stride, size_t n, size_t m, const float *v,
                size_t v_stride, size_t dv, float *y, size_t y_stride)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < dv; c++) {
            double sum = 0;
            for (size_t j = 0; j < m; j++)
                sum += (double)a[i * a_stride + j] * (double)v[j * v_stride + c];
            y[i * y_stride + c] = (float)sum;
        }
    }
}

static double tap(const struct nl_nlm_block *b, size_t k)
{
    return b->taps ? (double)b->taps[k] : 1;
}

/* The squared difference of the pixel at p and its candidate, summed over the channels. */
static double squared_difference(const struct nl_nlm_block *b, const float *p, ptrdiff_t to_q)
{
    double sum = 0;
    for (size_t c = 0; c < b->channels; c++) {
        const float *p_c = p + c * b->plane;
        double difference = (double)p_c[0] - (double)p_c[to_q];
        sum += difference * difference;
    }
    return sum;
}

static void add_weighted(const struct nl_nlm_block *b, ptrdiff_t at, float weight,
                         const float *value)
{
    float *totals = b->totals + at;
    totals[0] += weight;
    for (size_t c = 0; c < b->channels; c++)
        totals[(c + 1) * b->totals_plane] += weight * value[c * b->plane];
    float *top = totals + (b->channels + 1) * b->totals_plane;
    if (b->largest && weight > *top)
        *top = weight;
}

/* The pairs of one row with candidate k. */
static void nlm_row(const struct nl_nlm_block *b, size_t i, size_t k)
{
    const float *p = b->p + i * b->stride, *corner = p - b->patch / 2 * (b->stride + 1);
    const ptrdiff_t to_q = b->to_q + (ptrdiff_t)k, totals_to_q = b->totals_to_q + (ptrdiff_t)k;
    const ptrdiff_t totals_i = b->totals_at + (ptrdiff_t)(i * b->totals_stride);
    const size_t begin = b->skip > k ? b->skip - k : 0, limit = b->limit > k ? b->limit - k : 0;
    const size_t end = limit < b->columns ? limit : b->columns;
    for (size_t x = begin; x < end + b->patch - 1; x++) {
        double sum = 0;
        for (size_t row = 0; row < b->patch; row++)
            sum += tap(b, row) * squared_difference(b, corner + x + row * b->stride, to_q);
        b->scratch[x] = (float)sum;
    }
    for (size_t x = begin; x < end; x++) {
        double distance = 0;
        for (size_t column = 0; column < b->patch; column++)
            distance += tap(b, column) * (double)b->scratch[x + column];
        double exponent = (double)b->noise - (double)b->scale * distance;
        float weight = (float)exp2(fmax(fmin(exponent, 0), -126));
        if (i >= b->p_begin && i < b->p_end)
            add_weighted(b, totals_i + (ptrdiff_t)x, weight, p + x + to_q);
        if (i >= b->q_begin && i < b->q_end)
            add_weighted(b, totals_i + (ptrdiff_t)x + totals_to_q, weight, p + x);
    }
}

static void nlm_block(const struct nl_nlm_block *b)
{
    for (size_t i = 0; i < b->rows; i++)
        for (size_t k = 0; k < b->offsets; k++)
            nlm_row(b, i, k);
}

static void nlm_distances(const float *p, const float *q, size_t stride, size_t plane,
                          size_t channels, size_t patch, const float *taps, size_t count,
                          float *out)
{
    for (size_t j = 0; j < count; j++) {
        double sum = 0;
        for (size_t c = 0; c < channels; c++) {
            for (size_t i = 0; i < patch; i++) {
                const size_t row = c * plane + i * stride;
                for (size_t k = 0; k < patch; k++) {
                    double difference = (double)p[row + k] - (double)q[row + k + j];
                    sum += (double)taps[i] * (double)taps[k] * difference * difference;
                }
            }
        }
        out[j] = (float)sum;
    }
}

static void pack(const float *rows, size_t stride, size_t m, size_t d, float *panels)
{
    for (size_t j = 0; j < nl_panels_size(m, 1); j++)
        for (size_t k = 0; k < d; k++)
            panels[j / NL_LANES * NL_LANES * d + k * NL_LANES + j % NL_LANES] =
                j < m ? rows[j * stride + k] : 0;
}

/* Exponent of query i and key j in base 2; without softmax their weight. */
static double score(const struct nl_attend_block *b, size_t i, size_t j)
{
    const float *q_i = b->q + i * b->q_stride;
    const double scale = (double)b->scale;
    double sum = 0;
    if (b->kind == NL_ATTEND_RELU)
        return scale * fmax((double)q_i[0] + (double)key_at(b->keys, 1, j, 0), 0);
    for (size_t k = 0; k < b->d; k++) {
        double q = (double)q_i[k], key = (double)key_at(b->keys, b->d, j, k);
        if (b->kind == NL_ATTEND_DISTANCE)
            sum -= (double)b->omega[k] * (q - key) * (q - key);
        else
            sum += scale * q * key;
    }
    return b->shift && b->kind != NL_ATTEND_PRODUCT ? sum - (double)b->shift[j] : sum;
}

static bool attend_query(const struct nl_attend_block *b, size_t i)
{
    const bool softmax = b->kind == NL_ATTEND_SOFTMAX || b->kind == NL_ATTEND_DISTANCE;
    double *p = (double *)(void *)b->scratch; /* of NL_ATTEND_KEYS keys at a time */
    double top = -INFINITY, total = 0;
    for (size_t j = 0; softmax && j < b->m; j++) {
        if (j % NL_ATTEND_KEYS == 0 && b->stop && b->stop(b->context))
            return false;
        top = fmax(top, score(b, i, j));
    }
    for (size_t c = 0; c < b->dv; c++)
        b->y[i * b->y_stride + c] = 0;
    for (size_t j0 = 0; j0 < b->m; j0 += NL_ATTEND_KEYS) {
        const size_t keys = b->m - j0 < NL_ATTEND_KEYS ? b->m - j0 : NL_ATTEND_KEYS;
        if (b->stop && b->stop(b->context))
            return false;
        for (size_t j = 0; j < keys; j++) {
            p[j] = softmax ? exp2(score(b, i, j0 + j) - top) : score(b, i, j0 + j);
            total += p[j];
        }
        for (size_t c = 0; c < b->dv; c++) {
            double sum = 0;
            for (size_t j = 0; j < keys; j++)
                sum += p[j] * (double)b->values[(j0 + j) * b->v_stride + c];
            b->y[i * b->y_stride + c] += (float)sum;
        }
    }
    for (size_t c = 0; softmax && c < b->dv; c++)
        b->y[i * b->y_stride + c] = (float)((double)b->y[i * b->y_stride + c] / total);
    return true;
}

static bool attend(const struct nl_attend_block *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (!attend_query(b, i))
            return false;
    return true;
}

const struct nl_kernels nl_kernels_scalar = {.cpu = NL_CPU_SCALAR,
#define X(type, name, parameters) .name = name,
                                             NL_KERNEL_LIST(X)
#undef X
};
