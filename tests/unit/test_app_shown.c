/* SPDX-License-Identifier: MIT */
/*
 * What the window's matrix is of: D, S or A, iVAT, class means, blocks of what is too large, chosen
 * columns, a file of D itself. Needs no display.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "nonlocal/system.h"

#include "app_matrix_rig.h"

/* S and A are the engine's, shown through the same permutation. */
static void test_scores_and_weights_in_the_same_order(void **state)
{
    struct rig rig;
    nl_error error = {0};
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_SPECTRAL);
    rig_settle(&rig);
    const uint64_t key = rig.app->list.sources[DRAW_SLOT_PERMUTATION].key;
    const nl_exec exec = {.kernels = job_kernels(rig.app->job)};
    nl_matrix expected = {0};
    assert_int_equal(nl_matrix_alloc(&expected, 150, 150, &error), NL_OK);
    for (int shown = SHOWN_SCORES; shown <= SHOWN_WEIGHTS; shown++) {
        rig_set(&rig, PARAM_SHOWN, shown);
        rig_settle(&rig);
        const nl_attention *attention = rig_result(&rig)->attention->attention.attention;
        if (shown == SHOWN_SCORES)
            nl_attention_scores(attention, &exec, &expected, &error);
        else
            nl_attention_rows(attention, &exec, &expected, &error);
        const struct draw_source *source = &rig.app->list.sources[DRAW_SLOT_MATRIX];
        for (size_t i = 0; i < 150; i++)
            assert_memory_equal((const float *)source->pixels + i * source->row_stride,
                                nl_row(&expected, i), 150 * sizeof(float));
        assert_true(rig.app->list.sources[DRAW_SLOT_PERMUTATION].key == key);
        float x, y;
        cell_point(&rig, 3, 70, &x, &y);
        hover(&rig, x, y);
        char number[32], words[64];
        const size_t *order = rig.app->order.order;
        view_number((double)nl_row(&expected, order[3])[order[70]], number, sizeof number);
        snprintf(words, sizeof words, "%s = %s", shown == SHOWN_SCORES ? "S" : "A", number);
        assert_non_null(rig_find_text(&rig, words));
        assert_non_null(rig_find_text(&rig, "unlike"));
    }
    /* new weights, new A; D and its order stay */
    const struct dissim_part *dissim = rig_result(&rig)->dissim;
    const uint64_t cells = rig_result(&rig)->cells->part.key;
    rig_set(&rig, PARAM_PERPLEXITY, 5);
    rig_settle(&rig);
    assert_ptr_equal(rig_result(&rig)->dissim, dissim);
    assert_true(rig_result(&rig)->cells->part.key != cells);
    nl_matrix_free(&expected);
    rig_close(&rig);
}

/* Every entry is the largest step of the best way, by Floyd and Warshall. */
static void test_ivat_as_a_view(void **state)
{
    static double way[150][150];
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_VAT);
    rig_set(&rig, PARAM_SHOWN, SHOWN_IVAT);
    rig_settle(&rig);
    const nl_matrix *d = &rig_result(&rig)->dissim->d;
    const nl_matrix *shown = cells_matrix(rig_result(&rig)->cells);
    for (size_t i = 0; i < 150; i++)
        for (size_t j = 0; j < 150; j++)
            way[i][j] = (double)nl_row(d, i)[j];
    for (size_t k = 0; k < 150; k++)
        for (size_t i = 0; i < 150; i++)
            for (size_t j = 0; j < 150; j++)
                way[i][j] = fmin(way[i][j], fmax(way[i][k], way[k][j]));
    for (size_t i = 0; i < 150; i++)
        for (size_t j = 0; j < 150; j++)
            assert_true((double)nl_row(shown, i)[j] == way[i][j]);
    rig_close(&rig);
}

/* The upper triangle of dissplot: means of cases of the field. */
static void test_class_means_above_the_diagonal(void **state)
{
    static const double expected[3][3] = {
        {0.682881, 3.301223, 4.824142}, {0, 0.977413, 1.842412}, {0, 0, 1.153245}};
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle_all(&rig);
    rig_set(&rig, PARAM_SHOWN, SHOWN_MEANS);
    rig_settle_all(&rig);
    const nl_matrix *shown = cells_matrix(rig_result(&rig)->cells);
    const nl_matrix *d = &rig_result(&rig)->dissim->d;
    for (size_t i = 0; i < 150; i++)
        for (size_t j = 0; j < 150; j++) {
            const double value = (double)nl_row(shown, i)[j];
            if (j > i)
                assert_true(fabs(value - expected[i / 50][j / 50]) < 1e-5);
            else
                assert_true(value == (double)nl_row(d, i)[j]);
        }
    assert_non_null(rig_find_text(&rig, "4.82"));
    assert_non_null(rig_find_text(&rig, "0.503")); /* the silhouette of Iris' classes */
    rig_drop(&rig, "@sample"); /* without classes nothing of it is offered or shown */
    rig_settle_all(&rig);
    assert_int_equal(param_choice(rig_doc(&rig), PARAM_SHOWN), SHOWN_DISSIM);
    rig_close(&rig);
}

