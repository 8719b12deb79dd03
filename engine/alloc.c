/* SPDX-License-Identifier: MIT */
#include "alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_long fail_countdown = -1;
static atomic_long live_blocks;

static bool must_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) < 0)
        return false;
    return atomic_fetch_sub(&fail_countdown, 1) == 0;
}

/* Rounded up to whole alignments, at least one; 0 when that overflows. */
static size_t padded_bytes(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > (size_t)PTRDIFF_MAX - NL_ALIGNMENT)
        return 0;
    return (bytes + NL_ALIGNMENT) / NL_ALIGNMENT * NL_ALIGNMENT;
}

void *nl_alloc_dirty(size_t count, size_t size)
{
    const size_t bytes = padded_bytes(count, size);
    if (must_fail() || bytes == 0)
        return NULL;
    void *block = aligned_alloc(NL_ALIGNMENT, bytes);
    if (block)
        atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
    return block;
}

void *nl_alloc(size_t count, size_t size)
{
    void *block = nl_alloc_dirty(count, size);
    if (block)
        memset(block, 0, padded_bytes(count, size));
    return block;
}

void *nl_realloc(void *block, size_t old_bytes, size_t new_bytes)
{
    void *larger = nl_alloc(1, new_bytes);
    if (larger && block) {
        memcpy(larger, block, old_bytes < new_bytes ? old_bytes : new_bytes);
        nl_free(block);
    }
    return larger;
}

void nl_free(void *block)
{
    if (block)
        atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
    free(block);
}

void nl_alloc_fail_after(long countdown)
{
    atomic_store(&fail_countdown, countdown);
}

long nl_alloc_live(void)
{
    return atomic_load(&live_blocks);
}
