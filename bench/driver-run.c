/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/driver-run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/options.h"
#include "contract/coll.h"
#include "lib/append.h"
#include "lib/argv.h"
#include "lib/clock.h"
#include "launch/user-env.h"

#define CHANNEL_FD 3
#define ENDING_MS 5 /* between looks at one that is about to end */
#define GIVEN_UP_MS 1000 /* from SIGKILL until a process is given up */

extern char **environ;

static const char *const ends[] = { "well", "stopped", "late", "failed", "wrong" };

const char *nt_run_end_name(enum nt_run_end end)
{
	return ends[end];
}

int nt_run_end_parse(const char *name)
{
	for (int i = 0; i < (int)(sizeof(ends) / sizeof(ends[0])); i++)
		if (strcmp(name, ends[i]) == 0)
			return i;
	return -1;
}

/* ---- in a process-to-be */

static bool is_ours(const char *variable)
{
	/* Files that NCCL writes would be written by each process. */
	static const char *const names[] = {
		NT_ENV_NCCL_TUNER "=", NT_ENV_NCCL_PROFILER "=",
		"NCCL_TUNE_",	       NT_ENV_SRUN,
		"NCCL_DEBUG=",	       "NCCL_DEBUG_FILE=",
		NT_ENV_GRAPH_FILE "=", NT_ENV_SYSTEM_FILE "=",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* Without ours, and with the user's own tuner back. */
static void clean_environment(void)
{
	const char *tuner = getenv(NT_ENV_CHAINED_TUNER);
	char **to = environ;

	for (char **at = environ; *at; at++)
		if (!is_ours(*at))
			*to++ = *at;
	*to = NULL;
	if (tuner)
		setenv(NT_ENV_NCCL_TUNER, tuner, 1);
}

/* Those of the profile that the step was given, so that "default" is NCCL's own. */
static void unset_launched(void)
{
	const char *launched = getenv(NT_ENV_LAUNCH);

	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		const char *name = nt_variable_get(i)->name, *value = getenv(name);

		if (value && nt_variable_launched(launched, name, value))
			unsetenv(name);
	}
}

static void set_settings(const struct nt_settings *settings)
{
	for (unsigned i = 0; i < NT_VARIABLE_COUNT; i++) {
		char value[24];

		snprintf(value, sizeof(value), "%" PRId64, settings->value[i]);
		if (settings->set[i])
			setenv(nt_variable_get(i)->name, value, 1);
	}
}

static void add_words(struct nt_argv *words, const struct nt_driver *driver,
		      const struct nt_lap *lap, unsigned i)
{
	const struct nt_cal_request *request = &driver->request;
	char calls[64 * NT_CAL_CALLS] = "";

	for (unsigned c = 0; c < request->calls; c++)
		nt_append(calls, sizeof(calls), "%s%s:%" PRIu64, c > 0 ? "," : "",
			  nt_coll_name(request->call[c].coll), request->call[c].bytes);
	nt_argv_add(words, NT_BINDIR "/nccl-tune-bench");
	nt_argv_add(words, "--channel=%d", CHANNEL_FD);
	nt_argv_add(words, "--calls=%s", calls);
	if (request->split[0])
		nt_argv_add(words, "--split=%s", request->split);
	if (request->library[0])
		nt_argv_add(words, "--nccl=%s", request->library);
	nt_argv_add(words, "--rank=%u", driver->task * lap->procs + i);
	nt_argv_add(words, "--ranks=%u", driver->tasks * lap->procs);
	nt_argv_add(words, "--local-rank=%u", driver->local * lap->procs + i);
	nt_argv_add(words, "--even=16M"); /* large calls are rarer, so that all fit */
	nt_argv_add(words, "--seconds=%u", lap->seconds);
	nt_argv_add(words, "--last-seconds=1");
	nt_argv_add(words, "--iters=20000");
	nt_argv_add(words, "--warmup=1");
	nt_argv_add(words, "--no-gpu-times");
	nt_argv_add(words, "--check=light");
	nt_argv_add(words, "--stall=20");
}

/* Ends with the driver. */
static void become(const struct nt_driver *driver, const struct nt_lap *lap, unsigned i,
		   int channel, int output)
{
	const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct nt_argv words = { .count = 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	unset_launched();
	clean_environment();
	set_settings(&nt_driver_profile(driver, lap->profile)->settings);
	add_words(&words, driver, lap, i);
	/* Neither of them is below CHANNEL_FD: the driver has these open. */
	if (words.failed || null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(output, 1) < 0 ||
	    dup2(output, 2) < 0 || (channel != CHANNEL_FD && dup2(channel, CHANNEL_FD) < 0) ||
	    fcntl(CHANNEL_FD, F_SETFD, 0) < 0)
		_exit(126);
	execv(words.word[0], words.word);
	dprintf(2, "%s: %s\n", words.word[0], strerror(errno));
	_exit(127);
}

/* ---- processes */

static void note_end(struct nt_run *run, enum nt_run_end end, const char *why)
{
	if (end < run->end || (end == run->end && run->why[0]))
		return;
	run->end = end;
	snprintf(run->why, sizeof(run->why), "%.*s", NT_CAL_WHY - 1, why);
}

void nt_run_stop(struct nt_run *run)
{
	if (run->killed_ms == 0)
		run->killed_ms = nt_clock_ms();
	note_end(run, NT_RUN_STOPPED, "");
	for (unsigned i = 0; i < run->procs; i++)
		if (run->process[i].pid > 0)
			kill(run->process[i].pid, SIGKILL);
}

static int start_one(struct nt_run *run, const struct nt_driver *driver, const struct nt_lap *lap,
		     unsigned i)
{
	struct nt_run_process *process = &run->process[i];
	int channel[2], output[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) < 0)
		return -1;
	if (pipe2(output, O_CLOEXEC) < 0) {
		close(channel[0]);
		close(channel[1]);
		return -1;
	}
	process->pid = fork();
	if (process->pid == 0)
		become(driver, lap, i, channel[1], output[1]);
	close(channel[1]);
	close(output[1]);
	nt_link_init(&process->channel, channel[0]);
	process->output = output[0];
	(void)fcntl(process->output, F_SETFL, O_NONBLOCK);
	if (process->pid > 0)
		return 0;
	process->pid = 0;
	return -1;
}

void nt_run_start(struct nt_run *run, const struct nt_driver *driver, const struct nt_lap *lap)
{
	*run = (struct nt_run){ .deadline_ms = nt_clock_ms() + lap->limit_ms };
	run->process = calloc(lap->procs, sizeof(run->process[0]));
	if (!run->process) {
		note_end(run, NT_RUN_FAILED, "no memory");
		return;
	}
	for (run->procs = 0; run->procs < lap->procs; run->procs++) {
		nt_link_init(&run->process[run->procs].channel, -1);
		run->process[run->procs].output = -1;
		if (start_one(run, driver, lap, run->procs) < 0) {
			note_end(run, NT_RUN_FAILED, strerror(errno));
			nt_run_stop(run);
			return;
		}
	}
}

unsigned nt_run_polls(const struct nt_run *run, struct pollfd *polls)
{
	for (unsigned i = 0; i < run->procs; i++) {
		polls[2 * i] = nt_link_poll(&run->process[i].channel);
		polls[2 * i + 1] = (struct pollfd){ run->process[i].output, POLLIN, 0 };
	}
	return 2 * run->procs;
}

static void judge(struct nt_run *run, const struct nt_run_process *process, int status)
{
	const bool wrong = WIFEXITED(status) && WEXITSTATUS(status) == NT_BENCH_WRONG;
	char why[NT_CAL_WHY];

	if (run->killed_ms != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "signal %d", WTERMSIG(status));
	else if (wrong && !strstr(process->last, "wrong result"))
		why[0] = '\0'; /* another process says what is wrong */
	else
		snprintf(why, sizeof(why), "%s", process->last);
	note_end(run, wrong ? NT_RUN_WRONG : NT_RUN_FAILED, why);
	/* The others see wrong results by themselves, and end. */
	if (run->end != NT_RUN_WRONG)
		nt_run_stop(run);
}

static void close_output(struct nt_run_process *process)
{
	if (process->output >= 0)
		close(process->output);
	process->output = -1;
}

/* Keeps the last line, or the start of it. */
static void read_output(struct nt_run_process *process)
{
	char data[4096];
	ssize_t got;

	while (process->output >= 0 && (got = read(process->output, data, sizeof(data))) != 0) {
		if (got < 0 && errno != EINTR)
			return;
		for (ssize_t i = 0; i < got; i++) {
			const bool over = process->line_over;

			process->line_over = data[i] == '\n';
			if (process->line_over)
				continue;
			if (over)
				process->bytes = 0;
			if (process->bytes < sizeof(process->last) - 1)
				process->last[process->bytes++] = data[i] >= ' ' && data[i] <= '~'
									  ? data[i]
									  : '?';
			process->last[process->bytes] = '\0';
		}
	}
	close_output(process);
}

void nt_run_attend(struct nt_run *run, const struct pollfd *polls)
{
	const int64_t now_ms = nt_clock_ms();

	for (unsigned i = 0; i < run->procs; i++) {
		struct nt_run_process *process = &run->process[i];
		int status = 0;

		nt_link_attend(&process->channel, polls[2 * i].revents);
		if (polls[2 * i + 1].revents)
			read_output(process);
		if (process->pid > 0 && process->channel.fd < 0 &&
		    waitpid(process->pid, &status, WNOHANG) == process->pid) {
			process->pid = 0;
			read_output(process);
			judge(run, process, status);
		}
		if (process->pid > 0 && run->killed_ms != 0 &&
		    now_ms >= run->killed_ms + GIVEN_UP_MS) {
			process->pid = 0;
			note_end(run, NT_RUN_FAILED, "a process cannot be killed");
		}
	}
	if (!nt_run_over(run) && run->killed_ms == 0 && now_ms >= run->deadline_ms) {
		note_end(run, NT_RUN_LATE, "it exceeded its share of the time");
		nt_run_stop(run);
	}
}

void nt_run_id(struct nt_run *run, const char *line, bool all)
{
	for (unsigned i = all ? 0 : 1; i < run->procs; i++)
		nt_link_say(&run->process[i].channel, "%s", line);
}

int nt_run_wait_ms(const struct nt_run *run)
{
	const int64_t left_ms = run->deadline_ms - nt_clock_ms();

	for (unsigned i = 0; i < run->procs; i++)
		if (run->process[i].pid > 0 &&
		    (run->killed_ms != 0 || run->process[i].channel.fd < 0))
			return ENDING_MS;
	return left_ms > 0 ? (int)left_ms : 0;
}

bool nt_run_over(const struct nt_run *run)
{
	for (unsigned i = 0; i < run->procs; i++)
		if (run->process[i].pid > 0)
			return false;
	return true;
}

void nt_run_free(struct nt_run *run)
{
	for (unsigned i = 0; i < run->procs; i++) {
		nt_link_close(&run->process[i].channel);
		close_output(&run->process[i]);
	}
	free(run->process);
	*run = (struct nt_run){ .procs = 0 };
}
