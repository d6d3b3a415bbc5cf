/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The launch profile of a step: what calibrations say of it, and the reasons for refusals */
#include "tests/lib/unit.h"
#include "tests/unit/launch/select-world.h"

static struct nt_profiles profiles;
static struct nt_memory user, site;
static struct nt_memory_entry program; /* its calls */
static struct nt_launch_choice choice;
static struct nt_launch_case launch;

static void add_keys(struct nt_memory_entry *entry, double small_us, double large_us)
{
	world_key(entry, 65536, 100, small_us);
	world_key(entry, 16 << 20, 10, large_us);
}

static int set_up(void **state)
{
	static const char text[] = "[a]\nfabric=socket\nNCCL_SOCKET_NTHREADS=2\n"
				   "[b]\nNCCL_MIN_NCHANNELS=8\n[i]\nfabric=ib\nNCCL_CROSS_NIC=1\n";

	nt_memory_init(&user);
	nt_memory_init(&site);
	nt_profiles_init(&profiles);
	launch = (struct nt_launch_case){
		.memory = { &user, &site }, .profiles = &profiles, .where = world_where(), .job = 7
	};
	program = world_entry("default", 7, 0);
	add_keys(&program, 100, 4000);
	return nt_profiles_parse(&profiles, "test", text, strlen(text), NULL);
}

static int tear_down(void **state)
{
	nt_entry_fini(&program);
	nt_memory_fini(&user);
	nt_memory_fini(&site);
	return 0;
}

/* Measured in five laps that agree. */
static struct nt_memory_entry *calibrated(struct nt_memory *to, const char *profile, uint32_t job,
					  double small_us, double large_us)
{
	struct nt_memory_entry entry = world_entry(profile, job, 0);

	add_keys(&entry, small_us, large_us);
	entry.origin = NT_ORIGIN_CALIBRATE;
	entry.laps = 5;
	entry.deviation = 0.05;
	assert_int_equal(nt_memory_add_take(to, &entry, NULL), 0);
	return &to->entry[to->entries - 1];
}

static struct nt_memory_entry *stepped(const char *profile, uint32_t job, uint32_t step,
				       double period_us)
{
	struct nt_memory_entry entry = world_entry(profile, job, step);

	add_keys(&entry, 100, 4000);
	world_marker(&entry, period_us, 0.03, 100 * job + step);
	assert_int_equal(nt_memory_add_take(&user, &entry, NULL), 0);
	return &user.entry[user.entries - 1];
}

static struct nt_memory_entry *of_kind(struct nt_memory_entry *entry, int coll)
{
	for (unsigned i = 0; i < entry->keys; i++)
		entry->key[i].coll = coll;
	return entry;
}

static void expect(const char *profile, enum nt_why why)
{
	nt_profile_select(&launch, &choice);
	if (strcmp(choice.profile, profile) != 0 || choice.why != why)
		fail_msg("chose %s (%s), not %s (%s)", choice.profile, nt_why_name(choice.why),
			 profile, nt_why_name(why));
}

/* The default is chosen, and that is the reason against a (at 0) or b. */
static void refuses(unsigned candidate, enum nt_why why)
{
	expect("default", NT_WHY_NONE_BETTER);
	assert_string_equal(nt_why_name(choice.candidate[candidate].why), nt_why_name(why));
}

static void nothing_known_is_the_default(void **state)
{
	expect("default", NT_WHY_NOTHING_KNOWN);
	launch.where.fingerprint = 0;
	expect("default", NT_WHY_NO_HARDWARE);
}

/* Whatever its own steps took: they are no measurement of a profile. */
static void a_step_is_no_experiment(void **state)
{
	for (uint32_t job = 1; job <= 4; job++) {
		stepped("default", job, 0, 9000);
		stepped("a", job, 1, 4000);
	}
	expect("default", NT_WHY_NOTHING_KNOWN);
}

static void the_first_step_of_a_program(void **state)
{
	char text[200];

	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 100, 2000);
	expect("a", NT_WHY_GAIN);
	assert_false(choice.mix_known);
	assert_string_equal(nt_choice_text(&choice, &launch, text, sizeof(text)),
			    "launch profile a (calibrated 2025-11-10 on 2 x 1: all sizes alike "
			    "1.33 x)");
	/* It must not lose at any size, and both small and large ones must be known. */
	user.entry[1].key[0].best = (struct nt_quantiles){ 190, 200, 210, 100 };
	refuses(0, NT_WHY_WORST);
	user.entry[0].key[0].bytes = user.entry[1].key[0].bytes = 1 << 20;
	refuses(0, NT_WHY_TOO_FEW_SIZES);
}

