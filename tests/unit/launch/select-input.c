/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The choice with its files: hosts, sources of evidence, tickets, arms, and when to calibrate */
#include <fcntl.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "tests/unit/launch/select-world.h"
#include "lib/file.h"
#include "launch/due.h"
#include "launch/select-input.h"
#include "launch/memory-store.h"
#include "tests/unit/scratch.h"

static struct nt_selection_paths paths;
static struct nt_selection_request ask;
static struct nt_selection selection;
static struct nt_memory memory;
static struct nt_error err;
static bool open_pick;

static const char *in_top(unsigned place, const char *name)
{
	static char text[4][NT_PATH_MAX];

	snprintf(text[place], sizeof(text[place]), "%s/%s", top, name);
	return text[place];
}

static char n1[] = "n1", n2[] = "n2";
static char *const hosts[] = { n1, n2, NULL }, *const one[] = { n1, NULL };
static char *const one_twice[] = { n1, n1, NULL };

static int set_up(void **state)
{
	static const char text[] = "[a]\nfabric=socket\nNCCL_SOCKET_NTHREADS=2\n"
				   "NCCL_MIN_NCHANNELS=8\n[b]\nNCCL_BUFFSIZE=8M\n";

	if (make_top(state) < 0)
		return -1;
	memset(&paths, 0, sizeof(paths));
	paths.memory = in_top(0, "memory");
	paths.site_memory = in_top(1, "site.jsonl");
	paths.profiles = in_top(2, "profiles");
	paths.site_profiles = in_top(3, "more");
	ask = (struct nt_selection_request){
		.launch = "auto", .hosts = hosts, .nodes = 2, .tasks = 2, .job = 9, .now_s = NOW_S
	};
	nt_memory_init(&memory);
	return nt_file_replace(AT_FDCWD, paths.profiles, text, strlen(text), 0644, &err);
}

static int tear_down(void **state)
{
	if (open_pick)
		nt_selection_fini(&selection);
	open_pick = false;
	nt_memory_fini(&memory);
	return remove_top(state);
}

static int choose(void)
{
	if (open_pick)
		nt_selection_fini(&selection);
	open_pick = true;
	return nt_selection_open(&selection, &paths, &ask, &err);
}

static void expect(const char *profile, enum nt_why why)
{
	assert_int_equal(choose(), 0);
	if (strcmp(selection.choice.profile, profile) != 0 || selection.choice.why != why)
		fail_msg("chose %s (%s), not %s", selection.choice.profile,
			 nt_why_name((int)selection.choice.why), profile);
}

static struct nt_memory_entry *add(const char *profile, uint32_t job, uint32_t step, double us)
{
	struct nt_memory_entry entry = world_entry(profile, job, step);

	world_key(&entry, 65536, 100, us);
	world_key(&entry, 16 << 20, 10, 10 * us);
	assert_int_equal(nt_memory_add_take(&memory, &entry, &err), 0);
	return &memory.entry[memory.entries - 1];
}

static void add_hosts(uint64_t first, uint64_t second)
{
	if (first != 0)
		nt_memory_add_host(&memory, "n1", first, NOW_S - 5, NULL);
	if (second != 0)
		nt_memory_add_host(&memory, "n2", second, NOW_S - 5, NULL);
}

/* Writes the entries to the user's memory. */
static void keep(void)
{
	assert_int_equal(nt_store_add(paths.memory, &memory, NOW_S, &err), 0);
	nt_memory_fini(&memory);
}

