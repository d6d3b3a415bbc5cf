/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/calibrate-task.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/list.h"
#include "lib/printable.h"
#include "launch/measure/request.h"
#include "spank/step/spawn.h"

#define ANSWER_MAX 4096
#define REAP_MS 500 /* for SIGKILL */

/* ---- the driver */

/* Ends with the task. stderr is the task's. */
static void become(char *const argv[], char *const environment[], int out_fd, int shm_fd)
{
	const int null_fd = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0)
		_exit(126);
	/* Without it the driver has no descriptor of this number. */
	if (shm_fd == NT_CALIBRATE_FD)
		(void)fcntl(shm_fd, F_SETFD, 0);
	else if (dup2(shm_fd, NT_CALIBRATE_FD) < 0)
		close(NT_CALIBRATE_FD);
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, NT_CALIBRATE_FD + 1, ~0u, 0);
#endif
	nt_spawn_reset_signals();
	execve(argv[0], argv, environment);
	_exit(127);
}

/* The task's environment with the request, which is no longer in it. */
static char **with_request(char *const environment[], char *request)
{
	size_t count = 0;
	char **all;

	while (environment[count])
		count++;
	all = calloc(count + 2, sizeof(*all));
	if (all) {
		memcpy(all, environment, count * sizeof(*all));
		all[count] = request;
	}
	return all;
}

/* Its process; -1 and *err. */
static pid_t start(const char *program, const char *request, int shm_fd, char *const environment[],
		   int *answer_fd, struct nt_error *err)
{
	char variable[sizeof(NT_ENV_CALIBRATE) + NT_CAL_REQUEST_MAX];
	char path[NT_PATH_MAX];
	char *argv[] = { path, NULL }, **all;
	int ends[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s", program);
	snprintf(variable, sizeof(variable), NT_ENV_CALIBRATE "=%s", request);
	all = with_request(environment, variable);
	if (!all || pipe2(ends, O_CLOEXEC) < 0) {
		free(all);
		return nt_error_set(err, "cannot start %s: %m", path);
	}
	pid = fork();
	if (pid == 0)
		become(argv, all, ends[1], shm_fd);
	free(all);
	close(ends[1]);
	*answer_fd = ends[0];
	if (pid > 0) {
		setpgid(pid, pid);
		return pid;
	}
	close(ends[0]);
	return nt_error_set(err, "cannot start %s: %m", path);
}

/* All of it, with what it has started. Returns the signal that it was ended by; 0: none. */
static int finish(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	const int64_t until_ms = nt_clock_ms() + REAP_MS;
	int status = 0;

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, WNOHANG) == 0 && nt_clock_ms() < until_ms)
		nanosleep(&pause, NULL);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A signal to the step, as by scancel, Ctrl-C or a time limit, ends the driver. slurmstepd blocks
 * it here: the task ends by it as the program would that it comes before. */
static void end_with(int number)
{
	static const int sent[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU };
	sigset_t one;

	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		if (sent[i] != number)
			continue;
		sigemptyset(&one);
		sigaddset(&one, number);
		(void)signal(number, SIG_DFL);
		(void)raise(number);
		(void)sigprocmask(SIG_UNBLOCK, &one, NULL);
	}
}

/* ---- its answer */

/* Until its end; -1: it is longer, or not over in time. What came is in the answer. */
static int read_answer(int fd, char answer[ANSWER_MAX], int64_t until_ms)
{
	size_t used = 0;

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		const int64_t left_ms = until_ms - nt_clock_ms();
		ssize_t got;

		answer[used] = '\0';
		if (left_ms <= 0 || used == ANSWER_MAX - 1)
			return -1;
		if (poll(&ready, 1, (int)left_ms) <= 0)
			continue;
		got = read(fd, answer + used, ANSWER_MAX - 1 - used);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			return -1;
		used += got > 0 ? (size_t)got : 0;
	}
}

/* The last whole line, and whether "doubt" is among them. */
static char *last_line(char *answer, bool *doubt)
{
	char *last = NULL, *line, *end;

	for (line = answer; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		last = line;
		*doubt = *doubt || strcmp(line, "doubt") == 0;
	}
	return last;
}

static enum nt_calibrate_answer judge(char *answer, bool whole, struct nt_cal_profile *profile,
				      struct nt_error *err)
{
	bool doubt = false;
	char *line = last_line(answer, &doubt);

	(void)nt_printable(line ? line : answer);
	if (line && (strcmp(line, "default") == 0 || strncmp(line, "use ", 4) == 0) &&
	    nt_cal_profile_parse(profile, line[0] == 'u' ? line + 4 : line) == 0)
		return NT_CALIBRATED_PROFILE;
	if (line && strncmp(line, "none ", 5) == 0) {
		nt_error_set(err, "%.200s", line + 5);
		return NT_CALIBRATED_NONE;
	}
	if (line && strncmp(line, "exit ", 5) == 0)
		nt_error_set(err, "%.200s", line + 5);
	else
		nt_error_set(err, "%s %s", NT_CALIBRATE_PROGRAM,
			     whole ? "has ended without an answer" : "did not end in time");
	return doubt ? NT_CALIBRATED_DOUBT : NT_CALIBRATED_NONE;
}

enum nt_calibrate_answer nt_calibrate_task(const char *program, const char *request, int shm_fd,
					   char *const environment[],
					   struct nt_cal_profile *profile, struct nt_error *err)
{
	const int64_t start_ms = nt_clock_ms();
	struct nt_cal_request parsed;
	char answer[ANSWER_MAX];
	pid_t pid;
	bool whole;
	int fd = -1, number;

	if (nt_cal_request_parse(&parsed, request, err) < 0)
		return NT_CALIBRATED_NONE;
	pid = start(program, request, shm_fd, environment, &fd, err);
	if (pid < 0)
		return NT_CALIBRATED_NONE;
	whole = read_answer(fd, answer,
			    start_ms + ((int64_t)parsed.seconds + NT_CALIBRATE_MORE_S) * 1000) == 0;
	close(fd);
	number = finish(pid);
	if (whole && !strchr(answer, '\n'))
		end_with(number);
	return judge(answer, whole, profile, err);
}
