/* SPDX-License-Identifier: MIT */
#if defined(__linux__)
#include <malloc.h>
#endif
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
#if defined(__GLIBC__)
    /* Memory that is freed stays at hand: a drag asks for the same blocks again and again. */
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
    if (argc > 2 && strcmp(argv[1], "bench") == 0 && strcmp(argv[2], "frame") == 0)
        return bench_frame_main(argc - 1, argv + 1);
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
