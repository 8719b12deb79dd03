/* SPDX-License-Identifier: MIT */
#include "nonlocal/base.h"

#include <stdio.h>

const char *nl_status_name(nl_status status)
{
    switch (status) {
    case NL_OK:
        return "ok";
    case NL_INVALID:
        return "invalid argument";
    case NL_NOMEM:
        return "no memory";
    case NL_IO:
        return "input/output error";
    case NL_FORMAT:
        return "bad format";
    case NL_LIMIT:
        return "over a limit";
    case NL_CANCELLED:
        return "cancelled";
    case NL_UNSUPPORTED:
        return "unsupported";
    }
    return "unknown status";
}

static nl_status fill(nl_error *error, nl_status status, size_t line, size_t column,
                      const char *format, va_list arguments)
{
    if (error) {
        error->status = status;
        error->line = line;
        error->column = column;
        vsnprintf(error->message, sizeof error->message, format, arguments);
    }
    return status;
}

nl_status nl_fail(nl_error *error, nl_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

nl_status nl_fail_at(nl_error *error, nl_status status, size_t line, size_t column,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fill(error, status, line, column, format, arguments);
    va_end(arguments);
    return status;
}

const char *nl_version(void)
{
    return NL_VERSION;
}
