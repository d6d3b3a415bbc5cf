/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Asking the helper: its input, invalid answers, and a missing answer */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "spank/submit/ask-launch.h"

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
					       .node_gpus = 2,
					       .typed = true,
					       .limit_s = 50,
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

	close(fd);
	return fd < 0;
}

static int unmake(void **state)
{
	return unlink(path);
}

static void it_is_told_all_and_its_answer_taken(void **state)
{
	assert_int_equal(
		ask("printf 'ticket=t\\nwarm=w\\ntext=%s\\nnot_due=no GPU\\nnew=1\\n' \"$*\""), 0);
	assert_string_equal(answer.ticket, "t");
	assert_string_equal(answer.warm, "w");
	assert_string_equal(answer.text,
			    "choose launch=auto hosts=n[1-2] nodes=2 tasks=4 job=7 "
			    "node_gpus=2 typed=1 limit=50 program=train.py profiles=/p "
			    "site_memory=/s");
	assert_string_equal(answer.trouble, "");
	assert_string_equal(answer.not_due, "no GPU");
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

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(ask(bad[i]), -1);
		assert_string_not_equal(err.text, "");
		assert_string_equal(answer.ticket, "");
	}
	assert_int_equal(ask("echo ticket=x; echo 'no home' >&2; exit 1"), -1);
	assert_string_equal(err.text, "no home");
}

static void a_calibration_is_asked_for(void **state)
{
	const struct nt_launch_claim claim = { .gpus = true, .left_s = 3600, .address = "n1" };
	const struct nt_launch_claim endless = { .left_s = -1, .address = "n1" };
	char request[NT_CAL_REQUEST_MAX], why[NT_LAUNCH_LINE];

	helper_is("test \"$1 $7 $8 $9 ${10} ${11} ${12}\" = "
		  "'calibrate node_gpus=2 typed=1 limit=50 gpus=1 left=3600 address=n1' && "
		  "echo 'request=v=1;seconds=50'");
	assert_int_equal(nt_launch_calibrate(path, &question, &claim, request, why, &err), 1);
	assert_string_equal(request, "v=1;seconds=50");
	helper_is("test \"${10} ${11}\" = 'gpus=0 address=n1' && echo why=job 3 is at it");
	assert_int_equal(nt_launch_calibrate(path, &question, &endless, request, why, &err), 0);
	assert_string_equal(why, "job 3 is at it");
	helper_is("true");
	assert_int_equal(nt_launch_calibrate(path, &question, &claim, request, why, &err), 0);
	assert_string_equal(why, "no answer");
	helper_is("echo no home >&2; exit 1");
	assert_int_equal(nt_launch_calibrate(path, &question, &claim, request, why, &err), -1);
	assert_string_equal(err.text, "no home");
}

static void a_helper_that_hangs_is_not_waited_for(void **state)
{
	int64_t began_ms = nt_clock_ms();

	assert_int_equal(ask("exec sleep 3600"), -1);
	assert_true(nt_clock_ms() - began_ms < GUARD_MS);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void ignored_signals_make_no_difference(void **state)
{
	signal(SIGCHLD, SIG_IGN);
	assert_int_equal(ask("echo ticket=x"), 0);
	signal(SIGCHLD, SIG_DFL);
	assert_string_equal(answer.ticket, "x");
}

UNIT_TESTS_ALL(make, unmake, it_is_told_all_and_its_answer_taken, what_makes_no_sense_is_refused,
	       a_calibration_is_asked_for, a_helper_that_hangs_is_not_waited_for,
	       ignored_signals_make_no_difference);
