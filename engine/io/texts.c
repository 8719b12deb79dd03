/* SPDX-License-Identifier: MIT */
#include "io/texts.h"

#include <string.h>

#include "alloc.h"

#define ELLIPSIS "…"

/* The block with room for `wanted` slots, at least doubled; NULL leaves it and *slots alone. */
static void *grown(void *block, size_t used, size_t *slots, size_t wanted, size_t size)
{
    if (wanted <= *slots)
        return block;
    size_t more = *slots * 2 > wanted ? *slots * 2 : wanted + 16;
    if (more > SIZE_MAX / size)
        return NULL;
    void *larger = nl_realloc(block, used * size, more * size);
    if (larger)
        *slots = more;
    return larger;
}

char *nl_texts_add(struct nl_texts *texts, size_t length)
{
    char *bytes = grown(texts->bytes, texts->used, &texts->size, texts->used + length + 1, 1);
    if (!bytes)
        return NULL;
    texts->bytes = bytes;
    size_t *starts =
        grown(texts->starts, texts->count, &texts->slots, texts->count + 1, sizeof *starts);
    if (!starts)
        return NULL;
    texts->starts = starts;
    char *text = bytes + texts->used;
    starts[texts->count++] = texts->used;
    texts->used += length + 1;
    return text;
}

char **nl_texts_array_alloc(const struct nl_texts *texts)
{
    char **array = nl_alloc(texts->count * sizeof *array + texts->used, 1);
    if (!array || texts->count == 0)
        return array;
    char *bytes = (char *)(array + texts->count);
    memcpy(bytes, texts->bytes, texts->used);
    for (size_t i = 0; i < texts->count; i++)
        array[i] = bytes + texts->starts[i];
    return array;
}

void nl_texts_free(struct nl_texts *texts)
{
    nl_free(texts->bytes);
    nl_free(texts->starts);
    *texts = (struct nl_texts){0};
}

struct nl_excerpt nl_excerpt(const char *text, size_t length)
{
    struct nl_excerpt excerpt;
    size_t fits = sizeof excerpt.text - sizeof ELLIPSIS;
    bool cut = length > fits;
    if (cut)
        for (length = fits; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    for (size_t i = 0; i < length; i++)
        excerpt.text[i] = (unsigned char)text[i] < 0x20 ? ' ' : text[i];
    excerpt.text[length] = 0;
    if (cut)
        memcpy(excerpt.text + length, ELLIPSIS, sizeof ELLIPSIS);
    return excerpt;
}

struct nl_listing nl_listing(const struct nl_texts *texts)
{
    struct nl_listing list = {{0}};
    size_t used = 0;
    for (size_t i = 0; i < texts->count; i++) {
        const char *name = nl_texts_at(texts, i);
        struct nl_excerpt shown = nl_excerpt(name, strlen(name));
        size_t length = strlen(shown.text);
        if (used + length + sizeof ", , " ELLIPSIS > sizeof list.text) {
            memcpy(list.text + used, ", " ELLIPSIS, sizeof ", " ELLIPSIS);
            return list;
        }
        if (i > 0) {
            memcpy(list.text + used, ", ", 2);
            used += 2;
        }
        memcpy(list.text + used, shown.text, length);
        used += length;
    }
    return list;
}
