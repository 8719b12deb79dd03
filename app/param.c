/* SPDX-License-Identifier: MIT */
#include "param.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "colormap.h"
#include "doc.h"
#include "nonlocal/attention.h"
#include "nonlocal/block.h"
#include "nonlocal/dissim.h"
#include "nonlocal/embed.h"
#include "nonlocal/system.h"
#include "tr.h"
#include "ui/draw.h"

/* Choice accessors: one pair for each named table. */
#define CHOICES(prefix, table)                                                                     \
    static const char *prefix##_name(int i)                                                        \
    {                                                                                              \
        return (table)[i].name;                                                                    \
    }                                                                                              \
    static const char *prefix##_label(int i)                                                       \
    {                                                                                              \
        return (table)[i].label;                                                                   \
    }

struct named {
    const char *name, *label;
};

static const struct named perplexity_scopes[] = {
    {"row", TR_N("Each row")},
    {"picture", TR_N("Whole picture")},
    {NULL, NULL},
};

static const struct named scales[] = {
    {"none", TR_N("None (1)")},
    {"sqrt", TR_N("1/√l")},
    {NULL, NULL},
};

/* In the order of nl_normalizer. */
static const struct named normalizers[] = {
    {"sum", TR_N("Σ (softmax)")},
    {"count", TR_N("1/m (count)")},
    {NULL, NULL},
};

/* In the order of nl_self. */
static const struct named self_rules[] = {
    {"keep", TR_N("Keep")},
    {"max", TR_N("Largest other")},
    {"exclude", TR_N("Exclude")},
    {NULL, NULL},
};

/* In the order of enum row_scaling (doc.h). */
static const struct named row_scalings[] = {
    {"raw", TR_N("As they are")},
    {"zscore", TR_N("Z-score")},
    {"unit", TR_N("Unit length")},
    {NULL, NULL},
};

/* In the order of enum compared (doc.h). */
static const struct named compared[] = {
    {"rows", TR_N("Rows")},
    {"columns", TR_N("Columns")},
    {NULL, NULL},
};

/* In the order of enum shown_id (doc.h). */
static const struct named shown_matrices[] = {
    {"d", TR_N("Dissimilarity")},          {"s", TR_N("Scores")},          {"a", TR_N("Weights")},
    {"ivat", TR_N("Largest step (iVAT)")}, {"means", TR_N("Class means")}, {NULL, NULL},
};

/* In the order of enum draw_scale. */
static const struct named overlay_scales[] = {
    {"linear", TR_N("Linear")},
    {"sqrt", TR_N("Square root")},
    {"log", TR_N("Logarithm")},
    {NULL, NULL},
};

CHOICES(system, nl_systems)
CHOICES(similarity, nl_similarities)
CHOICES(scope, perplexity_scopes)
CHOICES(scale, scales)
CHOICES(normalizer, normalizers)
CHOICES(self, self_rules)
CHOICES(feature, nl_features)
CHOICES(norm, nl_norms)
CHOICES(embedding, nl_embeddings)
CHOICES(subsample, nl_subsamples)
CHOICES(layernorm, nl_layernorms)
CHOICES(row, row_scalings)
CHOICES(metric, nl_metrics)
CHOICES(of, compared)
CHOICES(order, nl_orders)
CHOICES(leaf, nl_leaf_orders)
CHOICES(shown, shown_matrices)
CHOICES(overlay, overlay_scales)

static const char *colormap_name(int i)
{
    return i < COLORMAP_COUNT ? colormap_get((enum colormap_id)i)->name : NULL;
}

static const char *colormap_label(int i)
{
    return i < COLORMAP_COUNT ? colormap_get((enum colormap_id)i)->label : NULL;
}

static const char *cpu_name(int i)
{
    return i < NL_CPU_COUNT ? nl_cpu_name((nl_cpu)i) : NULL;
}

enum {
    PICTURES = VERB_ATTEND | VERB_APPLY | VERB_WINDOW | VERB_RENDER,
    ATTENTION = PICTURES | VERB_BLOCK,
    FEATURES = PICTURES | VERB_DISSIM,
    VIEW = VERB_ATTEND | VERB_WINDOW | VERB_RENDER,
    EVERY = FEATURES | VERB_INFO | VERB_BLOCK | VERB_BENCH | VERB_DENOISE,
};

