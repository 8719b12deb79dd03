/* SPDX-License-Identifier: MIT */
/* Sliders: mapping, dragging, keys, wheel. */
#include "test_ui_rig.h"

static struct rig rig;

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 800, 600);
    return 0;
}

static const struct draw_rect track = {100, 100, 212, 30}; /* knob from x = 106 to 306 */

static struct {
    struct ui_range range;
    double value;
    int result, changes, commits;
    bool disabled;
} slider;

static void slider_frame(void)
{
    RIG_FRAME(&rig, ui_disabled_begin(&rig_ui, slider.disabled);
              slider.result =
                  ui_slider(&rig_ui, track, "slider", &slider.range, &slider.value, NULL, "tip");
              ui_disabled_end(&rig_ui));
    slider.changes += (slider.result & UI_CHANGED) != 0;
    slider.commits += (slider.result & UI_COMMITTED) != 0;
}

static void start_slider(struct ui_range range, double value)
{
    setup(NULL);
    memset(&slider, 0, sizeof slider);
    slider.range = range;
    slider.value = value;
    slider_frame();
    assert_int_equal(slider.result, 0);
}

static void slide_to(float x)
{
    rig_move(&rig, x, 115);
    slider_frame();
}

static void slider_press(float x)
{
    inputs_press(&rig.in, UI_LEFT);
    slide_to(x);
}

static void slider_release(float x)
{
    inputs_release(&rig.in, UI_LEFT);
    slide_to(x);
}

static void slider_key(uint32_t key)
{
    inputs_key(&rig.in, key, 0);
    slider_frame();
}

static void mapping_is_exact_at_the_ends(void **state)
{
    (void)state;
    const struct ui_range ranges[] = {
        {.min = 0.1, .max = 0.7},
        {.min = -3, .max = 1e9, .step = 0.3},
        {.min = 1e-3, .max = 10, .log = true},
        {.min = 1, .max = 100, .step = 7},
        {.min = 1, .max = 64, .step = 1, .log = true},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const struct ui_range *r = &ranges[i];
        assert_true(ui_range_at(r, 0) == r->min);
        assert_true(ui_range_at(r, 1) == r->max);
        assert_true(ui_range_at(r, -0.5) == r->min && ui_range_at(r, 7) == r->max);
        assert_true(ui_range_at(r, NAN) == r->min);
        assert_true(ui_range_position(r, r->min) == 0);
        assert_true(ui_range_position(r, r->max) == 1);
        for (double t = 0; t < 1; t += 0.01) {
            double value = ui_range_at(r, t);
            assert_true(value >= r->min && value <= r->max);
            assert_true(value <= ui_range_at(r, t + 0.01));
        }
    }
    struct ui_range log_range = {.min = 0.01, .max = 100, .log = true};
    assert_float_equal(ui_range_at(&log_range, 0.5), 1, 1e-9);
    assert_float_equal(ui_range_position(&log_range, 10), 0.75, 1e-9);
    struct ui_range grid = {.min = 1, .max = 100, .step = 7};
    assert_true(ui_range_at(&grid, 0.5) == 50);
    assert_true(ui_range_at(&grid, 0.52) == 50);
}

static void senseless_ranges_do_no_harm(void **state)
{
    (void)state;
    const struct ui_range ranges[] = {{0}, {.min = 2, .max = 1}, {.min = 0, .max = 5, .log = true}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        start_slider(ranges[i], NAN);
        slider_press(200);
        slider_release(300);
        slider_key(UI_KEY_UP);
        slider_key(UI_KEY_DELETE);
        assert_true(isfinite(slider.value));
        assert_true(ui_range_position(&ranges[i], 1e300) <= 1);
    }
}

