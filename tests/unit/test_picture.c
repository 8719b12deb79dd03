/* SPDX-License-Identifier: MIT */
/* Decoding: the right numbers from every format, upright, on white; reduction by exact area. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nonlocal/picture.h"

#include "alloc.h"
#include "picture_files.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static nl_bitmap bitmap_of(const char *name)
{
    nl_error error = {.message = ""};
    nl_bitmap bitmap;
    struct file file = file_read(name);
    nl_status status = nl_bitmap_load(file.bytes, file.length, &bitmap, &error);
    free(file.bytes);
    if (status != NL_OK)
        fail_msg("%s: %s", name, error.message);
    return bitmap;
}

static nl_picture picture_of(const char *name, size_t max_side)
{
    nl_error error = {.message = ""};
    nl_picture picture;
    nl_bitmap bitmap = bitmap_of(name);
    if (nl_picture_from_bitmap(&bitmap, max_side, &picture, &error) != NL_OK)
        fail_msg("%s: %s", name, error.message);
    nl_bitmap_free(&bitmap);
    return picture;
}

static float value_at(const nl_picture *picture, size_t x, size_t y, size_t c)
{
    assert_true(x < picture->width && y < picture->height);
    return nl_row(&picture->rgb, y)[3 * x + c];
}

/* What a sample file must decode to. */
typedef double (*sample_fn)(unsigned x, unsigned y, unsigned c);

static double on_white(double color, double alpha)
{
    return color * alpha + (1 - alpha);
}

static double grey8(unsigned x, unsigned y, unsigned c)
{
    (void)c;
    return sample8(x, y, 0) / 255.0;
}

static double greya8(unsigned x, unsigned y, unsigned c)
{
    (void)c;
    return on_white(sample8(x, y, 0) / 255.0, alpha8(x, y) / 255.0);
}

static double rgb8(unsigned x, unsigned y, unsigned c)
{
    return sample8(x, y, c) / 255.0;
}

static double rgba8(unsigned x, unsigned y, unsigned c)
{
    return on_white(sample8(x, y, c) / 255.0, alpha8(x, y) / 255.0);
}

static double grey16(unsigned x, unsigned y, unsigned c)
{
    (void)c;
    return sample16(x, y, 0) / 65535.0;
}

static double greya16(unsigned x, unsigned y, unsigned c)
{
    (void)c;
    return on_white(sample16(x, y, 0) / 65535.0, sample16(x, y, 3) / 65535.0);
}

static double rgb16(unsigned x, unsigned y, unsigned c)
{
    return sample16(x, y, c) / 65535.0;
}

static double rgba16(unsigned x, unsigned y, unsigned c)
{
    return on_white(sample16(x, y, c) / 65535.0, sample16(x, y, 3) / 65535.0);
}

static double palette(unsigned x, unsigned y, unsigned c)
{
    return sample8((x + 2 * y) % 16, 0, c) / 255.0;
}

static double palette_alpha(unsigned x, unsigned y, unsigned c)
{
    return on_white(palette(x, y, c), alpha8((x + 2 * y) % 16, 0) / 255.0);
}

static double palette_hole(unsigned x, unsigned y, unsigned c)
{
    return (x + 2 * y) % 16 == 5 ? 1.0 : palette(x, y, c);
}

static double grey100(unsigned x, unsigned y, unsigned c)
{
    (void)c;
    return (sample8(x, y, 0) % 101) / 100.0;
}

static const struct {
    const char *name;
    int bits;
    sample_fn value;
    double step; /* half a level of what the file is read into */
} formats[] = {
    {"grey8.png", 8, grey8, 0},
    {"greya8.png", 8, greya8, 0},
    {"rgb8.png", 8, rgb8, 0},
    {"rgba8.png", 8, rgba8, 0},
    {"grey16.png", 16, grey16, 0},
    {"greya16.png", 16, greya16, 0},
    {"rgb16.png", 16, rgb16, 0},
    {"rgba16.png", 16, rgba16, 0},
    {"interlaced16.png", 16, rgba16, 0},
    {"rgb8as16.png", 16, rgb8, 0},
    {"palette8.png", 8, palette, 0},
    {"palette4.png", 8, palette_alpha, 0},
    {"rgb8.bmp", 8, rgb8, 0},
    {"rgb8_topdown.bmp", 8, rgb8, 0},
    {"palette8.bmp", 8, palette, 0},
    {"palette8.gif", 8, palette, 0},
    {"transparent.gif", 8, palette_hole, 0},
    {"grey8.pgm", 8, grey8, 0},
    {"rgb8.ppm", 8, rgb8, 0},
    {"rgb16.ppm", 16, rgb16, 0},
    {"grey100.pgm", 16, grey100, 0.5 / 65535},
};

