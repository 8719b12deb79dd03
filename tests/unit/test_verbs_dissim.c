/* SPDX-License-Identifier: MIT */
/* The verb dissim: metrics, orders, trees, ready matrices, and what it refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "verb_rig.h"

enum { BAD_INPUT = 1, BAD_USAGE = 2, TOO_LARGE = 3 };

static const char *const orders[] = {"single", "complete", "average", "ward",
                                     "vat",    "spectral", "pca"};

/* The number on the line `name value` of an output. */
static double value_of(const char *text, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return strtod(line + length, NULL);
    }
    fail_msg("there is no %s in: %s", name, text);
    return NAN;
}

static void test_every_order_of_iris(void **state)
{
    (void)state;
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        const struct run *run = SUCCEED("dissim", "@iris", "--order", orders[o], "--order-out",
                                        "p.csv", "--threads=1", "--cpu=scalar", "-o", "d.png");
        assert_contains(run->out, "kind dissimilarity\n");
        assert_contains(run->out, "scaling raw\n");
        assert_true(value_of(run->out, "path_length") < 96);
        assert_true(fabs(value_of(run->out, "path_length_input") - 143.2329) < 1e-4);
        assert_true(value_of(run->out, "ar_events") < value_of(run->out, "ar_events_input"));
        assert_true(value_of(run->out, "ar_deviation") < value_of(run->out, "ar_deviation_input"));
        assert_true(value_of(run->out, "class_runs") >= 9);
        assert_true(value_of(run->out, "class_runs_input") == 3);
        assert_true(fabs(value_of(run->out, "silhouette") - 0.503477) < 1e-6);
        SUCCEED("dissim", "@iris", "--order", orders[o], "--order-out", "q.csv", "--threads=8");
        assert_same_files("p.csv", "q.csv"); /* C39 */
    }
}

static void test_tree_out(void **state)
{
    (void)state;
    rig_write_text("t.csv", "x\n0\n10\n1\n12\n");
    SUCCEED("dissim", "t.csv", "--order", "average", "--tree-out", "t.out.csv", "--order-out",
            "p.csv", "--leaf", "plain");
    assert_file_is("t.out.csv", "left,right,height,size\n0,2,1,2\n1,3,2,2\n4,5,10.5,4\n");
    assert_file_is("p.csv", "position,row\n1,1\n2,3\n3,2\n4,4\n");
    SUCCEED("dissim", "t.csv", "--order", "single", "--tree-out", "t.out.csv");
    assert_file_is("t.out.csv", "left,right,height,size\n0,2,1,2\n1,3,2,2\n4,5,9,4\n");
    REFUSED(RUN("dissim", "t.csv", "--order", "vat", "--tree-out", "u.csv"), BAD_USAGE,
            "--tree-out", "average");
    REFUSED(RUN("dissim", "t.csv", "--tree-out", ""), BAD_USAGE, "--tree-out", "empty");
    assert_files(3);
}

static void test_columns_are_compared_by_correlation(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("dissim", "@iris", "--of", "columns", "--order", "vat",
                                    "--order-out", "p.csv", "-o", "d.npy");
    assert_true(fabs(value_of(run->out, "largest") - 0.882430) < 1e-6);
    assert_contains(run->out, "metric 1-|correlation|\n");
    assert_file_is("p.csv", "position,row,label\n1,1,sepal length\n2,3,petal length\n3,4,petal "
                            "width\n4,2,sepal width\n");
    nl_npy npy = rig_npy("d.npy");
    assert_true(npy.shape[0] == 4 && npy.shape[1] == 4);
    nl_npy_free(&npy);
    rig_write_text("c.csv", "a,b,c\n1,5,2\n2,5,1\n4,5,7\n");
    assert_contains(SUCCEED("dissim", "c.csv", "--of=columns")->err, "1 constant column");
    REFUSED(RUN("dissim", "@iris", "--of=columns", "--metric=cosine"), BAD_USAGE, "--metric",
            "--of columns");
    REFUSED(RUN("dissim", "@iris", "--of=columns", "--order=label"), BAD_INPUT, "labels");
}

static void test_metrics_and_bandwidth(void **state)
{
    (void)state;
    rig_write_text("t.csv", "x,y\n0,0\n3,4\n6,8\n");
    static const char *const largest[][2] = {
        {"euclidean", "largest 10.000000\n"}, {"sqeuclidean", "largest 100.000000\n"},
        {"manhattan", "largest 14.000000\n"}, {"chebyshev", "largest 8.000000\n"},
        {"cosine", "largest 1.000000\n"},     {"gaussian-kernel", "largest 0.864665\n"}};
    for (size_t m = 0; m < sizeof largest / sizeof *largest; m++)
        assert_contains(SUCCEED("dissim", "t.csv", "--metric", largest[m][0], "-o", "d.png")->out,
                        largest[m][1]);
    assert_contains(SUCCEED("dissim", "t.csv", "--metric=gaussian-kernel")->out, "bandwidth 5\n");
    assert_contains(
        SUCCEED("dissim", "t.csv", "--metric=gaussian-kernel", "--bandwidth", "10")->out,
        "largest 0.393469\n");
    REFUSED(RUN("dissim", "t.csv", "--bandwidth", "2"), BAD_USAGE, "--bandwidth",
            "--metric euclidean");
    REFUSED(RUN("dissim", "t.csv", "--leaf", "plain"), BAD_USAGE, "--leaf", "--order input");
    assert_contains(SUCCEED("dissim", "t.csv", "--order=ward", "--metric=manhattan")->err, "Ward");
}

