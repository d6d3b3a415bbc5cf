/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What a task does with the answers of nt-calibrate, for which scripts stand here */
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "spank/step/calibrate-task.h"
#include "spank/step/profile-env.h"
#include "tests/unit/scratch.h"
#include "tests/unit/task-env.h"

#define REQUEST(seconds)                                                                    \
	"v=1;seconds=" seconds ";procs=1;token=0123456789abcdef0123456789abcdef;address=n1" \
	";profile=wide NCCL_CROSS_NIC=1"

static char program[64];
static struct nt_cal_profile profile;
static struct nt_error err;

static enum nt_calibrate_answer run(const char *script, const char *request)
{
	char a[] = "A=1", path[] = "PATH=/usr/bin:/bin";
	char *environment[] = { a, path, NULL };
	enum nt_calibrate_answer answer;
	char text[512];
	int memory;

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	write_text("driver", text);
	snprintf(program, sizeof(program), "%s/driver", top);
	assert_int_equal(chmod(program, 0700), 0);
	err.text[0] = '\0';
	memory = memfd_create("memory", MFD_CLOEXEC);
	answer = nt_calibrate_task(program, request, memory, environment, &profile, &err);
	close(memory);
	return answer;
}

#define ENDED "nt-calibrate has ended without an answer"

static const struct {
	const char *script;
	enum nt_calibrate_answer result;
	const char *says; /* the profile's name, or the reason */
} answers[] = {
	{ "echo doubt; echo use wide NCCL_CROSS_NIC=1", NT_CALIBRATED_PROFILE, "wide" },
	{ "echo doubt; echo default", NT_CALIBRATED_PROFILE, "default" },
	{ "echo none no GPU", NT_CALIBRATED_NONE, "no GPU" },
	{ "echo doubt; echo none no GPU", NT_CALIBRATED_NONE, "no GPU" },
	{ "echo doubt; echo exit it may differ", NT_CALIBRATED_DOUBT, "it may differ" },
	{ "echo doubt", NT_CALIBRATED_DOUBT, ENDED },
	{ "echo doubt; kill -9 $$", NT_CALIBRATED_DOUBT, ENDED },
	{ "kill -9 $$", NT_CALIBRATED_NONE, ENDED },
	{ "", NT_CALIBRATED_NONE, ENDED },
	{ "echo", NT_CALIBRATED_NONE, ENDED },
	{ "echo doubt; printf 'use wide NCCL_CROSS_NIC=1'", NT_CALIBRATED_DOUBT, ENDED },
	{ "echo use wide", NT_CALIBRATED_NONE, ENDED },
	{ "echo use wide LD_PRELOAD=/tmp/x.so", NT_CALIBRATED_NONE, ENDED },
	{ "echo use wide NCCL_CROSS_NIC=9", NT_CALIBRATED_NONE, ENDED },
	{ "echo doubt; echo use wide NCCL_DEBUG=INFO", NT_CALIBRATED_DOUBT, ENDED },
	{ "echo doubt; printf 'x%.0s' $(seq 5000)", NT_CALIBRATED_DOUBT,
	  "nt-calibrate did not end in time" },
	/* It gets the request, the node's memory and the task's environment. */
	{ "[ \"$A\" = 1 ] && [ $# = 0 ] && echo kept >&3 && [ ! -e /proc/$$/fd/4 ] && "
	  "case $SLURM_NCCL_TUNE_CALIBRATE in v=1*NCCL_CROSS_NIC=1) echo none well; esac",
	  NT_CALIBRATED_NONE, "well" },
};

static void answers_are_taken_or_refused(void **state)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		const enum nt_calibrate_answer result = run(answers[i].script, REQUEST("50"));

		if (result != answers[i].result)
			fail_msg("%s: %d", answers[i].script, (int)result);
		assert_string_equal(result == NT_CALIBRATED_PROFILE ? profile.name : err.text,
				    answers[i].says);
	}
}