static void test_c55_every_format_pixel_by_pixel(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(formats); f++) {
        nl_bitmap bitmap = bitmap_of(formats[f].name);
        if (bitmap.bits != formats[f].bits)
            fail_msg("%s: %d bits", formats[f].name, bitmap.bits);
        nl_bitmap_free(&bitmap);
        nl_picture picture = picture_of(formats[f].name, 0);
        assert_int_equal(picture.width, SAMPLE_W);
        assert_int_equal(picture.height, SAMPLE_H);
        assert_int_equal(picture.original_width, SAMPLE_W);
        assert_int_equal(picture.original_height, SAMPLE_H);
        assert_int_equal(picture.rgb.rows, SAMPLE_H);
        assert_int_equal(picture.rgb.cols, 3 * SAMPLE_W);
        for (unsigned y = 0; y < SAMPLE_H; y++)
            for (unsigned x = 0; x < SAMPLE_W; x++)
                for (unsigned c = 0; c < 3; c++) {
                    double expected = formats[f].value(x, y, c);
                    double got = (double)value_at(&picture, x, y, c);
                    if (fabs(got - expected) > formats[f].step + 0x1p-24)
                        fail_msg("%s (%u, %u) channel %u: %.9g, not %.9g", formats[f].name, x, y, c,
                                 got, expected);
                }
        nl_picture_free(&picture);
    }
    assert_int_equal(nl_alloc_live(), 0);
}

static void test_c55_sixteen_bit_ramp_keeps_its_levels(void **state)
{
    (void)state;
    nl_picture picture = picture_of("ramp16.png", 0);
    size_t levels = 1;
    assert_int_equal(picture.width, 1000);
    for (size_t x = 1; x < picture.width; x++)
        levels += value_at(&picture, x, 0, 0) > value_at(&picture, x - 1, 0, 0);
    assert_int_equal(levels, 1000);
    nl_picture_free(&picture);
}

static void test_c56_grey_128_is_not_linearised(void **state)
{
    (void)state;
    nl_picture picture = picture_of("grey128.png", 256);
    for (size_t c = 0; c < 3; c++)
        assert_true(fabs((double)value_at(&picture, 0, 0, c) - 0.50196) < 5e-6);
    nl_picture_free(&picture);
}

static void test_c64_eight_and_sixteen_bits_are_the_same_picture(void **state)
{
    (void)state;
    const size_t sides[] = {0, 13, 5};
    for (size_t s = 0; s < COUNT(sides); s++) {
        nl_picture a = picture_of("rgb8.png", sides[s]), b = picture_of("rgb8as16.png", sides[s]);
        assert_int_equal(a.width, b.width);
        for (size_t y = 0; y < a.height; y++)
            assert_memory_equal(nl_row(&a.rgb, y), nl_row(&b.rgb, y), 3 * a.width * sizeof(float));
        nl_picture_free(&a);
        nl_picture_free(&b);
    }
}

/* Colours of the six flat blocks of the JPEG samples. */
static const int blocks[2][3][3] = {
    {{220, 40, 40}, {40, 200, 60}, {40, 60, 210}},
    {{240, 220, 60}, {30, 30, 30}, {230, 230, 230}},
};

/*
 * JPEG at quality 95 quantises the mean of a flat block to less than one level in Y, Cb and Cr;
 * with the rounding of both conversions that is at most 4 levels of red, green or blue.
 */
static void check_blocks(const nl_picture *picture, const char *name)
{
    assert_int_equal(picture->width, 24);
    assert_int_equal(picture->height, 16);
    for (size_t y = 0; y < 16; y++)
        for (size_t x = 0; x < 24; x++)
            for (size_t c = 0; c < 3; c++) {
                double difference =
                    255 * (double)value_at(picture, x, y, c) - blocks[y / 8][x / 8][c];
                if (fabs(difference) > 4)
                    fail_msg("%s (%zu, %zu) channel %zu is off by %g levels", name, x, y, c,
                             difference);
            }
}

static void test_c53_all_orientations_are_upright(void **state)
{
    (void)state;
    for (int tag = 1; tag <= 9; tag++) {
        char name[32];
        snprintf(name, sizeof name, "orientation%d.jpg", tag);
        nl_bitmap bitmap = bitmap_of(name);
        assert_int_equal(bitmap.orientation, tag == 9 ? 1 : tag); /* 9 means nothing */
        assert_int_equal(bitmap.width, 24);
        assert_int_equal(bitmap.height, 16);
        nl_bitmap_free(&bitmap);
        nl_picture picture = picture_of(name, 256);
        assert_int_equal(picture.original_width, 24);
        assert_int_equal(picture.original_height, 16);
        check_blocks(&picture, name);
        nl_picture_free(&picture);
    }
    assert_int_equal(nl_alloc_live(), 0);
}

