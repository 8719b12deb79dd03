/* SPDX-License-Identifier: MIT */
#include "doc.h"

#include <stdio.h>

#include "nonlocal/attention.h"
#include "nonlocal/block.h"
#include "nonlocal/dissim.h"
#include "nonlocal/embed.h"
#include "nonlocal/features.h"
#include "nonlocal/system.h"

/* A width can be found for exponentials over their sum. */
static bool takes_perplexity(const struct doc *doc)
{
    return nl_similarities[param_choice(doc, PARAM_SIMILARITY)].exponential &&
           param_choice(doc, PARAM_NORMALIZE) == NL_NORMALIZE_SUM;
}

static void default_number(struct doc *doc, enum param_id id, double number)
{
    if (!doc->params[id].given)
        doc->params[id] = (struct param_value){.number = number};
}

/*
 * Defaults that hang on another parameter. A default never overrides what was given: a width that
 * was given switches the default perplexity off.
 */
static void derive_defaults(struct doc *doc)
{
    struct param_value *params = doc->params;
    const nl_system *system = &nl_systems[param_choice(doc, PARAM_SYSTEM)];
    nl_block_params block;
    nl_block_params_init(&block, (nl_system_id)param_choice(doc, PARAM_SYSTEM));
    default_number(doc, PARAM_SIMILARITY,
                   doc->plain ? block.attention.similarity : system->similarity);
    default_number(doc, PARAM_SCALE, system->scale_sqrt);
    default_number(doc, PARAM_SELF, doc->plain ? block.attention.self : system->self);
    default_number(doc, PARAM_SUBSAMPLE, block.subsample);
    default_number(doc, PARAM_LAYERNORM, block.layernorm);
    default_number(doc, PARAM_FEATURES, system->features);
    default_number(doc, PARAM_PATCH, (double)system->patch);
    default_number(doc, PARAM_STRIDE, (double)system->stride);
    const int similarity = param_choice(doc, PARAM_SIMILARITY);
    default_number(doc, PARAM_NORMALIZE, nl_similarities[similarity].normalizer);
    default_number(doc, PARAM_TEMPERATURE, nl_similarities[similarity].temperature);
    if (!params[PARAM_PERPLEXITY].given) {
        bool width_given =
            similarity == NL_EUCLIDEAN ? params[PARAM_H].given : params[PARAM_TEMPERATURE].given;
        params[PARAM_PERPLEXITY] = param_table[PARAM_PERPLEXITY].fallback;
        if (width_given || doc->plain || !takes_perplexity(doc))
            params[PARAM_PERPLEXITY] = (struct param_value){0};
    }
}

void doc_init(struct doc *doc)
{
    *doc = (struct doc){0};
    for (int id = 0; id < PARAM_COUNT; id++)
        doc->params[id] = param_table[id].fallback;
    derive_defaults(doc);
}

void doc_init_plain(struct doc *doc)
{
    doc_init(doc);
    doc->plain = true;
    derive_defaults(doc);
}

void param_set(struct doc *doc, enum param_id id, struct param_value value)
{
    doc->params[id] = param_clamped(id, value);
    doc->params[id].given = true;
    derive_defaults(doc);
}

void param_reset(struct doc *doc, enum param_id id)
{
    doc->params[id] = param_table[id].fallback;
    derive_defaults(doc);
}

struct param_value param_default(const struct doc *doc, enum param_id id)
{
    struct doc copy = *doc;
    param_reset(&copy, id);
    return copy.params[id];
}

static const char *idle_with(enum param_id reason, const struct doc *doc, char *buffer, size_t size)
{
    char value[64];
    snprintf(buffer, size, "with --%s %s", param_table[reason].key,
             param_format(reason, doc->params[reason], value, sizeof value));
    return buffer;
}

/* Keys are pooled: none of them is a query's own. */
static bool pools(const struct doc *doc)
{
    const int system = param_choice(doc, PARAM_SYSTEM);
    return (system == NL_SYSTEM_NONLOCAL || system == NL_SYSTEM_SAGAN) &&
           param_choice(doc, PARAM_SUBSAMPLE) != NL_SUBSAMPLE_NONE;
}

