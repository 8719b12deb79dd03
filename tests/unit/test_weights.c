/* SPDX-License-Identifier: MIT */
/* The weights of a block, picked from what PyTorch modules save. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_weights.h"
#include "weights_rig.h"

enum { C = WEIGHTS_C, L = WEIGHTS_L };

/* The ways each sample was saved, and what rounding they did to a value, relative to it. */
static const struct {
    const char *ending;
    double rounding;
} ways[] = {
    {"_stored.npz", 0},
    {"_deflated.npz", 0},
    {"_f32.safetensors", 0},
    {"_f16.safetensors", 0x1p-11},
    {"_bf16.safetensors", 0x1p-8},
};

static nl_weights pick_from(const nl_tensors *tensors, nl_system_id system, size_t channels,
                            nl_similarity_id similarity)
{
    nl_error error = {.message = ""};
    nl_weights weights;
    if (nl_weights_pick(tensors, system, channels, similarity, &weights, &error) != NL_OK)
        fail_msg("%s", error.message);
    return weights;
}

static nl_weights pick(const char *sample, nl_system_id system, nl_similarity_id similarity)
{
    nl_tensors tensors = load_sample(sample);
    nl_weights weights = pick_from(&tensors, system, C, similarity);
    nl_tensors_free(&tensors); /* the weights stay */
    return weights;
}

static nl_weights pick_way(const char *stem, size_t way, nl_system_id system,
                           nl_similarity_id similarity)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", stem, ways[way].ending);
    return pick(name, system, similarity);
}

static void expect_matrix(const nl_matrix *matrix, const double *expected, size_t rows, size_t cols,
                          double relative, double absolute)
{
    assert_int_equal(matrix->rows, rows);
    assert_int_equal(matrix->cols, cols);
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < cols; k++) {
            double found = (double)nl_row(matrix, i)[k], wanted = expected[i * cols + k];
            if (!(fabs(found - wanted) <= relative * fabs(wanted) + absolute))
                fail_msg("(%zu, %zu) is %.9g, expected %.9g", i, k, found, wanted);
        }
    }
}

static void expect_empty(const nl_matrix *matrix)
{
    assert_null(matrix->data);
    assert_int_equal(matrix->rows, 0);
    assert_int_equal(matrix->cols, 0);
}

static void expect_map(const nl_stored_map *stored, const double *weight, size_t rows, size_t cols,
                       const double *bias, double relative)
{
    expect_matrix(&stored->map.weight, weight, rows, cols, relative, 0);
    if (bias)
        expect_matrix(&stored->map.bias, bias, 1, rows, relative, 0);
    else
        expect_empty(&stored->map.bias);
    if (stored->spectral)
        return;
    expect_empty(&stored->u);
    expect_empty(&stored->v);
}

static void test_nonlocal(void **state)
{
    (void)state;
    for (size_t way = 0; way < COUNT(ways); way++) {
        double eps = ways[way].rounding;
        nl_weights w = pick_way("nonlocal", way, NL_SYSTEM_NONLOCAL, NL_CONCAT);
        expect_map(&w.theta, nonlocal_theta, L, C, nonlocal_theta_bias, eps);
        expect_map(&w.phi, nonlocal_phi, L, C, nonlocal_phi_bias, eps);
        expect_map(&w.g, nonlocal_g, L, C, nonlocal_g_bias, eps);
        expect_matrix(&w.concat, nonlocal_concat, 1, 2 * L, eps, 0);
        /*
         * The fold is one rounding of what was computed in double. In the short types W, the scale
         * and, by half, the variance are rounded, and the bias also sums three terms of order 3.
         */
        expect_matrix(&w.w.map.weight, nonlocal_w, C, L, 0x1p-24 + 3 * eps, 1e-9);
        expect_matrix(&w.w.map.bias, nonlocal_w_bias, 1, C, 0x1p-24, 1e-9 + 16 * eps);
        assert_false(w.w.spectral);
        assert_false(w.has_gamma);
        expect_empty(&w.norm_weight);
        assert_string_equal(w.note, "");
        nl_weights_free(&w);
        nl_weights_free(&w);
    }
    assert_int_equal(nl_alloc_live(), 0);
}

