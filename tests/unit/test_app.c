/* SPDX-License-Identifier: MIT */
/*
 * The window's program: what a click, a drag, a key, a control and a file do, and what is computed
 * for it. Needs no display.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "nonlocal/system.h"

#include "app_rig.h"

static void test_starts_with_the_sample(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_frame(&rig);
    assert_false(app_settled(rig.app)); /* the first frame waits for nothing */
    rig_settle_all(&rig);
    assert_int_equal(rig.app->scene, SCENE_PICTURE);
    assert_string_equal(rig_doc(&rig)->source, "@sample");
    assert_true(atomic_load(&rig.wakes) > 0);
    rig_check_row(&rig);
    assert_non_null(rig_find(&rig, DRAW_HEATMAP));
    assert_non_null(rig_find(&rig, DRAW_MATRIX));
    assert_non_null(rig_find_text(&rig, "@sample"));
    assert_false(rig.frame.again);
    assert_true(rig.frame.wake_in < 0); /* idle means asleep */
    assert_int_equal(rig.app->undo.count, 0);
    assert_string_equal(rig.app->message, "");
    rig_close(&rig);
}

static void test_a_click_answers_without_the_worker(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle_all(&rig);
    const int wakes = atomic_load(&rig.wakes);
    const struct attention_part *attention = rig_result(&rig)->attention;
    const uint64_t key = rig.app->row.key;
    rig_picture_point(&rig, 0.26f, 0.76f, &x, &y);
    rig_move(&rig, x, y);
    inputs_press(&rig.in, UI_LEFT);
    rig_frame(&rig); /* the press */
    assert_true(rig.frame.again);
    assert_false(job_state(rig.app->job).busy);
    rig_frame(&rig); /* its map, while the button is still down */
    assert_true(rig.app->row.key != key);
    rig_check_row(&rig);
    const nl_grid *grid = &attention->features->features.grid;
    assert_int_equal(rig.app->row.query % grid->gw, grid->gw * 26 / 100);
    assert_int_equal(rig.app->row.query / grid->gw, grid->gh * 76 / 100);
    inputs_release(&rig.in, UI_LEFT);
    rig_frame(&rig);
    rig_settle_all(&rig);
    rig_check_row(&rig);
    assert_ptr_equal(rig_result(&rig)->attention, attention);
    assert_int_equal(atomic_load(&rig.wakes), wakes);
    rig_close(&rig);
}

/* By the drawn picture's own numbers: its place and the part of it that is shown. */
static void check_query_under_pointer(const struct rig *rig)
{
    const struct draw_cmd *map = rig_find(rig, DRAW_HEATMAP);
    const struct draw_heat *heat = &map->u.heat;
    const nl_bitmap *bitmap = &rig->app->results[SCENE_PICTURE].source->source.bitmap;
    const struct doc_query *query = &rig_doc(rig)->queries[0];
    const double u = (double)((rig->in.mouse_x - map->rect.x) / map->rect.w);
    const double v = (double)((rig->in.mouse_y - map->rect.y) / map->rect.h);
    const double x = (double)heat->u0 + u * (double)(heat->u1 - heat->u0);
    const double y = (double)heat->v0 + v * (double)(heat->v1 - heat->v0);
    assert_false(query->by_row);
    assert_true(fabs(query->x + 0.5 - (double)bitmap->width * x) < 0.52);
    assert_true(fabs(query->y + 0.5 - (double)bitmap->height * y) < 0.52);
}

static void test_the_query_is_the_pixel_under_the_pointer(void **state)
{
    static const float shares[] = {0.001f, 0.31f, 0.5f, 0.77f, 0.999f};
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 800, 600);
    rig_settle(&rig);
    for (int zoomed = 0; zoomed < 2; zoomed++) {
        for (int scale = 1; scale <= 2; scale++) {
            rig.in.drawable_w = 800 * scale;
            rig.in.drawable_h = 600 * scale;
            rig.in.scale = (float)scale;
            rig_settle(&rig);
            for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
                rig_click_picture(&rig, shares[i], shares[4 - i]);
                check_query_under_pointer(&rig);
                rig_check_row(&rig);
            }
        }
        rig_picture_point(&rig, 0.6f, 0.4f, &rig.in.mouse_x, &rig.in.mouse_y);
        rig.in.wheel_y = 3;
        rig_frame(&rig);
        rig_frame(&rig);
    }
    assert_true(rig.app->view.picture.factor > 1.5);
    rig_key(&rig, 'f', 0);
    assert_true(rig.app->view.picture.factor == 1);
    rig_close(&rig);
}

