/* SPDX-License-Identifier: MIT */
/* Matrices reduced to what a screen can show. */
#include "nonlocal/dissim.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "alloc.h"
#include "pairs.h"
#include "pool.h"

struct overview_loop {
    const nl_matrix *d;
    const size_t *order;
    nl_matrix *overview;
};

/* Adds what is finite in D's row over the positions of an overview's column; returns how many. */
static size_t add_span(const struct overview_loop *loop, const float *row, size_t x0, size_t x1,
                       double *sum)
{
    size_t finite = 0;
    for (size_t p = x0; p < x1; p++) {
        const float value = row[loop->order ? loop->order[p] : p];
        const bool counts = fabsf(value) <= FLT_MAX;
        *sum += counts ? (double)value : 0;
        finite += counts;
    }
    return finite;
}

static void overview_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct overview_loop *loop = context;
    const size_t n = loop->d->rows, s = loop->overview->rows;
    (void)worker;
    for (size_t y = begin; y < end; y++) {
        const size_t y0 = y * n / s, y1 = (y + 1) * n / s;
        for (size_t x = 0; x < s; x++) {
            const size_t x0 = x * n / s, x1 = (x + 1) * n / s;
            double sum = 0;
            size_t finite = 0;
            for (size_t p = y0; p < y1; p++)
                finite +=
                    add_span(loop, nl_row(loop->d, loop->order ? loop->order[p] : p), x0, x1, &sum);
            nl_row(loop->overview, y)[x] = finite > 0 ? (float)(sum / (double)finite) : NAN;
        }
    }
}

nl_status nl_matrix_overview(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                             nl_matrix *overview, nl_error *error)
{
    const size_t s = overview->rows;
    if (s == 0 || overview->cols != s || s > d->rows || d->rows != d->cols)
        return nl_fail(error, NL_INVALID, "a matrix of %zu × %zu has no overview of %zu × %zu",
                       d->rows, d->cols, s, overview->cols);
    struct overview_loop loop = {d, order, overview};
    return nl_parallel(exec, s, 16, overview_rows, &loop, error);
}

double nl_dissim_bytes(size_t n)
{
    const double stride = (double)((n + NL_LANES - 1) / NL_LANES) * NL_LANES;
    return (double)n * stride * sizeof(float);
}

/* Rows and columns of the tiles that a blockwise overview computes at a time. */
enum { TILE_ROWS = 32, TILE_COLUMNS = 1024, SAMPLE = 2048 };

double nl_dissim_overview_bytes(size_t n, size_t d, size_t s, size_t threads)
{
    const double rows =
        4 * (double)n * (double)d; /* rows and panels, two floats a number at most */
    const double scratch = TILE_ROWS * TILE_COLUMNS + 4 * (double)s;
    return (rows + 2 * (double)s * (double)s + (double)threads * scratch) * sizeof(float);
}

struct blockwise {
    const struct nl_pairs *pairs;
    size_t n, s;
    float *tiles;  /* TILE_ROWS × TILE_COLUMNS for each worker */
    double *cells; /* 2 s for each worker: sums, maxima */
    nl_matrix *mean, *largest;
};

/* Adds positions [j, j + cols) of one row of D to the cells of a row of the overview. */
static void gather(const struct blockwise *b, const float *row, size_t j, size_t cols,
                   double *cells)
{
    for (size_t x = j * b->s / b->n; x < b->s && x * b->n / b->s < j + cols; x++) {
        size_t begin = x * b->n / b->s, end = (x + 1) * b->n / b->s;
        begin = begin > j ? begin : j;
        end = end < j + cols ? end : j + cols;
        double sum = 0;
        float largest = 0;
        for (size_t p = begin; p < end; p++) {
            sum += (double)row[p - j];
            largest = row[p - j] > largest ? row[p - j] : largest;
        }
        cells[x] += sum;
        cells[b->s + x] = fmax(cells[b->s + x], (double)largest);
    }
}

