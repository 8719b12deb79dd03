/* SPDX-License-Identifier: MIT */
/* Errors, the allocator, matrices, and what happens when memory runs out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "alloc.h"
#include "attention_ref.h"
#include "nonlocal/embed.h"
#include "panels.h"

static void test_errors(void **state)
{
    (void)state;
    nl_error error = {.line = 3, .column = 4};
    assert_int_equal(nl_fail(&error, NL_LIMIT, "%d of %s", 7, "them"), NL_LIMIT);
    assert_int_equal(error.status, NL_LIMIT);
    assert_string_equal(error.message, "7 of them");
    assert_true(error.line == 0 && error.column == 0);
    assert_int_equal(nl_fail_at(&error, NL_FORMAT, 12, 5, "x"), NL_FORMAT);
    assert_true(error.line == 12 && error.column == 5 && error.status == NL_FORMAT);
    assert_int_equal(nl_fail(NULL, NL_IO, "nobody listens"), NL_IO);
    assert_int_equal(nl_fail_at(NULL, NL_IO, 1, 1, "nobody listens"), NL_IO);
}

/* A message that is too long is cut and still ends. */
static void test_long_message(void **state)
{
    (void)state;
    struct {
        nl_error error;
        char after[16];
    } box;
    char text[1000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    memset(&box, 'z', sizeof box);
    nl_fail(&box.error, NL_INVALID, "%s", text);
    assert_int_equal(strlen(box.error.message), sizeof box.error.message - 1);
    for (size_t i = 0; i < sizeof box.after; i++)
        assert_int_equal(box.after[i], 'z');
}

static void test_status_names(void **state)
{
    (void)state;
    for (int status = NL_UNSUPPORTED; status <= NL_OK; status++) {
        assert_true(strlen(nl_status_name((nl_status)status)) > 0);
        assert_string_not_equal(nl_status_name((nl_status)status), "unknown status");
        for (int other = NL_UNSUPPORTED; other < status; other++)
            assert_string_not_equal(nl_status_name((nl_status)status),
                                    nl_status_name((nl_status)other));
    }
    assert_string_equal(nl_status_name((nl_status)-99), "unknown status");
    int parts[3];
    assert_int_equal(sscanf(nl_version(), "%d.%d.%d", &parts[0], &parts[1], &parts[2]), 3);
}

static void test_cpu_names(void **state)
{
    (void)state;
    for (nl_cpu cpu = NL_CPU_AUTO; cpu < NL_CPU_COUNT; cpu++) {
        nl_error error = {0};
        const nl_kernels *kernels = nl_kernels_get(cpu, &error);
        assert_true(nl_cpu_compiled(cpu) || !nl_cpu_available(cpu));
        if (cpu == NL_CPU_AUTO)
            continue; /* the environment may ask for anything */
        assert_int_equal(kernels != NULL, nl_cpu_available(cpu));
        if (kernels)
            assert_int_equal(nl_kernels_cpu(kernels), cpu);
        else
            assert_non_null(strstr(error.message, nl_cpu_name(cpu)));
    }
    assert_true(nl_cpu_available(NL_CPU_SCALAR) && nl_cpu_available(NL_CPU_AUTO));
    assert_false(nl_cpu_available(NL_CPU_COUNT));
    assert_string_equal(nl_cpu_name(NL_CPU_COUNT), "unknown");
}

/* NONLOCAL_CPU picks the tier of AUTO, for each that is available, and of nothing else. */
static void test_cpu_environment(void **state)
{
    (void)state;
    char *before = getenv("NONLOCAL_CPU");
    before = before ? strdup(before) : NULL;
    for (nl_cpu cpu = NL_CPU_SCALAR; cpu < NL_CPU_COUNT; cpu++) {
        setenv("NONLOCAL_CPU", nl_cpu_name(cpu), 1);
        const nl_kernels *kernels = nl_kernels_get(NL_CPU_AUTO, NULL);
        assert_int_equal(kernels != NULL, nl_cpu_available(cpu));
        if (kernels)
            assert_int_equal(nl_kernels_cpu(kernels), cpu);
        assert_int_equal(nl_kernels_cpu(nl_kernels_get(NL_CPU_SCALAR, NULL)), NL_CPU_SCALAR);
    }
    setenv("NONLOCAL_CPU", "", 1);
    assert_non_null(nl_kernels_get(NL_CPU_AUTO, NULL));
    setenv("NONLOCAL_CPU", "auto", 1);
    assert_non_null(nl_kernels_get(NL_CPU_AUTO, NULL));
    if (before)
        setenv("NONLOCAL_CPU", before, 1);
    else
        unsetenv("NONLOCAL_CPU");
    free(before);
}

static void test_allocator(void **state)
{
    (void)state;
    const long live = nl_alloc_live();
    unsigned char *block = nl_alloc(3, 33);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % NL_ALIGNMENT, 0);
    for (size_t i = 0; i < 99; i++)
        assert_int_equal(block[i], 0);
    memset(block, 7, 99);
    block = nl_realloc(block, 99, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(block[i], i < 99 ? 7 : 0);
    block = nl_realloc(block, 1000, 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(block[i], 7);
    void *empty = nl_alloc(0, 8), *fresh = nl_realloc(NULL, 0, 5);
    assert_true(empty && fresh);
    assert_int_equal(nl_alloc_live(), live + 3);
    nl_alloc_fail_after(0);
    assert_null(nl_realloc(block, 10, 20)); /* the block is still there */
    assert_int_equal(block[9], 7);
    nl_free(block);
    nl_free(empty);
    nl_free(fresh);
    nl_free(NULL);
    assert_int_equal(nl_alloc_live(), live);
}

/* Large blocks get their zeros from the system, also where memory is used a second time. */
static void test_large_blocks_are_zeroed(void **state)
{
    (void)state;
    static const size_t sizes[] = {(4 << 20) - 65, (4 << 20) - 64, 4 << 20, (6 << 20) + 100,
                                   9999999};
    for (size_t s = 0; s < COUNT(sizes); s++) {
        for (int turn = 0; turn < 3; turn++) {
            unsigned char *block = nl_alloc(sizes[s], 1);
            size_t others = 0;
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % NL_ALIGNMENT, 0);
            for (size_t k = 0; k < sizes[s]; k++)
                others += block[k] != 0;
            assert_int_equal(others, 0);
            memset(block, 7, sizes[s]);
            nl_free(block);
        }
    }
}

static void test_allocator_overflow(void **state)
{
    (void)state;
    assert_null(nl_alloc(SIZE_MAX, 2));
    assert_null(nl_alloc(SIZE_MAX / 2 + 1, 2));
    assert_null(nl_alloc(SIZE_MAX, 1));
    assert_null(nl_alloc((size_t)PTRDIFF_MAX, 1));
    assert_null(nl_alloc((size_t)1 << 33, (size_t)1 << 33));
}

static void test_allocator_fails_once(void **state)
{
    (void)state;
    nl_alloc_fail_after(2);
    void *blocks[4] = {nl_alloc(1, 1), nl_alloc(1, 1), nl_alloc(1, 1), nl_alloc(1, 1)};
    assert_true(blocks[0] && blocks[1] && !blocks[2] && blocks[3]);
    for (int i = 0; i < 4; i++)
        nl_free(blocks[i]);
    nl_alloc_fail_after(-1);
}

static void test_matrix(void **state)
{
    (void)state;
    const long live = nl_alloc_live();
    nl_matrix a, copy;
    assert_int_equal(nl_matrix_alloc(&a, 3, 17, NULL), NL_OK);
    assert_true(a.rows == 3 && a.cols == 17 && a.stride == 32 && a.owned);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal((uintptr_t)nl_row(&a, i) % NL_ALIGNMENT, 0);
        for (size_t k = 0; k < a.stride; k++)
            assert_true(nl_row(&a, i)[k] == 0);
    }
    float numbers[] = {1, 2, NAN, 3, 4, NAN};
    nl_matrix view = nl_matrix_view(numbers, 2, 2, 3);
    assert_int_equal(nl_matrix_copy(&copy, &view, NULL), NL_OK);
    assert_true(nl_row(&copy, 1)[0] == 3 && nl_row(&copy, 1)[1] == 4 && nl_row(&copy, 1)[2] == 0);
    nl_matrix_free(&view);
    assert_true(view.data == NULL && view.rows == 0 && numbers[0] == 1);
    for (int twice = 0; twice < 2; twice++) {
        nl_matrix_free(&copy);
        nl_matrix_free(&a);
    }
    assert_int_equal(nl_matrix_alloc(&a, 0, 5, NULL), NL_OK);
    nl_matrix_free(&a);
    assert_int_equal(nl_alloc_live(), live);
}

