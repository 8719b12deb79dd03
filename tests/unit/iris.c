/* SPDX-License-Identifier: MIT */
#include "iris.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

nl_matrix iris_matrix(void)
{
    static float numbers[IRIS_ROWS * IRIS_COLS];
    char line[200];
    FILE *file = fopen(NL_TEST_IRIS, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); /* names of the columns */
    for (size_t i = 0; i < IRIS_ROWS; i++) {
        char *at = fgets(line, sizeof line, file);
        assert_non_null(at);
        for (size_t k = 0; k < IRIS_COLS; k++) {
            char *end;
            numbers[i * IRIS_COLS + k] = strtof(at, &end);
            assert_true(end > at && *end == ',');
            at = end + 1;
        }
        const char *species = (const char *[]){"setosa", "versicolor", "virginica"}[i / IRIS_CLASS];
        assert_non_null(strstr(at, species));
    }
    fclose(file);
    return nl_matrix_view(numbers, IRIS_ROWS, IRIS_COLS, IRIS_COLS);
}
