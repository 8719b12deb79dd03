/* SPDX-License-Identifier: MIT */
/* Drop-downs, check boxes, progress, panels, rows, scroll areas. */
#include <stdio.h>

#include "test_ui_rig.h"

static struct rig rig;

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 800, 600);
    return 0;
}

/* --- Drop-downs --------------------------------------------------------------------------- */

static const char *const fruits[] = {"Apple", "Banana", "Cherry", "blueberry", "\xC3\x84pfel"};
static const struct draw_rect combo = {100, 100, 130, 26};

static struct {
    int choice, result, count, below;
    bool disabled;
} menu;

static const char *numbered(void *user, int i)
{
    static char text[16];
    (void)user;
    snprintf(text, sizeof text, "item %d", i);
    return text;
}

/* The drop-down, and a button where its list opens. */
static void menu_widgets(void)
{
    struct ui_choices many = {.name = numbered, .count = menu.count, .none = "none"};
    ui_disabled_begin(&rig_ui, menu.disabled);
    if (menu.count)
        menu.result = ui_dropdown_of(&rig_ui, combo, "menu", &many, &menu.choice, NULL);
    else
        menu.result = ui_dropdown(&rig_ui, combo, "menu", fruits, 5, &menu.choice, "tip");
    ui_disabled_end(&rig_ui);
    menu.below += ui_button(&rig_ui, (struct draw_rect){100, 140, 130, 200}, "below", "Below",
                            UI_BUTTON_PLAIN, NULL);
}

static void menu_frame(void)
{
    RIG_FRAME(&rig, menu_widgets());
}

static int setup_menu(void **state)
{
    setup(state);
    memset(&menu, 0, sizeof menu);
    menu_frame();
    return 0;
}

static void menu_click(float x, float y)
{
    rig_move(&rig, x, y);
    menu_frame();
    inputs_press(&rig.in, UI_LEFT);
    menu_frame();
    inputs_release(&rig.in, UI_LEFT);
    menu_frame();
}

static void menu_key(uint32_t key)
{
    inputs_key(&rig.in, key, 0);
    menu_frame();
}

static bool menu_open(void)
{
    return rig_ui.popup.id != 0;
}

/* Middle of row i of the open list: it begins below the control, with a padding of 4. */
static float row_y(int i)
{
    return 100 + 26 + 1 + 4 + 26 * ((float)i + 0.5f);
}

static void choose_by_mouse(void **state)
{
    (void)state;
    menu_click(150, 110);
    assert_true(menu_open());
    assert_non_null(rig_find_text("Cherry"));
    menu_click(150, row_y(2));
    assert_int_equal(menu.choice, 2);
    assert_int_equal(menu.result, UI_CHANGED | UI_COMMITTED);
    assert_false(menu_open());
    assert_int_equal(menu.below, 0); /* the button under the list saw nothing */
    menu_frame();
    assert_int_equal(menu.result, 0);
    assert_null(rig_find_text("Banana"));
    /* The closed list is not there any more, not even for a press in the very next frame. */
    menu_click(150, 110);
    menu_key(UI_KEY_ENTER);
    inputs_press(&rig.in, UI_LEFT);
    rig_move(&rig, 150, row_y(1));
    menu_frame();
    assert_true(rig_ui.active == ui_id_of(&rig_ui, "below"));
    inputs_release(&rig.in, UI_LEFT);
    menu_frame();
    assert_int_equal(menu.below, 1);
    /* The same row again: no change to report. */
    menu_click(150, 110);
    menu_click(150, row_y(2));
    assert_int_equal(menu.result, 0);
    assert_false(menu_open());
    menu_click(150, 150);
    assert_int_equal(menu.below, 2);
}