static void test_matrix_overflow(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{SIZE_MAX, 1},
                                      {1, SIZE_MAX},
                                      {2, SIZE_MAX - 10},
                                      {SIZE_MAX, SIZE_MAX},
                                      {(size_t)1 << 32, (size_t)1 << 32},
                                      {(size_t)1 << 31, (size_t)1 << 31},
                                      {(size_t)1 << 58, 16},
                                      {1, (size_t)PTRDIFF_MAX / 4}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        nl_matrix a = {.rows = 1};
        nl_error error = {0};
        char rows[30];
        snprintf(rows, sizeof rows, "%zu", sizes[i][0]);
        assert_int_equal(nl_matrix_alloc(&a, sizes[i][0], sizes[i][1], &error), NL_NOMEM);
        assert_int_equal(error.status, NL_NOMEM);
        assert_non_null(strstr(error.message, rows));
        assert_true(a.data == NULL && a.rows == 0 && !a.owned);
    }
}

static void test_finite(void **state)
{
    (void)state;
    float numbers[] = {1, 2, NAN, 3, 4, INFINITY};
    const nl_matrix inside = nl_matrix_view(numbers, 2, 2, 3),
                    all = nl_matrix_view(numbers, 2, 3, 3);
    size_t row = 9, col = 9;
    assert_true(nl_matrix_finite(&inside, &row, &col));
    assert_true(row == 9 && col == 9);
    assert_false(nl_matrix_finite(&all, &row, &col));
    assert_true(row == 0 && col == 2);
    numbers[2] = 0;
    assert_false(nl_matrix_finite(&all, &row, &col));
    assert_true(row == 1 && col == 2);
}

