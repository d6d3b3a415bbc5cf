/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/longwrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "lib/dirstream.h"
#include "lib/file.h"
#include "lib/json-writer.h"
#include "lib/json-scanner.h"
#include "lib/write-all.h"

#define GZIP_BITS (15 + 16) /* zlib's largest window, and gzip's wrapping */
#define LEVEL 4 /* rank records shrink to a fifth; 6 takes twice as long for a tenth more */
#define HEAD_MAX 2048 /* the first line, before it is compressed and after */
#define LEAST_BYTES 4096 /* block and inode of a small file */
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define PARTS_MAX 16384 /* that are listed */

int nt_long_begin(struct nt_long_out *out, size_t max_bytes, struct nt_error *err)
{
	z_stream *stream = calloc(1, sizeof(*stream));

	memset(out, 0, sizeof(*out));
	out->max_bytes = max_bytes;
	out->line = malloc(NT_LONG_LINE_MAX);
	if (stream && out->line &&
	    deflateInit2(stream, LEVEL, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
		out->stream = stream;
		return 0;
	}
	free(stream);
	nt_long_end(out);
	return nt_error_set(err, "no memory to compress a record");
}

void nt_long_end(struct nt_long_out *out)
{
	if (out->stream)
		deflateEnd(out->stream);
	free(out->stream);
	free(out->line);
	free(out->data);
	memset(out, 0, sizeof(*out));
}

/* 0: it does not fit. */
static size_t compress_into(struct nt_long_out *out, const char *text, size_t text_bytes,
			    unsigned char *to, size_t to_bytes)
{
	z_stream *stream = out->stream;
	unsigned char *from = (unsigned char *)(uintptr_t)text; /* zlib does not write to it */
	int rc;

	deflateReset(stream);
	stream->next_in = from;
	stream->avail_in = (uInt)text_bytes;
	stream->next_out = to;
	stream->avail_out = (uInt)to_bytes;
	rc = deflate(stream, Z_FINISH);
	return rc == Z_STREAM_END ? to_bytes - stream->avail_out : 0;
}

static bool add_line(struct nt_long_out *out, size_t bytes)
{
	size_t left = out->max_bytes > out->used + HEAD_MAX ? out->max_bytes - out->used - HEAD_MAX
							    : 0;
	size_t most, done;

	deflateReset(out->stream); /* after its end a stream has no bound */
	most = deflateBound(out->stream, (uLong)bytes);
	if (out->lines == NT_LONG_LINES_MAX || out->text_bytes + bytes > NT_LONG_TEXT_MAX ||
	    !nt_array_reserve(&out->data, &out->size, out->used + most))
		return false;
	done = compress_into(out, out->line, bytes, out->data + out->used, most);
	if (done == 0 || done > left)
		return false;
	out->used += done;
	out->text_bytes += bytes;
	out->lines++;
	return true;
}

/* JSON has none within texts. */
static void join_lines(char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == '\n' || text[i] == '\r')
			text[i] = ' ';
	}
}

/* 0: the line is too long. */
static size_t compose(struct nt_long_out *out, const char *name, const char *value, size_t bytes)
{
	int front = snprintf(out->line, NT_LONG_LINE_MAX, "{\"%.20s\":", name);
	char *at = out->line + front;

	if (front < 0 || (size_t)front + bytes + 2 > NT_LONG_LINE_MAX)
		return 0;
	memcpy(at, value, bytes);
	join_lines(at, bytes);
	at[bytes] = '}';
	at[bytes + 1] = '\n';
	return (size_t)front + bytes + 2;
}

bool nt_long_add(struct nt_long_out *out, const char *name, const char *value, size_t value_bytes)
{
	bool record = strcmp(name, NT_LONG_RANK) == 0;
	size_t bytes;

	if (record && !nt_json_scan_is((struct nt_text){ value, value_bytes }, '{')) {
		out->unusable++;
		return false;
	}
	bytes = compose(out, name, value, value_bytes);
	if (bytes == 0 || !add_line(out, bytes)) {
		out->dropped += record;
		return false;
	}
	out->records += record;
	return true;
}

void nt_long_miss(struct nt_long_out *out)
{
	out->unusable++;
}

/* ---- the file */

