/* SPDX-License-Identifier: MIT */
/*
 * The document: everything that a person chose, and nothing that is computed from it. Plain and of
 * fixed size, so that an undo step or a job's snapshot is an assignment.
 */
#ifndef NONLOCAL_APP_DOC_H
#define NONLOCAL_APP_DOC_H

#include "param.h"

enum { DOC_PATH = 4096, DOC_QUERIES = 16, DOC_COLUMNS = 256 };

enum row_scaling { ROWS_RAW, ROWS_ZSCORE, ROWS_UNIT };
enum compared { COMPARE_ROWS, COMPARE_COLUMNS };
/* What the matrix shows. */
enum shown_id {
    SHOWN_DISSIM,  /* D */
    SHOWN_SCORES,  /* S, the exponents or raw scores of the attention */
    SHOWN_WEIGHTS, /* A */
    SHOWN_IVAT,    /* D as the largest step of the best way from i to j */
    SHOWN_MEANS,   /* D below the diagonal, means over pairs of classes above it */
    SHOWN_COUNT
};

/* What a source is; parameters ask, because some make sense only for one kind. */
enum source_kind { SOURCE_NONE, SOURCE_PICTURE, SOURCE_TABLE, SOURCE_ARRAY };

struct doc_query {
    bool by_row; /* row counts; otherwise x, y */
    size_t row;  /* from 0 */
    double x, y; /* pixels of the upright original picture */
};

struct doc {
    struct param_value params[PARAM_COUNT];
    char source[DOC_PATH];  /* a file or a built-in such as @sample; "" = none */
    uint64_t source_key;    /* one for each time something was opened; 0 = nothing yet */
    char weights[DOC_PATH]; /* file of theta, phi, ...; "" = those of --embed */
    struct doc_query queries[DOC_QUERIES];
    int query_count;
    double patch_gaussian; /* ω of patches: a Gaussian of this deviation in pixels; 0 = flat */
    bool plain;            /* the papers' defaults instead of those that show a picture well */
    bool ready;            /* the source, a table or an array, is a dissimilarity matrix itself */
    uint64_t left_out[DOC_COLUMNS / 64]; /* bits of the table's columns that are no features */
};

/* Column k of a table is a feature; those past DOC_COLUMNS always are. */
bool doc_uses_column(const struct doc *doc, size_t k);

/* Every parameter at its default, no source, no query. */
void doc_init(struct doc *doc);
/* The same with the defaults of whole blocks: embedded-gaussian, no perplexity, self kept. */
void doc_init_plain(struct doc *doc);

/* Sets a parameter (clamped, marked as given). The only way in for panels and verbs. */
void param_set(struct doc *doc, enum param_id id, struct param_value value);
/* Back to the default. */
void param_reset(struct doc *doc, enum param_id id);
/* The value that param_reset would bring: it hangs on system and similarity. */
struct param_value param_default(const struct doc *doc, enum param_id id);

/*
 * A person chose another system: its own similarity, scale, self rule, features, patch and stride
 * come back, even where others had been chosen.
 */
void doc_switch_system(struct doc *doc, int system);

static inline double param_number(const struct doc *doc, enum param_id id)
{
    return doc->params[id].number;
}

static inline int param_choice(const struct doc *doc, enum param_id id)
{
    return (int)doc->params[id].number;
}

/*
 * Why the parameter has no effect on what this document shows of a source of this kind, as the
 * second half of a sentence ("with --similarity cosine"); NULL when it has one. buffer holds it.
 */
const char *param_idle(const struct doc *doc, enum param_id id, enum source_kind kind, char *buffer,
                       size_t size);
/* The same for weights, and for patch_gaussian. */
const char *weights_idle(const struct doc *doc, char *buffer, size_t size);
const char *patch_weight_idle(const struct doc *doc, enum source_kind kind, char *buffer,
                              size_t size);

#endif
