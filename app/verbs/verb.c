/* SPDX-License-Identifier: MIT */
#include "verb.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "../source.h"
#include "args.h"
#include "nonlocal/attention.h"

static const struct verb_default denoise_defaults[] = {
    {PARAM_PATCH, 7},          {PARAM_H, 0.1},     {PARAM_SIGMA, 0},
    {PARAM_SELF, NL_SELF_MAX}, {PARAM_SEARCH, 21}, {PARAM_COUNT, 0},
};

const struct verb verbs[] = {
    {"attend", "FILE --query X,Y [--query ...] [-o OUT.npy|.csv|.png] [options]",
     "What a point reads: the weights of one query over all keys.", VERB_ATTEND, true, false,
     verb_attend},
    {"apply", "FILE [--residual] -o OUT.png|.npy [options]",
     "The answer y (or Z = X + Y) at every position.", VERB_APPLY, true, false, verb_apply},
    {"denoise", "FILE -o OUT.png|.npy [--clean REF] [options]",
     "Non-local means: every pixel becomes the mean of those with a patch like its own.",
     VERB_DENOISE, true, false, verb_denoise, denoise_defaults},
    {"dissim", "FILE [-o D.npy|.csv|.png] [--order-out P.csv] [--tree-out T.csv] [options]",
     "The dissimilarity matrix of the rows, its order and its quality.", VERB_DISSIM, true, false,
     verb_dissim},
    {"block", "X.npy --system NAME [--weights W] -o Z.npy [--trace DIR] [options]",
     "A whole block of a system on a feature map, with every intermediate.", VERB_BLOCK, true,
     false, verb_block},
    {"bench",
     "attention|dot|concat|row|pairwise|project|nlm|order|frame [--n N --d N --json] [options]",
     "Times an operation beside the processor's peak.", VERB_BENCH, true, false, verb_bench},
    {"info", "[options]", "What this program is made of and which instruction sets it can use.",
     VERB_INFO, false, false, verb_info},
    {0},
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static bool poll_interrupt(void *user)
{
    (void)user;
    return interrupted != 0;
}

nl_status verb_exec_create(const struct doc *doc, struct verb_exec *exec, nl_error *error)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    *exec = (struct verb_exec){0};
    exec->exec.kernels = nl_kernels_get((nl_cpu)param_choice(doc, PARAM_CPU), error);
    if (!exec->exec.kernels)
        return NL_UNSUPPORTED;
    nl_status status = nl_pool_create((size_t)param_number(doc, PARAM_THREADS), &exec->pool, error);
    exec->exec.pool = exec->pool;
    exec->exec.cancelled = poll_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return status;
}

void verb_exec_free(struct verb_exec *exec)
{
    nl_pool_free(&exec->pool);
}

int verb_fail(const nl_error *error)
{
    if (error->status == NL_CANCELLED) {
        fprintf(stderr, "nonlocal: interrupted, nothing was written\n");
        return EXIT_INTERRUPTED;
    }
    fprintf(stderr, "nonlocal: %s\n", error->message);
    return error->status == NL_NOMEM || error->status == NL_LIMIT ? EXIT_NO_MEMORY : EXIT_BAD_INPUT;
}

void verb_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "note: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
}

void verb_note_source(const struct source *source, size_t constant_columns)
{
    char note[200];
    if (*source_note(source, note, sizeof note))
        verb_note("%s", note);
    if (constant_columns > 0)
        verb_note("%zu constant columns became 0 as z-scores", constant_columns);
}

nl_status verb_check_idle(const struct args *args, enum source_kind kind, nl_error *error)
{
    char reason[120];
    for (int id = 0; id < PARAM_COUNT; id++) {
        if (!args->doc.params[id].given)
            continue;
        const char *why = param_idle(&args->doc, (enum param_id)id, kind, reason, sizeof reason);
        if (why)
            return nl_fail(error, NL_INVALID, "--%s has no effect %s; leave it out",
                           param_table[id].key, why);
    }
    const char *file =
        args->doc.weights[0] ? weights_idle(&args->doc, reason, sizeof reason) : NULL;
    if (file)
        return nl_fail(error, NL_INVALID, "--weights has no effect %s; leave it out", file);
    const char *patch =
        args->weight_given ? patch_weight_idle(&args->doc, kind, reason, sizeof reason) : NULL;
    if (patch)
        return nl_fail(error, NL_INVALID, "--patch-weight has no effect %s; leave it out", patch);
    if (args->csv_given && kind != SOURCE_TABLE && kind != SOURCE_NONE)
        return nl_fail(error, NL_INVALID,
                       "--label, --columns and --missing are for tables; leave them out");
    return NL_OK;
}

static void print_usage(FILE *out)
{
    fprintf(out, "usage: nonlocal [FILE] [options]     the window\n"
                 "       nonlocal VERB ...\n\n");
    for (const struct verb *verb = verbs; verb->name; verb++)
        fprintf(out, "  %-8s %s\n", verb->name, verb->summary);
    fprintf(out, "  %-8s %s\n", "render",
            "The window's first view as a picture, without a display.");
    fprintf(out,
            "\nnonlocal VERB --help lists a verb's options; nonlocal --version.\n"
            "FILE is a picture, a table (.csv), an array (.npy), or built in: @sample, @iris,\n"
            "@library.\n");
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
    struct args args;
    nl_error error = {0};
    bool help;
    nl_status status = args_parse(verb, argc, argv, &args, &help, &error);
    if (status == NL_OK && help) {
        args_help(verb);
        return 0;
    }
    if (status == NL_OK)
        status = verb_check_idle(&args, SOURCE_NONE, &error);
    if (status != NL_OK) {
        fprintf(stderr, "nonlocal %s: %s\n", verb->name, error.message);
        return EXIT_BAD_USAGE;
    }
    int exit_status = verb->run(&args);
    if (fflush(stdout) != 0 && exit_status == 0) {
        fprintf(stderr, "nonlocal: cannot write to standard output\n");
        return EXIT_BAD_INPUT;
    }
    return exit_status;
}

int verb_main(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : "";
    if (strcmp(name, "--version") == 0) {
        printf("nonlocal %s\n", nl_version());
        return 0;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_usage(stdout);
        return 0;
    }
    for (const struct verb *verb = verbs; verb->name; verb++)
        if (strcmp(verb->name, name) == 0)
            return run_verb(verb, argc, argv);
    if (argc > 0)
        fprintf(stderr, "nonlocal: unknown verb '%.60s'; nonlocal --help lists the verbs\n", name);
    else
        print_usage(stderr);
    return EXIT_BAD_USAGE;
}
