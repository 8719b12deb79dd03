/* SPDX-License-Identifier: MIT */
#include "alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/*
 * Blocks from LARGE on ask for pages of 2 MiB: to touch 64 MiB for the first time costs 22 ms with
 * pages of 4 KiB, 3 ms with these.
 */
enum { LARGE = 4 << 20, LARGE_PAGE = 2 << 20 };

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
    void *block = NULL;
    if (posix_memalign(&block, bytes < LARGE ? NL_ALIGNMENT : LARGE_PAGE, bytes) != 0)
        return NULL;
    atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= LARGE)
        madvise(block, bytes, MADV_HUGEPAGE); /* a wish: nothing depends on it */
#endif
    return block;
}

/* Pages that are given back to the system come again as zeros, and only when they are touched. */
static void fill_with_zeros(void *block, size_t bytes)
{
    size_t done = 0;
#if defined(__linux__)
    const size_t whole_pages = bytes / LARGE_PAGE * LARGE_PAGE;
    if (bytes >= LARGE && madvise(block, whole_pages, MADV_DONTNEED) == 0)
        done = whole_pages;
#endif
    memset((char *)block + done, 0, bytes - done);
}

void *nl_alloc(size_t count, size_t size)
{
    void *block = nl_alloc_dirty(count, size);
    if (block)
        fill_with_zeros(block, padded_bytes(count, size));
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
