/* SPDX-License-Identifier: MIT */
/*
 * Separated text to a table, in passes over the same bytes: the census of its columns, decisions
 * taken from that, the values, the labels. Memory for the answer is all that grows with the rows.
 */
#include "nonlocal/table.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "io/csv_census.h"

struct reader {
    struct nl_csv_census census;
    size_t *used; /* the columns to read, in the order wanted */
    size_t used_count;
    size_t label; /* a column, NONE or AUTOMATIC */
};

#define NONE SIZE_MAX
#define AUTOMATIC (SIZE_MAX - 1)
#define AUTOMATIC_LABELS_TRIED 32

static nl_status out_of_memory(nl_error *error)
{
    return nl_fail(error, NL_NOMEM, "no memory for this table");
}

static struct nl_excerpt cell_excerpt(const struct nl_csv_cell *cell)
{
    return nl_excerpt(cell->text, cell->length);
}

static struct nl_excerpt name_excerpt(const struct reader *reader, size_t column)
{
    const char *name = nl_texts_at(&reader->census.names, column);
    return nl_excerpt(name, strlen(name));
}

/* ---- which columns ---- */

static nl_status find_column(const struct reader *reader, const char *name, size_t *column,
                             nl_error *error)
{
    struct nl_excerpt shown = nl_excerpt(name, strlen(name));
    *column = NONE;
    for (size_t c = 0; c < reader->census.width; c++) {
        if (strcmp(nl_texts_at(&reader->census.names, c), name) != 0)
            continue;
        if (*column != NONE)
            return nl_fail(error, NL_INVALID,
                           "columns %zu and %zu are both called \"%s\"; rename one of them",
                           *column + 1, c + 1, shown.text);
        *column = c;
    }
    if (*column != NONE)
        return NL_OK;
    return nl_fail(error, NL_INVALID, "there is no column \"%s\"; the columns are: %s", shown.text,
                   nl_listing(&reader->census.names).text);
}

static nl_status use_named(struct reader *reader, const struct nl_csv_cell *cell, nl_error *error)
{
    char *name = nl_alloc(cell->length + 1, 1);
    if (!name)
        return out_of_memory(error);
    nl_csv_copy(cell, name);
    size_t column;
    nl_status status = find_column(reader, name, &column, error);
    for (size_t k = 0; status == NL_OK && k < reader->used_count; k++)
        if (reader->used[k] == column)
            status = nl_fail(error, NL_INVALID, "the column \"%s\" is asked for twice",
                             name_excerpt(reader, column).text);
    if (status == NL_OK)
        reader->used[reader->used_count++] = column;
    nl_free(name);
    return status;
}

/* "A,B": the list is itself a line of separated text. */
static nl_status use_list(struct reader *reader, const char *list, nl_error *error)
{
    struct nl_csv_scan scan = {list, list + strlen(list), list, 1, ','};
    struct nl_csv_cell cell = {.last = true};
    nl_status status = NL_OK;
    while (status == NL_OK && (!cell.last || nl_csv_more(&scan))) {
        if (nl_csv_next(&scan, &cell, NULL) != NL_OK)
            return nl_fail(error, NL_INVALID, "the list of columns has a stray quote: %s",
                           nl_excerpt(list, strlen(list)).text);
        status = use_named(reader, &cell, error);
    }
    if (status == NL_OK && reader->used_count == 0)
        status = nl_fail(error, NL_INVALID, "the list of columns is empty; name at least one");
    return status;
}

static bool is_numeric(const struct nl_csv_column *column)
{
    return column->count[NL_CSV_NUMBER] > 0 &&
           column->count[NL_CSV_NUMBER] >= column->count[NL_CSV_TEXT];
}

