/* SPDX-License-Identifier: MIT */
/* NL_TEST_THIN in the environment, for emulators, leaves slow cases out. Never silently. */
#ifndef THIN_H
#define THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether a case of a × b × c is left out; those up to `most` terms never are. */
static inline bool thin_skips(size_t a, size_t b, size_t c, size_t most)
{
    if (a * b * c <= most || !getenv("NL_TEST_THIN"))
        return false;
    printf("# NL_TEST_THIN leaves out %zu × %zu × %zu\n", a, b, c);
    return true;
}

#endif
