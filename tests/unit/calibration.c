/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration: the order of profiles, which are dropped, what fits into the time, and its
 * calls */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "tests/unit/select-world.h"
#include "profiles/measure/calibration.h"
#include "profiles/measure/trial-calls.h"
#include "lib/seconds.h"

static struct nt_calibration c;

static void begin(double time_s)
{
	nt_calibration_init(&c, time_s, 7);
	assert_true(nt_calibration_add(&c, "a"));
	assert_true(nt_calibration_add(&c, "b"));
}

/* What the turns of one will say: its logarithm varies by deviation between them. */
static double ratios[3], deviation;

static void weigh(void)
{
	for (unsigned i = 1; i < c.count; i++) {
		struct nt_mix_cost *cost = &c.contender[i].view[0];
		double runs = c.contender[i].runs, base = c.contender[0].runs;
		struct nt_estimate estimate;

		if (runs == 0 || base == 0)
			continue;
		cost->known = true;
		cost->ratio = ratios[i];
		cost->degrees = NT_DEVIATION_DEGREES + runs + base - 2;
		cost->deviation = nt_deviation((runs + base - 2) * deviation * deviation,
					       runs + base - 2);
		cost->error = cost->deviation * sqrt(1 / runs + 1 / base);
		estimate = nt_mix_cost_estimate(cost);
		cost->p = nt_estimate_p_below(&estimate);
		c.contender[i].cost = *cost;
	}
}

/* All runs until the end, of so many seconds each, as "dab..."; the reason in *end. */
static const char *turns(double each_s, enum nt_calibration_end *end)
{
	static char text[64];
	double at_s = 0;
	size_t count = 0;
	int which;

	while ((which = nt_calibration_next(&c, at_s, end)) >= 0 && count < sizeof(text) - 1) {
		text[count++] = c.contender[which].name[0];
		at_s += each_s;
		nt_calibration_note(&c, (unsigned)which, NT_CONTENDER_OPEN, each_s);
		weigh();
		nt_calibration_judge(&c, at_s);
	}
	text[count] = '\0';
	return text;
}

static void expect(double a, double b, double between)
{
	ratios[1] = a;
	ratios[2] = b;
	deviation = between;
}

static void turns_rotate(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(46);
	expect(0.9, 0.9, 0.15);
	assert_memory_equal(turns(5, &end), "dababd", 6);
	assert_int_equal(end, NT_CALIBRATION_TIME);
}

static void what_cannot_win_is_dropped(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(1000);
	expect(0.3, 1.5, 0.05);
	assert_string_equal(turns(5, &end), "dabad");
	assert_int_equal(c.contender[2].state, NT_CONTENDER_BEATEN);
	assert_int_equal(end, NT_CALIBRATION_CLEAR);
	/* Neither can be faster than the default by enough. */
	begin(1000);
	expect(1.5, 1.6, 0.05);
	assert_string_equal(turns(5, &end), "dab");
	assert_int_equal(end, NT_CALIBRATION_CLEAR);
}

/* The nearer two are, and the more turns differ, the longer it takes. */
static void it_goes_on_until_it_is_sure(void **state)
{
	enum nt_calibration_end end;
	size_t few, more, most;

	(void)state;
	begin(1000);
	expect(0.5, 0.8, 0.03);
	few = strlen(turns(5, &end));
	assert_int_equal(end, NT_CALIBRATION_CLEAR);
	begin(1000);
	expect(0.75, 0.85, 0.03);
	more = strlen(turns(5, &end));
	assert_int_equal(end, NT_CALIBRATION_CLEAR);
	begin(1000);
	expect(0.75, 0.85, 0.09);
	most = strlen(turns(5, &end));
	assert_int_equal(end, NT_CALIBRATION_CLEAR);
	assert_true(few < more && more < most && most < 63);
	assert_int_equal(c.contender[1].state, NT_CONTENDER_OPEN);
	assert_int_equal(c.contender[2].state, NT_CONTENDER_BEATEN);
}

