/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdio.h>
#include <string.h>

#include "assets.h"
#include "file.h"

struct builtin {
    const char *name;
    const unsigned char *bytes;
    size_t size;
    bool table;
};

static const struct builtin *find_builtin(const char *path)
{
    static const struct builtin builtins[] = {
        {"@sample", asset_sample_png, asset_sample_png_size, false},
        {"@iris", asset_iris_csv, asset_iris_csv_size, true},
        {"@library", asset_library_csv, asset_library_csv_size, true},
    };
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (strcmp(builtins[i].name, path) == 0)
            return &builtins[i];
    return NULL;
}

static nl_status load_array(const void *bytes, size_t size, struct source *source, nl_error *error)
{
    nl_status status = nl_npy_load(bytes, size, 0, &source->npy, error);
    source->kind = SOURCE_ARRAY;
    if (status == NL_OK && (source->npy.ndim < 2 || source->npy.ndim > 4))
        status = nl_fail(
            error, NL_INVALID,
            "an array of %zu dimensions is not features; (n, d), (H, W, C) or (T, H, W, C) is",
            source->npy.ndim);
    if (status == NL_OK && source->npy.count == 0)
        status = nl_fail(error, NL_INVALID, "the array is empty");
    return status;
}

static nl_status load_bytes(const char *path, bool table, const void *bytes, size_t size,
                            const nl_csv_params *csv, struct source *source, nl_error *error)
{
    if (size == 0)
        return nl_fail(error, NL_FORMAT, "the file is empty");
    if (size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return load_array(bytes, size, source, error);
    if (table || file_has_extension(path, ".csv") || file_has_extension(path, ".tsv") ||
        file_has_extension(path, ".txt")) {
        source->kind = SOURCE_TABLE;
        return nl_table_load_csv(bytes, size, csv, &source->table, error);
    }
    source->kind = SOURCE_PICTURE;
    return nl_bitmap_load(bytes, size, &source->bitmap, error);
}

nl_status source_check_name(const char *path, nl_error *error)
{
    if (path[0] != '@' || find_builtin(path))
        return NL_OK;
    return nl_fail(error, NL_INVALID,
                   "there is no built-in '%s'; there are @sample, @iris and @library", path);
}

nl_status source_load(const char *path, const nl_csv_params *csv, struct source *source,
                      nl_error *error)
{
    const char *slash = strrchr(path, '/');
    const struct builtin *builtin = find_builtin(path);
    struct file file = {0};
    nl_error inner = {0};
    nl_status status;
    *source = (struct source){0};
    status = source_check_name(path, error);
    if (status != NL_OK)
        return status;
    snprintf(source->name, sizeof source->name, "%s", slash ? slash + 1 : path);
    if (builtin) {
        status =
            load_bytes(path, builtin->table, builtin->bytes, builtin->size, csv, source, &inner);
    } else {
        status = file_read(path, &file, error);
        if (status != NL_OK)
            return status;
        status = load_bytes(path, false, file.bytes, file.size, csv, source, &inner);
    }
    file_free(&file);
    if (status != NL_OK) {
        source_free(source);
        if (inner.line > 0)
            nl_fail_at(error, status, inner.line, inner.column, "%s, line %zu: %s", path,
                       inner.line, inner.message);
        else
            nl_fail(error, status, "%s: %s", path, inner.message);
    }
    return status;
}

void source_free(struct source *source)
{
    nl_bitmap_free(&source->bitmap);
    nl_table_free(&source->table);
    nl_npy_free(&source->npy);
    *source = (struct source){0};
}

const char *source_note(const struct source *source, char *buffer, size_t size)
{
    const nl_table *table = &source->table;
    buffer[0] = 0;
    if (source->kind == SOURCE_PICTURE && source->bitmap.orientation != 1)
        snprintf(buffer, size, "turned upright as its EXIF data says (orientation %d)",
                 source->bitmap.orientation);
    else if (source->kind == SOURCE_TABLE && table->missing > 0 && table->rows_dropped > 0)
        snprintf(buffer, size,
                 "%zu of %zu rows left out: %zu cells are missing, the first in row %zu",
                 table->rows_dropped, table->rows_read, table->missing, table->missing_row);
    else if (source->kind == SOURCE_TABLE && table->missing > 0)
        snprintf(buffer, size,
                 "%zu missing cells filled with their column's mean, the first in row %zu",
                 table->missing, table->missing_row);
    return buffer;
}
