/* SPDX-License-Identifier: MIT */
/* What holds for every explained sum. Include after block_rig.h. */
#ifndef EXPLAIN_RIG_H
#define EXPLAIN_RIG_H

#include "alloc.h"
#include "nonlocal/explain.h"

/* The largest of `count` terms in order, and a rest that makes up the total, each within `off`. */
static inline void assert_sum_of(const nl_sum *sum, const double *terms, size_t count, double off)
{
    const size_t listed = count < NL_EXPLAIN_TERMS ? count : NL_EXPLAIN_TERMS;
    double rest = 0, total = 0, least = INFINITY;
    bool *seen = test_calloc(count, sizeof *seen);
    assert_int_equal(sum->count, listed);
    assert_int_equal(sum->rest_count, count - listed);
    for (size_t t = 0; t < listed; t++) {
        const nl_term *term = &sum->terms[t];
        assert_true(term->index < count && !seen[term->index]);
        seen[term->index] = true;
        assert_near(term->value, terms[term->index], off);
        assert_true(fabs(term->value) <= least);
        if (t > 0 && fabs(term->value) == least)
            assert_true(term->index > sum->terms[t - 1].index);
        least = fabs(term->value);
        total += term->value;
    }
    for (size_t k = 0; k < count; k++) {
        if (seen[k])
            continue;
        assert_true(fabs(terms[k]) <= least + off);
        rest += terms[k];
    }
    assert_near(sum->rest, rest, (double)count * off);
    assert_near(sum->total, total + sum->rest, 1e-13 * (fabs(total) + fabs(sum->rest)) + off);
    test_free(seen);
}

#endif
