/* SPDX-License-Identifier: MIT */
/* The program with a window: the one place that knows SDL's events. */
#ifndef NONLOCAL_APP_PLATFORM_H
#define NONLOCAL_APP_PLATFORM_H

/* `nonlocal [FILE] [options]`; returns the exit status. */
int window_main(int argc, char **argv);

/* `nonlocal render [FILE] -o OUT.png [options]`: the same, once, into a picture. */
int render_main(int argc, char **argv);

/* `nonlocal bench frame`: times of the window, drawn offscreen. */
int bench_frame_main(int argc, char **argv);

#endif
