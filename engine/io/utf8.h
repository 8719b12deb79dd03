/* SPDX-License-Identifier: MIT */
#ifndef NL_UTF8_H
#define NL_UTF8_H

#include <stddef.h>

/*
 * Bytes of the well-formed UTF-8 sequence at `at`, of which `left` > 0 bytes are there (Unicode,
 * table 3-7); 0 for anything else and for a zero byte.
 */
static inline size_t nl_utf8_length(const unsigned char *at, size_t left)
{
    unsigned char lead = at[0];
    if (lead < 0x80)
        return lead == 0 ? 0 : 1;
    size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

#endif