/* Only what the similarity works on is needed. */
static void test_similarities_need_different_weights(void **state)
{
    (void)state;
    nl_tensors tensors = load_sample("nonlocal_f32.safetensors");
    nl_weights w = pick_from(&tensors, NL_SYSTEM_NONLOCAL, C, NL_DOT);
    assert_non_null(w.theta.map.weight.data);
    expect_empty(&w.concat);
    assert_string_equal(w.note, "not needed: concat_project.0.weight");
    nl_weights_free(&w);
    w = pick_from(&tensors, NL_SYSTEM_NONLOCAL, C, NL_GAUSSIAN);
    expect_empty(&w.theta.map.weight);
    expect_empty(&w.phi.map.weight);
    expect_map(&w.g, nonlocal_g, L, C, nonlocal_g_bias, 0);
    assert_string_equal(w.note, "not needed: concat_project.0.weight, phi.0.bias, phi.0.weight, "
                                "theta.bias, theta.weight");
    nl_weights_free(&w);
    nl_tensors_free(&tensors);
}

/* Conv3d kernels behind "module.layer3.", neither pooling nor BatchNorm. */
static void test_clip_block_with_a_prefix(void **state)
{
    (void)state;
    nl_weights w = pick("clip_block.npz", NL_SYSTEM_NONLOCAL, NL_EMBEDDED_GAUSSIAN);
    expect_matrix(&w.phi.map.weight, clip_phi, L, C, 0, 0);
    expect_map(&w.w, clip_w, C, L, clip_w_bias, 0);
    assert_string_equal(w.note, "");
    nl_weights_free(&w);
}

static void expect_spectral(const nl_stored_map *stored, const double *weight, size_t rows,
                            size_t cols, const double *u, const double *v, double eps)
{
    assert_true(stored->spectral);
    expect_map(stored, weight, rows, cols, NULL, eps);
    double least = eps > 0 ? 0x1p-25 : 0; /* half of the least number of F16 */
    expect_matrix(&stored->u, u, 1, rows, eps, least);
    expect_matrix(&stored->v, v, 1, cols, eps, least);
}

static void test_sagan(void **state)
{
    (void)state;
    for (size_t way = 0; way < COUNT(ways); way++) {
        double eps = ways[way].rounding;
        nl_weights w = pick_way("sagan", way, NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN);
        expect_spectral(&w.theta, sagan_theta, SAGAN_L, C, sagan_theta_u, sagan_theta_v, eps);
        expect_spectral(&w.phi, sagan_phi, SAGAN_L, C, sagan_phi_u, sagan_phi_v, eps);
        expect_spectral(&w.g, sagan_g, L, C, sagan_g_u, sagan_g_v, eps);
        expect_spectral(&w.w, sagan_attn_g, C, L, sagan_attn_g_u, sagan_attn_g_v, eps);
        assert_true(w.has_gamma);
        assert_true(w.gamma == sagan_gamma[0]); /* 0.375, exact in every type */
        assert_string_equal(w.note, "");
        nl_weights_free(&w);
    }
    /* the newer torch.nn.utils.parametrizations, and a scalar called sigma of four dimensions */
    nl_weights w = pick("sagan_parametrized.npz", NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN);
    expect_spectral(&w.g, parametrized_g, L, C, parametrized_g_u, parametrized_g_v, 0);
    assert_true(w.has_gamma && w.gamma == sagan_gamma[0]);
    assert_string_equal(w.note, "");
    nl_weights_free(&w);
}

