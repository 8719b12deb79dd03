/* SPDX-License-Identifier: MIT */
/*
 * Text: characters become glyphs of one atlas, and widths for the layout. Needs no GL and no
 * window, so that tests and exports measure as the window does.
 *
 * Sizes are pixels of the em square, rounded to whole ones (at least 1). Glyphs stand on whole
 * pixels and advance by whole pixels, so that a text looks the same wherever it stands, and is as
 * wide as measured. No kerning, no shaping of complex scripts.
 */
#ifndef NONLOCAL_APP_GFX_GLYPHS_H
#define NONLOCAL_APP_GFX_GLYPHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../ui/draw.h"

struct glyphs;

struct glyph {
    int advance;       /* from the pen to the next glyph's */
    int left, top;     /* of the bitmap: right of the pen, above the baseline */
    int width, height; /* 0: nothing to draw */
    int x, y;          /* in the atlas */
};

/* font: see fonts_create; usually NULL. NULL and one sentence on failure. */
struct glyphs *glyphs_create(const char *font, char *error, size_t error_size);
void glyphs_destroy(struct glyphs **glyphs);

/*
 * What the UI measures with; user is the struct glyphs. length counts bytes, a 0 byte ends a text
 * earlier. Invalid UTF-8 counts as U+FFFD, control characters as nothing.
 */
float glyphs_width(void *user, const char *utf8, size_t length, enum draw_font font, float size);
float glyphs_ascent(void *user, enum draw_font font, float size);  /* above the baseline, > 0 */
float glyphs_descent(void *user, enum draw_font font, float size); /* below it, > 0 */

/* Characters of the text that no installed font has: they would show as boxes. */
int glyphs_missing(struct glyphs *glyphs, const char *utf8, size_t length, enum draw_font font);

/*
 * Drawing, by gfx. glyphs_prepare puts every glyph of a text into the atlas and returns false when
 * the atlas is full; then glyphs_evict makes it empty and the frame's texts are prepared again.
 * glyphs_next walks a text: *glyph is what to draw, or it returns false at the end.
 */
struct glyph_reader {
    const char *at, *end;
    enum draw_font font;
    int pixels;
    bool after_cjk;
    struct glyph advance_only; /* stands in for a glyph that is not in the atlas */
};

/* One channel of coverage, rows without gaps. dirty_top..dirty_bottom changed since
 * glyphs_atlas_clean; generation changes when the size does. */
struct glyph_atlas {
    const uint8_t *pixels;
    int width, height, dirty_top, dirty_bottom;
    unsigned generation;
};

bool glyphs_prepare(struct glyphs *glyphs, const char *utf8, enum draw_font font, float size);
void glyphs_evict(struct glyphs *glyphs);
struct glyph_reader glyphs_read(const char *utf8, size_t length, enum draw_font font, float size);
bool glyphs_next(struct glyphs *glyphs, struct glyph_reader *reader, const struct glyph **glyph);
struct glyph_atlas glyphs_atlas(const struct glyphs *glyphs);
void glyphs_atlas_clean(struct glyphs *glyphs);

#endif
