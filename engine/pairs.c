/* SPDX-License-Identifier: MIT */
#include "pairs.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "panels.h"

static bool by_direction(nl_metric_id metric)
{
    return metric == NL_METRIC_COSINE || metric == NL_METRIC_CORRELATION;
}

static bool by_squares(nl_metric_id metric)
{
    return metric == NL_METRIC_EUCLIDEAN || metric == NL_METRIC_SQEUCLIDEAN ||
           metric == NL_METRIC_GAUSSIAN;
}

nl_status nl_pairs_check(const nl_dissim_params *params, const nl_matrix *x, const nl_exec *exec,
                         float *largest, nl_error *error)
{
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    size_t row, col;
    if (!kernels)
        return NL_UNSUPPORTED;
    if ((unsigned)params->metric >= NL_METRIC_COUNT)
        return nl_fail(error, NL_INVALID, "there is no metric number %d", (int)params->metric);
    if (!(params->bandwidth >= 0) || !isfinite(params->bandwidth))
        return nl_fail(error, NL_INVALID, "the bandwidth %g is not a positive number",
                       params->bandwidth);
    if (x->rows == 0 || x->cols == 0)
        return nl_fail(error, NL_INVALID, "there are no rows to compare (%zu × %zu)", x->rows,
                       x->cols);
    *largest = nl_rows_largest(kernels, x, 0, x->rows);
    if (isnan(*largest) && !nl_matrix_finite(x, &row, &col))
        return nl_fail(error, NL_INVALID, "feature %zu of row %zu is not a finite number", col + 1,
                       row + 1);
    return NL_OK;
}

/*
 * Power of two that brings the largest magnitude into [0.5, 1); 0 when all is 0 or in a range in
 * which the metric's chain neither over- nor underflows.
 */
static int range_exponent(nl_metric_id metric, float largest)
{
    const float high = by_squares(metric) ? 1e6f : 1e30f;
    const float low = by_squares(metric) ? 1e-6f : 0;
    int exponent = 0;
    if (largest == 0 || (largest > low && largest < high))
        return 0;
    frexpf(largest, &exponent);
    return exponent;
}

static const float *source_row(const struct nl_pairs *pairs, size_t p)
{
    return nl_row(pairs->x, pairs->order ? pairs->order[p] : p);
}

static nl_status scaled_rows(struct nl_pairs *pairs, float largest, nl_error *error)
{
    const nl_matrix *x = pairs->x;
    pairs->exponent = range_exponent(pairs->metric, largest);
    if (pairs->exponent == 0 && !pairs->order) {
        pairs->rows = nl_matrix_view(x->data, x->rows, x->cols, x->stride);
        return NL_OK;
    }
    nl_status status = nl_matrix_alloc(&pairs->rows, x->rows, x->cols, error);
    for (size_t p = 0; status == NL_OK && p < x->rows; p++)
        for (size_t k = 0; k < x->cols; k++)
            nl_row(&pairs->rows, p)[k] = ldexpf(source_row(pairs, p)[k], -pairs->exponent);
    return status;
}

/*
 * x_i (less its mean, for correlations) over its length, in two floats a number: 48 bits, so that
 * differences of nearly parallel rows keep their digits. False when there is no direction.
 */
static bool unit_row(const float *x_i, size_t d, bool centred, float *out)
{
    double shift = 0, squares = 0;
    bool constant = true;
    for (size_t k = 0; k < d; k++) {
        shift += (double)x_i[k] - (double)x_i[0];
        constant = constant && x_i[k] == x_i[0];
    }
    if (centred && constant)
        return false;
    /* the mean in two parts: what is left after taking off x_i[0] is often exact */
    const double first = centred ? (double)x_i[0] : 0, mean = centred ? shift / (double)d : 0;
    for (size_t k = 0; k < d; k++) {
        double t = (double)x_i[k] - first - mean;
        squares += t * t;
    }
    const double length = sqrt(squares);
    for (size_t k = 0; length > 0 && k < d; k++) {
        double u = ((double)x_i[k] - first - mean) / length;
        out[2 * k] = (float)u;
        out[2 * k + 1] = (float)(u - (double)out[2 * k]);
    }
    return length > 0;
}

