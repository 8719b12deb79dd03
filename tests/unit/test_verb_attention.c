/* SPDX-License-Identifier: MIT */
/*
 * The verb `attend` against the formulas in double: keys from elsewhere, the received view, lambda,
 * normalisers, pooled keys, weights from a file, clips.
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

#define PIXELS "--features=rgb", "--patch=1", "--stride=1"

static struct rig_attention euclidean_of(const nl_matrix *queries, const nl_matrix *keys, double h)
{
    struct rig_attention r = {.queries = queries, .keys = keys};
    nl_attention_params_init(&r.params);
    r.params.similarity = NL_EUCLIDEAN;
    r.params.h = h;
    return r;
}

/* Queries in one picture, keys in another of a different size. */
static void test_keys_of_another_picture(void **state)
{
    (void)state;
    nl_matrix a = rig_picture("a.ppm", 9, 7, 1), b = rig_picture("b.ppm", 14, 5, 2);
    const size_t rows[] = {2 * 9 + 4, 62};
    struct rig_attention r = euclidean_of(&a, &b, 0.2);
    const struct run *run = SUCCEED("attend", "a.ppm", "--keys", "b.ppm", PIXELS, "--h=0.2",
                                    "--query=4,2", "--query=8,6", "-o", "w.npy");
    assert_string_equal(run->err, "");
    assert_contains(run->out, "a.ppm: 9 × 7 pixels");
    assert_contains(run->out, "b.ppm: 14 × 5 pixels");
    assert_shape("w.npy", SHAPE_OF(2, 5, 14));
    assert_rows_of(&r, "w.npy", rows, 2);
    SUCCEED("attend", "a.ppm", "--keys", "b.ppm", PIXELS, "--h=0.2", "--query=4,2", "-o", "w.csv");
    char *csv = rig_read("w.csv", NULL);
    assert_contains(csv, "\n1,0,4,13,");
    assert_null(strstr(csv, "\n1,0,5,0,"));
    free(csv);
    SUCCEED("attend", "a.ppm", "--keys", "b.ppm", PIXELS, "--query=4,2", "-o", "w.png");
    /* the picture itself as keys is what it reads without --keys */
    SUCCEED("attend", "a.ppm", "--keys=a.ppm", PIXELS, "--h=0.2", "--query=4,2", "-o", "x.npy");
    SUCCEED("attend", "a.ppm", "--self=keep", PIXELS, "--h=0.2", "--query=4,2", "-o", "y.npy");
    assert_same_files("x.npy", "y.npy");
    test_free(a.data);
    test_free(b.data);
}

static void write_csv(const char *name, const nl_matrix *x)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fprintf(file, "a,b,c,d\n");
    for (size_t i = 0; i < x->rows; i++)
        fprintf(file, "%.9g,%.9g,%.9g,%.9g\n", (double)nl_row(x, i)[0], (double)nl_row(x, i)[1],
                (double)nl_row(x, i)[2], (double)nl_row(x, i)[3]);
    assert_int_equal(fclose(file), 0);
}

/* Tables and arrays read each other, with every similarity that works on x itself. */
static void test_keys_of_another_table(void **state)
{
    (void)state;
    static const nl_similarity_id similarities[] = {NL_GAUSSIAN, NL_EUCLIDEAN, NL_COSINE};
    static const char *const widths[] = {"--temperature=0.8", "--h=0.8", "--temperature=0.8"};
    static const char *const files[][2] = {
        {"q.csv", "k.csv"}, {"q.csv", "k.npy"}, {"q.npy", "k.csv"}, {"q.npy", "k.npy"}};
    nl_matrix q = packed_features(6, 4, 0, 1, 1), k = packed_features(11, 4, 0, 1, 2);
    const size_t rows[] = {0, 5};
    write_csv("q.csv", &q);
    write_csv("k.csv", &k);
    rig_write_npy("q.npy", NPY_SINGLE, q.data, SHAPE_OF(6, 4));
    rig_write_npy("k.npy", NPY_DOUBLE, k.data, SHAPE_OF(11, 4));
    for (size_t s = 0; s < 3; s++) {
        char similarity[40];
        struct rig_attention r = euclidean_of(&q, &k, 0.8);
        snprintf(similarity, sizeof similarity, "--similarity=%s",
                 nl_similarities[similarities[s]].name);
        r.params.similarity = similarities[s];
        if (similarities[s] != NL_EUCLIDEAN)
            r.params.temperature = 0.8;
        for (size_t f = 0; f < 4; f++) {
            SUCCEED("attend", files[f][0], "--keys", files[f][1], similarity, widths[s],
                    "--query=row:1", "--query=row:6", "-o", "w.npy");
            assert_shape("w.npy", SHAPE_OF(2, 1, 11));
            assert_rows_of(&r, "w.npy", rows, 2);
        }
    }
    test_free(q.data);
    test_free(k.data);
}

