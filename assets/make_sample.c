/* SPDX-License-Identifier: MIT */
/*
 * Draws the sample picture of the program: `make_sample OUT.png`, 320x240 RGB.
 *
 * The picture is there to be queried. Things that look alike stand far apart (the eyes of the cat,
 * windows, flowers of a kind, clouds), so that a query on one lights the others. Look-alikes are
 * displaced by multiples of 20 pixels: the program's default grid has a cell every 5 pixels of this
 * picture (it is reduced to 256x192, stride 4) or every 4 (not reduced), and a patch should meet
 * its twin in the same phase of that grid, whichever is in use.
 * Shapes and paints are in canvas.h.
 */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

static const double PI = 3.14159265358979323846;

/* ---- sky and land ---- */

static void draw_sky(void)
{
    place(280, 36, 1);
    fill(rectangle(-280, -36, 40, 124), shade(0x4f9be0, 0xd6ecf7));
    fill(ellipse(0, 0, 84, 84), glow(0xfff3c4, 190));
    fill(ellipse(0, 0, 38, 38), glow(0xffe9a0, 200));
    fill(ellipse(0, 0, 16, 16), shade(0xfff2b0, 0xffd75e));
}

/* Every cloud has the same puffs: seen from afar, clouds are alike. */
static void draw_cloud(double x, double y)
{
    place(x, y, 1);
    struct shape puffs[] = {ellipse(-19, 3, 9, 8), ellipse(19, 2, 10, 8.5), ellipse(-9, -4, 12, 10),
                            ellipse(6, -6, 14, 12), line(-20, 7.5, 20, 7.5, 8)};
    for (int i = 0; i < 5; i++) {
        puffs[i].low.y = units(y - 20); /* one gradient for the whole cloud */
        puffs[i].high.y = units(y + 13);
        fill(puffs[i], shade(0xffffff, 0xc9def0));
    }
}

static void draw_bird(double x, double y)
{
    for (int side = -1; side <= 1; side += 2) {
        place(x, y, side);
        fill_curve((const double[]){7, -2, 3, -4, 0, 1}, .6, 1.8, flat(0x3f5873));
    }
}

/* Everything from a wavy line down to y = bottom. */
static void draw_hill(double top, double rise, double wave, double phase, double bottom,
                      struct paint paint)
{
    double xy[2 * MAX_POINTS] = {WIDTH, bottom, 0, bottom};
    for (int i = 2; i < MAX_POINTS; i++) {
        double x = (i - 2) * WIDTH / (MAX_POINTS - 3.0), angle = x / wave + phase;
        xy[2 * i] = x;
        xy[2 * i + 1] = top - rise * (sin(angle) + .3 * sin(2.3 * x / wave + phase));
    }
    fill(rounded(MAX_POINTS, xy, 0), paint);
}

static void draw_tree(double x, double y, double size)
{
    static const double puffs[][3] = {
        {-.45, .12, .55}, {.45, .12, .55}, {0, -.4, .62}, {0, .2, .6}};
    place(x, y, 1);
    fill(rectangle(-size * .12, 0, size * .12, size * 1.5), flat(0x7a5a3c));
    for (int i = 0; i < 4; i++) {
        double r = puffs[i][2] * size;
        fill(ellipse(puffs[i][0] * size, puffs[i][1] * size, r, r), shade(0x5fa24b, 0x357a3c));
    }
    fill(ellipse(size * .2, -size * .45, size * .6, size * .5), glow(0xa5d070, 150));
}

static void draw_land(void)
{
    place(0, 0, 1);
    draw_hill(128, 16, 46, .4, 165, shade(0x8fbfc0, 0xa9d3b4));
    draw_hill(143, 12, 40, 3.4, 180, shade(0x6fb27a, 0x97cb7c));
    draw_tree(157, 132, 12);
    draw_tree(277, 132, 12);
    draw_tree(304, 137, 9);
    place(0, 0, 1);
    draw_hill(166, 3, 60, 1, HEIGHT, shade(0x9ccf62, 0x4f9440));
}

/* ---- house ---- */

static void draw_wall(double x0, double y0, double x1, double y1)
{
    struct shape wall = rectangle(x0, y0, x1, y1);
    fill(wall, flat(0xe2b295)); /* mortar */
    for (int row = 0; y0 + 5 * row < y1; row++)
        for (double x = x0 - 5 * (row % 2), y = y0 + 5 * row; x < x1; x += 10)
            fill_clipped(rectangle(x, y, x + 9.2, y + 4.2), &wall, flat(vary(0xcf7f63, 9)));
    fill(rectangle(x0, y0, x1, y0 + 5), glaze(0x50201c, 90)); /* the shadow of the eaves */
}

