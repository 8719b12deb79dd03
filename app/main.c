/* SPDX-License-Identifier: MIT */
#include "verbs/verb.h"

int main(int argc, char **argv)
{
    return verb_main(argc - 1, argv + 1);
}
