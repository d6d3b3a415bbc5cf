/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c - see spool.h: writing */
#include "record/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NAME_BYTES 128

#define LINE_ROW(...) NT_FIELD_ROW(struct nt_spool_line, __VA_ARGS__)
static const struct nt_field line_rows[] = { NT_SPOOL_FIELDS(LINE_ROW) };
const struct nt_fields nt_spool_fields = NT_FIELDS(line_rows);

/* Whoever may write here may have any text put into accounting. */
static int open_directory(const char *directory, struct nt_error *err)
{
	struct stat status;
	int fd;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return nt_error_set(err, "cannot make %.150s: %m", directory);
	fd = open(directory, DIR_FLAGS);
	if (fd < 0)
		return nt_error_set(err, "cannot open %.150s: %m", directory);
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return nt_error_set(
		err, "%.150s must belong to the daemon's user and be writable to nobody else",
		directory);
}

static int count_files(int dir_fd)
{
	int copy = openat(dir_fd, ".", DIR_FLAGS);
	DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
	int count = 0;

	if (!directory) {
		if (copy >= 0)
			close(copy);
		return -1;
	}
	while (count <= NT_SPOOL_FILES && readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count;
}

static int file_name(const struct nt_spool_entry *entry, char name[NAME_BYTES],
		     struct nt_error *err)
{
	int n = snprintf(name, NAME_BYTES, "%s.%" PRIu32 ".%s.json", entry->cluster, entry->job,
			 entry->step);

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
	struct nt_spool_line line = { .version = NT_RECORD_VERSION, .job = entry->job };
	struct nt_put put;

	if (copy(line.cluster, sizeof(line.cluster), entry->cluster) < 0 ||
	    copy(line.step, sizeof(line.step), entry->step) < 0)
		return nt_error_set(err, "the cluster's or the step's name is too long");
	if (copy(line.record, sizeof(line.record), entry->record) < 0)
		return nt_error_set(err, "the record is too long");
	nt_put_begin(&put, text, text_bytes - 1, 1);
	nt_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_spool_fields, &line);
	nt_put_close(&put);
	if (put.full)
		return nt_error_set(err, "the record is too long");
	memcpy(text + put.used, "\n", 2);
	return 0;
}

static int write_file(int dir_fd, const char *name, const char *line, struct nt_error *err)
{
	char temporary[NAME_BYTES + 24];
	ssize_t bytes = (ssize_t)strlen(line);
	int rc = 0;
	int fd;

	snprintf(temporary, sizeof(temporary), "%c%s.%d", NT_SPOOL_UNFINISHED, name, (int)getpid());
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return nt_error_set(err, "cannot write %.100s: %m", temporary);
	if (write(fd, line, (size_t)bytes) != bytes || fsync(fd) < 0)
		rc = nt_error_set(err, "cannot write %.100s: %m", temporary);
	close(fd);
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0)
		rc = nt_error_set(err, "cannot write %.100s: %m", name);
	if (rc < 0)
		unlinkat(dir_fd, temporary, 0);
	return rc;
}

int nt_spool_write(const char *directory, const struct nt_spool_entry *entry, struct nt_error *err)
{
	char name[NAME_BYTES];
	char line[NT_SPOOL_FILE_MAX];
	int rc = -1;
	int fd;

	if (file_name(entry, name, err) < 0 || format(entry, line, sizeof(line), err) < 0)
		return -1;
	fd = open_directory(directory, err);
	if (fd < 0)
		return -1;
	if (count_files(fd) > NT_SPOOL_FILES)
		nt_error_set(err, "%.150s holds more than %d files", directory, NT_SPOOL_FILES);
	else
		rc = write_file(fd, name, line, err);
	close(fd);
	return rc;
}

int nt_spool_remove(const char *directory, const struct nt_spool_entry *entry, struct nt_error *err)
{
	char name[NAME_BYTES];
	int rc = 0;
	int fd;

	if (file_name(entry, name, err) < 0)
		return -1;
	fd = open_directory(directory, err);
	if (fd < 0)
		return -1;
	if (unlinkat(fd, name, 0) < 0 && errno != ENOENT)
		rc = nt_error_set(err, "cannot remove %.100s: %m", name);
	close(fd);
	return rc;
}
