/* SPDX-License-Identifier: MIT */
#include "io/csv_census.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "io/decimal.h"
#include "nonlocal/table.h"

static nl_status out_of_memory(nl_error *error)
{
    return nl_fail(error, NL_NOMEM, "no memory to read the table's columns");
}

static bool same_word(const struct nl_csv_cell *cell, const char *word)
{
    size_t i = 0;
    for (; i < cell->length && word[i]; i++) {
        char byte = cell->text[i];
        if (byte >= 'A' && byte <= 'Z')
            byte = (char)(byte - 'A' + 'a');
        if (byte != word[i])
            return false;
    }
    return i == cell->length && !word[i];
}

static bool is_missing_word(const struct nl_csv_cell *cell)
{
    static const char *const words[] = {"na", "nan", "n/a", "#n/a", "null", "?", "inf", "infinity"};
    struct nl_csv_cell bare = *cell;
    if (bare.length > 3 && (bare.text[0] == '-' || bare.text[0] == '+')) { /* -inf, -nan */
        bare.text++;
        bare.length--;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same_word(&bare, words[i]))
            return true;
    return cell->length == 0;
}

enum nl_csv_kind nl_csv_read_cell(const struct nl_csv_census *census,
                                  const struct nl_csv_cell *cell, float *value)
{
    bool comma = census->start.separator == ';';
    bool number = nl_decimal_parse(cell->text, cell->length, comma, value);
    if (number && isfinite(*value))
        return NL_CSV_NUMBER;
    *value = NAN;
    return number || is_missing_word(cell) ? NL_CSV_MISSING : NL_CSV_TEXT;
}

static void count_cell(const struct nl_csv_census *census, struct nl_csv_column *column,
                       const struct nl_csv_cell *cell, size_t record)
{
    float value;
    enum nl_csv_kind kind = nl_csv_read_cell(census, cell, &value);
    struct nl_csv_mark here = {*cell, record};
    if (record == 0) {
        column->head = *cell;
        column->head_kind = kind;
        return;
    }
    if (record == 1)
        column->quoted_below = cell->quoted;
    if (column->count[kind]++ == 0)
        column->first[kind] = here;
    if (kind == NL_CSV_TEXT && cell->length == column->head.length &&
        memcmp(cell->text, column->head.text, cell->length) == 0)
        column->head_again = true;
    if (kind == NL_CSV_NUMBER && !column->point.cell.text && memchr(cell->text, '.', cell->length))
        column->point = here;
    if (kind == NL_CSV_NUMBER && !column->comma.cell.text && memchr(cell->text, ',', cell->length))
        column->comma = here;
}

static nl_status census_record(struct nl_csv_census *census, struct nl_csv_scan *scan,
                               nl_error *error)
{
    struct nl_csv_cell cell, odd = {0}; /* odd: the last cell, or the first beyond the width */
    size_t cells = 0;
    do {
        nl_status status = nl_csv_next(scan, &cell, error);
        if (status != NL_OK)
            return status;
        if (cells < census->width)
            count_cell(census, &census->columns[cells], &cell, census->records);
        if (cells <= census->width)
            odd = cell;
        cells++;
    } while (!cell.last);
    if (cells != census->width)
        return nl_fail_at(error, NL_FORMAT, odd.line, nl_csv_column(&odd),
                          "this line has %zu cell%s, the first line has %zu; correct it, or put "
                          "quotes around a cell that contains the separator",
                          cells, cells == 1 ? "" : "s", census->width);
    census->records++;
    return NL_OK;
}

static nl_status measure_width(struct nl_csv_census *census, nl_error *error)
{
    struct nl_csv_scan scan = census->start;
    if (!nl_csv_more(&scan))
        return nl_fail(error, NL_FORMAT,
                       "the table is empty; it needs a line of column names and at least one row "
                       "of numbers");
    struct nl_csv_cell cell;
    do {
        nl_status status = nl_csv_next(&scan, &cell, error);
        if (status != NL_OK)
            return status;
        if (++census->width > NL_TABLE_MAX_COLUMNS)
            return nl_fail_at(error, NL_LIMIT, cell.line, nl_csv_column(&cell),
                              "the table has more than %d columns; leave some out",
                              NL_TABLE_MAX_COLUMNS);
    } while (!cell.last);
    return NL_OK;
}

static nl_status fail_rows(nl_error *error)
{
    return nl_fail(error, NL_LIMIT, "the table has more than %d rows; leave some out",
                   NL_TABLE_MAX_ROWS);
}

