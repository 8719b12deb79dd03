/* SPDX-License-Identifier: MIT */
#include "nonlocal/system.h"

const nl_system nl_systems[NL_SYSTEM_COUNT + 1] = {
    [NL_SYSTEM_NONLOCAL] = {"nonlocal", "Non-local block", "Wang, Girshick, Gupta, He 2018",
                            NL_EUCLIDEAN, false, NL_SELF_MAX, NL_FEATURE_LAB_GRADIENT, 12, 4},
    [NL_SYSTEM_NLM] = {"nlm", "Non-local means", "Buades, Coll, Morel 2005", NL_EUCLIDEAN, false,
                       NL_SELF_MAX, NL_FEATURE_RGB, 7, 1},
    [NL_SYSTEM_SAGAN] = {"sagan", "SAGAN", "Zhang, Goodfellow, Metaxas, Odena 2018",
                         NL_EMBEDDED_GAUSSIAN, false, NL_SELF_KEEP, NL_FEATURE_LAB_GRADIENT, 12, 4},
    [NL_SYSTEM_TRANSFORMER] = {"transformer", "Transformer", "Vaswani et al. 2017",
                               NL_EMBEDDED_GAUSSIAN, true, NL_SELF_KEEP, NL_FEATURE_LAB_GRADIENT,
                               12, 4},
};
