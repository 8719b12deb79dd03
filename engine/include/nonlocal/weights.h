/* SPDX-License-Identifier: MIT */
/*
 * Weights from files: tensors by name (.npz, .safetensors), and the weights of one block picked
 * from them by the names that PyTorch modules give them.
 */
#ifndef NONLOCAL_WEIGHTS_H
#define NONLOCAL_WEIGHTS_H

#include "nonlocal/embed.h"
#include "nonlocal/system.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NL_TENSOR_MAX_DIMS = 8,
    NL_TENSOR_MAX_NAME = 256,        /* bytes, the final zero included */
    NL_TENSORS_MAX = 10000,          /* tensors in one file */
    NL_TENSORS_MAX_VALUES = 1 << 29, /* values in one file: 2 GiB of float */
};

/*
 * A named array. A file may hold what no attention block needs: one that cannot be turned into
 * floats (words, complex numbers, more than NL_TENSOR_MAX_DIMS dimensions, a member of a zip that
 * is no array) stays in the list with `problem` saying why, and without data and shape.
 */
typedef struct nl_tensor {
    char name[NL_TENSOR_MAX_NAME]; /* UTF-8 without control characters; of a .npz without ".npy" */
    float *data;                   /* count values in C order, owned by the list */
    size_t count;
    size_t shape[NL_TENSOR_MAX_DIMS]; /* ndim of them; a scalar has ndim 0 and count 1 */
    size_t ndim;
    char problem[160]; /* "" = none */
} nl_tensor;

/* Sorted by the bytes of the name, no name twice. */
typedef struct nl_tensors {
    nl_tensor *items;
    size_t count;
} nl_tensors;

/*
 * Reads a whole .npz (a zip of .npy members, stored or deflated, zip64 or not) or .safetensors
 * file (F16, BF16, F32, F64, whole numbers, BOOL), told apart by its bytes. Each value becomes the
 * nearest float; NaN and infinities (also doubles beyond the range of float) are kept, since masks
 * hold them: nl_weights_pick refuses them where they matter. The bytes may go afterwards. End the
 * list with nl_tensors_free.
 *
 * Errors, the list being empty: NL_FORMAT for bytes that are neither, are damaged, cut short or
 * name a tensor twice; NL_UNSUPPORTED for encrypted members, other methods of packing and
 * PyTorch's own checkpoints (Python programs, which are not run); NL_LIMIT for the limits above;
 * NL_NOMEM. The message names the tensor. A short file cannot make it allocate much: sizes that
 * deflate cannot reach are refused, as are tensors that share their bytes.
 */
NL_API nl_status nl_tensors_load(const void *bytes, size_t length, nl_tensors *tensors,
                                 nl_error *error);
NL_API void nl_tensors_free(nl_tensors *tensors);
/* The tensor of that name, or NULL. */
NL_API const nl_tensor *nl_tensors_find(const nl_tensors *tensors, const char *name);

/* One linear map as a file stores it, with what spectral normalisation needs. */
typedef struct nl_stored_map {
    nl_linear map;  /* out × in; empty weight = the file has none; a missing bias is empty (0) */
    nl_matrix u, v; /* 1 × out, 1 × in: stored by spectral norm; both, or both empty */
    bool spectral;  /* map.weight is weight_orig: to be divided by sigma = uᵀ M v */
} nl_stored_map;

/*
 * The weights of one block on C channels. Transformer: theta, phi, g are the query, key and value
 * parts of in_proj, w is out_proj. Members that the system does not use stay empty.
 */
typedef struct nl_weights {
    nl_stored_map theta, phi;         /* l × C */
    nl_stored_map g;                  /* l_g × C; sagan's reference code has C/2 where l is C/8 */
    nl_stored_map w;                  /* C × l_g */
    nl_matrix concat;                 /* w_f, 1 × 2l; concat similarity only */
    nl_matrix norm_weight, norm_bias; /* 1 × C; transformer LayerNorm, empty = 1 and 0 */
    double gamma;                     /* sagan */
    bool has_gamma;
    char note[400]; /* tensors that were not needed, in words; "" = none */
} nl_weights;

/*
 * Picks a block's weights. `channels` is C of the features. Names, with any common prefix
 * ("module.", "block.3.") in front:
 *   nonlocal     theta phi g W (or W_z) (.weight of (out, in) with any trailing 1s, .bias); theta
 *                and phi only where the similarity is embedded; with concat also
 *                concat_project.weight (or W_f), whose bias must be absent or 0
 *   transformer  in_proj_weight (3C, C), or q_proj_weight k_proj_weight v_proj_weight (C, C);
 *                in_proj_bias; out_proj.weight, out_proj.bias; and, here or one level up, norm (or
 *                norm1) .weight and .bias (optional); bias_k and bias_v are refused, since they
 *                add a key
 *   sagan        theta phi g attn_g (or W), gamma or sigma (a scalar; optional)
 * K.0.* is read as K.* (a Sequential with sub-sampling); W.1.weight, .bias, .running_mean,
 * .running_var is a BatchNorm in eval mode (eps 1e-5) folded into W in double; K.weight_orig,
 * K.weight_u, K.weight_v, or K.parametrizations.weight.original, .0._u, .0._v, is spectral
 * normalisation (u without v, or v without u, is not used).
 *
 * Errors, *weights being empty: NL_FORMAT for a needed weight that is missing, misshaped,
 * unreadable or not finite (named, with what was found and what was expected), and for two
 * complete blocks in one file (their prefixes are listed); NL_UNSUPPORTED for a block that
 * computes something else (see above) and for W with spectral and batch normalisation both;
 * NL_INVALID for nlm, which has no weights; NL_NOMEM.
 */
NL_API nl_status nl_weights_pick(const nl_tensors *tensors, nl_system_id system, size_t channels,
                                 nl_similarity_id similarity, nl_weights *weights, nl_error *error);
NL_API void nl_weights_free(nl_weights *weights);

#ifdef __cplusplus
}
#endif

#endif
