/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Empty a directory. A tree is flattened: the entries of a subdirectory are moved up to the top
 * before it is removed, so that depth costs neither stack nor descriptors. */
#include "spank/step/rmtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "spank/step/safe-open.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY)
#define NAMES_TRIED 64 /* the user may have taken some */

struct clear {
	int top;
	unsigned next; /* for the names of what is moved up */
	int64_t until_ms;
	bool flat; /* leave directories that are not empty */
	bool removed; /* anything in this pass */
};

static bool is_late(const struct clear *clear)
{
	return nt_clock_ms() >= clear->until_ms;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A file, a link, or an empty directory. */
static bool remove_entry(int fd, const struct dirent *entry)
{
	if (entry->d_type != DT_DIR && unlinkat(fd, entry->d_name, 0) == 0)
		return true;
	return unlinkat(fd, entry->d_name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* Let the owner read and write a directory; not what is mounted on it. */
static bool open_up(int fd, const char *name)
{
	char path[48];
	int there = nt_safe_open(fd, name, O_PATH | O_DIRECTORY);

	if (there < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", there);
	(void)chmod(path, 0700);
	close(there);
	return true;
}

/* Moving a directory changes its "..", for which it must be writable. */
static bool move_up(struct clear *clear, int fd, const char *name)
{
	char fresh[32];
	bool opened = false;

	for (int i = 0; i < NAMES_TRIED; i++) {
		snprintf(fresh, sizeof(fresh), ".nt.%u", clear->next++);
		if (renameat(fd, name, clear->top, fresh) == 0)
			return true;
		if (errno == EACCES && !opened)
			opened = open_up(fd, name);
		else if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			return false;
	}
	return false;
}

/* A directory at the top that is not empty, or not readable. */
static bool take_apart(struct clear *clear, const char *name)
{
	const struct dirent *entry;
	DIR *directory;
	int fd;

	fd = nt_safe_open(clear->top, name, DIR_FLAGS);
	if ((fd < 0 || faccessat(fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0) &&
	    open_up(clear->top, name)) {
		if (fd >= 0)
			close(fd);
		fd = nt_safe_open(clear->top, name, DIR_FLAGS);
	}
	directory = nt_dirstream_take(fd);
	if (!directory)
		return false;
	while (!is_late(clear) && (entry = readdir(directory)) != NULL) {
		if (!is_dots(entry->d_name) && (remove_entry(dirfd(directory), entry) ||
						move_up(clear, dirfd(directory), entry->d_name)))
			clear->removed = true;
	}
	closedir(directory);
	return unlinkat(clear->top, name, AT_REMOVEDIR) == 0;
}

static size_t pass(struct clear *clear)
{
	DIR *directory = nt_dirstream_open(clear->top);
	const struct dirent *entry;
	size_t left = 0;

	if (!directory)
		return 1;
	while ((entry = readdir(directory)) != NULL) {
		if (is_dots(entry->d_name))
			continue;
		if (is_late(clear)) {
			left++;
			break;
		}
		if (remove_entry(clear->top, entry) ||
		    (!clear->flat && take_apart(clear, entry->d_name)))
			clear->removed = true;
		else
			left++;
	}
	closedir(directory);
	return left;
}

size_t nt_rmtree_flat(int fd, int64_t until_ms)
{
	struct clear clear = { .top = fd, .until_ms = until_ms, .flat = true };

	return pass(&clear);
}

/* readdir() may miss what is moved up meanwhile: repeat until nothing is removed. */
size_t nt_rmtree_tree(int fd, int64_t until_ms)
{
	struct clear clear = { .top = fd, .until_ms = until_ms };
	size_t left;

	(void)fchmod(fd, 0700);
	do {
		clear.removed = false;
		left = pass(&clear);
	} while (clear.removed && !is_late(&clear));
	return left;
}