static void test_a_drag_is_one_step_of_undo(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle(&rig);
    const size_t first = rig.app->row.query;
    rig_picture_point(&rig, 0.1f, 0.1f, &x, &y);
    rig_move(&rig, x, y);
    inputs_press(&rig.in, UI_LEFT);
    rig_frame(&rig);
    for (int i = 1; i <= 30; i++) {
        const size_t before = rig.app->row.query;
        rig_move(&rig, x + 10 * (float)i, y + 8 * (float)i);
        rig_frame(&rig);
        if (i > 2)
            assert_true(rig.app->row.query != before); /* the map follows, a frame behind */
    }
    inputs_release(&rig.in, UI_LEFT);
    rig_frame(&rig);
    rig_frame(&rig);
    const size_t last = rig.app->row.query;
    rig_check_row(&rig);
    assert_int_equal(rig.app->undo.count, 1);
    rig_click_picture(&rig, 0.9f, 0.1f);
    assert_int_equal(rig.app->undo.count, 2);
    const size_t clicked = rig.app->row.query;

    rig_key(&rig, 'z', UI_MOD_CTRL);
    assert_int_equal(rig.app->row.query, last);
    rig_key(&rig, 'z', UI_MOD_CTRL);
    assert_int_equal(rig.app->row.query, first);
    rig_key(&rig, 'z', UI_MOD_CTRL); /* there is no more */
    assert_int_equal(rig.app->row.query, first);
    rig_key(&rig, 'y', UI_MOD_CTRL);
    assert_int_equal(rig.app->row.query, last);
    rig_key(&rig, 'z', UI_MOD_CTRL | UI_MOD_SHIFT);
    assert_int_equal(rig.app->row.query, clicked);
    rig_check_row(&rig);
    rig_close(&rig);
}

static void test_a_click_that_changes_nothing_is_no_step(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle(&rig);
    rig_click_picture(&rig, 0.3f, 0.3f);
    assert_int_equal(rig.app->undo.count, 1);
    rig_click_picture(&rig, 0.3f, 0.3f);
    assert_int_equal(rig.app->undo.count, 1);
    rig_close(&rig);
}

/* The right end of the row of controls that begins with this label. */
static void click_control(struct rig *rig, const char *label, float from_label)
{
    const struct draw_cmd *text = rig_find_text(rig, label);
    assert_non_null(text);
    rig_click(rig, text->rect.x + from_label, text->rect.y - 4);
}

static void test_controls_lead_to_new_results(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    struct result before;
    result_hold(&before, rig_result(&rig));
    click_control(&rig, "Similarity", 150); /* opens the list */
    assert_true(rig.app->ui.popup.id != 0);
    rig_key(&rig, UI_KEY_DOWN, 0);
    rig_key(&rig, UI_KEY_ENTER, 0);
    assert_int_equal(param_choice(rig_doc(&rig), PARAM_SIMILARITY), NL_COSINE);
    assert_int_equal(rig.app->undo.count, 1);
    rig_settle(&rig);
    assert_true(rig_result(&rig)->attention->part.key != before.attention->part.key);
    rig_check_row(&rig);

    click_control(&rig, "Patch", 170); /* into the slider's track */
    const double patch = param_number(rig_doc(&rig), PARAM_PATCH);
    assert_true(patch != 12);
    rig_settle(&rig);
    assert_true(rig_result(&rig)->features->part.key != before.features->part.key);
    assert_int_equal(rig_result(&rig)->features->features.grid.patch, (size_t)patch);
    rig_check_row(&rig);
    rig_key(&rig, UI_KEY_RIGHT, 0); /* it has the keyboard now */
    assert_true(param_number(rig_doc(&rig), PARAM_PATCH) == patch + 1);
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->features->features.grid.patch, (size_t)patch + 1);

    for (int i = 0; i < 3; i++)
        rig_key(&rig, 'z', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_true(rig_result(&rig)->attention->part.key == before.attention->part.key);
    assert_true(rig_result(&rig)->order->part.key == before.order->part.key);
    result_release(&before);
    rig_close(&rig);
}

