/* SPDX-License-Identifier: MIT */
#include "attention_ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

const nl_similarity_id ref_exponentials[REF_EXPONENTIALS] = {NL_GAUSSIAN, NL_EMBEDDED_GAUSSIAN,
                                                             NL_EUCLIDEAN, NL_COSINE};

static double score(const nl_attention_params *params, const float *q, const float *k, size_t d)
{
    double dot = 0, qq = 0, kk = 0, delta = 0;
    for (size_t c = 0; c < d; c++) {
        const double x = (double)q[c], y = (double)k[c];
        const double omega = params->omega ? (double)params->omega[c] : 1 / (double)d;
        dot += x * y;
        qq += x * x;
        kk += y * y;
        delta += omega * (x - y) * (x - y);
    }
    switch (params->similarity) {
    case NL_EUCLIDEAN:
        return -fmax(delta - 2 * params->sigma * params->sigma, 0);
    case NL_COSINE:
        return qq > 0 && kk > 0 ? dot / sqrt(qq * kk) : 0;
    default:
        return dot;
    }
}

void ref_scores(const nl_attention_params *params, const nl_matrix *queries, const nl_matrix *keys,
                double *scores)
{
    for (size_t i = 0; i < queries->rows; i++)
        for (size_t j = 0; j < keys->rows; j++)
            scores[i * keys->rows + j] =
                score(params, nl_row(queries, i), nl_row(keys, j), queries->cols);
}

double ref_width(const nl_attention_params *params)
{
    return params->similarity == NL_EUCLIDEAN ? params->h : params->temperature;
}

struct ref_row ref_weights(const nl_attention_params *params, const double *scores, size_t m,
                           size_t query, double width, double *weights)
{
    struct ref_row row = {0};
    const nl_similarity_id similarity = params->similarity;
    const double divisor = similarity == NL_EUCLIDEAN ? width * width * params->temperature : width;
    const double factor = (similarity == NL_EMBEDDED_GAUSSIAN ? params->scale : 1) / divisor;
    const bool alone = m == 1;
    for (size_t j = 0; j < m; j++)
        weights[j] = factor * scores[j];
    if (params->self == NL_SELF_MAX && !alone) {
        weights[query] = -INFINITY;
        double largest = -INFINITY;
        for (size_t j = 0; j < m; j++)
            largest = fmax(largest, weights[j]);
        weights[query] = largest;
    } else if (params->self == NL_SELF_EXCLUDE) {
        weights[query] = -INFINITY;
    }
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < m; j++)
        top = fmax(top, weights[j]);
    for (size_t j = 0; j < m; j++) {
        if (weights[j] == -INFINITY) {
            weights[j] = 0;
            continue;
        }
        row.left++;
        row.ties += weights[j] == top;
        row.max_exponent = fmax(row.max_exponent, fabs(weights[j]));
        weights[j] = exp(weights[j] - top);
        sum += weights[j];
    }
    for (size_t j = 0; j < m; j++) {
        weights[j] = sum > 0 ? weights[j] / sum : 0;
        row.largest = fmax(row.largest, weights[j]);
        if (weights[j] > 0)
            row.entropy -= weights[j] * log(weights[j]);
    }
    for (size_t j = 0; j < m; j++)
        if (weights[j] > 0)
            row.spread += weights[j] * fabs(log(weights[j]) + row.entropy);
    return row;
}

static double accuracy(const struct ref_row *row)
{
    return 1e-5 + 4 * 0x1p-24 * row->max_exponent;
}

double ref_bound(const struct ref_row *row)
{
    return row->largest * accuracy(row);
}

double ref_entropy_bound(const struct ref_row *row)
{
    return (1 + row->entropy + row->spread) * accuracy(row);
}

void assert_invalid(nl_status status, const nl_error *error, const char *names)
{
    assert_int_equal(status, NL_INVALID);
    assert_int_equal(error->status, NL_INVALID);
    if (!strstr(error->message, names))
        fail_msg("'%s' does not name %s", error->message, names);
    assert_null(strchr(error->message, '\n'));
    assert_true(strlen(error->message) < sizeof error->message - 1);
}

nl_matrix random_features(size_t n, size_t d, float mean, float deviation, uint64_t seed)
{
    const size_t stride = (d + 2) | 1;
    float *data = test_malloc(n * stride * sizeof *data);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t at = 0; at < n * stride; at++) {
        double sum = 0; /* of 12 uniform numbers: nearly normal, deviation 1 */
        for (int i = 0; i < 12; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum += (double)(state >> 11) * 0x1p-53;
        }
        data[at] = at % stride < d ? mean + deviation * (float)(sum - 6) : NAN;
    }
    return nl_matrix_view(data, n, d, stride);
}

nl_attention *create_attention(const nl_attention_params *params, const nl_matrix *queries,
                               const nl_matrix *keys, bool same_rows, const nl_exec *exec)
{
    nl_attention *attention = NULL;
    nl_error error = {0};
    if (nl_attention_create(params, queries, keys, same_rows, exec, &attention, &error) != NL_OK)
        fail_msg("%s", error.message);
    assert_non_null(attention);
    return attention;
}
