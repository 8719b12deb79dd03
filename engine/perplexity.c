/* SPDX-License-Identifier: MIT */
/* Finding the width that gives a row a wanted number of effective keys. */
#include <math.h>

#include "attention.h"

/* What the search needs to know about the scores. */
struct spread {
    size_t left; /* keys not left out */
    double span; /* largest − smallest */
};

static struct spread spread_of(const float *r, size_t m, float top)
{
    struct spread spread = {0};
    float lowest = top;
    for (size_t j = 0; j < m; j++) {
        if (r[j] == -INFINITY)
            continue;
        spread.left++;
        lowest = r[j] < lowest ? r[j] : lowest;
    }
    spread.span = (double)top - (double)lowest;
    return spread;
}

/*
 * Entropy falls as β grows, so a bracket always exists; Newton steps in ln β, where
 * dH/d ln β = −Var(t) with t = β (r − top), are taken where they stay inside it, halving otherwise.
 */
double nl_find_beta(const nl_kernels *kernels, const float *r, size_t m, float top, double target,
                    unsigned *notes)
{
    enum { MAX_STEPS = 100 };
    const double tolerance = 1e-6;
    const struct spread spread = spread_of(r, m, top);
    if (!(spread.span > 0)) {
        *notes |= NL_NOTE_UNIFORM;
        return 1e-30;
    }
    if (target >= log((double)spread.left)) {
        *notes |= NL_NOTE_PERPLEXITY_MISS;
        return 1e-6 / spread.span;
    }
    /* Keys nearly as good as the best may need a β far above 1/span to be told apart. */
    double low = log(1e-4 / spread.span), high = fmax(log(1e9 / spread.span), log(1e30));
    double u = log(5 / spread.span), off = INFINITY;
    for (int step = 0; step < MAX_STEPS && high - low > 1e-9; step++) {
        struct nl_moments sum = kernels->moments(r, m, (float)exp(u), top);
        double mean = sum.pt / sum.p, entropy = log(sum.p) - mean;
        double variance = sum.ptt / sum.p - mean * mean;
        off = fabs(entropy - target);
        if (off <= tolerance)
            break;
        if (entropy > target)
            low = u;
        else
            high = u;
        double newton = variance > 0 ? u + (entropy - target) / variance : low;
        u = newton > low && newton < high ? newton : (low + high) / 2;
    }
    *notes |= off <= 1e-4 ? NL_NOTE_PERPLEXITY_MET : NL_NOTE_PERPLEXITY_MISS;
    return exp(u);
}

double nl_width_of(const nl_attention_params *params, double beta)
{
    switch (params->similarity) {
    case NL_EUCLIDEAN:
        return sqrt(1 / (beta * params->temperature));
    case NL_EMBEDDED_GAUSSIAN:
        return params->scale / beta;
    case NL_DOT:
    case NL_CONCAT:
        return 0;
    default:
        return 1 / beta;
    }
}
