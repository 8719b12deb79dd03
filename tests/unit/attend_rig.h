/* SPDX-License-Identifier: MIT */
/*
 * Rows of the verb `attend` against the formulas in double. Include after verb_rig.h and npy_rig.h;
 * link attention_ref.c.
 */
#ifndef ATTEND_RIG_H
#define ATTEND_RIG_H

#include "attention_ref.h"

enum { RIG_MOST_KEYS = 512 };

/* The general operation: queries and keys (theta and phi where they are embedded). */
struct rig_attention {
    nl_attention_params params;
    const nl_matrix *queries, *keys;
};

static inline double rig_key_squared(const nl_matrix *keys, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < keys->cols; k++)
        sum += (double)nl_row(keys, j)[k] * (double)nl_row(keys, j)[k];
    return sum;
}

static inline bool rig_in_window(const nl_attention_params *p, size_t i, size_t j)
{
    const size_t w = p->grid_width, h = p->grid_height, half = p->search / 2;
    if (p->search == 0)
        return true;
    const size_t x = i % w, y = i / w % h, kx = j % w, ky = j / w % h;
    return i / w / h == j / w / h && x + half >= kx && kx + half >= x && y + half >= ky &&
           ky + half >= y;
}

/* Row i of A to a[m]; returns the error that is allowed for each of its weights. */
static inline double rig_row(const struct rig_attention *r, size_t i, double *a)
{
    const nl_attention_params *p = &r->params;
    const size_t m = r->keys->rows;
    const bool exponential = nl_similarities[p->similarity].exponential;
    double scores[RIG_MOST_KEYS], sum = 0, largest = 0, exponent = 0;
    const nl_matrix query = nl_matrix_view(nl_row(r->queries, i), 1, r->queries->cols, 1);
    assert_true(m <= RIG_MOST_KEYS);
    ref_scores(p, &query, r->keys, scores);
    for (size_t j = 0; j < m; j++) {
        scores[j] -= p->lambda * rig_key_squared(r->keys, j) / 2;
        if (!rig_in_window(p, i, j))
            scores[j] = -INFINITY;
    }
    if (exponential && p->normalizer == NL_NORMALIZE_SUM) {
        const struct ref_row row = ref_weights(p, scores, m, i, ref_width(p), a);
        return ref_bound(&row);
    }
    for (size_t j = 0; j < m; j++) {
        const double width = ref_width(p);
        const double divisor =
            p->similarity == NL_EUCLIDEAN ? width * width * p->temperature : width;
        a[j] = exponential ? exp(scores[j] / divisor) : p->scale * scores[j];
        exponent = exponential ? fmax(exponent, fabs(scores[j] / divisor)) : 0;
        sum += a[j];
    }
    for (size_t j = 0; j < m; j++) {
        a[j] /= p->normalizer == NL_NORMALIZE_SUM ? sum : (double)m;
        largest = fmax(largest, fabs(a[j]));
    }
    return largest * (1e-5 + 4 * 0x1p-24 * exponent);
}

/* `count` rows of weights in a file against those of these queries. */
static inline void assert_rows_of(const struct rig_attention *r, const char *file,
                                  const size_t *rows, size_t count)
{
    double a[RIG_MOST_KEYS];
    const size_t m = r->keys->rows;
    nl_npy npy = rig_npy(file);
    assert_int_equal(npy.count, count * m);
    for (size_t q = 0; q < count; q++) {
        const double bound = rig_row(r, rows[q], a);
        for (size_t j = 0; j < m; j++) {
            const double got = (double)npy.data[q * m + j];
            if (!(fabs(got - a[j]) <= bound))
                fail_msg("query %zu, key %zu: %.9g, not %.9g ± %.2g", rows[q], j, got, a[j], bound);
        }
    }
    nl_npy_free(&npy);
}

static inline void assert_shape(const char *file, const size_t *shape, size_t ndim)
{
    nl_npy npy = rig_npy(file);
    assert_int_equal(npy.ndim, ndim);
    for (size_t k = 0; k < ndim; k++)
        assert_int_equal(npy.shape[k], shape[k]);
    nl_npy_free(&npy);
}

/* A shape as rig_write_npy takes it. */
#define SHAPE_OF(...)                                                                              \
    (const size_t[]){__VA_ARGS__}, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t)

/* Numbers without gaps, for a file. */
static inline nl_matrix packed_features(size_t n, size_t d, float mean, float deviation,
                                        uint64_t seed)
{
    nl_matrix wide = random_features(n, d, mean, deviation, seed);
    float *data = test_malloc(n * d * sizeof *data);
    for (size_t i = 0; i < n; i++)
        memcpy(data + i * d, nl_row(&wide, i), d * sizeof *data);
    test_free(wide.data);
    return nl_matrix_view(data, n, d, d);
}

/* A picture, and its pixels as features: rgb, patch 1, stride 1. */
static inline nl_matrix rig_picture(const char *file, size_t width, size_t height, unsigned seed)
{
    uint8_t *bytes = test_malloc(3 * width * height);
    float *data = test_malloc(3 * width * height * sizeof *data);
    for (size_t k = 0; k < 3 * width * height; k++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[k] = (uint8_t)(seed >> 24);
        data[k] = (float)bytes[k] / 255;
    }
    rig_write_ppm(file, width, height, bytes);
    test_free(bytes);
    return nl_matrix_view(data, width * height, 3, 3);
}

#endif
