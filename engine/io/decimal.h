/* SPDX-License-Identifier: MIT */
/* Decimal numbers in text, whatever the locale. */
#ifndef NL_DECIMAL_H
#define NL_DECIMAL_H

#include "nonlocal/base.h"

/*
 * Reads all `length` bytes as one number: sign, digits with at most one decimal mark, exponent. The
 * mark is a point, or also a comma where `comma` is set. Spaces, hexadecimal and words are refused
 * (false, *value untouched). *value is the nearest float, ties to even, of the number cut to 19
 * significant digits (a cut one is never a tie but above it). Too large gives an infinity, too
 * small a zero.
 */
bool nl_decimal_parse(const char *text, size_t length, bool comma, float *value);

#endif
