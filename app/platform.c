/* SPDX-License-Identifier: MIT */
#include "platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <SDL.h>

#include "app.h"
#include "bench_frame.h"
#include "canvas.h"
#include "file.h"
#include "gfx/gfx.h"
#include "verbs/args.h"

static const struct verb window_verb = {
    .name = "window",
    .synopsis = "[FILE] [options]",
    .summary = "Opens the window.",
    .bit = VERB_WINDOW,
    .optional_file = true,
};

static const struct verb render_verb = {
    .name = "render",
    .synopsis = "[FILE] -o OUT.png [--size WxH] [--view window|heatmap|matrix] [options]",
    .summary = "Draws the window's first view into a picture, without a display.",
    .bit = VERB_RENDER,
    .optional_file = true,
};

struct platform {
    struct gfx *gfx;
    struct app *app;
    struct ui_text text;
    struct inputs inputs;
    struct ui_frame frame;
    uint32_t wake_event;
    SDL_Cursor *cursors[SDL_NUM_SYSTEM_CURSORS];
    char *clipboard;
    bool log_frames;   /* NONLOCAL_FRAMES=1: one line a frame on standard error */
    double input_time; /* of the oldest event of this frame; 0 = none */
};

static double now(void)
{
    return (double)SDL_GetPerformanceCounter() / (double)SDL_GetPerformanceFrequency();
}

static float text_width(void *user, enum draw_font font, float size, const char *utf8,
                        size_t length)
{
    return glyphs_width(user, utf8, length, font, size);
}

static void text_metrics(void *user, enum draw_font font, float size, float *ascent, float *descent)
{
    *ascent = glyphs_ascent(user, font, size);
    *descent = glyphs_descent(user, font, size);
}

/* From the worker's thread: SDL's queue is the one thing both may touch. */
static void wake(void *user)
{
    const struct platform *platform = user;
    SDL_Event event = {.type = platform->wake_event};
    SDL_PushEvent(&event);
}

static void clipboard_set(void *user, const char *utf8, size_t length)
{
    (void)user;
    char *copy = SDL_malloc(length + 1);
    if (!copy)
        return;
    memcpy(copy, utf8, length);
    copy[length] = 0;
    SDL_SetClipboardText(copy);
    SDL_free(copy);
}

static const char *clipboard_get(void *user)
{
    struct platform *platform = user;
    SDL_free(platform->clipboard);
    platform->clipboard = SDL_GetClipboardText();
    return platform->clipboard ? platform->clipboard : "";
}

static uint32_t key_of(SDL_Keycode key)
{
    static const struct {
        SDL_Keycode sdl;
        uint32_t key;
    } named[] = {
        {SDLK_TAB, UI_KEY_TAB},
        {SDLK_RETURN, UI_KEY_ENTER},
        {SDLK_KP_ENTER, UI_KEY_ENTER},
        {SDLK_SPACE, UI_KEY_SPACE},
        {SDLK_ESCAPE, UI_KEY_ESC},
        {SDLK_LEFT, UI_KEY_LEFT},
        {SDLK_RIGHT, UI_KEY_RIGHT},
        {SDLK_UP, UI_KEY_UP},
        {SDLK_DOWN, UI_KEY_DOWN},
        {SDLK_HOME, UI_KEY_HOME},
        {SDLK_END, UI_KEY_END},
        {SDLK_PAGEUP, UI_KEY_PAGE_UP},
        {SDLK_PAGEDOWN, UI_KEY_PAGE_DOWN},
        {SDLK_BACKSPACE, UI_KEY_BACKSPACE},
        {SDLK_DELETE, UI_KEY_DELETE},
        {SDLK_KP_PLUS, '+'},
        {SDLK_KP_MINUS, '-'},
        {SDLK_KP_0, '0'},
    };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].sdl == key)
            return named[i].key;
    if (key >= SDLK_F1 && key <= SDLK_F12)
        return UI_KEY_F1 + (uint32_t)(key - SDLK_F1);
    return key > 0 && key < 0x110000 ? (uint32_t)key : UI_KEY_NONE;
}

static unsigned mods_of(unsigned sdl)
{
    return (sdl & KMOD_SHIFT ? UI_MOD_SHIFT : 0u) | (sdl & KMOD_CTRL ? UI_MOD_CTRL : 0u) |
           (sdl & KMOD_ALT ? UI_MOD_ALT : 0u) | (sdl & KMOD_GUI ? UI_MOD_SUPER : 0u);
}

