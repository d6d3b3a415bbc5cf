/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of a step: from which memory and mix, and the reasons for refusals */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tests/unit/select-world.h"

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

static void keep_first(struct nt_memory *memory, size_t entries)
{
	while (memory->entries > entries)
		nt_entry_fini(&memory->entry[--memory->entries]);
}

/* Of five turns that agree. */
static struct nt_memory_entry *calibrated(struct nt_memory_entry *entry)
{
	entry->origin = NT_ORIGIN_CALIBRATE;
	entry->turns = 5;
	entry->deviation = 0.05;
	return entry;
}

/* What a memory says of b, all sizes alike. */
static struct nt_mix_cost weigh(const struct nt_memory *memory)
{
	const struct nt_scope scope = { .memory = memory, .where = &launch.where, .now_s = NOW_S };
	struct nt_mix_cost cost;

	assert_int_equal(nt_mix_cost(&scope, "b", NULL, &cost), 0);
	return cost;
}

static void expect(const char *profile, enum nt_why why)
{
	assert_int_equal(nt_select(&launch, &choice), 0);
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

/* A step is not an experiment: a profile that was never measured here is not used. */
static void nothing_is_tried(void **state)
{
	(void)state;
	add(&job, "default", 7, 0, 100, 4000);
	expect("default", NT_WHY_NOTHING_KNOWN);
	for (uint32_t step = 1; step < 8; step++) {
		add(&job, "default", 7, step, 100, 4000);
		expect("default", NT_WHY_NOTHING_KNOWN);
	}
	/* After a request by name it is known. */
	add(&job, "a", 7, 8, 110, 2000)->asked = true;
	add(&job, "b", 7, 9, 300, 6000)->asked = true;
	expect("a", NT_WHY_GAIN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_SLOWER);
	assert_true(fabs(choice.chosen->cost.ratio - 31.0 / 50) < 0.001);
}

static void the_first_step_wants_proof(void **state)
{
	char text[200];

	(void)state;
	add(&user, "default", 1, 0, 100, 4000);
	add(&user, "a", 1, 1, 100, 2000);
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_UNPROVEN);
	calibrated(&user.entry[0]);
	calibrated(&user.entry[1]);
	expect("a", NT_WHY_GAIN);
	assert_string_equal(nt_choice_text(&choice, &launch, text, sizeof(text)),
			    "launch profile a (calibrated 2025-11-10 on 2 x 1: all sizes alike "
			    "1.33 x)");
	/* Without a mix it must not lose at any size. */
	user.entry[1].key[0].best = (struct nt_quantiles){ 190, 200, 210, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_WORST);
}

/* A step begins with NCCL's own choices, and keeps them for rare calls. */
static void own_choices_must_not_be_slower(void **state)
{
	struct nt_memory_entry *of_a;

	(void)state;
	calibrated(add(&user, "default", 1, 0, 100, 4000));
	of_a = calibrated(add(&user, "a", 1, 1, 90, 2000));
	expect("a", NT_WHY_GAIN);
	of_a->key[0].untuned = (struct nt_quantiles){ 190, 200, 210, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_WORST);
	/* 100 small calls, and 10 large ones that take four times as long in all. */
	add(&job, "default", 7, 0, 100, 4000);
	expect("a", NT_WHY_GAIN);
	assert_true(fabs(choice.chosen->cost.untuned - 41.0 / 52.5) < 0.001);
	of_a->key[0].untuned = (struct nt_quantiles){ 390, 400, 410, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_UNTUNED);
}

/* A calibration of large calls says nothing about an unknown program. */
static void without_a_mix_all_sizes_are_needed(void **state)
{
	(void)state;
	calibrated(add(&user, "default", 1, 0, 100, 4000));
	calibrated(add(&user, "a", 1, 1, 100, 2000));
	expect("a", NT_WHY_GAIN);
	user.entry[0].key[0].bytes = user.entry[1].key[0].bytes = 1 << 20;
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_TOO_FEW_SIZES);
	add(&job, "default", 7, 0, 100, 4000)->key[0].bytes = 1 << 20;
	expect("a", NT_WHY_GAIN);
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
	world_marker(add(&job, "a", 7, 1, 90, 1000), 13000, 0.03,
		     2); /* faster calls, slower steps */
	expect("default", NT_WHY_STEPS_SLOWER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_STEPS_SLOWER);
	/* And vice versa. */
	world_marker(add(&job, "b", 7, 2, 105, 4200), 4000, 0.03, 3);
	expect("b", NT_WHY_STEPS_FASTER);
}

