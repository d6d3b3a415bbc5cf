/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Values of JSON, and what is left of them without memory. */
#include "lib/json.h"

#include <math.h>
#include "tests/lib/unit.h"

static void check(json_object *value, const char *expected)
{
	assert_string_equal(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN),
			    expected);
	json_object_put(value);
}

static void leaves_out_what_is_unknown(void **state)
{
	int rc = 0;
	json_object *object = nt_json_object(&rc);

	nt_json_text(object, "a", NULL, &rc);
	nt_json_text(object, "b", "", &rc);
	nt_json_text(object, "c", "x", &rc);
	nt_json_count(object, "d", -1, &rc);
	nt_json_count(object, "e", 0, &rc);
	nt_json_number(object, "f", NAN, &rc);
	nt_json_number(object, "g", 0.1, &rc);
	nt_json_known(object, "h", NULL, &rc);
	nt_json_known(object, "i", nt_json_filled(nt_json_array(&rc)), &rc);
	assert_int_equal(rc, 0);
	check(object, "{\"c\":\"x\",\"e\":0,\"g\":0.1}");
}

static void has_null_where_it_is_wanted(void **state)
{
	int rc = 0;
	json_object *array = nt_json_array(&rc);

	nt_json_string(array, NULL, NULL, &rc);
	nt_json_string(array, NULL, "", &rc);
	nt_json_integer(array, NULL, -1, &rc);
	nt_json_bool(array, NULL, true, &rc);
	nt_json_add(array, NULL, nt_json_decimal(INFINITY, 6, &rc), &rc);
	nt_json_add(array, NULL, nt_json_decimal(1.23456789, 6, &rc), &rc);
	assert_int_equal(rc, 0);
	check(array, "[null,\"\",-1,true,null,1.23457]");
}

static void failure_is_kept(void **state)
{
	int rc = 0;

	nt_json_text(NULL, "a", "", &rc);
	assert_int_equal(rc, 0);
	nt_json_text(NULL, "a", "x", &rc);
	assert_int_equal(rc, -1);
	rc = 0;
	nt_json_add(NULL, NULL, nt_json_object(&rc), &rc);
	assert_int_equal(rc, -1);
	nt_json_count(NULL, NULL, -1, &rc);
	assert_int_equal(rc, -1);
	assert_null(nt_json_filled(NULL));
	assert_null(nt_json_member(NULL, "a"));
}

static void members_are_found(void **state)
{
	int rc = 0;
	json_object *object = nt_json_object(&rc);

	nt_json_integer(object, "a", 7, &rc);
	assert_int_equal(json_object_get_int(nt_json_member(object, "a")), 7);
	assert_null(nt_json_member(object, "b"));
	json_object_put(object);
}

UNIT_TESTS(leaves_out_what_is_unknown, has_null_where_it_is_wanted, failure_is_kept,
	   members_are_found);
