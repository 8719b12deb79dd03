/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "nonlocal/table.h"

#ifndef NL_SOURCE_ROOT
#define NL_SOURCE_ROOT "."
#endif
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static nl_error error;

/* From a block of exactly `length` bytes, so that a sanitizer sees any read beyond it. */
static nl_status load_bytes(const char *text, size_t length, const nl_csv_params *params,
                            nl_table *table)
{
    char *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    error = (nl_error){0};
    nl_status status = nl_table_load_csv(copy, length, params, table, &error);
    free(copy);
    if (status != NL_OK) {
        assert_int_equal(error.status, status);
        assert_true(strlen(error.message) > 20);
        assert_null(table->values.data);
        assert_null(table->names);
        assert_null(table->labels);
    }
    return status;
}

static nl_table load_with(const char *text, nl_csv_params params)
{
    nl_table table;
    if (load_bytes(text, strlen(text), &params, &table) != NL_OK)
        fail_msg("%s: %zu:%zu: %s", text, error.line, error.column, error.message);
    return table;
}

static nl_table load(const char *text)
{
    return load_with(text, (nl_csv_params){0});
}

static void assert_fails_with(const char *text, nl_csv_params params, nl_status status, size_t line,
                              size_t column, const char *says)
{
    nl_table table;
    assert_int_equal(load_bytes(text, strlen(text), &params, &table), status);
    if (!strstr(error.message, says) || error.line != line || error.column != column)
        fail_msg("%s\n%zu:%zu: %s", text, error.line, error.column, error.message);
}

static void assert_fails(const char *text, size_t line, size_t column, const char *says)
{
    assert_fails_with(text, (nl_csv_params){0}, NL_FORMAT, line, column, says);
}

static void assert_row(const nl_table *table, size_t i, const float *expected)
{
    for (size_t k = 0; k < table->values.cols; k++)
        if (nl_row(&table->values, i)[k] != expected[k])
            fail_msg("row %zu column %zu: %a, not %a", i, k, (double)nl_row(&table->values, i)[k],
                     (double)expected[k]);
}

#define ROW(table, i, ...) assert_row(table, i, (const float[]){__VA_ARGS__})

static void assert_names(const nl_table *table, const char *joined)
{
    char names[200] = "";
    for (size_t k = 0; k < table->values.cols; k++) {
        strcat(names, k > 0 ? "|" : "");
        strcat(names, table->names[k]);
    }
    assert_string_equal(names, joined);
}

static char *read_iris(size_t *length)
{
    FILE *file = fopen(NL_SOURCE_ROOT "/assets/iris.csv", "rb");
    assert_non_null(file);
    char *text = calloc(1, 8192);
    assert_non_null(text);
    *length = fread(text, 1, 8191, file);
    fclose(file);
    return text;
}

static double distance(const nl_table *table, size_t a, size_t b)
{
    double sum = 0; /* of the decimals in the file: floats rounded back to tenths */
    for (size_t k = 0; k < table->values.cols; k++) {
        double difference = round(10 * (double)nl_row(&table->values, a)[k]) -
                            round(10 * (double)nl_row(&table->values, b)[k]);
        sum += difference * difference;
    }
    return sqrt(sum) / 10;
}

