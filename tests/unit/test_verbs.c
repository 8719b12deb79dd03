/* SPDX-License-Identifier: MIT */
/* What the headless verbs print and write when all is well; test_verbs_errors.c has the rest. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nonlocal/exec.h"
#include "param.h"
#include "thin.h"
#include "verb_rig.h"

static const char *const tiers[] = {"scalar", "avx2", "avx512", "neon"};

static bool tier_available(size_t tier)
{
    return nl_cpu_available((nl_cpu)(NL_CPU_SCALAR + (int)tier));
}

/* The number after `name` in a text. */
static double number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (!at)
        fail_msg("'%s' is not in: %s", name, text);
    char *end;
    const double number = strtod(at + strlen(name), &end);
    assert_true(end != at + strlen(name));
    return number;
}

static void test_help(void **state)
{
    (void)state;
    static const struct {
        const char *verb;
        unsigned bit;
        const char *options[10];
    } verbs_and_options[] = {
        {"attend", VERB_ATTEND, {"-o OUT", "--query", "--label", "--columns", "--missing"}},
        {"apply", VERB_APPLY, {"-o OUT", "--residual", "--label", "--columns", "--missing"}},
        {"dissim", VERB_DISSIM, {"-o OUT", "--order-out", "--label", "--columns", "--missing"}},
        {"info", VERB_INFO, {NULL}},
    };
    for (size_t v = 0; v < 4; v++) {
        const char *verb = verbs_and_options[v].verb;
        const struct run *run = SUCCEED(verb, "--help");
        assert_string_equal(run->err, "");
        assert_contains(run->out, "usage: nonlocal ");
        assert_contains(run->out, verb);
        for (size_t i = 0; verbs_and_options[v].options[i]; i++)
            assert_contains(run->out, verbs_and_options[v].options[i]);
        for (int id = 0; id < PARAM_COUNT; id++) {
            char option[80];
            snprintf(option, sizeof option, "  --%s ", param_table[id].key);
            const bool listed = strstr(run->out, option);
            assert_int_equal(listed, (param_table[id].verbs & verbs_and_options[v].bit) != 0);
            if (listed)
                assert_contains(run->out, param_table[id].help);
        }
        /* also among other arguments, right or wrong, and in short */
        SUCCEED(verb, "--frobnicate", "--help");
        SUCCEED(verb, "@sample", "-h");
        run = SUCCEED("--help");
        assert_contains(run->out, verb);
    }
    assert_files(0);
}

static void test_version(void **state)
{
    (void)state;
    char expected[80];
    snprintf(expected, sizeof expected, "nonlocal %s\n", nl_version());
    assert_string_equal(SUCCEED("--version")->out, expected);
    assert_true(nl_version()[0] >= '0' && nl_version()[0] <= '9');
}

static void test_info(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("info", "--threads", "3");
    assert_contains(run->out, "threads: 3\n");
    assert_contains(run->out, nl_version());
    for (size_t i = 0; i < 4; i++) {
        char used[40], available[40];
        snprintf(used, sizeof used, "%s: available, used\n", tiers[i]);
        snprintf(available, sizeof available, "%s: available", tiers[i]);
        assert_int_equal(strstr(SUCCEED("info")->out, available) != NULL, tier_available(i));
        if (!tier_available(i))
            continue;
        assert_contains(SUCCEED("info", "--cpu", tiers[i])->out, used);
        setenv("NONLOCAL_CPU", tiers[i], 1);
        assert_contains(SUCCEED("info")->out, used);
        assert_contains(SUCCEED("info", "--cpu", "scalar")->out, "scalar: available, used");
        unsetenv("NONLOCAL_CPU");
    }
}

static void check_rows_sum_to_one(const nl_npy *npy, size_t rows)
{
    const size_t m = npy->count / rows;
    for (size_t q = 0; q < rows; q++) {
        double sum = 0;
        for (size_t j = 0; j < m; j++) {
            assert_true(npy->data[q * m + j] >= 0);
            sum += (double)npy->data[q * m + j];
        }
        assert_true(fabs(sum - 1) <= 1e-5);
    }
}

