/* SPDX-License-Identifier: MIT */
/*
 * A measurer for tests, which need widths that they can compute: every character is 0.6 of its
 * size wide (rounded to whole pixels), Chinese, Japanese and Korean ones twice that.
 */
#ifndef NONLOCAL_APP_UI_TEXT_FAKE_H
#define NONLOCAL_APP_UI_TEXT_FAKE_H

#include <math.h>

#include "text.h"

static inline float ui_text_fake_width(void *user, enum draw_font font, float size,
                                       const char *utf8, size_t length)
{
    float cells = 0;
    (void)user;
    (void)font;
    for (size_t at = 0; at < length;)
        cells += ui_utf8_next(utf8, length, &at) >= 0x2E80 ? 2.0f : 1.0f;
    return cells * roundf(size * 0.6f);
}

static inline void ui_text_fake_metrics(void *user, enum draw_font font, float size, float *ascent,
                                        float *descent)
{
    (void)user;
    (void)font;
    *ascent = 0.8f * size;
    *descent = 0.2f * size;
}

static inline struct ui_text ui_text_fake(void)
{
    return (struct ui_text){.width = ui_text_fake_width, .metrics = ui_text_fake_metrics};
}

#endif
