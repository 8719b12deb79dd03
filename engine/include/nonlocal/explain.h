/* SPDX-License-Identifier: MIT */
/*
 * How one number came about: its largest terms, the sum of the rest, and the steps from there to
 * the value that the engine gives. Everything is computed in double from the engine's own inputs.
 */
#ifndef NONLOCAL_EXPLAIN_H
#define NONLOCAL_EXPLAIN_H

#include "nonlocal/attention.h"
#include "nonlocal/dissim.h"
#include "nonlocal/embed.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NL_EXPLAIN_TERMS = 16 };

/* One term of a sum: what it is made of, and what it adds. */
typedef struct nl_term {
    size_t index; /* feature, key or input channel, from 0 */
    double left;  /* of the query (feature), the weight (key, channel) */
    double right; /* of the key, the value, the input */
    double value; /* what it adds to the total */
} nl_term;

/* A sum: terms[0..count) by falling size, equals by lower index, then everything else. */
typedef struct nl_sum {
    nl_term terms[NL_EXPLAIN_TERMS];
    size_t count;
    double rest;       /* sum of the terms not listed */
    size_t rest_count; /* how many those are */
    double total;      /* terms + rest */
} nl_sum;

/*
 * One weight A[i][j]. The total of `sum` is, by similarity: gaussian, embedded-gaussian and dot
 * q·k; euclidean δ; cosine the cosine; concat w_f·[q, k], the first d indices being the query's.
 */
typedef struct nl_weight_steps {
    nl_sum sum;
    double shift;      /* λ‖k‖²/2, taken off q·k; 0 without λ */
    double raw;        /* r: the total after scale, noise, λ, clamping or ReLU */
    bool replaced;     /* the self rule put another score in place of raw */
    bool left_out;     /* by the self rule or the search window: the weight is 0 */
    double score;      /* r that counts */
    double width;      /* h of euclidean, τ of other exponentials, 0 of dot and concat */
    double exponent;   /* β r of exponentials */
    double top;        /* the row's largest exponent, taken off before the exponential */
    double similarity; /* exp(exponent − top), or exp(exponent) over the count, or the score */
    double normalizer; /* C_i */
    double weight;     /* similarity / normalizer */
} nl_weight_steps;

/* weight agrees with nl_attention_row within its accuracy. NL_INVALID for i or j outside. */
NL_API nl_status nl_explain_weight(const nl_attention *attention, size_t i, size_t j,
                                   const nl_exec *exec, nl_weight_steps *steps, nl_error *error);

/* y[i][channel] = Σ_j a_ij v_j[channel]: terms are keys. values as for nl_attention_apply. */
NL_API nl_status nl_explain_output(const nl_attention *attention, const nl_matrix *values, size_t i,
                                   size_t channel, const nl_exec *exec, nl_sum *sum,
                                   nl_error *error);

/*
 * out[channel] = Σ_k w_ck x_k + b_c of a linear map (θ, φ, g, W): terms are input channels; the
 * bias is the last term, with index map->weight.cols, where there is one.
 */
NL_API nl_status nl_explain_linear(const nl_linear *map, const float *x, size_t channel,
                                   nl_sum *sum, nl_error *error);

/*
 * D(i, j) of rows of x: terms are features; *value is the dissimilarity made of them: the total for
 * sqeuclidean and manhattan, its root for euclidean, the largest term for chebyshev; for cosine and
 * correlation the total, left and right being of unit rows (1 where a row has no direction). For
 * gaussian-kernel it is the distance, from which nl_gaussian_dissim goes on with the bandwidth.
 */
NL_API nl_status nl_explain_dissim(nl_metric_id metric, const nl_matrix *x, size_t i, size_t j,
                                   nl_sum *sum, double *value, nl_error *error);

#ifdef __cplusplus
}
#endif

#endif
