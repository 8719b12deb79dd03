/* SPDX-License-Identifier: MIT */
/* Features against tests/golden/make_features_golden.py, the geometry of the grid, and patches. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nonlocal/attention.h"
#include "nonlocal/explain.h"
#include "nonlocal/features.h"

#include "alloc.h"
#include "features_golden.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const nl_exec plain_exec;

static nl_picture blank(size_t w, size_t h)
{
    nl_picture picture = {w, h, w, h, {0}};
    assert_int_equal(nl_matrix_alloc(&picture.rgb, h, 3 * w, NULL), NL_OK);
    return picture;
}

/* The picture of the golden script. */
static nl_picture sample(size_t w, size_t h)
{
    nl_picture picture = blank(w, h);
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            for (size_t c = 0; c < 3; c++)
                nl_row(&picture.rgb, y)[3 * x + c] =
                    (float)((double)((x * 17 + y * 29 + c * 71 + x * y * 5) % 256) / 255.0);
    return picture;
}

static void fill(nl_picture *picture, float r, float g, float b)
{
    for (size_t y = 0; y < picture->height; y++)
        for (size_t x = 0; x < picture->width; x++)
            memcpy(nl_row(&picture->rgb, y) + 3 * x, (float[]){r, g, b}, 3 * sizeof(float));
}

static nl_matrix features(const nl_picture *picture, const nl_features_params *params)
{
    nl_error error = {.message = ""};
    nl_matrix x;
    if (nl_features_alloc(picture, params, &plain_exec, &x, NULL, &error) != NL_OK)
        fail_msg("%s", error.message);
    return x;
}

static void check_equal(const nl_matrix *a, const nl_matrix *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->cols, b->cols);
    for (size_t i = 0; i < a->rows; i++)
        assert_memory_equal(nl_row(a, i), nl_row(b, i), a->cols * sizeof(float));
}

static void test_features_against_golden(void **state)
{
    (void)state;
    for (size_t g = 0; g < COUNT(golden_cases); g++) {
        const struct golden *golden = &golden_cases[g];
        const nl_features_params params = {(nl_feature_id)golden->kind, golden->patch,
                                           golden->stride, (nl_norm_id)golden->norm,
                                           golden->position};
        nl_picture picture = sample(golden->width, golden->height);
        nl_matrix x;
        size_t constant = 99;
        assert_int_equal(nl_features_alloc(&picture, &params, &plain_exec, &x, &constant, NULL),
                         NL_OK);
        assert_int_equal(x.rows, golden->rows);
        assert_int_equal(x.cols, golden->cols);
        assert_int_equal(nl_features_dim(&params), golden->cols);
        assert_int_equal(constant, golden->constant_columns);
        /*
         * Values below 2 are rounded to float about twice (a plane, the feature), 2⁻²³ together;
         * a norm that divides by less than 1 magnifies that, and more for a z of several.
         */
        const double tolerance = golden->divisor < 1 ? 0x1p-23 / golden->divisor : 0x1p-23;
        for (size_t i = 0; i < x.rows; i++)
            for (size_t k = 0; k < x.cols; k++) {
                double expected = golden_values[golden->at + i * x.cols + k];
                double got = (double)nl_row(&x, i)[k];
                if (!(fabs(got - expected) <= tolerance * (1 + fabs(expected))))
                    fail_msg("case %zu, %s %zu/%zu of %zu × %zu, row %zu value %zu: %.9g, not "
                             "%.9g",
                             g, nl_features[golden->kind].name, golden->patch, golden->stride,
                             golden->width, golden->height, i, k, got, expected);
            }
        nl_matrix_free(&x);
        nl_picture_free(&picture);
    }
    assert_int_equal(nl_alloc_live(), 0);
}

/* Steps from i by reflection, one pixel at a time. */
static size_t walk_mirror(ptrdiff_t i, size_t n)
{
    ptrdiff_t at = 0, step = i < 0 ? -1 : 1;
    for (ptrdiff_t k = 0; n > 1 && k < (i < 0 ? -i : i); k++) {
        if (at + step < 0 || at + step >= (ptrdiff_t)n)
            step = -step;
        at += step;
    }
    return (size_t)at;
}

static void test_mirror(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 9; n++)
        for (ptrdiff_t i = -50; i <= 50; i++)
            assert_int_equal(nl_mirror(i, n), walk_mirror(i, n));
}

