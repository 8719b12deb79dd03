/* SPDX-License-Identifier: MIT */
#include "text.h"

#include <math.h>
#include <string.h>

static const char ellipsis[] = "\xE2\x80\xA6";

/* Subscripts and superscripts: size and shift, as parts of the size of their line. */
#define SCRIPT_SIZE 0.75f
#define SCRIPT_DROP 0.2f
#define SCRIPT_RISE 0.35f

#define LINE_SPACING 1.15f

/* --- UTF-8 ---------------------------------------------------------------------------------- */

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

uint32_t ui_utf8_next(const char *utf8, size_t length, size_t *at)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const char *s = utf8 + *at;
    size_t left = length - *at;
    unsigned char lead = (unsigned char)*s;
    size_t bytes = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
    if (bytes == 1) {
        *at += 1;
        return lead;
    }
    uint32_t code = lead & (0x7Fu >> bytes);
    bool valid = bytes != 0 && bytes <= left && lead < 0xF8;
    for (size_t i = 1; valid && i < bytes; i++) {
        valid = continues(s[i]);
        code = code << 6 | ((unsigned char)s[i] & 0x3Fu);
    }
    if (!valid || code < smallest[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        *at += 1;
        return 0xFFFD;
    }
    *at += bytes;
    return code;
}

size_t ui_utf8_previous(const char *utf8, size_t at)
{
    /* Try the longest character first; it must end exactly at `at`. */
    for (size_t back = at < 4 ? at : 4; back > 1; back--) {
        size_t end = at - back;
        ui_utf8_next(utf8, at, &end);
        if (end == at)
            return at - back;
    }
    return at ? at - 1 : 0;
}

/* --- Measuring ------------------------------------------------------------------------------ */

float ui_text_width_n(const struct ui_text *text, struct ui_type type, const char *utf8,
                      size_t length)
{
    return length ? text->width(text->user, type.font, type.size, utf8, length) : 0;
}

float ui_text_width(const struct ui_text *text, struct ui_type type, const char *utf8)
{
    return ui_text_width_n(text, type, utf8, strlen(utf8));
}

float ui_text_line_height(const struct ui_text *text, struct ui_type type)
{
    float ascent, descent;
    text->metrics(text->user, type.font, type.size, &ascent, &descent);
    return ceilf((ascent + descent) * LINE_SPACING);
}

float ui_text_baseline(const struct ui_text *text, struct draw_rect rect, struct ui_type type)
{
    float ascent, descent;
    text->metrics(text->user, type.font, type.size, &ascent, &descent);
    return roundf(rect.y + (rect.h + ascent - descent) / 2);
}

size_t ui_text_fit(const struct ui_text *text, struct ui_type type, const char *utf8, size_t length,
                   float width)
{
    /* Bisect: `fits` bytes do, `over` bytes do not. Both are starts of characters. */
    size_t fits = 0, over = length;
    if (length == 0 || ui_text_width_n(text, type, utf8, length) <= width)
        return length;
    for (;;) {
        size_t middle = fits + (over - fits) / 2, probe = fits;
        ui_utf8_next(utf8, length, &probe);
        if (probe >= over)
            return fits;
        for (size_t at = probe; at <= middle; ui_utf8_next(utf8, length, &at))
            probe = at;
        if (ui_text_width_n(text, type, utf8, probe) <= width)
            fits = probe;
        else
            over = probe;
    }
}

/* --- One line ------------------------------------------------------------------------------- */

static float put(struct draw_list *list, const struct ui_text *text, float x, float baseline,
                 struct ui_type type, const char *utf8, size_t length)
{
    draw_text(list, x, baseline, type.font, type.size, type.color, utf8, length);
    return ui_text_width_n(text, type, utf8, length);
}

/* As much as fits, then "…"; nothing when not even that fits. */
static float put_cut(struct draw_list *list, const struct ui_text *text, float x, float baseline,
                     float width, struct ui_type type, const char *utf8, size_t length)
{
    float dots = ui_text_width(text, type, ellipsis);
    if (dots > width)
        return 0;
    size_t kept = ui_text_fit(text, type, utf8, length, width - dots);
    while (kept > 0 && utf8[kept - 1] == ' ')
        kept--;
    float used = put(list, text, x, baseline, type, utf8, kept);
    return used + put(list, text, x + used, baseline, type, ellipsis, sizeof ellipsis - 1);
}

float ui_text_run(struct draw_list *list, const struct ui_text *text, float x, float baseline,
                  struct ui_type type, const char *utf8)
{
    return put(list, text, x, baseline, type, utf8, strlen(utf8));
}

static float align_x(struct draw_rect rect, enum ui_align align, float width)
{
    float slack = fmaxf(rect.w - width, 0);
    if (align == UI_ALIGN_LEFT)
        return roundf(rect.x);
    /* Down, so that a right-aligned run never crosses the edge. */
    return floorf(rect.x + (align == UI_ALIGN_CENTER ? slack / 2 : slack));
}

float ui_text_in(struct draw_list *list, const struct ui_text *text, struct draw_rect rect,
                 enum ui_align align, struct ui_type type, const char *utf8)
{
    size_t length = strlen(utf8);
    if (length == 0 || !(rect.w > 0))
        return 0;
    float width = ui_text_width_n(text, type, utf8, length);
    float x = align_x(rect, align, width);
    float baseline = ui_text_baseline(text, rect, type);
    if (width > rect.w)
        return put_cut(list, text, x, baseline, rect.w, type, utf8, length);
    return put(list, text, x, baseline, type, utf8, length);
}

/* --- Subscripts and superscripts ------------------------------------------------------------ */

