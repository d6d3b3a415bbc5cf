/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The rank records of a directory that belongs to a user. */
#include "spank/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"

#define NAME_BYTES 128 /* rank.<task>.<pid>.json needs 32 */

struct reader {
	struct nt_sum *sum;
	uint32_t job, step;
	int dir_fd;
	size_t files, bytes;
	char *buffer;
};

static bool is_record(const char *name)
{
	const size_t prefix = sizeof(NT_RECORD_PREFIX) - 1;
	const size_t suffix = sizeof(NT_RECORD_SUFFIX) - 1;
	size_t bytes = strlen(name);

	return bytes > prefix + suffix && strncmp(name, NT_RECORD_PREFIX, prefix) == 0 &&
	       strcmp(name + bytes - suffix, NT_RECORD_SUFFIX) == 0;
}

/* The whole file, or -1: it must be shorter than the buffer. */
static ssize_t read_whole(int fd, char *buffer, size_t buffer_bytes)
{
	size_t used = 0;

	while (used < buffer_bytes) {
		ssize_t n = read(fd, buffer + used, buffer_bytes - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			return (ssize_t)used;
		used += (size_t)n;
	}
	errno = EFBIG;
	return -1;
}

/* Opening must neither follow a link nor wait for somebody at the other end of a pipe. */
static int read_file(struct reader *reader, const char *name, size_t *text_bytes,
		     struct nt_error *err)
{
	int fd = openat(reader->dir_fd, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	ssize_t used;

	if (fd < 0)
		return nt_error_set(err, errno == ELOOP ? "it is a link" : "it cannot be opened");
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return nt_error_set(err, "it is not a plain file");
	}
	used = read_whole(fd, reader->buffer, NT_RANK_RECORD_MAX + 1);
	close(fd);
	if (used < 0)
		return nt_error_set(err, errno == EFBIG ? "it is too long" : "it cannot be read");
	*text_bytes = (size_t)used;
	return 0;
}

static int add_file(struct reader *reader, const char *name, struct nt_error *err)
{
	size_t text_bytes = 0;

	if (read_file(reader, name, &text_bytes, err) < 0)
		return -1;
	reader->bytes += text_bytes;
	return nt_collect_record(reader->sum, reader->buffer, text_bytes, reader->job, reader->step,
				 err);
}

/* Of the name, too, only what cannot harm the record's text. */
static void count_unusable(struct reader *reader, const char *name, const struct nt_error *err)
{
	char why[NAME_BYTES + sizeof(err->text)];

	snprintf(why, sizeof(why), "%.48s: %s", name, err->text);
	for (char *c = why; *c; c++) {
		if (*c < 0x20 || *c > 0x7e || strchr("\"\\{}", *c))
			*c = '?';
	}
	nt_sum_add_unusable(reader->sum, why);
}

static void add_all(struct reader *reader, DIR *directory)
{
	const struct dirent *entry;
	struct nt_error err;

	while ((entry = readdir(directory)) != NULL) {
		if (!is_record(entry->d_name))
			continue;
		if (reader->files == NT_COLLECT_FILES || reader->bytes > NT_COLLECT_BYTES) {
			nt_sum_add_unusable(reader->sum, "more records than can be summed up");
			return;
		}
		reader->files++;
		if (add_file(reader, entry->d_name, &err) < 0)
			count_unusable(reader, entry->d_name, &err);
	}
}

int nt_collect_directory(struct nt_sum *sum, const char *path, uint32_t job, uint32_t step,
			 struct nt_error *err)
{
	struct reader reader = { .sum = sum, .job = job, .step = step };
	DIR *directory = NULL;
	int rc = -1;

	reader.dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (reader.dir_fd < 0)
		return nt_error_set(err, "%.150s: %m", path);
	reader.buffer = malloc(NT_RANK_RECORD_MAX + 1);
	directory = fdopendir(reader.dir_fd);
	if (reader.buffer && directory) {
		add_all(&reader, directory);
		rc = 0;
	} else {
		nt_error_set(err, "%.150s: %m", path);
	}
	if (directory)
		closedir(directory);
	else
		close(reader.dir_fd);
	free(reader.buffer);
	return rc;
}