static unsigned button_of(unsigned sdl)
{
    return sdl == SDL_BUTTON_LEFT     ? (unsigned)UI_LEFT
           : sdl == SDL_BUTTON_MIDDLE ? (unsigned)UI_MIDDLE
           : sdl == SDL_BUTTON_RIGHT  ? (unsigned)UI_RIGHT
                                      : 0u;
}

/* The window's points to pixels, by the ratio that holds at this event. */
static void set_mouse(struct inputs *in, int x, int y)
{
    in->mouse_x = ((float)x + 0.5f) * (float)in->drawable_w / (float)in->window_w;
    in->mouse_y = ((float)y + 0.5f) * (float)in->drawable_h / (float)in->window_h;
}

static void measure_window(struct platform *platform)
{
    struct inputs *in = &platform->inputs;
    gfx_drawable_size(platform->gfx, &in->drawable_w, &in->drawable_h);
    gfx_window_size(platform->gfx, &in->window_w, &in->window_h);
    in->window_w = in->window_w > 0 ? in->window_w : 1;
    in->window_h = in->window_h > 0 ? in->window_h : 1;
    in->scale = (float)in->drawable_w / (float)in->window_w;
    if (!(in->scale >= 0.5f))
        in->scale = 1;
}

static void handle_window(struct platform *platform, const SDL_WindowEvent *event)
{
    switch (event->event) {
    case SDL_WINDOWEVENT_EXPOSED:
        gfx_present_again(platform->gfx);
        break;
    case SDL_WINDOWEVENT_SIZE_CHANGED:
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_MAXIMIZED:
    case SDL_WINDOWEVENT_DISPLAY_CHANGED:
        gfx_resize(platform->gfx);
        measure_window(platform);
        break;
    case SDL_WINDOWEVENT_LEAVE:
        if (!platform->inputs.down)
            platform->inputs.mouse_x = platform->inputs.mouse_y = -1;
        break;
    case SDL_WINDOWEVENT_FOCUS_LOST:
        inputs_release(&platform->inputs, platform->inputs.down);
        break;
    default:
        break;
    }
}

static void handle(struct platform *platform, const SDL_Event *event)
{
    struct inputs *in = &platform->inputs;
    if (event->type != platform->wake_event && platform->input_time == 0)
        platform->input_time = now();
    switch (event->type) {
    case SDL_QUIT:
        in->quit = true;
        break;
    case SDL_WINDOWEVENT:
        handle_window(platform, &event->window);
        break;
    case SDL_MOUSEMOTION:
        set_mouse(in, event->motion.x, event->motion.y);
        break;
    case SDL_MOUSEBUTTONDOWN:
        set_mouse(in, event->button.x, event->button.y);
        inputs_press(in, button_of(event->button.button));
        in->double_click = event->button.button == SDL_BUTTON_LEFT && event->button.clicks % 2 == 0;
        SDL_CaptureMouse(SDL_TRUE);
        break;
    case SDL_MOUSEBUTTONUP:
        set_mouse(in, event->button.x, event->button.y);
        inputs_release(in, button_of(event->button.button));
        if (!in->down)
            SDL_CaptureMouse(SDL_FALSE);
        break;
    case SDL_MOUSEWHEEL:
        in->wheel_x += event->wheel.preciseX;
        in->wheel_y += event->wheel.preciseY;
        break;
    case SDL_KEYDOWN:
        in->mods = mods_of(event->key.keysym.mod);
        inputs_key(in, key_of(event->key.keysym.sym), in->mods);
        break;
    case SDL_KEYUP:
        in->mods = mods_of(event->key.keysym.mod);
        break;
    case SDL_TEXTINPUT:
        inputs_text(in, event->text.text);
        break;
    case SDL_DROPFILE:
        snprintf(in->dropped, sizeof in->dropped, "%s", event->drop.file);
        SDL_free(event->drop.file);
        break;
    default:
        break;
    }
}

/* Sleeps until there is an event, or as long as the last frame allows. */
static void gather(struct platform *platform)
{
    SDL_Event event;
    const struct ui_frame *frame = &platform->frame;
    inputs_next(&platform->inputs);
    platform->input_time = 0;
    if (!frame->again) {
        int timeout = frame->wake_in < 0 ? -1 : (int)ceil(fmin(frame->wake_in, 3600) * 1000);
        if (SDL_WaitEventTimeout(&event, timeout))
            handle(platform, &event);
    }
    while (SDL_PollEvent(&event))
        handle(platform, &event);
    platform->inputs.time = now();
}

