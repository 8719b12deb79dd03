/* SPDX-License-Identifier: MIT */
#include "fused.h"

#include <string.h>

#include "alloc.h"
#include "pool.h"

static const double log2_e = 1.4426950408889634;
/* The kernel's exponents are absolute, not relative to the row's largest: they must be floats, and
 * above the −1e30 from which its running maximum starts. */
static const double largest_exponent = 1e29;

bool nl_fused_applies(const nl_attention *a)
{
    const nl_attention_params *p = &a->params;
    return nl_is_exponential(a) && p->normalizer == NL_NORMALIZE_SUM && p->self == NL_SELF_KEEP &&
           p->search == 0 && p->sigma == 0 && (p->perplexity == 0 || p->perplexity_shared) &&
           a->reach * a->beta * log2_e < largest_exponent;
}

struct fused_loop {
    const nl_kernels *kernels;
    struct nl_attend_block block; /* what all blocks have in common */
    const nl_matrix *queries;
    nl_matrix *y;
    float *scratch; /* scratch_size floats for each worker */
    size_t scratch_size;
    const nl_matrix *values; /* source and target of packing */
    float *packed;
};

/* Panels of NL_LANES channels, key after key, for channels [begin, end) × NL_LANES. */
static void pack_values(void *context, size_t worker, size_t begin, size_t end)
{
    const struct fused_loop *loop = context;
    const nl_matrix *v = loop->values;
    (void)worker;
    for (size_t panel = begin; panel < end; panel++) {
        const size_t c = panel * NL_LANES;
        const size_t count = v->cols - c < NL_LANES ? v->cols - c : NL_LANES;
        float *out = loop->packed + c * v->rows;
        if (count < NL_LANES)
            memset(out, 0, NL_LANES * v->rows * sizeof *out);
        for (size_t j = 0; j < v->rows; j++)
            memcpy(out + j * NL_LANES, nl_row(v, j) + c, count * sizeof *out);
    }
}

static void attend_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct fused_loop *loop = context;
    struct nl_attend_block block = loop->block;
    block.q = nl_row(loop->queries, begin);
    block.n = end - begin;
    block.y = nl_row(loop->y, begin);
    block.scratch = loop->scratch + worker * loop->scratch_size;
    loop->kernels->attend(&block);
}

/* `count` numbers times the factor that makes exponents base 2; NULL stays NULL. */
static float *scaled_copy(const float *source, size_t count, double factor)
{
    float *copy = source ? nl_alloc(count, sizeof *copy) : NULL;
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = (float)((double)source[i] * factor);
    return copy;
}

/* Queries a block: large ones read keys less often, small ones share the work more evenly. */
static size_t block_size(size_t n, size_t workers)
{
    size_t wanted = n / (4 * workers) / NL_ATTEND_QUERIES * NL_ATTEND_QUERIES;
    return wanted < NL_ATTEND_QUERIES ? NL_ATTEND_QUERIES
           : wanted > NL_ATTEND_BLOCK ? NL_ATTEND_BLOCK
                                      : wanted;
}

nl_status nl_fused_apply(const nl_attention *a, const nl_matrix *values, const nl_exec *exec,
                         nl_matrix *y, nl_error *error)
{
    const size_t workers = nl_exec_workers(exec), panels = (values->cols + NL_LANES - 1) / NL_LANES;
    const double factor = a->beta * log2_e;
    struct fused_loop loop = {.kernels = nl_exec_kernels(exec, error),
                              .queries = a->queries,
                              .y = y,
                              .values = values,
                              .scratch_size = nl_attend_scratch(a->d, values->cols)};
    if (!loop.kernels)
        return NL_UNSUPPORTED;
    loop.scratch_size = (loop.scratch_size + NL_LANES - 1) / NL_LANES * NL_LANES;
    loop.packed = nl_alloc_dirty(panels * NL_LANES * a->m, sizeof(float));
    loop.scratch = nl_alloc_dirty(workers * loop.scratch_size, sizeof(float));
    float *shift = scaled_copy(a->key_shift, a->m, factor);
    float *omega = scaled_copy(a->omega, a->d, -factor); /* a->omega holds −ω */
    nl_status status = NL_OK;
    if (!loop.packed || !loop.scratch || (a->key_shift && !shift) || (a->omega && !omega)) {
        status = nl_fail(error, NL_NOMEM, "no memory for %zu packed values of %zu numbers", a->m,
                         values->cols);
        goto done;
    }
    loop.block = (struct nl_attend_block){
        .q_stride = a->queries->stride,
        .d = a->d,
        .keys = a->keys,
        .m = a->m,
        .values = loop.packed,
        .dv = values->cols,
        .distance = a->params.similarity == NL_EUCLIDEAN,
        .scale = (float)factor,
        .shift = shift,
        .omega = omega,
        .y_stride = y->stride,
    };
    nl_exec packing = *exec; /* quick: it reports no progress of its own */
    packing.progress = NULL;
    status = nl_parallel(&packing, panels, 1, pack_values, &loop, error);
    if (status == NL_OK)
        status = nl_parallel(exec, a->n, block_size(a->n, workers), attend_rows, &loop, error);
done:
    nl_free(loop.packed);
    nl_free(loop.scratch);
    nl_free(shift);
    nl_free(omega);
    return status;
}
