/* SPDX-License-Identifier: MIT */
#include "nlm_ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

nl_picture random_picture(size_t width, size_t height, bool color, uint64_t seed)
{
    nl_picture picture = {width, height, width, height, {0}};
    assert_int_equal(nl_matrix_alloc(&picture.rgb, height, 3 * width, NULL), NL_OK);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t y = 0; y < height; y++) {
        float *row = nl_row(&picture.rgb, y);
        for (size_t k = 0; k < 3 * width; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            row[k] = k % 3 > 0 && !color ? row[k - 1] : (float)(state >> 40) * 0x1p-24f;
        }
    }
    return picture;
}

nl_picture flat_picture(size_t width, size_t height, float value)
{
    nl_picture picture = random_picture(width, height, false, 0);
    for (size_t y = 0; y < height; y++)
        for (size_t k = 0; k < 3 * width; k++)
            nl_row(&picture.rgb, y)[k] = value;
    return picture;
}

/* Index of i in 0..n-1, mirrored with period 2(n − 1). */
static size_t mirrored(ptrdiff_t i, size_t n)
{
    const ptrdiff_t last = (ptrdiff_t)n - 1;
    while (last > 0 && (i < 0 || i > last))
        i = i < 0 ? -i : 2 * last - i;
    return last > 0 ? (size_t)i : 0;
}

/* One patch as 3 · patch² numbers. */
static void cut_patch(const nl_picture *picture, size_t patch, size_t x, size_t y, double *out)
{
    const ptrdiff_t half = (ptrdiff_t)(patch / 2);
    for (ptrdiff_t i = -half; i <= half; i++) {
        const float *row = nl_row(&picture->rgb, mirrored((ptrdiff_t)y + i, picture->height));
        for (ptrdiff_t k = -half; k <= half; k++)
            for (size_t c = 0; c < 3; c++)
                *out++ = (double)row[3 * mirrored((ptrdiff_t)x + k, picture->width) + c];
    }
}

double *ref_patch_distances(const nl_picture *picture, const nl_nlm_params *params)
{
    const size_t n = picture->width * picture->height, side = params->patch;
    const size_t d = 3 * side * side;
    double *patches = malloc(n * d * sizeof *patches), *omega = malloc(d * sizeof *omega);
    double *distances = malloc(n * n * sizeof *distances), sum = 0;
    assert_true(patches && omega && distances);
    for (size_t k = 0; k < d; k++) {
        const double y = (double)(k / 3 / side) - (double)(side / 2);
        const double x = (double)(k / 3 % side) - (double)(side / 2), a = params->gaussian;
        omega[k] = a > 0 ? exp(-(x * x + y * y) / (2 * a * a)) : 1;
        sum += omega[k];
    }
    for (size_t i = 0; i < n; i++)
        cut_patch(picture, side, i % picture->width, i / picture->width, patches + i * d);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            double total = 0;
            for (size_t k = 0; k < d; k++) {
                const double difference = patches[i * d + k] - patches[j * d + k];
                total += omega[k] * difference * difference;
            }
            distances[i * n + j] = distances[j * n + i] = total / sum;
        }
    }
    free(omega);
    free(patches);
    return distances;
}

static size_t apart(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* Exponents of one row, ∞ for pixels that do not count; returns the smallest. */
static double exponents(const nl_picture *picture, const nl_nlm_params *params, const double *row,
                        size_t i, double *e)
{
    const size_t width = picture->width, n = width * picture->height;
    double least = INFINITY;
    for (size_t j = 0; j < n; j++) {
        const bool inside =
            params->search == 0 || (apart(i % width, j % width) <= params->search / 2 &&
                                    apart(i / width, j / width) <= params->search / 2);
        e[j] = INFINITY;
        if (inside && (j != i || params->self == NL_SELF_KEEP))
            e[j] = fmax(row[j] - 2 * params->sigma * params->sigma, 0) / (params->h * params->h);
        least = fmin(least, e[j]);
    }
    if (params->self == NL_SELF_MAX) {
        least = isinf(least) ? 0 : least; /* no other candidate: keep */
        e[i] = least;
    }
    return least;
}

size_t ref_nlm(const nl_picture *picture, const nl_nlm_params *params, const double *distances,
               double *answer)
{
    const size_t width = picture->width, n = width * picture->height;
    double *e = malloc(n * sizeof *e);
    size_t empty = 0;
    assert_non_null(e);
    for (size_t i = 0; i < n; i++) {
        double weights = 0, values[3] = {0};
        const double least = exponents(picture, params, distances + i * n, i, e);
        for (size_t j = 0; j < n; j++) {
            const double w = isinf(e[j]) ? 0 : exp(least - e[j]);
            weights += w;
            for (size_t c = 0; c < 3; c++)
                values[c] += w * (double)nl_row(&picture->rgb, j / width)[3 * (j % width) + c];
        }
        empty += weights == 0;
        for (size_t c = 0; c < 3; c++)
            answer[3 * i + c] = weights > 0 ? values[c] / weights : 0;
    }
    free(e);
    return empty;
}

nl_picture denoise(const nl_picture *picture, const nl_nlm_params *params, const nl_exec *exec)
{
    nl_picture out;
    nl_error error = {0};
    if (nl_nlm_alloc(picture, params, exec, &out, NULL, &error) != NL_OK)
        fail_msg("%s", error.message);
    assert_int_equal(out.width, picture->width);
    assert_int_equal(out.height, picture->height);
    return out;
}

double worst_difference(const nl_picture *picture, const double *answer)
{
    double worst = 0;
    for (size_t y = 0; y < picture->height; y++) {
        for (size_t k = 0; k < 3 * picture->width; k++) {
            const double off =
                fabs((double)nl_row(&picture->rgb, y)[k] - answer[y * 3 * picture->width + k]);
            worst = off <= worst ? worst : off; /* also NaN */
        }
    }
    return worst;
}
