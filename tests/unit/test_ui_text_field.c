/* SPDX-License-Identifier: MIT */
/* Text fields: caret, selection, clipboard, when they commit. */
#include "test_ui_rig.h"

static struct rig rig;

static int setup(void **state)
{
    (void)state;
    rig_init(&rig, 800, 600);
    return 0;
}

static const struct draw_rect field_box = {100, 100, 216, 26}; /* text from x = 108 to 308 */

static struct {
    char text[32], second[32];
    int result, second_result;
} field;

static void field_frame(void)
{
    RIG_FRAME(&rig, field.result = ui_text_field(&rig_ui, field_box, "field", field.text,
                                                 sizeof field.text, "type here", NULL);
              field.second_result =
                  ui_text_field(&rig_ui, (struct draw_rect){100, 200, 216, 26}, "second",
                                field.second, sizeof field.second, NULL, NULL));
}

static int setup_field(void **state)
{
    setup(state);
    memset(&field, 0, sizeof field);
    field_frame();
    return 0;
}

static void field_key(uint32_t key, unsigned mods)
{
    inputs_key(&rig.in, key, mods);
    field_frame();
}

static void field_type(const char *utf8)
{
    inputs_text(&rig.in, utf8);
    field_frame();
}

static void field_click(float x, float y)
{
    rig_move(&rig, x, y);
    inputs_press(&rig.in, UI_LEFT);
    field_frame();
    inputs_release(&rig.in, UI_LEFT);
    field_frame();
}

static void typing_needs_the_keyboard_focus(void **state)
{
    (void)state;
    field_type("x");
    assert_string_equal(field.text, "");
    assert_non_null(rig_find_text("type here"));
    assert_false(rig.frame.text_focus);
    field_click(150, 110);
    assert_true(rig.frame.text_focus);
    assert_true(draw_rect_contains(field_box, rig.frame.text_rect.x, rig.frame.text_rect.y));
    assert_int_equal(rig.frame.cursor, UI_CURSOR_TEXT);
    field_type("x");
    assert_string_equal(field.text, "x");
    assert_int_equal(field.result, UI_CHANGED);
    assert_null(rig_find_text("type here"));
    field_frame();
    assert_int_equal(field.result, 0);
}

static void multibyte_is_edited_whole(void **state)
{
    (void)state;
    field_click(150, 110);
    field_type("a\xC3\xA9\xE4\xB8\xADz");
    field_key(UI_KEY_LEFT, 0);
    field_key(UI_KEY_LEFT, 0);
    assert_int_equal(rig_ui.edit.caret, 3);
    field_key(UI_KEY_BACKSPACE, 0);
    assert_string_equal(field.text, "a\xE4\xB8\xADz");
    field_key(UI_KEY_DELETE, 0);
    assert_string_equal(field.text, "az");
    field_type("\xF0\x9F\x90\xB1");
    assert_string_equal(field.text, "a\xF0\x9F\x90\xB1z");
    field_key(UI_KEY_HOME, 0);
    field_key(UI_KEY_BACKSPACE, 0);
    field_key(UI_KEY_END, 0);
    field_key(UI_KEY_DELETE, 0);
    assert_string_equal(field.text, "a\xF0\x9F\x90\xB1z");
    /* Not UTF-8, and control characters: left out; line ends become spaces. */
    field_type("\xFF\x01q\nr\xC3");
    assert_string_equal(field.text, "a\xF0\x9F\x90\xB1zq r");
}

static void capacity_cuts_at_a_character(void **state)
{
    (void)state;
    field_click(150, 110);
    for (int i = 0; i < 40; i++)
        field_type("\xE4\xB8\xAD");
    assert_int_equal(strlen(field.text), 30);
    assert_int_equal(field.result, 0);
    field_type("\xC3\xA9");
    assert_int_equal(strlen(field.text), 30);
    field_type("e");
    assert_int_equal(strlen(field.text), 31);
    /* Longer than the box: scrolled so that the caret is seen. */
    assert_float_equal(rig_ui.edit.scroll, 0, 0);
    field_key('a', UI_MOD_CTRL);
    field_type("abcdefghijklmnopqrstuvwxyz01234");
    assert_true(rig_ui.edit.scroll > 0);
    assert_true(draw_rect_contains(field_box, rig.frame.text_rect.x, rig.frame.text_rect.y));
}

static void selection_and_clipboard(void **state)
{
    (void)state;
    field_click(150, 110);
    field_type("one two");
    field_key(UI_KEY_LEFT, UI_MOD_SHIFT | UI_MOD_CTRL);
    field_key('c', UI_MOD_CTRL);
    assert_string_equal(rig_clipboard, "two");
    field_key('x', UI_MOD_CTRL);
    assert_string_equal(field.text, "one ");
    field_key(UI_KEY_HOME, 0);
    field_key('v', UI_MOD_CTRL);
    assert_string_equal(field.text, "twoone ");
    field_key('a', UI_MOD_CTRL);
    field_type("z");
    assert_string_equal(field.text, "z");
    field_key('a', UI_MOD_CTRL);
    field_key(UI_KEY_DELETE, 0);
    assert_string_equal(field.text, "");
    /* A selection collapses to its side. */
    field_type("abcd");
    field_key(UI_KEY_LEFT, UI_MOD_SHIFT);
    field_key(UI_KEY_LEFT, UI_MOD_SHIFT);
    field_key(UI_KEY_RIGHT, 0);
    assert_int_equal(rig_ui.edit.caret, 4);
}