static void test_grid_geometry(void **state)
{
    (void)state;
    for (size_t stride = 1; stride <= 13; stride++)
        for (size_t patch = 1; patch <= 13; patch++) {
            const nl_features_params params = {.patch = patch, .stride = stride};
            const nl_picture picture = {.width = 29, .height = 13};
            nl_grid grid = nl_grid_of(&picture, &params);
            /* the last cell begins inside, one more would not */
            assert_true((grid.gw - 1) * stride < 29 && grid.gw * stride >= 29);
            assert_true((grid.gh - 1) * stride < 13 && grid.gh * stride >= 13);
            for (size_t g = 0; g < grid.gw; g++)
                assert_int_equal(nl_grid_patch_start(&grid, g),
                                 (ptrdiff_t)(g * stride) +
                                     (ptrdiff_t)floor(((double)stride - (double)patch) / 2));
        }
}

static void test_c05_red_patch_of_a_wide_picture(void **state)
{
    (void)state;
    nl_picture picture = blank(64, 32);
    const nl_features_params params = {NL_FEATURE_RGB, 8, 8, NL_NORM_NONE, 0};
    for (size_t y = 8; y < 16; y++)
        for (size_t x = 48; x < 56; x++)
            nl_row(&picture.rgb, y)[3 * x] = 1;
    nl_grid grid = nl_grid_of(&picture, &params);
    assert_int_equal(grid.gw, 8);
    assert_int_equal(grid.gh, 4);
    nl_matrix x = features(&picture, &params);
    for (size_t i = 0; i < x.rows; i++)
        for (size_t k = 0; k < x.cols; k++)
            assert_true(nl_row(&x, i)[k] == (i == 1 * 8 + 6 && k % 3 == 0 ? 1.0f : 0.0f));
    nl_matrix_free(&x);
    nl_picture_free(&picture);
}

static void test_c62_size_that_is_no_multiple_of_the_patch(void **state)
{
    (void)state;
    nl_picture picture = sample(250, 333);
    const nl_features_params params = {NL_FEATURE_RGB, 16, 16, NL_NORM_NONE, 0};
    nl_grid grid = nl_grid_of(&picture, &params);
    assert_int_equal(grid.gw, 16);
    assert_int_equal(grid.gh, 21);
    assert_int_equal(nl_grid_patch_start(&grid, 15), 240); /* aligned to the original pixels */
    assert_int_equal(nl_grid_patch_start(&grid, 20), 320);
    nl_matrix x = features(&picture, &params);
    assert_int_equal(x.rows, 16 * 21);
    /* the last cell: ten columns and thirteen rows inside, then back without the edge pixel */
    const float *last = nl_row(&x, 20 * 16 + 15);
    for (size_t dy = 0; dy < 16; dy++)
        for (size_t dx = 0; dx < 16; dx++) {
            size_t sx = 240 + dx < 250 ? 240 + dx : 498 - (240 + dx);
            size_t sy = 320 + dy < 333 ? 320 + dy : 664 - (320 + dy);
            assert_memory_equal(last + 3 * (dy * 16 + dx), nl_row(&picture.rgb, sy) + 3 * sx,
                                3 * sizeof(float));
        }
    nl_matrix_free(&x);
    nl_picture_free(&picture);
}

static void test_c61_patch_over_the_picture(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}};
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (int kind = 0; kind < NL_FEATURE_COUNT; kind++) {
            nl_picture picture = sample(sizes[s][0], sizes[s][1]);
            const nl_features_params params = {(nl_feature_id)kind, 7, 1, NL_NORM_NONE, 1};
            nl_matrix x = features(&picture, &params);
            assert_int_equal(x.rows, sizes[s][0] * sizes[s][1]);
            for (size_t i = 0; i < x.rows; i++)
                for (size_t k = 0; k < x.cols; k++)
                    assert_true(fabsf(nl_row(&x, i)[k]) <= 2); /* false for NaN */
            nl_matrix_free(&x);
            nl_picture_free(&picture);
        }
}

