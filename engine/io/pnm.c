/* SPDX-License-Identifier: MIT */
#include "pnm.h"

#include "../alloc.h"

struct reader {
    const uint8_t *at, *end;
};

bool nl_is_pnm(const uint8_t *bytes, size_t length)
{
    return length >= 3 && bytes[0] == 'P' &&
           (bytes[1] == '2' || bytes[1] == '3' || bytes[1] == '5' || bytes[1] == '6') &&
           (bytes[2] == '#' || bytes[2] == ' ' || (bytes[2] >= '\t' && bytes[2] <= '\r'));
}

/* Skips blanks and comments, then reads a number; false when there is none below 10^9. */
static bool read_number(struct reader *r, unsigned *value)
{
    while (r->at < r->end) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n' && *r->at != '\r')
                r->at++;
        else if (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r'))
            r->at++;
        else
            break;
    }
    const uint8_t *first = r->at;
    for (*value = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (r->at - first >= 9)
            return false;
        *value = *value * 10 + (unsigned)(*r->at - '0');
    }
    return r->at > first;
}

static bool read_sample(struct reader *r, bool plain, unsigned top, unsigned *value)
{
    if (plain)
        return read_number(r, value) && *value <= top;
    if (r->end - r->at < (top > 255 ? 2 : 1))
        return false;
    *value = *r->at++;
    if (top > 255)
        *value = *value << 8 | *r->at++;
    return *value <= top;
}

nl_status nl_pnm_load(const uint8_t *bytes, size_t length, nl_bitmap *bitmap, nl_error *error)
{
    struct reader r = {bytes + 2, bytes + length};
    const bool plain = bytes[1] < '5';
    unsigned width, height, top, value;
    *bitmap = (nl_bitmap){.channels = bytes[1] == '3' || bytes[1] == '6' ? 3 : 1, .orientation = 1};
    if (!read_number(&r, &width) || !read_number(&r, &height) || !read_number(&r, &top) ||
        width == 0 || height == 0 || top == 0 || top > 65535)
        return nl_fail(error, NL_FORMAT, "the picture's PNM header is damaged");
    nl_status status = nl_picture_limits(width, height, error);
    if (status != NL_OK)
        return status;
    const size_t samples = (size_t)width * height * (size_t)bitmap->channels;
    if (!plain && r.at < r.end)
        r.at++; /* the one blank between header and samples */
    /* a plain sample takes a digit at least */
    if (samples > (size_t)(r.end - r.at) / (plain ? 1 : top > 255 ? 2 : 1))
        return nl_fail(error, NL_FORMAT, "the picture is damaged or cut short");
    bitmap->width = width;
    bitmap->height = height;
    bitmap->bits = top == 255 ? 8 : 16;
    bitmap->pixels = nl_alloc(samples, (size_t)bitmap->bits / 8);
    if (!bitmap->pixels)
        return nl_fail(error, NL_NOMEM, "no memory for a picture of %u × %u pixels", width, height);
    for (size_t i = 0; i < samples; i++) {
        if (!read_sample(&r, plain, top, &value)) {
            nl_bitmap_free(bitmap);
            return nl_fail(error, NL_FORMAT, "the picture is damaged or cut short");
        }
        if (top == 255)
            ((uint8_t *)bitmap->pixels)[i] = (uint8_t)value;
        else
            ((uint16_t *)bitmap->pixels)[i] = (uint16_t)((value * 65535u + top / 2) / top);
    }
    return NL_OK;
}
