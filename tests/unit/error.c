/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void sets_text_and_returns_minus_one(void **state)
{
	struct nt_error err;

	(void)state;
	assert_int_equal(nt_error_set(&err, "unknown mode '%s' (want %s)", "Tune", "off"), -1);
	assert_string_equal(err.text, "unknown mode 'Tune' (want off)");
}

static void keeps_errno(void **state)
{
	struct nt_error err;

	(void)state;
	errno = ENOSPC;
	nt_error_set(&err, "no room for %d", 7);
	assert_int_equal(errno, ENOSPC);
}

static void cuts_long_text(void **state)
{
	struct nt_error err;
	char value[2 * sizeof(err.text)];

	(void)state;
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(nt_error_set(&err, "%s", value), -1);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void takes_null(void **state)
{
	(void)state;
	assert_int_equal(nt_error_set(NULL, "nobody reads %s", "this"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_text_and_returns_minus_one),
		cmocka_unit_test(keeps_errno),
		cmocka_unit_test(cuts_long_text),
		cmocka_unit_test(takes_null),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
