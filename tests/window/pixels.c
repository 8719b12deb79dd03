/* SPDX-License-Identifier: MIT */
#include "pixels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "nonlocal/picture.h"

enum { TILE = 32 };

static int channel_difference(const uint8_t *a, const uint8_t *b)
{
    int largest = 0;
    for (int c = 0; c < 3; c++) {
        int d = abs(a[c] - b[c]);
        largest = d > largest ? d : largest;
    }
    return largest;
}

static int at_most(int value, int limit)
{
    return value < limit ? value : limit;
}

bool pixels_compare(const uint8_t *got, const uint8_t *expected, int width, int height,
                    const struct pixels_tolerance *tolerance, uint8_t *picture,
                    struct pixels_difference *difference)
{
    bool within = true;
    size_t worst = 0;
    *difference = (struct pixels_difference){0};
    for (int ty = 0; ty < height; ty += TILE) {
        for (int tx = 0; tx < width; tx += TILE) {
            const int x1 = at_most(tx + TILE, width), y1 = at_most(ty + TILE, height);
            size_t differ = 0;
            for (int y = ty; y < y1; y++) {
                for (int x = tx; x < x1; x++) {
                    const size_t at = 3 * ((size_t)y * (size_t)width + (size_t)x);
                    const int d = channel_difference(got + at, expected + at);
                    const bool far = d > tolerance->near;
                    differ += far;
                    difference->largest = d > difference->largest ? d : difference->largest;
                    if (picture) {
                        memset(picture + at, 170 + expected[at + 1] / 4, 3);
                        if (far)
                            memcpy(picture + at, "\xE0\x10\x10", 3);
                    }
                }
            }
            const double share = (double)differ / (double)((x1 - tx) * (y1 - ty));
            within = within && share <= tolerance->tile;
            difference->pixels += differ;
            if (differ > worst) {
                worst = differ;
                difference->x = (tx + x1) / 2;
                difference->y = (ty + y1) / 2;
            }
        }
    }
    difference->share = (double)difference->pixels / ((double)width * (double)height);
    return within && difference->share <= tolerance->share;
}

uint8_t *pixels_load(const char *path, int *width, int *height, char *error, size_t error_size)
{
    struct file file = {0};
    nl_error reason = {0};
    nl_bitmap bitmap = {0};
    uint8_t *rgb = NULL;
    if (file_read(path, &file, &reason) != NL_OK ||
        nl_bitmap_load(file.bytes, file.size, &bitmap, &reason) != NL_OK)
        snprintf(error, error_size, "%s", reason.message);
    else if (bitmap.channels != 3 || bitmap.bits != 8)
        snprintf(error, error_size, "%s is not a picture of 8 bits RGB", path);
    else if (!(rgb = malloc(3 * bitmap.width * bitmap.height)))
        snprintf(error, error_size, "no memory for %s", path);
    else
        memcpy(rgb, bitmap.pixels, 3 * bitmap.width * bitmap.height);
    *width = (int)bitmap.width;
    *height = (int)bitmap.height;
    nl_bitmap_free(&bitmap);
    file_free(&file);
    return rgb;
}
