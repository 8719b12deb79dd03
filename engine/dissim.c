/* SPDX-License-Identifier: MIT */
#include "nonlocal/dissim.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "median.h"
#include "pairs.h"
#include "pool.h"

const nl_metric nl_metrics[NL_METRIC_COUNT + 1] = {
    [NL_METRIC_EUCLIDEAN] = {"euclidean", "Euclidean", "√ Σ_k (x_ik − x_jk)²",
                             NL_KIND_DISSIMILARITY},
    [NL_METRIC_SQEUCLIDEAN] = {"sqeuclidean", "Squared Euclidean", "Σ_k (x_ik − x_jk)²",
                               NL_KIND_DISSIMILARITY},
    [NL_METRIC_MANHATTAN] = {"manhattan", "Manhattan", "Σ_k |x_ik − x_jk|", NL_KIND_DISSIMILARITY},
    [NL_METRIC_CHEBYSHEV] = {"chebyshev", "Chebyshev", "max_k |x_ik − x_jk|",
                             NL_KIND_DISSIMILARITY},
    [NL_METRIC_COSINE] = {"cosine", "1 − cosine", "1 − cos(x_i, x_j)", NL_KIND_DISSIMILARITY},
    [NL_METRIC_CORRELATION] = {"correlation", "1 − correlation", "1 − cos(x_i − mean, x_j − mean)",
                               NL_KIND_DISSIMILARITY},
    [NL_METRIC_GAUSSIAN] = {"gaussian-kernel", "Gaussian kernel", "1 − exp(−d²/2b²)",
                            NL_KIND_DISSIMILARITY},
};

void nl_dissim_params_init(nl_dissim_params *params)
{
    *params = (nl_dissim_params){.metric = NL_METRIC_EUCLIDEAN};
}

/*
 * D is computed in square tiles, those on the diagonal and right of it, each written a second time
 * turned over to the left of the diagonal. A tile and the rows it needs stay in the caches; rows
 * that are so long that they would not get smaller tiles, and so more chances to cancel.
 */
struct dissim_loop {
    const struct nl_pairs *pairs;
    nl_matrix *d;
    size_t side;   /* of a tile: whole panels */
    bool scaled;   /* D holds scaled squares, all that is left is their Gaussian */
    bool streamed; /* D is written past the caches */
};

/* The dissimilarities of rows i.. and rows j.., as far as there are any. */
static void one_tile(const struct dissim_loop *loop, size_t i, size_t j)
{
    float tile[NL_PLACE_SIDE * NL_PLACE_SIDE];
    const struct nl_pairs *pairs = loop->pairs;
    const size_t n = loop->d->rows;
    const size_t rows = n - i < loop->side ? n - i : loop->side;
    const size_t cols = n - j < loop->side ? n - j : loop->side;
    if (loop->scaled) {
        for (size_t r = 0; r < rows; r++) {
            float *tile_r = tile + r * NL_PLACE_SIDE;
            memcpy(tile_r, nl_row(loop->d, i + r) + j, cols * sizeof *tile_r);
            nl_pairs_finish_gaussian(pairs, i + r, j, cols, tile_r);
        }
    } else {
        nl_pairs_tile(pairs, i, rows, j, cols, tile, NL_PLACE_SIDE);
    }
    pairs->kernels->place(tile, rows, cols, nl_row(loop->d, i) + j,
                          i == j ? NULL : nl_row(loop->d, j) + i, loop->d->stride, loop->streamed);
}

/* Tiles [begin, end), counted row by row. */
static void tiles(void *context, size_t worker, size_t begin, size_t end)
{
    const struct dissim_loop *loop = context;
    const size_t n = loop->d->rows;
    size_t i = 0, left = (n + loop->side - 1) / loop->side; /* tiles in the row of tiles at i */
    size_t skip = begin;
    (void)worker;
    for (; skip >= left; i += loop->side)
        skip -= left--;
    size_t j = i + skip * loop->side;
    for (size_t t = begin; t < end; t++) {
        one_tile(loop, i, j);
        j += loop->side;
        if (j >= n)
            j = i += loop->side;
    }
}

