/* SPDX-License-Identifier: MIT */
/* .safetensors files: every type, headers in other words, and headers that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden_weights.h"
#include "weights_rig.h"

static void test_every_type(void **state)
{
    (void)state;
    nl_tensors tensors = load_sample("types.safetensors");
    expect_values(&tensors, "half", types_half, COUNT(types_half));
    expect_values(&tensors, "single", types_single, COUNT(types_single));
    const double doubles[] = {3.141592653589793, 0, INFINITY, -2.5}; /* 1e-50, 1e300 */
    const double i8[] = {-128, 127}, u8[] = {0, 255}, i16[] = {-32768, 32767}, u16[] = {0, 65535};
    const double i32[] = {-2147483648.0, 2147483648.0}, u32[] = {0, 4294967296.0};
    const double i64[] = {-0x1p63, 0x1p63}, u64[] = {0, 0x1p64}, truth[] = {1, 0}, scalar[] = {.25};
    const double counted[] = {0, 1, 2, 3, 4, 5};
    expect_values(&tensors, "double", doubles, 4);
    expect_values(&tensors, "i8", i8, 2);
    expect_values(&tensors, "u8", u8, 2);
    expect_values(&tensors, "i16", i16, 2);
    expect_values(&tensors, "u16", u16, 2);
    expect_values(&tensors, "i32", i32, 2);
    expect_values(&tensors, "u32", u32, 2);
    expect_values(&tensors, "i64", i64, 2);
    expect_values(&tensors, "u64", u64, 2);
    expect_values(&tensors, "bool", truth, 2);
    expect_values(&tensors, "scalar", scalar, 1);
    assert_int_equal(nl_tensors_find(&tensors, "scalar")->ndim, 0);
    expect_values(&tensors, "empty", NULL, 0);
    assert_int_equal(nl_tensors_find(&tensors, "empty")->shape[1], 3);
    /* escapes, and a letter and a face that Python writes as \u.... */
    expect_values(&tensors, "na\"me\\ \xc3\xa9\xf0\x9f\x98\x80/x", counted, 6);
    assert_int_equal(tensors.count, 15);
    nl_tensors_free(&tensors);
    tensors = load_sample("types_bf16.safetensors");
    expect_values(&tensors, "single", types_bfloat, COUNT(types_bfloat));
    nl_tensors_free(&tensors);
}

/* A file of this header and so many zero bytes of values, in a block of exact size. */
static struct file make_file(const char *header, size_t values)
{
    size_t length = strlen(header);
    struct file file = {calloc(1, 8 + length + values), 8 + length + values};
    assert_non_null(file.bytes);
    for (int i = 0; i < 8; i++)
        file.bytes[i] = (uint8_t)(length >> (8 * i));
    memcpy(file.bytes + 8, header, length);
    return file;
}

#define F32_2 "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]"

static void test_headers_in_other_words(void **state)
{
    (void)state;
    const struct {
        const char *header;
        size_t values;
        const char *name;
        size_t count;
    } cases[] = {
        {"{\"a\":{" F32_2 "}}", 8, "a", 2},
        {"{\"a\":{" F32_2 "}}   ", 8, "a", 2},
        {"{\t\"a\" : { \"data_offsets\" : [ 0 , 8 ] ,\n\"shape\":[ 2 , 1 ],\r\"dtype\":\"F32\" } }",
         8, "a", 2},
        {"{\"\\u0061\\/\\u00E9\\u20ac\":{" F32_2 "}}", 8, "a/\xc3\xa9\xe2\x82\xac", 2},
        {"{\"__metadata__\":{},\"a\":{" F32_2 "}}", 8, "a", 2},
        {"{\"a\":{" F32_2 "},\"__metadata__\":{\"x\":\"\\n\\\"{\",\"y\":\"\"}}", 8, "a", 2},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, "a", 1},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[7,0],\"data_offsets\":[0,0]}}", 0, "a", 0},
        {"{\"\":{" F32_2 "}}", 8, "", 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        nl_error error = {.message = ""};
        nl_tensors tensors;
        struct file file = make_file(cases[i].header, cases[i].values);
        if (nl_tensors_load(file.bytes, file.length, &tensors, &error) != NL_OK)
            fail_msg("%s: %s", cases[i].header, error.message);
        const nl_tensor *tensor = nl_tensors_find(&tensors, cases[i].name);
        assert_non_null(tensor);
        assert_int_equal(tensor->count, cases[i].count);
        nl_tensors_free(&tensors);
        free(file.bytes);
    }
    struct file file = make_file("{}", 0);
    assert_int_equal(try_bytes(file.bytes, file.length), NL_OK);
    free(file.bytes);
}

static void test_types_that_are_not_known(void **state)
{
    (void)state;
    nl_tensors tensors;
    struct file file =
        make_file("{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[3],\"data_offsets\":[0,3]},\"b\":{"
                  "\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[3,4]}}",
                  4);
    assert_int_equal(nl_tensors_load(file.bytes, file.length, &tensors, NULL), NL_OK);
    assert_non_null(strstr(nl_tensors_find(&tensors, "a")->problem, "F8_E4M3"));
    assert_non_null(strstr(nl_tensors_find(&tensors, "b")->problem, "8 dimensions"));
    assert_null(nl_tensors_find(&tensors, "b")->data);
    nl_tensors_free(&tensors);
    free(file.bytes);
}

