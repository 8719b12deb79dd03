/* SPDX-License-Identifier: MIT */
#include "nonlocal/features.h"

#include <math.h>
#include <string.h>

#include "alloc.h"
#include "pool.h"

enum { MAX_PATCH = 64, CELLS = 2, BINS = 8, GRADIENT_DIM = CELLS * CELLS * BINS };

static const double gradient_share = 0.15; /* of lab+gradient */
static const double gradient_floor = 0.02; /* keeps flat patches from being blown up */

const nl_feature nl_features[NL_FEATURE_COUNT + 1] = {
    [NL_FEATURE_RGB] = {"rgb", "RGB"},
    [NL_FEATURE_LUMA] = {"luma", "Luma"},
    [NL_FEATURE_LAB] = {"lab", "Lab"},
    [NL_FEATURE_GRADIENT] = {"gradient", "Gradient"},
    [NL_FEATURE_LAB_GRADIENT] = {"lab+gradient", "Lab + gradient"},
    [NL_FEATURE_POSITION] = {"position", "Position"},
};

void nl_features_params_init(nl_features_params *params)
{
    *params = (nl_features_params){.kind = NL_FEATURE_LAB_GRADIENT, .patch = 12, .stride = 4};
}

nl_grid nl_grid_of(const nl_picture *picture, const nl_features_params *params)
{
    return (nl_grid){
        .gw = (picture->width + params->stride - 1) / params->stride,
        .gh = (picture->height + params->stride - 1) / params->stride,
        .patch = params->patch,
        .stride = params->stride,
        .width = picture->width,
        .height = picture->height,
    };
}

ptrdiff_t nl_grid_patch_start(const nl_grid *grid, size_t g)
{
    ptrdiff_t margin = (ptrdiff_t)grid->stride - (ptrdiff_t)grid->patch;
    ptrdiff_t half = margin >= 0 ? margin / 2 : -((1 - margin) / 2); /* floor(margin / 2) */
    return (ptrdiff_t)(g * grid->stride) + half;
}

size_t nl_mirror(ptrdiff_t i, size_t n)
{
    if (n == 1)
        return 0;
    ptrdiff_t period = 2 * ((ptrdiff_t)n - 1);
    ptrdiff_t r = i % period;
    if (r < 0)
        r += period;
    return (size_t)(r < (ptrdiff_t)n ? r : period - r);
}

static size_t kind_dim(nl_feature_id kind, size_t patch)
{
    switch (kind) {
    case NL_FEATURE_RGB:
    case NL_FEATURE_LAB:
        return patch * patch * 3;
    case NL_FEATURE_LUMA:
        return patch * patch;
    case NL_FEATURE_GRADIENT:
        return GRADIENT_DIM;
    case NL_FEATURE_LAB_GRADIENT:
        return CELLS * CELLS * 3 + GRADIENT_DIM;
    default:
        return 2;
    }
}

static bool appends_position(const nl_features_params *params)
{
    return params->kind != NL_FEATURE_POSITION && params->position > 0;
}

size_t nl_features_dim(const nl_features_params *params)
{
    return kind_dim(params->kind, params->patch) + (appends_position(params) ? 2 : 0);
}

static double luma_of(const float *rgb)
{
    return 0.299 * (double)rgb[0] + 0.587 * (double)rgb[1] + 0.114 * (double)rgb[2];
}

