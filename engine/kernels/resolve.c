/* SPDX-License-Identifier: MIT */
/* Which tiers are compiled in, which can run here, and which one is taken. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static const struct nl_kernels *const compiled[NL_CPU_COUNT] = {
    [NL_CPU_SCALAR] = &nl_kernels_scalar,
#if defined(NL_HAVE_AVX2)
    [NL_CPU_AVX2] = &nl_kernels_avx2,
#endif
#if defined(NL_HAVE_AVX512)
    [NL_CPU_AVX512] = &nl_kernels_avx512,
#endif
#if defined(NL_HAVE_NEON)
    [NL_CPU_NEON] = &nl_kernels_neon,
#endif
};

static const char *const names[NL_CPU_COUNT] = {"auto", "scalar", "avx2", "avx512", "neon"};

const char *nl_cpu_name(nl_cpu cpu)
{
    return (unsigned)cpu < NL_CPU_COUNT ? names[cpu] : "unknown";
}

bool nl_cpu_compiled(nl_cpu cpu)
{
    return cpu == NL_CPU_AUTO || ((unsigned)cpu < NL_CPU_COUNT && compiled[cpu]);
}

/* The compiler's runtime asks the processor, and whether the system saves the wide registers. */
static bool processor_has(nl_cpu cpu)
{
    switch (cpu) {
#if defined(__x86_64__) || defined(__i386__)
    case NL_CPU_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case NL_CPU_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#endif
#if defined(__aarch64__)
    case NL_CPU_NEON:
        return true; /* part of the architecture */
#endif
    case NL_CPU_AUTO:
    case NL_CPU_SCALAR:
        return true;
    default:
        return false;
    }
}

bool nl_cpu_available(nl_cpu cpu)
{
    return nl_cpu_compiled(cpu) && processor_has(cpu);
}

static nl_cpu best_available(void)
{
    static const nl_cpu best_first[] = {NL_CPU_AVX512, NL_CPU_AVX2, NL_CPU_NEON};
    for (size_t i = 0; i < sizeof best_first / sizeof *best_first; i++)
        if (nl_cpu_available(best_first[i]))
            return best_first[i];
    return NL_CPU_SCALAR;
}

const nl_kernels *nl_kernels_get(nl_cpu cpu, nl_error *error)
{
    const char *wish = cpu == NL_CPU_AUTO ? getenv("NONLOCAL_CPU") : NULL;
    if (wish && *wish) {
        cpu = NL_CPU_COUNT;
        for (int i = 0; i < NL_CPU_COUNT; i++)
            if (strcmp(wish, names[i]) == 0)
                cpu = (nl_cpu)i;
        if (cpu == NL_CPU_COUNT) {
            nl_fail(error, NL_UNSUPPORTED,
                    "NONLOCAL_CPU is '%s': use auto, scalar, avx2, avx512 or neon", wish);
            return NULL;
        }
    }
    if (cpu == NL_CPU_AUTO)
        cpu = best_available();
    if (!nl_cpu_available(cpu)) {
        nl_fail(error, NL_UNSUPPORTED,
                "the instruction set %s is not %s; leave the choice to 'auto'", nl_cpu_name(cpu),
                nl_cpu_compiled(cpu) ? "available on this processor"
                                     : "compiled into this program");
        return NULL;
    }
    return compiled[cpu];
}

double nl_kernels_peak(const nl_kernels *kernels, size_t iterations)
{
    return kernels->peak(iterations);
}

nl_cpu nl_kernels_cpu(const nl_kernels *kernels)
{
    return kernels->cpu;
}