static void a_press_outside_only_closes(void **state)
{
    (void)state;
    menu_click(150, 110);
    menu_click(150, 330); /* on the button, below the list */
    assert_false(menu_open());
    assert_int_equal(menu.below, 0);
    assert_int_equal(menu.choice, 0);
    menu_click(150, 110);
    assert_true(menu_open());
    menu_click(150, 110); /* the control itself closes too */
    assert_false(menu_open());
}

static void the_list_is_drawn_last(void **state)
{
    (void)state;
    menu_click(150, 110);
    const struct draw_cmd *under = rig_find_text("Below"), *row = rig_find_text("Banana");
    assert_non_null(under);
    assert_true(row > under);
    assert_int_equal(row->region, rig_list.region_count - 1);
    assert_true(row->region != under->region);
}

static void choose_by_keyboard(void **state)
{
    (void)state;
    menu_key(UI_KEY_TAB);
    menu_key(UI_KEY_ENTER);
    assert_true(menu_open());
    menu_key(UI_KEY_DOWN);
    menu_key(UI_KEY_DOWN);
    menu_key(UI_KEY_UP);
    assert_int_equal(menu.choice, 0);
    menu_key(UI_KEY_ENTER);
    assert_int_equal(menu.choice, 1);
    assert_int_equal(menu.result, UI_CHANGED | UI_COMMITTED);
    assert_false(menu_open());
    /* Letters, upper case or lower, round the end; text and key of one stroke count once. */
    menu_key(UI_KEY_SPACE);
    inputs_text(&rig.in, "B");
    menu_key('b');
    assert_int_equal(rig_ui.popup.index, 3);
    menu_key('b');
    assert_int_equal(rig_ui.popup.index, 1);
    inputs_text(&rig.in, "\xC3\x84");
    menu_frame();
    assert_int_equal(rig_ui.popup.index, 4);
    menu_key(UI_KEY_HOME);
    assert_int_equal(rig_ui.popup.index, 0);
    menu_key(UI_KEY_END);
    menu_key(UI_KEY_SPACE);
    assert_int_equal(menu.choice, 4);
}

static void escape_and_tab_close(void **state)
{
    (void)state;
    bool leaked = true;
    menu_key(UI_KEY_TAB);
    menu_key(UI_KEY_ENTER);
    menu_key(UI_KEY_DOWN);
    inputs_key(&rig.in, UI_KEY_ESC, 0);
    RIG_FRAME(&rig, menu_widgets(); leaked = ui_key(&rig_ui, UI_KEY_ESC, 0));
    assert_false(leaked);
    assert_false(menu_open());
    assert_int_equal(menu.choice, 0);
    menu_key(UI_KEY_ENTER);
    assert_true(menu_open());
    menu_key(UI_KEY_TAB);
    assert_false(menu_open());
    assert_true(rig_ui.focus == ui_id_of(&rig_ui, "below"));
}

static void an_open_list_keeps_keys_from_the_program(void **state)
{
    (void)state;
    bool early = true, late = true;
    menu_key(UI_KEY_TAB);
    menu_key(UI_KEY_ENTER);
    inputs_key(&rig.in, 'q', UI_MOD_CTRL);
    RIG_FRAME(&rig, early = ui_key(&rig_ui, 'q', UI_MOD_CTRL); menu_widgets();
              late = ui_key(&rig_ui, 'q', UI_MOD_CTRL));
    assert_false(early);
    assert_false(late);
}

static void closed_it_steps_with_up_and_down(void **state)
{
    (void)state;
    menu_key(UI_KEY_TAB);
    menu_key(UI_KEY_DOWN);
    assert_int_equal(menu.choice, 1);
    assert_int_equal(menu.result, UI_CHANGED | UI_COMMITTED);
    menu_key(UI_KEY_UP);
    menu_key(UI_KEY_UP);
    assert_int_equal(menu.choice, 0);
    assert_int_equal(menu.result, 0);
    assert_false(menu_open());
}

