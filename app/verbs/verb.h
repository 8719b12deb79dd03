/* SPDX-License-Identifier: MIT */
/* The headless verbs: one table, the arguments they share, and how each of them ends. */
#ifndef NONLOCAL_APP_VERBS_VERB_H
#define NONLOCAL_APP_VERBS_VERB_H

#include "../doc.h"
#include "nonlocal/exec.h"
#include "nonlocal/table.h"

/* Exit statuses, as documented in the man page. */
enum {
    EXIT_BAD_INPUT = 1,
    EXIT_BAD_USAGE = 2,
    EXIT_NO_MEMORY = 3, /* or over a limit */
    EXIT_NO_DISPLAY = 4,
    EXIT_INTERRUPTED = 130,
};

/* What the command line says, beyond the parameters. */
struct args {
    struct doc doc;     /* parameters, source, queries */
    const char *output; /* -o */
    const char *order_out;
    const char *tree_out;
    bool residual;
    const char *trace; /* folder; NULL = none */
    const char *keys;  /* --keys: another file to read from */
    bool received;
    size_t n, d; /* bench; 0 = the bench's own */
    bool json;
    int repeat;        /* --repeat; 1 = once */
    const char *clean; /* --clean: a picture to compare with; NULL = none */
    double gaussian;   /* --patch-weight gaussian:a of denoise; 0 = flat */
    bool weight_given; /* --patch-weight of attention, which is in doc */
    nl_csv_params csv; /* --label, --columns, --missing */
    bool csv_given;
    int width, height; /* --size; 0 = not given */
    int view;          /* enum args_view */
    int theme;         /* enum ui_theme */
    double ui_scale;   /* 0 = the system's */
    const char *font;  /* NULL = the usual ones */
};

enum args_view { VIEW_WINDOW, VIEW_HEATMAP, VIEW_MATRIX };

/* Where a verb starts from another value than the window does. */
struct verb_default {
    enum param_id id;
    double number;
};

struct verb {
    const char *name;
    const char *synopsis; /* after "nonlocal NAME " */
    const char *summary;  /* one sentence */
    unsigned bit;         /* enum param_verbs */
    bool needs_file;
    bool optional_file;
    int (*run)(const struct args *args); /* returns the exit status */
    const struct verb_default *defaults; /* ends with PARAM_COUNT; NULL = none */
};

extern const struct verb verbs[]; /* ends with a NULL name */

/* Runs `nonlocal argv[0] ...` for a verb, or --help / --version; returns the exit status. */
int verb_main(int argc, char **argv);

/* Everything a computing verb needs, made from --cpu and --threads; polls for SIGINT. */
struct verb_exec {
    nl_exec exec;
    nl_pool *pool;
};
nl_status verb_exec_create(const struct doc *doc, struct verb_exec *exec, nl_error *error);
void verb_exec_free(struct verb_exec *exec);

/* Prints "nonlocal: message" to standard error and gives the exit status that goes with it. */
int verb_fail(const nl_error *error);
/* A note to standard error, for results that need a word. */
void verb_note(const char *format, ...) NL_PRINTF(1, 2);

struct source;
/* The notes about what was opened: what was left out or turned, columns that became 0. */
void verb_note_source(const struct source *source, size_t constant_columns);

/* NL_INVALID (usage) when a parameter was given that has no effect on this kind of source. */
nl_status verb_check_idle(const struct args *args, enum source_kind kind, nl_error *error);

int verb_attend(const struct args *args);
int verb_apply(const struct args *args);
int verb_denoise(const struct args *args);
int verb_dissim(const struct args *args);
int verb_info(const struct args *args);
int verb_block(const struct args *args);
int verb_bench(const struct args *args);

#endif
