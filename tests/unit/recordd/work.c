/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Parallel children: their output, their ends, and timeouts. */
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "recordd/work.h"

struct errand {
	const char *says; /* what the child writes */
	bool hangs; /* afterwards */
	bool complains; /* without end, to stderr */
	size_t floods; /* bytes that it writes */
	char words[8];
	char out[64], why[64];
	int status;
	unsigned ended;
};

static int run(void *argument, int out_fd)
{
	const struct errand *errand = argument;

	for (int i = 0; errand->complains && i < 10000; i++)
		fprintf(stderr, "libslurm is not happy about line %d\n", i);
	for (size_t i = 0; i < errand->floods; i++)
		(void)!write(out_fd, "x", 1);
	(void)!write(out_fd, errand->says, strlen(errand->says));
	while (errand->hangs)
		pause();
	return 3;
}

static bool take_byte(void *argument, char byte)
{
	struct errand *errand = argument;

	if (byte != 'r' && byte != 'o')
		return false;
	errand->words[strlen(errand->words)] = byte;
	return true;
}

static void ended(void *argument, const struct nt_work_result *result)
{
	struct errand *errand = argument;

	snprintf(errand->out, sizeof(errand->out), "%.40s", result->out);
	snprintf(errand->why, sizeof(errand->why), "%s", result->why ? result->why : "");
	errand->status = result->status;
	errand->ended++;
}

static const struct nt_work_kind kind = { run, take_byte, ended };

static void start(struct nt_work *work, struct errand *errand, int64_t in_ms)
{
	struct nt_error err;

	*work = (struct nt_work){ .kind = &kind, .argument = errand };
	assert_int_equal(nt_work_start(work, nt_clock_ms() + in_ms, &err), 0);
}

static void finish(struct nt_work *works, size_t count)
{
	bool run_on = true;

	while (run_on) {
		run_on = false;
		for (size_t i = 0; i < count; i++)
			run_on = run_on || nt_work_runs(&works[i]);
		if (run_on)
			assert_false(nt_work_wait(works, count, -1, nt_clock_ms() + 60000));
	}
}

static void words_come_before_the_result(void **state)
{
	struct errand errand = { .says = "rowords" };
	struct nt_work work;

	start(&work, &errand, 60000);
	finish(&work, 1);
	assert_string_equal(errand.words, "ro");
	assert_string_equal(errand.out, "words");
	assert_string_equal(errand.why, "");
	assert_int_equal(errand.status, 3);
	assert_int_equal(errand.ended, 1);
}

static void who_is_late_is_ended_and_keeps_nobody_waiting(void **state)
{
	struct errand late = { .says = "r", .hangs = true }, well = { .says = "w" };
	struct nt_work works[2];
	int64_t begun_ms = nt_clock_ms();

	start(&works[0], &late, 3600000);
	start(&works[1], &well, 3600000);
	nt_work_hurry(&works[0], begun_ms + 100);
	nt_work_hurry(&works[0], begun_ms + 5400000); /* that is not urgent */
	finish(works, 2);
	assert_string_equal(well.out, "w");
	assert_string_equal(late.why, "timed out");
	assert_string_equal(late.words, "r");
	assert_in_range(nt_clock_ms() - begun_ms, 100, 3599999);
	nt_work_stop(&works[0]);
	assert_int_equal(late.ended, 1);
}

static void what_is_too_much_is_refused(void **state)
{
	struct errand errand = { .says = "", .floods = 2 * NT_WORK_OUT_MAX };
	struct nt_work work;

	start(&work, &errand, 60000);
	finish(&work, 1);
	assert_string_equal(errand.why, "it wrote too much");
}

static void complaints_stop_nobody(void **state)
{
	struct errand errand = { .says = "w", .complains = true };
	struct nt_work work;

	start(&work, &errand, 60000);
	finish(&work, 1);
	assert_string_equal(errand.out, "w");
	assert_string_equal(errand.why, "");
}

static void others_are_heard(void **state)
{
	struct errand errand = { .says = "", .hangs = true };
	struct nt_work work;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	start(&work, &errand, 60000);
	assert_false(nt_work_wait(&work, 1, fds[0], nt_clock_ms() + 20));
	assert_int_equal(write(fds[1], "e", 1), 1);
	assert_true(nt_work_wait(&work, 1, fds[0], nt_clock_ms() + 60000));
	nt_work_stop(&work);
	assert_false(nt_work_runs(&work));
	assert_int_equal(errand.ended, 1);
	close(fds[0]);
	close(fds[1]);
}

static void there_is_no_other_beside_a_stuck_one(void **state)
{
	struct errand errand = { .says = "", .hangs = true };
	struct nt_work stuck, work;
	struct nt_error err;

	start(&stuck, &errand, 60000);
	work = (struct nt_work){ .kind = &kind, .argument = &errand };
	work.child.stuck_pid = stuck.child.pid;
	assert_int_equal(nt_work_start(&work, nt_clock_ms() + 1000, &err), -1);
	assert_non_null(strstr(err.text, "cannot kill"));
	assert_false(nt_work_runs(&work));
	nt_work_stop(&stuck);
	errand.hangs = false;
	assert_int_equal(nt_work_start(&work, nt_clock_ms() + 60000, &err), 0);
	finish(&work, 1);
}

UNIT_TESTS(words_come_before_the_result, who_is_late_is_ended_and_keeps_nobody_waiting,
	   what_is_too_much_is_refused, complaints_stop_nobody, others_are_heard,
	   there_is_no_other_beside_a_stuck_one);
