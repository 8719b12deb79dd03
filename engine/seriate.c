/* SPDX-License-Identifier: MIT */
#include "seriate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "lanczos.h"
#include "pool.h"

struct keyed {
    double key;
    size_t row;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->row < b->row ? -1 : 1;
}

static int by_row(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    return a->row < b->row ? -1 : 1;
}

nl_status nl_order_by_keys(const double *keys, size_t n, size_t *order, nl_error *error)
{
    struct keyed *sorted = nl_alloc(n, sizeof *sorted);
    if (!sorted)
        return nl_fail(error, NL_NOMEM, "no memory to sort %zu rows", n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct keyed){keys[i], i};
    qsort(sorted, n, sizeof *sorted, by_key);
    for (size_t p = 0; p < n; p++)
        order[p] = sorted[p].row;
    nl_free(sorted);
    return NL_OK;
}

/*
 * By a coordinate that has no sign of its own: the end with the lower row comes first. Coordinates
 * closer than an eigenvector is right count as equal.
 */
static nl_status order_by_coordinate(double *keys, size_t n, size_t *order, nl_error *error)
{
    struct keyed *sorted = nl_alloc(n, sizeof *sorted);
    if (!sorted)
        return nl_fail(error, NL_NOMEM, "no memory to sort %zu rows", n);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < n; i++)
            sorted[i] = (struct keyed){turn ? -keys[i] : keys[i], i};
        qsort(sorted, n, sizeof *sorted, by_key);
        const double slack = 1e-10 * (sorted[n - 1].key - sorted[0].key);
        for (size_t begin = 0, end; begin < n; begin = end) {
            end = begin + 1;
            while (end < n && sorted[end].key - sorted[end - 1].key <= slack)
                end++;
            qsort(sorted + begin, end - begin, sizeof *sorted, by_row);
        }
        for (size_t p = 0; p < n; p++)
            order[p] = sorted[p].row;
        if (order[0] < order[n - 1])
            break;
    }
    nl_free(sorted);
    return NL_OK;
}

enum { LANES = 8 };

static double sum_lanes(const double lanes[LANES])
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* y_i of one row of D, whose own number is x_i. */
typedef double (*row_fn)(const float *row, const double *x, size_t n, double x_i);

/* A symmetric operator made of D, row by row. */
struct matrix_operator {
    const nl_matrix *d;
    const nl_exec *exec;
    row_fn row;
    const double *x;
    double *y;
};

static void operator_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct matrix_operator *op = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        op->y[i] = op->row(nl_row(op->d, i), op->x, op->d->cols, op->x[i]);
}

static nl_status apply_matrix(void *context, const double *x, double *y, nl_error *error)
{
    struct matrix_operator *op = context;
    op->x = x;
    op->y = y;
    return nl_parallel(op->exec, op->d->rows, 32, operator_rows, op, error);
}

static nl_status order_by_eigenvector(const nl_matrix *d, row_fn row, const nl_exec *exec,
                                      size_t *order, bool *settled, nl_error *error)
{
    nl_exec quiet = *exec;
    quiet.progress = NULL; /* nobody knows how many rounds there will be */
    struct matrix_operator op = {.d = d, .exec = &quiet, .row = row};
    double *vector = nl_alloc(d->rows, sizeof *vector);
    nl_status status = NL_OK;
    if (!vector)
        status = nl_fail(error, NL_NOMEM, "no memory for an eigenvector of %zu rows", d->rows);
    if (status == NL_OK)
        status = nl_lanczos(apply_matrix, &op, d->rows, true, vector, settled, error);
    if (status == NL_OK)
        status = order_by_coordinate(vector, d->rows, order, error);
    nl_free(vector);
    return status;
}

/*
 * The Laplacian of w = 1/(1 + D) has the Fiedler vector at its small end. For vectors that sum to
 * 0 it is n minus the Laplacian of 1 − w = D/(1 + D), which loses nothing where D is small.
 */
static double near_row(const float *row, const double *x, size_t n, double x_i)
{
    double lanes[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] += (double)row[j + l] / (1 + (double)row[j + l]) * (x_i - x[j + l]);
    for (; j < n; j++)
        lanes[0] += (double)row[j] / (1 + (double)row[j]) * (x_i - x[j]);
    return sum_lanes(lanes);
}

static double far_row(const float *row, const double *x, size_t n, double x_i)
{
    double lanes[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] += (x[j + l] - x_i) / (1 + (double)row[j + l]);
    for (; j < n; j++)
        lanes[0] += (x[j] - x_i) / (1 + (double)row[j]);
    return sum_lanes(lanes);
}

