/* SPDX-License-Identifier: MIT */
/*
 * Eight bytes, little-endian: the length of a header; the header, a JSON object
 *     {"name": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, "__metadata__": {...}}
 * and the values, little-endian in C order, to which the offsets point.
 * Source: https://github.com/huggingface/safetensors, "Format"
 */
#include "io/safetensors.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "io/number.h"
#include "io/utf8.h"

enum { PREFIX = 8, MAX_TYPE = 16 };

struct reader {
    const char *at; /* in the header */
    const char *end;
    const char *start;
    const unsigned char *values;
    size_t length; /* bytes of the values */
    size_t used;   /* bytes of the values that tensors have taken */
    struct nl_tensor_list *list;
    nl_error *error;
};

/* What the header says of one tensor. */
struct info {
    char type[MAX_TYPE];
    size_t shape[NL_TENSOR_MAX_DIMS];
    size_t ndim; /* may be more than shape holds */
    size_t begin;
    size_t end;
};

/* ---- JSON, no more of it than this header has ---- */

static nl_status fail_header(const struct reader *in, const char *what)
{
    return nl_fail(in->error, NL_FORMAT,
                   "the header of the .safetensors file %s at byte %zu; the file is damaged", what,
                   (size_t)(in->at - in->start) + PREFIX);
}

static void skip_spaces(struct reader *in)
{
    while (in->at < in->end &&
           (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
        in->at++;
}

/* Takes the next character other than a space if it is `wanted`. */
static bool take(struct reader *in, char wanted)
{
    skip_spaces(in);
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

/* Four hexadecimal digits. */
static bool take_unit(struct reader *in, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, in->at++) {
        if (in->at == in->end)
            return false;
        char digit = *in->at;
        uint32_t value = digit >= '0' && digit <= '9'   ? (uint32_t)(digit - '0')
                         : digit >= 'a' && digit <= 'f' ? (uint32_t)(digit - 'a' + 10)
                         : digit >= 'A' && digit <= 'F' ? (uint32_t)(digit - 'A' + 10)
                                                        : 16;
        if (value == 16)
            return false;
        *unit = *unit << 4 | value;
    }
    return true;
}

/* What follows a backslash, as UTF-8 in out[4]; returns its length, 0 for no escape. */
static size_t take_escape(struct reader *in, char out[4])
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *name = in->at < in->end ? memchr(names, *in->at, sizeof names - 1) : NULL;
    if (name) {
        in->at++;
        out[0] = meanings[name - names];
        return 1;
    }
    uint32_t code, low;
    if (in->at == in->end || *in->at++ != 'u' || !take_unit(in, &code))
        return 0;
    if (code >= 0xd800 && code < 0xdc00) { /* the first of a pair */
        if (in->end - in->at < 2 || in->at[0] != '\\' || in->at[1] != 'u')
            return 0;
        in->at += 2;
        if (!take_unit(in, &low) || low < 0xdc00 || low >= 0xe000)
            return 0;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return 0;
    }
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[length] | code);
    return length;
}

/*
 * A string; its first `room` bytes go to `out`, *length counts all. With room 0 it is only stepped
 * over.
 */
static bool take_string(struct reader *in, char *out, size_t room, size_t *length)
{
    *length = 0;
    if (!take(in, '"'))
        return false;
    while (in->at < in->end && *in->at != '"') {
        char escape[4];
        const char *piece = in->at;
        size_t size = nl_utf8_length((const unsigned char *)in->at, (size_t)(in->end - in->at));
        if (size == 0 || (unsigned char)*in->at < ' ')
            return false;
        in->at += size;
        if (*piece == '\\') {
            size = take_escape(in, escape);
            piece = escape;
        }
        if (size == 0)
            return false;
        for (size_t i = 0; i < size; i++, ++*length)
            if (*length < room)
                out[*length] = piece[i];
    }
    return take(in, '"');
}

static bool take_size(struct reader *in, size_t *size)
{
    skip_spaces(in);
    const char *first = in->at;
    *size = 0;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
        if (__builtin_mul_overflow(*size, 10u, size) ||
            __builtin_add_overflow(*size, (size_t)(*in->at - '0'), size))
            return false;
    return in->at > first && (*first != '0' || in->at == first + 1);
}

