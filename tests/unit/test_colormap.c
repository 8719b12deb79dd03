/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "colormap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct sample {
    int index;
    int rgb[3];
};

/* Entries of the published 256-entry tables. */
static const struct sample inferno[] = {
    {0, {0, 0, 4}},        {1, {1, 0, 5}},         {17, {12, 8, 38}},      {63, {85, 15, 109}},
    {100, {144, 37, 104}}, {127, {186, 54, 85}},   {128, {188, 55, 84}},   {191, {249, 140, 10}},
    {200, {251, 157, 7}},  {254, {250, 253, 161}}, {255, {252, 255, 164}},
};
static const struct sample viridis[] = {
    {0, {68, 1, 84}},      {1, {68, 2, 86}},      {17, {72, 26, 108}},   {63, {59, 81, 139}},
    {100, {42, 118, 142}}, {127, {33, 144, 141}}, {128, {33, 145, 140}}, {191, {92, 200, 99}},
    {200, {112, 207, 87}}, {254, {251, 231, 35}}, {255, {253, 231, 37}},
};
static const struct sample cividis[] = {
    {0, {0, 34, 78}},       {1, {0, 35, 79}},       {17, {0, 46, 108}},     {63, {66, 78, 108}},
    {100, {101, 104, 112}}, {127, {124, 123, 120}}, {128, {125, 124, 120}}, {191, {187, 173, 109}},
    {200, {196, 180, 104}}, {254, {254, 230, 54}},  {255, {254, 232, 56}},
};
static const struct sample diverging[] = {
    {0, {5, 48, 97}},       {1, {6, 50, 100}},      {17, {24, 84, 147}},    {63, {104, 171, 208}},
    {100, {204, 226, 239}}, {127, {246, 247, 247}}, {128, {247, 246, 246}}, {191, {229, 131, 104}},
    {200, {219, 107, 85}},  {254, {106, 1, 31}},    {255, {103, 0, 31}},
};

static void check_samples(enum colormap_id id, const struct sample *samples, size_t count)
{
    const struct colormap *map = colormap_get(id);
    for (size_t k = 0; k < count; k++) {
        for (int c = 0; c < 3; c++) {
            int difference = map->rgb[samples[k].index][c] - samples[k].rgb[c];
            assert_in_range(abs(difference), 0, 2);
        }
    }
}

static void test_published_tables(void **state)
{
    (void)state;
    check_samples(COLORMAP_INFERNO, inferno, COUNT(inferno));
    check_samples(COLORMAP_VIRIDIS, viridis, COUNT(viridis));
    check_samples(COLORMAP_CIVIDIS, cividis, COUNT(cividis));
    check_samples(COLORMAP_DIVERGING, diverging, COUNT(diverging));
}

static void test_grey_is_identity(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        for (int c = 0; c < 3; c++) {
            assert_int_equal(colormap_get(COLORMAP_GREY)->rgb[i][c], i);
        }
    }
}

/* CIE L* of an sRGB colour: what a grey print shows. */
static double lightness(const uint8_t rgb[3])
{
    static const double share[3] = {0.2126, 0.7152, 0.0722};
    double y = 0;
    for (int c = 0; c < 3; c++) {
        double v = rgb[c] / 255.0;
        y += share[c] * (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return y > 0.008856 ? 116.0 * cbrt(y) - 16.0 : 903.3 * y;
}

/* A rising value must never look darker, beyond what rounding to bytes does. */
static void test_sequential_maps_rise_in_print(void **state)
{
    (void)state;
    for (int m = COLORMAP_INFERNO; m <= COLORMAP_GREY; m++) {
        const struct colormap *map = colormap_get((enum colormap_id)m);
        double highest = lightness(map->rgb[0]);
        for (int i = 1; i < 256; i++) {
            double l = lightness(map->rgb[i]);
            assert_true(l > highest - 0.35);
            highest = l > highest ? l : highest;
        }
        assert_true(highest - lightness(map->rgb[0]) > 70.0);
    }
}

/* Zero is the lightest; both signs darken away from it. */
static void test_diverging_is_centred(void **state)
{
    (void)state;
    const struct colormap *map = colormap_get(COLORMAP_DIVERGING);
    for (int i = 1; i < 128; i++) {
        assert_true(lightness(map->rgb[i]) > lightness(map->rgb[i - 1]) - 0.35);
        assert_true(lightness(map->rgb[255 - i]) > lightness(map->rgb[256 - i]) - 0.35);
    }
    assert_true(map->rgb[0][2] > map->rgb[0][0]);
    assert_true(map->rgb[255][0] > map->rgb[255][2]);
    uint8_t zero[3];
    colormap_at(COLORMAP_DIVERGING, 0.5f, zero);
    for (int c = 0; c < 3; c++) {
        assert_in_range(zero[c], 245, 248);
    }
}

static void test_at_interpolates_and_clamps(void **state)
{
    (void)state;
    for (int m = 0; m < COLORMAP_COUNT; m++) {
        const struct colormap *map = colormap_get((enum colormap_id)m);
        uint8_t rgb[3];
        for (int i = 0; i < 256; i++) {
            colormap_at((enum colormap_id)m, (float)i / 255.0f, rgb);
            assert_memory_equal(rgb, map->rgb[i], 3);
        }
        static const float below[] = {-1.0f, -INFINITY, NAN}, above[] = {1.5f, INFINITY};
        for (size_t k = 0; k < COUNT(below); k++) {
            colormap_at((enum colormap_id)m, below[k], rgb);
            assert_memory_equal(rgb, map->rgb[0], 3);
        }
        for (size_t k = 0; k < COUNT(above); k++) {
            colormap_at((enum colormap_id)m, above[k], rgb);
            assert_memory_equal(rgb, map->rgb[255], 3);
        }
    }
    uint8_t half[3];
    colormap_at(COLORMAP_GREY, 100.5f / 255.0f, half);
    assert_in_range(half[0], 100, 101);
}

static void test_names_are_distinct(void **state)
{
    (void)state;
    for (int m = 0; m < COLORMAP_COUNT; m++) {
        const struct colormap *map = colormap_get((enum colormap_id)m);
        assert_true(map->name && map->name[0] && map->label && map->label[0]);
        for (int k = 0; k < m; k++) {
            assert_string_not_equal(map->name, colormap_get((enum colormap_id)k)->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_tables),
        cmocka_unit_test(test_grey_is_identity),
        cmocka_unit_test(test_sequential_maps_rise_in_print),
        cmocka_unit_test(test_diverging_is_centred),
        cmocka_unit_test(test_at_interpolates_and_clamps),
        cmocka_unit_test(test_names_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
