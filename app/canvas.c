/* SPDX-License-Identifier: MIT */
#include "canvas.h"

#include <fontconfig/fontconfig.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBI_WRITE_NO_STDIO
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function" /* reported at the end of the file */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#endif
#include <stb/stb_truetype.h>
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

struct font {
    struct file file;
    stbtt_fontinfo info;
};

nl_status canvas_create(struct canvas *canvas, int width, int height, uint32_t background,
                        nl_error *error)
{
    *canvas = (struct canvas){0};
    if (width < 1 || height < 1 || width > 32767 || height > 32767)
        return nl_fail(error, NL_LIMIT, "a figure of %d × %d pixels cannot be drawn", width,
                       height);
    canvas->rgb = malloc((size_t)width * (size_t)height * 3);
    if (!canvas->rgb)
        return nl_fail(error, NL_NOMEM, "no memory for a figure of %d × %d pixels", width, height);
    canvas->width = width;
    canvas->height = height;
    canvas_fill(canvas, 0, 0, width, height, background);
    return NL_OK;
}

void canvas_free(struct canvas *canvas)
{
    if (canvas->font)
        file_free(&canvas->font->file);
    free(canvas->font);
    free(canvas->rgb);
    *canvas = (struct canvas){0};
}

static void blend(struct canvas *canvas, int x, int y, uint32_t color, double alpha)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height || alpha <= 0)
        return;
    uint8_t *pixel = canvas->rgb + 3 * ((size_t)y * (size_t)canvas->width + (size_t)x);
    for (int c = 0; c < 3; c++) {
        double target = (double)(color >> (16 - 8 * c) & 0xff);
        pixel[c] = (uint8_t)(pixel[c] + (target - pixel[c]) * fmin(alpha, 1) + 0.5);
    }
}

void canvas_fill(struct canvas *canvas, int x, int y, int w, int h, uint32_t color)
{
    for (int row = y; row < y + h; row++)
        for (int column = x; column < x + w; column++)
            blend(canvas, column, row, color, 1);
}

void canvas_ring(struct canvas *canvas, double x, double y, double radius, double width,
                 uint32_t color)
{
    const int reach = (int)ceil(radius + width);
    for (int row = (int)y - reach; row <= (int)y + reach; row++) {
        for (int column = (int)x - reach; column <= (int)x + reach; column++) {
            double distance = hypot(column + 0.5 - x, row + 0.5 - y);
            blend(canvas, column, row, color, width / 2 + 0.5 - fabs(distance - radius));
        }
    }
}

static char *find_font(void)
{
    char *path = NULL;
    FcResult result;
    FcChar8 *name;
    FcConfig *config = FcInitLoadConfigAndFonts(); /* of our own: the shared one is never freed */
    FcPattern *wish = config ? FcNameParse((const FcChar8 *)"DejaVu Sans") : NULL;
    FcPattern *found = NULL;
    if (wish) {
        FcConfigSubstitute(config, wish, FcMatchPattern);
        FcDefaultSubstitute(wish);
        found = FcFontMatch(config, wish, &result);
        FcPatternDestroy(wish);
    }
    if (found) {
        if (FcPatternGetString(found, FC_FILE, 0, &name) == FcResultMatch)
            path = strdup((const char *)name);
        FcPatternDestroy(found);
    }
    if (config)
        FcConfigDestroy(config);
    return path;
}

static nl_status load_font(struct canvas *canvas, nl_error *error)
{
    if (canvas->font)
        return NL_OK;
    char *path = find_font();
    struct font *font = calloc(1, sizeof *font);
    nl_status status = NL_OK;
    if (!path || !font)
        status = nl_fail(error, NL_IO,
                         "no font for the figure's numbers; install one, for example "
                         "fonts-dejavu-core");
    else
        status = file_read(path, &font->file, error);
    if (status == NL_OK && !stbtt_InitFont(&font->info, font->file.bytes,
                                           stbtt_GetFontOffsetForIndex(font->file.bytes, 0)))
        status = nl_fail(error, NL_FORMAT, "%s is not a TrueType font", path);
    if (status == NL_OK) {
        canvas->font = font;
    } else if (font) {
        file_free(&font->file);
        free(font);
    }
    free(path);
    return status;
}