/* [3, 4]: the first `room` numbers go to `out`, *count counts all. */
static bool take_sizes(struct reader *in, size_t *out, size_t room, size_t *count)
{
    *count = 0;
    if (!take(in, '['))
        return false;
    if (take(in, ']'))
        return true;
    do {
        size_t size;
        if (!take_size(in, &size))
            return false;
        if (*count < room)
            out[*count] = size;
        ++*count;
    } while (take(in, ','));
    return take(in, ']');
}

/* {"format": "pt"}: of no use here. */
static bool skip_metadata(struct reader *in)
{
    size_t length;
    if (!take(in, '{'))
        return false;
    if (take(in, '}'))
        return true;
    do {
        if (!take_string(in, NULL, 0, &length) || !take(in, ':') ||
            !take_string(in, NULL, 0, &length))
            return false;
    } while (take(in, ','));
    return take(in, '}');
}

/* One key of a tensor and what it says; `seen` has a bit for each. */
static bool take_info_key(struct reader *in, struct info *info, unsigned *seen)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    char key[16] = "";
    size_t length, offsets[2] = {0}, k = 0;
    if (!take_string(in, key, sizeof key - 1, &length) || length >= sizeof key || !take(in, ':'))
        return false;
    while (k < 3 && strcmp(key, keys[k]) != 0)
        k++;
    if (k == 3 || (*seen & 1u << k))
        return false;
    *seen |= 1u << k;
    if (k == 0)
        return take_string(in, info->type, sizeof info->type - 1, &length);
    if (k == 1)
        return take_sizes(in, info->shape, NL_TENSOR_MAX_DIMS, &info->ndim);
    bool two = take_sizes(in, offsets, 2, &length) && length == 2;
    info->begin = offsets[0];
    info->end = offsets[1];
    return two;
}

static bool take_info(struct reader *in, struct info *info)
{
    unsigned seen = 0;
    if (!take(in, '{'))
        return false;
    do {
        if (!take_info_key(in, info, &seen))
            return false;
    } while (take(in, ','));
    return take(in, '}') && seen == 7;
}

/* ---- values ---- */

static bool find_type(const char *name, struct nl_number *number)
{
    static const struct {
        const char *name;
        struct nl_number number;
    } types[] = {
        {"F64", {'f', 8, false}},  {"F32", {'f', 4, false}}, {"F16", {'f', 2, false}},
        {"BF16", {'g', 2, false}}, {"I64", {'i', 8, false}}, {"I32", {'i', 4, false}},
        {"I16", {'i', 2, false}},  {"I8", {'i', 1, false}},  {"U64", {'u', 8, false}},
        {"U32", {'u', 4, false}},  {"U16", {'u', 2, false}}, {"U8", {'u', 1, false}},
        {"BOOL", {'b', 1, false}},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(name, types[i].name) == 0) {
            *number = types[i].number;
            return true;
        }
    }
    return false;
}

/* The tensor's bytes lie in the file, and no more are used than there are. */
static nl_status check_range(struct reader *in, const struct info *info, const nl_tensor *tensor)
{
    if (info->begin > info->end)
        return nl_tensor_fail(in->error, NL_FORMAT, tensor->name,
                              "its data_offsets [%zu, %zu] run backwards; the file is damaged",
                              info->begin, info->end);
    if (info->end > in->length)
        return nl_tensor_fail(in->error, NL_FORMAT, tensor->name,
                              "its values end at byte %zu of %zu; the file was cut short",
                              info->end, in->length);
    if (info->end - info->begin > in->length - in->used)
        return nl_tensor_fail(in->error, NL_FORMAT, tensor->name,
                              "it shares its bytes with another; the file is damaged");
    in->used += info->end - info->begin;
    return NL_OK;
}

/* Values of the shape; false where their bytes cannot be counted. */
static bool count_values(const struct info *info, size_t size, size_t *count)
{
    size_t bytes = size;
    bool empty = false;
    for (size_t k = 0; k < info->ndim; k++) {
        empty = empty || info->shape[k] == 0;
        if (info->shape[k] > 0 && __builtin_mul_overflow(bytes, info->shape[k], &bytes))
            return false;
    }
    *count = empty ? 0 : bytes / size;
    return true;
}