#define CHOOSE(prefix)                                                                             \
    .type = PARAM_CHOICE, .choice_name = prefix##_name, .choice_label = prefix##_label

const struct param_spec param_table[PARAM_COUNT] = {
    [PARAM_SYSTEM] = {"system", TR_N("System"), "", CHOOSE(system),
                      .fallback = {.number = NL_SYSTEM_NONLOCAL}, .verbs = ATTENTION,
                      .help =
                          TR_N("Where the defaults of similarity, scale, self weight, features, "
                               "patch and stride come from.")},
    [PARAM_SIMILARITY] = {"similarity", TR_N("Similarity"), "", CHOOSE(similarity),
                          .fallback = {.number = NL_EUCLIDEAN}, .verbs = ATTENTION,
                          .help = TR_N("How alike a query and a key are: s(i, j), before "
                                       "normalising.")},
    [PARAM_NORMALIZE] = {"normalize", TR_N("Normaliser"), "", CHOOSE(normalizer),
                         .fallback = {.number = NL_NORMALIZE_SUM}, .verbs = ATTENTION,
                         .help = TR_N("What similarities are divided by: their sum, or the number "
                                      "of keys. Default: the sum for exponentials, the count for "
                                      "dot and concat.")},
    [PARAM_PERPLEXITY] = {"perplexity",
                          TR_N("Perplexity"),
                          "",
                          PARAM_AMOUNT,
                          0,
                          1e6,
                          {.number = 2, .percent = true},
                          true,
                          .verbs = ATTENTION,
                          .help = TR_N("Keys that a query reads, effectively: the width is found "
                                       "for it. A number of keys, a share such as 2%, or 0 for "
                                       "off.")},
    [PARAM_PERPLEXITY_PER] = {"perplexity-per", TR_N("Width for"), "", CHOOSE(scope),
                              .fallback = {.number = 0}, .verbs = ATTENTION,
                              .help = TR_N("Find the width for each row, or one for the whole "
                                           "picture (the median over 64 rows).")},
    [PARAM_TEMPERATURE] = {"temperature",
                           TR_N("Temperature"),
                           "",
                           PARAM_REAL,
                           1e-3,
                           1e3,
                           {.number = 1},
                           true,
                           .verbs = ATTENTION,
                           .help = TR_N("Divides the exponent: low is sharp, high is flat. Default "
                                        "1, for cosine 0.1.")},
    [PARAM_H] = {"h",
                 TR_N("Filter width h"),
                 "",
                 PARAM_REAL,
                 1e-4,
                 100,
                 {.number = 0.1},
                 true,
                 .verbs = ATTENTION | VERB_DENOISE,
                 .help = TR_N("Width of the Euclidean similarity, in units of the features; "
                              "perplexity must be off.")},
    [PARAM_SIGMA] = {"sigma",
                     TR_N("Noise sigma"),
                     "",
                     PARAM_REAL,
                     0,
                     10,
                     {.number = 0},
                     .verbs = ATTENTION | VERB_DENOISE,
                     .help = TR_N("Standard deviation of the noise: 2 sigma squared is taken off "
                                  "every squared distance.")},
    [PARAM_SCALE] = {"scale", TR_N("Scale"), "", CHOOSE(scale), .fallback = {.number = 0},
                     .verbs = ATTENTION,
                     .help = TR_N("Factor of the embedded dot product: none (Wang 2018) or one "
                                  "over the root of its dimension (Transformer).")},
    [PARAM_LAMBDA] = {"lambda",
                      TR_N("Lambda"),
                      "",
                      PARAM_REAL,
                      0,
                      10,
                      {.number = 0},
                      .verbs = ATTENTION,
                      .help = TR_N("Takes lambda times half the key's squared length off every "
                                   "score: 0 is the dot product, 1 the Euclidean distance.")},
    [PARAM_SELF] = {"self", TR_N("Self weight"), "", CHOOSE(self),
                    .fallback = {.number = NL_SELF_MAX}, .verbs = ATTENTION | VERB_DENOISE,
                    .help = TR_N("What the query's own patch counts: as computed, as much as the "
                                 "most similar other one (Buades), or nothing.")},
    [PARAM_SEARCH] = {"search",
                      TR_N("Search window"),
                      "px",
                      PARAM_INT,
                      0,
                      1023,
                      {.number = 0},
                      .verbs = VERB_ATTEND | VERB_APPLY | VERB_BLOCK | VERB_DENOISE,
                      .help = TR_N("Side of the square of candidates around a pixel or cell, odd; "
                                   "0 is everywhere.")},
    [PARAM_FEATURES] = {"features", TR_N("Features"), "", CHOOSE(feature),
                        .fallback = {.number = NL_FEATURE_LAB_GRADIENT}, .verbs = FEATURES,
                        .help = TR_N("What describes a patch of the picture.")},
    [PARAM_PATCH] = {"patch",
                     TR_N("Patch"),
                     "px",
                     PARAM_INT,
                     1,
                     64,
                     {.number = 12},
                     .verbs = FEATURES | VERB_DENOISE,
                     .help = TR_N("Side of a patch in pixels.")},
    [PARAM_STRIDE] = {"stride",
                      TR_N("Stride"),
                      "px",
                      PARAM_INT,
                      1,
                      64,
                      {.number = 4},
                      .verbs = FEATURES,
                      .help = TR_N("Pixels from one patch to the next.")},
    [PARAM_FEATURE_NORM] = {"feature-norm", TR_N("Normalise"), "", CHOOSE(norm),
                            .fallback = {.number = NL_NORM_NONE}, .verbs = FEATURES,
                            .help = TR_N("Rows to mean zero or unit length, or columns to "
                                         "z-scores.")},
    [PARAM_POSITION] = {"position",
                        TR_N("Position"),
                        "",
                        PARAM_REAL,
                        0,
                        10,
                        {.number = 0},
                        .verbs = FEATURES,
                        .help = TR_N("Appends (x, y) times this factor to the features; 0 is "
                                     "off.")},
    [PARAM_MAX_SIDE] = {"max-side",
                        TR_N("Longer side"),
                        "px",
                        PARAM_INT,
                        1,
                        4096,
                        {.number = 256},
                        true,
                        .verbs = FEATURES,
                        .help = TR_N("Larger pictures are reduced so that their longer side has "
                                     "this many pixels.")},
    [PARAM_EMBED] = {"embed", TR_N("Weights"), "", CHOOSE(embedding),
                     .fallback = {.number = NL_EMBED_PCA}, .verbs = ATTENTION,
                     .help = TR_N("Where the maps theta and phi of the embedded similarities come "
                                  "from.")},
    [PARAM_DIM] = {"dim",
                   TR_N("Dimension"),
                   "",
                   PARAM_INT,
                   1,
                   65536,
                   {.number = 0},
                   true,
                   .verbs = ATTENTION,
                   .help = TR_N("Embedded features. Default: half of the features, rounded up; for "
                                "sagan an eighth, for transformer all.")},
    [PARAM_SEED] = {"seed",
                    TR_N("Seed"),
                    "",
                    PARAM_INT,
                    0,
                    4294967295.0,
                    {.number = 1},
                    .verbs = ATTENTION,
                    .help = TR_N("Of the random weights.")},
    [PARAM_SUBSAMPLE] = {"subsample", TR_N("Pooling"), "", CHOOSE(subsample),
                         .fallback = {.number = NL_SUBSAMPLE_NONE}, .verbs = ATTENTION,
                         .help = TR_N("Max-pools keys and values 2 × 2: phi(x) and g(x) (paper), "
                                      "or x before them (official code). Default none, for sagan "
                                      "paper.")},
    [PARAM_HEADS] = {"heads",
                     TR_N("Heads"),
                     "",
                     PARAM_INT,
                     1,
                     1024,
                     {.number = 1},
                     .verbs = VERB_BLOCK,
                     .help = TR_N("Heads of the transformer; they share the columns evenly.")},
    [PARAM_LAYERNORM] = {"layernorm", TR_N("LayerNorm"), "", CHOOSE(layernorm),
                         .fallback = {.number = NL_LAYERNORM_POST}, .verbs = VERB_BLOCK,
                         .help = TR_N("Of the transformer: none, before Q, K and V, or after the "
                                      "residual.")},
    [PARAM_GAMMA] = {"gamma",
                     TR_N("Gamma"),
                     "",
                     PARAM_REAL,
                     -1000,
                     1000,
                     {.number = 0},
                     .verbs = VERB_BLOCK,
                     .help = TR_N("Factor of SAGAN's answer, learned from 0 on; the one in the "
                                  "weights wins.")},
    [PARAM_ROWS] = {"rows", TR_N("Rows"), "", CHOOSE(row), .fallback = {.number = 0},
                    .verbs = FEATURES,
                    .help = TR_N("Rows of a table as they are, with columns as z-scores, or each "
                                 "of unit length.")},
    [PARAM_METRIC] = {"metric", TR_N("Metric"), "", CHOOSE(metric),
                      .fallback = {.number = NL_METRIC_EUCLIDEAN},
                      .verbs = VERB_BENCH | VERB_DISSIM | VERB_WINDOW | VERB_RENDER,
                      .help = TR_N("How unlike two rows are: D(i, j).")},
    [PARAM_BANDWIDTH] = {"bandwidth",
                         TR_N("Bandwidth"),
                         "",
                         PARAM_REAL,
                         0,
                         1e9,
                         {.number = 0},
                         true,
                         .verbs = VERB_DISSIM | VERB_WINDOW | VERB_RENDER,
                         .help = TR_N("Of the Gaussian kernel, in units of the distance; 0 takes "
                                      "the median distance.")},
    [PARAM_OF] = {"of", TR_N("Compare"), "", CHOOSE(of), .fallback = {.number = COMPARE_ROWS},
                  .verbs = VERB_DISSIM,
                  .help = TR_N("Rows by the metric, or columns by 1 - |correlation|.")},
    [PARAM_ORDER] = {"order", TR_N("Order"), "", CHOOSE(order),
                     .fallback = {.number = NL_ORDER_INPUT},
                     .verbs = VERB_DISSIM | VERB_WINDOW | VERB_RENDER,
                     .help = TR_N("In which order the matrix shows its rows.")},
    [PARAM_LEAF] = {"leaf", TR_N("Leaves"), "", CHOOSE(leaf),
                    .fallback = {.number = NL_LEAF_OPTIMAL},
                    .verbs = VERB_DISSIM | VERB_WINDOW | VERB_RENDER,
                    .help = TR_N("How a tree is read: the branch with the lower row first, or the "
                                 "shortest path that it allows (up to 2,000 rows).")},
    [PARAM_SHOWN] = {"show", TR_N("Matrix"), "", CHOOSE(shown),
                     .fallback = {.number = SHOWN_DISSIM}, .verbs = VERB_WINDOW | VERB_RENDER,
                     .help = TR_N("What the matrix shows, always in the same order: "
                                  "dissimilarities, scores, weights, the largest step on the way "
                                  "from one row to another, or the means over classes.")},
    [PARAM_COLORMAP] = {"colormap", TR_N("Colours"), "", CHOOSE(colormap),
                        .fallback = {.number = COLORMAP_INFERNO}, .verbs = VIEW,
                        .help = TR_N("Colours of the weights; all but the signed one stay in order "
                                     "when printed grey.")},
    [PARAM_OVERLAY] = {"overlay", TR_N("Shown as"), "", CHOOSE(overlay),
                       .fallback = {.number = DRAW_SCALE_SQRT}, .verbs = VIEW,
                       .help = TR_N("How a weight becomes a colour: its share of the row's "
                                    "largest, the root or the logarithm of it.")},
    [PARAM_OPACITY] = {"opacity",
                       TR_N("Opacity"),
                       "%",
                       PARAM_REAL,
                       0,
                       100,
                       {.number = 85},
                       .verbs = VIEW,
                       .help = TR_N("Of the hottest weight over the picture, in percent.")},
    [PARAM_CPU] = {"cpu", TR_N("Instruction set"), "", PARAM_CHOICE, .choice_name = cpu_name,
                   .choice_label = cpu_name, .fallback = {.number = NL_CPU_AUTO}, .verbs = EVERY,
                   .help = TR_N("Which kernels compute; auto takes the fastest.")},
    [PARAM_THREADS] = {"threads",
                       TR_N("Threads"),
                       "",
                       PARAM_INT,
                       0,
                       256,
                       {.number = 0},
                       .verbs = EVERY,
                       .help = TR_N("Threads that compute; 0 takes one a processor.")},
};

