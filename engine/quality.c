/* SPDX-License-Identifier: MIT */
/* How good an order of a dissimilarity matrix is, and how good its classes are. */
#include "nonlocal/dissim.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "pool.h"

double nl_path_length(const nl_matrix *d, const size_t *order)
{
    double length = 0;
    for (size_t p = 0; p + 1 < d->rows; p++) {
        size_t i = order ? order[p] : p, j = order ? order[p + 1] : p + 1;
        length += (double)nl_row(d, i)[j];
    }
    return length;
}

size_t nl_class_runs(const int *classes, size_t n, const size_t *order)
{
    size_t runs = n > 0;
    for (size_t p = 0; p + 1 < n; p++) {
        size_t i = order ? order[p] : p, j = order ? order[p + 1] : p + 1;
        runs += classes[i] != classes[j];
    }
    return runs;
}

void nl_block_means(const nl_matrix *d, const int *classes, size_t count, double *means)
{
    for (size_t a = 0; a < count * count; a++)
        means[a] = 0;
    for (size_t i = 0; i < d->rows; i++) {
        double *sums = means + (size_t)classes[i] * count;
        if ((size_t)classes[i] < count)
            for (size_t j = 0; j < d->cols; j++)
                if ((size_t)classes[j] < count)
                    sums[classes[j]] += (double)nl_row(d, i)[j];
    }
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            size_t rows = 0, columns = 0;
            for (size_t i = 0; i < d->rows; i++) {
                rows += (size_t)classes[i] == a;
                columns += (size_t)classes[i] == b;
            }
            if (rows * columns > 0)
                means[a * count + b] /= (double)(rows * columns);
        }
    }
}

/* Pairs out of order, and by how much. */
struct inversions {
    uint64_t count;
    double excess;
};

struct quality_loop {
    const nl_matrix *d;
    const size_t *order;
    float *scratch; /* 2 n for each worker */
    struct inversions *rows;
};

/*
 * Merges the sorted runs [0, middle) and [middle, end) of x into out. Each number of the second
 * run is exceeded by what is left of the first.
 */
static void merge_runs(const float *x, size_t middle, size_t end, float *out,
                       struct inversions *total)
{
    double left = 0;
    size_t a = 0, b = middle, at = 0;
    for (size_t k = 0; k < middle; k++)
        left += (double)x[k];
    while (b < end) {
        if (a < middle && x[a] <= x[b]) {
            left -= (double)x[a];
            out[at++] = x[a++];
        } else {
            total->count += middle - a;
            total->excess += a < middle ? left - (double)(middle - a) * (double)x[b] : 0;
            out[at++] = x[b++];
        }
    }
    memcpy(out + at, x + a, (middle - a) * sizeof *x);
}

/* Σ over a < b of [x_a > x_b] and of the excess; x is lost. */
static void count_inversions(float *x, float *spare, size_t n, struct inversions *total)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t begin = 0; begin < n; begin += 2 * width) {
            const size_t end = n - begin < 2 * width ? n - begin : 2 * width;
            const size_t middle = end < width ? end : width;
            merge_runs(x + begin, middle, end, spare + begin, total);
        }
        float *swap = x;
        x = spare;
        spare = swap;
    }
}

/*
 * Row p read outwards from the diagonal, to the right and to the left: along a row the triples
 * i < j < k with D_ij > D_ik, along a column (by symmetry a row to the left) those with D_jk >
 * D_ik.
 */
static void quality_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct quality_loop *loop = context;
    const size_t n = loop->d->rows;
    float *x = loop->scratch + 2 * n * worker;
    for (size_t p = begin; p < end; p++) {
        const float *row = nl_row(loop->d, loop->order ? loop->order[p] : p);
        struct inversions total = {0};
        for (size_t k = p + 1; k < n; k++)
            x[k - p - 1] = row[loop->order ? loop->order[k] : k];
        count_inversions(x, x + n, n - p - 1, &total);
        for (size_t k = 0; k < p; k++)
            x[p - 1 - k] = row[loop->order ? loop->order[k] : k];
        count_inversions(x, x + n, p, &total);
        loop->rows[p] = total;
    }
}