/* A column of A is what the rows say about it. */
static void test_received_is_a_column(void **state)
{
    (void)state;
    enum { ROWS = 12 };
    nl_matrix x = packed_features(ROWS, 5, 0, 1, 4);
    rig_write_npy("x.npy", NPY_SINGLE, x.data, SHAPE_OF(3, 4, 5));
    static const char *const options[] = {"--h=0.9", "--similarity=dot", "--perplexity=3"};
    for (size_t o = 0; o < COUNT(options); o++) {
        const char *arguments[20] = {"attend", "x.npy", options[o], "-o", "rows.npy"};
        static char queries[ROWS][20];
        for (size_t i = 0; i < ROWS; i++) {
            snprintf(queries[i], sizeof queries[i], "--query=row:%zu", i + 1);
            arguments[5 + i] = queries[i];
        }
        rig_succeed(arguments);
        const struct run *run = SUCCEED("attend", "x.npy", options[o], "--received",
                                        "--query=row:4", "--query=row:12", "-o", "columns.npy");
        assert_contains(run->out, "received by query 1: cell (3, 0)");
        assert_shape("columns.npy", SHAPE_OF(2, 3, 4));
        nl_npy rows = rig_npy("rows.npy"), columns = rig_npy("columns.npy");
        for (size_t i = 0; i < ROWS; i++) {
            double most = 0;
            for (size_t j = 0; j < ROWS; j++)
                most = fmax(most, fabs((double)rows.data[i * ROWS + j]));
            for (size_t c = 0; c < 2; c++)
                assert_true(fabs((double)columns.data[c * ROWS + i] -
                                 (double)rows.data[i * ROWS + (c ? 11 : 3)]) <= 2e-5 * most);
        }
        nl_npy_free(&rows);
        nl_npy_free(&columns);
    }
    test_free(x.data);
}

/* The path from the dot product to the distance, on raw Iris. */
static void test_lambda(void **state)
{
    (void)state;
    static const char *const options[] = {"--lambda=0", "--lambda=0.5", "--lambda=1"};
    static const double masses[] = {0, 0.32, 0.99};
    const nl_matrix x = iris_matrix();
    struct rig_attention r = {.queries = &x, .keys = &x};
    const size_t row = 0;
    for (size_t o = 0; o < 3; o++) {
        nl_attention_params_init(&r.params);
        r.params.lambda = 0.5 * (double)o;
        SUCCEED("attend", "@iris", "--similarity=gaussian", "--temperature=1", "--self=keep",
                options[o], "--query=row:1", "-o", "w.npy");
        assert_rows_of(&r, "w.npy", &row, 1);
        nl_npy npy = rig_npy("w.npy");
        double setosa = 0;
        for (size_t j = 0; j < IRIS_CLASS; j++)
            setosa += (double)npy.data[j];
        assert_true(fabs(setosa - masses[o]) < 0.005);
        nl_npy_free(&npy);
    }
    REFUSED(RUN("attend", "@iris", "--lambda=1", "--query=row:1"), 2, "--lambda",
            "--similarity euclidean");
    REFUSED(RUN("attend", "@iris", "--lambda=-1", "--query=row:1"), 2, "--lambda");
}

