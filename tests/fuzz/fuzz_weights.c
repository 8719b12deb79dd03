/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of weights; what loads is looked through for every system's block. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nonlocal/weights.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    nl_tensors tensors;
    nl_error error = {0};
    if (nl_tensors_load(bytes, size, &tensors, &error) != NL_OK) {
        if (error.status == NL_OK || !error.message[0] || tensors.items)
            abort();
        return 0;
    }
    for (size_t i = 0; i < tensors.count; i++) {
        const nl_tensor *tensor = &tensors.items[i];
        size_t product = 1;
        for (size_t k = 0; k < tensor->ndim; k++)
            product *= tensor->shape[k];
        if (tensor->problem[0] ? tensor->data != NULL : product != tensor->count)
            abort();
        if (nl_tensors_find(&tensors, tensor->name) != tensor)
            abort();
    }
    for (int s = 0; s < NL_SYSTEM_COUNT * NL_SIMILARITY_COUNT; s++) {
        nl_weights weights;
        error = (nl_error){0};
        nl_status status =
            nl_weights_pick(&tensors, (nl_system_id)(s / NL_SIMILARITY_COUNT), 6,
                            (nl_similarity_id)(s % NL_SIMILARITY_COUNT), &weights, &error);
        if (status != error.status || (status != NL_OK && !error.message[0]))
            abort();
        nl_weights_free(&weights);
    }
    nl_tensors_free(&tensors);
    return 0;
}
