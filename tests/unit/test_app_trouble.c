/* SPDX-License-Identifier: MIT */
/* Where the window's matrix once went wrong. Needs no display. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "nonlocal/system.h"

#include "app_matrix_rig.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* Frames until the worker is done, or `enough` of them. */
static void frames(struct rig *rig, int enough)
{
    for (int i = 0; i < enough; i++) {
        rig_frame(rig);
        rig_pause();
    }
}

static void write_column(const char *path, size_t rows, double (*value)(size_t row))
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "x,y\n");
    for (size_t i = 0; i < rows; i++)
        fprintf(file, "%.9g,%.9g\n", value(i), value(rows - i));
    assert_int_equal(fclose(file), 0);
}

static double growing(size_t row)
{
    return (double)row * (double)row;
}

static double waves(size_t row)
{
    return sin((double)row) * 1e3;
}

/* rig_frame asserts that nothing is dropped from the draw list. */
static void test_a_chain_of_branches_fits_the_draw_list(void **state)
{
    struct rig rig;
    (void)state;
    write_column("chain.csv", 3000, growing);
    rig_open(&rig, "chain.csv", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_SINGLE);
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->order->dendrogram.count, 2999);
    assert_non_null(rig_find_text(&rig, "Path length"));
    rig.in.window_w = rig.in.drawable_w = 3840;
    rig.in.window_h = rig.in.drawable_h = 2160;
    rig_settle(&rig);
    rig_close(&rig);
}

static void test_numbers_of_many_cells_fit_the_draw_list(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    write_column("waves.csv", 2000, waves);
    rig_open(&rig, "waves.csv", 3840, 2160);
    rig.in.scale = 0.5f;
    rig_settle(&rig);
    cell_point(&rig, 1000, 1000, &x, &y);
    hover(&rig, x, y);
    for (int i = 0; i < 40; i++) {
        rig.in.wheel_y = 0.5f;
        rig_frame(&rig);
        rig_frame(&rig);
    }
    rig_close(&rig);
}

/* A click on the veil's button reaches it, not the panel under it. */
static void test_what_was_given_up_is_computed_by_a_click(void **state)
{
    struct rig rig;
    (void)state;
    write_column("waves.csv", 4000, waves);
    rig_open(&rig, "waves.csv", 1366, 768);
    rig_settle(&rig);
    const size_t query = rig.app->row.query;
    rig_set(&rig, PARAM_ORDER, NL_ORDER_SPECTRAL);
    rig_frame(&rig);
    rig_key(&rig, UI_KEY_ESC, 0);
    const time_t end = time(NULL) + RIG_PATIENCE;
    while (job_state(rig.app->job).busy && time(NULL) < end)
        frames(&rig, 1);
    frames(&rig, 40); /* long enough to be called out of date */
    const struct draw_cmd *compute = rig_find_text(&rig, "Compute");
    if (compute) { /* unless it was quicker than the key */
        rig_click(&rig, compute->rect.x + 4, compute->rect.y - 4);
        rig_settle(&rig);
        assert_int_equal(rig_result(&rig)->order->id, NL_ORDER_SPECTRAL);
    }
    assert_int_equal(rig.app->row.query, query);
    rig_close(&rig);
}

/* Figures are of the order that they stand beside, or not there yet; Esc does not lose them. */
static void test_figures_are_of_the_order_shown(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle_all(&rig);
    assert_non_null(rig_find_text(&rig, "4.35·10⁹"));
    rig_set(&rig, PARAM_ORDER, NL_ORDER_INPUT);
    rig_settle(&rig);
    if (!app_settled(rig.app)) {
        assert_null(rig_find_text(&rig, "4.35·10⁹"));
        rig_key(&rig, UI_KEY_ESC, 0);
    }
    rig_settle_all(&rig);
    assert_non_null(rig_find_text(&rig, "3.24·10⁹"));
    rig_close(&rig);
}

static double far_apart(size_t row)
{
    return (row % 2 ? 1e19 : -1e19) * (double)(row + 1);
}

static void test_figures_beyond_whole_numbers(void **state)
{
    struct rig rig;
    (void)state;
    write_column("far.csv", 50, far_apart);
    rig_open(&rig, "far.csv", 1366, 768);
    rig_settle_all(&rig);
    assert_true(rig_result(&rig)->quality->input.ar_deviation > 1e20);
    assert_non_null(rig_find_text(&rig, "·10²"));
    rig_close(&rig);
}

