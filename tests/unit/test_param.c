/* SPDX-License-Identifier: MIT */
/* The one table of parameters, and the defaults that hang on one another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "doc.h"
#include "nonlocal/attention.h"
#include "nonlocal/embed.h"
#include "nonlocal/features.h"
#include "nonlocal/system.h"

#define EACH(id)                                                                                   \
    enum param_id id = (enum param_id)0;                                                           \
    id < PARAM_COUNT;                                                                              \
    id = (enum param_id)(id + 1)

static void test_every_parameter_is_described(void **state)
{
    (void)state;
    for (EACH(id)) {
        const struct param_spec *spec = &param_table[id];
        assert_non_null(spec->key);
        assert_true(spec->key[0] &&
                    strspn(spec->key, "abcdefghijklmnopqrstuvwxyz-") == strlen(spec->key));
        assert_true(spec->label && spec->label[0]);
        assert_non_null(spec->unit);
        assert_true(spec->help && spec->help[0]);
        assert_int_equal(spec->help[strlen(spec->help) - 1], '.'); /* a sentence */
        assert_true(spec->verbs != 0);
        assert_int_equal(param_find(spec->key), id); /* and no other has its key */
    }
    assert_int_equal(param_find("patches"), PARAM_COUNT);
    assert_int_equal(param_find(""), PARAM_COUNT);
}

static void test_every_choice_has_name_and_label(void **state)
{
    (void)state;
    for (EACH(id)) {
        const struct param_spec *spec = &param_table[id];
        if (spec->type != PARAM_CHOICE)
            continue;
        const int count = param_choices(id);
        assert_true(count >= 1);
        for (int i = 0; i < count; i++) {
            assert_true(spec->choice_name(i) && spec->choice_name(i)[0]);
            assert_true(spec->choice_label(i) && spec->choice_label(i)[0]);
            assert_null(strpbrk(spec->choice_name(i), " ,|"));
            for (int j = 0; j < i; j++)
                assert_string_not_equal(spec->choice_name(i), spec->choice_name(j));
        }
        assert_null(spec->choice_name(count));
    }
}

static void test_every_default_is_in_range(void **state)
{
    (void)state;
    for (EACH(id)) {
        const struct param_spec *spec = &param_table[id];
        const double number = spec->fallback.number;
        assert_true(isfinite(number));
        if (spec->type == PARAM_CHOICE) {
            assert_true(number >= 0 && number < param_choices(id) && number == floor(number));
            continue;
        }
        assert_true(spec->low < spec->high);
        /* The dimension's 0 stands for half of the features, which no command line can ask for. */
        if (id != PARAM_DIM) {
            assert_true(number >= spec->low && number <= spec->high);
        }
        assert_true(!spec->logarithmic || spec->low >= 0);
        assert_true(spec->type != PARAM_INT || number == floor(number));
        assert_true(!spec->fallback.percent || spec->type == PARAM_AMOUNT);
    }
}

static void check_round_trip(enum param_id id, struct param_value value)
{
    char text[64], again[64];
    struct param_value read = {0};
    nl_error error = {0};
    param_format(id, value, text, sizeof text);
    if (param_parse(id, text, &read, &error) != NL_OK)
        fail_msg("%s: %s", text, error.message);
    assert_true(read.given);
    assert_int_equal(read.percent, value.percent);
    if (param_table[id].type == PARAM_CHOICE || param_table[id].type == PARAM_INT)
        assert_true(read.number == value.number);
    else
        assert_true(fabs(read.number - value.number) <= 1e-5 * fabs(value.number));
    assert_string_equal(text, param_format(id, read, again, sizeof again));
}

static void test_what_is_written_can_be_read(void **state)
{
    (void)state;
    for (EACH(id)) {
        const struct param_spec *spec = &param_table[id];
        if (spec->type == PARAM_CHOICE) {
            for (int i = 0; i < param_choices(id); i++)
                check_round_trip(id, (struct param_value){.number = i});
            continue;
        }
        check_round_trip(id, (struct param_value){.number = spec->low});
        check_round_trip(id, (struct param_value){.number = spec->high});
        for (int i = 1; i < 40; i++) {
            double number = spec->low + (spec->high - spec->low) * i / 40;
            if (spec->type == PARAM_INT)
                number = floor(number);
            check_round_trip(id, (struct param_value){.number = number});
        }
        if (spec->type == PARAM_AMOUNT) {
            check_round_trip(id, (struct param_value){.number = 2, .percent = true});
            check_round_trip(id, (struct param_value){.number = 100, .percent = true});
        }
        if (id != PARAM_DIM)
            check_round_trip(id, spec->fallback);
    }
}

