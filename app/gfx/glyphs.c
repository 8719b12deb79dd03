/* SPDX-License-Identifier: MIT */
#include "glyphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fonts.h"
#include "utf8.h"

enum {
    ATLAS_WIDTH = 1024,
    ATLAS_FIRST_HEIGHT = 256,
    ATLAS_MAX_HEIGHT = 2048,
    MAX_PIXELS = 512,
    MAX_ENTRIES = 32768, /* then the table starts afresh */
    NO_FACE = -1
};

enum place { PLACE_NONE, PLACE_ATLAS, PLACE_TOO_LARGE };

struct entry {
    uint64_t key; /* character, size, style, width; 0 = free */
    int face;
    enum place place;
    struct glyph glyph;
};

struct glyphs {
    struct fonts *fonts;
    struct entry *entries; /* open addressing, a power of two */
    size_t capacity, count;
    uint8_t *pixels;
    int height;
    int shelf_x, shelf_y, shelf_height; /* glyphs stand in rows, one beside the other */
    int dirty_top, dirty_bottom;
    unsigned generation;
};

static int whole_pixels(float size)
{
    if (!(size >= 1.0f)) {
        return 1;
    }
    return size < (float)MAX_PIXELS ? (int)(size + 0.5f) : MAX_PIXELS;
}

/* --- the table of glyphs --- */

static uint64_t make_key(uint32_t code, int pixels, enum draw_font font, bool cjk)
{
    return (uint64_t)1 << 63 | (uint64_t)cjk << 48 | (uint64_t)font << 40 |
           (uint64_t)(unsigned)pixels << 24 | code;
}

static struct entry *slot_of(struct entry *entries, size_t capacity, uint64_t key)
{
    size_t i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 32) & (capacity - 1);
    while (entries[i].key != 0 && entries[i].key != key) {
        i = (i + 1) & (capacity - 1);
    }
    return &entries[i];
}

static void grow_table(struct glyphs *glyphs)
{
    size_t capacity = glyphs->capacity * 2;
    struct entry *entries = calloc(capacity, sizeof *entries);
    if (!entries) {
        return;
    }
    for (size_t i = 0; i < glyphs->capacity; i++) {
        if (glyphs->entries[i].key) {
            *slot_of(entries, capacity, glyphs->entries[i].key) = glyphs->entries[i];
        }
    }
    free(glyphs->entries);
    glyphs->entries = entries;
    glyphs->capacity = capacity;
}

static void empty_table(struct glyphs *glyphs)
{
    memset(glyphs->entries, 0, glyphs->capacity * sizeof *glyphs->entries);
    glyphs->count = 0;
    glyphs_evict(glyphs);
}

static void measure(struct glyphs *glyphs, struct entry *entry, uint32_t code, int pixels,
                    enum draw_font font, bool cjk)
{
    entry->face = fonts_face(glyphs->fonts, font, code, cjk);
    TTF_Font *ttf = fonts_open(glyphs->fonts, font, entry->face, pixels);
    int left = 0, right = 0, bottom = 0, top = 0, advance = 0;
    if (!ttf || TTF_GlyphMetrics32(ttf, code, &left, &right, &bottom, &top, &advance) != 0) {
        return;
    }
    entry->glyph = (struct glyph){.advance = advance,
                                  .left = left,
                                  .top = top,
                                  .width = right > left ? right - left : 0,
                                  .height = top > bottom ? top - bottom : 0};
    if (entry->glyph.width == 0 || entry->glyph.height == 0) {
        entry->glyph.width = entry->glyph.height = 0;
    }
}

static struct entry *find(struct glyphs *glyphs, uint32_t code, int pixels, enum draw_font font,
                          bool cjk)
{
    uint64_t key = make_key(code, pixels, font, cjk);
    struct entry *entry = slot_of(glyphs->entries, glyphs->capacity, key);
    if (entry->key) {
        return entry;
    }
    if (2 * (glyphs->count + 1) > glyphs->capacity) {
        if (glyphs->count < MAX_ENTRIES) {
            grow_table(glyphs);
        }
        if (2 * (glyphs->count + 1) > glyphs->capacity) {
            empty_table(glyphs);
        }
        entry = slot_of(glyphs->entries, glyphs->capacity, key);
    }
    glyphs->count++;
    *entry = (struct entry){.key = key};
    measure(glyphs, entry, code, pixels, font, cjk);
    return entry;
}

/* --- the atlas --- */

static bool grow_atlas(struct glyphs *glyphs)
{
    int height = glyphs->height * 2;
    uint8_t *pixels = height <= ATLAS_MAX_HEIGHT
                          ? realloc(glyphs->pixels, (size_t)ATLAS_WIDTH * (size_t)height)
                          : NULL;
    if (!pixels) {
        return false;
    }
    size_t old = (size_t)ATLAS_WIDTH * (size_t)glyphs->height;
    memset(pixels + old, 0, old);
    glyphs->pixels = pixels;
    glyphs->height = height;
    glyphs->generation++;
    glyphs->dirty_top = 0;
    glyphs->dirty_bottom = height;
    return true;
}