/* What a test of memory running out does: returns the status, and leaves nothing behind. */
typedef nl_status (*attempt_fn)(nl_error *error);

/*
 * Lets the first allocation of an attempt fail, then the second, and so on until it gets through.
 * Each failure must end in NL_NOMEM and words, with nothing leaked.
 */
static void fail_each_allocation(attempt_fn attempt, long at_least)
{
    const long live = nl_alloc_live();
    assert_int_equal(attempt(NULL), NL_OK);
    assert_int_equal(nl_alloc_live(), live);
    for (long failing = 0;; failing++) {
        nl_error error = {0};
        assert_true(failing < 1000);
        nl_alloc_fail_after(failing);
        const nl_status status = attempt(&error);
        nl_alloc_fail_after(-1);
        assert_int_equal(nl_alloc_live(), live);
        if (status == NL_OK) {
            assert_true(failing >= at_least);
            return;
        }
        assert_int_equal(status, NL_NOMEM);
        assert_int_equal(error.status, NL_NOMEM);
        assert_non_null(strstr(error.message, "no memory"));
    }
}

static float numbers[40];
static nl_attention_params params;
static nl_embedding_params embedding_params;
static bool separate_keys;

static nl_matrix features(void)
{
    for (size_t at = 0; at < COUNT(numbers); at++)
        numbers[at] = (float)(at * 7 % 11);
    return nl_matrix_view(numbers, 8, 5, 5);
}

static nl_status try_attention_create(nl_error *error)
{
    const nl_matrix x = features(), keys = x;
    nl_attention *attention;
    const nl_status status = nl_attention_create(&params, &x, separate_keys ? &keys : &x, true,
                                                 &(nl_exec){0}, &attention, error);
    assert_int_equal(attention != NULL, status == NL_OK);
    nl_attention_free(&attention);
    return status;
}

static void test_no_memory_for_attention(void **state)
{
    (void)state;
    for (int similarity = 0; similarity < REF_EXPONENTIALS; similarity++) {
        for (int what = 0; what < 4; what++) {
            nl_attention_params_init(&params);
            params.similarity = ref_exponentials[similarity];
            params.perplexity = what % 2 ? 3 : 0;
            params.perplexity_shared = what % 2;
            separate_keys = what / 2;
            fail_each_allocation(try_attention_create, what % 2 ? 3 : 2);
        }
    }
}