/* A hipped roof of round tiles. The lowest row comes first: each row overlaps the one below. */
static void draw_roof(double x0, double y0, double x1, double y1, double slope)
{
    struct shape roof =
        rounded(4, (const double[]){x0 + slope, y0, x1 - slope, y0, x1, y1, x0, y1}, 0);
    fill(roof, flat(0x7f3430));
    for (int row = (int)(y1 - y0) / 5 - 1; row >= 0; row--)
        for (double x = x0 - 5 * (row % 2), y = y0 + 5 * row; x < x1 + 5; x += 10) {
            fill_clipped(ellipse(x + 5, y + 2, 5.2, 5.2), &roof, flat(0x752d2b));
            fill_clipped(ellipse(x + 5, y + .8, 4.8, 5), &roof, flat(vary(0xb4533f, 8)));
        }
    fill(line(x0 + slope, y0, x1 - slope, y0, 4), shade(0xc8694f, 0x8b3c34));
    fill(line(x0, y1, x1, y1, 3), shade(0xf4ead6, 0xc9b79c));
}

static void draw_window(double x, double y)
{
    place(x, y, 1);
    struct shape glass = rectangle(-9, -11, 9, 11);
    fill(rectangle(-12, -14, 12, 13), flat(0x9c5543));
    fill(rectangle(-11, -13, 11, 13), flat(0xfbf6e8));
    fill(glass, shade(0x2f6699, 0x74aed6));
    fill_clipped(line(-1, -14, -10, 14, 5.6), &glass, glaze(0xe4f4ff, 90)); /* the sky, mirrored */
    fill(rectangle(-1.2, -11, 1.2, 11), flat(0xfbf6e8));
    fill(rectangle(-9, -1.2, 9, 1.2), flat(0xfbf6e8));
    fill(line(-12, 13.5, 12, 13.5, 3), shade(0xffffff, 0xcbbfae));
}

static void draw_door(double x, double y)
{
    place(x, y, 1);
    struct shape porch = rectangle(-12, 0, 12, 42);
    fill_clipped(line(0, 12, 0, 50, 24), &porch, flat(0xfbf6e8));
    fill_clipped(line(0, 12, 0, 50, 19), &porch, shade(0x2f8276, 0x1f5e58));
    for (int i = -1; i <= 1; i++)
        fill(line(4.7 * i, 7, 4.7 * i, 42, .7), flat(0x1b524d));
    fill(ellipse(6.5, 27, 1.5, 1.5), flat(0xf6d46a));
}

static void draw_bush(double x, double y)
{
    place(x, y, 1);
    fill(ellipse(-6, 1, 7, 6), shade(0x5aa04a, 0x2f7036));
    fill(ellipse(6, 1, 7, 6), shade(0x5aa04a, 0x2f7036));
    fill(ellipse(0, -3, 8, 7), shade(0x74b857, 0x387d3c));
}

static void draw_house(void)
{
    place(0, 0, 1);
    fill(ellipse(80, 176, 86, 10), glow(0x23491f, 170)); /* where it stands */
    for (int i = 0; i < 3; i++)                          /* smoke */
        fill(ellipse(115 + 3 * i, 28 - 9 * i, 7 + 2 * i, 7 + i), glow(0xffffff, 200 - 50 * i));
    draw_wall(106, 36, 120, 60);
    fill(rectangle(104, 34, 122, 38), shade(0xd98f72, 0x9a5040));
    draw_wall(17, 90, 137, 175);
    draw_roof(8, 48, 146, 92, 28);
    for (int i = 0; i < 3; i++) {
        double x = 37 + 40 * i;
        draw_window(x, 112);
        if (i == 1) {
            draw_door(x, 133);
            continue;
        }
        draw_window(x, 152);
        draw_bush(x - 8, 175);
        draw_bush(x + 12, 175);
    }
}

/* ---- garden ---- */

