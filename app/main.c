/* SPDX-License-Identifier: MIT */
#include <string.h>

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
    return window_main(argc, argv);
}
