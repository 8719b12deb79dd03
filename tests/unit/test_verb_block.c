/* SPDX-License-Identifier: MIT */
/*
 * The verb `block` with weights as PyTorch saves them: Z and every file of --trace against PyTorch
 * in double (tests/golden/make_system_golden.py), within the bounds of block_bounds.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "block_golden.h"
#include "nonlocal/exec.h"
#include "verb_rig.h"

#include "npy_rig.h"

enum { STEP = 11 }; /* every so many rows are in the golden; K, V and Z are whole */

struct system_case {
    const char *name; /* of the golden, without its layout */
    nl_system_id system;
    nl_subsample subsample;
    const char *options[4]; /* of the command line, besides --system */
};

static const struct system_case cases[] = {
    {"nonlocal_paper", NL_SYSTEM_NONLOCAL, NL_SUBSAMPLE_PAPER, {"--subsample=paper"}},
    {"nonlocal_official", NL_SYSTEM_NONLOCAL, NL_SUBSAMPLE_OFFICIAL, {"--subsample=official"}},
    {"sagan", NL_SYSTEM_SAGAN, NL_SUBSAMPLE_PAPER, {NULL}}, /* whose default it is */
    {"transformer", NL_SYSTEM_TRANSFORMER, NL_SUBSAMPLE_NONE, {NULL}},
};

static const struct layout {
    const char *name;
    size_t ndim;
    size_t heads; /* of the transformer */
    nl_layernorm layernorm;
    const char *options[2]; /* the same on the command line */
} layouts[] = {
    {"picture", 3, 2, NL_LAYERNORM_POST, {"--heads=2", "--layernorm=post"}},
    {"clip", 4, 4, NL_LAYERNORM_PRE, {"--heads=4", "--layernorm=pre"}},
};

static nl_tensors load_tensors(const char *name, const char *ending)
{
    char path[500];
    size_t size;
    nl_tensors tensors;
    nl_error error = {0};
    snprintf(path, sizeof path, "%s/%s%s", NL_TEST_SYSTEMS, name, ending);
    char *bytes = rig_read(path, &size);
    if (nl_tensors_load(bytes, size, &tensors, &error) != NL_OK)
        fail_msg("%s: %s", path, error.message);
    free(bytes);
    return tensors;
}

static nl_matrix view_of(const float *data, const size_t *shape, size_t ndim)
{
    size_t rows = 1;
    for (size_t k = 0; k + 1 < ndim; k++)
        rows *= shape[k];
    return nl_matrix_view((float *)(uintptr_t)data, rows, shape[ndim - 1], shape[ndim - 1]);
}

/* What the bounds are made of: weights as the engine reads them, and the program's own steps. */
static void describe(const struct system_case *c, const struct layout *l, const nl_tensor *x,
                     struct golden *g)
{
    char name[100];
    nl_error error = {0};
    *g = (struct golden){0};
    snprintf(g->name, sizeof g->name, "%s_%s", c->name, l->name);
    snprintf(name, sizeof name, "%s_weights", g->name);
    nl_block_params_init(&g->params, c->system);
    g->params.subsample = c->subsample;
    if (c->system == NL_SYSTEM_TRANSFORMER) {
        g->params.scale_sqrt = true;
        g->params.heads = l->heads;
        g->params.layernorm = l->layernorm;
    }
    g->shape = (nl_shape){x->shape[0], x->shape[1], x->shape[2], x->shape[3]};
    g->x = view_of(x->data, x->shape, 4);
    g->tensors = load_tensors(name, ".npz");
    if (nl_weights_pick(&g->tensors, c->system, g->shape.c, NL_EMBEDDED_GAUSSIAN, &g->weights,
                        &error) != NL_OK)
        fail_msg("%s: %s", name, error.message);
}

/* "Z.npy" from x.npy; extra may be NULL. */
static void run_block(const struct system_case *c, const struct layout *l, const char *weights,
                      const char *extra)
{
    const char *arguments[16] = {"block",     "x.npy", "--system", nl_systems[c->system].name,
                                 "--weights", weights, "-o",       "Z.npy"};
    size_t count = 8;
    for (size_t k = 0; c->options[k]; k++)
        arguments[count++] = c->options[k];
    for (size_t k = 0; c->system == NL_SYSTEM_TRANSFORMER && k < 2; k++)
        arguments[count++] = l->options[k];
    arguments[count++] = extra;
    rig_succeed(arguments);
}

