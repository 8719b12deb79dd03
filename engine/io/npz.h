/* SPDX-License-Identifier: MIT */
/* NumPy's .npz: a zip archive whose members are .npy files. */
#ifndef NL_NPZ_H
#define NL_NPZ_H

#include "io/tensors.h"

/* Do the bytes start like a zip archive? */
bool nl_npz_known(const void *bytes, size_t length);

/* Adds all members to the list. On failure the caller frees what the list has got. */
nl_status nl_npz_read(const void *bytes, size_t length, struct nl_tensor_list *list,
                      nl_error *error);

#endif