static void test_pooled_keys_have_no_square(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_set(&rig, PARAM_STRIDE, 8);
    rig_set(&rig, PARAM_SUBSAMPLE, NL_SUBSAMPLE_PAPER);
    rig_set(&rig, PARAM_SHOWN, SHOWN_WEIGHTS);
    rig_settle(&rig);
    assert_null(rig_find(&rig, DRAW_MATRIX));
    assert_non_null(rig_find_text(&rig, "pooled"));
    rig_set(&rig, PARAM_SUBSAMPLE, NL_SUBSAMPLE_NONE);
    rig_settle(&rig);
    assert_non_null(rig_find(&rig, DRAW_MATRIX));
    rig_close(&rig);
}

/* 5,504 rows: means over blocks, in an order that needs no matrix, and in words. */
static void test_more_rows_than_are_held(void **state)
{
    struct rig rig;
    float x, y;
    (void)state;
    rig_open(&rig, NULL, 1366, 768);
    rig_set(&rig, PARAM_STRIDE, 3);
    rig_settle(&rig);
    const struct result *now = rig_result(&rig);
    assert_int_equal(now->order->n, 5504);
    assert_int_equal(now->dissim->d.rows, 0);
    assert_int_equal(now->order->id, NL_ORDER_PCA);
    assert_true(matrix_of(&rig)->u.matrix.overview);
    assert_non_null(rig_find_text(&rig, "would take 121.2 MB"));
    assert_non_null(rig_find_text(&rig, "needs all of D"));
    assert_null(rig_find_text(&rig, "VAT"));
    /* one cell of it, straight from the features */
    const nl_matrix *x_rows = &now->features->features.x;
    const size_t s = OVERVIEW_SIDE, n = 5504, cy = 100, cx = 700;
    double sum = 0;
    size_t count = 0;
    for (size_t p = cy * n / s; p < (cy + 1) * n / s; p++)
        for (size_t q = cx * n / s; q < (cx + 1) * n / s; q++, count++) {
            const float *a = nl_row(x_rows, now->order->order[p]);
            const float *b = nl_row(x_rows, now->order->order[q]);
            double squares = 0;
            for (size_t k = 0; k < x_rows->cols; k++)
                squares += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
            sum += sqrt(squares);
        }
    const double mean = sum / (double)count;
    assert_true(fabs((double)nl_row(&now->overview->mean, cy)[cx] - mean) < 1e-5 * mean);
    cell_point(&rig, (double)(cy * n / s) + 2, (double)(cx * n / s) + 2, &x, &y);
    hover(&rig, x, y);
    assert_non_null(rig_find_text(&rig, "mean D ="));
    /* zoomed in, single pairs are there after all */
    for (int i = 0; i < 40; i++) {
        rig.in.wheel_y = 1;
        rig_frame(&rig);
    }
    hover(&rig, x, y);
    assert_false(matrix_of(&rig)->u.matrix.overview);
    const float *a = nl_row(x_rows, rig.app->view.hover_query);
    const float *b = nl_row(x_rows, rig.app->view.hover_row);
    double squares = 0;
    char number[32], words[64];
    for (size_t k = 0; k < x_rows->cols; k++)
        squares += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    snprintf(words, sizeof words, "D = %s", view_number(sqrt(squares), number, sizeof number));
    assert_non_null(rig_find_text(&rig, words));
    rig_key(&rig, 'f', 0);
    assert_true(matrix_of(&rig)->u.matrix.overview);
    rig_set(&rig, PARAM_SHOWN, SHOWN_WEIGHTS);
    rig_settle(&rig);
    assert_null(rig_find(&rig, DRAW_MATRIX));
    assert_non_null(rig_find_text(&rig, "n = 5504"));
    rig_set(&rig, PARAM_SHOWN, SHOWN_DISSIM);
    rig_set(&rig, PARAM_STRIDE, 4);
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->order->id, NL_ORDER_VAT);
    rig_close(&rig);
}

