/* SPDX-License-Identifier: MIT */
#include "eigen.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * Reduces a to tridiagonal T = Hᵀ A H with reflections H = I − v vᵀ/c that clear one row after the
 * other from the bottom up. Row i keeps its v (in columns 0..i-1); diagonal and off-diagonal of T
 * go to t and e, and c to norm[i] (0 where nothing had to be done).
 */
static void tridiagonalise(double *a, size_t d, double *t, double *e, double *norm)
{
    for (size_t i = d - 1; i > 0; i--) {
        double *v = a + i * d;
        double largest = 0, squares = 0;
        for (size_t k = 0; k < i; k++)
            largest = fmax(largest, fabs(v[k]));
        norm[i] = 0;
        e[i] = v[i - 1];
        if (i == 1 || largest == 0)
            continue;
        for (size_t k = 0; k < i; k++) {
            v[k] /= largest;
            squares += v[k] * v[k];
        }
        double f = v[i - 1], g = f >= 0 ? -sqrt(squares) : sqrt(squares);
        e[i] = largest * g;
        v[i - 1] = f - g;
        double c = norm[i] = squares - f * g; /* |v|²/2 */
        /* p = A v / c, then A ← A − v wᵀ − w vᵀ with w = p − v (vᵀp)/(2c) */
        double *p = t;
        double vp = 0;
        for (size_t j = 0; j < i; j++)
            p[j] = 0;
        for (size_t j = 0; j < i; j++) {
            const double *row = a + j * d;
            double sum = 0;
            for (size_t k = 0; k < j; k++) {
                sum += row[k] * v[k];
                p[k] += row[k] * v[j];
            }
            p[j] += sum + row[j] * v[j];
        }
        for (size_t j = 0; j < i; j++) {
            p[j] /= c;
            vp += v[j] * p[j];
        }
        for (size_t j = 0; j < i; j++)
            p[j] -= v[j] * vp / (2 * c);
        for (size_t j = 0; j < i; j++) {
            double *row = a + j * d;
            for (size_t k = 0; k <= j; k++)
                row[k] -= v[j] * p[k] + p[j] * v[k];
        }
    }
    e[0] = 0;
    for (size_t i = 0; i < d; i++)
        t[i] = a[i * d + i];
}

/* Multiplies the reflections out: row r of a becomes column r of H. */
static void accumulate(double *a, size_t d, const double *norm)
{
    /* Rows i and columns i are written only after every v that still lies there has been used. */
    for (size_t i = 0; i < d; i++) {
        double *v = a + i * d;
        if (i > 0 && norm[i] != 0) {
            for (size_t r = 0; r < i; r++) {
                double *row = a + r * d;
                double dot = 0;
                for (size_t k = 0; k < i; k++)
                    dot += row[k] * v[k];
                dot /= norm[i];
                for (size_t k = 0; k < i; k++)
                    row[k] -= dot * v[k];
            }
        }
        for (size_t k = 0; k < i; k++)
            a[i * d + k] = a[k * d + i] = 0;
        a[i * d + i] = 1;
    }
}

static void rotate_rows(double *a, size_t d, size_t i, double c, double s)
{
    double *row = a + i * d, *next = row + d;
    for (size_t k = 0; k < d; k++) {
        double x = row[k], y = next[k];
        next[k] = s * x + c * y;
        row[k] = c * x - s * y;
    }
}

/* One QL sweep with Wilkinson's shift over the unreduced block [l, m]. */
static void ql_sweep(double *a, size_t d, double *t, double *e, size_t l, size_t m)
{
    double g = (t[l + 1] - t[l]) / (2 * e[l]);
    double r = hypot(g, 1);
    g = t[m] - t[l] + e[l] / (g + copysign(r, g));
    double s = 1, c = 1, p = 0;
    for (size_t i = m; i-- > l;) {
        double f = s * e[i], b = c * e[i];
        r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { /* the block splits early */
            t[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = t[i + 1] - p;
        r = (t[i] - g) * s + 2 * c * b;
        p = s * r;
        t[i + 1] = g + p;
        g = c * r - b;
        rotate_rows(a, d, i, c, s);
    }
    t[l] -= p;
    e[l] = g;
    e[m] = 0;
}

static bool diagonalise(double *a, size_t d, double *t, double *e)
{
    enum { MAX_SWEEPS = 60 };
    for (size_t i = 1; i < d; i++) /* e[i] couples i and i+1 from here on */
        e[i - 1] = e[i];
    e[d - 1] = 0;
    for (size_t l = 0; l < d; l++) {
        for (int sweep = 0;; sweep++) {
            size_t m = l;
            while (m + 1 < d && fabs(e[m]) > DBL_EPSILON * (fabs(t[m]) + fabs(t[m + 1])))
                m++;
            if (m == l)
                break;
            if (sweep == MAX_SWEEPS)
                return false;
            ql_sweep(a, d, t, e, l, m);
        }
    }
    return true;
}

static void sort_descending(double *a, size_t d, double *values)
{
    for (size_t i = 0; i + 1 < d; i++) {
        size_t largest = i;
        for (size_t j = i + 1; j < d; j++)
            largest = values[j] > values[largest] ? j : largest;
        if (largest == i)
            continue;
        double value = values[i];
        values[i] = values[largest];
        values[largest] = value;
        for (size_t k = 0; k < d; k++) {
            double x = a[i * d + k];
            a[i * d + k] = a[largest * d + k];
            a[largest * d + k] = x;
        }
    }
}

bool nl_eigen_symmetric(double *a, size_t d, double *values, double *scratch)
{
    double *norm = scratch, *e = scratch + d;
    for (size_t i = 0; i < d * d; i++)
        if (!isfinite(a[i]))
            return false;
    tridiagonalise(a, d, values, e, norm);
    accumulate(a, d, norm);
    if (!diagonalise(a, d, values, e))
        return false;
    sort_descending(a, d, values);
    return true;
}
