/* SPDX-License-Identifier: MIT */
/*
 * How far a block in float may be from one in exact arithmetic; u = 2⁻²⁴ is half a unit in the last
 * place of 1. Nothing here is tuned: every count is a count of roundings.
 *
 * Q, K, V   A linear map sums chunks of 32 products in float (32 u of Σ|w x|), adds the chunks in
 *           double, rounds (1 u) and adds the bias (1 u); its weights may be rounded themselves
 *           (a folded BatchNorm, a division by the spectral norm), and so may its input
 * (LayerNorm): 36 u (Σ_c |w_kc| max_i |x_ic| + |b_k|), the same bound for every row of a column, so
 *           that it holds after any max-pooling. X itself is exact, a LayerNorm of it has 1 u.
 * S         Errors of Q and K go through the score to first order; the score adds 33 u of
 *           the sum of the magnitudes of its terms (37 u for the terms of a squared distance, which
 *           are products of rounded differences and ω), cosine 2 u for the unit rows, and 4 u of
 *           itself for β, the product with it, λ and the clamping.
 * A         What every path has to keep, relative to the row's largest weight:
 *           1e-5 + 4 u max |exponent|. The raw scores of dot and concat have no exponent and can
 *           cancel: 1e-5, and the bounds of S over the normaliser, its own error included.
 * H = A V   Σ_j (bound of A |v_jk| + |a_ij| bound of V), and min(m, 128) + 1 roundings of a
 *           chunked sum over the keys.
 * Y = W H   As Q, with the bound of H going through |W|.
 * Z         X + γ Y: bound of Y times |γ| and a rounding. LayerNorm of a row s with deviation
 *           d: an error e of its entries gives at most e (2 + |(s − μ)/d|) |w| / d.
 * Every number of the golden is itself rounded to float: 1 u of it.
 */
#include "block_golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double u = 0x1p-24 * 1.01; /* and room for products of two roundings */

static double size_of(const nl_matrix *m, size_t i, size_t k)
{
    return fabs((double)nl_row(m, i)[k]);
}

/* 1 / σ of a map under spectral normalisation. */
static double weight_factor(const struct golden *g, const nl_stored_map *stored)
{
    const nl_matrix *m = &stored->map.weight;
    double sigma = 0;
    if (!stored->spectral && g->params.system != NL_SYSTEM_SAGAN)
        return 1;
    if (!stored->u.data || !stored->v.data)
        return 1 / nl_spectral_norm(m, NULL);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < m->cols; k++)
            sigma +=
                (double)stored->u.data[i] * (double)nl_row(m, i)[k] * (double)stored->v.data[k];
    return 1 / fabs(sigma);
}

/* The error of a map's output k for an input of these magnitudes and errors. */
static double map_error(const struct golden *g, const nl_stored_map *stored, size_t k,
                        const double *sizes, const double *errors)
{
    const double factor = weight_factor(g, stored);
    double size = stored->map.bias.data ? fabs((double)stored->map.bias.data[k]) : 0, through = 0;
    for (size_t c = 0; c < stored->map.weight.cols; c++) {
        const double w = factor * size_of(&stored->map.weight, k, c);
        size += w * sizes[c];
        through += w * errors[c];
    }
    return 36 * u * size + through;
}

/* Magnitudes and errors of the columns of what Q, K and V are made from: X or LN(X). */
static void source_columns(const struct golden *g, double *sizes, double *errors)
{
    nl_matrix source;
    assert_int_equal(nl_matrix_copy(&source, &g->x, NULL), NL_OK);
    const bool normed = g->params.layernorm == NL_LAYERNORM_PRE;
    if (normed)
        nl_layer_norm(&source, &g->weights.norm_weight, &g->weights.norm_bias);
    for (size_t c = 0; c < source.cols; c++) {
        sizes[c] = 0;
        for (size_t i = 0; i < source.rows; i++)
            sizes[c] = fmax(sizes[c], size_of(&source, i, c));
        errors[c] = normed ? u * sizes[c] : 0;
    }
    nl_matrix_free(&source);
}

