/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The lock and the pace of a job's updates. */
#include "accounting/job-lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "spank/rundir.h"

#define DIRECTORY "jobs"
#define OLD_S 3600 /* since a file was last written */

static int64_t wait_of(const struct nt_job_pace *pace, int64_t now_ms, enum nt_job_urgency urgency)
{
	const int leave = urgency == NT_JOB_EARLY ? NT_JOB_PACE_BURST / 2 : 0;
	int64_t ahead_ms = (int64_t)(NT_JOB_PACE_BURST - 1 - leave) * NT_JOB_PACE_EVERY_MS;
	int64_t wait_ms = pace->due_ms - now_ms - ahead_ms;

	/* A whole burst is the longest wait: with more than that the file is damaged. */
	if (urgency == NT_JOB_AT_ONCE ||
	    wait_ms > (int64_t)NT_JOB_PACE_BURST * NT_JOB_PACE_EVERY_MS)
		return 0;
	return wait_ms > 0 ? wait_ms : 0;
}

static void count(struct nt_job_pace *pace, int64_t now_ms)
{
	if (pace->due_ms < now_ms ||
	    pace->due_ms > now_ms + (int64_t)2 * NT_JOB_PACE_BURST * NT_JOB_PACE_EVERY_MS)
		pace->due_ms = now_ms;
	pace->due_ms += NT_JOB_PACE_EVERY_MS;
}

int64_t nt_job_pace_admit(struct nt_job_pace *pace, int64_t now_ms, enum nt_job_urgency urgency,
			  int64_t grace_ms)
{
	int64_t wait_ms = wait_of(pace, now_ms, urgency);

	if (wait_ms == 0) {
		count(pace, now_ms);
		if (urgency != NT_JOB_AGAIN)
			pace->keeper_ms = 0;
		return 0;
	}
	if (urgency == NT_JOB_EARLY || urgency == NT_JOB_AGAIN ||
	    (pace->keeper_ms > now_ms &&
	     pace->keeper_ms < now_ms + (int64_t)2 * NT_JOB_PACE_EVERY_MS))
		return -1;
	pace->keeper_ms = now_ms + wait_ms + grace_ms;
	return wait_ms;
}

int64_t nt_job_lock_now_ms(void)
{
	return nt_clock_read_ns(CLOCK_BOOTTIME) / 1000000;
}

/* All old files: the directory may list newer ones first. A writer that has just opened one of them
 * writes without excluding others; that does no harm. */
static void remove_old(int jobs_fd)
{
	DIR *directory = nt_dirstream_open(jobs_fd);
	const struct dirent *entry;
	struct stat status;

	if (!directory)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (fstatat(jobs_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > OLD_S)
			(void)unlinkat(jobs_fd, entry->d_name, 0);
	}
	closedir(directory);
}

int nt_job_lock_open(const char *rundir, uint32_t job)
{
	/* Who can open a file there can lock it, and keep root waiting. */
	int jobs_fd = nt_rundir_open_own(rundir, DIRECTORY);
	char name[16];
	int fd;

	if (jobs_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%" PRIu32, job);
	fd = openat(jobs_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		remove_old(jobs_fd);
		fd = openat(jobs_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	close(jobs_fd);
	return fd;
}

bool nt_job_lock_try(int lock_fd)
{
	return flock(lock_fd, LOCK_EX | LOCK_NB) == 0;
}

void nt_job_lock_release(int lock_fd)
{
	(void)flock(lock_fd, LOCK_UN);
}

int64_t nt_job_lock_admit(int lock_fd, enum nt_job_urgency urgency, int64_t grace_ms)
{
	struct nt_job_pace pace;
	int64_t wait_ms;

	if (pread(lock_fd, &pace, sizeof(pace), 0) != (ssize_t)sizeof(pace))
		memset(&pace, 0, sizeof(pace));
	wait_ms = nt_job_pace_admit(&pace, nt_job_lock_now_ms(), urgency, grace_ms);
	if (wait_ms >= 0)
		(void)!pwrite(lock_fd, &pace, sizeof(pace), 0);
	if (wait_ms != 0)
		nt_job_lock_release(lock_fd);
	return wait_ms;
}
