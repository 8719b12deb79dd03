/* SPDX-License-Identifier: MIT */
/* Any bytes as a .npy file; what loads must survive being written and loaded again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nonlocal/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    nl_npy first, second;
    nl_error error = {0};
    unsigned flags = size > 0 && (bytes[size - 1] & 1) ? NL_NPY_ALLOW_NONFINITE : 0;
    if (nl_npy_load(bytes, size, flags, &first, &error) != NL_OK) {
        if (error.status == NL_OK || !error.message[0])
            abort();
        return 0;
    }
    void *copy;
    size_t length, cols = first.ndim > 0 ? first.shape[first.ndim - 1] : 1;
    if (nl_npy_write_alloc(first.data, cols, first.shape, first.ndim, &copy, &length, NULL) ==
        NL_OK) {
        if (nl_npy_load(copy, length, NL_NPY_ALLOW_NONFINITE, &second, NULL) != NL_OK)
            abort();
        if (second.count != first.count || second.ndim != first.ndim ||
            memcmp(second.data, first.data, first.count * sizeof(float)) != 0)
            abort();
        nl_npy_free(&second);
        nl_npy_bytes_free(&copy);
    }
    nl_npy_free(&first);
    return 0;
}
