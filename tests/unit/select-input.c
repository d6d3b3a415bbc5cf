/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The choice with its files: hosts, sources of evidence, tickets, arms, and when to calibrate */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/unit/select-world.h"
#include "lib/file.h"
#include "profiles/select-input.h"
#include "profiles/memory-store.h"
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
	ask = (struct nt_selection_request){ .launch = "auto",
					     .hosts = "n[1-2]",
					     .nodes = 2,
					     .tasks = 2,
					     .job = 9,
					     .now_s = NOW_S };
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

	(void)state;
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
	assert_false(ticket.calibration || ticket.observe);
	assert_string_equal(nt_selection_text(&selection, text, sizeof(text)),
			    "launch profile a (calibrated 2025-11-10 on 2 x 1: all sizes alike "
			    "3.00 x)");
	assert_string_equal(selection.trouble.text, "");
}

static void hosts_must_be_known_and_alike(void **state)
{
	(void)state;
	add("default", 3, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	add("a", 3, 1, 100)->origin = NT_ORIGIN_CALIBRATE;
	add_hosts(0xf3, 0);
	keep();
	expect("default", NT_WHY_NO_HARDWARE);
	add_hosts(0, 0xf4);
	keep();
	expect("default", NT_WHY_NO_HARDWARE);
	assert_true(selection.hosts_mixed);
	ask.hosts = "n[1-";
	expect("default", NT_WHY_NO_HARDWARE);
	assert_string_not_equal(selection.trouble.text, "");
	ask.hosts = "n1";
	ask.nodes = 1;
	ask.tasks = 2;
	expect("default", NT_WHY_NOTHING_KNOWN);
	ask.hosts = "n[1,1]";
	ask.nodes = 2;
	expect("a", NT_WHY_GAIN);
	ask.tasks = 3;
	expect("default", NT_WHY_UNEVEN);
}

static void the_site_knows_hosts_and_profiles_too(void **state)
{
	(void)state;
	add_calibration();
	assert_int_equal(nt_memory_write_file(&memory, paths.site_memory, &err), 0);
	nt_memory_fini(&memory);
	expect("a", NT_WHY_GAIN);
	assert_int_equal(selection.choice.chosen->level, NT_LEVEL_SITE);
}

static void a_job_looks_at_its_own_steps(void **state)
{
	(void)state;
	add("default", 9, 0, 300);
	add_hosts(0xf3, 0xf3);
	keep();
	expect("default", NT_WHY_NOTHING_KNOWN);
	add("a", 9, 1, 100);
	keep();
	expect("a", NT_WHY_GAIN);
	ask.job = 10; /* for another job these are not evidence */
	expect("default", NT_WHY_NONE_BETTER);
}

static void what_is_named_is_given(void **state)
{
	struct nt_ticket ticket;

	(void)state;
	ask.launch = "b";
	expect("b", NT_WHY_ASKED);
	nt_selection_ticket(&selection, &ticket);
	assert_int_equal(ticket.why, NT_WHY_ASKED);
	assert_true(ticket.settings.set[NT_VARIABLE_BUFFSIZE]);
	ask.calibration = true;
	expect("b", NT_WHY_ASKED);
	nt_selection_ticket(&selection, &ticket);
	assert_true(ticket.calibration);
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

	(void)state;
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
	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
	add_hosts(0xf3, 0xf3);
	for (unsigned i = 0; i < 3; i++) {
		struct nt_memory_entry *entry = add("default", 3, i, 300);

		for (unsigned j = 0; j < 60; j++) {
			world_key(entry, nt_band_floor(j), 1, 10);
			entry->key[2 + j].ranks = i + 1;
			entry->key[2 + j].nodes = 1;
			if (j % 2) /* neighbours with one arm would be one word */
				entry->key[2 + j].arm = nt_arm_parse("TREE/LL");
		}
	}
	keep();
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_warm(&selection, &warm));
	assert_true(warm.count > 64 && warm.count <= NT_WARM_MAX);
	/* The most expensive keys of a job stay. */
	assert_true(nt_warm_find(&warm, 2, 2, NT_ALLREDUCE, nt_band(16 << 20)) >= 0);
}

