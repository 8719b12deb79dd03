/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *part_hold(void *part)
{
    if (part)
        atomic_fetch_add_explicit(&((struct part *)part)->references, 1, memory_order_relaxed);
    return part;
}

void part_release(void *pointer_to_part)
{
    struct part *part;
    memcpy(&part, pointer_to_part, sizeof part);
    memset(pointer_to_part, 0, sizeof part);
    if (part && atomic_fetch_sub_explicit(&part->references, 1, memory_order_acq_rel) == 1) {
        part->destroy(part);
        free(part);
    }
}

void result_hold(struct result *to, const struct result *from)
{
    *to = *from;
    part_hold(to->source);
    part_hold(to->features);
    part_hold(to->attention);
    part_hold(to->dissim);
    part_hold(to->order);
    part_hold(to->cells);
    part_hold(to->overview);
    part_hold(to->quality);
}

void result_release(struct result *result)
{
    part_release(&result->source);
    part_release(&result->features);
    part_release(&result->attention);
    part_release(&result->dissim);
    part_release(&result->order);
    part_release(&result->cells);
    part_release(&result->overview);
    part_release(&result->quality);
    *result = (struct result){0};
}

void *part_new(size_t size, uint64_t key, void (*destroy)(struct part *), nl_error *error)
{
    struct part *part = calloc(1, size);
    if (!part) {
        nl_fail(error, NL_NOMEM, "no memory for a result");
        return NULL;
    }
    atomic_init(&part->references, 1);
    part->key = key;
    part->destroy = destroy;
    return part;
}

/* FNV-1a over the bytes of one value after another. */
static uint64_t mix(uint64_t key, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        key = (key ^ byte[i]) * 0x100000001b3u;
    return key;
}

static uint64_t mix_params(uint64_t key, const struct doc *doc, const enum param_id *ids,
                           size_t count)
{
    key = mix(0xcbf29ce484222325u, &key, sizeof key);
    for (size_t i = 0; i < count; i++) {
        key = mix(key, &doc->params[ids[i]].number, sizeof(double));
        key = mix(key, &doc->params[ids[i]].percent, sizeof(bool));
    }
    return key ? key : 1; /* 0 means nothing there */
}

struct stage_keys stage_keys(const struct doc *doc, uint64_t source_key, enum source_kind kind)
{
    static const enum param_id picture[] = {PARAM_FEATURES,     PARAM_PATCH,    PARAM_STRIDE,
                                            PARAM_FEATURE_NORM, PARAM_POSITION, PARAM_MAX_SIDE};
    static const enum param_id rows[] = {PARAM_ROWS};
    static const enum param_id attention[] = {
        PARAM_SYSTEM,     PARAM_SUBSAMPLE,      PARAM_SIMILARITY,  PARAM_NORMALIZE, PARAM_LAMBDA,
        PARAM_PERPLEXITY, PARAM_PERPLEXITY_PER, PARAM_TEMPERATURE, PARAM_H,         PARAM_SIGMA,
        PARAM_SCALE,      PARAM_SELF,           PARAM_SEARCH,      PARAM_EMBED,     PARAM_DIM,
        PARAM_SEED};
    static const enum param_id dissim[] = {PARAM_METRIC, PARAM_BANDWIDTH};
    static const enum param_id order[] = {PARAM_ORDER, PARAM_LEAF};
    static const enum param_id cells[] = {PARAM_SHOWN};
    const int shown = param_choice(doc, PARAM_SHOWN);
    struct stage_keys keys = {.source = source_key};
    if (kind == SOURCE_PICTURE)
        keys.features = mix_params(source_key, doc, picture, sizeof picture / sizeof *picture);
    else {
        keys.features = mix_params(source_key, doc, rows, 1);
        keys.features = mix(keys.features, doc->left_out, sizeof doc->left_out);
        keys.features = mix(keys.features, &doc->ready, sizeof doc->ready);
    }
    keys.attention =
        mix_params(keys.features, doc, attention, sizeof attention / sizeof *attention);
    keys.attention = mix(keys.attention, &doc->patch_gaussian, sizeof doc->patch_gaussian);
    keys.attention = mix(keys.attention, doc->weights, strlen(doc->weights));
    keys.dissim = mix_params(keys.features, doc, dissim, 2);
    keys.order = mix_params(keys.dissim, doc, order, 2);
    keys.cells = mix_params(keys.dissim, doc, cells, 1);
    if (shown == SHOWN_SCORES || shown == SHOWN_WEIGHTS)
        keys.cells = mix(keys.cells, &keys.attention, sizeof keys.attention);
    if (shown == SHOWN_MEANS)
        keys.cells = mix(keys.cells, &keys.order, sizeof keys.order);
    keys.overview = mix(keys.cells, &keys.order, sizeof keys.order);
    keys.quality = mix(keys.order, "quality", 7);
    return keys;
}

static void source_destroy(struct part *part)
{
    struct source_part *source = (struct source_part *)part;
    source_free(&source->source);
    free(source->rgba);
}

static nl_status make_rgba(struct source_part *part, nl_error *error)
{
    nl_picture shown;
    nl_status status = nl_picture_from_bitmap(&part->source.bitmap, SHOWN_SIDE, &shown, error);
    if (status != NL_OK)
        return status;
    part->width = (int)shown.width;
    part->height = (int)shown.height;
    part->rgba = malloc(4 * shown.width * shown.height);
    for (size_t y = 0; part->rgba && y < shown.height; y++) {
        for (size_t x = 0; x < shown.width; x++) {
            uint8_t *pixel = part->rgba + 4 * (y * shown.width + x);
            for (size_t c = 0; c < 3; c++)
                pixel[c] = (uint8_t)(nl_row(&shown.rgb, y)[3 * x + c] * 255 + 0.5f);
            pixel[3] = 255;
        }
    }
    nl_picture_free(&shown);
    return part->rgba ? NL_OK : nl_fail(error, NL_NOMEM, "no memory to show the picture");
}

struct source_part *source_part_load(const char *path, uint64_t key, nl_error *error)
{
    struct source_part *part = part_new(sizeof *part, key, source_destroy, error);
    if (!part)
        return NULL;
    snprintf(part->path, sizeof part->path, "%s", path);
    nl_status status = source_load(path, NULL, &part->source, error);
    if (status == NL_OK && part->source.kind == SOURCE_PICTURE)
        status = make_rgba(part, error);
    if (status != NL_OK)
        part_release(&part);
    return part;
}

static void features_destroy(struct part *part)
{
    stage_features_free(&((struct features_part *)part)->features);
}

struct features_part *features_part_make(const struct doc *doc, const struct source_part *source,
                                         uint64_t key, const nl_exec *exec, nl_error *error)
{
    struct features_part *part = part_new(sizeof *part, key, features_destroy, error);
    if (part && stage_features_run(doc, &source->source, exec, &part->features, error) != NL_OK)
        part_release(&part);
    return part;
}

static void attention_destroy(struct part *part)
{
    struct attention_part *attention = (struct attention_part *)part;
    stage_attention_free(&attention->attention);
    part_release(&attention->features);
}

struct attention_part *attention_part_make(const struct doc *doc, struct features_part *features,
                                           uint64_t key, const nl_exec *exec, nl_error *error)
{
    struct attention_part *part = part_new(sizeof *part, key, attention_destroy, error);
    if (!part)
        return NULL;
    part->features = part_hold(features);
    if (stage_attention_run(doc, &features->features, exec, &part->attention, error) != NL_OK)
        part_release(&part);
    return part;
}
