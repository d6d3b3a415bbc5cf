/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The rank records of a directory that belongs to a user. */
#include "spank/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "contract/names.h"
#include "record/file.h"
#include "record/printable.h"
#include "record/rank.h"
#include "spank/beneath.h"

#define NAME_BYTES 128 /* rank.<task>.<pid>.json needs 32 */

struct reader {
	struct nt_sum *sum;
	uint32_t job, step;
	int dir_fd;
	size_t files, bytes;
};

/* Opening must neither follow a link nor wait for somebody at the other end of a pipe, or of a file
 * system. */
static int read_file(const struct reader *reader, const char *name, char **text, size_t *text_bytes,
		     struct nt_error *err)
{
	int fd = nt_beneath_open(reader->dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	int rc;

	if (fd < 0 && errno == EXDEV)
		return nt_error_set(err, "something is mounted on it");
	if (fd < 0)
		return nt_error_set(err, errno == ELOOP ? "it is a link" : "it cannot be opened");
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return nt_error_set(err, "it is not a plain file");
	}
	rc = nt_file_read_fd(fd, name, NT_RANK_RECORD_MAX, text, text_bytes, NULL);
	if (rc < 0)
		nt_error_set(err, errno == EFBIG ? "it is too long" : "it cannot be read");
	close(fd);
	return rc;
}

static int add_file(struct reader *reader, const char *name, struct nt_error *err)
{
	size_t text_bytes;
	char *text;
	int rc;

	if (read_file(reader, name, &text, &text_bytes, err) < 0)
		return -1;
	reader->bytes += text_bytes;
	rc = nt_sum_add_record(reader->sum, text, text_bytes, reader->job, reader->step, err);
	free(text);
	return rc;
}

/* Of the name, too, only what cannot harm the record's text. */
static void count_unusable(struct reader *reader, const char *name, const struct nt_error *err)
{
	char why[NAME_BYTES + sizeof(err->text)];

	snprintf(why, sizeof(why), "%.48s: %s", name, err->text);
	for (char *c = nt_printable(why); *c; c++) {
		if (strchr("\"\\{}", *c))
			*c = '?';
	}
	nt_sum_add_unusable(reader->sum, why);
}

static void add_all(struct reader *reader, DIR *directory)
{
	const struct dirent *entry;
	struct nt_error err;

	while ((entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, NT_BOARD_FILE ".", sizeof(NT_BOARD_FILE)) == 0)
			reader->sum->board = true;
		if (!nt_rank_file_is(entry->d_name))
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

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	while (bytes-- > 0)
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash;
}

/* ctime too: nobody can set it back. */
static uint64_t sign(int dir_fd, const char *name)
{
	uint64_t hash = mix(0xcbf29ce484222325u, name, strlen(name));
	struct stat status;

	if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return hash;
	hash = mix(hash, &status.st_ino, sizeof(status.st_ino));
	hash = mix(hash, &status.st_size, sizeof(status.st_size));
	hash = mix(hash, &status.st_mtim, sizeof(status.st_mtim));
	return mix(hash, &status.st_ctim, sizeof(status.st_ctim));
}

uint64_t nt_collect_signature(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	uint64_t sum = 0;
	size_t files = 0;

	if (!directory)
		return 0;
	while (files < NT_COLLECT_FILES && (entry = readdir(directory)) != NULL) {
		if (!nt_rank_file_is(entry->d_name) &&
		    strncmp(entry->d_name, NT_BOARD_FILE ".", sizeof(NT_BOARD_FILE)) != 0)
			continue;
		files++;
		/* The board is written to all the time; that it is there is news. */
		sum += nt_rank_file_is(entry->d_name) ? sign(dirfd(directory), entry->d_name) : 1;
	}
	closedir(directory);
	return sum;
}

int nt_collect_directory(struct nt_sum *sum, const char *path, uint32_t job, uint32_t step,
			 struct nt_error *err)
{
	struct reader reader = { .sum = sum, .job = job, .step = step };
	DIR *directory;

	reader.dir_fd = nt_beneath_open_path(path, O_RDONLY | O_DIRECTORY);
	if (reader.dir_fd < 0)
		return nt_error_set(err, "%.150s: %m", path);
	directory = fdopendir(reader.dir_fd);
	if (!directory) {
		close(reader.dir_fd);
		return nt_error_set(err, "%.150s: %m", path);
	}
	add_all(&reader, directory);
	closedir(directory);
	return 0;
}
