/* SPDX-License-Identifier: MIT */
/*
 * A .npy file is a magic, a version, the length of a header, the header (a Python dictionary as
 * text, padded with spaces and a line end) and the values:
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 * Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#include "nonlocal/npy.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "io/npy_head.h"
#include "io/number.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6
#define ALIGNMENT 64
#define GROWTH_DIGITS 21 /* numpy leaves room for the first dimension to grow in place */

/* How the values are stored. */
struct layout {
    struct nl_number number;
    bool fortran;
};

/* ---- reading the header ---- */

struct cursor {
    const char *at;
    const char *end;
};

static void skip_spaces(struct cursor *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n'))
        in->at++;
}

/* Takes the next character other than a space if it is `wanted`. */
static bool take(struct cursor *in, char wanted)
{
    skip_spaces(in);
    if (in->at == in->end || *in->at != wanted)
        return false;
    in->at++;
    return true;
}

/* A Python string of plain ASCII, all that a header needs; false for anything else. */
static bool take_string(struct cursor *in, struct cursor *string)
{
    skip_spaces(in);
    if (in->at == in->end || (*in->at != '\'' && *in->at != '"'))
        return false;
    char quote = *in->at++;
    string->at = in->at;
    while (in->at < in->end && *in->at != quote) {
        if (*in->at < ' ' || *in->at > '~' || *in->at == '\\')
            return false;
        in->at++;
    }
    if (in->at == in->end)
        return false;
    string->end = in->at++;
    return true;
}

static bool is_text(const struct cursor *string, const char *text)
{
    size_t length = (size_t)(string->end - string->at);
    return length == strlen(text) && memcmp(string->at, text, length) == 0;
}

static bool take_word(struct cursor *in, const char *word)
{
    skip_spaces(in);
    size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static bool take_size(struct cursor *in, size_t *size)
{
    skip_spaces(in);
    const char *first = in->at;
    *size = 0;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
        if (__builtin_mul_overflow(*size, 10u, size) ||
            __builtin_add_overflow(*size, (size_t)(*in->at - '0'), size))
            return false;
    if (in->at == first)
        return false;
    if (in->at < in->end && *in->at == 'L') /* a long of Python 2 */
        in->at++;
    return true;
}

static nl_status fail_header(nl_error *error, const char *what)
{
    return nl_fail(error, NL_FORMAT, "the .npy header %s; save the array again with numpy.save",
                   what);
}

static nl_status read_type(struct cursor *in, struct layout *layout, nl_error *error)
{
    struct cursor type;
    skip_spaces(in);
    if (in->at < in->end && *in->at == '[')
        return nl_fail(error, NL_UNSUPPORTED,
                       "the .npy file holds records of several fields; save "
                       "one field as an array of numbers");
    if (!take_string(in, &type))
        return fail_header(error, "has no readable type ('descr')");
    static const char *const known[] = {"b1", "i1", "i2", "i4", "i8", "u1",
                                        "u2", "u4", "u8", "f2", "f4", "f8"};
    char order = 0;
    struct cursor kind = type;
    if (kind.at < kind.end && memchr("<>|=", *kind.at, 4))
        order = *kind.at++;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_text(&kind, known[i]))
            continue;
        layout->number = (struct nl_number){known[i][0], (size_t)(known[i][1] - '0'), order == '>'};
        if (layout->number.size > 1 && order != '<' && order != '>')
            return fail_header(error, "does not say the byte order of its type");
        return NL_OK;
    }
    size_t shown = (size_t)(type.end - type.at);
    return nl_fail(error, NL_UNSUPPORTED,
                   "the .npy file holds values of type '%.*s', which are not numbers of at most 64 "
                   "bits; convert it with array.astype('float32')",
                   (int)(shown < 20 ? shown : 20), type.at);
}

static nl_status read_order(struct cursor *in, struct layout *layout, nl_error *error)
{
    layout->fortran = take_word(in, "True");
    if (!layout->fortran && !take_word(in, "False"))
        return fail_header(error, "has a 'fortran_order' that is neither True nor False");
    return NL_OK;
}

