/* SPDX-License-Identifier: MIT */
#include "detail.h"

#include <math.h>

static const double patience = 3e7; /* pairs times features: some milliseconds */

void detail_free(struct detail *detail)
{
    nl_matrix_free(&detail->d);
    *detail = (struct detail){0};
}

/* Whole positions from low to high, at most n. */
static size_t span(double low, double high, size_t n, size_t *first)
{
    *first = (size_t)fmax(floor(low), 0);
    const size_t end = (size_t)fmin(ceil(high), (double)n);
    return end > *first ? end - *first : 0;
}

static bool is_there(const struct detail *detail, uint64_t overview_key, size_t y0, size_t rows,
                     size_t x0, size_t columns)
{
    return detail->key && detail->overview_key == overview_key && detail->y0 == y0 &&
           detail->x0 == x0 && detail->d.rows == rows && detail->d.cols == columns;
}

void detail_step(struct detail *detail, const struct result *result, const double window[4],
                 const nl_exec *exec)
{
    const struct order_part *order = result->order;
    const struct overview_part *overview = result->overview;
    if (!order || !overview || overview->mean.rows == 0 || order->dissim->d.rows > 0 ||
        !result->features || result->features->part.key != order->dissim->features_key ||
        result->cells->refused[0]) {
        detail_free(detail);
        return;
    }
    size_t y0, x0;
    const size_t rows = span(window[1], window[3], order->n, &y0);
    const size_t columns = span(window[0], window[2], order->n, &x0);
    if (is_there(detail, overview->part.key, y0, rows, x0, columns))
        return;
    detail_free(detail);
    const double work = (double)rows * (double)columns * (double)result->features->features.x.cols;
    if (rows == 0 || columns == 0 || rows > DETAIL_SIDE || columns > DETAIL_SIDE || work > patience)
        return;
    const nl_dissim_params params = {order->dissim->metric, overview->bandwidth};
    if (nl_matrix_alloc(&detail->d, rows, columns, NULL) != NL_OK ||
        nl_dissim_between(&params, &result->features->features.x, order->order + y0,
                          order->order + x0, exec, &detail->d, NULL) != NL_OK) {
        detail_free(detail);
        return;
    }
    detail->overview_key = overview->part.key;
    detail->y0 = y0;
    detail->x0 = x0;
    const size_t place[] = {y0, rows, x0, columns};
    detail->key = overview->part.key;
    for (size_t i = 0; i < 4; i++)
        detail->key = (detail->key ^ place[i]) * 0x9e3779b97f4a7c15u;
    detail->key |= 1;
}

double detail_value(const struct detail *detail, const struct cells_part *cells,
                    const size_t *order, size_t y, size_t x)
{
    const nl_matrix *whole = cells_matrix(cells);
    if (whole->rows > 0)
        return (double)nl_row(whole, order[y])[order[x]];
    if (detail->key && y >= detail->y0 && y - detail->y0 < detail->d.rows && x >= detail->x0 &&
        x - detail->x0 < detail->d.cols)
        return (double)nl_row(&detail->d, y - detail->y0)[x - detail->x0];
    return NAN;
}