static double srgb_to_linear(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double lab_f(double t)
{
    const double delta = 6.0 / 29;
    return t > delta * delta * delta ? cbrt(t) : t / (3 * delta * delta) + 4.0 / 29;
}

/* sRGB (IEC 61966-2-1) to CIE L*a*b* under D65, each divided by 100. */
static void lab_of(const float *rgb, float *lab)
{
    double r = srgb_to_linear((double)rgb[0]);
    double g = srgb_to_linear((double)rgb[1]);
    double b = srgb_to_linear((double)rgb[2]);
    double fx = lab_f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
    double fy = lab_f(0.2126729 * r + 0.7151522 * g + 0.0721750 * b);
    double fz = lab_f((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883);
    lab[0] = (float)((116 * fy - 16) / 100);
    lab[1] = (float)(500 * (fx - fy) / 100);
    lab[2] = (float)(200 * (fy - fz) / 100);
}

/*
 * Per-pixel planes that the patches read, for the picture mirrored `margin` pixels beyond its
 * borders, so that patches need no border cases.
 */
struct planes {
    size_t margin, width, height; /* width, height include the margin */
    nl_matrix color;              /* 3 a pixel: RGB or Lab/100 */
    nl_matrix luma;               /* 1 a pixel */
    nl_matrix bins;               /* BINS a pixel: edge strength by orientation */
};

static void planes_free(struct planes *planes)
{
    nl_matrix_free(&planes->color);
    nl_matrix_free(&planes->luma);
    nl_matrix_free(&planes->bins);
}

static const float *source_pixel(const struct planes *p, const nl_picture *picture, size_t x,
                                 size_t y)
{
    size_t sx = nl_mirror((ptrdiff_t)x - (ptrdiff_t)p->margin, picture->width);
    size_t sy = nl_mirror((ptrdiff_t)y - (ptrdiff_t)p->margin, picture->height);
    return nl_row(&picture->rgb, sy) + 3 * sx;
}

static nl_status fill_color(struct planes *p, const nl_picture *picture, bool lab, nl_error *error)
{
    nl_status status = nl_matrix_alloc(&p->color, p->height, 3 * p->width, error);
    for (size_t y = 0; status == NL_OK && y < p->height; y++) {
        float *row = nl_row(&p->color, y);
        for (size_t x = 0; x < p->width; x++) {
            const float *rgb = source_pixel(p, picture, x, y);
            if (lab)
                lab_of(rgb, row + 3 * x);
            else
                memcpy(row + 3 * x, rgb, 3 * sizeof *rgb);
        }
    }
    return status;
}

static nl_status fill_luma(struct planes *p, const nl_picture *picture, nl_error *error)
{
    nl_status status = nl_matrix_alloc(&p->luma, p->height, p->width, error);
    for (size_t y = 0; status == NL_OK && y < p->height; y++)
        for (size_t x = 0; x < p->width; x++)
            nl_row(&p->luma, y)[x] = (float)luma_of(source_pixel(p, picture, x, y));
    return status;
}

/*
 * Edge strength of central differences, shared between the two nearest of BINS unsigned
 * orientations; bin b stands for the angle b·π/BINS. The outermost ring has no neighbours and
 * stays 0: the margin is one wider than patches reach.
 */
static nl_status fill_bins(struct planes *p, nl_error *error)
{
    const double pi = 3.14159265358979323846;
    nl_status status = nl_matrix_alloc(&p->bins, p->height, BINS * p->width, error);
    for (size_t y = 1; status == NL_OK && y + 1 < p->height; y++) {
        const float *above = nl_row(&p->luma, y - 1), *row = nl_row(&p->luma, y),
                    *below = nl_row(&p->luma, y + 1);
        float *bins = nl_row(&p->bins, y);
        for (size_t x = 1; x + 1 < p->width; x++) {
            double dx = ((double)row[x + 1] - (double)row[x - 1]) / 2;
            double dy = ((double)below[x] - (double)above[x]) / 2;
            double magnitude = sqrt(dx * dx + dy * dy);
            if (magnitude == 0)
                continue;
            double turn = atan2(dy, dx) / pi; /* (−1, 1], a half turn is 1 */
            double at = (turn < 0 ? turn + 1 : turn) * BINS;
            double lower = floor(at), share = at - lower;
            size_t bin = (size_t)lower % BINS;
            bins[BINS * x + bin] += (float)(magnitude * (1 - share));
            bins[BINS * x + (bin + 1) % BINS] += (float)(magnitude * share);
        }
    }
    return status;
}

static nl_status planes_fill(struct planes *p, const nl_picture *picture,
                             const nl_features_params *params, nl_error *error)
{
    const nl_feature_id kind = params->kind;
    nl_status status = NL_OK;
    p->margin = params->patch + params->stride + 1;
    p->width = picture->width + 2 * p->margin;
    p->height = picture->height + 2 * p->margin;
    if (kind == NL_FEATURE_RGB || kind == NL_FEATURE_LAB || kind == NL_FEATURE_LAB_GRADIENT)
        status = fill_color(p, picture, kind != NL_FEATURE_RGB, error);
    if (status == NL_OK &&
        (kind == NL_FEATURE_LUMA || kind == NL_FEATURE_GRADIENT || kind == NL_FEATURE_LAB_GRADIENT))
        status = fill_luma(p, picture, error);
    if (status == NL_OK && (kind == NL_FEATURE_GRADIENT || kind == NL_FEATURE_LAB_GRADIENT))
        status = fill_bins(p, error);
    return status;
}

/* The patch as it is: `channels` numbers a pixel from (x, y) on. */
static void copy_patch(const nl_matrix *plane, size_t channels, size_t x, size_t y, size_t patch,
                       float *out)
{
    for (size_t dy = 0; dy < patch; dy++)
        memcpy(out + dy * patch * channels, nl_row(plane, y + dy) + x * channels,
               patch * channels * sizeof *out);
}

/*
 * Means over the 2×2 cells of a patch, (cell y, cell x, channel). The cells of an odd patch share
 * its middle row and column, so that left and right weigh the same.
 */
static void cell_means(const nl_matrix *plane, size_t channels, size_t x, size_t y, size_t patch,
                       double *out)
{
    const size_t side = (patch + 1) / 2;
    for (size_t cell = 0; cell < CELLS * CELLS; cell++) {
        size_t x0 = x + cell % CELLS * (patch / 2), y0 = y + cell / CELLS * (patch / 2);
        double *mean = out + cell * channels;
        for (size_t c = 0; c < channels; c++)
            mean[c] = 0;
        for (size_t dy = 0; dy < side; dy++) {
            const float *row = nl_row(plane, y0 + dy) + x0 * channels;
            for (size_t k = 0; k < side; k++)
                for (size_t c = 0; c < channels; c++)
                    mean[c] += (double)row[k * channels + c];
        }
        for (size_t c = 0; c < channels; c++)
            mean[c] /= (double)(side * side);
    }
}

static void gradient_of(const struct planes *p, size_t x, size_t y, size_t patch, double factor,
                        float *out)
{
    double v[GRADIENT_DIM], squares = 0;
    cell_means(&p->bins, BINS, x, y, patch, v);
    for (size_t k = 0; k < GRADIENT_DIM; k++)
        squares += v[k] * v[k];
    double length = sqrt(squares + gradient_floor * gradient_floor);
    for (size_t k = 0; k < GRADIENT_DIM; k++)
        out[k] = (float)(factor * v[k] / length);
}

static void describe(const struct planes *p, nl_feature_id kind, size_t x, size_t y, size_t patch,
                     float *out)
{
    double means[CELLS * CELLS * 3];
    switch (kind) {
    case NL_FEATURE_LUMA:
        copy_patch(&p->luma, 1, x, y, patch, out);
        break;
    case NL_FEATURE_GRADIENT:
        gradient_of(p, x, y, patch, 1, out);
        break;
    case NL_FEATURE_LAB_GRADIENT:
        cell_means(&p->color, 3, x, y, patch, means);
        for (size_t k = 0; k < CELLS * CELLS * 3; k++)
            out[k] = (float)(means[k] / sqrt(CELLS * CELLS * 3));
        gradient_of(p, x, y, patch, gradient_share, out + CELLS * CELLS * 3);
        break;
    default:
        copy_patch(&p->color, 3, x, y, patch, out);
        break;
    }
}

/* Centre of cell g in pixels, as a fraction of the longer side. */
static double cell_centre(const nl_grid *grid, size_t g)
{
    size_t longer = grid->width > grid->height ? grid->width : grid->height;
    return ((double)g + 0.5) * (double)grid->stride / (double)longer;
}

struct describe_loop {
    const struct planes *planes;
    const nl_features_params *params;
    nl_grid grid;
    nl_matrix *x;
};

static void describe_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct describe_loop *loop = context;
    const nl_grid *grid = &loop->grid;
    const struct planes *p = loop->planes;
    (void)worker;
    for (size_t gy = begin; gy < end; gy++) {
        for (size_t gx = 0; gx < grid->gw; gx++) {
            float *x_i = nl_row(loop->x, gy * grid->gw + gx);
            if (loop->params->kind == NL_FEATURE_POSITION) {
                x_i[0] = (float)cell_centre(grid, gx);
                x_i[1] = (float)cell_centre(grid, gy);
                continue;
            }
            ptrdiff_t margin = (ptrdiff_t)p->margin;
            describe(p, loop->params->kind, (size_t)(nl_grid_patch_start(grid, gx) + margin),
                     (size_t)(nl_grid_patch_start(grid, gy) + margin), grid->patch, x_i);
        }
    }
}

/* Widens x by (x, y) times the factor; what is there keeps its place. */
static void append_position(nl_matrix *x, const nl_grid *grid, double factor)
{
    for (size_t i = 0; i < x->rows; i++) {
        float *x_i = nl_row(x, i) + x->cols;
        x_i[0] = (float)(factor * cell_centre(grid, i % grid->gw));
        x_i[1] = (float)(factor * cell_centre(grid, i / grid->gw));
    }
    x->cols += 2;
}

static nl_status check_params(const nl_picture *picture, const nl_features_params *params,
                              nl_error *error)
{
    if ((unsigned)params->kind >= NL_FEATURE_COUNT || (unsigned)params->norm >= NL_NORM_COUNT)
        return nl_fail(error, NL_INVALID, "there are no such features");
    if (params->patch < 1 || params->patch > MAX_PATCH)
        return nl_fail(error, NL_INVALID, "the patch is %zu pixels, it must be 1 to %d",
                       params->patch, MAX_PATCH);
    if (params->stride < 1 || params->stride > MAX_PATCH)
        return nl_fail(error, NL_INVALID, "the stride is %zu pixels, it must be 1 to %d",
                       params->stride, MAX_PATCH);
    if (!(params->position >= 0) || !isfinite(params->position))
        return nl_fail(error, NL_INVALID, "the position's factor is %g, it must be 0 or more",
                       params->position);
    if (picture->width == 0 || picture->height == 0)
        return nl_fail(error, NL_INVALID, "the picture has no pixels");
    return NL_OK;
}

nl_status nl_features_alloc(const nl_picture *picture, const nl_features_params *params,
                            const nl_exec *exec, nl_matrix *x, size_t *constant_columns,
                            nl_error *error)
{
    struct planes planes = {0};
    *x = (nl_matrix){0};
    nl_status status = check_params(picture, params, error);
    if (status != NL_OK)
        return status;
    struct describe_loop loop = {&planes, params, nl_grid_of(picture, params), x};
    status = nl_matrix_alloc(x, loop.grid.gw * loop.grid.gh, nl_features_dim(params), error);
    if (status == NL_OK)
        status = planes_fill(&planes, picture, params, error);
    if (status == NL_OK)
        status = nl_parallel(exec, loop.grid.gh, 1, describe_rows, &loop, error);
    planes_free(&planes);
    if (status != NL_OK) {
        nl_matrix_free(x);
        return status;
    }
    x->cols = kind_dim(params->kind, params->patch);
    size_t constant = nl_normalize(x, params->norm);
    if (constant_columns)
        *constant_columns = constant;
    if (appends_position(params))
        append_position(x, &loop.grid, params->position);
    return NL_OK;
}

struct patches_loop {
    const nl_picture *picture;
    const nl_grid *grid;
    nl_matrix *patches;
};

static void patches_rows(void *context, size_t worker, size_t begin, size_t end)
{
    const struct patches_loop *loop = context;
    const nl_grid *grid = loop->grid;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        ptrdiff_t x0 = nl_grid_patch_start(grid, i % grid->gw);
        ptrdiff_t y0 = nl_grid_patch_start(grid, i / grid->gw);
        float *v_i = nl_row(loop->patches, i);
        for (ptrdiff_t dy = 0; dy < (ptrdiff_t)grid->patch; dy++) {
            const float *row = nl_row(&loop->picture->rgb, nl_mirror(y0 + dy, grid->height));
            for (ptrdiff_t dx = 0; dx < (ptrdiff_t)grid->patch; dx++, v_i += 3)
                memcpy(v_i, row + 3 * nl_mirror(x0 + dx, grid->width), 3 * sizeof *v_i);
        }
    }
}

