/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* The rank records of a directory that belongs to a user. */
#include "recordd/collect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "contract/names.h"
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "lib/hash.h"
#include "lib/file.h"
#include "lib/printable.h"
#include "record/calls-record.h"
#include "record/rank.h"
#include "spank/step/safe-open.h"

struct directory_reader {
	nt_collect_visit *visit;
	void *argument;
	int dir_fd;
	size_t files, calls, bytes;
};

struct adder {
	struct nt_sum *sum;
	uint32_t job, step;
};

/* Opening must not follow a link, wait for a writer of a FIFO, or enter a user's file system. */
int nt_collect_file(int dir_fd, const char *name, size_t max_bytes, char **text, size_t *text_bytes,
		    struct nt_error *err)
{
	int fd = nt_safe_open(dir_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
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

static void show(struct directory_reader *reader, struct nt_collected *file)
{
	reader->bytes += file->bytes;
	reader->visit(reader->argument, file);
	free(file->text);
}

static void visit_record(struct directory_reader *reader, const char *name)
{
	struct nt_collected file = { .kind = NT_COLLECTED_RECORD };

	snprintf(file.name, sizeof(file.name), "%.*s", NT_COLLECT_NAME - 1, name);
	(void)nt_collect_file(reader->dir_fd, name, NT_RANK_RECORD_MAX, &file.text, &file.bytes,
			      &file.why);
	show(reader, &file);
}

/* An unusable one is not reported: it is not a record. */
static void visit_calls(struct directory_reader *reader, const char *name)
{
	struct nt_collected file = { .kind = NT_COLLECTED_CALLS };
	char *bytes = NULL, *text = malloc(NT_RANK_RECORD_MAX);
	size_t count = 0;

	snprintf(file.name, sizeof(file.name), "%.*s", NT_COLLECT_NAME - 1, name);
	if (text && nt_collect_file(reader->dir_fd, name, sizeof(struct nt_calls), &bytes, &count,
				    NULL) == 0)
		file.bytes = nt_calls_format(bytes, count,
					     nt_clock_read_ns(CLOCK_REALTIME) / 1000000, text,
					     NT_RANK_RECORD_MAX);
	if (file.bytes > 0)
		file.text = strndup(text, file.bytes);
	if (file.text)
		show(reader, &file);
	free(bytes);
	free(text);
}

static bool is_shm(const char *name)
{
	return strncmp(name, NT_SHM_FILE ".", sizeof(NT_SHM_FILE)) == 0;
}

static void visit_all(struct directory_reader *reader, DIR *directory)
{
	const struct dirent *entry;

	while ((entry = readdir(directory)) != NULL) {
		if (is_shm(entry->d_name))
			show(reader, &(struct nt_collected){ .kind = NT_COLLECTED_SHM });
		if (nt_calls_file_is(entry->d_name) && reader->calls < NT_COLLECT_FILES &&
		    reader->bytes <= NT_COLLECT_BYTES) {
			reader->calls++;
			visit_calls(reader, entry->d_name);
		}
		if (!nt_rank_file_is(entry->d_name))
			continue;
		if (reader->files == NT_COLLECT_FILES || reader->bytes > NT_COLLECT_BYTES) {
			show(reader,
			     &(struct nt_collected){ .why = { "too many records to sum up" } });
			return;
		}
		reader->files++;
		visit_record(reader, entry->d_name);
	}
}

/* With ctime, which nobody can set back. */
static uint64_t sign(int dir_fd, const char *name)
{
	uint64_t hash = nt_hash64_text(name);
	struct stat status;

	if (fstatat(dir_fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
		return hash;
	hash = nt_hash64(hash, &status.st_ino, sizeof(status.st_ino));
	hash = nt_hash64(hash, &status.st_size, sizeof(status.st_size));
	hash = nt_hash64(hash, &status.st_mtim, sizeof(status.st_mtim));
	return nt_hash64(hash, &status.st_ctim, sizeof(status.st_ctim));
}

/* The user may have mounted something on it. */
static DIR *open_directory(const char *path)
{
	return nt_dirstream_take(nt_safe_open_path(path, O_RDONLY | O_DIRECTORY));
}

uint64_t nt_collect_signature(const char *path)
{
	DIR *directory = open_directory(path);
	const struct dirent *entry;
	uint64_t sum = 0;
	size_t files = 0;

	if (!directory)
		return 0;
	while (files < NT_COLLECT_FILES && (entry = readdir(directory)) != NULL) {
		if (!nt_rank_file_is(entry->d_name) && !is_shm(entry->d_name))
			continue;
		files++;
		/* Of the shared memory, which changes all the time, only the name counts. */
		sum += nt_rank_file_is(entry->d_name) ? sign(dirfd(directory), entry->d_name) : 1;
	}
	closedir(directory);
	return sum;
}

int nt_collect_each(const char *path, nt_collect_visit *visit, void *argument, struct nt_error *err)
{
	struct directory_reader reader = { .visit = visit, .argument = argument };
	DIR *directory = open_directory(path);

	if (!directory)
		return nt_error_set(err, "%.150s: %m", path);
	reader.dir_fd = dirfd(directory);
	visit_all(&reader, directory);
	closedir(directory);
	return 0;
}

/* The name is the user's text, too. */
static void count_unusable(struct nt_sum *sum, const char *name, const char *reason)
{
	char why[NT_COLLECT_NAME + sizeof(((struct nt_error *)0)->text)];

	snprintf(why, sizeof(why), "%.48s%s%s", name, name[0] ? ": " : "", reason);
	nt_sum_add_unusable(sum, nt_printable_json(why));
}

void nt_collect_add(struct nt_sum *sum, const struct nt_collected *file, uint32_t job,
		    uint32_t step)
{
	struct nt_error err;

	if (file->kind == NT_COLLECTED_SHM)
		sum->started = true;
	else if (file->kind == NT_COLLECTED_CALLS)
		(void)nt_sum_add_begun(sum, file->text, file->bytes, &err);
	else if (!file->text)
		count_unusable(sum, file->name, file->why.text);
	else if (nt_sum_add_record(sum, file->text, file->bytes, job, step, &err) < 0)
		count_unusable(sum, file->name, err.text);
}

static void add_file(void *argument, struct nt_collected *file)
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
