/* SPDX-License-Identifier: MIT */
/* Who gets the pointer and the keyboard, tooltips, disabled state, ids, and the frame's report. */
#include "test_ui_rig.h"

static struct rig rig;

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 800, 600);
    return 0;
}

static const struct draw_rect left_box = {100, 100, 100, 30};
static const struct draw_rect right_box = {300, 100, 100, 30};

/* Two buttons; how often each was clicked. */
static struct {
    int left, right;
    bool disabled;
    const char *tip;
} buttons;

static void two_buttons(void)
{
    ui_disabled_begin(&rig_ui, buttons.disabled);
    buttons.left += ui_button(&rig_ui, left_box, "left", "Left", UI_BUTTON_PLAIN, buttons.tip);
    ui_disabled_end(&rig_ui);
    buttons.right += ui_button(&rig_ui, right_box, "right", "Right", UI_BUTTON_ACCENT, NULL);
}

static void frame(void)
{
    RIG_FRAME(&rig, two_buttons());
}

static int setup_buttons(void **state)
{
    setup(state);
    memset(&buttons, 0, sizeof buttons);
    frame();
    return 0;
}

static void press_at(float x, float y)
{
    rig_move(&rig, x, y);
    inputs_press(&rig.in, UI_LEFT);
    frame();
}

static void release_at(float x, float y)
{
    rig_move(&rig, x, y);
    inputs_release(&rig.in, UI_LEFT);
    frame();
}

static void key(uint32_t which, unsigned mods)
{
    inputs_key(&rig.in, which, mods);
    frame();
}

static ui_id id_of(const char *name)
{
    return ui_id_of(&rig_ui, name);
}

/* --- Pointer ---- */

static void click_needs_the_release_inside(void **state)
{
    (void)state;
    press_at(150, 110);
    assert_int_equal(buttons.left, 0);
    release_at(190, 120);
    assert_int_equal(buttons.left, 1);
    press_at(150, 110);
    release_at(150, 131);
    assert_int_equal(buttons.left, 1);
    /* Pressed outside, released inside. */
    press_at(150, 200);
    release_at(150, 110);
    assert_int_equal(buttons.left, 1);
    /* From one button to the other. */
    press_at(150, 110);
    release_at(350, 110);
    assert_int_equal(buttons.left, 1);
    assert_int_equal(buttons.right, 0);
}

static void a_click_within_one_frame_counts(void **state)
{
    (void)state;
    rig_move(&rig, 350, 110);
    inputs_press(&rig.in, UI_LEFT);
    inputs_release(&rig.in, UI_LEFT);
    frame();
    assert_int_equal(buttons.right, 1);
    assert_true(rig_ui.active == 0);
    frame();
    assert_int_equal(buttons.right, 1);
}

static void only_the_left_button_clicks(void **state)
{
    (void)state;
    rig_move(&rig, 150, 110);
    inputs_press(&rig.in, UI_RIGHT);
    frame();
    inputs_release(&rig.in, UI_RIGHT);
    frame();
    assert_int_equal(buttons.left, 0);
}

static void a_release_that_was_never_seen_ends_the_capture(void **state)
{
    (void)state;
    press_at(150, 110);
    assert_true(rig_ui.active == id_of("left"));
    rig.in.down = 0;
    frame();
    assert_true(rig_ui.active == 0);
    assert_int_equal(buttons.left, 0);
}

static void nobody_else_hovers_during_a_capture(void **state)
{
    (void)state;
    rig_move(&rig, 350, 110);
    frame();
    assert_true(rig_ui.hot == id_of("right"));
    press_at(150, 110);
    rig_move(&rig, 350, 110);
    frame();
    assert_true(rig_ui.hot == 0);
    assert_true(rig_ui.active == id_of("left"));
}

/* A canvas that logs its drag, with a button lying on it. */
static struct {
    struct ui_signal signal;
    int clicked;
    struct draw_rect clip;
} canvas;

static void draw_canvas(void)
{
    ui_clip_begin(&rig_ui, canvas.clip);
    canvas.signal =
        ui_interact(&rig_ui, ui_id_of(&rig_ui, "canvas"), (struct draw_rect){0, 0, 400, 400},
                    UI_ITEM_FOCUS | UI_ITEM_WHEEL | UI_ITEM_MIDDLE);
    canvas.clicked += ui_button(&rig_ui, (struct draw_rect){200, 200, 50, 30}, "on top", "+",
                                UI_BUTTON_PLAIN, NULL);
    ui_clip_end(&rig_ui);
}

