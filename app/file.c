/* SPDX-License-Identifier: MIT */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const size_t max_bytes = (size_t)1 << 31;

static nl_status read_all(FILE *stream, const char *path, struct file *file, nl_error *error)
{
    size_t capacity = 0;
    for (;;) {
        if (file->size == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            unsigned char *larger = realloc(file->bytes, capacity);
            if (!larger)
                return nl_fail(error, NL_NOMEM, "no memory to read %s", path);
            file->bytes = larger;
        }
        size_t got = fread(file->bytes + file->size, 1, capacity - file->size, stream);
        file->size += got;
        if (file->size > max_bytes)
            return nl_fail(error, NL_LIMIT, "%s is larger than 2 GiB", path);
        if (got == 0)
            return ferror(stream)
                       ? nl_fail(error, NL_IO, "cannot read %s: %s", path, strerror(errno))
                       : NL_OK;
    }
}

nl_status file_read(const char *path, struct file *file, nl_error *error)
{
    struct stat about;
    *file = (struct file){0};
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return nl_fail(error, NL_IO, "cannot open %s: %s", path, strerror(errno));
    nl_status status = NL_OK;
    if (fstat(fileno(stream), &about) == 0 && S_ISDIR(about.st_mode))
        status = nl_fail(error, NL_IO, "%s is a folder, not a file", path);
    if (status == NL_OK)
        status = read_all(stream, path, file, error);
    fclose(stream);
    if (status != NL_OK)
        file_free(file);
    return status;
}

void file_free(struct file *file)
{
    free(file->bytes);
    *file = (struct file){0};
}

static bool write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

nl_status file_write(const char *path, const void *bytes, size_t size, nl_error *error)
{
    struct stat about;
    const bool special = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
    char *temporary = NULL;
    int fd;
    if (special) { /* a pipe or a device cannot be renamed over */
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        size_t room = strlen(path) + sizeof ".tmp-XXXXXX";
        temporary = malloc(room);
        if (!temporary)
            return nl_fail(error, NL_NOMEM, "no memory to write %s", path);
        snprintf(temporary, room, "%s.tmp-XXXXXX", path);
        fd = mkostemp(temporary, O_CLOEXEC);
    }
    bool ok = fd >= 0 && write_all(fd, bytes, size);
    int reason = errno;
    if (ok && !special) {
        mode_t mask = umask(0);
        umask(mask);
        ok = fchmod(fd, 0666 & ~mask) == 0 && fsync(fd) == 0;
        reason = errno;
    }
    if (fd >= 0 && close(fd) != 0 && ok) {
        ok = false;
        reason = errno;
    }
    if (ok && !special && rename(temporary, path) != 0) {
        ok = false;
        reason = errno;
    }
    if (!ok && !special && fd >= 0)
        unlink(temporary);
    free(temporary);
    return ok ? NL_OK : nl_fail(error, NL_IO, "cannot write %s: %s", path, strerror(reason));
}

bool file_has_extension(const char *path, const char *extension)
{
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}
