/* SPDX-License-Identifier: MIT */
/*
 * One prototype per kernel, and the table through which the mathematics calls them.
 *
 * Keys are packed in panels: NL_LANES keys side by side, feature by feature, so that one lane of
 * a vector register holds one key and sums run over features, never across lanes:
 *     panel(j)[k * NL_LANES + j % NL_LANES] = feature k of key j.
 * The last panel is filled up with zeros. A panel has the same width on every tier.
 */
#ifndef NL_KERNELS_H
#define NL_KERNELS_H

#include "nlm.h"
#include "attend.h"
#include "nonlocal/exec.h"

enum {
    NL_LANES = 16,
    /* Sums of attention scores run in float over this many features; the partial sums are added
     * in double, so that the rounding error does not grow with d. */
    NL_SUM_CHUNK = 8,
    NL_PLACE_SIDE = 64, /* of the largest tile of D */
};

/* Σ p, Σ p·t and Σ p·t² of p = exp(t): what entropy and its derivative need. */
struct nl_moments {
    double p, pt, ptt;
};

/*
 * X(return type, name, parameters). Shapes:
 *   q       n rows of d features, q_stride apart
 *   panels  m keys of d features, packed
 *   out     n rows of m, out_stride apart; only these m are written
 *   w       d weights of the features
 */
#define NL_KERNEL_LIST(X)                                                                              \
    /* out[i][j] = Σ_k q[i][k] · key[j][k] */                                                        \
    X(void, dot,                                                                                       \
      (const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,             \
       float *out, size_t out_stride))                                                                 \
    /* out[i][j] = Σ_k w[k] · (q[i][k] − key[j][k])² */                                           \
    X(void, sqdist,                                                                                    \
      (const float *q, size_t q_stride, size_t n, const float *w, const float *panels, size_t m,       \
       size_t d, float *out, size_t out_stride))                                                       \
    /* out[i][j] = √ Σ_k (q[i][k] − key[j][k])²: one fused chain, k ascending, so that all tiers \
     * agree to the last bit */                                                                        \
    X(void, euclidean,                                                                                 \
      (const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,             \
       float *out, size_t out_stride))                                                                 \
    /* the same without the root; sums and maxima of |difference|: one chain each, k ascending */      \
    X(void, squares,                                                                                   \
      (const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,             \
       float *out, size_t out_stride))                                                                 \
    X(void, manhattan,                                                                                 \
      (const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,             \
       float *out, size_t out_stride))                                                                 \
    X(void, chebyshev,                                                                                 \
      (const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,             \
       float *out, size_t out_stride))                                                                 \
    /* out[i][j] = ½ Σ_k (q[i][k] − key[j][k])², each number in two floats, high and low half, at \
     * 2k and 2k + 1 of rows of 2d: the cosine dissimilarity of unit rows, without cancellation */     \
    X(void, chord,                                                                                     \
      (const float *q, size_t q_stride, size_t n, const float *panels, size_t m, size_t d,             \
       float *out, size_t out_stride))                                                                 \
    /* whether one of rows × cols numbers is below the bound; none of them NaN */                     \
    X(bool, any_below, (const float *x, size_t stride, size_t rows, size_t cols, float bound))         \
    /* out[i][j] = tile[i][j], mirror[j][i] the same (unless NULL); rows, cols <= NL_PLACE_SIDE,       \
     * which is the tile's stride. stream: past the caches; out and mirror begin on, stride is a       \
     * multiple of, NL_LANES floats */                                                                 \
    X(void, place,                                                                                     \
      (const float *tile, size_t rows, size_t cols, float *out, float *mirror, size_t stride,          \
       bool stream))                                                                                   \
    /* out[i][j] = min_k a[i][k] + b[k][j]; a is n × depth, b depth × m; +∞ without depth */       \
    X(void, min_plus,                                                                                  \
      (const double *a, size_t a_stride, size_t n, size_t depth, const double *b, size_t b_stride,     \
       size_t m, double *out, size_t out_stride))                                                      \
    /* the largest of x[0..m), m >= 1, no NaN */                                                       \
    X(float, max, (const float *x, size_t m))                                                          \
    /* x[j] = exp(beta · (x[j] − top)); returns the sum. top >= every x[j]; −∞ becomes 0 */     \
    X(double, exp_sum, (float *x, size_t m, float beta, float top))                                    \
    /* the moments of t[j] = beta · (x[j] − top); x is left alone */                                \
    X(struct nl_moments, moments, (const float *x, size_t m, float beta, float top))                   \
    /* 2·iterations·width fused multiply-adds from registers: the fastest this tier can go;          \
     * returns how many floating-point operations that were */                                         \
    X(double, peak, (size_t iterations))                                                               \
    /* x[j] *= factor */                                                                               \
    X(void, scale, (float *x, size_t m, float factor))                                                 \
    /* the largest |x[j]|, or NaN when one of them is not finite; 0 for m = 0 */                       \
    X(float, largest, (const float *x, size_t m))                                                      \
    /* packs m rows of d features as keys: nl_panels_size(m, d) floats, the last panel filled up       \
     */                                                                                                \
    X(void, pack, (const float *rows, size_t stride, size_t m, size_t d, float *panels))               \
    /* fused attention of a block of queries: see attend.h; false when it was stopped */               \
    X(bool, attend, (const struct nl_attend_block *block))                                             \
    /* y[i][c] = Σ_j a[i][j] · v[j][c]; a is n × m, v is m × dv, y is n × dv */                   \
    X(void, mix,                                                                                       \
      (const float *a, size_t a_stride, size_t n, size_t m, const float *v, size_t v_stride,           \
       size_t dv, float *y, size_t y_stride))                                                          \
    /* non-local means: the pairs of a block and one offset, see nlm.h */                              \
    X(void, nlm_block, (const struct nl_nlm_block *block))                                             \
    /* out[j] = Σ taps[i] taps[k] (p[i][k] − q[i][k + j])² over patch × patch places and the      \
     * channels, whose planes are `plane` apart; p, q: upper left corners; count >= 1 candidates       \
     */                                                                                                \
    X(void, nlm_distances,                                                                             \
      (const float *p, const float *q, size_t stride, size_t plane, size_t channels, size_t patch,     \
       const float *taps, size_t count, float *out))

struct nl_kernels {
    nl_cpu cpu;
#define X(type, name, parameters) type(*name) parameters;
    NL_KERNEL_LIST(X)
#undef X
};

/* The tables that the tiers define; a tier not compiled in has none. */
extern const struct nl_kernels nl_kernels_scalar;
extern const struct nl_kernels nl_kernels_avx2;
extern const struct nl_kernels nl_kernels_avx512;
extern const struct nl_kernels nl_kernels_neon;

/* Floats that the packed form of m keys of d features takes. */
static inline size_t nl_panels_size(size_t m, size_t d)
{
    return (m + NL_LANES - 1) / NL_LANES * NL_LANES * d;
}

#endif
