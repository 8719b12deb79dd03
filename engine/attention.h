/* SPDX-License-Identifier: MIT */
/* The inside of a prepared attention: shared by its construction, its rows and explanations. */
#ifndef NL_ATTENTION_H
#define NL_ATTENTION_H

#include "nonlocal/attention.h"
#include "panels.h"

struct nl_attention {
    nl_attention_params params; /* its pointers are NULL: what they held is copied below */
    const nl_matrix *queries;   /* borrowed, or &normalised */
    nl_matrix normalised;       /* cosine: queries of length 1 */
    float *keys;                /* packed */
    float *omega;               /* euclidean: −ω, so that the kernel's sum is −δ */
    float *key_shift;           /* m: taken off every score; λ‖k‖²/2 */
    float *concat;              /* concat: a copy of w_f */
    nl_matrix concat_keys;      /* concat: a copy of the keys, for explanations */
    float *query_part;          /* concat: u_i = w_θ·θ_i, n of them */
    float *key_part;            /* concat: v_j = w_φ·φ_j, m of them */
    size_t n, m, d;
    bool same_rows;
    double reach;  /* no raw score is larger than this */
    double beta;   /* of every row, unless perplexity sets one for each */
    double target; /* ln of the perplexity asked for; meaningless while params.perplexity is 0 */
};

/* Raw scores r of `rows` queries from `first` on, before search window, self rule and β. */
void nl_raw_scores(const nl_attention *a, const nl_kernels *kernels, size_t first, size_t rows,
                   float *r, size_t r_stride);

/* How one row goes from raw scores to weights. */
struct nl_row_rule {
    float beta;        /* exponentials: of the row */
    float top;         /* the largest score of the keys left */
    size_t candidates; /* keys in reach: all, or those of the search window */
    size_t keys;       /* of these, what the self rule leaves */
    bool uniform;      /* all of them have the same score */
    unsigned notes;
};

/*
 * Applies search window and self rule to r (keys left out become −∞, or 0 for dot and concat) and
 * finds β. False when no key is left.
 */
bool nl_row_prepare(const nl_attention *a, const nl_kernels *kernels, size_t query, float *r,
                    struct nl_row_rule *rule);

/* Scores of nl_row_prepare to weights, in place; C_i to *normalizer. */
nl_status nl_row_normalize(const nl_attention *a, const nl_kernels *kernels, size_t query,
                           const struct nl_row_rule *rule, float *r, double *normalizer,
                           nl_error *error);

/* β with which softmax(β r) has the entropy `target` (nats); top is the largest of r. */
double nl_find_beta(const nl_kernels *kernels, const float *r, size_t m, float top, double target,
                    unsigned *notes);

/* The parameter that β stands for: h of euclidean, τ of the other exponentials. */
double nl_width_of(const nl_attention_params *params, double beta);

static inline bool nl_is_exponential(const nl_attention *a)
{
    return nl_similarities[a->params.similarity].exponential;
}

#endif
