/* SPDX-License-Identifier: MIT */
/*
 * Everything that a person can get wrong on the command line: one sentence that names the file or
 * the option and helps, the documented exit status, and no file written, none left over, none
 * harmed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "verb_rig.h"

enum { BAD_INPUT = 1, BAD_USAGE = 2, TOO_LARGE = 3, INTERRUPTED = 130 };

/* A run of each verb on this file, with a query for the one that needs it. */
static const char *const *on_file(const char *verb, const char *file)
{
    static const char *arguments[8];
    size_t count = 0;
    arguments[count++] = verb;
    arguments[count++] = file;
    arguments[count++] = "-o";
    arguments[count++] = "out.npy";
    if (strcmp(verb, "attend") == 0)
        arguments[count++] = "--query=row:1";
    arguments[count] = NULL;
    return arguments;
}

static const char *const file_verbs[] = {"attend", "apply", "dissim"};

static void test_files_that_are_none(void **state)
{
    (void)state;
    assert_int_equal(mkdir("folder.png", 0777), 0);
    rig_write("empty.png", "", 0);
    rig_write("empty.csv", "", 0);
    rig_write_text("words.png", "these are words and no picture at all\n");
    rig_write("cut.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", 18);
    rig_write("cut.npy", "\x93NUMPY\1\0\x76\0{", 11);
    rig_write_text("header.csv", "a,b\n");
    rig_write_text("words.csv", "a,b\nx,y\nz,w\n");
    assert_int_equal(mkdir("nowhere", 0777), 0);
    assert_int_equal(symlink("not-there", "nowhere/loose.png"), 0);
    static const struct {
        const char *file, *reason;
    } cases[] = {
        {"missing.png", "No such file"},
        {"missing/missing.csv", "No such file"},
        {"nowhere/loose.png", "No such file"},
        {"words.png/below.png", "Not a directory"},
        {"folder.png", "is a folder, not a file"},
        {"empty.png", "empty"},
        {"empty.csv", "empty"},
        {"words.png", ": "},
        {"cut.png", ": "},
        {"cut.npy", ": "},
        {"header.csv", "no data rows"},
        {"words.csv", ": "},
    };
    for (size_t v = 0; v < 3; v++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            REFUSED(rig_run(on_file(file_verbs[v], cases[i].file)), BAD_INPUT, cases[i].file,
                    cases[i].reason);
    REFUSED(RUN("attend", "@nothing", "--query", "1,1"), BAD_INPUT, "@nothing", "@sample", "@iris");
    assert_files(9);
}

static void test_arrays_that_are_no_features(void **state)
{
    (void)state;
    nl_error error = {0};
    const float numbers[4] = {0, 1, 2, 3};
    static const size_t shapes[][5] = {{4, 0, 0, 0, 0}, {2, 2, 1, 1, 1}, {0, 4, 0, 0, 0}};
    static const size_t dims[] = {1, 5, 2};
    for (size_t i = 0; i < 3; i++) {
        void *bytes;
        size_t size;
        assert_int_equal(nl_npy_write_alloc(numbers, shapes[i][dims[i] - 1], shapes[i], dims[i],
                                            &bytes, &size, &error),
                         NL_OK);
        rig_write("x.npy", bytes, size);
        nl_npy_bytes_free(&bytes);
        for (size_t v = 0; v < 3; v++)
            REFUSED(rig_run(on_file(file_verbs[v], "x.npy")), BAD_INPUT, "x.npy",
                    i == 2 ? "empty" : "(n, d)");
    }
    assert_files(1);
}

static void test_queries_outside(void **state)
{
    (void)state;
    static const struct {
        const char *query, *shown;
    } outside[] = {
        {"-1,10", "-1,10"},       {"-0.001,10", "-0.001,10"}, {"320,10", "320,10"},
        {"1e9,10", "1000000000"}, {"10,-1", "10,-1"},         {"10,240", "10,240"},
        {"10,240.5", "10,240.5"}, {"320,240", "320,240"},
    };
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        REFUSED(RUN("attend", "@sample", "--query", outside[i].query, "-o", "w.npy"), BAD_INPUT,
                "query", outside[i].shown, "outside", "0 to 319", "0 to 239");
    REFUSED(RUN("attend", "@sample", "--query", "row:3073", "-o", "w.npy"), BAD_INPUT, "row:3073",
            "3072 rows");
    REFUSED(RUN("attend", "@iris", "--query", "row:151", "-o", "w.npy"), BAD_INPUT, "row:151",
            "150 rows");
    REFUSED(RUN("attend", "@iris", "--query", "row:99999999999999999999", "-o", "w.npy"), BAD_INPUT,
            "row:", "150 rows");
    /* the second of two */
    REFUSED(RUN("attend", "@iris", "--query", "row:1", "--query", "row:200", "-o", "w.npy"),
            BAD_INPUT, "row:200", "150 rows");
    REFUSED(RUN("attend", "@iris", "--query", "3,4", "-o", "w.npy"), BAD_INPUT, "pixels", "row:1",
            "row:150");
    /* the corners are inside */
    SUCCEED("attend", "@sample", "--query", "0,0", "--query", "319,239", "--query", "319.9,239.9",
            "--query", "row:3072");
    SUCCEED("attend", "@iris", "--query", "row:1", "--query", "row:150");
    assert_files(0);
}

static void test_query_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",        "3",     "3,",    ",4",      "3;4",    "3,4,5",   "3,4x",   "x,4",
        "nan,4",   "3,inf", "row:",  "row:0",   "row:-1", "row:1.5", "row:+1", "row: 1",
        "row:1 x", "row",   "ROW:1", "row:1,2", "cat",    "3 4",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        REFUSED(RUN("attend", "@iris", "--query", texts[i], "-o", "w.npy"), BAD_USAGE, "--query",
                texts[i], "X,Y", "row:N");
    assert_files(0);
}

