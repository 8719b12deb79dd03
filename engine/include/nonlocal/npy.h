/* SPDX-License-Identifier: MIT */
/* NumPy's array files (.npy), format 1.0 to 3.0 as numpy.lib.format describes it. */
#ifndef NONLOCAL_NPY_H
#define NONLOCAL_NPY_H

#include "nonlocal/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NL_NPY_MAX_DIMS 8

/*
 * An array of float in C order: the last index runs fastest. A scalar has ndim 0 and count 1; an
 * array with an empty dimension has count 0.
 */
typedef struct nl_npy {
    float *data;                   /* count values, 64-byte aligned, owned */
    size_t count;                  /* the product of shape */
    size_t shape[NL_NPY_MAX_DIMS]; /* ndim of them, the rest 0 */
    size_t ndim;
} nl_npy;

/* Flags of nl_npy_load. */
enum {
    NL_NPY_ALLOW_NONFINITE = 1, /* NaN and infinities are data, not errors */
};

/*
 * Reads one whole .npy file (or member of an .npz) of `length` bytes into *npy, to be ended by
 * nl_npy_free; the bytes may go afterwards. Types: booleans, integers and floats of up to 64 bits
 * (b1 i1..i8 u1..u8 f2 f4 f8), either byte order, C or Fortran order; each value becomes the
 * nearest float. Without NL_NPY_ALLOW_NONFINITE the first NaN or infinity (also a double beyond the
 * range of float) is an error that names its index, counted from 1.
 *
 * Errors, *npy being empty: NL_FORMAT for anything malformed, cut short or followed by more bytes,
 * NL_UNSUPPORTED for other types, NL_LIMIT for more than NL_NPY_MAX_DIMS dimensions, NL_NOMEM.
 */
NL_API nl_status nl_npy_load(const void *bytes, size_t length, unsigned flags, nl_npy *npy,
                             nl_error *error);

NL_API void nl_npy_free(nl_npy *npy);

/*
 * A .npy file in memory, byte for byte what numpy.save writes for a C-ordered '<f4' array: format
 * 1.0, data 64-byte aligned. data holds shape[0] × ... × shape[ndim - 1] values; the rows of the
 * last dimension are `stride` >= shape[ndim - 1] elements apart (stride of an nl_matrix); it
 * counts for nothing where ndim < 2, and data may be NULL where a dimension is 0. *bytes is the
 * caller's, ended by nl_npy_bytes_free; NULL on failure.
 *
 * Errors: NL_INVALID for ndim > NL_NPY_MAX_DIMS or too small a stride, NL_NOMEM.
 */
NL_API nl_status nl_npy_write_alloc(const float *data, size_t stride, const size_t *shape,
                                    size_t ndim, void **bytes, size_t *length, nl_error *error);

/* Frees *bytes and makes it NULL. */
NL_API void nl_npy_bytes_free(void **bytes);

#ifdef __cplusplus
}
#endif

#endif
