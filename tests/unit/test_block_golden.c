/* SPDX-License-Identifier: MIT */
/*
 * Every intermediate of every golden block, on every tier that runs here, against PyTorch's own
 * modules in double; one thread and two must agree to the last bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "block_golden.h"

/* The largest error as a fraction of its bound, for each step. */
struct worst {
    double of[STEP_COUNT];
};

static double largest(const struct worst *worst)
{
    double most = 0;
    for (int s = 0; s < STEP_COUNT; s++)
        most = fmax(most, worst->of[s]);
    return most;
}

static void run(const struct golden *g, const nl_exec *exec, nl_trace *trace, nl_matrix *z)
{
    nl_error error = {0};
    const nl_weights *weights = g->params.system == NL_SYSTEM_NLM ? NULL : &g->weights;
    if (nl_block_run_alloc(&g->params, weights, &g->x, g->shape, exec, trace, z, &error) != NL_OK)
        fail_msg("%s: %s", g->name, error.message);
}

static void assert_same(const struct golden *g, const char *what, const nl_matrix *a,
                        const nl_matrix *b)
{
    if (a->rows != b->rows || a->cols != b->cols)
        fail_msg("%s: %s is %zu × %zu, not %zu × %zu", g->name, what, a->rows, a->cols, b->rows,
                 b->cols);
    for (size_t i = 0; i < a->rows; i++)
        if (memcmp(nl_row(a, i), nl_row(b, i), a->cols * sizeof(float)) != 0)
            fail_msg("%s: row %zu of %s differs", g->name, i + 1, what);
}

static double compare_step(const struct golden *g, enum golden_step step, const nl_matrix *got,
                           const double *bounds)
{
    const nl_matrix *expected = &g->steps[step];
    double worst = 0;
    if (got->rows != expected->rows || got->cols != expected->cols)
        fail_msg("%s: %s is %zu × %zu, not %zu × %zu", g->name, step_names[step], got->rows,
                 got->cols, expected->rows, expected->cols);
    for (size_t i = 0; i < got->rows; i++) {
        for (size_t k = 0; k < got->cols; k++) {
            const float a = nl_row(got, i)[k], b = nl_row(expected, i)[k];
            const double bound = bounds[i * got->cols + k], off = fabs((double)a - (double)b);
            if (a == b) /* −∞ too */
                continue;
            if (!(off <= bound))
                fail_msg("%s: %s[%zu][%zu] is %.9g, not %.9g ± %.2g", g->name, step_names[step], i,
                         k, (double)a, (double)b, bound);
            worst = fmax(worst, off / bound);
        }
    }
    return worst;
}

static void compare(const struct golden *g, const nl_trace *trace, const struct bounds *bounds,
                    struct worst *worst)
{
    for (int s = 0; s < STEP_COUNT; s++) {
        const enum golden_step step = (enum golden_step)s;
        worst->of[s] =
            fmax(worst->of[s], compare_step(g, step, trace_step(trace, step), bounds->of[s]));
    }
}

static void check_golden(const struct golden *g, nl_pool *pool, struct worst *worst)
{
    struct bounds bounds;
    bounds_create(g, &bounds);
    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        if (!nl_cpu_available(cpu))
            continue;
        nl_exec exec = {.kernels = nl_kernels_get(cpu, NULL)};
        nl_trace one, two;
        nl_matrix z_one, z_two;
        run(g, &exec, &one, &z_one);
        exec.pool = pool;
        run(g, &exec, &two, &z_two);
        compare(g, &one, &bounds, worst);
        assert_same(g, "X", &one.x, &g->x);
        assert_same(g, "Z without a trace", &z_one, &one.z);
        assert_same(g, "Z on two threads", &z_two, &one.z);
        assert_same(g, "X on two threads", &two.x, &one.x);
        for (int s = 0; s < STEP_COUNT; s++)
            assert_same(g, step_names[s], trace_step(&two, (enum golden_step)s),
                        trace_step(&one, (enum golden_step)s));
        nl_matrix_free(&z_one);
        nl_matrix_free(&z_two);
        nl_trace_free(&one);
        nl_trace_free(&two);
    }
    bounds_free(&bounds);
}

