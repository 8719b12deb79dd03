/* SPDX-License-Identifier: MIT */
/* Non-local means against its formula in double, its rules, and how its calls end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "nlm_ref.h"
#include "nonlocal/features.h"
#include "thin.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Values are in [0, 1]: an error of the weights, relative to the largest, is one of the answer at
 * most. It is what MATH.md asks for, with exponents δ/h² <= 1/h² up to the 1000 from which on the
 * engine takes to double. Half of an 8-bit step would be 2e-3.
 */
static double tolerance(const nl_nlm_params *params)
{
    return 1e-5 + 4 * 0x1p-24 * fmin(1 / (params->h * params->h), 1000);
}

static nl_nlm_params usual(void)
{
    nl_nlm_params params;
    nl_nlm_params_init(&params);
    return params;
}

/* The tiers that this machine has, as execs on the calling thread. */
static size_t every_tier(nl_exec execs[NL_CPU_COUNT])
{
    size_t count = 0;
    for (int cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++)
        if (nl_cpu_available((nl_cpu)cpu))
            execs[count++] = (nl_exec){.kernels = nl_kernels_get((nl_cpu)cpu, NULL)};
    return count;
}

/* One set of parameters on every tier; returns the worst error. */
static double against_formula(const nl_picture *picture, const nl_nlm_params *params,
                              const double *distances)
{
    nl_exec execs[NL_CPU_COUNT];
    const size_t tiers = every_tier(execs), n = picture->width * picture->height;
    double *answer = malloc(3 * n * sizeof *answer), worst = 0;
    assert_non_null(answer);
    const size_t without = ref_nlm(picture, params, distances, answer);
    for (size_t t = 0; t < tiers; t++) {
        nl_picture out;
        nl_error error = {0};
        size_t empty;
        if (nl_nlm_alloc(picture, params, &execs[t], &out, &empty, &error) != NL_OK)
            fail_msg("%s", error.message);
        assert_int_equal(empty, without);
        const double off = worst_difference(&out, answer);
        if (!(off < tolerance(params)))
            fail_msg("%s, %zu × %zu, patch %zu, search %zu, h %g, sigma %g, self %d, gaussian %g: "
                     "off by %g",
                     nl_cpu_name(nl_kernels_cpu(execs[t].kernels)), picture->width, picture->height,
                     params->patch, params->search, params->h, params->sigma, (int)params->self,
                     params->gaussian, off);
        worst = fmax(worst, off);
        nl_picture_free(&out);
    }
    free(answer);
    return worst;
}

/* Windows, own weights and filter widths in turn, from one to which nobody is alike up. */
static double many_parameters(const nl_picture *picture, size_t patch, double gaussian)
{
    static const size_t searches[] = {0, 1, 5, 21};
    static const double widths[] = {0.1, 0.01, 1, 1e-3, 0.3};
    nl_nlm_params params = usual();
    double worst = 0;
    size_t turn = picture->width;
    params.patch = patch;
    params.gaussian = gaussian;
    double *distances = ref_patch_distances(picture, &params);
    for (size_t s = 0; s < COUNT(searches); s++) {
        for (int self = NL_SELF_KEEP; self <= NL_SELF_EXCLUDE; self++, turn++) {
            params.search = searches[s];
            params.self = (nl_self)self;
            params.h = widths[turn % COUNT(widths)];
            params.sigma = turn % 2 ? 0.1 : 0;
            worst = fmax(worst, against_formula(picture, &params, distances));
        }
    }
    free(distances);
    return worst;
}

/* C25 among them: 17 × 13, borders included. */
static void test_c25_equals_the_formula(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{17, 13}, {33, 21}, {1, 1},   {1, 9},  {9, 1},
                                      {2, 2},   {150, 4}, {5, 100}, {300, 2}};
    static const size_t patches[] = {1, 3, 7};
    double worst = 0;
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (size_t p = 0; p < COUNT(patches); p++) {
            if (thin_skips(sizes[s][0], sizes[s][1], 1, 300))
                continue;
            const size_t turn = s + p;
            nl_picture grey = random_picture(sizes[s][0], sizes[s][1], false, turn);
            nl_picture color = random_picture(sizes[s][0], sizes[s][1], true, turn);
            worst = fmax(worst, many_parameters(&grey, patches[p], turn % 2 ? 1.5 : 0));
            worst = fmax(worst, many_parameters(&color, patches[p], turn % 2 ? 0 : 0.8));
            nl_picture_free(&grey);
            nl_picture_free(&color);
        }
    }
    print_message("# non-local means: the worst error of a value is %.2g\n", worst);
}

