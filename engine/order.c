/* SPDX-License-Identifier: MIT */
#include "nonlocal/dissim.h"

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
    size_t p = 0;
    for (int class = 0; p < n; class ++) {
        bool any_later = false;
        for (size_t i = 0; i < n; i++) {
            if (classes[i] == class)
                order[p++] = i;
            any_later = any_later || classes[i] > class;
        }
        if (!any_later && p < n)
            return nl_fail(error, NL_INVALID, "class numbers must not be negative");
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
