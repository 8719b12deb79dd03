/* SPDX-License-Identifier: MIT */
/* What is shown belongs to what was asked for, also after a stage failed; drags, defaults, help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "app_rig.h"
#include "colormap.h"
#include "nonlocal/block.h"

static void set(struct doc *doc, enum param_id id, double number)
{
    param_set(doc, id, (struct param_value){.number = number});
}

/* Features that the dimension of the embedding does not fit, where it fits the default ones. */
static void make_impossible(struct doc *doc)
{
    set(doc, PARAM_FEATURES, NL_FEATURE_GRADIENT);
}

static struct doc possible(void)
{
    struct doc doc;
    doc_init(&doc);
    snprintf(doc.source, sizeof doc.source, "@sample");
    set(&doc, PARAM_SIMILARITY, NL_EMBEDDED_GAUSSIAN);
    set(&doc, PARAM_DIM, 40);
    return doc;
}

/* The last result of a request, once the worker sleeps. */
static struct result ask(struct job *job, const struct doc *doc)
{
    struct result result = {0};
    job_post(job, doc, 1);
    while (job_state(job).busy)
        rig_pause();
    assert_true(job_take(job, &result));
    return result;
}

static void test_a_failed_stage_leaves_nothing_old(void **state)
{
    nl_error error = {0};
    atomic_int wakes = 0;
    struct job *job = job_create(NL_CPU_AUTO, 2, rig_wake, &wakes, &error);
    struct doc doc = possible();
    (void)state;
    assert_non_null(job);
    struct result first = ask(job, &doc);
    assert_int_equal(first.error.status, NL_OK);

    make_impossible(&doc);
    struct result failed = ask(job, &doc);
    assert_int_equal(failed.error.status, NL_INVALID);
    const struct stage_keys keys = stage_keys(&doc, 1, SOURCE_PICTURE);
    assert_true(failed.error_key == keys.attention);
    assert_null(failed.attention);
    assert_true(failed.order->part.key == keys.order); /* the matrix needs no weights */
    assert_int_equal(failed.failed.order, 0);

    doc = possible();
    set(&doc, PARAM_METRIC, NL_METRIC_MANHATTAN);
    struct result last = ask(job, &doc);
    assert_int_equal(last.error.status, NL_OK);
    assert_true(last.dissim->features_key == last.attention->features->part.key);
    assert_ptr_equal(last.features, last.attention->features);
    result_release(&first);
    result_release(&failed);
    result_release(&last);
    job_destroy(&job);
}

/* Requests of two kinds of features in turn, given up at any moment. */
static void test_weights_and_matrix_are_of_the_same_features(void **state)
{
    nl_error error = {0};
    atomic_int wakes = 0;
    struct job *job = job_create(NL_CPU_AUTO, 2, rig_wake, &wakes, &error);
    struct doc doc = possible();
    (void)state;
    assert_non_null(job);
    for (int i = 0; i < 40; i++) {
        set(&doc, PARAM_STRIDE, i % 2 ? 4 : 6);
        set(&doc, PARAM_METRIC, i / 2 % 3);
        job_post(job, &doc, 1);
        for (int ms = 0; ms < i * 7 % 90; ms++)
            rig_pause();
        if (i % 5 == 4)
            job_cancel(job);
    }
    struct result last = ask(job, &doc);
    assert_true(last.dissim->features_key == last.attention->features->part.key);
    assert_int_equal(last.order->dissim->d.rows, last.attention->features->features.x.rows);
    result_release(&last);
    job_destroy(&job);
}

static void test_weights_that_cannot_be_had(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle(&rig);
    rig_set(&rig, PARAM_SIMILARITY, NL_EMBEDDED_GAUSSIAN);
    rig_set(&rig, PARAM_DIM, 40);
    rig_settle(&rig);
    assert_non_null(rig_find(&rig, DRAW_HEATMAP));
    rig_set(&rig, PARAM_FEATURES, NL_FEATURE_GRADIENT);
    rig_settle(&rig);
    assert_null(rig_find(&rig, DRAW_HEATMAP)); /* no old map under the new settings */
    assert_non_null(rig_find_text(&rig, "40 dimensions"));
    rig_set(&rig, PARAM_ORDER, NL_ORDER_PCA);
    rig_settle(&rig);
    assert_non_null(rig_find(&rig, DRAW_MATRIX));
    assert_true(rig_result(&rig)->order->part.key ==
                stage_keys(rig_doc(&rig), rig_doc(&rig)->source_key, SOURCE_PICTURE).order);
    rig_set(&rig, PARAM_DIM, 20);
    rig_settle(&rig);
    rig_check_row(&rig);
    rig_close(&rig);
}

