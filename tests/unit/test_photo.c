/* SPDX-License-Identifier: MIT */
/*
 * The program's `attend -o w.npy` on pictures of odd sizes, against the same calculation in double
 * from the features on: four similarities, three self rules, three kinds of width, every tier.
 *
 * Accuracy asked, relative to the row's largest weight: 1e-5 + 4·2⁻²⁴·max|exponent|.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nonlocal/attention.h"
#include "nonlocal/embed.h"
#include "nonlocal/features.h"
#include "verb_rig.h"

enum { QUERIES = 5 };

struct shot {
    size_t width, height;
    const char *features;
    nl_features_params params;
    size_t dim; /* of the embedding */
};

static const struct shot shots[] = {
    {97, 61, "lab+gradient", {NL_FEATURE_LAB_GRADIENT, 12, 4, NL_NORM_NONE, 0}, 22},
    {33, 17, "rgb", {NL_FEATURE_RGB, 5, 2, NL_NORM_NONE, 0}, 38},
    {1, 9, "luma", {NL_FEATURE_LUMA, 3, 1, NL_NORM_NONE, 0}, 5},
    {250, 333, "lab+gradient", {NL_FEATURE_LAB_GRADIENT, 12, 7, NL_NORM_NONE, 0}, 22},
    {333, 61, "lab", {NL_FEATURE_LAB, 7, 5, NL_NORM_NONE, 0}, 74},
};

/* Sky, a wall with rows of windows, and grass: smooth, repeated and noisy parts. */
static void paint(const struct shot *shot, const char *name)
{
    uint8_t *rgb = malloc(shot->width * shot->height * 3);
    uint32_t noise = 12345;
    assert_non_null(rgb);
    for (size_t y = 0; y < shot->height; y++) {
        for (size_t x = 0; x < shot->width; x++) {
            uint8_t *p = rgb + 3 * (y * shot->width + x);
            noise = noise * 1664525u + 1013904223u;
            const int grain = (int)(noise >> 24) % 7 - 3;
            const int fall = (int)(60 * y / shot->height);
            const bool wall = 3 * y > shot->height && 5 * y < 4 * shot->height;
            const bool window = wall && x % 23 < 11 && y % 17 < 9;
            const bool grass = 5 * y >= 4 * shot->height;
            const int blade = grass ? (int)(noise >> 20) % 90 : 0;
            p[0] = (uint8_t)(window  ? 40 + grain
                             : wall  ? 180 + grain
                             : grass ? 40 + blade
                                     : 150 + fall);
            p[1] = (uint8_t)(window  ? 60 + grain
                             : wall  ? 90 + grain
                             : grass ? 90 + blade
                                     : 190 + fall);
            p[2] = (uint8_t)(window ? 90 + fall : wall ? 70 + grain : grass ? 30 : 235 + grain);
        }
    }
    rig_write_ppm(name, shot->width, shot->height, rgb);
    free(rgb);
}

/* What a query and the keys are, in double. */
struct scene {
    size_t n, d, gw, gh;
    nl_matrix x;
    size_t l;
    double *theta, *phi; /* n × l */
};

static double *embed(const nl_linear *map, const nl_matrix *x)
{
    const size_t l = map->weight.rows;
    double *out = malloc(x->rows * l * sizeof *out);
    assert_non_null(out);
    for (size_t i = 0; i < x->rows; i++) {
        for (size_t c = 0; c < l; c++) {
            double sum = map->bias.data ? (double)map->bias.data[c] : 0;
            for (size_t k = 0; k < x->cols; k++)
                sum += (double)nl_row(&map->weight, c)[k] * (double)nl_row(x, i)[k];
            out[i * l + c] = sum;
        }
    }
    return out;
}

static struct scene open_scene(const struct shot *shot, const char *name)
{
    struct scene scene = {0};
    nl_bitmap bitmap = {0};
    nl_picture picture = {0};
    nl_embedding maps = {0};
    const nl_exec exec = {.kernels = nl_kernels_get(NL_CPU_SCALAR, NULL)};
    size_t size;
    char *bytes = rig_read(name, &size);
    assert_int_equal(nl_bitmap_load(bytes, size, &bitmap, NULL), NL_OK);
    assert_int_equal(nl_picture_from_bitmap(&bitmap, 256, &picture, NULL), NL_OK);
    assert_int_equal(nl_features_alloc(&picture, &shot->params, &exec, &scene.x, NULL, NULL),
                     NL_OK);
    scene.n = scene.x.rows;
    scene.d = scene.x.cols;
    scene.gw = (picture.width + shot->params.stride - 1) / shot->params.stride;
    scene.gh = (picture.height + shot->params.stride - 1) / shot->params.stride;
    assert_int_equal(scene.n, scene.gw * scene.gh);
    nl_embedding_params params = {.kind = NL_EMBED_PCA, .seed = 1};
    assert_int_equal(nl_embedding_create(&params, &scene.x, &exec, &maps, NULL), NL_OK);
    scene.l = maps.theta.weight.rows;
    assert_int_equal(scene.l, shot->dim); /* half of the features, rounded up */
    scene.theta = embed(&maps.theta, &scene.x);
    scene.phi = embed(&maps.phi, &scene.x);
    nl_embedding_free(&maps);
    nl_picture_free(&picture);
    nl_bitmap_free(&bitmap);
    free(bytes);
    return scene;
}

