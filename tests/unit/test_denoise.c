/* SPDX-License-Identifier: MIT */
/* The verb denoise: the engine's answer on files, at full size, and what it says about it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nlm_ref.h"
#include "verb_rig.h"

enum { BAD_INPUT = 1, BAD_USAGE = 2 };

/* Writes a picture of bytes and returns it as the program reads it. */
static nl_picture write_noisy(const char *name, size_t width, size_t height, bool color)
{
    nl_picture picture = random_picture(width, height, color, width);
    uint8_t *bytes = malloc(3 * width * height);
    assert_non_null(bytes);
    for (size_t y = 0; y < height; y++) {
        float *row = nl_row(&picture.rgb, y);
        for (size_t k = 0; k < 3 * width; k++) {
            const int byte = (k / 3 > width / 2 ? 100 : 60) + (int)(50 * row[k]);
            bytes[y * 3 * width + k] = (uint8_t)byte;
            row[k] = (float)byte / 255;
        }
    }
    rig_write_ppm(name, width, height, bytes);
    free(bytes);
    return picture;
}

static void assert_answer(const char *name, const nl_picture *picture, const nl_nlm_params *params)
{
    const nl_exec exec = {0};
    nl_npy npy = rig_npy(name);
    nl_picture expected = denoise(picture, params, &exec);
    assert_int_equal(npy.ndim, 3);
    assert_int_equal(npy.shape[0], picture->height);
    assert_int_equal(npy.shape[1], picture->width);
    assert_int_equal(npy.shape[2], 3);
    for (size_t i = 0; i < npy.count; i++)
        assert_true(fabsf(npy.data[i] -
                          nl_row(&expected.rgb,
                                 i / (3 * picture->width))[i % (3 * picture->width)]) < 1e-6f);
    nl_picture_free(&expected);
    nl_npy_free(&npy);
}

static void test_equals_the_engine(void **state)
{
    (void)state;
    nl_picture noisy = write_noisy("noisy.ppm", 24, 17, true);
    nl_nlm_params params;
    nl_nlm_params_init(&params); /* patch 7, search 21, h 0.1, sigma 0, self max */
    SUCCEED("denoise", "noisy.ppm", "-o", "out.npy");
    assert_answer("out.npy", &noisy, &params);
    SUCCEED("denoise", "noisy.ppm", "-o", "out.npy", "--patch", "7", "--search", "21", "--h", "0.1",
            "--sigma", "0", "--self", "max", "--patch-weight", "flat");
    assert_answer("out.npy", &noisy, &params);
    params = (nl_nlm_params){.patch = 5, .h = 0.2, .sigma = 0.05, .self = NL_SELF_EXCLUDE};
    params.gaussian = 1.5;
    SUCCEED("denoise", "noisy.ppm", "-o", "out.npy", "--patch=5", "--search=0", "--h=0.2",
            "--sigma=0.05", "--self=exclude", "--patch-weight=gaussian:1.5", "--threads=1");
    assert_answer("out.npy", &noisy, &params);
    nl_picture_free(&noisy);
}

static void test_grey_stays_grey(void **state)
{
    (void)state;
    nl_picture noisy = write_noisy("grey.ppm", 30, 20, false);
    SUCCEED("denoise", "grey.ppm", "-o", "out.npy");
    nl_npy npy = rig_npy("out.npy");
    for (size_t i = 0; i < npy.count; i += 3)
        assert_true(npy.data[i] == npy.data[i + 1] && npy.data[i] == npy.data[i + 2]);
    nl_npy_free(&npy);
    nl_picture_free(&noisy);
}

/* Larger than the side to which other verbs reduce. */
static void test_size_is_kept(void **state)
{
    (void)state;
    size_t width, height;
    nl_picture noisy = write_noisy("wide.ppm", 700, 9, true);
    const struct run *run = SUCCEED("denoise", "wide.ppm", "-o", "one.png", "--threads", "1");
    assert_contains(run->out, "wide.ppm: 700 × 9 pixels");
    assert_contains(run->out, " ms on 1 thread, written to one.png");
    rig_png_size("one.png", &width, &height);
    assert_int_equal(width, 700);
    assert_int_equal(height, 9);
    SUCCEED("denoise", "wide.ppm", "-o", "three.png", "--threads", "3");
    assert_same_files("one.png", "three.png");
    assert_files(3);
    nl_picture_free(&noisy);
}

static double figure(const struct run *run, const char *name)
{
    const char *line = strstr(run->out, name);
    assert_non_null(line);
    return strtod(line + strlen(name), NULL);
}