static void the_mouse_sets_the_caret(void **state)
{
    (void)state;
    strcpy(field.text, "one two");
    field_click(108 + 3 * CHAR_W + 3, 110);
    assert_int_equal(rig_ui.edit.caret, 3);
    field_click(108 + 3 * CHAR_W + 5, 110);
    assert_int_equal(rig_ui.edit.caret, 4);
    field_click(101, 110);
    assert_int_equal(rig_ui.edit.caret, 0);
    field_click(300, 110);
    assert_int_equal(rig_ui.edit.caret, 7);
    rig_move(&rig, 108 + 1 * CHAR_W, 110);
    inputs_press(&rig.in, UI_LEFT);
    field_frame();
    rig_move(&rig, 108 + 5 * CHAR_W, 400);
    field_frame();
    inputs_release(&rig.in, UI_LEFT);
    field_frame();
    assert_int_equal(rig_ui.edit.anchor, 1);
    assert_int_equal(rig_ui.edit.caret, 5);
    rig_move(&rig, 108 + 5 * CHAR_W, 110);
    inputs_press(&rig.in, UI_LEFT);
    rig.in.double_click = true;
    field_frame();
    assert_int_equal(rig_ui.edit.anchor, 4);
    assert_int_equal(rig_ui.edit.caret, 7);
}

static void commit_by_enter_and_by_leaving(void **state)
{
    (void)state;
    field_click(150, 110);
    field_type("a");
    field_key(UI_KEY_ENTER, 0);
    assert_int_equal(field.result, UI_COMMITTED);
    inputs_text(&rig.in, "b");
    field_key(UI_KEY_ENTER, 0);
    assert_int_equal(field.result, UI_CHANGED | UI_COMMITTED);
    field_type("c");
    field_key(UI_KEY_TAB, 0); /* to the second field, drawn later */
    assert_int_equal(field.result, UI_COMMITTED);
    assert_true(rig_ui.focus == ui_id_of(&rig_ui, "second"));
    field_type("s");
    field_key(UI_KEY_TAB, UI_MOD_SHIFT); /* back to the first, drawn earlier */
    int told = field.second_result;
    field_frame();
    told |= field.second_result;
    assert_int_equal(told, UI_COMMITTED);
    /* Tab selected all of it. */
    field_type("new");
    assert_string_equal(field.text, "new");
    field_click(500, 500);
    field_frame();
    assert_false(rig.frame.text_focus);
    assert_string_equal(field.text, "new");
    field_click(150, 110);
    field_click(500, 500);
    assert_int_equal(field.result, 0); /* nothing changed */
}

static void escape_brings_back(void **state)
{
    (void)state;
    strcpy(field.text, "before");
    field_click(300, 110);
    field_type("after");
    assert_string_equal(field.text, "beforeafter");
    field_key(UI_KEY_ESC, 0);
    assert_string_equal(field.text, "before");
    assert_int_equal(field.result, UI_CHANGED);
    assert_false(rig.frame.text_focus);
    field_type("x");
    assert_string_equal(field.text, "before");
}

static void text_and_keys_keep_their_order(void **state)
{
    (void)state;
    field_click(150, 110);
    inputs_text(&rig.in, "ab");
    inputs_key(&rig.in, UI_KEY_BACKSPACE, 0);
    inputs_text(&rig.in, "c");
    inputs_key(&rig.in, UI_KEY_HOME, 0);
    inputs_text(&rig.in, "d");
    field_frame();
    assert_string_equal(field.text, "dac");
}

static void plain_keys_do_not_leak_from_a_field(void **state)
{
    (void)state;
    bool letter, control, function;
    field_click(150, 110);
    inputs_key(&rig.in, 'q', 0);
    inputs_key(&rig.in, 's', UI_MOD_CTRL);
    inputs_key(&rig.in, UI_KEY_F1, 0);
    RIG_FRAME(&rig,
              ui_text_field(&rig_ui, field_box, "field", field.text, sizeof field.text, NULL, NULL);
              letter = ui_key(&rig_ui, 'q', 0); control = ui_key(&rig_ui, 's', UI_MOD_CTRL);
              function = ui_key(&rig_ui, UI_KEY_F1, 0));
    assert_false(letter);
    assert_true(control);
    assert_true(function);
}

static void text_changed_by_the_caller_is_survived(void **state)
{
    (void)state;
    field_click(150, 110);
    field_type("abcdefgh");
    strcpy(field.text, "\xE4\xB8\xAD");
    field_type("x");
    assert_string_equal(field.text, "\xE4\xB8\xADx");
    rig_ui.edit.caret = rig_ui.edit.anchor = 1; /* as after a text with other boundaries */
    field_type("y");
    assert_string_equal(field.text, "y\xE4\xB8\xADx");
}

#define WITH(test, prepare) cmocka_unit_test_setup(test, prepare)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(typing_needs_the_keyboard_focus, setup_field),
        WITH(multibyte_is_edited_whole, setup_field),
        WITH(capacity_cuts_at_a_character, setup_field),
        WITH(selection_and_clipboard, setup_field),
        WITH(the_mouse_sets_the_caret, setup_field),
        WITH(commit_by_enter_and_by_leaving, setup_field),
        WITH(escape_brings_back, setup_field),
        WITH(text_and_keys_keep_their_order, setup_field),
        WITH(plain_keys_do_not_leak_from_a_field, setup_field),
        WITH(text_changed_by_the_caller_is_survived, setup_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
