/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What a step gets: from whose memory, on which mix, and what is refused with which reason */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "launch-world.h"

static struct nt_profiles profiles;
static struct nt_memory job, user, site;
static struct nt_launch_choice choice;
static struct nt_launch_case launch;

static int set_up(void **state)
{
	static const char text[] = "[a]\nfabric=socket\nNCCL_SOCKET_NTHREADS=2\n"
				   "[b]\nNCCL_MIN_NCHANNELS=8\n[i]\nfabric=ib\nNCCL_CROSS_NIC=1\n";

	(void)state;
	nt_memory_init(&job);
	nt_memory_init(&user);
	nt_memory_init(&site);
	nt_profiles_init(&profiles);
	launch = (struct nt_launch_case){ .memory = { &job, &user, &site },
					  .profiles = &profiles,
					  .where = world_where(),
					  .array_task = -1,
					  .now_s = NOW_S };
	return nt_profiles_parse(&profiles, "test", text, strlen(text), NULL);
}

static int tear_down(void **state)
{
	(void)state;
	nt_memory_fini(&job);
	nt_memory_fini(&user);
	nt_memory_fini(&site);
	return 0;
}

static struct nt_memory_entry *add(struct nt_memory *to, const char *profile, uint32_t number,
				   uint32_t step, double small_us, double large_us)
{
	struct nt_memory_entry entry = world_entry(profile, number, step);

	world_key(&entry, 65536, 100, small_us);
	world_key(&entry, 16 << 20, 10, large_us);
	assert_int_equal(nt_memory_add_take(to, &entry, NULL), 0);
	return &to->entry[to->entries - 1];
}

static void expect(const char *profile, enum nt_why why)
{
	struct nt_launch_limits limits;

	nt_launch_limits_default(&limits);
	limits.feel.test = world_test;
	assert_int_equal(nt_choose(&launch, &limits, &choice), 0);
	if (strcmp(choice.profile, profile) != 0 || choice.why != why)
		fail_msg("chose %s (%s), not %s (%s)", choice.profile, nt_why_name(choice.why),
			 profile, nt_why_name(why));
}

static void nothing_known_is_the_default(void **state)
{
	(void)state;
	expect("default", NT_WHY_NOTHING_KNOWN);
	launch.where.fingerprint = 0;
	expect("default", NT_WHY_NO_HARDWARE);
}

static void a_job_tries_what_is_unknown(void **state)
{
	(void)state;
	add(&job, "default", 7, 0, 100, 4000);
	expect("a", NT_WHY_TRY);
	assert_true(choice.candidate);
	add(&job, "a", 7, 1, 110, 2000)->candidate = true;
	expect("b", NT_WHY_TRY);
	add(&job, "b", 7, 2, 300, 6000)->candidate = true;
	expect("a", NT_WHY_GAIN);
	assert_false(choice.candidate);
	assert_int_equal(choice.weighed[1].why, NT_WHY_SLOWER);
	assert_true(fabs(choice.chosen->weight.ratio - 31.0 / 50) < 0.001);
}

static void the_first_step_wants_proof(void **state)
{
	char text[200];

	(void)state;
	add(&user, "default", 1, 0, 100, 4000);
	add(&user, "a", 1, 1, 100, 2000);
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_UNPROVEN);
	user.entry[0].origin = user.entry[1].origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	assert_string_equal(nt_choice_text(&choice, &launch, text, sizeof(text)),
			    "launch profile a (calibrated 2025-11-10 on 2 x 1: all sizes alike "
			    "1.33 x)");
	/* Without a mix it must not lose at any size. */
	user.entry[1].key[0].best = (struct nt_quantiles){ 140, 150, 160, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_WORST);
}