static void test_psnr(void **state)
{
    (void)state;
    nl_picture clean = write_noisy("clean.ppm", 40, 30, true);
    uint8_t bytes[3 * 40 * 30];
    double sum = 0;
    for (size_t i = 0; i < sizeof bytes; i++) {
        const float value = nl_row(&clean.rgb, i / 120)[i % 120] * 255;
        bytes[i] = (uint8_t)(value + 0.5f + (float)(i % 7));
        sum += (double)((i % 7) * (i % 7)) / (255.0 * 255);
    }
    rig_write_ppm("noisy.ppm", 40, 30, bytes);
    const struct run *run =
        SUCCEED("denoise", "noisy.ppm", "-o", "out.png", "--clean", "clean.ppm", "--h", "0.0005");
    const double expected = -10 * log10(sum / (double)sizeof bytes);
    assert_true(fabs(figure(run, "psnr_input ") - expected) < 1e-3);
    assert_true(isfinite(figure(run, "psnr_result ")));
    run = SUCCEED("denoise", "clean.ppm", "-o", "out.png", "--clean", "clean.ppm", "--h", "0.0005",
                  "--self", "keep");
    assert_true(isinf(figure(run, "psnr_input ")));
    assert_true(isinf(figure(run, "psnr_result ")));
    run = SUCCEED("denoise", "clean.ppm", "-o", "out.png");
    assert_null(strstr(run->out, "psnr"));
    nl_picture_free(&clean);
}

/* C20 */
static void test_no_candidate(void **state)
{
    (void)state;
    nl_picture noisy = write_noisy("noisy.ppm", 6, 5, true);
    const struct run *run =
        SUCCEED("denoise", "noisy.ppm", "-o", "out.npy", "--search", "1", "--self", "exclude");
    assert_contains(run->err, "30 of 30 pixels");
    nl_npy npy = rig_npy("out.npy");
    for (size_t i = 0; i < npy.count; i++)
        assert_true(npy.data[i] == 0);
    nl_npy_free(&npy);
    nl_picture_free(&noisy);
}

/* C61 */
static void test_small_pictures(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}};
    for (size_t i = 0; i < 4; i++) {
        nl_picture noisy = write_noisy("small.ppm", sizes[i][0], sizes[i][1], true);
        nl_nlm_params params;
        nl_nlm_params_init(&params);
        SUCCEED("denoise", "small.ppm", "-o", "out.npy");
        assert_answer("out.npy", &noisy, &params);
        nl_picture_free(&noisy);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    nl_picture noisy = write_noisy("noisy.ppm", 12, 10, true);
    nl_picture other = write_noisy("other.ppm", 10, 12, true);
    rig_write_text("table.csv", "a,b\n1,2\n3,4\n");
    REFUSED(RUN("denoise", "noisy.ppm"), BAD_USAGE, "-o OUT.png");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.csv"), BAD_USAGE, "out.csv", ".png or .npy");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--patch", "8"), BAD_USAGE, "--patch",
            "7 or 9");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--search", "20"), BAD_USAGE, "--search",
            "19 or 21");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--search", "1025"), BAD_USAGE, "--search",
            "1023");
    static const char *const weights[] = {"round",        "gaussian",     "gaussian:", "gaussian:0",
                                          "gaussian:2px", "gaussian:nan", ""};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--patch-weight", weights[i]),
                BAD_USAGE, "--patch-weight", "gaussian:A");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--clean", "other.ppm"), BAD_INPUT,
            "other.ppm is 10 × 12", "noisy.ppm is 12 × 10");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--clean", "table.csv"), BAD_INPUT,
            "table.csv is a table");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--clean", "missing.ppm"), BAD_INPUT,
            "missing.ppm", "No such file");
    REFUSED(RUN("denoise", "table.csv", "-o", "out.png"), BAD_INPUT, "table.csv is a table",
            "for pictures");
    REFUSED(RUN("denoise", "@iris", "-o", "out.png"), BAD_INPUT, "@iris is a table");
    REFUSED(RUN("denoise", "noisy.ppm", "-o", "out.png", "--stride", "4"), BAD_USAGE, "--stride");
    assert_files(3);
    nl_picture_free(&other);
    nl_picture_free(&noisy);
}

static void test_help(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("denoise", "--help");
    static const char *const parts[] = {"--clean REF", "--patch-weight flat|gaussian:A",
                                        "--search",    "--self keep|max|exclude",
                                        "Default 7.",  "Default 21."};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_contains(run->out, parts[i]);
    run = SUCCEED("--help");
    assert_contains(run->out, "denoise");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_equals_the_engine), CASE(test_grey_stays_grey),
        CASE(test_size_is_kept),      CASE(test_psnr),
        CASE(test_no_candidate),      CASE(test_small_pictures),
        CASE(test_refusals),          CASE(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
