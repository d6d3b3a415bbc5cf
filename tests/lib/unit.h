/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - what each unit test needs: cmocka, and main()
 *
 * UNIT_TESTS(a, b, c);   runs these, 32 at most; each is `static void NAME(void **state)`
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

/* cmocka names tests by macros that take one; here their names come from the list. */
#define UNIT_TESTS(...)                                                                            \
	int main(void)                                                                             \
	{                                                                                          \
		static const CMUnitTestFunction unit_all[] = { __VA_ARGS__ };                      \
		struct CMUnitTest unit_tests[32] = { { .test_func = NULL } };                      \
		static char unit_names[] = #__VA_ARGS__;                                           \
		char *rest = unit_names;                                                           \
                                                                                                   \
		_Static_assert(sizeof(unit_all) / sizeof(unit_all[0]) <= 32, "too many");          \
		for (size_t i = 0; i < sizeof(unit_all) / sizeof(unit_all[0]); i++) {              \
			unit_tests[i].name = strtok_r(i ? NULL : unit_names, ", ", &rest);         \
			unit_tests[i].test_func = unit_all[i];                                     \
		}                                                                                  \
		return _cmocka_run_group_tests(                                                    \
			__FILE__, unit_tests, sizeof(unit_all) / sizeof(unit_all[0]), NULL, NULL); \
	}                                                                                          \
	_Static_assert(1, "")

#endif
