/* SPDX-License-Identifier: MIT */
#include "random.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void nl_random_seed(struct nl_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix64(&seed);
    random->has_spare = false;
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t nl_random_u64(struct nl_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double nl_random_uniform(struct nl_random *random)
{
    return (double)(nl_random_u64(random) >> 11) * 0x1p-53;
}

double nl_random_normal(struct nl_random *random)
{
    if (random->has_spare) {
        random->has_spare = false;
        return random->spare;
    }
    double radius = sqrt(-2 * log(1 - nl_random_uniform(random))); /* 1 − u is never 0 */
    double angle = 2 * 3.14159265358979323846 * nl_random_uniform(random);
    random->spare = radius * sin(angle);
    random->has_spare = true;
    return radius * cos(angle);
}