static void set_cursor(struct platform *platform, enum ui_cursor cursor)
{
    static const SDL_SystemCursor system[] = {
        [UI_CURSOR_ARROW] = SDL_SYSTEM_CURSOR_ARROW,     [UI_CURSOR_HAND] = SDL_SYSTEM_CURSOR_HAND,
        [UI_CURSOR_CROSS] = SDL_SYSTEM_CURSOR_CROSSHAIR, [UI_CURSOR_TEXT] = SDL_SYSTEM_CURSOR_IBEAM,
        [UI_CURSOR_MOVE] = SDL_SYSTEM_CURSOR_SIZEALL,    [UI_CURSOR_WAIT] = SDL_SYSTEM_CURSOR_WAIT,
    };
    SDL_Cursor **wanted = &platform->cursors[system[cursor]];
    if (!*wanted)
        *wanted = SDL_CreateSystemCursor(system[cursor]);
    if (*wanted && SDL_GetCursor() != *wanted)
        SDL_SetCursor(*wanted);
}

static void log_frame(const struct platform *platform, bool drawn)
{
    const struct gfx_stats stats = gfx_stats(platform->gfx);
    if (!platform->log_frames || !drawn)
        return;
    fprintf(stderr,
            "frame %llu after_input_ms %.2f draw_ms %.2f area %lld upload %llu row_ms %.3f\n",
            (unsigned long long)stats.frames,
            platform->input_time > 0 ? (now() - platform->input_time) * 1e3 : -1.0, stats.draw_ms,
            (long long)stats.damage_area, (unsigned long long)stats.upload_bytes,
            platform->app->row.milliseconds);
}

static void run(struct platform *platform)
{
    while (!platform->app->quit) {
        app_step(platform->app, &platform->inputs, &platform->frame);
        bool drawn = gfx_draw(platform->gfx, &platform->app->list);
        log_frame(platform, drawn);
        set_cursor(platform, platform->frame.cursor);
        if (platform->frame.again) { /* what an input changed still belongs to that input */
            double began = platform->input_time;
            gather(platform);
            if (platform->input_time == 0)
                platform->input_time = began;
        } else {
            gather(platform);
        }
    }
}

static void platform_free(struct platform *platform)
{
    app_destroy(&platform->app);
    SDL_free(platform->clipboard);
    for (int i = 0; i < SDL_NUM_SYSTEM_CURSORS; i++)
        if (platform->cursors[i])
            SDL_FreeCursor(platform->cursors[i]);
    gfx_destroy(&platform->gfx);
}

/* Window, GL and application; an exit status, 0 = go on. */
static int platform_create(struct platform *platform, const struct args *args, bool offscreen)
{
    char message[256];
    nl_error error = {0};
    const struct gfx_params gfx_params = {
        .window = {.width = args->width ? args->width
                            : offscreen ? 1366
                                        : 1280,
                   .height = args->height ? args->height
                             : offscreen  ? 768
                                          : 800,
                   .min_width = 1,
                   .min_height = 1,
                   .offscreen = offscreen,
                   .vsync = true},
        .font = args->font,
    };
    platform->gfx = gfx_create(&gfx_params, message, sizeof message);
    if (!platform->gfx) {
        fprintf(stderr, "nonlocal: %s\n", message);
        return EXIT_NO_DISPLAY;
    }
    platform->wake_event = SDL_RegisterEvents(1);
    platform->log_frames = getenv("NONLOCAL_FRAMES") != NULL;
    platform->text = (struct ui_text){gfx_glyphs(platform->gfx), text_width, text_metrics};
    measure_window(platform);
    platform->inputs.mouse_x = platform->inputs.mouse_y = -1;
    platform->inputs.time = now();
    const struct app_params params = {
        .cpu = (nl_cpu)param_choice(&args->doc, PARAM_CPU),
        .threads = (size_t)param_number(&args->doc, PARAM_THREADS),
        .text = &platform->text,
        .clipboard = {platform, clipboard_set, clipboard_get},
        .wake = wake,
        .user = platform,
        .doc = &args->doc,
        .open = args->doc.source[0] ? args->doc.source : NULL,
        .theme = (enum ui_theme)args->theme,
        .ui_scale = (float)args->ui_scale,
        .view = (enum app_view)args->view,
    };
    platform->app = app_create(&params, &error);
    return platform->app ? 0 : verb_fail(&error);
}

