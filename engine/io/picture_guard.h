/* SPDX-License-Identifier: MIT */
/* What is looked at before the bytes of a picture are given to the decoder. */
#ifndef NL_PICTURE_GUARD_H
#define NL_PICTURE_GUARD_H

#include "nonlocal/base.h"

/*
 * Width and height of a PNG as its header has them, before any limit; false when it is not a PNG.
 * The decoder itself refuses the largest without a word.
 */
bool nl_png_size(const uint8_t *bytes, size_t length, double *width, double *height);

/*
 * False when the bytes cannot be a whole picture of width × height: a header that promises more
 * pixels than its format could pack into the file, or tables that the decoder would write beyond
 * its memory. Costs nothing next to decoding. True for formats that it does not know.
 */
bool nl_picture_plausible(const uint8_t *bytes, size_t length, double width, double height);

#endif
