/* SPDX-License-Identifier: MIT */
/*
 * The general operation y_i = (1/C_i) Σ_j s(i, j) v_j  (Wang, Girshick, Gupta, He 2018, eq. 1),
 * for one query or for all of them.
 *
 * n queries, m keys, d features; A[i][j] = s(i, j) / C_i is what query i reads from key j, rows
 * belong to queries. The exponential similarities are s = exp(β r(i, j)) with a raw score r; where
 * C_i = Σ_j s the row's maximum is taken off first, so that no finite input gives NaN. dot and
 * concat are the raw score itself.
 */
#ifndef NONLOCAL_ATTENTION_H
#define NONLOCAL_ATTENTION_H

#include "nonlocal/exec.h"
#include "nonlocal/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nl_similarity_id {
    NL_GAUSSIAN,          /* exp(x_i·x_j / τ) */
    NL_EMBEDDED_GAUSSIAN, /* exp(scale · θ(x_i)·φ(x_j) / τ) */
    NL_EUCLIDEAN, /* exp(−max(δ − 2σ², 0) / (h² τ)), δ = Σ_c ω_c (x_ic − x_jc)² */
    NL_COSINE,    /* exp(cos(x_i, x_j) / τ); cos with a zero vector is 0 */
    NL_DOT,       /* scale · θ(x_i)·φ(x_j) */
    NL_CONCAT,    /* ReLU(w_f·[θ(x_i), φ(x_j)]) */
    NL_SIMILARITY_COUNT,
} nl_similarity_id;

/* C_i of the weights. */
typedef enum nl_normalizer {
    NL_NORMALIZE_SUM,   /* Σ_j s(i, j): rows sum to 1 */
    NL_NORMALIZE_COUNT, /* the number of keys, m; in a search window, those in it */
    NL_NORMALIZE_KINDS,
} nl_normalizer;

typedef struct nl_similarity {
    const char *name;         /* as on the command line */
    const char *label;        /* as on the screen, English */
    const char *formula;      /* one line of text */
    bool embedded;            /* works on θ(x), φ(x) instead of x */
    bool exponential;         /* s = exp(β r), and never negative */
    nl_normalizer normalizer; /* the default C_i */
    double temperature;       /* default τ; 0 = takes none */
} nl_similarity;

/* Indexed by nl_similarity_id; ends with a row whose name is NULL. */
extern NL_API const nl_similarity nl_similarities[NL_SIMILARITY_COUNT + 1];

/* What the query's own key counts (only where queries and keys are the same rows). */
typedef enum nl_self {
    NL_SELF_KEEP,    /* s(i, i) as computed */
    NL_SELF_MAX,     /* the largest s(i, j), j ≠ i (Buades, Coll, Morel 2005) */
    NL_SELF_EXCLUDE, /* 0 */
} nl_self;

typedef struct nl_attention_params {
    nl_similarity_id similarity;
    nl_normalizer normalizer;
    double temperature; /* τ > 0; exponentials */
    double scale; /* embedded-gaussian, dot: factor of θ·φ, > 0; 1, or 1/√l (Vaswani 2017) */
    /* gaussian, embedded-gaussian: takes λ‖k‖²/2 off every score; 0 = off. With λ = 1 the weights
     * are those of a Euclidean similarity with h² d = 2τ. */
    double lambda;
    const float *concat; /* concat: w_f, 2·d weights, those of θ first; borrowed during create */
    double h;            /* euclidean: filter width > 0, in units of the features */
    double sigma;        /* euclidean: standard deviation of the noise, >= 0 */
    const float *omega;  /* euclidean: d weights of the features, or NULL for 1/d each; borrowed */
    /*
     * 0 = off. Otherwise β (that is h, or τ) is found for each row so that exp(entropy) is this
     * many keys, or this percentage of the keys; to a relative 1e-6 or as far as float allows.
     */
    double perplexity;
    bool perplexity_percent;
    bool perplexity_shared; /* one β for all rows: the median over 64 rows spread evenly */
    nl_self self;
    /*
     * 0 = off. Otherwise queries and keys are the same grid, frames of grid_height × grid_width
     * cells one after the other, and a query reads only keys of its own frame within `search` ×
     * `search` cells around it (odd). grid_width and grid_height matter only then.
     */
    size_t search, grid_width, grid_height;
} nl_attention_params;

/* gaussian over the sum, τ = 1, scale 1, λ = 0, h = 0.1, σ = 0, flat ω, perplexity and search off,
 * self kept. */
NL_API void nl_attention_params_init(nl_attention_params *params);

/* Queries and packed keys, ready to answer rows. */
typedef struct nl_attention nl_attention;