static void test_normalisers(void **state)
{
    (void)state;
    nl_matrix x = packed_features(13, 3, 2, 0.5f, 4), mixed = packed_features(13, 3, 0, 1, 4);
    const size_t row = 2;
    rig_write_npy("x.npy", NPY_SINGLE, x.data, SHAPE_OF(13, 3));
    rig_write_npy("mixed.npy", NPY_SINGLE, mixed.data, SHAPE_OF(13, 3));
    struct rig_attention r = euclidean_of(&x, &x, 0.8);
    r.params.normalizer = NL_NORMALIZE_COUNT;
    const struct run *run = SUCCEED("attend", "x.npy", "--h=0.8", "--self=keep",
                                    "--normalize=count", "--query=row:3", "-o", "w.npy");
    assert_contains(run->out, "divided by 13");
    assert_null(strstr(run->out, "entropy"));
    assert_rows_of(&r, "w.npy", &row, 1);
    r.params.similarity = NL_DOT;
    SUCCEED("attend", "x.npy", "--similarity=dot", "--embed=identity", "--self=keep",
            "--query=row:3", "-o", "w.npy"); /* the count is dot's default */
    assert_rows_of(&r, "w.npy", &row, 1);
    r.params.normalizer = NL_NORMALIZE_SUM;
    SUCCEED("attend", "x.npy", "--similarity=dot", "--embed=identity", "--self=keep",
            "--normalize=sum", "--query=row:3", "-o", "w.npy");
    assert_rows_of(&r, "w.npy", &row, 1);
    size_t refused = 0;
    for (size_t i = 1; i <= 13; i++) {
        char query[20];
        snprintf(query, sizeof query, "--query=row:%zu", i);
        run = RUN("attend", "mixed.npy", "--similarity=dot", "--embed=identity", "--normalize=sum",
                  query);
        if (run->status == 0)
            continue;
        REFUSED(run, 1, "sum");
        refused++;
    }
    assert_true(refused > 0 && refused < 13);
    REFUSED(RUN("attend", "@iris", "--similarity=gaussian", "--normalize=count",
                "--temperature=0.01", "--query=row:1"),
            1, "overflow");
    REFUSED(RUN("attend", "@iris", "--normalize=count", "--perplexity=5", "--query=row:1"), 2,
            "--perplexity", "--normalize count");
    test_free(x.data);
    test_free(mixed.data);
}

/* Pooled keys: a grid half as large, odd sizes cut off; keys are the maxima. */
static void test_pooled_keys(void **state)
{
    (void)state;
    nl_matrix x = rig_picture("a.ppm", 9, 7, 3), pooled = packed_features(12, 3, 0, 1, 1);
    const size_t row = 5 * 9 + 8;
    for (size_t j = 0; j < 12; j++)
        for (size_t c = 0; c < 3; c++) {
            const size_t at = j / 4 * 2 * 9 + j % 4 * 2;
            nl_row(&pooled, j)[c] = fmaxf(fmaxf(nl_row(&x, at)[c], nl_row(&x, at + 1)[c]),
                                          fmaxf(nl_row(&x, at + 9)[c], nl_row(&x, at + 10)[c]));
        }
    struct rig_attention r = euclidean_of(&x, &pooled, 0.3);
    for (size_t o = 0; o < 2; o++) { /* x itself: both orders are the same */
        SUCCEED("attend", "a.ppm", PIXELS, "--h=0.3", "--query=8,5", "-o", "w.npy",
                o ? "--subsample=paper" : "--subsample=official");
        assert_shape("w.npy", SHAPE_OF(1, 3, 4));
        assert_rows_of(&r, "w.npy", &row, 1);
    }
    const struct run *run = SUCCEED("attend", "a.ppm", PIXELS, "--similarity=dot", "--embed=random",
                                    "--subsample=paper", "--query=8,5", "-o", "w.png");
    assert_contains(run->out, "divided by 12");
    REFUSED(RUN("attend", "a.ppm", PIXELS, "--subsample=paper", "--received", "--query=8,5"), 1,
            "--received", "pooled");
    REFUSED(RUN("attend", "a.ppm", PIXELS, "--subsample=paper", "--self=max", "--query=8,5"), 2,
            "--self", "--subsample paper");
    REFUSED(RUN("attend", "a.ppm", PIXELS, "--subsample=paper", "--search=3", "--query=8,5"), 2,
            "--search", "--subsample paper");
    REFUSED(RUN("attend", "a.ppm", "--patch=1", "--stride=8", "--subsample=paper", "--query=8,5"),
            1, "pooling");
    REFUSED(RUN("attend", "@iris", "--subsample=paper", "--query=row:1"), 1, "--subsample",
            "on a table");
    test_free(x.data);
    test_free(pooled.data);
}

