/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "../tr.h"
#include "../view.h"

static void scene_tab(struct ui *ui, struct draw_rect *rest, const char *id,
                      enum command_id command, bool chosen, struct edits *edits)
{
    const char *label = tr(command_table[command].label);
    struct draw_rect tab = ui_cut_left(rest, ui_button_width(ui, label), ui_px(ui->style, 4));
    if (ui_button(ui, tab, id, label, chosen ? UI_BUTTON_TAB_CHOSEN : UI_BUTTON_TAB,
                  command_table[command].key_name))
        edit_command(edits, command);
}

void panel_topbar(struct ui *ui, struct draw_rect rect, const struct scene *scene,
                  struct view *view, struct edits *edits)
{
    const struct ui_style *style = ui->style;
    (void)view;
    draw_region_begin(ui->list, rect);
    ui_clip_begin(ui, rect);
    draw_fill(ui->list, rect, 0, style->panel);
    draw_fill(ui->list,
              (struct draw_rect){rect.x, rect.y + rect.h - style->hair, rect.w, style->hair}, 0,
              style->line);
    struct draw_rect rest = ui_inset(rect, ui_px(style, 12), ui_px(style, 6));
    struct ui_type name = ui_type_bold(ui);
    name.size = style->title;
    ui_label(ui, ui_cut_left(&rest, ui_px(style, 76), ui_px(style, 12)), UI_ALIGN_LEFT, name,
             "Nonlocal");
    scene_tab(ui, &rest, "scene-picture", COMMAND_SCENE_PICTURE, scene->id == SCENE_PICTURE, edits);
    scene_tab(ui, &rest, "scene-table", COMMAND_SCENE_TABLE, scene->id == SCENE_TABLE, edits);

    struct draw_rect help = ui_cut_right(&rest, ui_button_width(ui, "?"), ui_px(style, 4));
    if (ui_button(ui, help, "help", "?", UI_BUTTON_TAB, tr("Keys and mouse")))
        edit_command(edits, COMMAND_HELP);
    const char *theme = style->theme == UI_DARK ? tr("Light") : tr("Dark");
    struct draw_rect button = ui_cut_right(&rest, ui_button_width(ui, theme), ui_px(style, 12));
    if (ui_button(ui, button, "theme", theme, UI_BUTTON_PLAIN,
                  command_table[COMMAND_THEME].key_name))
        edit_command(edits, COMMAND_THEME);

    const struct source_part *source = scene->result->source;
    if (scene->message[0]) {
        struct ui_type type = ui_type_body(ui);
        type.color = style->result;
        ui_cut_left(&rest, ui_px(style, 8), 0);
        struct draw_rect close = ui_cut_right(&rest, ui_button_width(ui, "×"), ui_px(style, 4));
        ui_label(ui, rest, UI_ALIGN_RIGHT, type, scene->message);
        if (ui_button(ui, close, "dismiss", "×", UI_BUTTON_TAB, tr("Dismiss")))
            edit_command(edits, COMMAND_CANCEL);
        ui_tooltip(ui, ui_id_of(ui, "message"), scene->message);
        ui_interact(ui, ui_id_of(ui, "message"), rest, 0);
    } else if (source) {
        ui_label(ui, rest, UI_ALIGN_RIGHT, ui_type_muted(ui), source->source.name);
    }
    ui_clip_end(ui);
}
