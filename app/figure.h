/* SPDX-License-Identifier: MIT */
/* The figures that verbs write: heat maps over the picture, and matrices, each with its bar. */
#ifndef NONLOCAL_APP_FIGURE_H
#define NONLOCAL_APP_FIGURE_H

#include "doc.h"
#include "stage.h"

/* A picture with the cells that it was cut into. */
struct figure_side {
    const struct source *source;
    const struct stage_features *features;
};

/*
 * One heat map a query, side by side: weights (queries × keys) over the picture that is read, rows
 * the queries' cells in the one that asks (where it is another picture it stands in front, with
 * the queries marked). Colour map, overlay scale and opacity come from the document.
 */
nl_status figure_attend(const char *path, const struct doc *doc, const struct figure_side *asked,
                        const struct figure_side *read, const nl_matrix *weights,
                        const size_t *rows, nl_error *error);

/* A square matrix in the given order (NULL = file order), viridis, with its numbered bar. */
nl_status figure_matrix(const char *path, const nl_matrix *matrix, const size_t *order,
                        const char *title, nl_error *error);

#endif
