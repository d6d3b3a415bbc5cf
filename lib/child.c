/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/printable.h"

#define REAP_MS 500 /* from SIGKILL until the process is given up */
#define PAUSE_MS 2 /* between checks of a process that has closed its output */
#define TAKE_REFUSED (-2) /* read() returns no such value */
#define TAKEN_BYTES 65536 /* at a time; the size of a pipe */
#define COMPLAINT_MAX_BYTES 65536 /* of stderr, kept to find its last line */

extern char **environ;

struct stream {
	int fd; /* our end; -1 at the end of the stream */
	char *data;
	size_t bytes, size, max_bytes;
	bool drop_rest; /* past max_bytes: discard instead of failing */
	const struct nt_child_bounds
		*taker; /* its take_output() gets the data; NULL: it is kept here */
};

static ssize_t hand_on_output(const struct stream *stream, struct nt_error *err)
{
	char data[TAKEN_BYTES];
	ssize_t got = read(stream->fd, data, sizeof(data));

	if (got > 0 && stream->taker->take(stream->taker->argument, data, (size_t)got, err) < 0)
		return TAKE_REFUSED;
	return got;
}

static int take_output(struct stream *stream, struct nt_error *err)
{
	char spare[4096];
	ssize_t got;

	if (stream->taker) {
		got = hand_on_output(stream, err);
	} else if (stream->drop_rest && stream->bytes >= stream->max_bytes) {
		got = read(stream->fd, spare, sizeof(spare));
	} else {
		if (!nt_array_reserve(&stream->data, &stream->size, stream->bytes + 2))
			return nt_error_set(err, "no memory for its output");
		got = read(stream->fd, stream->data + stream->bytes,
			   stream->size - stream->bytes - 1);
		if (got > 0)
			stream->bytes += (size_t)got;
	}
	if (got == TAKE_REFUSED)
		return -1;
	if (got < 0)
		return errno == EINTR ? 0 : nt_error_set(err, "cannot read its output: %m");
	if (got == 0) {
		close(stream->fd);
		stream->fd = -1;
	}
	if (stream->bytes > stream->max_bytes && !stream->drop_rest)
		return nt_error_set(err, "it wrote more than %zu bytes", stream->max_bytes);
	return 0;
}

/* Milliseconds until the deadline. */
static int wait_ms(int64_t until_ms, bool closed)
{
	const int64_t left_ms = until_ms - nt_clock_ms();

	if (closed && left_ms > PAUSE_MS)
		return PAUSE_MS;
	return left_ms > 0 ? (int)left_ms : 0;
}

/* If SIGCHLD is ignored there is no status. */
static bool is_over(pid_t pid, int *status)
{
	pid_t waited = waitpid(pid, status, WNOHANG);

	return waited == pid || (waited < 0 && errno == ECHILD);
}

/* Until the output has ended and the child has exited. */
static int collect_output(struct stream *streams, pid_t pid, int64_t until_ms, int *status,
			  struct nt_error *err)
{
	for (;;) {
		struct pollfd polls[2] = {
			{ .fd = streams[0].fd, .events = POLLIN },
			{ .fd = streams[1].fd, .events = POLLIN },
		};
		bool closed = streams[0].fd < 0 && streams[1].fd < 0;

		if (closed && is_over(pid, status))
			return 0;
		if (poll(polls, 2, wait_ms(until_ms, closed)) < 0 && errno != EINTR)
			return nt_error_set(err, "cannot wait for its output: %m");
		for (int i = 0; i < 2; i++) {
			if (streams[i].fd >= 0 && polls[i].revents != 0 &&
			    take_output(&streams[i], err) < 0)
				return -1;
		}
		if (nt_clock_ms() >= until_ms)
			return nt_error_set(err, "timed out");
	}
}

/* false: it is still alive. */
static bool kill_it(pid_t pid, int *status)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	int64_t deadline_ms = nt_clock_ms() + REAP_MS;
	bool over;

	kill(pid, SIGKILL);
	while (!(over = is_over(pid, status)) && nt_clock_ms() < deadline_ms)
		nanosleep(&pause, NULL);
	return over;
}

static void last_line(char *out, size_t out_bytes, const char *text, size_t bytes)
{
	const char *start;

	while (bytes > 0 && (text[bytes - 1] == '\n' || text[bytes - 1] == ' '))
		bytes--;
	start = bytes > 0 ? memrchr(text, '\n', bytes) : NULL;
	start = start ? start + 1 : text;
	if (bytes > 0)
		nt_printable_copy(out, out_bytes, start, bytes - (size_t)(start - text));
}

/* Closes the reading ends of both pipes. */
static int attend_child(struct nt_child *child, struct nt_child_running *running,
			const struct nt_child_bounds *bounds, struct nt_error *err)
{
	const int *fds = running->fds;
	const pid_t pid = running->pid;
	struct stream streams[2] = {
		{ .fd = fds[0],
		  .max_bytes = bounds->max_bytes,
		  .taker = bounds->take ? bounds : NULL },
		{ .fd = fds[1], .max_bytes = COMPLAINT_MAX_BYTES, .drop_rest = true },
	};
	int status = 0;
	int rc = collect_output(streams, pid, bounds->deadline_ms, &status, err);

	if (rc < 0 && !kill_it(pid, &status))
		running->stuck_pid = pid;
	running->pid = 0;
	for (int i = 0; i < 2; i++) {
		if (streams[i].fd >= 0)
			close(streams[i].fd);
	}
	if (streams[1].data)
		last_line(child->complaint, sizeof(child->complaint), streams[1].data,
			  streams[1].bytes);
	free(streams[1].data);
	child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	child->out = streams[0].data;
	child->out_bytes = streams[0].bytes;
	if (child->out)
		child->out[child->out_bytes] = '\0';
	return rc;
}

