/* SPDX-License-Identifier: MIT */
/* Eigenvalues and eigenvectors of a real symmetric matrix. */
#ifndef NL_EIGEN_H
#define NL_EIGEN_H

#include "nonlocal/base.h"

/*
 * a is d × d, row-major, symmetric, and is overwritten: row r becomes the unit eigenvector of
 * values[r], largest value first. scratch holds 2·d doubles. Householder reduction to tridiagonal
 * form, then QL steps with implicit shift (Wilkinson and Reinsch 1971, II/2 and II/4). False when
 * it does not converge, which needs input that is not finite.
 */
bool nl_eigen_symmetric(double *a, size_t d, double *values, double *scratch);

#endif
