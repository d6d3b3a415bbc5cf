/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated NCCL's model matches NCCL, since tests rely on it. */
#include "tests/fake/model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define ARM(algo, proto) ((algo)*NT_PROTOS + (proto))

static const struct nt_place two_by_four = { 8, 2, 4, 7, 2, false, false, 0 };
static const struct nt_place one_by_eight = { 8, 1, 8, 7, 24, false, false, 0 };
static const struct nt_place eight_by_one = { 8, 8, 1, 7, 2, false, false, 0 };

static void parse(struct nt_options *o, int argc, const char *const *argv)
{
	char *copy[16];
	struct nt_error err;

	copy[0] = (char *)"nt-fake-nccl";
	for (int i = 0; i < argc; i++)
		copy[i + 1] = (char *)argv[i];
	if (nt_options_parse(o, argc + 1, copy, &err) < 0)
		fail_msg("%s", err.text);
}

static void begin(struct nt_model *m, struct nt_options *o, int argc, const char *const *argv)
{
	struct nt_error err;

	parse(o, argc, argv);
	if (nt_model_init(m, o, &err) < 0)
		fail_msg("%s", err.text);
}

/* Which entries are legal, as bits. */
static uint32_t mask_of(const struct nt_model *m, const struct nt_place *p, int coll)
{
	float table[NT_PAIRS];
	uint32_t mask = 0;

	nt_model_costs(m, p, coll, 1 << 20, 1, table);
	for (int i = 0; i < p->algos * NT_PROTOS; i++)
		mask |= (uint32_t)(table[i] >= 0) << i;
	return mask;
}

static uint32_t bits(const char *const *names, size_t n)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < n; i++)
		mask |= 1u << nt_arm_parse(names[i]);
	return mask;
}

