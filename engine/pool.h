/* SPDX-License-Identifier: MIT */
/* Running a loop over blocks of rows on the threads of an nl_exec. */
#ifndef NL_POOL_H
#define NL_POOL_H

#include "nonlocal/exec.h"

/*
 * One block [begin, end) of the loop; worker is in 0..nl_exec_workers()-1 and never used by two
 * blocks at once, so that it can pick scratch memory.
 */
typedef void (*nl_block_fn)(void *context, size_t worker, size_t begin, size_t end);

/* Threads that may run blocks, at least 1. */
size_t nl_exec_workers(const nl_exec *exec);

/*
 * Calls block for [0, count) cut into pieces of `grain`, handed out by one atomic counter, and
 * returns when all have run. NL_CANCELLED when exec->cancelled said so: the blocks not yet begun
 * are left out. Blocks write disjoint outputs, so the result does not depend on the thread count.
 */
nl_status nl_parallel(const nl_exec *exec, size_t count, size_t grain, nl_block_fn block,
                      void *context, nl_error *error);

#endif