static nl_status unit_rows(struct nl_pairs *pairs, nl_error *error)
{
    const size_t n = pairs->x->rows;
    nl_status status = nl_matrix_alloc(&pairs->rows, n, 2 * pairs->d, error);
    if (status != NL_OK)
        return status;
    pairs->directionless = nl_alloc(n, sizeof *pairs->directionless);
    if (!pairs->directionless)
        return nl_fail(error, NL_NOMEM, "no memory for the directions of %zu rows", n);
    for (size_t p = 0; p < n; p++) {
        pairs->directionless[p] =
            !unit_row(source_row(pairs, p), pairs->d, pairs->metric == NL_METRIC_CORRELATION,
                      nl_row(&pairs->rows, p));
        pairs->any_directionless |= pairs->directionless[p];
    }
    return NL_OK;
}

static nl_pair_kernel kernel_of(const nl_kernels *kernels, nl_metric_id metric)
{
    switch (metric) {
    case NL_METRIC_EUCLIDEAN:
        return kernels->euclidean;
    case NL_METRIC_MANHATTAN:
        return kernels->manhattan;
    case NL_METRIC_CHEBYSHEV:
        return kernels->chebyshev;
    case NL_METRIC_COSINE:
    case NL_METRIC_CORRELATION:
        return kernels->chord;
    default:
        return kernels->squares;
    }
}

nl_status nl_pairs_make(const nl_dissim_params *params, const nl_matrix *x, float largest,
                        const size_t *order, const nl_exec *exec, struct nl_pairs *pairs,
                        nl_error *error)
{
    const nl_kernels *kernels = nl_exec_kernels(exec, error);
    *pairs = (struct nl_pairs){.metric = params->metric, .x = x, .order = order, .d = x->cols};
    if (!kernels)
        return NL_UNSUPPORTED;
    pairs->kernels = kernels;
    pairs->kernel = kernel_of(kernels, params->metric);
    nl_status status =
        by_direction(params->metric) ? unit_rows(pairs, error) : scaled_rows(pairs, largest, error);
    if (status == NL_OK && !(pairs->panels = nl_panels_pack_with(kernels, &pairs->rows)))
        status = nl_fail(error, NL_NOMEM, "no memory for %zu packed rows of %zu features", x->rows,
                         x->cols);
    pairs->bandwidth = params->bandwidth;
    return status;
}

void nl_pairs_free(struct nl_pairs *pairs)
{
    nl_matrix_free(&pairs->rows);
    nl_free(pairs->panels);
    nl_free(pairs->directionless);
    *pairs = (struct nl_pairs){0};
}

/* Σ (x_ik − x_jk)², Σ |·| or max |·| in double, unscaled: for pairs so close that float loses it.
 */
static double exact_chain(const struct nl_pairs *pairs, size_t i, size_t j)
{
    const float *x_i = source_row(pairs, i), *x_j = source_row(pairs, j);
    double sum = 0;
    if (memcmp(x_i, x_j, pairs->d * sizeof *x_i) == 0)
        return 0;
    for (size_t k = 0; k < pairs->d; k++) {
        double difference = fabs((double)x_i[k] - (double)x_j[k]);
        if (by_squares(pairs->metric))
            sum += difference * difference;
        else if (pairs->metric == NL_METRIC_MANHATTAN)
            sum += difference;
        else
            sum = fmax(sum, difference);
    }
    return sum;
}

/* Below these a chain of squares may have lost terms to the end of float's exponents. */
static const float smallest_square = 0x1p-80f, smallest_distance = 0x1p-40f;

/*
 * 1 − e^−t for t >= 0, relative error below 1e-10, the same bits wherever IEEE double is: e^−t =
 * 2^−n · e^−r with r = t − n ln 2 in [−0.35, 0.35], and 1 − e^−r summed as a series, so that
 * nothing cancels for small t.
 */