/* Its calls include what it does between them: less is gained than was expected, and the default is
 * measured once. What was in use goes on, and no profile that has not run yet seems better. */
static void a_program_that_computes_between_calls_keeps_its_profile(void **state)
{
	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 100, 1000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "b", 1, 2, 100, 1050)->origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	add(&job, "a", 7, 0, 300, 1200);
	expect("default", NT_WHY_DOUBT);
	add(&job, "default", 7, 1, 300, 4200);
	expect("a", NT_WHY_GAIN);
	add(&job, "a", 7, 2, 300, 1200);
	expect("a", NT_WHY_GAIN);
}

/* A memory that is wrong, or was right until the network changed, costs only one step. */
static void what_does_not_come_true_is_doubted(void **state)
{
	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 100, 1000)->origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	add(&job, "a", 7, 0, 100, 1100);
	add(&user, "a", 7, 0, 100, 1100);
	expect("a", NT_WHY_GAIN);
	/* Not slower than the default was, but what was expected is not there. */
	add(&job, "a", 7, 1, 98, 3900);
	expect("default", NT_WHY_DOUBT);
	keep_first(&job, 1);
	add(&job, "a", 7, 1, 120, 6000);
	add(&user, "a", 7, 1, 120, 6000);
	expect("default", NT_WHY_DOUBT);
	/* Its large calls were not measured, and the small ones say nothing about them. */
	job.entry[1].key[1].best = job.entry[1].key[1].untuned = (struct nt_quantiles){ 0 };
	expect("a", NT_WHY_GAIN);
	job.entry[1].key[1].best = (struct nt_quantiles){ 5900, 6000, 6100, 100 };
	expect("default", NT_WHY_DOUBT);
	/* The whole network is slower: it was right after all. */
	add(&job, "default", 7, 2, 300, 20000);
	expect("a", NT_WHY_GAIN);
	/* It was not. */
	job.entry[2].key[1].best = (struct nt_quantiles){ 3900, 4000, 4100, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_SLOWER);
}

/* A job whose first step used the calibrated profile has no own step with the default. */
static void the_default_of_another_job_will_do(void **state)
{
	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 90, 1000)->origin = NT_ORIGIN_CALIBRATE;
	world_marker(add(&user, "default", 2, 0, 100, 4000), 9000, 0.03, 1);
	expect("a", NT_WHY_GAIN);
	world_marker(add(&job, "a", 7, 0, 90, 1000), 13000, 0.03, 2);
	expect("default", NT_WHY_STEPS_SLOWER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_STEPS_SLOWER);
}

/* Whatever the evidence for it. */
static void a_profile_whose_step_left_nothing_is_not_used_again(void **state)
{
	struct nt_memory_entry *failed;

	(void)state;
	add(&user, "default", 6, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 6, 1, 50, 2000)->origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	failed = add(&job, "a", 7, 0, 100, 4000);
	failed->keys = failed->periods = 0;
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_LEFT_NOTHING);
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
	assert_int_equal(choice.candidate[1].why, NT_WHY_OTHER_SOFTWARE);
	/* A calibration begins with the profile that won there. */
	assert_true(choice.candidate[1].nearby < -0.5);
	/* A loss with another patch release counts, a gain does not. */
	for (unsigned i = 0; i < 2; i++)
		site.entry[i].where.nccl = 22803;
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_OTHER_SOFTWARE);
	site.entry[1].key[1].best = (struct nt_quantiles){ 7900, 8000, 8100, 100 };
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_LOST_NEARBY);
	assert_true(choice.candidate[1].nearby > 0.3);
	/* Two nodes say something about four, and nothing about eight. */
	for (unsigned i = 0; i < 2; i++)
		site.entry[i].where.nccl = 22809;
	launch.where.nodes = 4;
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_NOTHING_KNOWN);
	assert_true(choice.candidate[1].nearby > 0.3);
	launch.where.nodes = 8;
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_true(choice.candidate[1].nearby == 0);
}

