/* SPDX-License-Identifier: MIT */
/*
 * The matrix in the window: how it goes from one order to another, and what the tree, boxes,
 * handles and the pointer do. Needs no display.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "nonlocal/system.h"

#include "app_matrix_rig.h"

static void box(struct rig *rig, float x0, float y0, float x1, float y1)
{
    rig->in.mods = UI_MOD_SHIFT;
    rig_move(rig, x0, y0);
    inputs_press(&rig->in, UI_LEFT);
    rig_frame(rig);
    rig_move(rig, (x0 + x1) / 2, (y0 + y1) / 2);
    rig_frame(rig);
    rig_move(rig, x1, y1);
    rig_frame(rig);
    inputs_release(&rig->in, UI_LEFT);
    rig_frame(rig);
    rig->in.mods = 0;
    rig_frame(rig);
}

/* Until the worker is done; nothing that moves is waited for. */
static void wait_for_worker(struct rig *rig)
{
    const time_t end = time(NULL) + RIG_PATIENCE;
    while (!app_settled(rig->app)) {
        rig_frame(rig);
        rig_pause();
        rig->in.time -= 1.0 / 64; /* the window's clock stands */
        assert_true(time(NULL) < end);
    }
}

static double path_of(const nl_matrix *d, const size_t *order)
{
    double sum = 0;
    for (size_t p = 1; p < d->rows; p++)
        sum += (double)d->data[order[p - 1] * d->stride + order[p]];
    return sum;
}

static void check_permutation(const size_t *order, const float *position, size_t n)
{
    bool *seen = calloc(n, sizeof *seen);
    assert_non_null(seen);
    for (size_t p = 0; p < n; p++) {
        assert_true(order[p] < n && !seen[order[p]]);
        seen[order[p]] = true;
        assert_true(position[order[p]] == (float)p);
    }
    free(seen);
}

static void test_a_new_order_is_walked_to(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle_all(&rig);
    assert_true(fabs(rig.app->order.path - 143.2329) < 1e-3); /* by class, as in the file */
    rig_set(&rig, PARAM_ORDER, NL_ORDER_VAT);
    wait_for_worker(&rig);
    const double start = rig.in.time;
    int moving = 0;
    for (rig_frame(&rig); rig.app->order.moving; rig_frame(&rig), moving++) {
        const struct order_view *order = &rig.app->order;
        const nl_matrix *d = &rig_result(&rig)->dissim->d;
        char text[32];
        check_permutation(order->order, order->position, 150);
        assert_true(fabs(order->path - path_of(d, order->order)) < 1e-6);
        snprintf(text, sizeof text, "%.2f", order->path);
        assert_non_null(rig_find_text(&rig, text)); /* counted on the screen */
        assert_true(rig.app->list.sources[DRAW_SLOT_PERMUTATION].pixels == order->permutation);
        assert_true(rig.frame.again);
        if (moving == 0)
            assert_true(order->path > 120);
    }
    assert_true(rig.in.time - start > 0.55 && rig.in.time - start < 0.75);
    assert_true(moving > 30);
    assert_ptr_equal(rig.app->order.order, rig_result(&rig)->order->order);
    assert_true(fabs(rig.app->order.path - 82.0) < 1); /* VAT of Iris, by its tie rule */
    rig_settle_all(&rig);
    assert_true(rig.frame.wake_in < 0);
    rig_close(&rig);
}

static void test_the_way_can_be_skipped(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    for (int by_key = 0; by_key < 2; by_key++) {
        rig_set(&rig, PARAM_ORDER, by_key ? NL_ORDER_PCA : NL_ORDER_VAT);
        wait_for_worker(&rig);
        rig_frame(&rig);
        rig_frame(&rig);
        assert_true(rig.app->order.moving);
        if (by_key)
            inputs_key(&rig.in, UI_KEY_ESC, 0);
        else
            inputs_press(&rig.in, UI_LEFT);
        rig_frame(&rig);
        assert_false(rig.app->order.moving);
        rig.in.down = 0;
        rig_settle(&rig);
    }
    /* the same order by another way needs none */
    rig_set(&rig, PARAM_ORDER, NL_ORDER_LABEL);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_INPUT);
    wait_for_worker(&rig);
    rig_frame(&rig);
    assert_false(rig.app->order.moving);
    /* nor other rows */
    rig_drop(&rig, "@library");
    wait_for_worker(&rig);
    rig_frame(&rig);
    assert_false(rig.app->order.moving);
    rig_close(&rig);
}