nl_status nl_patches_alloc(const nl_picture *picture, const nl_grid *grid, const nl_exec *exec,
                           nl_matrix *patches, nl_error *error)
{
    struct patches_loop loop = {picture, grid, patches};
    nl_status status =
        nl_matrix_alloc(patches, grid->gw * grid->gh, 3 * grid->patch * grid->patch, error);
    if (status == NL_OK)
        status = nl_parallel(exec, patches->rows, 64, patches_rows, &loop, error);
    if (status != NL_OK)
        nl_matrix_free(patches);
    return status;
}

/* Adds one patch's pixels that lie inside the picture to sums (RGB and a count a pixel). */
static void add_patch(const nl_grid *grid, size_t i, const float *v_i, double *sums)
{
    ptrdiff_t x0 = nl_grid_patch_start(grid, i % grid->gw);
    ptrdiff_t y0 = nl_grid_patch_start(grid, i / grid->gw);
    for (size_t dy = 0; dy < grid->patch; dy++) {
        for (size_t dx = 0; dx < grid->patch; dx++, v_i += 3) {
            ptrdiff_t x = x0 + (ptrdiff_t)dx, y = y0 + (ptrdiff_t)dy;
            if (x < 0 || y < 0 || x >= (ptrdiff_t)grid->width || y >= (ptrdiff_t)grid->height)
                continue;
            double *sum = sums + 4 * ((size_t)y * grid->width + (size_t)x);
            for (size_t c = 0; c < 3; c++)
                sum[c] += (double)v_i[c];
            sum[3] += 1;
        }
    }
}