static void test_number_of_queries(void **state)
{
    (void)state;
    const char *arguments[40] = {"attend", "@iris", "-o", "w.npy"};
    for (size_t i = 4; i < 4 + 16; i++)
        arguments[i] = "--query=row:1";
    rig_succeed(arguments);
    arguments[20] = "--query=row:2";
    remove("w.npy");
    REFUSED(rig_run(arguments), BAD_USAGE, "--query", "16");
    REFUSED(RUN("attend", "@iris", "-o", "w.npy"), BAD_USAGE, "--query X,Y", "row:N");
    assert_files(0);
}

/* Arguments after "attend @iris --query row:1 -o w.npy". */
struct wrong {
    const char *arguments[3];
    const char *parts[3];
};

static void check_wrong(const char *file, const struct wrong *wrong, size_t count, int status)
{
    for (size_t i = 0; i < count; i++) {
        const char *const *a = wrong[i].arguments;
        const char *parts[4] = {wrong[i].parts[0], wrong[i].parts[1], wrong[i].parts[2]};
        assert_refusal(
            RUN("attend", file, "--query", "row:1", "-o", "w.npy", a[0], a[1], a[1] ? a[2] : NULL),
            status, parts);
    }
    assert_files(0);
}

static void test_options(void **state)
{
    (void)state;
    static const struct wrong wrong[] = {
        {{"--frobnicate"}, {"--frobnicate", "nonlocal attend --help"}},
        {{"--frobnicate=3"}, {"--frobnicate", "--help"}},
        {{"-x"}, {"-x", "--help"}},
        {{"--querys", "1,1"}, {"--querys", "--help"}},
        {{"--residual"}, {"--residual", "--help"}}, /* of another verb */
        {{"--order", "input"}, {"--order", "--help"}},
        {{"-o=x.npy"}, {"-o=x.npy"}},
        {{"@sample"}, {"@sample", "one file"}},
        {{"second.png"}, {"second.png", "one file"}},
        {{"-"}, {"'-'", "one file"}},
        {{"--similarity", "dott"}, {"--similarity", "'dott'", "gaussian, embedded-gaussian"}},
        {{"--similarity", ""}, {"--similarity", "''", "cosine"}},
        {{"--similarity", "Euclidean"}, {"--similarity", "Euclidean", "euclidean"}},
        {{"--self=none"}, {"--self", "'none'", "keep, max, exclude"}},
        {{"--cpu", "sse"}, {"--cpu", "'sse'", "scalar"}},
        {{"--colormap", "jet"}, {"--colormap", "'jet'", "viridis"}},
        {{"--missing", "zero"}, {"--missing", "'zero'", "drop, mean"}},
        {{"--similarity"}, {"--similarity", "value"}},
        {{"--query"}, {"--query", "value"}},
        {{"--label"}, {"--label", "value"}},
        {{"-o"}, {"-o", "value"}},
        {{"-o", ""}, {"-o", "empty"}},
        {{"--h", "0"}, {"--h", "0.0001 to 100"}},
        {{"--h", "-1"}, {"--h", "-1", "0.0001 to 100"}},
        {{"--h", "101"}, {"--h", "101", "0.0001 to 100"}},
        {{"--h", "wide"}, {"--h", "'wide'", "a number"}},
        {{"--h", "nan"}, {"--h", "'nan'", "a number"}},
        {{"--h", "0x10"}, {"--h", "'0x10'", "a number"}},
        {{"--h", "0,5"}, {"--h", "'0,5'", "a number"}},
        {{"--h", "1 "}, {"--h", "'1 '", "a number"}},
        {{"--h", "10%"}, {"--h", "'10%'", "a number"}},
        {{"--h="}, {"--h", "''", "a number"}},
        {{"--temperature", "1e9"}, {"--temperature", "0.001 to 1000"}},
        {{"--temperature", "1e999"}, {"--temperature", "1e999"}},
        {{"--perplexity", "-1"}, {"--perplexity", "-1", "0 to"}},
        {{"--perplexity", "101%"}, {"--perplexity", "101%", "0 to 100"}},
        {{"--perplexity", "%"}, {"--perplexity", "'%'", "percentage"}},
        {{"--perplexity", "2%%"}, {"--perplexity", "'2%%'", "percentage"}},
        {{"--patch", "0"}, {"--patch", "1 to 64"}},
        {{"--patch", "65"}, {"--patch", "65", "1 to 64"}},
        {{"--patch", "2.5"}, {"--patch", "2.5", "whole number"}},
        {{"--stride", "65"}, {"--stride", "65", "1 to 64"}},
        {{"--max-side", "0"}, {"--max-side", "1 to 4096"}},
        {{"--threads", "257"}, {"--threads", "0 to 256"}},
        {{"--threads", "-1"}, {"--threads", "0 to 256"}},
        {{"--seed", "4294967296"}, {"--seed", "4294967295"}},
        {{"--dim", "0"}, {"--dim", "1 to 65536"}},
        {{"--sigma", "11"}, {"--sigma", "0 to 10"}},
        {{"--opacity", "101"}, {"--opacity", "0 to 100"}},
    };
    check_wrong("@iris", wrong, sizeof wrong / sizeof *wrong, BAD_USAGE);
}