static void canvas_frame(void)
{
    RIG_FRAME(&rig, draw_canvas());
}

static int setup_canvas(void **state)
{
    setup(state);
    memset(&canvas, 0, sizeof canvas);
    canvas.clip = (struct draw_rect){0, 0, 800, 600};
    canvas_frame();
    return 0;
}

static void a_drag_keeps_the_pointer_outside(void **state)
{
    (void)state;
    rig_move(&rig, 50, 50);
    canvas_frame();
    inputs_press(&rig.in, UI_MIDDLE);
    canvas_frame();
    assert_true(canvas.signal.pressed && canvas.signal.held);
    assert_int_equal(canvas.signal.button, UI_MIDDLE);
    rig_move(&rig, -30, 700);
    canvas_frame();
    assert_true(canvas.signal.held && !canvas.signal.hovered);
    assert_float_equal(canvas.signal.dx, -80, 0);
    assert_float_equal(canvas.signal.dy, 650, 0);
    inputs_release(&rig.in, UI_MIDDLE);
    rig_move(&rig, -31, 700);
    canvas_frame();
    assert_true(canvas.signal.released && !canvas.signal.clicked && !canvas.signal.held);
    assert_float_equal(canvas.signal.dx, -1, 0);
}

static void the_later_widget_is_on_top(void **state)
{
    (void)state;
    rig_move(&rig, 210, 210);
    inputs_press(&rig.in, UI_LEFT);
    canvas_frame();
    assert_false(canvas.signal.pressed);
    inputs_release(&rig.in, UI_LEFT);
    canvas_frame();
    assert_int_equal(canvas.clicked, 1);
    /* The wheel falls through to who wants it. */
    rig.in.wheel_y = 1;
    canvas_frame();
    assert_false(canvas.signal.hovered);
    assert_float_equal(canvas.signal.wheel_y, 1, 0);
}

static void what_is_clipped_away_is_not_hit(void **state)
{
    (void)state;
    canvas.clip = (struct draw_rect){0, 0, 800, 205};
    canvas_frame();
    rig_move(&rig, 210, 203);
    canvas_frame();
    assert_true(rig_ui.hot == id_of("on top"));
    rig_move(&rig, 210, 210);
    canvas_frame();
    assert_true(rig_ui.hot == 0);
    inputs_press(&rig.in, UI_LEFT);
    inputs_release(&rig.in, UI_LEFT);
    canvas_frame();
    assert_int_equal(canvas.clicked, 0);
}

static void double_click_is_told(void **state)
{
    (void)state;
    rig_move(&rig, 50, 50);
    inputs_press(&rig.in, UI_LEFT);
    rig.in.double_click = true;
    canvas_frame();
    assert_true(canvas.signal.double_clicked);
    canvas_frame();
    assert_false(canvas.signal.double_clicked);
}

static void hover_that_changes_without_an_event_asks_for_a_frame(void **state)
{
    (void)state;
    rig_move(&rig, 150, 110);
    frame();
    frame();
    assert_false(rig.frame.again);
    canvas.clip = (struct draw_rect){0, 0, 800, 600};
    canvas_frame(); /* another layout under the same pointer */
    assert_true(rig.frame.again);
    canvas_frame();
    assert_false(rig.frame.again);
}

/* --- Keyboard ---- */

static void tab_goes_round_in_drawing_order(void **state)
{
    (void)state;
    key(UI_KEY_TAB, 0);
    assert_true(rig_ui.focus == id_of("left"));
    key(UI_KEY_TAB, 0);
    assert_true(rig_ui.focus == id_of("right"));
    key(UI_KEY_TAB, 0);
    assert_true(rig_ui.focus == id_of("left"));
    key(UI_KEY_TAB, UI_MOD_SHIFT);
    assert_true(rig_ui.focus == id_of("right"));
    inputs_key(&rig.in, UI_KEY_TAB, 0);
    key(UI_KEY_TAB, 0);
    assert_true(rig_ui.focus == id_of("right"));
    buttons.disabled = true;
    frame();
    key(UI_KEY_TAB, 0);
    assert_true(rig_ui.focus == id_of("right"));
}

static void shift_tab_starts_at_the_end(void **state)
{
    (void)state;
    key(UI_KEY_TAB, UI_MOD_SHIFT);
    assert_true(rig_ui.focus == id_of("right"));
}

