/* SPDX-License-Identifier: MIT */
/* Reading a command line into struct args, and the help that goes with it. */
#ifndef NONLOCAL_APP_VERBS_ARGS_H
#define NONLOCAL_APP_VERBS_ARGS_H

#include "verb.h"

/*
 * argv[0] is the verb's name. NL_INVALID for anything that is not understood, in one sentence.
 * *help is set (and nothing else checked) when --help is among the arguments.
 */
nl_status args_parse(const struct verb *verb, int argc, char **argv, struct args *args, bool *help,
                     nl_error *error);

/* Prints a verb's help to standard output, from the tables. */
void args_help(const struct verb *verb);

#endif