static void the_calls_of_a_program_weigh(void **state)
{
	char text[200];

	calibrated(&site, "default", 1, 100, 4000);
	calibrated(&site, "a", 1, 200, 2000);
	launch.step = &program;
	expect("a", NT_WHY_GAIN);
	assert_true(choice.mix_known && fabs(choice.chosen->ratio - 4.0 / 5) < 0.001);
	assert_string_equal(nt_choice_text(&choice, &launch, text, sizeof(text)),
			    "launch profile a (calibrated 2025-11-10 on 2 x 1: this program's "
			    "calls 1.25 x)");
	program.key[0].calls = 1000;
	refuses(0, NT_WHY_SLOWER);
}

static void small_and_unsure_gains_are_none(void **state)
{
	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 96, 3800)->deviation = 0.1;
	calibrated(&user, "b", 1, 99, 3990);
	refuses(0, NT_WHY_NOISE);
	refuses(1, NT_WHY_SMALL);
	user.entry[1].laps = user.entry[0].laps = 500;
	user.entry[1].deviation = 0.05;
	expect("a", NT_WHY_GAIN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_SMALL);
}

static void the_fastest_is_chosen(void **state)
{
	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 80, 2000);
	calibrated(&user, "b", 1, 70, 1900);
	expect("b", NT_WHY_GAIN);
	assert_int_equal(choice.candidate[0].why, NT_WHY_LESS);
	assert_int_equal(choice.count, 2); /* none for another network */
}

/* A later calibration decides, in whichever memory; another program's says nothing else. */
static void the_newest_calibration_counts(void **state)
{
	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 50, 2000);
	expect("a", NT_WHY_GAIN);
	calibrated(&site, "default", 2, 100, 4000);
	calibrated(&site, "a", 2, 120, 5000);
	refuses(0, NT_WHY_WORST);
	/* Without its own default it is none. */
	site.entry[0].job = 3;
	expect("a", NT_WHY_GAIN);
}

static void other_sizes_and_collectives_are_estimated(void **state)
{
	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 40, 1600);
	launch.step = &program;
	program.key[1].bytes = 4 << 20;
	expect("a", NT_WHY_GAIN);
	assert_true(choice.chosen->measured < 0.3 && choice.chosen->error > 0.05);
	assert_true(fabs(choice.chosen->ratio - 0.4) < 0.001);
	of_kind(&program, NT_ALLGATHER);
	expect("a", NT_WHY_GAIN);
	assert_true(choice.chosen->measured == 0);
	/* Nothing is near. */
	program.key[1].bytes = UINT64_C(1) << 30;
	refuses(0, NT_WHY_TOO_LITTLE);
}

/* Links inside a node, and the sockets of sends, have other variables. */
static void unlike_calls_say_nothing(void **state)
{
	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 40, 1600);
	launch.step = &program;
	of_kind(&program, NT_P2P_ALLTOALL);
	expect("default", NT_WHY_NOTHING_KNOWN);
	of_kind(&program, NT_ALLREDUCE);
	for (unsigned i = 0; i < 2; i++)
		program.key[i].ranks = program.key[i].nodes = 1;
	expect("default", NT_WHY_NOTHING_KNOWN);
}

/* What only sends, or only receives, is measured as what does both. */
static void sends_are_messages(void **state)
{
	static const int kinds[] = { NT_P2P_SEND, NT_P2P_RECV, NT_P2P_SENDRECV };

	of_kind(calibrated(&user, "default", 1, 100, 4000), NT_P2P_SENDRECV);
	of_kind(calibrated(&user, "b", 1, 60, 2400), NT_P2P_SENDRECV);
	launch.step = &program;
	for (unsigned i = 0; i < 3; i++) {
		of_kind(&program, kinds[i]);
		expect("b", NT_WHY_GAIN);
		assert_true(choice.chosen->measured > 0.99);
	}
}

