/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Starting nt-recordd, and talking to it. */
#include "spank/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "record/child.h"
#include "spank/cache.h"
#include "spank/rundir.h"
#include "spank/spawn.h"
#include "spank/step.h"

/* PROGRAM WORD RUNDIR, with fd. */
static int start(const char *program, const char *what, const char *rundir, int fd,
		 struct nt_error *err)
{
	char name[NT_PATH_MAX], word[16], directory[NT_PATH_MAX];
	char *argv[] = { name, word, directory, NULL };

	snprintf(name, sizeof(name), "%s", program);
	snprintf(word, sizeof(word), "%s", what);
	snprintf(directory, sizeof(directory), "%s", rundir);
	return nt_spawn(program, argv, NULL, fd, err);
}

static int start_fingerprint(const char *program, const char *rundir, int fd, struct nt_error *err)
{
	return start(program, "fingerprint", rundir, fd, err);
}

int nt_helper_tidy(const char *program, const char *rundir, bool again, struct nt_error *err)
{
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int rc = start(program, again ? "tidy-again" : "tidy", rundir, null_fd, err);

	close(null_fd);
	return rc;
}

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
	rc = start_fingerprint(program, rundir, ends[1], err);
	close(ends[1]);
	polls.fd = ends[0];
	if (rc == 0 && poll(&polls, 1, NT_HELPER_FINGERPRINT_MS) == 1 &&
	    read(ends[0], text, sizeof(text) - 1) >= 16)
		*value = strtoull(text, NULL, 16);
	else if (rc == 0)
		rc = nt_error_set(err, "it is not known yet");
	close(ends[0]);
	return rc;
}

int nt_helper_prepare(const char *program, const char *rundir, struct nt_error *err)
{
	int rundir_fd = nt_rundir_open(rundir, err);
	uint64_t value;
	int null_fd;
	int rc = 0;

	if (rundir_fd < 0)
		return -1;
	if (nt_cache_read(rundir_fd, &value, err) < 0) {
		null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		rc = start_fingerprint(program, rundir, null_fd, err);
		close(null_fd);
	}
	close(rundir_fd);
	return rc;
}

int nt_helper_start(const char *program, const struct nt_errand *errand, const char *conf,
		    struct nt_error *err)
{
	struct nt_errand_argv argv;
	char name[NT_PATH_MAX];
	int ends[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return nt_error_set(err, "socketpair: %m");
	snprintf(name, sizeof(name), "%s", program);
	nt_errand_format(errand, name, &argv);
	rc = nt_spawn(program, argv.argv, conf, ends[1], err);
	close(ends[1]);
	if (rc == 0)
		return ends[0];
	close(ends[0]);
	return -1;
}

/* One message; whether it was the last one. */
static bool hear(int socket, void (*say)(char kind, const char *text))
{
	char text[NT_ERRAND_MESSAGE_MAX + 1];
	ssize_t n = recv(socket, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	text[n] = '\0';
	if (n > 1)
		say(text[0], text + 1);
	return n == 0 || text[0] == NT_ERRAND_DONE;
}

bool nt_helper_hold(int socket, void (*say)(char kind, const char *text))
{
	const char word = NT_ERRAND_END;
	int64_t until_ms = nt_clock_ms() + NT_HOLD_STEP_MS;
	int64_t left_ms = NT_HOLD_STEP_MS;
	struct pollfd polls = { .fd = socket, .events = POLLIN };
	bool done = send(socket, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1;

	while (!done && left_ms > 0) {
		if (poll(&polls, 1, (int)left_ms) > 0)
			done = hear(socket, say);
		left_ms = until_ms - nt_clock_ms();
	}
	return done;
}
