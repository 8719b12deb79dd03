/* SPDX-License-Identifier: MIT */
/*
 * The verb `apply`, repeated (mean shift) and in a search window, and patch weights, against the
 * formulas in double.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verb_rig.h"

#include "iris.h"
#include "npy_rig.h"

#include "attend_rig.h"

/* y = A(y) x, in double: keys and values stay, the queries move. h is that of euclidean. */
static void shift(const nl_matrix *x, double h, double *y)
{
    const size_t n = x->rows, d = x->cols;
    double next[IRIS_COLS];
    for (size_t i = 0; i < n; i++) {
        double sum = 0, top = INFINITY;
        for (int pass = 0; pass < 2; pass++) {
            memset(next, 0, sizeof next);
            sum = 0;
            for (size_t j = 0; j < n; j++) {
                double delta = 0;
                for (size_t k = 0; k < d; k++) {
                    const double off = y[i * d + k] - (double)nl_row(x, j)[k];
                    delta += off * off / (double)d;
                }
                if (pass == 0) {
                    top = fmin(top, delta);
                    continue;
                }
                const double a = exp(-(delta - top) / (h * h));
                sum += a;
                for (size_t k = 0; k < d; k++)
                    next[k] += a * (double)nl_row(x, j)[k];
            }
        }
        for (size_t k = 0; k < d; k++)
            y[i * d + k] = next[k] / sum;
    }
}

static double farthest(const nl_npy *a, const nl_npy *b)
{
    double most = 0;
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++)
        most = fmax(most, fabs((double)a->data[k] - (double)b->data[k]));
    return most;
}

/* How far the rows reach outside the box of x. */
static double outside(const nl_npy *y, const nl_matrix *x)
{
    double most = 0;
    for (size_t k = 0; k < x->cols; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < x->rows; i++) {
            low = fmin(low, (double)nl_row(x, i)[k]);
            high = fmax(high, (double)nl_row(x, i)[k]);
        }
        for (size_t i = 0; i < x->rows; i++) {
            const double v = (double)y->data[i * x->cols + k];
            most = fmax(most, fmax(low - v, v - high));
        }
    }
    return most;
}

static nl_npy repeated(const char *times)
{
    SUCCEED("apply", "@iris", "--h=0.4", "--self=keep", "--repeat", times, "-o", "y.npy");
    return rig_npy("y.npy");
}

/*
 * Each round adds the weights' error of 1e-5 times the extent (8) once, and a mode that rows are
 * drawn to does not spread it: after N rounds it is at most N times as much.
 */
static void test_mean_shift_on_iris(void **state)
{
    (void)state;
    static const int rounds[] = {1, 2, 5, 20};
    const nl_matrix x = iris_matrix();
    double y[IRIS_ROWS * IRIS_COLS];
    int done = 0;
    for (size_t i = 0; i < IRIS_ROWS; i++)
        for (size_t k = 0; k < IRIS_COLS; k++)
            y[i * IRIS_COLS + k] = (double)nl_row(&x, i)[k];
    for (size_t r = 0; r < COUNT(rounds); r++) {
        char times[20];
        snprintf(times, sizeof times, "%d", rounds[r]);
        for (; done < rounds[r]; done++)
            shift(&x, 0.4, y);
        nl_npy npy = repeated(times);
        assert_int_equal(npy.shape[0], IRIS_ROWS);
        for (size_t k = 0; k < npy.count; k++)
            assert_true(fabs((double)npy.data[k] - y[k]) <= 8e-5 * rounds[r]);
        assert_true(outside(&npy, &x) <= 1e-6); /* the hull is inside the box */
        nl_npy_free(&npy);
    }
    SUCCEED("apply", "@iris", "--h=0.4", "--self=keep", "-o", "once.npy");
    nl_npy one = repeated("1");
    assert_same_files("y.npy", "once.npy");
    nl_npy_free(&one);
}

/* It converges, to fewer places than there were rows. */
static void test_mean_shift_converges(void **state)
{
    (void)state;
    nl_npy before = repeated("1000"), after = repeated("1001");
    assert_true(farthest(&before, &after) <= 1e-5);
    size_t modes = 0;
    for (size_t i = 0; i < IRIS_ROWS; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) {
            double apart = 0;
            for (size_t k = 0; k < IRIS_COLS; k++)
                apart = fmax(apart, fabs((double)after.data[i * IRIS_COLS + k] -
                                         (double)after.data[j * IRIS_COLS + k]));
            seen = apart < 1e-2;
        }
        modes += !seen;
    }
    assert_true(modes >= 2 && modes <= 20);
    nl_npy_free(&before);
    nl_npy_free(&after);
}

