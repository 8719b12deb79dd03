/* SPDX-License-Identifier: MIT */
/*
 * What drive.sh needs to look at the screen:
 *
 *     screen same XWD PICTURE.png X,Y [MASK_X,MASK_Y,MASK_W,MASK_H] [DIFF.png]
 *     screen picture WIDTHxHEIGHT OUT.ppm
 *
 * `same` compares the picture with the part of an X screen that begins at X,Y (XWD is the file that
 * `Xvfb -fbdir` keeps; or another PNG), the mask left out; exit status 0 = they are the same, 1 =
 * they are not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"
#include "file.h"
#include "pixels.h"

/* Words of the header; all of it is in big-endian order. */
enum {
    XWD_HEADER_SIZE,
    XWD_FORMAT = 2,
    XWD_WIDTH = 4,
    XWD_HEIGHT,
    XWD_BYTE_ORDER = 7,
    XWD_BITS = 11,
    XWD_LINE,
    XWD_RED = 14,
    XWD_GREEN,
    XWD_BLUE,
    XWD_COLORS = 19,
    XWD_WORDS = 25
};

struct screen {
    struct file file;
    const unsigned char *pixels;
    uint32_t words[XWD_WORDS];
};

static bool screen_read(struct screen *screen, const char *path)
{
    nl_error error = {0};
    if (file_read(path, &screen->file, &error) != NL_OK) {
        fprintf(stderr, "screen: %s\n", error.message);
        return false;
    }
    const unsigned char *bytes = screen->file.bytes;
    for (int w = 0; w < XWD_WORDS && screen->file.size >= 4 * XWD_WORDS; w++)
        screen->words[w] = (uint32_t)bytes[4 * w] << 24 | (uint32_t)bytes[4 * w + 1] << 16 |
                           (uint32_t)bytes[4 * w + 2] << 8 | bytes[4 * w + 3];
    const uint32_t *words = screen->words;
    const size_t start = words[XWD_HEADER_SIZE] + 12 * (size_t)words[XWD_COLORS];
    if (words[XWD_FORMAT] != 2 || words[XWD_BITS] != 32 || words[XWD_BYTE_ORDER] != 0 ||
        words[XWD_RED] != 0xff0000 || words[XWD_GREEN] != 0xff00 || words[XWD_BLUE] != 0xff ||
        screen->file.size < start + (size_t)words[XWD_LINE] * words[XWD_HEIGHT]) {
        fprintf(stderr, "screen: %s is no screen of 24 bits\n", path);
        return false;
    }
    screen->pixels = bytes + start;
    return true;
}

static uint8_t *cut(const struct screen *screen, int x0, int y0, int width, int height)
{
    uint8_t *rgb = calloc((size_t)width * (size_t)height, 3);
    for (int y = 0; rgb && y < height; y++) {
        for (int x = 0; x < width; x++) {
            const int sx = x0 + x, sy = y0 + y;
            if (sx < 0 || sy < 0 || sx >= (int)screen->words[XWD_WIDTH] ||
                sy >= (int)screen->words[XWD_HEIGHT])
                continue;
            const unsigned char *from =
                screen->pixels + (size_t)sy * screen->words[XWD_LINE] + 4 * (size_t)sx;
            uint8_t *to = rgb + 3 * ((size_t)y * (size_t)width + (size_t)x);
            to[0] = from[2];
            to[1] = from[1];
            to[2] = from[0];
        }
    }
    return rgb;
}

static void mask(uint8_t *rgb, int width, int height, const int rect[4])
{
    for (int y = rect[1]; y < rect[1] + rect[3] && y < height; y++)
        for (int x = rect[0]; x < rect[0] + rect[2] && x < width; x++)
            if (x >= 0 && y >= 0)
                memset(rgb + 3 * ((size_t)y * (size_t)width + (size_t)x), 0, 3);
}

/* Part of a screen, or a whole picture of the same size; NULL with a message. */
static uint8_t *load_got(const char *path, const char *at, int width, int height)
{
    struct screen screen = {0};
    char error[256] = "not the same size";
    int x = 0, y = 0, w, h;
    uint8_t *got = NULL;
    if (file_has_extension(path, ".png")) {
        got = pixels_load(path, &w, &h, error, sizeof error);
        if (got && w == width && h == height)
            return got;
        fprintf(stderr, "screen: %s: %s\n", path, error);
        free(got);
        return NULL;
    }
    if (screen_read(&screen, path) && sscanf(at, "%d,%d", &x, &y) == 2)
        got = cut(&screen, x, y, width, height);
    file_free(&screen.file);
    return got;
}

static int same(int argc, char **argv)
{
    static const struct pixels_tolerance tolerance = {.near = 1};
    struct pixels_difference difference;
    char error[256];
    int width = 0, height = 0, hidden[4] = {0}, status = 1;
    uint8_t *expected = pixels_load(argv[3], &width, &height, error, sizeof error);
    uint8_t *got = expected ? load_got(argv[2], argv[4], width, height) : NULL;
    uint8_t *picture = got ? malloc(3 * (size_t)width * (size_t)height) : NULL;
    if (!expected)
        fprintf(stderr, "screen: %s\n", error);
    if (argc > 5)
        sscanf(argv[5], "%d,%d,%d,%d", &hidden[0], &hidden[1], &hidden[2], &hidden[3]);
    if (picture) {
        mask(got, width, height, hidden);
        mask(expected, width, height, hidden);
        status = !pixels_compare(got, expected, width, height, &tolerance, picture, &difference);
        if (status)
            printf("%zu pixels differ, by up to %d, most around %d,%d\n", difference.pixels,
                   difference.largest, difference.x, difference.y);
        if (status && argc > 6)
            png_write(argv[6], picture, width, height, NULL);
    }
    free(got);
    free(expected);
    free(picture);
    return status;
}

/* Blobs of colour that come back in several places, so that a query finds something. */
static int make_picture(const char *size, const char *path)
{
    int width = 0, height = 0;
    if (sscanf(size, "%dx%d", &width, &height) != 2 || width < 1 || height < 1)
        return 2;
    FILE *file = fopen(path, "wb");
    if (!file)
        return 1;
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int cell = (x / 32 * 5 + y / 32 * 3) % 7;
            putc(30 + 32 * cell + x % 8, file);
            putc(220 - 25 * cell + y % 8, file);
            putc(60 + (cell * cell * 11) % 150 + (x + y) % 16, file);
        }
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    if (argc >= 5 && strcmp(argv[1], "same") == 0)
        return same(argc, argv);
    if (argc == 4 && strcmp(argv[1], "picture") == 0)
        return make_picture(argv[2], argv[3]);
    fprintf(stderr, "usage: screen same XWD PNG X,Y [X,Y,W,H] [DIFF.png] | picture WxH OUT.ppm\n");
    return 2;
}