static void test_attend_npy(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("attend", "@sample", "--query", "3,4", "--query=317,0.5",
                                    "--query", "row:1536", "-o", "w.npy");
    assert_string_equal(run->err, "");
    assert_contains(run->out, "320 × 240 pixels, reduced to 256 × 192");
    assert_contains(run->out, "grid 64 × 48, n = 3072, d = 44");
    assert_contains(run->out, "query 3: cell (63, 23)");
    assert_true(fabs(number_after(run->out, "effective keys ") - 61.44) < 0.011); /* 2 % */
    assert_true(fabs(number_after(run->out, "sum ") - 1) < 1e-5);
    nl_npy npy = rig_npy("w.npy");
    assert_int_equal(npy.ndim, 3);
    assert_int_equal(npy.shape[0], 3);
    assert_int_equal(npy.shape[1], 48);
    assert_int_equal(npy.shape[2], 64);
    check_rows_sum_to_one(&npy, 3);
    nl_npy_free(&npy);
    assert_files(1);
}

/* The same numbers, told in words: query and row from 1, t, y, x from 0. */
static void test_attend_csv(void **state)
{
    (void)state;
    SUCCEED("attend", "@sample", "--stride", "16", "--query", "3,4", "--query=300,200", "-o",
            "w.npy");
    SUCCEED("attend", "@sample", "--stride", "16", "--query", "3,4", "--query=300,200", "-o",
            "w.csv");
    nl_npy npy = rig_npy("w.npy");
    char *csv = rig_read("w.csv", NULL);
    assert_int_equal(strncmp(csv, "query,t,y,x,weight\n", 19), 0);
    const char *line = csv + 19;
    for (size_t at = 0; at < npy.count; at++) {
        const size_t gw = npy.shape[2], n = npy.shape[1] * gw;
        char expected[80];
        const int length =
            snprintf(expected, sizeof expected, "%zu,0,%zu,%zu,", at / n + 1, at % n / gw, at % gw);
        assert_int_equal(strncmp(line, expected, (size_t)length), 0);
        char *end;
        assert_true(strtof(line + length, &end) == npy.data[at]);
        assert_int_equal(*end, '\n');
        line = end + 1;
    }
    assert_int_equal(*line, 0);
    free(csv);
    nl_npy_free(&npy);
}

static void test_attend_png(void **state)
{
    (void)state;
    size_t width, height, wide;
    SUCCEED("attend", "@sample", "--query", "3,4", "-o", "one.png");
    SUCCEED("attend", "@sample", "--query", "3,4", "--query", "200,90", "-o", "two.PNG");
    rig_png_size("one.png", &width, &height);
    assert_in_range(width, 500, 700); /* the picture at 480 × 360, its bar and numbers */
    assert_in_range(height, 380, 480);
    rig_png_size("two.PNG", &wide, &height);
    assert_in_range(wide, width + 480, 2 * width);
    assert_files(2);
}

static void test_attend_table(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("attend", "@iris", "--query", "row:17", "-o", "w.npy");
    assert_contains(run->out, "150 rows, 4 features");
    assert_contains(run->out, "query 1: row 17 (setosa)");
    assert_contains(run->out, "effective keys 3.00 of 150");
    nl_npy npy = rig_npy("w.npy");
    assert_int_equal(npy.ndim, 3);
    assert_int_equal(npy.shape[0] * npy.shape[1], 1);
    assert_int_equal(npy.shape[2], 150);
    check_rows_sum_to_one(&npy, 1);
    nl_npy_free(&npy);
    /* dot products reward long vectors; distance does not (cases.md, raw Iris) */
    run = SUCCEED("attend", "@iris", "--query=row:1", "--similarity=gaussian", "--temperature=1",
                  "--self=keep");
    assert_contains(run->out, "1. row 132 (virginica)  weight 0.6058");
    SUCCEED("attend", "@iris", "--query=row:1", "--h=0.5", "--self=keep", "-o", "w.npy");
    npy = rig_npy("w.npy");
    double setosa = 0;
    for (size_t j = 0; j < 50; j++)
        setosa += (double)npy.data[j];
    assert_true(fabs(setosa - 0.9993) < 1e-4);
    nl_npy_free(&npy);
}