/* An option that changes nothing is a misunderstanding, and is refused. */
static void test_options_without_effect(void **state)
{
    (void)state;
    static const struct wrong always[] = {
        {{"--seed", "3"}, {"--seed has no effect", "--similarity euclidean", "leave it out"}},
        {{"--embed", "pca"}, {"--embed has no effect", "--similarity euclidean"}},
        {{"--scale", "sqrt"}, {"--scale has no effect", "--similarity euclidean"}},
        {{"--dim", "2"}, {"--dim has no effect", "--similarity euclidean"}},
        {{"--h=0.1", "--similarity=cosine"}, {"--h has no effect", "--similarity cosine"}},
        {{"--sigma=0", "--similarity=gaussian"},
         {"--sigma has no effect", "--similarity gaussian"}},
        {{"--seed=3", "--similarity=embedded-gaussian"}, {"--seed has no effect", "--embed pca"}},
        {{"--h=0.1", "--perplexity=5"}, {"--h has no effect", "--perplexity 5", "leave it out"}},
        {{"--perplexity=2%", "--h=0.1"}, {"--h has no effect", "--perplexity 2%"}},
        {{"--perplexity-per=picture", "--h=0.1"},
         {"--perplexity-per has no effect", "--perplexity 0"}},
        {{"--perplexity-per=row", "--perplexity=0"},
         {"--perplexity-per has no effect", "--perplexity 0"}},
    };
    /* Only the file's kind tells. */
    static const struct wrong on_tables[] = {
        {{"--patch", "7"}, {"--patch has no effect", "on a table", "leave it out"}},
        {{"--features", "rgb"}, {"--features has no effect", "on a table"}},
        {{"--stride", "2"}, {"--stride has no effect", "on a table"}},
        {{"--max-side", "99"}, {"--max-side has no effect", "on a table"}},
        {{"--position", "1"}, {"--position has no effect", "on a table"}},
        {{"--feature-norm", "none"}, {"--feature-norm has no effect", "on a table"}},
    };
    static const struct wrong on_pictures[] = {
        {{"--rows", "raw"}, {"--rows has no effect", "on a picture", "--feature-norm"}},
        {{"--label", "species"}, {"--label", "tables", "leave"}},
        {{"--columns", "a"}, {"--columns", "tables", "leave"}},
        {{"--missing", "drop"}, {"--missing", "tables", "leave"}},
    };
    check_wrong("@iris", always, sizeof always / sizeof *always, BAD_USAGE);
    check_wrong("@iris", on_tables, sizeof on_tables / sizeof *on_tables, BAD_INPUT);
    check_wrong("@sample", on_pictures, sizeof on_pictures / sizeof *on_pictures, BAD_INPUT);
}

