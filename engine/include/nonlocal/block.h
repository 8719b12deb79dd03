/* SPDX-License-Identifier: MIT */
/*
 * A whole block of a system on a feature map: pooling, projections, attention heads, output map,
 * residual, LayerNorm, with every intermediate for inspection.
 */
#ifndef NONLOCAL_BLOCK_H
#define NONLOCAL_BLOCK_H

#include "nonlocal/attention.h"
#include "nonlocal/system.h"
#include "nonlocal/weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A feature map; row (t·h + y)·w + x of its matrix has c channels. A picture has t = 1, a table
 * h = 1. */
typedef struct nl_shape {
    size_t t, h, w, c;
} nl_shape;

/* Where keys and values are max-pooled, 2×2 within each frame (1×2×2 of a clip). */
typedef enum nl_subsample {
    NL_SUBSAMPLE_NONE,
    NL_SUBSAMPLE_PAPER,    /* φ(x) and g(x): the paper's text, most code, SAGAN */
    NL_SUBSAMPLE_OFFICIAL, /* x, before φ and g */
    NL_SUBSAMPLE_COUNT,
} nl_subsample;

typedef enum nl_layernorm {
    NL_LAYERNORM_NONE,
    NL_LAYERNORM_PRE,  /* of x, before Q, K and V */
    NL_LAYERNORM_POST, /* of x + y (Vaswani 2017) */
    NL_LAYERNORM_COUNT,
} nl_layernorm;

typedef struct nl_convention {
    const char *name;  /* as on the command line */
    const char *label; /* as on the screen, English */
} nl_convention;

/* Indexed by the enums above; each ends with a row whose name is NULL. */
extern NL_API const nl_convention nl_subsamples[NL_SUBSAMPLE_COUNT + 1];
extern NL_API const nl_convention nl_layernorms[NL_LAYERNORM_COUNT + 1];

typedef struct nl_block_params {
    nl_system_id system;
    nl_attention_params attention; /* scale counts for dot and embedded-gaussian */
    bool scale_sqrt;               /* scale becomes 1/√(l / heads); the transformer's default */
    nl_subsample subsample;
    size_t heads;           /* transformer; head k owns columns k·l/heads …, in ω and w_f too */
    nl_layernorm layernorm; /* transformer; eps 1e-5, biased variance */
    double gamma;           /* sagan, where the weights have none */
} nl_block_params;

/*
 * The system's own conventions: nonlocal embedded-gaussian, no pooling, no scale; nlm euclidean,
 * self max; sagan embedded-gaussian, paper pooling, γ = 0; transformer one head, LayerNorm post.
 */
NL_API void nl_block_params_init(nl_block_params *params, nl_system_id system);

/* Every intermediate; n queries, m keys. An empty matrix where a system has no such step. */
typedef struct nl_trace {
    nl_matrix x;    /* n × c */
    nl_matrix q, k; /* n × l, m × l */
    nl_matrix v;    /* m × lv */
    nl_matrix s, a; /* heads·n × m: head 0's rows first */
    nl_matrix h;    /* n × lv: A V */
    nl_matrix y;    /* n × c: W H */
    nl_matrix z;    /* n × c */
} nl_trace;

/*
 * Z of X (shape.t·h·w × c):
 *   - nonlocal: Z = X + W(A g(x)); gaussian, euclidean and cosine have Q = x and K = (pooled) x
 *   - nlm: Z = A X; weights may be NULL
 *   - sagan: Z = X + γ W(A g(x)), every weight divided by its spectral norm
 *   - transformer: Z = LN(X + W(A g(x))), or as layernorm says
 *
 * trace (may be NULL) is filled and the caller's to free; it needs 8·heads·n·m bytes for S and A,
 * NL_LIMIT above NL_TRACE_MAX numbers each. z is allocated.
 */
enum { NL_TRACE_MAX = 1 << 28 };
NL_API nl_status nl_block_run_alloc(const nl_block_params *params, const nl_weights *weights,
                                    const nl_matrix *x, nl_shape shape, const nl_exec *exec,
                                    nl_trace *trace, nl_matrix *z, nl_error *error);
NL_API void nl_trace_free(nl_trace *trace);

/* l of a system on c channels: ceil(c/2), for sagan max(1, c/8), for transformer c. */
NL_API size_t nl_default_dim(nl_system_id system, size_t channels);

/*
 * Weights made instead of read: the maps of nl_embedding_create, with l = nl_default_dim (sagan:
 * values of max(1, c/2)) unless params->dim says otherwise; identity keeps l = c.
 */
NL_API nl_status nl_weights_make(const nl_embedding_params *params, nl_system_id system,
                                 const nl_matrix *x, const nl_exec *exec, nl_weights *weights,
                                 nl_error *error);

/*
 * y = map(x) as the system applies it: the weight divided by its spectral norm for sagan, and for
 * any map stored with spectral normalisation (stored u, v as they are, else power iteration).
 */
NL_API nl_status nl_stored_map_apply_alloc(const nl_stored_map *stored, nl_system_id system,
                                           const nl_matrix *x, const nl_exec *exec, nl_matrix *y,
                                           nl_error *error);

/* 2×2 maxima within each frame: floor(h/2) × floor(w/2). NL_INVALID when nothing is left. */
NL_API nl_status nl_max_pool_alloc(const nl_matrix *x, nl_shape shape, nl_matrix *pooled,
                                   nl_shape *pooled_shape, nl_error *error);

/* Rows to mean 0 and biased variance 1 (eps 1e-5), times weight plus bias (NULL or empty: 1, 0). */
NL_API void nl_layer_norm(nl_matrix *x, const nl_matrix *weight, const nl_matrix *bias);

enum { NL_POWER_ITERATIONS = 30 };

/*
 * Largest singular value of m (out × in) by power iteration from u = 1/√out, v = mᵀu/‖mᵀu‖,
 * u = m v/‖m v‖; estimates[i] (NULL, or NL_POWER_ITERATIONS of them) is uᵀ m v after iteration i.
 * 0 for a zero matrix.
 */
NL_API double nl_spectral_norm(const nl_matrix *m, double *estimates);

#ifdef __cplusplus
}
#endif

#endif
