/* SPDX-License-Identifier: MIT */
#include "weight_names.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"

static const struct nl_weight_form forms[] = {
    {".weight_orig", ".weight_u", ".weight_v"}, /* torch.nn.utils.spectral_norm */
    {".parametrizations.weight.original", ".parametrizations.weight.0._u",
     ".parametrizations.weight.0._v"}, /* torch.nn.utils.parametrizations.spectral_norm */
    {".weight", NULL, NULL},
};

/* The module itself; the first of a Sequential. */
static const char *const infixes[] = {"", ".0"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The name number `index` under which a role may be found; false after the last. */
static bool list_source(const struct nl_weight_role *role, size_t index,
                        struct nl_weight_source *source)
{
    size_t each = role->plain ? 1 : COUNT(infixes) * COUNT(forms);
    size_t alias = index / each, infix = index % each / COUNT(forms);
    if (alias >= NL_MAX_ROLE_NAMES || !role->names[alias])
        return false;
    source->alias = role->names[alias];
    source->form = role->plain ? NULL : &forms[index % each % COUNT(forms)];
    source->sequential = infix == 1;
    snprintf(source->key, sizeof source->key, "%s%s", source->alias, infixes[infix]);
    snprintf(source->name, sizeof source->name, "%s%s", source->key,
             source->form ? source->form->weight : "");
    return true;
}

static const nl_tensor *find(const nl_tensors *tensors, const char *prefix, const char *key,
                             const char *ending)
{
    char name[2 * NL_TENSOR_MAX_NAME]; /* a name that is cut is longer than any tensor's */
    snprintf(name, sizeof name, "%s%s%s", prefix, key, ending);
    return nl_tensors_find(tensors, name);
}

static const nl_tensor *find_role(const nl_tensors *tensors, const char *prefix,
                                  const struct nl_weight_role *role,
                                  struct nl_weight_source *source)
{
    for (size_t index = 0; list_source(role, index, source); index++) {
        const nl_tensor *tensor = find(tensors, prefix, source->name, "");
        if (tensor)
            return tensor;
    }
    return NULL;
}

/* If a tensor's name is a prefix ("", "block.") and one of the role's names: the prefix. */
static bool split_name(const char *name, const struct nl_weight_role *role, char *prefix)
{
    struct nl_weight_source source;
    size_t length = strlen(name);
    for (size_t index = 0; list_source(role, index, &source); index++) {
        size_t ending = strlen(source.name);
        if (ending > length || strcmp(name + length - ending, source.name) != 0 ||
            (ending < length && name[length - ending - 1] != '.'))
            continue;
        memcpy(prefix, name, length - ending);
        prefix[length - ending] = 0;
        return true;
    }
    return false;
}

/* How many roles there are behind a prefix; *first is the tensor of the first of them. */
static size_t count_roles(const struct nl_weight_names *names, const char *prefix,
                          const nl_tensor **first)
{
    struct nl_weight_source source;
    size_t count = 0;
    for (size_t r = 0; r < names->role_count; r++) {
        const nl_tensor *tensor = find_role(names->tensors, prefix, names->roles[r], &source);
        if (tensor && count++ == 0)
            *first = tensor;
    }
    return count;
}

/* Adds separator and piece to a text if they fit as a whole. */
static bool add_text(char *text, size_t room, const char *separator, const char *piece)
{
    size_t length = strlen(text), between = strlen(separator), added = strlen(piece);
    if (length + between + added >= room)
        return false;
    memcpy(text + length, separator, between);
    memcpy(text + length + between, piece, added + 1);
    return true;
}

/* Adds a prefix without its dot; *cut once there is no room for one. */
static void list_prefix(char *text, size_t room, const char *prefix, bool *cut)
{
    static const char more[] = ", ..";
    char shown[NL_TENSOR_MAX_NAME] = "one without a prefix";
    size_t length = strlen(prefix);
    if (length > 0) {
        memcpy(shown, prefix, length);
        shown[length - 1] = 0;
    }
    if (*cut || add_text(text, room - sizeof more, text[0] ? ", " : "", shown))
        return;
    *cut = true;
    add_text(text, room, text[0] ? "" : "..", text[0] ? more : "");
}

static nl_status find_prefix(struct nl_weight_names *names, nl_error *error)
{
    char prefix[NL_TENSOR_MAX_NAME], listed[200] = "";
    size_t best = 0, blocks = 0;
    bool cut = false;
    for (size_t i = 0; i < names->tensors->count; i++) {
        const nl_tensor *tensor = &names->tensors->items[i], *first = NULL;
        for (size_t r = 0; r < names->role_count; r++) {
            if (!split_name(tensor->name, names->roles[r], prefix))
                continue;
            size_t count = count_roles(names, prefix, &first);
            if (first != tensor || count < best) /* a prefix counts once, at its first role */
                continue;
            if (count > best) {
                best = count;
                blocks = 0;
                listed[0] = 0;
                cut = false;
                memcpy(names->prefix, prefix, sizeof prefix);
            }
            blocks++;
            list_prefix(listed, sizeof listed, prefix, &cut);
        }
    }
    if (best == names->role_count && blocks > 1)
        return nl_fail(error, NL_FORMAT,
                       "the file holds the weights of %zu %s blocks (%s); save the state_dict of "
                       "one of them",
                       blocks, names->system, listed);
    return NL_OK; /* what is missing will be told together with what was expected */
}

nl_status nl_weight_names_open(struct nl_weight_names *names, nl_error *error)
{
    names->prefix[0] = 0;
    names->used = nl_alloc(names->tensors->count, sizeof *names->used);
    if (!names->used)
        return nl_fail(error, NL_NOMEM, "no memory for the names of %zu tensors",
                       names->tensors->count);
    return find_prefix(names, error);
}

void nl_weight_names_close(struct nl_weight_names *names)
{
    nl_free(names->used);
    names->used = NULL;
}

const nl_tensor *nl_weight_names_find(const struct nl_weight_names *names, const char *key,
                                      const char *ending)
{
    return find(names->tensors, names->prefix, key, ending);
}

const nl_tensor *nl_weight_names_find_above(const struct nl_weight_names *names, const char *key,
                                            const char *ending)
{
    char above[NL_TENSOR_MAX_NAME];
    size_t length = strlen(names->prefix);
    if (length == 0)
        return NULL;
    memcpy(above, names->prefix, length);
    length--; /* the dot */
    while (length > 0 && above[length - 1] != '.')
        length--;
    above[length] = 0;
    return find(names->tensors, above, key, ending);
}

const nl_tensor *nl_weight_names_role(const struct nl_weight_names *names,
                                      const struct nl_weight_role *role,
                                      struct nl_weight_source *source)
{
    return find_role(names->tensors, names->prefix, role, source);
}

void nl_weight_names_use(struct nl_weight_names *names, const nl_tensor *tensor)
{
    if (tensor)
        names->used[tensor - names->tensors->items] = true;
}

void nl_weight_names_note(const struct nl_weight_names *names, char *note, size_t room)
{
    static const char start[] = "not needed: ";
    const size_t more_room = 40; /* " and 10000 more" */
    size_t unused = 0, listed = 0;
    note[0] = 0;
    for (size_t i = 0; i < names->tensors->count; i++) {
        if (names->used[i])
            continue;
        if (listed == unused && add_text(note, room - more_room, unused == 0 ? start : ", ",
                                         names->tensors->items[i].name))
            listed++;
        unused++;
    }
    if (listed < unused)
        snprintf(note + strlen(note), room - strlen(note), " and %zu more", unused - listed);
}

nl_status nl_weight_names_fail_missing(const struct nl_weight_names *names, const char *name,
                                       const char *shape, size_t channels, nl_error *error)
{
    char listed[160] = "";
    size_t i = 0;
    while (i < names->tensors->count &&
           add_text(listed, sizeof listed - 4, i > 0 ? ", " : "", names->tensors->items[i].name))
        i++;
    if (i < names->tensors->count)
        add_text(listed, sizeof listed, i > 0 ? ", " : "", "..");
    return nl_fail(error, NL_FORMAT,
                   "%s%s is missing: a %s block on %zu channels needs it with the shape %s; the "
                   "file has %s",
                   names->prefix, name, names->system, channels, shape,
                   listed[0] ? listed : "no tensors");
}