/* Fisher's data as R has it (cases C49, C50); figures computed by scipy from R's table. */
static void iris(void **state)
{
    (void)state;
    size_t length;
    char *text = read_iris(&length);
    nl_table table = load(text);
    assert_int_equal(table.values.rows, 150);
    assert_names(&table, "sepal length|sepal width|petal length|petal width");
    ROW(&table, 0, 5.1f, 3.5f, 1.4f, 0.2f);
    ROW(&table, 34, 4.9f, 3.1f, 1.5f, 0.2f);
    ROW(&table, 37, 4.9f, 3.6f, 1.4f, 0.1f);
    ROW(&table, 149, 5.9f, 3.0f, 5.1f, 1.8f);
    assert_string_equal(table.label_name, "species");
    assert_int_equal(table.class_count, 3);
    static const char *const species[] = {"setosa", "versicolor", "virginica"};
    for (size_t i = 0; i < 150; i++) {
        assert_int_equal(table.labels[i], i / 50);
        assert_int_equal(table.row_numbers[i], i + 1);
    }
    for (size_t c = 0; c < 3; c++)
        assert_string_equal(table.classes[c], species[c]);
    float widest = 0;
    double largest = 0;
    size_t zeros = 0, far_i = 0, far_j = 0;
    for (size_t i = 0; i < 150; i++) {
        widest = fmaxf(widest, nl_row(&table.values, i)[3]);
        for (size_t j = 0; j < i; j++) {
            double d = distance(&table, i, j);
            zeros += d == 0;
            if (d == 0)
                assert_true(i + 1 == 143 && j + 1 == 102);
            if (d > largest) {
                largest = d;
                far_i = i + 1;
                far_j = j + 1;
            }
        }
    }
    assert_true(widest == 2.5f);
    assert_int_equal(zeros, 1);
    assert_true(fabs(largest - 7.085195833567341) < 1e-12);
    assert_true(far_i == 119 && far_j == 14);
    nl_table_free(&table);
    nl_table_free(&table);
    free(text);
}

static void one_table_in_many_dialects(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a,b c,k\n1.5,2,x\n-3e2,.25,y\n4.,1E-1,x\n",
        "a,b c,k\r\n1.5,2,x\r\n-3e2,.25,y\r\n4.,1E-1,x",
        "a,b c,k\r1.5,2,x\r-3e2,.25,y\r4.,1E-1,x\r",
        ("\xef\xbb\xbf"
         "a,b c,k\n1.5,2,x\n-3e2,.25,y\n4.,1E-1,x\n"),
        "\n\n  \na,b c,k\n\n1.5,2,x\n-3e2,.25,y\n \t \n4.,1E-1,x\n\n\n",
        "a;b c;k\n1,5;2;x\n-3e2;,25;y\n4,;1E-1;x\n",
        "a;b c;k\n1.5;2;x\n-3e2;.25;y\n4.;1E-1;x\n",
        "a\tb c\tk\n1.5\t2\tx\n-3e2\t.25\ty\n4.\t1E-1\tx\n",
        " a , b c ,k \n +1.5, 2 ,\tx\n-300 ,0.25, y\n4e0 ,0.1,x \n",
        "\"a\",\"b c\",\"k\"\n\"1.5\",\"2\",\"x\"\n\"-3e2\",\".25\",\"y\"\n\"4.\",\"1E-1\",\"x\"\n",
        "a , \"b c\" , \"k\" \n1.5,2,\" x\"\n-3e2,.25,y\n4.,1E-1,\"x \"\n",
        "a,\"b\nc\",k\n1.5,2,x\n-3e2,.25,y\n4.,1E-1,x\n", /* the break shows as a space */
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        nl_table table = load(texts[i]);
        assert_int_equal(table.values.rows, 3);
        assert_names(&table, "a|b c");
        ROW(&table, 0, 1.5f, 2);
        ROW(&table, 1, -300, 0.25f);
        ROW(&table, 2, 4, 0.1f);
        assert_string_equal(table.label_name, "k");
        assert_int_equal(table.class_count, 2);
        assert_string_equal(table.classes[0], "x");
        assert_string_equal(table.classes[1], "y");
        assert_true(table.labels[0] == 0 && table.labels[1] == 1 && table.labels[2] == 0);
        assert_int_equal(table.missing + table.rows_dropped, 0);
        assert_true(table.header && table.rows_read == 3);
        nl_table_free(&table);
    }
}