/* The conventions that belong to some systems only. */
static const char *system_idle(const struct doc *doc, enum param_id id, char *buffer, size_t size)
{
    const int system = param_choice(doc, PARAM_SYSTEM);
    bool fits;
    if (id == PARAM_SUBSAMPLE)
        fits = system == NL_SYSTEM_NONLOCAL || system == NL_SYSTEM_SAGAN;
    else if (id == PARAM_GAMMA)
        fits = system == NL_SYSTEM_SAGAN;
    else
        fits = system == NL_SYSTEM_TRANSFORMER;
    return fits ? NULL : idle_with(PARAM_SYSTEM, doc, buffer, size);
}

/* The parameters of the similarity itself. */
static const char *similarity_idle(const struct doc *doc, enum param_id id, char *buffer,
                                   size_t size)
{
    const int choice = param_choice(doc, PARAM_SIMILARITY);
    const nl_similarity *similarity = &nl_similarities[choice];
    const bool perplexity = param_number(doc, PARAM_PERPLEXITY) > 0;
    bool fits = true;
    switch (id) {
    case PARAM_PERPLEXITY:
        if (similarity->exponential && !takes_perplexity(doc))
            return idle_with(PARAM_NORMALIZE, doc, buffer, size);
        fits = similarity->exponential;
        break;
    case PARAM_PERPLEXITY_PER:
        fits = similarity->exponential;
        if (fits && !perplexity)
            return idle_with(PARAM_PERPLEXITY, doc, buffer, size);
        break;
    case PARAM_TEMPERATURE:
    case PARAM_H:
        fits = id == PARAM_H ? choice == NL_EUCLIDEAN : similarity->exponential;
        if (fits && perplexity)
            return idle_with(PARAM_PERPLEXITY, doc, buffer, size);
        break;
    case PARAM_SIGMA:
        fits = choice == NL_EUCLIDEAN;
        break;
    case PARAM_LAMBDA:
        fits = choice == NL_GAUSSIAN || choice == NL_EMBEDDED_GAUSSIAN;
        break;
    case PARAM_SCALE:
        fits = choice == NL_EMBEDDED_GAUSSIAN || choice == NL_DOT;
        if (fits && param_choice(doc, PARAM_SYSTEM) == NL_SYSTEM_TRANSFORMER)
            return idle_with(PARAM_SYSTEM, doc, buffer, size); /* always 1/√l */
        if (fits && perplexity)
            return idle_with(PARAM_PERPLEXITY, doc, buffer, size);
        break;
    default:
        fits = similarity->embedded; /* the embedding's */
        break;
    }
    return fits ? NULL : idle_with(PARAM_SIMILARITY, doc, buffer, size);
}

/* What makes and sorts the dissimilarity matrix. */
static const char *dissim_idle(const struct doc *doc, enum param_id id, char *buffer, size_t size)
{
    const bool columns = param_choice(doc, PARAM_OF) == COMPARE_COLUMNS;
    if (id == PARAM_LEAF)
        return nl_orders[param_choice(doc, PARAM_ORDER)].tree
                   ? NULL
                   : idle_with(PARAM_ORDER, doc, buffer, size);
    if (doc->ready)
        return "with --matrix";
    if (columns && id != PARAM_OF)
        return idle_with(PARAM_OF, doc, buffer, size);
    return id == PARAM_BANDWIDTH && param_choice(doc, PARAM_METRIC) != NL_METRIC_GAUSSIAN
               ? idle_with(PARAM_METRIC, doc, buffer, size)
               : NULL;
}

