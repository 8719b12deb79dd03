/* SPDX-License-Identifier: MIT */
/*
 * The one internal allocator. Everything the library allocates goes through here, the decoders
 * included, so that tests can make any single allocation fail.
 */
#ifndef NL_ALLOC_H
#define NL_ALLOC_H

#include "nonlocal/base.h"

#define NL_ALIGNMENT 64

/*
 * count × size bytes, 64-byte aligned, zeroed; NULL when the product overflows or memory is out.
 * A count of 0 gives a valid, empty block.
 */
void *nl_alloc(size_t count, size_t size);

/* The same with whatever was there before, for memory that is written whole at once. */
void *nl_alloc_dirty(size_t count, size_t size);

/* Like realloc for a block of nl_alloc: the first old_bytes stay, the rest is zero. */
void *nl_realloc(void *block, size_t old_bytes, size_t new_bytes);

void nl_free(void *block);

/*
 * For tests: the allocation after `countdown` further ones fails, once; negative switches off.
 * Not thread-safe: set it while nothing else runs.
 */
void nl_alloc_fail_after(long countdown);

/* For tests: blocks handed out and not yet freed. */
long nl_alloc_live(void);

#endif