static void draw_path(void)
{
    static const double edge[] = {66,  178, 88, 178, 86, 190, 90, 204, 101, 222,
                                  114, 240, 66, 240, 62, 222, 62, 204, 64,  190};
    place(0, 0, 1);
    struct shape path = rounded(10, edge, 0);
    fill(path, shade(0xe6d3a4, 0xd3b481));
    for (int i = 0; i < 160; i++) { /* gravel */
        double y = random_between(179, 240), x = random_between(60, 114), r = random_between(.4, 1);
        fill_clipped(ellipse(x, y, r * 1.5, r), &path, flat(vary(0xcbb083, 26)));
    }
    fill(rectangle(62, 175, 92, 178), shade(0xe6ddcf, 0xb3a594)); /* the doorstep */
}

/* Pickets every 10 pixels on two rails. */
static void draw_fence(void)
{
    place(0, 0, 1);
    fill(ellipse(235, 190, 120, 6), glow(0x23491f, 150));
    fill(rectangle(142, 157, WIDTH, 161), shade(0xe9dfcd, 0xb9ab96));
    fill(rectangle(142, 175, WIDTH, 179), shade(0xe9dfcd, 0xb9ab96));
    for (double x = 147; x < WIDTH + 5; x += 10) {
        place(x, 144, 1);
        fill(rounded(5, (const double[]){-3, 6, 0, 0, 3, 6, 3, 46, -3, 46}, 0),
             shade(0xfffaf0, 0xe6dac6));
        fill(rectangle(1.6, 6, 3, 46), glaze(0x9c8a72, 120)); /* the side in shade */
    }
}

/* Blades of grass from far (small) to near (long); next to none on the path. */
static void draw_grass(double y0, double y1, int count)
{
    for (int i = 0; i < count; i++) {
        double y = y0 + (y1 - y0) * i / count, x = random_between(-2, WIDTH + 2);
        double near = (y - 176) / 64, height = 2.5 + 5 * near + random_between(0, 2);
        double lean = random_between(-.35, .35) * height, edge = random_between(-2, 2);
        uint32_t rgb = vary(random_below(3) ? 0x5ba046 : 0x8cc456, 16);
        place(x, y, 1);
        if (x < 64 + edge || x > 87 + 27 * near * near + edge)
            fill(triangle(-.8, 0, .8, 0, lean, -height), flat(rgb));
    }
}

struct flower {
    uint32_t petal, petal_tip, heart;
    int petals;
    double reach, length, width; /* of a petal: its middle's distance, its radii */
    double size;                 /* radius of the heart */
};

static const struct flower PINK = {0xd8387c, 0xf585b1, 0xffe36b, 6, 7.2, 4.9, 4.3, 4};
static const struct flower YELLOW = {0xf2b21c, 0xffdb53, 0x6e4020, 10, 7.4, 4.6, 2.4, 4.8};
static const struct flower VIOLET = {0x6a45b8, 0xa78be6, 0xfff4c8, 5, 6.2, 5, 4.4, 3};

static void draw_flower(const struct flower *f, double x, double y)
{
    place(x, y, 1);
    fill_curve((const double[]){0, 0, -2, 14, 1, 27}, 1.8, 2.4, flat(0x3d7d34));
    fill(turned(5, 18, 5.5, 2, -.6), shade(0x6cb04c, 0x3d7d34));
    fill(turned(-5.5, 20, 5.5, 2, .6), shade(0x6cb04c, 0x3d7d34));
    fill(ellipse(1, 2, 14, 14), glow(0x1f4a1f, 130)); /* a shadow lifts it off the grass */
    for (int k = 0; k < f->petals; k++) {
        double a = 2 * PI * k / f->petals - PI / 2, r = f->reach, tip = r + .9;
        fill(turned(r * cos(a), r * sin(a), f->length, f->width, a), flat(f->petal));
        fill(turned(tip * cos(a), tip * sin(a), f->length * .72, f->width * .66, a),
             flat(f->petal_tip));
    }
    fill(ellipse(0, 0, f->size, f->size), flat(f->heart));
    fill(ellipse(-.8, -1, f->size * .8, f->size * .7), glow(0xffffff, 120));
}

/* Far ones first. Within a kind, all differences are multiples of 20. */
static void draw_flowers(void)
{
    draw_flower(&PINK, 22, 198);
    draw_flower(&PINK, 162, 198);
    draw_flower(&PINK, 302, 198);
    draw_flower(&YELLOW, 52, 202);
    draw_flower(&VIOLET, 112, 202);
    draw_flower(&VIOLET, 32, 222);
    draw_flower(&VIOLET, 172, 222);
    draw_flower(&YELLOW, 132, 222);
    draw_flower(&YELLOW, 292, 222);
}