static void quotes(void **state)
{
    (void)state;
    nl_table table = load("\"say \"\"hi\"\"\",\"x,y\",\"k\"\"\"\n"
                          "1,2,\"a \"\"b\"\"\"\n3,4,a \"b\"\n5,6,\"c,\nd\"\n");
    assert_names(&table, "say \"hi\"|x,y");
    assert_string_equal(table.label_name, "k\"");
    assert_int_equal(table.class_count, 2);
    assert_string_equal(table.classes[0], "a \"b\""); /* however it was quoted */
    assert_string_equal(table.classes[1], "c, d");
    nl_table_free(&table);
    /* in a list of columns, a comma inside quotes belongs to the name */
    table = load_with("\"x,y\",\"p\"\"q\",z\n1,2,3\n",
                      (nl_csv_params){.columns = "z, \"x,y\",\"p\"\"q\""});
    assert_names(&table, "z|x,y|p\"q");
    ROW(&table, 0, 3, 1, 2);
    nl_table_free(&table);
}

static void separators(void **state)
{
    (void)state;
    /* a semicolon in a name, and by chance one in the next line, too */
    nl_table table = load("a;0,k\n1,\"x;\"\n2,x\n3,x\n");
    assert_names(&table, "a;0");
    nl_table_free(&table);
    /* commas in every cell, no header */
    table = load("1,5;2,5\n3,5;4,25\n");
    assert_names(&table, "V1|V2");
    ROW(&table, 1, 3.5f, 4.25f);
    nl_table_free(&table);
    table = load("a;b,c\td\n1\t2\n");
    assert_names(&table, "a;b,c|d");
    nl_table_free(&table);
}

static void headers(void **state)
{
    (void)state;
    /* all numbers: no header */
    nl_table table = load("1,2\n3,4\n");
    assert_names(&table, "V1|V2");
    assert_true(table.values.rows == 2 && !table.header);
    nl_table_free(&table);
    /* the UCI file: no header, but a class that comes again */
    table = load("5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n7.0,3.2,Iris-versicolor\n\n");
    assert_names(&table, "V1|V2");
    assert_int_equal(table.values.rows, 3);
    assert_string_equal(table.label_name, "V3");
    assert_string_equal(table.classes[0], "Iris-setosa");
    ROW(&table, 0, 5.1f, 3.5f);
    assert_int_equal(table.row_numbers[0], 1);
    nl_table_free(&table);
    /* years as names */
    table = load("country,1990,2000\nA,1,2\nB,3,4\n");
    assert_names(&table, "1990|2000");
    assert_true(table.values.rows == 2 && !table.labels);
    nl_table_free(&table);
    /* R's write.csv of a matrix, then pandas' to_csv: the first column holds row names */
    table = load("\"\",\"1\",\"2\"\n\"1\",0,0.5\n\"2\",0.5,0\n");
    assert_names(&table, "1|2");
    ROW(&table, 0, 0, 0.5f);
    nl_table_free(&table);
    table = load(",0,1\n0,0,0.5\n1,0.5,0\n");
    assert_names(&table, "0|1");
    ROW(&table, 1, 0.5f, 0);
    nl_table_free(&table);
    /* quoted throughout, no header */
    table = load("\"1\",\"2\"\n\"3\",\"4\"\n");
    assert_int_equal(table.values.rows, 2);
    nl_table_free(&table);
    /* unnamed columns further right are named by their number */
    table = load("a,,c\n1,2,3\n");
    assert_names(&table, "a|V2|c");
    nl_table_free(&table);
}

/* Case C41. */
static void few_rows(void **state)
{
    (void)state;
    assert_fails("", 0, 0, "empty");
    assert_fails("\n \r\n\r", 0, 0, "empty");
    assert_fails("\xef\xbb\xbf", 0, 0, "empty");
    assert_fails("a,b,species\n", 0, 0, "no data rows");
    nl_table table = load("a,b,species\n1,2,x\n");
    assert_true(table.values.rows == 1 && table.values.cols == 2 && !table.labels);
    nl_table_free(&table);
    table = load("a,b,species\n1,2,x\n3,4,x");
    assert_true(table.values.rows == 2 && table.class_count == 1);
    nl_table_free(&table);
    table = load("7");
    assert_names(&table, "V1");
    ROW(&table, 0, 7);
    nl_table_free(&table);
    assert_int_equal(nl_table_load_csv(NULL, 0, NULL, &table, NULL), NL_FORMAT);
}