static void test_verbs(void **state)
{
    (void)state;
    static const char *const unknown[] = {"frobnicate", "attende", "Attend", "no such file.png",
                                          ""};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        REFUSED(RUN(unknown[i]), BAD_USAGE, unknown[i], "nonlocal --help");
    REFUSED(RUN("--frobnicate"), BAD_USAGE, "--frobnicate", "--help");
    for (size_t i = 0; i < 3; i++)
        REFUSED(RUN(file_verbs[i], "--cpu", "auto"), BAD_USAGE, file_verbs[i], "no file", "FILE");
    REFUSED(RUN("attend", ""), BAD_USAGE, "file", "empty");
    REFUSED(RUN("apply", "@sample"), BAD_USAGE, "-o OUT.png", "-o OUT.npy");
    REFUSED(RUN("info", "@sample"), BAD_USAGE, "info", "@sample");
    REFUSED(RUN("info", "--patch", "3"), BAD_USAGE, "--patch", "nonlocal info --help");
    REFUSED(RUN("apply", "@sample", "--residual=yes", "-o", "y.png"), BAD_USAGE, "--residual",
            "no value");
    REFUSED(RUN("dissim", "@iris", "--query", "row:1"), BAD_USAGE, "--query",
            "nonlocal dissim --help");
    REFUSED(RUN("dissim", "@iris", "--metric", "hamming"), BAD_USAGE, "--metric", "euclidean");
    REFUSED(RUN("dissim", "@iris", "--order-out", ""), BAD_USAGE, "--order-out", "empty");
    assert_files(0);
}

static void test_tables(void **state)
{
    (void)state;
    REFUSED(RUN("dissim", "@iris", "--label", "colour", "-o", "d.npy"), BAD_INPUT, "@iris",
            "colour", "species");
    REFUSED(RUN("dissim", "@iris", "--columns", "sepal length,width", "-o", "d.npy"), BAD_INPUT,
            "@iris", "\"width\"", "petal width");
    REFUSED(RUN("dissim", "@sample", "--order", "label", "-o", "d.npy"), BAD_INPUT, "label",
            "no label column");
    assert_files(0);
}

static void test_output_endings(void **state)
{
    (void)state;
    static const char *const endings[] = {"map", "map.jpg", "map.png.txt", ".png",
                                          "npy", "map.npz", "map.",        "csv"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        REFUSED(RUN("attend", "@iris", "--query=row:1", "-o", endings[i]), BAD_USAGE, "-o",
                endings[i], ".npy, .csv or .png");
        REFUSED(RUN("dissim", "@iris", "-o", endings[i]), BAD_USAGE, "-o", endings[i],
                ".npy, .csv or .png");
        REFUSED(RUN("apply", "@iris", "-o", endings[i]), BAD_USAGE, "-o", endings[i],
                ".png or .npy");
    }
    REFUSED(RUN("apply", "@sample", "-o", "y.csv"), BAD_USAGE, "y.csv", ".png or .npy");
    REFUSED(RUN("attend", "@iris", "--query=row:1", "-o", "map.png"), BAD_INPUT, "map.png",
            ".npy or .csv");
    REFUSED(RUN("apply", "@iris", "-o", "y.png"), BAD_INPUT, "y.png", ".npy");
    assert_files(0);
}

