/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "nonlocal/attention.h"
#include "nonlocal/dissim.h"
#include "nonlocal/embed.h"
#include "nonlocal/features.h"
#include "verb.h"

static void print_names(const char *title, const char *(*name)(int))
{
    printf("%s", title);
    for (int i = 0; name(i); i++)
        printf(" %s", name(i));
    printf("\n");
}

static const char *tier_state(nl_cpu cpu)
{
    return nl_cpu_available(cpu)  ? "available"
           : nl_cpu_compiled(cpu) ? "not on this processor"
                                  : "not compiled in";
}

int verb_info(const struct args *args)
{
    struct verb_exec exec;
    nl_error error = {0};
    nl_status status = verb_exec_create(&args->doc, &exec, &error);
    if (status != NL_OK)
        return verb_fail(&error);
    printf("nonlocal %s\n", nl_version());
    for (int cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++)
        printf("%s: %s%s\n", nl_cpu_name((nl_cpu)cpu), tier_state((nl_cpu)cpu),
               nl_kernels_cpu(exec.exec.kernels) == (nl_cpu)cpu ? ", used" : "");
    printf("threads: %zu\n", nl_pool_threads(exec.pool));
    for (int id = 0; id < PARAM_COUNT; id++)
        if (param_table[id].type == PARAM_CHOICE && id != PARAM_CPU) {
            printf("%s:", param_table[id].key);
            print_names("", param_table[id].choice_name);
        }
    printf("built-in files: @sample @iris @library\n");
    verb_exec_free(&exec);
    return 0;
}
