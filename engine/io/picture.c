/* SPDX-License-Identifier: MIT */
#include "nonlocal/picture.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <libexif/exif-data.h>

#include "../alloc.h"
#include "picture_guard.h"
#include "pnm.h"
#include "stb.h"

/* EXIF orientation 1..8; 1 when the file says nothing usable. */
static int exif_orientation(const void *bytes, size_t length)
{
    int orientation = 1;
    if (length > UINT_MAX || length < 4 || memcmp(bytes, "\xff\xd8", 2) != 0)
        return orientation;
    ExifData *data = exif_data_new_from_data(bytes, (unsigned)length);
    if (!data)
        return orientation;
    ExifEntry *entry = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
    if (entry && entry->format == EXIF_FORMAT_SHORT && entry->size >= 2) {
        int value = exif_get_short(entry->data, exif_data_get_byte_order(data));
        orientation = value >= 1 && value <= 8 ? value : 1;
    }
    exif_data_unref(data);
    return orientation;
}

/* Where pixel (x, y) of the upright picture lies in the stored one of w × h. */
static size_t stored_index(int orientation, size_t x, size_t y, size_t w, size_t h)
{
    switch (orientation) {
    case 2: /* mirrored left-right */
        return y * w + (w - 1 - x);
    case 3: /* turned by 180° */
        return (h - 1 - y) * w + (w - 1 - x);
    case 4: /* mirrored top-bottom */
        return (h - 1 - y) * w + x;
    case 5: /* transposed */
        return x * w + y;
    case 6: /* to be turned 90° clockwise */
        return (h - 1 - x) * w + y;
    case 7: /* transposed about the other diagonal */
        return (h - 1 - x) * w + (w - 1 - y);
    case 8: /* to be turned 90° counter-clockwise */
        return x * w + (w - 1 - y);
    default:
        return y * w + x;
    }
}

static nl_status make_upright(nl_bitmap *bitmap, nl_error *error)
{
    if (bitmap->orientation == 1)
        return NL_OK;
    const bool swapped = bitmap->orientation >= 5;
    const size_t w = bitmap->width, h = bitmap->height;
    const size_t width = swapped ? h : w, height = swapped ? w : h;
    const size_t pixel = (size_t)bitmap->channels * (size_t)(bitmap->bits / 8);
    unsigned char *upright = nl_alloc(w * h, pixel);
    if (!upright)
        return nl_fail(error, NL_NOMEM, "no memory to turn a picture of %zu × %zu pixels", w, h);
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++)
            memcpy(upright + (y * width + x) * pixel,
                   (unsigned char *)bitmap->pixels +
                       stored_index(bitmap->orientation, x, y, w, h) * pixel,
                   pixel);
    nl_free(bitmap->pixels);
    bitmap->pixels = upright;
    bitmap->width = width;
    bitmap->height = height;
    return NL_OK;
}

nl_status nl_picture_limits(double width, double height, nl_error *error)
{
    if (width <= NL_MAX_PICTURE_SIDE && height <= NL_MAX_PICTURE_SIDE &&
        width * height <= NL_MAX_PICTURE_PIXELS)
        return NL_OK;
    return nl_fail(error, NL_LIMIT,
                   "a picture of %.0f × %.0f pixels is over the limit of %d a side and %d million "
                   "pixels; reduce it first",
                   width, height, NL_MAX_PICTURE_SIDE, NL_MAX_PICTURE_PIXELS / 1000000);
}

/*
 * The largest block that decoding a picture of this size takes: 8 bytes a pixel (16-bit RGBA) in a
 * buffer that grows by doubling, sides filled up to a JPEG's units of 32; or the file's data, which
 * is gathered in such a buffer, too. Without it a few bytes could ask for gigabytes.
 */
static size_t largest_block(double width, double height, size_t length)
{
    return (size_t)(16 * (width + 32) * (height + 32)) + 2 * length + STB_STATE;
}

