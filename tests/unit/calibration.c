/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration: whose turn it is, what is given up, what fits; and which calls it makes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "launch-world.h"
#include "report/calibration.h"
#include "report/calls.h"
#include "report/seconds.h"

static struct nt_calibration c;

static void begin(double time_s)
{
	nt_calibration_init(&c, time_s, 7);
	assert_true(nt_calibration_add(&c, "a"));
	assert_true(nt_calibration_add(&c, "b"));
}

static void weigh(unsigned which, double ratio, double error)
{
	c.contender[which].weight.known = true;
	c.contender[which].weight.ratio = ratio;
	c.contender[which].weight.error = error;
	c.contender[which].weight.p = nt_normal_tail(-log(ratio) / error);
}

/* All turns until the end, of so many seconds each: "dab..."; *end why. */
static const char *turns(double each_s, enum nt_calibration_end *end)
{
	static char text[64];
	double at_s = 0;
	size_t count = 0;
	int which;

	while ((which = nt_calibration_next(&c, at_s, end)) >= 0 && count < sizeof(text) - 1) {
		text[count++] = c.contender[which].name[0];
		at_s += each_s;
		nt_calibration_note(&c, (unsigned)which, true, each_s);
		nt_calibration_judge(&c);
	}
	text[count] = '\0';
	return text;
}

static void turns_rotate(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(1000);
	weigh(1, 0.95, 0.04);
	weigh(2, 0.96, 0.04);
	assert_string_equal(turns(5, &end), "dababdbda");
	assert_int_equal(end, NT_CALIBRATION_ROUNDS_OVER);
}

static void what_cannot_win_is_given_up(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(1000);
	weigh(1, 0.5, 0.04);
	weigh(2, 0.6, 0.04);
	assert_string_equal(turns(5, &end), "da");
	assert_int_equal(c.contender[2].state, NT_CONTENDER_BEATEN);
	assert_int_equal(end, NT_CALIBRATION_CLEAR);
	/* Slower than the default, and sure of it. */
	begin(1000);
	weigh(1, 1.2, 0.04);
	weigh(2, 1.05, 0.04);
	assert_string_equal(turns(5, &end), "dbbddb");
	assert_int_equal(c.contender[1].state, NT_CONTENDER_BEATEN);
	assert_int_equal(c.contender[2].state, NT_CONTENDER_OPEN);
}

static void no_run_begins_that_does_not_fit(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(14);
	assert_string_equal(turns(5, &end), "da");
	assert_int_equal(end, NT_CALIBRATION_TIME);
	begin(6);
	assert_string_equal(turns(5, &end), "");
	begin(15);
	assert_string_equal(turns(5, &end), "dab");
	/* One that is known to be short goes by its own time. */
	begin(30);
	nt_calibration_note(&c, 0, true, 12);
	nt_calibration_note(&c, 1, true, 2);
	assert_true(nt_calibration_estimate_s(&c, 1) < 3);
	assert_true(nt_calibration_estimate_s(&c, 2) > 11);
}

static void failures_count_against_their_profile(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(100);
	nt_calibration_note(&c, 0, true, 5);
	nt_calibration_note(&c, 1, false, 60);
	assert_int_equal(c.contender[1].state, NT_CONTENDER_FAILED);
	/* What it took says nothing of the others. */
	assert_true(nt_calibration_estimate_s(&c, 2) < 6);
	assert_int_equal(nt_calibration_next(&c, 65, &end), 2);
	begin(100);
	nt_calibration_note(&c, 0, false, 5);
	assert_int_equal(nt_calibration_next(&c, 5, &end), -1);
	assert_int_equal(end, NT_CALIBRATION_NO_DEFAULT);
}

static void more_nodes_get_a_little_more_time(void **state)
{
	(void)state;
	assert_true(nt_calibration_time_s(1) == 30 && nt_calibration_time_s(2) == 30);
	assert_true(fabs(nt_calibration_time_s(64) - 67.5) < 1e-9);
	assert_int_equal(nt_calibration_calls_s(30, 5, 5), 1);
	assert_int_equal(nt_calibration_calls_s(60, 5, 5), 4);
	assert_int_equal(nt_calibration_calls_s(600, 5, 5), 4);
}

