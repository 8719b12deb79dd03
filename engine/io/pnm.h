/* SPDX-License-Identifier: MIT */
/* Portable grey and pixel maps (netpbm: pgm(5), ppm(5)), plain and raw. */
#ifndef NL_PNM_H
#define NL_PNM_H

#include "nonlocal/picture.h"

/* Do the bytes start like one? */
bool nl_is_pnm(const uint8_t *bytes, size_t length);

/*
 * Decodes P2, P3, P5 and P6. Samples of a maximum other than 255 are read into 16 bits, scaled so
 * that the maximum is 65535.
 */
nl_status nl_pnm_load(const uint8_t *bytes, size_t length, nl_bitmap *bitmap, nl_error *error);

/* NL_LIMIT, with the size in words, for a picture over the limits of nonlocal/picture.h. */
nl_status nl_picture_limits(double width, double height, nl_error *error);

#endif