static void enter_and_space_activate_the_focus_only(void **state)
{
    (void)state;
    key(UI_KEY_ENTER, 0);
    assert_int_equal(buttons.left + buttons.right, 0);
    key(UI_KEY_TAB, 0);
    key(UI_KEY_ENTER, 0);
    assert_int_equal(buttons.left, 1);
    key(UI_KEY_SPACE, 0);
    assert_int_equal(buttons.left, 2);
    key(UI_KEY_ENTER, UI_MOD_CTRL);
    assert_int_equal(buttons.left, 2);
    assert_int_equal(buttons.right, 0);
}

static int rings(void)
{
    int count = 0;
    for (int i = 0; i < rig_list.cmd_count; i++)
        count += rig_list.cmds[i].kind == DRAW_STROKE &&
                 rig_list.cmds[i].color == rig.style.accent &&
                 rig_list.cmds[i].width == rig.style.ring;
    return count;
}

static void the_ring_shows_for_the_keyboard_not_the_mouse(void **state)
{
    (void)state;
    assert_int_equal(rings(), 0);
    key(UI_KEY_TAB, 0);
    assert_int_equal(rings(), 1);
    press_at(350, 110);
    assert_true(rig_ui.focus == id_of("right"));
    assert_int_equal(rings(), 0);
    release_at(350, 110);
    key(UI_KEY_SPACE, 0);
    assert_int_equal(rings(), 1);
    press_at(500, 500);
    assert_true(rig_ui.focus == 0);
}

static void a_key_is_taken_once_and_left_to_the_program(void **state)
{
    (void)state;
    bool first, second, other;
    inputs_key(&rig.in, 'o', UI_MOD_CTRL);
    RIG_FRAME(&rig, other = ui_key(&rig_ui, 'o', 0); first = ui_key(&rig_ui, 'o', UI_MOD_CTRL);
              second = ui_key(&rig_ui, 'o', UI_MOD_CTRL));
    assert_true(first);
    assert_false(second);
    assert_false(other);
}

static void focus_of_a_vanished_widget_is_dropped(void **state)
{
    (void)state;
    key(UI_KEY_TAB, 0);
    RIG_FRAME(&rig, (void)0);
    assert_true(rig_ui.focus == 0);
    press_at(150, 110);
    frame();
    press_at(150, 110);
    RIG_FRAME(&rig, (void)0);
    assert_true(rig_ui.active == 0);
}

static void too_many_keys_are_dropped(void **state)
{
    (void)state;
    for (int i = 0; i < INPUTS_MAX_KEYS + 10; i++)
        inputs_key(&rig.in, 'a', 0);
    assert_int_equal(rig.in.key_count, INPUTS_MAX_KEYS);
    for (int i = 0; i < INPUTS_MAX_TEXT; i++)
        inputs_text(&rig.in, "\xE4\xB8\xAD");
    assert_int_equal(rig.in.text_length % 3, 0);
    assert_int_equal(rig.in.text_length, strlen(rig.in.text));
    frame();
    assert_int_equal(rig.in.key_count + rig.in.text_length, 0);
}

/* --- Disabled ---- */

static void disabled_ignores_pointer_and_keys(void **state)
{
    (void)state;
    key(UI_KEY_TAB, 0);
    buttons.disabled = true;
    frame();
    assert_true(rig_ui.focus == 0);
    press_at(150, 110);
    release_at(150, 110);
    assert_int_equal(buttons.left, 0);
    assert_true(rig_ui.focus == 0);
    assert_int_equal(rig_find_text("Left")->color, rig.style.disabled);
    assert_int_equal(rig_find_text("Right")->color, rig.style.on_accent);
    buttons.disabled = false;
    press_at(150, 110);
    buttons.disabled = true;
    release_at(150, 110);
    assert_int_equal(buttons.left, 0);
}

static void disabled_nests(void **state)
{
    (void)state;
    bool seen[5];
    RIG_FRAME(&rig, ui_disabled_begin(&rig_ui, false); seen[0] = ui_is_disabled(&rig_ui);
              ui_disabled_begin(&rig_ui, true); seen[1] = ui_is_disabled(&rig_ui);
              ui_disabled_begin(&rig_ui, false); seen[2] = ui_is_disabled(&rig_ui);
              ui_disabled_end(&rig_ui); seen[3] = ui_is_disabled(&rig_ui); ui_disabled_end(&rig_ui);
              seen[4] = ui_is_disabled(&rig_ui); ui_disabled_end(&rig_ui));
    assert_false(seen[0]);
    assert_true(seen[1] && seen[2] && seen[3]);
    assert_false(seen[4]);
}

