/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <epoxy/gl.h>

static void set_attributes(bool gles)
{
    SDL_GL_ResetAttributes();
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK,
                        gles ? SDL_GL_CONTEXT_PROFILE_ES : SDL_GL_CONTEXT_PROFILE_CORE);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, gles ? 0 : 3);
    if (!gles) {
        SDL_GL_SetAttribute(SDL_GL_CONTEXT_FLAGS, SDL_GL_CONTEXT_FORWARD_COMPATIBLE_FLAG);
    }
    SDL_GL_SetAttribute(SDL_GL_RED_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_GREEN_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_BLUE_SIZE, 8);
    SDL_GL_SetAttribute(SDL_GL_ALPHA_SIZE, 0);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 0);
    SDL_GL_SetAttribute(SDL_GL_STENCIL_SIZE, 0);
    SDL_GL_SetAttribute(SDL_GL_DOUBLEBUFFER, 1);
}

/* The window belongs to one kind of context (its visual is chosen with it), so both are made and
 * thrown away together. */
static bool try_api(struct context *context, const struct context_params *params, bool gles)
{
    set_attributes(gles);
    Uint32 flags = SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    context->window =
        SDL_CreateWindow(params->title ? params->title : "Nonlocal", SDL_WINDOWPOS_UNDEFINED,
                         SDL_WINDOWPOS_UNDEFINED, params->width > 0 ? params->width : 1280,
                         params->height > 0 ? params->height : 800, flags);
    if (!context->window) {
        return false;
    }
    context->gl = SDL_GL_CreateContext(context->window);
    if (context->gl && epoxy_gl_version() >= (gles ? 30 : 33)) {
        context->gles = gles;
        return true;
    }
    if (context->gl) {
        SDL_SetError("it offers only version %d.%d", epoxy_gl_version() / 10,
                     epoxy_gl_version() % 10);
        SDL_GL_DeleteContext(context->gl);
        context->gl = NULL;
    }
    SDL_DestroyWindow(context->window);
    context->window = NULL;
    return false;
}

static bool no_display(char *error, size_t error_size, const char *why)
{
    snprintf(error, error_size,
             "No display could be opened (%s); start the program in a graphical session, or use "
             "`nonlocal render` to write a picture.",
             why);
    return false;
}

static bool start_video(struct context *context, const struct context_params *params, char *error,
                        size_t error_size)
{
    if (params->offscreen) {
        SDL_SetHintWithPriority(SDL_HINT_VIDEODRIVER, "offscreen", SDL_HINT_OVERRIDE);
    }
    /* SDL would turn Ctrl C in the terminal into an event that waits for the next one. */
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    /* SDL is made for games and would switch desktop effects off. */
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    const char *wish = SDL_GetHint(SDL_HINT_VIDEODRIVER);
    if (wish && strcmp(wish, "offscreen") == 0) {
        /* Else Mesa looks for an X or Wayland server that nobody needs, and complains. */
        SDL_setenv("EGL_PLATFORM", "surfaceless", 0);
    }
    if (SDL_InitSubSystem(SDL_INIT_VIDEO) != 0) {
        return no_display(error, error_size, SDL_GetError());
    }
    context->video = true;
    const char *driver = SDL_GetCurrentVideoDriver();
    context->offscreen = driver && strcmp(driver, "offscreen") == 0;
    /* SDL falls back to a window that nobody can see; that must be asked for. */
    if (context->offscreen && !wish) {
        context_destroy(context);
        return no_display(error, error_size, "neither X11 nor Wayland answers");
    }
    return true;
}

bool context_create(struct context *context, const struct context_params *params, char *error,
                    size_t error_size)
{
    memset(context, 0, sizeof *context);
    if (!start_video(context, params, error, error_size)) {
        return false;
    }
    const char *wish = getenv("NONLOCAL_GL");
    char desktop[128] = "not tried";
    bool made = false;
    if (!wish || strcmp(wish, "gles") != 0) {
        made = try_api(context, params, false);
        snprintf(desktop, sizeof desktop, "%s", SDL_GetError());
    }
    if (!made && !try_api(context, params, true)) {
        snprintf(error, error_size,
                 "Neither OpenGL 3.3 (%s) nor OpenGL ES 3.0 (%s) could be started; install or "
                 "update the graphics driver (on Debian: libgl1-mesa-dri).",
                 desktop, SDL_GetError());
        context_destroy(context);
        return false;
    }
    if (params->min_width > 0 && params->min_height > 0) {
        SDL_SetWindowMinimumSize(context->window, params->min_width, params->min_height);
    }
    SDL_GL_SetSwapInterval(params->vsync && !context->offscreen ? 1 : 0);
    return true;
}

void context_destroy(struct context *context)
{
    if (context->gl) {
        SDL_GL_DeleteContext(context->gl);
    }
    if (context->window) {
        SDL_DestroyWindow(context->window);
    }
    if (context->video) {
        SDL_QuitSubSystem(SDL_INIT_VIDEO);
    }
    memset(context, 0, sizeof *context);
}

void context_drawable_size(const struct context *context, int *width, int *height)
{
    SDL_GL_GetDrawableSize(context->window, width, height);
}