/* A 7 × 7 patch of black against one of white is 1 apart, not 49: a mean over the patch. */
static void test_c23_patch_distance_is_a_mean(void **state)
{
    (void)state;
    for (int kind = NL_FEATURE_RGB; kind <= NL_FEATURE_LUMA; kind++) {
        nl_picture picture = blank(14, 7);
        const nl_features_params params = {(nl_feature_id)kind, 7, 7, NL_NORM_NONE, 0};
        nl_attention_params similarity;
        nl_attention *attention;
        float weights[2];
        for (size_t y = 0; y < 7; y++)
            for (size_t k = 3 * 7; k < 3 * 14; k++)
                nl_row(&picture.rgb, y)[k] = 1;
        nl_matrix x = features(&picture, &params);
        assert_int_equal(x.rows, 2);
        nl_attention_params_init(&similarity);
        similarity.similarity = NL_EUCLIDEAN;
        similarity.h = 1;
        assert_int_equal(
            nl_attention_create(&similarity, &x, &x, true, &plain_exec, &attention, NULL), NL_OK);
        assert_int_equal(nl_attention_row(attention, 0, &plain_exec, weights, NULL, NULL), NL_OK);
        double distance = -log((double)weights[1] / (double)weights[0]);
        assert_true(fabs(distance - 1) < 1e-5);
        nl_attention_free(&attention);
        nl_matrix_free(&x);
        nl_picture_free(&picture);
    }
}

/*
 * C29: all 147 numbers of a 7 × 7 colour patch count. Black against k/146 at number k is a mean of
 * Σ k² / (146² · 147) = 293 / 876, and a distance of √(147 · 293 / 876).
 */
static void test_c29_all_147_numbers_count(void **state)
{
    (void)state;
    const double mean = 293.0 / 876;
    const nl_features_params params = {NL_FEATURE_RGB, 7, 7, NL_NORM_NONE, 0};
    nl_picture picture = blank(14, 7);
    nl_attention_params similarity;
    nl_attention *attention;
    nl_weight_steps steps;
    nl_matrix d;
    nl_sum sum;
    double value;
    for (size_t k = 0; k < 147; k++)
        nl_row(&picture.rgb, k / 21)[21 + k % 21] = (float)((double)k / 146);
    nl_matrix x = features(&picture, &params);
    assert_int_equal(x.cols, 147);
    nl_attention_params_init(&similarity);
    similarity.similarity = NL_EUCLIDEAN;
    assert_int_equal(nl_attention_create(&similarity, &x, &x, true, &plain_exec, &attention, NULL),
                     NL_OK);
    assert_int_equal(nl_explain_weight(attention, 0, 1, &plain_exec, &steps, NULL), NL_OK);
    assert_true(fabs(steps.sum.total - mean) < 1e-6);
    assert_int_equal(steps.sum.count + steps.sum.rest_count, 147);
    assert_int_equal(nl_matrix_alloc(&d, 2, 2, NULL), NL_OK);
    assert_int_equal(nl_dissim(NL_METRIC_EUCLIDEAN, &x, &plain_exec, &d, NULL), NL_OK);
    assert_true(fabs((double)d.data[1] - sqrt(147 * mean)) < 1e-5);
    assert_int_equal(nl_explain_dissim(NL_METRIC_EUCLIDEAN, &x, 0, 1, &sum, &value, NULL), NL_OK);
    assert_true(fabs(value - (double)d.data[1]) < 1e-6);
    nl_attention_free(&attention);
    nl_matrix_free(&d);
    nl_matrix_free(&x);
    nl_picture_free(&picture);
}

static void test_c27_constant_pictures(void **state)
{
    (void)state;
    const float levels[] = {0, 0.4f, 1};
    for (size_t l = 0; l < COUNT(levels); l++)
        for (int kind = 0; kind < NL_FEATURE_POSITION; kind++)
            for (int norm = 0; norm < NL_NORM_COUNT; norm++) {
                nl_picture picture = blank(13, 9);
                const nl_features_params params = {(nl_feature_id)kind, 5, 4, (nl_norm_id)norm, 0};
                nl_matrix x;
                size_t constant = 99;
                fill(&picture, levels[l], levels[l], levels[l]);
                assert_int_equal(
                    nl_features_alloc(&picture, &params, &plain_exec, &x, &constant, NULL), NL_OK);
                assert_int_equal(constant, norm == NL_NORM_ZSCORE ? x.cols : 0);
                for (size_t i = 0; i < x.rows; i++)
                    for (size_t k = 0; k < x.cols; k++) {
                        float value = nl_row(&x, i)[k];
                        assert_true(fabsf(value) <= 1.0001f); /* false for NaN */
                        assert_true(value == nl_row(&x, 0)[k]);
                        if (norm == NL_NORM_ZSCORE || kind == NL_FEATURE_GRADIENT)
                            assert_true(value == 0);
                    }
                nl_matrix_free(&x);
                nl_picture_free(&picture);
            }
}

