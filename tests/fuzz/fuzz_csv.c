/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a table. The first byte chooses what is asked for; in a table that loads every
 * value is finite and every index in range.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nonlocal/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check(const nl_table *table)
{
    require(table->values.rows > 0 && table->values.cols > 0);
    require(table->values.rows + table->rows_dropped == table->rows_read);
    for (size_t i = 0; i < table->values.rows; i++) {
        for (size_t k = 0; k < table->values.cols; k++)
            require(isfinite(nl_row(&table->values, i)[k]));
        require(table->row_numbers[i] > (i > 0 ? table->row_numbers[i - 1] : 0));
        require(table->row_numbers[i] <= table->rows_read);
        if (table->labels)
            require(table->labels[i] >= 0 && (size_t)table->labels[i] < table->class_count);
    }
    for (size_t k = 0; k < table->values.cols; k++)
        require(strlen(table->names[k]) <= 1 << 20);
    for (size_t k = 0; k < table->class_count; k++)
        require(strlen(table->classes[k]) > 0);
    require(!table->labels == !table->label_name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const labels[] = {NULL, "", "a", "V1"};
    static const char *const columns[] = {NULL, "b", "a,\"b\"", "V1,V2"};
    if (size == 0)
        return 0;
    nl_csv_params params = {
        .label = labels[bytes[0] & 3],
        .columns = columns[bytes[0] >> 2 & 3],
        .missing = (nl_missing)((bytes[0] >> 4) % 3),
    };
    nl_table table;
    nl_error error = {0};
    if (nl_table_load_csv(bytes + 1, size - 1, &params, &table, &error) == NL_OK)
        check(&table);
    else
        require(error.status != NL_OK && error.message[0] && !table.values.data);
    nl_table_free(&table);
    return 0;
}