static void a_long_list_scrolls_inside_the_window(void **state)
{
    (void)state;
    menu.count = 100;
    menu.choice = 90;
    menu_click(150, 110);
    assert_true(menu_open());
    struct draw_rect box = rig_list.regions[rig_list.region_count - 1].rect;
    assert_true(box.y >= 0 && box.y + box.h <= 600);
    assert_non_null(rig_find_text("item 90")); /* in the list too, not only in the control */
    assert_non_null(rig_find_text("item 91"));
    assert_null(rig_find_text("item 3"));
    menu_key(UI_KEY_HOME);
    assert_non_null(rig_find_text("item 3"));
    assert_null(rig_find_text("item 91"));
    rig_move(&rig, 150, 300);
    rig.in.wheel_y = -10;
    menu_frame();
    menu_frame();
    assert_null(rig_find_text("item 3"));
    rig.in.wheel_y = -1000;
    menu_frame();
    menu_frame();
    assert_non_null(rig_find_text("item 99"));
    menu_key(UI_KEY_PAGE_UP);
    menu_key(UI_KEY_ENTER);
    assert_in_range(menu.choice, 50, 85);
}

static void degenerate_menus(void **state)
{
    (void)state;
    menu.choice = 77;
    menu_frame();
    menu_click(150, 110);
    assert_true(menu_open());
    menu_key(UI_KEY_ESC);
    menu_click(150, 110);
    menu.disabled = true;
    menu_frame();
    assert_false(menu_open());
    assert_int_equal(menu.choice, 77);
    menu.disabled = false;
    menu_click(150, 110);
    RIG_FRAME(&rig, (void)0); /* the panel is gone while its list is open */
    assert_false(menu_open());
    int choice = 0, result = 0;
    for (int i = 0; i < 3; i++) {
        rig_move(&rig, 150, 110);
        inputs_press(&rig.in, UI_LEFT);
        inputs_release(&rig.in, UI_LEFT);
        RIG_FRAME(&rig, result |= ui_dropdown(&rig_ui, combo, "no items", NULL, 0, &choice, NULL));
    }
    assert_int_equal(result, 0);
    assert_false(menu_open());
}

/* --- Check boxes, progress, panels -------------------------------------------------------- */

static void check_box_toggles(void **state)
{
    (void)state;
    bool on = false;
    int result = 0;
#define CHECK_FRAME()                                                                              \
    RIG_FRAME(&rig, result = ui_checkbox(&rig_ui, combo, "check", "Contour", &on, NULL))
    CHECK_FRAME();
    int empty = rig_list.cmd_count;
    rig_move(&rig, 200, 110); /* on its label */
    inputs_press(&rig.in, UI_LEFT);
    CHECK_FRAME();
    assert_false(on);
    inputs_release(&rig.in, UI_LEFT);
    CHECK_FRAME();
    assert_true(on);
    assert_int_equal(result, UI_CHANGED | UI_COMMITTED);
    assert_true(rig_list.cmd_count > empty); /* the tick */
    inputs_key(&rig.in, UI_KEY_SPACE, 0);
    CHECK_FRAME();
    assert_false(on);
#undef CHECK_FRAME
}

static void progress_is_cancelled(void **state)
{
    (void)state;
    struct draw_rect r = {0, 0, 400, 30};
    bool cancelled = false;
    const float fractions[] = {0, 0.5f, 1, 7, -1, NAN};
    for (int i = 0; i < 6; i++) {
        RIG_FRAME(&rig,
                  cancelled = ui_progress(&rig_ui, r, "work", "Distances", fractions[i], "Cancel"));
        assert_false(cancelled);
        assert_int_equal(rig.frame.again, i >= 4);
    }
    rig_move(&rig, 390, 15);
    inputs_press(&rig.in, UI_LEFT);
    inputs_release(&rig.in, UI_LEFT);
    RIG_FRAME(&rig, cancelled = ui_progress(&rig_ui, r, "work", "Distances", 0.5f, "Cancel"));
    assert_true(cancelled);
    rig.style.reduce_motion = true;
    rig_move(&rig, 10, 300);
    RIG_FRAME(&rig, ui_progress(&rig_ui, r, "work", NULL, -1, NULL));
    RIG_FRAME(&rig, ui_progress(&rig_ui, r, "work", NULL, -1, NULL));
    assert_false(rig.frame.again);
}