/* Patches far larger than the picture: the mirror repeats. */
static void test_patch_larger_than_the_picture(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {2, 2}, {5, 3}, {1, 7}, {40, 2}};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        if (thin_skips(sizes[s][0], sizes[s][1], 127, 2000))
            continue;
        nl_picture color = random_picture(sizes[s][0], sizes[s][1], true, s);
        many_parameters(&color, 21, 0);
        many_parameters(&color, 127, s % 2 ? 20 : 0);
        nl_picture_free(&color);
    }
}

/*
 * Edges of full contrast beside patches that are nearly equal, and a width as small as their
 * difference: a running sum would have lost it.
 */
static void test_no_residue_of_edges(void **state)
{
    (void)state;
    nl_picture picture = random_picture(40, 24, true, 3);
    nl_nlm_params params = usual();
    for (size_t y = 0; y < 24; y++)
        for (size_t k = 0; k < 120; k++) {
            float *v = nl_row(&picture.rgb, y) + k;
            *v = k / 3 % 13 < 2 || y % 11 < 2 ? (float)(k / 3 % 2) : 0.5f + 1e-4f * *v;
        }
    params.h = 5e-5;
    params.patch = 5;
    double *distances = ref_patch_distances(&picture, &params);
    for (int self = NL_SELF_KEEP; self <= NL_SELF_EXCLUDE; self++) {
        params.self = (nl_self)self;
        against_formula(&picture, &params, distances);
    }
    free(distances);
    nl_picture_free(&picture);
}

/* C26, C27: all white, all black, all grey stay what they are. */
static void test_c26_constant_pictures(void **state)
{
    (void)state;
    nl_exec execs[NL_CPU_COUNT];
    const size_t tiers = every_tier(execs);
    static const float values[] = {1, 0, 0.3f};
    for (size_t i = 0; i < tiers * COUNT(values) * 2; i++) {
        const float value = values[i / tiers % COUNT(values)];
        nl_picture picture = flat_picture(61, 37, value);
        nl_nlm_params params = usual();
        params.patch = i / tiers < COUNT(values) ? 7 : 21;
        nl_picture out = denoise(&picture, &params, &execs[i % tiers]);
        for (size_t y = 0; y < 37; y++)
            for (size_t k = 0; k < 3 * 61; k++)
                assert_true(fabsf(nl_row(&out.rgb, y)[k] - value) <= (value < 1 ? 1e-6f : 0));
        nl_picture_free(&out);
        nl_picture_free(&picture);
    }
}

/* C65: of a ramp, the first and last rows are as right as the middle, and no side is smeared. */
static void test_c65_ramp(void **state)
{
    (void)state;
    enum { WIDTH = 64, HEIGHT = 40 };
    const nl_exec exec = {0};
    const double step = 1.0 / (WIDTH - 1);
    nl_picture ramp = flat_picture(WIDTH, HEIGHT, 0);
    nl_nlm_params params = usual();
    params.h = 0.01;
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t k = 0; k < 3 * WIDTH; k++)
            nl_row(&ramp.rgb, y)[k] = (float)((double)(k / 3) * step);
    nl_picture out = denoise(&ramp, &params, &exec);
    for (size_t y = 0; y < HEIGHT; y++)
        for (size_t x = 0; x < WIDTH; x++) {
            const double off = fabs((double)nl_row(&out.rgb, y)[3 * x] - (double)x * step);
            const bool side = x < 13 || x >= WIDTH - 13;
            assert_true(off < (side ? 0.1 * step : 1e-6));
        }
    nl_picture_free(&out);
    nl_picture_free(&ramp);
}