/* Weights of dot are no distribution: the answers leave the hull of the values. */
static void test_dot_leaves_the_hull(void **state)
{
    (void)state;
    const nl_matrix x = iris_matrix();
    SUCCEED("apply", "@iris", "--similarity=dot", "--embed=identity", "--repeat=2", "-o", "y.npy");
    nl_npy y = rig_npy("y.npy");
    assert_true(outside(&y, &x) > 10);
    nl_npy_free(&y);
}

/* The picture of one round is what the next one asks with. */
static void test_repeat_on_a_picture(void **state)
{
    (void)state;
    nl_matrix x = rig_picture("a.ppm", 8, 6, 5);
    const size_t n = 48;
    struct rig_attention r = {.queries = &x, .keys = &x};
    nl_matrix moved = packed_features(n, 3, 0, 1, 1);
    double a[RIG_MOST_KEYS];
    nl_attention_params_init(&r.params);
    r.params.similarity = NL_EUCLIDEAN;
    r.params.h = 0.3;
    for (int round = 1; round <= 3; round++) {
        char times[20];
        snprintf(times, sizeof times, "--repeat=%d", round);
        SUCCEED("apply", "a.ppm", "--features=rgb", "--patch=1", "--stride=1", "--h=0.3",
                "--self=keep", times, "-o", "y.npy");
        nl_npy y = rig_npy("y.npy");
        nl_matrix next = packed_features(n, 3, 0, 1, 1);
        assert_int_equal(y.ndim, 3);
        for (size_t i = 0; i < n; i++) {
            rig_row(&r, i, a);
            for (size_t c = 0; c < 3; c++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++)
                    sum += a[j] * (double)nl_row(&x, j)[c];
                nl_row(&next, i)[c] = (float)sum;
                assert_true(fabs((double)y.data[i * 3 + c] - sum) <= 1e-4);
            }
        }
        test_free(moved.data);
        moved = next;
        r.queries = &moved;
        nl_npy_free(&y);
    }
    test_free(moved.data);
    test_free(x.data);
}

static void test_repeat_errors(void **state)
{
    (void)state;
    static const char *const wrong[] = {"0", "-1", "2.5", "10001", "many", "", "1e3", "3x"};
    for (size_t k = 0; k < COUNT(wrong); k++)
        REFUSED(RUN("apply", "@iris", "--repeat", wrong[k], "-o", "y.npy"), 2, "--repeat",
                "1 to 10000");
    REFUSED(RUN("apply", "@iris", "-o", "y.npy", "--repeat"), 2, "--repeat");
    REFUSED(RUN("attend", "@iris", "--repeat=2", "--query=row:1"), 2, "--repeat");
    assert_files(0);
}

/* ---- the search window ---- */

static void test_search_window(void **state)
{
    (void)state;
    nl_matrix x = rig_picture("a.ppm", 9, 7, 6);
    const size_t rows[] = {0, 3 * 9 + 4, 62};
    struct rig_attention r = {.queries = &x, .keys = &x};
    nl_attention_params_init(&r.params);
    r.params.similarity = NL_EUCLIDEAN;
    r.params.h = 0.4;
    r.params.grid_width = 9;
    r.params.grid_height = 7;
    static const size_t windows[] = {0, 1, 3, 5, 1023};
    for (size_t s = 0; s < COUNT(windows); s++) {
        for (int self = 0; self < 3; self++) {
            static const char *const selves[] = {"--self=keep", "--self=max", "--self=exclude"};
            char search[30];
            r.params.search = windows[s];
            r.params.self = (nl_self)self;
            if (windows[s] == 1 && self != NL_SELF_KEEP)
                continue;
            snprintf(search, sizeof search, "--search=%zu", windows[s]);
            SUCCEED("attend", "a.ppm", "--features=rgb", "--patch=1", "--stride=1", "--h=0.4",
                    selves[self], search, "--query=0,0", "--query=4,3", "--query=8,6", "-o",
                    "w.npy");
            assert_rows_of(&r, "w.npy", rows, 3);
        }
    }
    SUCCEED("attend", "a.ppm", "--h=0.4", "--query=0,0", "-o", "w.npy");
    SUCCEED("attend", "a.ppm", "--h=0.4", "--query=0,0", "--search=0", "-o", "v.npy");
    assert_same_files("w.npy", "v.npy"); /* everywhere is the default */
    REFUSED(RUN("attend", "a.ppm", "--search=4", "--query=0,0"), 2, "--search: 4", "3 or 5");
    REFUSED(RUN("apply", "a.ppm", "--search=2", "-o", "y.npy"), 2, "--search: 2", "1 or 3");
    REFUSED(RUN("apply", "a.ppm", "--search=-1", "-o", "y.npy"), 2, "--search");
    REFUSED(RUN("apply", "@iris", "--search=3", "-o", "y.npy"), 1, "--search", "on a table");
    test_free(x.data);
}