static bool find_place(struct glyphs *glyphs, struct glyph *glyph)
{
    if (glyphs->shelf_x + glyph->width > ATLAS_WIDTH) {
        glyphs->shelf_x = 0;
        glyphs->shelf_y += glyphs->shelf_height;
        glyphs->shelf_height = 0;
    }
    while (glyphs->shelf_y + glyph->height > glyphs->height) {
        if (!grow_atlas(glyphs)) {
            return false;
        }
    }
    glyph->x = glyphs->shelf_x;
    glyph->y = glyphs->shelf_y;
    glyphs->shelf_x += glyph->width;
    if (glyph->height > glyphs->shelf_height) {
        glyphs->shelf_height = glyph->height;
    }
    return true;
}

/*
 * SDL_ttf draws a lone glyph as a text of one letter: the baseline lies `ascent` below the top, or
 * lower where the glyph is taller, and a glyph that begins left of the pen is moved to 0.
 */
static void copy_bitmap(struct glyphs *glyphs, const struct glyph *glyph, TTF_Font *ttf,
                        SDL_Surface *surface)
{
    int ascent = TTF_FontAscent(ttf);
    int from_x = glyph->left > 0 ? glyph->left : 0;
    int from_y = ascent > glyph->top ? ascent - glyph->top : 0;
    for (int y = 0; y < glyph->height; y++) {
        uint8_t *to = glyphs->pixels + (size_t)(glyph->y + y) * ATLAS_WIDTH + glyph->x;
        memset(to, 0, (size_t)glyph->width);
        if (from_y + y >= surface->h) {
            continue;
        }
        const uint8_t *row =
            (const uint8_t *)surface->pixels + (size_t)(from_y + y) * (size_t)surface->pitch;
        for (int x = 0; x < glyph->width && from_x + x < surface->w; x++) {
            uint32_t argb;
            memcpy(&argb, row + 4 * (size_t)(from_x + x), sizeof argb);
            to[x] = (uint8_t)(argb >> 24);
        }
    }
    if (glyph->y < glyphs->dirty_top) {
        glyphs->dirty_top = glyph->y;
    }
    if (glyph->y + glyph->height > glyphs->dirty_bottom) {
        glyphs->dirty_bottom = glyph->y + glyph->height;
    }
}

/* False: the atlas is full. */
static bool place(struct glyphs *glyphs, struct entry *entry)
{
    struct glyph *glyph = &entry->glyph;
    if (entry->place != PLACE_NONE || glyph->width == 0) {
        return true;
    }
    if (glyph->width > ATLAS_WIDTH || glyph->height > ATLAS_MAX_HEIGHT) {
        entry->place = PLACE_TOO_LARGE;
        return true;
    }
    if (!find_place(glyphs, glyph)) {
        return false;
    }
    uint32_t code = (uint32_t)(entry->key & 0xFFFFFF);
    int pixels = (int)(entry->key >> 24 & 0xFFFF);
    enum draw_font font = (enum draw_font)(entry->key >> 40 & 0xFF);
    TTF_Font *ttf = fonts_open(glyphs->fonts, font, entry->face, pixels);
    SDL_Color white = {255, 255, 255, 255};
    SDL_Surface *surface = ttf ? TTF_RenderGlyph32_Blended(ttf, code, white) : NULL;
    if (!surface || surface->format->BytesPerPixel != 4) {
        entry->place = PLACE_TOO_LARGE;
    } else {
        copy_bitmap(glyphs, glyph, ttf, surface);
        entry->place = PLACE_ATLAS;
    }
    SDL_FreeSurface(surface);
    return true;
}

/* --- walking a text --- */

static bool is_cjk(uint32_t c)
{
    return (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7B0) ||
           (c >= 0xF900 && c < 0xFB00) || (c >= 0xFE30 && c < 0xFE50) ||
           (c >= 0xFF00 && c < 0xFFF0) || (c >= 0x20000 && c < 0x32000);
}

/* Dashes, quotation marks and dots that Western and Chinese fonts have in different widths. */
static bool is_shared_punctuation(uint32_t c)
{
    return c == 0xB7 || (c >= 0x2014 && c <= 0x2026);
}

/* Control characters, joiners, marks of direction, variation selectors. */
static bool is_invisible(uint32_t c)
{
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x202A && c <= 0x202E) || c == 0x2060 || (c >= 0xFE00 && c <= 0xFE0F) ||
           c == 0xFEFF;
}

struct glyph_reader glyphs_read(const char *utf8, size_t length, enum draw_font font, float size)
{
    const char *zero = memchr(utf8, 0, length);
    return (struct glyph_reader){.at = utf8,
                                 .end = zero ? zero : utf8 + length,
                                 .font =
                                     (unsigned)font < DRAW_FONT_COUNT ? font : DRAW_FONT_REGULAR,
                                 .pixels = whole_pixels(size)};
}