/* Every window of a zoomed matrix that is not held has a key of its own. */
static void test_every_detail_has_its_key(void **state)
{
    struct rig rig;
    (void)state;
    write_column("waves.csv", 4200, waves);
    rig_open(&rig, "waves.csv", 1366, 768);
    rig_settle(&rig);
    struct zoom *zoom = &rig.app->view.matrix[SCENE_TABLE];
    zoom->factor = 4200 / 24.3;
    uint64_t key = 0;
    size_t columns = 0, first = 0;
    for (int i = 0; i < 60; i++) {
        zoom->x += 0.1 / 4200;
        rig_frame(&rig);
        const struct detail *detail = &rig.app->detail;
        assert_true(detail->key != 0);
        const bool same = detail->d.cols == columns && detail->x0 == first;
        assert_true(same == (detail->key == key));
        key = detail->key;
        columns = detail->d.cols;
        first = detail->x0;
    }
    /* another metric's numbers appear with its matrix, not before */
    rig_set(&rig, PARAM_METRIC, NL_METRIC_SQEUCLIDEAN);
    zoom->x += 1.5 / 4200;
    rig_frame(&rig);
    assert_true(rig_result(&rig)->dissim->metric == NL_METRIC_SQEUCLIDEAN ||
                rig_find_text(&rig, "Euclidean · 4200"));
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->dissim->metric, NL_METRIC_SQEUCLIDEAN);
    rig_close(&rig);
}

static void test_a_held_box_sleeps(void **state)
{
    struct rig rig;
    float x0, y0, x1, y1;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle_all(&rig);
    cell_point(&rig, 10, 10, &x0, &y0);
    cell_point(&rig, 50, 50, &x1, &y1);
    rig.in.mods = UI_MOD_SHIFT;
    rig_move(&rig, x0, y0);
    inputs_press(&rig.in, UI_LEFT);
    rig_frame(&rig);
    rig_move(&rig, x1, y1);
    frames(&rig, 3);
    const uint64_t key = rig.app->selections[SCENE_TABLE].key;
    assert_true(key != 0);
    for (int i = 0; i < 10; i++) {
        rig_frame(&rig);
        assert_false(rig.frame.again);
    }
    assert_true(rig.app->selections[SCENE_TABLE].key == key);
    rig_close(&rig);
}

/* What was chosen for the columns of one file is nothing to the next. */
static void test_a_file_is_opened_without_the_last_one_s_choices(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_text("d.csv", "0,1,9\n1,0,7\n9,7,0\n");
    rig_write_text("two.csv", "a,b\n1,2\n3,4\n5,7\n");
    rig_open(&rig, "d.csv", 1366, 768);
    rig_settle(&rig);
    edit_ready(&rig.app->edits, true);
    rig_frame(&rig);
    rig_settle(&rig);
    rig_drop(&rig, "@iris");
    rig_settle_all(&rig);
    assert_string_equal(rig.app->message, "");
    edit_column(&rig.app->edits, 0);
    edit_column(&rig.app->edits, 1);
    rig_frame(&rig);
    rig_settle(&rig);
    rig_drop(&rig, "two.csv");
    rig_settle_all(&rig);
    assert_string_equal(rig.app->message, "");
    assert_int_equal(rig_result(&rig)->features->features.x.cols, 2);
    rig_close(&rig);
}

/* Esc while a dropped file is being worked on: what was there is there. */
static void test_opening_can_be_given_up(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle_all(&rig);
    rig_drop(&rig, "@sample");
    rig_key(&rig, UI_KEY_ESC, 0);
    rig_settle(&rig);
    frames(&rig, 40);
    assert_null(rig_find_text(&rig, "Compute"));
    assert_true(app_complete(rig.app));
    rig_close(&rig);
}

static void test_the_colours_of_weights_stay(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_SHOWN, SHOWN_WEIGHTS);
    for (int percent = 10; percent <= 70; percent += 20) {
        edit_param(&rig.app->edits, PARAM_PERPLEXITY,
                   (struct param_value){.number = percent, .percent = true}, true);
        rig_frame(&rig);
        rig_settle(&rig);
        assert_int_equal(matrix_of(&rig)->u.matrix.scale, DRAW_SCALE_SQRT);
        assert_true(matrix_of(&rig)->u.matrix.low == 0);
    }
    rig_close(&rig);
}

/* Tab reaches the tree; its keys walk it, and Enter selects. */
static void test_the_tree_by_keyboard(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_AVERAGE);
    rig_settle(&rig);
    rig.app->ui.focus = ui_id_of(&rig.app->ui, "dendrogram");
    rig_key(&rig, UI_KEY_RIGHT, 0); /* the root */
    rig_key(&rig, UI_KEY_ENTER, 0);
    const struct selection *selection = &rig.app->selections[SCENE_TABLE];
    assert_int_equal(selection->count, 150);
    rig_key(&rig, UI_KEY_RIGHT, 0); /* its larger part: all but setosa */
    rig_key(&rig, UI_KEY_ENTER, 0);
    assert_int_equal(selection->count, 100);
    rig_key(&rig, UI_KEY_LEFT, 0);
    rig_key(&rig, UI_KEY_ENTER, 0);
    assert_int_equal(selection->count, 150);
    rig.app->ui.focus = ui_id_of(&rig.app->ui, "matrix");
    rig_key(&rig, '+', 0);
    rig_key(&rig, '+', 0);
    assert_true(fabs(rig.app->view.matrix[SCENE_TABLE].factor - 1.5625) < 1e-9);
    const double before = rig.app->view.matrix[SCENE_TABLE].x;
    rig_key(&rig, UI_KEY_RIGHT, UI_MOD_SHIFT);
    assert_true(rig.app->view.matrix[SCENE_TABLE].x > before);
    rig_close(&rig);
}

