/* SPDX-License-Identifier: MIT */
/* How good an order of a dissimilarity matrix is, and how good its classes are. */
#include "nonlocal/dissim.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "pool.h"

double nl_path_length(const nl_matrix *d, const size_t *order)
{
    double length = 0;
    for (size_t p = 0; p + 1 < d->rows; p++) {
        size_t i = order ? order[p] : p, j = order ? order[p + 1] : p + 1;
        length += (double)nl_row(d, i)[j];
    }
    return length;
}

size_t nl_class_runs(const int *classes, size_t n, const size_t *order)
{
    size_t runs = n > 0;
    for (size_t p = 0; p + 1 < n; p++) {
        size_t i = order ? order[p] : p, j = order ? order[p + 1] : p + 1;
        runs += classes[i] != classes[j];
    }
    return runs;
}

void nl_block_means(const nl_matrix *d, const int *classes, size_t count, double *means)
{
    for (size_t a = 0; a < count * count; a++)
        means[a] = 0;
    for (size_t i = 0; i < d->rows; i++) {
        double *sums = means + (size_t)classes[i] * count;
        if ((size_t)classes[i] < count)
            for (size_t j = 0; j < d->cols; j++)
                if ((size_t)classes[j] < count)
                    sums[classes[j]] += (double)nl_row(d, i)[j];
    }
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < count; b++) {
            size_t rows = 0, columns = 0;
            for (size_t i = 0; i < d->rows; i++) {
                rows += (size_t)classes[i] == a;
                columns += (size_t)classes[i] == b;
            }
            if (rows * columns > 0)
                means[a * count + b] /= (double)(rows * columns);
        }
    }
}

/* Pairs out of order, and by how much. */
struct inversions {
    uint64_t count;
    double excess;
};

/* What a worker needs for a row of n numbers; two of the sort's arrays take turns. */
struct row_scratch {
    uint32_t *keys[2], *rows[2]; /* n: numbers as whole ones, and whose they are */
    uint32_t *rank;              /* n, in file order: equal numbers have equal ranks */
    uint32_t *above_count;       /* size */
    double *above_sum;           /* size */
    size_t size;                 /* power of two, no less than n */
};

struct quality_loop {
    const nl_matrix *d;
    const size_t *order;
    struct row_scratch *scratch; /* one for each worker */
    struct inversions *rows;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, PASSES = 3 };

/* Sorts a row digit by digit, the lowest first; numbers >= 0 are ordered as their bits are. */
static void rank_row(const float *row, size_t n, const struct row_scratch *s)
{
    uint32_t starts[PASSES][DIGITS] = {{0}};
    for (size_t j = 0; j < n; j++) {
        const float value = row[j] + 0.0f; /* −0 is 0 */
        memcpy(&s->keys[0][j], &value, sizeof value);
        s->rows[0][j] = (uint32_t)j;
        for (int pass = 0; pass < PASSES; pass++)
            starts[pass][s->keys[0][j] >> pass * DIGIT_BITS & (DIGITS - 1)]++;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        uint32_t at = 0;
        for (size_t digit = 0; digit < DIGITS; digit++) {
            const uint32_t count = starts[pass][digit];
            starts[pass][digit] = at;
            at += count;
        }
        const uint32_t *keys = s->keys[pass % 2], *rows = s->rows[pass % 2];
        for (size_t k = 0; k < n; k++) {
            const uint32_t to = starts[pass][keys[k] >> pass * DIGIT_BITS & (DIGITS - 1)]++;
            s->keys[(pass + 1) % 2][to] = keys[k];
            s->rows[(pass + 1) % 2][to] = rows[k];
        }
    }
    const uint32_t *keys = s->keys[PASSES % 2], *rows = s->rows[PASSES % 2];
    uint32_t rank = 0;
    for (size_t k = 0; k < n; k++) {
        rank += k > 0 && keys[k] != keys[k - 1];
        s->rank[rows[k]] = rank;
    }
}

/*
 * Lets a number of this rank into a tree over all ranks, each of whose nodes knows how many numbers
 * are in its upper half and their sum, and counts those that came before and are larger.
 */
static void let_in(const struct row_scratch *s, uint32_t rank, double value,
                   struct inversions *total)
{
    static const double weights[2] = {1, 0}; /* no branch: which half it is is anybody's guess */
    uint32_t count = 0;
    double sum = 0;
    for (size_t at = s->size + rank; at > 1; at /= 2) {
        const uint32_t upper = at % 2;
        uint32_t *node_count = &s->above_count[at / 2];
        double *node_sum = &s->above_sum[at / 2];
        count += *node_count & (upper - 1);
        sum += *node_sum * weights[upper];
        *node_count += upper;
        *node_sum += value * weights[1 - upper];
    }
    total->count += count;
    total->excess += sum - (double)count * value;
}

static void empty_tree(const struct row_scratch *s)
{
    memset(s->above_count, 0, s->size * sizeof *s->above_count);
    memset(s->above_sum, 0, s->size * sizeof *s->above_sum);
}

/*
 * Row p read outwards from the diagonal, to the right and to the left: along a row the triples
 * i < j < k with D_ij > D_ik, along a column (by symmetry a row to the left) those with D_jk >
 * D_ik.
 */
static void quality_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct quality_loop *loop = context;
    const struct row_scratch *s = &loop->scratch[worker];
    const size_t n = loop->d->rows, *order = loop->order;
    for (size_t p = begin; p < end; p++) {
        const float *row = nl_row(loop->d, order ? order[p] : p);
        struct inversions total = {0};
        rank_row(row, n, s);
        empty_tree(s);
        for (size_t k = p + 1; k < n; k++) {
            const size_t j = order ? order[k] : k;
            let_in(s, s->rank[j], (double)row[j], &total);
        }
        empty_tree(s);
        for (size_t k = p; k-- > 0;) {
            const size_t j = order ? order[k] : k;
            let_in(s, s->rank[j], (double)row[j], &total);
        }
        loop->rows[p] = total;
    }
}