static nl_status try_attention_apply(nl_error *error)
{
    const nl_matrix x = features();
    float answers[40], row[8], all[64];
    nl_matrix y = nl_matrix_view(answers, 8, 5, 5), weights = nl_matrix_view(all, 8, 8, 8);
    nl_attention *attention;
    nl_status status = nl_attention_create(&params, &x, &x, true, &(nl_exec){0}, &attention, error);
    if (status == NL_OK)
        status = nl_attention_apply(attention, &x, &(nl_exec){0}, &y, error);
    if (status == NL_OK)
        status = nl_attention_row(attention, 2, &(nl_exec){0}, row, NULL, error);
    if (status == NL_OK)
        status = nl_attention_rows(attention, &(nl_exec){0}, &weights, error);
    nl_attention_free(&attention);
    return status;
}

static void test_no_memory_for_answers(void **state)
{
    (void)state;
    nl_attention_params_init(&params);
    fail_each_allocation(try_attention_apply, 3);
}

static nl_status try_embedding(nl_error *error)
{
    const nl_matrix x = features();
    nl_embedding embedding;
    const nl_status status =
        nl_embedding_create(&embedding_params, &x, &(nl_exec){0}, &embedding, error);
    if (status != NL_OK)
        assert_true(!embedding.theta.weight.data && !embedding.w.weight.data);
    nl_embedding_free(&embedding);
    return status;
}

static void test_no_memory_for_embeddings(void **state)
{
    (void)state;
    for (int kind = 0; kind < NL_EMBED_COUNT; kind++) {
        nl_embedding_params_init(&embedding_params);
        embedding_params.kind = (nl_embedding_id)kind;
        fail_each_allocation(try_embedding, kind == NL_EMBED_PCA ? 12 : 4);
    }
}

static nl_status try_linear(nl_error *error)
{
    const nl_matrix x = features();
    float weight[15] = {1, 2, 3}, bias[3] = {4, 5, 6};
    const nl_linear map = {nl_matrix_view(weight, 3, 5, 5), nl_matrix_view(bias, 1, 3, 3)};
    nl_matrix y;
    const nl_status status = nl_linear_apply_alloc(&map, &x, &(nl_exec){0}, &y, error);
    assert_int_equal(y.data != NULL, status == NL_OK);
    nl_matrix_free(&y);
    return status;
}

static void test_no_memory_for_linear_maps(void **state)
{
    (void)state;
    fail_each_allocation(try_linear, 2);
}

static nl_status try_pool(nl_error *error)
{
    nl_pool *pool;
    const nl_status status = nl_pool_create(4, &pool, error);
    assert_int_equal(pool != NULL, status == NL_OK);
    nl_pool_free(&pool);
    return status;
}

static void test_no_memory_for_a_pool(void **state)
{
    (void)state;
    fail_each_allocation(try_pool, 4);
}

static nl_status try_copy(nl_error *error)
{
    const nl_matrix x = features();
    nl_matrix copy;
    const nl_status status = nl_matrix_copy(&copy, &x, error);
    nl_matrix_free(&copy);
    return status;
}

static void test_no_memory_for_a_copy(void **state)
{
    (void)state;
    fail_each_allocation(try_copy, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_cpu_names),
        cmocka_unit_test(test_cpu_environment),
        cmocka_unit_test(test_allocator),
        cmocka_unit_test(test_large_blocks_are_zeroed),
        cmocka_unit_test(test_allocator_overflow),
        cmocka_unit_test(test_allocator_fails_once),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_matrix_overflow),
        cmocka_unit_test(test_finite),
        cmocka_unit_test(test_no_memory_for_attention),
        cmocka_unit_test(test_no_memory_for_answers),
        cmocka_unit_test(test_no_memory_for_embeddings),
        cmocka_unit_test(test_no_memory_for_linear_maps),
        cmocka_unit_test(test_no_memory_for_a_pool),
        cmocka_unit_test(test_no_memory_for_a_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
