/* SPDX-License-Identifier: MIT */
#include "fonts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fontconfig/fontconfig.h>

enum { MAX_FACES = 16, MAX_OPEN = 48, HAN_SAMPLE = 0x4E2D };

struct face {
    char *path;
    long index;    /* of the face in a collection (.ttc) */
    bool embolden; /* a bold text, but the family has no bold face */
};

struct open_font {
    TTF_Font *font;
    int style, face, pixels;
    uint64_t used;
};

struct fonts {
    FcConfig *config;
    bool ttf;
    struct face faces[DRAW_FONT_COUNT][MAX_FACES];
    int face_count[DRAW_FONT_COUNT];
    int cjk_face[DRAW_FONT_COUNT];    /* -2: not looked for yet */
    bool sorted_all[DRAW_FONT_COUNT]; /* the chain has been extended by everything installed */
    struct open_font open[MAX_OPEN];
    uint64_t clock;
};

static const char *const families[] = {
    "DejaVu Sans",  "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Noto Sans CJK SC",
    "Noto Sans SC", "Noto Sans CJK TC",    "Noto Sans CJK JP",
};

static void add_path(struct fonts *fonts, int style, const char *path, long index, bool embolden)
{
    int count = fonts->face_count[style];
    for (int i = 0; i < count; i++) {
        const struct face *face = &fonts->faces[style][i];
        if (face->index == index && strcmp(face->path, path) == 0) {
            return;
        }
    }
    size_t size = strlen(path) + 1;
    char *copy = count < MAX_FACES ? malloc(size) : NULL;
    if (!copy) {
        return;
    }
    memcpy(copy, path, size);
    fonts->faces[style][count] = (struct face){copy, index, embolden};
    fonts->face_count[style] = count + 1;
}

static void add_pattern(struct fonts *fonts, int style, FcPattern *font)
{
    FcChar8 *path = NULL;
    int index = 0, weight = FC_WEIGHT_REGULAR;
    FcBool outline = FcTrue, thickened = FcFalse;
    FcPatternGetBool(font, FC_OUTLINE, 0, &outline);
    if (!outline || FcPatternGetString(font, FC_FILE, 0, &path) != FcResultMatch) {
        return;
    }
    FcPatternGetInteger(font, FC_INDEX, 0, &index);
    FcPatternGetInteger(font, FC_WEIGHT, 0, &weight);
    /* fontconfig calls a font bold that is to be drawn thicker. */
    FcPatternGetBool(font, FC_EMBOLDEN, 0, &thickened);
    bool embolden = style == DRAW_FONT_BOLD && (weight < FC_WEIGHT_DEMIBOLD || thickened);
    /* The upper half names an instance of a variable font, which SDL_ttf cannot choose. */
    add_path(fonts, style, (const char *)path, index & 0xFFFF, embolden);
}

static FcPattern *request(struct fonts *fonts, int style, const char *family)
{
    FcPattern *wanted = FcPatternCreate();
    if (wanted) {
        FcPatternAddString(wanted, FC_FAMILY, (const FcChar8 *)family);
        FcPatternAddInteger(wanted, FC_WEIGHT,
                            style == DRAW_FONT_BOLD ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
        FcPatternAddInteger(wanted, FC_SLANT, FC_SLANT_ROMAN);
        FcPatternAddInteger(wanted, FC_WIDTH, FC_WIDTH_NORMAL);
        FcPatternAddBool(wanted, FC_SCALABLE, FcTrue);
        FcConfigSubstitute(fonts->config, wanted, FcMatchPattern);
        FcDefaultSubstitute(wanted);
    }
    return wanted;
}

static bool has_family(FcPattern *font, const char *family)
{
    FcChar8 *name = NULL;
    for (int i = 0; FcPatternGetString(font, FC_FAMILY, i, &name) == FcResultMatch; i++) {
        if (FcStrCmpIgnoreCase(name, (const FcChar8 *)family) == 0) {
            return true;
        }
    }
    return false;
}

/* fontconfig always finds something; a stand-in for a missing family is not wanted here. */
static void add_family(struct fonts *fonts, int style, const char *family)
{
    FcPattern *wanted = request(fonts, style, family);
    FcResult result = FcResultNoMatch;
    FcPattern *font = wanted ? FcFontMatch(fonts->config, wanted, &result) : NULL;
    if (font && has_family(font, family)) {
        add_pattern(fonts, style, font);
    }
    if (font) {
        FcPatternDestroy(font);
    }
    if (wanted) {
        FcPatternDestroy(wanted);
    }
}

/* Slow with many fonts, so only for a character that the named families lack. */
static void add_everything(struct fonts *fonts, int style)
{
    fonts->sorted_all[style] = true;
    FcPattern *wanted = request(fonts, style, "sans-serif");
    FcResult result = FcResultNoMatch;
    FcFontSet *set = wanted ? FcFontSort(fonts->config, wanted, FcTrue, NULL, &result) : NULL;
    for (int i = 0; set && i < set->nfont; i++) {
        add_pattern(fonts, style, set->fonts[i]);
    }
    if (set) {
        FcFontSetDestroy(set);
    }
    if (wanted) {
        FcPatternDestroy(wanted);
    }
}

static bool is_file(const char *path)
{
    FILE *file = strpbrk(path, "/.") ? fopen(path, "rb") : NULL;
    if (file) {
        fclose(file);
    }
    return file != NULL;
}

/* False when the wish cannot be met. */
static bool add_preferred(struct fonts *fonts, int style, const char *preferred)
{
    if (!preferred || !preferred[0]) {
        return true;
    }
    if (is_file(preferred)) {
        add_path(fonts, style, preferred, 0, style == DRAW_FONT_BOLD);
    } else {
        add_family(fonts, style, preferred);
    }
    return fonts_open(fonts, (enum draw_font)style, 0, 13) != NULL;
}

static bool find_faces(struct fonts *fonts, const char *preferred)
{
    for (int style = 0; style < DRAW_FONT_COUNT; style++) {
        fonts->cjk_face[style] = -2;
        if (!add_preferred(fonts, style, preferred)) {
            return false;
        }
        for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
            add_family(fonts, style, families[i]);
        }
        if (fonts->face_count[style] == 0) {
            add_everything(fonts, style);
        }
    }
    return true;
}