/* --- Tooltips ---- */

static void tooltip_after_half_a_second(void **state)
{
    (void)state;
    buttons.tip = "what it does";
    rig_move(&rig, 150, 110);
    double start = rig.in.time;
    frame();
    assert_null(rig_find_text("what it does"));
    assert_float_equal(rig.frame.wake_in, 0.5, 1e-9);
    rig.in.time = start + 0.25;
    frame();
    assert_null(rig_find_text("what it does"));
    assert_float_equal(rig.frame.wake_in, 0.25, 1e-9);
    rig.in.time = start + 0.5;
    frame();
    assert_non_null(rig_find_text("what it does"));
    assert_true(rig.frame.wake_in < 0);
    /* Last, in a region of its own. */
    assert_int_equal(rig_list.cmds[rig_list.cmd_count - 1].region, rig_list.region_count - 1);
    /* Acting hides it, until the pointer has been elsewhere. */
    press_at(150, 110);
    release_at(150, 110);
    rig.in.time += 1;
    frame();
    assert_null(rig_find_text("what it does"));
    rig_move(&rig, 10, 10);
    frame();
    rig_move(&rig, 150, 110);
    frame();
    rig.in.time += 1;
    frame();
    assert_non_null(rig_find_text("what it does"));
    rig_move(&rig, 350, 110);
    frame();
    assert_null(rig_find_text("what it does"));
    assert_true(rig.frame.wake_in < 0);
}

static void tooltip_also_on_disabled(void **state)
{
    (void)state;
    buttons.tip = "needs a picture";
    buttons.disabled = true;
    rig_move(&rig, 150, 110);
    frame();
    rig.in.time += 0.5;
    frame();
    assert_non_null(rig_find_text("needs a picture"));
}

static void notes_stay_inside_the_window(void **state)
{
    (void)state;
    const char *text = "a note that is long enough to wrap once or twice before it ends, somewhere";
    const float places[][2] = {{0, 0}, {799, 0}, {0, 599}, {799, 599}, {400, 300}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        rig_move(&rig, places[i][0], places[i][1]);
        RIG_FRAME(&rig, ui_note(&rig_ui, text));
        struct draw_rect r = rig_list.regions[rig_list.region_count - 1].rect;
        assert_true(r.w > 100 && r.h > 20);
        for (int c = 0; c < rig_list.cmd_count; c++) {
            struct draw_rect box = rig_list.cmds[c].rect;
            assert_true(box.x >= -1 && box.x + box.w <= 801);
            assert_true(box.y >= 0 && box.y + box.h <= 600);
        }
    }
    /* A text longer than the buffer is cut at a character. */
    static char large[3000];
    for (size_t i = 0; i + 3 < sizeof large; i += 3)
        memcpy(large + i, "\xE4\xB8\xAD", 3);
    RIG_FRAME(&rig, ui_note(&rig_ui, large));
    assert_int_equal(strlen(rig_ui.tip.text),
                     UI_MAX_TIP - UI_MAX_TIP % 3 - (UI_MAX_TIP % 3 == 0) * 3);
}

/* --- Ids and balance ---- */

static void ids_depend_on_the_stack(void **state)
{
    (void)state;
    ui_id plain = id_of("a"), inside, number, pointer;
    RIG_FRAME(&rig, ui_id_push(&rig_ui, ui_id_of(&rig_ui, "panel")); inside = id_of("a");
              number = ui_id_of_int(&rig_ui, 7); pointer = ui_id_of_pointer(&rig_ui, &plain);
              ui_id_pop(&rig_ui));
    assert_true(plain != inside && inside != number && number != pointer);
    assert_true(id_of("a") == plain);
    assert_true(id_of("b") != plain);
    assert_true(ui_id_part(plain, "bar") != plain);
    assert_true(ui_id_of_int(&rig_ui, 1) != ui_id_of_int(&rig_ui, 2));
}

