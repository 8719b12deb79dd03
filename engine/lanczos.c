/* SPDX-License-Identifier: MIT */
#include "lanczos.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "eigen.h"
#include "random.h"

enum {
    STEPS = 120,    /* vectors before the search starts again from the best one */
    RESTARTS = 40,  /* then it is left as it is */
    CHECK_EVERY = 8 /* steps between looks at the eigenvalues */
};

/* Relative to the largest eigenvalue's magnitude: what ‖A v − λ v‖ may be. */
static const double tolerance = 1e-13;

struct search {
    nl_apply_fn apply;
    void *context;
    size_t n, steps;
    bool centred;
    double *basis;           /* (steps + 1) × n */
    double *diagonal, *side; /* of A in the basis, tridiagonal */
    double *small, *values, *scratch;
};

static double dot(const double *a, const double *b, size_t n)
{
    double lanes[4] = {0};
    size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (size_t l = 0; l < 4; l++)
            lanes[l] += a[k + l] * b[k + l];
    for (; k < n; k++)
        lanes[0] += a[k] * b[k];
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

static void centre(double *x, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    for (size_t k = 0; k < n; k++)
        x[k] -= sum / (double)n;
}

/* Scales x to length 1; returns the length before. */
static double normalise(double *x, size_t n)
{
    const double length = sqrt(dot(x, x, n));
    for (size_t k = 0; k < n && length > 0; k++)
        x[k] /= length;
    return length;
}

/* Takes off x what the first `count` vectors of the basis say; twice is enough (Parlett 1980). */
static void orthogonalise(const struct search *s, size_t count, double *x)
{
    for (int pass = 0; pass < 2; pass++) {
        if (s->centred)
            centre(x, s->n);
        for (size_t b = 0; b < count; b++) {
            const double *basis = s->basis + b * s->n;
            const double part = dot(basis, x, s->n);
            for (size_t k = 0; k < s->n; k++)
                x[k] -= part * basis[k];
        }
    }
}

static void start(const struct search *s)
{
    struct nl_random random;
    nl_random_seed(&random, 1);
    for (size_t k = 0; k < s->n; k++) {
        const double jitter = nl_random_uniform(&random) / 2;
        s->basis[k] = (double)k - (double)(s->n - 1) / 2 + jitter;
    }
    if (s->centred)
        centre(s->basis, s->n);
    normalise(s->basis, s->n);
}

/*
 * The leading eigenvector of the count × count part in row 0 of `small`; returns the residual that
 * it leaves, relative to the largest eigenvalue.
 */
static bool look(const struct search *s, size_t count, double *residual)
{
    memset(s->small, 0, count * count * sizeof *s->small);
    for (size_t k = 0; k < count; k++) {
        s->small[k * count + k] = s->diagonal[k];
        if (k + 1 < count)
            s->small[k * count + k + 1] = s->small[(k + 1) * count + k] = s->side[k];
    }
    if (!nl_eigen_symmetric(s->small, count, s->values, s->scratch))
        return false;
    const double norm = fmax(fabs(s->values[0]), fabs(s->values[count - 1]));
    *residual = norm > 0 ? fabs(s->side[count - 1] * s->small[count - 1]) / norm : 0;
    return true;
}

/* Becomes the start of the next round: the basis times the small eigenvector. */
static void combine(const struct search *s, size_t count, double *vector)
{
    memset(vector, 0, s->n * sizeof *vector);
    for (size_t b = 0; b < count; b++)
        for (size_t k = 0; k < s->n; k++)
            vector[k] += s->small[b] * s->basis[b * s->n + k];
    normalise(vector, s->n);
}

/* One round of at most `steps` vectors from the first of the basis. */
static nl_status run_round(struct search *s, double *vector, bool *settled, nl_error *error)
{
    for (size_t k = 0; k < s->steps; k++) {
        double *next = s->basis + (k + 1) * s->n, residual = 0;
        const double *last = s->basis + k * s->n;
        nl_status status = s->apply(s->context, last, next, error);
        if (status != NL_OK)
            return status;
        s->diagonal[k] = dot(last, next, s->n);
        orthogonalise(s, k + 1, next);
        s->side[k] = normalise(next, s->n);
        const bool whole = k + 1 == s->steps;
        if (!whole && (k + 1) % CHECK_EVERY != 0 && s->side[k] > 0)
            continue;
        if (!look(s, k + 1, &residual))
            return nl_fail(error, NL_INVALID, "an eigenvalue could not be found");
        *settled = residual <= tolerance;
        if (whole || *settled) {
            combine(s, k + 1, vector);
            return NL_OK;
        }
    }
    return NL_OK;
}

nl_status nl_lanczos(nl_apply_fn apply, void *context, size_t n, bool centred, double *vector,
                     bool *settled, nl_error *error)
{
    const size_t largest = centred && n > 1 ? n - 1 : n; /* vectors that are independent */
    struct search s = {.apply = apply, .context = context, .n = n, .centred = centred};
    s.steps = largest < STEPS ? largest : STEPS;
    s.basis = nl_alloc((s.steps + 1) * n, sizeof *s.basis);
    s.diagonal = nl_alloc(s.steps, sizeof *s.diagonal);
    s.side = nl_alloc(s.steps, sizeof *s.side);
    s.small = nl_alloc(s.steps * s.steps, sizeof *s.small);
    s.values = nl_alloc(s.steps, sizeof *s.values);
    s.scratch = nl_alloc(2 * s.steps, sizeof *s.scratch);
    nl_status status = NL_OK;
    *settled = false;
    if (!s.basis || !s.diagonal || !s.side || !s.small || !s.values || !s.scratch)
        status = nl_fail(error, NL_NOMEM, "no memory for an eigenvector of %zu numbers", n);
    else
        start(&s);
    for (int round = 0; status == NL_OK && round < RESTARTS && !*settled; round++) {
        if (round > 0)
            memcpy(s.basis, vector, n * sizeof *vector);
        status = run_round(&s, vector, settled, error);
        *settled = *settled || s.steps == largest; /* the whole space has been searched */
    }
    nl_free(s.basis);
    nl_free(s.diagonal);
    nl_free(s.side);
    nl_free(s.small);
    nl_free(s.values);
    nl_free(s.scratch);
    return status;
}
