/* SPDX-License-Identifier: MIT */
/* Pictures of the window, compared. All are RGB, rows without gaps. */
#ifndef NONLOCAL_TESTS_PIXELS_H
#define NONLOCAL_TESTS_PIXELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pixels_tolerance {
    int near;           /* channels that differ by no more count as equal */
    double share, tile; /* of pixels that may differ: in all, and in any tile of 32 × 32 */
};

struct pixels_difference {
    size_t pixels; /* that differ by more than near */
    double share;
    int largest; /* difference of a channel */
    int x, y;    /* middle of the tile that differs most */
};

/*
 * True when the difference is within the tolerance. picture, when not NULL, receives `expected` in
 * pale grey with what differs in red.
 */
bool pixels_compare(const uint8_t *got, const uint8_t *expected, int width, int height,
                    const struct pixels_tolerance *tolerance, uint8_t *picture,
                    struct pixels_difference *difference);

/* A picture's file; NULL with one sentence. */
uint8_t *pixels_load(const char *path, int *width, int *height, char *error, size_t error_size);

#endif
