/* SPDX-License-Identifier: MIT */
#include "texture.h"

#include <stdlib.h>
#include <string.h>

#include "shader.h"

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

void texture_limits_init(struct texture_limits *limits)
{
    GLint max = 2048;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &max);
    /* For tests: small tiles from small pictures. */
    const char *text = getenv("NONLOCAL_MAX_TEXTURE");
    int wish = text ? atoi(text) : 0;
    int side = wish > 0 && wish < max ? larger(wish, 4 * TILE_MARGIN) : max;
    *limits = (struct texture_limits){.max_side = max, .tile_side = side};
}

GLuint texture_create(enum draw_format format, int width, int height, const void *pixels,
                      size_t row_stride, struct texture_limits *limits)
{
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glActiveTexture(GL_TEXTURE0 + UNIT_UPLOAD);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, (GLint)row_stride);
    if (format == DRAW_R32F) {
        glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT, pixels);
    } else {
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                     pixels);
    }
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    limits->uploaded += pixels ? 4u * (uint64_t)width * (uint64_t)height : 0;
    return texture;
}

static bool is_usable(const struct draw_source *source, enum draw_format format)
{
    return source->key != 0 && source->pixels && source->format == format && source->width > 0 &&
           source->height > 0;
}

/* --- tiles --- */

struct tile tiles_get(const struct tiles *tiles, int index)
{
    int column = index % tiles->columns, row = index / tiles->columns;
    struct tile tile = {
        .texture = tiles->textures[index], .x0 = column * tiles->step, .y0 = row * tiles->step};
    tile.x1 = smaller(tile.x0 + tiles->step, tiles->width);
    tile.y1 = smaller(tile.y0 + tiles->step, tiles->height);
    tile.origin_x = larger(tile.x0 - tiles->margin, 0);
    tile.origin_y = larger(tile.y0 - tiles->margin, 0);
    return tile;
}

static void tiles_free(struct tiles *tiles)
{
    if (tiles->textures) {
        glDeleteTextures(tiles->columns * tiles->rows, tiles->textures);
        free(tiles->textures);
    }
    memset(tiles, 0, sizeof *tiles);
}

/* Both formats have four bytes a texel. */
static bool tiles_fill(struct tiles *tiles, enum draw_format format, int width, int height,
                       const void *pixels, size_t row_stride, int margin,
                       struct texture_limits *limits)
{
    bool whole = width <= limits->tile_side && height <= limits->tile_side;
    int step = whole ? larger(width, height) : limits->tile_side - 2 * margin;
    *tiles = (struct tiles){.width = width,
                            .height = height,
                            .step = step,
                            .margin = whole ? 0 : margin,
                            .columns = (width + step - 1) / step,
                            .rows = (height + step - 1) / step};
    tiles->textures = calloc((size_t)tiles->columns * (size_t)tiles->rows, sizeof(GLuint));
    if (!tiles->textures) {
        memset(tiles, 0, sizeof *tiles);
        return false;
    }
    for (int i = 0; i < tiles->columns * tiles->rows; i++) {
        struct tile tile = tiles_get(tiles, i);
        int end_x = smaller(tile.x1 + tiles->margin, width);
        int end_y = smaller(tile.y1 + tiles->margin, height);
        const char *first =
            (const char *)pixels + 4 * ((size_t)tile.origin_y * row_stride + (size_t)tile.origin_x);
        tiles->textures[i] = texture_create(format, end_x - tile.origin_x, end_y - tile.origin_y,
                                            first, row_stride, limits);
    }
    return true;
}

bool table_update(struct table *table, const struct draw_source *source,
                  struct texture_limits *limits)
{
    if (!is_usable(source, DRAW_R32F)) {
        table_free(table);
        return false;
    }
    if (table->key == source->key) {
        return true;
    }
    table_free(table);
    if (!tiles_fill(&table->tiles, DRAW_R32F, source->width, source->height, source->pixels,
                    source->row_stride, 0, limits)) {
        return false;
    }
    table->key = source->key;
    return true;
}

void table_free(struct table *table)
{
    tiles_free(&table->tiles);
    table->key = 0;
}

/* --- folded lists --- */