/* One edge of each direction must fill the bin of its angle and no other. */
static void test_gradient_bins_by_direction(void **state)
{
    (void)state;
    for (int turn = 0; turn < 8; turn++) {
        nl_picture picture = blank(16, 16);
        const nl_features_params params = {NL_FEATURE_GRADIENT, 8, 16, NL_NORM_NONE, 0};
        const double angle = turn * 3.14159265358979323846 / 8;
        for (size_t y = 0; y < 16; y++)
            for (size_t k = 0; k < 48; k++)
                nl_row(&picture.rgb, y)[k] =
                    (float)(0.5 + 0.02 * ((double)(k / 3) - 7.5) * cos(angle) +
                            0.02 * ((double)y - 7.5) * sin(angle));
        nl_matrix x = features(&picture, &params);
        assert_int_equal(x.rows, 1);
        for (int k = 0; k < 32; k++) {
            double expected = k % 8 == turn ? 0.02 / sqrt(4 * 0.02 * 0.02 + 0.02 * 0.02) : 0;
            /* a slope of 0.02 from numbers rounded at 2⁻²⁵ turns the angle by some 10⁻⁵ bins */
            assert_true(fabs((double)nl_row(&x, 0)[k] - expected) < 1e-4);
        }
        nl_matrix_free(&x);
        nl_picture_free(&picture);
    }
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    const size_t counts[] = {1, 3, 8};
    nl_picture picture = sample(61, 47);
    for (int kind = 0; kind < NL_FEATURE_COUNT; kind++)
        for (size_t t = 0; t < COUNT(counts); t++) {
            const nl_features_params params = {(nl_feature_id)kind, 7, 2, NL_NORM_ZSCORE, 0.3};
            const nl_grid grid = nl_grid_of(&picture, &params);
            nl_exec exec = {0};
            nl_matrix x, patches, patches_alone, alone = features(&picture, &params);
            assert_int_equal(nl_pool_create(counts[t], &exec.pool, NULL), NL_OK);
            assert_int_equal(nl_features_alloc(&picture, &params, &exec, &x, NULL, NULL), NL_OK);
            check_equal(&x, &alone);
            assert_int_equal(nl_patches_alloc(&picture, &grid, &exec, &patches, NULL), NL_OK);
            assert_int_equal(nl_patches_alloc(&picture, &grid, &plain_exec, &patches_alone, NULL),
                             NL_OK);
            check_equal(&patches, &patches_alone);
            nl_pool_free(&exec.pool);
            nl_matrix_free(&x);
            nl_matrix_free(&alone);
            nl_matrix_free(&patches);
            nl_matrix_free(&patches_alone);
        }
    nl_picture_free(&picture);
    assert_int_equal(nl_alloc_live(), 0);
}

static const size_t round_trips[][4] = {
    /* width, height, patch, stride */
    {13, 9, 4, 3},  {13, 9, 5, 4},  {13, 9, 12, 4}, {13, 9, 1, 1},  {13, 9, 2, 5},
    {13, 9, 1, 64}, {17, 5, 7, 6},  {1, 7, 4, 2},   {2, 2, 7, 1},   {2, 2, 64, 64},
    {1, 1, 3, 2},   {40, 30, 3, 7}, {31, 33, 8, 8}, {31, 33, 9, 2}, {5, 64, 64, 1},
};

/* Is the pixel under a patch of any cell? */
static bool covered(const nl_grid *grid, size_t x, size_t y)
{
    for (size_t gy = 0; gy < grid->gh; gy++)
        for (size_t gx = 0; gx < grid->gw; gx++) {
            ptrdiff_t dx = (ptrdiff_t)x - nl_grid_patch_start(grid, gx);
            ptrdiff_t dy = (ptrdiff_t)y - nl_grid_patch_start(grid, gy);
            if (dx >= 0 && dy >= 0 && dx < (ptrdiff_t)grid->patch && dy < (ptrdiff_t)grid->patch)
                return true;
        }
    return false;
}