/* It found a better than the default. */
static void add_calibration(void)
{
	add("default", 3, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	add("a", 3, 1, 100)->origin = NT_ORIGIN_CALIBRATE;
	add_hosts(0xf3, 0xf3);
}

static void a_calibration_of_known_hosts_is_used(void **state)
{
	struct nt_ticket ticket;
	char text[256];

	add_calibration();
	keep();
	expect("a", NT_WHY_GAIN);
	assert_int_equal(selection.launch.where.nccl, 22809);
	assert_string_equal(selection.launch.where.driver, "570.124.06");
	assert_int_equal(selection.launch.where.fabric, NT_FABRIC_SOCKET);
	nt_selection_ticket(&selection, &ticket);
	assert_string_equal(ticket.from, "calibrated 2025-11-10 on 2 x 1");
	assert_true(ticket.expected > 2.99 && ticket.expected < 3.01);
	assert_string_equal(ticket.memory, paths.memory);
	assert_true(ticket.settings.set[NT_VARIABLE_MIN_NCHANNELS]);
	assert_false(ticket.observe);
	assert_string_equal(nt_selection_text(&selection, text, sizeof(text)),
			    "launch profile a (calibrated 2025-11-10 on 2 x 1: all sizes alike "
			    "3.00 x)");
	assert_string_equal(selection.trouble.text, "");
}

static void hosts_must_be_known_and_alike(void **state)
{
	add("default", 3, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	add("a", 3, 1, 100)->origin = NT_ORIGIN_CALIBRATE;
	add_hosts(0xf3, 0);
	keep();
	expect("default", NT_WHY_NO_HARDWARE);
	add_hosts(0, 0xf4);
	keep();
	expect("default", NT_WHY_NO_HARDWARE);
	assert_true(selection.hosts_mixed);
	ask.hosts = one;
	ask.nodes = 1;
	ask.tasks = 2;
	expect("default", NT_WHY_NOTHING_KNOWN);
	ask.hosts = one_twice;
	ask.nodes = 2;
	expect("a", NT_WHY_GAIN);
	ask.tasks = 3;
	expect("default", NT_WHY_UNEVEN);
}

static void the_site_knows_hosts_and_profiles_too(void **state)
{
	add_calibration();
	assert_int_equal(nt_memory_write_file(&memory, paths.site_memory, &err), 0);
	nt_memory_fini(&memory);
	expect("a", NT_WHY_GAIN);
}

static void what_is_named_is_given(void **state)
{
	struct nt_ticket ticket;

	ask.launch = "b";
	expect("b", NT_WHY_ASKED);
	nt_selection_ticket(&selection, &ticket);
	assert_int_equal(ticket.why, NT_WHY_ASKED);
	assert_true(ticket.settings.set[NT_VARIABLE_BUFFSIZE]);
	ask.launch = "default";
	expect("default", NT_WHY_ASKED);
	ask.launch = "c";
	assert_int_equal(choose(), -1);
	assert_non_null(strstr(err.text, "there are: default a b"));
}

static void own_variables_have_their_own_evidence(void **state)
{
	char *variables[] = { "NCCL_MIN_NCHANNELS=4", NULL };
	struct nt_ticket ticket;
	struct nt_user_env own;
	char text[256];

	add_calibration();
	keep();
	nt_user_env_init(&own);
	nt_user_env_environment(&own, variables, NULL);
	ask.user_env = &own;
	expect("default", NT_WHY_NOTHING_KNOWN);
	nt_selection_ticket(&selection, &ticket);
	assert_int_equal(ticket.user_env, nt_user_env_hash(&own));
	/* A profile requested by name is set without that variable; slurmstepd checks
	 * environments. */
	ask.launch = "a";
	expect("a", NT_WHY_ASKED);
	assert_non_null(strstr(nt_selection_text(&selection, text, sizeof(text)),
			       "; left alone: NCCL_MIN_NCHANNELS"));
	nt_selection_ticket(&selection, &ticket);
	assert_true(ticket.settings.set[NT_VARIABLE_MIN_NCHANNELS]);
	own.variable[0].from_file = true;
	expect("a", NT_WHY_ASKED);
	nt_selection_ticket(&selection, &ticket);
	assert_false(ticket.settings.set[NT_VARIABLE_MIN_NCHANNELS]);
	assert_true(ticket.settings.set[NT_VARIABLE_SOCKET_NTHREADS]);
	assert_string_equal(ticket.left, "NCCL_MIN_NCHANNELS");
}

static void files_in_a_bad_state_are_left_out(void **state)
{
	add_calibration();
	keep();
	assert_int_equal(nt_file_replace(AT_FDCWD, paths.site_profiles, "[x\n", 3, 0644, &err), 0);
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_non_null(strstr(selection.trouble.text, "/more:1:"));
	assert_int_equal(nt_file_replace(AT_FDCWD, paths.site_profiles, "[a]\ndisabled=yes\n", 17,
					 0644, &err),
			 0);
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_string_equal(selection.trouble.text, "");
	assert_int_equal(unlink(paths.profiles), 0);
	expect("default", NT_WHY_NOTHING_KNOWN);
	assert_non_null(strstr(selection.trouble.text, "/profiles: No such file"));
}

static void arms_of_the_chosen_profile_go_along(void **state)
{
	struct nt_memory_entry *entry;
	struct nt_warm warm;

	add("default", 3, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	entry = add("a", 3, 1, 100);
	entry->origin = NT_ORIGIN_CALIBRATE;
	entry->key[1].arm = nt_arm_parse("TREE/LL");
	entry = add("a", 4, 0, 100); /* newer: it found nothing better for one key */
	entry->key[0].arm = NT_ARM_BASELINE;
	entry->key[1].arm = NT_ARM_BASELINE; /* and this one is unknown to it */
	entry->key[1].best = (struct nt_quantiles){ 0 };
	world_key(entry, 1024, 5, 10);
	entry->key[2].ranks = entry->key[2].nodes = 1;
	world_key(entry, 4096, 5, 10);
	entry->key[3].coll = NT_P2P_ALLTOALL; /* there is nothing to choose */
	add_hosts(0xf3, 0xf3);
	keep();
	expect("a", NT_WHY_GAIN);
	assert_true(nt_selection_warm(&selection, &warm));
	assert_int_equal(warm.nccl, 22809);
	assert_int_equal(warm.fabric, NT_FABRIC_SOCKET);
	assert_int_equal(warm.fingerprint, 0xf3);
	assert_int_equal(warm.count, 3);
	assert_int_equal(nt_warm_find(&warm, 2, 2, NT_ALLREDUCE, nt_band(65536)), NT_ARM_BASELINE);
	assert_int_equal(nt_warm_find(&warm, 2, 2, NT_ALLREDUCE, nt_band(16 << 20)),
			 nt_arm_parse("TREE/LL"));
	assert_int_equal(nt_warm_find(&warm, 1, 1, NT_ALLREDUCE, nt_band(1024)),
			 nt_arm_parse("RING/SIMPLE"));
	ask.launch = "b";
	expect("b", NT_WHY_ASKED);
	assert_false(nt_selection_warm(&selection, &warm));
	ask.launch = "off";
	expect("default", NT_WHY_ASKED);
	assert_true(nt_selection_warm(&selection, &warm));
	assert_int_equal(warm.count, 2);
}

/* A step in mode policy uses the arm and measures nothing. */
static void an_unmeasured_step_leaves_the_gain(void **state)
{
	struct nt_warm_key want = { .ranks = 2,
				    .nodes = 2,
				    .coll = NT_ALLREDUCE,
				    .bytes = nt_band_floor(nt_band(16 << 20)) };
	struct nt_memory_entry *entry;
	struct nt_warm warm;

	entry = add("default", 3, 0, 100);
	want.arm = entry->key[1].arm = nt_arm_parse("TREE/LL");
	entry->key[1].untuned = entry->key[1].best;
	entry->key[1].untuned.median_us = entry->key[1].untuned.p75_us =
		entry->key[1].best.median_us + 12.5;
	entry = add("default", 4, 0, 100);
	entry->key[1].arm = want.arm;
	entry->key[1].best = (struct nt_quantiles){ 0 };
	add_hosts(0xf3, 0xf3);
	keep();
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_warm(&selection, &warm));
	assert_int_equal(nt_warm_gain_ns(&warm, &want), 12500);
}

static void many_arms_are_cut_to_what_fits(void **state)
{
	struct nt_warm warm;

	add_hosts(0xf3, 0xf3);
	for (unsigned i = 0; i < 3; i++) {
		struct nt_memory_entry *entry = add("default", 3, i, 300);

		for (unsigned j = 0; j < 60; j++) {
			world_key(entry, nt_band_floor(j), 1, 10);
			entry->key[2 + j].ranks = i + 1;
			entry->key[2 + j].nodes = 1;
		}
	}
	keep();
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_warm(&selection, &warm));
	assert_true(warm.count > 64 && warm.count <= NT_WARM_MAX);
	/* The most expensive keys of a job stay. */
	assert_true(nt_warm_find(&warm, 2, 2, NT_ALLREDUCE, nt_band(16 << 20)) >= 0);
}

/* ---- calibrations (due.h) */

static struct nt_due_ask due_ask;
static char why[NT_DUE_WHY];

static bool is_due(void)
{
	assert_int_equal(choose(), 0);
	return nt_due_calibration(&selection, &due_ask, why);
}

static void expect_not_due(const char *reason)
{
	assert_false(is_due());
	assert_string_equal(why, reason);
}

static void typed_by_the_user(void)
{
	due_ask = (struct nt_due_ask){ .typed = true, .gpus = true, .left_s = -1, .limit_s = 60 };
}

/* Its collectives take that share of its time; it was started by start tasks. */
static struct nt_memory_entry *add_program(const char *name, uint32_t start, double share)
{
	struct nt_memory_entry *entry = add("default", 3, 0, 300);

	snprintf(entry->where.program, sizeof(entry->where.program), "%s", name);
	entry->start_nodes = 2;
	entry->start_tasks = start;
	entry->share = share;
	return entry;
}

static void an_unknown_program_is_calibrated_for_only_if_that_was_typed(void **state)
{
	typed_by_the_user();
	assert_true(is_due());
	due_ask.left_s = 5999;
	expect_not_due("it would take over 1 % of the time that the job has left");
	due_ask.left_s = 6000;
	assert_true(is_due());
	due_ask.gpus = false;
	expect_not_due("the job has no GPU");
	typed_by_the_user();
	due_ask.typed = false;
	expect_not_due("its program has not run here yet");
	typed_by_the_user();
	due_ask.limit_s = 0;
	expect_not_due("calibrate=off");
	typed_by_the_user();
	ask.tasks = 3;
	expect_not_due("its 3 tasks are not spread evenly over 2 nodes");
	ask.tasks = 2;
	ask.launch = "a";
	expect_not_due("launch=a");
	ask.launch = "auto";
	setenv("NCCL_PROTO", "LL", 1);
	expect_not_due("NCCL_ALGO or NCCL_PROTO is set");
	unsetenv("NCCL_PROTO");
	add("default", 3, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	add("a", 3, 1, 400)->origin = NT_ORIGIN_CALIBRATE;
	add_hosts(0xf3, 0xf3);
	keep();
	expect_not_due("such nodes were calibrated");
	ask.tasks = 4; /* another place */
	assert_true(is_due());
	ask.job = 3;
	expect_not_due("this job has calibrated");
}

static void a_known_program_is_calibrated_for_if_that_can_repay(void **state)
{
	struct nt_cal_request request;
	struct nt_memory_entry *entry;

	ask.program = "train.py";
	typed_by_the_user();
	due_ask.typed = false;
	entry = add_program("train.py", 2, 0.4); /* a task a node, four ranks in each */
	entry->where.per_node = 4;
	snprintf(entry->library, sizeof(entry->library), "/opt/libnccl.so.2");
	add_hosts(0xf3, 0xf3);
	keep();
	assert_true(is_due());
	assert_true(nt_due_next(&selection));
	assert_int_equal(selection.launch.where.per_node, 4);
	nt_due_request(&selection, &request);
	assert_int_equal(request.procs, 4);
	assert_string_equal(request.library, "/opt/libnccl.so.2");
	assert_int_equal(request.calls, 2);
	assert_int_equal(request.call[0].bytes, 65536); /* 100 calls of 300 us, 10 of 3000 */
	assert_int_equal(request.profiles, 2);
	due_ask.left_s = 500; /* 500 s, of which 40 % are calls, of which 30 % may be saved */
	assert_true(is_due());
	due_ask.left_s = 499;
	expect_not_due("the job's time that is left would not repay it");
	due_ask.left_s = -1;
	ask.tasks = 4; /* started in another way */
	expect_not_due("its program has not run here yet");
	ask.tasks = 2;
	add_program("train.py", 2, 0.04)->when_s = NOW_S;
	keep();
	expect_not_due("collectives take 4 % of its program's time");
	assert_false(nt_due_next(&selection));
}

static void what_was_measured_for_a_program_is_not_measured_again(void **state)
{
	struct nt_memory_entry *entry;

	ask.program = "train.py";
	typed_by_the_user();
	add_program("train.py", 2, 0.4);
	entry = add("default", 4, 0, 300);
	entry->origin = NT_ORIGIN_CALIBRATE;
	entry->keys = 1; /* half of the program's calls */
	add_hosts(0xf3, 0xf3);
	keep();
	assert_true(is_due());
	add("default", 5, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	keep();
	expect_not_due("its program's calls were measured here");
}

static void profiles_that_the_user_overrides_are_left_out(void **state)
{
	char *variables[] = { "NCCL_MIN_NCHANNELS=4", NULL };
	struct nt_cal_request request;
	struct nt_user_env own;

	typed_by_the_user();
	assert_true(is_due());
	nt_due_request(&selection, &request);
	assert_int_equal(request.procs, 0); /* one for each GPU of the only task a node */
	assert_int_equal(request.calls, 0);
	assert_int_equal(request.profiles, 2);
	nt_user_env_init(&own);
	nt_user_env_environment(&own, variables, NULL);
	ask.user_env = &own;
	assert_true(is_due());
	nt_due_request(&selection, &request);
	assert_int_equal(request.profiles, 1);
	assert_string_equal(request.profile[0].name, "b");
}

static void write_profiles(const char *text)
{
	assert_int_equal(nt_file_replace(AT_FDCWD, paths.profiles, text, strlen(text), 0644, &err),
			 0);
}

/* Only a profile for the network of the step is a candidate; and where there is none, there is
 * nothing to calibrate once that network is known. */
static void profiles_are_for_their_network(void **state)
{
	static const enum nt_fabric known[] = { NT_FABRIC_SOCKET, NT_FABRIC_ANY, NT_FABRIC_EFA,
						NT_FABRIC_PCIE };

	typed_by_the_user();
	write_profiles("[a]\nfabric=socket\nNCCL_MIN_NCHANNELS=8\n[p]\nfabric=pcie\n"
		       "NCCL_MIN_NCHANNELS=8\n");
	assert_true(is_due()); /* nothing is known of it: sockets, unless this machine has a port */
	add_hosts(0xf3, 0xf3);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		bool fits = known[i] == NT_FABRIC_SOCKET || known[i] == NT_FABRIC_PCIE;

		add("default", 3, (uint32_t)i, 300)->where.fabric = known[i];
		keep();
		assert_int_equal(choose(), 0);
		/* The newest one that is known counts. */
		assert_int_equal(selection.launch.where.fabric,
				 known[i] == NT_FABRIC_ANY ? NT_FABRIC_SOCKET : known[i]);
		assert_int_equal(selection.choice.count, known[i] != NT_FABRIC_EFA);
		assert_int_equal(is_due(), fits || known[i] == NT_FABRIC_ANY);
	}
	/* One node is another matter: only a step tells whether its GPUs have NVLink. */
	ask.hosts = one;
	ask.nodes = 1;
	assert_int_equal(choose(), 0);
	assert_int_equal(selection.launch.where.fabric, NT_FABRIC_ANY);
	assert_int_equal(selection.choice.count, 0);
	expect_not_due("there is no launch profile for its network");
}

UNIT_TESTS_EACH(set_up, tear_down, a_calibration_of_known_hosts_is_used,
		hosts_must_be_known_and_alike, the_site_knows_hosts_and_profiles_too,
		what_is_named_is_given, own_variables_have_their_own_evidence,
		files_in_a_bad_state_are_left_out, arms_of_the_chosen_profile_go_along,
		an_unmeasured_step_leaves_the_gain, many_arms_are_cut_to_what_fits,
		an_unknown_program_is_calibrated_for_only_if_that_was_typed,
		a_known_program_is_calibrated_for_if_that_can_repay,
		what_was_measured_for_a_program_is_not_measured_again,
		profiles_that_the_user_overrides_are_left_out, profiles_are_for_their_network);