/* Rows keep their numbers where others were left out. */
static void test_rows_left_out(void **state)
{
    (void)state;
    rig_write_text("t.csv", "a,b,kind\n1,2,x\n3,,y\n4,inf,x\n5,6,y\n7,9,x\n");
    const struct run *run =
        SUCCEED("attend", "t.csv", "--missing=drop", "--query=row:4", "--query=row:1");
    assert_contains(run->out, "query 1: row 4 (y)");
    assert_contains(run->out, "query 2: row 1 (x)");
    assert_contains(run->err, "2 of 5 rows left out");
    REFUSED(RUN("attend", "t.csv", "--missing=drop", "--query=row:3"), 1, "row:3", "left out");
    REFUSED(RUN("attend", "t.csv", "--missing=drop", "--query=row:6"), 1, "row:6", "5 rows");
    SUCCEED("attend", "t.csv", "--missing=mean", "--query=row:3");
    run = SUCCEED("dissim", "t.csv", "--missing=drop", "--order-out", "p.csv");
    assert_contains(run->out, "rows 3\n");
    assert_contains(run->out, "largest_rows 5,1\n");
    assert_file_is("p.csv", "position,row,label\n1,1,x\n2,4,y\n3,5,x\n");
    assert_files(2);
}

/* A width that was given replaces the default perplexity; both at once are refused elsewhere. */
static void test_widths(void **state)
{
    (void)state;
    const struct run *run =
        SUCCEED("attend", "@iris", "--query=row:17", "--h", "0.1", "-o", "h.npy");
    assert_contains(run->out, "filter width h 0.1\n");
    SUCCEED("attend", "@iris", "--query=row:17", "--perplexity=0", "--h=0.1", "-o", "0.npy");
    assert_same_files("h.npy", "0.npy");
    SUCCEED("attend", "@iris", "--query=row:17", "--perplexity=0", "-o", "0.npy");
    assert_same_files("h.npy", "0.npy"); /* 0.1 is the default */
    run = SUCCEED("attend", "@iris", "--query=row:17", "--similarity=cosine", "--temperature=0.2");
    assert_contains(run->out, "temperature 0.2\n");
    run = SUCCEED("attend", "@iris", "--query=row:17", "--similarity=cosine", "--perplexity=0");
    assert_contains(run->out, "temperature 0.1\n");
    run = SUCCEED("attend", "@iris", "--query=row:17", "--similarity=gaussian", "--perplexity=0");
    assert_contains(run->out, "temperature 1\n");
    run = SUCCEED("attend", "@iris", "--query=row:17", "--perplexity", "7.5");
    assert_contains(run->out, "effective keys 7.50 of 150");
    run = SUCCEED("attend", "@iris", "--query=row:17", "--perplexity", "10%");
    assert_contains(run->out, "effective keys 15.00 of 150");
    /* temperature divides the exponent of the Euclidean similarity too: h² τ counts */
    SUCCEED("attend", "@iris", "--query=row:17", "--h=0.2", "-o", "a.npy");
    SUCCEED("attend", "@iris", "--query=row:17", "--h=0.1", "--temperature=4", "-o", "b.npy");
    nl_npy a = rig_npy("a.npy"), b = rig_npy("b.npy");
    for (size_t j = 0; j < 150; j++)
        assert_true(fabsf(a.data[j] - b.data[j]) <= 1e-6f);
    nl_npy_free(&a);
    nl_npy_free(&b);
}

