/* SPDX-License-Identifier: MIT */
#include "io/decimal.h"

#include <math.h>
#include <string.h>

/* The number is ±mantissa × 10^exponent, a little more if digits were cut. */
struct decimal {
    uint64_t mantissa;
    int64_t exponent;
    bool negative;
    bool cut;
};

#define FULL_MANTISSA 1000000000000000000u /* one digit more still fits 64 bits */
#define HUGE_EXPONENT 1000000000000000     /* far beyond any float, far from overflow */

/* 0..9, or more for any other byte. */
static unsigned digit_at(const char *at)
{
    return (unsigned)*at - '0';
}

static bool read_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+'))
        negative = *at++ == '-';
    if (at == end)
        return false;
    int64_t power = 0;
    for (; at < end && digit_at(at) <= 9; at++)
        if (power < HUGE_EXPONENT)
            power = power * 10 + (int64_t)digit_at(at);
    *exponent += negative ? -power : power;
    return at == end;
}

static bool read_decimal(const char *at, const char *end, bool comma, struct decimal *number)
{
    *number = (struct decimal){0};
    bool any = false, fraction = false;
    if (at < end && (*at == '-' || *at == '+'))
        number->negative = *at++ == '-';
    for (; at < end; at++) {
        if (!fraction && (*at == '.' || (comma && *at == ','))) {
            fraction = true;
            continue;
        }
        unsigned digit = digit_at(at);
        if (digit > 9)
            break;
        any = true;
        if (number->mantissa < FULL_MANTISSA) {
            number->mantissa = number->mantissa * 10 + digit;
            number->exponent -= fraction;
        } else {
            number->cut = number->cut || digit != 0;
            number->exponent += !fraction;
        }
    }
    if (any && at < end && (*at == 'e' || *at == 'E'))
        return read_exponent(at + 1, end, &number->exponent);
    return any && at == end;
}

/*
 * A natural number of up to 384 bits, lowest limb first. Enough for both sides of compare_with:
 * there 10^70 × 2^53 (286 bits) and 2^64 × 2^202 (266 bits) are the largest.
 */
struct big {
    uint32_t limb[12];
};

static void big_multiply(struct big *number, uint32_t factor)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < 12; i++) {
        carry += (uint64_t)number->limb[i] * factor;
        number->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static void big_power(struct big *number, uint32_t base, int64_t exponent)
{
    for (int64_t i = 0; i < exponent; i++)
        big_multiply(number, base);
}

/* The sign of mantissa × 10^exponent - value, exactly. */
static int compare_with(const struct decimal *number, double value)
{
    int shift;
    uint64_t bits = (uint64_t)ldexp(frexp(value, &shift), 53);
    shift -= 53;
    struct big left = {{(uint32_t)number->mantissa, (uint32_t)(number->mantissa >> 32)}};
    struct big right = {{(uint32_t)bits, (uint32_t)(bits >> 32)}};
    big_power(number->exponent < 0 ? &right : &left, 10,
              number->exponent < 0 ? -number->exponent : number->exponent);
    big_power(shift < 0 ? &left : &right, 2, shift < 0 ? -shift : shift);
    for (size_t i = 12; i-- > 0;)
        if (left.limb[i] != right.limb[i])
            return left.limb[i] > right.limb[i] ? 1 : -1;
    return 0;
}

/* Within 2^-50 of mantissa × 10^exponent, exponent -70..40: at most six roundings of 2^-53. */
static double approximate(const struct decimal *number)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}; /* all exact */
    double value = (double)number->mantissa;
    int64_t power = number->exponent < 0 ? -number->exponent : number->exponent;
    while (power > 0) {
        int64_t step = power < 22 ? power : 22;
        value = number->exponent < 0 ? value / ten[step] : value * ten[step];
        power -= step;
    }
    return value;
}

static float round_decimal(const struct decimal *number)
{
    if (number->mantissa == 0 || number->exponent < -70) /* below 1e19 × 1e-71 */
        return 0.0f;
    if (number->exponent > 40)
        return INFINITY;
    double value = approximate(number);
    if (value * (1 + 0x1p-49) >= 0x1.ffffffp127) /* half a step above the largest float */
        return INFINITY;
    float low = (float)(value * (1 - 0x1p-49));
    float high = (float)(value * (1 + 0x1p-49));
    if (low == high)
        return low;
    /* So close to the middle of two neighbours that the double cannot decide. */
    int side = compare_with(number, ((double)low + (double)high) / 2);
    if (side == 0 && !number->cut) {
        uint32_t bits;
        memcpy(&bits, &low, sizeof bits);
        return bits & 1 ? high : low;
    }
    return side >= 0 ? high : low;
}

bool nl_decimal_parse(const char *text, size_t length, bool comma, float *value)
{
    struct decimal number;
    if (length == 0 || !read_decimal(text, text + length, comma, &number))
        return false;
    float magnitude = round_decimal(&number);
    *value = number.negative ? -magnitude : magnitude;
    return true;
}
