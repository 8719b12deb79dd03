/* SPDX-License-Identifier: MIT */
/* Times of the engine's operations beside the peak that the processor reaches meanwhile. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nonlocal/attention.h"
#include "nonlocal/dissim.h"
#include "nonlocal/embed.h"
#include "nonlocal/nlm.h"
#include "verb.h"

enum { MAX_RUNS = 200 };

/* What a bench works on. */
struct job {
    const nl_exec *exec;
    size_t n, d;
    nl_matrix q, k, v, y;
    nl_attention *attention;
    nl_similarity_id similarity;
    nl_matrix w_f; /* concat */
    float *row;
    nl_metric_id metric;
    nl_picture picture;
    size_t *order;
};

struct bench {
    const char *name;
    size_t n, d; /* defaults */
    nl_status (*prepare)(struct job *job, nl_error *error);
    nl_status (*run)(struct job *job, nl_error *error);
    double (*flops)(size_t n, size_t d); /* NULL: has no meaning */
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Numbers of deviation 1, the same on every run: the sum of twelve uniform ones minus 6. */
static nl_status fill(nl_matrix *matrix, size_t rows, size_t cols, uint64_t seed, nl_error *error)
{
    nl_status status = nl_matrix_alloc(matrix, rows, cols, error);
    for (size_t i = 0; status == NL_OK && i < rows; i++) {
        for (size_t k = 0; k < cols; k++) {
            double sum = -6;
            for (int u = 0; u < 12; u++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                sum += (double)(seed >> 40) / (double)(1 << 24);
            }
            nl_row(matrix, i)[k] = (float)sum;
        }
    }
    return status;
}

static nl_status prepare_similarity(struct job *job, nl_similarity_id similarity, nl_error *error)
{
    job->similarity = similarity;
    nl_status status = fill(&job->q, job->n, job->d, 1, error);
    if (status == NL_OK)
        status = fill(&job->k, job->n, job->d, 2, error);
    if (status == NL_OK)
        status = fill(&job->v, job->n, job->d, 3, error);
    if (status == NL_OK)
        status = fill(&job->y, job->n, job->d, 5, error); /* there before memory is measured */
    if (status == NL_OK && similarity == NL_CONCAT)
        status = fill(&job->w_f, 1, 2 * job->d, 4, error);
    return status;
}

static nl_status prepare_attention(struct job *job, nl_error *error)
{
    return prepare_similarity(job, NL_EMBEDDED_GAUSSIAN, error);
}

static nl_status prepare_dot(struct job *job, nl_error *error)
{
    return prepare_similarity(job, NL_DOT, error);
}

static nl_status prepare_concat(struct job *job, nl_error *error)
{
    return prepare_similarity(job, NL_CONCAT, error);
}

static nl_status create_attention(struct job *job, nl_error *error)
{
    nl_attention_params params;
    nl_attention_params_init(&params);
    params.similarity = job->similarity;
    params.normalizer = nl_similarities[job->similarity].normalizer;
    params.scale = 1 / sqrt((double)job->d);
    params.concat = job->w_f.data;
    return nl_attention_create(&params, &job->q, &job->k, false, job->exec, &job->attention, error);
}

/* Packing included: everything from Q, K and V to Y. */
static nl_status run_attention(struct job *job, nl_error *error)
{
    nl_status status = create_attention(job, error);
    if (status == NL_OK)
        status = nl_attention_apply(job->attention, &job->v, job->exec, &job->y, error);
    nl_attention_free(&job->attention);
    return status;
}

static double attention_flops(size_t n, size_t d)
{
    return 4.0 * (double)n * (double)n * (double)d;
}

/* u and v take n·d, each pair one sum. */
static double concat_flops(size_t n, size_t d)
{
    return 2.0 * (double)n * (double)n * (double)d;
}

static nl_status prepare_row(struct job *job, nl_error *error)
{
    nl_status status = prepare_attention(job, error);
    if (status == NL_OK)
        status = create_attention(job, error);
    job->row = calloc(job->n, sizeof *job->row);
    if (status == NL_OK && !job->row)
        status = nl_fail(error, NL_NOMEM, "no memory for a row");
    return status;
}

/* The weights of one query, and its answer. */
static nl_status run_row(struct job *job, nl_error *error)
{
    nl_status status =
        nl_attention_row(job->attention, job->n / 2, job->exec, job->row, NULL, error);
    if (status == NL_OK)
        status = nl_attention_answer(job->row, &job->v, job->exec, job->y.data, error);
    return status;
}

static double row_flops(size_t n, size_t d)
{
    return 4.0 * (double)n * (double)d;
}

static nl_status prepare_pairwise(struct job *job, nl_error *error)
{
    return fill(&job->q, job->n, job->d, 1, error);
}

/* With a new matrix each time, as the libraries that one would compare with return it. */
static nl_status run_pairwise(struct job *job, nl_error *error)
{
    nl_matrix_free(&job->y);
    nl_status status = nl_matrix_alloc(&job->y, job->n, job->n, error);
    return status == NL_OK ? nl_dissim(job->metric, &job->q, job->exec, &job->y, error) : status;
}

/* The same into one that is there already. */
static nl_status run_pairwise_again(struct job *job, nl_error *error)
{
    return job->y.data ? nl_dissim(job->metric, &job->q, job->exec, &job->y, error)
                       : run_pairwise(job, error);
}

static nl_status prepare_project(struct job *job, nl_error *error)
{
    nl_status status = fill(&job->q, job->n, job->d, 1, error);
    return status == NL_OK ? fill(&job->k, job->d, job->d, 2, error) : status;
}

static nl_status run_project(struct job *job, nl_error *error)
{
    const nl_linear map = {.weight = job->k};
    nl_matrix_free(&job->y);
    return nl_linear_apply_alloc(&map, &job->q, job->exec, &job->y, error);
}

static double project_flops(size_t n, size_t d)
{
    return 2.0 * (double)n * (double)d * (double)d;
}

/* A noisy picture of 8 bits, n pixels a side; d = 1 grey, 3 colour. */
static nl_status prepare_nlm(struct job *job, nl_error *error)
{
    nl_matrix noise = {0};
    if (job->d != 1 && job->d != 3)
        return nl_fail(error, NL_INVALID, "--d: a picture has 1 or 3 channels, not %zu", job->d);
    job->picture = (nl_picture){job->n, job->n, job->n, job->n, {0}};
    nl_status status = nl_matrix_alloc(&job->picture.rgb, job->n, 3 * job->n, error);
    if (status == NL_OK)
        status = fill(&noise, job->n, 3 * job->n, 1, error);
    for (size_t y = 0; status == NL_OK && y < job->n; y++) {
        for (size_t k = 0; k < 3 * job->n; k++) {
            const double x = (double)(k / 3), checker = (double)((k / 96 + y / 32) % 2);
            const double clean = (sin(x / 17) + cos((double)y / 23) + checker) * 50 + 90;
            const size_t sample = job->d == 1 ? k / 3 * 3 : k;
            double level = floor(clean + 20 * (double)nl_row(&noise, y)[sample]);
            nl_row(&job->picture.rgb, y)[k] = (float)(fmin(fmax(level, 0), 255) / 255);
        }
    }
    nl_matrix_free(&noise);
    return status;
}

static nl_status run_nlm(struct job *job, nl_error *error)
{
    nl_nlm_params params;
    nl_picture out;
    nl_nlm_params_init(&params);
    params.h = 20.0 / 255;
    nl_status status = nl_nlm_alloc(&job->picture, &params, job->exec, &out, NULL, error);
    nl_picture_free(&out);
    return status;
}

/* Average linkage and optimal leaf order on a given D. */
static nl_status prepare_order(struct job *job, nl_error *error)
{
    nl_status status = prepare_pairwise(job, error);
    if (status == NL_OK)
        status = run_pairwise(job, error);
    job->order = calloc(job->n, sizeof *job->order);
    if (status == NL_OK && !job->order)
        status = nl_fail(error, NL_NOMEM, "no memory for an order");
    return status;
}

static nl_status run_order(struct job *job, nl_error *error)
{
    nl_order_params params;
    nl_order_params_init(&params);
    params.id = NL_ORDER_AVERAGE;
    return nl_order_run(&params, job->n, &job->y, NULL, job->exec, job->order, NULL, NULL, error);
}

static const struct bench benches[] = {
    {"attention", 4096, 64, prepare_attention, run_attention, attention_flops},
    {"dot", 4096, 64, prepare_dot, run_attention, attention_flops},
    {"concat", 4096, 64, prepare_concat, run_attention, concat_flops},
    {"row", 4096, 64, prepare_row, run_row, row_flops},
    {"pairwise", 4096, 64, prepare_pairwise, run_pairwise, NULL},
    {"pairwise-again", 4096, 64, prepare_pairwise, run_pairwise_again, NULL},
    {"project", 4096, 64, prepare_project, run_project, project_flops},
    {"nlm", 512, 1, prepare_nlm, run_nlm, NULL},
    {"order", 1000, 8, prepare_order, run_order, NULL},
    {0},
};

static void job_free(struct job *job)
{
    nl_attention_free(&job->attention);
    nl_matrix_free(&job->q);
    nl_matrix_free(&job->k);
    nl_matrix_free(&job->v);
    nl_matrix_free(&job->w_f);
    nl_matrix_free(&job->y);
    nl_picture_free(&job->picture);
    free(job->order);
    free(job->row);
}

struct peak_thread {
    const nl_kernels *kernels;
    double rate; /* operations a millisecond */
    pthread_t thread;
};

static void *run_peak(void *argument)
{
    struct peak_thread *peak = argument;
    const double start = now_ms();
    const double operations = nl_kernels_peak(peak->kernels, 100000);
    peak->rate = operations / (now_ms() - start);
    return NULL;
}

/* Operations a millisecond that `threads` threads reach side by side, each by its own clock. */
static double measure_peak(const nl_kernels *kernels, size_t threads)
{
    enum { MOST = 256 };
    static struct peak_thread peaks[MOST];
    size_t started = 1;
    threads = threads < MOST ? threads : MOST;
    for (; started < threads; started++) {
        peaks[started].kernels = kernels;
        if (pthread_create(&peaks[started].thread, NULL, run_peak, &peaks[started]) != 0)
            break;
    }
    peaks[0].kernels = kernels;
    run_peak(&peaks[0]);
    double rate = peaks[0].rate;
    for (size_t t = 1; t < started; t++) {
        pthread_join(peaks[t].thread, NULL);
        rate += peaks[t].rate;
    }
    return rate;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_size);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

struct figures {
    double ms, gflops, peak, fraction;
    double memory; /* MiB that the first run took beyond what was there; negative: not known */
};

/* The most memory that the process has had, in MiB; negative where the system does not tell.
 * (getrusage would count what the program's starter had.) */
static double most_memory(void)
{
    char line[128];
    double kib = -1024;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && kib < 0 && fgets(line, sizeof line, status))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtod(line + 6, NULL);
    if (status)
        fclose(status);
    return kib / 1024;
}

