/* SPDX-License-Identifier: MIT */
/* Whole files in and out. Outputs appear complete or not at all. */
#ifndef NONLOCAL_APP_FILE_H
#define NONLOCAL_APP_FILE_H

#include "nonlocal/base.h"

struct file {
    unsigned char *bytes; /* malloc'd, size bytes */
    size_t size;
};

/* Reads a regular file of at most 2 GiB; the error names the path and the reason. */
nl_status file_read(const char *path, struct file *file, nl_error *error);
void file_free(struct file *file);

/* Writes to a temporary name beside path, then renames; on failure path is as it was. */
nl_status file_write(const char *path, const void *bytes, size_t size, nl_error *error);

/* True when path ends with the extension (".png"), whatever the case. */
bool file_has_extension(const char *path, const char *extension);

#endif