/* Case C45: counted, named by row and column, then dropped or replaced by choice. */
static void missing_cells(void **state)
{
    (void)state;
    const char text[] = "sl,sw,pl,pw,k\n5.25,,1.5,0.25,s\n4.75,3.0,1.5,0.25,s\n\n"
                        "inf,3.0,NA,0.5,v\n6.25,2.0,6,-1e39,v\n5.0,3.0,1.75,0.75,v\n";
    assert_fails(text, 2, 6, "row 1, column \"sw\" has no number (empty), the first of 4");
    nl_table table = load_with(text, (nl_csv_params){.missing = NL_MISSING_DROP});
    assert_int_equal(table.values.rows, 2);
    assert_int_equal(table.rows_read, 5);
    assert_int_equal(table.rows_dropped, 3);
    assert_int_equal(table.missing, 4);
    assert_int_equal(table.missing_row, 1);
    assert_int_equal(table.missing_line, 2);
    assert_int_equal(table.missing_column, 1);
    assert_true(table.row_numbers[0] == 2 && table.row_numbers[1] == 5);
    ROW(&table, 0, 4.75f, 3, 1.5f, 0.25f);
    ROW(&table, 1, 5, 3, 1.75f, 0.75f);
    assert_true(!table.labels); /* s and v: two classes of one row each repeat nothing */
    nl_table_free(&table);
    table = load_with(text, (nl_csv_params){.missing = NL_MISSING_MEAN});
    assert_true(table.values.rows == 5 && table.rows_dropped == 0 && table.missing == 4);
    ROW(&table, 0, 5.25f, 2.75f, 1.5f, 0.25f);
    ROW(&table, 2, 5.3125f, 3, 2.6875f, 0.5f); /* 21.25 / 4, 10.75 / 4 */
    ROW(&table, 3, 6.25f, 2, 6, 0.4375f);
    assert_int_equal(table.class_count, 2);
    nl_table_free(&table);
    /* a column that is not used does not count */
    table = load_with(text, (nl_csv_params){.columns = "pw,sl", .missing = NL_MISSING_DROP});
    assert_int_equal(table.missing, 2);
    assert_int_equal(table.missing_row, 3);
    assert_int_equal(table.missing_column, 1);
    assert_int_equal(table.values.rows, 3);
    ROW(&table, 0, 0.25f, 5.25f);
    nl_table_free(&table);
    static const char *const words[] = {"",     "\"\"", "NA",    "na",  "N/A",  "#N/A",
                                        "NaN",  "nan",  "-nan",  "inf", "-Inf", "+infinity",
                                        "null", "NULL", "1e999", "?",   "-1e39"};
    for (size_t i = 0; i < COUNT(words); i++) {
        char line[100] = "a,b\n1,2\n";
        strcat(strcat(line, words[i]), ",4\n");
        assert_fails(line, 3, 1, "row 2, column \"a\" has no number");
    }
    assert_fails_with("a,b\n1,\n,2\n", (nl_csv_params){.missing = NL_MISSING_DROP}, NL_FORMAT, 2, 0,
                      "every row");
    assert_fails_with("a,b\n1,\n2,\n", (nl_csv_params){.columns = "b", .missing = NL_MISSING_MEAN},
                      NL_FORMAT, 0, 0, "\"b\" has no number to take a mean");
    /* a wholly empty column is no column of numbers */
    table = load("a,b\n1,\n2,\n");
    assert_names(&table, "a");
    nl_table_free(&table);
}