static void test_refuses(void **state)
{
    (void)state;
    const struct {
        const char *header;
        size_t values;
        const char *words;
    } cases[] = {
        {"{", 0, "header"},
        {"{\"a\"}", 0, "header"},
        {"{\"a\":{" F32_2 "}", 8, "header"},
        {"{\"a\":{" F32_2 "}}x", 8, "goes on"},
        {"{\"a\":{" F32_2 "}}{}", 8, "goes on"},
        {"{\"a\":{" F32_2 "},}", 8, "header"},
        {"{\"a\":{" F32_2 ",}}", 8, "header"},
        {"{\"a\":{" F32_2 ",\"x\":1}}", 8, "header"},
        {"{\"a\":{" F32_2 ",\"shape\":[2]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, "header"},
        {"{\"a\":{}}", 8, "header"},
        {"{\"a\":[]}", 8, "header"},
        {"{a:{" F32_2 "}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2,],\"data_offsets\":[0,8]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[02],\"data_offsets\":[0,8]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,9]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8]}}", 8, "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[18446744073709551616],\"data_offsets\":[0,8]}}", 8,
         "header"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775808,2],\"data_offsets\":[0,0]}}", 0,
         "tensor 'a'"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775808,2,0],\"data_offsets\":[0,0]}}",
         0, "tensor 'a'"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}}", 8, "backwards"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,7]}}", 8, "shape"},
        {"{\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 8, "cut short"},
        {"{\"a\":{" F32_2 "}}", 9, "9 bytes"},
        {"{\"a\":{" F32_2 "},\"b\":{" F32_2 "}}", 8, "shares"},
        {"{\"a\":{" F32_2 "},\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}", 16,
         "more than once"},
        {"{\"a\\n\":{" F32_2 "}}", 8, "control"},
        {"{\"a\\u0000\":{" F32_2 "}}", 8, "control"},
        {"{\"a\n\":{" F32_2 "}}", 8, "header"},
        {"{\"\xff\":{" F32_2 "}}", 8, "header"},
        {"{\"\\ud800\":{" F32_2 "}}", 8, "header"},
        {"{\"\\ud800\\u0041\":{" F32_2 "}}", 8, "header"},
        {"{\"\\udc00\":{" F32_2 "}}", 8, "header"},
        {"{\"\\u12g4\":{" F32_2 "}}", 8, "header"},
        {"{\"\\x\":{" F32_2 "}}", 8, "header"},
        {"{\"\\", 0, "header"},
        {"{\"\\u00", 0, "header"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "metadata"},
        {"{\"__metadata__\":{\"a\":\"b\"}", 0, "header"},
        {"{\"__metadata__\":[]}", 0, "metadata"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct file file = make_file(cases[i].header, cases[i].values);
        nl_error error = {.message = ""};
        nl_tensors tensors;
        nl_status status = nl_tensors_load(file.bytes, file.length, &tensors, &error);
        if (status != NL_FORMAT || !strstr(error.message, cases[i].words))
            fail_msg("%s: %s, %s", cases[i].header, nl_status_name(status), error.message);
        free(file.bytes);
    }
    char header[700] = "{\"";
    memset(header + 2, 'n', 600);
    strcpy(header + 602, "\":{" F32_2 "}}");
    struct file file = make_file(header, 8);
    expect_refused(file.bytes, file.length, NL_LIMIT, "longer than 255");
    free(file.bytes);
    file = make_file("{\"a\":{" F32_2 "}}", 8);
    file.bytes[7] = 0x80; /* a header of 2^63 bytes */
    expect_refused(file.bytes, file.length, NL_FORMAT, "within its header");
    free(file.bytes);
}

static const char *const samples[] = {
    "types.safetensors",           "types_bf16.safetensors", "nonlocal_f32.safetensors",
    "nonlocal_bf16.safetensors",   "sagan_f16.safetensors",  "transformer_f32.safetensors",
    "transformer_f16.safetensors", "two_blocks.safetensors", "separate.safetensors"};

static void test_every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(samples); i++)
        withstand_truncation(samples[i]);
}

static void test_random_corruptions(void **state)
{
    (void)state;
    size_t read = 0;
    for (size_t i = 0; i < COUNT(samples); i++)
        read += withstand_corruption(samples[i]);
    assert_in_range(read, 1000, COUNT(samples) * 2000 - 1000); /* values have no checksum */
}

static void test_every_allocation_failing_once(void **state)
{
    (void)state;
    withstand_lack_of_memory("nonlocal_f32.safetensors", NL_SYSTEM_NONLOCAL, NL_CONCAT);
    withstand_lack_of_memory("sagan_bf16.safetensors", NL_SYSTEM_SAGAN, NL_EMBEDDED_GAUSSIAN);
    withstand_lack_of_memory("transformer_f16.safetensors", NL_SYSTEM_TRANSFORMER, NL_DOT);
    withstand_lack_of_memory("separate.safetensors", NL_SYSTEM_TRANSFORMER, NL_DOT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_headers_in_other_words),
        cmocka_unit_test(test_types_that_are_not_known),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_random_corruptions),
        cmocka_unit_test(test_every_allocation_failing_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