nl_status nl_order_spectral(const nl_matrix *d, const nl_exec *exec, size_t *order, bool *settled,
                            nl_error *error)
{
    const double n = (double)d->rows;
    double sum = 0;
    for (size_t i = 0; i < d->rows; i++)
        for (size_t j = 0; j < d->cols; j++)
            sum += (double)nl_row(d, i)[j];
    return order_by_eigenvector(d, sum > n * n ? far_row : near_row, exec, order, settled, error);
}

/* −½ D∘D; the search keeps to vectors that sum to 0, which centres it. */
static double scaling_row(const float *row, const double *x, size_t n, double x_i)
{
    double lanes[LANES] = {0};
    size_t j = 0;
    (void)x_i;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] += (double)row[j + l] * (double)row[j + l] * x[j + l];
    for (; j < n; j++)
        lanes[0] += (double)row[j] * (double)row[j] * x[j];
    return -sum_lanes(lanes) / 2;
}

nl_status nl_order_scaling(const nl_matrix *d, const nl_exec *exec, size_t *order, bool *settled,
                           nl_error *error)
{
    return order_by_eigenvector(d, scaling_row, exec, order, settled, error);
}

enum { CHUNK = 256 };

/* (X − μ)ᵀ (X − μ) v, by chunks of rows whose parts are added in their order. */
struct scatter {
    const nl_matrix *x;
    const nl_exec *exec;
    double *mean;
    double *parts; /* chunks × d */
    double *scores;
    const double *v;
};

static double score(const struct scatter *s, size_t i)
{
    const float *x_i = nl_row(s->x, i);
    double lanes[LANES] = {0};
    size_t k = 0;
    for (; k + LANES <= s->x->cols; k += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] += ((double)x_i[k + l] - s->mean[k + l]) * s->v[k + l];
    for (; k < s->x->cols; k++)
        lanes[0] += ((double)x_i[k] - s->mean[k]) * s->v[k];
    return sum_lanes(lanes);
}

static void scatter_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct scatter *s = context;
    const size_t d = s->x->cols;
    double *part = s->parts + begin / CHUNK * d;
    (void)worker;
    memset(part, 0, d * sizeof *part);
    for (size_t i = begin; i < end; i++) {
        const float *x_i = nl_row(s->x, i);
        const double t = s->scores[i] = score(s, i);
        for (size_t k = 0; k < d; k++)
            part[k] += t * ((double)x_i[k] - s->mean[k]);
    }
}

static nl_status apply_scatter(void *context, const double *v, double *y, nl_error *error)
{
    struct scatter *s = context;
    const size_t n = s->x->rows, d = s->x->cols;
    s->v = v;
    nl_status status = nl_parallel(s->exec, n, CHUNK, scatter_rows, s, error);
    memset(y, 0, d * sizeof *y);
    for (size_t chunk = 0; chunk * CHUNK < n; chunk++)
        for (size_t k = 0; k < d; k++)
            y[k] += s->parts[chunk * d + k];
    return status;
}

nl_status nl_order_pca(const nl_matrix *x, const nl_exec *exec, size_t *order, bool *settled,
                       nl_error *error)
{
    const size_t n = x->rows, d = x->cols;
    nl_exec quiet = *exec;
    quiet.progress = NULL;
    struct scatter s = {.x = x, .exec = &quiet};
    double *vector = nl_alloc(d, sizeof *vector), *unused = nl_alloc(d, sizeof *unused);
    s.mean = nl_alloc(d, sizeof *s.mean);
    s.parts = nl_alloc((n / CHUNK + 1) * d, sizeof *s.parts);
    s.scores = nl_alloc(n, sizeof *s.scores);
    nl_status status = NL_OK;
    if (!vector || !unused || !s.mean || !s.parts || !s.scores)
        status = nl_fail(error, NL_NOMEM, "no memory for the component of %zu features", d);
    if (status == NL_OK) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < d; k++)
                s.mean[k] += (double)nl_row(x, i)[k];
        for (size_t k = 0; k < d; k++)
            s.mean[k] /= (double)n;
        status = nl_lanczos(apply_scatter, &s, d, false, vector, settled, error);
    }
    if (status == NL_OK)
        status = apply_scatter(&s, vector, unused, error); /* its scores */
    if (status == NL_OK)
        status = order_by_coordinate(s.scores, n, order, error);
    nl_free(vector);
    nl_free(unused);
    nl_free(s.mean);
    nl_free(s.parts);
    nl_free(s.scores);
    return status;
}