static double one_minus_exp(double t)
{
    static const double inverse[] = {1.0 / 10, 1.0 / 9, 1.0 / 8, 1.0 / 7, 1.0 / 6,
                                     1.0 / 5,  1.0 / 4, 1.0 / 3, 1.0 / 2, 1.0};
    if (!(t < 700))
        return 1;
    const double n = floor(t * 1.4426950408889634 + 0.5);
    const double r = (t - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
    double sum = 0; /* r − r²/2 + r³/6 − ..., Horner from the 10th term */
    for (int k = 0; k < 10; k++)
        sum = r * inverse[k] * (1 - sum);
    const double power = n == 0 ? 1 : ldexp(1, -(int)n);
    return (1 - power) + power * sum;
}

double nl_gaussian_dissim(double squared, double bandwidth)
{
    return one_minus_exp(squared / bandwidth / bandwidth / 2);
}

void nl_pairs_finish_gaussian(const struct nl_pairs *pairs, size_t i, size_t j, size_t cols,
                              float *out)
{
    const double scale = ldexp(1, 2 * pairs->exponent);
    for (size_t c = 0; c < cols; c++) {
        double squared = (double)out[c] * scale;
        if (out[c] < smallest_square)
            squared = exact_chain(pairs, i, j + c);
        out[c] = (float)nl_gaussian_dissim(squared, pairs->bandwidth);
    }
}

/* Distances below this are computed again; 0 where the kernel's are as good as any. */
static float smallest_good(const struct nl_pairs *pairs)
{
    if (pairs->metric == NL_METRIC_SQEUCLIDEAN)
        return smallest_square;
    return by_squares(pairs->metric) || pairs->exponent != 0 ? smallest_distance : 0;
}

static void finish_distance(const struct nl_pairs *pairs, size_t i, size_t j, size_t cols,
                            float *out)
{
    const nl_metric_id metric = pairs->metric;
    const bool root = metric == NL_METRIC_EUCLIDEAN;
    const int exponent = metric == NL_METRIC_SQEUCLIDEAN ? 2 * pairs->exponent : pairs->exponent;
    const float smallest = smallest_good(pairs);
    for (size_t c = 0; c < cols; c++) {
        if (out[c] < smallest) {
            double exact = exact_chain(pairs, i, j + c);
            out[c] = (float)(root ? sqrt(exact) : exact);
        } else if (exponent != 0) {
            out[c] = ldexpf(out[c], exponent);
        }
    }
}

/*
 * Half a squared chord is 1 − cos. Unit rows are right to 2⁻⁴⁹ a number, so that up to 2⁻⁹⁴ it
 * cannot be told from 0: rows that are multiples of each other are exactly 0 apart.
 */
static void finish_direction(const struct nl_pairs *pairs, size_t i, size_t j, size_t cols,
                             float *out)
{
    for (size_t c = 0; c < cols; c++)
        out[c] = out[c] < 0x1p-94f ? 0 : out[c] > 2 ? 2 : out[c];
    if (!pairs->any_directionless)
        return;
    for (size_t c = 0; c < cols; c++)
        if (pairs->directionless[i] || pairs->directionless[j + c])
            out[c] = i == j + c ? 0 : 1;
}

/* True when the kernel's tile is D as it stands, which most are. */
static bool finished(const struct nl_pairs *pairs, size_t rows, size_t cols, const float *out,
                     size_t out_stride)
{
    if (pairs->metric == NL_METRIC_GAUSSIAN)
        return pairs->bandwidth == 0;
    return !by_direction(pairs->metric) && pairs->exponent == 0 &&
           !pairs->kernels->any_below(out, out_stride, rows, cols, smallest_good(pairs));
}

void nl_pairs_tile(const struct nl_pairs *pairs, size_t i, size_t rows, size_t j, size_t cols,
                   float *out, size_t out_stride)
{
    pairs->kernel(nl_row(&pairs->rows, i), pairs->rows.stride, rows,
                  pairs->panels + j * pairs->rows.cols, cols, pairs->d, out, out_stride);
    if (finished(pairs, rows, cols, out, out_stride))
        return;
    for (size_t r = 0; r < rows; r++) {
        float *out_r = out + r * out_stride;
        if (by_direction(pairs->metric))
            finish_direction(pairs, i + r, j, cols, out_r);
        else if (pairs->metric == NL_METRIC_GAUSSIAN)
            nl_pairs_finish_gaussian(pairs, i + r, j, cols, out_r);
        else
            finish_distance(pairs, i + r, j, cols, out_r);
    }
}