static nl_status use_all_numeric(struct reader *reader, nl_error *error)
{
    for (size_t c = 0; c < reader->census.width; c++) {
        bool row_names = c == 0 && reader->census.width > 1 && reader->census.header &&
                         reader->census.columns[c].head.length == 0;
        if (is_numeric(&reader->census.columns[c]) && c != reader->label && !row_names)
            reader->used[reader->used_count++] = c;
    }
    if (reader->used_count > 0)
        return NL_OK;
    return nl_fail(error, NL_FORMAT, "the table has no column of numbers; the columns are: %s",
                   nl_listing(&reader->census.names).text);
}

static nl_status choose_columns(struct reader *reader, const nl_csv_params *params, nl_error *error)
{
    reader->label = params->label ? NONE : AUTOMATIC;
    if (params->label && params->label[0]) {
        nl_status status = find_column(reader, params->label, &reader->label, error);
        if (status != NL_OK)
            return status;
    }
    reader->used = nl_alloc(reader->census.width, sizeof *reader->used);
    if (!reader->used)
        return out_of_memory(error);
    return params->columns ? use_list(reader, params->columns, error)
                           : use_all_numeric(reader, error);
}

/* ---- are the used columns sound? ---- */

/* The first cell of a kind in the used columns; its cell.text is NULL if there is none. */
static struct nl_csv_mark first_of(const struct reader *reader, enum nl_csv_kind kind,
                                   size_t *k_first)
{
    struct nl_csv_mark first = {{0}, 0};
    for (size_t k = 0; k < reader->used_count; k++) {
        const struct nl_csv_column *column = &reader->census.columns[reader->used[k]];
        if (column->count[kind] > 0 && nl_csv_is_earlier(&column->first[kind], &first)) {
            first = column->first[kind];
            *k_first = k;
        }
    }
    return first;
}

static nl_status fail_text(const struct reader *reader, const struct nl_csv_mark *text, size_t k,
                           nl_error *error)
{
    return nl_fail_at(error, NL_FORMAT, text->cell.line, nl_csv_column(&text->cell),
                      "row %zu, column \"%s\": \"%s\" is not a number; correct it, or leave the "
                      "column out",
                      nl_csv_data_row(&reader->census, text->record),
                      name_excerpt(reader, reader->used[k]).text, cell_excerpt(&text->cell).text);
}

static nl_status fail_missing(const struct reader *reader, const nl_table *table,
                              const struct nl_csv_mark *cell, nl_error *error)
{
    struct nl_excerpt found = cell_excerpt(&cell->cell);
    const char *quote = cell->cell.length > 0 ? "\"" : "";
    struct nl_excerpt name = name_excerpt(reader, reader->used[table->missing_column]);
    return nl_fail_at(error, NL_FORMAT, cell->cell.line, nl_csv_column(&cell->cell),
                      "row %zu, column \"%s\" has no number (%s%s%s), the first of %zu missing "
                      "cell%s; correct the file, or let missing cells drop their row or take the "
                      "column's mean",
                      table->missing_row, name.text, quote,
                      cell->cell.length > 0 ? found.text : "empty", quote, table->missing,
                      table->missing == 1 ? "" : "s");
}

/* 1.234 beside 0,5 may be a thousand or a little more than one: nobody but the author knows. */
static nl_status check_decimal_marks(const struct reader *reader, nl_error *error)
{
    struct nl_csv_mark point = {{0}, 0}, comma = {{0}, 0};
    for (size_t k = 0; k < reader->used_count; k++) {
        const struct nl_csv_column *column = &reader->census.columns[reader->used[k]];
        if (nl_csv_is_earlier(&column->point, &point))
            point = column->point;
        if (nl_csv_is_earlier(&column->comma, &comma))
            comma = column->comma;
    }
    if (!point.cell.text || !comma.cell.text)
        return NL_OK;
    const struct nl_csv_mark *later = nl_csv_is_earlier(&point, &comma) ? &comma : &point;
    return nl_fail_at(
        error, NL_FORMAT, later->cell.line, nl_csv_column(&later->cell),
        "row %zu has the decimal comma of \"%s\", row %zu the decimal point of "
        "\"%s\"; use one of them throughout",
        nl_csv_data_row(&reader->census, comma.record), cell_excerpt(&comma.cell).text,
        nl_csv_data_row(&reader->census, point.record), cell_excerpt(&point.cell).text);
}

