/* SPDX-License-Identifier: MIT */
#include "io/number.h"

#include <math.h>
#include <string.h>

static float half_to_float(uint64_t half)
{
    int exponent = (int)(half >> 10 & 31);
    float fraction = (float)(half & 1023);
    float value = exponent == 0   ? ldexpf(fraction, -24)
                  : exponent < 31 ? ldexpf(fraction + 1024, exponent - 25)
                  : fraction == 0 ? INFINITY
                                  : NAN;
    return half >> 15 ? -value : value;
}

static float bits_to_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t read_word(const unsigned char *at, const struct nl_number *number)
{
    uint64_t word = 0;
    for (size_t i = 0; i < number->size; i++)
        word = word << 8 | at[number->big_endian ? i : number->size - 1 - i];
    return word;
}

float nl_number_read(const unsigned char *at, const struct nl_number *number)
{
    uint64_t word = read_word(at, number);
    unsigned unused = 64 - 8 * (unsigned)number->size;
    if (number->type == 'b')
        return word != 0;
    if (number->type == 'u')
        return (float)word;
    if (number->type == 'i') { /* the sign bit to the top and back */
        word <<= unused;
        int64_t wide;
        memcpy(&wide, &word, sizeof wide);
        return (float)(wide / ((int64_t)1 << unused));
    }
    if (number->type == 'g') /* the upper half of a float */
        return bits_to_float((uint32_t)word << 16);
    if (number->size == 2)
        return half_to_float(word);
    if (number->size == 4)
        return bits_to_float((uint32_t)word);
    double value;
    memcpy(&value, &word, sizeof value);
    if (fabs(value) >= 0x1.ffffffp127 && fabs(value) < INFINITY) /* rounds beyond float */
        return value < 0 ? -INFINITY : INFINITY;
    return (float)value;
}