/* Cells (y, x), x >= y: the rest is their mirror image. */
static void blockwise_rows(void *context, size_t worker, size_t y0, size_t y1)
{
    const struct blockwise *b = context;
    float *tile = b->tiles + worker * TILE_ROWS * TILE_COLUMNS;
    double *cells = b->cells + worker * 2 * b->s;
    for (size_t y = y0; y < y1; y++) {
        const size_t first = y * b->n / b->s, last = (y + 1) * b->n / b->s;
        for (size_t x = 0; x < 2 * b->s; x++)
            cells[x] = 0;
        for (size_t i = first; i < last; i += TILE_ROWS) {
            const size_t rows = last - i < TILE_ROWS ? last - i : TILE_ROWS;
            for (size_t j = first / NL_LANES * NL_LANES; j < b->n; j += TILE_COLUMNS) {
                const size_t cols = b->n - j < TILE_COLUMNS ? b->n - j : TILE_COLUMNS;
                nl_pairs_tile(b->pairs, i, rows, j, cols, tile, TILE_COLUMNS);
                for (size_t r = 0; r < rows; r++)
                    gather(b, tile + r * TILE_COLUMNS, j, cols, cells);
            }
        }
        for (size_t x = y; x < b->s; x++) {
            const size_t columns = (x + 1) * b->n / b->s - x * b->n / b->s;
            nl_row(b->mean, y)[x] = (float)(cells[x] / (double)((last - first) * columns));
            if (b->largest)
                nl_row(b->largest, y)[x] = (float)cells[b->s + x];
        }
    }
}

/* The bandwidth of a sample of rows; x itself where it is small enough. */
static nl_status sample_bandwidth(const nl_matrix *x, const nl_exec *exec, double *bandwidth,
                                  nl_error *error)
{
    const size_t m = x->rows < SAMPLE ? x->rows : SAMPLE;
    nl_matrix sample = {0}, d = {0};
    nl_status status = nl_matrix_alloc(&sample, m, x->cols, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&d, m, m, error);
    for (size_t i = 0; status == NL_OK && i < m; i++)
        for (size_t k = 0; k < x->cols; k++)
            nl_row(&sample, i)[k] = nl_row(x, i * x->rows / m)[k];
    if (status == NL_OK)
        status = nl_dissim_run(&(nl_dissim_params){.metric = NL_METRIC_GAUSSIAN}, &sample, exec, &d,
                               bandwidth, error);
    nl_matrix_free(&sample);
    nl_matrix_free(&d);
    return status;
}

static nl_status check_overviews(size_t n, const nl_matrix *mean, const nl_matrix *largest,
                                 nl_error *error)
{
    const size_t s = mean->rows;
    if (s == 0 || mean->cols != s || s > n ||
        (largest && (largest->rows != s || largest->cols != s)))
        return nl_fail(error, NL_INVALID, "%zu rows have no overview of %zu × %zu", n, mean->rows,
                       mean->cols);
    return NL_OK;
}

/* The lower triangle, and whether everything is within the range of float. */
static nl_status mirror_overview(nl_matrix *overview, nl_error *error)
{
    for (size_t y = 0; y < overview->rows; y++) {
        for (size_t x = y; x < overview->cols; x++) {
            const float there = nl_row(overview, y)[x];
            if (!isfinite(there))
                return nl_fail(error, NL_LIMIT,
                               "some rows are further apart than a float can say; "
                               "scale the features down");
            nl_row(overview, x)[y] = there;
        }
    }
    return NL_OK;
}