/* ---- cat: the pen stands in the middle of its head ---- */

static const uint32_t FUR_LIGHT = 0xf6b063, FUR = 0xe8924a, FUR_DARK = 0xb9602a, CREAM = 0xfff3df;

static void draw_cat_tail(double x, double y)
{
    place(x, y, 1);
    fill_curve((const double[]){22, 81, 56, 86, 53, 58}, 12, 11, flat(FUR));
    fill_curve((const double[]){53, 58, 50, 40, 61, 36}, 11, 8, flat(FUR));
    fill(line(48.5, 62, 57.5, 63, 2.8), flat(FUR_DARK));
    fill(line(48, 54, 56.5, 54, 2.8), flat(FUR_DARK));
    fill(line(50, 46, 57.5, 48, 2.6), flat(FUR_DARK));
    fill(ellipse(59.5, 36.5, 4.6, 4), flat(CREAM));
}

static void draw_cat_body(double x, double y)
{
    place(x, y, 1);
    struct shape body = ellipse(0, 61, 33, 30);
    fill(body, shade(FUR_LIGHT, FUR));
    for (int side = -1; side <= 1; side += 2) {
        place(x, y, side);
        for (int i = 0; i < 3; i++) { /* stripes on the flanks */
            double sy = 50 + 9 * i;
            fill_clipped(triangle(36, sy - 2.5, 36, sy + 3, 19, sy + 2), &body, flat(FUR_DARK));
        }
        fill(ellipse(21, 76, 14, 12), shade(FUR_LIGHT, FUR));
    }
    fill(ellipse(0, 57, 15, 20), shade(CREAM, 0xf3cf9f));
    fill(line(0, 66, 0, 80, 3), flat(FUR_DARK)); /* the gap between the legs */
    for (int side = -1; side <= 1; side += 2) {
        place(x, y, side);
        fill(line(8, 62, 8, 80, 14), shade(FUR_LIGHT, FUR));
        fill(ellipse(10, 84, 10, 5.5), shade(0xffffff, 0xf3dcc0));
        fill(line(7, 84, 7, 87, .8), flat(0xc79f7c));
        fill(line(13, 84, 13, 87, .8), flat(0xc79f7c));
    }
    fill_clipped(ellipse(0, 34, 34, 14), &body, glow(0x7a3c18, 150)); /* the shadow of the head */
    fill(ellipse(0, 40, 5, 5), shade(0xffe27a, 0xd49a22));            /* a bell */
    fill(line(-3, 41, 3, 41, 1), flat(0x8a5f14));
    fill(ellipse(0, 43, 1.1, 1.1), flat(0x8a5f14));
}

static void draw_cat_head(double x, double y)
{
    static const double ear[] = {35, -14, 31, -42, 8, -31}, inner[] = {32, -19, 29.5, -37, 15, -30};
    struct shape head;
    for (int side = -1; side <= 1; side += 2) {
        place(x, y, side);
        fill(rounded(3, ear, 2.5), shade(FUR_LIGHT, FUR));
        fill(rounded(3, inner, 1.5), shade(0xf6b9a6, 0xe79a88));
    }
    head = ellipse(0, 0, 43, 35);
    fill(head, shade(FUR_LIGHT, FUR));
    fill_clipped(ellipse(0, 38, 46, 22), &head, glow(0x9c4a1c, 120));
    fill_clipped(triangle(-3, -38, 3, -38, 0, -14), &head, flat(FUR_DARK));
    for (int side = -1; side <= 1; side += 2) {
        place(x, y, side);
        fill_clipped(triangle(6, -38, 12, -37, 7, -19), &head, flat(FUR_DARK));
        for (int sy = 3; sy <= 19; sy += 8)
            fill_clipped(triangle(45, sy - 2, 44, sy + 3.5, 32, sy + 2), &head, flat(FUR_DARK));
        fill(ellipse(29, 15, 10, 7), glow(0xf0705c, 130)); /* a blush */
    }
}