/* Nothing can be written there; what is there stays. */
static void test_outputs_that_fail(void **state)
{
    (void)state;
    assert_int_equal(mkdir("folder.npy", 0777), 0);
    assert_int_equal(mkdir("folder.png", 0777), 0);
    assert_int_equal(mkdir("locked", 0777), 0);
    rig_write_text("file", "kept");
    rig_write_text("locked/old.npy", "kept");
    assert_int_equal(symlink("/dev/full", "full.npy"), 0);
    assert_int_equal(symlink("/dev/full", "full.png"), 0);
    assert_int_equal(symlink("/dev/full", "full.csv"), 0);
    static const char *const places[] = {"missing/w.npy", "file/w.npy", "folder.npy", "full.npy",
                                         "full.csv",      "full.png",   "folder.png"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const bool csv = strstr(places[i], ".csv");
        REFUSED(RUN("attend", "@sample", "--query=9,9", "-o", places[i]), BAD_INPUT, places[i],
                "cannot write");
        REFUSED(RUN("dissim", "@iris", "-o", places[i]), BAD_INPUT, places[i], "cannot write");
        REFUSED(RUN("dissim", "@iris", "--order-out", places[i]), BAD_INPUT, places[i],
                "cannot write");
        if (!csv)
            REFUSED(RUN("apply", "@sample", "--stride=16", "-o", places[i]), BAD_INPUT, places[i],
                    "cannot write");
    }
    if (geteuid() != 0) { /* nothing is locked for root */
        assert_int_equal(chmod("locked", 0555), 0);
        REFUSED(RUN("dissim", "@iris", "-o", "locked/old.npy"), BAD_INPUT, "locked/old.npy",
                "Permission denied");
        assert_int_equal(chmod("locked", 0777), 0);
    }
    assert_file_is("locked/old.npy", "kept");
    assert_file_is("file", "kept");
    assert_files(7);
}

/* A failure of any kind leaves an older answer as it was. */
static void test_older_output_is_kept(void **state)
{
    (void)state;
    rig_write_text("w.npy", "older answer");
    rig_write_text("words.png", "no picture");
    REFUSED(RUN("attend", "missing.png", "--query=1,1", "-o", "w.npy"), BAD_INPUT, "missing.png");
    REFUSED(RUN("attend", "words.png", "--query=1,1", "-o", "w.npy"), BAD_INPUT, "words.png");
    REFUSED(RUN("attend", "@sample", "--query=999,1", "-o", "w.npy"), BAD_INPUT, "999,1");
    REFUSED(RUN("attend", "@sample", "--query=x", "-o", "w.npy"), BAD_USAGE, "--query");
    REFUSED(RUN("apply", "@sample", "-o", "w.npy", "--stride=0"), BAD_USAGE, "--stride");
    REFUSED(RUN("dissim", "@iris", "-o", "w.npy", "--label=x"), BAD_INPUT, "@iris");
    assert_file_is("w.npy", "older answer");
    assert_files(2);
    SUCCEED("attend", "@iris", "--query=row:1", "-o", "w.npy");
    nl_npy npy = rig_npy("w.npy");
    nl_npy_free(&npy);
    assert_files(2);
}

static void test_standard_output_full(void **state)
{
    (void)state;
    FILE *full = fopen("/dev/full", "w"), *err = tmpfile();
    assert_true(full && err);
    static struct run run;
    run.status = rig_wait(rig_start(ARGUMENTS("dissim", "@iris"), full, err));
    rig_text(err, run.err);
    fclose(full);
    REFUSED(&run, BAD_INPUT, "standard output");
}

static void test_instruction_sets(void **state)
{
    (void)state;
    static const char *const tiers[] = {"scalar", "avx2", "avx512", "neon"};
    for (size_t i = 0; i < 4; i++) {
        char available[64];
        snprintf(available, sizeof available, "%s: available", tiers[i]);
        if (strstr(SUCCEED("info")->out, available))
            continue;
        REFUSED(RUN("info", "--cpu", tiers[i]), BAD_INPUT, tiers[i], "auto");
        REFUSED(RUN("attend", "@iris", "--query=row:1", "--cpu", tiers[i], "-o", "w.npy"),
                BAD_INPUT, tiers[i], "auto");
    }
    setenv("NONLOCAL_CPU", "sse9", 1);
    const struct run *run = RUN("attend", "@iris", "--query=row:1", "-o", "w.npy");
    unsetenv("NONLOCAL_CPU");
    REFUSED(run, BAD_INPUT, "NONLOCAL_CPU", "sse9");
    assert_files(0);
}