static void a_panel_is_a_region_with_a_title(void **state)
{
    (void)state;
    struct draw_rect inside, bare;
    RIG_FRAME(&rig, inside = ui_panel_begin(&rig_ui, (struct draw_rect){8, 48, 252, 576},
                                            "Attention", "heat = weight a_{ij}");
              ui_panel_end(&rig_ui);
              bare = ui_panel_begin(&rig_ui, (struct draw_rect){300, 0, 100, 100}, NULL, NULL);
              ui_panel_end(&rig_ui));
    assert_int_equal(rig_list.region_count, 2);
    assert_float_equal(inside.x, 20, 0);
    assert_float_equal(inside.y, 84, 0);
    assert_float_equal(inside.w, 228, 0);
    assert_float_equal(bare.y, 12, 0);
    const struct draw_cmd *title = rig_find_text("Attention"), *script = rig_find_text("ij");
    assert_int_equal(title->font, DRAW_FONT_BOLD);
    assert_true(script && script->size < rig.style.caption);
    const struct draw_cmd *caption = rig_find_text("heat = weight a");
    assert_float_equal(caption->rect.y, title->rect.y, 0);
    assert_float_equal(caption->rect.x, title->rect.x + 9 * CHAR_W + 8, 0);
}

static void rows_stand_as_drawn(void **state)
{
    (void)state;
    struct ui_column column;
    struct draw_rect second;
    RIG_FRAME(&rig, column = ui_column((struct draw_rect){20, 86, 228, 500}, 0);
              ui_row(&rig_ui, &column, "one", "System", NULL);
              second = ui_row(&rig_ui, &column, "two", "Similarity", "tip"));
    assert_float_equal(second.x, 20 + 88 + 8, 0);
    assert_float_equal(second.w, 228 - 96, 0);
    assert_float_equal(second.y, 116, 0);
    assert_float_equal(second.h, 30, 0);
    assert_int_equal(rig_find_text("System")->color, rig.style.muted);
}

/* --- Scroll areas ------------------------------------------------------------------------- */

static const struct draw_rect view = {20, 100, 200, 300};

static struct {
    struct ui_scroll scroll;
    int rows, clicked;
} area;

static void area_widgets(void)
{
    struct draw_rect inside = ui_scroll_begin(&rig_ui, view, "area", &area.scroll);
    struct ui_column column = ui_column(inside, 0);
    for (int i = 0; i < area.rows; i++) {
        char name[16];
        snprintf(name, sizeof name, "row %d", i);
        if (ui_button(&rig_ui, ui_column_next(&column, 30), name, name, UI_BUTTON_PLAIN, NULL))
            area.clicked = i;
    }
    ui_scroll_end(&rig_ui, view, &area.scroll, ui_column_used(&column));
}

static void area_frame(void)
{
    RIG_FRAME(&rig, area_widgets());
}

static int setup_area(void **state)
{
    setup(state);
    memset(&area, 0, sizeof area);
    area.rows = 20; /* 600 in a view of 300 */
    area_frame();
    area_frame();
    assert_false(rig.frame.again);
    return 0;
}

static void wheel_scrolls_within_bounds(void **state)
{
    (void)state;
    assert_non_null(rig_find_text("row 0"));
    assert_null(rig_find_text("row 19"));
    rig_move(&rig, 100, 200);
    rig.in.wheel_y = -1;
    area_frame();
    assert_float_equal(area.scroll.y, 60, 0);
    rig.in.wheel_y = -100;
    area_frame();
    assert_float_equal(area.scroll.y, 300, 0);
    assert_non_null(rig_find_text("row 19"));
    rig.in.wheel_y = 100;
    area_frame();
    assert_float_equal(area.scroll.y, 0, 0);
    rig_move(&rig, 500, 500);
    rig.in.wheel_y = -1;
    area_frame();
    assert_float_equal(area.scroll.y, 0, 0);
}

