/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the helper: its input, invalid answers, and a missing answer */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "lib/clock.h"
#include "spank/ask-launch.h"

#define GUARD_MS 600000 /* who waits for a helper of an hour does not end before */

static char path[] = "/tmp/nt-ask-XXXXXX";
static struct nt_launch_answer answer;
static struct nt_error err;

/* The helper is a line of shell. */
static void helper_is(const char *line)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", line);
	fclose(file);
	assert_int_equal(chmod(path, 0700), 0);
}

static const struct nt_launch_ask question = { .launch = "auto",
					       .hosts = "n[1-2]",
					       .nodes = 2,
					       .tasks = 4,
					       .job = 7,
					       .program = "train.py",
					       .profiles = "/p",
					       .site_memory = "/s" };

static int ask(const char *line)
{
	helper_is(line);
	err.text[0] = '\0';
	return nt_launch_select(path, &question, &answer, &err);
}

static int make(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	return fd < 0;
}

static int unmake(void **state)
{
	(void)state;
	return unlink(path);
}

static void it_is_told_all_and_its_answer_taken(void **state)
{
	(void)state;
	assert_int_equal(
		ask("printf 'ticket=t\\nwarm=w\\ntext=%s\\nmay_calibrate=1\\nnew=1\\n' \"$*\""), 0);
	assert_string_equal(answer.ticket, "t");
	assert_string_equal(answer.warm, "w");
	assert_string_equal(answer.text,
			    "choose launch=auto hosts=n[1-2] nodes=2 tasks=4 job=7 "
			    "calibration=0 program=train.py profiles=/p site_memory=/s");
	assert_string_equal(answer.trouble, "");
	assert_true(answer.may_calibrate);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = { "true",
					   "echo",
					   "echo text=x",
					   "printf ticket=x",
					   "echo ticket=x; echo rubbish",
					   "printf 'ticket=%02000d\\n' 1",
					   "yes ticket=x" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ask(bad[i]), -1);
		assert_string_not_equal(err.text, "");
		assert_string_equal(answer.ticket, "");
	}
	assert_int_equal(ask("echo ticket=x; echo 'no home' >&2; exit 1"), -1);
	assert_string_equal(err.text, "no home");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(nt_launch_release(path, &question, true, &err), -1);
	helper_is("true");
}

static void a_place_is_claimed_and_released(void **state)
{
	char why[NT_LAUNCH_LINE];

	(void)state;
	helper_is("test \"$1 $7 $8\" = 'claim calibration=0 seconds=30'");
	assert_int_equal(nt_launch_claim(path, &question, 30, why, &err), 1);
	helper_is("echo job 3 is at it");
	assert_int_equal(nt_launch_claim(path, &question, 30, why, &err), 0);
	assert_string_equal(why, "job 3 is at it");
	helper_is("echo no home >&2; exit 1");
	assert_int_equal(nt_launch_claim(path, &question, 30, why, &err), -1);
	assert_string_equal(err.text, "no home");
	helper_is("test \"$1 $8\" = 'release well=1'");
	assert_int_equal(nt_launch_release(path, &question, true, &err), 0);
	assert_int_equal(nt_launch_release(path, &question, false, &err), -1);
}

static void a_helper_that_hangs_is_not_waited_for(void **state)
{
	int64_t began_ms = nt_clock_ms();

	(void)state;
	assert_int_equal(ask("exec sleep 3600"), -1);
	assert_true(nt_clock_ms() - began_ms < GUARD_MS);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void ignored_signals_make_no_difference(void **state)
{
	(void)state;
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(ask("echo ticket=x"), 0);
	signal(SIGCHLD, SIG_DFL);
	assert_string_equal(answer.ticket, "x");
}

static int run(const char *line, int64_t limit_s)
{
	char *argv[] = { "/bin/true", "a", NULL };

	helper_is(line);
	return nt_launch_run(path, argv, limit_s, &err);
}

static volatile sig_atomic_t heard;

static void hear(int number)
{
	heard = number;
}

/* Nothing is blocked here, as in srun from 26.05 on. */
static void a_signal_ends_a_run_and_all_but_an_interrupt_are_heard_again(void **state)
{
	(void)state;
	assert_int_equal(run("kill -INT $PPID; exec sleep 100", 100), NT_LAUNCH_STOPPED);
	signal(SIGTERM, hear);
	assert_int_equal(run("kill -TERM $PPID; exec sleep 100", 100), NT_LAUNCH_STOPPED);
	assert_int_equal(heard, 0);
	while (heard == 0)
		pause();
	assert_int_equal(heard, SIGTERM);
	signal(SIGTERM, SIG_IGN);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* All processes with the pipe open have ended. */
static void a_run_that_does_not_end_is_killed_with_all_it_has_started(void **state)
{
	int pipes[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(run("trap '' TERM; sleep 1000 & while :; do wait; done", 1),
			 NT_LAUNCH_LATE);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
}

static void a_run_has_a_limit_and_a_status(void **state)
{
	int64_t began_ms = nt_clock_ms();
	char line[128];

	(void)state;
	snprintf(line, sizeof(line), "[ \"$*\" = 'run %ld /bin/true a' ] && exit 5",
		 (long)getpid());
	assert_int_equal(run(line, 10), 5);
	assert_int_equal(run("kill -INT $$", 10), 128 + SIGINT);
	assert_int_equal(run("exec sleep 3600", 1), NT_LAUNCH_LATE);
	assert_true(nt_clock_ms() - began_ms < GUARD_MS);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_told_all_and_its_answer_taken),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(a_place_is_claimed_and_released),
		cmocka_unit_test(a_helper_that_hangs_is_not_waited_for),
		cmocka_unit_test(ignored_signals_make_no_difference),
		cmocka_unit_test(a_run_has_a_limit_and_a_status),
		cmocka_unit_test(a_run_that_does_not_end_is_killed_with_all_it_has_started),
		cmocka_unit_test(a_signal_ends_a_run_and_all_but_an_interrupt_are_heard_again),
	};

	return cmocka_run_group_tests_name("ask-launch", tests, make, unmake);
}
