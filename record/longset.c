/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts there are of a job. */
#include "record/longset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "lib/dirstream.h"
#include "record/member-names.h"

#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

void nt_long_set_init(struct nt_long_set *set)
{
	memset(set, 0, sizeof(*set));
}

void nt_long_set_fini(struct nt_long_set *set)
{
	free(set->parts);
	nt_long_set_init(set);
}

static void complain(const struct nt_long_set *set, const char *path, const char *why)
{
	if (set->complain)
		set->complain(set->argument, path, why);
}

static bool is_plain(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

bool nt_long_set_is(const char *path)
{
	int fd = strcmp(path, "-") == 0 ? -1 : open(path, FILE_FLAGS);
	struct stat status;
	bool is = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0)
		is = S_ISDIR(status.st_mode) || (S_ISREG(status.st_mode) && nt_long_begins(fd));
	close(fd);
	return is;
}

bool nt_long_set_trusts(const struct nt_long_set *set, int fd, struct nt_error *err)
{
	struct stat status;

	if (set->owners == 0)
		return true;
	if (fstat(fd, &status) == 0) {
		for (size_t i = 0; i < set->owners; i++) {
			if (set->owner[i] == status.st_uid)
				return true;
		}
	}
	nt_error_set(err, "it belongs to another user");
	return false;
}

static int check_part(const struct nt_long_set *set, int fd, struct nt_error *err)
{
	if (!is_plain(fd))
		return nt_error_set(err, "it is not a plain file");
	return nt_long_set_trusts(set, fd, err) ? 0 : -1;
}

static int add_part(struct nt_long_set *set, int fd, const char *path, struct nt_error *err)
{
	struct nt_long_part *part;
	struct nt_long_head head;

	if (set->count == NT_LONG_PARTS_MAX)
		return nt_error_set(err, "there are more than %d parts", NT_LONG_PARTS_MAX);
	if (check_part(set, fd, err) < 0)
		return -1;
	if (nt_long_read(fd, &head, NULL, NULL, NULL, err) < 0)
		return -1;
	if (strlen(path) >= NT_LONG_PATH_MAX)
		return nt_error_set(err, "its path is too long");
	part = nt_array_add(&set->parts, &set->count, NT_LONG_PARTS_MAX, sizeof(*part));
	if (!part)
		return nt_error_set(err, "no memory");
	snprintf(part->path, sizeof(part->path), "%s", path);
	part->head = head;
	return 0;
}

static void add_entry(struct nt_long_set *set, int dir_fd, const char *directory, const char *name)
{
	char path[NT_LONG_PATH_MAX];
	struct nt_error err;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = openat(dir_fd, name, FILE_FLAGS | O_NOFOLLOW);
	if (fd < 0) {
		complain(set, path, errno == ELOOP ? "it is a link" : strerror(errno));
		return;
	}
	if (add_part(set, fd, path, &err) < 0)
		complain(set, path, err.text);
	close(fd);
}

static int add_directory(struct nt_long_set *set, int fd, const char *path, struct nt_error *err)
{
	DIR *directory = nt_dirstream_open(fd);
	const struct dirent *entry;
	char plain[NT_LONG_PATH_MAX];
	size_t bytes;

	if (!directory)
		return nt_error_set(err, "%.150s: %m", path);
	snprintf(plain, sizeof(plain), "%s", path);
	for (bytes = strlen(plain); bytes > 1 && plain[bytes - 1] == '/'; bytes--)
		plain[bytes - 1] = '\0';
	while ((entry = readdir(directory)) != NULL) {
		if (nt_long_part_is(entry->d_name))
			add_entry(set, fd, plain, entry->d_name);
	}
	closedir(directory);
	return 0;
}

int nt_long_set_add(struct nt_long_set *set, const char *path, struct nt_error *err)
{
	int fd = open(path, FILE_FLAGS);
	struct nt_error reason;
	struct stat status;
	int rc;

	if (fd < 0)
		return nt_error_set(err, "%.150s: %m", path);
	if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
		rc = add_directory(set, fd, path, err);
	} else {
		rc = add_part(set, fd, path, &reason);
		if (rc < 0)
			nt_error_set(err, "%.100s: %.140s", path, reason.text);
	}
	close(fd);
	return rc;
}