static void free_scratch(struct row_scratch *scratch, size_t workers)
{
    for (size_t w = 0; scratch && w < workers; w++) {
        for (int i = 0; i < 2; i++) {
            nl_free(scratch[w].keys[i]);
            nl_free(scratch[w].rows[i]);
        }
        nl_free(scratch[w].rank);
        nl_free(scratch[w].above_count);
        nl_free(scratch[w].above_sum);
    }
    nl_free(scratch);
}

static struct row_scratch *make_scratch(size_t n, size_t workers)
{
    struct row_scratch *scratch = nl_alloc(workers, sizeof *scratch);
    bool made = scratch != NULL;
    for (size_t w = 0; made && w < workers; w++) {
        struct row_scratch *s = &scratch[w];
        for (s->size = 1; s->size < n; s->size *= 2)
            continue;
        for (int i = 0; i < 2; i++) {
            s->keys[i] = nl_alloc_dirty(n, sizeof *s->keys[i]);
            s->rows[i] = nl_alloc_dirty(n, sizeof *s->rows[i]);
        }
        s->rank = nl_alloc_dirty(n, sizeof *s->rank);
        s->above_count = nl_alloc_dirty(s->size, sizeof *s->above_count);
        s->above_sum = nl_alloc_dirty(s->size, sizeof *s->above_sum);
        made = s->keys[0] && s->keys[1] && s->rows[0] && s->rows[1] && s->rank && s->above_count &&
               s->above_sum;
    }
    if (!made) {
        free_scratch(scratch, workers);
        return NULL;
    }
    return scratch;
}

nl_status nl_quality_of(const nl_matrix *d, const size_t *order, const nl_exec *exec,
                        nl_quality *quality, nl_error *error)
{
    const size_t n = d->rows, workers = nl_exec_workers(exec);
    struct quality_loop loop = {.d = d, .order = order};
    nl_status status = NL_OK;
    *quality = (nl_quality){.path_length = nl_path_length(d, order)};
    loop.scratch = make_scratch(n, workers);
    loop.rows = nl_alloc(n, sizeof *loop.rows);
    if (!loop.scratch || !loop.rows)
        status = nl_fail(error, NL_NOMEM, "no memory for the quality of %zu rows", n);
    if (status == NL_OK)
        status = nl_parallel(exec, n, 16, quality_rows, &loop, error);
    for (size_t p = 0; status == NL_OK && p < n; p++) {
        quality->ar_events += loop.rows[p].count;
        quality->ar_deviation += loop.rows[p].excess;
    }
    free_scratch(loop.scratch, workers);
    nl_free(loop.rows);
    return status;
}

struct silhouette_loop {
    const nl_matrix *d;
    const int *classes;
    const size_t *sizes;
    size_t count;
    double *sums; /* count for each worker */
    double *widths;
};

static double silhouette_of(const struct silhouette_loop *loop, size_t i, double *sums)
{
    const size_t own = (size_t)loop->classes[i];
    double other = INFINITY;
    if (loop->sizes[own] == 1)
        return 0;
    for (size_t c = 0; c < loop->count; c++)
        sums[c] = 0;
    for (size_t j = 0; j < loop->d->cols; j++)
        sums[loop->classes[j]] += (double)nl_row(loop->d, i)[j];
    for (size_t c = 0; c < loop->count; c++)
        if (c != own && loop->sizes[c] > 0)
            other = fmin(other, sums[c] / (double)loop->sizes[c]);
    const double inside = sums[own] / (double)(loop->sizes[own] - 1);
    const double larger = fmax(inside, other);
    return larger > 0 ? (other - inside) / larger : 0;
}

static void silhouette_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct silhouette_loop *loop = context;
    for (size_t i = begin; i < end; i++)
        loop->widths[i] = silhouette_of(loop, i, loop->sums + worker * loop->count);
}

nl_status nl_silhouette(const nl_matrix *d, const int *classes, size_t count, const nl_exec *exec,
                        double *mean, nl_error *error)
{
    const size_t n = d->rows;
    size_t *sizes = nl_alloc(count, sizeof *sizes), occupied = 0;
    double *sums = nl_alloc(count * nl_exec_workers(exec), sizeof *sums);
    double *widths = nl_alloc(n, sizeof *widths);
    nl_status status = NL_OK;
    *mean = NAN;
    if (!sizes || !sums || !widths)
        status = nl_fail(error, NL_NOMEM, "no memory for the silhouette of %zu rows", n);
    for (size_t i = 0; status == NL_OK && i < n; i++) {
        if (classes[i] < 0 || (size_t)classes[i] >= count)
            status = nl_fail(error, NL_INVALID, "row %zu has class %d, which is not one of %zu",
                             i + 1, classes[i], count);
        else
            occupied += sizes[classes[i]]++ == 0;
    }
    if (status == NL_OK && occupied > 1) {
        struct silhouette_loop loop = {d, classes, sizes, count, sums, widths};
        status = nl_parallel(exec, n, 16, silhouette_rows, &loop, error);
        double total = 0;
        for (size_t i = 0; i < n; i++)
            total += widths[i];
        *mean = total / (double)n;
    }
    nl_free(sizes);
    nl_free(sums);
    nl_free(widths);
    return status;
}
