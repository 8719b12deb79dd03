/* SPDX-License-Identifier: MIT */
/*
 * Ten thousand frames of nonsense on every widget at once, in windows from 1×1 up: nothing may be
 * overrun, left unbalanced, or drawn where it cannot be. Run under the sanitizers it also shows
 * that nothing is read or written out of bounds.
 */
#include <stdio.h>

#include "test_ui_rig.h"

enum { FRAMES = 10000 };

/* xorshift64*: the same frames everywhere. */
static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);

static unsigned dice(unsigned sides)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (unsigned)((seed * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % sides;
}

static struct {
    int choice, other_choice;
    double number, log_number;
    bool flag, disabled, tall;
    char text[24], path[64];
    struct ui_scroll scroll, inner;
    int clicks, changes, commits, notes;
} state;

static const char *const names[] = {"Gaussian", "Embedded", "Dot product",
                                    "\xE4\xB8\xAD\xE6\x96\x87"};

static const char *numbered(void *user, int i)
{
    static char text[16];
    (void)user;
    snprintf(text, sizeof text, "item %d", i);
    return text;
}

static void count(int result)
{
    assert_true(result >= 0 && result <= (UI_CHANGED | UI_COMMITTED));
    state.changes += (result & UI_CHANGED) != 0;
    state.commits += (result & UI_COMMITTED) != 0;
}

static void rows(struct ui *ui, struct ui_column *column)
{
    const struct ui_range linear = {.min = 4, .max = 40, .step = 1, .initial = 12};
    const struct ui_range logarithmic = {.min = 1e-3, .max = 10, .initial = 0.1, .log = true};
    struct ui_choices many = {.name = numbered, .count = 200, .flat = true};
    count(ui_row_dropdown(ui, column, "similarity", "Similarity", names, 4, &state.choice, "tip"));
    count(ui_row_slider(ui, column, "patch", "Patch", &linear, &state.number, "12 px", "tip"));
    ui_row_section(ui, column, "Overlay");
    ui_disabled_begin(ui, state.disabled);
    count(ui_row_slider(ui, column, "h", "h", &logarithmic, &state.log_number, NULL, NULL));
    count(ui_row_checkbox(ui, column, "flag", "Contour", &state.flag, "long tip to be wrapped"));
    ui_disabled_end(ui);
    count(ui_dropdown_of(ui, ui_column_next(column, 26), "many", &many, &state.other_choice, NULL));
    count(ui_text_field(ui, ui_column_next(column, 26), "text", state.text, sizeof state.text,
                        "hint", "tip"));
    count(ui_text_field(ui, ui_column_next(column, 26), "path", state.path, sizeof state.path, NULL,
                        NULL));
    ui_row_value(ui, column, "Entropy", "4.118 nats");
    if (state.tall)
        ui_column_skip(column, 700);
    state.clicks += ui_button(ui, ui_column_next(column, 26), "go", "Go", UI_BUTTON_ACCENT, "tip");
}

static void widgets(struct ui *ui)
{
    struct draw_rect window = ui_window(ui);
    struct draw_rect top = ui_cut_top(&window, ui->style->row, ui->style->gap);
    state.clicks += ui_button(ui, ui_cut_left(&top, ui_button_width(ui, "Picture"), 4), "tab",
                              "Picture", UI_BUTTON_TAB_CHOSEN, NULL);
    state.clicks += ui_progress(ui, top, "work", "working", -1, "Cancel");

    struct draw_rect side = ui_cut_left(&window, ui_px(ui->style, 252), ui->style->gap);
    side = ui_panel_begin(ui, side, "Attention", "of a_{ij}");
    struct draw_rect inside = ui_scroll_begin(ui, side, "controls", &state.scroll);
    struct ui_column column = ui_column(inside, 0);
    rows(ui, &column);
    struct draw_rect nested = ui_column_next(&column, 60);
    ui_scroll_begin(ui, nested, "inner", &state.inner);
    ui_scroll_end(ui, nested, &state.inner, 300);
    ui_scroll_end(ui, side, &state.scroll, ui_column_used(&column));
    ui_panel_end(ui);

    struct draw_rect view = ui_panel_begin(ui, window, "What does this point read?", NULL);
    struct ui_signal signal =
        ui_interact(ui, ui_id_of(ui, "picture"), view,
                    UI_ITEM_FOCUS | UI_ITEM_WHEEL | UI_ITEM_MIDDLE | UI_ITEM_RIGHT);
    if (signal.hovered)
        ui_note(ui, "key (45, 29)   a = 0.061"), state.notes++;
    ui_paragraph(ui, view, ui_type_muted(ui), "nothing opened yet: drop a picture here");
    ui_panel_end(ui);
}

static void random_size(struct rig *rig)
{
    static const int sizes[][2] = {{1, 1}, {0, 0}, {33, 17}, {300, 200}, {800, 600}, {3840, 2160}};
    unsigned i = dice(12);
    i = i < 6 ? i : 4;
    rig->in.drawable_w = sizes[i][0];
    rig->in.drawable_h = sizes[i][1];
    enum ui_theme theme = (enum ui_theme)dice(2);
    float scale = 0.5f + 0.25f * (float)dice(8);
    ui_style_set(&rig->style, theme, scale, dice(4) ? 1 : 1.6f);
}

static void random_keys(struct inputs *in)
{
    static const char *const typed[] = {"a",    "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x90\xB1",
                                        "\xFF", " ",        "\xE4\xB8"};
    for (unsigned n = dice(4); n > 0; n--) {
        if (dice(3) == 0)
            inputs_text(in, typed[dice(7)]);
        else {
            uint32_t key = dice(4) ? UI_KEY_FIRST_NAMED + dice(16) : (uint32_t) "acvxb"[dice(5)];
            unsigned mods = dice(3) ? 0 : dice(16);
            inputs_key(in, key, mods);
        }
    }
}

/* Half of the time onto a widget of the last frame: pure chance would mostly hit nothing. */
static void random_move(struct inputs *in)
{
    unsigned items = (unsigned)rig_ui.item_count[rig_ui.now];
    if (items > 0 && dice(2)) {
        struct draw_rect r = rig_ui.items[rig_ui.now][dice(items)].rect;
        in->mouse_x = roundf(r.x + r.w * (float)dice(100) / 100);
        in->mouse_y = roundf(r.y + r.h * (float)dice(100) / 100);
    } else {
        in->mouse_x = (float)dice((unsigned)in->drawable_w + 40) - 20;
        in->mouse_y = (float)dice((unsigned)in->drawable_h + 40) - 20;
    }
}

static void random_inputs(struct rig *rig)
{
    struct inputs *in = &rig->in;
    if (dice(200) == 0)
        random_size(rig);
    if (dice(3) == 0)
        random_move(in);
    if (dice(3) == 0)
        inputs_press(in, dice(4) ? UI_LEFT : 1u << dice(3));
    if (dice(2) == 0)
        inputs_release(in, dice(4) ? UI_LEFT : 1u << dice(3));
    in->double_click = dice(10) == 0;
    if (dice(8) == 0)
        in->wheel_y = ((float)dice(200) - 100) / 25;
    in->mods = dice(16);
    if (dice(3) == 0)
        random_keys(in);
    in->time += dice(100) == 0 ? 2 : 0;
    state.disabled ^= dice(50) == 0;
    state.tall ^= dice(100) == 0;
}

static void check(const struct rig *rig)
{
    struct draw_rect all = {0, 0, (float)rig->in.drawable_w, (float)rig->in.drawable_h};
    for (int i = 0; i < rig_list.cmd_count; i++) {
        struct draw_rect clip = rig_list.cmds[i].clip;
        assert_true(clip.x >= 0 && clip.y >= 0);
        assert_true(clip.x + clip.w <= all.w && clip.y + clip.h <= all.h);
        assert_true(rig_list.cmds[i].region < rig_list.region_count);
        assert_true(i == 0 || rig_list.cmds[i].region >= rig_list.cmds[i - 1].region);
    }
    assert_int_equal(rig_list.clip_count, 0);
    assert_int_equal(rig_ui.id_depth + rig_ui.scroll_depth + rig_ui.disabled_depth, 0);
    assert_true(state.number >= 4 && state.number <= 40);
    assert_true(state.log_number >= 1e-3 && state.log_number <= 10);
    assert_in_range(state.choice, 0, 3);
    assert_in_range(state.other_choice, 0, 199);
    assert_true(strlen(state.text) < sizeof state.text);
    assert_true(state.scroll.y >= 0);
    for (size_t at = 0, length = strlen(state.text); at < length;)
        assert_int_not_equal(ui_utf8_next(state.text, length, &at), 0xFFFD);
}

static void ten_thousand_frames(void **unused)
{
    static struct rig rig;
    int popups = 0, drags = 0, edits = 0;
    (void)unused;
    rig_init(&rig, 800, 600);
    state.number = 12;
    state.log_number = 0.1;
    for (int i = 0; i < FRAMES; i++) {
        random_inputs(&rig);
        RIG_FRAME(&rig, widgets(&rig_ui));
        check(&rig);
        popups += rig_ui.popup.id != 0;
        drags += rig_ui.active && rig_ui.drag.id == rig_ui.active;
        edits += rig.frame.text_focus;
    }
    /* The monkey was everywhere. */
    assert_true(popups > 50 && drags > 50 && edits > 50);
    assert_true(state.clicks > 50 && state.changes > 50 && state.commits > 50);
    assert_true(state.notes > 50);
}

/* After the storm, two frames without an event are the same and ask for no third. */
static void it_comes_to_rest(void **unused)
{
    static struct rig rig;
    uint64_t hashes[2][DRAW_MAX_REGIONS];
    int regions[2];
    (void)unused;
    rig_init(&rig, 800, 600);
    rig.style.reduce_motion = true;
    for (int i = 0; i < 500; i++) {
        enum ui_theme theme = rig.style.theme;
        random_inputs(&rig);
        ui_style_set(&rig.style, theme, 1, 1);
        rig.style.reduce_motion = true;
        RIG_FRAME(&rig, widgets(&rig_ui));
        if (i % 10)
            continue;
        for (int settle = 0; settle < 5 && rig.frame.again; settle++)
            RIG_FRAME(&rig, widgets(&rig_ui));
        assert_false(rig.frame.again);
        for (int k = 0; k < 2; k++) {
            rig.in.time -= 1.0 / 64;
            RIG_FRAME(&rig, widgets(&rig_ui));
            assert_false(rig.frame.again);
            regions[k] = rig_list.region_count;
            for (int r = 0; r < regions[k]; r++)
                hashes[k][r] = rig_list.regions[r].hash;
        }
        assert_int_equal(regions[0], regions[1]);
        assert_memory_equal(hashes[0], hashes[1], (size_t)regions[0] * sizeof hashes[0][0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_frames),
        cmocka_unit_test(it_comes_to_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
