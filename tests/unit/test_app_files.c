/* SPDX-License-Identifier: MIT */
/* Files dropped on the window, good and bad, and the two scenes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "app_rig.h"

/* --- Files that are none --------------------------------------------------------------------- */

static void test_bad_files_leave_everything(void **state)
{
    static const char *const files[] = {"missing.png", "words.png", "empty.png",  "empty.csv",
                                        "folder.png",  "cut.png",   "header.csv", "words.csv",
                                        "cut.npy",     "@nothing",  "ragged.csv"};
    struct rig rig;
    (void)state;
    assert_int_equal(mkdir("folder.png", 0777), 0);
    rig_write_text("words.png", "these are words and no picture at all\n");
    rig_write("empty.png", "", 0);
    rig_write("empty.csv", "", 0);
    rig_write("cut.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", 18);
    rig_write("cut.npy", "\x93NUMPY\1\0\x76\0{", 11);
    rig_write_text("header.csv", "a,b\n");
    rig_write_text("words.csv", "a,b\nx,y\nz,w\n");
    rig_write_text("ragged.csv", "a,b\n1,2\n3\n");
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    rig_click_picture(&rig, 0.4f, 0.6f);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct result before;
        const struct row_view row = rig.app->row;
        const struct doc doc = *rig_doc(&rig);
        result_hold(&before, rig_result(&rig));
        rig_drop(&rig, files[i]);
        rig_settle(&rig);
        assert_non_null(strstr(rig.app->message, files[i]));
        assert_non_null(rig_find_text(&rig, files[i])); /* and it is on the screen */
        assert_memory_equal(&doc, rig_doc(&rig), sizeof doc);
        assert_memory_equal(&row, &rig.app->row, sizeof row);
        assert_ptr_equal(before.source, rig_result(&rig)->source);
        assert_ptr_equal(before.attention, rig_result(&rig)->attention);
        assert_ptr_equal(before.order, rig_result(&rig)->order);
        assert_int_equal(rig.app->scene, SCENE_PICTURE);
        assert_int_equal(rig.app->undo.count, 1);
        rig_check_row(&rig);
        result_release(&before);
        if (i % 2) { /* it goes away by itself, or with Escape */
            assert_true(rig.frame.wake_in > 0);
            rig.in.time += 20;
        } else {
            inputs_key(&rig.in, UI_KEY_ESC, 0);
        }
        rig_frame(&rig);
        rig_frame(&rig);
        assert_string_equal(rig.app->message, "");
    }
    /* Nothing of it sticks: the next change is computed as ever. */
    rig_set(&rig, PARAM_PATCH, 9);
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->features->features.grid.patch, 9);
    rig_check_row(&rig);
    rig_close(&rig);
}

static void test_a_bad_file_at_the_start(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "missing.png", 1366, 768);
    rig_settle(&rig);
    assert_non_null(strstr(rig.app->message, "missing.png"));
    assert_string_equal(rig_doc(&rig)->source, "@sample");
    rig_check_row(&rig);
    rig_close(&rig);
}

static void test_a_bad_file_in_the_middle_of_work(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_frame(&rig); /* the sample is being computed */
    rig_drop(&rig, "missing.png");
    rig_settle(&rig);
    assert_non_null(strstr(rig.app->message, "missing.png"));
    rig_check_row(&rig);
    rig_set(&rig, PARAM_STRIDE, 2);
    rig_drop(&rig, "missing2.png");
    rig_settle(&rig);
    assert_non_null(strstr(rig.app->message, "missing2.png"));
    assert_int_equal(rig_result(&rig)->features->features.grid.stride, 2);
    rig_check_row(&rig);
    rig_close(&rig);
}

/* --- Files that are something ---------------------------------------------------------------- */

static const char flowers[] = "width,height,kind\n1,2,a\n2,1,a\n5,6,b\n6,5,b\n9,9,c\n";