static uint32_t random_below(uint64_t *seed, uint32_t end)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*seed >> 33) % end);
}

/* A hand that knows nothing: somewhere, something, in the middle of whatever is going on. */
static void anything(struct rig *rig, uint64_t *seed)
{
    static const char *const files[] = {"@iris", "@library", "small.ppm",
                                        "d.csv", "one.csv",  "1100.csv"};
    static const enum param_id params[] = {PARAM_ORDER,      PARAM_SHOWN,  PARAM_METRIC,
                                           PARAM_LEAF,       PARAM_SYSTEM, PARAM_SUBSAMPLE,
                                           PARAM_SIMILARITY, PARAM_ROWS,   PARAM_OVERLAY};
    static const uint32_t keys[] = {UI_KEY_TAB,   UI_KEY_UP,     UI_KEY_DOWN, UI_KEY_LEFT,
                                    UI_KEY_RIGHT, UI_KEY_ENTER,  UI_KEY_ESC,  UI_KEY_F1 + 1,
                                    'f',          UI_KEY_F1 + 2, '+',         '-'};
    rig_move(rig, (float)random_below(seed, (uint32_t)rig->in.drawable_w),
             (float)random_below(seed, (uint32_t)rig->in.drawable_h));
    switch (random_below(seed, 10)) {
    case 0:
    case 1:
        rig->in.mods = random_below(seed, 2) ? UI_MOD_SHIFT : 0;
        inputs_press(&rig->in, random_below(seed, 4) ? UI_LEFT : UI_RIGHT);
        break;
    case 2:
    case 3:
        inputs_release(&rig->in, rig->in.down);
        rig->in.mods = 0;
        break;
    case 4:
        rig->in.wheel_y = (float)random_below(seed, 9) - 3;
        break;
    case 5:
        inputs_key(&rig->in, keys[random_below(seed, COUNT_OF(keys))],
                   random_below(seed, 5) ? 0 : UI_MOD_SHIFT);
        break;
    case 6: {
        const enum param_id id = params[random_below(seed, COUNT_OF(params))];
        const double number = random_below(seed, (uint32_t)param_choices(id));
        edit_param(&rig->app->edits, id, (struct param_value){.number = number}, true);
        break;
    }
    case 7:
        if (random_below(seed, 3) == 0)
            snprintf(rig->in.dropped, sizeof rig->in.dropped, "%s",
                     files[random_below(seed, COUNT_OF(files))]);
        else if (random_below(seed, 2))
            inputs_key(&rig->in, random_below(seed, 2) ? 'z' : 'y', UI_MOD_CTRL);
        else
            edit_ready(&rig->app->edits, random_below(seed, 3) == 0);
        break;
    default:
        rig_pause();
    }
    rig_frame(rig);
}

/* Whatever is done: nothing is overrun, the order is one, and afterwards all comes to rest. */
static void test_anything_at_any_time(void **state)
{
    struct rig rig;
    uint64_t seed = 12;
    (void)state;
    rig_write_picture("small.ppm", 67, 35);
    rig_write_text("d.csv", "0,1,9\n1,0,7\n9,7,0\n");
    rig_write_text("one.csv", "a,b\n3,4\n");
    write_column("1100.csv", 1100, waves);
    rig_open(&rig, "small.ppm", 900, 640);
    for (int i = 0; i < 1500; i++) {
        anything(&rig, &seed);
        const struct order_view *order = &rig.app->order;
        for (size_t p = 0; p < order->n; p++)
            assert_true(order->order[p] < order->n && order->position[order->order[p]] == (float)p);
    }
    inputs_release(&rig.in, rig.in.down);
    rig.in.mods = 0;
    rig_move(&rig, -1, -1);
    rig_key(&rig, UI_KEY_F1 + 4, 0); /* what was given up is asked for */
    rig_settle_all(&rig);
    assert_false(rig.frame.again);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_a_chain_of_branches_fits_the_draw_list),
        CASE(test_numbers_of_many_cells_fit_the_draw_list),
        CASE(test_what_was_given_up_is_computed_by_a_click),
        cmocka_unit_test(test_figures_are_of_the_order_shown),
        CASE(test_figures_beyond_whole_numbers),
        CASE(test_every_detail_has_its_key),
        cmocka_unit_test(test_a_held_box_sleeps),
        CASE(test_a_file_is_opened_without_the_last_one_s_choices),
        cmocka_unit_test(test_opening_can_be_given_up),
        cmocka_unit_test(test_the_colours_of_weights_stay),
        cmocka_unit_test(test_the_tree_by_keyboard),
        CASE(test_anything_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