static void close_pair(const int *fds)
{
	if (fds[0] >= 0)
		close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
}

static int open_pipes(int out[2], int complaints[2], struct nt_error *err)
{
	out[0] = out[1] = complaints[0] = complaints[1] = -1;
	if (pipe2(out, O_CLOEXEC) == 0 && pipe2(complaints, O_CLOEXEC) == 0)
		return 0;
	nt_error_set(err, "cannot make a pipe: %m");
	close_pair(out);
	return -1;
}

/* The caller may block or ignore signals, as srun does. */
static int plain_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	if (posix_spawnattr_init(attributes) != 0)
		return -1;
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	return 0;
}

/* Only starts it; returns 0 or an errno. */
static int spawn_program(pid_t *pid, char *const argv[], int out_fd, int complaint_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int failure = posix_spawn_file_actions_init(&actions);

	if (failure)
		return failure;
	if (plain_signals(&attributes) < 0) {
		posix_spawn_file_actions_destroy(&actions);
		return ENOMEM;
	}
	failure = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (!failure)
		failure = posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
	if (!failure)
		failure = posix_spawn_file_actions_adddup2(&actions, complaint_fd, 2);
	if (!failure)
		failure = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return failure;
}

int nt_child_run_within(struct nt_child *child, char *const argv[],
			const struct nt_child_bounds *bounds, struct nt_error *err)
{
	struct nt_child_running running = { .pid = 0 };
	int out[2], complaints[2];
	int failure;
	pid_t pid;

	memset(child, 0, sizeof(*child));
	if (open_pipes(out, complaints, err) < 0)
		return -1;
	failure = spawn_program(&pid, argv, out[1], complaints[1]);
	close(out[1]);
	close(complaints[1]);
	if (failure) {
		close(out[0]);
		close(complaints[0]);
		return nt_error_set(err, "cannot start it: %s", strerror(failure));
	}
	running = (struct nt_child_running){ pid, { out[0], complaints[0] }, 0 };
	return attend_child(child, &running, bounds, err);
}

int nt_child_run(struct nt_child *child, char *const argv[], size_t max_bytes, int timeout_ms,
		 struct nt_error *err)
{
	const struct nt_child_bounds bounds = {
		.deadline_ms = nt_clock_ms() + timeout_ms,
		.max_bytes = max_bytes,
	};

	return nt_child_run_within(child, argv, &bounds, err);
}

void nt_child_close_others(int keep_fd, int also_fd)
{
	DIR *directory = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)) != NULL) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > 2 && fd != keep_fd && fd != also_fd && fd != dirfd(directory))
			close(fd);
	}
	closedir(directory);
}

static bool is_stuck(struct nt_child_running *running)
{
	int status;

	if (running->stuck_pid != 0 && is_over(running->stuck_pid, &status))
		running->stuck_pid = 0;
	return running->stuck_pid != 0;
}

static void be_child(int (*call)(void *argument, int out_fd), void *argument, int out_fd,
		     int complaint_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(complaint_fd, 1) < 0 || dup2(complaint_fd, 2) < 0)
		_exit(126);
	close(complaint_fd);
	_exit(call(argument, out_fd));
}

int nt_child_start(struct nt_child_running *running, int (*call)(void *argument, int out_fd),
		   void *argument, struct nt_error *err)
{
	int out[2], complaints[2];
	pid_t pid;

	running->pid = 0;
	if (is_stuck(running))
		return nt_error_set(err, "cannot kill its process %d", running->stuck_pid);
	if (open_pipes(out, complaints, err) < 0)
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(out[0]);
		close(complaints[0]);
		be_child(call, argument, out[1], complaints[1]);
	}
	close(out[1]);
	close(complaints[1]);
	if (pid < 0) {
		nt_error_set(err, "cannot start a process: %m");
		close(out[0]);
		close(complaints[0]);
		return -1;
	}
	*running = (struct nt_child_running){ pid, { out[0], complaints[0] }, 0 };
	return 0;
}

int nt_child_end(struct nt_child *child, struct nt_child_running *running,
		 const struct nt_child_bounds *bounds, struct nt_error *err)
{
	memset(child, 0, sizeof(*child));
	return attend_child(child, running, bounds, err);
}

int nt_child_call(struct nt_child *child, int (*call)(void *argument, int out_fd), void *argument,
		  const struct nt_child_bounds *bounds, struct nt_error *err)
{
	struct nt_child_running running = { .pid = 0 };

	memset(child, 0, sizeof(*child));
	if (nt_child_start(&running, call, argument, err) < 0)
		return -1;
	return nt_child_end(child, &running, bounds, err);
}

void nt_child_fini(struct nt_child *child)
{
	free(child->out);
	memset(child, 0, sizeof(*child));
}
