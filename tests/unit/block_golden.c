/* SPDX-License-Identifier: MIT */
#include "block_golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char *const step_names[STEP_COUNT] = {"Q", "K", "V", "S", "A", "H", "Y", "Z"};

const nl_matrix *trace_step(const nl_trace *t, enum golden_step step)
{
    const nl_matrix *const all[STEP_COUNT] = {&t->q, &t->k, &t->v, &t->s,
                                              &t->a, &t->h, &t->y, &t->z};
    return all[step];
}

/* ---- the manifest ---- */

/* The columns of manifest.csv, in order. */
enum column {
    NAME,
    SYSTEM,
    SIMILARITY,
    NORMALIZE,
    SCALE,
    TEMPERATURE,
    LAMBDA,
    WIDTH,
    SIGMA,
    SELF,
    SEARCH,
    SUBSAMPLE,
    HEADS,
    LAYERNORM,
    GAMMA,
    COLUMNS,
};

static const char header[] = "name,system,similarity,normalize,scale,temperature,lambda,h,sigma,"
                             "self,search,subsample,heads,layernorm,gamma\n";

static bool split(char *line, char *cells[COLUMNS])
{
    int count = 0;
    for (char *cell = strtok(line, ",\n"); cell; cell = strtok(NULL, ",\n")) {
        if (count == COLUMNS)
            return false;
        cells[count++] = cell;
    }
    return count == COLUMNS;
}

/* Where a word stands in a table whose rows begin with a name; the last name is NULL. */
static int place(const char *word, const void *table, size_t row_size)
{
    for (int i = 0;; i++) {
        const char *name;
        memcpy(&name, (const char *)table + (size_t)i * row_size, sizeof name);
        if (!name)
            fail_msg("the manifest's word '%s' is unknown", word);
        if (strcmp(word, name) == 0)
            return i;
    }
}

/* The same with the table's own row size. */
#define PLACE(word, table) place((word), (table), sizeof *(table))

static void read_params(char *const cells[COLUMNS], struct golden *golden)
{
    static const char *const normalizers[] = {"sum", "count", NULL};
    static const char *const scales[] = {"none", "sqrt", NULL};
    static const char *const selves[] = {"keep", "max", "exclude", NULL};
    nl_block_params *p = &golden->params;
    nl_attention_params *a = &p->attention;
    snprintf(golden->name, sizeof golden->name, "%s", cells[NAME]);
    nl_block_params_init(p, (nl_system_id)PLACE(cells[SYSTEM], nl_systems));
    a->similarity = (nl_similarity_id)PLACE(cells[SIMILARITY], nl_similarities);
    a->normalizer = (nl_normalizer)PLACE(cells[NORMALIZE], normalizers);
    a->temperature = strtod(cells[TEMPERATURE], NULL);
    a->lambda = strtod(cells[LAMBDA], NULL);
    a->h = strtod(cells[WIDTH], NULL);
    a->sigma = strtod(cells[SIGMA], NULL);
    a->self = (nl_self)PLACE(cells[SELF], selves);
    a->search = strtoul(cells[SEARCH], NULL, 10);
    p->scale_sqrt = PLACE(cells[SCALE], scales);
    p->subsample = (nl_subsample)PLACE(cells[SUBSAMPLE], nl_subsamples);
    p->heads = strtoul(cells[HEADS], NULL, 10);
    p->layernorm = (nl_layernorm)PLACE(cells[LAYERNORM], nl_layernorms);
    p->gamma = strtod(cells[GAMMA], NULL);
}

bool golden_peek(size_t index, struct golden *golden)
{
    char line[400];
    char *cells[COLUMNS];
    FILE *file = fopen(NL_TEST_BLOCKS "/manifest.csv", "r");
    *golden = (struct golden){0};
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, header);
    bool found = true;
    for (size_t i = 0; i <= index && found; i++)
        found = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!found)
        return false;
    if (!split(line, cells))
        fail_msg("line %zu of the manifest does not have %d cells", index + 2, COLUMNS);
    read_params(cells, golden);
    return true;
}

/* ---- the arrays ---- */

static void load_tensors(struct golden *golden)
{
    enum { MOST = 1 << 20 };
    char path[500];
    nl_error error = {0};
    snprintf(path, sizeof path, "%s/%s.npz", NL_TEST_BLOCKS, golden->name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    char *bytes = test_malloc(MOST);
    const size_t length = fread(bytes, 1, MOST, file);
    fclose(file);
    assert_true(length < MOST);
    if (nl_tensors_load(bytes, length, &golden->tensors, &error) != NL_OK)
        fail_msg("%s: %s", golden->name, error.message);
    test_free(bytes);
}

static const nl_tensor *tensor(const struct golden *golden, const char *name, size_t ndim)
{
    const nl_tensor *found = nl_tensors_find(&golden->tensors, name);
    if (!found || found->ndim != ndim)
        fail_msg("%s: no array %s of %zu dimensions", golden->name, name, ndim);
    return found;
}

bool golden_load(size_t index, struct golden *golden)
{
    nl_error error = {0};
    if (!golden_peek(index, golden))
        return false;
    load_tensors(golden);
    const nl_tensor *x = tensor(golden, "x", 4);
    const nl_shape shape = {x->shape[0], x->shape[1], x->shape[2], x->shape[3]};
    golden->shape = shape;
    golden->x = nl_matrix_view(x->data, shape.t * shape.h * shape.w, shape.c, shape.c);
    golden->params.attention.grid_height = shape.h;
    golden->params.attention.grid_width = shape.w;
    for (int s = 0; s < STEP_COUNT; s++) {
        const nl_tensor *step = tensor(golden, step_names[s], 2);
        golden->steps[s] =
            nl_matrix_view(step->data, step->shape[0], step->shape[1], step->shape[1]);
    }
    if (golden->params.system != NL_SYSTEM_NLM &&
        nl_weights_pick(&golden->tensors, golden->params.system, shape.c,
                        golden->params.attention.similarity, &golden->weights, &error) != NL_OK)
        fail_msg("%s: %s", golden->name, error.message);
    return true;
}

void golden_free(struct golden *golden)
{
    nl_weights_free(&golden->weights);
    nl_tensors_free(&golden->tensors);
}
