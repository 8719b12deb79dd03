/* SPDX-License-Identifier: MIT */
#include "style.h"

#include <math.h>

const draw_color ui_query_colors[UI_QUERY_COLORS] = {
    0x56B4E9FF, 0xE69F00FF, 0x009E73FF, 0xCC79A7FF, 0xD55E00FF, 0xF0E442FF, 0x0072B2FF,
};

static const struct palette {
    draw_color background, panel, raised, line, text, muted, accent, on_accent, selection, result;
    draw_color shadow;
} palettes[UI_THEME_COUNT] = {
    [UI_DARK] = {.background = 0x14171CFF,
                 .panel = 0x1B2027FF,
                 .raised = 0x252C35FF,
                 .line = 0x313A46FF,
                 .text = 0xE6EAF0FF,
                 .muted = 0x98A3B3FF,
                 .accent = 0x56B4E9FF,
                 .on_accent = 0x14171CFF,
                 .selection = 0x24435AFF,
                 .result = 0xE69F00FF,
                 .shadow = 0x00000066},
    [UI_LIGHT] = {.background = 0xEEF1F5FF,
                  .panel = 0xFFFFFFFF,
                  .raised = 0xF3F5F8FF,
                  .line = 0xD5DBE3FF,
                  .text = 0x1B2430FF,
                  .muted = 0x5B6675FF,
                  .accent = 0x0A6CADFF,
                  .on_accent = 0xFFFFFFFF,
                  .selection = 0xD7E9F7FF,
                  .result = 0xB26A00FF,
                  .shadow = 0x1B243033},
};

draw_color ui_mix(draw_color a, draw_color b, float t)
{
    draw_color mixed = 0;
    if (!(t > 0))
        return a;
    if (t > 1)
        t = 1;
    for (int shift = 0; shift < 32; shift += 8) {
        float from = (float)(a >> shift & 0xFF), to = (float)(b >> shift & 0xFF);
        mixed |= (draw_color)lroundf(from + (to - from) * t) << shift;
    }
    return mixed;
}

float ui_px(const struct ui_style *style, float units)
{
    return roundf(units * style->scale);
}

static float clamp_scale(float value, float low, float high)
{
    /* Written so that NaN gives a usable interface too. */
    if (!(value > low))
        return value <= low ? low : 1.0f;
    return value < high ? value : high;
}

static void set_colors(struct ui_style *style, const struct palette *p)
{
    style->background = p->background;
    style->panel = p->panel;
    style->raised = p->raised;
    style->hover = ui_mix(p->raised, p->text, 0.08f);
    style->held = ui_mix(p->raised, p->text, 0.16f);
    style->line = p->line;
    style->text = p->text;
    style->muted = p->muted;
    style->disabled = ui_mix(p->muted, p->panel, 0.45f);
    style->accent = p->accent;
    style->on_accent = p->on_accent;
    style->selection = p->selection;
    style->result = p->result;
    style->shadow = p->shadow;
}

static float type_px(const struct ui_style *style, float units)
{
    return roundf(units * style->scale * style->type);
}

void ui_style_set(struct ui_style *style, enum ui_theme theme, float scale, float type)
{
    *style = (struct ui_style){.theme = theme == UI_LIGHT ? UI_LIGHT : UI_DARK,
                               .scale = clamp_scale(scale, 0.5f, 8.0f),
                               .type = clamp_scale(type, 0.5f, 4.0f)};
    set_colors(style, &palettes[style->theme]);

    style->body = type_px(style, 13);
    style->caption = type_px(style, 11);
    style->title = type_px(style, 14);
    style->header = type_px(style, 36);
    style->row = type_px(style, 30);
    style->control = type_px(style, 26);
    style->label = type_px(style, 88);
    style->value = type_px(style, 48);
    style->box = type_px(style, 16);

    style->hair = fmaxf(1, floorf(style->scale));
    style->ring = ui_px(style, 2);
    style->unit = style->gap = ui_px(style, 8);
    style->padding = ui_px(style, 12);
    style->radius = ui_px(style, 6);
    style->control_radius = ui_px(style, 5);
    style->track = type_px(style, 4);
    style->knob = type_px(style, 6);
    style->bar = ui_px(style, 6);
}
