/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A record as a file. */
#include "spank/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define NAME_BYTES 128
#define LINE_BYTES (2 * NT_STEP_RECORD_MAX + 256)

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

	if (n < 0 || n >= NAME_BYTES || name[0] == '.' || strpbrk(name, "/\"\\"))
		return nt_error_set(err, "no file name for cluster '%.60s'", entry->cluster);
	return 0;
}

/* The record is a JSON text inside a JSON text: its quotes are escaped, and it has nothing else
 * to escape. */
static int format(const struct nt_spool_entry *entry, char line[LINE_BYTES], struct nt_error *err)
{
	int n = snprintf(line, LINE_BYTES,
			 "{\"v\":%d,\"cluster\":\"%.64s\",\"job\":%" PRIu32
			 ",\"step\":\"%.12s\",\"record\":\"",
			 NT_RECORD_VERSION, entry->cluster, entry->job, entry->step);
	size_t used = (size_t)n;

	if (strlen(entry->record) > NT_STEP_RECORD_MAX)
		return nt_error_set(err, "the record is too long");
	for (const char *c = entry->record; *c; c++) {
		if (*c == '"')
			line[used++] = '\\';
		line[used++] = *c;
	}
	memcpy(line + used, "\"}\n", 4);
	return 0;
}

static int write_file(int dir_fd, const char *name, const char *line, struct nt_error *err)
{
	char temporary[NAME_BYTES + 24];
	ssize_t bytes = (ssize_t)strlen(line);
	int rc = 0;
	int fd;

	snprintf(temporary, sizeof(temporary), ".%s.%d", name, (int)getpid());
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
	char line[LINE_BYTES];
	int rc = -1;
	int fd;

	if (file_name(entry, name, err) < 0 || format(entry, line, err) < 0)
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