static void test_transformer(void **state)
{
    (void)state;
    for (size_t way = 0; way < COUNT(ways); way++) {
        double eps = ways[way].rounding;
        nl_weights w = pick_way("transformer", way, NL_SYSTEM_TRANSFORMER, NL_EMBEDDED_GAUSSIAN);
        expect_map(&w.theta, transformer_theta, C, C, transformer_theta_bias, eps);
        expect_map(&w.phi, transformer_phi, C, C, transformer_phi_bias, eps);
        expect_map(&w.g, transformer_g, C, C, transformer_g_bias, eps);
        expect_map(&w.w, transformer_w, C, C, transformer_w_bias, eps);
        expect_matrix(&w.norm_weight, transformer_norm, 1, C, eps, 0);
        expect_matrix(&w.norm_bias, transformer_norm_bias, 1, C, eps, 0);
        assert_string_equal(w.note, "");
        nl_weights_free(&w);
    }
    nl_weights w = pick("encoder_layer.npz", NL_SYSTEM_TRANSFORMER, NL_DOT);
    expect_matrix(&w.phi.map.weight, encoder_phi, C, C, 0, 0);
    expect_matrix(&w.norm_weight, encoder_norm, 1, C, 0, 0);
    assert_string_equal(w.note, "not needed: linear1.bias, linear1.weight, linear2.bias, "
                                "linear2.weight, norm2.bias, norm2.weight");
    nl_weights_free(&w);
    w = pick("separate.safetensors", NL_SYSTEM_TRANSFORMER, NL_DOT);
    expect_map(&w.phi, separate_phi, C, C, NULL, 0);
    expect_map(&w.g, separate_g, C, C, NULL, 0);
    expect_empty(&w.norm_weight);
    nl_weights_free(&w);
}

/* ---- lists made here ---- */

enum { MAX_MADE = 40 };

struct made {
    nl_tensor items[MAX_MADE];
    float data[MAX_MADE][64];
    nl_tensors tensors;
};

/* Adds a tensor of these dimensions (a 0 ends them) whose values count 1, 2, 3.. */
static nl_tensor *add(struct made *made, const char *name, size_t rows, size_t cols)
{
    size_t at = made->tensors.count++;
    assert_true(at < MAX_MADE);
    made->tensors.items = made->items;
    while (at > 0 && strcmp(made->items[at - 1].name, name) > 0) { /* keep the order */
        made->items[at] = made->items[at - 1];
        memcpy(made->data[at], made->data[at - 1], sizeof made->data[at]);
        made->items[at].data = made->data[at];
        at--;
    }
    nl_tensor *tensor = &made->items[at];
    *tensor = (nl_tensor){.data = made->data[at], .count = 1};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    for (size_t k = 0; k < 2; k++) {
        size_t size = k == 0 ? rows : cols;
        if (size == 0)
            continue;
        tensor->shape[tensor->ndim++] = size;
        tensor->count *= size;
    }
    assert_true(tensor->count <= 64);
    for (size_t i = 0; i < tensor->count; i++)
        tensor->data[i] = (float)(i + 1);
    return tensor;
}

/* l = 2 on 4 channels, behind a prefix. */
static void add_block(struct made *made, const char *prefix)
{
    const char *const names[] = {"theta.weight", "phi.weight", "g.weight", "W.weight"};
    for (size_t k = 0; k < 4; k++) {
        char name[NL_TENSOR_MAX_NAME];
        snprintf(name, sizeof name, "%s%s", prefix, names[k]);
        add(made, name, k < 3 ? 2 : 4, k < 3 ? 4 : 2);
    }
}

static nl_tensor *item(struct made *made, const char *name)
{
    for (size_t i = 0; i < made->tensors.count; i++)
        if (strcmp(made->items[i].name, name) == 0)
            return &made->items[i];
    fail_msg("no %s", name);
    return NULL;
}

