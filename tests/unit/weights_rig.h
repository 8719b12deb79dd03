/* SPDX-License-Identifier: MIT */
/* The sample files of tests/golden/make_weights.py, and what any file of weights must withstand. */
#ifndef WEIGHTS_RIG_H
#define WEIGHTS_RIG_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "nonlocal/weights.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct file {
    uint8_t *bytes;
    size_t length;
};

/* A sample in a block of exact size, so that a sanitizer sees a byte read too far. */
static inline struct file read_sample(const char *name)
{
    static uint8_t buffer[65536];
    char path[1024];
    struct file file = {0};
    snprintf(path, sizeof path, "%s/%s", NL_TEST_WEIGHTS, name);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("%s cannot be opened", path);
    file.length = fread(buffer, 1, sizeof buffer, stream);
    fclose(stream);
    assert_in_range(file.length, 1, sizeof buffer - 1);
    file.bytes = malloc(file.length);
    assert_non_null(file.bytes);
    memcpy(file.bytes, buffer, file.length);
    return file;
}

/* One sentence for a person: not empty, not cut, no line break. */
static inline void check_message(const nl_error *error, nl_status status)
{
    size_t length = strlen(error->message);
    assert_int_equal(error->status, status);
    assert_in_range(length, 10, sizeof error->message - 1);
    assert_null(strchr(error->message, '\n'));
}

static inline nl_tensors load_sample(const char *name)
{
    nl_error error = {.message = ""};
    nl_tensors tensors;
    struct file file = read_sample(name);
    if (nl_tensors_load(file.bytes, file.length, &tensors, &error) != NL_OK)
        fail_msg("%s: %s", name, error.message);
    free(file.bytes);
    return tensors;
}

/* Loads and picks for every system from a copy of exact size; nothing stays behind. */
static inline nl_status try_bytes(const uint8_t *bytes, size_t length)
{
    nl_error error = {.message = ""};
    nl_tensors tensors;
    uint8_t *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    nl_status status = nl_tensors_load(copy, length, &tensors, &error);
    free(copy);
    if (status != NL_OK) {
        check_message(&error, status);
        assert_null(tensors.items);
    }
    for (int s = 0; status == NL_OK && s < NL_SYSTEM_COUNT; s++) {
        nl_weights weights;
        if (nl_weights_pick(&tensors, (nl_system_id)s, 6, NL_CONCAT, &weights, &error) != NL_OK)
            check_message(&error, error.status);
        nl_weights_free(&weights);
    }
    nl_tensors_free(&tensors);
    assert_int_equal(nl_alloc_live(), 0);
    return status;
}

/* The error's status; its words hold `words`. */
static inline void expect_refused(const uint8_t *bytes, size_t length, nl_status status,
                                  const char *words)
{
    nl_error error = {.message = ""};
    nl_tensors tensors;
    nl_status found = nl_tensors_load(bytes, length, &tensors, &error);
    if (found != status || !strstr(error.message, words))
        fail_msg("expected %s with '%s', found %s: %s", nl_status_name(status), words,
                 nl_status_name(found), error.message);
    assert_null(tensors.items);
    assert_int_equal(nl_alloc_live(), 0);
}

static inline void expect_values(const nl_tensors *tensors, const char *name,
                                 const double *expected, size_t count)
{
    const nl_tensor *tensor = nl_tensors_find(tensors, name);
    assert_non_null(tensor);
    assert_int_equal(tensor->count, count);
    assert_string_equal(tensor->problem, "");
    for (size_t i = 0; i < count; i++)
        if (tensor->data[i] != (float)expected[i] ||
            !signbit(tensor->data[i]) != !signbit((float)expected[i]))
            fail_msg("%s[%zu] is %.9g, expected %.9g", name, i, (double)tensor->data[i],
                     expected[i]);
}

static inline void withstand_truncation(const char *name)
{
    struct file file = read_sample(name);
    for (size_t length = 0; length < file.length; length++)
        if (try_bytes(file.bytes, length) == NL_OK)
            fail_msg("%s cut to %zu of %zu bytes was read", name, length, file.length);
    free(file.bytes);
}

/* splitmix64 */
static inline uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 2,000 bytes changed, one at a time; returns how many of these files were read. */
static inline size_t withstand_corruption(const char *name)
{
    struct file file = read_sample(name);
    uint64_t seed = 1;
    size_t read = 0;
    for (int round = 0; round < 2000; round++) {
        size_t at = (size_t)(next_random(&seed) % file.length);
        uint8_t before = file.bytes[at];
        file.bytes[at] = (uint8_t)next_random(&seed);
        nl_status status = try_bytes(file.bytes, file.length);
        assert_true(status == NL_OK || status == NL_FORMAT || status == NL_LIMIT ||
                    status == NL_UNSUPPORTED);
        read += status == NL_OK;
        file.bytes[at] = before;
    }
    free(file.bytes);
    return read;
}

/* Loading and picking, with each allocation failing once. */
static inline void withstand_lack_of_memory(const char *name, nl_system_id system,
                                            nl_similarity_id similarity)
{
    struct file file = read_sample(name);
    nl_status status = NL_NOMEM;
    long allocation = 0;
    for (; status != NL_OK && allocation < 1000; allocation++) {
        nl_error error = {.message = ""};
        nl_tensors tensors;
        nl_weights weights = {0};
        nl_alloc_fail_after(allocation);
        status = nl_tensors_load(file.bytes, file.length, &tensors, &error);
        if (status == NL_OK)
            status = nl_weights_pick(&tensors, system, 6, similarity, &weights, &error);
        nl_alloc_fail_after(-1);
        if (status != NL_OK && status != NL_NOMEM)
            fail_msg("%s, allocation %ld: %s", name, allocation, error.message);
        if (status != NL_OK)
            check_message(&error, NL_NOMEM);
        nl_weights_free(&weights);
        nl_tensors_free(&tensors);
        assert_int_equal(nl_alloc_live(), 0);
    }
    assert_in_range(allocation, 10, 999);
    free(file.bytes);
}

#endif