static void test_dissim_iris(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double value;
    } quality[] = {
        {"rows ", 150},
        {"largest ", 7.085196},
        {"path_length ", 143.2329},
        {"class_runs ", 3},
        {"block_mean[setosa,setosa] ", 0.682881},
        {"block_mean[versicolor,versicolor] ", 0.977413},
        {"block_mean[virginica,virginica] ", 1.153245},
        {"block_mean[setosa,versicolor] ", 3.301223},
        {"block_mean[setosa,virginica] ", 4.824142},
        {"block_mean[versicolor,virginica] ", 1.842412},
    };
    const struct run *run = SUCCEED("dissim", "@iris", "-o", "d.npy", "--order-out", "p.csv");
    for (size_t i = 0; i < sizeof quality / sizeof *quality; i++)
        assert_true(fabs(number_after(run->out, quality[i].name) - quality[i].value) <=
                    (i == 2 ? 5e-5 : 6e-7));
    assert_contains(run->out, "largest_rows 119,14\n");

    SUCCEED("dissim", "@iris", "-o", "d.csv");
    nl_npy d = rig_npy("d.npy");
    assert_int_equal(d.ndim, 2);
    assert_int_equal(d.shape[0], 150);
    assert_int_equal(d.shape[1], 150);
    char *csv = rig_read("d.csv", NULL), *at = csv;
    size_t zeros = 0;
    for (size_t i = 0; i < 150; i++) {
        for (size_t j = 0; j < 150; j++) {
            const float d_ij = d.data[i * 150 + j];
            assert_true(d_ij == d.data[j * 150 + i]);
            assert_true(i == j ? d_ij == 0 : d_ij >= 0);
            assert_true(strtof(at, &at) == d_ij);
            assert_int_equal(*at++, j == 149 ? '\n' : ',');
            zeros += j > i && d_ij == 0;
        }
    }
    assert_int_equal(*at, 0);
    assert_int_equal(zeros, 1); /* rows 102 and 143 */
    assert_true(d.data[101 * 150 + 142] == 0);
    free(csv);
    nl_npy_free(&d);

    char *order = rig_read("p.csv", NULL);
    assert_int_equal(strncmp(order, "position,row,label\n1,1,setosa\n", 30), 0);
    assert_contains(order, "\n51,51,versicolor\n");
    assert_contains(order, "\n150,150,virginica\n");
    free(order);
    assert_files(3);
}

static void test_dissim_png(void **state)
{
    (void)state;
    size_t width, height;
    SUCCEED("dissim", "@iris", "-o", "d.png");
    rig_png_size("d.png", &width, &height);
    assert_in_range(width, 600, 900); /* 600 for 150 rows, its bar and numbers */
    assert_in_range(height, 600, 800);
    SUCCEED("dissim", "@sample", "--stride", "32", "-o", "d.png");
    assert_files(1);
}

static void test_order_with_labels(void **state)
{
    (void)state;
    rig_write_text("t.csv", "x,kind\n1,\"b, c\"\n2,\"say \"\"a\"\"\"\n3,\"b, c\"\n"
                            "4,\"say \"\"a\"\"\"\n5,猫\n");
    const struct run *run =
        SUCCEED("dissim", "t.csv", "--order", "label", "--order-out", "p.csv", "--label=kind");
    assert_contains(run->out, "class_runs 3\n");
    assert_contains(run->out, "path_length 6.0");
    assert_contains(run->out, "path_length_input 4.0");
    assert_file_is("p.csv", "position,row,label\n1,1,\"b, c\"\n2,3,\"b, c\"\n"
                            "3,2,\"say \"\"a\"\"\"\n4,4,\"say \"\"a\"\"\"\n5,5,猫\n");
    SUCCEED("dissim", "t.csv", "--label=", "--order-out", "p.csv");
    assert_file_is("p.csv", "position,row\n1,1\n2,2\n3,3\n4,4\n5,5\n");
}

/* C45 and C41: missing cells, one row, two rows, none. */
static void test_small_and_broken_tables(void **state)
{
    (void)state;
    rig_write_text("m.csv", "a,b,c,d\n5.1,,1.4,0.2\n4.9,3.0,inf,0.2\n1,2,3,4\n2,3,4,5\n");
    REFUSED(RUN("dissim", "m.csv"), 1, "m.csv", "line 2", "row 1", "\"b\"", "2 missing cells");
    const struct run *run = SUCCEED("dissim", "m.csv", "--missing", "drop");
    assert_contains(run->out, "rows 2\n");
    assert_contains(run->out, "largest 2.000000\n");
    assert_contains(run->err, "2 of 4 rows left out");
    run = SUCCEED("dissim", "m.csv", "--missing", "mean");
    assert_contains(run->out, "rows 4\n");
    assert_contains(run->err, "2 missing cells filled");
    run = SUCCEED("dissim", "m.csv", "--columns", "d,a", "-o", "d.npy");
    assert_contains(run->out, "rows 4\nfeatures 2\n");
    assert_string_equal(run->err, "");

    rig_write_text("0.csv", "a,b\n");
    rig_write_text("1.csv", "a,b\n1,2\n");
    rig_write_text("2.csv", "a,b\n1,2\n4,6\n");
    REFUSED(RUN("dissim", "0.csv"), 1, "0.csv", "no data rows");
    assert_contains(SUCCEED("dissim", "1.csv", "-o", "d.png")->out, "largest 0.000000\n");
    assert_contains(SUCCEED("dissim", "1.csv", "-o", "d.npy")->out, "rows 1\n");
    assert_contains(SUCCEED("dissim", "2.csv", "-o", "d.png")->out, "largest 5.000000\n");
    assert_contains(SUCCEED("attend", "1.csv", "--query=row:1")->out, "row 1  weight 1\n");
    run = SUCCEED("attend", "1.csv", "--query=row:1", "--self=exclude");
    assert_contains(run->err, "no key is left");
    assert_contains(SUCCEED("attend", "2.csv", "--query=row:2")->out, "effective keys 2.00 of 2");
}

