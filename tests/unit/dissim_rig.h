/* SPDX-License-Identifier: MIT */
/* Random rows and their dissimilarities, for tests. Include after cmocka.h. */
#ifndef DISSIM_RIG_H
#define DISSIM_RIG_H

#include <stdint.h>

#include "nonlocal/dissim.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const nl_exec plain_exec;

/* splitmix64, in [-1, 1), as tests/golden/make_order_golden.py draws them */
static inline float next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (float)(int32_t)(z >> 40) * 0x1p-23f - 1;
}

static inline nl_matrix random_rows(size_t n, size_t d, uint64_t seed)
{
    nl_matrix x;
    assert_int_equal(nl_matrix_alloc(&x, n, d, NULL), NL_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            nl_row(&x, i)[k] = next_random(&seed);
    return x;
}

/* Whole numbers from 0 to `top`: many ties. */
static inline nl_matrix whole_rows(size_t n, size_t d, int top, uint64_t seed)
{
    nl_matrix x = random_rows(n, d, seed);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            nl_row(&x, i)[k] = (float)(int)((nl_row(&x, i)[k] + 1) / 2 * (float)(top + 1));
    return x;
}

static inline nl_matrix dissim_of(nl_metric_id metric, const nl_matrix *x, const nl_exec *exec)
{
    nl_error error = {.message = ""};
    nl_matrix d;
    assert_int_equal(nl_matrix_alloc(&d, x->rows, x->rows, NULL), NL_OK);
    for (size_t i = 0; i < x->rows; i++) /* what is not written shows */
        for (size_t j = 0; j < x->rows; j++)
            nl_row(&d, i)[j] = -7;
    if (nl_dissim(metric, x, exec, &d, &error) != NL_OK)
        fail_msg("%s", error.message);
    return d;
}

static inline void check_matrices_agree(const nl_matrix *a, const nl_matrix *b)
{
    for (size_t i = 0; i < a->rows; i++)
        assert_memory_equal(nl_row(a, i), nl_row(b, i), a->cols * sizeof(float));
}

/* Calls fn with every tier that can run here on 1, 3 and 8 threads. */
static inline void on_every_tier(void (*fn)(const nl_exec *exec, void *context), void *context)
{
    static const size_t threads[] = {1, 3, 8};
    for (int cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        if (!nl_cpu_available((nl_cpu)cpu))
            continue;
        for (size_t t = 0; t < COUNT(threads); t++) {
            nl_exec exec = {.kernels = nl_kernels_get((nl_cpu)cpu, NULL)};
            assert_int_equal(nl_kernels_cpu(exec.kernels), cpu);
            assert_int_equal(nl_pool_create(threads[t], &exec.pool, NULL), NL_OK);
            fn(&exec, context);
            nl_pool_free(&exec.pool);
        }
    }
}

#endif
