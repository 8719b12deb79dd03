/* SPDX-License-Identifier: MIT */
/*
 * The font files behind a text: found through fontconfig, opened through SDL_ttf. Needs no GL and
 * no window.
 */
#ifndef NONLOCAL_APP_GFX_FONTS_H
#define NONLOCAL_APP_GFX_FONTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <SDL_ttf.h>

#include "../ui/draw.h"

struct fonts;

/*
 * preferred: a font file, or a family name, that comes before the usual ones; may be NULL. The
 * usual ones: DejaVu Sans, then a Chinese font (WenQuanYi or Noto), then whatever is installed.
 * NULL and one sentence when there is no font at all.
 */
struct fonts *fonts_create(const char *preferred, char *error, size_t error_size);
void fonts_destroy(struct fonts **fonts);

/*
 * The first font of the chain that has the character, or -1. cjk: ask the Chinese font first, for
 * punctuation that Western fonts have too, in their own width.
 */
int fonts_face(struct fonts *fonts, enum draw_font style, uint32_t code, bool cjk);

/* An opened font; stays valid until the next call. pixels: of the em square. NULL if it cannot be
 * opened any more. face -1 gives the first of the chain. */
TTF_Font *fonts_open(struct fonts *fonts, enum draw_font style, int face, int pixels);

#endif