struct fonts *fonts_create(const char *preferred, char *error, size_t error_size)
{
    struct fonts *fonts = calloc(1, sizeof *fonts);
    if (!fonts) {
        snprintf(error, error_size, "There is not enough memory for the fonts.");
        return NULL;
    }
    fonts->ttf = TTF_Init() == 0;
    fonts->config = fonts->ttf ? FcInitLoadConfigAndFonts() : NULL;
    if (!fonts->config) {
        snprintf(error, error_size, "The font library could not be started: %s.",
                 fonts->ttf ? "fontconfig has no configuration" : TTF_GetError());
        fonts_destroy(&fonts);
        return NULL;
    }
    if (!find_faces(fonts, preferred)) {
        snprintf(error, error_size,
                 "%s is neither a font file nor the name of an installed font family.", preferred);
        fonts_destroy(&fonts);
        return NULL;
    }
    for (int style = 0; style < DRAW_FONT_COUNT; style++) {
        if (!fonts_open(fonts, (enum draw_font)style, 0, 13)) {
            snprintf(error, error_size,
                     "No usable font was found; install DejaVu Sans (on Debian: "
                     "fonts-dejavu-core).");
            fonts_destroy(&fonts);
            return NULL;
        }
    }
    return fonts;
}

void fonts_destroy(struct fonts **fonts_pointer)
{
    struct fonts *fonts = *fonts_pointer;
    if (!fonts) {
        return;
    }
    for (int i = 0; i < MAX_OPEN; i++) {
        if (fonts->open[i].font) {
            TTF_CloseFont(fonts->open[i].font);
        }
    }
    for (int style = 0; style < DRAW_FONT_COUNT; style++) {
        for (int i = 0; i < fonts->face_count[style]; i++) {
            free(fonts->faces[style][i].path);
        }
    }
    if (fonts->config) {
        FcConfigDestroy(fonts->config);
    }
    if (fonts->ttf) {
        TTF_Quit();
    }
    free(fonts);
    *fonts_pointer = NULL;
}

static TTF_Font *open_face(const struct face *face, int pixels)
{
    /* SDL_ttf's points are pixels at its default of 72 dots per inch. */
    TTF_Font *font = TTF_OpenFontIndex(face->path, pixels, face->index);
    if (font) {
        TTF_SetFontHinting(font, TTF_HINTING_LIGHT);
        TTF_SetFontKerning(font, 0);
        if (face->embolden) {
            TTF_SetFontStyle(font, TTF_STYLE_BOLD);
        }
    }
    return font;
}

TTF_Font *fonts_open(struct fonts *fonts, enum draw_font style, int face, int pixels)
{
    face = face < 0 ? 0 : face;
    if (face >= fonts->face_count[style]) {
        return NULL;
    }
    struct open_font *oldest = &fonts->open[0];
    for (int i = 0; i < MAX_OPEN; i++) {
        struct open_font *open = &fonts->open[i];
        if (open->font && open->style == (int)style && open->face == face &&
            open->pixels == pixels) {
            open->used = ++fonts->clock;
            return open->font;
        }
        if (open->used < oldest->used) {
            oldest = open;
        }
    }
    TTF_Font *font = open_face(&fonts->faces[style][face], pixels);
    if (!font) {
        return NULL;
    }
    if (oldest->font) {
        TTF_CloseFont(oldest->font);
    }
    *oldest = (struct open_font){font, (int)style, face, pixels, ++fonts->clock};
    return font;
}

static bool provides(struct fonts *fonts, enum draw_font style, int face, uint32_t code)
{
    TTF_Font *font = fonts_open(fonts, style, face, 13);
    return font && TTF_GlyphIsProvided32(font, code) != 0;
}

static int first_that_provides(struct fonts *fonts, enum draw_font style, int from, uint32_t code)
{
    for (int face = from; face < fonts->face_count[style]; face++) {
        if (provides(fonts, style, face, code)) {
            return face;
        }
    }
    return -1;
}

int fonts_face(struct fonts *fonts, enum draw_font style, uint32_t code, bool cjk)
{
    if (cjk) {
        if (fonts->cjk_face[style] == -2) {
            fonts->cjk_face[style] = first_that_provides(fonts, style, 0, HAN_SAMPLE);
        }
        int face = fonts->cjk_face[style];
        if (face >= 0 && provides(fonts, style, face, code)) {
            return face;
        }
    }
    int face = first_that_provides(fonts, style, 0, code);
    if (face < 0 && !fonts->sorted_all[style]) {
        int from = fonts->face_count[style];
        add_everything(fonts, (int)style);
        face = first_that_provides(fonts, style, from, code);
    }
    return face;
}