static void write_rows(const char *name, size_t rows)
{
    FILE *stream = fopen(name, "w");
    assert_non_null(stream);
    for (size_t i = 0; i < rows; i++)
        fputs(i % 2 ? "1\n" : "2\n", stream);
    assert_int_equal(fclose(stream), 0);
}

static void test_too_large(void **state)
{
    (void)state;
    /* a header that promises more pixels than fit */
    static const char huge[] = "P6\n65500 65500\n255\n";
    rig_write("huge.ppm", huge, sizeof huge - 1);
    REFUSED(RUN("attend", "huge.ppm", "--query=1,1", "-o", "w.npy"), TOO_LARGE, "huge.ppm");
    write_rows("long.csv", 1000001);
    REFUSED(RUN("dissim", "long.csv", "-o", "d.npy"), TOO_LARGE, "long.csv", "1000000");
    assert_files(2);
}

/* 4·10¹² bytes: refused at once, unless the system promises memory that it does not have. */
static void test_no_memory(void **state)
{
    (void)state;
    FILE *policy = fopen("/proc/sys/vm/overcommit_memory", "r");
    const bool promises = policy && fgetc(policy) == '1';
    if (policy)
        fclose(policy);
    if (promises)
        skip();
    const char *options = getenv("ASAN_OPTIONS");
    char more[512], *before = options ? strdup(options) : NULL;
    snprintf(more, sizeof more, "%s:allocator_may_return_null=1", before ? before : "");
    setenv("ASAN_OPTIONS", more, 1);
    write_rows("long.csv", 1000000);
    const struct run *run = RUN("dissim", "long.csv", "-o", "d.npy");
    if (before)
        setenv("ASAN_OPTIONS", before, 1);
    else
        unsetenv("ASAN_OPTIONS");
    free(before);
    const char *err = strstr(run->err, "nonlocal: "); /* a sanitizer warns first */
    assert_int_equal(run->status, TOO_LARGE);
    assert_non_null(err);
    assert_contains(err, "4000"); /* gigabytes: the figure that says why */
    assert_files(1);
}

/* Waits until the process catches the signal (Linux tells); false when it ended first. */
static bool wait_for_handler(pid_t process, int number)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    for (int i = 0; i < 3000; i++) {
        unsigned long long caught = 0;
        FILE *status = fopen(path, "r");
        if (!status)
            return false;
        while (fgets(line, sizeof line, status))
            if (strncmp(line, "SigCgt:", 7) == 0)
                caught = strtoull(line + 7, NULL, 16);
        fclose(status);
        if (caught >> (number - 1) & 1)
            return true;
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    }
    return false;
}

/* Hours of work, stopped after `milliseconds` of it. */
static void check_interrupt(int number, long milliseconds)
{
    FILE *out = tmpfile(), *err = tmpfile();
    assert_true(out && err);
    static struct run run;
    pid_t process = rig_start(ARGUMENTS("apply", "@sample", "--stride", "1", "--max-side", "320",
                                        "--patch", "16", "--features", "rgb", "-o", "y.png"),
                              out, err);
    assert_true(wait_for_handler(process, number));
    nanosleep(&(struct timespec){0, milliseconds * 1000000}, NULL);
    assert_int_equal(kill(process, number), 0);
    run.status = rig_wait(process);
    rig_text(out, run.out);
    rig_text(err, run.err);
    REFUSED(&run, INTERRUPTED, "interrupted", "nothing was written");
}

static void test_interrupt(void **state)
{
    (void)state;
    check_interrupt(SIGINT, 0);
    check_interrupt(SIGINT, 900);
    check_interrupt(SIGTERM, 300);
    assert_files(0);
    rig_write_text("y.png", "older answer");
    check_interrupt(SIGINT, 300);
    assert_file_is("y.png", "older answer");
    assert_files(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_files_that_are_none),
        CASE(test_arrays_that_are_no_features),
        CASE(test_queries_outside),
        CASE(test_query_texts),
        CASE(test_number_of_queries),
        CASE(test_options),
        CASE(test_options_without_effect),
        CASE(test_verbs),
        CASE(test_tables),
        CASE(test_output_endings),
        CASE(test_outputs_that_fail),
        CASE(test_older_output_is_kept),
        CASE(test_standard_output_full),
        CASE(test_instruction_sets),
        CASE(test_too_large),
        CASE(test_no_memory),
        CASE(test_interrupt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