const char *param_idle(const struct doc *doc, enum param_id id, enum source_kind kind, char *buffer,
                       size_t size)
{
    const int embed = param_choice(doc, PARAM_EMBED);
    const int features = param_choice(doc, PARAM_FEATURES);
    const char *reason;
    if (doc->weights[0] && (id == PARAM_EMBED || id == PARAM_DIM || id == PARAM_SEED))
        return "with --weights";
    switch (id) {
    case PARAM_SEARCH:
        if (kind == SOURCE_TABLE)
            return "on a table";
        /* fall through */
    case PARAM_SELF:
        return kind == SOURCE_TABLE || !pools(doc) ? NULL
                                                   : idle_with(PARAM_SUBSAMPLE, doc, buffer, size);
    case PARAM_PERPLEXITY:
    case PARAM_PERPLEXITY_PER:
    case PARAM_TEMPERATURE:
    case PARAM_H:
    case PARAM_SIGMA:
    case PARAM_SCALE:
    case PARAM_LAMBDA:
    case PARAM_EMBED:
        if (doc->plain && id == PARAM_EMBED)
            return param_choice(doc, PARAM_SYSTEM) == NL_SYSTEM_NLM
                       ? idle_with(PARAM_SYSTEM, doc, buffer, size)
                       : NULL;
        return similarity_idle(doc, id, buffer, size);
    case PARAM_SUBSAMPLE:
        if (kind == SOURCE_TABLE)
            return "on a table";
        /* fall through */
    case PARAM_HEADS:
    case PARAM_LAYERNORM:
    case PARAM_GAMMA:
        return system_idle(doc, id, buffer, size);
    case PARAM_DIM:
    case PARAM_SEED:
        if (doc->plain && id == PARAM_DIM && embed != NL_EMBED_IDENTITY)
            return NULL; /* values are embedded whatever the similarity */
        if (doc->plain && id == PARAM_SEED && (embed == NL_EMBED_RANDOM || embed == NL_EMBED_ZERO))
            return NULL;
        reason = similarity_idle(doc, PARAM_EMBED, buffer, size);
        if (!reason && (id == PARAM_DIM ? embed == NL_EMBED_IDENTITY
                                        : embed != NL_EMBED_RANDOM && embed != NL_EMBED_ZERO &&
                                              param_choice(doc, PARAM_SIMILARITY) != NL_CONCAT))
            reason = idle_with(PARAM_EMBED, doc, buffer, size);
        return reason;
    case PARAM_FEATURES:
    case PARAM_PATCH:
    case PARAM_STRIDE:
    case PARAM_FEATURE_NORM:
    case PARAM_MAX_SIDE:
    case PARAM_POSITION:
        if (kind == SOURCE_TABLE || kind == SOURCE_ARRAY)
            return kind == SOURCE_TABLE ? "on a table" : "on an array of features";
        return id == PARAM_POSITION && features == NL_FEATURE_POSITION
                   ? idle_with(PARAM_FEATURES, doc, buffer, size)
                   : NULL;
    case PARAM_METRIC:
    case PARAM_BANDWIDTH:
    case PARAM_OF:
    case PARAM_LEAF:
        return dissim_idle(doc, id, buffer, size);
    case PARAM_ROWS:
        if (doc->ready)
            return "with --matrix";
        return kind == SOURCE_PICTURE ? "on a picture; see --feature-norm" : NULL;
    default:
        return NULL;
    }
}

const char *weights_idle(const struct doc *doc, char *buffer, size_t size)
{
    if (doc->plain)
        return param_choice(doc, PARAM_SYSTEM) == NL_SYSTEM_NLM
                   ? idle_with(PARAM_SYSTEM, doc, buffer, size)
                   : NULL;
    return nl_similarities[param_choice(doc, PARAM_SIMILARITY)].embedded
               ? NULL
               : idle_with(PARAM_SIMILARITY, doc, buffer, size);
}

const char *patch_weight_idle(const struct doc *doc, enum source_kind kind, char *buffer,
                              size_t size)
{
    const int features = param_choice(doc, PARAM_FEATURES);
    if (kind == SOURCE_TABLE || kind == SOURCE_ARRAY)
        return kind == SOURCE_TABLE ? "on a table" : "on an array of features";
    if (param_choice(doc, PARAM_SIMILARITY) != NL_EUCLIDEAN)
        return idle_with(PARAM_SIMILARITY, doc, buffer, size);
    return features == NL_FEATURE_RGB || features == NL_FEATURE_LUMA || features == NL_FEATURE_LAB
               ? NULL
               : idle_with(PARAM_FEATURES, doc, buffer, size);
}

bool doc_uses_column(const struct doc *doc, size_t k)
{
    return k >= DOC_COLUMNS || !(doc->left_out[k / 64] >> k % 64 & 1);
}

void doc_switch_system(struct doc *doc, int system)
{
    static const enum param_id owned[] = {PARAM_SIMILARITY, PARAM_SCALE,    PARAM_SELF,
                                          PARAM_SUBSAMPLE,  PARAM_FEATURES, PARAM_PATCH,
                                          PARAM_STRIDE};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        doc->params[owned[i]].given = false;
    param_set(doc, PARAM_SYSTEM, (struct param_value){.number = system});
}
