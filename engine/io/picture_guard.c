/* SPDX-License-Identifier: MIT */
#include "picture_guard.h"

#include <math.h>
#include <string.h>

static bool starts_with(const uint8_t *bytes, size_t length, const char *magic, size_t magic_length)
{
    return length >= magic_length && memcmp(bytes, magic, magic_length) == 0;
}

static bool is_png(const uint8_t *bytes, size_t length)
{
    return starts_with(bytes, length, "\x89PNG\r\n\x1a\n", 8);
}

static bool is_jpeg(const uint8_t *bytes, size_t length)
{
    return starts_with(bytes, length, "\xff\xd8", 2);
}

static bool is_gif(const uint8_t *bytes, size_t length)
{
    return starts_with(bytes, length, "GIF8", 4);
}

static bool is_bmp(const uint8_t *bytes, size_t length)
{
    return starts_with(bytes, length, "BM", 2);
}

bool nl_picture_known(const uint8_t *bytes, size_t length)
{
    return is_png(bytes, length) || is_jpeg(bytes, length) || is_gif(bytes, length) ||
           is_bmp(bytes, length);
}

static uint32_t big32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little32(const uint8_t *bytes)
{
    return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* The 13 bytes of a PNG's header: width, height, depth, colour type, ...; NULL if there are none.
 * Apple's variant has a chunk of 4 bytes in front. */
static const uint8_t *png_header(const uint8_t *bytes, size_t length)
{
    if (!is_png(bytes, length))
        return NULL;
    size_t at = 8;
    if (length >= 16 && memcmp(bytes + 12, "CgBI", 4) == 0)
        at += 16;
    if (length < at + 8 + 13 || memcmp(bytes + at + 4, "IHDR", 4) != 0)
        return NULL;
    return bytes + at + 8;
}

bool nl_png_size(const uint8_t *bytes, size_t length, double *width, double *height)
{
    const uint8_t *header = png_header(bytes, length);
    if (!header)
        return false;
    *width = big32(header);
    *height = big32(header + 4);
    return true;
}

/* Bytes of the picture that one byte of the file can hold at most. */
static const double deflate_ratio = 1032;   /* 258 bytes from 2 bits */
static const double gif_ratio = 4096;       /* more than the longest string a code of 12 bits has */
static const double jpeg_pixels = 8 * 64;   /* one bit for a block of 8 × 8 */
static const double gif_free = 4096 * 1024; /* pixels that a GIF may leave empty */

static bool png_plausible(const uint8_t *bytes, size_t length, double width, double height)
{
    static const double channels[7] = {1, 0, 3, 1, 2, 0, 4};
    const uint8_t *header = png_header(bytes, length);
    if (!header || header[9] > 6)
        return false;
    double row = 1 + ceil(width * channels[header[9]] * header[8] / 8);
    return row * height <= deflate_ratio * (double)length;
}

/* Uncompressed, so the size is known to the byte; padding after the last row may be missing. */
static bool bmp_plausible(const uint8_t *bytes, size_t length, double width, double height)
{
    if (length < 30)
        return false;
    const uint8_t *bits_at = bytes + (little32(bytes + 14) == 12 ? 24 : 28);
    double bits = bits_at[0] + 256 * bits_at[1];
    double row = ceil(width * bits / 8), padded = 4 * ceil(width * bits / 32);
    return little32(bytes + 10) + padded * (height - 1) + row <= (double)length;
}

/*
 * Huffman tables of a DHT segment: 1 + 16 bytes, the latter counting the values that follow. More
 * than 256 of them would be written beyond the decoder's table.
 */
static bool huffman_tables_fit(const uint8_t *segment, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t values = 0;
        if (length - at < 17)
            return false;
        for (size_t i = 1; i <= 16; i++)
            values += segment[at + i];
        if (values > 256 || length - at - 17 < values)
            return false;
        at += 17 + values;
    }
    return true;
}

/*
 * Walks from marker to marker. Coded data between them is skipped: in it a byte 255 is followed by
 * 0 or a restart marker.
 */
bool nl_jpeg_tables_fit(const uint8_t *bytes, size_t length)
{
    enum { DHT = 0xc4, RST0 = 0xd0, SOI = 0xd8, EOI = 0xd9 };
    if (!is_jpeg(bytes, length))
        return true;
    for (size_t at = 2; at + 1 < length;) {
        uint8_t marker = bytes[at + 1];
        if (bytes[at] != 0xff || marker == 0xff || marker == 0 ||
            (marker >= RST0 && marker <= SOI)) {
            at++;
            continue;
        }
        if (marker == EOI)
            break;
        at += 2;
        if (length - at < 2)
            return false;
        size_t segment = (size_t)bytes[at] << 8 | bytes[at + 1];
        if (segment < 2 || segment > length - at)
            return false;
        if (marker == DHT && !huffman_tables_fit(bytes + at + 2, segment - 2))
            return false;
        at += segment;
    }
    return true;
}

bool nl_picture_plausible(const uint8_t *bytes, size_t length, double width, double height)
{
    if (is_png(bytes, length))
        return png_plausible(bytes, length, width, height);
    if (is_jpeg(bytes, length))
        return width * height <= jpeg_pixels * (double)length;
    if (is_gif(bytes, length))
        return width * height <= gif_free + gif_ratio * (double)length;
    if (is_bmp(bytes, length))
        return bmp_plausible(bytes, length, width, height);
    return true;
}