nl_status nl_dissim_overview(const nl_dissim_params *params, const nl_matrix *x,
                             const size_t *order, const nl_exec *exec, nl_matrix *mean,
                             nl_matrix *largest, double *bandwidth, nl_error *error)
{
    const size_t workers = nl_exec_workers(exec);
    nl_dissim_params used = *params;
    struct nl_pairs pairs = {0};
    float top = 0; /* the largest magnitude of x */
    struct blockwise b = {&pairs, x->rows, mean->rows, NULL, NULL, mean, largest};
    nl_status status = nl_pairs_check(params, x, exec, &top, error);
    if (status == NL_OK)
        status = check_overviews(x->rows, mean, largest, error);
    if (status == NL_OK && used.metric == NL_METRIC_GAUSSIAN && used.bandwidth == 0)
        status = sample_bandwidth(x, exec, &used.bandwidth, error);
    if (status == NL_OK)
        status = nl_pairs_make(&used, x, top, order, exec, &pairs, error);
    if (status == NL_OK) {
        b.tiles = nl_alloc(workers * TILE_ROWS * TILE_COLUMNS, sizeof *b.tiles);
        b.cells = nl_alloc(workers * 2 * b.s, sizeof *b.cells);
        if (!b.tiles || !b.cells)
            status = nl_fail(error, NL_NOMEM, "no memory for an overview of %zu × %zu", b.s, b.s);
    }
    if (status == NL_OK)
        status = nl_parallel(exec, b.s, 1, blockwise_rows, &b, error);
    if (status == NL_OK)
        status = mirror_overview(mean, error);
    if (status == NL_OK && largest)
        status = mirror_overview(largest, error);
    nl_free(b.tiles);
    if (bandwidth)
        *bandwidth = used.metric == NL_METRIC_GAUSSIAN ? used.bandwidth : 0;
    nl_free(b.cells);
    nl_pairs_free(&pairs);
    return status;
}

/* The m columns' rows of X, up to a whole panel, and below them the n rows'. */
static nl_status gather_rows(const nl_matrix *x, const size_t *rows, const size_t *columns,
                             const nl_matrix *d, nl_matrix *gathered, nl_error *error)
{
    const size_t first = (d->cols + NL_LANES - 1) / NL_LANES * NL_LANES;
    nl_status status = nl_matrix_alloc(gathered, first + d->rows, x->cols, error);
    for (size_t p = 0; status == NL_OK && p < gathered->rows; p++) {
        const size_t at = p >= first    ? rows[p - first]
                          : p < d->cols ? columns[p]
                                        : columns[d->cols - 1];
        memcpy(nl_row(gathered, p), nl_row(x, at), x->cols * sizeof(float));
    }
    return status;
}

nl_status nl_dissim_between(const nl_dissim_params *params, const nl_matrix *x, const size_t *rows,
                            const size_t *columns, const nl_exec *exec, nl_matrix *d,
                            nl_error *error)
{
    struct nl_pairs pairs = {0};
    nl_matrix gathered = {0};
    float largest = 0;
    nl_status status = d->rows && d->cols ? gather_rows(x, rows, columns, d, &gathered, error)
                                          : nl_fail(error, NL_INVALID, "there are no pairs");
    if (status == NL_OK)
        status = nl_pairs_check(params, &gathered, exec, &largest, error);
    if (status == NL_OK && params->metric == NL_METRIC_GAUSSIAN && params->bandwidth == 0)
        status = nl_fail(error, NL_INVALID, "single pairs do not tell a bandwidth; name one");
    if (status == NL_OK)
        status = nl_pairs_make(params, &gathered, largest, NULL, exec, &pairs, error);
    if (status == NL_OK)
        nl_pairs_tile(&pairs, gathered.rows - d->rows, d->rows, 0, d->cols, d->data, d->stride);
    for (size_t p = 0; status == NL_OK && p < d->rows; p++)
        for (size_t q = 0; q < d->cols; q++) {
            if (rows[p] == columns[q])
                nl_row(d, p)[q] = 0; /* also where the row has no direction */
            else if (!isfinite(nl_row(d, p)[q]))
                status = nl_fail(error, NL_LIMIT,
                                 "rows %zu and %zu are further apart than a float can say",
                                 rows[p] + 1, columns[q] + 1);
        }
    nl_pairs_free(&pairs);
    nl_matrix_free(&gathered);
    return status;
}
