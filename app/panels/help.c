/* SPDX-License-Identifier: MIT */
/* The keys, from the command table, and what the mouse does. */
#include "../tr.h"
#include "../view.h"

struct gesture {
    const char *how, *what;
};

static const struct gesture gestures[] = {
    {TR_N("Click, drag"), TR_N("Choose the query")},
    {TR_N("Point"), TR_N("Read the value there")},
    {TR_N("Wheel"), TR_N("Zoom at the pointer")},
    {TR_N("Right or middle drag"), TR_N("Move the view")},
    {TR_N("Shift and drag"), TR_N("Select with a box; a click so selects nothing")},
    {TR_N("Click on a branch"), TR_N("Select its rows")},
    {TR_N("Arrow keys"), TR_N("Move the query, once its picture has the keyboard (Tab)")},
    {TR_N("Double click"), TR_N("A slider or handle back to its default")},
    {TR_N("Drop a file"), TR_N("Open a picture or a table")},
};

static void line(struct ui *ui, struct ui_column *column, const char *how, const char *what)
{
    struct draw_rect row = ui_column_next(column, ui_px(ui->style, 22));
    struct draw_rect left = ui_cut_left(&row, ui_px(ui->style, 170), ui_px(ui->style, 8));
    struct ui_type accent = ui_type_body(ui);
    accent.color = ui->style->accent;
    ui_label(ui, left, UI_ALIGN_LEFT, accent, how);
    ui_label(ui, row, UI_ALIGN_LEFT, ui_type_body(ui), what);
}

void panel_help(struct ui *ui, const struct scene *scene, struct view *view, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    const int lines = COMMAND_COUNT + (int)(sizeof gestures / sizeof *gestures);
    (void)scene;
    struct draw_rect room = ui_inset(ui_window(ui), style->gap, style->gap);
    struct draw_rect box =
        ui_center(room, ui_px(style, 600), ui_px(style, 22) * (float)lines + ui_px(style, 76));
    struct ui_overlay before = ui_overlay_begin(ui, box);
    ui_overlay_box(ui, box);
    struct draw_rect inside = ui_inset(box, ui_px(style, 16), ui_px(style, 12));
    struct draw_rect head = ui_cut_top(&inside, style->control, ui_px(style, 8));
    struct draw_rect close = ui_cut_right(&head, ui_button_width(ui, tr("Close")), ui_px(style, 8));
    ui_title(ui, head, tr("Keys and mouse"), NULL);
    if (ui_button(ui, close, "close-help", tr("Close"), UI_BUTTON_PLAIN, NULL))
        edit_command(edits, COMMAND_HELP);
    struct draw_rect content = ui_scroll_begin(ui, inside, "help-list", &view->help_scroll);
    struct ui_column column = ui_column(content, 0);
    for (size_t i = 0; i < sizeof gestures / sizeof *gestures; i++)
        line(ui, &column, tr(gestures[i].how), tr(gestures[i].what));
    ui_column_skip(&column, ui_px(style, 8));
    for (int c = 0; c < COMMAND_COUNT; c++)
        line(ui, &column, command_table[c].key_name, tr(command_table[c].label));
    ui_scroll_end(ui, inside, &view->help_scroll, ui_column_used(&column));
    ui_overlay_end(ui, before);
}