static nl_status all_tiles(const struct nl_pairs *pairs, const nl_exec *exec, bool scaled,
                           nl_matrix *d, nl_error *error)
{
    /* What is smaller stays in a cache until somebody looks at it. */
    const size_t large = 8 << 20;
    const bool aligned = (uintptr_t)d->data % NL_ALIGNMENT == 0 && d->stride % NL_LANES == 0;
    const size_t longest = nl_kernels_cpu(pairs->kernels) == NL_CPU_SCALAR ? 512 : 16384;
    struct dissim_loop loop = {pairs, d, NL_PLACE_SIDE, scaled, false};
    if (pairs->d > longest)
        loop.side = NL_LANES;
    const size_t across = (d->rows + loop.side - 1) / loop.side;
    const size_t grain = pairs->d < 16 ? 16 : 256 / pairs->d; /* tiles between two polls */
    loop.streamed = aligned && d->rows * d->stride >= large / sizeof(float);
    return nl_parallel(exec, across * (across + 1) / 2, grain, tiles, &loop, error);
}

static nl_status check_range(const nl_matrix *d, nl_error *error)
{
    for (size_t i = 0; i < d->rows; i++)
        for (size_t j = i; j < d->cols; j++)
            if (!isfinite(nl_row(d, i)[j]))
                return nl_fail(error, NL_LIMIT,
                               "rows %zu and %zu are further apart than a float can say; scale "
                               "the features down",
                               i + 1, j + 1);
    return NL_OK;
}

nl_status nl_dissim_run(const nl_dissim_params *params, const nl_matrix *x, const nl_exec *exec,
                        nl_matrix *d, double *bandwidth, nl_error *error)
{
    const size_t n = x->rows;
    struct nl_pairs pairs = {0};
    float largest = 0;
    double used = params->metric == NL_METRIC_GAUSSIAN ? params->bandwidth : 0;
    nl_status status = nl_pairs_check(params, x, exec, &largest, error);
    if (status == NL_OK && (d->rows != n || d->cols != n))
        status =
            nl_fail(error, NL_INVALID, "the matrix for %zu rows is %zu × %zu", n, d->rows, d->cols);
    if (status == NL_OK)
        status = nl_pairs_make(params, x, largest, NULL, exec, &pairs, error);
    if (status == NL_OK)
        status = all_tiles(&pairs, exec, false, d, error);
    if (status == NL_OK && params->metric == NL_METRIC_GAUSSIAN && used == 0) {
        status = nl_median_distance(d, pairs.exponent, &used, error);
        pairs.bandwidth = used;
        if (status == NL_OK)
            status = all_tiles(&pairs, exec, true, d, error);
    }
    if (status == NL_OK && pairs.exponent != 0)
        status = check_range(d, error);
    nl_pairs_free(&pairs);
    if (bandwidth)
        *bandwidth = used;
    return status;
}

nl_status nl_dissim(nl_metric_id metric, const nl_matrix *x, const nl_exec *exec, nl_matrix *d,
                    nl_error *error)
{
    return nl_dissim_run(&(nl_dissim_params){.metric = metric}, x, exec, d, NULL, error);
}

static bool constant_row(const nl_matrix *x, size_t i)
{
    for (size_t k = 1; k < x->cols; k++)
        if (nl_row(x, i)[k] != nl_row(x, i)[0])
            return false;
    return true;
}

