/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "../file.h"
#include "../source.h"
#include "nonlocal/nlm.h"
#include "output.h"
#include "verb.h"

struct work {
    struct verb_exec exec;
    struct source source, clean_source;
    nl_picture noisy, clean, answer;
    size_t empty; /* pixels without any weight */
    double milliseconds;
};

static void work_free(struct work *work)
{
    nl_picture_free(&work->answer);
    nl_picture_free(&work->clean);
    nl_picture_free(&work->noisy);
    source_free(&work->clean_source);
    source_free(&work->source);
    verb_exec_free(&work->exec);
}

static nl_status check_usage(const struct args *args, nl_nlm_params *params, nl_error *error)
{
    const struct doc *doc = &args->doc;
    const char *out = args->output;
    *params = (nl_nlm_params){
        .patch = (size_t)param_number(doc, PARAM_PATCH),
        .search = (size_t)param_number(doc, PARAM_SEARCH),
        .h = param_number(doc, PARAM_H),
        .sigma = param_number(doc, PARAM_SIGMA),
        .self = (nl_self)param_choice(doc, PARAM_SELF),
        .gaussian = args->gaussian,
    };
    if (!out)
        return nl_fail(error, NL_INVALID, "no output; add -o OUT.png or -o OUT.npy");
    if (!file_has_extension(out, ".png") && !file_has_extension(out, ".npy"))
        return nl_fail(error, NL_INVALID, "-o %s: the ending must be .png or .npy", out);
    if (params->patch % 2 == 0)
        return nl_fail(error, NL_INVALID, "--patch: %zu has no middle pixel; take %zu or %zu",
                       params->patch, params->patch - 1, params->patch + 1);
    if (params->search % 2 == 0 && params->search != 0)
        return nl_fail(error, NL_INVALID,
                       "--search: %zu has no middle pixel; take %zu or %zu, or 0 for the whole "
                       "picture",
                       params->search, params->search - 1, params->search + 1);
    return NL_OK;
}

/* A picture at full size; anything else is refused. */
static nl_status load_picture(const char *path, struct source *source, nl_picture *picture,
                              nl_error *error)
{
    nl_status status = source_load(path, NULL, source, error);
    if (status == NL_OK && source->kind != SOURCE_PICTURE)
        return nl_fail(error, NL_INVALID, "%s is %s; denoise is for pictures", path,
                       source->kind == SOURCE_TABLE ? "a table" : "an array of features");
    if (status == NL_OK)
        status = nl_picture_from_bitmap(&source->bitmap, 0, picture, error);
    return status;
}

static nl_status load(const struct args *args, struct work *work, nl_error *error)
{
    nl_status status = load_picture(args->doc.source, &work->source, &work->noisy, error);
    if (status != NL_OK || !args->clean)
        return status;
    status = load_picture(args->clean, &work->clean_source, &work->clean, error);
    if (status == NL_OK &&
        (work->clean.width != work->noisy.width || work->clean.height != work->noisy.height))
        status = nl_fail(error, NL_INVALID,
                         "%s is %zu × %zu pixels, but %s is %zu × %zu: they must have one size",
                         args->clean, work->clean.width, work->clean.height, args->doc.source,
                         work->noisy.width, work->noisy.height);
    return status;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static nl_status write_answer(const struct args *args, struct work *work, nl_error *error)
{
    const size_t shape[3] = {work->answer.height, work->answer.width, 3};
    if (!file_has_extension(args->output, ".png"))
        return npy_write(args->output, &work->answer.rgb, shape, 3, error);
    nl_status status = picture_write_png(args->output, &work->answer, error);
    if (status == NL_OK && work->source.bitmap.bits > 8)
        verb_note("%s has %d bits a channel, the PNG has 8; .npy keeps them", work->source.name,
                  work->source.bitmap.bits);
    return status;
}

/* Size, time, and how far from the clean picture. */
static nl_status report(const struct args *args, const struct work *work,
                        const nl_nlm_params *params, nl_error *error)
{
    double before = 0, after = 0;
    nl_status status = NL_OK;
    if (args->clean)
        status = nl_psnr(&work->noisy, &work->clean, &before, error);
    if (status == NL_OK && args->clean)
        status = nl_psnr(&work->answer, &work->clean, &after, error);
    if (status != NL_OK)
        return status;
    printf("%s: %zu × %zu pixels, patch %zu, ", work->source.name, work->answer.width,
           work->answer.height, params->patch);
    if (params->search)
        printf("search %zu", params->search);
    else
        printf("search everywhere");
    printf(", h %g, %.1f ms on %zu %s, written to %s\n", params->h, work->milliseconds,
           nl_pool_threads(work->exec.pool),
           nl_pool_threads(work->exec.pool) == 1 ? "thread" : "threads", args->output);
    if (args->clean)
        printf("psnr_input %.4f\npsnr_result %.4f\n", before, after);
    if (work->empty > 0)
        verb_note("%zu of %zu pixels have no candidate and become 0", work->empty,
                  work->answer.width * work->answer.height);
    verb_note_source(&work->source, 0);
    return NL_OK;
}

int verb_denoise(const struct args *args)
{
    struct work work = {0};
    nl_nlm_params params;
    nl_error error = {0};
    if (check_usage(args, &params, &error) != NL_OK) {
        fprintf(stderr, "nonlocal denoise: %s\n", error.message);
        return EXIT_BAD_USAGE;
    }
    nl_status status = verb_exec_create(&args->doc, &work.exec, &error);
    if (status == NL_OK)
        status = load(args, &work, &error);
    if (status == NL_OK) {
        const double start = now();
        status =
            nl_nlm_alloc(&work.noisy, &params, &work.exec.exec, &work.answer, &work.empty, &error);
        work.milliseconds = now() - start;
    }
    if (status == NL_OK)
        status = write_answer(args, &work, &error);
    if (status == NL_OK)
        status = report(args, &work, &params, &error);
    work_free(&work);
    return status == NL_OK ? 0 : verb_fail(&error);
}