/* C21: a narrow filter with the own weight kept changes nothing, not even a bit. */
static void test_c21_narrow_keep_is_the_input(void **state)
{
    (void)state;
    nl_exec execs[NL_CPU_COUNT];
    const size_t tiers = every_tier(execs);
    nl_picture picture = random_picture(50, 30, true, 5);
    nl_nlm_params params = usual();
    params.h = 1e-4;
    params.self = NL_SELF_KEEP;
    for (size_t t = 0; t < tiers; t++) {
        nl_picture out = denoise(&picture, &params, &execs[t]);
        for (size_t y = 0; y < 30; y++)
            assert_memory_equal(nl_row(&out.rgb, y), nl_row(&picture.rgb, y), 150 * sizeof(float));
        nl_picture_free(&out);
    }
    nl_picture_free(&picture);
}

/* C21: with two pixels, "max" gives both the same weight, "exclude" exchanges them. */
static void test_c21_self_rules(void **state)
{
    (void)state;
    const nl_exec exec = {0};
    nl_picture pair = flat_picture(2, 1, 0.25f);
    nl_nlm_params params = usual();
    params.patch = 1;
    for (size_t c = 3; c < 6; c++)
        pair.rgb.data[c] = 0.75f;
    static const double widths[] = {1e-5, 0.3, 100};
    for (size_t i = 0; i < COUNT(widths); i++) {
        params.h = widths[i];
        params.self = NL_SELF_MAX;
        nl_picture out = denoise(&pair, &params, &exec);
        assert_true(fabsf(out.rgb.data[0] - 0.5f) < 1e-6f);
        assert_true(fabsf(out.rgb.data[3] - 0.5f) < 1e-6f);
        nl_picture_free(&out);
        params.self = NL_SELF_EXCLUDE;
        out = denoise(&pair, &params, &exec);
        assert_true(fabsf(out.rgb.data[0] - 0.75f) < 1e-6f);
        assert_true(fabsf(out.rgb.data[3] - 0.25f) < 1e-6f);
        nl_picture_free(&out);
        /* C23: with a patch of one pixel, δ is the mean over the channels: 0.25 */
        const double w = exp(-0.25 / (widths[i] * widths[i]));
        params.self = NL_SELF_KEEP;
        out = denoise(&pair, &params, &exec);
        assert_true(fabs((double)out.rgb.data[0] - (0.25 + 0.75 * w) / (1 + w)) < 1e-6);
        nl_picture_free(&out);
    }
    nl_picture_free(&pair);
}

/* C20: nobody to read from: zeros, counted; with "max" the pixel keeps itself. */
static void test_c20_no_candidate(void **state)
{
    (void)state;
    const nl_exec exec = {0};
    nl_picture picture = random_picture(19, 11, true, 6), out;
    nl_nlm_params params = usual();
    size_t empty;
    params.search = 1;
    params.self = NL_SELF_EXCLUDE;
    assert_int_equal(nl_nlm_alloc(&picture, &params, &exec, &out, &empty, NULL), NL_OK);
    assert_int_equal(empty, 19 * 11);
    for (size_t y = 0; y < 11; y++)
        for (size_t k = 0; k < 57; k++)
            assert_true(nl_row(&out.rgb, y)[k] == 0);
    nl_picture_free(&out);
    params.self = NL_SELF_MAX;
    assert_int_equal(nl_nlm_alloc(&picture, &params, &exec, &out, &empty, NULL), NL_OK);
    assert_int_equal(empty, 0);
    for (size_t y = 0; y < 11; y++)
        assert_memory_equal(nl_row(&out.rgb, y), nl_row(&picture.rgb, y), 57 * sizeof(float));
    nl_picture_free(&out);
    nl_picture_free(&picture);
}

