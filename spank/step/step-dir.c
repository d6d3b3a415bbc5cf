/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Create, show and remove a step's directory. */
#include "spank/step/step-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/number.h"
#include "spank/step/safe-open.h"
#include "spank/step/rmtree.h"
#include "spank/rundir.h"
#include "spank/step/stepfs.h"

#define COMPONENT_MAX 999 /* Slurm has at most 128 */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define BELOW "/" NT_STEP_FS "/" NT_STEP_USERS
#define RENAMED_MAX 1000 /* leftovers of one name */

void nt_step_name(uint32_t step, uint32_t component, char out[NT_STEP_NAME_MAX])
{
	if (step == NT_STEP_BATCH)
		snprintf(out, NT_STEP_NAME_MAX, "batch");
	else if (component <= COMPONENT_MAX)
		snprintf(out, NT_STEP_NAME_MAX, "%" PRIu32 "+%" PRIu32, step, component);
	else
		snprintf(out, NT_STEP_NAME_MAX, "%" PRIu32, step);
}

uint32_t nt_step_component(const char *title, uint32_t job, uint32_t step)
{
	const char *found, *end;
	uint64_t component;
	char wanted[40];

	snprintf(wanted, sizeof(wanted), "[%" PRIu32 ".%" PRIu32 "+", job, step);
	found = strstr(title, wanted);
	end = found ? nt_number_read(found + strlen(wanted), COMPONENT_MAX, &component) : NULL;
	return end && *end == ']' ? (uint32_t)component : NT_STEP_WHOLE;
}

void nt_step_dir_init(struct nt_step_dir *dir)
{
	memset(dir, 0, sizeof(*dir));
	dir->parent_fd = dir->holder_fd = dir->fd = dir->clone_fd = -1;
}

static void close_all(struct nt_step_dir *dir)
{
	if (dir->clone_fd >= 0)
		close(dir->clone_fd);
	if (dir->fd >= 0)
		close(dir->fd);
	if (dir->holder_fd >= 0)
		close(dir->holder_fd);
	if (dir->parent_fd >= 0)
		close(dir->parent_fd);
	dir->parent_fd = dir->holder_fd = dir->fd = dir->clone_fd = -1;
}

/* <rundir>/<holder>/fs */
static void fs_path(const struct nt_step_dir *dir, char out[NT_PATH_MAX])
{
	const size_t users = sizeof("/" NT_STEP_USERS) - 1;

	snprintf(out, NT_PATH_MAX, "%.*s", (int)(strlen(dir->path) - users), dir->path);
}

int nt_step_rename(int rundir_fd, const char *name, const char *prefix,
		   char out[NT_STEP_HOLDER_MAX])
{
	const char *plain = name;

	if (strncmp(name, NT_STEP_LEFT, sizeof(NT_STEP_LEFT) - 1) == 0)
		plain = name + sizeof(NT_STEP_LEFT) - 1;
	else if (strncmp(name, NT_STEP_STUCK, sizeof(NT_STEP_STUCK) - 1) == 0)
		plain = name + sizeof(NT_STEP_STUCK) - 1;
	for (int i = 0; i < RENAMED_MAX; i++) {
		/* This fails unless out is missing or an empty directory. */
		snprintf(out, NT_STEP_HOLDER_MAX, i == 0 ? "%s%.130s" : "%s%.130s.%d", prefix,
			 plain, i);
		if (renameat(rundir_fd, name, rundir_fd, out) == 0)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -1;
	}
	return -1;
}

/* A leftover of a killed step of the same name, or of an earlier run of a requeued job. Its
 * contents are not looked at. */
static int rename_old(const struct nt_step_dir *dir, struct nt_error *err)
{
	char renamed[NT_STEP_HOLDER_MAX], path[NT_PATH_MAX];

	if (nt_step_rename(dir->parent_fd, dir->holder, NT_STEP_LEFT, renamed) == 0)
		return 0;
	/* A mount point cannot be renamed. */
	snprintf(path, sizeof(path), "%.*s", (int)(strlen(dir->path) - strlen(BELOW)), dir->path);
	nt_stepfs_detach(path);
	if (nt_step_rename(dir->parent_fd, dir->holder, NT_STEP_LEFT, renamed) == 0)
		return 0;
	return nt_error_set(err, "%.150s is in the way: %m", path);
}

static int make_holder(struct nt_step_dir *dir, struct nt_error *err)
{
	int rc = mkdirat(dir->parent_fd, dir->holder, 0700);

	if (rc < 0 && errno == EEXIST) {
		if (rename_old(dir, err) < 0)
			return -1;
		rc = mkdirat(dir->parent_fd, dir->holder, 0700);
	}
	if (rc < 0)
		return nt_error_set(err, "cannot make %.150s: %m", dir->path);
	dir->holder_fd = openat(dir->parent_fd, dir->holder, DIR_FLAGS);
	/* Users may enter it but not read it: who can read a directory can lock it. The lock tells
	 * cleanup.h that this process lives. */
	if (dir->holder_fd < 0 || flock(dir->holder_fd, LOCK_EX | LOCK_NB) < 0 ||
	    fchmod(dir->holder_fd, 0711) < 0)
		return nt_error_set(err, "cannot open %.150s: %m", dir->path);
	return 0;
}

static int make_inside(struct nt_step_dir *dir, const struct nt_step_site *site,
		       struct nt_error *err)
{
	char path[NT_PATH_MAX];
	int fd;