/* Errors of the columns of Q, K or V; map NULL: they are the source. */
static void column_errors(const struct golden *g, const nl_stored_map *map, size_t cols,
                          double *errors)
{
    double *sizes = test_malloc(g->x.cols * sizeof *sizes);
    double *own = test_malloc(g->x.cols * sizeof *own);
    source_columns(g, sizes, own);
    for (size_t c = 0; map && c < g->x.cols; c++)
        own[c] = 0; /* counted among the 36 */
    for (size_t k = 0; k < cols; k++)
        errors[k] = map ? map_error(g, map, k, sizes, own) : own[k];
    test_free(sizes);
    test_free(own);
}

/* One head's part of a score. */
struct pair {
    const float *q, *k;
    const double *q_error, *k_error;
    const float *w_q, *w_k; /* concat */
    size_t d;
};

/* Σ over the features of what each similarity sums. */
struct sums {
    double size;                   /* Σ |terms| */
    double through;                /* errors of q and k */
    double kk;                     /* ‖k‖² */
    double qq, q_errors, k_errors; /* squares */
    double part_q, part_k;         /* w·q, w·k of concat */
};

static struct sums sum_up(const struct pair *p, nl_similarity_id similarity, double lambda)
{
    struct sums s = {0};
    for (size_t c = 0; c < p->d; c++) {
        const double q = fabs((double)p->q[c]), k = fabs((double)p->k[c]);
        const double eq = p->q_error[c], ek = p->k_error[c];
        const double difference = fabs((double)p->q[c] - (double)p->k[c]);
        s.kk += k * k;
        s.qq += q * q;
        s.q_errors += eq * eq;
        s.k_errors += ek * ek;
        if (similarity == NL_EUCLIDEAN) {
            s.size += difference * difference / (double)p->d;
            s.through += (eq + ek) * (2 * difference + eq + ek) / (double)p->d;
        } else if (similarity == NL_CONCAT) {
            s.part_q += (double)p->w_q[c] * (double)p->q[c];
            s.part_k += (double)p->w_k[c] * (double)p->k[c];
            s.through += fabs((double)p->w_q[c]) * eq + fabs((double)p->w_k[c]) * ek;
        } else {
            s.size += q * k;
            s.through += q * ek + k * eq + eq * ek + lambda * k * ek;
        }
    }
    return s;
}

static double score_error(const nl_attention_params *a, double scale, const struct pair *pair,
                          double score)
{
    const struct sums s = sum_up(pair, a->similarity, a->lambda);
    double beta = 1 / a->temperature, error;
    if (a->similarity == NL_EUCLIDEAN) {
        beta /= a->h * a->h;
        error = s.through + 38 * u * s.size + 4 * u * a->sigma * a->sigma;
    } else if (a->similarity == NL_COSINE) {
        const double lengths = sqrt(s.qq * s.kk);
        error = lengths > 0 ? 35 * u * s.size / lengths + 2 * sqrt(s.q_errors / s.qq) +
                                  2 * sqrt(s.k_errors / s.kk)
                            : 0;
    } else if (a->similarity == NL_CONCAT) {
        beta = 1;
        error = s.through + u * (fabs(s.part_q) + fabs(s.part_k));
    } else {
        if (a->similarity != NL_GAUSSIAN)
            beta = scale / (a->similarity == NL_DOT ? 1 : a->temperature);
        error = s.through + 33 * u * s.size + u * a->lambda * s.kk;
    }
    return beta * error + 5 * u * fabs(score);
}

static void score_bounds(const struct golden *g, const double *q_error, const double *k_error,
                         double *bounds)
{
    const nl_matrix *q = &g->steps[STEP_Q], *k = &g->steps[STEP_K], *s = &g->steps[STEP_S];
    const size_t heads = g->params.heads, d = q->cols / heads, n = q->rows, m = k->rows;
    const nl_attention_params *a = &g->params.attention;
    const float *w_f = g->weights.concat.data;
    for (size_t row = 0; row < heads * n; row++) {
        const size_t first = row / n * d, i = row % n;
        double largest = 0;
        for (size_t j = 0; j < m; j++) {
            const double score = (double)nl_row(s, row)[j];
            const struct pair pair = {nl_row(q, i) + first,
                                      nl_row(k, j) + first,
                                      q_error + first,
                                      k_error + first,
                                      w_f ? w_f + first : NULL,
                                      w_f ? w_f + q->cols + first : NULL,
                                      d};
            const double scale = g->params.scale_sqrt ? 1 / sqrt((double)d) : 1;
            bounds[row * m + j] = isfinite(score) ? score_error(a, scale, &pair, score) : 0;
            largest = fmax(largest, bounds[row * m + j]);
        }
        if (a->self == NL_SELF_MAX) /* another key's score */
            bounds[row * m + i] = largest;
    }
}