static void assert_zeros(const char *file)
{
    nl_npy npy = rig_npy(file);
    for (size_t k = 0; k < npy.count; k++)
        assert_true(npy.data[k] == 0);
    nl_npy_free(&npy);
}

/* C20: no key is left at all. Every similarity gives zeros and says why. */
static void test_c20_search_1_without_self(void **state)
{
    (void)state;
    nl_matrix x = rig_picture("a.ppm", 9, 7, 6);
    for (int s = 0; s < NL_SIMILARITY_COUNT; s++) {
        char similarity[40];
        snprintf(similarity, sizeof similarity, "--similarity=%s", nl_similarities[s].name);
        const struct run *run =
            SUCCEED("attend", "a.ppm", similarity, "--patch=3", "--search=1", "--self=exclude",
                    "--query=4,3", "--query=0,0", "-o", "w.npy");
        assert_contains(run->err, "no key is left");
        assert_null(strstr(run->out, "nan"));
        assert_zeros("w.npy");
        run = SUCCEED("apply", "a.ppm", similarity, "--patch=3", "--stride=2", "--search=1",
                      "--self=exclude", "-o", "y.npy");
        assert_contains(run->err, "no key is left");
        assert_zeros("y.npy");
    }
    const struct run *run =
        SUCCEED("apply", "a.ppm", "--search=3", "--self=exclude", "--stride=1", "-o", "y.npy");
    assert_string_equal(run->err, "");
    test_free(x.data);
}

/* ---- patch weights ---- */

/* The patch around each pixel, borders mirrored: (dy, dx, channel). */
static nl_matrix patches(const nl_matrix *pixels, size_t width, size_t height, size_t patch)
{
    nl_matrix x = packed_features(width * height, 3 * patch * patch, 0, 1, 1);
    const long half = (long)patch / 2;
    for (size_t i = 0; i < x.rows; i++)
        for (size_t k = 0; k < x.cols; k++) {
            long v = (long)(i / width) + (long)(k / 3 / patch) - half;
            long h = (long)(i % width) + (long)(k / 3 % patch) - half;
            v = v < 0 ? -v : v >= (long)height ? 2 * (long)height - 2 - v : v;
            h = h < 0 ? -h : h >= (long)width ? 2 * (long)width - 2 - h : h;
            nl_row(&x, i)[k] = nl_row(pixels, (size_t)v * width + (size_t)h)[k % 3];
        }
    return x;
}