#define BITS(...)                                  \
	bits((const char *const[]){ __VA_ARGS__ }, \
	     sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void legal_arms_are_those_of_nccl(void **state)
{
	static const char *const nvls[] = { "--nvls" }, *const ll128[] = { "--ll128" };
	struct nt_options o;
	struct nt_model m;

	(void)state;
	begin(&m, &o, 0, NULL);
	assert_int_equal(mask_of(&m, &two_by_four, NT_ALLREDUCE),
			 BITS("TREE/LL", "TREE/SIMPLE", "RING/LL", "RING/SIMPLE"));
	assert_int_equal(mask_of(&m, &one_by_eight, NT_ALLREDUCE),
			 BITS("TREE/LL", "TREE/LL128", "TREE/SIMPLE", "RING/LL", "RING/LL128",
			      "RING/SIMPLE"));
	assert_int_equal(mask_of(&m, &one_by_eight, NT_BROADCAST),
			 BITS("RING/LL", "RING/LL128", "RING/SIMPLE"));
	assert_int_equal(mask_of(&m, &eight_by_one, NT_ALLGATHER),
			 BITS("RING/LL", "RING/SIMPLE", "PAT/SIMPLE"));
	assert_int_equal(mask_of(&m, &two_by_four, NT_REDUCESCATTER),
			 BITS("RING/LL", "RING/SIMPLE"));
	begin(&m, &o, 1, ll128);
	assert_true(mask_of(&m, &two_by_four, NT_ALLREDUCE) & BITS("TREE/LL128"));
	begin(&m, &o, 1, nvls);
	assert_true(mask_of(&m, &one_by_eight, NT_ALLREDUCE) & BITS("NVLS/SIMPLE"));
	assert_false(mask_of(&m, &one_by_eight, NT_REDUCE) & BITS("NVLS/SIMPLE"));
}

static void fp8_multiplies_negative_entries_too(void **state)
{
	struct nt_place p = { 16, 2, 8, 7, 2, true, false, 0 };
	struct nt_options o;
	struct nt_model m;
	float table[NT_PAIRS];

	(void)state;
	begin(&m, &o, 0, NULL);
	nt_model_costs(&m, &p, NT_ALLREDUCE, 1 << 20, 1, table);
	assert_true(table[ARM(1, 1)] == -1024.0f);
	assert_true(table[ARM(0, 1)] == -1.0f);
	assert_true(table[ARM(1, 2)] > 1024.0f);
	p.ranks = 8;
	nt_model_costs(&m, &p, NT_ALLREDUCE, 1 << 20, 1, table);
	assert_true(table[ARM(1, 1)] == -1.0f);
}

static void old_tables_have_no_pat(void **state)
{
	struct nt_place p = { 8, 8, 1, NT_ALGOS - 1, 2, false, false, 0 };
	struct nt_options o;
	struct nt_model m;
	float table[NT_PAIRS];

	(void)state;
	begin(&m, &o, 0, NULL);
	table[ARM(6, 2)] = 77;
	nt_model_costs(&m, &p, NT_ALLGATHER, 1 << 20, 1, table);
	assert_true(table[ARM(6, 2)] == 77);
}

static void the_first_strict_minimum_is_picked(void **state)
{
	float table[NT_PAIRS];

	(void)state;
	for (int i = 0; i < NT_PAIRS; i++)
		table[i] = -1;
	assert_int_equal(nt_model_pick(table, NT_ALGOS), -1);
	table[9] = 5;
	table[4] = 5;
	table[2] = -1024;
	assert_int_equal(nt_model_pick(table, NT_ALGOS), 4);
	table[9] = 0;
	assert_int_equal(nt_model_pick(table, NT_ALGOS), 9);
	table[3] = 0;
	assert_int_equal(nt_model_pick(table, NT_ALGOS), 3);
	table[3] = 4e9f;
	table[9] = 4e9f;
	table[4] = -1;
	assert_int_equal(nt_model_pick(table, NT_ALGOS), -1);
}

static void an_arm_can_change_its_true_time(void **state)
{
	static const char *const args[] = { "--arm", "allreduce:RING/LL=0.5@10", "--arm",
					    "TREE/LL=3" };
	struct nt_run r = { .coll = NT_ALLREDUCE, .bytes = 1 << 20, .arm = ARM(1, 0) };
	struct nt_options o;
	struct nt_model m;
	double before;

	(void)state;
	begin(&m, &o, 4, args);
	before = nt_model_truth_us(&m, &two_by_four, &r);
	r.op = 10;
	assert_true(fabs(nt_model_truth_us(&m, &two_by_four, &r) / before - 0.5) < 1e-9);
	r.coll = NT_REDUCE;
	before = nt_model_truth_us(&m, &two_by_four, &r);
	r.op = 0;
	assert_true(nt_model_truth_us(&m, &two_by_four, &r) == before);
}

/* Share of samples below the geometric middle of the two modes, and their mean distance. */
static void bimodal_noise_has_its_two_modes(void **state)
{
	static const char *const args[] = { "--noise", "bimodal:0.62:2.3:0.02" };
	struct nt_run r = { .coll = NT_ALLREDUCE, .bytes = 1 << 20, .arm = ARM(1, 2) };
	struct nt_options o;
	struct nt_model m;
	double truth, fast = 0;
	int n = 20000;

	(void)state;
	begin(&m, &o, 2, args);
	truth = nt_model_truth_us(&m, &two_by_four, &r);
	for (int i = 0; i < n; i++) {
		double ratio;

		r.key = (uint64_t)i;
		ratio = (double)nt_model_duration_ns(&m, &two_by_four, &r, NULL) * 1e-3 / truth;
		assert_true(fabs(ratio - 1) < 0.12 || fabs(ratio / 2.3 - 1) < 0.12);
		fast += ratio < 1.5;
	}
	assert_true(fabs(fast / n - 0.62) < 0.02);
}

static char *trace_file(const char *text)
{
	static char path[] = "/tmp/nt-trace.XXXXXX";
	int fd;

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void trace_rows_are_found_and_taken_in_order(void **state)
{
	const char *path = trace_file("# a comment\n"
				      "allreduce,2x4,seq,AUTO,AUTO,65536,10,20,30\n"
				      "allreduce,2x4,seq,Ring,LL,65536,1,2\n"
				      "allreduce,2x4,seq,Ring,LL,262144,7\n"
				      "A=1+B=2,allreduce,2x4,seq,Ring,LL,1048576,9\n");
	char arg[64];
	const char *args[] = { arg };
	struct nt_run r = {
		.coll = NT_ALLREDUCE, .bytes = 65536, .arm = ARM(1, 0), .auto_arm = ARM(0, 2)
	};
	uint32_t cursor[NT_MAX_ROWS] = { 0 };
	struct nt_options o;
	struct nt_model m;

	(void)state;
	snprintf(arg, sizeof(arg), "--trace=%s,2x4", path);
	begin(&m, &o, 1, args);
	unlink(path);
	assert_int_equal(m.trace.rows, 4);
	assert_int_equal(nt_model_duration_ns(&m, &two_by_four, &r, cursor), 1000);
	assert_int_equal(nt_model_duration_ns(&m, &two_by_four, &r, cursor), 2000);
	assert_int_equal(nt_model_duration_ns(&m, &two_by_four, &r, cursor), 1000);
	/* Nearest by ratio; rows with launch variables are left out. */
	r.bytes = 1 << 20;
	assert_int_equal(nt_model_duration_ns(&m, &two_by_four, &r, cursor), 7000);
	/* NCCL's own pick was measured as AUTO. */
	r.arm = r.auto_arm;
	assert_int_equal(nt_model_duration_ns(&m, &two_by_four, &r, cursor), 10000);
	/* Times that were not measured come from the model. */
	r.arm = ARM(1, 2);
	assert_true(nt_model_duration_ns(&m, &two_by_four, &r, cursor) > 100000);
	nt_model_fini(&m);
}

static void malformed_traces_are_refused(void **state)
{
	static const char *const bad[] = {
		"allreduce,2x4,seq,AUTO,AUTO,65536\n",	   "allreduce,2x4,seq,AUTO,AUTO,65536,\n",
		"allreduce,2x4,seq,AUTO,AUTO,65536,1,x\n", "allreduce,2x4,seq,AUTO,AUTO,65536,-1\n",
		"allreduce,2x4,seq,Star,LL,65536,1\n",	   "alltoall,2x4,seq,AUTO,AUTO,65536,1\n",
		"allreduce,2x4,seq,AUTO,AUTO,64K,1\n",
	};
	struct nt_trace t;
	struct nt_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *path = trace_file(bad[i]);

		assert_int_equal(nt_trace_load(&t, path, &err), -1);
		assert_non_null(strstr(err.text, ":1: "));
		unlink(path);
	}
	assert_int_equal(nt_trace_load(&t, "/nonexistent", &err), -1);
}

static void sizes_are_read_and_checked(void **state)
{
	struct nt_error err;
	uint64_t bytes;

	(void)state;
	assert_int_equal(nt_parse_size("1.5M", &bytes, &err), 0);
	assert_int_equal(bytes, 3 << 19);
	assert_int_equal(nt_parse_size("96", &bytes, &err), 0);
	assert_int_equal(bytes, 96);
	assert_int_equal(nt_parse_size("", &bytes, &err), -1);
	assert_int_equal(nt_parse_size("0", &bytes, &err), -1);
	assert_int_equal(nt_parse_size("4Kb", &bytes, &err), -1);
	assert_int_equal(nt_parse_size("4T", &bytes, &err), -1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(legal_arms_are_those_of_nccl),
		cmocka_unit_test(fp8_multiplies_negative_entries_too),
		cmocka_unit_test(old_tables_have_no_pat),
		cmocka_unit_test(the_first_strict_minimum_is_picked),
		cmocka_unit_test(an_arm_can_change_its_true_time),
		cmocka_unit_test(bimodal_noise_has_its_two_modes),
		cmocka_unit_test(trace_rows_are_found_and_taken_in_order),
		cmocka_unit_test(malformed_traces_are_refused),
		cmocka_unit_test(sizes_are_read_and_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
