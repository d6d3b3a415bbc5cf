/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run-step.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/printable.h"

#define TICK_MS 200
#define TERM_AGAIN_MS 4000 /* the second SIGTERM makes srun stop waiting for its step */
#define KILL_MS 10000
#define TAIL_BYTES 4096

struct running {
	const struct nt_steprun *run;
	pid_t pid, parent;
	int complaint_fd; /* -1 at its end */
	int64_t start_ms, asked_ms; /* asked to end; 0: not yet */
	unsigned asked; /* how often */
	enum nt_stepend end;
	char tail[TAIL_BYTES];
	size_t tail_bytes;
};

/* In the child. */
static int become(void *argument, int out_fd)
{
	const struct running *running = argument;
	char *const *argv = running->run->argv;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)out_fd;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != running->parent)
		return 127;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0)
		return 127;
	execvp(argv[0], argv);
	dprintf(2, "%s: %m\n", argv[0]);
	return 127;
}

static int start(struct running *running, struct nt_error *err)
{
	struct nt_child_running child = { .pid = 0 };

	running->parent = getpid();
	if (nt_child_start(&child, become, running, err) < 0)
		return -1;
	close(child.fds[0]);
	running->pid = child.pid;
	running->complaint_fd = child.fds[1];
	running->start_ms = nt_clock_ms();
	return 0;
}

/* Keeps the end of its output. */
static void listen_to(struct running *running)
{
	char text[TAIL_BYTES / 2];
	ssize_t got = read(running->complaint_fd, text, sizeof(text));
	size_t kept = running->tail_bytes;

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		close(running->complaint_fd);
		running->complaint_fd = -1;
		return;
	}
	if (kept + (size_t)got > sizeof(running->tail)) {
		kept = sizeof(running->tail) - (size_t)got;
		memmove(running->tail, running->tail + running->tail_bytes - kept, kept);
	}
	memcpy(running->tail + kept, text, (size_t)got);
	running->tail_bytes = kept + (size_t)got;
}

static void ask_to_end(struct running *running, int64_t now_ms)
{
	int64_t since_ms = running->asked ? now_ms - running->asked_ms : 0;

	if (running->asked == 0 || (running->asked == 1 && since_ms >= TERM_AGAIN_MS)) {
		if (running->asked == 0)
			running->asked_ms = now_ms;
		running->asked++;
		kill(running->pid, SIGTERM);
	} else if (since_ms >= KILL_MS) {
		kill(-running->pid, SIGKILL);
	}
}

static void attend(struct running *running)
{
	const struct nt_steprun *run = running->run;
	int64_t now_ms = nt_clock_ms();
	double elapsed_s = (double)(now_ms - running->start_ms) / 1000;

	if (running->asked == 0 && *run->stop != 0)
		running->end = NT_STEP_STOPPED;
	else if (running->asked == 0 && elapsed_s >= run->limit_s)
		running->end = NT_STEP_LATE;
	if (running->end != NT_STEP_WELL)
		ask_to_end(running, now_ms);
}

static bool begins(const char *line, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* The program's last line. If there is none, Slurm's first line, because Slurm then reports the end
 * of every task. */
static void take_complaint(const struct running *running, char *out, size_t out_bytes)
{
	const char *line = running->tail, *end = line + running->tail_bytes;

	out[0] = '\0';
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t bytes = (size_t)((newline ? newline : end) - line);
		bool slurm = begins(line, bytes, "srun: ") || begins(line, bytes, "slurmstepd") ||
			     begins(line, bytes, "Try \"srun");

		if (bytes > 0 && (!slurm || out[0] == '\0'))
			nt_printable_copy(out, out_bytes, line, bytes);
		line += bytes + 1;
	}
}

static int wait_for(struct running *running)
{
	int status = 0;

	for (;;) {
		struct pollfd polls = { .fd = running->complaint_fd, .events = POLLIN };
		pid_t ended = waitpid(running->pid, &status, WNOHANG);

		if (ended == running->pid)
			break;
		if (poll(&polls, 1, TICK_MS) > 0 && polls.revents != 0)
			listen_to(running);
		attend(running);
	}
	/* Read what is left, but do not wait: its children may hold the pipe open. */
	while (running->complaint_fd >= 0) {
		struct pollfd polls = { .fd = running->complaint_fd, .events = POLLIN };

		if (poll(&polls, 1, 0) <= 0)
			break;
		listen_to(running);
	}
	if (running->complaint_fd >= 0)
		close(running->complaint_fd);
	return status;
}

int nt_steprun(const struct nt_steprun *run, struct nt_stepresult *result, struct nt_error *err)
{
	struct running *running = calloc(1, sizeof(*running));
	bool failed;

	memset(result, 0, sizeof(*result));
	if (!running)
		return nt_error_set(err, "no memory");
	running->run = run;
	if (start(running, err) < 0) {
		free(running);
		return -1;
	}
	failed = wait_for(running) != 0;
	result->end = running->end;
	if (running->end == NT_STEP_WELL && failed)
		result->end = NT_STEP_FAILED;
	take_complaint(running, result->complaint, sizeof(result->complaint));
	free(running);
	return 0;
}