static void close_scene(struct scene *scene)
{
    nl_matrix_free(&scene->x);
    free(scene->theta);
    free(scene->phi);
}

/* The exponent for τ = 1, or h = 1. */
static double score(const struct scene *scene, nl_similarity_id similarity, size_t i, size_t j)
{
    const float *q = nl_row(&scene->x, i), *k = nl_row(&scene->x, j);
    double dot = 0, qq = 0, kk = 0, delta = 0;
    if (similarity == NL_EMBEDDED_GAUSSIAN) {
        for (size_t c = 0; c < scene->l; c++)
            dot += scene->theta[i * scene->l + c] * scene->phi[j * scene->l + c];
        return dot;
    }
    for (size_t c = 0; c < scene->d; c++) {
        const double a = (double)q[c], b = (double)k[c];
        dot += a * b;
        qq += a * a;
        kk += b * b;
        delta += (a - b) * (a - b) / (double)scene->d;
    }
    if (similarity == NL_EUCLIDEAN)
        return -delta;
    return similarity == NL_GAUSSIAN ? dot : qq > 0 && kk > 0 ? dot / sqrt(qq * kk) : 0;
}

struct row {
    double entropy, largest, max_exponent;
};

static struct row weigh(const double *scores, size_t n, size_t query, nl_self self, double beta,
                        double *a)
{
    struct row row = {0};
    double top = -INFINITY, sum = 0;
    for (size_t j = 0; j < n; j++)
        top = j == query && self != NL_SELF_KEEP ? top : fmax(top, scores[j]);
    for (size_t j = 0; j < n; j++) {
        double r = scores[j];
        if (j == query && self != NL_SELF_KEEP)
            r = self == NL_SELF_MAX ? top : -INFINITY;
        a[j] = exp(beta * (r - top));
        sum += a[j];
        if (r > -INFINITY)
            row.max_exponent = fmax(row.max_exponent, fabs(beta * r));
    }
    for (size_t j = 0; j < n; j++) {
        a[j] /= sum;
        row.largest = fmax(row.largest, a[j]);
        row.entropy -= a[j] > 0 ? a[j] * log(a[j]) : 0;
    }
    return row;
}

