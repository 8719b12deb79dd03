/* SPDX-License-Identifier: MIT */
/*
 * Windows and pictures of every size: nothing is overrun, cut off or drawn over something else,
 * and two thousand frames of nonsense do no harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "app_rig.h"

/* --- Pictures -------------------------------------------------------------------------------- */

static void open_odd(size_t width, size_t height)
{
    struct rig rig;
    rig_write_picture("odd.ppm", width, height);
    rig_open(&rig, "odd.ppm", 1366, 768);
    rig_settle(&rig);
    assert_string_equal(rig.app->message, "");
    assert_int_equal(rig_result(&rig)->source->source.bitmap.width, width);
    assert_true(rig_result(&rig)->source->width <= SHOWN_SIDE);
    assert_true(rig_result(&rig)->source->height <= SHOWN_SIDE);
    rig_check_row(&rig);
    for (int i = 0; i < 5; i++) {
        rig_click_picture(&rig, 0.249f * (float)i, 0.99f - 0.249f * (float)i);
        rig_check_row(&rig);
    }
    rig.in.wheel_y = 40;
    rig_frame(&rig);
    rig_frame(&rig);
    rig_set(&rig, PARAM_PATCH, 3);
    rig_set(&rig, PARAM_STRIDE, 1);
    rig_settle(&rig);
    rig_check_row(&rig);
    for (int s = 0; s < NL_SIMILARITY_COUNT; s++) {
        rig_set(&rig, PARAM_SIMILARITY, s);
        rig_settle(&rig);
        if (!rig.app->message[0])
            rig_check_row(&rig);
    }
    rig_close(&rig);
}

static void test_pictures_of_odd_sizes(void **state)
{
    (void)state;
    open_odd(1, 1);
    open_odd(1, 40);
    open_odd(40, 1);
    open_odd(33, 17);
    open_odd(2, 3);
}

static void test_a_picture_20000_pixels_wide(void **state)
{
    (void)state;
    open_odd(20000, 3);
}

/* --- Windows --------------------------------------------------------------------------------- */

struct size {
    int width, height;
    float scale;
};

static void resize(struct rig *rig, struct size size)
{
    rig->in.window_w = (int)((float)size.width / size.scale);
    rig->in.window_h = (int)((float)size.height / size.scale);
    rig->in.drawable_w = size.width;
    rig->in.drawable_h = size.height;
    rig->in.scale = size.scale;
}

static void test_windows_of_every_size(void **state)
{
    static const struct size sizes[] = {
        {1, 1, 1},      {64, 64, 1},        {800, 600, 1},      {3840, 2160, 2}, {0, 0, 1},
        {1, 2160, 1},   {3840, 1, 1},       {300, 900, 1},      {1600, 200, 1},  {640, 480, 4},
        {1366, 768, 1}, {1366, 768, 1.25f}, {1920, 1080, 1.5f}, {200, 150, 0.5f}};
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        resize(&rig, sizes[i]);
        for (int scene = 0; scene < SCENE_COUNT; scene++) {
            edit_scene(&rig.app->edits, (enum scene_id)scene);
            rig_frame(&rig);
            rig_settle(&rig);
            for (int at = 0; at < 12; at++) { /* the pointer goes everywhere */
                rig_move(&rig, (float)sizes[i].width * (float)(at % 4) / 4 + 1,
                         (float)sizes[i].height * (float)(at / 4) / 3 + 1);
                rig_frame(&rig);
                rig_frame(&rig);
            }
            rig_key(&rig, UI_KEY_F1, 0);
            rig_frame(&rig);
            rig_key(&rig, UI_KEY_F1, 0);
        }
        edit_scene(&rig.app->edits, SCENE_PICTURE);
        rig_frame(&rig);
    }
    resize(&rig, (struct size){1280, 800, 1});
    rig_settle(&rig);
    rig_check_row(&rig);
    assert_non_null(rig_find(&rig, DRAW_HEATMAP));
    rig_close(&rig);
}

struct extent {
    float x0, y0, x1, y1;
};

static struct extent extent_of(const struct rig *rig, const struct draw_cmd *cmd)
{
    const char *utf8 = rig->app->list.text + cmd->text;
    const float width =
        rig->text.width(NULL, (enum draw_font)cmd->font, cmd->size, utf8, strlen(utf8));
    return (struct extent){cmd->rect.x, cmd->rect.y - 0.7f * cmd->size, cmd->rect.x + width,
                           cmd->rect.y};
}

