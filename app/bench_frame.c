/* SPDX-License-Identifier: MIT */
/* `nonlocal bench frame`: what a person waits for in the window, drawn offscreen. */
#include "bench_frame.h"

#include <stdio.h>
#include <stdlib.h>

#include "app.h"

enum { RUNS = 60, TOO_LONG = 20000 };

/* What is measured, one after the other. */
struct measure {
    const char *name;
    void (*act)(struct inputs *in, int run); /* before the first frame of a run */
};

/* Somewhere on the picture of a 1280 × 800 window. */
static void point_at(struct inputs *in, int run)
{
    in->mouse_x = 340 + (float)(run * 37 % 300);
    in->mouse_y = 160 + (float)(run * 23 % 200);
}

static void hover(struct inputs *in, int run)
{
    point_at(in, run);
}

static void drag(struct inputs *in, int run)
{
    point_at(in, run);
    if (run == 0)
        inputs_press(in, UI_LEFT);
    if (run == RUNS - 1)
        inputs_release(in, UI_LEFT);
}

static void switch_scene(struct inputs *in, int run)
{
    inputs_key(in, UI_KEY_F1 + (run % 2 ? 1u : 2u), 0);
}

static const struct measure measures[] = {
    {"frame-hover", hover},
    {"frame-drag", drag},
    {"frame-switch", switch_scene},
};

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Frames until nothing moves any more; drawn each time. */
static void settle(struct frame_host *host)
{
    for (int frames = 0; frames < TOO_LONG; frames++) {
        bool again = host->step(host->user);
        if (!again && app_settled(host->app))
            return;
        if (!again)
            host->rest(host->user);
    }
}

static void print(const struct frame_host *host, const char *name, double ms)
{
    if (host->json)
        printf(
            "{\"name\": \"%s\", \"n\": %zu, \"d\": null, \"threads\": %zu, \"cpu\": \"%s\", "
            "\"median_ms\": %.6g, \"gflops\": null, \"peak_gflops\": null, \"fraction\": null}\n",
            name, host->app->row.n, job_threads(host->app->job),
            nl_cpu_name(nl_kernels_cpu(job_kernels(host->app->job))), ms);
    else
        printf("%s n = %zu: %.3g ms\n", name, host->app->row.n, ms);
}

static void set(struct frame_host *host, enum param_id id, double number)
{
    edit_param(&host->app->edits, id, (struct param_value){.number = number}, true);
    host->step(host->user);
}

/*
 * Another order of 4,015 rows: from the choice to the first frame on the way to it, and then each
 * frame on the way.
 */
static void bench_orders(struct frame_host *host)
{
    static const nl_order_id orders[] = {NL_ORDER_PCA, NL_ORDER_BRIGHTNESS, NL_ORDER_VAT};
    enum { CHANGES = 15, FRAMES = 2000 };
    static double chosen[CHANGES], moving[FRAMES];
    size_t frames = 0;
    set(host, PARAM_MAX_SIDE, 292); /* 73 × 55 patches of the sample */
    settle(host);
    for (size_t change = 0; change < CHANGES; change++) {
        const struct app *app = host->app;
        const double begin = host->now(host->user);
        set(host, PARAM_ORDER, (double)orders[change % 3]);
        while (!app->order.moving)
            if (!host->step(host->user))
                host->rest(host->user);
        chosen[change] = (host->now(host->user) - begin) * 1e3;
        while (app->order.moving) {
            const double start = host->now(host->user);
            host->step(host->user);
            if (frames < FRAMES && app->order.moving)
                moving[frames++] = (host->now(host->user) - start) * 1e3;
        }
        settle(host);
    }
    qsort(chosen, CHANGES, sizeof *chosen, by_size);
    qsort(moving, frames, sizeof *moving, by_size);
    print(host, "frame-order", chosen[CHANGES / 2]);
    if (frames > 0)
        print(host, "frame-moving", moving[frames / 2]);
}

void bench_frame(struct frame_host *host)
{
    do {
        if (!host->step(host->user))
            host->rest(host->user);
    } while (!app_complete(host->app));
    host->step(host->user);
    print(host, "frame-start", (host->now(host->user) - host->began) * 1e3);
    settle(host);
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        double ms[RUNS];
        for (int run = 0; run < RUNS; run++) {
            measures[m].act(host->inputs, run);
            const double begin = host->now(host->user);
            while (host->step(host->user)) {
            }
            ms[run] = (host->now(host->user) - begin) * 1e3;
        }
        settle(host);
        qsort(ms, RUNS, sizeof *ms, by_size);
        print(host, measures[m].name, ms[RUNS / 2]);
    }
    bench_orders(host);
}
