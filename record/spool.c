/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The writing half. */
#include "record/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "lib/file.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NAME_BYTES 128

#define LINE_ROW(...) NT_FIELD_ROW(struct nt_spooled, __VA_ARGS__)
const struct nt_fields nt_spool_fields = NT_FIELDS(NT_SPOOL_FIELDS(LINE_ROW));

static const char *name_of(enum nt_spool_part part)
{
	return part == NT_PART_SENT ? NT_SPOOL_SENT : part == NT_PART_DEAD ? NT_SPOOL_DEAD : NULL;
}

/* Who can write here can put any text into accounting. */
static int check_owner(int fd, const char *path, struct nt_error *err)
{
	struct stat status;

	if (fstat(fd, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	errno = EPERM;
	return nt_error_set(
		err, "%.150s must belong to the daemon's user and be writable to nobody else",
		path);
}

/* Whatever the daemon's umask. */
static int open_at(int parent_fd, const char *path, bool make, mode_t mode, struct nt_error *err)
{
	bool made = make && mkdirat(parent_fd, path, mode) == 0;
	int fd;

	if (make && !made && errno != EEXIST)
		return nt_error_set(err, "cannot make %.150s: %m", path);
	fd = openat(parent_fd, path, DIR_FLAGS);
	if (fd < 0)
		return nt_error_set(err, "cannot open %.150s: %m", path);
	if (made)
		(void)fchmod(fd, mode);
	return check_owner(fd, path, err);
}

int nt_spool_open(const char *directory, enum nt_spool_part part, bool make, struct nt_error *err)
{
	int parent_fd = open_at(AT_FDCWD, directory, make, part == NT_PART_FILES ? 0755 : 0700,
				err);
	int fd, problem;

	if (parent_fd < 0 || !name_of(part))
		return parent_fd;
	fd = open_at(parent_fd, name_of(part), make, 0700, err);
	problem = errno;
	close(parent_fd);
	errno = problem;
	return fd;
}

static int file_name(const struct nt_spool_entry *entry, char name[NAME_BYTES],
		     struct nt_error *err)
{
	int n = snprintf(name, NAME_BYTES, "%s.%" PRIu32 ".%s.u%" PRIu32 ".json", entry->cluster,
			 entry->job, entry->step, entry->uid);

	if (n < 0 || n >= NAME_BYTES || name[0] == NT_SPOOL_UNFINISHED || strpbrk(name, "/\"\\"))
		return nt_error_set(err, "no file name for cluster '%.60s'", entry->cluster);
	return 0;
}

static int copy(char *out, size_t out_bytes, const char *text)
{
	int n = snprintf(out, out_bytes, "%s", text);

	return n < 0 || (size_t)n >= out_bytes ? -1 : 0;
}

static int format(const struct nt_spool_entry *entry, char *text, size_t text_bytes,
		  struct nt_error *err)
{
	struct nt_spooled line = {
		.version = NT_RECORD_VERSION,
		.job = entry->job,
		.uid = entry->uid == NT_SPOOL_NO_UID ? -1 : (int64_t)entry->uid,
	};
	struct nt_json_writer put;

	if (copy(line.cluster, sizeof(line.cluster), entry->cluster) < 0 ||
	    copy(line.step, sizeof(line.step), entry->step) < 0)
		return nt_error_set(err, "the cluster's or the step's name is too long");
	if (copy(line.record, sizeof(line.record), entry->record) < 0)
		return nt_error_set(err, "the record is too long");
	(void)copy(line.why, sizeof(line.why), entry->why ? entry->why : "");
	nt_json_put_begin(&put, text, text_bytes - 1, 1);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_spool_fields, &line);
	nt_json_put_close(&put);
	if (put.full)
		return nt_error_set(err, "the record is too long");
	memcpy(text + put.used, "\n", 2);
	return 0;
}

int nt_spool_put(int part_fd, const struct nt_spool_entry *entry, bool sync, struct nt_error *err)
{
	char name[NAME_BYTES];
	char line[NT_SPOOL_FILE_MAX];
	struct nt_error why;
	int rc;

	if (file_name(entry, name, err) < 0 || format(entry, line, sizeof(line), err) < 0)
		return -1;
	rc = sync ? nt_file_replace(part_fd, name, line, strlen(line), 0600, &why)
		  : nt_file_put(part_fd, name, line, strlen(line), 0600, &why);
	return rc < 0 ? nt_error_set(err, "cannot write %.200s", why.text) : 0;
}

int nt_spool_open_file(int part_fd, const struct nt_spool_entry *entry)
{
	char name[NAME_BYTES];

	if (file_name(entry, name, NULL) < 0)
		return -1;
	return openat(part_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

int nt_spool_sync(int part_fd, const struct nt_spool_entry *entry)
{
	int fd = nt_spool_open_file(part_fd, entry);

	if (fd < 0)
		return -1;
	(void)fsync(fd);
	(void)fsync(part_fd);
	close(fd);
	return 0;
}

void nt_spool_forget(int part_fd, const struct nt_spool_entry *entry)
{
	char name[NAME_BYTES];

	if (part_fd >= 0 && file_name(entry, name, NULL) == 0)
		(void)unlinkat(part_fd, name, 0);
}

bool nt_spool_has(int part_fd, const struct nt_spool_entry *entry)
{
	char name[NAME_BYTES];

	return file_name(entry, name, NULL) == 0 && faccessat(part_fd, name, F_OK, 0) == 0;
}