static nl_status read_values(struct reader *in, const struct info *info, nl_tensor *tensor)
{
    struct nl_number number = {0};
    char problem[sizeof tensor->problem] = "";
    size_t held = info->end - info->begin, count = 0;
    if (!find_type(info->type, &number))
        snprintf(problem, sizeof problem, "its values are of type %s, which is not known here",
                 info->type);
    else if (info->ndim > NL_TENSOR_MAX_DIMS)
        snprintf(problem, sizeof problem, "it has more than %d dimensions", NL_TENSOR_MAX_DIMS);
    if (problem[0]) {
        nl_tensor_set_problem(tensor, problem);
        return NL_OK;
    }
    if (!count_values(info, number.size, &count) || count * number.size != held)
        return nl_tensor_fail(in->error, NL_FORMAT, tensor->name,
                              "it has %zu bytes in the file, which its shape does not fit; the "
                              "file is damaged",
                              held);
    nl_status status = nl_tensor_list_claim(in->list, tensor, count, in->error);
    if (status != NL_OK)
        return status;
    tensor->data = nl_alloc(count, sizeof *tensor->data);
    if (!tensor->data)
        return nl_tensor_fail(in->error, NL_NOMEM, tensor->name, "no memory for %zu numbers",
                              count);
    tensor->count = count;
    tensor->ndim = info->ndim;
    memcpy(tensor->shape, info->shape, sizeof tensor->shape);
    const unsigned char *values = in->values + info->begin;
    for (size_t i = 0; i < count; i++)
        tensor->data[i] = nl_number_read(values + i * number.size, &number);
    return NL_OK;
}

/* ---- the file ---- */

/* A name, a colon, and what belongs to it. */
static nl_status read_tensor(struct reader *in)
{
    char name[NL_TENSOR_MAX_NAME];
    size_t length;
    struct info info = {.type = ""};
    nl_tensor *tensor = NULL;
    if (!take_string(in, name, sizeof name, &length) || !take(in, ':'))
        return fail_header(in, "has no readable name");
    if (length == strlen("__metadata__") && memcmp(name, "__metadata__", length) == 0)
        return skip_metadata(in) ? NL_OK : fail_header(in, "has unreadable metadata");
    nl_status status = nl_tensor_list_add(in->list, name, length, &tensor, in->error);
    if (status != NL_OK)
        return status;
    if (!take_info(in, &info))
        return fail_header(in, "has no readable dtype, shape and data_offsets");
    status = check_range(in, &info, tensor);
    return status == NL_OK ? read_values(in, &info, tensor) : status;
}

bool nl_safetensors_known(const void *bytes, size_t length)
{
    return length > PREFIX && ((const char *)bytes)[PREFIX] == '{';
}

nl_status nl_safetensors_read(const void *bytes, size_t length, struct nl_tensor_list *list,
                              nl_error *error)
{
    const unsigned char *file = bytes;
    uint64_t size = 0;
    for (size_t i = PREFIX; i-- > 0;)
        size = size << 8 | file[i];
    if (size > length - PREFIX)
        return nl_fail(error, NL_FORMAT,
                       "the .safetensors file ends within its header; it was cut short");
    struct reader in = {
        .at = (const char *)bytes + PREFIX,
        .start = (const char *)bytes + PREFIX,
        .end = (const char *)bytes + PREFIX + size,
        .values = file + PREFIX + size,
        .length = length - PREFIX - (size_t)size,
        .list = list,
        .error = error,
    };
    take(&in, '{');
    if (!take(&in, '}')) {
        do {
            nl_status status = read_tensor(&in);
            if (status != NL_OK)
                return status;
        } while (take(&in, ','));
        if (!take(&in, '}'))
            return fail_header(&in, "does not end");
    }
    skip_spaces(&in);
    if (in.at != in.end)
        return fail_header(&in, "goes on after its end");
    if (in.used != in.length)
        return nl_fail(error, NL_FORMAT,
                       "the .safetensors file holds %zu bytes of values, its tensors have %zu; it "
                       "is damaged",
                       in.length, in.used);
    return NL_OK;
}