/* Notes the missing cells in the table; fails for the first fault in the file's own order. */
static nl_status check_columns(const struct reader *reader, nl_missing missing, nl_table *table,
                               nl_error *error)
{
    size_t k_text = 0;
    struct nl_csv_mark text = first_of(reader, NL_CSV_TEXT, &k_text);
    struct nl_csv_mark gap = first_of(reader, NL_CSV_MISSING, &table->missing_column);
    for (size_t k = 0; k < reader->used_count; k++)
        table->missing += reader->census.columns[reader->used[k]].count[NL_CSV_MISSING];
    table->header = reader->census.header;
    table->rows_read = reader->census.records - (reader->census.header ? 1 : 0);
    table->missing_line = gap.cell.line;
    table->missing_row = gap.cell.text ? nl_csv_data_row(&reader->census, gap.record) : 0;
    bool refused = missing == NL_MISSING_REFUSE && gap.cell.text;
    if (text.cell.text && !(refused && nl_csv_is_earlier(&gap, &text)))
        return fail_text(reader, &text, k_text, error);
    if (refused)
        return fail_missing(reader, table, &gap, error);
    return check_decimal_marks(reader, error);
}

/* ---- values ---- */

/* The used cells of the next record into a row of the matrix, NAN where one is missing. */
static nl_status read_row(const struct reader *reader, struct nl_csv_scan *scan,
                          const size_t *target, float *row, bool *missing, nl_error *error)
{
    struct nl_csv_cell cell;
    *missing = false;
    for (size_t c = 0; c < reader->census.width; c++) {
        nl_status status = nl_csv_next(scan, &cell, error);
        if (status != NL_OK)
            return status;
        if (target[c] == NONE)
            continue;
        if (nl_csv_read_cell(&reader->census, &cell, &row[target[c]]) != NL_CSV_NUMBER)
            *missing = true;
    }
    return NL_OK;
}

/* Rows come close together where others are dropped, so rows_read rows are enough for all. */
static nl_status read_rows(const struct reader *reader, nl_missing missing, const size_t *target,
                           nl_table *table, nl_error *error)
{
    struct nl_csv_scan scan = reader->census.start;
    size_t kept = 0;
    for (size_t record = 0; nl_csv_more(&scan); record++) {
        if (record == 0 && reader->census.header) {
            nl_csv_width(&scan);
            continue;
        }
        bool gap;
        nl_status status =
            read_row(reader, &scan, target, nl_row(&table->values, kept), &gap, error);
        if (status != NL_OK)
            return status;
        table->row_numbers[kept] = nl_csv_data_row(&reader->census, record);
        kept += !(gap && missing == NL_MISSING_DROP);
    }
    table->values.rows = kept;
    table->rows_dropped = table->rows_read - kept;
    if (kept > 0)
        return NL_OK;
    return nl_fail_at(error, NL_FORMAT, table->missing_line, 0,
                      "every row has a missing cell, so that none is left; leave out the columns "
                      "with missing cells");
}

static nl_status fill_means(const struct reader *reader, nl_table *table, nl_error *error)
{
    for (size_t k = 0; k < table->values.cols; k++) {
        double sum = 0;
        size_t count = 0;
        for (size_t i = 0; i < table->values.rows; i++) {
            float value = nl_row(&table->values, i)[k];
            if (!isnan(value)) {
                sum += value;
                count++;
            }
        }
        if (count == 0)
            return nl_fail(error, NL_FORMAT,
                           "the column \"%s\" has no number to take a mean of; leave it out",
                           name_excerpt(reader, reader->used[k]).text);
        float mean = (float)(sum / (double)count);
        for (size_t i = 0; i < table->values.rows; i++)
            if (isnan(nl_row(&table->values, i)[k]))
                nl_row(&table->values, i)[k] = mean;
    }
    return NL_OK;
}