static size_t compress_head(struct nt_long_out *out, struct nt_long_head *head,
			    unsigned char data[HEAD_MAX])
{
	char text[HEAD_MAX];
	struct nt_json_writer put;

	head->records = (int64_t)out->records;
	head->dropped = (int64_t)out->dropped;
	head->unusable = (int64_t)out->unusable;
	nt_json_put_begin(&put, text, sizeof(text) - 1, 1);
	nt_json_put_open(&put, NULL, '{');
	nt_fields_put(&put, &nt_long_fields, head);
	nt_json_put_close(&put);
	if (put.full)
		return 0;
	text[put.used] = '\n';
	return compress_into(out, text, put.used + 1, data, HEAD_MAX);
}

static int write_file(int fd, const struct nt_long_out *out, const unsigned char *head,
		      size_t head_bytes)
{
	int rc = -1;
	int saved;

	if (nt_write_all(fd, head, head_bytes) == 0 &&
	    nt_write_all(fd, out->data, out->used) == 0 && fsync(fd) == 0)
		rc = 0;
	saved = errno;
	if (close(fd) < 0 && rc == 0)
		return -1;
	if (rc < 0)
		errno = saved;
	return rc;
}

int nt_long_save(struct nt_long_out *out, int dir_fd, struct nt_long_head *head,
		 struct nt_error *err)
{
	char name[NT_LONG_NAME_MAX], temporary[NT_LONG_NAME_MAX + 8];
	unsigned char first[HEAD_MAX];
	size_t first_bytes = compress_head(out, head, first);
	int fd;

	if (first_bytes == 0)
		return nt_error_set(err, "its first line is too long");
	nt_long_part_name(name, head);
	/* Nobody else writes this node's step: a leftover is stale. */
	snprintf(temporary, sizeof(temporary), ".%s.tmp", name);
	(void)unlinkat(dir_fd, temporary, 0);
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return nt_error_set(err, "it cannot be written: %m");
	if (write_file(fd, out, first, first_bytes) < 0 ||
	    renameat(dir_fd, temporary, dir_fd, name) < 0) {
		nt_error_set(err, "it cannot be written: %m");
		(void)unlinkat(dir_fd, temporary, 0);
		return -1;
	}
	return 0;
}

/* ---- the directories */

static bool is_own(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_uid == geteuid();
}

/* A user may name a link, or a shared directory. */
static int open_users(const char *path, bool parents)
{
	return open(path, parents ? DIR_FLAGS & ~O_NOFOLLOW : DIR_FLAGS);
}

int nt_long_open(const char *path, bool parents, struct nt_error *err)
{
	int fd = open_users(path, parents);

	if (fd < 0 && errno == ENOENT) {
		if (parents && nt_directories_make(path, err) < 0)
			return -1;
		if (!parents && mkdir(path, 0700) < 0 && errno != EEXIST)
			return nt_error_set(err, "%.150s cannot be made: %m", path);
		fd = open_users(path, parents);
	}
	if (fd < 0)
		return nt_error_set(err, "%.150s: %s", path,
				    errno == ENOTDIR || errno == ELOOP ? "it is no directory"
								       : strerror(errno));
	if (parents || is_own(fd))
		return fd;
	close(fd);
	return nt_error_set(err, "%.150s belongs to another user", path);
}

int nt_long_open_job(int fd, const char *name, bool *made, struct nt_error *err)
{
	int job_fd;

	*made = mkdirat(fd, name, 0700) == 0;
	if (!*made && errno != EEXIST)
		return nt_error_set(err, "%.100s cannot be made: %m", name);
	job_fd = openat(fd, name, DIR_FLAGS);
	if (job_fd >= 0 && is_own(job_fd))
		return job_fd;
	if (job_fd < 0)
		return nt_error_set(err, "%.100s cannot be used as a directory: %m", name);
	close(job_fd);
	return nt_error_set(err, "%.100s belongs to another user", name);
}

/* ---- what goes */

struct part {
	char job[NT_LONG_NAME_MAX], name[NT_LONG_NAME_MAX + 8];
	int64_t job_ns, ns, bytes;
};

struct parts {
	struct part *items;
	size_t count;
	int64_t bytes;
};