static void test_progressive_and_grey_jpeg(void **state)
{
    (void)state;
    nl_picture picture = picture_of("progressive.jpg", 0);
    /* chroma is subsampled and smeared over the borders: look at the middle of each block's luma */
    for (size_t by = 0; by < 2; by++)
        for (size_t bx = 0; bx < 3; bx++) {
            const int *rgb = blocks[by][bx];
            const float *got = nl_row(&picture.rgb, 8 * by + 4) + 3 * (8 * bx + 4);
            double luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
            double read =
                255 * (0.299 * (double)got[0] + 0.587 * (double)got[1] + 0.114 * (double)got[2]);
            assert_true(fabs(luma - read) < 24); /* clipped chroma moves it, a wrong block more */
        }
    nl_picture_free(&picture);
    nl_bitmap bitmap = bitmap_of("grey.jpg");
    assert_int_equal(bitmap.channels, 1);
    const uint8_t *pixels = bitmap.pixels;
    for (size_t y = 0; y < 16; y++)
        for (size_t x = 0; x < 24; x++) {
            const int *rgb = blocks[y / 8][x / 8];
            double luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
            assert_true(fabs(pixels[y * 24 + x] - luma) < 2.5);
        }
    nl_bitmap_free(&bitmap);
}

/* A bitmap of 8-bit RGB numbers from the sample formula, not from a file. */
static nl_bitmap made_bitmap(size_t w, size_t h)
{
    uint8_t *pixels = malloc(w * h * 3);
    assert_non_null(pixels);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            for (unsigned c = 0; c < 3; c++)
                pixels[3 * (y * w + x) + c] = (uint8_t)sample8((unsigned)x, (unsigned)y, c);
    return (nl_bitmap){
        .width = w, .height = h, .channels = 3, .bits = 8, .orientation = 1, .pixels = pixels};
}

/* Length of the overlap of [a, a + 1) scaled by n_in/n_out with source cell s. */
static double overlap(size_t target, size_t n_out, size_t s, size_t n_in)
{
    double from = (double)target * (double)n_in / (double)n_out;
    double to = (double)(target + 1) * (double)n_in / (double)n_out;
    double lower = fmax(from, (double)s), upper = fmin(to, (double)s + 1);
    return upper > lower ? upper - lower : 0;
}

/* The mean over a target pixel's area, straight from the definition. */
static double area_mean(const nl_bitmap *bitmap, size_t width, size_t height, size_t x, size_t y,
                        size_t c)
{
    const uint8_t *pixels = bitmap->pixels;
    double sum = 0, area = 0;
    for (size_t sy = 0; sy < bitmap->height; sy++) {
        double share_y = overlap(y, height, sy, bitmap->height);
        for (size_t sx = 0; share_y > 0 && sx < bitmap->width; sx++) {
            double share = share_y * overlap(x, width, sx, bitmap->width);
            sum += share * pixels[3 * (sy * bitmap->width + sx) + c] / 255.0;
            area += share;
        }
    }
    return sum / area;
}

static const struct {
    size_t w, h, max_side, width, height;
} reductions[] = {
    {13, 9, 5, 5, 3},                           /* 3.46 */
    {13, 9, 13, 13, 9},                         /* nothing to do */
    {13, 9, 20, 13, 9},                         /* never enlarged */
    {13, 9, 0, 13, 9},                          /* 0 = never */
    {13, 9, 12, 12, 8},                         /* 8.31; almost one to one */
    {13, 9, 1, 1, 1},                           /* 0.69 */
    {9, 13, 5, 3, 5},                           /* upright */
    {8, 5, 4, 4, 3},                            /* 2.5: half up */
    {8, 3, 4, 4, 2},                            /* 1.5: half up */
    {16, 1, 4, 4, 1},                           /* 0.25: at least 1 */
    {1, 37, 7, 1, 7},     {64, 48, 16, 16, 12}, /* whole ratio */
    {97, 61, 31, 31, 19},                       /* 19.49 */
};

static void test_reduction_is_the_exact_area_average(void **state)
{
    (void)state;
    for (size_t r = 0; r < COUNT(reductions); r++) {
        nl_picture picture;
        nl_bitmap bitmap = made_bitmap(reductions[r].w, reductions[r].h);
        assert_int_equal(nl_picture_from_bitmap(&bitmap, reductions[r].max_side, &picture, NULL),
                         NL_OK);
        if (picture.width != reductions[r].width || picture.height != reductions[r].height)
            fail_msg("%zu × %zu to %zu gave %zu × %zu", reductions[r].w, reductions[r].h,
                     reductions[r].max_side, picture.width, picture.height);
        assert_int_equal(picture.original_width, reductions[r].w);
        assert_int_equal(picture.original_height, reductions[r].h);
        for (size_t y = 0; y < picture.height; y++)
            for (size_t x = 0; x < picture.width; x++)
                for (size_t c = 0; c < 3; c++) {
                    double expected = area_mean(&bitmap, picture.width, picture.height, x, y, c);
                    /* one rounding to float, and double sums */
                    assert_true(fabs((double)value_at(&picture, x, y, c) - expected) < 0x1p-24);
                }
        nl_picture_free(&picture);
        free(bitmap.pixels);
    }
    assert_int_equal(nl_alloc_live(), 0);
}