static void test_columns_are_chosen(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    const nl_matrix *values = &rig_result(&rig)->source->source.table.values;
    for (size_t k = 0; k < 2; k++) {
        edit_column(&rig.app->edits, k);
        rig_frame(&rig);
    }
    rig_settle(&rig);
    const nl_matrix *d = &rig_result(&rig)->dissim->d;
    assert_int_equal(rig_result(&rig)->features->features.x.cols, 2);
    for (size_t i = 0; i < 150; i += 7)
        for (size_t j = 0; j < 150; j += 11) {
            const double dx = (double)nl_row(values, i)[2] - (double)nl_row(values, j)[2];
            const double dy = (double)nl_row(values, i)[3] - (double)nl_row(values, j)[3];
            assert_true(fabs((double)nl_row(d, i)[j] - sqrt(dx * dx + dy * dy)) < 1e-6);
        }
    rig_check_row(&rig);
    edit_column(&rig.app->edits, 2);
    edit_column(&rig.app->edits, 3);
    rig_frame(&rig);
    rig_settle(&rig); /* none is left: a sentence, and nothing is lost */
    assert_non_null(strstr(rig.app->message, "no column is chosen"));
    assert_null(rig_find(&rig, DRAW_MATRIX));
    for (int i = 0; i < 4; i++)
        rig_key(&rig, 'z', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_int_equal(rig_result(&rig)->features->features.x.cols, 4);
    assert_non_null(rig_find(&rig, DRAW_MATRIX));
    rig_close(&rig);
}

/* A file of D: it is shown and sorted as it is, and nothing attends (C36). */
static void test_c36_a_ready_matrix_in_the_window(void **state)
{
    static const char *const csv = "0,1,9,8\n1,0,7,9\n9,7,0,2\n8,9,2,0\n";
    static const float numbers[4][4] = {{0, 1, 9, 8}, {1, 0, 7, 9}, {9, 7, 0, 2}, {8, 9, 2, 0}};
    struct rig rig;
    (void)state;
    rig_write_text("d.csv", csv);
    rig_write_text("skew.csv", "0,1\n2,0\n");
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    rig_drop(&rig, "d.csv");
    rig_settle(&rig);
    rig_check_row(&rig); /* features, until somebody says otherwise */
    assert_non_null(rig_find_text(&rig, "Is D itself"));
    edit_ready(&rig.app->edits, true);
    rig_frame(&rig);
    rig_set(&rig, PARAM_ORDER, NL_ORDER_AVERAGE);
    rig_settle(&rig);
    const nl_matrix *d = &rig_result(&rig)->dissim->d;
    for (size_t i = 0; i < 4; i++)
        assert_memory_equal(nl_row(d, i), numbers[i], sizeof numbers[i]);
    assert_null(rig_result(&rig)->attention);
    assert_string_equal(rig.app->message, "");
    assert_non_null(rig_find_text(&rig, "nothing to attend"));
    assert_null(rig_find_text(&rig, "Similarity"));
    /* 0 1 | 3 2 or 0 1 | 2 3: the shorter is 1 + 7 + 2 */
    assert_true(rig.app->order.path == 10);
    assert_int_equal(rig.app->order.order[0], 0);
    assert_int_equal(rig.app->order.order[2], 2);
    rig_set(&rig, PARAM_SHOWN, SHOWN_IVAT);
    rig_settle(&rig);
    assert_true(nl_row(cells_matrix(rig_result(&rig)->cells), 0)[3] == 7);
    rig_drop(&rig, "skew.csv"); /* a file of its own: not D before somebody says so */
    rig_settle(&rig);
    assert_false(rig_doc(&rig)->ready);
    edit_ready(&rig.app->edits, true);
    rig_frame(&rig);
    rig_settle(&rig);
    assert_non_null(strstr(rig.app->message, "row 1, column 2, 1, differs from its mirror image"));
    rig_key(&rig, 'z', UI_MOD_CTRL);
    rig_settle(&rig);
    assert_non_null(rig_find(&rig, DRAW_MATRIX));
    rig_close(&rig);
}

static void test_the_kernels_width(void **state)
{
    struct rig rig;
    (void)state;
    rig_open(&rig, "@iris", 1366, 768);
    rig_settle(&rig);
    assert_null(rig_find_text(&rig, "Bandwidth"));
    rig_set(&rig, PARAM_METRIC, NL_METRIC_GAUSSIAN);
    rig_settle(&rig);
    assert_non_null(rig_find_text(&rig, "Bandwidth"));
    assert_non_null(rig_find_text(&rig, "median distance"));
    const double found = rig_result(&rig)->dissim->bandwidth;
    assert_true(found > 2 && found < 3); /* half of Iris' pairs are nearer */
    rig_set(&rig, PARAM_BANDWIDTH, 0.5);
    rig_settle(&rig);
    assert_true(rig_result(&rig)->dissim->bandwidth == 0.5);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores_and_weights_in_the_same_order),
        cmocka_unit_test(test_ivat_as_a_view),
        cmocka_unit_test(test_class_means_above_the_diagonal),
        cmocka_unit_test(test_pooled_keys_have_no_square),
        cmocka_unit_test(test_more_rows_than_are_held),
        cmocka_unit_test(test_columns_are_chosen),
        CASE(test_c36_a_ready_matrix_in_the_window),
        cmocka_unit_test(test_the_kernels_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