static int64_t time_of(const struct stat *status)
{
	return (int64_t)status->st_mtim.tv_sec * 1000000000 + status->st_mtim.tv_nsec;
}

/* CLUSTER.JOBID */
static bool is_job(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) &&
	       strlen(name) < NT_LONG_NAME_MAX;
}

/* Also what a killed writer has left. */
static bool is_part(const char *name)
{
	size_t bytes = strlen(name);

	return nt_long_part_is(name) ||
	       (name[0] == '.' && bytes > 4 && bytes < NT_LONG_NAME_MAX + 8 &&
		strcmp(name + bytes - 4, ".tmp") == 0);
}

static void list_job(struct parts *parts, int job_fd, const char *job, int64_t job_ns)
{
	DIR *directory = nt_dirstream_open(job_fd);
	const struct dirent *file;
	struct stat status;
	struct part *part;

	while (directory && (file = readdir(directory)) != NULL) {
		if (!is_part(file->d_name) ||
		    fstatat(job_fd, file->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		part = nt_array_add(&parts->items, &parts->count, PARTS_MAX, sizeof(*part));
		if (!part)
			break;
		*part = (struct part){ .job_ns = job_ns, .ns = time_of(&status) };
		part->bytes = status.st_size > LEAST_BYTES ? status.st_size : LEAST_BYTES;
		snprintf(part->job, sizeof(part->job), "%.*s", NT_LONG_NAME_MAX - 1, job);
		snprintf(part->name, sizeof(part->name), "%.*s", (int)sizeof(part->name) - 1,
			 file->d_name);
		parts->bytes += part->bytes;
	}
	if (directory)
		closedir(directory);
}

/* -1: it is no job's of the user. */
static int open_own(int fd, const char *job)
{
	int job_fd = is_job(job) ? openat(fd, job, DIR_FLAGS) : -1;

	if (job_fd < 0 || is_own(job_fd))
		return job_fd;
	close(job_fd);
	return -1;
}

static void list_all(struct parts *parts, int fd, const char *last)
{
	DIR *directory = nt_dirstream_open(fd);
	const struct dirent *entry;
	struct stat status;
	int job_fd;

	while (directory && (entry = readdir(directory)) != NULL) {
		job_fd = open_own(fd, entry->d_name);
		if (job_fd < 0)
			continue;
		if (fstat(job_fd, &status) == 0)
			list_job(parts, job_fd, entry->d_name,
				 strcmp(entry->d_name, last) == 0 ? INT64_MAX : time_of(&status));
		close(job_fd);
	}
	if (directory)
		closedir(directory);
}

static int oldest_first(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	NT_COMPARE(a->job_ns, b->job_ns);
	NT_COMPARE(strcmp(a->job, b->job), 0);
	NT_COMPARE(a->ns, b->ns);
	return 0;
}

static bool remove_part(int fd, const struct part *part)
{
	int job_fd = open_own(fd, part->job);
	bool gone = job_fd >= 0 && unlinkat(job_fd, part->name, 0) == 0;

	if (job_fd >= 0)
		close(job_fd);
	if (gone)
		(void)unlinkat(fd, part->job, AT_REMOVEDIR); /* once it is empty */
	return gone;
}

size_t nt_long_trim(int fd, const char *job, const char *keep, int64_t max_bytes)
{
	struct parts parts = { .count = 0 };
	const char *going = ""; /* the job that goes as a whole */
	size_t gone = 0;

	list_all(&parts, fd, job);
	/* There are more than can be listed. */
	if (parts.count == PARTS_MAX && parts.bytes / 4 * 3 < max_bytes)
		max_bytes = parts.bytes / 4 * 3;
	if (parts.count > 0)
		qsort(parts.items, parts.count, sizeof(parts.items[0]), oldest_first);
	for (size_t i = 0; i < parts.count; i++) {
		const struct part *part = &parts.items[i];
		const bool own = strcmp(part->job, job) == 0;

		if ((parts.bytes <= max_bytes && strcmp(part->job, going) != 0) ||
		    (own && strcmp(part->name, keep) == 0))
			continue;
		parts.bytes -= part->bytes;
		going = own ? "" : part->job;
		gone += remove_part(fd, part);
	}
	free(parts.items);
	return gone;
}
