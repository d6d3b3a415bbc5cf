/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A function in a process of its own. */
#include "spank/deputy.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAP_MS 200 /* between the KILL and giving up on a process that nothing can kill */
#define MEMORY_BYTES (512ul * 1024 * 1024)
#define CPU_S 5

int64_t nt_deputy_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Milliseconds until the next thing to do. */
static int wait_ms(const struct nt_deputy *deputy, bool reminded)
{
	int64_t until_ms = deputy->deadline_ms;
	int64_t left_ms;

	if (!reminded && deputy->remind_ms > 0 && deputy->remind_ms < until_ms)
		until_ms = deputy->remind_ms;
	left_ms = until_ms - nt_deputy_clock_ms();
	return left_ms > 0 ? (int)left_ms : 0;
}

static void shorten(struct nt_deputy *deputy)
{
	int64_t until_ms = nt_deputy_clock_ms() + NT_DEPUTY_STOP_MS;

	deputy->stop_fd = -1;
	if (until_ms < deputy->deadline_ms)
		deputy->deadline_ms = until_ms;
}

/* 1: more to read; 0: the end; -1: too late, stopped, or too much. */
static int read_some(int fd, char *out, size_t out_bytes, size_t *used)
{
	ssize_t n = read(fd, out + *used, out_bytes - *used);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -1;
	*used += (size_t)n;
	return n > 0 && *used == out_bytes ? -1 : n > 0;
}

static int take(struct nt_deputy deputy, int fd, char *out, size_t out_bytes, struct nt_error *err)
{
	bool reminded = false;
	size_t used = 0;
	int more = 1;

	while (more > 0) {
		struct pollfd polls[] = {
			{ .fd = fd, .events = POLLIN },
			{ .fd = deputy.stop_fd, .events = POLLIN },
		};
		int ready = poll(polls, 2, wait_ms(&deputy, reminded));

		if (!reminded && deputy.remind_ms > 0 && nt_deputy_clock_ms() >= deputy.remind_ms) {
			reminded = true;
			deputy.remind(deputy.argument);
		}
		if (ready > 0 && polls[1].revents)
			shorten(&deputy);
		if (ready > 0 && polls[0].revents)
			more = read_some(fd, out, out_bytes, &used);
		else if (nt_deputy_clock_ms() >= deputy.deadline_ms)
			return nt_error_set(err, "it took too long");
	}
	if (more < 0)
		return nt_error_set(err, "it wrote too much, or could not be read");
	out[used] = '\0';
	return (int)used;
}

static void reap(pid_t pid)
{
	int64_t deadline_ms = nt_deputy_clock_ms() + REAP_MS;
	const struct timespec pause = { 0, 1000000 };

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) == 0 && nt_deputy_clock_ms() < deadline_ms)
		nanosleep(&pause, NULL);
}

int nt_deputy_run(const struct nt_deputy *deputy, char *out, size_t out_bytes, struct nt_error *err)
{
	int ends[2];
	pid_t pid;
	int rc;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return nt_error_set(err, "pipe: %m");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		deputy->run(deputy->argument, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (pid < 0)
		rc = nt_error_set(err, "fork: %m");
	else
		rc = take(*deputy, ends[0], out, out_bytes, err);
	close(ends[0]);
	if (pid > 0)
		reap(pid);
	return rc;
}

static int limit(int resource, rlim_t value)
{
	const struct rlimit both = { value, value };

	return setrlimit(resource, &both);
}

int nt_deputy_drop(uint32_t uid, uint32_t gid, struct nt_error *err)
{
	if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
			       setresuid(uid, uid, uid) < 0))
		return nt_error_set(err, "cannot become user %u: %m", uid);
	if (getuid() != uid || geteuid() != uid || (uid != 0 && setuid(0) == 0))
		return nt_error_set(err, "did not become user %u", uid);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return nt_error_set(err, "prctl: %m");
#ifndef __SANITIZE_ADDRESS__ /* whose shadow needs all the addresses there are */
	if (limit(RLIMIT_AS, MEMORY_BYTES) < 0)
		return nt_error_set(err, "setrlimit: %m");
#endif
	if (limit(RLIMIT_CPU, CPU_S) < 0 || limit(RLIMIT_CORE, 0) < 0 ||
	    limit(RLIMIT_FSIZE, 0) < 0 || limit(RLIMIT_NOFILE, 16) < 0)
		return nt_error_set(err, "setrlimit: %m");
	return 0;
}