static nl_status read_values(const struct reader *reader, nl_missing missing, nl_table *table,
                             nl_error *error)
{
    nl_status status = nl_matrix_alloc(&table->values, table->rows_read, reader->used_count, error);
    if (status != NL_OK)
        return status;
    table->row_numbers = nl_alloc(table->rows_read, sizeof *table->row_numbers);
    size_t *target = nl_alloc(reader->census.width, sizeof *target);
    if (!table->row_numbers || !target) {
        status = out_of_memory(error);
        goto fail;
    }
    for (size_t c = 0; c < reader->census.width; c++)
        target[c] = NONE;
    for (size_t k = 0; k < reader->used_count; k++)
        target[reader->used[k]] = k;
    status = read_rows(reader, missing, target, table, error);
    if (status == NL_OK && missing == NL_MISSING_MEAN && table->missing > 0)
        status = fill_means(reader, table, error);
fail:
    nl_free(target);
    return status;
}

/* ---- labels ---- */

/* Class names and an open-addressing table of them: slot = class + 1, 0 is free. */
struct classes {
    struct nl_texts names;
    uint32_t *slots;
    size_t mask;
};

static uint32_t *class_slot(const struct classes *classes, const char *name, size_t length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 1099511628211u;
    size_t i = (size_t)(hash ^ hash >> 32) & classes->mask;
    while (classes->slots[i] &&
           strcmp(nl_texts_at(&classes->names, classes->slots[i] - 1), name) != 0)
        i = (i + 1) & classes->mask;
    return &classes->slots[i];
}

/* The class of a cell, a new one if need be; false when memory is out. */
static bool classify(struct classes *classes, const struct nl_csv_cell *cell, int *label)
{
    static const char none[] = "NA";
    const struct nl_csv_cell unnamed = {.text = none, .length = sizeof none - 1};
    if (cell->length == 0)
        cell = &unnamed;
    char *name = nl_texts_add(&classes->names, cell->length);
    if (!name)
        return false;
    uint32_t *slot = class_slot(classes, name, nl_csv_copy(cell, name));
    if (*slot)
        nl_texts_drop_last(&classes->names);
    else
        *slot = (uint32_t)classes->names.count;
    *label = (int)(*slot - 1);
    return true;
}

/* Labels of the kept rows from one column, into table->labels and *classes. */
static nl_status read_labels(const struct reader *reader, size_t column, struct classes *classes,
                             nl_table *table, nl_error *error)
{
    struct nl_csv_scan scan = reader->census.start;
    size_t kept = 0;
    memset(classes->slots, 0, (classes->mask + 1) * sizeof *classes->slots);
    nl_texts_free(&classes->names);
    for (size_t record = 0; kept < table->values.rows && nl_csv_more(&scan); record++) {
        struct nl_csv_cell cell = {0}, label = {0};
        for (size_t c = 0; c < reader->census.width; c++) {
            nl_status status = nl_csv_next(&scan, &cell, error);
            if (status != NL_OK)
                return status;
            if (c == column)
                label = cell;
        }
        if (nl_csv_data_row(&reader->census, record) != table->row_numbers[kept])
            continue;
        if (!classify(classes, &label, &table->labels[kept++]))
            return out_of_memory(error);
    }
    return NL_OK;
}

static bool may_be_label(const struct reader *reader, size_t column)
{
    for (size_t k = 0; k < reader->used_count; k++)
        if (reader->used[k] == column)
            return false;
    const struct nl_csv_column *census = &reader->census.columns[column];
    return census->count[NL_CSV_TEXT] > 0 && !is_numeric(census);
}