/* Bounds of S over what it is divided by, for weights that are raw scores. */
static void add_raw_bounds(const struct golden *g, size_t i, const double *score_bound,
                           double *bounds)
{
    const nl_matrix *s = &g->steps[STEP_S], *a = &g->steps[STEP_A];
    const nl_attention_params *p = &g->params.attention;
    double c = (double)(a->cols - (p->self == NL_SELF_EXCLUDE)), sum_bound = 0;
    if (p->normalizer == NL_NORMALIZE_SUM) {
        c = 0;
        for (size_t j = 0; j < a->cols; j++) {
            c += (double)nl_row(s, i)[j];
            sum_bound += score_bound[j];
        }
    }
    for (size_t j = 0; j < a->cols && c > 0; j++)
        bounds[j] += (score_bound[j] + size_of(a, i, j) * sum_bound) / c;
}

static void weight_bounds(const struct golden *g, const double *score_bound, double *bounds)
{
    const nl_matrix *s = &g->steps[STEP_S], *a = &g->steps[STEP_A];
    const bool exponential = nl_similarities[g->params.attention.similarity].exponential;
    for (size_t i = 0; i < a->rows; i++) {
        double largest = 0, exponent = 0;
        for (size_t j = 0; j < a->cols; j++) {
            largest = fmax(largest, size_of(a, i, j));
            if (exponential && isfinite(nl_row(s, i)[j]))
                exponent = fmax(exponent, size_of(s, i, j));
        }
        for (size_t j = 0; j < a->cols; j++)
            bounds[i * a->cols + j] = largest * (1e-5 + 4 * 0x1p-24 * exponent);
        if (!exponential)
            add_raw_bounds(g, i, score_bound + i * a->cols, bounds + i * a->cols);
    }
}

static void mix_bounds(const struct golden *g, const double *weight_bound, const double *v_error,
                       double *bounds)
{
    const nl_matrix *a = &g->steps[STEP_A], *v = &g->steps[STEP_V], *h = &g->steps[STEP_H];
    const size_t n = h->rows, m = v->rows, dv = v->cols / g->params.heads;
    const double roundings = (double)(m < 128 ? m : 128) + 2;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < h->cols; k++) {
            const size_t row = k / dv * n + i;
            double bound = 0;
            for (size_t j = 0; j < m; j++) {
                const double a_ij = size_of(a, row, j), v_jk = size_of(v, j, k);
                bound += weight_bound[row * m + j] * v_jk + a_ij * v_error[k] +
                         roundings * u * a_ij * v_jk;
            }
            bounds[i * h->cols + k] = bound;
        }
    }
}

static void output_bounds(const struct golden *g, const double *h_bound, double *bounds)
{
    const nl_matrix *h = &g->steps[STEP_H], *y = &g->steps[STEP_Y];
    double *sizes = test_malloc(h->cols * sizeof *sizes);
    for (size_t i = 0; i < y->rows; i++) {
        for (size_t k = 0; k < h->cols; k++)
            sizes[k] = size_of(h, i, k);
        for (size_t k = 0; k < y->cols; k++)
            bounds[i * y->cols + k] =
                g->params.system == NL_SYSTEM_NLM
                    ? h_bound[i * h->cols + k]
                    : map_error(g, &g->weights.w, k, sizes, h_bound + i * h->cols) +
                          u * size_of(y, i, k);
    }
    test_free(sizes);
}