/*
 * queries (n × d) and keys (m × d), n, m, d >= 1; for the embedded similarities they are θ(X) and
 * φ(X). `same_rows` says that query i and key i are the same position, as the same pointer twice
 * does: only then may params->self differ from NL_SELF_KEEP. The queries (not the
 * keys) must outlive the object and stay as they are. Takes about 4·m·d bytes, for cosine
 * 4·n·d more. NL_INVALID for parameters out of range or a number that is not finite; NL_CANCELLED
 * when exec says so.
 */
NL_API nl_status nl_attention_create(const nl_attention_params *params, const nl_matrix *queries,
                                     const nl_matrix *keys, bool same_rows, const nl_exec *exec,
                                     nl_attention **attention, nl_error *error);
NL_API void nl_attention_free(nl_attention **attention);

NL_API size_t nl_attention_queries(const nl_attention *attention);
NL_API size_t nl_attention_keys(const nl_attention *attention);

/* What was worth knowing about a row, or'ed together. */
enum {
    NL_NOTE_NO_KEYS = 1,         /* every key was left out: the row is zeros */
    NL_NOTE_UNIFORM = 2,         /* all scores are equal: uniform weights, perplexity or not */
    NL_NOTE_PERPLEXITY_MET = 4,  /* β was found */
    NL_NOTE_PERPLEXITY_MISS = 8, /* no β gives this perplexity; the nearest was taken */
    NL_NOTE_ZERO_QUERY = 16,     /* cosine: the query is a zero vector, its cosines are 0 */
    NL_NOTE_ALL_ZERO = 32, /* concat: every similarity of the row is 0, and so are its weights */
};

typedef struct nl_row_figures {
    bool distribution; /* not negative and sums to 1: only then do the next two mean something */
    double entropy;    /* −Σ a ln a, in nats */
    double effective;  /* effective keys, exp(entropy) */
    double sum;        /* Σ a as computed, in double */
    double normalizer; /* C_i; of exponentials over the sum, Σ exp(β (r − max r)) */
    size_t keys;       /* that the query may read */
    float smallest;    /* the smallest weight; negative only from dot */
    float largest;     /* the largest weight */
    size_t largest_at; /* its key, the first of equals */
    double width;      /* h of euclidean, τ of the other exponentials, in this row; else 0 */
    unsigned notes;
} nl_row_figures;

/*
 * Row `query` of A into weights[m]; figures may be NULL. O(m d). Accuracy, relative to the row's
 * largest weight: 1e-5 + 4·2⁻²⁴·max|exponent|. Runs on the calling thread alone, so that it never
 * waits for a pool; exec gives only the kernels. NL_INVALID, in words, where the
 * normaliser cannot be used: dot over a sum that is not positive, an exponential over the count
 * that overflows.
 */
NL_API nl_status nl_attention_row(const nl_attention *attention, size_t query, const nl_exec *exec,
                                  float *weights, nl_row_figures *figures, nl_error *error);

/* All rows of A into weights (n × m). 4·n·m bytes is the caller's to afford. */
NL_API nl_status nl_attention_rows(const nl_attention *attention, const nl_exec *exec,
                                   nl_matrix *weights, nl_error *error);

/*
 * y (n × dv) = A · values (m × dv), without A in memory: scratch is 800·(d + dv + 34) bytes a
 * thread where softmax, dot or concat over the count run over all keys with one β, otherwise 16·m.
 * y must not overlap values or the queries. The result does not depend on the thread count.
 */
NL_API nl_status nl_attention_apply(const nl_attention *attention, const nl_matrix *values,
                                    const nl_exec *exec, nl_matrix *y, nl_error *error);

/*
 * One answer: y[0..values->cols) = Σ_j weights[j] values_j, for a row of weights that is there
 * already. On the calling thread alone.
 */
NL_API nl_status nl_attention_answer(const float *weights, const nl_matrix *values,
                                     const nl_exec *exec, float *y, nl_error *error);

/*
 * Column `key` of A into received[n]: how much every query reads from it ("who attends to me").
 * It needs every row's normaliser: O(n m d). Sums over it need not be 1.
 */
NL_API nl_status nl_attention_received(const nl_attention *attention, size_t key,
                                       const nl_exec *exec, float *received, nl_error *error);

/*
 * The scores before normalising, S (n × m): exponents β r of the exponentials (with the self rule
 * and the search window applied: −∞ where a key is left out), raw scores of dot and concat.
 */
NL_API nl_status nl_attention_scores(const nl_attention *attention, const nl_exec *exec,
                                     nl_matrix *scores, nl_error *error);

/*
 * The `count` largest of weights[m], largest first, equals by lower index, into index[count];
 * returns how many there are (min(count, m)).
 */
NL_API size_t nl_top(const float *weights, size_t m, size_t count, size_t *index);

#ifdef __cplusplus
}
#endif

#endif
