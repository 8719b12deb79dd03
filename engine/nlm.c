/* SPDX-License-Identifier: MIT */
/*
 * Non-local means by offsets: for half of the offsets (dy, dx) in the search window, the kernel
 * weighs all pairs (p, p + offset) of a block and counts each for both of its pixels.
 *
 * The picture is cut into strips of rows. A strip belongs to one thread and keeps its own sums, so
 * that pairs across its border are weighed in both strips and the answer depends on no schedule.
 * Inside a strip, a tile of pixels meets a group of offsets before the next tile's turn comes: its
 * sums stay in the first-level cache.
 */
#include "nonlocal/nlm.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "alloc.h"
#include "kernels/kernels.h"
#include "nonlocal/features.h"
#include "panels.h"
#include "pool.h"

enum {
    MARGIN = NL_NLM_MARGIN,
    TILE = 512, /* columns of a tile: every row's loop ends with a branch that was not foreseen */
    TILE_ROWS = 21, /* at least, so that the patch's height is paid for */
    /* Sums run in float over this many offsets, then in double: at most twice as many additions,
     * 128 · 2⁻²⁴ = 8e-6 of the sum, if all of them erred to the same side. */
    GROUP = 64,
};

/* Below this sum, weights that underflow could matter: 2²⁸ of at most 2⁻¹²⁶ each. */
static const double lowest_sum = 0x1p-75;
/* Exponents are worth knowing to this; and from here on they do not count. */
static const double exponent_error = 1e-3, exponent_end = 25;

struct nlm {
    const nl_picture *picture;
    nl_picture *out;
    const nl_exec *exec;
    const nl_kernels *kernels;
    nl_self self;
    size_t width, height, channels, patch, half;
    size_t reach_x, reach_y; /* largest |dx|, |dy| of a candidate */
    float scale, noise;      /* as the kernel takes them */
    double beta, noise_off;  /* 1/h², 2σ² */
    bool flat, direct;       /* direct: every pixel in double where float would not do */
    double exact_taps[NL_NLM_MAX_PATCH];

    /* Planes with mirrored borders; column x of row y is at (y + half) · stride + left + x. */
    float *image, *taps;
    size_t stride, plane, left;

    size_t strip, tile_rows;
    size_t totals_stride, totals_plane, planes;
    size_t sums_plane; /* of the doubles that the totals are emptied into */
    float *scratch;    /* of all workers, worker_size each */
    size_t worker_size;

    atomic_size_t empty;
    atomic_bool cancelled;
};

/* What one worker needs for its strip of rows [y0, y1). */
struct strip {
    struct nlm *nlm;
    size_t y0, y1;
    double *sums;  /* weights, then values by channel; width × strip each */
    float *totals; /* the same, and the largest weights, of the group under way */
    float *columns, *row;
    size_t pending; /* offsets in the totals */
};

void nl_nlm_params_init(nl_nlm_params *params)
{
    *params = (nl_nlm_params){.patch = 7, .search = 21, .h = 0.1, .self = NL_SELF_MAX};
}

static nl_status check_params(const nl_nlm_params *p, nl_error *error)
{
    if (p->patch % 2 == 0 || p->patch > NL_NLM_MAX_PATCH)
        return nl_fail(error, NL_INVALID, "a patch of %zu pixels has no middle: 1, 3, 5 to %d do",
                       p->patch, NL_NLM_MAX_PATCH);
    if (p->search % 2 == 0 && p->search != 0)
        return nl_fail(error, NL_INVALID,
                       "a search window of %zu pixels has no middle: take an odd number, or 0 for "
                       "the whole picture",
                       p->search);
    if (!(p->h >= 1e-6 && p->h <= 1e6))
        return nl_fail(error, NL_INVALID, "the filter width h is %g, it must be 1e-6 to 1e6", p->h);
    if (!(p->sigma >= 0 && p->sigma <= 1e3))
        return nl_fail(error, NL_INVALID, "the noise sigma is %g, it must be 0 to 1000", p->sigma);
    if (!(p->gaussian >= 0 && p->gaussian <= 1e6))
        return nl_fail(error, NL_INVALID,
                       "the deviation of the patch's weights is %g, it must be 0 (flat) to 1e6",
                       p->gaussian);
    if ((unsigned)p->self > NL_SELF_EXCLUDE)
        return nl_fail(error, NL_INVALID, "there is no rule number %d for the own weight",
                       (int)p->self);
    return NL_OK;
}