static void test_patch_weights(void **state)
{
    (void)state;
    enum { W = 9, H = 7, PATCH = 3, D = 3 * PATCH * PATCH };
    static const double deviations[] = {0, 0.7, 2, 1000};
    nl_matrix pixels = rig_picture("a.ppm", W, H, 6), x = patches(&pixels, W, H, PATCH);
    const size_t rows[] = {0, 3 * W + 4};
    float omega[D];
    for (size_t a = 0; a < COUNT(deviations); a++) {
        double sum = 0, weights[D];
        char option[40];
        for (size_t k = 0; k < D; k++) {
            const double dy = (double)(k / 3 / PATCH) - 1, dx = (double)(k / 3 % PATCH) - 1;
            weights[k] =
                a == 0 ? 1 : exp(-(dx * dx + dy * dy) / (2 * deviations[a] * deviations[a]));
            sum += weights[k];
        }
        for (size_t k = 0; k < D; k++)
            omega[k] = (float)(weights[k] / sum);
        struct rig_attention r = {.queries = &x, .keys = &x};
        nl_attention_params_init(&r.params);
        r.params.similarity = NL_EUCLIDEAN;
        r.params.h = 0.3;
        r.params.omega = omega;
        snprintf(option, sizeof option, a ? "--patch-weight=gaussian:%g" : "--patch-weight=flat",
                 deviations[a]);
        SUCCEED("attend", "a.ppm", "--features=rgb", "--patch=3", "--stride=1", "--h=0.3",
                "--self=keep", option, "--query=0,0", "--query=4,3", "-o", "w.npy");
        assert_rows_of(&r, "w.npy", rows, 2);
    }
    test_free(pixels.data);
    test_free(x.data);
}

/* In `apply` too; luma, lab, even patches and a Gaussian of almost one pixel give finite weights.
 */
static void test_patch_weights_of_every_kind(void **state)
{
    (void)state;
    static const char *const features[] = {"--features=rgb", "--features=luma", "--features=lab"};
    static const char *const sizes[] = {"--patch=1", "--patch=4", "--patch=5"};
    nl_matrix pixels = rig_picture("a.ppm", 9, 7, 6);
    for (size_t f = 0; f < 3; f++)
        for (size_t p = 0; p < 3; p++)
            for (int position = 0; position < 2; position++) {
                const char *const place = position ? "--position=0.5" : "--position=0";
                SUCCEED("apply", "a.ppm", features[f], sizes[p], "--stride=1", "--h=0.2", place,
                        "--patch-weight=gaussian:0.01", "-o", "narrow.npy");
                SUCCEED("apply", "a.ppm", features[f], sizes[p], "--stride=1", "--h=0.2", place,
                        "--patch-weight=gaussian:1000", "-o", "wide.npy");
                SUCCEED("apply", "a.ppm", features[f], sizes[p], "--stride=1", "--h=0.2", place,
                        "--patch-weight=flat", "-o", "flat.npy");
                nl_npy narrow = rig_npy("narrow.npy"), wide = rig_npy("wide.npy");
                nl_npy flat = rig_npy("flat.npy");
                assert_true(farthest(&wide, &flat) < 1e-4);
                assert_true(p == 0 || farthest(&narrow, &flat) > 1e-3);
                nl_npy_free(&narrow);
                nl_npy_free(&wide);
                nl_npy_free(&flat);
            }
    test_free(pixels.data);
}

static void test_patch_weight_errors(void **state)
{
    (void)state;
    static const char *const wrong[] = {"gaussian",    "gaussian:",     "gaussian:0", "gaussian:-1",
                                        "gaussian:1x", "gaussian:9999", "round",      ""};
    for (size_t k = 0; k < COUNT(wrong); k++)
        REFUSED(
            RUN("apply", "@sample", "--features=rgb", "--patch-weight", wrong[k], "-o", "y.npy"), 2,
            "--patch-weight", "flat nor gaussian:A");
    REFUSED(RUN("apply", "@sample", "--patch-weight=flat", "-o", "y.npy"), 2, "--patch-weight",
            "--features lab+gradient");
    REFUSED(RUN("apply", "@sample", "--features=rgb", "--similarity=cosine",
                "--patch-weight=gaussian:2", "-o", "y.npy"),
            2, "--patch-weight", "--similarity cosine");
    REFUSED(RUN("apply", "@iris", "--features=rgb", "--patch-weight=gaussian:2", "-o", "y.npy"), 1,
            "on a table");
    REFUSED(RUN("dissim", "@sample", "--patch-weight=flat"), 2, "--patch-weight");
    assert_files(0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(test_mean_shift_on_iris),
        CASE(test_mean_shift_converges),
        CASE(test_dot_leaves_the_hull),
        CASE(test_repeat_on_a_picture),
        CASE(test_repeat_errors),
        CASE(test_search_window),
        CASE(test_c20_search_1_without_self),
        CASE(test_patch_weights),
        CASE(test_patch_weights_of_every_kind),
        CASE(test_patch_weight_errors),
    };
    return cmocka_run_group_tests_name("verb_apply", tests, NULL, NULL);
}