/* MATH.md, identity 3: without a limit it is the euclidean similarity on the same patches. */
static void test_is_attention_on_patches(void **state)
{
    (void)state;
    enum { WIDTH = 23, HEIGHT = 18 };
    const nl_exec exec = {0};
    nl_picture picture = random_picture(WIDTH, HEIGHT, true, 7);
    nl_features_params features = {.kind = NL_FEATURE_RGB, .patch = 7, .stride = 1};
    nl_attention_params attention_params;
    nl_nlm_params params = usual();
    nl_matrix x, y, values;
    nl_attention *attention;
    params.search = 0;
    params.h = 0.15;
    params.sigma = 0.2;
    nl_attention_params_init(&attention_params);
    attention_params.similarity = NL_EUCLIDEAN;
    attention_params.h = params.h;
    attention_params.sigma = params.sigma;
    assert_int_equal(nl_features_alloc(&picture, &features, &exec, &x, NULL, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&values, WIDTH * HEIGHT, 3, NULL), NL_OK);
    assert_int_equal(nl_matrix_alloc(&y, WIDTH * HEIGHT, 3, NULL), NL_OK);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        memcpy(nl_row(&values, i), nl_row(&picture.rgb, i / WIDTH) + 3 * (i % WIDTH),
               3 * sizeof(float));
    for (int self = NL_SELF_KEEP; self <= NL_SELF_EXCLUDE; self++) {
        params.self = attention_params.self = (nl_self)self;
        assert_int_equal(
            nl_attention_create(&attention_params, &x, &x, true, &exec, &attention, NULL), NL_OK);
        assert_int_equal(nl_attention_apply(attention, &values, &exec, &y, NULL), NL_OK);
        nl_picture out = denoise(&picture, &params, &exec);
        for (size_t i = 0; i < WIDTH * HEIGHT; i++)
            for (size_t c = 0; c < 3; c++)
                assert_true(fabsf(nl_row(&out.rgb, i / WIDTH)[3 * (i % WIDTH) + c] -
                                  nl_row(&y, i)[c]) < 2 * (float)tolerance(&params));
        nl_picture_free(&out);
        nl_attention_free(&attention);
    }
    nl_matrix_free(&y);
    nl_matrix_free(&values);
    nl_matrix_free(&x);
    nl_picture_free(&picture);
}

static void test_thread_count_changes_nothing(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{200, 150}, {37, 300}, {300, 5}};
    nl_exec execs[NL_CPU_COUNT];
    const size_t tiers = every_tier(execs);
    nl_pool *pool;
    assert_int_equal(nl_pool_create(3, &pool, NULL), NL_OK);
    for (size_t s = 0; s < COUNT(sizes); s++) {
        nl_picture picture = random_picture(sizes[s][0], sizes[s][1], s % 2 == 0, s);
        nl_nlm_params params = usual();
        params.search = s == 2 ? 0 : 9;
        for (size_t t = 0; t < tiers; t++) {
            nl_exec many = {.kernels = execs[t].kernels, .pool = pool};
            nl_picture one = denoise(&picture, &params, &execs[t]);
            nl_picture three = denoise(&picture, &params, &many);
            for (size_t y = 0; y < picture.height; y++)
                assert_memory_equal(nl_row(&one.rgb, y), nl_row(&three.rgb, y),
                                    3 * picture.width * sizeof(float));
            nl_picture_free(&three);
            nl_picture_free(&one);
        }
        nl_picture_free(&picture);
    }
    nl_pool_free(&pool);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    const nl_exec exec = {0};
    nl_picture picture = random_picture(20, 20, true, 8), out;
    nl_nlm_params params = usual();
    const long live = nl_alloc_live();
    nl_status status = NL_NOMEM;
    int failures = 0;
    for (; status != NL_OK; failures++) {
        nl_error error = {0};
        nl_alloc_fail_after(failures);
        status = nl_nlm_alloc(&picture, &params, &exec, &out, NULL, &error);
        nl_alloc_fail_after(-1);
        if (status != NL_OK) {
            assert_int_equal(status, NL_NOMEM);
            assert_non_null(strstr(error.message, "no memory"));
            assert_null(out.rgb.data);
            assert_int_equal(nl_alloc_live(), live);
        }
    }
    assert_int_equal(failures, 3); /* the work and the answer, nothing else */
    nl_picture_free(&out);
    nl_picture_free(&picture);
}

struct watch {
    atomic_long polls, stop_after;
    double last;
};

static bool poll(void *user)
{
    struct watch *watch = user;
    return atomic_fetch_add(&watch->polls, 1) >= watch->stop_after;
}

static void follow(void *user, double fraction)
{
    struct watch *watch = user;
    assert_true(fraction >= watch->last && fraction <= 1);
    watch->last = fraction;
}

