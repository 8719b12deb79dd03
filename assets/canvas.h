/* SPDX-License-Identifier: MIT */
/*
 * The canvas make_sample.c draws on: paints, and shapes to be filled with them.
 *
 * Every compiler and machine must write the same bytes. So floating point only says where things
 * are; the places are rounded to 1/64 pixel, and whatever decides about a sample (inside or not,
 * which colour) is integer arithmetic.
 */
#ifndef ASSETS_CANVAS_H
#define ASSETS_CANVAS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIDTH = 320,
    HEIGHT = 240,
    SUPER = 4,           /* samples per pixel, each way */
    UNIT = 64,           /* units of a coordinate per pixel */
    STEP = UNIT / SUPER, /* units between two samples */
    MAX_POINTS = 34
};

/* ---- colours and random numbers ---- */

/* Channels are 8.8 fixed point, so that many thin layers of a glow do not band. */
static uint16_t canvas[HEIGHT * SUPER][WIDTH * SUPER][3];

/* A colour is 0xRRGGBB. A paint runs from one to another, down the height of the shape it fills. */
struct paint {
    uint32_t top, bottom;
    int alpha; /* 0..256 */
    int soft;  /* ellipses only: dense in the middle, fading to nothing at the border */
};

static struct paint shade(uint32_t top, uint32_t bottom)
{
    return (struct paint){top, bottom, 256, 0};
}

static struct paint flat(uint32_t rgb)
{
    return shade(rgb, rgb);
}

static struct paint glaze(uint32_t rgb, int alpha)
{
    return (struct paint){rgb, rgb, alpha, 0};
}

static struct paint glow(uint32_t rgb, int alpha)
{
    return (struct paint){rgb, rgb, alpha, 1};
}

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static int channel(uint32_t rgb, int c)
{
    return (int)((rgb >> (16 - 8 * c)) & 0xff);
}

/* xorshift32: the C library's generator differs from system to system. Never call it twice in one
 * list of arguments, whose order is the compiler's choice. */
static int random_below(int n)
{
    static uint32_t state = 20180620;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (int)((state >> 8) % (uint32_t)n);
}

static double random_between(double low, double high)
{
    return low + (high - low) * random_below(4096) / 4095.0;
}

/* The colour, a little lighter or darker. */
static uint32_t vary(uint32_t rgb, int range)
{
    int shift = random_below(2 * range + 1) - range;
    uint32_t out = 0;
    for (int c = 0; c < 3; c++)
        out = out << 8 | (uint32_t)clamp(channel(rgb, c) + shift, 0, 255);
    return out;
}

/* ---- shapes ---- */

struct point {
    int x, y; /* in units */
};

struct shape {
    int n; /* corners of the polygon; 1 for an ellipse around p[0] */
    struct point p[MAX_POINTS];
    int round;              /* everything this near to an edge belongs to the polygon, too */
    int rx, ry;             /* radii of the ellipse */
    int cosine, sine;       /* its turn, times 4096 */
    struct point low, high; /* bounds; the paint runs from low.y to high.y */
};

/* Shapes are given in pixels from the pen, to the left instead of the right where side is -1. */
static struct {
    double x, y;
    int side;
} pen = {0, 0, 1};

static void place(double x, double y, int side)
{
    pen.x = x;
    pen.y = y;
    pen.side = side;
}

static int units(double pixels)
{
    return (int)lround(pixels * UNIT);
}

/* A polygon of n corners x, y, x, y, ... with its corners rounded outwards by a radius. */
static struct shape rounded(int n, const double *xy, double radius)
{
    struct shape s = {.n = n, .round = units(radius)};
    for (int i = 0; i < n; i++) {
        struct point p = {units(pen.x + pen.side * xy[2 * i]), units(pen.y + xy[2 * i + 1])};
        s.p[i] = p;
        s.low.x = i && s.low.x < p.x - s.round ? s.low.x : p.x - s.round;
        s.low.y = i && s.low.y < p.y - s.round ? s.low.y : p.y - s.round;
        s.high.x = i && s.high.x > p.x + s.round ? s.high.x : p.x + s.round;
        s.high.y = i && s.high.y > p.y + s.round ? s.high.y : p.y + s.round;
    }
    return s;
}

static struct shape rectangle(double x0, double y0, double x1, double y1)
{
    return rounded(4, (const double[]){x0, y0, x1, y0, x1, y1, x0, y1}, 0);
}

static struct shape triangle(double x0, double y0, double x1, double y1, double x2, double y2)
{
    return rounded(3, (const double[]){x0, y0, x1, y1, x2, y2}, 0);
}

/* A line with round ends. */
static struct shape line(double x0, double y0, double x1, double y1, double width)
{
    return rounded(2, (const double[]){x0, y0, x1, y1}, width / 2);
}