static struct entry *next_entry(struct glyphs *glyphs, struct glyph_reader *reader)
{
    while (reader->at < reader->end) {
        uint32_t code = utf8_next(&reader->at, reader->end);
        if (is_invisible(code)) {
            continue;
        }
        bool cjk = is_cjk(code);
        if (is_shared_punctuation(code)) {
            const char *ahead = reader->at;
            cjk = reader->after_cjk ||
                  (ahead < reader->end && is_cjk(utf8_next(&ahead, reader->end)));
        }
        reader->after_cjk = cjk;
        return find(glyphs, code, reader->pixels, reader->font, cjk);
    }
    return NULL;
}

bool glyphs_next(struct glyphs *glyphs, struct glyph_reader *reader, const struct glyph **glyph)
{
    static const struct glyph nothing = {0};
    struct entry *entry = next_entry(glyphs, reader);
    if (!entry) {
        *glyph = &nothing;
        return false;
    }
    if (entry->glyph.width > 0 && entry->place != PLACE_ATLAS) {
        reader->advance_only = (struct glyph){.advance = entry->glyph.advance};
        *glyph = &reader->advance_only;
    } else {
        *glyph = &entry->glyph;
    }
    return true;
}

bool glyphs_prepare(struct glyphs *glyphs, const char *utf8, enum draw_font font, float size)
{
    struct glyph_reader reader = glyphs_read(utf8, strlen(utf8), font, size);
    struct entry *entry;
    while ((entry = next_entry(glyphs, &reader))) {
        if (!place(glyphs, entry)) {
            return false;
        }
    }
    return true;
}

void glyphs_evict(struct glyphs *glyphs)
{
    for (size_t i = 0; i < glyphs->capacity; i++) {
        glyphs->entries[i].place = PLACE_NONE;
    }
    glyphs->shelf_x = glyphs->shelf_y = glyphs->shelf_height = 0;
}

/* --- measuring --- */

float glyphs_width(void *user, const char *utf8, size_t length, enum draw_font font, float size)
{
    struct glyphs *glyphs = user;
    struct glyph_reader reader = glyphs_read(utf8, length, font, size);
    int width = 0;
    const struct entry *entry;
    while ((entry = next_entry(glyphs, &reader))) {
        width += entry->glyph.advance;
    }
    return (float)width;
}

float glyphs_ascent(void *user, enum draw_font font, float size)
{
    struct glyphs *glyphs = user;
    TTF_Font *ttf = fonts_open(glyphs->fonts, font, 0, whole_pixels(size));
    return ttf ? (float)TTF_FontAscent(ttf) : size;
}

float glyphs_descent(void *user, enum draw_font font, float size)
{
    struct glyphs *glyphs = user;
    TTF_Font *ttf = fonts_open(glyphs->fonts, font, 0, whole_pixels(size));
    return ttf ? (float)-TTF_FontDescent(ttf) : 0.0f;
}

int glyphs_missing(struct glyphs *glyphs, const char *utf8, size_t length, enum draw_font font)
{
    struct glyph_reader reader = glyphs_read(utf8, length, font, 13.0f);
    int missing = 0;
    const struct entry *entry;
    while ((entry = next_entry(glyphs, &reader))) {
        missing += entry->face == NO_FACE;
    }
    return missing;
}

/* --- life --- */

struct glyphs *glyphs_create(const char *font, char *error, size_t error_size)
{
    struct glyphs *glyphs = calloc(1, sizeof *glyphs);
    if (glyphs) {
        glyphs->capacity = 1024;
        glyphs->height = ATLAS_FIRST_HEIGHT;
        glyphs->entries = calloc(glyphs->capacity, sizeof *glyphs->entries);
        glyphs->pixels = calloc((size_t)glyphs->height, ATLAS_WIDTH);
        glyphs->dirty_bottom = glyphs->height;
    }
    if (!glyphs || !glyphs->entries || !glyphs->pixels) {
        snprintf(error, error_size, "There is not enough memory for the fonts.");
        glyphs_destroy(&glyphs);
        return NULL;
    }
    glyphs->fonts = fonts_create(font, error, error_size);
    if (!glyphs->fonts) {
        glyphs_destroy(&glyphs);
    }
    return glyphs;
}

void glyphs_destroy(struct glyphs **glyphs_pointer)
{
    struct glyphs *glyphs = *glyphs_pointer;
    if (glyphs) {
        fonts_destroy(&glyphs->fonts);
        free(glyphs->entries);
        free(glyphs->pixels);
        free(glyphs);
        *glyphs_pointer = NULL;
    }
}

struct glyph_atlas glyphs_atlas(const struct glyphs *glyphs)
{
    return (struct glyph_atlas){glyphs->pixels,    ATLAS_WIDTH,          glyphs->height,
                                glyphs->dirty_top, glyphs->dirty_bottom, glyphs->generation};
}

void glyphs_atlas_clean(struct glyphs *glyphs)
{
    glyphs->dirty_top = glyphs->height;
    glyphs->dirty_bottom = 0;
}
