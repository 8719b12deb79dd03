/* SPDX-License-Identifier: MIT */
/* What is looked at before the bytes of a picture are given to the decoder. */
#ifndef NL_PICTURE_GUARD_H
#define NL_PICTURE_GUARD_H

#include "nonlocal/base.h"

/* Do the bytes start like PNG, JPEG, GIF or BMP? */
bool nl_picture_known(const uint8_t *bytes, size_t length);

/*
 * Width and height of a PNG as its header has them, before any limit; false when it is not a PNG.
 * The decoder itself refuses the largest without a word.
 */
bool nl_png_size(const uint8_t *bytes, size_t length, double *width, double *height);

/*
 * False for a JPEG with a Huffman table that the decoder would write beyond its memory, or with a
 * segment that reaches beyond the file. To be asked before anything else looks at the bytes.
 */
bool nl_jpeg_tables_fit(const uint8_t *bytes, size_t length);

/*
 * False when the header promises more pixels, width × height, than its format could pack into the
 * file. Costs nothing next to decoding. True for formats that it does not know.
 */
bool nl_picture_plausible(const uint8_t *bytes, size_t length, double width, double height);

#endif