static void a_drag_changes_often_and_commits_once(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 100}, 50);
    slider_press(206); /* on the knob */
    assert_int_equal(slider.result, 0);
    slide_to(226);
    assert_int_equal(slider.result, UI_CHANGED);
    assert_float_equal(slider.value, 60, 1e-4);
    slide_to(226);
    assert_int_equal(slider.result, 0);
    rig_move(&rig, 246, 500); /* far below: still held */
    slider_frame();
    assert_int_equal(slider.result, UI_CHANGED);
    slide_to(1000);
    assert_true(slider.value == 100);
    slide_to(-50);
    assert_true(slider.value == 0);
    assert_int_equal(slider.commits, 0);
    slider_release(126); /* moved between the last frame and the release */
    assert_int_equal(slider.result, UI_CHANGED | UI_COMMITTED);
    assert_float_equal(slider.value, 10, 1e-4);
    slide_to(200);
    slide_to(210);
    assert_int_equal(slider.changes, 5);
    assert_int_equal(slider.commits, 1);
}

static void a_press_beside_the_knob_jumps(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 100}, 50);
    slider_press(286);
    assert_int_equal(slider.result, UI_CHANGED);
    assert_float_equal(slider.value, 90, 1e-4);
    slider_release(286);
    assert_int_equal(slider.result, UI_COMMITTED);
    assert_int_equal(slider.changes, 1);
}

static void a_grabbed_knob_does_not_jump(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 100}, 50);
    slider_press(210); /* right of its centre */
    slider_release(210);
    assert_true(slider.value == 50);
    assert_int_equal(slider.changes + slider.commits, 0);
    slider_press(210);
    slide_to(212);
    assert_float_equal(slider.value, 51, 1e-4);
    slider_release(212);
    assert_int_equal(slider.commits, 1);
}

static void grabbing_loses_no_digit(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0.001, .max = 7, .log = true}, 0.1234567891);
    double at = ui_range_position(&slider.range, slider.value);
    slider_press(roundf(106 + 200 * (float)at) + 2);
    slider_release(roundf(106 + 200 * (float)at) + 2);
    assert_true(slider.value == 0.1234567891);
    assert_int_equal(slider.changes + slider.commits, 0);
}

static void the_last_step_may_be_short(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 1, .max = 10, .step = 4, .initial = 10}, 5);
    inputs_key(&rig.in, UI_KEY_TAB, 0);
    slider_frame();
    const double up[] = {9, 10, 10}, down[] = {9, 5, 1, 1};
    for (int i = 0; i < 3; i++) {
        slider_key(UI_KEY_RIGHT);
        assert_true(slider.value == up[i]);
    }
    for (int i = 0; i < 4; i++) {
        slider_key(UI_KEY_LEFT);
        assert_true(slider.value == down[i]);
    }
    slider_key(UI_KEY_DELETE);
    assert_true(slider.value == 10);
}

static void press_and_release_in_one_frame(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 100}, 50);
    rig_move(&rig, 286, 115);
    inputs_press(&rig.in, UI_LEFT);
    inputs_release(&rig.in, UI_LEFT);
    slider_frame();
    assert_int_equal(slider.result, UI_CHANGED | UI_COMMITTED);
    assert_float_equal(slider.value, 90, 1e-4);
}

static void escape_takes_a_drag_back(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 100}, 50);
    slider_press(206);
    slide_to(256);
    slider_key(UI_KEY_ESC);
    assert_true(slider.value == 50);
    assert_int_equal(slider.result, UI_CHANGED | UI_COMMITTED);
    slide_to(290);
    slider_release(290);
    assert_true(slider.value == 50);
    assert_int_equal(slider.commits, 1);
}

static void a_slider_disabled_under_the_hand_commits(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 100}, 50);
    slider_press(206);
    slide_to(256);
    slider.disabled = true;
    slide_to(266);
    assert_int_equal(slider.result, UI_COMMITTED);
    slide_to(276);
    slider_release(276);
    assert_float_equal(slider.value, 75, 1e-4);
    assert_int_equal(slider.commits, 1);
}

