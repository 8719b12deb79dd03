/* SPDX-License-Identifier: MIT */
/* The matrix on the screen, for tests. Include after cmocka.h and math.h. */
#ifndef NONLOCAL_TESTS_APP_MATRIX_RIG_H
#define NONLOCAL_TESTS_APP_MATRIX_RIG_H

#include "app_rig.h"

static inline const struct draw_cmd *matrix_of(const struct rig *rig)
{
    const struct draw_cmd *matrix = rig_find(rig, DRAW_MATRIX);
    assert_non_null(matrix);
    return matrix;
}

/* The middle of cell (row, column), positions in the order shown. */
static inline void cell_point(const struct rig *rig, double row, double column, float *x, float *y)
{
    const struct draw_cmd *cmd = matrix_of(rig);
    const struct draw_matrix *m = &cmd->u.matrix;
    *x = cmd->rect.x +
         (float)((column + 0.5 - (double)m->x0) / (double)(m->x1 - m->x0)) * cmd->rect.w;
    *y = cmd->rect.y + (float)((row + 0.5 - (double)m->y0) / (double)(m->y1 - m->y0)) * cmd->rect.h;
}

static inline void hover(struct rig *rig, float x, float y)
{
    rig_move(rig, x, y);
    for (int i = 0; i < 3; i++)
        rig_frame(rig);
}

#endif