nl_status nl_quality_of(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                        nl_quality *quality, nl_error *error)
{
    const size_t n = d->rows;
    struct quality_loop loop = {.d = d, .order = order};
    nl_status status = NL_OK;
    *quality = (nl_quality){.path_length = nl_path_length(d, order)};
    loop.scratch = nl_alloc(2 * n * nl_exec_workers(exec), sizeof *loop.scratch);
    loop.rows = nl_alloc(n, sizeof *loop.rows);
    if (!loop.scratch || !loop.rows)
        status = nl_fail(error, NL_NOMEM, "no memory for the quality of %zu rows", n);
    if (status == NL_OK)
        status = nl_parallel(exec, n, 16, quality_rows, &loop, error);
    for (size_t p = 0; status == NL_OK && p < n; p++) {
        quality->ar_events += loop.rows[p].count;
        quality->ar_deviation += loop.rows[p].excess;
    }
    nl_free(loop.scratch);
    nl_free(loop.rows);
    return status;
}

struct silhouette_loop {
    const nl_matrix *d;
    const int *classes;
    const size_t *sizes;
    size_t count;
    double *sums; /* count for each worker */
    double *widths;
};

static double silhouette_of(const struct silhouette_loop *loop, size_t i, double *sums)
{
    const size_t own = (size_t)loop->classes[i];
    double other = INFINITY;
    if (loop->sizes[own] == 1)
        return 0;
    for (size_t c = 0; c < loop->count; c++)
        sums[c] = 0;
    for (size_t j = 0; j < loop->d->cols; j++)
        sums[loop->classes[j]] += (double)nl_row(loop->d, i)[j];
    for (size_t c = 0; c < loop->count; c++)
        if (c != own && loop->sizes[c] > 0)
            other = fmin(other, sums[c] / (double)loop->sizes[c]);
    const double inside = sums[own] / (double)(loop->sizes[own] - 1);
    const double larger = fmax(inside, other);
    return larger > 0 ? (other - inside) / larger : 0;
}

static void silhouette_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct silhouette_loop *loop = context;
    for (size_t i = begin; i < end; i++)
        loop->widths[i] = silhouette_of(loop, i, loop->sums + worker * loop->count);
}

nl_status nl_silhouette(const nl_matrix *d, const int *classes, size_t count, const nl_exec *exec,
                        double *mean, nl_error *error)
{
    const size_t n = d->rows;
    size_t *sizes = nl_alloc(count, sizeof *sizes), occupied = 0;
    double *sums = nl_alloc(count * nl_exec_workers(exec), sizeof *sums);
    double *widths = nl_alloc(n, sizeof *widths);
    nl_status status = NL_OK;
    *mean = NAN;
    if (!sizes || !sums || !widths)
        status = nl_fail(error, NL_NOMEM, "no memory for the silhouette of %zu rows", n);
    for (size_t i = 0; status == NL_OK && i < n; i++) {
        if (classes[i] < 0 || (size_t)classes[i] >= count)
            status = nl_fail(error, NL_INVALID, "row %zu has class %d, which is not one of %zu",
                             i + 1, classes[i], count);
        else
            occupied += sizes[classes[i]]++ == 0;
    }
    if (status == NL_OK && occupied > 1) {
        struct silhouette_loop loop = {d, classes, sizes, count, sums, widths};
        status = nl_parallel(exec, n, 16, silhouette_rows, &loop, error);
        double total = 0;
        for (size_t i = 0; i < n; i++)
            total += widths[i];
        *mean = total / (double)n;
    }
    nl_free(sizes);
    nl_free(sums);
    nl_free(widths);
    return status;
}
