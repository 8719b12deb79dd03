/* SPDX-License-Identifier: MIT */
/*
 * One table of every parameter. The command line, help, widgets, tooltips, undo and files all read
 * it; nothing else knows a parameter's name, range or default.
 */
#ifndef NONLOCAL_APP_PARAM_H
#define NONLOCAL_APP_PARAM_H

#include "nonlocal/base.h"

enum param_id {
    PARAM_SYSTEM,
    PARAM_SIMILARITY,
    PARAM_NORMALIZE,
    PARAM_PERPLEXITY,
    PARAM_PERPLEXITY_PER,
    PARAM_TEMPERATURE,
    PARAM_H,
    PARAM_SIGMA,
    PARAM_SCALE,
    PARAM_LAMBDA,
    PARAM_SELF,
    PARAM_SEARCH,
    PARAM_FEATURES,
    PARAM_PATCH,
    PARAM_STRIDE,
    PARAM_FEATURE_NORM,
    PARAM_POSITION,
    PARAM_MAX_SIDE,
    PARAM_EMBED,
    PARAM_DIM,
    PARAM_SEED,
    PARAM_SUBSAMPLE,
    PARAM_HEADS,
    PARAM_LAYERNORM,
    PARAM_GAMMA,
    PARAM_ROWS,
    PARAM_METRIC,
    PARAM_BANDWIDTH,
    PARAM_OF,
    PARAM_ORDER,
    PARAM_LEAF,
    PARAM_SHOWN,
    PARAM_COLORMAP,
    PARAM_OVERLAY,
    PARAM_OPACITY,
    PARAM_CPU,
    PARAM_THREADS,
    PARAM_COUNT
};

enum param_type {
    PARAM_CHOICE, /* one of a table's rows */
    PARAM_INT,
    PARAM_REAL,
    PARAM_AMOUNT, /* a number, or a number followed by % */
};

/* Which verbs take the option. */
enum param_verbs {
    VERB_ATTEND = 1,
    VERB_APPLY = 2,
    VERB_DISSIM = 4,
    VERB_INFO = 8,
    VERB_WINDOW = 16,
    VERB_RENDER = 32,
    VERB_DENOISE = 64,
    VERB_BLOCK = 128,
    VERB_BENCH = 256,
};

struct param_value {
    double number; /* choices: the row; ints: whole */
    bool percent;  /* PARAM_AMOUNT */
    bool given;    /* set by a person, not by a default */
};

struct param_spec {
    const char *key;   /* option without its dashes, and the name in files */
    const char *label; /* on the screen: tr(label) */
    const char *unit;  /* after the value on the screen, "" for none */
    enum param_type type;
    double low, high; /* bounds of a number */
    struct param_value fallback;
    bool logarithmic;                      /* a slider moves in ratios */
    const char *(*choice_name)(int index); /* NULL past the end; choices only */
    const char *(*choice_label)(int index);
    const char *help; /* one sentence: --help and tooltip */
    unsigned verbs;
};

extern const struct param_spec param_table[PARAM_COUNT];

/* Rows of a choice's table. */
int param_choices(enum param_id id);

/* The parameter with this key, or PARAM_COUNT. */
enum param_id param_find(const char *key);

/*
 * Reads text as a value of the parameter. NL_INVALID, in one sentence that names the option, what
 * was found and what is expected.
 */
nl_status param_parse(enum param_id id, const char *text, struct param_value *value,
                      nl_error *error);

/* The value as a person would type it ("2%", "euclidean"); returns buffer. */
const char *param_format(enum param_id id, struct param_value value, char *buffer, size_t size);

/* Brought into the parameter's range, whole where it must be. */
struct param_value param_clamped(enum param_id id, struct param_value value);

#endif
