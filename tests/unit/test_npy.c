/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "nonlocal/npy.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A .npy file in a block of its exact length, so that a sanitizer sees any read beyond it. */
struct file {
    unsigned char *bytes;
    size_t length;
};

static struct file file_of(const void *bytes, size_t length)
{
    struct file file = {malloc(length ? length : 1), length};
    assert_non_null(file.bytes);
    memcpy(file.bytes, bytes, length);
    return file;
}

/* Magic, version, header length and a header with one line end: all that the format asks for. */
static struct file make_file(int version, const char *header, const void *values, size_t size)
{
    size_t fixed = version == 1 ? 10 : 12, length = strlen(header) + 1;
    struct file file = {malloc(fixed + length + size), fixed + length + size};
    assert_non_null(file.bytes);
    memcpy(file.bytes, "\x93NUMPY", 6);
    file.bytes[6] = (unsigned char)version;
    file.bytes[7] = 0;
    for (size_t i = 8; i < fixed; i++)
        file.bytes[i] = (unsigned char)(length >> 8 * (i - 8));
    memcpy(file.bytes + fixed, header, length - 1);
    file.bytes[fixed + length - 1] = '\n';
    if (size > 0)
        memcpy(file.bytes + fixed + length, values, size);
    return file;
}

static nl_status load_flags(struct file file, unsigned flags, nl_npy *npy, nl_error *error)
{
    *error = (nl_error){0};
    nl_status status = nl_npy_load(file.bytes, file.length, flags, npy, error);
    free(file.bytes);
    if (status != NL_OK) {
        assert_null(npy->data);
        assert_int_equal(npy->count, 0);
        assert_int_equal(error->status, status);
        assert_true(strlen(error->message) > 20);
    }
    return status;
}

static nl_status load(struct file file, nl_npy *npy, nl_error *error)
{
    return load_flags(file, 0, npy, error);
}

static struct file typed(const char *type, const char *shape, const void *values, size_t size)
{
    char header[200] = "{'descr': '";
    strcat(header, type);
    strcat(header, "', 'fortran_order': False, 'shape': ");
    strcat(header, shape);
    strcat(header, ", }");
    return make_file(1, header, values, size);
}

static void assert_values(nl_npy *npy, const float *expected, size_t count)
{
    assert_int_equal(npy->count, count);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(&npy->data[i], &expected[i], sizeof(float));
    nl_npy_free(npy);
    nl_npy_free(npy);
}

