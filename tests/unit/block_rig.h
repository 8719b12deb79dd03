/* SPDX-License-Identifier: MIT */
/* Small helpers for tests of blocks. Include cmocka.h before. */
#ifndef NL_BLOCK_RIG_H
#define NL_BLOCK_RIG_H

#include <math.h>
#include <string.h>

#include "attention_ref.h"
#include "nonlocal/block.h"

static const nl_exec alone = {0};

static inline nl_block_params block_of(nl_system_id system, nl_similarity_id similarity)
{
    nl_block_params params;
    nl_block_params_init(&params, system);
    params.attention.similarity = similarity;
    params.attention.normalizer = nl_similarities[similarity].normalizer;
    if (nl_similarities[similarity].temperature > 0)
        params.attention.temperature = nl_similarities[similarity].temperature;
    params.attention.h = 0.8;
    return params;
}

/* Random weights; end them with nl_weights_free. */
static inline nl_weights weights_of(nl_system_id system, const nl_matrix *x, size_t dim,
                                    uint64_t seed)
{
    const nl_embedding_params params = {.kind = NL_EMBED_RANDOM, .dim = dim, .seed = seed};
    nl_weights weights;
    assert_int_equal(nl_weights_make(&params, system, x, &alone, &weights, NULL), NL_OK);
    return weights;
}

static inline nl_shape table_shape(const nl_matrix *x)
{
    return (nl_shape){1, 1, x->rows, x->cols};
}

/* A block that must succeed; end the trace with nl_trace_free. */
static inline nl_trace run_block(const nl_block_params *params, const nl_weights *weights,
                                 const nl_matrix *x, nl_shape shape)
{
    nl_trace trace;
    nl_matrix z;
    nl_error error = {0};
    if (nl_block_run_alloc(params, weights, x, shape, &alone, &trace, &z, &error) != NL_OK)
        fail_msg("%s", error.message);
    nl_matrix_free(&z);
    return trace;
}

static inline void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.9g, expected %.9g ± %.2g", got, expected, tolerance);
}

static inline void assert_equal_bits(const nl_matrix *a, const nl_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    for (size_t i = 0; i < a->rows; i++)
        assert_memory_equal(nl_row(a, i), nl_row(b, i), a->cols * sizeof(float));
}

static inline void assert_size(const nl_matrix *m, size_t rows, size_t cols)
{
    assert_int_equal(m->rows, rows);
    assert_int_equal(m->cols, cols);
}

static inline double largest_difference(const nl_matrix *a, const nl_matrix *b)
{
    double most = 0;
    assert_size(a, b->rows, b->cols);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < a->cols; k++)
            most = fmax(most, fabs((double)nl_row(a, i)[k] - (double)nl_row(b, i)[k]));
    return most;
}

static inline double largest_entry(const nl_matrix *a)
{
    double most = 0;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t k = 0; k < a->cols; k++)
            most = fmax(most, fabs((double)nl_row(a, i)[k]));
    return most;
}

static inline double row_sum(const nl_matrix *m, size_t i)
{
    double sum = 0;
    for (size_t k = 0; k < m->cols; k++)
        sum += (double)nl_row(m, i)[k];
    return sum;
}

#endif
