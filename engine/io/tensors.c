/* SPDX-License-Identifier: MIT */
#include "io/tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "io/npz.h"
#include "io/safetensors.h"
#include "io/utf8.h"

nl_status nl_tensor_fail(nl_error *error, nl_status status, const char *name, const char *format,
                         ...)
{
    char words[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return nl_fail(error, status, "tensor '%s': %s", name, words);
}

static bool is_plain_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t bytes = nl_utf8_length((const unsigned char *)name + i, length - i);
        if (bytes == 0 || (unsigned char)name[i] < ' ' || name[i] == 0x7f)
            return false;
        i += bytes;
    }
    return true;
}

static nl_status grow(struct nl_tensor_list *list, nl_error *error)
{
    const size_t size = sizeof(nl_tensor);
    size_t capacity = list->capacity ? list->capacity * 2 : 16;
    nl_tensor *items = nl_realloc(list->tensors.items, list->capacity * size, capacity * size);
    if (!items)
        return nl_fail(error, NL_NOMEM, "no memory for a list of %zu tensors", capacity);
    list->tensors.items = items;
    list->capacity = capacity;
    return NL_OK;
}

nl_status nl_tensor_list_add(struct nl_tensor_list *list, const char *name, size_t length,
                             nl_tensor **tensor, nl_error *error)
{
    nl_tensors *tensors = &list->tensors;
    if (length >= NL_TENSOR_MAX_NAME)
        return nl_fail(error, NL_LIMIT,
                       "the name of tensor %zu of the file is longer than %d bytes",
                       tensors->count + 1, NL_TENSOR_MAX_NAME - 1);
    if (!is_plain_name(name, length))
        return nl_fail(error, NL_FORMAT,
                       "the name of tensor %zu of the file has control characters or is no UTF-8; "
                       "the file is damaged",
                       tensors->count + 1);
    if (tensors->count == NL_TENSORS_MAX)
        return nl_fail(error, NL_LIMIT,
                       "the file holds more than %d tensors; save those of one block",
                       NL_TENSORS_MAX);
    nl_status status = tensors->count == list->capacity ? grow(list, error) : NL_OK;
    if (status == NL_OK) {
        *tensor = &tensors->items[tensors->count++];
        memcpy((*tensor)->name, name, length); /* grow left zeros behind it */
    }
    return status;
}

nl_status nl_tensor_list_claim(struct nl_tensor_list *list, const nl_tensor *tensor, size_t count,
                               nl_error *error)
{
    if (count > NL_TENSORS_MAX_VALUES - list->values)
        return nl_tensor_fail(error, NL_LIMIT, tensor->name,
                              "with its %zu numbers the file holds more than %d; save the tensors "
                              "of one block",
                              count, NL_TENSORS_MAX_VALUES);
    list->values += count;
    return NL_OK;
}

void nl_tensor_set_problem(nl_tensor *tensor, const char *problem)
{
    nl_free(tensor->data);
    tensor->data = NULL;
    tensor->count = tensor->ndim = 0;
    memset(tensor->shape, 0, sizeof tensor->shape);
    snprintf(tensor->problem, sizeof tensor->problem, "%s", problem);
}

static int compare_tensors(const void *a, const void *b)
{
    return strcmp(((const nl_tensor *)a)->name, ((const nl_tensor *)b)->name);
}

static nl_status sort(nl_tensors *tensors, nl_error *error)
{
    if (tensors->count > 0)
        qsort(tensors->items, tensors->count, sizeof *tensors->items, compare_tensors);
    for (size_t i = 1; i < tensors->count; i++)
        if (compare_tensors(&tensors->items[i - 1], &tensors->items[i]) == 0)
            return nl_tensor_fail(error, NL_FORMAT, tensors->items[i].name,
                                  "the file holds it more than once");
    return NL_OK;
}

static nl_status fail_unknown(const unsigned char *bytes, size_t length, nl_error *error)
{
    if (length == 0)
        return nl_fail(error, NL_FORMAT, "the file of weights is empty");
    if (length >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return nl_fail(error, NL_UNSUPPORTED,
                       "a .npy file holds one array without a name; save the weights by name with "
                       "numpy.savez");
    if (length >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5)
        return nl_fail(error, NL_UNSUPPORTED,
                       "this is a Python pickle, which only Python can run; save the state_dict "
                       "with numpy.savez or as .safetensors");
    return nl_fail(error, NL_FORMAT, "the file of weights is neither .npz nor .safetensors");
}

nl_status nl_tensors_load(const void *bytes, size_t length, nl_tensors *tensors, nl_error *error)
{
    struct nl_tensor_list list = {0};
    nl_status status = NL_OK;
    if (nl_npz_known(bytes, length))
        status = nl_npz_read(bytes, length, &list, error);
    else if (nl_safetensors_known(bytes, length))
        status = nl_safetensors_read(bytes, length, &list, error);
    else
        status = fail_unknown(bytes, length, error);
    if (status == NL_OK)
        status = sort(&list.tensors, error);
    if (status != NL_OK)
        nl_tensors_free(&list.tensors);
    *tensors = list.tensors;
    return status;
}

void nl_tensors_free(nl_tensors *tensors)
{
    for (size_t i = 0; i < tensors->count; i++)
        nl_free(tensors->items[i].data);
    nl_free(tensors->items);
    *tensors = (nl_tensors){0};
}

const nl_tensor *nl_tensors_find(const nl_tensors *tensors, const char *name)
{
    size_t low = 0, high = tensors->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, tensors->items[middle].name);
        if (order == 0)
            return &tensors->items[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
