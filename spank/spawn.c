/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Start a helper that is nobody's child. */
#include "spank/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "contract/names.h"

struct start {
	const char *program;
	char *const *argv;
	char *environment[4];
	int fd, null_fd;
};

static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the helper, before it is one. The two descriptors first go where they are not overwritten. */
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
	reset_signals();
	umask(077);
	if (chdir("/") == 0)
		execve(start->program, start->argv, start->environment);
	_exit(127);
}

static int fork_twice(const struct start *start, struct nt_error *err)
{
	pid_t child = fork();
	pid_t waited;

	if (child < 0)
		return nt_error_set(err, "cannot start %.150s: %m", start->program);
	if (child == 0) {
		setsid();
		child = fork();
		if (child == 0)
			become(start);
		_exit(child < 0 ? 1 : 0);
	}
	do {
		waited = waitpid(child, NULL, 0);
	} while (waited < 0 && errno == EINTR);
	return 0;
}

int nt_spawn(const char *program, char *const argv[], const char *conf, int fd,
	     struct nt_error *err)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static char locale[] = "LC_ALL=C";
	char conf_variable[4096];
	struct start start = { program, argv, { path, locale, NULL, NULL }, fd, -1 };
	int rc;

	if (access(program, X_OK) < 0)
		return nt_error_set(err, "cannot start %.150s: %m", program);
	if (conf) {
		snprintf(conf_variable, sizeof(conf_variable), "SLURM_CONF=%s", conf);
		start.environment[2] = conf_variable;
	}
	start.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (start.null_fd < 0)
		return nt_error_set(err, "/dev/null: %m");
	rc = fork_twice(&start, err);
	close(start.null_fd);
	return rc;
}