static void test_only_what_depends_is_computed_again(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle_all(&rig);
    const struct result *now = rig_result(&rig);
    struct result before;

    result_hold(&before, now);
    rig_set(&rig, PARAM_SIMILARITY, NL_GAUSSIAN);
    rig_settle_all(&rig);
    assert_ptr_equal(now->source, before.source);
    assert_ptr_equal(now->features, before.features);
    assert_ptr_not_equal(now->attention, before.attention);
    assert_ptr_equal(now->dissim, before.dissim);
    assert_ptr_equal(now->order, before.order);
    result_release(&before);

    result_hold(&before, now);
    rig_set(&rig, PARAM_METRIC, (NL_METRIC_EUCLIDEAN + 1) % NL_METRIC_COUNT);
    rig_settle_all(&rig);
    assert_ptr_equal(now->features, before.features);
    assert_ptr_equal(now->attention, before.attention);
    assert_true(NL_METRIC_COUNT == 1 || now->dissim != before.dissim);
    result_release(&before);

    const int wakes = atomic_load(&rig.wakes);
    result_hold(&before, now);
    rig_set(&rig, PARAM_OPACITY, 30);
    rig_set(&rig, PARAM_COLORMAP, 1);
    rig_set(&rig, PARAM_OVERLAY, DRAW_SCALE_LOG);
    assert_true(app_settled(rig.app));
    rig_settle_all(&rig);
    assert_memory_equal(&before, now, sizeof before);
    assert_int_equal(atomic_load(&rig.wakes), wakes);
    const struct draw_heat *heat = &rig_find(&rig, DRAW_HEATMAP)->u.heat;
    assert_true(fabsf(heat->opacity - 0.3f) < 1e-6f && heat->map == 1);
    assert_int_equal(heat->scale, DRAW_SCALE_LOG);
    result_release(&before);

    rig_key(&rig, UI_KEY_F1 + 2, 0); /* the table */
    rig_settle_all(&rig);
    now = rig_result(&rig);
    result_hold(&before, now);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_INPUT);
    rig_settle_all(&rig);
    assert_ptr_equal(now->attention, before.attention);
    assert_ptr_equal(now->dissim, before.dissim);
    assert_ptr_not_equal(now->order, before.order);
    assert_ptr_equal(now->order->dissim, before.dissim);
    result_release(&before);
    rig_close(&rig);
}

static void test_all_settings_back_to_defaults(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle(&rig);
    const uint64_t attention = rig_result(&rig)->attention->part.key;
    rig_set(&rig, PARAM_SIMILARITY, NL_COSINE);
    rig_set(&rig, PARAM_STRIDE, 8);
    rig_settle(&rig);
    assert_true(rig_result(&rig)->attention->part.key != attention);
    rig_key(&rig, 'r', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_true(rig_result(&rig)->attention->part.key == attention);
    rig_key(&rig, 'z', UI_MOD_CTRL);
    assert_true(param_number(rig_doc(&rig), PARAM_STRIDE) == 8);
    rig_close(&rig);
}

/* The newest of many quick changes wins, whatever the worker was at (C68). */
static void test_fifty_fast_clicks(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1280, 800);
    rig_settle(&rig);
    for (int i = 0; i < 50; i++) {
        if (i % 3 == 0)
            edit_param(&rig.app->edits, PARAM_PATCH, (struct param_value){.number = 3 + i % 11},
                       true);
        if (i % 7 == 0)
            edit_param(&rig.app->edits, PARAM_SIMILARITY, (struct param_value){.number = i % 4},
                       true);
        rig_click_picture(&rig, 0.02f + 0.019f * (float)i, 0.5f);
        assert_true(rig.app->row.key != 0); /* every click has its map, in the frame after it */
        if (i % 5 == 0)
            rig_pause();
    }
    rig_settle(&rig);
    const struct doc *doc = rig_doc(&rig);
    const struct stage_keys keys = stage_keys(doc, doc->source_key, SOURCE_PICTURE);
    assert_true(rig_result(&rig)->features->part.key == keys.features);
    assert_true(rig_result(&rig)->attention->part.key == keys.attention);
    assert_true(rig_result(&rig)->dissim->part.key == keys.dissim);
    assert_true(rig_result(&rig)->order->part.key == keys.order);
    assert_true(fabs(doc->queries[0].x - 320 * (0.02 + 0.019 * 49)) < 2);
    rig_check_row(&rig);
    rig_close(&rig);
}

/* Frames until the map is the document's, whatever else is being computed. */
static void settle_map(struct rig *rig)
{
    const time_t end = time(NULL) + RIG_PATIENCE;
    for (bool there = false; !there; rig_pause()) {
        rig_frame(rig);
        const struct result *now = rig_result(rig);
        const struct stage_keys keys =
            stage_keys(rig_doc(rig), rig_doc(rig)->source_key, SOURCE_PICTURE);
        there = now->attention && now->attention->part.key == keys.attention;
        assert_true(time(NULL) < end);
    }
    rig_frame(rig);
}

