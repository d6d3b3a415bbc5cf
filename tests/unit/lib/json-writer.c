/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer: it stops at the limits of its buffer and its reader, and its reader accepts all
 * that it writes. */
#include "lib/json-writer.h"

#include <math.h>
#include "tests/lib/unit.h"
#include "record/rankread.h"
#include "record/step.h"

/* An object in an object in ..., with a text and a number in each. */
static void put_nested(struct nt_json_writer *put, unsigned depth)
{
	nt_json_put_open(put, depth ? "in" : NULL, '{');
	nt_json_put_text(put, "text", "a \"quote\"");
	if (depth < 3)
		put_nested(put, depth + 1);
	nt_json_put_value(put, "number", "%.2f", 1.5);
	nt_json_put_close(put);
}

static void what_does_not_fit_is_noticed(void **state)
{
	char text[512];
	struct nt_json_writer put;
	size_t bytes;

	nt_json_put_begin(&put, text, sizeof(text), NT_RECORD_DEPTH);
	put_nested(&put, 0);
	assert_false(put.full);
	bytes = put.used;
	assert_int_equal(bytes, strlen(text));
	for (size_t room = 1; room <= bytes; room++) {
		nt_json_put_begin(&put, text, room, NT_RECORD_DEPTH);
		memset(text, 'x', sizeof(text));
		put_nested(&put, 0);
		assert_true(put.full);
		assert_true(put.used < room);
		assert_int_equal(text[room], 'x');
	}
	nt_json_put_begin(&put, text, bytes + 1, NT_RECORD_DEPTH);
	put_nested(&put, 0);
	assert_false(put.full);
}

static void readers_go_as_deep_as_writers(void **state)
{
	json_object *object;
	char text[512];
	struct nt_json_writer put;

	nt_json_put_begin(&put, text, sizeof(text), NT_RECORD_DEPTH);
	for (int i = 0; i < NT_RECORD_DEPTH; i++)
		nt_json_put_open(&put, NULL, '[');
	nt_json_put_count(&put, NULL, 1);
	assert_false(put.full);
	for (int i = 0; i < NT_RECORD_DEPTH; i++)
		nt_json_put_close(&put);
	assert_int_equal(nt_json_parse(text, put.used, &object, NULL), 0);
	json_object_put(object);
	nt_json_put_begin(&put, text, sizeof(text), NT_RECORD_DEPTH);
	for (int i = 0; i <= NT_RECORD_DEPTH; i++)
		nt_json_put_open(&put, NULL, '[');
	assert_true(put.full);
	assert_int_equal(put.depth, NT_RECORD_DEPTH);
}

/* Whatever a struct contains, its JSON can be read and copied. */
static void nothing_is_written_that_is_refused(void **state)
{
	static const double numbers[] = { 0,	 -0.0,	 5e-324, 1e15,	   1.0000001e15, 1e300,
					  -1e15, -1e300, NAN,	 INFINITY, -INFINITY,	 0.5 };
	static const int64_t counts[] = { INT64_MIN, -1, 0, 1, NT_COUNT_MAX, INT64_MAX };
	static const int names[] = { -1, 0, 4, 5, 77, NT_ARM_BASELINE, 0xffff, 1 << 20 };
	static const enum nt_reading how[] = { NT_READ_TO_SHOW, NT_READ_TO_COPY };
	struct nt_key key, back;
	struct nt_error err;
	char text[2048];

	for (int i = 0; i < 12 * 12; i++) {
		json_object *object;
		struct nt_json_writer put;

		nt_key_clear(&key);
		key.coll = i % NT_COLLS;
		key.state = i % NT_KEYSTATES;
		key.auto_arm = names[i % 8];
		key.arm = names[(i + 3) % 8];
		key.bytes = counts[i % 6];
		key.calls = counts[(i + 1) % 6];
		key.auto_us = numbers[i % 12];
		key.arm_us = numbers[(i + 1) % 12];
		key.p = numbers[(i / 12) % 12];
		key.saved_ms = numbers[(i + i / 12) % 12];
		memset(key.from, i % 2 ? '"' : '\x7f', sizeof(key.from) - 1);
		key.from[sizeof(key.from) - 1] = '\0';
		key.reason = i % NT_REASON_COUNT;
		nt_json_put_begin(&put, text, sizeof(text), NT_RECORD_DEPTH);
		nt_json_put_open(&put, NULL, '{');
		nt_fields_put(&put, &nt_rank_key_fields, &key);
		nt_json_put_close(&put);
		assert_false(put.full);
		for (int k = 0; k < 2; k++) {
			if (nt_json_parse(text, put.used, &object, &err) < 0 ||
			    nt_fields_read(&nt_rank_key_fields, object, &back, how[k], &err) < 0)
				fail_msg("%s: %s", err.text, text);
			json_object_put(object);
		}
	}
}

UNIT_TESTS(what_does_not_fit_is_noticed, readers_go_as_deep_as_writers,
	   nothing_is_written_that_is_refused);