static void test_c34_scaling_is_said_and_matters(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("dissim", "@iris", "--rows", "raw", "-o", "raw.png");
    const double raw = value_of(run->out, "largest");
    run = SUCCEED("dissim", "@iris", "--rows", "zscore", "-o", "scaled.png");
    assert_contains(run->out, "scaling zscore\n");
    assert_true(fabs(value_of(run->out, "largest") - raw) > 0.1);
    size_t a, b;
    char *first = rig_read("raw.png", &a), *second = rig_read("scaled.png", &b);
    assert_true(a != b || memcmp(first, second, a) != 0);
    free(first);
    free(second);
}

/* D is D: from a file of it comes the order that its rows gave. */
static void test_c36_a_ready_matrix(void **state)
{
    (void)state;
    SUCCEED("dissim", "@iris", "-o", "d.npy");
    SUCCEED("dissim", "@iris", "-o", "d.csv");
    for (size_t o = 0; o + 1 < sizeof orders / sizeof *orders; o++) {
        SUCCEED("dissim", "@iris", "--order", orders[o], "--order-out", "x.csv", "--label=");
        SUCCEED("dissim", "d.npy", "--matrix", "--order", orders[o], "--order-out", "p.csv");
        assert_same_files("x.csv", "p.csv");
        SUCCEED("dissim", "d.csv", "--matrix", "--order", orders[o], "--order-out", "q.csv", "-o",
                "e.npy");
        assert_same_files("x.csv", "q.csv");
    }
    assert_same_files("d.npy", "e.npy");
    assert_contains(SUCCEED("dissim", "d.npy", "--matrix", "--order=pca")->out, "metric given\n");
}

static void test_c52_faults_of_a_ready_matrix(void **state)
{
    (void)state;
    rig_write_text("na.csv", "0,1,2\n1,0,NA\n2,3,0\n");
    REFUSED(RUN("dissim", "na.csv", "--matrix"), BAD_INPUT, "na.csv", "row 2", "missing");
    rig_write_text("skew.csv", "0,1,2\n1,0,3\n2,4,0\n");
    REFUSED(RUN("dissim", "skew.csv", "--matrix"), BAD_INPUT, "skew.csv", "row 2, column 3",
            "mirror");
    rig_write_text("diagonal.csv", "0,1,2\n1,0.5,3\n2,3,0\n");
    REFUSED(RUN("dissim", "diagonal.csv", "--matrix"), BAD_INPUT, "row 2, column 2", "diagonal");
    rig_write_text("negative.csv", "0,1,-2\n1,0,3\n-2,3,0\n");
    REFUSED(RUN("dissim", "negative.csv", "--matrix"), BAD_INPUT, "row 1, column 3", "negative");
    rig_write_text("flat.csv", "0,1,2\n1,0,3\n");
    REFUSED(RUN("dissim", "flat.csv", "--matrix"), BAD_INPUT, "square", "2 × 3");
    REFUSED(RUN("dissim", "skew.csv", "--matrix", "--metric=cosine"), BAD_USAGE, "--metric",
            "--matrix");
    REFUSED(RUN("dissim", "skew.csv", "--matrix", "--rows=zscore"), BAD_USAGE, "--rows",
            "--matrix");
    REFUSED(RUN("dissim", "skew.csv", "--matrix", "--missing=drop"), BAD_USAGE, "--missing",
            "--matrix");
    REFUSED(RUN("dissim", "@sample", "--matrix"), BAD_INPUT, "@sample", "--matrix");
}

/* What became of missing cells stands beside the figures they are in, and in the file's order. */
static void test_c35_the_rule_is_said_where_it_is_applied(void **state)
{
    (void)state;
    rig_write_text("m.csv", "a,b\n1,1\n2,\n4,4\nnan,8\n");
    const struct run *run = SUCCEED("dissim", "m.csv", "--missing=drop");
    assert_contains(run->err, "2 of 4 rows left out");
    assert_contains(run->out, "rows 2\n");
    assert_true(fabs(value_of(run->out, "largest") - sqrt(18)) < 1e-5);
    run = SUCCEED("dissim", "m.csv", "--missing=mean"); /* b = 13/3, a = 7/3 */
    assert_contains(run->err, "2 missing cells filled");
    assert_contains(run->out, "rows 4\n");
    assert_true(fabs(value_of(run->out, "largest") - sqrt(16.0 / 9 + 49)) < 1e-5);
}

