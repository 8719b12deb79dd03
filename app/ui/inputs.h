/* SPDX-License-Identifier: MIT */
/*
 * What happened since the last frame, as plain data. The platform file fills it from its events;
 * tests write it by hand and so control the pointer, the keyboard and the clock.
 */
#ifndef NONLOCAL_APP_UI_INPUTS_H
#define NONLOCAL_APP_UI_INPUTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { INPUTS_MAX_KEYS = 32, INPUTS_MAX_TEXT = 256, INPUTS_MAX_PATH = 4096 };

enum ui_mouse_button { UI_LEFT = 1, UI_MIDDLE = 2, UI_RIGHT = 4 };

enum ui_mod { UI_MOD_SHIFT = 1, UI_MOD_CTRL = 2, UI_MOD_ALT = 4, UI_MOD_SUPER = 8 };

/* Letters and symbols are their own code point, letters in lower case; the rest follows after the
 * last code point of Unicode. */
enum ui_key {
    UI_KEY_NONE = 0,
    UI_KEY_FIRST_NAMED = 0x110000,
    UI_KEY_TAB = UI_KEY_FIRST_NAMED,
    UI_KEY_ENTER,
    UI_KEY_SPACE,
    UI_KEY_ESC,
    UI_KEY_LEFT,
    UI_KEY_RIGHT,
    UI_KEY_UP,
    UI_KEY_DOWN,
    UI_KEY_HOME,
    UI_KEY_END,
    UI_KEY_PAGE_UP,
    UI_KEY_PAGE_DOWN,
    UI_KEY_BACKSPACE,
    UI_KEY_DELETE,
    UI_KEY_F1, /* F2 … F12 follow */
    UI_KEY_F12 = UI_KEY_F1 + 11,
};

struct input_key {
    uint32_t key;
    uint16_t text_at; /* bytes of `text` typed before this key: keeps the two in order */
    uint8_t mods;
};

struct inputs {
    /* State, kept from frame to frame. */
    int window_w, window_h;     /* in the window system's units */
    int drawable_w, drawable_h; /* in pixels: what the interface is laid out in */
    float scale;                /* UI scale, 1 = 96 dpi */
    double time;                /* seconds, any origin, never backwards */
    float mouse_x, mouse_y;     /* drawable pixels; -1, -1 when not over the window */
    unsigned down;              /* mouse buttons held at the end of the frame */
    unsigned mods;              /* modifier keys held */

    /* Events of this frame only: inputs_next() clears them. */
    unsigned pressed, released; /* mouse buttons */
    bool double_click;          /* the press of the left button is the second of two */
    float wheel_x, wheel_y;     /* notches, may be fractions; y > 0 rolls away from the person */
    struct input_key keys[INPUTS_MAX_KEYS];
    int key_count;
    char text[INPUTS_MAX_TEXT]; /* typed, UTF-8, 0-terminated */
    int text_length;
    char dropped[INPUTS_MAX_PATH]; /* path of a file dropped on the window, "" = none */
    bool quit;
};

/* Forgets the events and keeps the state: call before gathering the next frame's events. */
static inline void inputs_next(struct inputs *in)
{
    in->pressed = in->released = 0;
    in->double_click = false;
    in->wheel_x = in->wheel_y = 0;
    in->key_count = 0;
    in->text[0] = '\0';
    in->text_length = 0;
    in->dropped[0] = '\0';
    in->quit = false;
}

/* More keys in one frame than a hand can press are dropped. */
static inline void inputs_key(struct inputs *in, uint32_t key, unsigned mods)
{
    if (in->key_count < INPUTS_MAX_KEYS)
        in->keys[in->key_count++] =
            (struct input_key){key, (uint16_t)in->text_length, (uint8_t)mods};
}

/* All or nothing, so that no character is ever cut in half. */
static inline void inputs_text(struct inputs *in, const char *utf8)
{
    size_t length = strlen(utf8);
    if ((size_t)in->text_length + length >= INPUTS_MAX_TEXT)
        return;
    memcpy(in->text + in->text_length, utf8, length + 1);
    in->text_length += (int)length;
}

static inline void inputs_press(struct inputs *in, unsigned button)
{
    in->pressed |= button;
    in->down |= button;
}

static inline void inputs_release(struct inputs *in, unsigned button)
{
    in->released |= button;
    in->down &= ~button;
}

#endif