static void when_time_is_short_the_better_half_goes_on(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(36);
	expect(0.85, 0.8, 0.15);
	assert_string_equal(turns(5, &end), "dabbddb");
	assert_int_equal(c.contender[1].state, NT_CONTENDER_BEATEN);
	assert_int_equal(end, NT_CALIBRATION_TIME);
}

static void no_run_begins_that_does_not_fit(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	expect(0.95, 0.96, 0.1);
	begin(14);
	assert_string_equal(turns(5, &end), "da");
	assert_int_equal(end, NT_CALIBRATION_TIME);
	begin(6);
	assert_string_equal(turns(5, &end), "");
	begin(15);
	assert_string_equal(turns(5, &end), "dab");
	/* A profile with short runs counts with its own time. */
	begin(30);
	nt_calibration_note(&c, 0, NT_CONTENDER_OPEN, 12);
	nt_calibration_note(&c, 1, NT_CONTENDER_OPEN, 2);
	assert_true(nt_calibration_estimate_s(&c, 1) < 3);
	assert_true(nt_calibration_estimate_s(&c, 2) > 11);
}

/* A turn of a profile, with calls of 64K and of 16M. */
static void add_turn(struct nt_memory *found, const char *profile, uint32_t step, double small_us,
		     double large_us)
{
	struct nt_memory_entry entry = world_entry(profile, 7, step);

	entry.origin = NT_ORIGIN_CALIBRATE;
	world_key(&entry, 65536, 100, small_us);
	world_key(&entry, 16 << 20, 10, large_us);
	assert_int_equal(nt_memory_add_take(found, &entry, NULL), 0);
}

/* Without a mix what gains at some size stays, though all sizes alike it is slower. */
static void any_size_may_be_all_that_is_called(void **state)
{
	const struct nt_where where = world_where();
	struct nt_mix mix = { 0 };
	struct nt_memory found;

	(void)state;
	begin(1000);
	nt_memory_init(&found);
	add_turn(&found, "default", 0, 100, 4000);
	add_turn(&found, "a", 1, 800, 1000);
	add_turn(&found, "b", 2, 800, 9000);
	for (unsigned i = 0; i < 3; i++)
		nt_calibration_note(&c, i, NT_CONTENDER_OPEN, 5);
	assert_int_equal(nt_calibration_weigh(&c, &found, &where, NULL, NOW_S), 0);
	nt_calibration_judge(&c, 15);
	assert_int_equal(c.views, 2);
	assert_true(c.contender[1].cost.ratio > 1.2);
	assert_int_equal(c.contender[1].state, NT_CONTENDER_OPEN);
	assert_int_equal(c.contender[2].state, NT_CONTENDER_BEATEN);
	/* Of a program that calls both it is known that it cannot win. */
	nt_mix_of(&found.entry[0], &mix);
	mix.key[1].calls = 0;
	assert_int_equal(nt_calibration_weigh(&c, &found, &where, &mix, NOW_S), 0);
	assert_int_equal(c.views, 1);
	nt_calibration_judge(&c, 15);
	assert_int_equal(c.contender[1].state, NT_CONTENDER_BEATEN);
	nt_memory_fini(&found);
}