/* β with exp(entropy) = keys, by bisection of its logarithm. */
static double solve(const double *scores, size_t n, size_t query, nl_self self, double keys,
                    double *a)
{
    double low = -40, high = 60;
    while (high - low > 1e-12) {
        const double middle = (low + high) / 2;
        if (weigh(scores, n, query, self, exp(middle), a).entropy > log(keys))
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}

/* One way to say how wide. */
struct width {
    const char *option, *value;
    double number; /* keys, h or τ */
};

/*
 * Error of one row in units of what is allowed. With perplexity, β is the program's own: it takes
 * |ΔH| <= 1e-6, where H is that of float exponents, off by ε = 4·2⁻²⁴·max|exponent| each, which
 * moves it by ε Σ a|ln a + H| at most. As dH/d ln β = −V, V = Σ a (ln a + H)² (the variance of
 * the exponents), and d ln a_j/d ln β = ln a_j + H, weight j may move by
 * a_j |ln a_j + H| (1e-6 + ε Σ a|ln a + H|)/V more.
 */
static double error_of(const struct row *row, const double *a, const float *got, size_t n,
                       bool perplexity)
{
    const double epsilon = 4 * 0x1p-24 * row->max_exponent;
    const double bound = row->largest * (1e-5 + epsilon);
    double variance = 0, spread = 0, worst = 0;
    for (size_t j = 0; perplexity && j < n; j++) {
        const double t = a[j] > 0 ? log(a[j]) + row->entropy : 0;
        variance += a[j] * t * t;
        spread += a[j] * fabs(t);
    }
    for (size_t j = 0; j < n; j++) {
        double allowed = bound;
        if (perplexity && a[j] > 0)
            allowed += a[j] * fabs(log(a[j]) + row->entropy) * (1e-6 + epsilon * spread) / variance;
        worst = fmax(worst, fabs((double)got[j] - a[j]) / allowed);
    }
    return worst;
}

static void check_run(const struct scene *scene, const struct shot *shot,
                      nl_similarity_id similarity, nl_self self, const struct width *width,
                      const char *cpu, const size_t queries[QUERIES], double *worst)
{
    static const char *const selves[] = {"keep", "max", "exclude"};
    char patch[8], stride[8], rows[QUERIES][32];
    const char *name = nl_similarities[similarity].name;
    snprintf(patch, sizeof patch, "%zu", shot->params.patch);
    snprintf(stride, sizeof stride, "%zu", shot->params.stride);
    for (size_t q = 0; q < QUERIES; q++)
        snprintf(rows[q], sizeof rows[q], "--query=row:%zu", queries[q] + 1);
    SUCCEED("attend", "p.ppm", "-o", "w.npy", "--features", shot->features, "--patch", patch,
            "--stride", stride, "--similarity", name, "--self", selves[self], width->option,
            width->value, "--cpu", cpu, rows[0], rows[1], rows[2], rows[3], rows[4]);
    nl_npy npy = rig_npy("w.npy");
    assert_int_equal(npy.ndim, 3);
    assert_int_equal(npy.shape[0], QUERIES);
    assert_int_equal(npy.shape[1], scene->gh);
    assert_int_equal(npy.shape[2], scene->gw);
    double *scores = malloc(scene->n * sizeof *scores), *a = malloc(scene->n * sizeof *a);
    assert_true(scores && a);
    for (size_t q = 0; q < QUERIES; q++) {
        const float *got = npy.data + q * scene->n;
        const bool perplexity = strcmp(width->option, "--perplexity") == 0;
        double sum = 0, beta = 1 / width->number;
        for (size_t j = 0; j < scene->n; j++) {
            scores[j] = score(scene, similarity, queries[q], j);
            sum += (double)got[j];
        }
        assert_true(fabs(sum - 1) <= 1e-5);
        if (perplexity)
            beta = solve(scores, scene->n, queries[q], self, width->number, a);
        else if (similarity == NL_EUCLIDEAN)
            beta *= beta;
        const struct row row = weigh(scores, scene->n, queries[q], self, beta, a);
        const double error = error_of(&row, a, got, scene->n, perplexity);
        *worst = fmax(*worst, error);
        if (!(error <= 1))
            fail_msg("%zu × %zu, %s, self %s, %s %s, %s, query %zu: %.2f times the error allowed",
                     shot->width, shot->height, name, selves[self], width->option, width->value,
                     cpu, queries[q] + 1, error);
    }
    free(scores);
    free(a);
    nl_npy_free(&npy);
}

static void check_similarity(nl_similarity_id similarity)
{
    static const struct width fixed[2][3] = {
        {{"--temperature", "1", 1},
         {"--temperature", "0.03", 0.03},
         {"--temperature", "0.001", 0.001}},
        {{"--h", "0.1", 0.1}, {"--h", "0.02", 0.02}, {"--h", "0.003", 0.003}},
    };
    static const struct width keys[] = {{"--perplexity", "4.5", 4.5}, {"--perplexity", "40", 40}};
    for (size_t s = 0; s < sizeof shots / sizeof *shots; s++) {
        paint(&shots[s], "p.ppm");
        struct scene scene = open_scene(&shots[s], "p.ppm");
        const size_t n = scene.n;
        const size_t queries[QUERIES] = {0, scene.gw - 1, n / 2 + scene.gw / 3, n - n / 5 - 1,
                                         n - 1};
        for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
            double worst = 0;
            if (!nl_cpu_available(cpu))
                continue;
            for (int self = NL_SELF_KEEP; self <= NL_SELF_EXCLUDE; self++) {
                for (size_t w = 0; w < 3; w++)
                    check_run(&scene, &shots[s], similarity, (nl_self)self,
                              &fixed[similarity == NL_EUCLIDEAN][w], nl_cpu_name(cpu), queries,
                              &worst);
                for (size_t w = 0; w < 2 && n > 100; w++)
                    check_run(&scene, &shots[s], similarity, (nl_self)self, &keys[w],
                              nl_cpu_name(cpu), queries, &worst);
            }
            print_message("%zu × %zu, %s, %s: at worst %.2f of the error allowed\n", shots[s].width,
                          shots[s].height, nl_similarities[similarity].name, nl_cpu_name(cpu),
                          worst);
        }
        close_scene(&scene);
    }
}

static void test_gaussian(void **state)
{
    (void)state;
    check_similarity(NL_GAUSSIAN);
}

static void test_embedded_gaussian(void **state)
{
    (void)state;
    check_similarity(NL_EMBEDDED_GAUSSIAN);
}

static void test_euclidean(void **state)
{
    (void)state;
    check_similarity(NL_EUCLIDEAN);
}

static void test_cosine(void **state)
{
    (void)state;
    check_similarity(NL_COSINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_gaussian),
        CASE(test_embedded_gaussian),
        CASE(test_euclidean),
        CASE(test_cosine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