struct run {
    const char *utf8;
    size_t length;
    float size, shift; /* shift > 0 is down; both as parts of the line's size */
};

static bool opens_script(const char *s)
{
    return (s[0] == '_' || s[0] == '^') && s[1] == '{' && strchr(s + 2, '}');
}

/* Cuts the next run off *rest; false at the end. */
static bool next_run(const char **rest, struct run *run)
{
    const char *s = *rest;
    if (!*s)
        return false;
    if (opens_script(s)) {
        const char *end = strchr(s + 2, '}');
        *run = (struct run){s + 2, (size_t)(end - s - 2), SCRIPT_SIZE,
                            *s == '_' ? SCRIPT_DROP : -SCRIPT_RISE};
        *rest = end + 1;
        return true;
    }
    const char *end = s + 1;
    while (*end && !opens_script(end))
        end++;
    *run = (struct run){s, (size_t)(end - s), 1, 0};
    *rest = end;
    return true;
}

static struct ui_type run_type(struct ui_type type, const struct run *run)
{
    type.size = run->size < 1 ? roundf(type.size * run->size) : type.size;
    return type;
}

float ui_text_rich_width(const struct ui_text *text, struct ui_type type, const char *utf8)
{
    float width = 0;
    for (struct run run; next_run(&utf8, &run);)
        width += ui_text_width_n(text, run_type(type, &run), run.utf8, run.length);
    return width;
}

float ui_text_rich(struct draw_list *list, const struct ui_text *text, struct draw_rect rect,
                   enum ui_align align, struct ui_type type, const char *utf8)
{
    if (!(rect.w > 0))
        return 0;
    float total = ui_text_rich_width(text, type, utf8);
    float x = align_x(rect, align, total), used = 0;
    float baseline = ui_text_baseline(text, rect, type);
    for (struct run run; next_run(&utf8, &run);) {
        struct ui_type small = run_type(type, &run);
        float y = baseline + roundf(run.shift * type.size);
        float width = ui_text_width_n(text, small, run.utf8, run.length);
        /* Room for the dots must remain, unless everything fits. */
        float room = rect.w - used;
        float reserve = total > rect.w ? ui_text_width(text, type, ellipsis) : 0;
        if (width + reserve > room)
            return used + put_cut(list, text, x + used, baseline, room, type, run.utf8,
                                  run.shift != 0 ? 0 : run.length);
        used += put(list, text, roundf(x + used), y, small, run.utf8, run.length);
    }
    return used;
}

/* --- Paragraphs ----------------------------------------------------------------------------- */

static bool is_wide(uint32_t code)
{
    return (code >= 0x2E80 && code < 0xA4D0) || (code >= 0xAC00 && code < 0xD7A4) ||
           (code >= 0xF900 && code < 0xFB00) || (code >= 0xFE30 && code < 0xFE50) ||
           (code >= 0xFF00 && code < 0xFFEF) || code >= 0x20000;
}

/* Punctuation that may not begin a line. */
static bool closes(uint32_t code)
{
    static const uint32_t set[] = {0x3001, 0x3002, 0xFF0C, 0xFF0E, 0xFF1A, 0xFF1B, 0xFF01,
                                   0xFF1F, 0xFF09, 0x300D, 0x300F, 0x3011, 0x300B, 0x3009,
                                   0x201D, 0x2019, ',',    '.',    ';',    ':',    ')'};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        if (set[i] == code)
            return true;
    return false;
}

/* Punctuation that may not end a line. */
static bool opens(uint32_t code)
{
    return code == 0xFF08 || code == 0x300C || code == 0x300E || code == 0x3010 || code == 0x300A ||
           code == 0x3008 || code == 0x201C || code == 0x2018 || code == '(';
}

static bool may_break(uint32_t before, uint32_t after)
{
    if (before == ' ')
        return after != ' ';
    return (is_wide(before) || is_wide(after)) && after != ' ' && !closes(after) && !opens(before);
}

/* Bytes of the line that begins `utf8` (at least one character); *next is where the next begins. */
static size_t line_length(const struct ui_text *text, struct ui_type type, const char *utf8,
                          size_t length, float width, size_t *next)
{
    size_t broke = 0, at = 0;
    uint32_t before = 0;
    while (at < length && utf8[at] != '\n') {
        size_t start = at;
        uint32_t code = ui_utf8_next(utf8, length, &at);
        if (start > 0 && may_break(before, code))
            broke = start;
        /* Spaces may hang over the edge. */
        if (code != ' ' && start > 0 && ui_text_width_n(text, type, utf8, at) > width) {
            *next = broke ? broke : start;
            return *next;
        }
        before = code;
    }
    *next = at < length ? at + 1 : at;
    return at;
}

float ui_text_wrap(struct draw_list *list, const struct ui_text *text, struct draw_rect rect,
                   struct ui_type type, const char *utf8, float *widest)
{
    float line = ui_text_line_height(text, type), height = 0, longest = 0;
    for (size_t left = strlen(utf8), next; left > 0; utf8 += next, left -= next) {
        size_t length = line_length(text, type, utf8, left, rect.w, &next);
        while (length > 0 && utf8[length - 1] == ' ')
            length--;
        longest = fmaxf(longest, ui_text_width_n(text, type, utf8, length));
        if (list) {
            struct draw_rect at = {rect.x, rect.y + height, rect.w, line};
            draw_text(list, roundf(at.x), ui_text_baseline(text, at, type), type.font, type.size,
                      type.color, utf8, length);
        }
        height += line;
    }
    if (widest)
        *widest = longest;
    return height;
}
