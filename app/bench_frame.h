/* SPDX-License-Identifier: MIT */
#ifndef NONLOCAL_APP_BENCH_FRAME_H
#define NONLOCAL_APP_BENCH_FRAME_H

#include <stdbool.h>

struct app;
struct inputs;

/* The window that is measured, without what it is made of. */
struct frame_host {
    struct app *app;
    struct inputs *inputs; /* of the next frame */
    double began;          /* when the program began to make its window */
    bool json;
    void *user;
    bool (*step)(void *user);  /* one frame, drawn; true when another should follow at once */
    void (*rest)(void *user);  /* a moment for the worker */
    double (*now)(void *user); /* seconds */
};

/* Prints start and the medians of hover, drag, switch, another order and the way to it. */
void bench_frame(struct frame_host *host);

#endif