/* The rows of the golden against those of the trace; the worst error over its bound. */
static double compare(const struct golden *g, enum golden_step step, const nl_tensor *expected,
                      const double *bounds)
{
    const nl_matrix *got = &g->steps[step];
    const bool whole = step == STEP_K || step == STEP_V || step == STEP_Z;
    const bool by_head = step == STEP_S || step == STEP_A;
    const size_t heads = by_head ? g->params.heads : 1, n = got->rows / heads;
    const size_t stride = whole ? 1 : STEP, kept = (n + stride - 1) / stride;
    double worst = 0;
    assert_int_equal(expected->ndim, 2);
    assert_int_equal(expected->shape[0], heads * kept);
    assert_int_equal(expected->shape[1], got->cols);
    for (size_t row = 0; row < heads * kept; row++) {
        const size_t at = row / kept * n + row % kept * stride;
        for (size_t k = 0; k < got->cols; k++) {
            const double want = (double)expected->data[row * got->cols + k];
            const double off = fabs((double)nl_row(got, at)[k] - want);
            const double bound = bounds[at * got->cols + k];
            if (!(off <= bound))
                fail_msg("%s: %s[%zu][%zu] is %.9g, not %.9g ± %.2g", g->name, step_names[step], at,
                         k, (double)nl_row(got, at)[k], want, bound);
            worst = fmax(worst, bound > 0 ? off / bound : 0);
        }
    }
    return worst;
}

/* Every file of trace/ against the golden. */
static void check_trace(struct golden *g, const struct layout *l)
{
    char path[40];
    nl_npy files[STEP_COUNT], x = rig_npy("trace/X.npy"), z = rig_npy("Z.npy");
    struct bounds bounds;
    nl_tensors golden = load_tensors(g->name, ".npz");
    assert_int_equal(x.ndim, 2);
    assert_int_equal(x.count, g->x.rows * g->x.cols);
    assert_memory_equal(x.data, g->x.data, x.count * sizeof(float));
    for (int s = 0; s < STEP_COUNT; s++) {
        const bool by_head = s == STEP_S || s == STEP_A;
        snprintf(path, sizeof path, "trace/%s.npy", step_names[s]);
        files[s] = rig_npy(path);
        assert_int_equal(files[s].ndim, by_head ? 3 : 2);
        if (by_head)
            assert_int_equal(files[s].shape[0], g->params.heads);
        g->steps[s] = view_of(files[s].data, files[s].shape, files[s].ndim);
    }
    assert_int_equal(z.ndim, l->ndim);
    for (size_t k = 0; k < z.ndim; k++)
        assert_int_equal(z.shape[k], (&g->shape.t)[4 - z.ndim + k]);
    assert_memory_equal(z.data, files[STEP_Z].data, z.count * sizeof(float));
    bounds_create(g, &bounds);
    print_message("# %-28s", g->name);
    for (int s = 0; s < STEP_COUNT; s++) {
        const nl_tensor *expected = nl_tensors_find(&golden, step_names[s]);
        assert_non_null(expected);
        print_message(" %s %.3f", step_names[s],
                      compare(g, (enum golden_step)s, expected, bounds.of[s]));
        nl_npy_free(&files[s]);
    }
    print_message("\n");
    bounds_free(&bounds);
    nl_tensors_free(&golden);
    nl_npy_free(&x);
    nl_npy_free(&z);
}

