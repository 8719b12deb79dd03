/* SPDX-License-Identifier: MIT */
/* Any bytes through the picture decoders and the reduction. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nonlocal/picture.h"

#include "alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    nl_error error;
    nl_bitmap bitmap;
    nl_picture picture;
    /* a copy of exact size, so that a byte read too far is seen */
    uint8_t *exact = malloc(length ? length : 1);
    if (!exact)
        abort();
    memcpy(exact, bytes, length);
    if (nl_bitmap_load(exact, length, &bitmap, &error) == NL_OK) {
        if (nl_picture_from_bitmap(&bitmap, 256, &picture, &error) != NL_OK)
            abort();
        const nl_matrix *rgb = &picture.rgb;
        for (size_t y = 0; y < rgb->rows; y++)
            for (size_t k = 0; k < rgb->cols; k++)
                if (!(nl_row(rgb, y)[k] >= 0 && nl_row(rgb, y)[k] <= 1.000001f))
                    abort();
        nl_picture_free(&picture);
    }
    nl_bitmap_free(&bitmap);
    free(exact);
    if (nl_alloc_live() != 0)
        abort();
    return 0;
}