static nl_status read_shape(struct cursor *in, nl_npy *npy, nl_error *error)
{
    if (!take(in, '('))
        return fail_header(error, "has no readable 'shape'");
    bool comma = true;
    while (!take(in, ')')) {
        if (npy->ndim == NL_NPY_MAX_DIMS)
            return nl_fail(error, NL_LIMIT, "the .npy array has more than %d dimensions",
                           NL_NPY_MAX_DIMS);
        if (!comma || !take_size(in, &npy->shape[npy->ndim]))
            return fail_header(error, "has a 'shape' that is not a tuple of sizes");
        npy->ndim++;
        comma = take(in, ',');
    }
    if (npy->ndim == 1 && !comma) /* Python reads (3) as a number */
        return fail_header(error, "has a 'shape' that is not a tuple of sizes");
    return NL_OK;
}

/* The dictionary: three keys, each once, in any order. */
static nl_status read_header(struct cursor in, struct layout *layout, nl_npy *npy, nl_error *error)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    unsigned seen = 0;
    if (!take(&in, '{'))
        return fail_header(error, "is not a dictionary");
    for (bool comma = true; !take(&in, '}'); comma = take(&in, ',')) {
        struct cursor key;
        size_t k = 0;
        if (!comma || !take_string(&in, &key) || !take(&in, ':'))
            return fail_header(error, "is damaged");
        while (k < 3 && !is_text(&key, keys[k]))
            k++;
        if (k == 3 || (seen & 1u << k))
            return fail_header(error, "has an unknown or repeated key");
        seen |= 1u << k;
        nl_status status = k == 0   ? read_type(&in, layout, error)
                           : k == 1 ? read_order(&in, layout, error)
                                    : read_shape(&in, npy, error);
        if (status != NL_OK)
            return status;
    }
    if (seen != 7)
        return fail_header(error, "lacks 'descr', 'fortran_order' or 'shape'");
    skip_spaces(&in);
    return in.at == in.end ? NL_OK : fail_header(error, "goes on after its dictionary");
}

/* Splits the file into header and values. */
static nl_status open_file(const void *bytes, size_t length, struct cursor *header,
                           struct cursor *values, nl_error *error)
{
    const unsigned char *file = bytes;
    if (length < MAGIC_LENGTH || memcmp(file, MAGIC, MAGIC_LENGTH) != 0)
        return nl_fail(error, NL_FORMAT, "this is not a .npy file; save the array with numpy.save");
    size_t fixed = length < 7 || file[6] == 1 ? 10 : 12; /* version 1 counts in 2 bytes, else 4 */
    if (length < fixed)
        return nl_fail(error, NL_FORMAT, "the .npy file ends before its header; it was cut short");
    if (file[6] < 1 || file[6] > 3 || file[7] != 0)
        return nl_fail(error, NL_UNSUPPORTED,
                       "the .npy file has format %d.%d; 1.0 to 3.0 are known", file[6], file[7]);
    size_t size = file[8] | (size_t)file[9] << 8;
    if (fixed == 12)
        size |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (size > length - fixed)
        return nl_fail(error, NL_FORMAT, "the .npy file ends within its header; it was cut short");
    *header = (struct cursor){(const char *)bytes + fixed, (const char *)bytes + fixed + size};
    *values = (struct cursor){header->end, (const char *)bytes + length};
    return NL_OK;
}

/* ---- reading values ---- */

/* Elements from one value to the next along each dimension, as stored. */
static void find_steps(const nl_npy *npy, bool fortran, size_t steps[NL_NPY_MAX_DIMS])
{
    size_t step = 1;
    for (size_t k = 0; k < npy->ndim; k++) {
        size_t dim = fortran ? k : npy->ndim - 1 - k;
        steps[dim] = step;
        step *= npy->shape[dim];
    }
}