/* Fails with all of these words (NULL ends them). */
static void expect_failure(const struct made *made, nl_system_id system,
                           nl_similarity_id similarity, nl_status status, const char *const *words)
{
    nl_error error = {.message = ""};
    nl_weights weights;
    assert_int_equal(nl_weights_pick(&made->tensors, system, 4, similarity, &weights, &error),
                     status);
    check_message(&error, status);
    for (; *words; words++)
        if (!strstr(error.message, *words))
            fail_msg("'%s' is not in: %s", *words, error.message);
    expect_empty(&weights.g.map.weight);
    assert_int_equal(nl_alloc_live(), 0);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct made made;

static void reset(void)
{
    memset(&made, 0, sizeof made);
}

static void test_missing_weights(void **state)
{
    (void)state;
    reset();
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("theta.weight is missing", "(l, 4)", "no tensors"));
    expect_failure(&made, NL_SYSTEM_TRANSFORMER, NL_DOT, NL_FORMAT,
                   WORDS("in_proj_weight is missing", "(12, 4)"));
    expect_failure(&made, NL_SYSTEM_SAGAN, NL_GAUSSIAN, NL_FORMAT, WORDS("g.weight is missing"));
    add_block(&made, "b.");
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_CONCAT, NL_FORMAT,
                   WORDS("b.concat_project.weight is missing", "(1, 4)", "b.W.weight, b.g.weight"));
    strcpy(item(&made, "b.W.weight")->name, "b.V.weight");
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("b.W.weight is missing", "(4, 2)"));
    expect_failure(&made, NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN, NL_FORMAT,
                   WORDS("b.attn_g.weight is missing", "sagan"));
    reset();
    add(&made, "in_proj_weight", 12, 4);
    expect_failure(&made, NL_SYSTEM_TRANSFORMER, NL_DOT, NL_FORMAT,
                   WORDS("out_proj.weight is missing", "(4, 4)"));
    reset();
    add(&made, "q_proj_weight", 4, 4);
    add(&made, "out_proj.weight", 4, 4);
    expect_failure(&made, NL_SYSTEM_TRANSFORMER, NL_DOT, NL_FORMAT,
                   WORDS("k_proj_weight is missing"));
    for (int i = 0; i < 30; i++) { /* more names than a sentence holds */
        char name[32];
        snprintf(name, sizeof name, "some.other.tensor.%02d", i);
        add(&made, name, 1, 0);
    }
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("theta.weight is missing", "tensor.04, .."));
}

static void test_misshaped_weights(void **state)
{
    (void)state;
    const struct {
        const char *name;
        size_t ndim, shape[4];
        const char *found, *expected;
    } cases[] = {
        {"theta.weight", 2, {2, 5}, "(2, 5)", "(l, 4)"},
        {"theta.weight", 1, {8}, "(8,)", "(l, 4)"},
        {"theta.weight", 0, {0}, "()", "(l, 4)"},
        {"theta.weight", 2, {0, 4}, "(0, 4)", "(l, 4)"},
        {"theta.weight", 4, {2, 4, 1, 3}, "(2, 4, 1, 3)", "(l, 4)"},
        {"phi.weight", 2, {3, 4}, "(3, 4)", "(2, 4)"},
        {"W.weight", 2, {2, 4}, "(2, 4)", "(4, 2)"},
        {"g.bias", 1, {3}, "(3,)", "(2,)"},
        {"g.bias", 2, {2, 2}, "(2, 2)", "(2,)"},
        {"concat_project.weight", 2, {2, 4}, "(2, 4)", "(1, 4)"},
        {"concat_project.bias", 1, {2}, "(2,)", "(1,)"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reset();
        add_block(&made, "");
        add(&made, "g.bias", 2, 0);
        add(&made, "concat_project.weight", 1, 4);
        add(&made, "concat_project.bias", 1, 0);
        nl_tensor *tensor = item(&made, cases[i].name);
        tensor->ndim = cases[i].ndim;
        memcpy(tensor->shape, cases[i].shape, sizeof cases[i].shape);
        tensor->count = 1;
        for (size_t k = 0; k < tensor->ndim; k++)
            tensor->count *= tensor->shape[k];
        expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_CONCAT, NL_FORMAT,
                       WORDS(cases[i].name, cases[i].found, cases[i].expected));
    }
    reset();
    add(&made, "in_proj_weight", 4, 12);
    add(&made, "out_proj.weight", 4, 4);
    expect_failure(&made, NL_SYSTEM_TRANSFORMER, NL_DOT, NL_FORMAT,
                   WORDS("in_proj_weight", "(4, 12)", "(12, 4)"));
}

