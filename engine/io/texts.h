/* SPDX-License-Identifier: MIT */
/* Strings read from files: lists of them that grow, and excerpts for messages. */
#ifndef NL_TEXTS_H
#define NL_TEXTS_H

#include "nonlocal/base.h"

/* Start with {0}; string i is bytes + starts[i], ended by a zero. */
struct nl_texts {
    char *bytes;
    size_t used, size;
    size_t *starts;
    size_t count, slots;
};

/* Room for a string of up to `length` bytes at the end, for the caller to fill; NULL: no memory. */
char *nl_texts_add(struct nl_texts *texts, size_t length);

/* Takes the last string off again. */
static inline void nl_texts_drop_last(struct nl_texts *texts)
{
    texts->used = texts->starts[--texts->count];
}

static inline const char *nl_texts_at(const struct nl_texts *texts, size_t i)
{
    return texts->bytes + texts->starts[i];
}

/* The strings as one block (one nl_free): pointers, then bytes. NULL: no memory. */
char **nl_texts_array_alloc(const struct nl_texts *texts);

void nl_texts_free(struct nl_texts *texts);

/* The beginning of a text, cut between characters and then ended by an ellipsis. */
struct nl_excerpt {
    char text[64];
};

struct nl_excerpt nl_excerpt(const char *text, size_t length);

/* "a, b, c", as far as it fits. */
struct nl_listing {
    char text[240];
};

struct nl_listing nl_listing(const struct nl_texts *texts);

#endif