static void mistakes_are_counted_and_mended(void **state)
{
    (void)state;
    struct ui_frame report;
    ui_begin(&rig_ui, &rig.in, &rig_list, &rig.style);
    for (int i = 0; i < UI_MAX_IDS + 3; i++)
        ui_id_push(&rig_ui, 1);
    ui_clip_begin(&rig_ui, left_box);
    ui_disabled_begin(&rig_ui, true);
    ui_end(&rig_ui, &report);
    assert_int_equal(rig_ui.faults.ids, 3);
    assert_int_equal(rig_ui.faults.unbalanced, 1);

    ui_begin(&rig_ui, &rig.in, &rig_list, &rig.style);
    assert_int_equal(rig_ui.id_depth, 0);
    assert_false(ui_is_disabled(&rig_ui));
    ui_id_pop(&rig_ui);
    ui_clip_end(&rig_ui);
    ui_disabled_end(&rig_ui);
    ui_end(&rig_ui, &report);
    assert_int_equal(rig_ui.faults.unbalanced, 4);
    assert_int_equal(rig_ui.faults.duplicates, 0);

    ui_begin(&rig_ui, &rig.in, &rig_list, &rig.style);
    ui_interact(&rig_ui, 5, left_box, 0);
    ui_interact(&rig_ui, 5, right_box, 0);
    for (int i = 0; i < UI_MAX_ITEMS; i++)
        ui_interact(&rig_ui, (ui_id)(100 + i), left_box, 0);
    ui_end(&rig_ui, &report);
    assert_int_equal(rig_ui.faults.duplicates, 1);
    assert_int_equal(rig_ui.faults.items, 2);
}

static void the_frame_reports(void **state)
{
    (void)state;
    frame();
    assert_false(rig.frame.again);
    assert_true(rig.frame.wake_in < 0);
    assert_int_equal(rig.frame.cursor, UI_CURSOR_ARROW);
    RIG_FRAME(&rig, ui_set_cursor(&rig_ui, UI_CURSOR_CROSS); ui_again(&rig_ui);
              ui_wake_at(&rig_ui, rig.in.time + 3); ui_wake_at(&rig_ui, rig.in.time + 2);
              ui_wake_at(&rig_ui, rig.in.time + 4));
    assert_true(rig.frame.again);
    assert_int_equal(rig.frame.cursor, UI_CURSOR_CROSS);
    assert_float_equal(rig.frame.wake_in, 2, 1e-9);
    /* Past: at once, but not negative, which would mean never. */
    RIG_FRAME(&rig, ui_wake_at(&rig_ui, rig.in.time - 1));
    assert_float_equal(rig.frame.wake_in, 0, 0);
}

static void same_inputs_same_hashes(void **state)
{
    (void)state;
    uint64_t hash[3];
    frame();
    hash[0] = rig_list.regions[0].hash;
    frame();
    hash[1] = rig_list.regions[0].hash;
    rig_move(&rig, 150, 110);
    frame();
    hash[2] = rig_list.regions[0].hash;
    assert_true(hash[0] == hash[1]);
    assert_true(hash[1] != hash[2]);
}

#define WITH(test, prepare) cmocka_unit_test_setup(test, prepare)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(click_needs_the_release_inside, setup_buttons),
        WITH(a_click_within_one_frame_counts, setup_buttons),
        WITH(only_the_left_button_clicks, setup_buttons),
        WITH(a_release_that_was_never_seen_ends_the_capture, setup_buttons),
        WITH(nobody_else_hovers_during_a_capture, setup_buttons),
        WITH(a_drag_keeps_the_pointer_outside, setup_canvas),
        WITH(the_later_widget_is_on_top, setup_canvas),
        WITH(what_is_clipped_away_is_not_hit, setup_canvas),
        WITH(double_click_is_told, setup_canvas),
        WITH(hover_that_changes_without_an_event_asks_for_a_frame, setup_buttons),
        WITH(tab_goes_round_in_drawing_order, setup_buttons),
        WITH(shift_tab_starts_at_the_end, setup_buttons),
        WITH(enter_and_space_activate_the_focus_only, setup_buttons),
        WITH(the_ring_shows_for_the_keyboard_not_the_mouse, setup_buttons),
        WITH(a_key_is_taken_once_and_left_to_the_program, setup_buttons),
        WITH(focus_of_a_vanished_widget_is_dropped, setup_buttons),
        WITH(too_many_keys_are_dropped, setup_buttons),
        WITH(disabled_ignores_pointer_and_keys, setup_buttons),
        WITH(disabled_nests, setup),
        WITH(tooltip_after_half_a_second, setup_buttons),
        WITH(tooltip_also_on_disabled, setup_buttons),
        WITH(notes_stay_inside_the_window, setup),
        WITH(ids_depend_on_the_stack, setup),
        WITH(mistakes_are_counted_and_mended, setup),
        WITH(the_frame_reports, setup_buttons),
        WITH(same_inputs_same_hashes, setup_buttons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
