/* SPDX-License-Identifier: MIT */
/* The kernels of non-local means: nlm_block, nlm_distances. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { WEIGHT, VALUE, LARGEST, DISTANCE };

struct worst check_nlm_worst[] = {
    [WEIGHT] = {"nlm_block, weights", 0},
    [VALUE] = {"nlm_block, values", 0},
    [LARGEST] = {"nlm_block, largest weights", 0},
    [DISTANCE] = {"nlm_distances", 0},
    {NULL, 0},
};

/* A block, its offset and what is around it. */
struct trial {
    size_t rows, columns, offsets, skip, limit, patch, channels, dy;
    ptrdiff_t dx;
    bool gaussian, largest;
    float scale, noise;
    size_t p_begin, p_end, q_begin, q_end;
};

enum { PLANES = 5 };

/* Sums at one place: what they were, what is added, and how far off they may be. */
struct place {
    double sum[PLANES], size[PLANES], slack[PLANES], largest;
    size_t count;
};

static size_t whole_vectors(size_t n)
{
    return (n + NL_LANES - 1) / NL_LANES * NL_LANES;
}

static float tap(const struct trial *t, size_t k)
{
    const double off = (double)k - (double)(t->patch / 2);
    return t->gaussian ? (float)exp(-off * off / 8) : 1.0f;
}

/* Σ ω (p − q)² between the patches whose upper left corners are p and q. */
static double distance(const struct trial *t, const float *p, const float *q, size_t stride,
                       size_t plane)
{
    double sum = 0;
    for (size_t c = 0; c < t->channels; c++) {
        for (size_t i = 0; i < t->patch; i++) {
            for (size_t k = 0; k < t->patch; k++) {
                const size_t at = c * plane + i * stride + k;
                const double difference = (double)p[at] - (double)q[at];
                sum += (double)tap(t, i) * (double)tap(t, k) * difference * difference;
            }
        }
    }
    return sum;
}

/*
 * A difference squared is off by 3u, its sum over channels by one u each; on its way through the
 * patch's height a term meets at most patch + 1 additions, through the width patch + 1 again, and
 * twice the rounding of a tap's product. All terms are positive: relative errors add up.
 */
static double distance_error(const struct trial *t)
{
    return (double)(3 + t->channels + 2 * (t->patch + 1) + 2) * UNIT * SECOND_ORDER;
}

/* 2^t: the exponent is rounded once, the polynomial is right to 1.1e-7 and its six steps. */
static double weight_of(const struct trial *t, double d, double *relative)
{
    const double exponent = (double)t->noise - (double)t->scale * d;
    const double off = (double)t->scale * d * distance_error(t) + fabs(exponent) * UNIT;
    *relative = (off * log(2) + 1.1e-7 + 6 * UNIT) * SECOND_ORDER;
    return exp2(fmax(fmin(exponent, 0), -126));
}

static void add(const struct trial *t, struct place *place, double weight, double relative,
                const float *value, size_t plane)
{
    place->count++;
    for (size_t c = 0; c < t->channels + 1; c++) {
        const double term = c == 0 ? weight : weight * (double)value[(c - 1) * plane];
        place->sum[c] += term;
        place->size[c] += fabs(term);
        place->slack[c] += fabs(term) * relative;
    }
    if (weight > place->largest)
        place->largest = weight;
    place->slack[PLANES - 1] = fmax(place->slack[PLANES - 1], weight * relative);
}

/* The pairs of a row with candidate k. */
static void expect_row(const struct trial *t, const struct nl_nlm_block *b, struct place *places,
                       size_t i, size_t k)
{
    const size_t back = t->patch / 2 * (b->stride + 1);
    for (size_t x = 0; x < t->columns; x++) {
        if (x + k < t->skip || x + k >= t->limit)
            continue;
        const float *p = b->p + i * b->stride + x, *q = p + b->to_q + k;
        double relative;
        const double d = distance(t, p - back, q - back, b->stride, b->plane);
        const double weight = weight_of(t, d, &relative);
        struct place *place = places + b->totals_at + i * b->totals_stride + x;
        if (i >= t->p_begin && i < t->p_end)
            add(t, place, weight, relative, q, b->plane);
        if (i >= t->q_begin && i < t->q_end)
            add(t, place + b->totals_to_q + k, weight, relative, p, b->plane);
    }
}

static void compare(const struct trial *t, const float *before, const float *after,
                    const struct place *place, size_t at, size_t plane)
{
    for (size_t c = 0; c < t->channels + 1 + t->largest; c++) {
        const float was = before[c * plane + at], is = after[c * plane + at];
        if (place->count == 0) {
            check_same_bits(is, was, "nlm_block, a sum that does not belong to the block");
        } else if (c == t->channels + 1) {
            check_close(&check_nlm_worst[LARGEST], (double)is, fmax((double)was, place->largest),
                        place->slack[PLANES - 1], "patch %zu, %zu columns", t->patch, t->columns);
        } else { /* a product and a sum may be rounded apart */
            const double added = (fabs((double)was) + 2 * place->size[c]) * UNIT;
            check_close(&check_nlm_worst[c == 0 ? WEIGHT : VALUE], (double)is,
                        (double)was + place->sum[c],
                        place->slack[c] + (double)place->count * (added + TINY) * SECOND_ORDER,
                        "patch %zu, %zu × %zu, offset %td,%zu, plane %zu", t->patch, t->rows,
                        t->columns, t->dx, t->dy, c);
        }
    }
}