/* Steps of another program in the same job send other calls. */
static void programs_are_kept_apart(void **state)
{
	struct nt_memory_entry *entry;

	(void)state;
	calibrated(add(&user, "default", 1, 0, 100, 4000));
	calibrated(add(&user, "a", 1, 1, 108, 2000));
	snprintf(launch.where.program, sizeof(launch.where.program), "large.py");
	expect("a", NT_WHY_GAIN);
	/* A program with only the small size: the calibrated profile is slower there. */
	entry = add(&job, "a", 7, 0, 108, 2000);
	entry->keys = 1;
	snprintf(entry->where.program, sizeof(entry->where.program), "small.py");
	expect("a", NT_WHY_GAIN);
	assert_false(choice.mix_known);
	snprintf(launch.where.program, sizeof(launch.where.program), "small.py");
	expect("default", NT_WHY_NONE_BETTER);
	assert_true(choice.mix_known);
}

/* However fast it was, whatever its age, shape and software. */
static void wrong_results_are_never_chosen(void **state)
{
	struct nt_memory_entry *wrong;

	(void)state;
	add(&user, "default", 1, 0, 100, 4000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "a", 1, 1, 50, 1000)->origin = NT_ORIGIN_CALIBRATE;
	expect("a", NT_WHY_GAIN);
	assert_false(choice.observe);
	wrong = add(&site, "a", 1, 2, 50, 1000);
	wrong->keys = 0;
	wrong->wrong = true;
	wrong->when_s = 1;
	wrong->where.nccl = 22901;
	wrong->where.nodes = 16;
	nt_memory_sort(&site, NOW_S);
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_WRONG_RESULTS);
	/* With the default the forced choices were wrong. */
	snprintf(site.entry[0].profile, sizeof(site.entry[0].profile), NT_PROFILE_DEFAULT);
	expect("default", NT_WHY_WRONG_FORCED);
	assert_true(choice.observe);
	site.entry[0].where.fingerprint = 0xbad;
	expect("a", NT_WHY_GAIN);
	assert_false(choice.observe);
}

static void noise_and_little_are_no_gain(void **state)
{
	(void)state;
	add(&job, "default", 7, 0, 100, 4000);
	add(&job, "a", 7, 1, 97, 3850);
	add(&job, "b", 7, 2, 99, 3990);
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_NOISE);
	assert_int_equal(choice.candidate[1].why, NT_WHY_SMALL);
	/* Only the cheap size was measured: the other one is estimated, which is not enough. */
	job.entry[1].keys = 1;
	job.entry[1].key[0].best = (struct nt_quantiles){ 40, 50, 60, 100 };
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_TOO_LITTLE);
	assert_true(choice.candidate[0].cost.estimated > 0.7);
}

/* Half the time at the same sizes on a part of the ranks says nothing about all ranks. */
static void communicators_are_weighed_apart(void **state)
{
	struct nt_mix_cost cost;

	(void)state;
	launch.where.per_node = 4;
	for (unsigned i = 0; i < 2; i++) {
		struct nt_memory_entry *entry = add(&user, i ? "b" : "default", 1, i, 100, 1000);

		entry->where = launch.where;
		entry->key[0].ranks = 4;
		entry->key[0].nodes = 1;
		world_key(entry, 65536, 100, i ? 500 : 1000);
	}
	cost = weigh(&user);
	assert_true(fabs(cost.ratio - 2.5 / 3) < 0.01);
	assert_true(fabs(cost.worst - 1) < 1e-6);
}

/* A program's calls take longer than a calibration's; that is not a gain of the calibrated
 * profile. */
