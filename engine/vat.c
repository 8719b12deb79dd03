/* SPDX-License-Identifier: MIT */
/* Visual assessment of tendency (Bezdek and Hathaway 2002) and its improved form. */
#include <math.h>

#include "alloc.h"
#include "pool.h"
#include "tree.h"

/* Rows side by side in one step: independent minima that the compiler keeps in vectors. */
enum { LANES = 16 };

/* The largest number of x[0..n), n >= 0, all non-negative. */
static float largest_of(const float *x, size_t n)
{
    float lanes[LANES] = {0}, largest = 0;
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++)
            lanes[l] = x[j + l] > lanes[l] ? x[j + l] : lanes[l];
    for (; j < n; j++)
        largest = x[j] > largest ? x[j] : largest;
    for (size_t l = 0; l < LANES; l++)
        largest = lanes[l] > largest ? lanes[l] : largest;
    return largest;
}

/* The lowest row of a most distant pair. */
static size_t first_row(const nl_matrix *d)
{
    size_t first = 0;
    float largest = -1;
    for (size_t i = 0; i < d->rows; i++) {
        const float there = largest_of(nl_row(d, i) + i, d->rows - i);
        if (there > largest) {
            largest = there;
            first = i;
        }
    }
    return first;
}

/*
 * One step of Prim's algorithm: key[j] is the distance of row j to the tree, infinite for rows in
 * it, and so is bar[j] (otherwise 0). Takes in the row that joined last; returns the nearest row
 * outside, the lowest of equals. n is a multiple of LANES.
 */
static size_t step(const float *joined, const float *bar, float *key, size_t n)
{
    float lanes[LANES], nearest = INFINITY;
    for (size_t l = 0; l < LANES; l++)
        lanes[l] = INFINITY;
    for (size_t j = 0; j < n; j += LANES) {
        for (size_t l = 0; l < LANES; l++) {
            const float there = joined[j + l] > bar[j + l] ? joined[j + l] : bar[j + l];
            const float now = there < key[j + l] ? there : key[j + l];
            key[j + l] = now;
            lanes[l] = now < lanes[l] ? now : lanes[l];
        }
    }
    for (size_t l = 0; l < LANES; l++)
        nearest = lanes[l] < nearest ? lanes[l] : nearest;
    for (size_t j = 0; j < n; j++)
        if (key[j] == nearest)
            return j;
    return 0;
}

nl_status nl_vat_order(const nl_matrix *d, const nl_exec *exec, size_t *order, nl_error *error)
{
    const size_t n = d->rows, padded = (n + LANES - 1) / LANES * LANES;
    float *key = nl_alloc(padded, sizeof *key), *bar = nl_alloc(padded, sizeof *bar);
    float *copy = nl_alloc(padded, sizeof *copy);
    nl_status status = NL_OK;
    if (!key || !bar || !copy)
        status = nl_fail(error, NL_NOMEM, "no memory for the order of %zu rows", n);
    for (size_t j = 0; status == NL_OK && j < padded; j++) {
        key[j] = INFINITY;
        bar[j] = j < n ? 0 : INFINITY;
    }
    size_t next = status == NL_OK ? first_row(d) : 0;
    for (size_t p = 0; status == NL_OK && p < n; p++) {
        const float *joined = nl_row(d, next);
        order[p] = next;
        key[next] = bar[next] = INFINITY;
        if (d->stride < padded || !d->owned) { /* a view need not have padding */
            for (size_t j = 0; j < n; j++)
                copy[j] = joined[j];
            joined = copy;
        }
        next = step(joined, bar, key, padded);
        if (p % 64 == 0)
            status = nl_poll(exec, error);
    }
    nl_free(key);
    nl_free(bar);
    nl_free(copy);
    return status;
}

/* The position before p whose row is nearest to that at p. */
static size_t nearest_before(const nl_matrix *d, const size_t *order, size_t p)
{
    const float *row = nl_row(d, order[p]);
    size_t best = 0;
    for (size_t q = 1; q < p; q++)
        if (row[order[q]] < row[order[best]])
            best = q;
    return best;
}

nl_status nl_ivat(const nl_matrix *d, const size_t *order, const nl_exec *exec, nl_matrix *out,
                  nl_error *error)
{
    const size_t n = d->rows;
    nl_status status = NL_OK;
    if (out->rows != n || out->cols != n)
        return nl_fail(error, NL_INVALID, "the matrix for %zu rows is %zu × %zu", n, out->rows,
                       out->cols);
    for (size_t p = 0; status == NL_OK && p < n; p++) {
        const size_t i = order[p];
        float *out_i = nl_row(out, i);
        out_i[i] = 0;
        if (p == 0)
            continue;
        const size_t j = order[nearest_before(d, order, p)];
        const float *out_j = nl_row(out, j);
        const float link = nl_row(d, i)[j];
        for (size_t q = 0; q < p; q++) {
            const size_t k = order[q];
            const float path = k == j || link > out_j[k] ? link : out_j[k];
            out_i[k] = nl_row(out, k)[i] = path;
        }
        if (p % 64 == 0)
            status = nl_poll(exec, error);
    }
    return status;
}