bool folded_update(struct folded *folded, const struct draw_source *source,
                   struct texture_limits *limits)
{
    if (!is_usable(source, DRAW_R32F)) {
        folded_free(folded);
        return false;
    }
    if (folded->key == source->key) {
        return true;
    }
    folded_free(folded);
    size_t width = (size_t)source->width, height = (size_t)source->height;
    size_t count = width * height;
    int shift = 0;
    while ((size_t)1 << (2 * shift) < count) {
        shift++;
    }
    size_t columns = (size_t)1 << shift, rows = (count + columns - 1) / columns;
    float *values =
        columns <= (size_t)limits->max_side ? calloc(columns * rows, sizeof *values) : NULL;
    if (!values) {
        return false;
    }
    for (size_t y = 0; y < height; y++) {
        memcpy(values + y * width, (const float *)source->pixels + y * source->row_stride,
               width * sizeof *values);
    }
    folded->texture = texture_create(DRAW_R32F, (int)columns, (int)rows, values, columns, limits);
    folded->key = source->key;
    folded->width = source->width;
    folded->height = source->height;
    folded->shift = shift;
    free(values);
    return true;
}

void folded_free(struct folded *folded)
{
    if (folded->texture) {
        glDeleteTextures(1, &folded->texture);
    }
    memset(folded, 0, sizeof *folded);
}

/* --- pictures --- */

/* Means of 2 × 2 pixels; an odd last column or row is repeated, so that texel i of every level
 * begins at pixel i × 2^level of the picture. */
static void halve(const uint8_t *from, int width, int height, size_t row_stride, uint8_t *to)
{
    for (int y = 0; y < (height + 1) / 2; y++) {
        const uint8_t *upper = from + 4 * row_stride * (size_t)(2 * y);
        const uint8_t *lower = 2 * y + 1 < height ? upper + 4 * row_stride : upper;
        int x = 0;
        for (; x < width / 2; x++, upper += 8, lower += 8, to += 4) {
            for (int c = 0; c < 4; c++) {
                to[c] = (uint8_t)((upper[c] + upper[c + 4] + lower[c] + lower[c + 4] + 2) >> 2);
            }
        }
        if (x < (width + 1) / 2) {
            for (int c = 0; c < 4; c++) {
                to[c] = (uint8_t)((upper[c] + lower[c] + 1) >> 1);
            }
            to += 4;
        }
    }
}

static bool make_level(struct levels *levels, const struct draw_source *source, int i)
{
    struct level *level = &levels->level[i];
    if (i == 0) {
        level->width = source->width;
        level->height = source->height;
        return true;
    }
    const struct level *above = &levels->level[i - 1];
    int width = (above->width + 1) / 2, height = (above->height + 1) / 2;
    level->pixels = malloc(4 * (size_t)width * (size_t)height);
    if (!level->pixels) {
        return false;
    }
    halve(above->pixels ? above->pixels : source->pixels, above->width, above->height,
          above->pixels ? (size_t)above->width : source->row_stride, level->pixels);
    level->width = width;
    level->height = height;
    return true;
}

const struct level *levels_update(struct levels *levels, const struct draw_source *source,
                                  int wanted, struct texture_limits *limits)
{
    if (!is_usable(source, DRAW_RGBA8)) {
        levels_free(levels);
        return NULL;
    }
    if (levels->key != source->key) {
        levels_free(levels);
        levels->key = source->key;
        levels->width = source->width;
        levels->height = source->height;
    }
    int i = 0;
    for (;; i++) {
        struct level *level = &levels->level[i];
        if (level->width == 0 && !make_level(levels, source, i)) {
            return NULL;
        }
        if (i >= wanted || i == MAX_LEVELS - 1 || (level->width == 1 && level->height == 1)) {
            break;
        }
    }
    struct level *level = &levels->level[i];
    if (!level->tiles.textures &&
        !tiles_fill(&level->tiles, DRAW_RGBA8, level->width, level->height,
                    level->pixels ? level->pixels : source->pixels,
                    level->pixels ? (size_t)level->width : source->row_stride, TILE_MARGIN,
                    limits)) {
        return NULL;
    }
    return level;
}

void levels_free(struct levels *levels)
{
    for (int i = 0; i < MAX_LEVELS; i++) {
        free(levels->level[i].pixels);
        tiles_free(&levels->level[i].tiles);
    }
    memset(levels, 0, sizeof *levels);
}