static nl_status decoder_failed(nl_error *error)
{
    if (stb_out_of_memory)
        return nl_fail(error, NL_NOMEM, "no memory to decode the picture");
    return nl_fail(error, NL_FORMAT, "the picture is damaged or cut short");
}

/* Everything but PNM; channels and bits are as in the file. */
static nl_status load_stb(const uint8_t *bytes, int length, nl_bitmap *bitmap, nl_error *error)
{
    int w, h, channels;
    double width, height;
    nl_status status = NL_OK;
    stb_allow(STB_STATE);
    if (nl_png_size(bytes, (size_t)length, &width, &height))
        status = nl_picture_limits(width, height, error);
    if (status != NL_OK)
        return status;
    if (!nl_jpeg_tables_fit(bytes, (size_t)length))
        return decoder_failed(error);
    if (!nl_picture_known(bytes, (size_t)length) ||
        !stbi_info_from_memory(bytes, length, &w, &h, &channels)) {
        if (stb_out_of_memory)
            return decoder_failed(error);
        return nl_fail(error, NL_FORMAT,
                       "not a picture that can be read (PNG, JPEG, GIF, BMP or PNM)");
    }
    width = w;
    height = fabs((double)h); /* negative in a BMP stored from the top */
    if (w < 1 || h == 0)
        return decoder_failed(error);
    status = nl_picture_limits(width, height, error);
    if (status != NL_OK)
        return status;
    if (!nl_picture_plausible(bytes, (size_t)length, width, height))
        return decoder_failed(error);
    bitmap->bits = stbi_is_16_bit_from_memory(bytes, length) ? 16 : 8;
    stb_allow(largest_block(width, height, (size_t)length));
    if (bitmap->bits == 16)
        bitmap->pixels = stbi_load_16_from_memory(bytes, length, &w, &h, &channels, 0);
    else
        bitmap->pixels = stbi_load_from_memory(bytes, length, &w, &h, &channels, 0);
    if (!bitmap->pixels || w < 1 || h < 1 || channels < 1 || channels > 4)
        return decoder_failed(error);
    bitmap->width = (size_t)w;
    bitmap->height = (size_t)h;
    bitmap->channels = channels;
    bitmap->orientation = exif_orientation(bytes, (size_t)length);
    return make_upright(bitmap, error);
}

nl_status nl_bitmap_load(const void *bytes, size_t length, nl_bitmap *bitmap, nl_error *error)
{
    nl_status status;
    *bitmap = (nl_bitmap){0};
    if (length == 0)
        return nl_fail(error, NL_FORMAT, "the file is empty");
    if (length > INT_MAX)
        return nl_fail(error, NL_LIMIT, "the file is larger than 2 GiB");
    if (nl_is_pnm(bytes, length))
        status = nl_pnm_load(bytes, length, bitmap, error);
    else
        status = load_stb(bytes, (int)length, bitmap, error);
    if (status != NL_OK)
        nl_bitmap_free(bitmap);
    return status;
}

void nl_bitmap_free(nl_bitmap *bitmap)
{
    nl_free(bitmap->pixels);
    *bitmap = (nl_bitmap){0};
}

static double channel_at(const nl_bitmap *bitmap, size_t pixel, int channel)
{
    size_t at = pixel * (size_t)bitmap->channels + (size_t)channel;
    if (bitmap->bits == 16)
        return ((const uint16_t *)bitmap->pixels)[at] / 65535.0;
    return ((const uint8_t *)bitmap->pixels)[at] / 255.0;
}

/* A row of the bitmap as RGB in [0, 1], composited on white. */
static void read_row(const nl_bitmap *bitmap, size_t y, double *rgb)
{
    const bool grey = bitmap->channels < 3;
    const bool has_alpha = bitmap->channels % 2 == 0;
    for (size_t x = 0; x < bitmap->width; x++) {
        size_t pixel = y * bitmap->width + x;
        double alpha = has_alpha ? channel_at(bitmap, pixel, bitmap->channels - 1) : 1;
        for (int c = 0; c < 3; c++)
            rgb[3 * x + (size_t)c] = channel_at(bitmap, pixel, grey ? 0 : c) * alpha + (1 - alpha);
    }
}

