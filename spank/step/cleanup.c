/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "spank/step/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "contract/names.h"
#include "lib/child.h"
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "spank/step/safe-open.h"
#include "spank/step/rmtree.h"
#include "spank/step/rights.h"
#include "spank/rundir.h"
#include "spank/step/step-dir.h"
#include "spank/step/stepfs.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define ENTRIES_MAX 65536 /* of the run directory */
#define KILLED_MS 1000 /* after its deadline the child is killed */

struct cleanup {
	const char *rundir;
	int rundir_fd;
	bool again;
	int64_t until_ms;
	void (*say)(const char *text);
};

struct users {
	int fd;
	uid_t uid;
	gid_t gid;
	int64_t until_ms;
};

static bool starts(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* <node>.<job>.<step>; the plain files there have at most one dot. */
static bool is_holder(const char *name)
{
	return name[0] != '.' && strchr(name, '.') != strrchr(name, '.');
}

/* ---- with the user's rights */

static int run_clear(void *argument, int out_fd)
{
	const struct users *users = argument;

	(void)out_fd;
	nt_child_close_others(users->fd);
	if (nt_rights_drop(users->uid, users->gid, 0, NULL) < 0)
		return 1;
	(void)nt_rmtree_tree(users->fd, users->until_ms);
	return 0;
}

/* false: the time was too short. */
static bool clear_users(const struct cleanup *cleanup, int fd, const struct stat *status)
{
	int64_t until_ms = nt_clock_ms() + NT_CLEANUP_ONE_MS;
	struct users users = { fd, status->st_uid, status->st_gid, until_ms };
	struct nt_child_bounds bounds = { .max_bytes = 32 };
	struct nt_child child;
	bool done;

	if (users.until_ms > cleanup->until_ms)
		users.until_ms = cleanup->until_ms;
	bounds.deadline_ms = users.until_ms + KILLED_MS;
	done = nt_child_call(&child, run_clear, &users, &bounds, NULL) == 0 && child.status == 0 &&
	       nt_clock_ms() < users.until_ms;
	nt_child_fini(&child);
	return done;
}

void nt_cleanup_users(int fd)
{
	const struct cleanup cleanup = { .rundir_fd = -1,
					 .until_ms = nt_clock_ms() + NT_CLEANUP_ONE_MS };
	struct stat status;

	if (fstat(fd, &status) == 0)
		(void)clear_users(&cleanup, fd, &status);
}

/* ---- one leftover */

/* Unmount what is mounted on a name in a directory of root's. */
static void detach(const struct cleanup *cleanup, const char *name, const char *below)
{
	char path[NT_PATH_MAX + NT_STEP_HOLDER_MAX];

	snprintf(path, sizeof(path), "%s/%s%s", cleanup->rundir, name, below);
	nt_stepfs_detach(path);
}

/* Open a directory in one of root's; unmount first what is mounted on it. */
static int open_bare(const struct cleanup *cleanup, int fd, const char *entry, const char *name,
		     const char *below)
{
	int opened = nt_safe_open(fd, entry, DIR_FLAGS);

	if (opened < 0 && errno == EXDEV) {
		detach(cleanup, name, below);
		opened = nt_safe_open(fd, entry, DIR_FLAGS);
	}
	return opened;
}

/* From the outside in: the holder's fs, and in it the user's directory. false: there is no fs. */
static bool clear_holder(const struct cleanup *cleanup, int holder_fd, const char *name, bool *done)
{
	int fs_fd = open_bare(cleanup, holder_fd, NT_STEP_FS, name, "/" NT_STEP_FS);
	struct stat status;
	int fd;

	if (fs_fd < 0)
		return errno != ENOENT;
	fd = open_bare(cleanup, fs_fd, NT_STEP_USERS, name, "/" NT_STEP_FS "/" NT_STEP_USERS);
	if (fd >= 0 && fstat(fd, &status) == 0)
		*done = clear_users(cleanup, fd, &status);
	if (fd >= 0)
		close(fd);
	(void)unlinkat(fs_fd, NT_STEP_USERS, AT_REMOVEDIR);
	close(fs_fd);
	(void)unlinkat(holder_fd, NT_STEP_FS, AT_REMOVEDIR);
	return true;
}

/* true: it is removed. *done: there was time enough, so what remains cannot be removed. */
static bool remove_left(const struct cleanup *cleanup, int fd, const char *name, bool *done)
{
	struct stat status;

	*done = true;

	/* Earlier releases made it without these layers, and the user's own. */
	if (fstat(fd, &status) == 0 &&
	    (status.st_uid != geteuid() || !clear_holder(cleanup, fd, name, done)))
		*done = clear_users(cleanup, fd, &status);
	return unlinkat(cleanup->rundir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

static void tell_stuck(const struct cleanup *cleanup, const char *name)
{
	char text[2 * NT_PATH_MAX + NT_STEP_HOLDER_MAX], renamed[NT_STEP_HOLDER_MAX];
	int error = errno;

	if (starts(name, NT_STEP_STUCK) ||
	    nt_step_rename(cleanup->rundir_fd, name, NT_STEP_STUCK, renamed) < 0)
		return;
	snprintf(text, sizeof(text), "cannot remove a step's leftovers; they are now in %s/%s: %s",
		 cleanup->rundir, renamed, strerror(error));
	cleanup->say(text);
}

/* ---- the run directory */

/* A living slurmstepd holds the lock, except for its first moments. */
static bool is_stale(int fd)
{
	struct stat status;
	time_t now = time(NULL);

	return fstat(fd, &status) == 0 &&
	       (now - status.st_mtime >= NT_CLEANUP_STALE_S || now < status.st_mtime) &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static void look_at(const struct cleanup *cleanup, const char *name)
{
	char left[NT_STEP_HOLDER_MAX];
	bool holder = is_holder(name);
	bool done;
	int fd;

	if (!holder && !starts(name, NT_STEP_LEFT) &&
	    (!cleanup->again || !starts(name, NT_STEP_STUCK)))
		return;
	fd = open_bare(cleanup, cleanup->rundir_fd, name, name, "");
	if (fd < 0)
		return;
	snprintf(left, sizeof(left), "%.*s", (int)sizeof(left) - 1, name);
	if (!holder ||
	    (is_stale(fd) && nt_step_rename(cleanup->rundir_fd, name, NT_STEP_LEFT, left) == 0)) {
		if (!remove_left(cleanup, fd, left, &done) && done)
			tell_stuck(cleanup, left);
	}
	close(fd);
}

static int look_at_all(const struct cleanup *cleanup, struct nt_error *err)
{
	DIR *directory = nt_dirstream_open(cleanup->rundir_fd);
	const struct dirent *entry;

	if (!directory)
		return nt_error_set(err, "%.150s: %m", cleanup->rundir);
	for (int i = 0; i < ENTRIES_MAX && nt_clock_ms() < cleanup->until_ms; i++) {
		entry = readdir(directory);
		if (!entry)
			break;
		look_at(cleanup, entry->d_name);
	}
	closedir(directory);
	return 0;
}

int nt_cleanup(const char *rundir, bool again, void (*say)(const char *text), struct nt_error *err)
{
	struct cleanup cleanup = { rundir, nt_rundir_open(rundir, err), again,
				   nt_clock_ms() + NT_CLEANUP_ALL_MS, say };
	int lock_fd, rc = -1;

	if (cleanup.rundir_fd < 0)
		return -1;
	lock_fd = openat(cleanup.rundir_fd, NT_CLEANUP_FILE,
			 O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock_fd < 0) {
		nt_error_set(err, "%.150s/" NT_CLEANUP_FILE ": %m", rundir);
	} else if (flock(lock_fd, LOCK_EX | LOCK_NB) < 0) {
		rc = 0; /* another process is cleaning up */
	} else {
		(void)futimens(lock_fd, NULL);
		rc = look_at_all(&cleanup, err);
	}
	if (lock_fd >= 0)
		close(lock_fd);
	close(cleanup.rundir_fd);
	return rc;
}
