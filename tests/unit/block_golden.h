/* SPDX-License-Identifier: MIT */
/*
 * Blocks that PyTorch ran in double (tests/golden/make_block_golden.py), and how far the engine's
 * floats may be from them.
 */
#ifndef NL_BLOCK_GOLDEN_H
#define NL_BLOCK_GOLDEN_H

#include "nonlocal/block.h"

enum golden_step { STEP_Q, STEP_K, STEP_V, STEP_S, STEP_A, STEP_H, STEP_Y, STEP_Z, STEP_COUNT };
extern const char *const step_names[STEP_COUNT];

struct golden {
    char name[80];
    nl_block_params params;
    nl_shape shape;
    nl_tensors tensors; /* owns what x and steps view */
    nl_weights weights; /* empty for nlm */
    nl_matrix x;
    nl_matrix steps[STEP_COUNT];
};

/*
 * The golden of line `index` of the manifest, counted from 0; false after the last line. Fails the
 * test when it cannot be read. End it with golden_free.
 */
bool golden_load(size_t index, struct golden *golden);
/* The same without the file's arrays: name and params. */
bool golden_peek(size_t index, struct golden *golden);
void golden_free(struct golden *golden);

/* The matrix of a trace that a step is compared with. */
const nl_matrix *trace_step(const nl_trace *trace, enum golden_step step);

/* Allowed errors, one for each number of the step; see block_bounds.c. */
struct bounds {
    double *of[STEP_COUNT];
};
void bounds_create(const struct golden *golden, struct bounds *bounds);
void bounds_free(struct bounds *bounds);

#endif