static void read_values(const unsigned char *values, const struct layout *layout, nl_npy *npy)
{
    size_t steps[NL_NPY_MAX_DIMS] = {0}, index[NL_NPY_MAX_DIMS] = {0}, from = 0;
    find_steps(npy, layout->fortran, steps);
    for (size_t i = 0; i < npy->count; i++) {
        npy->data[i] = nl_number_read(values + from * layout->number.size, &layout->number);
        for (size_t dim = npy->ndim; dim-- > 0;) { /* count up, last index first */
            from += steps[dim];
            if (++index[dim] < npy->shape[dim])
                break;
            from -= steps[dim] * npy->shape[dim];
            index[dim] = 0;
        }
    }
}

/* Writes a number and returns the end; no zero. */
static char *put_size(char *at, size_t number)
{
    char digits[20];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

/* "2, 3": the place of value i, from 1. Room for 8 × 22 characters. */
static void put_place(const nl_npy *npy, size_t i, char *text)
{
    for (size_t dim = 0; dim < npy->ndim; dim++) {
        size_t inner = 1;
        for (size_t k = dim + 1; k < npy->ndim; k++)
            inner *= npy->shape[k];
        if (dim > 0) {
            *text++ = ',';
            *text++ = ' ';
        }
        text = put_size(text, i / inner % npy->shape[dim] + 1);
    }
    *text = 0;
}

static nl_status check_finite(const nl_npy *npy, nl_error *error)
{
    for (size_t i = 0; i < npy->count; i++) {
        if (isfinite(npy->data[i]))
            continue;
        char place[NL_NPY_MAX_DIMS * 22 + 1];
        put_place(npy, i, place);
        return nl_fail(
            error, NL_FORMAT,
            "the value at (%s) of the .npy array, counted from 1, is %s; replace it with "
            "a finite number",
            place, isnan(npy->data[i]) ? "NaN" : "infinite or beyond 3.4e38");
    }
    return NL_OK;
}

/* Values and bytes that the shape needs. */
static nl_status measure(nl_npy *npy, const struct layout *layout, size_t *bytes, nl_error *error)
{
    const size_t widest = 8;
    size_t product = widest; /* of all dimensions that are not empty: they must make sense, too */
    bool empty = false;
    for (size_t k = 0; k < npy->ndim; k++) {
        empty = empty || npy->shape[k] == 0;
        if (npy->shape[k] > 0 && __builtin_mul_overflow(product, npy->shape[k], &product))
            return fail_header(error, "has a 'shape' too large for any memory");
    }
    npy->count = empty ? 0 : product / widest;
    *bytes = npy->count * layout->number.size;
    return NL_OK;
}

static nl_status check_size(size_t held, size_t bytes, nl_error *error)
{
    if (held == bytes)
        return NL_OK;
    return nl_fail(error, NL_FORMAT,
                   held < bytes ? "the .npy file was cut short: it holds %zu bytes of values, its "
                                  "shape needs %zu"
                                : "the .npy file goes on after its array: it holds %zu bytes of "
                                  "values, its shape needs %zu; save one array a file",
                   held, bytes);
}

/* Everything in front of the values: *npy gets shape and count. */
static nl_status read_head(const void *bytes, size_t length, struct layout *layout, nl_npy *npy,
                           struct cursor *values, size_t *needed, nl_error *error)
{
    struct cursor header = {0};
    nl_status status = open_file(bytes, length, &header, values, error);
    if (status == NL_OK)
        status = read_header(header, layout, npy, error);
    if (status == NL_OK)
        status = measure(npy, layout, needed, error);
    return status;
}

nl_status nl_npy_read_head(const void *bytes, size_t length, struct nl_npy_head *head,
                           nl_error *error)
{
    struct cursor values = {0};
    struct layout layout = {0};
    nl_npy npy = {0};
    *head = (struct nl_npy_head){0};
    nl_status status = read_head(bytes, length, &layout, &npy, &values, &head->bytes, error);
    if (status == NL_OK) {
        head->length = (size_t)(values.at - (const char *)bytes);
        head->count = npy.count;
    }
    return status;
}

nl_status nl_npy_load(const void *bytes, size_t length, unsigned flags, nl_npy *npy,
                      nl_error *error)
{
    struct cursor values = {0};
    struct layout layout = {0};
    size_t needed = 0;
    *npy = (nl_npy){0};
    nl_status status = read_head(bytes, length, &layout, npy, &values, &needed, error);
    if (status == NL_OK)
        status = check_size((size_t)(values.end - values.at), needed, error);
    if (status != NL_OK)
        goto fail;
    npy->data = nl_alloc(npy->count, sizeof *npy->data);
    if (!npy->data) {
        status = nl_fail(error, NL_NOMEM, "no memory for a .npy array of %zu numbers", npy->count);
        goto fail;
    }
    read_values((const unsigned char *)values.at, &layout, npy);
    if (!(flags & NL_NPY_ALLOW_NONFINITE))
        status = check_finite(npy, error);
fail:
    if (status != NL_OK)
        nl_npy_free(npy);
    return status;
}

void nl_npy_free(nl_npy *npy)
{
    nl_free(npy->data);
    *npy = (nl_npy){0};
}

/* ---- writing ---- */

#define MAX_HEAD 384

/* Everything in front of the values, at most MAX_HEAD bytes; returns its length. */
static size_t put_head(char *head, const size_t *shape, size_t ndim)
{
    static const char start[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
    memcpy(head, MAGIC "\x01\x00", 8);
    char *at = head + 10;
    memcpy(at, start, sizeof start - 1);
    at += sizeof start - 1;
    size_t first_digits = 0;
    for (size_t k = 0; k < ndim; k++) {
        char *number = at;
        at = put_size(at, shape[k]);
        if (k == 0)
            first_digits = (size_t)(at - number);
        *at++ = ',';
        *at++ = ' ';
    }
    if (ndim > 0) /* (3,) but (3, 4) */
        at -= ndim == 1 ? 1 : 2;
    memcpy(at, "), }", 4);
    at += 4;
    size_t used = (size_t)(at - head) + 1 + (ndim > 0 ? GROWTH_DIGITS - first_digits : 0);
    size_t length = used + ALIGNMENT - used % ALIGNMENT; /* numpy pads a full line if it fits */
    memset(at, ' ', length - (size_t)(at - head));
    head[length - 1] = '\n';
    head[8] = (char)((length - 10) & 255);
    head[9] = (char)((length - 10) >> 8);
    return length;
}

static void put_values(unsigned char *out, const float *row, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &row[i], sizeof bits);
        for (size_t byte = 0; byte < 4; byte++)
            out[4 * i + byte] = (unsigned char)(bits >> 8 * byte);
    }
}