static void like_is_compared_with_like(void **state)
{
	struct nt_mix_cost cost, joined;

	(void)state;
	add(&user, "default", 7, 0, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "b", 7, 1, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
	add(&user, "default", 7, 2, 200, 9000);
	cost = weigh(&user);
	assert_true(fabs(cost.ratio - 1) < 1e-6);
	/* What both say is joined, and surer. */
	add(&user, "b", 7, 3, 160, 7200);
	joined = weigh(&user);
	assert_true(joined.ratio > 0.88 && joined.ratio < 0.92);
	assert_true(joined.error < 0.8 * cost.error);
	assert_int_equal(joined.turns, 2);
	/* If they contradict each other programs are believed. */
	add(&user, "b", 7, 4, 20, 900);
	add(&user, "b", 7, 5, 20, 900);
	user.entry[3].key[0].best = user.entry[3].key[1].best = (struct nt_quantiles){ 19, 20, 21,
										       200 };
	user.entry[3].key[1].best = (struct nt_quantiles){ 890, 900, 910, 200 };
	cost = weigh(&user);
	assert_true(cost.ratio < 0.12);
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

/* Each turn adds to what is known, alone or as an entry that stands for several. */
static void all_turns_count(void **state)
{
	struct nt_mix_cost few, many;

	(void)state;
	add(&job, "default", 7, 0, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
	add(&job, "b", 7, 1, 85, 4250)->origin = NT_ORIGIN_CALIBRATE;
	few = weigh(&job);
	assert_int_equal(few.turns, 1);
	assert_true(fabs(few.deviation - NT_DEVIATION_ASSUMED) < 1e-9);
	expect("default", NT_WHY_NONE_BETTER);
	for (unsigned i = 1; i < 6; i++) {
		add(&job, "default", 7, 2 * i, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
		add(&job, "b", 7, 2 * i + 1, 85, 4250)->origin = NT_ORIGIN_CALIBRATE;
	}
	many = weigh(&job);
	assert_int_equal(many.turns, 6);
	assert_true(many.calibrated && many.deviation < 0.06 && many.error < few.error / 3);
	expect("b", NT_WHY_GAIN);
	/* The same as two entries: it is what they differ by that counts. */
	keep_first(&job, 2);
	job.entry[0].turns = job.entry[1].turns = 6;
	few = weigh(&job);
	assert_true(fabs(few.error - many.error) < 0.003);
	expect("b", NT_WHY_GAIN);
	job.entry[0].deviation = job.entry[1].deviation = 0.3;
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[1].why, NT_WHY_NOISE);
}

/* What is in use stays while nothing speaks against it: no step changes for noise alone. */
static void what_is_in_use_stays(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct nt_memory_entry *entry = add(&user, i ? "b" : "default", 1, i, 100,
						    i ? 3400 : 4000);

		entry->origin = NT_ORIGIN_CALIBRATE;
		entry->turns = 3;
		entry->deviation = 0.08;
	}
	add(&job, "default", 7, 0, 100, 4000);
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[1].why, NT_WHY_NOISE);
	add(&job, "b", 7, 1, 100, 3400);
	expect("b", NT_WHY_GAIN);
	add(&job, "b", 7, 2, 100, 4100);
	expect("b", NT_WHY_GAIN);
	for (uint32_t step = 3; step < 9; step++)
		add(&job, step % 2 ? "b" : "default", 7, step, 100, step % 2 ? 4400 : 4000);
	add(&job, "b", 7, 9, 100, 4400);
	expect("default", NT_WHY_NONE_BETTER);
	/* And one in use gives way to one that is clearly better. */
	for (uint32_t step = 10; step < 16; step++)
		add(&job, "a", 7, step, 100, 1500)->asked = true;
	expect("a", NT_WHY_GAIN);
}

/* A calibration of one collective counts for others between as many nodes, with a larger error. */
static void other_collectives_are_estimated(void **state)
{
	struct nt_memory_entry *step;
	struct nt_mix_cost cost;

	(void)state;
	add(&job, "default", 7, 0, 100, 5000)->origin = NT_ORIGIN_CALIBRATE;
	add(&job, "b", 7, 1, 40, 2000)->origin = NT_ORIGIN_CALIBRATE;
	step = add(&job, "b", 7, 2, 60, 3000);
	for (unsigned i = 0; i < step->keys; i++)
		step->key[i].coll = NT_ALLGATHER;
	expect("b", NT_WHY_GAIN);
	cost = weigh(&job);
	assert_true(cost.ratio > 0.39 && cost.ratio < 0.41);
	job.entry[1].key[0].best.median_us *= 2;
	for (unsigned k = 0; k < job.entry[1].keys; k++) {
		struct nt_quantiles *us = &job.entry[1].key[k].best;

		us->p25_us = us->median_us = us->p75_us = 0.8 * job.entry[0].key[k].best.median_us;
	}
	expect("default", NT_WHY_NONE_BETTER);
}

static struct nt_memory_entry *of_kind(struct nt_memory_entry *entry, int coll)
{
	for (unsigned i = 0; i < entry->keys; i++)
		entry->key[i].coll = coll;
	return entry;
}

/* What only sends, or only receives, was measured as what does both. */
static void sends_are_compared_with_messages(void **state)
{
	static const int kinds[] = { NT_P2P_SEND, NT_P2P_RECV, NT_P2P_SENDRECV };

	(void)state;
	of_kind(calibrated(add(&user, "default", 1, 0, 100, 4000)), NT_P2P_SENDRECV);
	of_kind(calibrated(add(&user, "b", 1, 1, 60, 2400)), NT_P2P_SENDRECV);
	for (unsigned i = 0; i < 3; i++) {
		of_kind(add(&job, "default", 7, i, 100, 4000), kinds[i]);
		expect("b", NT_WHY_GAIN);
		assert_true(choice.chosen->cost.measured > 0.99);
	}
	/* And is slower, if they are. */
	of_kind(calibrated(add(&user, "b", 1, 2, 400, 9000)), NT_P2P_SENDRECV);
	user.entry[1].key[0].best = user.entry[2].key[0].best;
	user.entry[1].key[1].best = user.entry[2].key[1].best;
	expect("default", NT_WHY_NONE_BETTER);
	assert_int_equal(choice.candidate[1].why, NT_WHY_SLOWER);
}

/* A profile for sends leaves collectives as they are, or makes them slower. */
static void sends_say_nothing_of_collectives(void **state)
{
	(void)state;
	of_kind(calibrated(add(&user, "default", 1, 0, 100, 4000)), NT_P2P_ALLTOALL);
	of_kind(calibrated(add(&user, "b", 1, 1, 40, 1600)), NT_P2P_ALLTOALL);
	add(&job, "default", 7, 0, 100, 4000);
	expect("default", NT_WHY_NOTHING_KNOWN);
	/* Of a program with both, all that matters is measured. */
	world_key(&user.entry[0], 65536, 1, 100);
	world_key(&user.entry[0], 16 << 20, 1, 4000);
	world_key(&user.entry[1], 65536, 1, 100);
	world_key(&user.entry[1], 16 << 20, 1, 4000);
	expect("default", NT_WHY_NONE_BETTER);
	of_kind(&job.entry[0], NT_P2P_ALLTOALL);
	expect("b", NT_WHY_GAIN);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(nothing_known_is_the_default),
		CASE(nothing_is_tried),
		CASE(the_first_step_wants_proof),
		CASE(own_choices_must_not_be_slower),
		CASE(without_a_mix_all_sizes_are_needed),
		CASE(three_jobs_that_felt_it_are_proof),
		CASE(the_marker_beats_the_mix),
		CASE(a_program_that_computes_between_calls_keeps_its_profile),
		CASE(what_does_not_come_true_is_doubted),
		CASE(the_default_of_another_job_will_do),
		CASE(a_profile_whose_step_left_nothing_is_not_used_again),
		CASE(other_software_and_shapes_are_no_evidence),
		CASE(programs_are_kept_apart),
		CASE(wrong_results_are_never_chosen),
		CASE(noise_and_little_are_no_gain),
		CASE(communicators_are_weighed_apart),
		CASE(all_turns_count),
		CASE(what_is_in_use_stays),
		CASE(other_collectives_are_estimated),
		CASE(sends_are_compared_with_messages),
		CASE(sends_say_nothing_of_collectives),
		CASE(like_is_compared_with_like),
		CASE(lines_are_fitted),
	};

	return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
