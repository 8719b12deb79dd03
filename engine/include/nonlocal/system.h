/* SPDX-License-Identifier: MIT */
/* The systems of the field, as sets of conventions with a source. */
#ifndef NONLOCAL_SYSTEM_H
#define NONLOCAL_SYSTEM_H

#include "nonlocal/attention.h"
#include "nonlocal/features.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nl_system_id {
    NL_SYSTEM_NONLOCAL,
    NL_SYSTEM_NLM,
    NL_SYSTEM_SAGAN,
    NL_SYSTEM_TRANSFORMER,
    NL_SYSTEM_COUNT,
} nl_system_id;

/* What a system starts from when it shows a picture; every one can then be changed. */
typedef struct nl_system {
    const char *name;   /* as on the command line */
    const char *label;  /* as on the screen, English */
    const char *source; /* paper */
    nl_similarity_id similarity;
    bool scale_sqrt; /* embedded scores times 1/√l */
    nl_self self;
    nl_feature_id features;
    size_t patch, stride;
} nl_system;

/* Indexed by nl_system_id; ends with a row whose name is NULL. */
extern NL_API const nl_system nl_systems[NL_SYSTEM_COUNT + 1];

#ifdef __cplusplus
}
#endif

#endif