/* out = min(1 − r, 1 + r) of the rows of x, the second from chords to the negated rows. */
static nl_status unsigned_correlations(const nl_matrix *x, const nl_exec *exec, nl_matrix *out,
                                       nl_error *error)
{
    const nl_dissim_params params = {.metric = NL_METRIC_CORRELATION};
    const size_t n = x->rows;
    struct nl_pairs pairs = {0};
    nl_matrix opposite = {0};
    nl_status status = nl_pairs_make(&params, x, 0, NULL, exec, &pairs, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&opposite, n, n, error);
    if (status == NL_OK)
        status = all_tiles(&pairs, exec, false, out, error);
    for (size_t i = 0; status == NL_OK && i < n; i++)
        for (size_t k = 0; k < pairs.rows.cols; k++)
            nl_row(&pairs.rows, i)[k] *= -1;
    if (status == NL_OK)
        status = all_tiles(&pairs, exec, false, &opposite, error);
    for (size_t i = 0; status == NL_OK && i < n; i++)
        for (size_t j = 0; j < n; j++)
            nl_row(out, i)[j] = fminf(nl_row(out, i)[j], nl_row(&opposite, i)[j]);
    nl_matrix_free(&opposite);
    nl_pairs_free(&pairs);
    return status;
}

nl_status nl_dissim_columns(const nl_matrix *x, const nl_exec *exec, nl_matrix *d, size_t *constant,
                            nl_error *error)
{
    const nl_dissim_params params = {.metric = NL_METRIC_CORRELATION};
    nl_matrix columns = {0};
    float largest = 0; /* correlations do without */
    size_t without = 0;
    nl_status status = nl_pairs_check(&params, x, exec, &largest, error);
    if (status == NL_OK && (d->rows != x->cols || d->cols != x->cols))
        status = nl_fail(error, NL_INVALID, "the matrix for %zu columns is %zu × %zu", x->cols,
                         d->rows, d->cols);
    if (status == NL_OK)
        status = nl_matrix_alloc(&columns, x->cols, x->rows, error);
    for (size_t k = 0; status == NL_OK && k < x->cols; k++) {
        for (size_t i = 0; i < x->rows; i++)
            nl_row(&columns, k)[i] = nl_row(x, i)[k];
        without += constant_row(&columns, k);
    }
    if (status == NL_OK)
        status = unsigned_correlations(&columns, exec, d, error);
    nl_matrix_free(&columns);
    if (constant)
        *constant = without;
    return status;
}

/* The first fault of cell (i, j) in words, or NULL. */
static const char *cell_fault(const nl_matrix *d, size_t i, size_t j, float slack)
{
    const float there = nl_row(d, i)[j], back = nl_row(d, j)[i];
    if (!isfinite(there))
        return "is not a finite number";
    if (there < -slack)
        return "is negative";
    if (i == j && there > slack)
        return "is on the diagonal and not 0";
    if (isfinite(back) && fabsf(there - back) > slack)
        return "differs from its mirror image";
    return NULL;
}

nl_status nl_dissim_adopt(nl_matrix *d, nl_error *error)
{
    const size_t n = d->rows;
    float largest = 0;
    if (n == 0 || d->cols != n)
        return nl_fail(error, NL_INVALID, "a dissimilarity matrix is square, this is %zu × %zu", n,
                       d->cols);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (isfinite(nl_row(d, i)[j]))
                largest = fmaxf(largest, nl_row(d, i)[j]);
    const float slack = 1e-6f * largest;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const char *fault = cell_fault(d, i, j, slack);
            if (fault)
                return nl_fail(error, NL_INVALID,
                               "not a dissimilarity matrix: the number in row %zu, column %zu, "
                               "%.7g, %s",
                               i + 1, j + 1, (double)nl_row(d, i)[j], fault);
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            const float there = i == j ? 0 : fmaxf(nl_row(d, i)[j], 0);
            nl_row(d, i)[j] = nl_row(d, j)[i] = there;
        }
    }
    return NL_OK;
}

float nl_dissim_largest(const nl_matrix *d, size_t *i_out, size_t *j_out)
{
    float largest = -1;
    for (size_t i = 0; i < d->rows; i++) {
        for (size_t j = 0; j <= i; j++) {
            if (nl_row(d, i)[j] > largest) {
                largest = nl_row(d, i)[j];
                *i_out = i;
                *j_out = j;
            }
        }
    }
    return largest;
}