static void slider_by_keyboard(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 4, .max = 40, .step = 2, .initial = 12}, 20);
    slider_key(UI_KEY_RIGHT);
    assert_true(slider.value == 20); /* no focus yet */
    inputs_key(&rig.in, UI_KEY_TAB, 0);
    slider_frame();
    slider_key(UI_KEY_RIGHT);
    assert_true(slider.value == 22);
    assert_int_equal(slider.result, UI_CHANGED | UI_COMMITTED);
    slider_key(UI_KEY_UP);
    assert_true(slider.value == 24);
    slider_key(UI_KEY_LEFT);
    slider_key(UI_KEY_DOWN);
    assert_true(slider.value == 20);
    slider_key(UI_KEY_PAGE_UP);
    assert_true(slider.value == 24);
    slider_key(UI_KEY_PAGE_DOWN);
    assert_true(slider.value == 20);
    slider_key(UI_KEY_END);
    assert_true(slider.value == 40);
    slider_key(UI_KEY_RIGHT);
    assert_int_equal(slider.result, 0);
    slider_key(UI_KEY_HOME);
    assert_true(slider.value == 4);
    slider_key(UI_KEY_DELETE);
    assert_true(slider.value == 12);
    /* Two in one frame. */
    inputs_key(&rig.in, UI_KEY_RIGHT, 0);
    slider_key(UI_KEY_RIGHT);
    assert_true(slider.value == 16);
}

static void log_steps_move_on_the_grid(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 1, .max = 1000, .step = 1, .log = true}, 1);
    inputs_key(&rig.in, UI_KEY_TAB, 0);
    slider_frame();
    slider_key(UI_KEY_RIGHT);
    assert_true(slider.value == 2);
    int presses = 1;
    for (; slider.value < 1000 && presses < 1000; presses++) {
        double before = slider.value;
        slider_key(UI_KEY_RIGHT);
        assert_true(slider.value >= before + 1 && slider.value == round(slider.value));
    }
    assert_true(slider.value == 1000);
    assert_in_range(presses, 50, 110);
}

static void wheel_and_double_click(void **state)
{
    (void)state;
    start_slider((struct ui_range){.min = 0, .max = 10, .step = 1, .initial = 3}, 5);
    rig.in.wheel_y = 1;
    slider_frame();
    assert_true(slider.value == 5); /* not over it */
    slide_to(150);
    rig.in.wheel_y = 1;
    slider_frame();
    assert_true(slider.value == 6);
    assert_int_equal(slider.result, UI_CHANGED | UI_COMMITTED);
    /* A touch pad: four quarters are one notch. */
    for (int i = 0; i < 4; i++) {
        assert_true(slider.value == 6);
        rig.in.wheel_y = -0.25f;
        slider_frame();
    }
    assert_true(slider.value == 5);
    rig.in.double_click = true;
    slider_press(300);
    assert_true(slider.value == 3);
    assert_int_equal(slider.result, UI_CHANGED | UI_COMMITTED);
    slide_to(310);
    slider_release(310);
    assert_true(slider.value == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mapping_is_exact_at_the_ends),
        cmocka_unit_test(senseless_ranges_do_no_harm),
        cmocka_unit_test(a_drag_changes_often_and_commits_once),
        cmocka_unit_test(a_press_beside_the_knob_jumps),
        cmocka_unit_test(a_grabbed_knob_does_not_jump),
        cmocka_unit_test(grabbing_loses_no_digit),
        cmocka_unit_test(the_last_step_may_be_short),
        cmocka_unit_test(press_and_release_in_one_frame),
        cmocka_unit_test(escape_takes_a_drag_back),
        cmocka_unit_test(a_slider_disabled_under_the_hand_commits),
        cmocka_unit_test(slider_by_keyboard),
        cmocka_unit_test(log_steps_move_on_the_grid),
        cmocka_unit_test(wheel_and_double_click),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
