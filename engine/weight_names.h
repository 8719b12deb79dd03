/* SPDX-License-Identifier: MIT */
/*
 * The names under which PyTorch modules store a block. A role is one thing that a block needs
 * (theta); it may stand under several names (theta.weight, theta.0.weight, theta.weight_orig), all
 * behind one prefix, which is found first.
 */
#ifndef NL_WEIGHT_NAMES_H
#define NL_WEIGHT_NAMES_H

#include "nonlocal/weights.h"

enum { NL_MAX_ROLES = 5, NL_MAX_ROLE_NAMES = 4 };

struct nl_weight_role {
    const char *names[NL_MAX_ROLE_NAMES]; /* NULL after the last, the usual one first */
    bool plain;                           /* the names are those of tensors, not of modules */
};

/* Where a module keeps its matrix and, with spectral norm, the vectors. */
struct nl_weight_form {
    const char *weight;
    const char *u, *v; /* NULL = no spectral norm */
};

/* One name of a role. */
struct nl_weight_source {
    char key[64];                      /* of the module ("W.0"); of a plain role as `name` */
    char name[96];                     /* of the tensor, without the prefix */
    const char *alias;                 /* of the module without ".0" */
    const struct nl_weight_form *form; /* NULL for a plain role */
    bool sequential;                   /* it is the first module of a Sequential */
};

struct nl_weight_names {
    const nl_tensors *tensors;
    const struct nl_weight_role *roles[NL_MAX_ROLES]; /* all that are needed */
    size_t role_count;
    const char *system; /* for messages */
    bool *used;         /* a flag for each tensor */
    char prefix[NL_TENSOR_MAX_NAME];
};

/*
 * Finds the prefix behind which the most roles are; NL_FORMAT if there are several with all roles.
 * tensors, roles and system are set before. To be ended by nl_weight_names_close in any case.
 */
nl_status nl_weight_names_open(struct nl_weight_names *names, nl_error *error);
void nl_weight_names_close(struct nl_weight_names *names);

/* The tensor "<prefix><key><ending>", or NULL. */
const nl_tensor *nl_weight_names_find(const struct nl_weight_names *names, const char *key,
                                      const char *ending);

/* The same one level up: of "layers.0.self_attn." behind "layers.0.". NULL if there is no up. */
const nl_tensor *nl_weight_names_find_above(const struct nl_weight_names *names, const char *key,
                                            const char *ending);

/* The tensor of a role and the name it was found under, or NULL. */
const nl_tensor *nl_weight_names_role(const struct nl_weight_names *names,
                                      const struct nl_weight_role *role,
                                      struct nl_weight_source *source);

/* Marks a tensor (or NULL) as needed. */
void nl_weight_names_use(struct nl_weight_names *names, const nl_tensor *tensor);

/* The tensors that were not used, in words; "" if there are none. */
void nl_weight_names_note(const struct nl_weight_names *names, char *note, size_t room);

/* An error for a tensor that must be there, with the names that are. */
nl_status nl_weight_names_fail_missing(const struct nl_weight_names *names, const char *name,
                                       const char *shape, size_t channels, nl_error *error);

#endif