static void test_apply(void **state)
{
    (void)state;
    size_t width, height;
    SUCCEED("apply", "@sample", "--max-side", "99", "-o", "y.png");
    rig_png_size("y.png", &width, &height);
    assert_int_equal(width, 99);
    assert_int_equal(height, 74); /* 99 · 240/320 = 74.25 */
    SUCCEED("apply", "@sample", "--max-side", "99", "-o", "y.npy");
    const struct run *run =
        SUCCEED("apply", "@sample", "--max-side=99", "--residual", "-o", "z.npy");
    assert_contains(run->out, "z.npy");
    /* with the picture itself as the answer: each query reads itself alone */
    SUCCEED("apply", "@sample", "--max-side=99", "--self=keep", "--h=0.0001", "--features=rgb",
            "--patch=3", "--stride=1", "--similarity=euclidean", "-o", "x.npy");
    nl_npy y = rig_npy("y.npy"), z = rig_npy("z.npy"), x = rig_npy("x.npy");
    assert_int_equal(y.ndim, 3);
    assert_int_equal(y.shape[0], 74);
    assert_int_equal(y.shape[1], 99);
    assert_int_equal(y.shape[2], 3);
    assert_int_equal(z.count, y.count);
    for (size_t at = 0; at < y.count; at++) {
        assert_true(y.data[at] >= -1e-6f && y.data[at] <= 1 + 1e-6f); /* a mean of colours */
        assert_true(fabsf(y.data[at] + x.data[at] - z.data[at]) <= 2e-5f);
    }
    nl_npy_free(&y);
    nl_npy_free(&z);
    nl_npy_free(&x);
    run = SUCCEED("apply", "@sample", "--max-side=99", "--residual", "-o", "z.png");
    assert_contains(run->err, "outside 0 to 1"); /* said, not hidden */
    assert_files(5);
}

static void test_apply_table(void **state)
{
    (void)state;
    SUCCEED("apply", "@iris", "--perplexity=10", "-o", "y.npy");
    SUCCEED("apply", "@iris", "--perplexity=10", "--residual", "-o", "z.npy");
    nl_npy y = rig_npy("y.npy"), z = rig_npy("z.npy");
    assert_int_equal(y.ndim, 2);
    assert_int_equal(y.shape[0], 150);
    assert_int_equal(y.shape[1], 4);
    assert_true(y.data[0] > 4.9f && y.data[0] < 5.3f); /* setosa of length 5.1 and their like */
    assert_true(fabsf(z.data[0] - y.data[0] - 5.1f) < 1e-5f);
    nl_npy_free(&y);
    nl_npy_free(&z);
}

/* C60: names with blanks, other alphabets, dashes; a picture that the program wrote itself. */
static void test_file_names(void **state)
{
    (void)state;
    assert_int_equal(mkdir("données", 0777), 0);
    SUCCEED("apply", "@sample", "--max-side", "64", "-o", "données/猫 图.png");
    const struct run *run =
        SUCCEED("attend", "données/猫 图.png", "--query", "5,5", "-o", "données/ w 権.npy");
    assert_contains(run->out, "猫 图.png: 64 × 48 pixels\n");
    SUCCEED("attend", "données/猫 图.png", "--query", "5,5", "-o", "données/地図 1.png");
    nl_npy npy = rig_npy("données/ w 権.npy");
    assert_int_equal(npy.count, 16 * 12);
    nl_npy_free(&npy);
    assert_int_equal(rename("données/猫 图.png", "-x.png"), 0);
    SUCCEED("attend", "--query", "5,5", "-o", "-w.npy", "--", "-x.png");
    npy = rig_npy("-w.npy");
    assert_int_equal(npy.count, 16 * 12);
    nl_npy_free(&npy);
    SUCCEED("attend", "./-x.png", "--query=5,5", "--patch=3", "--similarity=cosine");
    assert_files(3);
    /* an older answer is replaced */
    SUCCEED("attend", "--query", "5,5", "--stride=8", "-o", "-w.npy", "--", "-x.png");
    npy = rig_npy("-w.npy");
    assert_int_equal(npy.count, 8 * 6);
    nl_npy_free(&npy);
}