/* The picture's own patches put together are the picture: a mean of equals is exact. */
static void test_patches_round_trip(void **state)
{
    (void)state;
    size_t with_gaps = 0;
    for (size_t r = 0; r < COUNT(round_trips); r++) {
        const size_t *t = round_trips[r];
        const nl_features_params params = {NL_FEATURE_RGB, t[2], t[3], NL_NORM_NONE, 0};
        nl_picture picture = sample(t[0], t[1]), black = blank(t[0], t[1]), out;
        nl_grid grid = nl_grid_of(&picture, &params);
        nl_matrix patches, x = features(&picture, &params);
        size_t uncovered = 0, bare = 0;
        assert_int_equal(nl_patches_alloc(&picture, &grid, &plain_exec, &patches, NULL), NL_OK);
        check_equal(&patches, &x); /* the rgb features are the patches */
        assert_int_equal(nl_patches_assemble(&picture, &grid, &patches, &out, &uncovered, NULL),
                         NL_OK);
        assert_int_equal(out.width, t[0]);
        assert_int_equal(out.height, t[1]);
        check_equal(&out.rgb, &picture.rgb);
        nl_picture_free(&out);
        /* laid on another picture, that one shows in the gaps and only there */
        assert_int_equal(nl_patches_assemble(&black, &grid, &patches, &out, NULL, NULL), NL_OK);
        for (size_t y = 0; y < t[1]; y++)
            for (size_t px = 0; px < t[0]; px++) {
                bool under = covered(&grid, px, y);
                const nl_picture *from = under ? &picture : &black;
                assert_memory_equal(nl_row(&out.rgb, y) + 3 * px, nl_row(&from->rgb, y) + 3 * px,
                                    3 * sizeof(float));
                bare += !under;
            }
        assert_int_equal(uncovered, bare);
        with_gaps += bare > 0;
        nl_picture_free(&out);
        nl_picture_free(&picture);
        nl_picture_free(&black);
        nl_matrix_free(&patches);
        nl_matrix_free(&x);
    }
    assert_true(with_gaps >= 3);
    assert_int_equal(nl_alloc_live(), 0);
}

/* Patches of different colour: every pixel is the mean of those that lie on it. */
static void test_assembling_averages(void **state)
{
    (void)state;
    const nl_features_params params = {NL_FEATURE_RGB, 5, 2, NL_NORM_NONE, 0};
    nl_picture picture = sample(13, 9), out;
    nl_grid grid = nl_grid_of(&picture, &params);
    nl_matrix patches;
    assert_int_equal(nl_patches_alloc(&picture, &grid, &plain_exec, &patches, NULL), NL_OK);
    for (size_t i = 0; i < patches.rows; i++)
        for (size_t k = 0; k < patches.cols; k++)
            nl_row(&patches, i)[k] = (float)(i + 100 * (k % 3));
    assert_int_equal(nl_patches_assemble(&picture, &grid, &patches, &out, NULL, NULL), NL_OK);
    for (ptrdiff_t y = 0; y < 9; y++)
        for (ptrdiff_t x = 0; x < 13; x++) {
            double sum = 0, count = 0;
            for (size_t i = 0; i < patches.rows; i++) {
                /* patch 5 on stride 2 begins 2 pixels before its cell */
                ptrdiff_t x0 = 2 * (ptrdiff_t)(i % grid.gw) - 2;
                ptrdiff_t y0 = 2 * (ptrdiff_t)(i / grid.gw) - 2;
                if (x >= x0 && x < x0 + 5 && y >= y0 && y < y0 + 5) {
                    sum += (double)i;
                    count++;
                }
            }
            for (size_t c = 0; c < 3; c++)
                assert_float_equal(nl_row(&out.rgb, (size_t)y)[3 * (size_t)x + c],
                                   (float)(sum / count + 100.0 * (double)c), 1e-4f);
        }
    nl_picture_free(&out);
    nl_picture_free(&picture);
    nl_matrix_free(&patches);
}

