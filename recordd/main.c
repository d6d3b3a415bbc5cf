/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* nt-recordd: delivers the record of one step to accounting, and writes a node's part of its long
 * form. The SPANK plugin starts it as root on the step's nodes. It lives as long as slurmstepd, and
 * a few seconds longer if necessary. Children with the user's rights read what the user's processes
 * wrote (collect.h) and write the user's memory (remember.h); this process only checks the bytes
 * that it passes on. */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/printable.h"
#include "spank/arguments.h"
#include "spank/step/cache.h"
#include "spank/step/node-fingerprint.h"
#include "recordd/user-child.h"
#include "recordd/state.h"
#include "recordd/recordd-log.h"
#include "spank/rundir.h"
#include "spank/step/shm-fd.h"
#include "spank/step/step-name.h"

#define FINGERPRINT_S 15 /* for looking at the hardware */

static void take_descriptor(struct msghdr *message, int *shm_fd)
{
	const struct cmsghdr *head = CMSG_FIRSTHDR(message);

	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
	    head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(shm_fd, CMSG_DATA(head), sizeof(int));
}

static int take_arguments(struct nt_arguments *arguments, int *shm_fd, struct nt_error *err)
{
	struct iovec bytes = { arguments, sizeof(*arguments) };
	union {
		struct cmsghdr head;
		char buffer[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = control.buffer,
				  .msg_controllen = sizeof(control.buffer) };
	ssize_t got = recvmsg(NT_ARGUMENTS_FD, &message,
			      MSG_DONTWAIT | MSG_TRUNC | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return nt_error_set(err, "no arguments: %m");
	*shm_fd = -1;
	take_descriptor(&message, shm_fd);
	return nt_arguments_check(arguments, (size_t)got, err);
}

/* record "rundir=DIR step=NODE.JOB.STEP"; the argument only tells administrators which step it is. */
static int record(void)
{
	static struct nt_recordd recordd;
	struct nt_arguments *arguments = &recordd.arguments;
	struct nt_error err;

	if (take_arguments(arguments, &recordd.shm_fd, &err) < 0) {
		fprintf(stderr, "nt-recordd: %s\n", nt_printable(err.text));
		return 2;
	}
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* the end of slurmstepd is what counts */
	nt_recordd_syslog_open();
	nt_recordd_oom_score("0"); /* not slurmstepd's, which the OOM killer spares */
	nt_step_name(arguments->step, arguments->component, recordd.step);
	recordd.longform.arguments = arguments;
	if (nt_sinks_parse(&recordd.delivery.sinks, arguments->record, &err) < 0)
		return 2;
	recordd.inside = arguments->cgroups[0] == '/';
	nt_recordd_run(&recordd);
	nt_shm_fd_clear(arguments->uid, arguments->node, arguments->job, arguments->step);
	return 0;
}

/* fingerprint RUNDIR: compute it, send it to the socket, and cache it, unless it is cached; and
 * the node's facts, which may have changed since. */
static int fingerprint(const char *rundir)
{
	char text[200], facts[NT_NODE_FACTS_MAX];
	uint64_t value;
	int rundir_fd;

	alarm(FINGERPRINT_S);
	nt_recordd_oom_score("0");
	rundir_fd = nt_rundir_open(rundir, NULL);
	if (rundir_fd < 0 || nt_cache_read(rundir_fd, &value, NULL) < 0) {
		if (nt_fingerprint_compute(&value, text, sizeof(text), NULL) < 0)
			return 1;
		dprintf(NT_ARGUMENTS_FD, "%016" PRIx64 "\n", value);
		if (rundir_fd < 0 || nt_cache_write(rundir_fd, value, text, NULL) < 0)
			return 1;
	}
	nt_node_facts("", facts);
	return nt_cache_write_facts(rundir_fd, facts, NULL) < 0;
}

int main(int argc, char *argv[])
{
	signal(SIGPIPE, SIG_IGN);
	if (argc < 3 || fcntl(NT_ARGUMENTS_FD, F_GETFD) < 0) {
		fprintf(stderr,
			"nt-recordd is started by spank_nccl_tune.so, see spank_nccl_tune(8)\n");
		return 2;
	}
	nt_child_close_others(NT_ARGUMENTS_FD, -1);
	if (strcmp(argv[1], "fingerprint") == 0)
		return fingerprint(argv[2]);
	if (strcmp(argv[1], "record") == 0)
		return record();
	return 2;
}
