/* SPDX-License-Identifier: MIT */
/* Written by tests/golden/make_golden.py. */
/* clang-format off */
#ifndef NL_GOLDEN_ATTENTION_H
#define NL_GOLDEN_ATTENTION_H

#include <stdint.h>

/* Gaussian on raw Iris. */
enum {
    GOLDEN_ABOVE_88 = 1341,
    GOLDEN_ROWS_ABOVE_88 = 72,
    GOLDEN_RANK_OF_1 = 116,
    GOLDEN_TOP_OF_1 = 132,
    GOLDEN_OWN_MAXIMUM = 118,
    GOLDEN_OWN_MAXIMA = 1,
};
static const double golden_largest_logit = 123.45999435424812;
static const double golden_masses_of_1[3] = {8.956445127257117e-08, 0.00014396666114238046, 0.9998559437744065};
static const double golden_own_weight_of_1 = 8.4770050356823e-11;
static const double golden_top_weight_of_1 = 0.6058770362443953;

/* The same query with exp(−|x − y|²): h = 0.5 of the mean over 4 features; and h = 1. */
static const double golden_masses_h05[3] = {0.9992927713595233, 0.0007071409873957268, 8.76530808989103e-08};
static const double golden_masses_h1[3] = {0.9125273585848986, 0.08123643408952669, 0.006236207325574712};

static const double golden_smallest_cosine = 0.8062400478458487;

#endif
