/* SPDX-License-Identifier: MIT */
/* .npy files of every float type, for the program to read. Include after verb_rig.h. */
#ifndef NPY_RIG_H
#define NPY_RIG_H

#include <math.h>

/* Bytes a number takes is also what it is called: f2, f4, f8. */
enum npy_type { NPY_HALF = 2, NPY_SINGLE = 4, NPY_DOUBLE = 8 };

/* Bits of a half; the number must be one. */
static inline uint16_t half_bits(float value)
{
    int exponent;
    const float size = fabsf(value);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (size == 0)
        return sign;
    frexpf(size, &exponent);
    if (exponent < -13)
        exponent = -13;                              /* denormal: without the leading 1 */
    const float units = ldexpf(size, 11 - exponent); /* 1024 to 2047, less if denormal */
    assert_true(units == floorf(units) && units < 2048 && exponent <= 16);
    const uint16_t mantissa = (uint16_t)units;
    return (uint16_t)(sign |
                      (mantissa < 1024 ? mantissa : ((exponent + 14) << 10) + (mantissa - 1024)));
}

static inline void rig_write_npy(const char *name, enum npy_type type, const float *values,
                                 const size_t *shape, size_t ndim)
{
    char head[128], text[118];
    size_t count = 1;
    int used = snprintf(text, sizeof text, "{'descr': '<f%d', 'fortran_order': False, 'shape': (",
                        (int)type);
    for (size_t k = 0; k < ndim; k++) {
        count *= shape[k];
        used += snprintf(text + used, sizeof text - (size_t)used, "%zu,", shape[k]);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "), }");
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    snprintf(head + 10, sizeof head - 10, "%-117s", text);
    head[127] = '\n';
    FILE *stream = fopen(name, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(head, 1, sizeof head, stream), sizeof head);
    for (size_t i = 0; i < count; i++) {
        const uint16_t half = type == NPY_HALF ? half_bits(values[i]) : 0;
        const double wide = (double)values[i];
        const void *bytes = type == NPY_HALF     ? (const void *)&half
                            : type == NPY_SINGLE ? (const void *)&values[i]
                                                 : (const void *)&wide;
        assert_int_equal(fwrite(bytes, (size_t)type, 1, stream), 1);
    }
    assert_int_equal(fclose(stream), 0);
}

#endif
