/* SPDX-License-Identifier: MIT */
/* Writing numbers and pictures: .npy, .csv and .png, complete or not at all. */
#ifndef NONLOCAL_APP_VERBS_OUTPUT_H
#define NONLOCAL_APP_VERBS_OUTPUT_H

#include "nonlocal/matrix.h"
#include "nonlocal/picture.h"

/* A text that grows; `failed` once memory is out, further calls are harmless. */
struct text {
    char *bytes;
    size_t size, capacity;
    bool failed;
};
void text_add(struct text *text, const char *format, ...) NL_PRINTF(2, 3);
/* Writes the text and frees it. */
nl_status text_write(struct text *text, const char *path, nl_error *error);

/* The matrix's rows reshaped: product(shape) numbers, float32. */
nl_status npy_write(const char *path, const nl_matrix *matrix, const size_t *shape, size_t ndim,
                    nl_error *error);

/* 8 bits a channel; what lies outside [0, 1] is cut off, with a note. */
nl_status picture_write_png(const char *path, const nl_picture *picture, nl_error *error);

#endif