/* ((0 1) at 1, (2 3) at 2) at 4; leaves in the order 2 3 0 1. */
static void test_where_branches_stand(void **state)
{
    nl_merge merges[] = {{0, 1, 1, 2}, {2, 3, 2, 2}, {5, 4, 4, 4}};
    const nl_tree tree = {merges, 3};
    const float position[] = {2, 3, 0, 1};
    struct dendrogram made;
    (void)state;
    assert_int_equal(dendrogram_create(&tree, position, &made, NULL), NL_OK);
    assert_int_equal(made.count, 3);
    assert_true(made.branches[0].at == 3 && made.branches[1].at == 1 && made.branches[2].at == 2);
    assert_true(made.branches[0].low == 2.5 && made.branches[0].high == 3.5);
    assert_int_equal(made.branches[0].first, 2);
    assert_int_equal(made.branches[0].last, 3);
    assert_int_equal(made.branches[2].first, 0);
    assert_int_equal(made.branches[2].last, 3);
    assert_true(made.branches[2].under[0] == 2 && made.branches[2].under[1] == 1);
    assert_int_equal(dendrogram_cut(&made, 0, 1.9), SIZE_MAX);
    assert_int_equal(dendrogram_cut(&made, 0, 2), 1);
    assert_int_equal(dendrogram_cut(&made, 3, 3.9), 0);
    assert_int_equal(dendrogram_cut(&made, 3, 4), 2);
    dendrogram_free(&made);
    dendrogram_free(&made);
    assert_int_equal(dendrogram_create(&(nl_tree){0}, NULL, &made, NULL), NL_OK);
    assert_null(made.branches);
}

/* Iris by average linkage parts setosa from the rest at the root; means from cases of the field. */
static void test_a_branch_selects_its_rows(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_AVERAGE);
    rig_settle(&rig);
    const struct dendrogram *tree = &rig_result(&rig)->order->dendrogram;
    assert_int_equal(tree->count, 149);
    const int *labels = rig_result(&rig)->source->source.table.labels;
    const struct branch *root = &tree->branches[148];
    const double setosa = labels[rig.app->order.order[0]] == 0 ? root->low : root->high;
    cell_point(&rig, setosa - 0.5, 0, &x, &y);
    x = matrix_of(&rig)->rect.x - 30; /* in the middle of the tree's 56 units */
    hover(&rig, x, y);
    assert_non_null(rig_find_text(&rig, "50 rows joined at height"));
    rig_click(&rig, x, y);
    const struct selection *selection = &rig.app->selections[rig.app->scene];
    assert_int_equal(selection->count, 50);
    for (size_t i = 0; i < 150; i++)
        assert_true((selection->mask[i] > 0) == (labels[i] == 0));
    assert_true(fabs(selection->within - 0.682881 * 50 / 49) < 1e-5); /* pairs of two rows */
    assert_true(fabs(selection->outside - (3.301223 + 4.824142) / 2) < 1e-5);
    assert_non_null(rig_find_text(&rig, "50 of 150 rows selected"));
    rig_set(&rig, PARAM_METRIC, NL_METRIC_SQEUCLIDEAN); /* the same rows, measured anew */
    rig_settle(&rig);
    assert_int_equal(selection->count, 50);
    assert_true(selection->within < 0.69 && selection->within > 0.2);
    rig_key(&rig, 'd', UI_MOD_CTRL);
    assert_int_equal(selection->count, 0);
    assert_null(rig_find_text(&rig, "rows selected"));
    rig_close(&rig);
}

static void test_boxes_select_in_every_view(void **state)
{
    struct rig rig;
    float x0, y0, x1, y1;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    const struct selection *selection = &rig.app->selections[rig.app->scene];
    const size_t query = rig.app->row.query;
    cell_point(&rig, 10, 100, &x0, &y0); /* rows 11 to 20 of the file, columns 101 to 110 */
    cell_point(&rig, 19, 109, &x1, &y1);
    box(&rig, x0, y0, x1, y1);
    assert_int_equal(selection->count, 20);
    for (size_t i = 0; i < 150; i++)
        assert_true((selection->mask[i] > 0) == ((i >= 10 && i < 20) || (i >= 100 && i < 110)));
    assert_int_equal(rig.app->row.query, query); /* a box is no click */
    assert_int_equal(rig.app->undo.count, 0);
    /* a click with shift selects nothing */
    box(&rig, x0, y0, x0, y0);
    assert_int_equal(selection->count, 0);

    /* all of the plot: every row; without its right half: those of shorter petals */
    const struct draw_cmd *under = rig_find_text(&rig, "petal width"); /* at its foot */
    for (int i = 0; i < rig.app->list.cmd_count; i++)
        if (rig.app->list.cmds[i].kind == DRAW_TEXT &&
            strcmp(rig.app->list.text + rig.app->list.cmds[i].text, "petal width") == 0)
            under = &rig.app->list.cmds[i];
    assert_non_null(under);
    box(&rig, 360, 112, 828, under->rect.y - 55);
    assert_int_equal(selection->count, 150);
    box(&rig, 360, 112, 560, under->rect.y - 55);
    const nl_matrix *values = &rig_result(&rig)->source->source.table.values;
    float largest = 0, smallest = 100;
    for (size_t i = 0; i < 150; i++) {
        if (selection->mask[i] > 0)
            largest = fmaxf(largest, nl_row(values, i)[2]);
        else
            smallest = fminf(smallest, nl_row(values, i)[2]);
    }
    assert_true(selection->count > 50 && selection->count < 100);
    assert_true(largest < smallest);
    rig_close(&rig);
}