static void test_values_that_are_none(void **state)
{
    (void)state;
    reset();
    add_block(&made, "");
    item(&made, "phi.weight")->data[6] = NAN;
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("(2, 3) of phi.weight", "NaN"));
    nl_weights w = pick_from(&made.tensors, NL_SYSTEM_NONLOCAL, 4, NL_COSINE); /* not needed */
    nl_weights_free(&w);
    nl_tensor *g = item(&made, "g.weight");
    g->data[0] = INFINITY;
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_COSINE, NL_FORMAT,
                   WORDS("(1, 1) of g.weight", "infinite"));
    *g = (nl_tensor){.name = "g.weight", .problem = "its values are of type F8_E4M3"};
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_COSINE, NL_FORMAT,
                   WORDS("g.weight is needed but cannot be read", "F8_E4M3"));
}

static void test_several_blocks(void **state)
{
    (void)state;
    nl_error error;
    nl_weights w;
    nl_tensors tensors = load_sample("two_blocks.safetensors");
    assert_int_equal(nl_weights_pick(&tensors, NL_SYSTEM_NONLOCAL, C, NL_DOT, &w, &error),
                     NL_FORMAT);
    assert_non_null(strstr(error.message, "2 nonlocal blocks (a, b.c)"));
    nl_tensors_free(&tensors);
    reset();
    add_block(&made, "");
    add_block(&made, "inner.");
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("one without a prefix", "inner"));
    for (int i = 0; i < 5; i++) {
        char prefix[64];
        snprintf(prefix, sizeof prefix, "inner.a.deeper.and.longer.block.of.many.number.%d.", i);
        add_block(&made, prefix);
    }
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("7 nonlocal blocks", "number.2, ..)"));
    reset();
    add_block(&made, "");
    add_block(&made, "inner.");
    /* the one that is not whole does not count */
    strcpy(item(&made, "inner.phi.weight")->name, "inner.ph_.weight");
    w = pick_from(&made.tensors, NL_SYSTEM_NONLOCAL, 4, NL_DOT);
    assert_non_null(strstr(w.note, "inner.W.weight"));
    nl_weights_free(&w);
    /* a name must begin at a dot */
    reset();
    add_block(&made, "a.");
    add_block(&made, "not_");
    w = pick_from(&made.tensors, NL_SYSTEM_NONLOCAL, 4, NL_DOT);
    assert_string_equal(w.note, "not needed: not_W.weight, not_g.weight, not_phi.weight, "
                                "not_theta.weight");
    nl_weights_free(&w);
}

static void test_note_is_cut(void **state)
{
    (void)state;
    reset();
    add_block(&made, "");
    for (int i = 0; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof name, "some.other.tensor.%02d", i);
        add(&made, name, 1, 0);
    }
    nl_weights w = pick_from(&made.tensors, NL_SYSTEM_NONLOCAL, 4, NL_DOT);
    assert_non_null(strstr(w.note, "not needed: some.other.tensor.00, some.other.tensor.01, "));
    assert_string_equal(w.note + strlen(w.note) - 12, " and 15 more");
    nl_weights_free(&w);
}

static void test_batch_norm(void **state)
{
    (void)state;
    reset();
    add_block(&made, "");
    nl_tensor *w_tensor = item(&made, "W.weight");
    strcpy(w_tensor->name, "W.0.weight"); /* the order of names stays */
    add(&made, "W.1.running_mean", 4, 0);
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("W.1.running_var is missing", "(4,)"));
    add(&made, "W.1.running_var", 4, 0);
    nl_weights w = pick_from(&made.tensors, NL_SYSTEM_NONLOCAL, 4, NL_DOT); /* affine=False */
    for (size_t i = 0; i < 4; i++) {
        double factor = 1 / sqrt((double)(i + 1) + 1e-5);
        assert_true(nl_row(&w.w.map.bias, 0)[i] == (float)(-(double)(i + 1) * factor));
        assert_true(nl_row(&w.w.map.weight, i)[1] == (float)((double)(2 * i + 2) * factor));
    }
    nl_weights_free(&w);
    item(&made, "W.1.running_var")->data[2] = -1;
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("variance 3 of W.1.running_var is negative"));
    item(&made, "W.1.running_var")->data[2] = 0;
    item(&made, "W.0.weight")->data[4] = 3e38f;
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT, WORDS("range of float"));
    strcpy(item(&made, "W.0.weight")->name, "W.0.weight_orig");
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_UNSUPPORTED,
                   WORDS("spectral norm and BatchNorm"));
    add(&made, "W.1.bias", 3, 0);
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_DOT, NL_FORMAT,
                   WORDS("W.1.bias has the shape (3,)", "(4,)"));
}

