/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes with a deadline, and sacct's answer from one. */
#include "lib/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#include "lib/clock.h"
#include "report/model/accounting.h"
#include "tests/unit/fake-sacct.h"

static int run_shell(struct nt_child *child, const char *script, size_t max_bytes, int timeout_ms,
		     struct nt_error *err)
{
	char *argv[] = { "sh", "-c", (char *)(uintptr_t)script, NULL };
	int rc = nt_child_run(child, argv, max_bytes, timeout_ms, err);

	/* Whatever the result, no process is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return rc;
}

static void hands_back_output_and_status(void **state)
{
	struct nt_child child;
	struct nt_error err;

	assert_int_equal(
		run_shell(&child,
			  "printf 'a\\nb'; echo first >&2; printf 'last\\033 \\n\\n' >&2; exit 3",
			  100, 5000, &err),
		0);
	assert_int_equal(child.status, 3);
	assert_int_equal(child.out_bytes, 3);
	assert_string_equal(child.out, "a\nb");
	assert_string_equal(child.complaint, "last?");
	nt_child_fini(&child);
	assert_int_equal(run_shell(&child, "kill -9 $$", 100, 5000, &err), 0);
	assert_int_equal(child.status, 128 + SIGKILL);
	assert_string_equal(child.out, "");
	nt_child_fini(&child);
}

static void bounds_time_and_output(void **state)
{
	struct nt_child child;
	struct nt_error err;

	assert_int_equal(run_shell(&child, "exec sleep 60", 100, 100, &err), -1);
	assert_string_equal(err.text, "timed out");
	nt_child_fini(&child);
	/* It has closed its output, but does not end. */
	assert_int_equal(run_shell(&child, "exec sleep 60 >&- 2>&-", 100, 100, &err), -1);
	assert_string_equal(err.text, "timed out");
	nt_child_fini(&child);
	assert_int_equal(run_shell(&child, "exec cat /dev/zero", 100000, 5000, &err), -1);
	assert_string_equal(err.text, "it wrote more than 100000 bytes");
	nt_child_fini(&child);
	assert_int_equal(
		run_shell(&child, "head -c 1000000 /dev/zero >&2; echo out", 100, 5000, &err), 0);
	assert_string_equal(child.out, "out\n");
	nt_child_fini(&child);
}

static void says_what_it_cannot_start(void **state)
{
	char *argv[] = { "no-such-program-of-nccl-tune", NULL };
	struct nt_child child;
	struct nt_error err;

	assert_int_equal(nt_child_run(&child, argv, 100, 1000, &err), -1);
	assert_string_equal(err.text, "cannot start it: No such file or directory");
	nt_child_fini(&child);
}

static int hang(void *argument, int out_fd)
{
	(void)argument;
	(void)out_fd;
	for (;;)
		pause();
	return 0;
}

static int speak_late(void *argument, int out_fd)
{
	const struct timespec pause_ns = { .tv_nsec = 200000000 };

	(void)argument;
	nanosleep(&pause_ns, NULL);
	return write(out_fd, "late", 4) != 4;
}

