/* SPDX-License-Identifier: MIT */
/* The linear maps θ, φ, g and W of a non-local block (Wang et al. 2018, section 3). */
#ifndef NONLOCAL_EMBED_H
#define NONLOCAL_EMBED_H

#include "nonlocal/exec.h"
#include "nonlocal/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nl_embedding_id {
    NL_EMBED_IDENTITY, /* θ = φ = g = W = 1, l = d */
    NL_EMBED_PCA,      /* θ = φ = g: (x − μ) V_l, not whitened; W = V_lᵀ with bias μ */
    NL_EMBED_RANDOM,   /* N(0, 1/√fan-in), biases 0 */
    NL_EMBED_ZERO,     /* as random, but W and its bias are 0: the block starts as identity */
    NL_EMBED_COUNT,
} nl_embedding_id;

typedef struct nl_embedding_kind {
    const char *name;  /* as on the command line */
    const char *label; /* as on the screen, English */
} nl_embedding_kind;

/* Indexed by nl_embedding_id; ends with a row whose name is NULL. */
extern NL_API const nl_embedding_kind nl_embeddings[NL_EMBED_COUNT + 1];

/* y = weight · x + bias; weight is out × in, bias (1 × out) may be empty for 0. */
typedef struct nl_linear {
    nl_matrix weight;
    nl_matrix bias;
} nl_linear;

typedef struct nl_embedding_params {
    nl_embedding_id kind;
    size_t dim;       /* l; 0 = the default, ceil(d/2), or d for identity */
    size_t value_dim; /* of g and W; 0 = l. Not for identity */
    uint64_t seed;    /* random, zero; w_f of every kind */
} nl_embedding_params;

typedef struct nl_embedding {
    nl_linear theta, phi; /* l × d */
    nl_linear g;          /* value_dim × d */
    nl_linear w;          /* d × value_dim */
    nl_matrix concat;     /* w_f, 1 × 2l: always random */
} nl_embedding;

/* identity, dim 0, seed 1. */
NL_API void nl_embedding_params_init(nl_embedding_params *params);

enum { NL_MAX_PCA_DIM = 2048 }; /* features; the eigenproblem grows with their cube */

/*
 * Builds the maps for X (n × d). The random numbers are drawn in the order θ φ g w_f W from
 * xoshiro256** with the seed. PCA makes the entry of largest magnitude of each component positive
 * and needs d <= NL_MAX_PCA_DIM. NL_INVALID for identity with a dim other than 0 or d, for dim > d.
 */
NL_API nl_status nl_embedding_create(const nl_embedding_params *params, const nl_matrix *x,
                                     const nl_exec *exec, nl_embedding *embedding, nl_error *error);
NL_API void nl_embedding_free(nl_embedding *embedding);

/* y (n × out) = x (n × in) through the map, each sum in double over chunks of float. */
NL_API nl_status nl_linear_apply_alloc(const nl_linear *map, const nl_matrix *x,
                                       const nl_exec *exec, nl_matrix *y, nl_error *error);

#ifdef __cplusplus
}
#endif

#endif