static void three_jobs_that_felt_it_are_proof(void **state)
{
	(void)state;
	for (uint32_t number = 1; number <= 3; number++) {
		expect("default", number == 1 ? NT_WHY_NOTHING_KNOWN : NT_WHY_NONE_BETTER);
		world_marker(add(&user, "default", number, 0, 100, 4000), 9000, 0.03, number);
		world_marker(add(&user, "a", number, 1, 100, 2000), 6000, 0.03, 50 + number);
	}
	expect("a", NT_WHY_GAIN);
}

static void the_marker_beats_the_mix(void **state)
{
	(void)state;
	world_marker(add(&job, "default", 7, 0, 100, 4000), 9000, 0.03, 1);
	world_marker(add(&job, "a", 7, 1, 90, 1000), 11000, 0.03,
		     2); /* faster calls, slower steps */
	expect("default", NT_WHY_FELT_SLOWER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_FELT_SLOWER);
	/* And the other way round. */
	world_marker(add(&job, "b", 7, 2, 105, 4200), 7000, 0.03, 3);
	expect("b", NT_WHY_FELT);
}

/* A memory that is wrong, or was right until the network changed: one step, not more. */
static void what_does_not_come_true_is_doubted(void **state)
{
	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 100, 1000)->origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	add(&job, "a", 7, 0, 100, 1100);
	add(&user, "a", 7, 0, 100, 1100);
	expect("a", NT_WHY_GAIN);
	add(&job, "a", 7, 1, 120, 6000);
	add(&user, "a", 7, 1, 120, 6000);
	expect("default", NT_WHY_FIRST);
	/* The whole network is slower: it was right after all. */
	add(&job, "default", 7, 2, 300, 20000);
	expect("a", NT_WHY_GAIN);
	/* It was not. */
	job.entry[2].key[1].best = (struct nt_quantiles){ 3900, 4000, 4100, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_SLOWER);
}

/* A job whose first step used what was calibrated has no step with the default of its own. */
static void the_default_of_another_job_will_do(void **state)
{
	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 90, 1000)->origin = NT_ORIGIN_CALIBRATE;
	world_marker(add(&user, "default", 2, 0, 100, 4000), 9000, 0.03, 1);
	expect("a", NT_WHY_GAIN);
	world_marker(add(&job, "a", 7, 0, 90, 1000), 11000, 0.03, 2);
	expect("default", NT_WHY_FELT_SLOWER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_FELT_SLOWER);
}

/* It ran, and showed nothing. */
static void a_candidate_that_failed_is_not_tried_again(void **state)
{
	struct nt_memory_entry *failed;

	(void)state;
	add(&job, "default", 7, 0, 100, 4000);
	failed = add(&job, "a", 7, 1, 100, 4000);
	failed->candidate = true;
	failed->keys = 0;
	expect("b", NT_WHY_TRY);
	assert_true(choice.mix_known);
}

/* Whatever speaks for it. */
static void a_profile_whose_step_left_nothing_is_not_used_again(void **state)
{
	struct nt_memory_entry *failed;

	(void)state;
	add(&user, "default", 6, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 6, 1, 50, 2000)->origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	failed = add(&job, "a", 7, 0, 100, 4000);
	failed->keys = failed->periods = 0;
	expect("default", NT_WHY_FIRST);
	assert_int_equal(choice.weighed[0].why, NT_WHY_LEFT_NOTHING);
	add(&job, "a", 7, 1, 50, 2000);
	expect("a", NT_WHY_GAIN);
}

static void other_software_and_shapes_are_no_evidence(void **state)
{
	(void)state;
	for (uint32_t number = 1; number <= 2; number++) {
		struct nt_memory_entry *entry = add(&site, number == 1 ? "default" : "b", 1, number,
						    100, number == 1 ? 4000 : 500);

		entry->origin = NT_ORIGIN_CALIBRATE;
		entry->where.nccl = 22703;
	}
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_int_equal(choice.weighed[1].why, NT_WHY_OTHER_SOFTWARE);
	/* But it is tried first. */
	add(&job, "default", 7, 0, 100, 4000);
	expect("b", NT_WHY_TRY);
	for (unsigned i = 0; i < 2; i++) {
		site.entry[i].where.nccl = 22809;
		site.entry[i].where.nodes = 4;
	}
	expect("b", NT_WHY_TRY);
	for (unsigned i = 0; i < 2; i++)
		site.entry[i].where.fingerprint = 0xbad;
	expect("a", NT_WHY_TRY);
}

