/* SPDX-License-Identifier: MIT */
#include "colormap.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>

/*
 * A node is 0xIIRRGGBB: at index II of 256 the map has colour RRGGBB, with straight lines between.
 * Inferno and viridis (S. van der Walt, N. Smith, 2015), cividis (Nuñez, Anderton, Renslow, 2018)
 * and the diverging map (ColorBrewer RdBu, C. Brewer, reversed) are the fewest nodes that stay
 * within 1/255 of the published tables.
 */
static const uint32_t inferno[] = {
    0x00000004, 0x0602020E, 0x15110A30, 0x23260C51, 0x2D380962, 0x3A4D0D6C, 0x5071196E,
    0x67952667, 0x7EB93556, 0x96D94D3D, 0xACEF6C23, 0xC2FA9207, 0xC9FC9F07, 0xCFFCAA0F,
    0xDCFAC42A, 0xE8F5DB4C, 0xF1F1EC6D, 0xF8F3F68A, 0xFFFCFFA4,
};
static const uint32_t viridis[] = {
    0x00440154, 0x11481A6C, 0x2346307E, 0x3A3E4C8A, 0x5D2D708E, 0x8120928C, 0x901FA088, 0x9D25AC82,
    0xAC38B977, 0xB84EC36B, 0xCB77D153, 0xE9C5E021, 0xF2DDE318, 0xF8ECE51B, 0xFFFDE725,
};
static const uint32_t cividis[] = {
    0x0000224E, 0x11002E6C, 0x17013271, 0x1A0C3470, 0x201A386F, 0x2F31436D, 0x53555C6D,
    0x827E7D78, 0xA29D9576, 0xC3BFB06B, 0xE0DEC958, 0xF1F1D945, 0xFBFDE334, 0xFFFEE838,
};
static const uint32_t grey[] = {0x00000000, 0xFFFFFFFF};
static const uint32_t diverging[] = {
    0x00053061, 0x192065AB, 0x334393C3, 0x4B8DC2DC, 0x65CFE4EF, 0x7FF6F7F7,
    0x98FDDCC9, 0xB1F5A886, 0xCBD7634F, 0xE5B3192C, 0xFF67001F,
};

static const struct {
    const uint32_t *nodes;
    size_t count;
} node_tables[COLORMAP_COUNT] = {
    [COLORMAP_INFERNO] = {inferno, sizeof inferno / sizeof inferno[0]},
    [COLORMAP_VIRIDIS] = {viridis, sizeof viridis / sizeof viridis[0]},
    [COLORMAP_CIVIDIS] = {cividis, sizeof cividis / sizeof cividis[0]},
    [COLORMAP_GREY] = {grey, sizeof grey / sizeof grey[0]},
    [COLORMAP_DIVERGING] = {diverging, sizeof diverging / sizeof diverging[0]},
};

static struct colormap maps[COLORMAP_COUNT] = {
    [COLORMAP_INFERNO] = {.name = "inferno", .label = "Inferno"},
    [COLORMAP_VIRIDIS] = {.name = "viridis", .label = "Viridis"},
    [COLORMAP_CIVIDIS] = {.name = "cividis", .label = "Cividis"},
    [COLORMAP_GREY] = {.name = "grey", .label = "Grey"},
    [COLORMAP_DIVERGING] = {.name = "diverging", .label = "Blue–white–red"},
};

static void fill_segment(struct colormap *map, uint32_t from, uint32_t to)
{
    uint32_t i0 = from >> 24, i1 = to >> 24, span = i1 - i0;
    for (uint32_t i = i0; i <= i1; i++) {
        for (int c = 0; c < 3; c++) {
            uint32_t a = (from >> (16 - 8 * c)) & 255, b = (to >> (16 - 8 * c)) & 255;
            map->rgb[i][c] = (uint8_t)((2 * (a * (i1 - i) + b * (i - i0)) + span) / (2 * span));
        }
    }
}

static void fill_maps(void)
{
    for (int m = 0; m < COLORMAP_COUNT; m++) {
        for (size_t k = 0; k + 1 < node_tables[m].count; k++) {
            fill_segment(&maps[m], node_tables[m].nodes[k], node_tables[m].nodes[k + 1]);
        }
    }
}

const struct colormap *colormap_get(enum colormap_id id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_maps);
    assert((unsigned)id < COLORMAP_COUNT);
    return &maps[id];
}

void colormap_at(enum colormap_id id, float t, uint8_t rgb[3])
{
    const struct colormap *map = colormap_get(id);
    float at = t > 0.0f ? (t < 1.0f ? t * 255.0f : 255.0f) : 0.0f; /* not a number: the low end */
    int i = at < 254.0f ? (int)at : 254;
    float f = at - (float)i;
    for (int c = 0; c < 3; c++) {
        float value = (float)map->rgb[i][c] * (1.0f - f) + (float)map->rgb[i + 1][c] * f;
        rgb[c] = (uint8_t)(value + 0.5f);
    }
}