/* From bounds of s = X + Y to those of its LayerNorm, in place. */
static void norm_bounds(const struct golden *g, size_t i, double *bounds)
{
    const nl_matrix *x = &g->x, *y = &g->steps[STEP_Y];
    const nl_matrix *weight = &g->weights.norm_weight;
    const size_t c = x->cols;
    double mean = 0, variance = 0, error = 0;
    for (size_t k = 0; k < c; k++) {
        mean += ((double)nl_row(x, i)[k] + (double)nl_row(y, i)[k]) / (double)c;
        error = fmax(error, bounds[k]);
    }
    for (size_t k = 0; k < c; k++) {
        const double off = (double)nl_row(x, i)[k] + (double)nl_row(y, i)[k] - mean;
        variance += off * off / (double)c;
    }
    const double deviation = sqrt(variance + 1e-5);
    for (size_t k = 0; k < c; k++) {
        const double off = (double)nl_row(x, i)[k] + (double)nl_row(y, i)[k] - mean;
        const double w = weight->data ? fabs((double)weight->data[k]) : 1;
        bounds[k] = 1.01 * error * (2 + fabs(off) / deviation) * w / deviation;
    }
}

static void final_bounds(const struct golden *g, const double *y_bound, double *bounds)
{
    const nl_matrix *x = &g->x, *y = &g->steps[STEP_Y], *z = &g->steps[STEP_Z];
    const nl_system_id system = g->params.system;
    double factor = 1;
    if (system == NL_SYSTEM_SAGAN)
        factor = fabs(g->weights.has_gamma ? g->weights.gamma : g->params.gamma);
    for (size_t i = 0; i < z->rows; i++) {
        double *bound = bounds + i * z->cols;
        for (size_t k = 0; k < z->cols; k++) {
            const double y_ik = factor * size_of(y, i, k);
            bound[k] = factor * y_bound[i * z->cols + k];
            if (system != NL_SYSTEM_NLM)
                bound[k] += u * (size_of(x, i, k) + y_ik);
        }
        if (g->params.layernorm == NL_LAYERNORM_POST)
            norm_bounds(g, i, bound);
        for (size_t k = 0; k < z->cols; k++)
            bound[k] += 2 * u * size_of(z, i, k);
    }
}

static void spread_columns(const nl_matrix *step, const double *errors, double *bounds)
{
    for (size_t i = 0; i < step->rows; i++)
        for (size_t k = 0; k < step->cols; k++)
            bounds[i * step->cols + k] = errors[k] + (errors[k] > 0 ? u * size_of(step, i, k) : 0);
}

void bounds_create(const struct golden *g, struct bounds *bounds)
{
    const bool embedded = nl_similarities[g->params.attention.similarity].embedded;
    const nl_stored_map *const maps[] = {embedded ? &g->weights.theta : NULL,
                                         embedded ? &g->weights.phi : NULL,
                                         g->params.system == NL_SYSTEM_NLM ? NULL : &g->weights.g};
    double *errors[3];
    for (int s = 0; s < STEP_COUNT; s++)
        bounds->of[s] = test_calloc(g->steps[s].rows * g->steps[s].cols + 1, sizeof *bounds->of[s]);
    for (int s = STEP_Q; s <= STEP_V; s++) {
        errors[s] = test_malloc(g->steps[s].cols * sizeof *errors[s]);
        column_errors(g, maps[s], g->steps[s].cols, errors[s]);
        spread_columns(&g->steps[s], errors[s], bounds->of[s]);
    }
    score_bounds(g, errors[STEP_Q], errors[STEP_K], bounds->of[STEP_S]);
    weight_bounds(g, bounds->of[STEP_S], bounds->of[STEP_A]);
    mix_bounds(g, bounds->of[STEP_A], errors[STEP_V], bounds->of[STEP_H]);
    output_bounds(g, bounds->of[STEP_H], bounds->of[STEP_Y]);
    final_bounds(g, bounds->of[STEP_Y], bounds->of[STEP_Z]);
    for (int s = STEP_Q; s <= STEP_V; s++)
        test_free(errors[s]);
}

void bounds_free(struct bounds *bounds)
{
    for (int s = 0; s < STEP_COUNT; s++)
        test_free(bounds->of[s]);
}