/* As an import leaves them; what was measured later counts within. */
static void imported_ranges_go_along_as_ranges(void **state)
{
	const struct nt_quantiles none = { 0 };
	struct nt_memory_entry *entry;
	struct nt_warm warm;
	char text[NT_WARM_TEXT_MAX];

	(void)state;
	entry = add("default", 3, 0, 300);
	entry->origin = NT_ORIGIN_IMPORT;
	for (unsigned i = 0; i < 2; i++) {
		entry->key[i].best = entry->key[i].untuned = none;
		entry->key[i].arm = nt_arm_parse("TREE/LL");
		entry->key[i].bytes = 1024;
		entry->key[i].last = 1 << 20;
	}
	entry->key[1].arm = nt_arm_parse("RING/LL"); /* the first one counts */
	entry->key[1].last = 2 << 20;
	(void)add("default", 4, 0, 300); /* 64K, 16M */
	add_hosts(0xf3, 0xf3);
	keep();
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_warm(&selection, &warm));
	assert_int_equal(nt_warm_print(&warm, text, sizeof(text), NULL), 0);
	assert_non_null(strstr(text, " 2r2n.AllReduce.1024-49152=TREE/LL"
				     " 2r2n.AllReduce.65536=RING/SIMPLE@15000"
				     " 2r2n.AllReduce.98304-1048576=TREE/LL"
				     " 2r2n.AllReduce.1572864-2097152=RING/LL 2r2n."));
	assert_int_equal(nt_warm_find(&warm, 2, 2, NT_ALLREDUCE, nt_band(2048)),
			 nt_arm_parse("TREE/LL"));
}

static void a_calibration_is_for_what_is_unknown(void **state)
{
	(void)state;
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_may_calibrate(&selection));
	ask.tasks = 3;
	assert_int_equal(choose(), 0);
	assert_false(nt_selection_may_calibrate(&selection));
	ask.tasks = 2;
	add("default", 3, 0, 300)->origin = NT_ORIGIN_CALIBRATE;
	add_hosts(0xf3, 0xf3);
	keep();
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_may_calibrate(&selection)); /* one without a result */
	add("a", 3, 1, 400)->origin = NT_ORIGIN_CALIBRATE;
	keep();
	assert_int_equal(choose(), 0);
	assert_false(nt_selection_may_calibrate(&selection));
	ask.tasks = 4; /* another place */
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_may_calibrate(&selection));
	ask.launch = "a";
	assert_int_equal(choose(), 0);
	assert_false(nt_selection_may_calibrate(&selection));
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

	(void)state;
	write_profiles("[a]\nfabric=socket\nNCCL_MIN_NCHANNELS=8\n[p]\nfabric=pcie\n"
		       "NCCL_MIN_NCHANNELS=8\n");
	assert_int_equal(choose(), 0);
	assert_true(nt_selection_may_calibrate(&selection)); /* nothing is known of it */
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
		assert_int_equal(nt_selection_may_calibrate(&selection),
				 fits || known[i] == NT_FABRIC_ANY);
	}
	/* One node is another matter. */
	ask.hosts = "n1";
	ask.nodes = 1;
	assert_int_equal(choose(), 0);
	assert_int_equal(selection.launch.where.fabric, NT_FABRIC_ANY);
	assert_int_equal(selection.choice.count, 0);
	assert_true(nt_selection_may_calibrate(&selection));
	add("default", 3, 9, 300)->where = (struct nt_where){ .fingerprint = 0xf3,
							      .nodes = 1,
							      .per_node = 2,
							      .nccl = 22809,
							      .driver = "570.124.06" };
	keep();
	assert_int_equal(choose(), 0);
	assert_false(nt_selection_may_calibrate(&selection));
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_calibration_of_known_hosts_is_used),
		CASE(hosts_must_be_known_and_alike),
		CASE(the_site_knows_hosts_and_profiles_too),
		CASE(a_job_looks_at_its_own_steps),
		CASE(what_is_named_is_given),
		CASE(own_variables_have_their_own_evidence),
		CASE(files_in_a_bad_state_are_left_out),
		CASE(arms_of_the_chosen_profile_go_along),
		CASE(an_unmeasured_step_leaves_the_gain),
		CASE(many_arms_are_cut_to_what_fits),
		CASE(imported_ranges_go_along_as_ranges),
		CASE(a_calibration_is_for_what_is_unknown),
		CASE(profiles_are_for_their_network),
	};

	return cmocka_run_group_tests_name("select-input", tests, NULL, NULL);
}
