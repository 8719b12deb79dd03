/* SPDX-License-Identifier: MIT */
/* Fisher's iris data for tests, read from assets/iris.csv (NL_TEST_IRIS) without the library. */
#ifndef NL_TEST_IRIS_H
#define NL_TEST_IRIS_H

#include "nonlocal/matrix.h"

enum { IRIS_ROWS = 150, IRIS_COLS = 4, IRIS_CLASS = 50 }; /* 50 rows of each class, in order */

/* A view of the 150 × 4 numbers, static storage; fails the test when they cannot be read. */
nl_matrix iris_matrix(void);

#endif