static bool enough(size_t runs, double ms)
{
    return runs == MAX_RUNS || (runs >= 7 && ms > 1000) || (runs >= 3 && ms > 10000);
}

/* At least seven runs and a second, or three and ten, each with a measurement of the peak before
 * it. */
static nl_status measure(const struct bench *bench, struct job *job, struct figures *figures,
                         nl_error *error)
{
    double ms[MAX_RUNS], peak[MAX_RUNS], fraction[MAX_RUNS];
    const size_t threads = nl_pool_threads(job->exec->pool);
    const double flops = bench->flops ? bench->flops(job->n, job->d) : 0;
    const double start = now_ms(), memory = most_memory();
    nl_status status = bench->run(job, error); /* once for the caches */
    figures->memory = memory < 0 ? memory : most_memory() - memory;
    size_t runs = 0;
    while (status == NL_OK && !enough(runs, now_ms() - start)) {
        peak[runs] = measure_peak(job->exec->kernels, threads) / 1e6;
        const double begin = now_ms();
        status = bench->run(job, error);
        ms[runs] = now_ms() - begin;
        fraction[runs] = flops / (ms[runs] * 1e6) / peak[runs];
        runs++;
    }
    if (status != NL_OK)
        return status;
    figures->ms = median(ms, runs);
    figures->peak = median(peak, runs);
    figures->gflops = flops / (figures->ms * 1e6);
    figures->fraction = median(fraction, runs);
    return NL_OK;
}