/* Sets *grey when the channels are equal everywhere. */
static nl_status check_picture(const nl_picture *picture, bool *grey, nl_error *error)
{
    const nl_matrix *rgb = &picture->rgb;
    if (picture->width == 0 || picture->height == 0 || rgb->rows != picture->height ||
        rgb->cols != 3 * picture->width)
        return nl_fail(error, NL_INVALID, "the picture is empty");
    *grey = true;
    for (size_t y = 0; y < picture->height; y++) {
        const float *row = nl_row(rgb, y);
        for (size_t x = 0; x < picture->width; x++) {
            const float *v = row + 3 * x;
            *grey = *grey && v[0] == v[1] && v[1] == v[2];
            for (size_t c = 0; c < 3; c++)
                if (!(fabsf(v[c]) <= 1e6f))
                    return nl_fail(error, NL_INVALID,
                                   "channel %zu of pixel %zu,%zu is %g, not a number within ±1e6",
                                   c + 1, x, y, (double)v[c]);
        }
    }
    return NL_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * A row length of at least n in whole cache lines, and an odd number of them: rows a multiple of
 * 4096 bytes apart would share the same few places of the cache.
 */
static size_t row_length(size_t n)
{
    return ((n + 15) / 16 | 1) * 16;
}

static void lay_out(struct nlm *n, const nl_nlm_params *p)
{
    n->width = n->picture->width;
    n->height = n->picture->height;
    n->patch = p->patch;
    n->half = p->patch / 2;
    n->reach_x = p->search ? smaller(p->search / 2, n->width - 1) : n->width - 1;
    n->reach_y = p->search ? smaller(p->search / 2, n->height - 1) : n->height - 1;
    n->self = p->self;
    n->flat = p->gaussian == 0;
    n->beta = 1 / (p->h * p->h);
    n->noise_off = 2 * p->sigma * p->sigma;
    /* Small differences of large exponents. */
    n->direct = n->noise_off * n->beta > 250;
    /* Flat sums are Σ, not means: the division is here. */
    const double count = (double)n->channels * (n->flat ? (double)(p->patch * p->patch) : 1);
    n->scale = (float)(1.4426950408889634 * n->beta / count);
    n->noise = (float)(1.4426950408889634 * n->beta * n->noise_off);

    /* Patches begin on a cache line. */
    n->left = MARGIN + n->half;
    n->stride = row_length(n->left + n->width + n->half + 2 * MARGIN);
    n->plane = n->stride * (n->height + 2 * n->half);

    /* Far offsets gain nothing from high strips; else few pairs should be weighed twice. */
    n->strip = n->reach_y > 32 ? 16 : smaller((n->height / 8 + 31) / 16 * 16, 128);
    n->strip = smaller(n->strip, n->height);
    n->tile_rows = (TILE_ROWS + n->patch - 1) / n->patch * n->patch;
    n->planes = n->channels + 1 + (n->self == NL_SELF_MAX);
    n->totals_stride = row_length(n->width + 2 * MARGIN);
    n->totals_plane = n->totals_stride * n->strip;
    n->sums_plane = row_length(n->width * n->strip);
    n->worker_size = 2 * (n->channels + 1) * n->sums_plane + n->planes * n->totals_plane +
                     nl_nlm_scratch_size(n->tile_rows, TILE, n->patch) + row_length(n->width);
}

/* One block of memory for the image, the taps and all workers. */
static nl_status allocate(struct nlm *n, nl_error *error)
{
    const size_t image = n->channels * n->plane, taps = row_length(n->patch);
    const size_t workers = nl_exec_workers(n->exec);
    n->image = nl_alloc(image + taps + workers * n->worker_size, sizeof *n->image);
    if (!n->image)
        return nl_fail(error, NL_NOMEM, "no memory to denoise %zu × %zu pixels (%.1f MiB)",
                       n->width, n->height,
                       (double)(image + taps + workers * n->worker_size) * 4 / 1048576);
    n->taps = n->image + image;
    n->scratch = n->taps + taps;
    return NL_OK;
}

/* One side's factor of ω; the product over both sides sums to 1. */
static void fill_taps(struct nlm *n, double deviation)
{
    double sum = 0;
    for (size_t k = 0; k < n->patch; k++) {
        const double off = ((double)k - (double)n->half) / deviation;
        n->exact_taps[k] = n->flat ? 1 : exp(-off * off / 2);
        sum += n->exact_taps[k];
    }
    for (size_t k = 0; k < n->patch; k++) {
        n->exact_taps[k] /= sum;
        n->taps[k] = (float)n->exact_taps[k];
    }
}

static void fill_image(struct nlm *n)
{
    const ptrdiff_t half = (ptrdiff_t)n->half;
    for (size_t c = 0; c < n->channels; c++) {
        for (size_t y = 0; y < n->height + 2 * n->half; y++) {
            const float *from = nl_row(&n->picture->rgb, nl_mirror((ptrdiff_t)y - half, n->height));
            float *to = n->image + c * n->plane + y * n->stride + n->left;
            for (size_t x = 0; x < n->width; x++)
                to[x] = from[3 * x + c];
            for (ptrdiff_t x = 1; x <= half; x++) {
                const ptrdiff_t right = (ptrdiff_t)n->width - 1 + x;
                to[-x] = from[3 * nl_mirror(-x, n->width) + c];
                to[right] = from[3 * nl_mirror(right, n->width) + c];
            }
        }
    }
}

static struct strip strip_of(struct nlm *n, size_t worker, size_t index)
{
    float *memory = n->scratch + worker * n->worker_size;
    struct strip s = {.nlm = n, .y0 = index * n->strip};
    s.y1 = smaller(n->height, s.y0 + n->strip);
    s.sums = (double *)(void *)memory;
    s.totals = memory + 2 * (n->channels + 1) * n->sums_plane;
    s.columns = s.totals + n->planes * n->totals_plane;
    s.row = s.columns + nl_nlm_scratch_size(n->tile_rows, TILE, n->patch);
    memset(memory, 0, (size_t)(s.columns - memory) * sizeof *memory);
    return s;
}

/* Empties the float sums into the double ones; the largest weights stay. */
static void flush(struct strip *s)
{
    const struct nlm *n = s->nlm;
    for (size_t plane = 0; plane < n->channels + 1; plane++) {
        for (size_t y = 0; y < s->y1 - s->y0; y++) {
            double *sums = s->sums + plane * n->sums_plane + y * n->width;
            float *totals = s->totals + plane * n->totals_plane + y * n->totals_stride + MARGIN;
            for (size_t x = 0; x < n->width; x++)
                sums[x] += (double)totals[x];
            memset(totals, 0, n->width * sizeof *totals);
        }
    }
    s->pending = 0;
}

/* The rows of [y, y + rows) that lie in the strip, counted from y. */
static void rows_inside(const struct strip *s, size_t y, size_t rows, size_t *begin, size_t *end)
{
    *begin = s->y0 > y ? smaller(s->y0 - y, rows) : 0;
    *end = s->y1 > y ? smaller(s->y1 - y, rows) : 0;
}

/* Rows [y, y + rows) of the tile at column x0 with `offsets` candidates from (dy, dx) on. */
static void add_block(struct strip *s, size_t y, size_t rows, size_t x0, size_t dy, ptrdiff_t dx,
                      size_t offsets)
{
    const struct nlm *n = s->nlm;
    const ptrdiff_t last = dx + (ptrdiff_t)offsets - 1;
    const size_t back = last < 0 ? (size_t)-last : 0, forth = dx > 0 ? (size_t)dx : 0;
    const size_t first = x0 > back ? x0 : back, end = smaller(n->width - forth, x0 + TILE);
    if (first >= end)
        return;
    const size_t start = first / NL_LANES * NL_LANES;
    const ptrdiff_t skip = -dx - (ptrdiff_t)start;
    struct nl_nlm_block b = {
        .rows = rows,
        .columns = end - start,
        .offsets = offsets,
        .skip = skip > 0 ? (size_t)skip : 0,
        .limit = (size_t)((ptrdiff_t)(n->width - start) - dx),
        .p = n->image + (y + n->half) * n->stride + n->left + start,
        .to_q = (ptrdiff_t)(dy * n->stride) + dx,
        .stride = n->stride,
        .plane = n->plane,
        .channels = n->channels,
        .patch = n->patch,
        .taps = n->flat ? NULL : n->taps,
        .scale = n->scale,
        .noise = n->noise,
        .totals = s->totals,
        .totals_at = ((ptrdiff_t)y - (ptrdiff_t)s->y0) * (ptrdiff_t)n->totals_stride +
                     (ptrdiff_t)(MARGIN + start),
        .totals_to_q = (ptrdiff_t)(dy * n->totals_stride) + dx,
        .totals_stride = n->totals_stride,
        .totals_plane = n->totals_plane,
        .largest = n->self == NL_SELF_MAX,
        .scratch = s->columns,
    };
    rows_inside(s, y, rows, &b.p_begin, &b.p_end);
    rows_inside(s, y + dy, rows, &b.q_begin, &b.q_end);
    n->kernels->nlm_block(&b);
}

/* The cancel flag may be asked for at any time; once true it stays so. */
static bool cancelled(struct nlm *n)
{
    if (!atomic_load_explicit(&n->cancelled, memory_order_relaxed) && n->exec->cancelled &&
        n->exec->cancelled(n->exec->user))
        atomic_store(&n->cancelled, true);
    return atomic_load_explicit(&n->cancelled, memory_order_relaxed);
}

/* Pixels p of rows [begin, end) with the offsets (dy, dx0..dx1). */
static void add_rows(struct strip *s, size_t begin, size_t end, size_t dy, ptrdiff_t dx0,
                     ptrdiff_t dx1)
{
    struct nlm *n = s->nlm;
    for (size_t y = begin; y < end; y += n->tile_rows)
        for (size_t x = 0; x < n->width; x += TILE)
            for (ptrdiff_t dx = dx0; dx <= dx1 && !cancelled(n); dx += NL_NLM_OFFSETS)
                add_block(s, y, smaller(n->tile_rows, end - y), x, dy, dx,
                          smaller(NL_NLM_OFFSETS, (size_t)(dx1 - dx) + 1));
}

/* All pairs at these offsets of which one pixel or both lie in the strip. */
static void add_offsets(struct strip *s, size_t dy, ptrdiff_t dx0, ptrdiff_t dx1)
{
    const size_t above = s->y0 > dy ? s->y0 - dy : 0, end = smaller(s->y1, s->nlm->height - dy);
    const size_t offsets = (size_t)(dx1 - dx0) + 1;
    if (s->pending + offsets > GROUP)
        flush(s);
    s->pending += offsets;
    if (dy < s->y1 - s->y0) {
        add_rows(s, above, end, dy, dx0, dx1);
    } else { /* the rows in between have neither */
        add_rows(s, above, s->y1 > dy ? s->y1 - dy : 0, dy, dx0, dx1);
        add_rows(s, s->y0, end, dy, dx0, dx1);
    }
}

/* Σ w and Σ w v, where w = exp(least − exponent): the largest weight so far is 1. */
struct direct {
    double least, weights, values[3];
};

static void add_candidate(struct direct *sums, double exponent, const float *value, size_t plane,
                          size_t channels)
{
    if (exponent < sums->least) {
        const double factor = exp(exponent - sums->least);
        sums->weights *= factor;
        for (size_t c = 0; c < channels; c++)
            sums->values[c] *= factor;
        sums->least = exponent;
    }
    const double weight = exp(sums->least - exponent);
    sums->weights += weight;
    for (size_t c = 0; c < channels; c++)
        sums->values[c] += weight * (double)value[c * plane];
}

/* δ · channels of pixel (x, y) and the candidates [x0, x1) of row cy; ∞ for the pixel itself. */
static void find_distances(const struct strip *s, size_t x, size_t y, size_t cy, size_t x0,
                           size_t x1)
{
    const struct nlm *n = s->nlm;
    const float *corner = n->image + n->left - n->half;
    n->kernels->nlm_distances(corner + y * n->stride + x, corner + cy * n->stride + x0, n->stride,
                              n->plane, n->channels, n->patch, n->taps, x1 - x0, s->row);
    if (cy == y)
        s->row[x - x0] = INFINITY;
}

/* The same for one candidate, in double. */
static double exact_distance(const struct nlm *n, size_t x, size_t y, size_t cx, size_t cy)
{
    const float *corner = n->image + n->left - n->half;
    const float *p = corner + y * n->stride + x, *q = corner + cy * n->stride + cx;
    double sum = 0;
    for (size_t c = 0; c < n->channels; c++) {
        for (size_t i = 0; i < n->patch; i++) {
            const size_t row = c * n->plane + i * n->stride;
            double row_sum = 0;
            for (size_t k = 0; k < n->patch; k++) {
                const double difference = (double)p[row + k] - (double)q[row + k];
                row_sum += n->exact_taps[k] * difference * difference;
            }
            sum += n->exact_taps[i] * row_sum;
        }
    }
    return sum;
}

/*
 * The pixel's candidates one by one, for weights that underflow or need more digits than float
 * has: once to find the nearest one, once more to weigh those that are not much farther.
 */
static void sum_directly(const struct strip *s, size_t x, size_t y, struct direct *sums)
{
    struct nlm *n = s->nlm;
    const size_t x0 = x > n->reach_x ? x - n->reach_x : 0, y0 = y > n->reach_y ? y - n->reach_y : 0;
    const size_t x1 = smaller(n->width, x + n->reach_x + 1);
    const size_t y1 = smaller(n->height, y + n->reach_y + 1);
    const double channels = (double)n->channels;
    /* relative error of a distance, see the kernel's test */
    const double error = (double)(4 + n->patch + n->patch * n->channels) * 0x1p-24;
    double nearest = INFINITY;
    for (size_t cy = y0; cy < y1 && !cancelled(n); cy++) {
        find_distances(s, x, y, cy, x0, x1);
        for (size_t j = 0; j < x1 - x0; j++)
            nearest = fmin(nearest, (double)s->row[j]);
    }
    const double limit = fmax(nearest, n->noise_off * channels) * (1 + 2 * error) +
                         exponent_end * channels / n->beta;
    for (size_t cy = y0; cy < y1 && !cancelled(n); cy++) {
        const float *values = n->image + (cy + n->half) * n->stride + n->left + x0;
        find_distances(s, x, y, cy, x0, x1);
        for (size_t j = 0; j < x1 - x0; j++) {
            double distance = (double)s->row[j];
            if (!(distance <= limit) || isinf(distance))
                continue;
            if (distance * error * n->beta > exponent_error * channels)
                distance = exact_distance(n, x, y, x0 + j, cy);
            const double exponent = fmax(distance / channels - n->noise_off, 0) * n->beta;
            add_candidate(sums, exponent, values + j, n->plane, n->channels);
        }
    }
}

/* y = Σ w v / Σ w of one pixel, with its own weight; returns 1 if there is no weight at all. */
static size_t finish_pixel(const struct strip *s, size_t x, size_t y)
{
    const struct nlm *n = s->nlm;
    const bool alone = n->reach_x == 0 && n->reach_y == 0;
    const float *own = n->image + (y + n->half) * n->stride + n->left + x;
    const size_t at = (y - s->y0) * n->width + x;
    float *out = nl_row(&n->out->rgb, y) + 3 * x;
    double self = n->self == NL_SELF_EXCLUDE ? 0 : 1;
    struct direct sums = {.least = INFINITY};
    if (!alone && (n->direct || (n->self != NL_SELF_KEEP && s->sums[at] < lowest_sum))) {
        if (n->self == NL_SELF_KEEP)
            add_candidate(&sums, 0, own, n->plane, n->channels);
        sum_directly(s, x, y, &sums);
        self = n->self == NL_SELF_MAX ? 1 : 0; /* the largest weight is 1 */
    } else {
        sums.weights = s->sums[at];
        for (size_t c = 0; c < n->channels; c++)
            sums.values[c] = s->sums[(c + 1) * n->sums_plane + at];
        if (n->self == NL_SELF_MAX && !alone)
            self = (double)s->totals[(n->channels + 1) * n->totals_plane +
                                     (y - s->y0) * n->totals_stride + MARGIN + x];
    }
    const double weight = sums.weights + self;
    for (size_t c = 0; c < 3; c++) {
        const size_t from = n->channels == 1 ? 0 : c;
        const double sum = sums.values[from] + self * (double)own[from * n->plane];
        out[c] = weight > 0 ? (float)(sum / weight) : 0;
    }
    return weight > 0 ? 0 : 1;
}

static void run_strip(void *context, size_t worker, size_t begin, size_t end)
{
    struct nlm *n = context;
    const ptrdiff_t reach = (ptrdiff_t)n->reach_x;
    for (size_t index = begin; index < end; index++) {
        struct strip s = strip_of(n, worker, index);
        size_t empty = 0;
        for (size_t dy = 0; dy <= n->reach_y && !n->direct; dy++)
            for (ptrdiff_t dx = dy ? -reach : 1; dx <= reach; dx += GROUP)
                add_offsets(&s, dy, dx, dx + GROUP - 1 < reach ? dx + GROUP - 1 : reach);
        flush(&s);
        for (size_t y = s.y0; y < s.y1 && !cancelled(n); y++)
            for (size_t x = 0; x < n->width; x++)
                empty += finish_pixel(&s, x, y);
        atomic_fetch_add(&n->empty, empty);
    }
}

nl_status nl_nlm_alloc(const nl_picture *picture, const nl_nlm_params *params, const nl_exec *exec,
                       nl_picture *out, size_t *empty, nl_error *error)
{
    struct nlm n = {.picture = picture, .out = out, .exec = exec};
    bool grey = false;
    *out = (nl_picture){0};
    if (empty)
        *empty = 0;
    nl_status status = check_params(params, error);
    if (status == NL_OK)
        status = check_picture(picture, &grey, error);
    if (status != NL_OK)
        return status;
    n.kernels = nl_exec_kernels(exec, error);
    if (!n.kernels)
        return NL_UNSUPPORTED;
    n.channels = grey ? 1 : 3;
    lay_out(&n, params);
    *out = (nl_picture){n.width, n.height, picture->original_width, picture->original_height, {0}};
    status = allocate(&n, error);
    if (status == NL_OK)
        status = nl_matrix_alloc(&out->rgb, n.height, 3 * n.width, error);
    if (status == NL_OK) {
        fill_taps(&n, params->gaussian);
        fill_image(&n);
        status = nl_parallel(exec, (n.height + n.strip - 1) / n.strip, 1, run_strip, &n, error);
    }
    if (status == NL_OK && atomic_load(&n.cancelled))
        status = nl_fail(error, NL_CANCELLED, "cancelled");
    if (empty)
        *empty = atomic_load(&n.empty);
    nl_free(n.image);
    if (status != NL_OK)
        nl_picture_free(out);
    return status;
}

nl_status nl_psnr(const nl_picture *picture, const nl_picture *clean, double *decibels,
                  nl_error *error)
{
    if (picture->width != clean->width || picture->height != clean->height)
        return nl_fail(error, NL_INVALID,
                       "the pictures are %zu × %zu and %zu × %zu pixels, their sizes must be equal",
                       picture->width, picture->height, clean->width, clean->height);
    double sum = 0;
    for (size_t y = 0; y < picture->height; y++) {
        const float *a = nl_row(&picture->rgb, y), *b = nl_row(&clean->rgb, y);
        for (size_t k = 0; k < 3 * picture->width; k++)
            sum += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
    }
    const double mean = sum / (3 * (double)picture->width * (double)picture->height);
    *decibels = mean > 0 ? -10 * log10(mean) : INFINITY;
    return NL_OK;
}