static void calls_are_those_that_cost(void **state)
{
	struct nt_memory_entry entry = world_entry("default", 7, 1);
	struct nt_calls calls;
	char text[NT_CALLS_TEXT];

	(void)state;
	assert_false(nt_calls_of(&entry, &calls));
	world_key(&entry, 65536, 100, 100);
	world_key(&entry, 16 << 20, 400, 4000);
	world_key(&entry, 1024, 1, 20);
	entry.key[0].coll = NT_ALLGATHER;
	assert_true(nt_calls_of(&entry, &calls));
	assert_string_equal(nt_calls_sizes_text(&calls, text, sizeof(text)), "16777216");
	assert_string_equal(nt_calls_colls_text(&calls, text, sizeof(text)), "allreduce");
	assert_string_equal(calls.split, "");
	entry.key[0].calls = 100000;
	assert_true(nt_calls_of(&entry, &calls));
	assert_string_equal(nt_calls_sizes_text(&calls, text, sizeof(text)), "65536,16777216");
	assert_string_equal(nt_calls_colls_text(&calls, text, sizeof(text)), "allgather,allreduce");
	/* Communicators of a node's ranks, and of one rank of each node. */
	entry.where.per_node = 8;
	entry.key[1].ranks = 4;
	entry.key[1].nodes = 1;
	entry.key[1].calls = 4000;
	assert_true(nt_calls_of(&entry, &calls));
	assert_string_equal(calls.split, "block:4");
	entry.key[1].ranks = entry.key[1].nodes = 2;
	assert_true(nt_calls_of(&entry, &calls));
	assert_string_equal(calls.split, "stride:8");
	nt_entry_fini(&entry);
}

static void lists_of_sizes(void **state)
{
	static const char *const wrong[] = {
		"", "64K,", ",64K", "x", "6", "2G", "1K,2K,3K,4K,5K,6K,7K,8K,9K"
	};
	struct nt_calls calls;
	struct nt_error err;
	double s;

	(void)state;
	assert_int_equal(nt_calls_parse(&calls, "16M,64K", &err), 0);
	assert_true(calls.sizes == 2 && calls.bytes[0] == 65536 && calls.bytes[1] == 16 << 20);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(nt_calls_parse(&calls, wrong[i], &err), -1);
	assert_int_equal(nt_seconds_parse("2m", 1, 3600, &s, &err), 0);
	assert_true(s == 120);
	assert_int_equal(nt_seconds_parse("30s", 1, 3600, &s, &err), 0);
	assert_int_equal(nt_seconds_parse("2h", 1, 3600, &s, &err), -1);
	assert_int_equal(nt_seconds_parse("s", 1, 3600, &s, &err), -1);
	assert_int_equal(nt_seconds_parse("30x", 1, 3600, &s, &err), -1);
	assert_int_equal(nt_seconds_parse("30sm", 1, 3600, &s, &err), -1);
	assert_int_equal(nt_seconds_parse("-3", 1, 3600, &s, &err), -1);
}

static void this_jobs_calls_come_first(void **state)
{
	struct nt_memory memory;
	const struct nt_memory_entry *found;

	(void)state;
	nt_memory_init(&memory);
	for (uint32_t i = 0; i < 4; i++) {
		struct nt_memory_entry entry = world_entry("default", i < 2 ? 7 : 8, i);

		world_key(&entry, 65536, 100, 100);
		assert_int_equal(nt_memory_add_take(&memory, &entry, NULL), 0);
	}
	found = nt_calls_entry(&memory, 7, world_where().fingerprint, 2, 1);
	assert_true(found && found->job == 7 && found->step == 1);
	found = nt_calls_entry(&memory, 9, world_where().fingerprint, 2, 1);
	assert_true(found && found->job == 8 && found->step == 3);
	assert_null(nt_calls_entry(&memory, 9, world_where().fingerprint, 4, 1));
	assert_null(nt_calls_entry(&memory, 9, 0, 2, 1));
	nt_memory_fini(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_rotate),
		cmocka_unit_test(what_cannot_win_is_given_up),
		cmocka_unit_test(no_run_begins_that_does_not_fit),
		cmocka_unit_test(failures_count_against_their_profile),
		cmocka_unit_test(more_nodes_get_a_little_more_time),
		cmocka_unit_test(calls_are_those_that_cost),
		cmocka_unit_test(lists_of_sizes),
		cmocka_unit_test(this_jobs_calls_come_first),
	};

	return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
