/* SPDX-License-Identifier: MIT */
/*
 * What the kernel checks share: buffers of exact size with poison around what is read and written,
 * numbers to try, and bounds that remember how close the worst error came.
 *
 * u = 2⁻²⁴ is the largest relative error of one rounding to float; a result that is not normal has
 * an absolute error of at most half the smallest float, 2⁻¹⁵⁰, instead.
 */
#ifndef NL_CHECK_H
#define NL_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include <cmocka.h>

#include "kernels/kernels.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define UNIT 0x1p-24
#define TINY 0x1p-150
/* Terms of second order in u: every bound here has fewer than 1000 roundings. */
#define SECOND_ORDER (1 + 1000 * UNIT)

/* Each dimension runs through 0..LONGEST. NL_TEST_THIN in the environment, which is for emulators,
 * leaves most sizes above 80 out; main says so. */
enum { LONGEST = 300 };
size_t check_next(size_t size);

/* The table under test, set by main before the tests run. */
extern const struct nl_kernels *check_tier;

/*
 * rows × cols floats, `stride` apart, in a block that ends with the last of them. Everything starts
 * as poison: a NaN that no kernel computes.
 */
struct grid {
    float *data;
    size_t rows, cols, stride;
};

struct grid grid_make(size_t rows, size_t cols, size_t stride);
void grid_free(struct grid *grid);
/* Fails the test unless everything outside rows × cols is still poison, and nothing inside is. */
void grid_check_written(const struct grid *grid, const char *what);
/* Fails the test unless nothing at all has been written. */
void grid_check_untouched(const struct grid *grid, const char *what);

static inline float *grid_at(const struct grid *grid, size_t i, size_t k)
{
    return grid->data + i * grid->stride + k;
}

/* Kinds of numbers. */
enum fill {
    FILL_UNIT,   /* uniform in (−1, 1) */
    FILL_SIGNS,  /* 0, −0, 1 and −1 */
    FILL_HUGE,   /* around 1e30, either sign */
    FILL_TINY,   /* around 1e-30, either sign */
    FILL_DENORM, /* multiples of the smallest float */
    FILL_LARGE,  /* around 1e17: products and 300 of their squares are finite */
    FILL_EQUAL,  /* 0.1 everywhere */
};

/* A pseudo-random number of a kind; the sequence starts anew with every check_seed. */
void check_seed(uint64_t seed);
float check_number(enum fill fill);
void grid_fill(struct grid *grid, enum fill fill);

/* Keys in the packed form, in a block of exactly nl_panels_size floats. Unused lanes are zeros. */
float *check_pack(const struct grid *keys);

/* The largest error so far in units of its bound. */
struct worst {
    const char *name;
    double ratio;
};

/* Fails the test unless |got − expected| <= bound. Infinite values must agree. */
void check_close(struct worst *worst, double got, double expected, double bound, const char *format,
                 ...) __attribute__((format(printf, 5, 6)));

/* Fails the test unless the floats are the same bit for bit. */
void check_same_bits(float got, float expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The tests of each file, under the name of the tier; they return how many failed. */
int check_scores(const char *tier);
int check_rows(const char *tier);
int check_pairs(const char *tier);
int check_nlm(const char *tier);
int check_attend(const char *tier);
/* The bounds that each file keeps; end with a NULL name. */
extern struct worst check_score_worst[];
extern struct worst check_row_worst[];
extern struct worst check_pair_worst[];
extern struct worst check_nlm_worst[];
extern struct worst check_attend_worst[];

#endif
