/* SPDX-License-Identifier: MIT */
#include "fused.h"

#include <math.h>
#include <stdatomic.h>

#include "alloc.h"
#include "pool.h"

static const double log2_e = 1.4426950408889634;
/* The kernel's exponents are absolute, not relative to the row's largest: they must be floats, and
 * above the −1e30 from which its running maximum starts. */
static const double largest_exponent = 1e29;
/* It adds up dot products before it scales them. */
static const double largest_product = 1e37;

bool nl_fused_applies(const nl_attention *a)
{
    const nl_attention_params *p = &a->params;
    if (p->self != NL_SELF_KEEP || p->search > 0)
        return false;
    if (!nl_is_exponential(a))
        return p->normalizer == NL_NORMALIZE_COUNT &&
               a->reach < largest_product * fmin(p->scale, 1);
    return p->normalizer == NL_NORMALIZE_SUM && p->sigma == 0 &&
           (p->perplexity == 0 || p->perplexity_shared) &&
           a->reach * a->beta * log2_e < largest_exponent;
}

struct fused_loop {
    const nl_exec *exec;
    const nl_kernels *kernels;
    struct nl_attend_block block; /* what all blocks have in common */
    nl_matrix queries;
    nl_matrix *y;
    size_t blocks;
    float *scratch; /* scratch_size floats for each worker */
    size_t scratch_size;
    atomic_bool stopped; /* in the middle of a block */
};

static bool cancelled(void *context)
{
    const struct fused_loop *loop = context;
    return atomic_load(&loop->stopped) || loop->exec->cancelled(loop->exec->user);
}

/* The first query of a block: whole steps, shared evenly. */
static size_t block_begin(const struct fused_loop *loop, size_t block)
{
    const size_t n = loop->queries.rows;
    const size_t steps = (n + NL_ATTEND_QUERIES - 1) / NL_ATTEND_QUERIES;
    const size_t begin = block * steps / loop->blocks * NL_ATTEND_QUERIES;
    return begin < n ? begin : n;
}

static void attend_block(void *context, size_t worker, size_t begin, size_t end)
{
    struct fused_loop *loop = context;
    struct nl_attend_block block = loop->block;
    block.scratch = loop->scratch + worker * loop->scratch_size;
    for (size_t i = begin; i < end && !atomic_load(&loop->stopped); i++) {
        const size_t first = block_begin(loop, i);
        block.q = nl_row(&loop->queries, first);
        block.n = block_begin(loop, i + 1) - first;
        block.y = nl_row(loop->y, first);
        if (!loop->kernels->attend(&block))
            atomic_store(&loop->stopped, true);
    }
}

/* `count` numbers times the factor that makes exponents base 2; NULL stays NULL. */
static float *scaled_copy(const float *source, size_t count, double factor)
{
    float *copy = source ? nl_alloc(count, sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = (float)((double)source[i] * factor);
    return copy;
}

/*
 * Blocks of queries: large ones read the keys less often, but a block's queries and answers should
 * stay in the second cache; a multiple of the workers, so that they end together.
 */
static size_t count_blocks(size_t n, size_t width, size_t workers)
{
    enum { CACHED = 128 * 1024 }; /* floats */
    const size_t steps = (n + NL_ATTEND_QUERIES - 1) / NL_ATTEND_QUERIES;
    size_t most = CACHED / (width * NL_ATTEND_QUERIES);
    most = most < 1 ? 1 : most > NL_ATTEND_STEPS ? NL_ATTEND_STEPS : most;
    size_t blocks = (steps + most - 1) / most;
    if (workers > 1 && blocks < 4 * workers)
        blocks = 4 * workers;
    blocks = (blocks + workers - 1) / workers * workers;
    return blocks < steps ? blocks : steps;
}

/* What all blocks have in common. */
static struct nl_attend_block common_block(const nl_attention *a, const nl_matrix *values)
{
    const double exponent = a->beta * log2_e;
    struct nl_attend_block block = {
        .kind = NL_ATTEND_SOFTMAX,
        .q_stride = a->queries->stride,
        .d = a->d,
        .keys = a->keys,
        .m = a->m,
        .values = values->data,
        .v_stride = values->stride,
        .dv = values->cols,
        .scale = (float)exponent,
    };
    if (a->params.similarity == NL_EUCLIDEAN) {
        block.kind = NL_ATTEND_DISTANCE;
    } else if (a->params.similarity == NL_DOT) {
        block.kind = NL_ATTEND_PRODUCT;
        block.scale = (float)(a->params.scale / (double)a->m);
    } else if (a->params.similarity == NL_CONCAT) {
        block.kind = NL_ATTEND_RELU;
        block.q_stride = 1;
        block.d = 1;
        block.keys = a->key_part;
        block.scale = (float)(1 / (double)a->m);
    }
    return block;
}

nl_status nl_fused_apply(const nl_attention *a, const nl_matrix *values, const nl_exec *exec,
                         nl_matrix *y, nl_error *error)
{
    const size_t workers = nl_exec_workers(exec);
    const double factor = a->beta * log2_e;
    struct fused_loop loop = {.exec = exec,
                              .kernels = nl_exec_kernels(exec, error),
                              .block = common_block(a, values),
                              .queries = *a->queries,
                              .y = y};
    if (!loop.kernels)
        return NL_UNSUPPORTED;
    if (loop.block.kind == NL_ATTEND_RELU)
        loop.queries = nl_matrix_view(a->query_part, a->n, 1, 1);
    loop.blocks = count_blocks(a->n, loop.block.d + values->cols, workers);
    loop.scratch_size = nl_attend_scratch(loop.block.d, values->cols);
    loop.scratch_size = (loop.scratch_size + NL_LANES - 1) / NL_LANES * NL_LANES;
    loop.scratch = nl_alloc_dirty(workers * loop.scratch_size, sizeof(float));
    float *shift = scaled_copy(a->key_shift, a->m, factor);
    float *omega = scaled_copy(a->omega, a->d, -factor); /* a->omega holds −ω */
    nl_status status = NL_OK;
    if (!loop.scratch || (a->key_shift && !shift) || (a->omega && !omega)) {
        status = nl_fail(error, NL_NOMEM, "no memory for the attention of %zu threads (%.1f MiB)",
                         workers, (double)(workers * loop.scratch_size) * 4 / 1048576);
        goto done;
    }
    loop.block.shift = shift;
    loop.block.omega = omega;
    loop.block.y_stride = y->stride;
    loop.block.stop = exec->cancelled ? cancelled : NULL;
    loop.block.context = &loop;
    status = nl_parallel(exec, loop.blocks, 1, attend_block, &loop, error);
    if (status == NL_OK && atomic_load(&loop.stopped))
        status = nl_fail(error, NL_CANCELLED, "cancelled");
done:
    nl_free(loop.scratch);
    nl_free(shift);
    nl_free(omega);
    return status;
}