/* theta (2 × 3) with a bias and phi (2 × 3) of a file: dot and embedded-gaussian. */
static void test_weights_of_a_file(void **state)
{
    (void)state;
    static const char head[] =
        "{\"theta.weight\":{\"dtype\":\"F32\",\"shape\":[2,3,1,1],\"data_offsets\":[0,24]},"
        "\"theta.bias\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[24,32]},"
        "\"phi.weight\":{\"dtype\":\"F32\",\"shape\":[2,3,1,1],\"data_offsets\":[32,56]},"
        "\"g.weight\":{\"dtype\":\"F32\",\"shape\":[2,3,1,1],\"data_offsets\":[56,80]},"
        "\"W.weight\":{\"dtype\":\"F32\",\"shape\":[3,2,1,1],\"data_offsets\":[80,104]}}";
    const uint64_t length = sizeof head - 1;
    nl_matrix numbers = packed_features(1, 26, 0, 1, 7), x = packed_features(10, 3, 0, 1, 8);
    nl_matrix theta = packed_features(10, 2, 0, 1, 1), phi = packed_features(10, 2, 0, 1, 1);
    const size_t row = 6;
    for (size_t i = 0; i < 10; i++)
        for (size_t c = 0; c < 2; c++) {
            double q = (double)numbers.data[6 + c], k = 0;
            for (size_t d = 0; d < 3; d++) {
                q += (double)numbers.data[3 * c + d] * (double)nl_row(&x, i)[d];
                k += (double)numbers.data[8 + 3 * c + d] * (double)nl_row(&x, i)[d];
            }
            nl_row(&theta, i)[c] = (float)q;
            nl_row(&phi, i)[c] = (float)k;
        }
    FILE *file = fopen("w.safetensors", "wb");
    assert_non_null(file);
    fwrite(&length, sizeof length, 1, file);
    fwrite(head, 1, length, file);
    fwrite(numbers.data, sizeof(float), 26, file);
    assert_int_equal(fclose(file), 0);
    rig_write_npy("x.npy", NPY_SINGLE, x.data, SHAPE_OF(10, 3));
    struct rig_attention r = {.queries = &theta, .keys = &phi};
    nl_attention_params_init(&r.params);
    r.params.similarity = NL_DOT;
    r.params.normalizer = NL_NORMALIZE_COUNT;
    const struct run *run =
        SUCCEED("attend", "x.npy", "--weights=w.safetensors", "--similarity=dot", "--self=keep",
                "--query=row:7", "-o", "w.npy");
    assert_contains(run->out, "l = 2");
    assert_rows_of(&r, "w.npy", &row, 1);
    r.params.similarity = NL_EMBEDDED_GAUSSIAN;
    r.params.normalizer = NL_NORMALIZE_SUM;
    r.params.scale = 1 / sqrt(2);
    SUCCEED("attend", "x.npy", "--weights=w.safetensors", "--similarity=embedded-gaussian",
            "--self=keep", "--scale=sqrt", "--temperature=1", "--perplexity=0", "--query=row:7",
            "-o", "w.npy");
    assert_rows_of(&r, "w.npy", &row, 1);
    REFUSED(RUN("attend", "x.npy", "--weights=w.safetensors", "--query=row:7"), 2, "--weights",
            "--similarity euclidean");
    REFUSED(RUN("attend", "x.npy", "--weights=w.safetensors", "--similarity=dot", "--seed=3",
                "--query=row:7"),
            2, "--seed", "with --weights");
    REFUSED(RUN("attend", "@iris", "--weights=w.safetensors", "--similarity=dot", "--query=row:7"),
            1, "w.safetensors", "theta.weight", "4 channels");
    test_free(numbers.data);
    test_free(x.data);
    test_free(theta.data);
    test_free(phi.data);
}

/* C08: the formula's scale is a switch, and it changes what is read. */
static void test_c08_scale_is_a_switch(void **state)
{
    (void)state;
    const struct run *run = SUCCEED("attend", "--help");
    assert_contains(run->out, "--scale none|sqrt");
    static const char *const files[] = {"none.npy", "sqrt.npy", "plain.npy"};
    static const char *const scales[] = {"--scale=none", "--scale=sqrt", "--threads=1"};
    for (size_t s = 0; s < 3; s++)
        SUCCEED("attend", "@iris", "--similarity=embedded-gaussian", "--embed=identity",
                "--perplexity=0", "--query=row:1", scales[s], "-o", files[s]);
    assert_same_files("none.npy", "plain.npy"); /* Wang 2018 */
    const nl_matrix x = iris_matrix();
    struct rig_attention r = {.queries = &x, .keys = &x};
    const size_t row = 0;
    nl_attention_params_init(&r.params);
    r.params.similarity = NL_EMBEDDED_GAUSSIAN;
    r.params.self = NL_SELF_MAX;
    assert_rows_of(&r, "none.npy", &row, 1);
    r.params.scale = 0.5; /* 1/√4 */
    assert_rows_of(&r, "sqrt.npy", &row, 1);
    SUCCEED("attend", "@iris", "--system=transformer", "--self=max", "--embed=identity",
            "--perplexity=0", "--query=row:1", "-o", "t.npy");
    assert_same_files("t.npy", "sqrt.npy");
}