static nl_status count_cells(struct nl_csv_census *census, nl_error *error)
{
    nl_status status = NL_OK;
    census->columns = nl_alloc(census->width, sizeof *census->columns);
    if (!census->columns)
        return out_of_memory(error);
    struct nl_csv_scan scan = census->start;
    while (status == NL_OK && nl_csv_more(&scan)) {
        if (census->records > NL_TABLE_MAX_ROWS)
            return fail_rows(error);
        status = census_record(census, &scan, error);
    }
    return status;
}

/* ---- header ---- */

/* An empty cell, then 0, 1, 2, ... or 1, 2, 3, ...: what pandas and R write above row names. */
static bool head_counts_up(const struct nl_csv_census *census)
{
    if (census->width < 3 || census->columns[0].head.length > 0)
        return false;
    float first = 0, value;
    for (size_t c = 1; c < census->width; c++) {
        if (nl_csv_read_cell(census, &census->columns[c].head, &value) != NL_CSV_NUMBER)
            return false;
        if (c == 1)
            first = value;
        if ((first != 0 && first != 1) || value != first + (float)(c - 1))
            return false;
    }
    return true;
}

static bool is_header(const struct nl_csv_census *census)
{
    size_t numbers = 0, texts = 0, texts_again = 0;
    for (size_t c = 0; c < census->width; c++) {
        const struct nl_csv_column *column = &census->columns[c];
        bool number = column->head_kind == NL_CSV_NUMBER;
        if (number && column->head.quoted && census->records > 1 && !column->quoted_below)
            return true; /* "2019" above 0.5: R quotes names, not numbers */
        numbers += number;
        texts += column->head_kind == NL_CSV_TEXT;
        texts_again += column->head_kind == NL_CSV_TEXT && column->head_again;
    }
    if (numbers == 0)
        return texts > 0;
    return texts == 0 ? head_counts_up(census) : texts_again < texts;
}

/* Adds the first record to the counts of its columns, in front of all others. */
static void count_head_as_data(struct nl_csv_census *census)
{
    for (size_t c = 0; c < census->width; c++) {
        struct nl_csv_column *column = &census->columns[c];
        struct nl_csv_mark here = {column->head, 0};
        column->count[column->head_kind]++;
        column->first[column->head_kind] = here;
        if (column->head_kind == NL_CSV_NUMBER && memchr(here.cell.text, '.', here.cell.length))
            column->point = here;
        if (column->head_kind == NL_CSV_NUMBER && memchr(here.cell.text, ',', here.cell.length))
            column->comma = here;
    }
}

static nl_status add_name(struct nl_csv_census *census, size_t c, nl_error *error)
{
    const struct nl_csv_cell *head = &census->columns[c].head;
    bool named = census->header && head->length > 0;
    char *name = nl_texts_add(&census->names, named ? head->length : 5);
    if (!name)
        return out_of_memory(error);
    if (named) {
        nl_csv_copy(head, name);
        return NL_OK;
    }
    *name++ = 'V';
    for (size_t unit = 1000, number = c + 1; unit > 0; unit /= 10)
        if (number >= unit)
            *name++ = (char)('0' + number / unit % 10);
    *name = 0;
    return NL_OK;
}

static nl_status find_header(struct nl_csv_census *census, nl_error *error)
{
    nl_status status = NL_OK;
    census->header = is_header(census);
    if (!census->header)
        count_head_as_data(census);
    for (size_t c = 0; status == NL_OK && c < census->width; c++)
        status = add_name(census, c, error);
    if (status == NL_OK && census->records == (census->header ? 1u : 0u))
        status = nl_fail(error, NL_FORMAT,
                         "the table has column names but no data rows; it needs at least one row "
                         "of numbers");
    if (status == NL_OK && !census->header && census->records > NL_TABLE_MAX_ROWS)
        status = fail_rows(error);
    return status;
}

nl_status nl_csv_take_census(struct nl_csv_census *census, const char *text, size_t length,
                             nl_error *error)
{
    nl_status status = nl_csv_open(&census->start, text, length, error);
    if (status == NL_OK)
        status = measure_width(census, error);
    if (status == NL_OK)
        status = count_cells(census, error);
    if (status == NL_OK)
        status = find_header(census, error);
    return status;
}

void nl_csv_census_free(struct nl_csv_census *census)
{
    nl_free(census->columns);
    nl_texts_free(&census->names);
    *census = (struct nl_csv_census){0};
}
