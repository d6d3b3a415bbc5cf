/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many jobs calibrates a place; and the names of programs */
#include "tests/lib/unit.h"
#include <sys/wait.h>
#include <unistd.h>
#include "launch/claim.h"
#include "tests/unit/launch/select-world.h"
#include "tests/unit/scratch.h"

#define JOBS 24

static char dir[64];
static struct nt_claim holder;
static struct nt_error err;

static int make(void **state)
{
	int rc = make_top(state);

	snprintf(dir, sizeof(dir), "%s/a/memory", top);
	return rc;
}

static int take_at(struct nt_where where, uint32_t job, int64_t now_s)
{
	const struct nt_claim claim = { job, now_s + 60, false };

	return nt_claim_take(dir, &where, &claim, now_s, &holder, &err);
}

static int take(uint32_t job, int64_t now_s)
{
	return take_at(world_where(), job, now_s);
}

static void one_at_a_time(void **state)
{
	assert_int_equal(take(1, NOW_S), 1);
	assert_int_equal(take(2, NOW_S), 0);
	assert_int_equal(holder.job, 1);
	assert_int_equal(holder.until_s, NOW_S + 60);
	assert_int_equal(nt_claim_end(dir, 2, true, NOW_S, &err), 0);
	assert_int_equal(take(2, NOW_S), 0); /* it was not its own claim */
	assert_int_equal(nt_claim_end(dir, 1, true, NOW_S, &err), 0);
	assert_int_equal(take(2, NOW_S), 1);
}

static void a_claim_ends_by_itself(void **state)
{
	assert_int_equal(take(1, NOW_S), 1);
	assert_int_equal(take(2, NOW_S + 59), 0);
	assert_int_equal(take(1, NOW_S + 61), 0); /* it has calibrated already */
	assert_int_equal(take(2, NOW_S + 61), 1);
	assert_int_equal(take(1, NOW_S + 61), 0);
	assert_int_equal(holder.job, 2);
}

static void after_a_failure_nobody_tries_for_a_while(void **state)
{
	assert_int_equal(take(1, NOW_S), 1);
	assert_int_equal(nt_claim_end(dir, 1, false, NOW_S + 5, &err), 0);
	assert_int_equal(take(2, NOW_S + 3000), 0);
	assert_true(holder.failed);
	assert_int_equal(take(2, NOW_S + 5 + NT_CLAIM_RETRY_S + 1), 1);
}

/* As from a clock that runs ahead, another version, or an attacker. */
/* After a failed calibration the hardware may be known. */
static void unknown_hardware_may_be_any(void **state)
{
	struct nt_where unknown = world_where(), other = world_where();

	unknown.fingerprint = 0;
	other.nodes *= 2;
	assert_int_equal(take_at(unknown, 1, NOW_S), 1);
	assert_int_equal(take(2, NOW_S), 0);
	assert_int_equal(holder.job, 1);
	assert_int_equal(take_at(other, 3, NOW_S), 1); /* another shape */
	assert_int_equal(nt_claim_end(dir, 1, false, NOW_S + 5, &err), 0);
	assert_int_equal(take(2, NOW_S + 6), 0);
	assert_true(holder.failed);
	assert_int_equal(take(2, NOW_S + 6 + NT_CLAIM_RETRY_S), 1);
}

static void what_makes_no_sense_is_no_claim(void **state)
{
	static const char *const bad[] = { "", "rubbish", "job 3 until 99999999999999 failed 0\n",
					   "job 3 until -1 failed 0\n", "job 3 until 5" };
	char command[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(take(1, NOW_S), 1);
		snprintf(command, sizeof(command),
			 "for f in %s/claim-*x*; do printf '%s' >$f; done", dir, bad[i]);
		assert_int_equal(system(command), 0);
		assert_int_equal(take(2, NOW_S), 1);
		assert_int_equal(nt_claim_end(dir, 2, true, NOW_S, &err), 0);
	}
	snprintf(command, sizeof(command), "! ls %s | grep -v '[.]tmp$'", dir);
	assert_int_equal(system(command), 0);
}

/* A small array of tasks, also with an old claim in the way. */
static void of_many_at_once_one_calibrates(void **state)
{
	for (int64_t round = 0; round < 3; round++) {
		pid_t child[JOBS];
		unsigned won = 0;

		for (uint32_t job = 0; job < JOBS; job++) {
			child[job] = fork();
			if (child[job] == 0)
				_exit(take(100 * (uint32_t)(round + 1) + job,
					   NOW_S + 100 * round) == 1);
		}
		for (unsigned job = 0; job < JOBS; job++) {
			int status = 0;

			assert_int_equal(waitpid(child[job], &status, 0), child[job]);
			won += WEXITSTATUS(status) == 1;
		}
		assert_int_equal(won, 1);
	}
}

static void a_directory_that_cannot_be_written_to_is_said(void **state)
{
	FILE *file;

	snprintf(dir, sizeof(dir), "%s/file", top);
	file = fopen(dir, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(take(1, NOW_S), -1);
	assert_non_null(strstr(err.text, "/file: "));
}

UNIT_TESTS_EACH(make, remove_top, one_at_a_time, a_claim_ends_by_itself,
		after_a_failure_nobody_tries_for_a_while, unknown_hardware_may_be_any,
		what_makes_no_sense_is_no_claim, of_many_at_once_one_calibrates,
		a_directory_that_cannot_be_written_to_is_said);