static void a_tenth_of_an_array_is_control(void **state)
{
	unsigned control = 0;

	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 100, 2000)->origin = NT_ORIGIN_CALIBRATE;
	for (launch.array_task = 0; launch.array_task < 100; launch.array_task++) {
		bool other = launch.array_task % 10 != 0;

		expect(other ? "a" : "default", other ? NT_WHY_GAIN : NT_WHY_CONTROL);
		control += !other;
	}
	assert_int_equal(control, 10);
}

static void noise_and_little_are_no_gain(void **state)
{
	(void)state;
	add(&job, "default", 7, 0, 100, 4000);
	add(&job, "a", 7, 1, 97, 3850);
	add(&job, "b", 7, 2, 99, 3990);
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_NOISE);
	assert_int_equal(choice.weighed[1].why, NT_WHY_SMALL);
	/* Only the cheap size was measured: the other one is estimated, which is too little. */
	job.entry[1].keys = 1;
	job.entry[1].key[0].best = (struct nt_quantiles){ 40, 50, 60, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.weighed[0].why, NT_WHY_TOO_LITTLE);
	assert_true(choice.weighed[0].weight.estimated > 0.7);
}

/* Half the time of the same sizes on part of the ranks says nothing of all of them. */
static void communicators_are_weighed_apart(void **state)
{
	struct nt_weight weight;

	(void)state;
	launch.where.per_node = 4;
	for (unsigned i = 0; i < 2; i++) {
		struct nt_memory_entry *entry = add(&user, i ? "b" : "default", 1, i, 100, 1000);

		entry->where = launch.where;
		entry->key[0].ranks = 4;
		entry->key[0].nodes = 1;
		world_key(entry, 65536, 100, i ? 500 : 1000);
	}
	assert_int_equal(
		nt_weigh(&user, &launch.where, NT_NEAR_SAME, false, "b", NULL, NOW_S, &weight), 0);
	assert_true(fabs(weight.ratio - 2.5 / 3) < 0.01);
	assert_true(fabs(weight.worst - 1) < 1e-6);
}

