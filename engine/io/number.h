/* SPDX-License-Identifier: MIT */
/* How array files store numbers. */
#ifndef NL_NUMBER_H
#define NL_NUMBER_H

#include "nonlocal/base.h"

struct nl_number {
    char type;   /* 'b' truth, 'i' signed, 'u' unsigned, 'f' IEEE 754, 'g' bfloat16 */
    size_t size; /* bytes a value: 1 2 4 8; floats 2 4 8, bfloat16 2 */
    bool big_endian;
};

/*
 * The value whose `size` bytes start at `at`, as the nearest float; infinite where a double is
 * beyond the range of float.
 */
float nl_number_read(const unsigned char *at, const struct nl_number *number);

#endif
