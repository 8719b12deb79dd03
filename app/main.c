/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform.h"
#include "verbs/verb.h"

/* A word that is neither a verb nor like an option is a file for the window. */
static bool is_headless(const char *word)
{
    for (const struct verb *verb = verbs; verb->name; verb++)
        if (strcmp(verb->name, word) == 0)
            return true;
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "--version") == 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && is_headless(argv[1]))
        return verb_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "render") == 0)
        return render_main(argc - 1, argv + 1);
    if (argc > 1 && argv[1][0] != '-' && argv[1][0] != '@' && access(argv[1], F_OK) != 0) {
        fprintf(
            stderr,
            "nonlocal: '%.200s' is neither a verb nor a file; nonlocal --help lists the verbs\n",
            argv[1]);
        return EXIT_BAD_USAGE;
    }
    return window_main(argc, argv);
}
