/* SPDX-License-Identifier: MIT */
/* y = A V in one pass, for attention that needs no row of A as a whole. */
#ifndef NL_FUSED_H
#define NL_FUSED_H

#include "attention.h"

/*
 * True where softmax runs over all keys with one known β: no perplexity of each row's own, no rule
 * for the query's own weight, no search window, no noise, and exponents that floats can hold.
 */
bool nl_fused_applies(const nl_attention *attention);

/* nl_attention_apply for these; shapes are checked by the caller. */
nl_status nl_fused_apply(const nl_attention *attention, const nl_matrix *values,
                         const nl_exec *exec, nl_matrix *y, nl_error *error);

#endif
