/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-lock.c - see job-lock.h */
#include "spank/delivery/job-lock.h"

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
#define OLD_S 3600 /* a file that nobody has written for so long is of no use */

int64_t nt_job_pace_wait_ms(const struct nt_job_pace *pace, int64_t now_ms,
			    enum nt_job_urgency urgency)
{
	const int leave = urgency == NT_JOB_EARLY ? NT_JOB_PACE_BURST / 2 : 0;
	int64_t ahead_ms = (int64_t)(NT_JOB_PACE_BURST - 1 - leave) * NT_JOB_PACE_EVERY_MS;
	int64_t wait_ms = pace->due_ms - now_ms - ahead_ms;

	/* Nobody waits longer than all of it takes: the file may be damaged. */
	if (urgency == NT_JOB_AT_ONCE ||
	    wait_ms > (int64_t)NT_JOB_PACE_BURST * NT_JOB_PACE_EVERY_MS)
		return 0;
	return wait_ms > 0 ? wait_ms : 0;
}

void nt_job_pace_count(struct nt_job_pace *pace, int64_t now_ms)
{
	if (pace->due_ms < now_ms ||
	    pace->due_ms > now_ms + (int64_t)2 * NT_JOB_PACE_BURST * NT_JOB_PACE_EVERY_MS)
		pace->due_ms = now_ms;
	pace->due_ms += NT_JOB_PACE_EVERY_MS;
}

int64_t nt_job_pace_admit(struct nt_job_pace *pace, int64_t now_ms, enum nt_job_urgency urgency,
			  int64_t grace_ms)
{
	int64_t wait_ms = nt_job_pace_wait_ms(pace, now_ms, urgency);

	if (wait_ms == 0) {
		nt_job_pace_count(pace, now_ms);
		pace->keeper_ms = 0;
		return 0;
	}
	if (urgency == NT_JOB_EARLY ||
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

/* All of them: no more than an hour's jobs stay, and new ones may come first. A writer that has
 * opened one just now writes on its own; that does no harm. */
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
	/* Whoever may write there could keep root waiting. */
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

void nt_job_lock_read(int lock_fd, struct nt_job_pace *pace)
{
	if (pread(lock_fd, pace, sizeof(*pace), 0) != (ssize_t)sizeof(*pace))
		memset(pace, 0, sizeof(*pace));
}

void nt_job_lock_write(int lock_fd, const struct nt_job_pace *pace)
{
	(void)!pwrite(lock_fd, pace, sizeof(*pace), 0);
}
