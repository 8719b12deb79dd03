/* SPDX-License-Identifier: MIT */
/* Pictures: decoding from memory, upright and on white, and reduction by exact area average. */
#ifndef NONLOCAL_PICTURE_H
#define NONLOCAL_PICTURE_H

#include "nonlocal/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A decoded file at full size: upright (EXIF applied), 1 to 4 interleaved channels. */
typedef struct nl_bitmap {
    size_t width, height; /* of the upright picture, in pixels */
    int channels;         /* 1 grey, 2 grey+alpha, 3 RGB, 4 RGBA */
    int bits;             /* 8 or 16 a channel */
    int orientation;      /* EXIF tag that was applied, 1 = none */
    void *pixels;         /* width × height × channels of uint8_t or uint16_t; owned */
} nl_bitmap;

enum {
    NL_MAX_PICTURE_SIDE = 65500, /* pixels */
    NL_MAX_PICTURE_PIXELS = 1 << 28,
};

/*
 * Decodes PNG (8 and 16 bits), JPEG, GIF (first frame), BMP or PNM. The bytes are not kept.
 * NL_FORMAT when they are not a picture, NL_LIMIT when it is larger than the limits above.
 */
NL_API nl_status nl_bitmap_load(const void *bytes, size_t length, nl_bitmap *bitmap,
                                nl_error *error);
NL_API void nl_bitmap_free(nl_bitmap *bitmap);

/* What features are computed from: sRGB as stored, divided by its maximum, in [0, 1]. */
typedef struct nl_picture {
    size_t width, height;
    size_t original_width, original_height; /* of the upright picture before reduction */
    nl_matrix rgb;                          /* height rows of width × 3 */
} nl_picture;

/*
 * Composites on white and reduces by exact area average so that the longer side is at most
 * max_side (0 = never), the other side max(1, round half up).
 */
NL_API nl_status nl_picture_from_bitmap(const nl_bitmap *bitmap, size_t max_side,
                                        nl_picture *picture, nl_error *error);
NL_API void nl_picture_free(nl_picture *picture);

#ifdef __cplusplus
}
#endif

#endif