static void test_c45_missing_cells(void **state)
{
    (void)state;
    rig_write_text("m.csv", "a,b,c,d\n5.1,3.5,1.4,0.2\n5.1,,1.4,0.2\n4.9,3,inf,0.2\n1,2,3,4\n");
    REFUSED(RUN("dissim", "m.csv", "--order=average"), BAD_INPUT, "m.csv", "row 2", "\"b\"",
            "2 missing cells");
    const struct run *run =
        SUCCEED("dissim", "m.csv", "--order=average", "--missing=drop", "--order-out", "p.csv");
    assert_contains(run->out, "rows 2\n");
    assert_contains(run->err, "2 of 4 rows left out");
    assert_file_is("p.csv", "position,row\n1,1\n2,4\n");
    run = SUCCEED("dissim", "m.csv", "--order=average", "--missing=mean");
    assert_contains(run->out, "rows 4\n");
    assert_contains(run->err, "mean");
}

static void test_c41_few_rows_in_every_order(void **state)
{
    (void)state;
    rig_write_text("0.csv", "a,b\n");
    rig_write_text("1.csv", "a,b\n1,2\n");
    rig_write_text("2.csv", "a,b\n1,2\n4,6\n");
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        REFUSED(RUN("dissim", "0.csv", "--order", orders[o]), BAD_INPUT, "0.csv", "no data rows");
        SUCCEED("dissim", "1.csv", "--order", orders[o], "-o", "d.png");
        assert_contains(SUCCEED("dissim", "2.csv", "--order", orders[o], "-o", "d.png")->out,
                        "path_length 5.000000\n");
    }
    SUCCEED("dissim", "1.csv", "--order=ward", "--tree-out", "t.csv");
    assert_file_is("t.csv", "left,right,height,size\n");
}

static void test_pictures_by_brightness(void **state)
{
    (void)state;
    uint8_t rgb[3 * 8 * 4];
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)(i / 3 % 8 * 20 + i / 24 * 7);
    rig_write_ppm("p.ppm", 8, 4, rgb);
    SUCCEED("dissim", "p.ppm", "--patch=1", "--stride=1", "--features=rgb", "--order=brightness",
            "--order-out", "o.csv");
    char *text = rig_read("o.csv", NULL);
    assert_int_equal(strncmp(text, "position,row\n1,1\n2,9\n3,17\n4,2\n", 30), 0);
    assert_contains(text, "\n32,32\n");
    free(text);
    REFUSED(RUN("dissim", "@iris", "--order=brightness"), BAD_INPUT, "brightness", "pictures");
}

static void test_more_rows_than_are_held_whole(void **state)
{
    (void)state;
    FILE *stream = fopen("long.csv", "w");
    assert_non_null(stream);
    fprintf(stream, "a,b\n");
    for (int i = 0; i < 5000; i++)
        fprintf(stream, "%d,%d\n", i * 37 % 5000, i % 11);
    fclose(stream);
    REFUSED(RUN("dissim", "long.csv", "-o", "d.npy"), TOO_LARGE, "5000", "0.10 GB", "4096",
            "fewer rows");
    REFUSED(RUN("dissim", "long.csv", "--order", "vat"), TOO_LARGE, "4096", "pca");
    const struct run *run =
        SUCCEED("dissim", "long.csv", "--order=pca", "--order-out", "p.csv", "-o", "d.png");
    assert_contains(run->err, "5000");
    assert_contains(run->err, "1024");
    assert_true(value_of(run->out, "largest") > 4998);
    size_t width, height;
    rig_png_size("d.png", &width, &height);
    assert_true(width > 400 && height > 400);
    assert_files(3);
}

static void test_the_library_of_books(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("dissim", "@library", "--metric=cosine", "--order=average",
                                    "--order-out", "p.csv", "-o", "d.png");
    assert_contains(run->out, "features 20\n");
    assert_true(value_of(run->out, "rows") >= 60);
    assert_true(value_of(run->out, "silhouette") > 0.2);
    assert_true(value_of(run->out, "path_length") < 0.6 * value_of(run->out, "path_length_input"));
    assert_contains(
        SUCCEED("dissim", "@library", "--of=columns", "--order=ward", "--order-out", "k.csv")->out,
        "order ward\n");
    char *text = rig_read("k.csv", NULL);
    assert_contains(text, ",magic\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_every_order_of_iris),
        CASE(test_tree_out),
        CASE(test_columns_are_compared_by_correlation),
        CASE(test_metrics_and_bandwidth),
        CASE(test_c34_scaling_is_said_and_matters),
        CASE(test_c36_a_ready_matrix),
        CASE(test_c52_faults_of_a_ready_matrix),
        CASE(test_c35_the_rule_is_said_where_it_is_applied),
        CASE(test_c45_missing_cells),
        CASE(test_c41_few_rows_in_every_order),
        CASE(test_pictures_by_brightness),
        CASE(test_more_rows_than_are_held_whole),
        CASE(test_the_library_of_books),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