/* The mean of the whole picture survives any reduction: target pixels have equal areas. */
static void test_reduction_keeps_the_mean(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{613, 411}, {411, 613}, {1000, 7}, {3, 2000}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        nl_picture full, small;
        nl_bitmap bitmap = made_bitmap(sizes[s][0], sizes[s][1]);
        assert_int_equal(nl_picture_from_bitmap(&bitmap, 0, &full, NULL), NL_OK);
        assert_int_equal(nl_picture_from_bitmap(&bitmap, 101, &small, NULL), NL_OK);
        double means[2] = {0};
        const nl_picture *both[2] = {&full, &small};
        for (size_t p = 0; p < 2; p++)
            for (size_t y = 0; y < both[p]->height; y++)
                for (size_t k = 0; k < both[p]->rgb.cols; k++)
                    means[p] += (double)nl_row(&both[p]->rgb, y)[k] /
                                (double)(both[p]->height * both[p]->rgb.cols);
        assert_true(fabs(means[0] - means[1]) < 1e-7);
        nl_picture_free(&full);
        nl_picture_free(&small);
        free(bitmap.pixels);
    }
}

static void test_reduction_of_a_thread_keeps_one_pixel(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        nl_picture picture;
        nl_bitmap bitmap = made_bitmap(turned ? 3 : 20000, turned ? 20000 : 3);
        assert_int_equal(nl_picture_from_bitmap(&bitmap, 256, &picture, NULL), NL_OK);
        assert_int_equal(picture.width, turned ? 1 : 256);
        assert_int_equal(picture.height, turned ? 256 : 1);
        for (size_t t = 0; t < 256; t += 51)
            for (size_t c = 0; c < 3; c++) {
                size_t x = turned ? 0 : t, y = turned ? t : 0;
                double expected = area_mean(&bitmap, picture.width, picture.height, x, y, c);
                /* 235 pixels of area; from and to in area_mean are rounded at 20000 × 2⁻⁵³ */
                assert_true(fabs((double)value_at(&picture, x, y, c) - expected) < 0x1p-23);
            }
        nl_picture_free(&picture);
        free(bitmap.pixels);
    }
}

static void test_c61_tiny_pictures(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{1, 1}, {1, 6}, {6, 1}, {2, 2}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        char name[32];
        snprintf(name, sizeof name, "rgb8_%zux%zu.png", sizes[s][0], sizes[s][1]);
        nl_picture picture = picture_of(name, 256);
        assert_int_equal(picture.width, sizes[s][0]);
        assert_int_equal(picture.height, sizes[s][1]);
        for (unsigned y = 0; y < picture.height; y++)
            for (unsigned x = 0; x < picture.width; x++)
                for (unsigned c = 0; c < 3; c++)
                    assert_float_equal(value_at(&picture, x, y, c), rgb8(x, y, c), 0x1p-24);
        nl_picture_free(&picture);
    }
}

static void test_free_accepts_empty_and_repeats(void **state)
{
    (void)state;
    nl_bitmap bitmap = bitmap_of("rgb8.png");
    nl_picture picture = {0};
    nl_bitmap_free(&bitmap);
    nl_bitmap_free(&bitmap);
    assert_null(bitmap.pixels);
    nl_picture_free(&picture);
    nl_picture_free(&picture);
    assert_int_equal(nl_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c53_all_orientations_are_upright),
        cmocka_unit_test(test_c55_every_format_pixel_by_pixel),
        cmocka_unit_test(test_c55_sixteen_bit_ramp_keeps_its_levels),
        cmocka_unit_test(test_c56_grey_128_is_not_linearised),
        cmocka_unit_test(test_c61_tiny_pictures),
        cmocka_unit_test(test_c64_eight_and_sixteen_bits_are_the_same_picture),
        cmocka_unit_test(test_progressive_and_grey_jpeg),
        cmocka_unit_test(test_reduction_is_the_exact_area_average),
        cmocka_unit_test(test_reduction_keeps_the_mean),
        cmocka_unit_test(test_reduction_of_a_thread_keeps_one_pixel),
        cmocka_unit_test(test_free_accepts_empty_and_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
