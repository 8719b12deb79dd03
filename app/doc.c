/* SPDX-License-Identifier: MIT */
#include "doc.h"

#include <stdio.h>

#include "nonlocal/attention.h"
#include "nonlocal/embed.h"
#include "nonlocal/system.h"

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
    default_number(doc, PARAM_SIMILARITY, system->similarity);
    default_number(doc, PARAM_SCALE, system->scale_sqrt);
    default_number(doc, PARAM_SELF, system->self);
    default_number(doc, PARAM_FEATURES, system->features);
    default_number(doc, PARAM_PATCH, (double)system->patch);
    default_number(doc, PARAM_STRIDE, (double)system->stride);
    const int similarity = param_choice(doc, PARAM_SIMILARITY);
    default_number(doc, PARAM_TEMPERATURE, nl_similarities[similarity].temperature);
    if (!params[PARAM_PERPLEXITY].given) {
        bool width_given =
            similarity == NL_EUCLIDEAN ? params[PARAM_H].given : params[PARAM_TEMPERATURE].given;
        params[PARAM_PERPLEXITY] = param_table[PARAM_PERPLEXITY].fallback;
        if (width_given)
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

static const char *idle_with(enum param_id reason, const struct doc *doc, char *buffer, size_t size)
{
    char value[64];
    snprintf(buffer, size, "with --%s %s", param_table[reason].key,
             param_format(reason, doc->params[reason], value, sizeof value));
    return buffer;
}

const char *param_idle(const struct doc *doc, enum param_id id, enum source_kind kind, char *buffer,
                       size_t size)
{
    const int similarity = param_choice(doc, PARAM_SIMILARITY);
    const int embed = param_choice(doc, PARAM_EMBED);
    const int features = param_choice(doc, PARAM_FEATURES);
    switch (id) {
    case PARAM_PERPLEXITY_PER:
        return param_number(doc, PARAM_PERPLEXITY) > 0
                   ? NULL
                   : idle_with(PARAM_PERPLEXITY, doc, buffer, size);
    case PARAM_TEMPERATURE:
    case PARAM_H:
        if (id == PARAM_H && similarity != NL_EUCLIDEAN)
            return idle_with(PARAM_SIMILARITY, doc, buffer, size);
        return param_number(doc, PARAM_PERPLEXITY) > 0
                   ? idle_with(PARAM_PERPLEXITY, doc, buffer, size)
                   : NULL;
    case PARAM_SIGMA:
        return similarity == NL_EUCLIDEAN ? NULL : idle_with(PARAM_SIMILARITY, doc, buffer, size);
    case PARAM_SCALE:
        if (nl_similarities[similarity].embedded && param_number(doc, PARAM_PERPLEXITY) > 0)
            return idle_with(PARAM_PERPLEXITY, doc, buffer, size);
        /* fall through */
    case PARAM_EMBED:
        return nl_similarities[similarity].embedded
                   ? NULL
                   : idle_with(PARAM_SIMILARITY, doc, buffer, size);
    case PARAM_DIM:
    case PARAM_SEED:
        if (!nl_similarities[similarity].embedded)
            return idle_with(PARAM_SIMILARITY, doc, buffer, size);
        if (id == PARAM_DIM ? embed == NL_EMBED_IDENTITY
                            : embed != NL_EMBED_RANDOM && embed != NL_EMBED_ZERO)
            return idle_with(PARAM_EMBED, doc, buffer, size);
        return NULL;
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
    case PARAM_ROWS:
        return kind == SOURCE_PICTURE ? "on a picture; see --feature-norm" : NULL;
    default:
        return NULL;
    }
}

void doc_switch_system(struct doc *doc, int system)
{
    static const enum param_id owned[] = {PARAM_SIMILARITY, PARAM_SCALE, PARAM_SELF,
                                          PARAM_FEATURES,   PARAM_PATCH, PARAM_STRIDE};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        doc->params[owned[i]].given = false;
    param_set(doc, PARAM_SYSTEM, (struct param_value){.number = system});
}
