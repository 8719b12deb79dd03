/* SPDX-License-Identifier: MIT */
#include "io/csv_scan.h"

#include <string.h>

#include "io/utf8.h"

#define RECORDS_LOOKED_AT 16 /* to find out the separator */

static bool is_blank(const struct nl_csv_scan *scan, char byte)
{
    return byte == ' ' || (byte == '\t' && scan->separator != '\t');
}

static const char *skip_blanks(const struct nl_csv_scan *scan, const char *at)
{
    while (at < scan->end && is_blank(scan, *at))
        at++;
    return at;
}

/* Behind the line end at `at`, a CRLF counting as one. */
static const char *take_line_end(struct nl_csv_scan *scan, const char *at)
{
    at += at[0] == '\r' && scan->end - at > 1 && at[1] == '\n' ? 2 : 1;
    scan->line++;
    scan->line_start = at;
    return at;
}

static bool is_line_end(char byte)
{
    return byte == '\n' || byte == '\r';
}

bool nl_csv_more(struct nl_csv_scan *scan)
{
    for (;;) {
        const char *at = skip_blanks(scan, scan->at);
        if (at == scan->end)
            return false;
        if (!is_line_end(*at))
            return true;
        scan->at = take_line_end(scan, at);
    }
}

/* From behind the opening quote to the closing one; NULL if there is none. */
static const char *find_closing_quote(struct nl_csv_scan *scan, const char *at)
{
    while (at < scan->end) {
        if (is_line_end(*at)) {
            at = take_line_end(scan, at);
        } else if (*at != '"') {
            at++;
        } else if (scan->end - at > 1 && at[1] == '"') {
            at += 2;
        } else {
            return at;
        }
    }
    return NULL;
}

static void trim(struct nl_csv_cell *cell)
{
    while (cell->length > 0 && (*cell->text == ' ' || *cell->text == '\t')) {
        cell->text++;
        cell->length--;
    }
    while (cell->length > 0 &&
           (cell->text[cell->length - 1] == ' ' || cell->text[cell->length - 1] == '\t'))
        cell->length--;
}

nl_status nl_csv_next(struct nl_csv_scan *scan, struct nl_csv_cell *cell, nl_error *error)
{
    const char *at = skip_blanks(scan, scan->at);
    *cell = (struct nl_csv_cell){
        .text = at, .start = at, .line_start = scan->line_start, .line = scan->line};
    if (at < scan->end && *at == '"') {
        cell->quoted = true;
        cell->text = at + 1;
        at = find_closing_quote(scan, at + 1);
        if (!at)
            return nl_fail_at(error, NL_FORMAT, cell->line, nl_csv_column(cell),
                              "the quote opened here is never closed; close it, or double the "
                              "quotes inside a quoted cell");
        cell->length = (size_t)(at - cell->text);
        at = skip_blanks(scan, at + 1);
        if (at < scan->end && *at != scan->separator && !is_line_end(*at))
            return nl_fail_at(error, NL_FORMAT, cell->line, nl_csv_column(cell),
                              "text follows the closing quote of this cell; double the quotes "
                              "inside a quoted cell");
    } else {
        while (at < scan->end && *at != scan->separator && !is_line_end(*at))
            at++;
        cell->length = (size_t)(at - cell->text);
    }
    trim(cell);
    cell->last = at == scan->end || *at != scan->separator;
    if (at < scan->end)
        at = cell->last ? take_line_end(scan, at) : at + 1;
    scan->at = at;
    return NL_OK;
}

size_t nl_csv_width(struct nl_csv_scan *scan)
{
    if (!nl_csv_more(scan))
        return 0;
    struct nl_csv_cell cell;
    size_t width = 0;
    do {
        if (nl_csv_next(scan, &cell, NULL) != NL_OK)
            return 0;
        width++;
    } while (!cell.last);
    return width;
}

size_t nl_csv_column(const struct nl_csv_cell *cell)
{
    size_t column = 1;
    for (const char *at = cell->line_start; at < cell->start; at++)
        column += ((unsigned char)*at & 0xc0) != 0x80; /* continuation bytes do not count */
    return column;
}

size_t nl_csv_copy(const struct nl_csv_cell *cell, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < cell->length; i++) {
        char byte = cell->text[i];
        if (cell->quoted && byte == '"')
            i++; /* trimmed or not, quotes inside come in pairs */
        out[length++] = (unsigned char)byte < 0x20 || byte == 0x7f ? ' ' : byte;
    }
    out[length] = 0;
    return length;
}

static nl_status check_utf8(struct nl_csv_scan scan, nl_error *error)
{
    while (scan.at < scan.end) {
        if (is_line_end(*scan.at)) {
            scan.at = take_line_end(&scan, scan.at);
            continue;
        }
        size_t length =
            nl_utf8_length((const unsigned char *)scan.at, (size_t)(scan.end - scan.at));
        if (length == 0) {
            struct nl_csv_cell here = {.start = scan.at, .line_start = scan.line_start};
            if (*scan.at == 0)
                return nl_fail_at(error, NL_FORMAT, scan.line, nl_csv_column(&here),
                                  "this is not a text file (it has a zero byte here); save the "
                                  "table as CSV in UTF-8");
            return nl_fail_at(error, NL_FORMAT, scan.line, nl_csv_column(&here),
                              "the byte %#x here is not UTF-8 text; save the table as CSV in UTF-8",
                              (unsigned)(unsigned char)*scan.at);
        }
        scan.at += length;
    }
    return NL_OK;
}

/* How many of the first records a separator cuts into equally many cells; 0 for one cell each. */
static size_t count_equal_records(struct nl_csv_scan scan, char separator)
{
    scan.separator = separator;
    size_t width = nl_csv_width(&scan), records = 1;
    if (width < 2)
        return 0;
    while (records < RECORDS_LOOKED_AT && nl_csv_width(&scan) == width)
        records++;
    return records;
}

/* Tab before semicolon before comma where they do equally well: commas also stand in decimals. */
static char find_separator(const struct nl_csv_scan *scan)
{
    static const char candidates[] = {'\t', ';', ','};
    char found = ',';
    size_t most = 0;
    for (size_t i = 0; i < sizeof candidates; i++) {
        size_t records = count_equal_records(*scan, candidates[i]);
        if (records > most) {
            most = records;
            found = candidates[i];
        }
    }
    return found;
}

nl_status nl_csv_open(struct nl_csv_scan *scan, const char *text, size_t length, nl_error *error)
{
    if (length >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return nl_fail_at(error, NL_FORMAT, 1, 1,
                          "the file is UTF-16; save the table as CSV in UTF-8");
    size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *scan = (struct nl_csv_scan){.at = text, .end = text, .line_start = text, .line = 1};
    if (length == 0) /* text may be NULL */
        return NL_OK;
    scan->at += mark;
    scan->line_start += mark;
    scan->end += length;
    nl_status status = check_utf8(*scan, error);
    if (status == NL_OK)
        scan->separator = find_separator(scan);
    return status;
}