/* Reads the command line; true when there is nothing more to do. */
static bool read_args(const struct verb *verb, int argc, char **argv, struct args *args,
                      int *exit_status)
{
    nl_error error = {0};
    bool help;
    *exit_status = 0;
    nl_status status = args_parse(verb, argc, argv, args, &help, &error);
    if (status == NL_OK && help) {
        args_help(verb);
        return true;
    }
    if (status == NL_OK)
        status = verb_check_idle(args, SOURCE_NONE, &error);
    if (status == NL_OK && verb == &render_verb && !args->output)
        status = nl_fail(&error, NL_INVALID, "no output; add -o OUT.png");
    else if (status == NL_OK && verb == &render_verb && !file_has_extension(args->output, ".png"))
        status = nl_fail(&error, NL_INVALID, "-o %s: the ending must be .png", args->output);
    if (status == NL_OK)
        status = source_check_name(args->doc.source, &error);
    if (status == NL_OK)
        return false;
    fprintf(stderr, "nonlocal: %s\n", error.message);
    *exit_status = EXIT_BAD_USAGE;
    return true;
}

int window_main(int argc, char **argv)
{
    static struct args args;
    struct platform platform = {0};
    int exit_status;
    if (read_args(&window_verb, argc, argv, &args, &exit_status))
        return exit_status;
    exit_status = platform_create(&platform, &args, false);
    if (exit_status == 0)
        run(&platform);
    platform_free(&platform);
    return exit_status;
}

/* Steps with a clock of its own until nothing changes any more. */
static bool settle(struct platform *platform)
{
    const double give_up = now() + 120;
    struct inputs *in = &platform->inputs;
    in->time = 0;
    for (int quiet = 0; quiet < 3 && now() < give_up;) {
        app_step(platform->app, in, &platform->frame);
        inputs_next(in);
        bool done = app_settled(platform->app) && !platform->frame.again;
        quiet = done ? quiet + 1 : 0;
        if (!done)
            SDL_Delay(1);
        in->time += 1e-3; /* too slow for anything to count as late */
    }
    return app_settled(platform->app);
}

static int render(struct platform *platform, const char *path)
{
    nl_error error = {0};
    const int w = platform->inputs.drawable_w, h = platform->inputs.drawable_h;
    bool settled = settle(platform);
    gfx_invalidate(platform->gfx);
    gfx_draw(platform->gfx, &platform->app->list);
    if (platform->app->message[0] || !settled) {
        fprintf(stderr, "nonlocal: %s\n",
                settled ? platform->app->message : "the view was not ready after two minutes");
        return EXIT_BAD_INPUT;
    }
    uint8_t *rgba = malloc((size_t)w * (size_t)h * 4);
    if (!rgba || !gfx_read(platform->gfx, rgba)) {
        free(rgba);
        fprintf(stderr, "nonlocal: no memory for a picture of %d × %d pixels\n", w, h);
        return EXIT_NO_MEMORY;
    }
    for (size_t p = 0; p < (size_t)w * (size_t)h; p++) /* RGB in place */
        memmove(rgba + 3 * p, rgba + 4 * p, 3);
    nl_status status = png_write(path, rgba, w, h, &error);
    free(rgba);
    return status == NL_OK ? 0 : verb_fail(&error);
}

int render_main(int argc, char **argv)
{
    static struct args args;
    struct platform platform = {0};
    int exit_status;
    if (read_args(&render_verb, argc, argv, &args, &exit_status))
        return exit_status;
    exit_status = platform_create(&platform, &args, true);
    if (exit_status == 0)
        exit_status = render(&platform, args.output);
    platform_free(&platform);
    return exit_status;
}

static bool step_frame(void *user)
{
    struct platform *platform = user;
    app_step(platform->app, &platform->inputs, &platform->frame);
    gfx_draw(platform->gfx, &platform->app->list);
    inputs_next(&platform->inputs);
    platform->inputs.time = now();
    return platform->frame.again;
}

static void rest_frame(void *user)
{
    (void)user;
    SDL_Delay(1);
}

static double frame_now(void *user)
{
    (void)user;
    return now();
}

static const struct verb bench_frame_verb = {
    .name = "bench",
    .synopsis = "frame [--json] [options]",
    .summary = "Times what a person waits for in the window, drawn offscreen at 1280 × 800.",
    .bit = VERB_BENCH,
    .optional_file = true,
};

int bench_frame_main(int argc, char **argv)
{
    static struct args args;
    struct platform platform = {0};
    const double began = now();
    int exit_status;
    if (read_args(&bench_frame_verb, argc, argv, &args, &exit_status))
        return exit_status;
    args.doc.source[0] = 0; /* "frame" is not a file */
    args.width = 1280;
    args.height = 800;
    exit_status = platform_create(&platform, &args, true);
    if (exit_status == 0) {
        struct frame_host host = {platform.app, &platform.inputs, began,      args.json,
                                  &platform,    step_frame,       rest_frame, frame_now};
        bench_frame(&host);
    }
    platform_free(&platform);
    return exit_status;
}