/*
 * Adds source cell s (of n_in) to the target cells (of n_out <= n_in) that it overlaps: calls for
 * up to two of them give index and share of the target's area. Target cell t covers the source
 * interval [t·n_in/n_out, (t+1)·n_in/n_out).
 */
static int overlaps(size_t s, size_t n_in, size_t n_out, size_t index[2], double share[2])
{
    size_t first = s * n_out / n_in;
    size_t border = (first + 1) * n_in; /* end of cell `first`, in units of 1/n_out source cells */
    index[0] = first;
    if ((s + 1) * n_out <= border || first + 1 >= n_out) {
        share[0] = (double)n_out / (double)n_in;
        return 1;
    }
    share[0] = (double)(border - s * n_out) / (double)n_in;
    index[1] = first + 1;
    share[1] = (double)((s + 1) * n_out - border) / (double)n_in;
    return 2;
}

static void reduce_row(const double *row, size_t w, double *reduced, size_t width)
{
    memset(reduced, 0, 3 * width * sizeof *reduced);
    for (size_t x = 0; x < w; x++) {
        size_t index[2];
        double share[2];
        int parts = overlaps(x, w, width, index, share);
        for (int p = 0; p < parts; p++)
            for (size_t c = 0; c < 3; c++)
                reduced[3 * index[p] + c] += share[p] * row[3 * x + c];
    }
}

static void reduced_size(size_t w, size_t h, size_t max_side, size_t *width, size_t *height)
{
    size_t longer = w > h ? w : h;
    *width = w;
    *height = h;
    if (max_side == 0 || longer <= max_side)
        return;
    /* round half up, in whole numbers */
    *width = (2 * w * max_side + longer) / (2 * longer);
    *height = (2 * h * max_side + longer) / (2 * longer);
    *width = *width ? *width : 1;
    *height = *height ? *height : 1;
}

nl_status nl_picture_from_bitmap(const nl_bitmap *bitmap, size_t max_side, nl_picture *picture,
                                 nl_error *error)
{
    *picture = (nl_picture){.original_width = bitmap->width, .original_height = bitmap->height};
    reduced_size(bitmap->width, bitmap->height, max_side, &picture->width, &picture->height);
    const size_t values = 3 * picture->width;
    double *row = nl_alloc(3 * bitmap->width, sizeof *row);
    double *reduced = nl_alloc(values, sizeof *reduced);
    double *sums = nl_alloc(values * picture->height, sizeof *sums);
    nl_status status = nl_matrix_alloc(&picture->rgb, picture->height, values, error);
    if (status == NL_OK && (!row || !reduced || !sums))
        status = nl_fail(error, NL_NOMEM, "no memory for a picture of %zu × %zu pixels",
                         picture->width, picture->height);
    if (status != NL_OK)
        goto done;
    for (size_t y = 0; y < bitmap->height; y++) {
        size_t index[2];
        double share[2];
        int parts = overlaps(y, bitmap->height, picture->height, index, share);
        read_row(bitmap, y, row);
        reduce_row(row, bitmap->width, reduced, picture->width);
        for (int p = 0; p < parts; p++)
            for (size_t k = 0; k < values; k++)
                sums[index[p] * values + k] += share[p] * reduced[k];
    }
    for (size_t y = 0; y < picture->height; y++)
        for (size_t k = 0; k < values; k++)
            nl_row(&picture->rgb, y)[k] = (float)sums[y * values + k];
done:
    nl_free(row);
    nl_free(reduced);
    nl_free(sums);
    if (status != NL_OK)
        nl_picture_free(picture);
    return status;
}

void nl_picture_free(nl_picture *picture)
{
    nl_matrix_free(&picture->rgb);
    *picture = (nl_picture){0};
}
