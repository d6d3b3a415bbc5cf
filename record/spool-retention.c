/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/spool-retention.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lib/dirstream.h"
#include "record/retention.h"

#define DAY_S ((int64_t)24 * 60 * 60)
#define MIB ((int64_t)1024 * 1024)
#define EVERY_S 3600 /* between two checks of age and size */
#define STAMP ".kept" /* its time is that of the last check */
#define COUNT ".come" /* a byte for each file since then */

static const struct nt_retention bounds[] = {
	[NT_PART_WAITING] = { .files = 10000, .user_files = 1000, .age_s = 90 * DAY_S },
	[NT_PART_SENT] = { .files = 10000, .user_files = 1000, .age_s = 30 * DAY_S },
	[NT_PART_DEAD] = { .files = 2000, .user_files = 200, .age_s = 90 * DAY_S },
	[NT_PART_FILES] = { .files = 50000,
			    .user_files = 5000,
			    .bytes = 256 * MIB,
			    .age_s = 180 * DAY_S },
};

/* Have so many files come that a user may have too many? Many processes may add a byte at once. */
static bool is_crowded(int part_fd, enum nt_spool_part part)
{
	int fd = openat(part_fd, COUNT, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			0600);
	struct stat status;
	bool crowded;

	if (fd < 0)
		return false;
	crowded = write(fd, "+", 1) == 1 && fstat(fd, &status) == 0 &&
		  status.st_size >= (off_t)(bounds[part].user_files / NT_SPOOL_OVER);
	if (crowded)
		(void)!ftruncate(fd, 0);
	close(fd);
	return crowded;
}

static bool is_due(int part_fd)
{
	struct stat status;

	return fstatat(part_fd, STAMP, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	       time(NULL) - status.st_mtime >= EVERY_S || status.st_mtime > time(NULL);
}

static void stamp(int part_fd)
{
	int fd = openat(part_fd, STAMP, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	(void)futimens(fd, NULL);
	close(fd);
}

/* Leftovers of killed writers. */
static void remove_unfinished(int part_fd)
{
	DIR *directory = nt_dirstream_open(part_fd);
	const struct dirent *entry;
	struct stat status;

	if (!directory)
		return;
	while ((entry = readdir(directory)) != NULL) {
		if (entry->d_name[0] == NT_SPOOL_UNFINISHED && strcmp(entry->d_name, STAMP) != 0 &&
		    strcmp(entry->d_name, COUNT) != 0 &&
		    fstatat(part_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > EVERY_S)
			(void)unlinkat(part_fd, entry->d_name, 0);
	}
	closedir(directory);
}

static int64_t drop(int part_fd, const struct nt_spool_list *list, const struct nt_retention *keep)
{
	struct nt_kept_file *items = calloc(list->count + 1, sizeof(items[0]));
	int64_t dropped = 0;

	if (!items)
		return 0;
	for (size_t i = 0; i < list->count; i++) {
		const struct nt_spool_item *item = &list->items[i];

		items[i] = (struct nt_kept_file){ .name = item->name,
						  .uid = item->uid,
						  .time_s = item->time_ns / 1000000000,
						  .bytes = item->bytes };
	}
	(void)nt_retention_choose(items, list->count, keep, time(NULL));
	for (size_t i = 0; i < list->count; i++)
		dropped += items[i].drop && unlinkat(part_fd, items[i].name, 0) == 0;
	free(items);
	return dropped;
}

int64_t nt_spool_keep(int part_fd, enum nt_spool_part part, bool at_once)
{
	struct nt_spool_list list;
	bool crowded = is_crowded(part_fd, part);
	bool due = at_once || is_due(part_fd);
	int64_t dropped;

	if (!due && !crowded)
		return 0;
	if (due) {
		stamp(part_fd);
		remove_unfinished(part_fd);
	}
	if (nt_spool_list(&list, part_fd, NULL, 0, NULL) < 0)
		return -1;
	dropped = drop(part_fd, &list, &bounds[part]);
	nt_spool_list_fini(&list);
	return dropped;
}

int nt_spool_write(int part_fd, enum nt_spool_part part, const struct nt_spool_entry *entry,
		   bool sync, int64_t *dropped, struct nt_error *err)
{
	int64_t gone;

	if (nt_spool_put(part_fd, entry, sync, err) < 0)
		return -1;
	gone = nt_spool_keep(part_fd, part, false);
	if (dropped)
		*dropped = gone > 0 ? gone : 0;
	return 0;
}