/* Case C52: a matrix with one NA is a matrix with one NA, and the first fault is the one named. */
static void first_true_cause(void **state)
{
    (void)state;
    assert_fails("0,1,2\n1,0,NA\n2,3,0\n", 2, 5,
                 "row 2, column \"V3\" has no number (\"NA\"), the first of 1 missing cell;");
    assert_fails("a,b\n1,2\nNA,3\n4,x\n5,6\n7,8\n", 3, 1, "row 2, column \"a\"");
    assert_fails("a,b\n1,2\n4,x\nNA,3\n5,6\n7,8\n", 3, 3, "row 2, column \"b\": \"x\" is not a");
    assert_fails_with("a,b\n1,2\nNA,3\n4,x\n5,6\n", (nl_csv_params){.missing = NL_MISSING_DROP},
                      NL_FORMAT, 4, 3, "row 3, column \"b\": \"x\"");
}

static void malformed(void **state)
{
    (void)state;
    assert_fails("a,b\n1,2\n3\n", 3, 1, "this line has 1 cell, the first line has 2");
    assert_fails("a,b\n1,2\n3,4,5,6\n", 3, 5, "this line has 4 cells, the first line has 2");
    assert_fails("a,b\n1,2,\n", 2, 5, "this line has 3 cells");
    assert_fails("a,b\n1,\"2\n3,4\n", 2, 3, "never closed");
    assert_fails("\"", 1, 1, "never closed");
    assert_fails("a,b\n1,\"2\"3\n", 2, 3, "text follows the closing quote");
    /* lines inside quotes count: the third cell of the second record is on line 5 */
    assert_fails("é,\"b\nc\"\n1,\"x\n\ny\",3\n", 5, 4, "this line has 3 cells");
}

static void not_text(void **state)
{
    (void)state;
    nl_table table;
    assert_fails("a,b\n1,\xe9\n", 2, 3, "0xe9 here is not UTF-8");
    assert_fails("a,é\xff\n", 1, 4, "0xff"); /* characters count, not bytes */
    assert_fails("a\n\xc0\x80\n", 2, 1, "0xc0");
    assert_fails("a\n\xed\xa0\x80\n", 2, 1, "0xed");     /* a surrogate */
    assert_fails("a\n\xf4\x90\x80\x80\n", 2, 1, "0xf4"); /* beyond U+10FFFF */
    assert_fails("a\r\n1\r\n\xe2\x82", 3, 1, "0xe2");    /* cut short */
    assert_fails("\xff\xfe"
                 "a",
                 1, 1, "UTF-16");
    assert_int_equal(load_bytes("a,b\n1,\0\n", 8, NULL, &table), NL_FORMAT);
    assert_true(error.line == 2 && error.column == 3 && strstr(error.message, "zero byte"));
}

static void chosen_columns(void **state)
{
    (void)state;
    const char text[] = "id,name,x,y,class\n1,p,3,4,0\n2,q,5,6,1\n3,r,7,8,0\n";
    nl_table table = load(text); /* names do not repeat: no label */
    assert_names(&table, "id|x|y|class");
    assert_true(!table.labels && !table.classes && !table.label_name);
    nl_table_free(&table);
    table = load_with(text, (nl_csv_params){.label = "class"});
    assert_names(&table, "id|x|y");
    assert_string_equal(table.label_name, "class");
    assert_true(table.class_count == 2 && table.labels[0] == 0 && table.labels[1] == 1);
    assert_string_equal(table.classes[1], "1");
    nl_table_free(&table);
    table = load_with(text, (nl_csv_params){.label = "name", .columns = "y,x"});
    assert_names(&table, "y|x");
    assert_int_equal(table.class_count, 3);
    ROW(&table, 2, 8, 7);
    nl_table_free(&table);
    table = load_with(text, (nl_csv_params){.label = "class", .columns = "class"});
    assert_names(&table, "class");
    assert_int_equal(table.class_count, 2);
    nl_table_free(&table);
    table = load_with("x,k\n1,a\n2,a\n", (nl_csv_params){.label = ""});
    assert_true(!table.labels && table.class_count == 0);
    nl_table_free(&table);

    const nl_csv_params bad[] = {
        {.label = "species"}, {.columns = "x,z"}, {.columns = "x,y,x"},
        {.columns = ""},      {.columns = "\"x"}, {.columns = "x,"},
    };
    static const char *const says[] = {
        "no column \"species\"; the columns are: id, name, x, y, class",
        "no column \"z\"",
        "\"x\" is asked for twice",
        "list of columns is empty",
        "stray quote",
        "no column \"\"",
    };
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_fails_with(text, bad[i], NL_INVALID, 0, 0, says[i]);
    assert_fails_with("a,a,b\n1,2,3\n", (nl_csv_params){.columns = "a"}, NL_INVALID, 0, 0,
                      "columns 1 and 2 are both called \"a\"");
    assert_fails_with(text, (nl_csv_params){.columns = "x,name"}, NL_FORMAT, 2, 3,
                      "row 1, column \"name\": \"p\" is not a number");
    assert_fails("a,b\nx,y\nx,z\n", 0, 0, "no column of numbers; the columns are: a, b");
}