nl_status nl_patches_assemble(const nl_picture *picture, const nl_grid *grid,
                              const nl_matrix *patches, nl_picture *out, size_t *uncovered,
                              nl_error *error)
{
    size_t bare = 0;
    *out = (nl_picture){
        picture->width, picture->height, picture->original_width, picture->original_height, {0}};
    double *sums = nl_alloc(4 * grid->width * grid->height, sizeof *sums);
    nl_status status = nl_matrix_alloc(&out->rgb, grid->height, 3 * grid->width, error);
    if (status == NL_OK && !sums)
        status = nl_fail(error, NL_NOMEM, "no memory for a picture of %zu × %zu pixels",
                         grid->width, grid->height);
    for (size_t i = 0; status == NL_OK && i < patches->rows; i++)
        add_patch(grid, i, nl_row(patches, i), sums);
    for (size_t p = 0; status == NL_OK && p < grid->width * grid->height; p++) {
        const double *sum = sums + 4 * p;
        const size_t y = p / grid->width, x = p % grid->width;
        bare += sum[3] == 0;
        for (size_t c = 0; c < 3; c++)
            nl_row(&out->rgb, y)[3 * x + c] =
                sum[3] > 0 ? (float)(sum[c] / sum[3]) : nl_row(&picture->rgb, y)[3 * x + c];
    }
    nl_free(sums);
    if (uncovered)
        *uncovered = bare;
    if (status != NL_OK)
        nl_picture_free(out);
    return status;
}
