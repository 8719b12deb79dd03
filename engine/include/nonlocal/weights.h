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

enum { NL_TENSOR_MAX_DIMS = 8, NL_TENSOR_MAX_NAME = 256 };

typedef struct nl_tensor {
    char name[NL_TENSOR_MAX_NAME];
    float *data; /* count values in C order, owned by the list */
    size_t count;
    size_t shape[NL_TENSOR_MAX_DIMS];
    size_t ndim;
} nl_tensor;

typedef struct nl_tensors {
    nl_tensor *items;
    size_t count;
} nl_tensors;

/*
 * Reads a whole .npz (a zip of .npy members, stored or deflated) or .safetensors file (F16, BF16,
 * F32, F64, and whole numbers), told apart by its bytes. Each value becomes the nearest float.
 * Non-finite values are an error that names tensor and index. The bytes may go afterwards.
 */
NL_API nl_status nl_tensors_load(const void *bytes, size_t length, nl_tensors *tensors,
                                 nl_error *error);
NL_API void nl_tensors_free(nl_tensors *tensors);
/* The tensor of that name, or NULL. */
NL_API const nl_tensor *nl_tensors_find(const nl_tensors *tensors, const char *name);

/* One linear map as a file stores it, with what spectral normalisation needs. */
typedef struct nl_stored_map {
    nl_linear map;  /* out × in; empty weight = the file has none; a missing bias is empty (0) */
    nl_matrix u, v; /* 1 × out, 1 × in: stored by spectral norm; empty = none */
    bool spectral;  /* map.weight is weight_orig: to be divided by sigma = uᵀ M v */
} nl_stored_map;

/*
 * The weights of one block on C channels. Transformer: theta, phi, g are the query, key and value
 * parts of in_proj, w is out_proj. Members that the system does not use stay empty.
 */
typedef struct nl_weights {
    nl_stored_map theta, phi, g, w;
    nl_matrix concat;                 /* w_f, 1 × 2l; concat similarity only */
    nl_matrix norm_weight, norm_bias; /* 1 × C; transformer LayerNorm, empty = 1 and 0 */
    double gamma;                     /* sagan */
    bool has_gamma;
    char note[400]; /* tensors that were not needed, in words; "" = none */
} nl_weights;

/*
 * Picks a block's weights. `channels` is C of the features. Names, with any common prefix
 * ("module.", "block.3.") in front:
 *   nonlocal     theta phi g W (.weight of (out, in) with any trailing 1s, .bias),
 *                concat_project.weight (also concat_project.0.weight) when `concat` is set
 *   transformer  in_proj_weight (3C, C), in_proj_bias, out_proj.weight, out_proj.bias,
 *                norm.weight, norm.bias (optional)
 *   sagan        theta phi g attn_g (or W), gamma or sigma (a scalar)
 * K.0.* is read as K.* (a Sequential with sub-sampling); W.1.weight, .bias, .running_mean,
 * .running_var is a BatchNorm in eval mode (eps 1e-5) folded into W; K.weight_orig, K.weight_u,
 * K.weight_v is spectral normalisation. A needed weight that is missing or misshaped is an error
 * that names it, what was found and what was expected.
 */
NL_API nl_status nl_weights_pick(const nl_tensors *tensors, nl_system_id system, size_t channels,
                                 bool concat, nl_weights *weights, nl_error *error);
NL_API void nl_weights_free(nl_weights *weights);

#ifdef __cplusplus
}
#endif

#endif