static void test_a_dropped_table_shows_the_table(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_text("flowers.csv", flowers);
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    rig_drop(&rig, "flowers.csv");
    rig_settle(&rig);
    assert_int_equal(rig.app->scene, SCENE_TABLE);
    assert_string_equal(rig_doc(&rig)->source, "flowers.csv");
    assert_int_equal(rig.app->row.n, 5);
    assert_int_equal(rig_result(&rig)->dissim->d.rows, 5);
    assert_int_equal(rig_result(&rig)->order->class_runs, 3);
    assert_null(rig_find(&rig, DRAW_HEATMAP));
    assert_non_null(rig_find_text(&rig, "flowers.csv"));
    rig_check_row(&rig);
    rig_key(&rig, 'z', UI_MOD_CTRL); /* back to the sample */
    rig_settle(&rig);
    assert_int_equal(rig.app->scene, SCENE_PICTURE);
    rig_check_row(&rig);
    rig_key(&rig, 'y', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_int_equal(rig.app->scene, SCENE_TABLE);
    assert_int_equal(rig.app->row.n, 5);
    rig_close(&rig);
}

static void test_a_dropped_picture_and_back(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_picture("a.ppm", 90, 60);
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    rig_key(&rig, UI_KEY_F1 + 2, 0);
    rig_settle(&rig);
    rig_drop(&rig, "a.ppm");
    rig_settle(&rig);
    assert_int_equal(rig.app->scene, SCENE_PICTURE);
    assert_int_equal(rig_result(&rig)->source->width, 90);
    rig_check_row(&rig);
    rig_click_picture(&rig, 0.9f, 0.9f);
    rig_check_row(&rig);
    for (int i = 0; i < 2; i++)
        rig_key(&rig, 'z', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_int_equal(rig.app->scene, SCENE_TABLE);
    rig_key(&rig, UI_KEY_F1 + 1, 0);
    rig_settle(&rig);
    assert_string_equal(rig_doc(&rig)->source, "@sample");
    rig_check_row(&rig);
    rig_close(&rig);
}

/* The last of several files dropped at once is the one that shows. */
static void test_the_newest_file_wins(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_picture("a.ppm", 90, 60);
    rig_write_picture("b.ppm", 64, 64);
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    for (int i = 0; i < 10; i++)
        rig_drop(&rig, i % 2 ? "b.ppm" : "a.ppm");
    rig_settle(&rig);
    assert_string_equal(rig_doc(&rig)->source, "b.ppm");
    assert_int_equal(rig_result(&rig)->source->width, 64);
    rig_check_row(&rig);
    rig_close(&rig);
}

static void test_an_array_of_features(void **state)
{
    char file[128 + 4 * 3 * sizeof(float)] = "\x93NUMPY\1\0\x76\0";
    float values[12];
    struct rig rig;
    (void)state;
    memset(file + 10, ' ', 118);
    memcpy(file + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }", 59);
    file[127] = '\n';
    for (int i = 0; i < 12; i++)
        values[i] = (float)(i * i);
    memcpy(file + 128, values, sizeof values);
    rig_write("x.npy", file, sizeof file);
    rig_open(&rig, "x.npy", 1366, 768);
    rig_settle(&rig);
    assert_string_equal(rig.app->message, "");
    assert_int_equal(rig.app->scene, SCENE_TABLE);
    assert_int_equal(rig.app->row.n, 4);
    rig_check_row(&rig);
    rig_close(&rig);
}

/* A file that is gone when it is needed again: the window says so and goes on. */
static void test_a_file_that_went_away(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_picture("a.ppm", 60, 60);
    rig_open(&rig, "a.ppm", 1366, 768);
    rig_settle(&rig);
    rig_drop(&rig, "@sample");
    rig_settle(&rig);
    assert_int_equal(remove("a.ppm"), 0);
    rig_key(&rig, 'z', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_non_null(strstr(rig.app->message, "a.ppm"));
    rig_check_row(&rig);
    rig_close(&rig);
}

/* The scene that is not shown keeps its picture: coming back needs no file. */
static void test_a_file_that_went_away_behind_the_table(void **state)
{
    struct rig rig;
    (void)state;
    rig_write_picture("a.ppm", 60, 60);
    rig_open(&rig, "a.ppm", 1366, 768);
    rig_settle(&rig);
    rig_key(&rig, UI_KEY_F1 + 2, 0);
    rig_settle(&rig);
    assert_int_equal(remove("a.ppm"), 0);
    rig_key(&rig, UI_KEY_F1 + 1, 0);
    rig_settle(&rig);
    rig_check_row(&rig);
    rig_set(&rig, PARAM_PATCH, 5);
    rig_settle(&rig);
    assert_string_equal(rig.app->message, "");
    assert_int_equal(rig_result(&rig)->features->features.grid.patch, 5);
    rig_check_row(&rig);
    rig_close(&rig);
}

/* --- Scenes ---------------------------------------------------------------------------------- */

static void test_scenes_switch_at_once(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle_all(&rig);
    rig_click_picture(&rig, 0.2f, 0.2f);
    const size_t query = rig.app->row.query;
    rig_key(&rig, UI_KEY_F1 + 2, 0);
    rig_settle_all(&rig);
    assert_int_equal(rig.app->scene, SCENE_TABLE);
    assert_int_equal(rig.app->row.n, 150);
    assert_int_equal(rig_result(&rig)->order->class_runs, 3);
    rig_check_row(&rig);
    const int wakes = atomic_load(&rig.wakes);
    for (int i = 0; i < 6; i++) {
        inputs_key(&rig.in, UI_KEY_F1 + 1 + (uint32_t)i % 2, 0);
        rig_frame(&rig); /* the key */
        rig_frame(&rig); /* what it shows */
        assert_true(app_settled(rig.app));
        assert_int_equal(rig.app->scene, i % 2 ? SCENE_TABLE : SCENE_PICTURE);
        rig_check_row(&rig);
        if (i % 2 == 0) {
            assert_int_equal(rig.app->row.query, query);
            assert_non_null(rig_find(&rig, DRAW_HEATMAP));
        }
        assert_non_null(rig_find(&rig, DRAW_MATRIX));
    }
    assert_int_equal(atomic_load(&rig.wakes), wakes);
    rig_close(&rig);
}

/* Rows of the first class are discs; of these, row 42 has the narrowest sepals, 2.3 cm. */
static const struct draw_cmd *lowest_disc(const struct rig *rig)
{
    const struct draw_list *list = &rig->app->list;
    const float controls = 280; /* where that panel ends; sliders have discs too */
    const struct draw_cmd *lowest = NULL;
    for (int i = 0; i < list->cmd_count; i++)
        if (list->cmds[i].kind == DRAW_DISC && list->cmds[i].clip.x > controls &&
            (!lowest || list->cmds[i].rect.y > lowest->rect.y))
            lowest = &list->cmds[i];
    return lowest;
}

static void test_a_point_of_the_scatter_plot_is_a_query(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig.app->view.scatter_x = 0; /* sepals: nothing else lies near row 42 */
    rig.app->view.scatter_y = 1;
    rig_frame(&rig);
    const struct draw_cmd *disc = lowest_disc(&rig);
    assert_non_null(disc);
    const float x = disc->rect.x, y = disc->rect.y;
    rig_click(&rig, x, y);
    assert_int_equal(rig.app->row.query, 41);
    assert_true(rig_doc(&rig)->queries[0].by_row);
    assert_int_equal(rig_doc(&rig)->queries[0].row, 41);
    rig_check_row(&rig);
    assert_int_equal(rig.app->undo.count, 1);
    assert_int_equal(rig.app->view.hover_row, 41);
    rig_key(&rig, UI_KEY_RIGHT, 0);
    assert_int_equal(rig.app->row.query, 42);
    rig_check_row(&rig);
    rig_key(&rig, 'z', UI_MOD_CTRL);
    rig_key(&rig, 'z', UI_MOD_CTRL);
    assert_int_equal(rig.app->row.query, 0);
    rig_close(&rig);
}

/* Numbers that leave no span, or a huge one, on an axis. */
static void test_tables_at_the_edge(void **state)
{
    static const char *const tables[] = {
        "a,b\n1,1\n1,1\n",
        "a\n5\n",
        "a,b\n1e30,1e-30\n1e30,-1e30\n",
        "a,b\n1e20,3\n1e20,3\n",
        "a,b\n-1e9,0\n-1e9,1\n",
        "a,b,c\n0,0,x\n0,0,y\n0,0,x\n",
    };
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 800, 600);
    rig_settle(&rig);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        rig_write_text("table.csv", tables[i]);
        rig_drop(&rig, "table.csv");
        rig_settle(&rig);
        if (rig.app->message[0]) { /* beyond the range of numbers: then it says so */
            assert_true(i == 2 || i == 3);
            assert_non_null(rig_find_text(&rig, i == 2 ? "1e+30" : "1e+20"));
            rig_key(&rig, UI_KEY_ESC, 0);
            continue;
        }
        assert_int_equal(rig.app->scene, SCENE_TABLE);
        rig_check_row(&rig);
        assert_non_null(rig_find(&rig, DRAW_RING)); /* the query can be seen */
        rig.in.mouse_x = 350;
        rig.in.mouse_y = 200;
        rig.in.wheel_y = 30;
        rig_frame(&rig);
        rig_frame(&rig);
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_bad_files_leave_everything),
        CASE(test_a_bad_file_at_the_start),
        CASE(test_a_bad_file_in_the_middle_of_work),
        CASE(test_a_dropped_table_shows_the_table),
        CASE(test_a_dropped_picture_and_back),
        CASE(test_the_newest_file_wins),
        CASE(test_an_array_of_features),
        CASE(test_a_file_that_went_away),
        CASE(test_a_file_that_went_away_behind_the_table),
        CASE(test_scenes_switch_at_once),
        CASE(test_a_point_of_the_scatter_plot_is_a_query),
        CASE(test_tables_at_the_edge),
    };
    return cmocka_run_group_tests_name("app files", tests, NULL, NULL);
}