static void test_c44_other_data_clear_the_selection(void **state)
{
    struct rig rig;
    float x0, y0, x1, y1;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    const struct selection *selection = &rig.app->selections[SCENE_TABLE];
    cell_point(&rig, 2, 2, &x0, &y0);
    cell_point(&rig, 9, 9, &x1, &y1);
    box(&rig, x0, y0, x1, y1);
    assert_int_equal(selection->count, 8);
    const double within = selection->within;
    rig_set(&rig, PARAM_ROWS, ROWS_ZSCORE); /* the same rows, measured anew */
    rig_settle(&rig);
    rig_frame(&rig);
    assert_int_equal(selection->count, 8);
    assert_true(selection->within != within);
    rig_key(&rig, UI_KEY_F1 + 1, 0); /* each scene has its own */
    rig_settle(&rig);
    assert_null(rig_find_text(&rig, "rows selected"));
    rig_key(&rig, UI_KEY_F1 + 2, 0);
    rig_settle(&rig);
    assert_non_null(rig_find_text(&rig, "8 of 150 rows selected"));
    rig_drop(&rig, "@library");
    rig_settle(&rig);
    assert_int_equal(selection->count, 0);
    assert_int_equal(selection->key, 0);
    assert_null(rig_find_text(&rig, "rows selected"));
    rig_close(&rig);
}

static void test_a_box_on_the_picture(void **state)
{
    struct rig rig;
    float x0, y0, x1, y1;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_settle(&rig);
    const nl_grid *grid = &rig_result(&rig)->features->features.grid;
    rig_picture_point(&rig, 0.25f, 0.25f, &x0, &y0);
    rig_picture_point(&rig, 0.5f, 0.75f, &x1, &y1);
    box(&rig, x0, y0, x1, y1);
    const struct selection *selection = &rig.app->selections[rig.app->scene];
    for (size_t i = 0; i < selection->n; i++) {
        const double u = ((double)(i % grid->gw) + 0.5) / (double)grid->gw;
        const double v = ((double)(i / grid->gw) + 0.5) / (double)grid->gh;
        const bool inside = u > 0.26 && u < 0.49 && v > 0.26 && v < 0.74;
        const bool outside = u < 0.24 || u > 0.51 || v < 0.24 || v > 0.76;
        assert_true(inside ? selection->mask[i] > 0 : !outside || selection->mask[i] == 0);
    }
    const struct draw_cmd *mask = rig_find(&rig, DRAW_MASK);
    assert_non_null(mask);
    assert_int_equal(mask->u.mask.columns, grid->gw);
    assert_true(rig.app->list.sources[DRAW_SLOT_SELECTION].key == selection->key);
    assert_true(selection->within > 0 && selection->outside > 0);
    rig_set(&rig, PARAM_STRIDE, 5); /* another grid */
    rig_settle(&rig);
    assert_int_equal(selection->count, 0);
    assert_null(rig_find(&rig, DRAW_MASK));
    rig_close(&rig);
}

static void drag(struct rig *rig, float x0, float y0, float x1, float y1)
{
    rig_move(rig, x0, y0);
    rig_frame(rig);
    inputs_press(&rig->in, UI_LEFT);
    rig_frame(rig);
    rig_move(rig, x1, y1);
    rig_frame(rig);
    inputs_release(&rig->in, UI_LEFT);
    rig_frame(rig);
    rig_frame(rig);
}

