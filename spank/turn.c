/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* turn.c - see turn.h */
#include "spank/turn.h"

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
#include "record/dirstream.h"
#include "spank/rundir.h"

#define DIRECTORY "jobs"
#define OLD_S 3600 /* a file that nobody has written for so long is of no use */
#define TIDY_MAX 64 /* files looked at by one writer */

int64_t nt_pace_wait_ms(const struct nt_pace *pace, int64_t now_ms, unsigned leave)
{
	int64_t ahead_ms = (int64_t)(NT_TURN_BURST - 1 - leave) * NT_TURN_EVERY_MS;
	int64_t wait_ms = pace->due_ms - now_ms - ahead_ms;

	/* Nobody waits longer than all of it takes: the file may be damaged. */
	if (wait_ms > (int64_t)NT_TURN_BURST * NT_TURN_EVERY_MS)
		return 0;
	return wait_ms > 0 ? wait_ms : 0;
}

void nt_pace_count(struct nt_pace *pace, int64_t now_ms)
{
	if (pace->due_ms < now_ms ||
	    pace->due_ms > now_ms + (int64_t)2 * NT_TURN_BURST * NT_TURN_EVERY_MS)
		pace->due_ms = now_ms;
	pace->due_ms += NT_TURN_EVERY_MS;
}

int64_t nt_turn_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A writer that has opened one just now writes on its own; that does no harm. */
static void tidy_up(int jobs_fd)
{
	DIR *directory = nt_dirstream_open(jobs_fd);
	const struct dirent *entry;
	struct stat status;
	unsigned seen = 0;

	if (!directory)
		return;
	while (seen++ < TIDY_MAX && (entry = readdir(directory)) != NULL) {
		if (fstatat(jobs_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > OLD_S)
			(void)unlinkat(jobs_fd, entry->d_name, 0);
	}
	closedir(directory);
}

int nt_turn_open(const char *rundir, uint32_t job, struct nt_error *err)
{
	/* Whoever may write there could keep root waiting. */
	int jobs_fd = nt_rundir_open_own(rundir, DIRECTORY, err);
	char name[16];
	int fd;

	if (jobs_fd < 0)
		return -1;
	snprintf(name, sizeof(name), "%" PRIu32, job);
	fd = openat(jobs_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		tidy_up(jobs_fd);
		fd = openat(jobs_fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	}
	if (fd < 0)
		nt_error_set(err, "cannot open %.100s/" DIRECTORY "/%s: %m", rundir, name);
	close(jobs_fd);
	return fd;
}

bool nt_turn_take(int turn_fd)
{
	return flock(turn_fd, LOCK_EX | LOCK_NB) == 0;
}

void nt_turn_give(int turn_fd)
{
	(void)flock(turn_fd, LOCK_UN);
}

void nt_turn_read(int turn_fd, struct nt_pace *pace)
{
	if (pread(turn_fd, pace, sizeof(*pace), 0) != (ssize_t)sizeof(*pace))
		memset(pace, 0, sizeof(*pace));
}

void nt_turn_write(int turn_fd, const struct nt_pace *pace)
{
	(void)!pwrite(turn_fd, pace, sizeof(*pace), 0);
}
