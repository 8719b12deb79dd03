/* SPDX-License-Identifier: MIT */
/*
 * Status codes, errors, version. Every other public header includes this one.
 *
 * Conventions of the whole library
 *   - Arrays are row-major float; strides count elements, not bytes.
 *   - A function that can fail returns nl_status and takes an optional nl_error as its last
 *     argument. The library never prints, exits, aborts or touches the locale.
 *   - Outputs are allocated by the caller unless the name ends in _alloc, _load or _create.
 *   - nl_x_free(&x) accepts an empty object and may be repeated.
 *   - Functions may be called from several threads at once as long as no object that one of them
 *     writes is used by another.
 */
#ifndef NONLOCAL_BASE_H
#define NONLOCAL_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define NL_API __declspec(dllexport)
#else
#define NL_API __attribute__((visibility("default")))
#endif

#if defined(__GNUC__)
#define NL_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define NL_PRINTF(format_at, first_at)
#endif

/* 0 is success; everything else is negative. */
typedef enum nl_status {
    NL_OK = 0,
    NL_INVALID = -1,     /* an argument or a combination of arguments makes no sense */
    NL_NOMEM = -2,       /* memory could not be had */
    NL_IO = -3,          /* a file could not be read or written */
    NL_FORMAT = -4,      /* the bytes are not what they claim to be */
    NL_LIMIT = -5,       /* larger than a stated limit */
    NL_CANCELLED = -6,   /* the caller asked to stop */
    NL_UNSUPPORTED = -7, /* understood, but not possible here */
} nl_status;

/*
 * What went wrong, for a person: one sentence without a final line break. line and column count
 * from 1 in text inputs, 0 where they have no meaning. The message is cut, never overrun.
 */
typedef struct nl_error {
    nl_status status;
    size_t line;
    size_t column;
    char message[400];
} nl_error;

/* The word for a status ("no memory"), never NULL, static storage. */
NL_API const char *nl_status_name(nl_status status);

/*
 * Fills *error (may be NULL) and returns status, so that a failing function ends in
 * `return nl_fail(error, NL_INVALID, "...")`.
 */
NL_API nl_status nl_fail(nl_error *error, nl_status status, const char *format, ...)
    NL_PRINTF(3, 4);

/* The same for text inputs, with the place. */
NL_API nl_status nl_fail_at(nl_error *error, nl_status status, size_t line, size_t column,
                            const char *format, ...) NL_PRINTF(5, 6);

/* The library's version, "major.minor.patch", static storage. */
NL_API const char *nl_version(void);

#ifdef __cplusplus
}
#endif

#endif
