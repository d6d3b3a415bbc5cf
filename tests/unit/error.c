/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/error.h"

#include <errno.h>
#include "tests/lib/unit.h"

static void sets_text_and_returns_minus_one(void **state)
{
	struct nt_error err;

	assert_int_equal(nt_error_set(&err, "unknown mode '%s' (want %s)", "Tune", "off"), -1);
	assert_string_equal(err.text, "unknown mode 'Tune' (want off)");
}

static void keeps_errno(void **state)
{
	struct nt_error err;

	errno = ENOSPC;
	nt_error_set(&err, "no room for %d", 7);
	assert_int_equal(errno, ENOSPC);
}

static void cuts_long_text(void **state)
{
	struct nt_error err;
	char value[2 * sizeof(err.text)];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	assert_int_equal(nt_error_set(&err, "%s", value), -1);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void takes_null(void **state)
{
	assert_int_equal(nt_error_set(NULL, "nobody reads %s", "this"), -1);
}

UNIT_TESTS(sets_text_and_returns_minus_one, keeps_errno, cuts_long_text, takes_null);