static bool is_seen(const struct extent *e, const struct draw_rect *clip)
{
    return e->y1 > clip->y && e->y0 < clip->y + clip->h;
}

/* No text reaches out of its clip to the left or right; none stands on another one. */
static void check_texts(const struct rig *rig)
{
    const struct draw_list *list = &rig->app->list;
    for (int i = 0; i < list->cmd_count; i++) {
        const struct draw_cmd *a = &list->cmds[i];
        if (a->kind != DRAW_TEXT)
            continue;
        const struct extent e = extent_of(rig, a);
        if (!is_seen(&e, &a->clip))
            continue;
        if (e.x0 < a->clip.x - 0.5f || e.x1 > a->clip.x + a->clip.w + 0.5f)
            fail_msg("\"%s\" is cut off: %g..%g in %g..%g", list->text + a->text, (double)e.x0,
                     (double)e.x1, (double)a->clip.x, (double)(a->clip.x + a->clip.w));
        for (int j = 0; j < i; j++) {
            const struct draw_cmd *b = &list->cmds[j];
            if (b->kind != DRAW_TEXT || b->region != a->region)
                continue;
            const struct extent o = extent_of(rig, b);
            if (is_seen(&o, &b->clip) && e.x0 + 0.5f < o.x1 && o.x0 + 0.5f < e.x1 && e.y0 < o.y1 &&
                o.y0 < e.y1)
                fail_msg("\"%s\" stands on \"%s\" at %g, %g", list->text + a->text,
                         list->text + b->text, (double)e.x0, (double)e.y1);
        }
    }
}

static void check_scene(struct rig *rig)
{
    rig_settle(rig);
    check_texts(rig);
    rig_key(rig, UI_KEY_F1, 0); /* help */
    rig_frame(rig);
    check_texts(rig);
    rig_key(rig, UI_KEY_ESC, 0);
    rig->app->view.controls.y = 1e6f; /* the lower end of the controls */
    rig_frame(rig);
    rig_frame(rig);
    check_texts(rig);
    rig->app->view.controls.y = 0;
    for (int x = 20; x < rig->in.drawable_w; x += 97) /* notes at the pointer */
        for (int y = 50; y < rig->in.drawable_h; y += 83) {
            rig_move(rig, (float)x, (float)y);
            rig_frame(rig);
            rig_frame(rig);
            check_texts(rig);
        }
    rig_move(rig, -1, -1);
}

static void check_layout(int width, int height, float scale)
{
    struct rig rig;
    rig_open(&rig, NULL, width, height);
    resize(&rig, (struct size){width, height, scale});
    check_scene(&rig);
    for (int s = 0; s < NL_SIMILARITY_COUNT; s++) {
        rig_set(&rig, PARAM_SIMILARITY, s);
        rig_set(&rig, PARAM_PERPLEXITY, 0);
        rig_settle(&rig);
        check_texts(&rig);
        rig_set(&rig, PARAM_PERPLEXITY, 40);
        rig_settle(&rig);
        check_texts(&rig);
    }
    rig_drop(&rig, "a/file/that/is/not/there/and/has/a/long/name/which/must/not/push/anything.png");
    rig_settle(&rig);
    check_texts(&rig);
    edit_system(&rig.app->edits, 1); /* no matrix */
    rig_frame(&rig);
    rig_settle(&rig);
    check_texts(&rig);
    rig_key(&rig, UI_KEY_F1 + 2, 0);
    check_scene(&rig);
    rig_write_text("names.csv", "a column with quite a long name,b,\"a class with a long name, "
                                "too\"\n1,1000000.5,Iris versicolor of the longest kind\n2,1e-7,"
                                "another\n3,123456789,x\n");
    rig_drop(&rig, "names.csv");
    check_scene(&rig);
    rig_close(&rig);
}

static void test_texts_at_800x600(void **state)
{
    (void)state;
    check_layout(800, 600, 1);
}

static void test_texts_at_1366x768(void **state)
{
    (void)state;
    check_layout(1366, 768, 1);
}

static void test_texts_at_1920x1080(void **state)
{
    (void)state;
    check_layout(1920, 1080, 1);
}

static void test_texts_at_scale_2(void **state)
{
    (void)state;
    check_layout(1600, 1200, 2);
}

/* --- Nonsense -------------------------------------------------------------------------------- */

