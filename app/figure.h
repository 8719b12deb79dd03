/* SPDX-License-Identifier: MIT */
/* The figures that verbs write: heat maps over the picture, and matrices, each with its bar. */
#ifndef NONLOCAL_APP_FIGURE_H
#define NONLOCAL_APP_FIGURE_H

#include "doc.h"
#include "stage.h"

/*
 * One heat map a query, side by side: weights (queries × n), rows the queries' cells. Colour map,
 * overlay scale and opacity come from the document.
 */
nl_status figure_attend(const char *path, const struct doc *doc, const struct source *source,
                        const struct stage_features *features, const nl_matrix *weights,
                        const size_t *rows, nl_error *error);

/* A square matrix in the given order (NULL = file order), viridis, with its numbered bar. */
nl_status figure_matrix(const char *path, const nl_matrix *matrix, const size_t *order,
                        const char *title, nl_error *error);

#endif