/* exp(x·x) of the longest row of Iris is beyond a float: over the count it is refused. */
static void test_a_refused_row_says_so_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1280, 800);
    rig_settle(&rig);
    rig_set(&rig, PARAM_SIMILARITY, NL_GAUSSIAN);
    rig_set(&rig, PARAM_NORMALIZE, NL_NORMALIZE_COUNT); /* the perplexity given is out of play */
    edit_query_row(&rig.app->edits, 117, true);
    rig_frame(&rig);
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->error.status, NL_OK);
    assert_true(rig.app->row.key == 0);
    assert_non_null(strstr(rig.app->message, "overflows"));
    rig_key(&rig, UI_KEY_ESC, 0);
    rig_frame(&rig);
    assert_int_equal(rig.app->message[0], 0); /* and stays away */
    assert_non_null(rig_find_text(&rig, "the largest exponent"));
    edit_query_row(&rig.app->edits, 0, true);
    rig_frame(&rig);
    rig_settle(&rig);
    assert_true(rig.app->row.key != 0);
    rig_close(&rig);
}

/* The scene changes under a hand that drags: what follows is a step of its own. */
static void test_a_lost_drag_ends_its_step(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle(&rig);
    rig_picture_point(&rig, 0.1f, 0.1f, &x, &y);
    rig_move(&rig, x, y);
    inputs_press(&rig.in, UI_LEFT);
    rig_frame(&rig);
    assert_true(rig.app->undo.open);
    rig_key(&rig, UI_KEY_F1 + 2, 0);
    rig_frame(&rig);
    assert_int_equal(rig.app->scene, SCENE_TABLE);
    assert_false(rig.app->undo.open);
    rig_set(&rig, PARAM_METRIC, NL_METRIC_COSINE);
    assert_int_equal(rig.app->undo.count, 2);
    rig_close(&rig);
}

static void test_a_slider_goes_back_to_the_system_s_default(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    edit_system(&rig.app->edits, NL_SYSTEM_NLM);
    rig_frame(&rig);
    rig_set(&rig, PARAM_STRIDE, 8);
    rig_set(&rig, PARAM_PATCH, 20);
    rig_frame(&rig);
    const struct draw_cmd *label = rig_find_text(&rig, "Patch");
    assert_non_null(label);
    rig_move(&rig, label->rect.x + 170, label->rect.y - 4);
    rig_frame(&rig);
    inputs_press(&rig.in, UI_LEFT);
    rig.in.double_click = true;
    rig_frame(&rig);
    inputs_release(&rig.in, UI_LEFT);
    rig_frame(&rig);
    assert_true(param_number(rig_doc(&rig), PARAM_PATCH) == 7);
    assert_false(rig_doc(&rig)->params[PARAM_PATCH].given);
    rig_close(&rig);
}

static void test_defaults_hang_on_the_system(void **state)
{
    struct doc doc;
    (void)state;
    doc_init(&doc);
    set(&doc, PARAM_SIMILARITY, NL_COSINE);
    set(&doc, PARAM_TEMPERATURE, 3);
    assert_true(param_default(&doc, PARAM_TEMPERATURE).number == 0.1);
    assert_true(param_number(&doc, PARAM_TEMPERATURE) == 3);
    assert_int_equal(nl_default_dim(NL_SYSTEM_NONLOCAL, 45), 23);
    assert_int_equal(nl_default_dim(NL_SYSTEM_SAGAN, 45), 5);
    assert_int_equal(nl_default_dim(NL_SYSTEM_SAGAN, 3), 1);
    assert_int_equal(nl_default_dim(NL_SYSTEM_TRANSFORMER, 45), 45);
}

static void test_keys_heed_the_file_of_weights(void **state)
{
    struct doc a, b;
    (void)state;
    doc_init(&a);
    b = a;
    snprintf(b.weights, sizeof b.weights, "w.npz");
    assert_true(stage_keys(&a, 1, SOURCE_PICTURE).attention !=
                stage_keys(&b, 1, SOURCE_PICTURE).attention);
    assert_true(stage_keys(&a, 1, SOURCE_PICTURE).order == stage_keys(&b, 1, SOURCE_PICTURE).order);
}

static void test_a_dimension_waits_while_the_embedding_is_identity(void **state)
{
    struct doc doc = possible();
    struct source source;
    struct stage_features features;
    struct stage_attention attention;
    nl_error error = {0};
    const nl_exec exec = {0};
    (void)state;
    set(&doc, PARAM_EMBED, NL_EMBED_IDENTITY);
    set(&doc, PARAM_STRIDE, 16);
    assert_int_equal(source_load("@sample", NULL, &source, &error), NL_OK);
    assert_int_equal(stage_features_run(&doc, &source, &exec, &features, &error), NL_OK);
    assert_int_equal(stage_attention_run(&doc, &features, &exec, &attention, &error), NL_OK);
    assert_int_equal(attention.embedded, features.x.cols);
    stage_attention_free(&attention);
    stage_features_free(&features);
    source_free(&source);
}

