/* SPDX-License-Identifier: MIT */
/* A temporary folder for each test case: it is the current one, and gone afterwards. */
#ifndef NL_FOLDER_RIG_H
#define NL_FOLDER_RIG_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int rig_enter(void **state)
{
    char folder[256];
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/nonlocal-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    *state = strdup(folder);
    return *state ? 0 : -1;
}

static inline int rig_remove(const char *path, const struct stat *about, int kind, struct FTW *ftw)
{
    (void)about;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static inline int rig_leave(void **state)
{
    int failed = chdir("/");
    failed |= nftw(*state, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return failed;
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, rig_enter, rig_leave)

#endif
