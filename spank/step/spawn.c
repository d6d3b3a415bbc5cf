/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Start a helper that is not a child of the daemon. */
#include "spank/step/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spank/step/cgroup.h"

struct start {
	const char *program;
	const char *argv[4], *environment[4]; /* NULL-terminated */
	int fd, null_fd;
	struct nt_cgroups cgroups; /* to leave */
};

/* The intermediate process's exit status. */
enum { STARTED, NOT_FORKED, NOT_OUT };

void nt_spawn_reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the helper-to-be. The two descriptors are moved first, so that none is overwritten. */
static void become(const struct start *start)
{
	int fd = fcntl(start->fd, F_DUPFD_CLOEXEC, 16);
	int null_fd = fcntl(start->null_fd, F_DUPFD_CLOEXEC, 16);

	if (fd < 0 || null_fd < 0 || dup2(fd, NT_SPAWN_FD) < 0)
		_exit(127);
	for (int i = 0; i < NT_SPAWN_FD; i++) {
		if (dup2(null_fd, i) < 0)
			_exit(127);
	}
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, NT_SPAWN_FD + 1, ~0u, 0);
#endif
	nt_spawn_reset_signals();
	umask(077);
	if (chdir("/") == 0)
		execve(start->program, (char *const *)start->argv,
		       (char *const *)start->environment);
	_exit(127);
}

/* In the intermediate process. The pipe is at its end once this has ended and the helper has closed
 * its copy. */
static void pass_on(const struct start *start, int end)
{
	pid_t child;

	setsid();
	if (nt_cgroup_leave(&start->cgroups, 0) < 0)
		_exit(NOT_OUT);
	child = fork();
	if (child == 0) {
		close(end);
		become(start);
	}
	_exit(child < 0 ? NOT_FORKED : STARTED);
}

/* true: it has ended in time. Otherwise it is killed, and slurmstepd reaps it. */
static bool await(pid_t child, int end, int *status)
{
	struct pollfd polls = { .fd = end };
	pid_t waited;
	int ready;

	do {
		ready = poll(&polls, 1, NT_SPAWN_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		kill(child, SIGKILL);
	do {
		waited = waitpid(child, status, ready > 0 ? 0 : WNOHANG);
	} while (waited < 0 && errno == EINTR);
	return ready > 0;
}

static int fork_twice(const struct start *start, struct nt_error *err)
{
	int ends[2];
	int status = 0;
	bool ended;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return nt_error_set(err, "pipe: %m");
	child = fork();
	if (child == 0)
		pass_on(start, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return nt_error_set(err, "cannot start %.150s: %m", start->program);
	}
	ended = await(child, ends[0], &status);
	close(ends[0]);
	if (!ended)
		return nt_error_set(err, "%.120s did not start in time", start->program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_OUT)
		return nt_error_set(err, "%.100s cannot be kept out of the job's cgroups",
				    start->program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FORKED)
		return nt_error_set(err, "%.120s: cannot fork", start->program);
	return 0;
}

int nt_spawn_program(const char *program, const char *word, const char *argument, const char *conf,
		     int fd, struct nt_error *err)
{
	char conf_variable[4096];
	struct start start = {
		.program = program,
		.argv = { program, word, argument },
		.environment = { "PATH=/usr/bin:/bin", "LC_ALL=C" },
	};
	int rc;

	if (access(program, X_OK) < 0)
		return nt_error_set(err, "cannot start %.150s: %m", program);
	if (conf) {
		snprintf(conf_variable, sizeof(conf_variable), "SLURM_CONF=%s", conf);
		start.environment[2] = conf_variable;
	}
	if (nt_cgroup_find("/proc/self", "/proc/self/mountinfo", &start.cgroups, err) < 0)
		return -1;
	start.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (start.null_fd < 0)
		return nt_error_set(err, "/dev/null: %m");
	start.fd = fd >= 0 ? fd : start.null_fd;
	rc = fork_twice(&start, err);
	close(start.null_fd);
	return rc;
}
