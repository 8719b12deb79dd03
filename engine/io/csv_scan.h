/* SPDX-License-Identifier: MIT */
/*
 * The cells of a separated text, one after the other, without copying: separators, quotes, line
 * ends (CRLF, LF, CR) and blank lines are understood here and nowhere else. The text can be read
 * as often as wanted, so that a table needs memory for its answer only.
 */
#ifndef NL_CSV_SCAN_H
#define NL_CSV_SCAN_H

#include "nonlocal/base.h"

struct nl_csv_scan {
    const char *at;
    const char *end;
    const char *line_start;
    size_t line;
    char separator;
};

/* One cell: trimmed, without its outer quotes, in the memory of the text. */
struct nl_csv_cell {
    const char *text;
    size_t length;
    const char *start;      /* where it begins in the file, its quote included */
    const char *line_start; /* for nl_csv_column */
    size_t line;
    bool quoted; /* doubled quotes inside are still doubled: nl_csv_copy */
    bool last;   /* the record ends after it */
};

/*
 * Ready at the first record: skips a byte order mark, refuses what is not UTF-8 text with the
 * place, and finds out the separator from the first records.
 */
nl_status nl_csv_open(struct nl_csv_scan *scan, const char *text, size_t length, nl_error *error);

/* At the start of a record: skips blank lines; false at the end of the text. */
bool nl_csv_more(struct nl_csv_scan *scan);

/* The next cell; NL_FORMAT for a quote that never ends or is followed by text. */
nl_status nl_csv_next(struct nl_csv_scan *scan, struct nl_csv_cell *cell, nl_error *error);

/* The number of cells of the next record, 0 if there is none or it is malformed. */
size_t nl_csv_width(struct nl_csv_scan *scan);

/* The cell's place in its line in characters, from 1. */
size_t nl_csv_column(const struct nl_csv_cell *cell);

/*
 * The cell's text with single quotes for doubled ones and spaces for control characters, ended by
 * a zero; `out` has room for length + 1 bytes. Returns the length.
 */
size_t nl_csv_copy(const struct nl_csv_cell *cell, char *out);

#endif