nl_status nl_npy_write_alloc(const float *data, size_t stride, const size_t *shape, size_t ndim,
                             void **bytes, size_t *length, nl_error *error)
{
    *bytes = NULL;
    *length = 0;
    if (ndim > NL_NPY_MAX_DIMS)
        return nl_fail(error, NL_INVALID, "a .npy array has at most %d dimensions, not %zu",
                       NL_NPY_MAX_DIMS, ndim);
    size_t cols = ndim > 0 ? shape[ndim - 1] : 1, rows = 1, count;
    if (ndim > 1 && stride < cols)
        return nl_fail(error, NL_INVALID, "rows of %zu values cannot be %zu values apart", cols,
                       stride);
    char head[MAX_HEAD];
    size_t head_length = put_head(head, shape, ndim), size;
    bool overflow = false;
    for (size_t k = 0; k + 1 < ndim; k++)
        overflow = __builtin_mul_overflow(rows, shape[k], &rows) || overflow;
    overflow = overflow || __builtin_mul_overflow(rows, cols, &count) ||
               __builtin_mul_overflow(count, sizeof *data, &size) ||
               __builtin_add_overflow(size, head_length, &size);
    unsigned char *file = overflow ? NULL : nl_alloc(size, 1);
    if (!file)
        return nl_fail(error, NL_NOMEM, "no memory to write a .npy array of %zu × %zu numbers",
                       rows, cols);
    memcpy(file, head, head_length);
    for (size_t i = 0; cols > 0 && i < rows; i++)
        put_values(file + head_length + i * cols * sizeof *data, data + i * stride, cols);
    *bytes = file;
    *length = size;
    return NL_OK;
}

void nl_npy_bytes_free(void **bytes)
{
    nl_free(*bytes);
    *bytes = NULL;
}
