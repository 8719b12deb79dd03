/* SPDX-License-Identifier: MIT */
/*
 * From a document and its source to the engine's objects, stage by stage: features, embedding and
 * attention, dissimilarity. Verbs and the window's worker run the same stages.
 */
#ifndef NONLOCAL_APP_STAGE_H
#define NONLOCAL_APP_STAGE_H

#include "doc.h"
#include "nonlocal/attention.h"
#include "nonlocal/dissim.h"
#include "nonlocal/embed.h"
#include "nonlocal/features.h"
#include "nonlocal/block.h"
#include "source.h"

struct stage_features {
    nl_picture picture; /* reduced; pictures only */
    nl_matrix x;        /* n × d */
    nl_grid grid;       /* a table is a grid of height 1; the frames of a clip are stacked */
    size_t frames;      /* T; 1 but for clips */
    size_t constant_columns;
};

struct stage_attention {
    nl_matrix theta, phi; /* embedded similarities only */
    nl_matrix pooled;     /* keys after sub-sampling, where x itself is used */
    nl_attention *attention;
    size_t embedded; /* l, or d where x itself is used */
    /* Where the keys are: the picture is borrowed, x is empty, the grid is coarser where keys are
     * pooled. */
    struct stage_features keys;
    bool pooled_keys;
};

/* On failure everything is freed. */
nl_status stage_features_run(const struct doc *doc, const struct source *source,
                             const nl_exec *exec, struct stage_features *features, nl_error *error);
void stage_features_free(struct stage_features *features);

/* features must outlive it. */
nl_status stage_attention_run(const struct doc *doc, const struct stage_features *features,
                              const nl_exec *exec, struct stage_attention *attention,
                              nl_error *error);
/* The same with queries of their own: keys (and embeddings) are made of `source`. */
nl_status stage_attention_between(const struct doc *doc, const nl_matrix *queries,
                                  const struct stage_features *source, bool same_rows,
                                  const nl_exec *exec, struct stage_attention *attention,
                                  nl_error *error);
void stage_attention_free(struct stage_attention *attention);

/*
 * The values v_j: RGB patches of a picture, x itself otherwise; pooled like the keys where the
 * document sub-samples them.
 */
nl_status stage_values_alloc(const struct doc *doc, const struct stage_features *features,
                             const nl_exec *exec, nl_matrix *values, nl_error *error);

/* keys (one a row of x, the caller's) = mean luma of each cell's patch; pictures only. */
nl_status stage_brightness(const struct stage_features *features, const nl_exec *exec, double *keys,
                           nl_error *error);

/* The row (from 0) that a query means; NL_INVALID, naming the extent, when it lies outside. */
nl_status stage_query_row(const struct stage_features *features, enum source_kind kind,
                          const struct doc_query *query, size_t *row, nl_error *error);

/* Centre of a cell in pixels of the upright original picture. */
void stage_cell_pixel(const struct stage_features *features, size_t row, double *x, double *y);

/* Weights of a system on so many channels from a file; the error names the file. */
nl_status stage_weights_load(const char *path, nl_system_id system, size_t channels,
                             nl_similarity_id similarity, nl_weights *weights, nl_error *error);

/* The engine's parameters that the document asks for, with l embedded features. */
void stage_attention_params(const struct doc *doc, size_t l, nl_attention_params *params);
void stage_features_params(const struct doc *doc, nl_features_params *params);

/* Embedded scores are multiplied by 1/√l: as chosen, and always in a transformer. */
bool stage_scales_by_root(const struct doc *doc);

#endif
