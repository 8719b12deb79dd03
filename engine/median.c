/* SPDX-License-Identifier: MIT */
#include "median.h"

#include <math.h>
#include <string.h>

#include "alloc.h"

/* Non-negative floats have the order of their bits: two rounds of counting find any of them. */
enum { HALF = 1 << 16 };

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7fffffffu;
}

/* The number of the bucket that holds the k-th entry; *k becomes its number inside. */
static uint32_t find_bucket(const size_t *counts, size_t *k)
{
    uint32_t bucket = 0;
    while (*k >= counts[bucket])
        *k -= counts[bucket++];
    return bucket;
}

/* The k-th smallest number above the diagonal, from 0. */
static float select_upper(const nl_matrix *d, size_t k, size_t *counts)
{
    memset(counts, 0, HALF * sizeof *counts);
    for (size_t i = 0; i < d->rows; i++)
        for (size_t j = i + 1; j < d->cols; j++)
            counts[bits_of(nl_row(d, i)[j]) / HALF]++;
    const uint32_t high = find_bucket(counts, &k);
    memset(counts, 0, HALF * sizeof *counts);
    for (size_t i = 0; i < d->rows; i++) {
        for (size_t j = i + 1; j < d->cols; j++) {
            const uint32_t bits = bits_of(nl_row(d, i)[j]);
            counts[bits % HALF] += bits / HALF == high;
        }
    }
    const uint32_t bits = high * HALF + find_bucket(counts, &k);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double middle(const nl_matrix *d, size_t first, size_t count, size_t *counts)
{
    const float low = select_upper(d, first + (count - 1) / 2, counts);
    const float high = count % 2 ? low : select_upper(d, first + count / 2, counts);
    return (sqrt((double)low) + sqrt((double)high)) / 2;
}

nl_status nl_median_distance(const nl_matrix *d, int exponent, double *median, nl_error *error)
{
    const size_t pairs = d->rows * (d->rows - 1) / 2;
    size_t *counts = nl_alloc(HALF, sizeof *counts);
    size_t zeros = 0;
    if (!counts)
        return nl_fail(error, NL_NOMEM, "no memory to find the median distance");
    for (size_t i = 0; i < d->rows; i++)
        for (size_t j = i + 1; j < d->cols; j++)
            zeros += nl_row(d, i)[j] == 0;
    *median = 1;
    if (zeros < pairs) {
        double scaled = middle(d, 0, pairs, counts);
        if (scaled == 0)
            scaled = middle(d, zeros, pairs - zeros, counts);
        *median = ldexp(scaled, exponent);
    }
    nl_free(counts);
    return NL_OK;
}