static void test_cancel_and_progress(void **state)
{
    (void)state;
    struct watch watch = {.stop_after = 1000000};
    const nl_exec exec = {.cancelled = poll, .progress = follow, .user = &watch};
    nl_picture picture = random_picture(300, 260, false, 9), out;
    nl_nlm_params params = usual();
    const long live = nl_alloc_live();
    assert_int_equal(nl_nlm_alloc(&picture, &params, &exec, &out, NULL, NULL), NL_OK);
    assert_true(watch.last == 1);
    nl_picture_free(&out);
    /* a tile of 128 × 21 pixels and 64 offsets at most between two polls */
    const long polls = watch.polls;
    assert_true(polls > 260 * 300 / (128 * 21) * 441 / 2 / 64);
    for (long stop = 0; stop < polls; stop += polls / 7) {
        nl_error error = {0};
        watch = (struct watch){.stop_after = stop};
        assert_int_equal(nl_nlm_alloc(&picture, &params, &exec, &out, NULL, &error), NL_CANCELLED);
        assert_null(out.rgb.data);
        assert_true(watch.polls <= stop + 2); /* it ends at once */
    }
    nl_picture_free(&picture);
    assert_int_equal(nl_alloc_live(), live - 1);
}

static void refused(const nl_picture *picture, const nl_nlm_params *params, const char *part)
{
    const nl_exec exec = {0};
    nl_picture out;
    nl_error error = {0};
    assert_int_equal(nl_nlm_alloc(picture, params, &exec, &out, NULL, &error), NL_INVALID);
    assert_null(out.rgb.data);
    if (!strstr(error.message, part))
        fail_msg("'%s' is not in: %s", part, error.message);
}

static void test_refusals(void **state)
{
    (void)state;
    nl_picture picture = random_picture(4, 3, true, 10);
    static const struct {
        nl_nlm_params params;
        const char *part;
    } cases[] = {
        {{.patch = 8, .search = 21, .h = 1}, "patch of 8"},
        {{.patch = 0, .search = 21, .h = 1}, "patch of 0"},
        {{.patch = 129, .search = 21, .h = 1}, "patch of 129"},
        {{.patch = 7, .search = 20, .h = 1}, "window of 20"},
        {{.patch = 7, .search = 21, .h = 0}, "h is 0"},
        {{.patch = 7, .search = 21, .h = -1}, "h is -1"},
        {{.patch = 7, .search = 21, .h = NAN}, "h is"},
        {{.patch = 7, .search = 21, .h = 1, .sigma = -1}, "sigma is -1"},
        {{.patch = 7, .search = 21, .h = 1, .sigma = INFINITY}, "sigma is"},
        {{.patch = 7, .search = 21, .h = 1, .gaussian = -2}, "is -2"},
        {{.patch = 7, .search = 21, .h = 1, .self = (nl_self)7}, "number 7"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refused(&picture, &cases[i].params, cases[i].part);
    nl_nlm_params params = usual();
    nl_row(&picture.rgb, 2)[10] = NAN;
    refused(&picture, &params, "channel 2 of pixel 3,2");
    nl_row(&picture.rgb, 2)[10] = 2e6f;
    refused(&picture, &params, "2e+06");
    nl_picture_free(&picture);
    refused(&picture, &params, "empty");
}

static void test_psnr(void **state)
{
    (void)state;
    double decibels;
    nl_error error = {0};
    nl_picture a = flat_picture(8, 5, 0.5f), b = flat_picture(8, 5, 0.6f);
    nl_picture c = flat_picture(5, 8, 0.5f);
    assert_int_equal(nl_psnr(&a, &a, &decibels, &error), NL_OK);
    assert_true(isinf(decibels) && decibels > 0);
    assert_int_equal(nl_psnr(&a, &b, &decibels, &error), NL_OK);
    assert_true(fabs(decibels - 20) < 1e-5);
    assert_int_equal(nl_psnr(&a, &c, &decibels, &error), NL_INVALID);
    assert_non_null(strstr(error.message, "8 × 5 and 5 × 8"));
    nl_picture_free(&c);
    nl_picture_free(&b);
    nl_picture_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c25_equals_the_formula),
        cmocka_unit_test(test_patch_larger_than_the_picture),
        cmocka_unit_test(test_no_residue_of_edges),
        cmocka_unit_test(test_c26_constant_pictures),
        cmocka_unit_test(test_c65_ramp),
        cmocka_unit_test(test_c21_narrow_keep_is_the_input),
        cmocka_unit_test(test_c21_self_rules),
        cmocka_unit_test(test_c20_no_candidate),
        cmocka_unit_test(test_is_attention_on_patches),
        cmocka_unit_test(test_thread_count_changes_nothing),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_cancel_and_progress),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_psnr),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
