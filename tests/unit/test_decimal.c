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

#include "io/decimal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void assert_reads_as(const char *number, float expected)
{
    float found = NAN;
    assert_true(nl_decimal_parse(number, strlen(number), false, &found));
    if (memcmp(&found, &expected, sizeof found) != 0)
        fail_msg("%s reads as %a, not %a", number, (double)found, (double)expected);
}

/* The nearest float, ties to even; bit patterns from IEEE 754. */
static void nearest_float(void **state)
{
    (void)state;
    assert_reads_as("0", 0);
    assert_reads_as("+7", 7);
    assert_reads_as("-0", -0.0f);
    assert_reads_as(".5", 0.5f);
    assert_reads_as("5.", 5);
    assert_reads_as("0.1", 0x1.99999ap-4f);
    assert_reads_as("16777217", 0x1p24f);                      /* a tie, to even */
    assert_reads_as("16777219", 0x1.000004p24f);               /* a tie, to even, upwards */
    assert_reads_as("16777217.0000000000000001", 0x1p24f + 2); /* just above it */
    assert_reads_as("16777216.9999999999999999", 0x1p24f);     /* just below it */
    assert_reads_as("1.000000059604644775390625", 1);          /* 1 + 2^-24 */
    assert_reads_as("1.000000059604644776", 0x1.000002p0f);
    assert_reads_as("0000000000000000000000000000000.0000000000000000000000000000010e30", 1);
    assert_reads_as("1000000000000000000000000000000000000000e-39", 1);
    assert_reads_as("0.00000000000000000000000000000000000000001e41", 1);
}

static void ends_of_the_range(void **state)
{
    (void)state;
    assert_reads_as("1.401298464324817e-45", 0x1p-149f);
    assert_reads_as("7.006492321624085e-46", 0);         /* just under half of that */
    assert_reads_as("7.006492321624086e-46", 0x1p-149f); /* just over */
    assert_reads_as("1.1754943508222875e-38", 0x1p-126f);
    assert_reads_as("3.4028234663852886e38", 0x1.fffffep127f);
    assert_reads_as("340282346638528859811704183484516925440", 0x1.fffffep127f);
    assert_reads_as("3.5e38", INFINITY);
    assert_reads_as("-1e999", -INFINITY);
    assert_reads_as("1e-999", 0);
    assert_reads_as("1e99999999999999999999999", INFINITY);
    assert_reads_as("-1e-99999999999999999999999", -0.0f);
    assert_reads_as("0e999999999999999999999", 0);
}

/* Against the C library's own reader, which rounds correctly, up to 19 digits. */
static void agrees_with_strtof(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 300000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        char number[64];
        unsigned long long mantissa = random >> 1;
        for (int cut = (int)(random * 31 >> 59) % 19; cut > 0; cut--)
            mantissa /= 10;
        snprintf(number, sizeof number, "%s%llue%d", i & 1 ? "-" : "", mantissa,
                 (int)(random * 77 >> 57) - 75);
        assert_reads_as(number, strtof(number, NULL));
    }
}

/* Decimals nearest to the middle of two neighbouring floats, where a double cannot decide. */
static void agrees_with_strtof_near_ties(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = (uint32_t)(random >> 33) % 0x7f000000u;
        float low, high;
        char number[64];
        memcpy(&low, &bits, sizeof low);
        high = nextafterf(low, INFINITY);
        snprintf(number, sizeof number, "%.*e", 12 + i % 7, ((double)low + (double)high) / 2);
        assert_reads_as(number, strtof(number, NULL));
    }
}

static void refuses(void **state)
{
    (void)state;
    static const char *const words[] = {"",      ".",     "+",   "-.",  "e5",  "1e",  "1e+",
                                        "1e5.0", "--1",   "1-",  "1 2", " 1",  "1 ",  "0x1",
                                        "1f",    "1.2.3", "1,5", "nan", "inf", "1_0", "1e1e1"};
    for (size_t i = 0; i < COUNT(words); i++) {
        float value = 42;
        if (nl_decimal_parse(words[i], strlen(words[i]), false, &value))
            fail_msg("%s reads as a number", words[i]);
        assert_true(value == 42);
    }
    float value = 42;
    assert_false(nl_decimal_parse("1\0", 2, false, &value));
    assert_false(nl_decimal_parse(NULL, 0, false, &value));
}

static void decimal_comma(void **state)
{
    (void)state;
    float value;
    assert_true(nl_decimal_parse("-1,5e1", 6, true, &value) && value == -15);
    assert_true(nl_decimal_parse("1.5", 3, true, &value) && value == 1.5f);
    assert_false(nl_decimal_parse("1.234,5", 7, true, &value));
    assert_false(nl_decimal_parse(",", 1, true, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_float),
        cmocka_unit_test(ends_of_the_range),
        cmocka_unit_test(agrees_with_strtof),
        cmocka_unit_test(agrees_with_strtof_near_ties),
        cmocka_unit_test(refuses),
        cmocka_unit_test(decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
