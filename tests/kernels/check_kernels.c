/* SPDX-License-Identifier: MIT */
/*
 * check_kernels [TIER]: every kernel of a tier against the scalar table and against sums in double
 * written here. Without TIER, that of NONLOCAL_CPU, or else every tier this machine can run. Ends
 * with 77 when the tier that was asked for is not available.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const struct nl_kernels *check_tier;

static bool thin;

size_t check_next(size_t size)
{
    return thin && size >= 80 ? size + 11 : size + 1;
}

static const uint32_t poison = 0x7fc0deadu;

static size_t grid_size(const struct grid *grid)
{
    return grid->rows > 0 ? (grid->rows - 1) * grid->stride + grid->cols : 0;
}

static bool is_poison(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == poison;
}

struct grid grid_make(size_t rows, size_t cols, size_t stride)
{
    struct grid grid = {NULL, rows, cols, stride};
    const size_t size = grid_size(&grid);
    grid.data = malloc(size * sizeof *grid.data);
    assert_true(grid.data != NULL || size == 0);
    for (size_t at = 0; at < size; at++)
        memcpy(grid.data + at, &poison, sizeof poison);
    return grid;
}

void grid_free(struct grid *grid)
{
    free(grid->data);
    *grid = (struct grid){0};
}

void grid_check_written(const struct grid *grid, const char *what)
{
    for (size_t at = 0; at < grid_size(grid); at++) {
        const size_t i = at / grid->stride, k = at % grid->stride;
        if (is_poison(grid->data[at]) != (k >= grid->cols))
            fail_msg("%s of %zu × %zu, stride %zu: (%zu, %zu) %s", what, grid->rows, grid->cols,
                     grid->stride, i, k, k >= grid->cols ? "was overwritten" : "was not written");
    }
}

void grid_check_untouched(const struct grid *grid, const char *what)
{
    for (size_t at = 0; at < grid_size(grid); at++)
        if (!is_poison(grid->data[at]))
            fail_msg("%s: number %zu was overwritten", what, at);
}

static uint64_t random_state;

void check_seed(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
}

/* Marsaglia's xorshift64*. */
static uint64_t random_bits(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545f4914f6cdd1du;
}

float check_number(enum fill fill)
{
    const uint64_t bits = random_bits();
    const float unit = (float)(int32_t)(bits >> 32) * 0x1p-31f;
    switch (fill) {
    case FILL_UNIT:
        return unit;
    case FILL_SIGNS:
        return (const float[]){0.0f, -0.0f, 1.0f, -1.0f}[bits >> 62];
    case FILL_HUGE:
        return copysignf(1e30f + 1e30f * fabsf(unit), unit);
    case FILL_TINY:
        return copysignf(1e-30f + 1e-30f * fabsf(unit), unit);
    case FILL_DENORM:
        return (float)((int)(bits >> 50) - 8192) * 0x1p-149f;
    case FILL_LARGE:
        return 1e17f * unit;
    case FILL_EQUAL:
        return 0.1f;
    }
    return 0;
}

void grid_fill(struct grid *grid, enum fill fill)
{
    for (size_t i = 0; i < grid->rows; i++)
        for (size_t k = 0; k < grid->cols; k++)
            *grid_at(grid, i, k) = check_number(fill);
}

float *check_pack(const struct grid *keys)
{
    const size_t d = keys->cols, size = nl_panels_size(keys->rows, d);
    float *panels = malloc(size * sizeof *panels);
    assert_true(panels != NULL || size == 0);
    for (size_t at = 0; at < size; at++)
        panels[at] = 0;
    for (size_t j = 0; j < keys->rows; j++)
        for (size_t k = 0; k < d; k++)
            panels[(j / NL_LANES * d + k) * NL_LANES + j % NL_LANES] = *grid_at(keys, j, k);
    return panels;
}

void check_close(struct worst *worst, double got, double expected, double bound, const char *format,
                 ...)
{
    const double error = fabs(got - expected);
    if (got == expected)
        return;
    if (error <= bound && isfinite(error)) {
        worst->ratio = fmax(worst->ratio, error / bound);
        return;
    }
    char where[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    fail_msg("%s, %s: %.9g, expected %.9g: the error is %.3g, at most %.3g is right", worst->name,
             where, got, expected, error, bound);
}

void check_same_bits(float got, float expected, const char *format, ...)
{
    if (memcmp(&got, &expected, sizeof got) == 0)
        return;
    char where[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(where, sizeof where, format, arguments);
    va_end(arguments);
    fail_msg("%s: %a, expected %a to the last bit", where, (double)got, (double)expected);
}

static void test_table(void **state)
{
    (void)state;
    assert_int_equal(nl_kernels_cpu(check_tier), check_tier->cpu);
    assert_ptr_equal(nl_kernels_get(check_tier->cpu, NULL), check_tier);
#define X(type, name, parameters) assert_non_null((const void *)(uintptr_t)check_tier->name);
    NL_KERNEL_LIST(X)
#undef X
}

static int check(nl_cpu cpu)
{
    static const struct CMUnitTest table_tests[] = {cmocka_unit_test(test_table)};
    const char *name = nl_cpu_name(cpu);
    nl_error error = {0};
    check_tier = nl_kernels_get(cpu, &error);
    if (!check_tier || nl_kernels_cpu(check_tier) != cpu) {
        fprintf(stderr, "asked for %s, got %s %s\n", name,
                check_tier ? nl_cpu_name(check_tier->cpu) : "nothing:", error.message);
        return 1;
    }
    int failed = cmocka_run_group_tests_name(name, table_tests, NULL, NULL);
    failed += check_scores(name);
    failed += check_rows(name);
    failed += check_pairs(name);
    failed += check_nlm(name);
    failed += check_attend(name);
    struct worst *const lists[] = {check_score_worst, check_row_worst, check_pair_worst,
                                   check_nlm_worst, check_attend_worst};
    for (size_t i = 0; i < COUNT(lists); i++) {
        for (struct worst *worst = lists[i]; worst->name; worst++) {
            printf("# %s %s: the worst error is %.3f of its bound\n", name, worst->name,
                   worst->ratio);
            worst->ratio = 0;
        }
    }
    return failed;
}

int main(int argc, char **argv)
{
    static const nl_cpu tiers[] = {NL_CPU_SCALAR, NL_CPU_AVX2, NL_CPU_AVX512, NL_CPU_NEON};
    const char *wish = argc > 1 ? argv[1] : getenv("NONLOCAL_CPU");
    bool known = false;
    int failed = 0;
    thin = getenv("NL_TEST_THIN") != NULL;
    if (thin)
        printf("# NL_TEST_THIN: of the sizes above 80 only every eleventh\n");
    for (size_t i = 0; i < COUNT(tiers); i++) {
        const char *name = nl_cpu_name(tiers[i]);
        if (wish && *wish && strcmp(wish, name) != 0)
            continue;
        known = true;
        if (nl_cpu_available(tiers[i])) {
            failed += check(tiers[i]);
        } else if (wish && *wish) {
            printf("1..0 # SKIP %s is not available here\n", name);
            return 77;
        }
    }
    if (!known) {
        fprintf(stderr, "there is no tier '%s'\n", wish);
        return 1;
    }
    return failed > 0;
}