/* n = 49,152: the matrix would be 9.7 GB, the row is 200 kB (C66). */
static void test_a_grid_too_large_for_the_matrix(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    edit_system(&rig.app->edits, NL_SYSTEM_NLM);
    rig_frame(&rig);
    settle_map(&rig);
    assert_int_equal(rig.app->row.n, 49152);
    rig_check_row(&rig);
    const size_t before = rig.app->row.query;
    rig_click_picture(&rig, 0.1f, 0.9f); /* while means over the matrix are computed in blocks */
    assert_true(rig.app->row.query != before);
    rig_check_row(&rig);
    rig_settle(&rig);
    assert_true(rig_find(&rig, DRAW_MATRIX)->u.matrix.overview);
    assert_non_null(rig_find_text(&rig, "n = 49152: D would take 9.7 GB"));
    assert_non_null(rig_find_text(&rig, "one row in 3"));
    rig_write_picture("large.ppm", 740, 720); /* 532,800 pixels: only the map */
    rig_drop(&rig, "large.ppm");
    rig_set(&rig, PARAM_MAX_SIDE, 740);
    settle_map(&rig);
    rig_settle(&rig);
    assert_int_equal(rig.app->row.n, 532800);
    assert_null(rig_find(&rig, DRAW_MATRIX));
    assert_non_null(rig_find_text(&rig, "n = 532800"));
    assert_non_null(rig_find_text(&rig, "1135.5 GB"));
    rig_check_row(&rig);
    edit_system(&rig.app->edits, NL_SYSTEM_NONLOCAL);
    rig_set(&rig, PARAM_MAX_SIDE, 256);
    rig_settle(&rig);
    assert_non_null(rig_find(&rig, DRAW_MATRIX));
    rig_check_row(&rig);
    rig_close(&rig);
}

static void test_a_hovered_patch_is_read_everywhere(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle_all(&rig);
    rig_picture_point(&rig, 0.7f, 0.5f, &rig.in.mouse_x, &rig.in.mouse_y);
    const int wakes = atomic_load(&rig.wakes);
    for (int i = 0; i < 3; i++)
        rig_frame(&rig);
    const size_t row = rig.app->view.hover_row;
    assert_true(row < rig.app->row.n);
    assert_int_equal(atomic_load(&rig.wakes), wakes);
    char number[32], words[64];
    view_number((double)rig.app->row.weights[row], number, sizeof number);
    snprintf(words, sizeof words, "a = %s", number);
    assert_non_null(rig_find_text(&rig, words));  /* the note */
    assert_non_null(rig_find_text(&rig, number)); /* the status strip */
    assert_false(rig.frame.again);
    rig_move(&rig, -1, -1);
    rig_frame(&rig);
    rig_frame(&rig);
    assert_true(rig.app->view.hover_row == SIZE_MAX);
    rig_close(&rig);
}

static void test_the_matrix_chooses_a_query(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    const struct draw_cmd *matrix = rig_find(&rig, DRAW_MATRIX);
    assert_non_null(matrix);
    const struct draw_rect at = matrix->rect;
    rig_click(&rig, at.x + at.w / 2, at.y + at.h * 120.5f / 150);
    assert_int_equal(rig.app->row.query, rig_result(&rig)->order->order[120]);
    rig_check_row(&rig);
    assert_int_equal(rig.app->undo.count, 1);
    rig_key(&rig, UI_KEY_DOWN, 0);
    assert_int_equal(rig.app->row.query, rig_result(&rig)->order->order[121]);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_with_the_sample),
        cmocka_unit_test(test_a_click_answers_without_the_worker),
        cmocka_unit_test(test_the_query_is_the_pixel_under_the_pointer),
        cmocka_unit_test(test_a_drag_is_one_step_of_undo),
        cmocka_unit_test(test_a_click_that_changes_nothing_is_no_step),
        cmocka_unit_test(test_controls_lead_to_new_results),
        cmocka_unit_test(test_only_what_depends_is_computed_again),
        cmocka_unit_test(test_all_settings_back_to_defaults),
        cmocka_unit_test(test_fifty_fast_clicks),
        CASE(test_a_grid_too_large_for_the_matrix),
        cmocka_unit_test(test_a_hovered_patch_is_read_everywhere),
        cmocka_unit_test(test_the_matrix_chooses_a_query),
    };
    return cmocka_run_group_tests_name("app", tests, NULL, NULL);
}
