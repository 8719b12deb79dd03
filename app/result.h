/* SPDX-License-Identifier: MIT */
/*
 * What the worker computed, as immutable parts with keys. A part whose key has not changed is the
 * same part in the next result: it is shared by counting references, never copied or written again.
 */
#ifndef NONLOCAL_APP_RESULT_H
#define NONLOCAL_APP_RESULT_H

#include <stdatomic.h>

#include "doc.h"
#include "source.h"
#include "stage.h"

/* Head of every shared part. */
struct part {
    atomic_int references;
    uint64_t key;
    void (*destroy)(struct part *part);
};

/* One more owner; NULL stays NULL. */
void *part_hold(void *part);
/* One owner less; sets the pointer to NULL. Pass the address of a pointer to a part. */
void part_release(void *pointer_to_part);

struct source_part {
    struct part part;
    char path[DOC_PATH]; /* what the document calls it */
    struct source source;
    uint8_t *rgba; /* pictures: for the screen, longer side at most SHOWN_SIDE */
    int width, height;
};

struct features_part {
    struct part part;
    struct stage_features features;
};

struct attention_part {
    struct part part;
    struct features_part *features; /* held: the engine borrows its queries */
    struct stage_attention attention;
};

struct dissim_part {
    struct part part;
    uint64_t features_key;
    nl_matrix d; /* empty when refused */
    float largest;
    size_t largest_i, largest_j;
    char refused[200]; /* why there is no matrix, "" = there is one */
};

struct order_part {
    struct part part;
    struct dissim_part *dissim; /* held */
    size_t *order;              /* n */
    float *permutation;         /* the same as float, for the texture */
    float *position;            /* inverse: position of each row */
    nl_matrix overview;         /* D in this order, averaged; empty while n is small */
    double path, path_input;
    size_t class_runs; /* 0 without labels */
    unsigned notes;    /* NL_ORDER_NOTE_ */
};

enum { SHOWN_SIDE = 1024, DISSIM_MAX = 4096, OVERVIEW_SIDE = 1024 };

struct result {
    struct source_part *source;
    struct features_part *features;
    struct attention_part *attention;
    struct dissim_part *dissim;
    struct order_part *order;
    nl_error error;        /* of the first stage that failed; status NL_OK = none */
    uint64_t error_key;    /* its source, attention or order key; 0 = none */
    uint64_t failed_order; /* order key that failed, by itself or with its features; 0 = none */
    double milliseconds;   /* features to attention */
    double dissim_ms;
};

void result_hold(struct result *to, const struct result *from); /* to is empty */
void result_release(struct result *result);

/* Keys of the stages that a document asks for, each chained to the one before. */
struct stage_keys {
    uint64_t source, features, attention, dissim, order;
};
struct stage_keys stage_keys(const struct doc *doc, uint64_t source_key, enum source_kind kind);

/* Make parts; NULL with an error. The part has one owner. */
struct source_part *source_part_load(const char *path, uint64_t key, nl_error *error);
struct features_part *features_part_make(const struct doc *doc, const struct source_part *source,
                                         uint64_t key, const nl_exec *exec, nl_error *error);
struct attention_part *attention_part_make(const struct doc *doc, struct features_part *features,
                                           uint64_t key, const nl_exec *exec, nl_error *error);
struct dissim_part *dissim_part_make(const struct doc *doc, const struct features_part *features,
                                     uint64_t key, const nl_exec *exec, nl_error *error);
struct order_part *order_part_make(const struct doc *doc, const struct source_part *source,
                                   const struct features_part *features, struct dissim_part *dissim,
                                   uint64_t key, const nl_exec *exec, nl_error *error);

#endif
