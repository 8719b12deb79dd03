/* SPDX-License-Identifier: MIT */
/*
 *     golden GOLDENS OUT [--update]
 *
 * Draws the views below without a display, with a clock of their own, and compares them with
 * GOLDENS/NAME.png; then the same with OpenGL ES against OpenGL. What differs is written to OUT as
 * NAME-got.png and NAME-diff.png. --update writes the pictures of GOLDENS anew.
 *
 * Each kind of GL has a process of its own: two libraries of it in one do not agree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fontconfig/fontconfig.h>

#include "canvas.h"
#include "golden_views.h"
#include "pixels.h"

enum { EXIT_SKIP = 77 };

/*
 * What another version of FreeType or of the driver may do: edges of letters a little lighter or
 * darker. No more than this share of all pixels, and of each tile of 32 × 32, may differ by more
 * than NEAR in any channel; a number that reads differently exceeds the tile's.
 */
static const struct pixels_tolerance against_golden = {.near = 32, .share = 0.002, .tile = 0.012};
static const struct pixels_tolerance against_gl = {.near = 1, .share = 0, .tile = 0};

static bool in_ci(void)
{
    const char *ci = getenv("CI");
    return ci && strcmp(ci, "true") == 0;
}

/* For want of something that a person need not have, and CI must. */
static int missing(const char *what)
{
    if (in_ci()) {
        printf("1..1\nnot ok 1 - %s\n", what);
        return 1;
    }
    printf("1..0 # SKIP %s\n", what);
    return EXIT_SKIP;
}

static bool font_is_there(void)
{
    FcPattern *wish = FcNameParse((const FcChar8 *)"DejaVu Sans");
    FcChar8 *family = NULL;
    FcResult result;
    FcConfigSubstitute(NULL, wish, FcMatchPattern);
    FcDefaultSubstitute(wish);
    FcPattern *match = FcFontMatch(NULL, wish, &result);
    bool there = match && FcPatternGetString(match, FC_FAMILY, 0, &family) == FcResultMatch &&
                 strcmp((const char *)family, "DejaVu Sans") == 0;
    if (match)
        FcPatternDestroy(match);
    FcPatternDestroy(wish);
    FcFini();
    return there;
}

/* What a child process hands back. */
struct shared {
    char error[GOLDEN_ERROR];
    bool drawn[GOLDEN_VIEWS];
    size_t offset[GOLDEN_VIEWS]; /* into pixels */
    uint8_t pixels[];
};

static struct shared *share(void)
{
    size_t size = sizeof(struct shared), offset[GOLDEN_VIEWS], total = 0;
    for (int v = 0; v < GOLDEN_VIEWS; v++) {
        offset[v] = total;
        total += 3 * (size_t)golden_views[v].width * (size_t)golden_views[v].height;
    }
    struct shared *shared =
        mmap(NULL, size + total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return NULL;
    memcpy(shared->offset, offset, sizeof offset);
    return shared;
}

/* All views with one kind of GL; NULL when there is no memory or no process. */
static struct shared *draw_views(const char *gl)
{
    struct shared *shared = share();
    int status = 0;
    fflush(stdout);
    pid_t child = shared ? fork() : -1;
    if (child == 0) {
        setenv("NONLOCAL_GL", gl, 1);
        for (int v = 0; v < GOLDEN_VIEWS; v++)
            shared->drawn[v] =
                golden_draw(&golden_views[v], shared->pixels + shared->offset[v], shared->error);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return NULL;
    if (status != 0) { /* a crash at the end counts too */
        memset(shared->drawn, 0, sizeof shared->drawn);
        snprintf(shared->error, sizeof shared->error, "drawing with %s ended with status %#x", gl,
                 (unsigned)status);
    }
    return shared;
}

static int number, failures;

static void report(bool ok, const char *name, const char *what)
{
    failures += !ok;
    printf("%sok %d - %s%s%s\n", ok ? "" : "not ", ++number, name, what[0] ? ": " : "", what);
}

static void save(const char *folder, const char *name, const char *ending, const uint8_t *rgb,
                 int width, int height)
{
    char path[1024];
    nl_error error = {0};
    snprintf(path, sizeof path, "%s/%s%s.png", folder, name, ending);
    if (png_write(path, rgb, width, height, &error) != NL_OK)
        printf("# %s\n", error.message);
}

static void compare(const struct golden_view *view, const char *name, const uint8_t *got,
                    const uint8_t *expected, const struct pixels_tolerance *tolerance,
                    const char *out)
{
    char what[400] = "";
    struct pixels_difference difference;
    uint8_t *picture = malloc(3 * (size_t)view->width * (size_t)view->height);
    bool same =
        pixels_compare(got, expected, view->width, view->height, tolerance, picture, &difference);
    if (!same) {
        snprintf(what, sizeof what,
                 "%zu pixels differ (%.3f %%), by up to %d, most around %d,%d: see %s/%s-diff.png",
                 difference.pixels, 100 * difference.share, difference.largest, difference.x,
                 difference.y, out, name);
        save(out, name, "-got", got, view->width, view->height);
        if (picture)
            save(out, name, "-diff", picture, view->width, view->height);
    }
    report(same, name, what);
    free(picture);
}

static void compare_with_golden(const struct golden_view *view, const uint8_t *got,
                                const char *goldens, const char *out)
{
    char path[1024], what[GOLDEN_ERROR];
    int width = 0, height = 0;
    snprintf(path, sizeof path, "%s/%s.png", goldens, view->name);
    uint8_t *expected = pixels_load(path, &width, &height, what, sizeof what);
    if (expected && (width != view->width || height != view->height)) {
        snprintf(what, sizeof what, "the golden picture is %d × %d, not %d × %d", width, height,
                 view->width, view->height);
        report(false, view->name, what);
    } else if (!expected) {
        save(out, view->name, "-got", got, view->width, view->height);
        report(false, view->name, what);
    } else {
        compare(view, view->name, got, expected, &against_golden, out);
    }
    free(expected);
}

static int update(const struct shared *gl, const char *goldens)
{
    for (int v = 0; v < GOLDEN_VIEWS; v++) {
        const struct golden_view *view = &golden_views[v];
        if (!gl->drawn[v]) {
            fprintf(stderr, "golden: %s: %s\n", view->name, gl->error);
            return 1;
        }
        save(goldens, view->name, "", gl->pixels + gl->offset[v], view->width, view->height);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: golden GOLDENS OUT [--update]\n");
        return 2;
    }
    if (!font_is_there())
        return missing("the font DejaVu Sans is not installed (Debian: fonts-dejavu-core)");
    struct shared *gl = draw_views("gl");
    if (!gl || !gl->drawn[0])
        return missing(gl ? gl->error : "no process or memory to draw with");
    if (argc > 3 && strcmp(argv[3], "--update") == 0)
        return update(gl, argv[1]);
    struct shared *gles = draw_views("gles");
    printf("1..%d\n", 2 * GOLDEN_VIEWS);
    for (int v = 0; v < GOLDEN_VIEWS; v++) {
        const struct golden_view *view = &golden_views[v];
        char name[64];
        if (gl->drawn[v])
            compare_with_golden(view, gl->pixels + gl->offset[v], argv[1], argv[2]);
        else
            report(false, view->name, gl->error);
        snprintf(name, sizeof name, "%s-gles", view->name);
        if (gl->drawn[v] && gles && gles->drawn[v])
            compare(view, name, gles->pixels + gles->offset[v], gl->pixels + gl->offset[v],
                    &against_gl, argv[2]);
        else
            report(false, name, gles ? gles->error : "not drawn");
    }
    return failures > 0;
}
