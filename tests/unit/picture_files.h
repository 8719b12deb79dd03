/* SPDX-License-Identifier: MIT */
/* The sample files of tests/golden/make_pictures.py, and the numbers that it put into them. */
#ifndef PICTURE_FILES_H
#define PICTURE_FILES_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_W = 13, SAMPLE_H = 9, MAX_FILE = 65536 };

struct file {
    char name[64];
    uint8_t *bytes;
    size_t length;
};

static inline unsigned sample8(unsigned x, unsigned y, unsigned c)
{
    return (x * 17 + y * 29 + c * 71 + x * y * 5) % 256;
}

static inline unsigned sample16(unsigned x, unsigned y, unsigned c)
{
    return (x * 4099 + y * 7919 + c * 20011 + x * y * 257) % 65536;
}

static inline unsigned alpha8(unsigned x, unsigned y)
{
    return (x * 23 + y * 41) % 256;
}

/* A file of the samples; the test fails where it cannot be read. Freed with free(file.bytes). */
static inline struct file file_read(const char *name)
{
    struct file file = {{0}, NULL, 0};
    char path[1024];
    assert_in_range(snprintf(file.name, sizeof file.name, "%s", name), 1, sizeof file.name - 1);
    assert_in_range(snprintf(path, sizeof path, "%s/%s", NL_TEST_PICTURES, name), 1,
                    sizeof path - 1);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    uint8_t *bytes = malloc(MAX_FILE);
    assert_non_null(bytes);
    file.length = fread(bytes, 1, MAX_FILE, stream);
    fclose(stream);
    assert_in_range(file.length, 1, MAX_FILE - 1);
    /* a block of exact size, so that a sanitizer sees a byte read too far */
    file.bytes = malloc(file.length);
    assert_non_null(file.bytes);
    memcpy(file.bytes, bytes, file.length);
    free(bytes);
    return file;
}

static inline int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All names in the folder, sorted; returns their number. */
static inline size_t file_names(char names[][64], size_t capacity)
{
    size_t count = 0;
    DIR *folder = opendir(NL_TEST_PICTURES);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.')
            continue;
        assert_true(count < capacity && strlen(entry->d_name) < 64);
        memcpy(names[count++], entry->d_name, strlen(entry->d_name) + 1);
    }
    closedir(folder);
    qsort(names, count, sizeof names[0], compare_names);
    return count;
}

#endif
