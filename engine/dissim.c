/* SPDX-License-Identifier: MIT */
#include "nonlocal/dissim.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "panels.h"
#include "pool.h"

const nl_metric nl_metrics[NL_METRIC_COUNT + 1] = {
    [NL_METRIC_EUCLIDEAN] = {"euclidean", "Euclidean", "√ Σ_k (x_ik − x_jk)²"},
};

/* Rows a block: whole panels, so that mirrored tiles stay aligned. */
enum { ROWS = 2 * NL_LANES };

struct dissim_loop {
    const nl_kernels *kernels;
    const nl_matrix *x; /* scaled */
    const float *panels;
    int exponent; /* D = computed · 2^exponent */
    nl_matrix *d;
};

/* Rows [begin, end) from column `begin` on: the upper triangle, and the small corner below it. */
static void upper_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct dissim_loop *loop = context;
    const size_t n = loop->x->rows;
    (void)worker;
    loop->kernels->euclidean(nl_row(loop->x, begin), loop->x->stride, end - begin,
                             loop->panels + begin * loop->x->cols, n - begin, loop->x->cols,
                             nl_row(loop->d, begin) + begin, loop->d->stride);
    for (size_t i = begin; loop->exponent != 0 && i < end; i++)
        for (size_t j = begin; j < n; j++)
            nl_row(loop->d, i)[j] = ldexpf(nl_row(loop->d, i)[j], loop->exponent);
}

/* Copies the upper triangle into rows [begin, end) of the lower one, tile by tile. */
static void mirror_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct dissim_loop *loop = context;
    float tile[ROWS][ROWS + 1]; /* rows of D lie a power of two apart: they would share cache sets */
    (void)worker;
    for (size_t j0 = 0; j0 < begin; j0 += ROWS) {
        for (size_t j = 0; j < ROWS; j++)
            memcpy(tile[j], nl_row(loop->d, j0 + j) + begin, (end - begin) * sizeof(float));
        for (size_t i = begin; i < end; i++) {
            float *row = nl_row(loop->d, i) + j0;
            for (size_t j = 0; j < ROWS; j++)
                row[j] = tile[j][i - begin];
        }
    }
}

/* Power of two that brings the largest magnitude into [0.5, 1); 0 when all is 0 or in range. */
static int range_exponent(const nl_matrix *x)
{
    const float largest = nl_matrix_largest(x);
    int exponent = 0;
    if (largest == 0 || (largest > 1e-6f && largest < 1e6f))
        return 0;
    frexpf(largest, &exponent);
    return exponent;
}

nl_status nl_dissim(nl_metric_id metric, const nl_matrix *x, const nl_exec *exec, nl_matrix *d,
                    nl_error *error)
{
    const size_t n = x->rows;
    size_t row, col;
    float *panels = NULL;
    nl_matrix scaled = {0};
    if ((unsigned)metric >= NL_METRIC_COUNT)
        return nl_fail(error, NL_INVALID, "there is no metric number %d", (int)metric);
    if (n == 0 || x->cols == 0)
        return nl_fail(error, NL_INVALID, "there are no rows to compare (%zu × %zu)", n, x->cols);
    if (d->rows != n || d->cols != n)
        return nl_fail(error, NL_INVALID, "the matrix for %zu rows is %zu × %zu", n, d->rows,
                       d->cols);
    if (!nl_matrix_finite(x, &row, &col))
        return nl_fail(error, NL_INVALID, "feature %zu of row %zu is not a finite number", col + 1,
                       row + 1);
    struct dissim_loop loop = {.x = x, .exponent = range_exponent(x), .d = d};
    loop.kernels = nl_exec_kernels(exec, error);
    if (!loop.kernels)
        return NL_UNSUPPORTED;
    nl_status status = NL_OK;
    if (loop.exponent != 0) {
        status = nl_matrix_copy(&scaled, x, error);
        for (size_t i = 0; status == NL_OK && i < n; i++)
            for (size_t k = 0; k < x->cols; k++)
                nl_row(&scaled, i)[k] = ldexpf(nl_row(x, i)[k], -loop.exponent);
        loop.x = &scaled;
    }
    if (status == NL_OK && !(panels = nl_panels_pack(loop.x)))
        status =
            nl_fail(error, NL_NOMEM, "no memory for %zu packed rows of %zu features", n, x->cols);
    loop.panels = panels;
    if (status == NL_OK)
        status = nl_parallel(exec, n, ROWS, upper_rows, &loop, error);
    if (status == NL_OK)
        status = nl_parallel(exec, n, ROWS, mirror_rows, &loop, error);
    nl_free(panels);
    nl_matrix_free(&scaled);
    return status;
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

void nl_block_means(const nl_matrix *d, const int *classes, size_t count, double *means)
{
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            double sum = 0;
            size_t pairs = 0;
            for (size_t i = 0; i < d->rows; i++) {
                if ((size_t)classes[i] != a)
                    continue;
                for (size_t j = 0; j < d->cols; j++) {
                    if ((size_t)classes[j] == b) {
                        sum += (double)nl_row(d, i)[j];
                        pairs++;
                    }
                }
            }
            means[a * count + b] = pairs ? sum / (double)pairs : 0;
        }
    }
}