static void print_json(const char *name, double value, bool meaningful, const char *end)
{
    if (meaningful)
        printf("\"%s\": %.6g%s", name, value, end);
    else
        printf("\"%s\": null%s", name, end);
}

static void print_figures(const struct args *args, const struct bench *bench, const struct job *job,
                          const struct figures *figures)
{
    const bool flops = bench->flops != NULL;
    const char *cpu = nl_cpu_name(nl_kernels_cpu(job->exec->kernels));
    const size_t threads = nl_pool_threads(job->exec->pool);
    if (args->json) {
        printf("{\"name\": \"%s\", \"n\": %zu, \"d\": %zu, \"threads\": %zu, \"cpu\": \"%s\", ",
               bench->name, job->n, job->d, threads, cpu);
        print_json("median_ms", figures->ms, true, ", ");
        print_json("gflops", figures->gflops, flops, ", ");
        print_json("peak_gflops", figures->peak, flops, ", ");
        print_json("fraction", figures->fraction, flops, ", ");
        print_json("memory_mib", figures->memory, figures->memory >= 0, "}\n");
        return;
    }
    printf("%s n = %zu, d = %zu, %s, %zu thread%s: %.4g ms", bench->name, job->n, job->d, cpu,
           threads, threads == 1 ? "" : "s", figures->ms);
    if (flops)
        printf(", %.4g GFLOP/s, %.2f of the peak of %.4g", figures->gflops, figures->fraction,
               figures->peak);
    if (figures->memory >= 0)
        printf(", %.1f MiB", figures->memory);
    printf("\n");
}

