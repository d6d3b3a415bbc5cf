/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Start nt-recordd, and exchange messages with it. */
#include "spank/step/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "lib/clock.h"
#include "spank/step/cache.h"
#include "spank/rundir.h"
#include "spank/step/spawn.h"
#include "spank/step/step-name.h"

int nt_helper_fingerprint(const char *program, const char *rundir, int rundir_fd, uint64_t *value,
			  struct nt_error *err)
{
	char text[20] = "";
	struct pollfd polls = { .events = POLLIN };
	int ends[2];
	int rc;

	if (nt_cache_read(rundir_fd, value, err) == 0)
		return 0;
	*value = 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return nt_error_set(err, "pipe: %m");
	rc = nt_spawn_program(program, "fingerprint", rundir, NULL, ends[1], err);
	close(ends[1]);
	polls.fd = ends[0];
	if (rc == 0 && poll(&polls, 1, NT_HELPER_FINGERPRINT_MS) == 1 &&
	    read(ends[0], text, sizeof(text) - 1) >= 16)
		*value = strtoull(text, NULL, 16);
	else if (rc == 0)
		rc = nt_error_set(err, "not known yet");
	close(ends[0]);
	return rc;
}

int nt_helper_prepare(const char *program, const char *rundir, struct nt_error *err)
{
	int rundir_fd = nt_rundir_open(rundir, err);

	if (rundir_fd < 0)
		return -1;
	close(rundir_fd);
	return nt_spawn_program(program, "fingerprint", rundir, NULL, -1, err);
}

/* The arguments, and with them the descriptor. */
static int send_arguments(int socket, const struct nt_arguments *arguments, int shm_fd)
{
	struct nt_arguments copy = *arguments;
	struct iovec bytes = { &copy, sizeof(copy) };
	union {
		struct cmsghdr head;
		char buffer[CMSG_SPACE(sizeof(int))];
	} control = { .buffer = { 0 } };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = control.buffer,
				  .msg_controllen = sizeof(control.buffer) };

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &shm_fd, sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(copy) ? 0
											       : -1;
}

int nt_helper_start(const char *program, const struct nt_arguments *arguments, int shm_fd,
		    const char *conf, struct nt_error *err)
{
	char name[NT_PATH_MAX + 128], step[NT_STEP_NAME_MAX];
	int ends[2];
	int rc = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return nt_error_set(err, "socketpair: %m");
	nt_step_name(arguments->step, arguments->component, step);
	snprintf(name, sizeof(name), "rundir=%s step=%s.%" PRIu32 ".%s", arguments->rundir,
		 arguments->node, arguments->job, step);
	if (send_arguments(ends[0], arguments, shm_fd) < 0)
		rc = nt_error_set(err, "cannot send the step's arguments to %.120s: %m", program);
	if (rc == 0)
		rc = nt_spawn_program(program, "record", name, conf, ends[1], err);
	close(ends[1]);
	if (rc == 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

static bool say_ended(void (*say)(char kind, const char *text))
{
	say(NT_ARGUMENTS_ERROR, "nt-recordd ended early; the step's record may be lost");
	return true;
}

/* Receive a message; true: it was the last one. */
static bool hear(int socket, void (*say)(char kind, const char *text))
{
	char text[NT_ARGUMENTS_MESSAGE_MAX + 1];
	ssize_t n = recv(socket, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		return say_ended(say);
	text[n] = '\0';
	if (n > 1)
		say(text[0], text + 1);
	return text[0] == NT_ARGUMENTS_DONE;
}

bool nt_helper_hold(int socket, enum nt_ended ended, void (*say)(char kind, const char *text))
{
	const char words[2] = { NT_ARGUMENTS_END, (char)ended };
	int64_t until_ms = nt_clock_ms() + NT_HOLD_STEP_MS;
	int64_t left_ms = NT_HOLD_STEP_MS;
	struct pollfd polls = { .fd = socket, .events = POLLIN };
	bool done = send(socket, words, 2, MSG_NOSIGNAL | MSG_DONTWAIT) != 2 && say_ended(say);

	while (!done && left_ms > 0) {
		if (poll(&polls, 1, (int)left_ms) > 0)
			done = hear(socket, say);
		left_ms = until_ms - nt_clock_ms();
	}
	return done;
}