/* Written by numpy 1.24: numpy.save of arange(6, dtype='<f4').reshape(2, 3). */
static const char numpy_2x3[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
    "                                                          \n"
    "\x00\x00\x00\x00\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@\x00\x00\xa0@";

/* Of asfortranarray(arange(24, dtype='<i2').reshape(2, 3, 4) - 10). */
static const char numpy_fortran[] =
    "\x93NUMPY\x01\x00v\x00{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }"
    "                                                        \n"
    "\xf6\xff\x02\x00\xfa\xff\x06\x00\xfe\xff\n\x00\xf7\xff\x03\x00\xfb\xff\x07\x00\xff\xff\x0b\x00"
    "\xf8\xff\x04\x00\xfc\xff\x08\x00\x00\x00\x0c\x00\xf9\xff\x05\x00\xfd\xff\t\x00\x01\x00\r";

/* Of arange(3, dtype='u1') with version=(2, 0). */
static const char numpy_version_2[] =
    "\x93NUMPY\x02\x00t\x00\x00\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"
    "                                                          \n\x00\x01\x02";

static void files_of_numpy(void **state)
{
    (void)state;
    nl_npy npy;
    nl_error error;
    static const float counting[] = {0, 1, 2, 3, 4, 5};
    assert_int_equal(load(file_of(numpy_2x3, 152), &npy, &error), NL_OK);
    assert_int_equal(npy.ndim, 2);
    assert_int_equal(npy.shape[0], 2);
    assert_int_equal(npy.shape[1], 3);
    assert_int_equal((uintptr_t)npy.data % 64, 0);
    assert_values(&npy, counting, 6);

    float turned[24];
    for (int i = 0; i < 24; i++)
        turned[i] = (float)(i - 10);
    assert_int_equal(load(file_of(numpy_fortran, 176), &npy, &error), NL_OK);
    assert_int_equal(npy.ndim, 3);
    assert_int_equal(npy.shape[2], 4);
    assert_values(&npy, turned, 24);

    assert_int_equal(load(file_of(numpy_version_2, 131), &npy, &error), NL_OK);
    assert_int_equal(npy.shape[0], 3);
    assert_values(&npy, counting, 3);
}

/* The same numbers in every type that can hold them, bytes after IEEE 754 and two's complement. */
static void every_type(void **state)
{
    (void)state;
    static const struct {
        const char *type, *shape;
        const char *bytes;
        size_t size;
        float expected[4];
    } cases[] = {
        {"|b1", "(3,)", "\x01\x00\x02", 3, {1, 0, 1}},
        {"|i1", "(3,)", "\x7f\x80\xff", 3, {127, -128, -1}},
        {"|u1", "(3,)", "\x7f\x80\xff", 3, {127, 128, 255}},
        {"<i2", "(2,)", "\x01\x80\xff\x7f", 4, {-32767, 32767}},
        {">i2", "(2,)", "\x80\x01\x7f\xff", 4, {-32767, 32767}},
        {"<u2", "(2,)", "\x01\x80\xff\xff", 4, {32769, 65535}},
        {"<i4", "(2,)", "\xff\xff\xff\xff\x00\x00\x00\x80", 8, {-1, -2147483648.0f}},
        {">u4", "(1,)", "\xff\xff\xff\xff", 4, {4294967296.0f}},
        {"<i8", "(1,)", "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, {-2}},
        {">i8", "(1,)", "\x80\x00\x00\x00\x00\x00\x00\x00", 8, {-0x1p63f}},
        {"<u8", "(1,)", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, {0x1p64f}},
        /* 2^24 + 1 is a tie, to even */
        {"<i4", "(1,)", "\x01\x00\x00\x01", 4, {16777216}},
        /* halves: 1, -2, the largest, the smallest normal */
        {"<f2", "(4,)", "\x00\x3c\x00\xc0\xff\x7b\x00\x04", 8, {1, -2, 65504, 0x1p-14f}},
        /* the smallest subnormal, the largest subnormal, nearest 1/3, -0 */
        {">f2",
         "(4,)",
         "\x00\x01\x03\xff\x35\x55\x80\x00",
         8,
         {0x1p-24f, 0x1.ff8p-15f, 0x1.554p-2f, -0.0f}},
        {"<f4", "(2,)", "\x00\x00\x80\x3f\x00\x00\x20\xc1", 8, {1, -10}},
        {">f4", "(2,)", "\x3f\x80\x00\x00\xc1\x20\x00\x00", 8, {1, -10}},
        {"<f8", "(1,)", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8, {0.1f}},
        {">f8", "(1,)", "\x3f\xb9\x99\x99\x99\x99\x99\x9a", 8, {0.1f}},
        {"<f8", "()", "\x00\x00\x00\x00\x00\x00\x04\x40", 8, {2.5f}},
        /* just under half a step above the largest float: still the largest float */
        {">f8", "(1,)", "\x47\xef\xff\xff\xef\xff\xff\xff", 8, {0x1.fffffep127f}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        nl_npy npy;
        nl_error error;
        struct file file = typed(cases[i].type, cases[i].shape, cases[i].bytes, cases[i].size);
        assert_int_equal(load(file, &npy, &error), NL_OK);
        size_t size = (size_t)(cases[i].type[2] - '0');
        assert_values(&npy, cases[i].expected, cases[i].size / size);
    }
}

static void headers_in_other_words(void **state)
{
    (void)state;
    static const float counting[] = {0, 1, 2, 3, 4, 5};
    static const char *const headers[] = {
        "{'shape':(2,3),'descr':'|u1','fortran_order':False}",
        "{ \"fortran_order\" : False , \"shape\" : ( 2L , 3L , ) , \"descr\" : \"<i1\" , }    ",
        "{'descr': 'u1', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 2, 3), }",
    };
    for (size_t i = 0; i < COUNT(headers); i++)
        for (int version = 1; version <= 3; version++) {
            nl_npy npy;
            nl_error error;
            struct file file = make_file(version, headers[i], "\0\1\2\3\4\5", 6);
            assert_int_equal(load(file, &npy, &error), NL_OK);
            assert_int_equal(npy.shape[npy.ndim - 1], 3);
            assert_values(&npy, counting, 6);
        }
}

static void empty_arrays(void **state)
{
    (void)state;
    nl_npy npy;
    nl_error error;
    assert_int_equal(load(typed("<f4", "(0, 4)", NULL, 0), &npy, &error), NL_OK);
    assert_int_equal(npy.ndim, 2);
    assert_int_equal(npy.shape[1], 4);
    assert_values(&npy, NULL, 0);
    assert_int_equal(load(typed("<f4", "(0,)", "\0\0\0\0", 4), &npy, &error), NL_FORMAT);
}

#define D "{'descr': '<f4', "
#define F "'fortran_order': False, "
#define S "'shape': (1,)}"

static void malformed(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        nl_status status;
        const char *says;
    } cases[] = {
        {"", NL_FORMAT, "dictionary"},
        {"{", NL_FORMAT, "damaged"},
        {"{}", NL_FORMAT, "lacks"},
        {"[]", NL_FORMAT, "dictionary"},
        {D F "}", NL_FORMAT, "lacks"},
        {D F S "x", NL_FORMAT, "goes on"},
        {D F "'shape': (1,) 'a': 1}", NL_FORMAT, "damaged"},
        {D F "'shape': (1,), 'more': 1}", NL_FORMAT, "unknown or repeated"},
        {D F "'shape': (1,), 'descr': '<f4'}", NL_FORMAT, "unknown or repeated"},
        {D F "'shape': (1)}", NL_FORMAT, "tuple"},
        {D F "'shape': (-1,)}", NL_FORMAT, "tuple"},
        {D F "'shape': (1 1)}", NL_FORMAT, "tuple"},
        {D F "'shape': (1,,)}", NL_FORMAT, "tuple"},
        {D F "'shape': (,)}", NL_FORMAT, "tuple"},
        {D F "'shape': (1.0,)}", NL_FORMAT, "tuple"},
        {D F "'shape': (1,", NL_FORMAT, "tuple"},
        {D F "'shape': [1]}", NL_FORMAT, "'shape'"},
        {D F "'shape': (99999999999999999999,)}", NL_FORMAT, "tuple"},
        {D F "'shape': (18446744073709551615,)}", NL_FORMAT, "too large"},
        {D F "'shape': (4294967296, 4294967296)}", NL_FORMAT, "too large"},
        {D F "'shape': (0, 4294967296, 4294967296)}", NL_FORMAT, "too large"},
        {D F "'shape': (1152921504606846975, 1)}", NL_FORMAT, "cut short"},
        {D F "'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1)}", NL_LIMIT, "8 dimensions"},
        {D F "'shape': (2,)}", NL_FORMAT, "4 bytes of values, its shape needs 8"},
        {D F "'shape': (0,)}", NL_FORMAT, "goes on after its array"},
        {D "'fortran_order': 0, " S, NL_FORMAT, "fortran_order"},
        {"{'descr': '|O', " F S, NL_UNSUPPORTED, "'|O'"},
        {"{'descr': '<c8', " F S, NL_UNSUPPORTED, "'<c8'"},
        {"{'descr': '<U1', " F S, NL_UNSUPPORTED, "'<U1'"},
        {"{'descr': '<f16', " F S, NL_UNSUPPORTED, "'<f16'"},
        {"{'descr': '<M8[ns]', " F S, NL_UNSUPPORTED, "'<M8[ns]'"},
        {"{'descr': '', " F S, NL_UNSUPPORTED, "''"},
        {"{'descr': [('x', '<f4')], " F S, NL_UNSUPPORTED, "fields"},
        {"{'descr': 4, " F S, NL_FORMAT, "descr"},
        {"{'descr': '<f\\x34', " F S, NL_FORMAT, "descr"},
        {"{'descr': '\xc3\xa9', " F S, NL_FORMAT, "descr"},
        {"{'descr': '|f4', " F S, NL_FORMAT, "byte order"},
        {"{'descr': 'f4', " F S, NL_FORMAT, "byte order"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        nl_npy npy;
        nl_error error;
        struct file file = make_file(1, cases[i].header, "\0\0\0\0", 4);
        assert_int_equal(load(file, &npy, &error), cases[i].status);
        if (!strstr(error.message, cases[i].says))
            fail_msg("%s: %s", cases[i].header, error.message);
    }
}

static void other_beginnings(void **state)
{
    (void)state;
    nl_npy npy;
    nl_error error;
    assert_int_equal(load(file_of("", 0), &npy, &error), NL_FORMAT);
    assert_int_equal(nl_npy_load(NULL, 0, 0, &npy, NULL), NL_FORMAT);
    assert_int_equal(load(file_of("PK\3\4 an npz file", 16), &npy, &error), NL_FORMAT);
    struct file file = file_of(numpy_2x3, 152);
    file.bytes[6] = 4;
    assert_int_equal(load(file, &npy, &error), NL_UNSUPPORTED);
    assert_non_null(strstr(error.message, "4.0"));
    file = file_of(numpy_2x3, 152);
    file.bytes[9] = 1; /* the header would end behind the file */
    assert_int_equal(load(file, &npy, &error), NL_FORMAT);
    assert_non_null(strstr(error.message, "cut short"));
}

static void every_truncation_and_one_byte_more(void **state)
{
    (void)state;
    nl_npy npy;
    nl_error error;
    for (size_t length = 0; length < 152; length++)
        assert_int_equal(load(file_of(numpy_2x3, length), &npy, &error), NL_FORMAT);
    char longer[153] = {0};
    memcpy(longer, numpy_2x3, 152);
    assert_int_equal(load(file_of(longer, 153), &npy, &error), NL_FORMAT);
    assert_non_null(strstr(error.message, "25 bytes of values, its shape needs 24"));
}

static void names_the_first_nonfinite_value(void **state)
{
    (void)state;
    nl_npy npy;
    nl_error error;
    float values[6] = {0, 1, 2, 3, NAN, -INFINITY};
    char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}";
    assert_int_equal(load(make_file(1, header, values, 24), &npy, &error), NL_FORMAT);
    assert_non_null(strstr(error.message, "(2, 2) of the .npy array, counted from 1, is NaN"));
    struct file file = make_file(1, header, values, 24);
    assert_int_equal(load_flags(file, NL_NPY_ALLOW_NONFINITE, &npy, &error), NL_OK);
    assert_true(isnan(npy.data[4]) && npy.data[5] == -INFINITY);
    nl_npy_free(&npy);

    /* stored column by column as 0 inf 1 3 2 4: the first is that of row 2, column 1 */
    float turned[6] = {0, INFINITY, 1, 3, 2, 4};
    char fortran[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}";
    assert_int_equal(load(make_file(1, fortran, turned, 24), &npy, &error), NL_FORMAT);
    assert_non_null(strstr(error.message, "(2, 1)"));

    double huge = -1e300; /* a number, but not a float */
    assert_int_equal(load(typed("<f8", "()", &huge, 8), &npy, &error), NL_FORMAT);
    file = typed("<f8", "(1,)", &huge, 8);
    assert_int_equal(load_flags(file, NL_NPY_ALLOW_NONFINITE, &npy, &error), NL_OK);
    assert_true(npy.data[0] == -INFINITY);
    nl_npy_free(&npy);
    assert_int_equal(load(typed("<f2", "(1,)", "\x00\x7e", 2), &npy, &error), NL_FORMAT);
    assert_int_equal(load(typed("<f2", "(1,)", "\x00\xfc", 2), &npy, &error), NL_FORMAT);
}

static void writes_what_numpy_writes(void **state)
{
    (void)state;
    /* rows 16 apart, as those of an nl_matrix are */
    float data[32] = {0, 1, 2, [16] = 3, 4, 5};
    size_t shape[] = {2, 3}, length;
    void *bytes;
    assert_int_equal(nl_npy_write_alloc(data, 16, shape, 2, &bytes, &length, NULL), NL_OK);
    assert_int_equal(length, 152);
    assert_memory_equal(bytes, numpy_2x3, 152);
    nl_npy_bytes_free(&bytes);
    assert_null(bytes);
    nl_npy_bytes_free(&bytes);

    static const char scalar[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, "
                                 "'shape': (), }";
    assert_int_equal(nl_npy_write_alloc(data + 1, 0, NULL, 0, &bytes, &length, NULL), NL_OK);
    assert_int_equal(length, 132);
    assert_memory_equal(bytes, scalar, sizeof scalar - 1);
    assert_memory_equal((char *)bytes + 126, " \n\x00\x00\x80\x3f", 6);
    nl_npy_bytes_free(&bytes);

    static const char row[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, "
                              "'shape': (3,), }";
    assert_int_equal(nl_npy_write_alloc(data, 0, (size_t[]){3}, 1, &bytes, &length, NULL), NL_OK);
    assert_int_equal(length, 140);
    assert_memory_equal(bytes, row, sizeof row - 1);
    nl_npy_bytes_free(&bytes);
}

/* Every number of dimensions comes back as it went out. */
static void round_trip(void **state)
{
    (void)state;
    float data[2 * 3 * 7];
    for (size_t i = 0; i < COUNT(data); i++)
        data[i] = (float)i * 0.37f - 3;
    const size_t shape[8] = {1, 1, 3, 1, 1, 1, 2, 7};
    for (size_t ndim = 0; ndim <= 8; ndim++) {
        const size_t *part = shape + 8 - ndim;
        void *bytes;
        size_t length, count = 1;
        for (size_t k = 0; k < ndim; k++)
            count *= part[k];
        assert_int_equal(nl_npy_write_alloc(data, 7, part, ndim, &bytes, &length, NULL), NL_OK);
        assert_int_equal((length - count * 4) % 64, 0);
        nl_npy npy;
        assert_int_equal(nl_npy_load(bytes, length, 0, &npy, NULL), NL_OK);
        assert_int_equal(npy.ndim, ndim);
        assert_memory_equal(npy.shape, part, ndim * sizeof *part);
        assert_values(&npy, data, count);
        nl_npy_bytes_free(&bytes);
    }
}

static void refuses_to_write(void **state)
{
    (void)state;
    float one = 1;
    size_t length, shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const size_t huge = SIZE_MAX / 2;
    void *bytes;
    assert_int_equal(nl_npy_write_alloc(&one, 1, shape, 9, &bytes, &length, NULL), NL_INVALID);
    assert_int_equal(nl_npy_write_alloc(&one, 2, (size_t[]){1, 3}, 2, &bytes, &length, NULL),
                     NL_INVALID);
    assert_int_equal(nl_npy_write_alloc(&one, 1, (size_t[]){huge}, 1, &bytes, &length, NULL),
                     NL_NOMEM);
    assert_int_equal(
        nl_npy_write_alloc(&one, huge, (size_t[]){huge, huge}, 2, &bytes, &length, NULL), NL_NOMEM);
    assert_null(bytes);
    assert_int_equal(nl_npy_write_alloc(NULL, 3, (size_t[]){0, 3}, 2, &bytes, &length, NULL),
                     NL_OK);
    assert_int_equal(length, 128);
    nl_npy_bytes_free(&bytes);
    assert_int_equal(nl_npy_write_alloc(NULL, 0, (size_t[]){9, 0}, 2, &bytes, &length, NULL),
                     NL_OK);
    nl_npy_bytes_free(&bytes);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    long before = nl_alloc_live();
    nl_npy npy;
    nl_error error;
    nl_alloc_fail_after(0);
    assert_int_equal(load(file_of(numpy_2x3, 152), &npy, &error), NL_NOMEM);
    float one = 1;
    size_t length;
    void *bytes;
    nl_alloc_fail_after(0);
    assert_int_equal(nl_npy_write_alloc(&one, 0, NULL, 0, &bytes, &length, &error), NL_NOMEM);
    nl_alloc_fail_after(-1);
    assert_null(bytes);
    assert_int_equal(nl_alloc_live(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_numpy),
        cmocka_unit_test(every_type),
        cmocka_unit_test(headers_in_other_words),
        cmocka_unit_test(empty_arrays),
        cmocka_unit_test(malformed),
        cmocka_unit_test(other_beginnings),
        cmocka_unit_test(every_truncation_and_one_byte_more),
        cmocka_unit_test(names_the_first_nonfinite_value),
        cmocka_unit_test(writes_what_numpy_writes),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(refuses_to_write),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