/* A signal to the step reaches the driver, and blocked ones do not reach this process. */
static void a_signal_to_the_step_ends_the_task(void **state)
{
	static const struct {
		const char *name;
		int number; /* that ends the task; 0: it goes on */
	} rows[] = { { "TERM", SIGTERM },
		     { "INT", SIGINT },
		     { "USR1", SIGUSR1 },
		     { "KILL", 0 },
		     { "SEGV", 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char script[64];
		int status;
		pid_t task;

		snprintf(script, sizeof(script), "kill -%s $$", rows[i].name);
		task = fork();
		if (task == 0) {
			sigset_t all;

			sigfillset(&all);
			sigprocmask(SIG_BLOCK, &all, NULL);
			_exit(run(script, REQUEST("50")) == NT_CALIBRATED_NONE ? 0 : 1);
		}
		assert_int_equal(waitpid(task, &status, 0), task);
		assert_int_equal(WIFSIGNALED(status) ? WTERMSIG(status) : 0, rows[i].number);
		assert_true(rows[i].number || WEXITSTATUS(status) == 0);
	}
}

static void what_cannot_start_is_none(void **state)
{
	char *none[] = { NULL };

	assert_int_equal(run("echo default", "v=1"), NT_CALIBRATED_NONE);
	assert_string_equal(err.text, "seconds is missing");
	assert_int_equal(
		nt_calibrate_task("/nonexistent/driver", REQUEST("1"), -1, none, &profile, &err),
		NT_CALIBRATED_NONE);
	assert_string_equal(err.text, ENDED);
}

/* Nothing of it is left, however it has ended: "left" appears after two seconds. */
static void all_ends_within_the_bound(void **state)
{
	char left[64];
	int64_t start_ms = nt_clock_ms();

	snprintf(left, sizeof(left), "%s/left", top);
	assert_int_equal(run("(sleep 2; : >$(dirname \"$0\")/left) >/dev/null & echo default",
			     REQUEST("50")),
			 NT_CALIBRATED_PROFILE);
	assert_true(nt_clock_ms() - start_ms < 20000);
	start_ms = nt_clock_ms();
	assert_int_equal(
		run("trap '' TERM INT HUP; echo doubt; sleep 60; echo default", REQUEST("1")),
		NT_CALIBRATED_DOUBT);
	assert_string_equal(err.text, "nt-calibrate did not end in time");
	assert_in_range(nt_clock_ms() - start_ms, 15000, 19000);
	assert_int_equal(access(left, F_OK), -1);
}

static void a_measured_profile_is_set(void **state)
{
	struct nt_cal_profile wide;

	assert_int_equal(nt_cal_profile_parse(&wide, "wide NCCL_CROSS_NIC=1 NCCL_BUFFSIZE=1048576"),
			 0);
	set(NULL, "NCCL_BUFFSIZE", "2097152");
	set(NULL, "NCCL_TUNE_LAUNCH", "default");
	nt_profile_env_apply_measured(&env, &wide, "/nonexistent/nccl.conf");
	assert_string_equal(value_of("NCCL_CROSS_NIC"), "1");
	assert_string_equal(value_of("NCCL_BUFFSIZE"), "2097152");
	assert_string_equal(value_of("NCCL_TUNE_LAUNCH"), "wide NCCL_CROSS_NIC=1");
}

static void the_request_does_not_reach_tasks(void **state)
{
	static struct nt_applied applied;

	for (int profiles = 0; profiles < 2; profiles++) {
		set(NULL, "SLURM_NCCL_TUNE_CALIBRATE", REQUEST("50"));
		nt_profile_env_apply(&env, profiles, "/nonexistent/nccl.conf", &applied);
		assert_string_equal(value_of("SLURM_NCCL_TUNE_CALIBRATE"), "(unset)");
		assert_string_equal(applied.calibrate, profiles ? REQUEST("50") : "");
	}
}

UNIT_TESTS_ALL(make_top, remove_top, answers_are_taken_or_refused,
	       a_signal_to_the_step_ends_the_task, what_cannot_start_is_none,
	       all_ends_within_the_bound, a_measured_profile_is_set,
	       the_request_does_not_reach_tasks);