	fs_path(dir, path);
	if (mkdirat(dir->holder_fd, NT_STEP_FS, 0700) < 0)
		return nt_error_set(err, "cannot make %.150s: %m", path);
	if (site->bytes > 0 && geteuid() == 0) {
		if (nt_stepfs_mount(path, site->bytes, site->files, err) < 0)
			return -1;
		dir->mounted = true;
		dir->clone_fd = nt_stepfs_clone(path);
	}
	fd = openat(dir->holder_fd, NT_STEP_FS, DIR_FLAGS);
	if (fd < 0 || fchmod(fd, 0711) < 0 || mkdirat(fd, NT_STEP_USERS, 0700) < 0)
		nt_error_set(err, "cannot make %.150s: %m", dir->path);
	else
		dir->fd = nt_safe_open(fd, NT_STEP_USERS, DIR_FLAGS);
	if (fd >= 0)
		close(fd);
	return dir->fd >= 0 ? 0 : -1;
}

/* The name becomes part of a path and of a comma-separated list. */
static bool is_plain(const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c <= 0x20 || *c >= 0x7f || *c == '/' || *c == ',')
			return false;
	}
	return text[0] && text[0] != '.';
}

static int name_all(struct nt_step_dir *dir, const char *rundir, const char *node, uint32_t job,
		    uint32_t step, struct nt_error *err)
{
	char name[NT_STEP_NAME_MAX];
	int n, m;

	nt_step_name(step, NT_STEP_WHOLE, name);
	if (!is_plain(node))
		return nt_error_set(err, "the node name '%.60s' cannot be a directory", node);
	n = snprintf(dir->holder, sizeof(dir->holder), "%s.%" PRIu32 ".%s", node, job, name);
	m = snprintf(dir->path, sizeof(dir->path), "%s/%s" BELOW, rundir, dir->holder);
	if (n < 0 || (size_t)n >= sizeof(dir->holder) - 30 || m < 0 ||
	    (size_t)m >= sizeof(dir->path) - 30)
		return nt_error_set(err, "%.100s/%.60s...: path too long", rundir, node);
	return 0;
}

int nt_step_make(struct nt_step_dir *dir, const struct nt_step_site *site, const char *node,
		 uint32_t job, uint32_t step, struct nt_error *err)
{
	nt_step_dir_init(dir);
	if (name_all(dir, site->rundir, node, job, step, err) < 0)
		return -1;
	dir->parent_fd = nt_rundir_open(site->rundir, err);
	if (dir->parent_fd < 0)
		return -1;
	if (make_holder(dir, err) == 0 && make_inside(dir, site, err) == 0)
		return 0;
	(void)nt_step_remove(dir, NULL);
	return -1;
}

int nt_step_give(struct nt_step_dir *dir, uid_t uid, gid_t gid, struct nt_error *err)
{
	if (fchmod(dir->fd, 0700) == 0 && fchown(dir->fd, uid, gid) == 0)
		return 0;
	nt_error_set(err, "cannot give %.150s to user %u: %m", dir->path, uid);
	(void)nt_step_remove(dir, NULL);
	return -1;
}

/* Is fd the file of that name? */
static bool is_at(int fd, int parent_fd, const char *name)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 &&
	       fstatat(parent_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* A later run of a requeued job may have renamed ours. */
static bool is_ours_still(const struct nt_step_dir *dir)
{
	return is_at(dir->holder_fd, dir->parent_fd, dir->holder);
}

static bool is_seen(const struct nt_step_dir *dir)
{
	return is_at(dir->fd, AT_FDCWD, dir->path);
}

int nt_step_show(const struct nt_step_dir *dir, struct nt_error *err)
{
	char path[NT_PATH_MAX];

	if (is_seen(dir))
		return 0;
	fs_path(dir, path);
	/* This fails if another task was faster. */
	(void)nt_stepfs_attach(dir->clone_fd, path);
	if (is_seen(dir))
		return 0;
	return nt_error_set(err, "the step's tasks cannot see %.150s", dir->path);
}

static void detach(const struct nt_step_dir *dir)
{
	char path[NT_PATH_MAX];

	fs_path(dir, path);
	nt_stepfs_detach(path);
}

/* Once it is detached nobody can enter it, and nothing is mounted in it. */
size_t nt_step_clear(struct nt_step_dir *dir)
{
	if (!dir->mounted || dir->fd < 0)
		return 0;
	if (is_ours_still(dir))
		detach(dir);
	return nt_rmtree_flat(dir->fd, nt_clock_ms() + NT_STEP_CLEAR_MS);
}

static size_t empty(const struct nt_step_dir *dir)
{
	if (dir->mounted)
		detach(dir);
	else if (dir->fd >= 0)
		return nt_rmtree_flat(dir->fd, nt_clock_ms() + NT_STEP_CLEAR_MS);
	return 0;
}

static int remove_all(struct nt_step_dir *dir, struct nt_error *err)
{
	char renamed[NT_STEP_HOLDER_MAX];
	size_t left = 0;
	int saved;

	/* The user's last processes may still write: try twice, then leave it to cleanup.h. */
	for (int i = 0; i < 2; i++) {
		left = empty(dir);
		(void)unlinkat(dir->holder_fd, NT_STEP_FS "/" NT_STEP_USERS, AT_REMOVEDIR);
		(void)unlinkat(dir->holder_fd, NT_STEP_FS, AT_REMOVEDIR);
		if (unlinkat(dir->parent_fd, dir->holder, AT_REMOVEDIR) == 0)
			return 0;
	}
	saved = errno;
	(void)nt_step_rename(dir->parent_fd, dir->holder, NT_STEP_LEFT, renamed);
	errno = saved;
	return nt_error_set(err, "cannot remove %.150s at once, %zu entries remain: %m", dir->path,
			    left);
}

int nt_step_remove(struct nt_step_dir *dir, struct nt_error *err)
{
	int rc = 0;

	if (dir->holder_fd >= 0 && is_ours_still(dir))
		rc = remove_all(dir, err);
	close_all(dir);
	return rc;
}
