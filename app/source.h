/* SPDX-License-Identifier: MIT */
/* What a person opened: a picture, a table or an array of features. */
#ifndef NONLOCAL_APP_SOURCE_H
#define NONLOCAL_APP_SOURCE_H

#include "doc.h"
#include "nonlocal/npy.h"
#include "nonlocal/picture.h"
#include "nonlocal/table.h"

struct source {
    enum source_kind kind;
    char name[256];   /* for people: the file's name without its folder, or @sample */
    nl_bitmap bitmap; /* picture: upright, full size */
    nl_table table;   /* table */
    nl_npy npy;       /* array: (n, d), (H, W, C) or (T, H, W, C) */
};

/*
 * Opens a file or a built-in (@sample, @iris, @library). csv may be NULL; it matters to tables
 * alone. The error names the file. Limits: see the loaders.
 */
nl_status source_load(const char *path, const nl_csv_params *csv, struct source *source,
                      nl_error *error);
void source_free(struct source *source);

/* NL_INVALID for an @name that is not built in. Files are not touched. */
nl_status source_check_name(const char *path, nl_error *error);

/* A sentence about what was left out or changed while loading, or "" (returns buffer). */
const char *source_note(const struct source *source, char *buffer, size_t size);

#endif