static void text_among_numbers(void **state)
{
    (void)state;
    assert_fails("a,b\n1,2\n3,4l\n5,6\n", 3, 3, "row 2, column \"b\": \"4l\" is not a number");
    static const char *const words[] = {"0x10", "1,5", "1 000", "1.2.3", "1e", "e5",    "--1",  ".",
                                        "+",    "1e+", "1e5.0", "5 cm",  "١",  "1_000", "infin"};
    for (size_t i = 0; i < COUNT(words); i++) {
        char line[100] = "a\tb\n1\t2\n3\t4\n";
        strcat(strcat(line, words[i]), "\t5\n");
        assert_fails(line, 4, 1, "row 3, column \"a\"");
    }
    /* mostly text is text */
    nl_table table = load("a,b\nx,2\n3,4\nx,5\n");
    assert_names(&table, "b");
    assert_string_equal(table.classes[1], "3");
    nl_table_free(&table);
    assert_fails("a;b\n1,5;2\n1.234;3\n", 3, 1,
                 "row 1 has the decimal comma of \"1,5\", row 2 the decimal point of \"1.234\"");
}

static void labels(void **state)
{
    (void)state;
    /* the first text column in which something repeats; no label is the class NA */
    nl_table table = load("n,u,k,l\n1,p,b,c\n2,q,,c\n3,r,a,c\n4,s,b,c\n");
    assert_string_equal(table.label_name, "k");
    assert_int_equal(table.class_count, 3);
    assert_string_equal(table.classes[0], "b");
    assert_string_equal(table.classes[1], "NA");
    assert_string_equal(table.classes[2], "a");
    assert_int_equal(table.labels[3], 0);
    nl_table_free(&table);
    /* classes of dropped rows are gone */
    table = load_with("n,k\n,a\n2,b\n3,b\n", (nl_csv_params){.missing = NL_MISSING_DROP});
    assert_true(table.class_count == 1 && table.labels[1] == 0 && table.row_numbers[0] == 2);
    assert_string_equal(table.classes[0], "b");
    nl_table_free(&table);
    /* thousands of classes, each twice */
    char *text = malloc(200000), *at = text;
    at += sprintf(at, "n,k\n");
    for (int i = 0; i < 10000; i++)
        at += sprintf(at, "%d,class %d\n", i, i * 7919 % 5000);
    table = load(text);
    free(text);
    assert_int_equal(table.class_count, 5000);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(table.labels[i], i % 5000); /* 7919 is prime: i -> 7919 i is one to one */
    assert_string_equal(table.classes[1], "class 2919");
    nl_table_free(&table);
}

