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

/* Who wants the records. */
struct reader {
	nt_collect_visit *visit;
	void *argument;
	int dir_fd;
	size_t files, bytes;
};

/* What is summed up. */
struct adder {
	struct nt_sum *sum;
	uint32_t job, step;
};

/* Opening must neither follow a link nor wait for somebody at the other end of a pipe, or of a file
 * system. */
int nt_collect_file(int dir_fd, const char *name, size_t max_bytes, char **text, size_t *text_bytes,
		    struct nt_error *err)
{
	int fd = nt_beneath_open(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
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
	rc = nt_file_read_fd(fd, name, max_bytes, text, text_bytes, NULL);
	if (rc < 0)
		nt_error_set(err, errno == EFBIG ? "it is too long" : "it cannot be read");
	close(fd);
	return rc;
}

static void visit_file(struct reader *reader, const char *name)
{
	struct nt_collected file = { .name = name };
	struct nt_error err;
	char *text = NULL;

	if (nt_collect_file(reader->dir_fd, name, NT_RANK_RECORD_MAX, &text, &file.bytes, &err) < 0)
		file.why = err.text;
	file.text = text;
	reader->bytes += file.bytes;
	reader->visit(reader->argument, &file);
	free(text);
}

static void visit_all(struct reader *reader, DIR *directory)
{
	const struct dirent *entry;

	while ((entry = readdir(directory)) != NULL) {
		if (strncmp(entry->d_name, NT_BOARD_FILE ".", sizeof(NT_BOARD_FILE)) == 0)
			reader->visit(reader->argument, &(struct nt_collected){ .name = NULL });
		if (!nt_rank_file_is(entry->d_name))
			continue;
		if (reader->files == NT_COLLECT_FILES || reader->bytes > NT_COLLECT_BYTES) {
			reader->visit(reader->argument,
				      &(struct nt_collected){
					      .name = "",
					      .why = "more records than can be summed up",
				      });
			return;
		}
		reader->files++;
		visit_file(reader, entry->d_name);
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

int nt_collect_each(const char *path, nt_collect_visit *visit, void *argument, struct nt_error *err)
{
	struct reader reader = { .visit = visit, .argument = argument };
	DIR *directory;

	reader.dir_fd = nt_beneath_open_path(path, O_RDONLY | O_DIRECTORY);
	if (reader.dir_fd < 0)
		return nt_error_set(err, "%.150s: %m", path);
	directory = fdopendir(reader.dir_fd);
	if (!directory) {
		close(reader.dir_fd);
		return nt_error_set(err, "%.150s: %m", path);
	}
	visit_all(&reader, directory);
	closedir(directory);
	return 0;
}

/* Of the name, too, only what cannot harm the record's text. */
static void count_unusable(struct nt_sum *sum, const char *name, const char *reason)
{
	char why[NAME_BYTES + sizeof(((struct nt_error *)0)->text)];

	snprintf(why, sizeof(why), "%.48s%s%s", name, name[0] ? ": " : "", reason);
	for (char *c = nt_printable(why); *c; c++) {
		if (strchr("\"\\{}", *c))
			*c = '?';
	}
	nt_sum_add_unusable(sum, why);
}

void nt_collect_add(struct nt_sum *sum, const struct nt_collected *file, uint32_t job,
		    uint32_t step)
{
	struct nt_error err;

	if (!file->name)
		sum->board = true;
	else if (file->why)
		count_unusable(sum, file->name, file->why);
	else if (nt_sum_add_record(sum, file->text, file->bytes, job, step, &err) < 0)
		count_unusable(sum, file->name, err.text);
}

static void add_file(void *argument, const struct nt_collected *file)
{
	const struct adder *adder = argument;

	nt_collect_add(adder->sum, file, adder->job, adder->step);
}

int nt_collect_directory(struct nt_sum *sum, const char *path, uint32_t job, uint32_t step,
			 struct nt_error *err)
{
	struct adder adder = { sum, job, step };

	return nt_collect_each(path, add_file, &adder, err);
}