static void test_blocks_that_compute_something_else(void **state)
{
    (void)state;
    reset();
    add_block(&made, "");
    add(&made, "concat_project.0.weight", 1, 4);
    add(&made, "concat_project.0.bias", 1, 0);
    expect_failure(&made, NL_SYSTEM_NONLOCAL, NL_CONCAT, NL_UNSUPPORTED,
                   WORDS("concat_project.0.bias is 1"));
    item(&made, "concat_project.0.bias")->data[0] = 0;
    nl_weights w = pick_from(&made.tensors, NL_SYSTEM_NONLOCAL, 4, NL_CONCAT);
    assert_string_equal(w.note, "");
    nl_weights_free(&w);
    reset();
    add(&made, "in_proj_weight", 12, 4);
    add(&made, "out_proj.weight", 4, 4);
    add(&made, "bias_v", 1, 4);
    expect_failure(&made, NL_SYSTEM_TRANSFORMER, NL_DOT, NL_UNSUPPORTED, WORDS("bias_v adds"));
}

static void test_sagan_in_other_words(void **state)
{
    (void)state;
    reset();
    add_block(&made, ""); /* W for attn_g, no gamma, u without v */
    strcpy(item(&made, "g.weight")->name, "g.weight_orig");
    add(&made, "g.weight_u", 2, 0);
    nl_weights w = pick_from(&made.tensors, NL_SYSTEM_SAGAN, 4, NL_EMBEDDED_GAUSSIAN);
    assert_false(w.has_gamma);
    assert_true(w.g.spectral);
    assert_false(w.w.spectral);
    expect_empty(&w.g.u);
    assert_string_equal(w.note, "not needed: g.weight_u");
    nl_weights_free(&w);
    add(&made, "gamma", 2, 0);
    expect_failure(&made, NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN, NL_FORMAT,
                   WORDS("gamma has the shape (2,)", "(1,)"));
    add(&made, "g.weight_v", 3, 0);
    expect_failure(&made, NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN, NL_FORMAT,
                   WORDS("g.weight_v has the shape (3,)", "(4,)"));
}

static void test_arguments(void **state)
{
    (void)state;
    nl_weights w;
    reset();
    add_block(&made, "");
    const nl_tensors *t = &made.tensors;
    expect_failure(&made, NL_SYSTEM_NLM, NL_EUCLIDEAN, NL_INVALID, WORDS("has no weights"));
    expect_failure(&made, NL_SYSTEM_COUNT, NL_DOT, NL_INVALID, WORDS("no such system"));
    expect_failure(&made, NL_SYSTEM_SAGAN, NL_SIMILARITY_COUNT, NL_INVALID, WORDS("no such"));
    assert_int_equal(nl_weights_pick(t, NL_SYSTEM_NONLOCAL, 0, NL_DOT, &w, NULL), NL_INVALID);
    assert_int_equal(nl_weights_pick(t, NL_SYSTEM_NONLOCAL, 5, NL_DOT, &w, NULL), NL_FORMAT);
    assert_int_equal(nl_weights_pick(t, NL_SYSTEM_TRANSFORMER, SIZE_MAX, NL_DOT, &w, NULL),
                     NL_INVALID);
    assert_int_equal(nl_alloc_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonlocal),
        cmocka_unit_test(test_similarities_need_different_weights),
        cmocka_unit_test(test_clip_block_with_a_prefix),
        cmocka_unit_test(test_sagan),
        cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_missing_weights),
        cmocka_unit_test(test_misshaped_weights),
        cmocka_unit_test(test_values_that_are_none),
        cmocka_unit_test(test_several_blocks),
        cmocka_unit_test(test_note_is_cut),
        cmocka_unit_test(test_batch_norm),
        cmocka_unit_test(test_blocks_that_compute_something_else),
        cmocka_unit_test(test_sagan_in_other_words),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
