/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/memory-store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "lib/clock.h"
#include "lib/dirstream.h"
#include "lib/file.h"
#include "lib/trim.h"

#define SUFFIX ".jsonl"
#define UNFINISHED ".tmp"
#define MEETING "nccl-tune-bench." /* of a benchmark of nccl-tune calibrate (bench/meet.h) */
#define NAME_MAX_BYTES 64
#define TRIES 4

/* File names from one listing of the directory. */
struct listing {
	unsigned count, more;
	char name[NT_STORE_FILES][NAME_MAX_BYTES];
	bool whole[NT_STORE_FILES]; /* read, and every line was understood */
};

static int open_directory(const char *dir, struct nt_error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		nt_error_set(err, "%.120s: %s", dir, strerror(errno));
	return fd;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Other writers' unfinished files stay, unless they are so old that the writer must be gone. */
static void sweep(int fd, const char *name, int64_t now_s)
{
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    now_s - (int64_t)st.st_mtime > NT_STORE_STALE_S)
		unlinkat(fd, name, 0);
}

/* sweep_at: the current time, or 0 to keep unfinished files. */
static int list(int fd, struct listing *out, int64_t sweep_at, struct nt_error *err)
{
	DIR *dir = nt_dirstream_open(fd);
	struct dirent *entry;

	out->count = out->more = 0;
	if (dir == NULL)
		return nt_error_set(err, "cannot list the memory: %s", strerror(errno));
	while ((entry = readdir(dir)) != NULL) {
		if (sweep_at != 0 && (nt_ends_with(entry->d_name, UNFINISHED) ||
				      strncmp(entry->d_name, MEETING, strlen(MEETING)) == 0))
			sweep(fd, entry->d_name, sweep_at);
		if (!nt_ends_with(entry->d_name, SUFFIX) || strlen(entry->d_name) >= NAME_MAX_BYTES)
			continue;
		if (out->count == NT_STORE_FILES) {
			out->more++;
			continue;
		}
		memcpy(out->name[out->count++], entry->d_name, strlen(entry->d_name) + 1);
	}
	closedir(dir);
	qsort(out->name, out->count, NAME_MAX_BYTES, by_text);
	return 0;
}

/* -1 only if the file has disappeared since the listing: another process has compacted. */
static int read_one(int fd, struct listing *files, unsigned i, struct nt_memory *memory)
{
	size_t size = memory->bytes < NT_MEMORY_BYTES ? NT_MEMORY_BYTES - memory->bytes : 0;
	char *text;
	size_t bytes;
	int skipped;

	files->whole[i] = false;
	if (nt_file_read_at(fd, files->name[i], NT_FILE_NO_LINK,
			    size < NT_STORE_FILE_MAX ? size : NT_STORE_FILE_MAX, &text, &bytes,
			    NULL) < 0) {
		if (errno == ENOENT || errno == ESTALE)
			return -1;
		memory->skipped_files++;
		return 0;
	}
	skipped = nt_memory_read_text(memory, text, bytes, NULL);
	free(text);
	files->whole[i] = skipped == 0;
	memory->files++;
	return 0;
}

/* The entries of a file that has disappeared are in a newer one: start again. */
static int read_listed(int fd, struct listing *files, struct nt_memory *memory, int64_t sweep_at,
		       struct nt_error *err)
{
	for (unsigned attempt = 0; attempt < TRIES; attempt++) {
		bool missing = false;

		nt_memory_fini(memory);
		if (list(fd, files, sweep_at, err) < 0)
			return -1;
		for (unsigned i = 0; i < files->count; i++)
			if (read_one(fd, files, i, memory) < 0)
				missing = true;
		memory->skipped_files += files->more;
		if (!missing)
			return 0;
	}
	return 0; /* the entries that were read are valid, though some may be missing */
}

int nt_store_read(const char *dir, struct nt_memory *memory, int64_t now_s, struct nt_error *err)
{
	struct listing *files = malloc(sizeof(*files));
	int fd = open_directory(dir, err), rc = -1;

	if (fd < 0)
		rc = errno == ENOENT ? 0 : -1;
	else if (files == NULL)
		nt_error_set(err, "out of memory");
	else
		rc = read_listed(fd, files, memory, 0, err);
	nt_memory_sort(memory, now_s);
	free(files);
	if (fd >= 0)
		close(fd);
	return rc;
}

int64_t nt_store_now_us(void)
{
	return nt_clock_read_ns(CLOCK_REALTIME) / 1000;
}

int nt_store_open(const char *dir, struct nt_error *err)
{
	return nt_directories_make(dir, err) < 0 ? -1 : open_directory(dir, err);
}

static int write_file(int fd, const struct nt_memory *memory, char *name, struct nt_error *err)
{
	char digits[33];

	if (nt_random_digits(digits, sizeof(digits) - 1, err) < 0)
		return -1;
	snprintf(name, NAME_MAX_BYTES, "%s" SUFFIX, digits);
	return nt_memory_replace(memory, "", fd, name, 0600, err);
}

/* Merges all files that can be read completely into one, and removes unfinished ones. which:
 * entries that are left out; then every file that was read goes. Returns their number. */
static int rewrite(const char *dir, const struct nt_which *which, int64_t now_s,
		   struct nt_error *err)
{
	char name[NAME_MAX_BYTES];
	struct nt_memory memory;
	struct listing *files = malloc(sizeof(*files));
	int fd = open_directory(dir, err), rc = -1, dropped;

	nt_memory_init(&memory);
	if (files == NULL)
		nt_error_set(err, "out of memory");
	if (fd < 0 || files == NULL || read_listed(fd, files, &memory, now_s, err) < 0)
		goto out;
	nt_memory_sort(&memory, now_s);
	dropped = which ? nt_memory_drop(&memory, which) : 0;
	rc = which && dropped == 0 ? 0 : write_file(fd, &memory, name, err);
	for (unsigned i = 0; rc == 0 && (!which || dropped > 0) && i < files->count; i++)
		if (files->whole[i] || which)
			unlinkat(fd, files->name[i], 0);
	rc = rc == 0 ? dropped : -1;
out:
	nt_memory_fini(&memory);
	free(files);
	if (fd >= 0)
		close(fd);
	return rc;
}

int nt_store_compact(const char *dir, int64_t now_s, struct nt_error *err)
{
	return rewrite(dir, NULL, now_s, err) < 0 ? -1 : 0;
}

int nt_store_forget(const char *dir, const struct nt_which *which, int64_t now_s,
		    struct nt_error *err)
{
	return access(dir, F_OK) < 0 && errno == ENOENT ? 0 : rewrite(dir, which, now_s, err);
}

static unsigned files_in(int fd)
{
	struct listing *files = malloc(sizeof(*files));
	unsigned count = 0;

	if (files != NULL && list(fd, files, 0, NULL) == 0)
		count = files->count;
	free(files);
	return count;
}

int nt_store_add(const char *dir, const struct nt_memory *memory, int64_t now_s,
		 struct nt_error *err)
{
	char name[NAME_MAX_BYTES];
	int fd, rc;

	fd = nt_store_open(dir, err);
	if (fd < 0)
		return -1;
	rc = write_file(fd, memory, name, err);
	if (rc == 0 && files_in(fd) >= NT_STORE_COMPACT_AT)
		nt_store_compact(dir, now_s, NULL);
	close(fd);
	return rc;
}
