/* SPDX-License-Identifier: MIT */
/*
 * A frame as plain data: what the panels want on the screen, in drawing order. The UI core fills
 * it, gfx draws it, tests read it. Knows neither SDL nor GL.
 *
 * Coordinates are pixels of the drawable (already multiplied by the UI scale), origin top left,
 * y down. Colours are 0xRRGGBBAA in sRGB, not premultiplied.
 */
#ifndef NONLOCAL_APP_UI_DRAW_H
#define NONLOCAL_APP_UI_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t draw_color;

struct draw_rect {
    float x, y, w, h;
};

enum draw_font { DRAW_FONT_REGULAR, DRAW_FONT_BOLD, DRAW_FONT_COUNT };

/*
 * Pixel sources that outlive the frame. gfx keeps one texture per slot and uploads only when the
 * key differs, so that an unchanged picture costs nothing.
 */
enum draw_slot {
    DRAW_SLOT_NONE,
    DRAW_SLOT_PICTURE,     /* RGBA8 */
    DRAW_SLOT_WEIGHTS,     /* R32F, grid cells */
    DRAW_SLOT_MATRIX,      /* R32F, n × n, file order */
    DRAW_SLOT_PERMUTATION, /* R32F 1 × n: row of the matrix shown at each position */
    DRAW_SLOT_SELECTION,   /* R32F 1 × n: above 0 is a selected row */
    DRAW_SLOT_OVERVIEW,    /* R32F, sorted and averaged on the CPU, for zoomed-out matrices */
    DRAW_SLOT_COUNT
};

enum draw_format { DRAW_RGBA8, DRAW_R32F };

struct draw_source {
    uint64_t key; /* changes whenever the pixels do; 0 = nothing there */
    enum draw_format format;
    int width, height;
    size_t row_stride;  /* elements (pixels for RGBA8, floats for R32F) from row to row */
    const void *pixels; /* must stay valid until the frame has been drawn */
};

enum draw_scale { DRAW_SCALE_LINEAR, DRAW_SCALE_SQRT, DRAW_SCALE_LOG };

enum draw_kind {
    DRAW_FILL,    /* rect, radius, color */
    DRAW_STROKE,  /* outline inside rect: radius, width, color */
    DRAW_LINE,    /* from (rect.x, rect.y) to (rect.x + rect.w, rect.y + rect.h): width, color */
    DRAW_RING,    /* circle with centre (rect.x, rect.y): radius, width, color */
    DRAW_DISC,    /* filled circle with centre (rect.x, rect.y): radius, color */
    DRAW_TEXT,    /* text, baseline starting at (rect.x, rect.y), font, size, color */
    DRAW_HEATMAP, /* picture slot with the weights slot over it in rect: see struct draw_heat */
    DRAW_MATRIX,  /* matrix slot through the permutation, or the overview, in rect */
    DRAW_MASK,    /* selected cells of a grid in rect: filled thinly, outlined fully in color */
    DRAW_BAR,     /* the colour map itself in rect, low end at the bottom */
};

struct draw_heat {
    float u0, v0, u1, v1;   /* part of the picture shown, in 0..1 of its width and height */
    float cover_u, cover_v; /* part of the grid that the picture covers: side / (cells × stride) */
    float dim;              /* brightness of the picture under the map, 0..1 (1 = untouched) */
    float saturation;       /* 0..1 */
    float opacity;          /* of the hottest weight */
    float low, high;        /* weight at the bar's ends; low < 0 means signed */
    int map;                /* index into colormaps[] */
    enum draw_scale scale;
    bool weights; /* false: the picture alone */
};

struct draw_mask {
    float u0, v0, u1, v1; /* as in draw_heat */
    float cover_u, cover_v;
    int columns, rows; /* of the grid: the slot's numbers in this shape, row by row */
};