static void check_block(const struct trial *t, enum fill fill)
{
    const size_t half = t->patch / 2;
    const size_t reach = (size_t)labs((long)t->dx) + t->offsets + NL_NLM_MARGIN;
    const size_t wide = whole_vectors(t->columns);
    /* Image: the block and its candidates, patches around them, whole vectors to the right. */
    const size_t left = reach + half, high = t->rows + t->dy + 2 * half;
    struct grid image =
        grid_make(t->channels * high, left + wide + reach + half, left + wide + reach + half + 5);
    const size_t scratch_size = nl_nlm_scratch_size(t->rows, t->columns, t->patch);
    float *scratch = aligned_alloc(64, scratch_size * sizeof *scratch);
    const size_t stride = wide + 2 * reach + 3, plane = stride * (t->rows + t->dy) + 7;
    const size_t planes = t->channels + 1 + t->largest;
    float *totals = malloc(planes * plane * sizeof *totals);
    float *before = malloc(planes * plane * sizeof *before);
    struct place *places = calloc(plane, sizeof *places);
    float taps[NL_NLM_MAX_PATCH];
    assert_true(totals && before && places && scratch);
    grid_fill(&image, fill);
    for (size_t k = 0; k < image.rows * image.stride - (image.stride - image.cols); k++)
        image.data[k] = check_number(fill); /* the gaps, too, must be finite */
    for (size_t k = 0; k < planes * plane; k++)
        totals[k] = before[k] = fabsf(check_number(FILL_UNIT)) * 1e-3f;
    for (size_t k = 0; k < t->patch; k++)
        taps[k] = tap(t, k);
    for (size_t k = 0; k < scratch_size; k++) /* whatever is in it must not matter */
        scratch[k] = NAN;
    const struct nl_nlm_block b = {
        .rows = t->rows,
        .columns = t->columns,
        .offsets = t->offsets,
        .skip = t->skip,
        .limit = t->limit,
        .p = image.data + half * image.stride + left,
        .to_q = (ptrdiff_t)(t->dy * image.stride) + t->dx,
        .stride = image.stride,
        .plane = high * image.stride,
        .channels = t->channels,
        .patch = t->patch,
        .taps = t->gaussian ? taps : NULL,
        .scale = t->scale,
        .noise = t->noise,
        .totals = totals,
        .totals_at = (ptrdiff_t)reach,
        .totals_to_q = (ptrdiff_t)(t->dy * stride) + t->dx,
        .totals_stride = stride,
        .totals_plane = plane,
        .largest = t->largest,
        .p_begin = t->p_begin,
        .p_end = t->p_end,
        .q_begin = t->q_begin,
        .q_end = t->q_end,
        .scratch = scratch,
    };
    check_tier->nlm_block(&b);
    for (size_t i = 0; i < t->rows; i++)
        for (size_t k = 0; k < t->offsets; k++)
            expect_row(t, &b, places, i, k);
    for (size_t at = 0; at < plane; at++)
        compare(t, before, totals, places + at, at, plane);
    free(places);
    free(before);
    free(totals);
    free(scratch);
    grid_free(&image);
}

static const struct trial usual = {.rows = 3,
                                   .columns = 37,
                                   .offsets = 1,
                                   .limit = 1000,
                                   .patch = 7,
                                   .channels = 1,
                                   .dy = 2,
                                   .dx = -3,
                                   .largest = true,
                                   .scale = 0.5f,
                                   .p_end = 3,
                                   .q_end = 3};

/* Parameters that change from trial to trial beside the dimension that runs. */
static struct trial varied(size_t turn)
{
    struct trial t = usual;
    t.channels = turn % 2 ? 3 : 1;
    t.gaussian = turn % 5 == 4;
    t.largest = turn % 3 != 0;
    t.dx = (ptrdiff_t)(turn * 7 % 41) - 20;
    t.dy = turn % 4;
    t.noise = turn % 7 == 6 ? 2.5f : 0;
    t.offsets = turn % 4 == 1 ? NL_NLM_OFFSETS : 1 + turn % NL_NLM_OFFSETS;
    t.skip = turn % 23;
    if (turn % 3 == 1)
        t.limit = turn / 3 % 40;
    if (t.dy == 0 && t.dx <= 0)
        t.dx = 1 - t.dx;
    return t;
}

static void test_block_columns(void **state)
{
    (void)state;
    check_seed(1);
    for (size_t columns = 0; columns <= LONGEST; columns = check_next(columns)) {
        struct trial t = varied(columns);
        t.columns = columns;
        if (t.limit < 1000) /* near the end */
            t.limit = columns + t.limit % 12 > 5 ? columns + t.limit % 12 - 5 : 0;
        check_block(&t, FILL_UNIT);
    }
}

