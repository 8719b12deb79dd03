/* SPDX-License-Identifier: MIT */
/* A window without a window: feeds inputs frame by frame to the interface and keeps what it drew.
 */
#ifndef NONLOCAL_TESTS_UI_RIG_H
#define NONLOCAL_TESTS_UI_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ui/text_fake.h"
#include "ui/widgets.h"

/* One character of body text, as the fake measurer has it. */
#define CHAR_W 8.0f

struct rig {
    struct inputs in;
    struct ui_style style;
    struct ui_frame frame;
};

/* Too large for the stack. */
static struct ui rig_ui;
static struct draw_list rig_list;
static char rig_clipboard[256];

static inline void rig_copy(void *user, const char *utf8, size_t length)
{
    (void)user;
    assert_true(length < sizeof rig_clipboard);
    memcpy(rig_clipboard, utf8, length);
    rig_clipboard[length] = '\0';
}

static inline const char *rig_paste(void *user)
{
    (void)user;
    return rig_clipboard;
}

static inline void rig_init(struct rig *rig, int width, int height)
{
    struct ui_text text = ui_text_fake();
    struct ui_clipboard clipboard = {.set = rig_copy, .get = rig_paste};
    memset(rig, 0, sizeof *rig);
    rig->in.window_w = rig->in.drawable_w = width;
    rig->in.window_h = rig->in.drawable_h = height;
    rig->in.scale = 1;
    rig->in.mouse_x = rig->in.mouse_y = -1;
    rig->in.time = 100;
    ui_style_set(&rig->style, UI_DARK, 1, 1);
    ui_init(&rig_ui, &text, &clipboard);
    rig_clipboard[0] = '\0';
}

static inline void rig_check_sound(void)
{
    const struct ui_faults *faults = &rig_ui.faults;
    assert_int_equal(faults->items, 0);
    assert_int_equal(faults->ids, 0);
    assert_int_equal(faults->scrolls, 0);
    assert_int_equal(faults->duplicates, 0);
    assert_int_equal(faults->unbalanced, 0);
    assert_int_equal(rig_list.dropped, 0);
}

/* One frame with the events gathered in rig->in; afterwards they are spent. */
#define RIG_FRAME(rig, ...)                                                                        \
    do {                                                                                           \
        ui_begin(&rig_ui, &(rig)->in, &rig_list, &(rig)->style);                                   \
        __VA_ARGS__;                                                                               \
        ui_end(&rig_ui, &(rig)->frame);                                                            \
        rig_check_sound();                                                                         \
        inputs_next(&(rig)->in);                                                                   \
        (rig)->in.time += 1.0 / 64;                                                                \
    } while (0)

static inline void rig_move(struct rig *rig, float x, float y)
{
    rig->in.mouse_x = x;
    rig->in.mouse_y = y;
}

/* The command that draws exactly this text, or NULL. */
static inline const struct draw_cmd *rig_find_text(const char *text)
{
    for (int i = 0; i < rig_list.cmd_count; i++)
        if (rig_list.cmds[i].kind == DRAW_TEXT &&
            strcmp(rig_list.text + rig_list.cmds[i].text, text) == 0)
            return &rig_list.cmds[i];
    return NULL;
}

#endif