struct draw_matrix {
    float n;              /* rows of the whole */
    float x0, y0, x1, y1; /* cells shown, in 0..n (positions in the order shown) */
    float low, high;      /* value at the ends of the bar */
    float from, to;       /* places on the bar, 0..1, between which the map is spread */
    int map;
    enum draw_scale scale; /* from value to place, with low = 0 unless linear */
    bool overview;         /* read the overview slot instead of matrix + permutation */
};

struct draw_cmd {
    enum draw_kind kind;
    uint16_t region; /* panel it belongs to: see draw_region_begin */
    uint8_t font;
    struct draw_rect rect;
    struct draw_rect clip; /* nothing outside is touched */
    float radius, width, size;
    draw_color color;
    uint32_t text; /* offset of a 0-terminated UTF-8 string in the list's text */
    union {
        struct draw_heat heat;
        struct draw_matrix matrix;
        struct draw_mask mask;
        int map;
    } u;
};

/* A region is a panel (or a pop-up): gfx compares its hash with the last frame's and redraws only
 * what changed. */
struct draw_region {
    struct draw_rect rect;
    uint64_t hash;
};

enum { DRAW_MAX_CMDS = 8192, DRAW_MAX_TEXT = 131072, DRAW_MAX_REGIONS = 32, DRAW_MAX_CLIPS = 32 };

/* Fixed capacity: what does not fit is left out and counted in `dropped`, never overrun. */
struct draw_list {
    int width, height; /* of the drawable */
    draw_color background;
    struct draw_source sources[DRAW_SLOT_COUNT];
    struct draw_region regions[DRAW_MAX_REGIONS];
    int region_count, region;
    struct draw_rect clips[DRAW_MAX_CLIPS];
    int clip_count;
    struct draw_cmd cmds[DRAW_MAX_CMDS];
    int cmd_count;
    char text[DRAW_MAX_TEXT];
    int text_size;
    int dropped;
};

void draw_begin(struct draw_list *list, int width, int height, draw_color background);
/* Hashes every region (its commands, texts, and the keys of the sources that it shows). */
void draw_end(struct draw_list *list);

/* Commands that follow belong to this region until the next call; rect is what it may touch. */
void draw_region_begin(struct draw_list *list, struct draw_rect rect);
void draw_clip_push(struct draw_list *list,
                    struct draw_rect rect); /* intersected with the current */
void draw_clip_pop(struct draw_list *list);

void draw_fill(struct draw_list *list, struct draw_rect rect, float radius, draw_color color);
void draw_stroke(struct draw_list *list, struct draw_rect rect, float radius, float width,
                 draw_color color);
void draw_line(struct draw_list *list, float x0, float y0, float x1, float y1, float width,
               draw_color color);
void draw_ring(struct draw_list *list, float x, float y, float radius, float width,
               draw_color color);
void draw_disc(struct draw_list *list, float x, float y, float radius, draw_color color);
void draw_text(struct draw_list *list, float x, float baseline, enum draw_font font, float size,
               draw_color color, const char *utf8, size_t length);
void draw_heatmap(struct draw_list *list, struct draw_rect rect, const struct draw_heat *heat);
void draw_matrix(struct draw_list *list, struct draw_rect rect, const struct draw_matrix *matrix);
void draw_mask(struct draw_list *list, struct draw_rect rect, const struct draw_mask *mask,
               draw_color color);
void draw_bar(struct draw_list *list, struct draw_rect rect, int map);

/* What the commands that follow will be clipped to. */
struct draw_rect draw_clip_current(const struct draw_list *list);
/* Puts another list's regions and commands after this one's: pop-ups, which are drawn last but
 * asked for in the middle of a panel. Sources stay this list's. */
void draw_append(struct draw_list *list, const struct draw_list *other);

/* The part that two rectangles share; width and height 0 when there is none. */
struct draw_rect draw_rect_intersect(struct draw_rect a, struct draw_rect b);

static inline bool draw_rect_contains(struct draw_rect r, float x, float y)
{
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

#endif
