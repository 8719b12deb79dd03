/* SPDX-License-Identifier: MIT */
/*
 * The general operation once more, plainly and in double, from the formulas: what the engine's
 * answers are measured against.
 */
#ifndef NL_ATTENTION_REF_H
#define NL_ATTENTION_REF_H

#include "nonlocal/attention.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The similarities that are exponentials normalised to sum 1. */
enum { REF_EXPONENTIALS = 4 };
extern const nl_similarity_id ref_exponentials[REF_EXPONENTIALS];

/* What the exponential is taken of, for h² τ = 1 or τ = scale = 1: n × m scores. */
void ref_scores(const nl_attention_params *params, const nl_matrix *queries, const nl_matrix *keys,
                double *scores);

struct ref_row {
    double largest;      /* weight */
    double max_exponent; /* largest |exponent| of the keys that are left */
    double entropy;      /* H in nats */
    double spread;       /* Σ a |ln a + H| */
    size_t left;         /* keys that count */
    size_t ties;         /* keys with the largest score */
};

/*
 * Scores of one row to weights[m], with `width` in the place of h (euclidean) or τ; self rules
 * apply to key `query`.
 */
struct ref_row ref_weights(const nl_attention_params *params, const double *scores, size_t m,
                           size_t query, double width, double *weights);

/* Accuracy asked of every path, as an absolute error of this row's weights. */
double ref_bound(const struct ref_row *row);

/*
 * What that accuracy means for the entropy. Relative errors e_j of the weights move it by
 * −Σ a_j e_j (ln a_j + H). It is calculated as ln Σp − Σpt / Σp with p = exp(t), where the first
 * sum's error counts once and the second's by Σpt / Σp, at most H.
 */
double ref_entropy_bound(const struct ref_row *row);

/* h of euclidean, τ of the others, as the parameters give it. */
double ref_width(const nl_attention_params *params);

/* Fails the test unless the call failed with NL_INVALID and one sentence that contains `names`. */
void assert_invalid(nl_status status, const nl_error *error, const char *names);

/* n × d numbers, normal with this deviation around mean, and odd stride; poison in the gaps. */
nl_matrix random_features(size_t n, size_t d, float mean, float deviation, uint64_t seed);

/* nl_attention_create that must succeed. */
nl_attention *create_attention(const nl_attention_params *params, const nl_matrix *queries,
                               const nl_matrix *keys, bool same_rows, const nl_exec *exec);

#endif