/* Not mirrored: both eyes are the same picture, catching the light on the same side. */
static void draw_cat_eye(double x, double y)
{
    place(x, y, 1);
    struct shape iris = ellipse(0, 0, 10.6, 10.2);
    fill(ellipse(0, 0, 12.2, 11.7), flat(0x4a2613));
    fill(iris, shade(0x2f9a55, 0xb6ea72));
    fill_clipped(ellipse(0, -9.8, 12.6, 5.2), &iris, glaze(0x0d3a22, 110)); /* under the lid */
    fill(ellipse(0, 0, 4.1, 8.7), flat(0x10161a));
    fill(ellipse(-3.4, -3.9, 2.8, 3), flat(0xffffff));
    fill(ellipse(3.4, 4.6, 1.4, 1.4), glaze(0xffffff, 210));
}

static void draw_cat_muzzle(double x, double y)
{
    place(x, y, 1);
    fill(ellipse(0, 25, 9, 6.5), shade(CREAM, 0xf3d9b5));
    fill(ellipse(-8.5, 18, 11, 8.2), shade(0xffffff, 0xf9e5c8));
    fill(ellipse(8.5, 18, 11, 8.2), shade(0xffffff, 0xf9e5c8));
    fill(rounded(3, (const double[]){-3.2, 10.5, 3.2, 10.5, 0, 14}, 1.4),
         shade(0xf08f93, 0xc95a66));
    fill(line(0, 15, 0, 19, 1.3), flat(0x70371f));
    for (int side = -1; side <= 1; side += 2) {
        place(x, y, side);
        fill_curve((const double[]){0, 19, 4, 24, 9, 20}, 1.3, 1.3, flat(0x70371f));
        for (int i = -1; i <= 1; i++) { /* where a whisker grows, and the whisker */
            const double whisker[] = {15, 17 + 2.6 * i, 35, 15 + 5 * i, 53, 17 + 9 * i};
            fill(ellipse(i ? 10 : 12, 17 + 2.6 * i, .7, .7), flat(0xb88a66));
            fill_curve(whisker, 1.1, .5, flat(0xfffdf6));
        }
    }
}

static void draw_cat(double x, double y)
{
    place(x, y, 1);
    fill(ellipse(6, 87, 56, 10), glow(0x1f431c, 210));
    draw_cat_tail(x, y);
    draw_cat_body(x, y);
    draw_cat_head(x, y);
    draw_cat_muzzle(x, y);
    draw_cat_eye(x - 20, y - 2.5);
    draw_cat_eye(x + 20, y - 2.5);
}

/* ---- picture ---- */

static void draw_scene(void)
{
    draw_sky();
    draw_cloud(50, 26);
    draw_cloud(150, 26);
    draw_cloud(210, 66);
    draw_bird(100, 16);
    draw_bird(192, 32);
    draw_bird(232, 12);
    draw_land();
    draw_house();
    draw_path();
    draw_grass(178, 192, 500);
    draw_fence();
    draw_grass(190, 232, 1300);
    draw_cat(222, 150);
    draw_flowers();
    draw_grass(236, 250, 260);
}

/* The mean of each pixel's samples, with a touch of noise (standard deviation 2.3 of 255): two
 * places of a real photograph are never exactly equal. */
static void develop(uint8_t *rgb)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < 3; c++) {
                int sum = 0;
                for (int i = 0; i < SUPER * SUPER; i++)
                    sum += canvas[y * SUPER + i / SUPER][x * SUPER + i % SUPER][c];
                int noise = -2 * 1023;
                for (int i = 0; i < 4; i++)
                    noise += random_below(1024);
                int v = (sum / (SUPER * SUPER) + noise + 128) / 256;
                *rgb++ = (uint8_t)clamp(v, 0, 255);
            }
}

static void write_bytes(void *file, void *data, int size)
{
    fwrite(data, 1, (size_t)size, file); /* a failure stays in ferror */
}

int main(int argc, char **argv)
{
    static uint8_t rgb[HEIGHT * WIDTH * 3];

    if (argc != 2) {
        fprintf(stderr, "usage: make_sample OUT.png\n");
        return 2;
    }
    draw_scene();
    develop(rgb);
    FILE *file = fopen(argv[1], "wb");
    if (!file) {
        fprintf(stderr, "make_sample: cannot write %s: %s.\n", argv[1], strerror(errno));
        return 1;
    }
    int ok = stbi_write_png_to_func(write_bytes, file, WIDTH, HEIGHT, 3, rgb, WIDTH * 3);
    ok = !ferror(file) && ok;
    ok = fclose(file) == 0 && ok;
    if (!ok) {
        fprintf(stderr, "make_sample: cannot write all of %s: is the disk full?\n", argv[1]);
        return 1;
    }
    return 0;
}