static void test_what_is_wrong_is_refused(void **state)
{
    static const struct {
        enum param_id id;
        const char *text, *expected;
    } cases[] = {
        {PARAM_PATCH, "", "a whole number"},
        {PARAM_PATCH, "12px", "a whole number"},
        {PARAM_PATCH, "1.5", "a whole number"},
        {PARAM_PATCH, " 3", "a whole number"},
        {PARAM_PATCH, "0x10", "a whole number"},
        {PARAM_PATCH, "0", "1 to 64"},
        {PARAM_PATCH, "65", "1 to 64"},
        {PARAM_PATCH, "50%", "a whole number"},
        {PARAM_H, "nan", "a number"},
        {PARAM_H, "inf", "a number"},
        {PARAM_H, "1e999", "a number"},
        {PARAM_H, "-1", "0.0001 to 100"},
        {PARAM_PERPLEXITY, "101%", "0 to 100 %"},
        {PARAM_PERPLEXITY, "2%%", "a percentage"},
        {PARAM_PERPLEXITY, "%", "a percentage"},
        {PARAM_SIMILARITY, "Euclidean", "euclidean"},
        {PARAM_SIMILARITY, "", "euclidean"},
        {PARAM_SELF, "none", "keep, max, exclude"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct param_value value = {.number = 7};
        nl_error error = {0};
        assert_int_equal(param_parse(cases[i].id, cases[i].text, &value, &error), NL_INVALID);
        assert_true(value.number == 7 && !value.given);
        assert_non_null(strstr(error.message, param_table[cases[i].id].key));
        if (!strstr(error.message, cases[i].expected))
            fail_msg("'%s': %s", cases[i].text, error.message);
    }
}

static void test_values_are_brought_into_range(void **state)
{
    static const double numbers[] = {-INFINITY, -1e300, -1, 0, 0.5, 7.5, 1e300, INFINITY, NAN};
    (void)state;
    for (EACH(id)) {
        const struct param_spec *spec = &param_table[id];
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            for (int percent = 0; percent < 2; percent++) {
                const struct param_value value = param_clamped(
                    id, (struct param_value){.number = numbers[i], .percent = percent});
                const double high = spec->type == PARAM_CHOICE ? param_choices(id) - 1
                                    : percent                  ? 100
                                                               : spec->high;
                assert_true(value.number >= spec->low && value.number <= high);
                if (spec->type == PARAM_CHOICE || spec->type == PARAM_INT)
                    assert_true(value.number == floor(value.number));
                const struct param_value again = param_clamped(id, value);
                assert_true(again.number == value.number);
            }
    }
}

/* Every reason is the second half of a sentence: "--h has no effect with --similarity cosine". */
static void check_reasons(const struct doc *doc)
{
    char reason[120];
    for (enum source_kind kind = SOURCE_NONE; kind <= SOURCE_ARRAY; kind++)
        for (EACH(id)) {
            const char *why = param_idle(doc, id, kind, reason, sizeof reason);
            if (!why)
                continue;
            assert_true(strncmp(why, "with --", 7) == 0 || strncmp(why, "on a", 4) == 0);
            assert_true(strlen(why) < sizeof reason - 1);
            assert_int_not_equal(id, PARAM_SYSTEM); /* what others hang on always counts */
            assert_int_not_equal(id, PARAM_SIMILARITY);
        }
}

static void test_reasons_for_having_no_effect(void **state)
{
    struct doc doc;
    char reason[120];
    (void)state;
    for (int similarity = 0; similarity < NL_SIMILARITY_COUNT; similarity++)
        for (int embed = 0; embed < param_choices(PARAM_EMBED); embed++)
            for (int perplexity = 0; perplexity < 2; perplexity++)
                for (int features = 0; features < param_choices(PARAM_FEATURES); features++) {
                    doc_init(&doc);
                    param_set(&doc, PARAM_SIMILARITY, (struct param_value){.number = similarity});
                    param_set(&doc, PARAM_EMBED, (struct param_value){.number = embed});
                    param_set(&doc, PARAM_PERPLEXITY, (struct param_value){.number = perplexity});
                    param_set(&doc, PARAM_FEATURES, (struct param_value){.number = features});
                    check_reasons(&doc);
                }
    doc_init(&doc);
    param_set(&doc, PARAM_SIMILARITY, (struct param_value){.number = NL_COSINE});
    assert_string_equal(param_idle(&doc, PARAM_H, SOURCE_PICTURE, reason, sizeof reason),
                        "with --similarity cosine");
    assert_string_equal(param_idle(&doc, PARAM_PATCH, SOURCE_TABLE, reason, sizeof reason),
                        "on a table");
    assert_null(param_idle(&doc, PARAM_PATCH, SOURCE_PICTURE, reason, sizeof reason));
    assert_string_equal(param_idle(&doc, PARAM_TEMPERATURE, SOURCE_PICTURE, reason, sizeof reason),
                        "with --perplexity 2%");
    param_set(&doc, PARAM_PERPLEXITY, (struct param_value){.number = 0});
    assert_null(param_idle(&doc, PARAM_TEMPERATURE, SOURCE_PICTURE, reason, sizeof reason));
}

static void test_a_default_never_overrides_what_was_given(void **state)
{
    struct doc doc;
    (void)state;
    for (int system = 0; system < NL_SYSTEM_COUNT; system++) {
        doc_init(&doc);
        param_set(&doc, PARAM_PATCH, (struct param_value){.number = 5});
        param_set(&doc, PARAM_SYSTEM, (struct param_value){.number = system});
        assert_true(param_number(&doc, PARAM_PATCH) == 5);
        assert_int_equal(param_choice(&doc, PARAM_SIMILARITY), nl_systems[system].similarity);
        assert_true(param_number(&doc, PARAM_STRIDE) == (double)nl_systems[system].stride);
        doc_switch_system(&doc, system); /* a person asked for all of it */
        assert_true(param_number(&doc, PARAM_PATCH) == (double)nl_systems[system].patch);
        assert_false(doc.params[PARAM_PATCH].given);
    }
    doc_init(&doc);
    assert_true(param_number(&doc, PARAM_PERPLEXITY) == 2 && doc.params[PARAM_PERPLEXITY].percent);
    param_set(&doc, PARAM_H, (struct param_value){.number = 0.2});
    assert_true(param_number(&doc, PARAM_PERPLEXITY) == 0); /* a width was given */
    param_set(&doc, PARAM_PERPLEXITY, (struct param_value){.number = 3});
    assert_true(param_number(&doc, PARAM_PERPLEXITY) == 3);
    param_reset(&doc, PARAM_H);
    param_reset(&doc, PARAM_PERPLEXITY);
    assert_true(param_number(&doc, PARAM_PERPLEXITY) == 2);
    param_set(&doc, PARAM_SIMILARITY, (struct param_value){.number = NL_COSINE});
    assert_true(param_number(&doc, PARAM_TEMPERATURE) == nl_similarities[NL_COSINE].temperature);
}

static void test_resetting_everything_is_the_start(void **state)
{
    struct doc doc, fresh;
    (void)state;
    doc_init(&fresh);
    doc_init(&doc);
    for (EACH(id))
        param_set(&doc, id, (struct param_value){.number = 3});
    for (EACH(id))
        param_reset(&doc, id);
    for (EACH(id)) {
        assert_true(doc.params[id].number == fresh.params[id].number);
        assert_int_equal(doc.params[id].percent, fresh.params[id].percent);
        assert_false(doc.params[id].given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_parameter_is_described),
        cmocka_unit_test(test_every_choice_has_name_and_label),
        cmocka_unit_test(test_every_default_is_in_range),
        cmocka_unit_test(test_what_is_written_can_be_read),
        cmocka_unit_test(test_what_is_wrong_is_refused),
        cmocka_unit_test(test_values_are_brought_into_range),
        cmocka_unit_test(test_reasons_for_having_no_effect),
        cmocka_unit_test(test_a_default_never_overrides_what_was_given),
        cmocka_unit_test(test_resetting_everything_is_the_start),
    };
    return cmocka_run_group_tests_name("param", tests, NULL, NULL);
}
