/* SPDX-License-Identifier: MIT */
/* How a long call runs: instruction set, threads, cancellation, progress. */
#ifndef NONLOCAL_EXEC_H
#define NONLOCAL_EXEC_H

#include "nonlocal/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Instruction-set tiers. AVX512 means F+BW+VL+DQ, AVX2 means AVX2+FMA. */
typedef enum nl_cpu {
    NL_CPU_AUTO, /* the best that is both compiled in and available */
    NL_CPU_SCALAR,
    NL_CPU_AVX2,
    NL_CPU_AVX512,
    NL_CPU_NEON,
    NL_CPU_COUNT,
} nl_cpu;

/* "auto", "scalar", "avx2", "avx512", "neon"; static storage. */
NL_API const char *nl_cpu_name(nl_cpu cpu);

/* Compiled into this library? (AUTO and SCALAR always.) */
NL_API bool nl_cpu_compiled(nl_cpu cpu);

/* Compiled in, and this processor and operating system can run it? */
NL_API bool nl_cpu_available(nl_cpu cpu);

/* A table of kernels for one tier. Immutable, static storage. */
typedef struct nl_kernels nl_kernels;

/*
 * The kernels of a tier; NULL with an error in words when it is not available. AUTO heeds the
 * environment variable NONLOCAL_CPU (scalar, avx2, avx512, neon) and fails if that names a tier
 * that cannot run here.
 */
NL_API const nl_kernels *nl_kernels_get(nl_cpu cpu, nl_error *error);

/* The tier that a table was made for. */
NL_API nl_cpu nl_kernels_cpu(const nl_kernels *kernels);

/*
 * Runs fused multiply-adds from registers on the calling thread and returns how many floating-point
 * operations that were: the caller times it, to know the peak beside a measurement.
 */
NL_API double nl_kernels_peak(const nl_kernels *kernels, size_t iterations);

/* A set of worker threads. One call uses it at a time; a second caller waits for its turn. */
typedef struct nl_pool nl_pool;

/* threads counts the caller's own, 0 = one per processor this process may use; at most 256. */
NL_API nl_status nl_pool_create(size_t threads, nl_pool **pool, nl_error *error);
NL_API size_t nl_pool_threads(const nl_pool *pool);
/* No call may be using the pool. */
NL_API void nl_pool_free(nl_pool **pool);

/*
 * Never NULL where a function takes one; every member may be zero. What it points to must outlive
 * the call. A function called from inside a parallel loop must not be given the same pool.
 */
typedef struct nl_exec {
    nl_pool *pool;             /* NULL: the calling thread alone */
    const nl_kernels *kernels; /* NULL: nl_kernels_get(NL_CPU_AUTO) */
    /* Polled from the working threads every few milliseconds; true ends the call with
     * NL_CANCELLED. */
    bool (*cancelled)(void *user);
    /* Called from working threads, one at a time, with a fraction that never falls. */
    void (*progress)(void *user, double fraction);
    void *user;
} nl_exec;

#ifdef __cplusplus
}
#endif

#endif