int param_choices(enum param_id id)
{
    int count = 0;
    while (param_table[id].choice_name(count))
        count++;
    return count;
}

enum param_id param_find(const char *key)
{
    int id = 0;
    while (id < PARAM_COUNT && strcmp(param_table[id].key, key) != 0)
        id++;
    return (enum param_id)id;
}

static nl_status parse_choice(enum param_id id, const char *text, struct param_value *value,
                              nl_error *error)
{
    const struct param_spec *spec = &param_table[id];
    char list[300] = "";
    size_t used = 0;
    for (int i = 0; spec->choice_name(i); i++) {
        if (strcmp(spec->choice_name(i), text) == 0) {
            *value = (struct param_value){.number = i, .given = true};
            return NL_OK;
        }
        int wrote =
            snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", spec->choice_name(i));
        used += wrote > 0 && (size_t)wrote < sizeof list - used ? (size_t)wrote : 0;
    }
    return nl_fail(error, NL_INVALID, "--%s: '%.60s' is not one of %s", spec->key, text, list);
}

static nl_status parse_number(enum param_id id, const char *text, struct param_value *value,
                              nl_error *error)
{
    const struct param_spec *spec = &param_table[id];
    const char *kind = spec->type == PARAM_INT ? "a whole number" : "a number";
    char *end = NULL;
    double number = strtod(text, &end);
    bool percent = spec->type == PARAM_AMOUNT && end != text && *end == '%';
    if (percent)
        end++;
    bool plain = *text && strspn(text, "+-.0123456789eE%") == strlen(text);
    if (!plain || end == text || *end || !isfinite(number) ||
        (spec->type == PARAM_INT && number != floor(number)))
        return nl_fail(error, NL_INVALID, "--%s: '%.60s' is not %s%s", spec->key, text, kind,
                       spec->type == PARAM_AMOUNT ? " or a percentage" : "");
    double high = percent ? 100 : spec->high;
    if (number < spec->low || number > high)
        return nl_fail(error, NL_INVALID, "--%s: %.60s is outside %.10g to %.10g%s", spec->key,
                       text, spec->low, high, percent ? " %" : "");
    *value = (struct param_value){number, percent, true};
    return NL_OK;
}

nl_status param_parse(enum param_id id, const char *text, struct param_value *value,
                      nl_error *error)
{
    if (param_table[id].type == PARAM_CHOICE)
        return parse_choice(id, text, value, error);
    return parse_number(id, text, value, error);
}

const char *param_format(enum param_id id, struct param_value value, char *buffer, size_t size)
{
    const struct param_spec *spec = &param_table[id];
    if (spec->type == PARAM_CHOICE)
        snprintf(buffer, size, "%s", spec->choice_name((int)value.number));
    else
        snprintf(buffer, size, "%.*g%s", spec->type == PARAM_INT ? 10 : 6, value.number,
                 value.percent ? "%" : "");
    return buffer;
}

struct param_value param_clamped(enum param_id id, struct param_value value)
{
    const struct param_spec *spec = &param_table[id];
    double high = value.percent ? 100 : spec->high;
    if (spec->type == PARAM_CHOICE)
        high = param_choices(id) - 1;
    if (spec->type == PARAM_CHOICE || spec->type == PARAM_INT)
        value.number = floor(value.number + 0.5);
    value.number = value.number >= spec->low ? fmin(value.number, high) : spec->low;
    return value;
}