static void limits(void **state)
{
    (void)state;
    size_t rows = 1000000;
    char *text = malloc(2 * rows + 10);
    memcpy(text, "x\n", 2);
    memset(text + 2, '1', 2 * rows + 2);
    for (size_t i = 0; i <= rows; i++)
        text[2 * i + 3] = '\n';
    nl_table table;
    assert_int_equal(load_bytes(text, 2 + 2 * rows, NULL, &table), NL_OK);
    assert_int_equal(table.values.rows, rows);
    nl_table_free(&table);
    assert_int_equal(load_bytes(text, 4 + 2 * rows, NULL, &table), NL_LIMIT);
    assert_int_equal(load_bytes(text + 2, 2 + 2 * rows, NULL, &table), NL_LIMIT); /* no header */
    assert_non_null(strstr(error.message, "1000000 rows"));
    memset(text, '1', 2 * 4097);
    for (size_t i = 0; i < 4097; i++)
        text[2 * i + 1] = ',';
    assert_int_equal(load_bytes(text, 2 * 4096 - 1, NULL, &table), NL_OK);
    assert_true(table.values.cols == 4096 && strcmp(table.names[4095], "V4096") == 0);
    nl_table_free(&table);
    assert_int_equal(load_bytes(text, 2 * 4097 - 1, NULL, &table), NL_LIMIT);
    assert_non_null(strstr(error.message, "4096 columns"));
    free(text);
}

/* Names of any length leave messages whole: cut between characters, the remedy still there. */
static void long_names(void **state)
{
    (void)state;
    char text[4000] = "";
    for (int column = 0; column < 10; column++) {
        for (int i = 0; i < 100; i++)
            strcat(text, "é");
        strcat(text, column < 9 ? "," : "\n");
    }
    strcat(text, "1,2,3,4,5,6,7,8,9,\n");
    assert_fails_with(text, (nl_csv_params){.label = "k"}, NL_INVALID, 0, 0, "é…, é");
    assert_fails_with(text, (nl_csv_params){.columns = "V10"}, NL_INVALID, 0, 0, ", …");
}

static const char sample[] =
    "\xef\xbb\xbf\"a\",b,\"k \"\"q\"\"\"\r\n1.5,,x\r\n-2e-3,NA,\"y\r\nz\"\n3,4,x";

/* Whatever is cut off, the rest is a table or an error, and never read beyond its end. */
static void every_truncation(void **state)
{
    (void)state;
    for (size_t length = 0; length < sizeof sample; length++)
        for (int missing = 0; missing < 3; missing++) {
            nl_csv_params params = {.missing = (nl_missing)missing};
            nl_table table;
            load_bytes(sample, length, &params, &table);
            nl_table_free(&table);
            load_bytes(sample + length, sizeof sample - 1 - length, &params, &table);
            nl_table_free(&table);
        }
    size_t length;
    char *text = read_iris(&length);
    for (size_t cut = 0; cut <= length; cut += 7) {
        nl_table table;
        load_bytes(text, cut, NULL, &table);
        nl_table_free(&table);
    }
    free(text);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    const nl_csv_params params = {.columns = "\"a\",b", .missing = NL_MISSING_MEAN};
    long before = nl_alloc_live(), countdown = 0;
    nl_table table;
    for (;; countdown++) {
        nl_alloc_fail_after(countdown);
        nl_status status = load_bytes(sample, sizeof sample - 1, &params, &table);
        nl_alloc_fail_after(-1);
        if (status == NL_OK)
            break;
        assert_int_equal(status, NL_NOMEM);
        assert_int_equal(nl_alloc_live(), before);
        assert_true(countdown < 1000);
    }
    assert_true(countdown >= 12); /* the loop saw allocations at all */
    assert_int_equal(table.class_count, 2);
    nl_table_free(&table);
    assert_int_equal(nl_alloc_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iris),
        cmocka_unit_test(one_table_in_many_dialects),
        cmocka_unit_test(quotes),
        cmocka_unit_test(separators),
        cmocka_unit_test(headers),
        cmocka_unit_test(few_rows),
        cmocka_unit_test(missing_cells),
        cmocka_unit_test(first_true_cause),
        cmocka_unit_test(malformed),
        cmocka_unit_test(not_text),
        cmocka_unit_test(chosen_columns),
        cmocka_unit_test(text_among_numbers),
        cmocka_unit_test(labels),
        cmocka_unit_test(limits),
        cmocka_unit_test(long_names),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