/* The code point at *text, which moves on; U+FFFD for a byte that is not UTF-8. */
static int next_codepoint(const char **text)
{
    const unsigned char *s = (const unsigned char *)*text;
    int extra = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
    int code = extra == 3 ? s[0] & 7 : extra == 2 ? s[0] & 15 : extra == 1 ? s[0] & 31 : s[0];
    for (int i = 1; i <= extra; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            *text += 1;
            return 0xfffd;
        }
        code = code << 6 | (s[i] & 0x3f);
    }
    *text += 1 + extra;
    return s[0] >= 0x80 && extra == 0 ? 0xfffd : code;
}

nl_status canvas_text_width(struct canvas *canvas, double size, const char *text, double *width,
                            nl_error *error)
{
    nl_status status = load_font(canvas, error);
    *width = 0;
    if (status != NL_OK)
        return status;
    double scale = (double)stbtt_ScaleForMappingEmToPixels(&canvas->font->info, (float)size);
    while (*text) {
        int advance, bearing;
        stbtt_GetCodepointHMetrics(&canvas->font->info, next_codepoint(&text), &advance, &bearing);
        *width += scale * advance;
    }
    return status;
}

static void draw_glyph(struct canvas *canvas, int codepoint, double x, double y, float scale,
                       uint32_t color)
{
    int w, h, left, top;
    float shift = (float)(x - floor(x));
    unsigned char *coverage = stbtt_GetCodepointBitmapSubpixel(
        &canvas->font->info, scale, scale, shift, 0, codepoint, &w, &h, &left, &top);
    for (int row = 0; coverage && row < h; row++)
        for (int column = 0; column < w; column++)
            blend(canvas, (int)floor(x) + left + column, (int)y + top + row, color,
                  coverage[row * w + column] / 255.0);
    stbtt_FreeBitmap(coverage, NULL);
}

nl_status canvas_text(struct canvas *canvas, double x, double y, double size,
                      enum canvas_align align, uint32_t color, const char *text, nl_error *error)
{
    double width;
    nl_status status = canvas_text_width(canvas, size, text, &width, error);
    if (status != NL_OK)
        return status;
    float scale = stbtt_ScaleForMappingEmToPixels(&canvas->font->info, (float)size);
    x -= align == ALIGN_CENTRE ? width / 2 : align == ALIGN_RIGHT ? width : 0;
    while (*text) {
        int advance, bearing, codepoint = next_codepoint(&text);
        stbtt_GetCodepointHMetrics(&canvas->font->info, codepoint, &advance, &bearing);
        draw_glyph(canvas, codepoint, x, y, scale, color);
        x += (double)scale * advance;
    }
    return NL_OK;
}

struct png_buffer {
    unsigned char *bytes;
    size_t size;
    bool failed;
};

static void append_png(void *context, void *data, int size)
{
    struct png_buffer *buffer = context;
    unsigned char *larger = realloc(buffer->bytes, buffer->size + (size_t)size);
    if (!larger) {
        buffer->failed = true;
        return;
    }
    memcpy(larger + buffer->size, data, (size_t)size);
    buffer->bytes = larger;
    buffer->size += (size_t)size;
}

nl_status png_write(const char *path, const uint8_t *rgb, int width, int height, nl_error *error)
{
    struct png_buffer buffer = {0};
    nl_status status;
    if ((double)width * (double)height * 3 > INT_MAX / 2)
        return nl_fail(error, NL_LIMIT, "%s: %d × %d pixels are too many for a PNG", path, width,
                       height);
    int ok = stbi_write_png_to_func(append_png, &buffer, width, height, 3, rgb, 3 * width);
    if (!ok || buffer.failed)
        status = nl_fail(error, NL_NOMEM, "no memory to write %s", path);
    else
        status = file_write(path, buffer.bytes, buffer.size, error);
    free(buffer.bytes);
    return status;
}

nl_status canvas_write_png(const struct canvas *canvas, const char *path, nl_error *error)
{
    return png_write(path, canvas->rgb, canvas->width, canvas->height, error);
}
