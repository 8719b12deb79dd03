/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "undo.h"

static struct undo history;
static struct snapshot now;

/* A document that is known by one number. */
static void set(int number)
{
    memset(&now, 0, sizeof now);
    now.scene = number % 2;
    now.docs[0].params[PARAM_PATCH].number = number;
    now.docs[1].queries[3].row = (size_t)number;
}

static int number(void)
{
    const int patch = (int)now.docs[0].params[PARAM_PATCH].number;
    assert_int_equal(now.docs[1].queries[3].row, patch);
    assert_int_equal(now.scene, patch % 2);
    return patch;
}

static void change(int to, bool committed)
{
    undo_before(&history, &now, committed);
    set(to);
}

static int start(void **state)
{
    (void)state;
    set(0);
    return undo_create(&history, NULL) != NL_OK;
}

static int end(void **state)
{
    (void)state;
    undo_free(&history);
    undo_free(&history); /* twice is harmless */
    return history.ring != NULL;
}

static void test_nothing_to_undo(void **state)
{
    (void)state;
    assert_false(undo_back(&history, &now));
    assert_false(undo_forward(&history, &now));
    assert_int_equal(number(), 0);
}

static void test_back_and_forward(void **state)
{
    (void)state;
    for (int i = 1; i <= 5; i++)
        change(i, true);
    for (int round = 0; round < 3; round++) {
        for (int i = 4; i >= 0; i--) {
            assert_true(undo_back(&history, &now));
            assert_int_equal(number(), i);
        }
        assert_false(undo_back(&history, &now));
        assert_int_equal(number(), 0);
        for (int i = 1; i <= 5; i++) {
            assert_true(undo_forward(&history, &now));
            assert_int_equal(number(), i);
        }
        assert_false(undo_forward(&history, &now));
        assert_int_equal(number(), 5);
    }
}

static void test_a_drag_is_one_step(void **state)
{
    (void)state;
    change(1, true);
    for (int i = 2; i < 40; i++)
        change(i, false);
    change(40, true); /* released */
    change(41, true);
    assert_true(undo_back(&history, &now));
    assert_int_equal(number(), 40);
    assert_true(undo_back(&history, &now));
    assert_int_equal(number(), 1);
    assert_true(undo_back(&history, &now));
    assert_int_equal(number(), 0);
    assert_false(undo_back(&history, &now));
}

static void test_undo_in_the_middle_of_a_drag(void **state)
{
    (void)state;
    change(1, false);
    change(2, false);
    assert_true(undo_back(&history, &now));
    assert_int_equal(number(), 0);
    change(3, false); /* the hand is still on it: a step of its own */
    change(4, true);
    assert_true(undo_back(&history, &now));
    assert_int_equal(number(), 0);
    assert_true(undo_forward(&history, &now));
    assert_int_equal(number(), 4);
    assert_false(undo_forward(&history, &now));
}

static void test_a_change_forgets_what_could_be_redone(void **state)
{
    (void)state;
    for (int i = 1; i <= 4; i++)
        change(i, true);
    undo_back(&history, &now);
    undo_back(&history, &now);
    change(9, true);
    assert_false(undo_forward(&history, &now));
    assert_true(undo_back(&history, &now));
    assert_int_equal(number(), 2);
    assert_true(undo_forward(&history, &now));
    assert_int_equal(number(), 9);
}

static void test_the_oldest_steps_make_room(void **state)
{
    (void)state;
    for (int i = 1; i <= 3 * UNDO_STEPS + 7; i++)
        change(i, true);
    int steps = 0;
    for (; undo_back(&history, &now); steps++)
        assert_int_equal(number(), 3 * UNDO_STEPS + 6 - steps);
    assert_int_equal(steps, UNDO_STEPS);
    assert_int_equal(number(), 2 * UNDO_STEPS + 7);
    for (; undo_forward(&history, &now); steps--)
        ;
    assert_int_equal(steps, 0);
    assert_int_equal(number(), 3 * UNDO_STEPS + 7);
    for (int i = 0; i < UNDO_STEPS / 2; i++)
        undo_back(&history, &now);
    change(1000, true); /* after a wrap too, what could be redone is gone */
    assert_false(undo_forward(&history, &now));
    for (steps = 0; undo_back(&history, &now); steps++)
        ;
    assert_int_equal(steps, UNDO_STEPS / 2 + 1);
    assert_int_equal(number(), 2 * UNDO_STEPS + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_to_undo, start, end),
        cmocka_unit_test_setup_teardown(test_back_and_forward, start, end),
        cmocka_unit_test_setup_teardown(test_a_drag_is_one_step, start, end),
        cmocka_unit_test_setup_teardown(test_undo_in_the_middle_of_a_drag, start, end),
        cmocka_unit_test_setup_teardown(test_a_change_forgets_what_could_be_redone, start, end),
        cmocka_unit_test_setup_teardown(test_the_oldest_steps_make_room, start, end),
    };
    return cmocka_run_group_tests_name("undo", tests, NULL, NULL);
}
