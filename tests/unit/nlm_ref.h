/* SPDX-License-Identifier: MIT */
/* Non-local means once more, plainly and in double, from its formula; and pictures to try it on. */
#ifndef NL_NLM_REF_H
#define NL_NLM_REF_H

#include "nonlocal/nlm.h"

/* A picture of random values in [0, 1]; the channels are equal unless it has `color`. */
nl_picture random_picture(size_t width, size_t height, bool color, uint64_t seed);
/* Every channel of every pixel the same. */
nl_picture flat_picture(size_t width, size_t height, float value);

/* δ between all pairs of pixels, n × n, to be freed. */
double *ref_patch_distances(const nl_picture *picture, const nl_nlm_params *params);

/* The answer from these distances, 3 numbers a pixel; returns the pixels without any weight. */
size_t ref_nlm(const nl_picture *picture, const nl_nlm_params *params, const double *distances,
               double *answer);

/* nl_nlm_alloc, which must succeed. */
nl_picture denoise(const nl_picture *picture, const nl_nlm_params *params, const nl_exec *exec);

/* The largest difference of a picture from the reference's answer. */
double worst_difference(const nl_picture *picture, const double *answer);

#endif