static void test_parameter_errors(void **state)
{
    (void)state;
    const nl_features_params good = {NL_FEATURE_RGB, 3, 2, NL_NORM_NONE, 0};
    struct {
        nl_features_params params;
        const char *word; /* what the message must name */
    } bad[9];
    for (size_t b = 0; b < COUNT(bad); b++)
        bad[b].params = good;
    bad[0].params.patch = 0, bad[0].word = "patch is 0";
    bad[1].params.patch = 65, bad[1].word = "patch is 65";
    bad[2].params.stride = 0, bad[2].word = "stride is 0";
    bad[3].params.stride = 65, bad[3].word = "stride is 65";
    bad[4].params.position = -0.5, bad[4].word = "-0.5";
    bad[5].params.position = (double)NAN, bad[5].word = "position";
    bad[6].params.position = (double)INFINITY, bad[6].word = "position";
    bad[7].params.kind = NL_FEATURE_COUNT, bad[7].word = "features";
    bad[8].params.norm = (nl_norm_id)-1, bad[8].word = "features";
    nl_picture picture = sample(5, 4), empty = {0};
    nl_matrix x;
    nl_error error;
    for (size_t b = 0; b < COUNT(bad); b++) {
        assert_int_equal(nl_features_alloc(&picture, &bad[b].params, &plain_exec, &x, NULL, &error),
                         NL_INVALID);
        assert_int_equal(error.status, NL_INVALID);
        if (!strstr(error.message, bad[b].word) || strchr(error.message, '\n'))
            fail_msg("the message is: %s", error.message);
        assert_null(x.data);
    }
    assert_int_equal(nl_features_alloc(&empty, &good, &plain_exec, &x, NULL, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "no pixels"));
    nl_picture_free(&picture);
    assert_int_equal(nl_alloc_live(), 0);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void test_cancelled(void **state)
{
    (void)state;
    const nl_exec exec = {.cancelled = always};
    nl_features_params params;
    nl_picture picture = sample(13, 9);
    nl_matrix x;
    nl_features_params_init(&params);
    assert_int_equal(nl_features_alloc(&picture, &params, &exec, &x, NULL, NULL), NL_CANCELLED);
    assert_null(x.data);
    nl_picture_free(&picture);
    assert_int_equal(nl_alloc_live(), 0);
}

static nl_status everything(const nl_picture *picture, const nl_features_params *params)
{
    const nl_grid grid = nl_grid_of(picture, params);
    nl_matrix x = {0}, patches = {0};
    nl_picture out = {0};
    nl_error error = {.message = ""};
    nl_status status = nl_features_alloc(picture, params, &plain_exec, &x, NULL, &error);
    if (status == NL_OK)
        status = nl_patches_alloc(picture, &grid, &plain_exec, &patches, &error);
    if (status == NL_OK)
        status = nl_patches_assemble(picture, &grid, &patches, &out, NULL, &error);
    assert_int_equal(status == NL_OK, error.message[0] == 0);
    nl_matrix_free(&x);
    nl_matrix_free(&patches);
    nl_picture_free(&out);
    return status;
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    for (int kind = 0; kind < NL_FEATURE_COUNT; kind++) {
        const nl_features_params params = {(nl_feature_id)kind, 4, 3, NL_NORM_ZSCORE, 1};
        nl_picture picture = sample(13, 9);
        const long live = nl_alloc_live();
        long failed = 0;
        for (nl_status status = NL_NOMEM; status != NL_OK; failed++) {
            nl_alloc_fail_after(failed);
            status = everything(&picture, &params);
            nl_alloc_fail_after(-1);
            assert_true(status == NL_OK || status == NL_NOMEM);
            assert_int_equal(nl_alloc_live(), live);
        }
        /* X, patches, sums, picture; planes by kind; and the run that went well */
        const long planes[] = {1, 1, 1, 2, 3, 0};
        assert_int_equal(failed, 4 + planes[kind] + 1);
        nl_picture_free(&picture);
    }
}

static void test_tables_and_defaults(void **state)
{
    (void)state;
    const char *const kinds[] = {"rgb", "luma", "lab", "gradient", "lab+gradient", "position"};
    const char *const norms[] = {"none", "zero-mean", "unit-norm", "z-score"};
    nl_features_params params;
    for (size_t k = 0; k < COUNT(kinds); k++)
        assert_string_equal(nl_features[k].name, kinds[k]);
    for (size_t k = 0; k < COUNT(norms); k++)
        assert_string_equal(nl_norms[k].name, norms[k]);
    assert_null(nl_features[NL_FEATURE_COUNT].name);
    assert_null(nl_norms[NL_NORM_COUNT].name);
    nl_features_params_init(&params);
    assert_string_equal(nl_features[params.kind].name, "lab+gradient");
    assert_string_equal(nl_norms[params.norm].name, "none");
    assert_int_equal(params.patch, 12);
    assert_int_equal(params.stride, 4);
    assert_true(params.position == 0);
    assert_int_equal(nl_features_dim(&params), 44);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features_against_golden),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_grid_geometry),
        cmocka_unit_test(test_c05_red_patch_of_a_wide_picture),
        cmocka_unit_test(test_c23_patch_distance_is_a_mean),
        cmocka_unit_test(test_c29_all_147_numbers_count),
        cmocka_unit_test(test_c27_constant_pictures),
        cmocka_unit_test(test_c61_patch_over_the_picture),
        cmocka_unit_test(test_c62_size_that_is_no_multiple_of_the_patch),
        cmocka_unit_test(test_gradient_bins_by_direction),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_patches_round_trip),
        cmocka_unit_test(test_assembling_averages),
        cmocka_unit_test(test_parameter_errors),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_every_allocation_failing_once),
        cmocka_unit_test(test_tables_and_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
