/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The gain of launch profiles, by the jobs that measured them. */
#include "report/summary/profile-worth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct nt_step step_of(const char *profile, double measured)
{
	struct nt_step step;

	memset(&step, 0, sizeof(step));
	nt_fields_clear(&nt_step_fields, &step);
	snprintf(step.launch, sizeof(step.launch), "%s", profile);
	snprintf(step.fingerprint, sizeof(step.fingerprint), "00112233445566ff");
	snprintf(step.fabric, sizeof(step.fabric), "ib");
	step.nodes = 2;
	step.per_node = 4;
	step.measured = measured;
	step.step_us[1] = 1e6;
	step.steps = 50;
	return step;
}

static void add(struct nt_speedups *speedups, unsigned job, int user, const char *profile,
		double measured)
{
	const struct nt_speedup_from from = { "nt", job, user, 100 };
	const struct nt_step step = step_of(profile, measured);

	nt_speedup_add(speedups, &from, &step);
}

static void promises_only_what_was_measured(void **state)
{
	struct nt_speedups speedups;

	(void)state;
	nt_speedup_init(&speedups);
	add(&speedups, 1, 0, "default", NAN);
	add(&speedups, 1, 0, "default", NAN);
	add(&speedups, 2, 1, "default", NAN);
	add(&speedups, 3, 0, "wide", NAN); /* not timed with and without it */
	assert_int_equal(speedups.item_names.count, 0);
	assert_int_equal(speedups.place[0].default_jobs, 2);
	assert_int_equal(speedups.place[0].default_us, INT64_C(3) * 50000000 * 8);
	add(&speedups, 4, 0, "wide", 1.25);
	add(&speedups, 5, 1, "wide", 1.25);
	assert_true(isnan(nt_speedup_worth_us(&speedups, &speedups.item[0])));
	add(&speedups, 5, 1, "wide", 1.25); /* the same job */
	assert_true(isnan(nt_speedup_worth_us(&speedups, &speedups.item[0])));
	add(&speedups, 6, 2, "wide", 1.25);
	assert_int_equal(speedups.item[0].jobs, 3);
	assert_true(fabs(nt_speedup_of(&speedups.item[0]) - 1.25) < 1e-6);
	assert_true(fabs(nt_speedup_worth_us(&speedups, &speedups.item[0]) - 1.2e9 * 0.2) < 10);
	nt_speedup_fini(&speedups);
}

static void gives_each_user_one_voice(void **state)
{
	struct nt_speedups speedups;

	(void)state;
	nt_speedup_init(&speedups);
	for (unsigned job = 1; job <= 100; job++)
		add(&speedups, job, 0, "wide", 2.0);
	add(&speedups, 101, 1, "wide", 0.5);
	assert_true(fabs(nt_speedup_of(&speedups.item[0]) - 1.0) < 1e-6);
	assert_true(fabs(speedups.item[0].least - 0.5) < 1e-9);
	assert_true(fabs(speedups.item[0].most - 2.0) < 1e-9);
	/* A profile that is not faster has no gain and no cost: it is not chosen. */
	add(&speedups, 102, 1, "wide", 0.25);
	assert_true(nt_speedup_of(&speedups.item[0]) < 1);
	add(&speedups, 103, 1, "default", NAN);
	assert_true(nt_speedup_worth_us(&speedups, &speedups.item[0]) == 0);
	nt_speedup_fini(&speedups);
}

static void keeps_places_apart(void **state)
{
	const struct nt_speedup_from from = { "nt", 1, 0, 100 }, east = { "east", 2, 0, 100 };
	struct nt_step step = step_of("wide", 1.5);
	struct nt_speedups speedups;

	(void)state;
	nt_speedup_init(&speedups);
	nt_speedup_add(&speedups, &from, &step);
	nt_speedup_add(&speedups, &east, &step);
	step.nodes = 4;
	nt_speedup_add(&speedups, &from, &step);
	snprintf(step.fabric, sizeof(step.fabric), "socket");
	nt_speedup_add(&speedups, &from, &step);
	step.fingerprint[3] = '7';
	nt_speedup_add(&speedups, &from, &step);
	assert_int_equal(speedups.place_names.count, 5);
	assert_int_equal(speedups.item_names.count, 5);
	/* The place of these is unknown or invalid. */
	step.fingerprint[3] = 'x';
	nt_speedup_add(&speedups, &from, &step);
	step = step_of("wide", 1.5);
	step.per_node = -1;
	nt_speedup_add(&speedups, &from, &step);
	step = step_of("wide", 1e6);
	nt_speedup_add(&speedups, &from, &step);
	step = step_of("", 1.5);
	nt_speedup_add(&speedups, &from, &step);
	assert_int_equal(speedups.item_names.count, 5);
	nt_speedup_fini(&speedups);
}

static void is_bounded(void **state)
{
	struct nt_speedups speedups;
	char profile[33];

	(void)state;
	nt_speedup_init(&speedups);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(profile, sizeof(profile), "p%u", i);
		add(&speedups, i + 1, (int)i, profile, 1.1);
		add(&speedups, i + 1, (int)i, "p0", 1.1);
	}
	assert_int_equal(speedups.item_names.count, 1024);
	assert_int_equal(speedups.item[0].voices, NT_SPEEDUP_USERS);
	/* Steps cannot have taken longer than their job. */
	add(&speedups, 1, 0, "default", NAN);
	assert_int_equal(speedups.place[0].default_us, 50000000 * 8);
	{
		const struct nt_speedup_from from = { "nt", 1, 0, 100 };
		struct nt_step step = step_of("default", NAN);

		step.steps = 1000000;
		nt_speedup_add(&speedups, &from, &step);
	}
	assert_int_equal(speedups.place[0].default_us, 50000000 * 8);
	nt_speedup_fini(&speedups);
}

static void puts_what_is_worth_most_first(void **state)
{
	const struct nt_speedup_item **items;
	struct nt_speedups speedups;

	(void)state;
	nt_speedup_init(&speedups);
	add(&speedups, 1, 0, "default", NAN);
	add(&speedups, 2, 0, "few", 3.0);
	for (unsigned job = 3; job < 6; job++) {
		add(&speedups, job, 0, "slower", 0.9);
		add(&speedups, job, 0, "some", 1.1);
		add(&speedups, job, 0, "most", 1.2);
	}
	items = nt_speedup_by_worth(&speedups);
	assert_non_null(items);
	assert_string_equal(items[0]->profile, "most");
	assert_string_equal(items[1]->profile, "some");
	assert_string_equal(items[2]->profile, "slower");
	assert_string_equal(items[3]->profile, "few");
	free(items);
	nt_speedup_fini(&speedups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(promises_only_what_was_measured),
		cmocka_unit_test(gives_each_user_one_voice),
		cmocka_unit_test(keeps_places_apart),
		cmocka_unit_test(is_bounded),
		cmocka_unit_test(puts_what_is_worth_most_first),
	};

	return cmocka_run_group_tests_name("report-speedup", tests, NULL, NULL);
}
