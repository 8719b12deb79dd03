/* SPDX-License-Identifier: MIT */
/* One table of every action that takes no value: keys, help and buttons read it. */
#ifndef NONLOCAL_APP_COMMAND_H
#define NONLOCAL_APP_COMMAND_H

#include <stdint.h>

enum command_id {
    COMMAND_UNDO,
    COMMAND_REDO,
    COMMAND_DEFAULTS,
    COMMAND_SCENE_PICTURE,
    COMMAND_SCENE_TABLE,
    COMMAND_FIT,
    COMMAND_DESELECT,
    COMMAND_THEME,
    COMMAND_LARGER,
    COMMAND_SMALLER,
    COMMAND_NORMAL_SIZE,
    COMMAND_CANCEL,
    COMMAND_COMPUTE,
    COMMAND_HELP,
    COMMAND_QUIT,
    COMMAND_COUNT
};

struct command {
    const char *id;       /* in files */
    const char *label;    /* tr(label) */
    const char *key_name; /* as people write it */
    uint32_t key;         /* enum ui_key or a code point; 0 = none */
    unsigned mods;        /* enum ui_mod */
};

extern const struct command command_table[COMMAND_COUNT];

#endif
