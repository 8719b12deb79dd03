/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <stdio.h>
#include <stdlib.h>

#include "../canvas.h"
#include "../file.h"
#include "nonlocal/npy.h"
#include "verb.h"

void text_add(struct text *text, const char *format, ...)
{
    enum { LONGEST = 512 };
    if (text->capacity - text->size < LONGEST && !text->failed) {
        size_t capacity = text->capacity ? 2 * text->capacity : 65536;
        char *larger = realloc(text->bytes, capacity);
        text->failed = !larger;
        if (larger) {
            text->bytes = larger;
            text->capacity = capacity;
        }
    }
    if (text->failed)
        return;
    va_list arguments;
    va_start(arguments, format);
    int wrote = vsnprintf(text->bytes + text->size, LONGEST, format, arguments);
    va_end(arguments);
    text->size += wrote < 0 ? 0 : wrote < LONGEST ? (size_t)wrote : LONGEST - 1;
}

nl_status text_write(struct text *text, const char *path, nl_error *error)
{
    nl_status status = text->failed ? nl_fail(error, NL_NOMEM, "no memory to write %s", path)
                                    : file_write(path, text->bytes, text->size, error);
    free(text->bytes);
    *text = (struct text){0};
    return status;
}

nl_status npy_write(const char *path, const nl_matrix *matrix, const size_t *shape, size_t ndim,
                    nl_error *error)
{
    void *bytes = NULL;
    size_t size = 0, flat[] = {matrix->rows, matrix->cols};
    nl_matrix packed = {0};
    nl_status status = NL_OK;
    /* A matrix row may span several dimensions: without padding the numbers simply follow. */
    if (ndim > 2 && matrix->stride != matrix->cols) {
        float *data = malloc(matrix->rows * matrix->cols * sizeof *data);
        if (!data)
            return nl_fail(error, NL_NOMEM, "no memory to write %s", path);
        packed = nl_matrix_view(data, matrix->rows, matrix->cols, matrix->cols);
        for (size_t i = 0; i < matrix->rows; i++)
            for (size_t k = 0; k < matrix->cols; k++)
                nl_row(&packed, i)[k] = nl_row(matrix, i)[k];
        matrix = &packed;
    }
    if (ndim <= 2)
        status = nl_npy_write_alloc(matrix->data, matrix->stride, flat, 2, &bytes, &size, error);
    else
        status =
            nl_npy_write_alloc(matrix->data, shape[ndim - 1], shape, ndim, &bytes, &size, error);
    if (status == NL_OK)
        status = file_write(path, bytes, size, error);
    nl_npy_bytes_free(&bytes);
    free(packed.data);
    return status;
}

/* Bytes from [0, 1]; returns how many numbers lay outside. */
static size_t to_bytes(const nl_matrix *rgb, uint8_t *bytes)
{
    size_t outside = 0;
    for (size_t y = 0; y < rgb->rows; y++) {
        for (size_t k = 0; k < rgb->cols; k++) {
            float v = nl_row(rgb, y)[k];
            outside += v < 0 || v > 1;
            v = v < 0 ? 0 : v > 1 ? 1 : v;
            bytes[y * rgb->cols + k] = (uint8_t)(v * 255 + 0.5f);
        }
    }
    return outside;
}

nl_status picture_write_png(const char *path, const nl_picture *picture, nl_error *error)
{
    uint8_t *bytes = calloc(picture->width * picture->height, 3);
    if (!bytes)
        return nl_fail(error, NL_NOMEM, "no memory to write %s", path);
    size_t outside = to_bytes(&picture->rgb, bytes);
    nl_status status = png_write(path, bytes, (int)picture->width, (int)picture->height, error);
    free(bytes);
    if (status == NL_OK && outside > 0)
        verb_note("%zu of %zu channel values lie outside 0 to 1 and were cut off; .npy keeps them",
                  outside, picture->width * picture->height * 3);
    return status;
}
