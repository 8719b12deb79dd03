/* SPDX-License-Identifier: MIT */
#include "command.h"

#include "tr.h"
#include "ui/inputs.h"

const struct command command_table[COMMAND_COUNT] = {
    [COMMAND_UNDO] = {"undo", TR_N("Undo"), "Ctrl Z", 'z', UI_MOD_CTRL},
    [COMMAND_REDO] = {"redo", TR_N("Redo"), "Ctrl Y", 'y', UI_MOD_CTRL},
    [COMMAND_DEFAULTS] = {"defaults", TR_N("All settings back to their defaults"), "Ctrl R", 'r',
                          UI_MOD_CTRL},
    [COMMAND_SCENE_PICTURE] = {"scene-picture", TR_N("Picture"), "F2", UI_KEY_F1 + 1, 0},
    [COMMAND_SCENE_TABLE] = {"scene-table", TR_N("Table"), "F3", UI_KEY_F1 + 2, 0},
    [COMMAND_FIT] = {"fit", TR_N("Show all of the picture and the matrix"), "F", 'f', 0},
    [COMMAND_DESELECT] = {"deselect", TR_N("Select nothing"), "Ctrl D", 'd', UI_MOD_CTRL},
    [COMMAND_THEME] = {"theme", TR_N("Dark or light"), "F6", UI_KEY_F1 + 5, 0},
    [COMMAND_LARGER] = {"larger", TR_N("Everything larger"), "Ctrl +", '+', UI_MOD_CTRL},
    [COMMAND_SMALLER] = {"smaller", TR_N("Everything smaller"), "Ctrl −", '-', UI_MOD_CTRL},
    [COMMAND_NORMAL_SIZE] = {"normal-size", TR_N("Normal size"), "Ctrl 0", '0', UI_MOD_CTRL},
    [COMMAND_CANCEL] = {"cancel", TR_N("Give up what is being computed"), "Esc", UI_KEY_ESC, 0},
    [COMMAND_COMPUTE] = {"compute", TR_N("Compute what was given up"), "F5", UI_KEY_F1 + 4, 0},
    [COMMAND_HELP] = {"help", TR_N("These keys"), "F1", UI_KEY_F1, 0},
    [COMMAND_QUIT] = {"quit", TR_N("Quit"), "Ctrl Q", 'q', UI_MOD_CTRL},
};
