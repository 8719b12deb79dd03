/* SPDX-License-Identifier: MIT */
#include "nonlocal/dissim.h"

#include <limits.h>

#include "pool.h"

const nl_order nl_orders[NL_ORDER_COUNT + 1] = {
    [NL_ORDER_INPUT] = {"input", "As in the file", false},
    [NL_ORDER_LABEL] = {"label", "By class", true},
};

nl_status nl_order_rows(nl_order_id id, size_t n, const int *classes, size_t *order,
                        nl_error *error)
{
    if ((unsigned)id >= NL_ORDER_COUNT)
        return nl_fail(error, NL_INVALID, "there is no order number %d", (int)id);
    if (nl_orders[id].needs_classes && !classes)
        return nl_fail(error, NL_INVALID,
                       "the order '%s' needs labels, and this data has no label column",
                       nl_orders[id].name);
    if (id == NL_ORDER_INPUT) {
        for (size_t p = 0; p < n; p++)
            order[p] = p;
        return NL_OK;
    }
    for (size_t i = 0; i < n; i++)
        if (classes[i] < 0)
            return nl_fail(error, NL_INVALID, "class numbers must not be negative");
    for (int class = 0; n > 0;) {
        int next = INT_MAX; /* numbers may be missing: a class too many must not cost a round */
        for (size_t i = 0; i < n; i++) {
            if (classes[i] == class)
                *order++ = i;
            else if (classes[i] > class && classes[i] < next)
                next = classes[i];
        }
        if (class == next)
            break;
        class = next;
    }
    return NL_OK;
}

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

struct overview_loop {
    const nl_matrix *d;
    const size_t *order;
    nl_matrix *overview;
};

/* Sum of D's row over the positions of overview column x. */
static double span_sum(const struct overview_loop *loop, const float *row, size_t x0, size_t x1)
{
    double sum = 0;
    for (size_t p = x0; p < x1; p++)
        sum += (double)row[loop->order ? loop->order[p] : p];
    return sum;
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
            for (size_t p = y0; p < y1; p++)
                sum += span_sum(loop, nl_row(loop->d, loop->order ? loop->order[p] : p), x0, x1);
            nl_row(loop->overview, y)[x] = (float)(sum / (double)((y1 - y0) * (x1 - x0)));
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
