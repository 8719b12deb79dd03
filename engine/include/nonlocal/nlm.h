/* SPDX-License-Identifier: MIT */
/*
 * Non-local means (Buades, Coll, Morel 2005), with the mean over a flat patch and the −2σ² of their
 * article in IPOL (2011): every pixel becomes the mean of the pixels around it, weighted by how
 * alike their patches are.
 *
 *     y_i = Σ_j w_ij v_j / Σ_j w_ij,   w_ij = exp(−max(δ_ij − 2σ², 0) / h²)
 *     δ_ij = mean over the channels of Σ_k ω_k (patch_i,k − patch_j,k)²,   Σ ω = 1
 *
 * j runs over the pixels of the picture in a square around i; only patches reach over the border,
 * where the picture is mirrored without repeating the edge pixel. This is nl_attention's euclidean
 * similarity on the patches of every pixel, computed for all of them at once.
 */
#ifndef NONLOCAL_NLM_H
#define NONLOCAL_NLM_H

#include "nonlocal/attention.h"
#include "nonlocal/exec.h"
#include "nonlocal/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nl_nlm_params {
    size_t patch;    /* side of a patch in pixels, odd, 1..127 */
    size_t search;   /* side of the square of candidates in pixels, odd; 0 = the whole picture */
    double h;        /* filter width in units of the values, 1e-6..1e6 */
    double sigma;    /* standard deviation of the noise in the same units, 0..1e3 */
    nl_self self;    /* what w_ii counts; with no other candidate, NL_SELF_MAX keeps it */
    double gaussian; /* 0: ω is flat; otherwise the deviation of a Gaussian ω in pixels */
} nl_nlm_params;

/* patch 7, search 21, h = 0.1, σ = 0, NL_SELF_MAX, flat. */
NL_API void nl_nlm_params_init(nl_nlm_params *params);

/*
 * Denoises a picture into *out, of the same size, to be ended by nl_picture_free; empty on failure.
 * A picture whose channels are all equal is computed once, as grey. *empty (may be NULL) is the
 * number of pixels without any weight (search 1 and NL_SELF_EXCLUDE): they become 0.
 *
 * Accuracy of the weights, relative to the pixel's largest: 1e-5 + 4·2⁻²⁴·E, where E = δ/h² of the
 * candidates that count, and 1000 at most: beyond, distances are found in double. The
 * result does not depend on the thread count.
 *
 * Time: width · height · search² pairs, each cheaper than its patch; beyond the picture and its
 * result about 4 bytes a pixel and channel, and scratch for each thread. NL_INVALID for parameters
 * out of range, for values that are not finite or beyond ±1e6; NL_NOMEM, NL_CANCELLED.
 */
NL_API nl_status nl_nlm_alloc(const nl_picture *picture, const nl_nlm_params *params,
                              const nl_exec *exec, nl_picture *out, size_t *empty, nl_error *error);

/*
 * Peak signal-to-noise ratio of `picture` against `clean` in dB, for a peak of 1, over all
 * channels: −10 log₁₀ of the mean squared difference; infinity for identical pictures. NL_INVALID
 * when the sizes differ.
 */
NL_API nl_status nl_psnr(const nl_picture *picture, const nl_picture *clean, double *decibels,
                         nl_error *error);

#ifdef __cplusplus
}
#endif

#endif