/* A program's calls take longer than a calibration's; that is no gain of what was calibrated. */
static void like_is_compared_with_like(void **state)
{
	struct nt_weight weight;

	(void)state;
	for (unsigned newest = 0; newest < 2; newest++) {
		struct nt_memory *to = newest ? &job : &user;

		add(to, "default", 7, 0, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
		add(to, "b", 7, 1, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
		add(to, "default", 7, 2, 200, 9000);
		assert_int_equal(nt_weigh(to, &launch.where, NT_NEAR_SAME, newest, "b", NULL, NOW_S,
					  &weight),
				 0);
		assert_true(fabs(weight.ratio - 1) < 1e-6);
		add(to, "b", 7, 3, 100, 4500);
		assert_int_equal(nt_weigh(to, &launch.where, NT_NEAR_SAME, newest, "b", NULL, NOW_S,
					  &weight),
				 0);
		assert_true(newest ? fabs(weight.ratio - 0.5) < 1e-6
				   : weight.ratio > 0.6 && weight.ratio < 0.8);
	}
}

static void lines_are_fitted(void **state)
{
	const uint64_t bytes[] = { 1024, 65536, 1 << 20, 16 << 20 };
	double us[4];
	struct nt_line line;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		us[i] = 20 + (double)bytes[i] / 5000;
	assert_true(nt_line_fit(bytes, us, 4, &line));
	assert_true(fabs(line.latency_us - 20) < 1e-3);
	assert_true(fabs(nt_line_us(&line, 4 << 20) - (20 + 4194304.0 / 5000)) < 0.1);
	assert_true(nt_line_fit(bytes + 2, us + 2, 1, &line));
	assert_true(fabs(nt_line_us(&line, 1024) - us[2]) < 1e-9);
	assert_false(nt_line_fit(bytes, us, 0, &line));
}

/* Several runs of one calibration are one measurement, the newer the step the more it counts. */
static void all_of_a_calibration_counts(void **state)
{
	struct nt_weight weight;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		add(&job, "default", 7, 2 * i, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
		add(&job, "b", 7, 2 * i + 1, 94, 4700)->origin = NT_ORIGIN_CALIBRATE;
	}
	assert_int_equal(
		nt_weigh(&job, &launch.where, NT_NEAR_SAME, true, "b", NULL, NOW_S, &weight), 0);
	assert_int_equal(weight.runs, 3);
	assert_true(weight.calibrated);
	expect("b", NT_WHY_GAIN);
	/* The job's own calls wait for its kernels; they are not compared with a calibration's. */
	add(&job, "b", 7, 9, 150, 7000);
	assert_int_equal(
		nt_weigh(&job, &launch.where, NT_NEAR_SAME, true, "b", NULL, NOW_S, &weight), 0);
	assert_int_equal(weight.runs, 3);
	assert_true(weight.ratio < 0.95);
	/* Its steps tell, once there is one with the default. */
	expect("b", NT_WHY_GAIN);
	add(&job, "b", 7, 10, 150, 7000);
	expect("b", NT_WHY_GAIN);
	add(&job, "b", 7, 11, 150, 7000);
	expect("default", NT_WHY_CHECK);
	/* No candidate is tried where a calibration was made. */
	add(&job, "default", 7, 12, 100, 5000);
	expect("default", NT_WHY_NONE_BETTER);
}

/* A calibration of one collective speaks for others between as many nodes, less surely. */
static void other_collectives_are_estimated(void **state)
{
	struct nt_memory_entry *step;
	struct nt_weight weight;

	(void)state;
	add(&job, "default", 7, 0, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
	add(&job, "b", 7, 1, 40, 2000)->origin = NT_ORIGIN_CALIBRATE;
	step = add(&job, "b", 7, 2, 60, 3000);
	for (unsigned i = 0; i < step->keys; i++)
		step->key[i].coll = NT_ALLGATHER;
	expect("b", NT_WHY_GAIN);
	assert_int_equal(
		nt_weigh(&job, &launch.where, NT_NEAR_SAME, true, "b", NULL, NOW_S, &weight), 0);
	assert_true(weight.ratio > 0.39 && weight.ratio < 0.41);
	job.entry[1].key[0].best.median_us *= 2;
	for (unsigned k = 0; k < job.entry[1].keys; k++) {
		struct nt_quantiles *us = &job.entry[1].key[k].best;

		us->p25_us = us->median_us = us->p75_us = 0.8 * job.entry[0].key[k].best.median_us;
	}
	expect("default", NT_WHY_FIRST);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(nothing_known_is_the_default),
		CASE(a_job_tries_what_is_unknown),
		CASE(the_first_step_wants_proof),
		CASE(three_jobs_that_felt_it_are_proof),
		CASE(the_marker_beats_the_mix),
		CASE(what_does_not_come_true_is_doubted),
		CASE(the_default_of_another_job_will_do),
		CASE(a_candidate_that_failed_is_not_tried_again),
		CASE(a_profile_whose_step_left_nothing_is_not_used_again),
		CASE(other_software_and_shapes_are_no_evidence),
		CASE(a_tenth_of_an_array_is_control),
		CASE(noise_and_little_are_no_gain),
		CASE(communicators_are_weighed_apart),
		CASE(all_of_a_calibration_counts),
		CASE(other_collectives_are_estimated),
		CASE(like_is_compared_with_like),
		CASE(lines_are_fitted),
	};

	return cmocka_run_group_tests_name("launch-choose", tests, NULL, NULL);
}
