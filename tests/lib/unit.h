/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - what each unit test needs: cmocka, and main()
 *
 * UNIT_TESTS(a, b, c);   runs these, 32 at most; each is `static void NAME(void **state)`
 * UNIT_TESTS_EACH(setup, teardown, a, b, c);   before and after each
 * UNIT_TESTS_ALL(setup, teardown, a, b, c);    before and after all
 */
#ifndef NT_TESTS_UNIT_H
#define NT_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A test is given a state, which few need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* cmocka names tests by macros that take one; here their names come from the list. */
#define UNIT_MAIN(each_setup, each_teardown, all_setup, all_teardown, ...)                        \
	int main(void)                                                                            \
	{                                                                                         \
		static const CMUnitTestFunction unit_all[] = { __VA_ARGS__ };                     \
		struct CMUnitTest unit_tests[32] = { { .test_func = NULL } };                     \
		static char unit_names[] = #__VA_ARGS__;                                          \
		char *rest = unit_names;                                                          \
                                                                                                  \
		_Static_assert(LENGTH(unit_all) <= LENGTH(unit_tests), "too many");               \
		for (size_t i = 0; i < LENGTH(unit_all); i++) {                                   \
			unit_tests[i].name = strtok_r(i ? NULL : unit_names, ", ", &rest);        \
			unit_tests[i].test_func = unit_all[i];                                    \
			unit_tests[i].setup_func = each_setup;                                    \
			unit_tests[i].teardown_func = each_teardown;                              \
		}                                                                                 \
		return _cmocka_run_group_tests(__FILE__, unit_tests, LENGTH(unit_all), all_setup, \
					       all_teardown);                                     \
	}                                                                                         \
	_Static_assert(1, "")

#define UNIT_TESTS(...) UNIT_MAIN(NULL, NULL, NULL, NULL, __VA_ARGS__)
#define UNIT_TESTS_EACH(setup, teardown, ...) UNIT_MAIN(setup, teardown, NULL, NULL, __VA_ARGS__)
#define UNIT_TESTS_ALL(setup, teardown, ...) UNIT_MAIN(NULL, NULL, setup, teardown, __VA_ARGS__)

#endif