static void test_handles_spread_the_map(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    const struct draw_cmd *matrix = matrix_of(&rig);
    const float bar = matrix->rect.x + matrix->rect.w + 6 + 10 + 3 + 6; /* its middle */
    const float top = matrix->rect.y, bottom = top + matrix->rect.h;
    assert_true(matrix->u.matrix.from == 0 && matrix->u.matrix.to == 1);
    drag(&rig, bar, top, bar, top + 0.25f * (bottom - top));
    assert_true(fabsf(matrix_of(&rig)->u.matrix.to - 0.75f) < 0.02f);
    assert_non_null(rig_find_text(&rig, "5.3")); /* three quarters of 7.085 */
    drag(&rig, bar, bottom, bar, top);           /* the low one stops below the high one */
    assert_true(matrix_of(&rig)->u.matrix.from < matrix_of(&rig)->u.matrix.to);
    assert_true(matrix_of(&rig)->u.matrix.from > 0.7f);
    rig_key(&rig, UI_KEY_DELETE, 0); /* it has the keyboard */
    assert_true(matrix_of(&rig)->u.matrix.from == 0);
    rig_key(&rig, UI_KEY_UP, 0);
    assert_true(fabsf(matrix_of(&rig)->u.matrix.from - 0.02f) < 1e-6f);
    rig_key(&rig, 'f', 0);
    assert_true(matrix_of(&rig)->u.matrix.from == 0 && matrix_of(&rig)->u.matrix.to == 1);
    assert_int_equal(rig.app->undo.count, 0);
    rig_close(&rig);
}

static void test_cells_carry_their_numbers(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_SPECTRAL);
    rig_settle(&rig);
    cell_point(&rig, 60, 90, &x, &y);
    rig_move(&rig, x, y);
    for (int i = 0; i < 40; i++) {
        rig.in.wheel_y = 1;
        rig_frame(&rig);
    }
    hover(&rig, x, y);
    const struct draw_matrix *m = &matrix_of(&rig)->u.matrix;
    assert_true(m->x1 - m->x0 < 4.01f && m->x1 - m->x0 > 3.9f);
    assert_false(m->overview);
    const nl_matrix *d = &rig_result(&rig)->dissim->d;
    const size_t *order = rig.app->order.order;
    char text[32], words[160];
    view_number((double)nl_row(d, order[60])[order[90]], text, sizeof text);
    snprintf(words, sizeof words, "D = %s", text);
    assert_non_null(rig_find_text(&rig, words)); /* the note */
    rig_move(&rig, -1, -1);
    rig_frame(&rig);
    rig_frame(&rig);
    bool found = false;
    for (int i = 0; i < rig.app->list.cmd_count; i++) {
        const struct draw_cmd *cmd = &rig.app->list.cmds[i];
        found = found || (cmd->kind == DRAW_TEXT && cmd->rect.x > x - 60 && cmd->rect.x < x + 60 &&
                          cmd->rect.y > y - 60 && cmd->rect.y < y + 60 &&
                          strcmp(rig.app->list.text + cmd->text, text) == 0);
    }
    assert_true(found); /* in the cell */
    rig_close(&rig);
}

/* Hovering row 2, column 5 names them as that and lights both points (C03). */
static void test_c03_the_pointer_names_query_and_key(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_INPUT);
    rig_settle(&rig);
    cell_point(&rig, 1, 4, &x, &y);
    hover(&rig, x, y);
    assert_non_null(rig_find_text(&rig, "query 2 (setosa), key 5 (setosa)"));
    assert_int_equal(rig.app->view.hover_query, 1);
    assert_int_equal(rig.app->view.hover_row, 4);
    cell_point(&rig, 1, 104, &x, &y); /* far enough for both tags */
    hover(&rig, x, y);
    assert_int_equal(rig.app->view.hover_query, 1);
    assert_int_equal(rig.app->view.hover_row, 104);
    const struct draw_cmd *query = NULL, *key = NULL;
    for (int i = 0; i < rig.app->list.cmd_count; i++) {
        const struct draw_cmd *cmd = &rig.app->list.cmds[i];
        const char *text = cmd->kind == DRAW_TEXT ? rig.app->list.text + cmd->text : "";
        query = strcmp(text, "query") == 0 ? cmd : query;
        key = strcmp(text, "key") == 0 ? cmd : key;
    }
    assert_non_null(query);
    assert_non_null(key);
    assert_true(query->rect.x < key->rect.x); /* setosa's petals are the shorter ones */
    /* the row of the query moves alone */
    const size_t before = rig.app->row.query;
    rig_click(&rig, x, y);
    assert_true(rig.app->row.query != before);
    assert_int_equal(rig.app->row.query, 1);
    rig_move(&rig, -1, -1);
    rig_frame(&rig);
    rig_frame(&rig);
    assert_int_equal(rig.app->view.hover_query, SIZE_MAX);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_new_order_is_walked_to),
        cmocka_unit_test(test_the_way_can_be_skipped),
        cmocka_unit_test(test_where_branches_stand),
        cmocka_unit_test(test_a_branch_selects_its_rows),
        cmocka_unit_test(test_boxes_select_in_every_view),
        cmocka_unit_test(test_c44_other_data_clear_the_selection),
        cmocka_unit_test(test_a_box_on_the_picture),
        cmocka_unit_test(test_handles_spread_the_map),
        cmocka_unit_test(test_cells_carry_their_numbers),
        cmocka_unit_test(test_c03_the_pointer_names_query_and_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
