/* SPDX-License-Identifier: MIT */
/* The .safetensors format: https://huggingface.co/docs/safetensors */
#ifndef NL_SAFETENSORS_H
#define NL_SAFETENSORS_H

#include "io/tensors.h"

/* Do the bytes start like one: the length of a header, and its first brace? */
bool nl_safetensors_known(const void *bytes, size_t length);

/* Adds all tensors to the list. On failure the caller frees what the list has got. */
nl_status nl_safetensors_read(const void *bytes, size_t length, struct nl_tensor_list *list,
                              nl_error *error);

#endif
