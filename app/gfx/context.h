/* SPDX-License-Identifier: MIT */
/* The window and its GL context: OpenGL 3.3 core, else OpenGL ES 3.0. */
#ifndef NONLOCAL_APP_GFX_CONTEXT_H
#define NONLOCAL_APP_GFX_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <SDL.h>

struct context_params {
    const char *title;         /* NULL: "Nonlocal" */
    int width, height;         /* of the window, in points; 0 = 1280 × 800 */
    int min_width, min_height; /* 0 = no limit */
    bool offscreen;            /* no window on any screen; needs neither X nor Wayland */
    bool vsync;
};

struct context {
    SDL_Window *window;
    SDL_GLContext gl;
    bool gles;
    bool offscreen; /* swapping never waits: finish every frame */
    bool video;     /* SDL's video subsystem was started here */
};

/*
 * NONLOCAL_GL=gles leaves out the first choice. On failure the context is empty and error holds
 * one sentence. The GL context is current on the calling thread, which must make all later calls.
 */
bool context_create(struct context *context, const struct context_params *params, char *error,
                    size_t error_size);
void context_destroy(struct context *context);

/* Pixels to draw into; differs from the window's size in points on HiDPI screens. */
void context_drawable_size(const struct context *context, int *width, int *height);

#endif