/* An ellipse turned by an angle; at angle 0, rx lies along x. */
static struct shape turned(double x, double y, double rx, double ry, double angle)
{
    struct shape s = rounded(1, (const double[]){x, y}, rx > ry ? rx : ry);
    s.rx = units(rx);
    s.ry = units(ry);
    s.cosine = (int)lround(4096 * cos(angle));
    s.sine = (int)lround(4096 * sin(angle)) * pen.side;
    return s;
}

static struct shape ellipse(double x, double y, double rx, double ry)
{
    struct shape s = turned(x, y, rx, ry, 0);
    s.low.y = s.p[0].y - s.ry;
    s.high.y = s.p[0].y + s.ry;
    return s;
}

/* Squared distance from an ellipse's centre as a share of the border's, times 4096. */
static int64_t ellipse_level(const struct shape *s, int x, int y)
{
    int64_t dx = x - s->p[0].x, dy = y - s->p[0].y;
    int64_t u = (dx * s->cosine + dy * s->sine) / 4096;
    int64_t v = (dy * s->cosine - dx * s->sine) / 4096;
    int64_t rx2 = (int64_t)s->rx * s->rx, ry2 = (int64_t)s->ry * s->ry;
    return (u * u * ry2 + v * v * rx2) / (rx2 * ry2 / 4096 + 1);
}

static int near_edge(struct point a, struct point b, int x, int y, int distance)
{
    int64_t bx = b.x - a.x, by = b.y - a.y, px = x - a.x, py = y - a.y;
    int64_t along = px * bx + py * by, length2 = bx * bx + by * by;
    int64_t limit = (int64_t)distance * distance, across = px * by - py * bx;
    if (along <= 0)
        return px * px + py * py <= limit;
    if (along >= length2)
        return (px - bx) * (px - bx) + (py - by) * (py - by) <= limit;
    return across * across / length2 <= limit;
}

static int inside(const struct shape *s, int x, int y)
{
    int odd = 0; /* number of edges to the right */
    if (s->n == 1)
        return ellipse_level(s, x, y) <= 4096;
    for (int i = 0, j = s->n - 1; i < s->n; j = i++) {
        struct point a = s->p[i], b = s->p[j];
        if (s->round && near_edge(a, b, x, y, s->round))
            return 1;
        if ((a.y > y) == (b.y > y))
            continue;
        /* Does the edge cross this row right of the sample? Multiplied out, not divided. */
        int64_t turn = (int64_t)(x - a.x) * (b.y - a.y) - (int64_t)(b.x - a.x) * (y - a.y);
        if (b.y > a.y ? turn < 0 : turn > 0)
            odd = !odd;
    }
    return odd;
}

/* Paints a shape; what lies outside `clip` (unless NULL) stays as it was. */
static void fill_clipped(struct shape s, const struct shape *clip, struct paint paint)
{
    struct point p0 = {clamp(s.low.x / STEP, 0, WIDTH * SUPER),
                       clamp(s.low.y / STEP, 0, HEIGHT * SUPER)};
    struct point p1 = {clamp(s.high.x / STEP + 1, 0, WIDTH * SUPER),
                       clamp(s.high.y / STEP + 1, 0, HEIGHT * SUPER)};
    int height = s.high.y > s.low.y ? s.high.y - s.low.y : 1;
    for (int sy = p0.y; sy < p1.y; sy++) {
        int y = sy * STEP + STEP / 2, t = clamp((y - s.low.y) * 256 / height, 0, 256);
        for (int sx = p0.x; sx < p1.x; sx++) {
            int x = sx * STEP + STEP / 2;
            if (!inside(&s, x, y) || (clip && !inside(clip, x, y)))
                continue;
            int64_t rest = paint.soft ? 4096 - ellipse_level(&s, x, y) : 4096;
            int alpha = (int)(paint.alpha * rest * rest / (4096 * 4096));
            for (int c = 0; c < 3; c++) {
                int colour = channel(paint.top, c) * (256 - t) + channel(paint.bottom, c) * t;
                int old = canvas[sy][sx][c];
                canvas[sy][sx][c] = (uint16_t)((old * (256 - alpha) + colour * alpha) / 256);
            }
        }
    }
}

static void fill(struct shape s, struct paint paint)
{
    fill_clipped(s, NULL, paint);
}

/* A bent line: a quadratic Bezier curve, its width running from w0 to w1. */
static void fill_curve(const double p[6], double w0, double w1, struct paint paint)
{
    double x0 = p[0], y0 = p[1];
    for (int i = 1; i <= 24; i++) {
        double t = i / 24.0, s = 1 - t;
        double x = s * s * p[0] + 2 * s * t * p[2] + t * t * p[4];
        double y = s * s * p[1] + 2 * s * t * p[3] + t * t * p[5];
        fill(line(x0, y0, x, y, w0 + (w1 - w0) * t), paint);
        x0 = x;
        y0 = y;
    }
}

#endif