static void test_block_rows(void **state)
{
    (void)state;
    check_seed(2);
    for (size_t rows = 0; rows <= NL_NLM_MAX_ROWS; rows++) {
        struct trial t = varied(rows);
        t.rows = rows;
        t.columns = 20;
        t.p_begin = rows / 5;
        t.p_end = rows - rows / 7;
        t.q_begin = rows / 3;
        t.q_end = rows - rows / 6;
        check_block(&t, FILL_UNIT);
    }
}

static void test_block_patches(void **state)
{
    (void)state;
    check_seed(3);
    for (size_t patch = 1; patch <= NL_NLM_MAX_PATCH; patch += patch < 30 ? 2 : 14) {
        for (size_t turn = 0; turn < (patch < 30 ? 10 : 2); turn++) {
            struct trial t = varied(turn + patch);
            t.patch = patch;
            t.scale = 5 / (float)(patch * patch);
            check_block(&t, FILL_UNIT);
        }
    }
}

/* Weights of 1, weights that end at 2^-126, and numbers of every size. */
static void test_block_extremes(void **state)
{
    (void)state;
    check_seed(4);
    static const float scales[] = {0, 1e-6f, 1, 30, 1e4f, 1e12f};
    static const enum fill fills[] = {FILL_UNIT, FILL_SIGNS, FILL_TINY, FILL_DENORM, FILL_EQUAL};
    for (size_t s = 0; s < COUNT(scales); s++) {
        for (size_t f = 0; f < COUNT(fills); f++) {
            struct trial t = varied(s + f);
            t.scale = scales[s];
            check_block(&t, fills[f]);
            t.noise = 1e3f;
            check_block(&t, fills[f]);
        }
    }
}

static void check_distances(size_t count, size_t patch, size_t channels, bool gaussian,
                            enum fill fill)
{
    const struct trial t = {.patch = patch, .channels = channels, .gaussian = gaussian};
    const size_t stride = patch + count + 2;
    struct grid p = grid_make(channels * patch, patch, stride);
    struct grid q = grid_make(channels * patch, patch + count - (count > 0), stride);
    struct grid out = grid_make(1, count, count);
    float taps[NL_NLM_MAX_PATCH];
    for (size_t k = 0; k < patch; k++)
        taps[k] = tap(&t, k);
    grid_fill(&p, fill);
    grid_fill(&q, fill);
    check_tier->nlm_distances(p.data, q.data, stride, patch * stride, channels, patch, taps, count,
                              out.data);
    grid_check_written(&out, "nlm_distances");
    for (size_t j = 0; j < count; j++) {
        const double d = distance(&t, p.data, q.data + j, stride, patch * stride);
        /* every product may end below the smallest float */
        const double bound = d * (double)(4 + patch + patch * channels) * UNIT * SECOND_ORDER +
                             (double)(2 * patch * patch * channels) * TINY;
        check_close(&check_nlm_worst[DISTANCE], (double)out.data[j], d, bound,
                    "patch %zu, candidate %zu of %zu", patch, j, count);
    }
    grid_free(&out);
    grid_free(&q);
    grid_free(&p);
}

static void test_distances(void **state)
{
    (void)state;
    check_seed(5);
    for (size_t count = 0; count <= LONGEST; count = check_next(count))
        check_distances(count, 1 + count % 5 * 2, count % 2 ? 1 : 3, count % 3 == 0, FILL_UNIT);
    for (size_t patch = 1; patch <= NL_NLM_MAX_PATCH; patch += 2)
        check_distances(patch % 40 + 1, patch, patch % 4 == 1 ? 1 : 3, patch % 3 == 0, FILL_UNIT);
    static const enum fill fills[] = {FILL_SIGNS, FILL_TINY, FILL_DENORM, FILL_LARGE, FILL_EQUAL};
    for (size_t f = 0; f < COUNT(fills); f++)
        check_distances(21, 7, 1, f % 2, fills[f]);
}

/* C23: a patch of 0 and a patch of 1 are 1 apart: the distance is a mean. */
static void test_c23_distance_is_a_mean(void **state)
{
    (void)state;
    float zeros[7 * 7] = {0}, ones[7 * 7], taps[7], out;
    for (size_t k = 0; k < COUNT(ones); k++)
        ones[k] = 1;
    for (size_t k = 0; k < COUNT(taps); k++)
        taps[k] = 1.0f / 7;
    check_tier->nlm_distances(zeros, ones, 7, 49, 1, 7, taps, 1, &out);
    assert_true(fabs((double)out - 1) < 20 * UNIT);
}

int check_nlm(const char *tier)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_block_columns), cmocka_unit_test(test_block_rows),
        cmocka_unit_test(test_block_patches), cmocka_unit_test(test_block_extremes),
        cmocka_unit_test(test_distances),     cmocka_unit_test(test_c23_distance_is_a_mean),
    };
    return cmocka_run_group_tests_name(tier, tests, NULL, NULL);
}