/* All goldens of a system; says how much of each bound was used. */
static void check_system(nl_system_id system)
{
    struct golden golden;
    struct worst all = {0};
    nl_pool *pool;
    size_t count = 0;
    assert_int_equal(nl_pool_create(2, &pool, NULL), NL_OK);
    for (size_t index = 0; golden_peek(index, &golden); index++) {
        if (golden.params.system != system)
            continue;
        struct worst worst = {0};
        assert_true(golden_load(index, &golden));
        check_golden(&golden, pool, &worst);
        print_message("# %-44s %.3f\n", golden.name, largest(&worst));
        for (int s = 0; s < STEP_COUNT; s++)
            all.of[s] = fmax(all.of[s], worst.of[s]);
        golden_free(&golden);
        count++;
    }
    nl_pool_free(&pool);
    assert_true(count >= 19);
    print_message("# %s, %zu goldens, worst error / bound:", nl_systems[system].name, count);
    for (int s = 0; s < STEP_COUNT; s++)
        print_message(" %s %.3f", step_names[s], all.of[s]);
    print_message("\n");
}

static void test_nonlocal_goldens(void **state)
{
    (void)state;
    check_system(NL_SYSTEM_NONLOCAL);
}

static void test_nlm_goldens(void **state)
{
    (void)state;
    check_system(NL_SYSTEM_NLM);
}

static void test_sagan_goldens(void **state)
{
    (void)state;
    check_system(NL_SYSTEM_SAGAN);
}

static void test_transformer_goldens(void **state)
{
    (void)state;
    check_system(NL_SYSTEM_TRANSFORMER);
}

/* No combination has been lost: what make_block_golden.py says about its pairing. */
static void test_goldens_cover_the_conventions(void **state)
{
    (void)state;
    static bool blocks[NL_SYSTEM_COUNT][NL_SIMILARITY_COUNT][NL_NORMALIZE_KINDS]
                      [NL_SUBSAMPLE_COUNT];
    static bool transformers[5][NL_LAYERNORM_COUNT], selves[NL_SYSTEM_COUNT][3];
    struct golden golden;
    for (size_t index = 0; golden_peek(index, &golden); index++) {
        const nl_block_params *p = &golden.params;
        const nl_attention_params *a = &p->attention;
        blocks[p->system][a->similarity][a->normalizer][p->subsample] = true;
        selves[p->system][a->self] = true;
        assert_true(p->heads < 5);
        if (p->system == NL_SYSTEM_TRANSFORMER)
            transformers[p->heads][p->layernorm] = true;
    }
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++) {
        for (int normalizer = 0; normalizer < NL_NORMALIZE_KINDS; normalizer++) {
            for (int subsample = 0; subsample < NL_SUBSAMPLE_COUNT; subsample++) {
                assert_true(blocks[NL_SYSTEM_NONLOCAL][similarity][normalizer][subsample]);
                assert_true(blocks[NL_SYSTEM_SAGAN][similarity][normalizer][subsample]);
            }
            assert_true(blocks[NL_SYSTEM_TRANSFORMER][similarity][normalizer][NL_SUBSAMPLE_NONE]);
            assert_true(blocks[NL_SYSTEM_NLM][similarity][normalizer][NL_SUBSAMPLE_NONE] ||
                        nl_similarities[similarity].embedded);
        }
    }
    for (int layernorm = 0; layernorm < NL_LAYERNORM_COUNT; layernorm++)
        assert_true(transformers[1][layernorm] && transformers[2][layernorm] &&
                    transformers[4][layernorm]);
    for (int self = 0; self < 3; self++)
        assert_true(selves[NL_SYSTEM_NONLOCAL][self] && selves[NL_SYSTEM_NLM][self]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goldens_cover_the_conventions),
        cmocka_unit_test(test_nonlocal_goldens),
        cmocka_unit_test(test_nlm_goldens),
        cmocka_unit_test(test_sagan_goldens),
        cmocka_unit_test(test_transformer_goldens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