/* Turns of a profile become one entry, with what they differ by, which stands for them. */
static void turns_are_remembered_as_one(void **state)
{
	const struct nt_memory_entry *entry;
	struct nt_memory found, pooled;
	struct nt_error err;

	(void)state;
	begin(1000);
	nt_memory_init(&found);
	nt_memory_init(&pooled);
	add_turn(&found, "default", 0, 100, 4000);
	add_turn(&found, "a", 1, 90, 1000);
	add_turn(&found, "default", 2, 100 * exp(0.2), 4000 * exp(0.2));
	add_turn(&found, "default", 3, 100 * exp(-0.2), 4000 * exp(-0.2));
	for (size_t i = 0; i < found.entries; i++)
		found.entry[i].added_us = NOW_S * 1000000 + (int64_t)i * 1000;
	assert_int_equal(nt_calibration_pool(&c, &found, &pooled, &err), 0);
	assert_int_equal(pooled.entries, 1);
	entry = &pooled.entry[0];
	assert_int_equal(entry->turns, 3);
	assert_int_equal(entry->added_us, NOW_S * 1000000 + 3000);
	assert_true(fabs(entry->deviation - 0.2) < 1e-9);
	assert_true(fabs(entry->key[0].best.median_us - 100) < 1e-6);
	assert_int_equal(entry->key[0].best.samples, 600);
	assert_int_equal(nt_memory_add_take(&found, &pooled.entry[0], &err), 0);
	nt_memory_sort(&found, NOW_S);
	assert_int_equal(found.entries, 2);
	assert_int_equal(found.entry[0].turns + found.entry[1].turns, 4);
	/* A turn of a later calibration of this job stays, though it is of the same second. */
	add_turn(&found, "default", 9, 100, 4000);
	found.entry[2].added_us = NOW_S * 1000000 + 3001;
	nt_memory_sort(&found, NOW_S);
	assert_int_equal(found.entries, 3);
	nt_memory_fini(&found);
	nt_memory_fini(&pooled);
}

static void failures_count_against_their_profile(void **state)
{
	enum nt_calibration_end end;

	(void)state;
	begin(100);
	nt_calibration_note(&c, 0, NT_CONTENDER_OPEN, 5);
	nt_calibration_note(&c, 1, NT_CONTENDER_FAILED, 60);
	assert_int_equal(c.contender[1].state, NT_CONTENDER_FAILED);
	/* Its time says nothing about the others. */
	assert_true(nt_calibration_estimate_s(&c, 2) < 6);
	assert_int_equal(nt_calibration_next(&c, 65, &end), 2);
	begin(100);
	nt_calibration_note(&c, 0, NT_CONTENDER_FAILED, 5);
	assert_int_equal(nt_calibration_next(&c, 5, &end), -1);
	assert_int_equal(end, NT_CALIBRATION_NO_DEFAULT);
}

/* Turns are short, so that there are several. */
static void calls_take_what_three_rounds_leave(void **state)
{
	(void)state;
	assert_int_equal(nt_calibration_calls_s(60, 5, 5), 1);
	assert_int_equal(nt_calibration_calls_s(120, 5, 5), 3);
	assert_int_equal(nt_calibration_calls_s(600, 5, 5), 4);
}

static void calls_are_those_that_cost(void **state)
{
	struct nt_memory_entry entry = world_entry("default", 7, 1);
	struct nt_trial_calls calls;
	char text[NT_TRIAL_CALLS_TEXT];

	(void)state;
	assert_false(nt_trial_calls_of(&entry, &calls));
	world_key(&entry, 65536, 100, 100);
	world_key(&entry, 16 << 20, 400, 4000);
	world_key(&entry, 1024, 1, 20);
	entry.key[0].coll = NT_ALLGATHER;
	assert_true(nt_trial_calls_of(&entry, &calls));
	assert_string_equal(nt_trial_calls_sizes_text(&calls, text, sizeof(text)), "16777216");
	assert_string_equal(nt_trial_calls_colls_text(&calls, text, sizeof(text)), "allreduce");
	assert_string_equal(calls.split, "");
	entry.key[0].calls = 100000;
	assert_true(nt_trial_calls_of(&entry, &calls));
	assert_string_equal(nt_trial_calls_sizes_text(&calls, text, sizeof(text)),
			    "65536,16777216");
	assert_string_equal(nt_trial_calls_colls_text(&calls, text, sizeof(text)),
			    "allgather,allreduce");
	/* Communicators of a node's ranks, and of one rank of each node. */
	entry.where.per_node = 8;
	entry.key[1].ranks = 4;
	entry.key[1].nodes = 1;
	entry.key[1].calls = 4000;
	assert_true(nt_trial_calls_of(&entry, &calls));
	assert_string_equal(calls.split, "block:4");
	entry.key[1].ranks = entry.key[1].nodes = 2;
	assert_true(nt_trial_calls_of(&entry, &calls));
	assert_string_equal(calls.split, "stride:8");
	nt_entry_fini(&entry);
}