/* A .npy of features is used as it is, (n, d) or (H, W, C). */
static void test_arrays(void **state)
{
    (void)state;
    SUCCEED("apply", "@sample", "--max-side=20", "--stride=1", "--patch=1", "--h=0.3", "-o",
            "x.npy"); /* (15, 20, 3) */
    const struct run *run =
        SUCCEED("attend", "x.npy", "--query=19,14", "--query=row:21", "-o", "w.npy");
    assert_contains(run->out, "grid 20 × 15, n = 300, d = 3");
    assert_contains(run->out, "query 1: cell (19, 14)");
    assert_contains(run->out, "query 2: cell (0, 1)");
    nl_npy npy = rig_npy("w.npy");
    assert_int_equal(npy.shape[0], 2);
    assert_int_equal(npy.shape[1], 15);
    assert_int_equal(npy.shape[2], 20);
    nl_npy_free(&npy);
    REFUSED(RUN("attend", "x.npy", "--query=20,0"), 1, "20,0", "outside", "0 to 19");
    SUCCEED("apply", "x.npy", "-o", "y.npy");
    npy = rig_npy("y.npy");
    assert_int_equal(npy.ndim, 3);
    assert_int_equal(npy.count, 900);
    nl_npy_free(&npy);
}

/* The same bytes whatever the threads, and for dissimilarities whatever the tier. */
static void test_same_bytes(void **state)
{
    (void)state;
    const char *side = thin_skips(240, 320, 1, 64 * 64) ? "--max-side=64" : "--max-side=320";
    SUCCEED("apply", "@sample", side, "--threads", "1", "-o", "y1.npy");
    SUCCEED("apply", "@sample", side, "--threads", "3", "-o", "y3.npy");
    assert_same_files("y1.npy", "y3.npy");
    SUCCEED("apply", "@sample", side, "--threads", "1", "-o", "y1.png");
    SUCCEED("apply", "@sample", side, "--threads", "3", "-o", "y3.png");
    assert_same_files("y1.png", "y3.png");
    SUCCEED("attend", "@sample", "--threads", "1", "--query=9,9", "-o", "w1.png");
    SUCCEED("attend", "@sample", "--threads", "3", "--query=9,9", "-o", "w3.png");
    assert_same_files("w1.png", "w3.png");
    SUCCEED("dissim", "@sample", "--stride=8", "--threads=1", "--cpu=scalar", "-o", "d.npy");
    SUCCEED("dissim", "@iris", "--rows=zscore", "--cpu=scalar", "-o", "i.npy");
    for (size_t i = 0; i < 4; i++) {
        if (!tier_available(i))
            continue;
        SUCCEED("dissim", "@sample", "--stride=8", "--threads=3", "--cpu", tiers[i], "-o",
                "d3.npy");
        assert_same_files("d.npy", "d3.npy");
        SUCCEED("dissim", "@iris", "--rows=zscore", "--cpu", tiers[i], "-o", "i3.npy");
        assert_same_files("i.npy", "i3.npy");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_help),
        CASE(test_version),
        CASE(test_info),
        CASE(test_attend_npy),
        CASE(test_attend_csv),
        CASE(test_attend_png),
        CASE(test_attend_table),
        CASE(test_rows_left_out),
        CASE(test_widths),
        CASE(test_dissim_iris),
        CASE(test_dissim_png),
        CASE(test_order_with_labels),
        CASE(test_small_and_broken_tables),
        CASE(test_apply),
        CASE(test_apply_table),
        CASE(test_file_names),
        CASE(test_arrays),
        CASE(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
