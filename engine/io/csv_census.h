/* SPDX-License-Identifier: MIT */
/*
 * What a separated text holds, before anything is read from it: for every column how many numbers,
 * texts and missing cells, and where the first of each is; and whether the first line is a header.
 */
#ifndef NL_CSV_CENSUS_H
#define NL_CSV_CENSUS_H

#include "io/csv_scan.h"
#include "io/texts.h"

enum nl_csv_kind { NL_CSV_NUMBER, NL_CSV_MISSING, NL_CSV_TEXT, NL_CSV_KINDS };

/* A cell and the record it is in, counted from 0 with the header. cell.text is NULL for "none". */
struct nl_csv_mark {
    struct nl_csv_cell cell;
    size_t record;
};

struct nl_csv_column {
    struct nl_csv_cell head; /* its cell in the first record, header or data */
    enum nl_csv_kind head_kind;
    bool head_again;   /* the head's text occurs further down */
    bool quoted_below; /* the second record quotes this column */
    size_t count[NL_CSV_KINDS];
    struct nl_csv_mark first[NL_CSV_KINDS];
    struct nl_csv_mark point, comma; /* the first numbers with either decimal mark */
};

/* Cells point into the text, which must outlive it. */
struct nl_csv_census {
    struct nl_csv_scan start; /* at the first record */
    struct nl_csv_column *columns;
    size_t width;
    size_t records; /* header included */
    bool header;
    struct nl_texts names; /* one a column */
};

/* Fills *census (start with {0}, whatever happens end with nl_csv_census_free). */
nl_status nl_csv_take_census(struct nl_csv_census *census, const char *text, size_t length,
                             nl_error *error);

void nl_csv_census_free(struct nl_csv_census *census);

/* *value is the number, NAN unless the cell is one that fits a float. */
enum nl_csv_kind nl_csv_read_cell(const struct nl_csv_census *census,
                                  const struct nl_csv_cell *cell, float *value);

/* For people: the data row of a record, from 1. */
static inline size_t nl_csv_data_row(const struct nl_csv_census *census, size_t record)
{
    return census->header ? record : record + 1;
}

/* Whether mark a is in front of mark b in the file; a mark of nothing is behind all others. */
static inline bool nl_csv_is_earlier(const struct nl_csv_mark *a, const struct nl_csv_mark *b)
{
    return a->cell.text && (!b->cell.text || a->cell.start < b->cell.start);
}

#endif