/* Both kinds of weight file and every float type of x give the same Z, to the bit. */
static void check_system(const struct system_case *c, const struct layout *l)
{
    static const enum npy_type types[] = {NPY_HALF, NPY_SINGLE, NPY_DOUBLE};
    static const char *const endings[] = {".npz", ".safetensors"};
    char name[40], weights[500];
    struct golden g;
    snprintf(name, sizeof name, "x_%s", l->name);
    nl_tensors tensors = load_tensors(name, ".npz");
    const nl_tensor *x = nl_tensors_find(&tensors, "x");
    assert_true(x && x->ndim == 4);
    describe(c, l, x, &g);
    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        char tier[30];
        if (!nl_cpu_available(cpu))
            continue;
        snprintf(tier, sizeof tier, "--cpu=%s", nl_cpu_name(cpu));
        setenv("NONLOCAL_CPU", nl_cpu_name(cpu), 1);
        snprintf(weights, sizeof weights, "%s/%s_weights.npz", NL_TEST_SYSTEMS, g.name);
        rig_write_npy("x.npy", NPY_SINGLE, x->data, x->shape + 4 - l->ndim, l->ndim);
        run_block(c, l, weights, "--trace=trace");
        check_trace(&g, l);
        assert_int_equal(rename("Z.npy", "first.npy"), 0);
        for (size_t w = 0; w < 2; w++) {
            snprintf(weights, sizeof weights, "%s/%s_weights%s", NL_TEST_SYSTEMS, g.name,
                     endings[w]);
            for (size_t t = 0; t < 3; t++) {
                rig_write_npy("x.npy", types[t], x->data, x->shape + 4 - l->ndim, l->ndim);
                run_block(c, l, weights, tier);
                assert_same_files("Z.npy", "first.npy");
            }
        }
        unsetenv("NONLOCAL_CPU");
    }
    golden_free(&g);
    nl_tensors_free(&tensors);
}

#define SYSTEM_TEST(name, c, l)                                                                    \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        check_system(&cases[c], &layouts[l]);                                                      \
    }

SYSTEM_TEST(nonlocal_paper_picture, 0, 0)
SYSTEM_TEST(nonlocal_paper_clip, 0, 1)
SYSTEM_TEST(nonlocal_official_picture, 1, 0)
SYSTEM_TEST(nonlocal_official_clip, 1, 1)
SYSTEM_TEST(sagan_picture, 2, 0)
SYSTEM_TEST(sagan_clip, 2, 1)
SYSTEM_TEST(transformer_picture, 3, 0)
SYSTEM_TEST(transformer_clip, 3, 1)

/* The same rows as a table, (n, d) or .csv: a transformer does not know where they lie. */
static void test_tables(void **state)
{
    (void)state;
    const struct system_case *c = &cases[3];
    const struct layout *l = &layouts[0];
    const char *weights = NL_TEST_SYSTEMS "/transformer_picture_weights.safetensors";
    nl_tensors tensors = load_tensors("x_picture", ".npz");
    const nl_tensor *x = nl_tensors_find(&tensors, "x");
    const size_t n = x->shape[1] * x->shape[2], d = x->shape[3], table[2] = {n, d};
    rig_write_npy("x.npy", NPY_SINGLE, x->data, x->shape + 1, 3);
    run_block(c, l, weights, NULL);
    nl_npy picture = rig_npy("Z.npy");
    rig_write_npy("x.npy", NPY_SINGLE, x->data, table, 2);
    run_block(c, l, weights, NULL);
    nl_npy rows = rig_npy("Z.npy");
    assert_int_equal(rows.ndim, 2);
    assert_int_equal(rows.shape[0], n);
    assert_int_equal(rows.shape[1], d);
    assert_memory_equal(rows.data, picture.data, rows.count * sizeof(float));
    FILE *csv = fopen("x.csv", "w");
    assert_non_null(csv);
    for (size_t k = 0; k < d; k++)
        fprintf(csv, "f%zu%c", k, k + 1 < d ? ',' : '\n');
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < d; k++)
            fprintf(csv, "%.9g%c", (double)x->data[i * d + k], k + 1 < d ? ',' : '\n');
    assert_int_equal(fclose(csv), 0);
    SUCCEED("block", "x.csv", "--system=transformer", "--heads=2", "--weights", weights, "-o",
            "csv.npy");
    assert_same_files("csv.npy", "Z.npy");
    nl_npy_free(&picture);
    nl_npy_free(&rows);
    nl_tensors_free(&tensors);
}

/* nlm in a block: only what is in the window is read, over its own frame. */
static void test_search_window_of_a_block(void **state)
{
    (void)state;
    nl_tensors tensors = load_tensors("x_clip", ".npz");
    const nl_tensor *x = nl_tensors_find(&tensors, "x");
    const size_t h = x->shape[1], w = x->shape[2], n = x->shape[0] * h * w;
    rig_write_npy("x.npy", NPY_SINGLE, x->data, x->shape, 4);
    SUCCEED("block", "x.npy", "--system=nlm", "--h=2", "--search=3", "-o", "Z.npy", "--trace=t");
    nl_npy a = rig_npy("t/A.npy");
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const size_t y = i / w % h, x_i = i % w, v = j / w % h, x_j = j % w;
            const bool near = i / w / h == j / w / h && y + 1 >= v && v + 1 >= y &&
                              x_i + 1 >= x_j && x_j + 1 >= x_i;
            assert_int_equal(a.data[i * n + j] > 0, near);
        }
    }
    nl_npy_free(&a);
    nl_tensors_free(&tensors);
}

