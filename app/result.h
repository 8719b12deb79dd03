/* SPDX-License-Identifier: MIT */
/*
 * What the worker computed, as immutable parts with keys. A part whose key has not changed is the
 * same part in the next result: it is shared by counting references, never copied or written again.
 */
#ifndef NONLOCAL_APP_RESULT_H
#define NONLOCAL_APP_RESULT_H

#include <stdatomic.h>

#include "dendrogram.h"
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
    size_t n;
    bool given; /* the source was D itself */
    nl_metric_id metric;
    nl_matrix d;      /* empty when n > DISSIM_MAX: then only means of it are computed, in blocks */
    double bandwidth; /* that was used; 0 = none */
    float largest;
    size_t largest_i, largest_j;
    char refused[240]; /* why there is no matrix at all, "" = there is one */
};

struct order_part {
    struct part part;
    struct dissim_part *dissim; /* held */
    nl_order_id id;             /* the one taken: not always the document's, see notes */
    size_t n;
    size_t *order;      /* n */
    float *permutation; /* the same as float, for the texture */
    float *position;    /* inverse: position of each row */
    struct dendrogram dendrogram;
    double path, path_input;             /* 0 where D is not held whole */
    size_t class_runs, class_runs_input; /* 0 without labels */
    unsigned notes;                      /* NL_ORDER_NOTE_ and ORDER_NOTE_ */
};

enum { ORDER_NOTE_NO_MATRIX = 1u << 16 }; /* the document's order needs D whole: pca was taken */

/* The numbers that the panel shows, in file order; only those of class means know the order. */
struct cells_part {
    struct part part;
    struct dissim_part *dissim; /* held */
    enum shown_id shown;
    nl_similarity_id similarity; /* of scores and weights */
    nl_matrix own;               /* all but D itself */
    float low, high;             /* of the bar */
    float from;                  /* place on the bar where the map begins: below it lie few */
    bool is_signed;              /* zero is in the middle of the bar */
    char refused[240];           /* why they are not there, "" = they are */
};

/* The same in the order shown, averaged; empty while n is small. */
struct overview_part {
    struct part part;
    nl_matrix mean;
    /* Where D is not held whole: */
    nl_matrix largest; /* of what each mean is over */
    float high;        /* the largest of all */
    double bandwidth;  /* that was used; 0 = none */
    double bytes;      /* that it took */
    size_t step;       /* every step-th row in the order shown was compared */
};

/* How good an order is. */
struct quality_part {
    struct part part;
    uint64_t dissim_key, order_key;
    nl_quality chosen, input;
    double silhouette; /* NaN without classes */
};

enum {
    SHOWN_SIDE = 1024,
    DISSIM_MAX = NL_DISSIM_WHOLE_ROWS,
    BLOCKWISE_MAX = 1 << 19,
    OVERVIEW_SIDE = 1024
};

/* Keys of the stages that a document asks for, each chained to those that it needs. */
struct stage_keys {
    uint64_t source, features, attention, dissim, order, cells, overview, quality;
};
struct stage_keys stage_keys(const struct doc *doc, uint64_t source_key, enum source_kind kind);

struct result {
    struct source_part *source;
    struct features_part *features;
    struct attention_part *attention;
    struct dissim_part *dissim;
    struct order_part *order;
    struct cells_part *cells;
    struct overview_part *overview;
    struct quality_part *quality;
    nl_error error;           /* of the first stage that failed; status NL_OK = none */
    uint64_t error_key;       /* that stage's key; 0 = none */
    struct stage_keys failed; /* keys of parts that cannot be had; 0 = none */
    double milliseconds;      /* features to attention */
    double dissim_ms;
};

void result_hold(struct result *to, const struct result *from); /* to is empty */
void result_release(struct result *result);

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
/* attention may be NULL: then neither scores nor weights can be shown, in words. */
struct cells_part *cells_part_make(const struct doc *doc, const struct source_part *source,
                                   const struct attention_part *attention,
                                   const struct order_part *order, uint64_t key,
                                   const nl_exec *exec, nl_error *error);
struct overview_part *overview_part_make(const struct doc *doc,
                                         const struct features_part *features,
                                         const struct cells_part *cells,
                                         const struct order_part *order, uint64_t key,
                                         const nl_exec *exec, nl_error *error);
/* before: of another order, maybe of the same D; may be NULL. */
struct quality_part *quality_part_make(const struct source_part *source,
                                       const struct order_part *order,
                                       const struct quality_part *before, uint64_t key,
                                       const nl_exec *exec, nl_error *error);

/* The n × n numbers shown, in file order; empty where they are not held whole. */
const nl_matrix *cells_matrix(const struct cells_part *cells);
/* Their key: that of the numbers, not of what was chosen. */
uint64_t cells_key(const struct cells_part *cells);

/* For the makers: a part with one owner, all its fields zero. */
void *part_new(size_t size, uint64_t key, void (*destroy)(struct part *), nl_error *error);

#endif