int nt_long_set_add_named(struct nt_long_set *set, const char *path, struct nt_error *err)
{
	int fd = open(path, FILE_FLAGS | O_DIRECTORY | O_NOFOLLOW);
	struct nt_error reason;
	int rc;

	if (fd < 0)
		return nt_error_set(err, "%.150s: %m", path);
	if (nt_long_set_trusts(set, fd, &reason)) {
		rc = add_directory(set, fd, path, err);
	} else {
		complain(set, path, reason.text);
		rc = nt_error_set(err, "%.150s: %.60s", path, reason.text);
	}
	close(fd);
	return rc;
}

/* ---- which of them count */

/* The newest of a step and node first. */
static int compare(const void *left, const void *right)
{
	const struct nt_long_head *a = &((const struct nt_long_part *)left)->head;
	const struct nt_long_head *b = &((const struct nt_long_part *)right)->head;

	NT_COMPARE(a->job, b->job);
	NT_COMPARE(nt_step_name_order(a->step, b->step), 0);
	NT_COMPARE(b->run, a->run);
	NT_COMPARE(strverscmp(a->node, b->node), 0);
	NT_COMPARE(b->final, a->final);
	NT_COMPARE(b->written_s, a->written_s);
	return 0;
}

static bool same_step(const struct nt_long_part *a, const struct nt_long_part *b)
{
	return a->head.job == b->head.job && strcmp(a->head.step, b->head.step) == 0;
}

static bool is_twice(const struct nt_long_part *part, const struct nt_long_part *last)
{
	return same_step(part, last) && strcmp(part->head.node, last->head.node) == 0;
}

static int64_t newest_run(const struct nt_long_set *set, size_t first)
{
	const int64_t job = set->parts[first].head.job;
	int64_t run = 0;

	for (size_t i = first; i < set->count && set->parts[i].head.job == job; i++) {
		if (set->parts[i].head.run > run)
			run = set->parts[i].head.run;
	}
	return run;
}

void nt_long_set_take_run(struct nt_long_set *set, int64_t run)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++) {
		if (set->parts[i].head.run != run)
			continue;
		if (kept != i)
			set->parts[kept] = set->parts[i];
		kept++;
	}
	set->count = kept;
}

void nt_long_set_sort(struct nt_long_set *set, uint32_t job)
{
	int64_t run = 0, job_at = 0;
	size_t kept = 0;

	if (set->count > 0)
		qsort(set->parts, set->count, sizeof(set->parts[0]), compare);
	for (size_t i = 0; i < set->count; i++) {
		const struct nt_long_part *part = &set->parts[i];

		if (i == 0 || part->head.job != job_at)
			run = newest_run(set, i);
		job_at = part->head.job;
		if ((job != 0 && part->head.job != job) || part->head.run != run ||
		    (kept > 0 && is_twice(part, &set->parts[kept - 1])))
			continue;
		if (kept != i)
			set->parts[kept] = *part;
		kept++;
	}
	set->count = kept;
}

/* ---- lines */

struct each {
	const struct nt_long_part *part;
	nt_long_set_visit *visit;
	void *argument;
	bool ended; /* by the visitor */
};

static int visit_line(void *argument, struct nt_text name, struct nt_text value,
		      struct nt_error *err)
{
	struct each *each = argument;

	each->ended = each->visit(each->argument, each->part, name, value, err) < 0;
	return each->ended ? -1 : 0;
}

/* -1: the visitor ended it. */
static int read_part(struct each *each, const struct nt_long_set *set, size_t *text_bytes,
		     struct nt_error *err)
{
	const char *path = each->part->path;
	int fd = open(path, FILE_FLAGS);
	struct nt_long_head head;
	struct nt_error reason;

	if (fd < 0) {
		complain(set, path, strerror(errno));
		return 0;
	}
	/* It may have been replaced since. */
	if (check_part(set, fd, &reason) < 0 ||
	    nt_long_read(fd, &head, visit_line, each, text_bytes, &reason) < 0) {
		if (each->ended)
			nt_error_set(err, "%s", reason.text);
		else
			complain(set, path, reason.text);
	}
	close(fd);
	return each->ended ? -1 : 0;
}

int nt_long_set_each(const struct nt_long_set *set, nt_long_set_visit *visit, void *argument,
		     struct nt_error *err)
{
	const size_t most = set->text_max ? set->text_max : NT_LONG_SET_TEXT_MAX;
	size_t own = 0, *text_bytes = set->text_bytes ? set->text_bytes : &own;

	for (size_t i = 0; i < set->count; i++) {
		struct each each = { &set->parts[i], visit, argument, false };

		if (*text_bytes > most)
			complain(set, each.part->path, "there is too much of the others");
		else if (read_part(&each, set, text_bytes, err) < 0)
			return -1;
	}
	return 0;
}