/* A .safetensors file of F32 zeros with these tensors: "name" and "[shape]" in turn. */
static void write_weights(const char *path, const char *const *parts)
{
    static const char zeros[4096];
    char head[2000];
    size_t used = 0, at = 0;
    for (; *parts; parts += 2) {
        size_t count = 1;
        for (const char *digit = parts[1]; *digit; digit++)
            if (*digit >= '0' && *digit <= '9')
                count *= (size_t)(*digit - '0');
        used +=
            (size_t)snprintf(head + used, sizeof head - used,
                             "%c\"%s\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                             used ? ',' : '{', parts[0], parts[1], at, at + 4 * count);
        at += 4 * count;
    }
    used += (size_t)snprintf(head + used, sizeof head - used, "}");
    const uint64_t length = used;
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(&length, sizeof length, 1, stream), 1);
    assert_int_equal(fwrite(head, 1, used, stream), used);
    assert_int_equal(fwrite(zeros, 1, at, stream), at);
    assert_int_equal(fclose(stream), 0);
}

static void write_x(const char *name, const size_t *shape, size_t ndim)
{
    static const float values[512] = {1, 2, -0.5f, 0.25f};
    rig_write_npy(name, NPY_SINGLE, values, shape, ndim);
}

#define WEIGHTS(...) write_weights("w.safetensors", ARGUMENTS(__VA_ARGS__))
#define WITH_WEIGHTS(system)                                                                       \
    RUN("block", "x.npy", "--system", system, "--weights=w.safetensors", "-o", "Z.npy")

static void test_wrong_weights(void **state)
{
    (void)state;
    write_x("x.npy", (const size_t[]){3, 5, 4}, 3);
    WEIGHTS("theta.weight", "[2,4]", "g.weight", "[2,4]", "W.weight", "[4,2]");
    REFUSED(WITH_WEIGHTS("nonlocal"), 1, "w.safetensors", "phi.weight is missing", "(2, 4)",
            "theta.weight");
    WEIGHTS("theta.weight", "[2,4]", "phi.weight", "[3,4]", "g.weight", "[2,4]", "W.weight",
            "[4,2]");
    REFUSED(WITH_WEIGHTS("nonlocal"), 1, "phi.weight", "(3, 4)", "(2, 4)");
    WEIGHTS("theta.weight", "[2,5]", "phi.weight", "[2,5]", "g.weight", "[2,5]", "W.weight",
            "[5,2]");
    REFUSED(WITH_WEIGHTS("sagan"), 1, "theta.weight", "(2, 5)", "4 channels");
    WEIGHTS("theta.weight", "[2,4]", "phi.weight", "[2,4]", "g.weight", "[2,4]", "W.weight",
            "[4,2]", "W.bias", "[3]");
    REFUSED(WITH_WEIGHTS("nonlocal"), 1, "W.bias", "(3,)", "(4,)");
    WEIGHTS("in_proj_weight", "[8,4]", "out_proj.weight", "[4,4]");
    REFUSED(WITH_WEIGHTS("transformer"), 1, "in_proj_weight", "(8, 4)", "(12, 4)");
    WEIGHTS("in_proj_weight", "[9,4]");
    REFUSED(WITH_WEIGHTS("transformer"), 1, "in_proj_weight", "(9, 4)", "(12, 4)");
    rig_write_text("w.safetensors", "not weights at all");
    REFUSED(WITH_WEIGHTS("nonlocal"), 1, "w.safetensors");
    REFUSED(RUN("block", "x.npy", "--weights=none.npz", "-o", "Z.npy"), 1, "none.npz", "No such");
    REFUSED(RUN("block", "x.npy", "--weights=", "-o", "Z.npy"), 2, "--weights");
    REFUSED(RUN("block", "x.npy", "--weights=w", "--system=nlm", "-o", "Z.npy"), 2, "--weights",
            "--system nlm");
    REFUSED(RUN("block", "x.npy", "--weights=w", "--embed=pca", "-o", "Z.npy"), 2, "--embed",
            "with --weights");
    assert_files(2);
}

