/* SPDX-License-Identifier: MIT */
/* A table of named numeric columns, with a class label for each row where the file has one. */
#ifndef NONLOCAL_TABLE_H
#define NONLOCAL_TABLE_H

#include "nonlocal/base.h"
#include "nonlocal/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NL_TABLE_MAX_ROWS 1000000
#define NL_TABLE_MAX_COLUMNS 4096

/* What to do about cells without a finite number. */
typedef enum nl_missing {
    NL_MISSING_REFUSE, /* fail and name the first one */
    NL_MISSING_DROP,   /* leave out every row that has one in a used column */
    NL_MISSING_MEAN,   /* put the mean of the column's other cells there */
} nl_missing;

/* Strings are UTF-8, only read during the call. */
typedef struct nl_csv_params {
    const char *label;   /* column with the class of each row; NULL (default): the first text column
                            in which a text repeats; "": no labels */
    const char *columns; /* names of the columns to use, in this order, between commas, a name with
                            a comma in "quotes"; NULL (default): every numeric column except the
                            label and row names */
    nl_missing missing;  /* default NL_MISSING_REFUSE */
} nl_csv_params;

/* Everything in it is owned by the table and ended by nl_table_free. */
typedef struct nl_table {
    nl_matrix values;    /* rows × used columns, every one finite */
    char **names;        /* values.cols names, UTF-8 */
    size_t *row_numbers; /* values.rows data rows of the file, from 1, ascending */
    char *label_name;    /* NULL without labels */
    int *labels;         /* values.rows indices into classes; NULL without labels */
    char **classes;      /* class_count names, in the order in which they first appear */
    size_t class_count;
    bool header;           /* the names come from the file's first line */
    size_t rows_read;      /* data rows in the file */
    size_t rows_dropped;   /* of these, left out (NL_MISSING_DROP) */
    size_t missing;        /* missing cells in the used columns of the file */
    size_t missing_row;    /* the first of them: its data row, from 1 (0: none) */
    size_t missing_line;   /* its line in the file, from 1 */
    size_t missing_column; /* its index into names */
} nl_table;

NL_API void nl_csv_params_init(nl_csv_params *params);

/*
 * Reads `length` bytes of separated text (they need no final zero and may go afterwards).
 * params NULL means the defaults. On failure the table is empty.
 *
 * Text: UTF-8, with or without byte order mark; lines end in CRLF, LF or CR; blank lines are
 * skipped. The separator is a tab, semicolon or comma, found from the first 16 lines. Cells may be
 * quoted, with doubled quotes and line ends inside; blanks around cells do not count. A decimal
 * comma is read where the separator is a semicolon, but not beside decimal points.
 *
 * Header: the first line, unless its cells are all numbers or missing, or numbers beside texts that
 * occur again in their columns; then columns are called V1, V2, ... An unnamed first column under a
 * header holds row names, as R and pandas write them: it is called V1, and not used unless asked
 * for. Such files count as having a header where it consists of numbers, too.
 *
 * Columns: numeric is a column with at least one number and no more texts than numbers. A text in
 * a used column is an error. Missing are empty cells, NA, N/A, #N/A, NaN, null, ?, inf, infinity in
 * any case, and numbers beyond the range of float. An empty label belongs to the class "NA". The
 * automatic choice of a label looks at the first 32 text columns.
 *
 * Errors: NL_FORMAT with line and column of the place (data rows in messages count from 1),
 * NL_INVALID for a column that does not exist, NL_LIMIT beyond NL_TABLE_MAX_*, NL_NOMEM.
 */
NL_API nl_status nl_table_load_csv(const void *bytes, size_t length, const nl_csv_params *params,
                                   nl_table *table, nl_error *error);

NL_API void nl_table_free(nl_table *table);

#ifdef __cplusplus
}
#endif

#endif