/* Leaves reader->label at the column whose labels were read, or at NONE. */
static nl_status choose_labels(struct reader *reader, struct classes *classes, nl_table *table,
                               nl_error *error)
{
    if (reader->label != AUTOMATIC)
        return read_labels(reader, reader->label, classes, table, error);
    size_t tried = 0;
    for (size_t c = 0; c < reader->census.width && tried < AUTOMATIC_LABELS_TRIED; c++) {
        if (!may_be_label(reader, c))
            continue;
        tried++;
        nl_status status = read_labels(reader, c, classes, table, error);
        if (status != NL_OK || classes->names.count < table->values.rows) {
            reader->label = c;
            return status;
        }
    }
    reader->label = NONE;
    return NL_OK;
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = nl_alloc(size, 1);
    return copy ? memcpy(copy, text, size) : NULL;
}

static nl_status make_labels(struct reader *reader, nl_table *table, nl_error *error)
{
    struct classes classes = {.mask = 15};
    while (classes.mask < table->values.rows * 2)
        classes.mask = classes.mask * 2 + 1;
    classes.slots = nl_alloc(classes.mask + 1, sizeof *classes.slots);
    table->labels = nl_alloc(table->values.rows, sizeof *table->labels);
    nl_status status = NL_NOMEM;
    if (classes.slots && table->labels)
        status = choose_labels(reader, &classes, table, error);
    else
        out_of_memory(error);
    if (status == NL_OK && reader->label == NONE) {
        nl_free(table->labels);
        table->labels = NULL;
    } else if (status == NL_OK) {
        table->class_count = classes.names.count;
        table->classes = nl_texts_array_alloc(&classes.names);
        table->label_name = copy_text(nl_texts_at(&reader->census.names, reader->label));
        if (!table->classes || !table->label_name)
            status = out_of_memory(error);
    }
    nl_texts_free(&classes.names);
    nl_free(classes.slots);
    return status;
}

static nl_status make_names(const struct reader *reader, nl_table *table, nl_error *error)
{
    struct nl_texts used = {0};
    for (size_t k = 0; k < reader->used_count; k++) {
        const char *name = nl_texts_at(&reader->census.names, reader->used[k]);
        char *copy = nl_texts_add(&used, strlen(name));
        if (!copy)
            goto fail;
        memcpy(copy, name, strlen(name) + 1);
    }
    table->names = nl_texts_array_alloc(&used);
fail:
    nl_texts_free(&used);
    return table->names ? NL_OK : out_of_memory(error);
}

/* ---- public ---- */

void nl_csv_params_init(nl_csv_params *params)
{
    *params = (nl_csv_params){.missing = NL_MISSING_REFUSE};
}

nl_status nl_table_load_csv(const void *bytes, size_t length, const nl_csv_params *params,
                            nl_table *table, nl_error *error)
{
    nl_csv_params defaults;
    nl_csv_params_init(&defaults);
    params = params ? params : &defaults;
    struct reader reader = {.label = NONE};
    *table = (nl_table){0};
    nl_status status = nl_csv_take_census(&reader.census, bytes, length, error);
    if (status == NL_OK)
        status = choose_columns(&reader, params, error);
    if (status == NL_OK)
        status = check_columns(&reader, params->missing, table, error);
    if (status == NL_OK)
        status = read_values(&reader, params->missing, table, error);
    if (status == NL_OK)
        status = make_names(&reader, table, error);
    if (status == NL_OK && reader.label != NONE)
        status = make_labels(&reader, table, error);
    if (status != NL_OK)
        nl_table_free(table);
    nl_free(reader.used);
    nl_csv_census_free(&reader.census);
    return status;
}

void nl_table_free(nl_table *table)
{
    nl_matrix_free(&table->values);
    nl_free(table->names);
    nl_free(table->row_numbers);
    nl_free(table->label_name);
    nl_free(table->labels);
    nl_free(table->classes);
    *table = (nl_table){0};
}