static void test_wrong_features(void **state)
{
    (void)state;
    static const float bad[] = {1, NAN, 2, 3};
    static const uint8_t grey[12] = {9};
    write_x("one.npy", (const size_t[]){8}, 1);
    write_x("five.npy", (const size_t[]){1, 1, 2, 2, 4}, 5);
    write_x("none.npy", (const size_t[]){0, 4}, 2);
    write_x("row.npy", (const size_t[]){6, 4}, 2);
    write_x("thin.npy", (const size_t[]){1, 6, 4}, 3);
    rig_write_npy("nan.npy", NPY_DOUBLE, bad, (const size_t[]){2, 2}, 2);
    rig_write_ppm("picture.ppm", 2, 2, grey);
    REFUSED(RUN("block", "one.npy", "-o", "Z.npy"), 1, "one.npy", "1 dimension", "(H, W, C)");
    REFUSED(RUN("block", "five.npy", "-o", "Z.npy"), 1, "five.npy", "5 dimensions");
    REFUSED(RUN("block", "none.npy", "-o", "Z.npy"), 1, "none.npy", "empty");
    REFUSED(RUN("block", "nan.npy", "-o", "Z.npy"), 1, "nan.npy", "(1, 2)", "NaN");
    REFUSED(RUN("block", "picture.ppm", "-o", "Z.npy"), 1, "is a picture", ".npy");
    REFUSED(RUN("block", "row.npy", "--subsample=paper", "-o", "Z.npy"), 1, "1 × 6", "pooling");
    REFUSED(RUN("block", "thin.npy", "--system=sagan", "-o", "Z.npy"), 1, "1 × 6", "pooling");
    REFUSED(RUN("block", "row.npy", "--system=transformer", "--heads=3", "-o", "Z.npy"), 1,
            "4 features", "3 heads");
    REFUSED(RUN("block", "@iris", "--search=3", "-o", "Z.npy"), 1, "--search", "on a table");
    REFUSED(RUN("block", "row.npy", "--search=2", "-o", "Z.npy"), 2, "--search", "1 or 3");
    REFUSED(RUN("block", "row.npy"), 2, "-o Z.npy");
    REFUSED(RUN("block", "row.npy", "-o", "Z.csv"), 2, ".npy");
    REFUSED(RUN("block", "-o", "Z.npy"), 2, "no file");
    assert_files(7);
}

/* Nothing is written as Z when the trace cannot be. */
static void test_traces_that_fail(void **state)
{
    (void)state;
    write_x("x.npy", (const size_t[]){3, 4}, 2);
    REFUSED(RUN("block", "x.npy", "-o", "Z.npy", "--trace=x.npy"), 1, "x.npy", "Not a directory");
    REFUSED(RUN("block", "x.npy", "-o", "Z.npy", "--trace=x.npy/t"), 1, "x.npy/t",
            "Not a directory");
    REFUSED(RUN("block", "x.npy", "-o", "Z.npy", "--trace=a/b"), 1, "a/b", "No such");
    REFUSED(RUN("block", "x.npy", "-o", "Z.npy", "--trace="), 2, "--trace");
    assert_files(1);
    assert_int_equal(mkdir("t", 0700), 0);
    SUCCEED("block", "x.npy", "-o", "Z.npy", "--trace=t");
    REFUSED(RUN("block", "x.npy", "-o", "a/Z.npy"), 1, "a/Z.npy", "No such");
    assert_files(3);
    assert_int_equal(chdir("t"), 0);
    assert_files(9);
    assert_int_equal(chdir(".."), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(test_nonlocal_paper_picture),
        CASE(test_nonlocal_paper_clip),
        CASE(test_nonlocal_official_picture),
        CASE(test_nonlocal_official_clip),
        CASE(test_sagan_picture),
        CASE(test_sagan_clip),
        CASE(test_transformer_picture),
        CASE(test_transformer_clip),
        CASE(test_tables),
        CASE(test_search_window_of_a_block),
        CASE(test_wrong_weights),
        CASE(test_wrong_features),
        CASE(test_traces_that_fail),
    };
    return cmocka_run_group_tests_name("verb_block", tests, NULL, NULL);
}
