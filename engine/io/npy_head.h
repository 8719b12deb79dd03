/* SPDX-License-Identifier: MIT */
/* What the beginning of a .npy file promises, before memory is spent on it. */
#ifndef NL_NPY_HEAD_H
#define NL_NPY_HEAD_H

#include "nonlocal/base.h"

struct nl_npy_head {
    size_t length; /* bytes in front of the values */
    size_t count;  /* values */
    size_t bytes;  /* of the values */
};

/* Reads the head at the start of `length` bytes; the values need not be there. Errors and their
 * words are those of nl_npy_load. */
nl_status nl_npy_read_head(const void *bytes, size_t length, struct nl_npy_head *head,
                           nl_error *error);

#endif
