/* SPDX-License-Identifier: MIT */
/* xoshiro256** (Blackman and Vigna 2018) seeded by splitmix64, and normal numbers by Box–Muller. */
#ifndef NL_RANDOM_H
#define NL_RANDOM_H

#include "nonlocal/base.h"

struct nl_random {
    uint64_t state[4];
    double spare; /* second number of a Box–Muller pair */
    bool has_spare;
};

void nl_random_seed(struct nl_random *random, uint64_t seed);
uint64_t nl_random_u64(struct nl_random *random);
/* Uniform in [0, 1) with 53 bits. */
double nl_random_uniform(struct nl_random *random);
/* Mean 0, deviation 1. */
double nl_random_normal(struct nl_random *random);

#endif