/* T × H × W × C: a query of any frame reads all of them. */
static void test_clips(void **state)
{
    (void)state;
    nl_matrix x = packed_features(2 * 3 * 4, 5, 0, 1, 9);
    const size_t rows[] = {0, 12 + 2 * 4 + 3};
    rig_write_npy("x.npy", NPY_SINGLE, x.data, SHAPE_OF(2, 3, 4, 5));
    struct rig_attention r = euclidean_of(&x, &x, 0.7);
    const struct run *run = SUCCEED("attend", "x.npy", "--h=0.7", "--self=keep", "--query=row:1",
                                    "--query=row:24", "-o", "w.npy");
    assert_contains(run->out, "2 frames, grid 4 × 3, n = 24");
    assert_contains(run->out, "query 2: frame 1, cell (3, 2)");
    assert_shape("w.npy", SHAPE_OF(2, 2, 3, 4));
    assert_rows_of(&r, "w.npy", rows, 2);
    SUCCEED("attend", "x.npy", "--h=0.7", "--self=keep", "--query=row:1", "--query=row:24", "-o",
            "w.csv");
    nl_npy npy = rig_npy("w.npy");
    char *csv = rig_read("w.csv", NULL), line[80];
    assert_true(strncmp(csv, "query,t,y,x,weight\n", 19) == 0);
    for (size_t q = 0; q < 2; q++)
        for (size_t j = 0; j < 24; j++) {
            snprintf(line, sizeof line, "\n%zu,%zu,%zu,%zu,%.9g\n", q + 1, j / 12, j / 4 % 3, j % 4,
                     (double)npy.data[q * 24 + j]);
            assert_contains(csv, line);
        }
    free(csv);
    nl_npy_free(&npy);
    /* pooled within each frame; the window stays in its own */
    SUCCEED("attend", "x.npy", "--subsample=paper", "--query=row:1", "-o", "w.npy");
    assert_shape("w.npy", SHAPE_OF(1, 2, 1, 2));
    r.params.search = 3;
    r.params.grid_width = 4;
    r.params.grid_height = 3;
    SUCCEED("attend", "x.npy", "--h=0.7", "--self=keep", "--search=3", "--query=row:1",
            "--query=row:24", "-o", "w.npy");
    assert_rows_of(&r, "w.npy", rows, 2);
    SUCCEED("apply", "x.npy", "--h=0.7", "-o", "y.npy");
    assert_shape("y.npy", SHAPE_OF(2, 3, 4, 5));
    test_free(x.data);
}

static void test_what_does_not_go_together(void **state)
{
    (void)state;
    REFUSED(RUN("attend", "@iris", "--keys=@iris", "--self=keep", "--query=row:1"), 1, "--self",
            "--keys");
    REFUSED(RUN("attend", "@iris", "--keys=@iris", "--search=3", "--query=row:1"), 1, "--search");
    REFUSED(RUN("attend", "@iris", "--keys=@iris", "--received", "--query=row:1"), 2, "--received",
            "--keys");
    REFUSED(RUN("attend", "@iris", "--keys=@sample", "--query=row:1"), 1, "150 × 4", "3072 × 44");
    REFUSED(RUN("attend", "@iris", "--keys=none.csv", "--query=row:1"), 1, "none.csv", "No such");
    REFUSED(RUN("attend", "@iris", "--keys=", "--query=row:1"), 2, "--keys");
    REFUSED(RUN("attend", "@iris", "--keys"), 2, "--keys");
    REFUSED(RUN("attend", "@iris", "--received=1", "--query=row:1"), 2, "--received");
    REFUSED(RUN("apply", "@iris", "--keys=@iris", "-o", "y.npy"), 2, "--keys");
    REFUSED(RUN("apply", "@iris", "--received", "-o", "y.npy"), 2, "--received");
    REFUSED(RUN("attend", "@iris", "--normalize=mean", "--query=row:1"), 2, "sum, count");
    assert_files(0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(test_keys_of_another_picture),
        CASE(test_keys_of_another_table),
        CASE(test_received_is_a_column),
        CASE(test_lambda),
        CASE(test_normalisers),
        CASE(test_pooled_keys),
        CASE(test_weights_of_a_file),
        CASE(test_c08_scale_is_a_switch),
        CASE(test_clips),
        CASE(test_what_does_not_go_together),
    };
    return cmocka_run_group_tests_name("verb_attention", tests, NULL, NULL);
}