static void reads_the_answer_of_sacct(void **state)
{
	const uint32_t job = 12;
	struct nt_jobtexts texts = { .count = 0 };
	struct nt_error err;

	fake_sacct(
		*state,
		"for word; do case $word in --delimiter=*) d=${word#*=};; esac; last=$word; done\n"
		"row() { printf %b \"$1\"; shift; printf \"$d%b\" \"$@\"; echo; }\n"
		"row 12_1 13 ann a RUNNING 1 '' nt gpu 0 Unknown Unknown\n"
		"row 12_2 14 bob b COMPLETED 1 'a\\nb\\037c' nt gpu 29 0 1767323045\n"
		"row 12_3 12 '' '' COMPLETED 1 \"$last\" nt '' 7 0 1767323045");
	if (nt_accounting_load_jobs(&texts, &job, 1, "here", 60000, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(texts.count, 3);
	assert_string_equal(texts.items[0].label, "12_1");
	assert_int_equal(texts.items[0].job, 13);
	assert_false(texts.items[0].ended);
	assert_string_equal(texts.items[0].comment, "");
	assert_string_equal(texts.items[0].user, "ann");
	assert_int_equal(texts.items[0].end_s, 0);
	assert_true(texts.items[1].ended);
	assert_string_equal(texts.items[1].user, "bob");
	assert_int_equal(texts.items[1].end_s, 1767323045);
	assert_string_equal(texts.items[1].comment, "a\nb\037c");
	assert_string_equal(texts.items[1].cluster, "nt");
	assert_string_equal(texts.items[1].partition, "gpu");
	assert_int_equal(texts.items[1].elapsed_s, 29);
	assert_string_equal(texts.items[2].comment, "--clusters=here");
	nt_jobtexts_fini(&texts);
}

static void says_why_sacct_gave_none(void **state)
{
	static const struct nt_jobid id = { .job = 12, .task = 3, .component = -1 };
	static const struct {
		const char *script, *error;
	} cases[] = {
		{ "echo 'sacct: error: no way' >&2; exit 1", "sacct: error: no way" },
		{ "exit 1", "sacct: failed without a message" },
		{ "echo nonsense", "sacct: cannot parse its output: it ends within a row" },
	};
	struct nt_jobtexts texts = { .count = 0 };
	struct nt_error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_sacct(*state, cases[i].script);
		assert_int_equal(nt_accounting_load(&texts, &id, &err), -1);
		assert_string_equal(err.text, cases[i].error);
	}
	fake_sacct(*state, "exit 0");
	assert_int_equal(nt_accounting_load(&texts, &id, &err), 0);
	assert_int_equal(texts.count, 0);
	nt_jobtexts_fini(&texts);
}

/* Whatever keeps it alive. */
static void starts_no_other_beside_a_stuck_one(void **state)
{
	struct nt_child_bounds bounds = { .max_bytes = 10 };
	struct nt_child_running running = { .pid = 0 };
	struct nt_child child;
	struct nt_error err;

	running.stuck_pid = fork();
	if (running.stuck_pid == 0)
		hang(NULL, 0);
	assert_int_equal(nt_child_start(&running, speak_late, NULL, &err), -1);
	assert_non_null(strstr(err.text, "cannot kill its process"));
	assert_int_equal(running.pid, 0);
	assert_int_equal(nt_child_start(&running, speak_late, NULL, &err), -1);
	assert_int_equal(kill(running.stuck_pid, SIGKILL), 0);
	while (nt_child_start(&running, speak_late, NULL, &err) < 0)
		;
	assert_int_equal(running.stuck_pid, 0);
	bounds.deadline_ms = nt_clock_ms() + 60000;
	assert_int_equal(nt_child_end(&child, &running, &bounds, &err), 0);
	assert_string_equal(child.out, "late");
	nt_child_fini(&child);
}

static int list_descriptors(void *argument, int out_fd)
{
	int keep = *(const int *)argument;
	int count = 0;

	if (keep)
		nt_child_close_others(out_fd, -1);
	for (int fd = 3; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return write(out_fd, "x", 1) == 1 ? count : 120;
}

/* For example another child's pipes. */
static void keeps_no_descriptor_of_others(void **state)
{
	struct nt_child_bounds bounds = { .max_bytes = 10 };
	struct nt_child_running other = { .pid = 0 };
	struct nt_child child;
	struct nt_error err;
	int keep = 0;

	bounds.deadline_ms = nt_clock_ms() + 60000;
	assert_int_equal(nt_child_start(&other, speak_late, NULL, &err), 0);
	assert_int_equal(nt_child_call(&child, list_descriptors, &keep, &bounds, &err), 0);
	assert_true(child.status > 1);
	nt_child_fini(&child);
	keep = 1;
	assert_int_equal(nt_child_call(&child, list_descriptors, &keep, &bounds, &err), 0);
	assert_int_equal(child.status, 1);
	nt_child_fini(&child);
	assert_int_equal(nt_child_end(&child, &other, &bounds, &err), 0);
	nt_child_fini(&child);
}

UNIT_TESTS_EACH(make_sacct_directory, remove_sacct_directory, hands_back_output_and_status,
		bounds_time_and_output, says_what_it_cannot_start,
		starts_no_other_beside_a_stuck_one, keeps_no_descriptor_of_others,
		reads_the_answer_of_sacct, says_why_sacct_gave_none);