static void a_scrolled_row_is_hit_where_it_is_seen(void **state)
{
    (void)state;
    area.scroll.y = 300;
    area_frame();
    rig_move(&rig, 100, 105);
    area_frame();
    inputs_press(&rig.in, UI_LEFT);
    inputs_release(&rig.in, UI_LEFT);
    area_frame();
    assert_int_equal(area.clicked, 10);
    /* Scrolled out: not there. */
    rig_move(&rig, 100, 90);
    inputs_press(&rig.in, UI_LEFT);
    inputs_release(&rig.in, UI_LEFT);
    area_frame();
    assert_int_equal(area.clicked, 10);
}

static void the_bar_is_dragged(void **state)
{
    (void)state;
    /* The thumb is half of the bar, from 100 to 250; the bar stands right of the view. */
    rig_move(&rig, 226, 120);
    area_frame();
    inputs_press(&rig.in, UI_LEFT);
    area_frame();
    assert_float_equal(area.scroll.y, 0, 0);
    rig_move(&rig, 400, 195);
    area_frame();
    assert_float_equal(area.scroll.y, 150, 0);
    rig_move(&rig, 226, 900);
    area_frame();
    assert_float_equal(area.scroll.y, 300, 0);
    inputs_release(&rig.in, UI_LEFT);
    area_frame();
    rig_move(&rig, 226, 100);
    area_frame();
    assert_float_equal(area.scroll.y, 300, 0);
}

static void tab_brings_into_view(void **state)
{
    (void)state;
    inputs_key(&rig.in, UI_KEY_TAB, UI_MOD_SHIFT);
    area_frame();
    assert_float_equal(area.scroll.y, 300, 0);
    assert_non_null(rig_find_text("row 19"));
    inputs_key(&rig.in, UI_KEY_TAB, 0);
    area_frame();
    assert_float_equal(area.scroll.y, 0, 0);
}

static void content_that_shrinks_comes_back(void **state)
{
    (void)state;
    area.scroll.y = 300;
    area_frame();
    area.rows = 3;
    area_frame();
    assert_true(rig.frame.again);
    area_frame();
    assert_float_equal(area.scroll.y, 0, 0);
    area_frame();
    assert_false(rig.frame.again);
    area.rows = 0;
    area_frame();
    area_frame();
    assert_false(rig.frame.again);
}

#define WITH(test, prepare) cmocka_unit_test_setup(test, prepare)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(choose_by_mouse, setup_menu),
        WITH(a_press_outside_only_closes, setup_menu),
        WITH(the_list_is_drawn_last, setup_menu),
        WITH(choose_by_keyboard, setup_menu),
        WITH(escape_and_tab_close, setup_menu),
        WITH(an_open_list_keeps_keys_from_the_program, setup_menu),
        WITH(closed_it_steps_with_up_and_down, setup_menu),
        WITH(a_long_list_scrolls_inside_the_window, setup_menu),
        WITH(degenerate_menus, setup_menu),
        WITH(check_box_toggles, setup),
        WITH(progress_is_cancelled, setup),
        WITH(a_panel_is_a_region_with_a_title, setup),
        WITH(rows_stand_as_drawn, setup),
        WITH(wheel_scrolls_within_bounds, setup_area),
        WITH(a_scrolled_row_is_hit_where_it_is_seen, setup_area),
        WITH(the_bar_is_dragged, setup_area),
        WITH(tab_brings_into_view, setup_area),
        WITH(content_that_shrinks_comes_back, setup_area),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