static const struct bench *find_bench(const char *name)
{
    for (const struct bench *bench = benches; bench->name; bench++)
        if (strcmp(bench->name, name) == 0)
            return bench;
    return NULL;
}

int verb_bench(const struct args *args)
{
    const struct bench *bench = find_bench(args->doc.source);
    struct verb_exec exec;
    struct figures figures;
    nl_error error = {0};
    if (!bench) {
        fprintf(stderr, "nonlocal bench: '%.60s' is not one of", args->doc.source);
        for (bench = benches; bench->name; bench++)
            fprintf(stderr, " %s", bench->name);
        fprintf(stderr, " frame\n");
        return EXIT_BAD_USAGE;
    }
    nl_status status = verb_exec_create(&args->doc, &exec, &error);
    struct job job = {
        .exec = &exec.exec, .n = args->n ? args->n : bench->n, .d = args->d ? args->d : bench->d};
    job.metric = (nl_metric_id)param_choice(&args->doc, PARAM_METRIC);
    if (status == NL_OK)
        status = bench->prepare(&job, &error);
    if (status == NL_OK)
        status = measure(bench, &job, &figures, &error);
    if (status == NL_OK)
        print_figures(args, bench, &job, &figures);
    job_free(&job);
    verb_exec_free(&exec);
    return status == NL_OK ? 0 : verb_fail(&error);
}
