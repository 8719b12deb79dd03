/* SPDX-License-Identifier: MIT */
/* stb_image, compiled into the one file that includes this, on the library's allocator. */
#ifndef NL_STB_H
#define NL_STB_H

#include "../alloc.h"

#include <string.h>

enum { STB_STATE = 65536 }; /* more bytes than any decoder's own state takes */

static _Thread_local size_t stb_largest_block;
static _Thread_local bool stb_out_of_memory; /* an allowed block could not be had */

/* From here on the decoder fails where it asks for a block of more bytes. */
static inline void stb_allow(size_t largest_block)
{
    stb_largest_block = largest_block;
    stb_out_of_memory = false;
}

static inline void *stb_realloc(void *block, size_t old_bytes, size_t new_bytes)
{
    if (new_bytes > stb_largest_block)
        return NULL;
    void *larger = nl_realloc(block, old_bytes, new_bytes);
    stb_out_of_memory = stb_out_of_memory || !larger;
    return larger;
}

/* The first chunk of a PNG's data may be empty: the decoder then copies no bytes to NULL. */
static inline void *stb_memcpy(void *to, const void *from, size_t bytes)
{
    return bytes ? memcpy(to, from, bytes) : to;
}
#define memcpy stb_memcpy

/* Formats with no usable signature, or with a hidden gamma, stay out. */
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_PIC
#define STBI_NO_PSD
#define STBI_NO_TGA
#define STBI_NO_PNM /* 16 bits unswapped, maximum unheeded: pnm.c reads them */
#define STBI_NO_FAILURE_STRINGS
/* Over this it says "not a picture"; nl_picture_limits has words for what is over ours. */
#define STBI_MAX_DIMENSIONS (1 << 24)
#define STBI_ASSERT(x) ((void)0)
#define STBI_MALLOC(bytes) stb_realloc(NULL, 0, bytes)
#define STBI_REALLOC_SIZED(block, old_bytes, new_bytes) stb_realloc(block, old_bytes, new_bytes)
#define STBI_FREE(block) nl_free(block)

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* reported at the end of the file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#if defined(__clang__) /* NULL + 0, for the same reason */
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
#undef memcpy
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#endif