/* xorshift64*: the same frames everywhere. */
static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);

static unsigned dice(unsigned sides)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (unsigned)((seed * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % sides;
}

static void random_key(struct inputs *in)
{
    static const uint32_t letters[] = {'z', 'y', 'r', 'f', '+', '-', '=', '0', '?', 'q', 'x'};
    static const unsigned mods[] = {
        0, 0, 0, UI_MOD_CTRL, UI_MOD_CTRL, UI_MOD_SHIFT, UI_MOD_CTRL | UI_MOD_SHIFT, UI_MOD_ALT};
    const unsigned named = UI_KEY_F12 - UI_KEY_FIRST_NAMED + 1;
    const uint32_t key = dice(2) ? UI_KEY_FIRST_NAMED + dice(named)
                                 : letters[dice(sizeof letters / sizeof *letters)];
    inputs_key(in, key, mods[dice(sizeof mods / sizeof *mods)]);
}

static void random_events(struct rig *rig)
{
    static const struct size sizes[] = {{1366, 768, 1}, {800, 600, 1},  {1280, 800, 1},
                                        {1, 1, 1},      {640, 400, 2},  {0, 0, 1},
                                        {3, 900, 1},    {1920, 1080, 1}};
    static const char *const files[] = {"a.ppm",   "thin.ppm", "b.csv", "missing", "words.png",
                                        "@sample", "@iris",    "x.csv", "empty"};
    static const unsigned buttons[] = {UI_LEFT, UI_LEFT, UI_LEFT, UI_MIDDLE, UI_RIGHT};
    struct inputs *in = &rig->in;
    const unsigned button = buttons[dice(5)];
    if (dice(3) == 0)
        rig_move(rig, (float)dice((unsigned)in->drawable_w + 40) - 20,
                 (float)dice((unsigned)in->drawable_h + 40) - 20);
    if (dice(4) == 0)
        inputs_press(in, button);
    if (dice(3) == 0)
        inputs_release(in, dice(2) ? in->down : button);
    in->double_click = (in->pressed & UI_LEFT) && dice(4) == 0;
    if (dice(6) == 0)
        in->wheel_y = (float)dice(9) / 2 - 2;
    for (unsigned i = dice(8) == 0 ? dice(40) : dice(2); i > 0; i--)
        random_key(in);
    if (dice(20) == 0)
        inputs_text(in, "aé中");
    if (dice(60) == 0)
        snprintf(in->dropped, sizeof in->dropped, "%s", files[dice(9)]);
    if (dice(25) == 0)
        resize(rig, sizes[dice(8)]);
    if (dice(10) == 0)
        in->time += dice(30);
    if (dice(5) == 0)
        rig_pause();
}

static void test_two_thousand_frames_of_nonsense(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_picture("a.ppm", 120, 90);
    rig_write_picture("thin.ppm", 3, 200);
    rig_write_text("b.csv", "a,b,c\n1,2,x\n2,1,y\n4,4,x\n1,1,y\n");
    rig_write_text("x.csv", "a\n1\n");
    rig_write_text("words.png", "no picture\n");
    rig_write("empty", "", 0);
    rig_open(&rig, NULL, 1366, 768);
    for (int i = 0; i < 2000; i++) {
        random_events(&rig);
        rig_frame(&rig);
        assert_true(rig.app->row.key == 0 || rig.app->row.weights);
    }
    /* And it still works. */
    rig.in.down = 0;
    rig.app->quit = false;
    resize(&rig, (struct size){1366, 768, 1});
    rig_drop(&rig, "@sample");
    for (int i = 0; i < 4; i++) /* closes what is open; Escape may have given up the work */
        rig_key(&rig, UI_KEY_ESC, 0);
    rig_key(&rig, 'r', UI_MOD_CTRL);
    rig_drop(&rig, "@sample");
    rig_settle(&rig);
    assert_int_equal(rig.app->scene, SCENE_PICTURE);
    rig_check_row(&rig);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_pictures_of_odd_sizes), CASE(test_a_picture_20000_pixels_wide),
        CASE(test_windows_of_every_size), CASE(test_texts_at_800x600),
        CASE(test_texts_at_1366x768),     CASE(test_texts_at_1920x1080),
        CASE(test_texts_at_scale_2),      CASE(test_two_thousand_frames_of_nonsense),
    };
    return cmocka_run_group_tests_name("app layout", tests, NULL, NULL);
}
