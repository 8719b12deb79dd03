/* SPDX-License-Identifier: MIT */
/* From a picture to features: a grid of cells, each described by the patch around it. */
#ifndef NONLOCAL_FEATURES_H
#define NONLOCAL_FEATURES_H

#include "nonlocal/exec.h"
#include "nonlocal/picture.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nl_feature_id {
    NL_FEATURE_RGB,          /* the patch itself, (dy, dx, channel) */
    NL_FEATURE_LUMA,         /* Rec. 601: 0.299 R + 0.587 G + 0.114 B */
    NL_FEATURE_LAB,          /* CIE L*a*b*, D65, divided by 100 */
    NL_FEATURE_GRADIENT,     /* 2×2 cells × 8 orientations of the luma's edges: 32 values */
    NL_FEATURE_LAB_GRADIENT, /* Lab/100 averaged over 2×2 cells /√12, then 0.15 × gradient: 44 */
    NL_FEATURE_POSITION,     /* (x, y) of the cell's centre divided by the longer side */
    NL_FEATURE_COUNT,
} nl_feature_id;

typedef struct nl_feature {
    const char *name;  /* as on the command line */
    const char *label; /* as on the screen, English */
} nl_feature;

/* Indexed by nl_feature_id; ends with a row whose name is NULL. */
extern NL_API const nl_feature nl_features[NL_FEATURE_COUNT + 1];

/* What is done to the numbers afterwards. */
typedef enum nl_norm_id {
    NL_NORM_NONE,
    NL_NORM_ZERO_MEAN, /* each row minus its mean */
    NL_NORM_UNIT,      /* each row divided by its length; a zero row stays zero */
    NL_NORM_ZSCORE,    /* each column to mean 0, population deviation 1; a constant one becomes 0 */
    NL_NORM_COUNT,
} nl_norm_id;

extern NL_API const nl_feature nl_norms[NL_NORM_COUNT + 1];

typedef struct nl_features_params {
    nl_feature_id kind;
    size_t patch;  /* side in pixels, 1..64 */
    size_t stride; /* pixels from cell to cell, 1..64 */
    nl_norm_id norm;
    double position; /* factor of the appended (x, y), 0 = not appended; after the norm */
} nl_features_params;

/* lab+gradient, patch 12, stride 4, no norm, position off. */
NL_API void nl_features_params_init(nl_features_params *params);

/* gw × gh cells; cell (gx, gy) is row gy·gw + gx. */
typedef struct nl_grid {
    size_t gw, gh;
    size_t patch, stride;
    size_t width, height; /* of the picture, in pixels */
} nl_grid;

/* ceil(width/stride) × ceil(height/stride). */
NL_API nl_grid nl_grid_of(const nl_picture *picture, const nl_features_params *params);

/*
 * First pixel of a cell's patch along one axis: g·stride + floor((stride − patch)/2); may be
 * negative, borders are mirrored.
 */
NL_API ptrdiff_t nl_grid_patch_start(const nl_grid *grid, size_t g);

/* i in 0..n-1 for any i: mirrored without repeating the edge, period 2(n−1); n = 1 gives 0. */
NL_API size_t nl_mirror(ptrdiff_t i, size_t n);

/* Features a row has with these parameters. */
NL_API size_t nl_features_dim(const nl_features_params *params);

/*
 * X (n × d) of the picture. NL_INVALID for parameters out of range. *constant_columns (may be
 * NULL) is the number of columns that z-score set to 0. Independent of the thread count.
 */
NL_API nl_status nl_features_alloc(const nl_picture *picture, const nl_features_params *params,
                                   const nl_exec *exec, nl_matrix *x, size_t *constant_columns,
                                   nl_error *error);

/* Applies a norm to a matrix in place; returns the number of constant columns (z-score). */
NL_API size_t nl_normalize(nl_matrix *x, nl_norm_id norm);

/* The RGB patches as rows, whatever describes them: the values v_j of Picture scenes. */
NL_API nl_status nl_patches_alloc(const nl_picture *picture, const nl_grid *grid,
                                  const nl_exec *exec, nl_matrix *patches, nl_error *error);

/*
 * The picture made of one RGB patch a cell: every pixel is the mean of the patch pixels that lie
 * on it (those mirrored over a border are left out). Pixels under no patch (stride > patch) keep
 * the colour of `picture`; *uncovered (may be NULL) counts them. out has the picture's size.
 */
NL_API nl_status nl_patches_assemble(const nl_picture *picture, const nl_grid *grid,
                                     const nl_matrix *patches, nl_picture *out, size_t *uncovered,
                                     nl_error *error);

#ifdef __cplusplus
}
#endif

#endif
