/* SPDX-License-Identifier: MIT */
#include "nonlocal/features.h"

#include <math.h>

const nl_feature nl_norms[NL_NORM_COUNT + 1] = {
    [NL_NORM_NONE] = {"none", "As they are"},
    [NL_NORM_ZERO_MEAN] = {"zero-mean", "Zero mean"},
    [NL_NORM_UNIT] = {"unit-norm", "Unit length"},
    [NL_NORM_ZSCORE] = {"z-score", "Z-score"},
};

static void zero_mean(float *x_i, size_t d)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++)
        sum += (double)x_i[k];
    for (size_t k = 0; k < d; k++)
        x_i[k] = (float)((double)x_i[k] - sum / (double)d);
}

static void unit_length(float *x_i, size_t d)
{
    double squares = 0;
    for (size_t k = 0; k < d; k++)
        squares += (double)x_i[k] * (double)x_i[k];
    for (size_t k = 0; k < d && squares > 0; k++)
        x_i[k] = (float)((double)x_i[k] / sqrt(squares));
}

/* True when the column is constant (and now 0). */
static bool standardise_column(nl_matrix *x, size_t k)
{
    const double n = (double)x->rows;
    const float first = x->data[k];
    bool constant = true;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < x->rows; i++) {
        sum += (double)nl_row(x, i)[k];
        constant = constant && nl_row(x, i)[k] == first;
    }
    for (size_t i = 0; i < x->rows; i++) {
        double difference = (double)nl_row(x, i)[k] - sum / n;
        squares += difference * difference;
    }
    const double deviation = sqrt(squares / n);
    constant = constant || !(deviation > 0);
    for (size_t i = 0; i < x->rows; i++) {
        float *x_ik = nl_row(x, i) + k;
        *x_ik = constant ? 0 : (float)(((double)*x_ik - sum / n) / deviation);
    }
    return constant;
}

size_t nl_normalize(nl_matrix *x, nl_norm_id norm)
{
    size_t constant = 0;
    for (size_t i = 0; i < x->rows; i++) {
        if (norm == NL_NORM_ZERO_MEAN)
            zero_mean(nl_row(x, i), x->cols);
        else if (norm == NL_NORM_UNIT)
            unit_length(nl_row(x, i), x->cols);
    }
    for (size_t k = 0; norm == NL_NORM_ZSCORE && x->rows > 0 && k < x->cols; k++)
        constant += standardise_column(x, k);
    return constant;
}
