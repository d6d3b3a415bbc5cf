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
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>
#include "lib/child.h"
#include "lib/printable.h"
#include "spank/arguments.h"
#include "spank/step/cache.h"
#include "spank/step/cleanup.h"
#include "spank/step/node-fingerprint.h"
#include "recordd/user-child.h"
#include "recordd/state.h"
#include "recordd/recordd-log.h"
#include "spank/rundir.h"
#include "spank/step/safe-open.h"
#include "spank/step/step-dir.h"

#define FINGERPRINT_S 15 /* for looking at the hardware */

/* The step's file system uses memory as long as anybody has a descriptor of it: empty it. */
static void clear_directory(const struct nt_recordd *recordd)
{
	struct stat ours, rundir;
	int fd;

	if (!recordd->told_end || recordd->dir_fd < 0 || fstat(recordd->dir_fd, &ours) < 0 ||
	    stat(recordd->arguments.rundir, &rundir) < 0 || ours.st_dev == rundir.st_dev)
		return;
	fd = openat(recordd->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	nt_cleanup_users(fd);
	close(fd);
}

static int take_arguments(struct nt_arguments *arguments, struct nt_error *err)
{
	ssize_t bytes = recv(NT_ARGUMENTS_FD, arguments, sizeof(*arguments),
			     MSG_DONTWAIT | MSG_TRUNC);

	if (bytes < 0)
		return nt_error_set(err, "no arguments: %m");
	return nt_arguments_check(arguments, (size_t)bytes, err);
}

/* record dir=DIR; the argument only tells administrators which step it is. */
static int record(void)
{
	static struct nt_recordd recordd;
	struct nt_arguments *arguments = &recordd.arguments;
	struct nt_error err;

	if (take_arguments(arguments, &err) < 0) {
		fprintf(stderr, "nt-recordd: %s\n", nt_printable(err.text));
		return 2;
	}
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN); /* the end of slurmstepd is what counts */
	nt_recordd_syslog_open(0);
	nt_recordd_oom_score("0"); /* not slurmstepd's, which the OOM killer spares */
	nt_step_name(arguments->step, arguments->component, recordd.step);
	recordd.longform.arguments = arguments;
	if (nt_sinks_parse(&recordd.delivery.sinks, arguments->record, &err) < 0)
		return 2;
	/* O_PATH: for the time stamp of the directory itself, whatever is mounted on it. */
	recordd.dir_fd = nt_safe_open_path(arguments->dir, O_PATH | O_DIRECTORY);
	recordd.inside = arguments->groups[0] == '/';
	nt_recordd_run(&recordd);
	clear_directory(&recordd);
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

/* cleanup RUNDIR, cleanup-again RUNDIR */
static int cleanup(const char *rundir, bool again)
{
	struct nt_error err;

	/* For an administrator who runs this by hand. */
	nt_recordd_syslog_open(LOG_PERROR);
	alarm(2 * NT_CLEANUP_ALL_MS / 1000);
	nt_recordd_oom_score("0");
	if (nt_cleanup(rundir, again, nt_recordd_syslog, &err) == 0)
		return 0;
	nt_recordd_syslog(err.text);
	return 1;
}

/* clear RUNDIR; the descriptor is the directory */
static int clear(void)
{
	alarm(2 * NT_CLEANUP_ONE_MS / 1000);
	nt_recordd_oom_score("0");
	nt_cleanup_users(NT_ARGUMENTS_FD);
	return 0;
}

int main(int argc, char *argv[])
{
	signal(SIGPIPE, SIG_IGN);
	if (argc < 3 || fcntl(NT_ARGUMENTS_FD, F_GETFD) < 0) {
		fprintf(stderr,
			"nt-recordd is started by spank_nccl_tune.so, see spank_nccl_tune(8)\n");
		return 2;
	}
	nt_child_close_others(NT_ARGUMENTS_FD);
	if (strcmp(argv[1], "fingerprint") == 0)
		return fingerprint(argv[2]);
	if (strcmp(argv[1], "cleanup") == 0 || strcmp(argv[1], "cleanup-again") == 0)
		return cleanup(argv[2], argv[1][7] != '\0');
	if (strcmp(argv[1], "clear") == 0)
		return clear();
	if (strcmp(argv[1], "record") == 0)
		return record();
	return 2;
}
