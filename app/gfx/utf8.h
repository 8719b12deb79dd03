/* SPDX-License-Identifier: MIT */
#ifndef NONLOCAL_APP_GFX_UTF8_H
#define NONLOCAL_APP_GFX_UTF8_H

#include <stdint.h>

/*
 * The character at *at (< end), which moves behind it. What is not UTF-8 (stray or missing
 * continuation bytes, overlong forms, surrogates, above U+10FFFF) gives U+FFFD and moves over the
 * bytes that could have begun a character, at least one.
 */
static inline uint32_t utf8_next(const char **at, const char *end)
{
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    uint32_t first = (unsigned char)*(*at)++;
    int more = first < 0x80 ? 0 : first < 0xC2 ? -1 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (more == 0) {
        return first;
    }
    if (more < 0 || first > 0xF4) {
        return 0xFFFD;
    }
    uint32_t code = first & (0x3Fu >> more);
    for (int i = 0; i < more; i++) {
        if (*at >= end || ((unsigned char)**at & 0xC0) != 0x80) {
            return 0xFFFD;
        }
        code = code << 6 | ((unsigned char)*(*at)++ & 0x3F);
    }
    if (code < smallest[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        return 0xFFFD;
    }
    return code;
}

#endif