/* Exponents beyond a float, where a sum over them all would be infinite. */
static void test_huge_exponents_give_the_nearest_key(void **state)
{
    float x[] = {1e18f, 0, 0, 1e18f}, v[] = {3, 5};
    const nl_matrix keys = nl_matrix_view(x, 2, 2, 2), values = nl_matrix_view(v, 2, 1, 1);
    const nl_similarity_id ids[] = {NL_GAUSSIAN, NL_EUCLIDEAN};
    const nl_exec exec = {0};
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        nl_attention_params params;
        nl_attention *attention;
        nl_error error = {0};
        float answers[2];
        nl_matrix y = nl_matrix_view(answers, 2, 1, 1);
        nl_attention_params_init(&params);
        params.similarity = ids[s];
        params.temperature = 1e-3;
        params.h = 1e-4;
        assert_int_equal(
            nl_attention_create(&params, &keys, &keys, true, &exec, &attention, &error), NL_OK);
        assert_int_equal(nl_attention_apply(attention, &values, &exec, &y, &error), NL_OK);
        assert_true(answers[0] == 3 && answers[1] == 5);
        nl_attention_free(&attention);
    }
}

/* --- The program ---------------------------------------------------------------------------- */

/* Both streams of `nonlocal ARGUMENTS`; returns its exit status. */
static int run(const char *arguments, char *text, size_t size)
{
    char command[1024];
    snprintf(command, sizeof command, "'%s' %s 2>&1", NL_TEST_PROGRAM, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t used = 0, got;
    while ((got = fread(text + used, 1, size - 1 - used, pipe)) > 0)
        used += got;
    text[used] = 0;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static char text[65536];

/* What --help says of an option. */
static const char *help_of(const char *option)
{
    const char *at = strstr(text, option);
    assert_non_null(at);
    return at;
}

static void check_default(const char *option, const char *value)
{
    const char *at = strstr(help_of(option), "Default ");
    assert_non_null(at);
    assert_memory_equal(at + 8, value, strlen(value));
}

static void test_help_gives_the_verb_s_own_defaults(void **state)
{
    (void)state;
    assert_int_equal(run("block --help", text, sizeof text), 0);
    check_default("\n  --similarity", "embedded-gaussian.");
    check_default("\n  --perplexity X", "0.");
    check_default("\n  --self", "keep.");
    assert_int_equal(run("attend --help", text, sizeof text), 0);
    check_default("\n  --similarity", "euclidean.");
    check_default("\n  --perplexity X", "2%.");
    assert_int_equal(run("denoise --help", text, sizeof text), 0);
    check_default("\n  --patch N", "7.");
}

static void test_a_strip_cannot_be_pooled(void **state)
{
    (void)state;
    rig_write_picture("strip.ppm", 64, 1);
    assert_int_equal(run("attend strip.ppm --query 3,0 --subsample paper", text, sizeof text), 1);
    assert_non_null(strstr(text, "nothing is left"));
}

static void test_constant_columns_are_mentioned(void **state)
{
    (void)state;
    rig_write_text("t.csv", "a,b\n1,5\n2,5\n4,5\n");
    assert_int_equal(run("apply t.csv --rows zscore -o y.npy", text, sizeof text), 0);
    assert_non_null(strstr(text, "1 constant columns"));
}

/* Weights of both signs: two hues over the picture, and a bar from −w to w. */
static void test_a_figure_of_signed_weights(void **state)
{
    nl_bitmap bitmap;
    nl_error error = {0};
    uint8_t negative[3];
    size_t found = 0;
    (void)state;
    rig_write_picture("p.ppm", 64, 48);
    assert_int_equal(
        run("attend p.ppm --query 3,2 --similarity dot --opacity 100 -o a.png", text, sizeof text),
        0);
    assert_non_null(strstr(text, "weights from -"));
    static unsigned char bytes[1 << 22];
    FILE *file = fopen("a.png", "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_int_equal(nl_bitmap_load(bytes, size, &bitmap, &error), NL_OK);
    assert_int_equal(bitmap.channels, 3);
    colormap_at(COLORMAP_DIVERGING, 0.5f / 360, negative); /* lowest of the bar's 360 lines */
    const uint8_t *pixels = bitmap.pixels;
    for (size_t p = 0; p < bitmap.width * bitmap.height; p++)
        found += memcmp(pixels + 3 * p, negative, 3) == 0;
    assert_true(found > 0);
    nl_bitmap_free(&bitmap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_stage_leaves_nothing_old),
        cmocka_unit_test(test_weights_and_matrix_are_of_the_same_features),
        cmocka_unit_test(test_weights_that_cannot_be_had),
        cmocka_unit_test(test_a_refused_row_says_so_once),
        cmocka_unit_test(test_a_lost_drag_ends_its_step),
        cmocka_unit_test(test_a_slider_goes_back_to_the_system_s_default),
        cmocka_unit_test(test_defaults_hang_on_the_system),
        cmocka_unit_test(test_keys_heed_the_file_of_weights),
        cmocka_unit_test(test_a_dimension_waits_while_the_embedding_is_identity),
        cmocka_unit_test(test_huge_exponents_give_the_nearest_key),
        CASE(test_help_gives_the_verb_s_own_defaults),
        CASE(test_a_strip_cannot_be_pooled),
        CASE(test_constant_columns_are_mentioned),
        CASE(test_a_figure_of_signed_weights),
    };
    return cmocka_run_group_tests_name("review", tests, NULL, NULL);
}