static void lists_of_sizes(void **state)
{
	static const char *const wrong[] = {
		"", "64K,", ",64K", "x", "6", "2G", "1K,2K,3K,4K,5K,6K,7K,8K,9K"
	};
	struct nt_trial_calls calls;
	struct nt_error err;
	double s;

	(void)state;
	assert_int_equal(nt_trial_calls_parse(&calls, "16M,64K", &err), 0);
	assert_true(calls.sizes == 2 && calls.bytes[0] == 65536 && calls.bytes[1] == 16 << 20);
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(nt_trial_calls_parse(&calls, wrong[i], &err), -1);
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
	found = nt_trial_calls_entry(&memory, 7, world_where().fingerprint, 2, 1);
	assert_true(found && found->job == 7 && found->step == 1);
	found = nt_trial_calls_entry(&memory, 9, world_where().fingerprint, 2, 1);
	assert_true(found && found->job == 8 && found->step == 3);
	assert_null(nt_trial_calls_entry(&memory, 9, world_where().fingerprint, 4, 1));
	assert_null(nt_trial_calls_entry(&memory, 9, 0, 2, 1));
	nt_memory_fini(&memory);
}

/* Ranks that only send, and those that only receive, are measured as those that do both. */
static void what_is_sent_is_measured_at_all_its_sizes(void **state)
{
	static const int kinds[] = { NT_P2P_SEND, NT_P2P_RECV, NT_P2P_ALLTOALL, NT_ALLREDUCE };
	struct nt_memory_entry entry = world_entry("default", 7, 1);
	struct nt_trial_calls calls;
	char text[NT_TRIAL_CALLS_TEXT];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		world_key(&entry, UINT64_C(65536) << (2 * i), 100, 1000 - 100 * i);
		entry.key[i].coll = kinds[i];
	}
	assert_true(nt_trial_calls_of(&entry, &calls));
	assert_string_equal(nt_trial_calls_colls_text(&calls, text, sizeof(text)),
			    "sendrecv,alltoall,allreduce");
	assert_string_equal(nt_trial_calls_sizes_text(&calls, text, sizeof(text)),
			    "65536,262144,1048576,4194304");
	assert_true(nt_trial_calls_send(&calls));
	/* Too little of the time. */
	entry.key[3].calls = 1000000;
	assert_true(nt_trial_calls_of(&entry, &calls));
	assert_string_equal(nt_trial_calls_colls_text(&calls, text, sizeof(text)), "allreduce");
	assert_false(nt_trial_calls_send(&calls));
	nt_entry_fini(&entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns_rotate),
		cmocka_unit_test(what_cannot_win_is_dropped),
		cmocka_unit_test(it_goes_on_until_it_is_sure),
		cmocka_unit_test(when_time_is_short_the_better_half_goes_on),
		cmocka_unit_test(no_run_begins_that_does_not_fit),
		cmocka_unit_test(failures_count_against_their_profile),
		cmocka_unit_test(any_size_may_be_all_that_is_called),
		cmocka_unit_test(turns_are_remembered_as_one),
		cmocka_unit_test(calls_take_what_three_rounds_leave),
		cmocka_unit_test(calls_are_those_that_cost),
		cmocka_unit_test(what_is_sent_is_measured_at_all_its_sizes),
		cmocka_unit_test(lists_of_sizes),
		cmocka_unit_test(this_jobs_calls_come_first),
	};

	return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
