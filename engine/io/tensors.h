/* SPDX-License-Identifier: MIT */
/* A list of tensors while a decoder fills it. */
#ifndef NL_TENSORS_H
#define NL_TENSORS_H

#include "nonlocal/weights.h"

struct nl_tensor_list {
    nl_tensors tensors; /* in the order of the file */
    size_t capacity;
    size_t values; /* claimed */
};

/*
 * A new, empty tensor, which stays where it is until the next one is added. The name is checked:
 * its length, UTF-8, no control characters.
 */
nl_status nl_tensor_list_add(struct nl_tensor_list *list, const char *name, size_t length,
                             nl_tensor **tensor, nl_error *error);

/* Asks for room for `count` values before they are allocated. */
nl_status nl_tensor_list_claim(struct nl_tensor_list *list, const nl_tensor *tensor, size_t count,
                               nl_error *error);

/* Fills *error with "tensor 'name': " and the words, without a final stop. */
nl_status nl_tensor_fail(nl_error *error, nl_status status, const char *name, const char *format,
                         ...) NL_PRINTF(4, 5);

/* May a tensor with this error stay in the list, unread? */
static inline bool nl_tensor_skippable(nl_status status)
{
    return status == NL_UNSUPPORTED || status == NL_LIMIT;
}

/* Makes it a tensor that could not be read. */
void nl_tensor_set_problem(nl_tensor *tensor, const char *problem);

#endif