static void communicators_are_weighed_apart(void **state)
{
	launch.where.per_node = 4;
	program.where = launch.where;
	launch.step = &program;
	for (unsigned i = 0; i < 2; i++) {
		struct nt_memory_entry *entry = calibrated(&user, i ? "b" : "default", 1, 100,
							   1000);

		entry->where = launch.where;
		entry->key[0].ranks = 4;
		entry->key[0].nodes = 1;
		world_key(entry, 65536, 100, i ? 500 : 1000);
	}
	/* The program's small calls are those of all ranks. */
	program.key[1].calls = 0;
	expect("b", NT_WHY_GAIN);
	assert_true(fabs(choice.chosen->ratio - 0.5) < 0.001);
	program.key[0].ranks = 4;
	program.key[0].nodes = 1;
	refuses(1, NT_WHY_SMALL);
}

static void other_software_is_told(void **state)
{
	calibrated(&site, "default", 1, 100, 4000)->where.nccl = 22703;
	calibrated(&site, "b", 1, 50, 500)->where.nccl = 22703;
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_OTHER_SOFTWARE);
	assert_int_equal(choice.candidate[0].why, NT_WHY_NOTHING_KNOWN);
	launch.where.nodes = 4;
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_int_equal(choice.candidate[1].why, NT_WHY_NOTHING_KNOWN);
}

static void slower_steps_overrule_a_calibration(void **state)
{
	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 50, 1000);
	stepped("default", 2, 0, 9000);
	stepped("a", 2, 1, 13000);
	expect("default", NT_WHY_STEPS_SLOWER);
	assert_int_equal(choice.candidate[0].why, NT_WHY_STEPS_SLOWER);
	/* Before a new one. */
	calibrated(&user, "default", 3, 100, 4000);
	calibrated(&user, "a", 3, 50, 1000);
	expect("a", NT_WHY_GAIN);
}

static void a_step_that_left_nothing_is_not_repeated(void **state)
{
	struct nt_memory_entry *failed;

	calibrated(&user, "default", 6, 100, 4000);
	calibrated(&user, "a", 6, 50, 2000);
	failed = stepped("a", 7, 0, 4000);
	failed->keys = failed->periods = 0;
	refuses(0, NT_WHY_LEFT_NOTHING);
	stepped("a", 7, 1, 4000);
	expect("a", NT_WHY_GAIN);
	/* In another job it may have been anything. */
	user.entry[2].step = 2;
	user.entry[2].when_s++;
	refuses(0, NT_WHY_LEFT_NOTHING);
	launch.job = 8;
	expect("a", NT_WHY_GAIN);
}

/* However fast it was, whatever its age, shape and software. */
static void wrong_results_are_never_chosen(void **state)
{
	struct nt_memory_entry *wrong;

	calibrated(&user, "default", 1, 100, 4000);
	calibrated(&user, "a", 1, 50, 1000);
	expect("a", NT_WHY_GAIN);
	assert_false(choice.observe);
	wrong = calibrated(&site, "a", 1, 50, 1000);
	wrong->keys = 0;
	wrong->wrong = true;
	wrong->when_s = 1;
	wrong->where.nccl = 22901;
	wrong->where.nodes = 16;
	nt_memory_sort(&site, NOW_S);
	refuses(0, NT_WHY_WRONG_RESULTS);
	/* With the default the forced choices were wrong. */
	snprintf(site.entry[0].profile, sizeof(site.entry[0].profile), NT_PROFILE_DEFAULT);
	expect("default", NT_WHY_WRONG_FORCED);
	assert_true(choice.observe);
	site.entry[0].where.fingerprint = 0xbad;
	expect("a", NT_WHY_GAIN);
	assert_false(choice.observe);
}

UNIT_TESTS_EACH(set_up, tear_down, nothing_known_is_the_default, a_step_is_no_experiment,
		the_first_step_of_a_program, the_calls_of_a_program_weigh,
		small_and_unsure_gains_are_none, the_fastest_is_chosen,
		the_newest_calibration_counts, other_sizes_and_collectives_are_estimated,
		unlike_calls_say_nothing, sends_are_messages, communicators_are_weighed_apart,
		other_software_is_told, slower_steps_overrule_a_calibration,
		a_step_that_left_nothing_is_not_repeated, wrong_results_are_never_chosen);
