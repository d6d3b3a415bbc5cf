/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Read a part, and find those of a job. */
#include "record/longset.h"

#include <dirent.h>
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
#include "record/member-names.h"
#include "record/read.h"

#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
#define GZIP_BITS (15 + 16)
#define IN_BYTES 65536

struct long_reader {
	int fd;
	z_stream stream;
	bool ended; /* the file is at its end */
	bool between; /* one gzip member has ended, and the next has not begun */
	size_t in_bytes, text_bytes, lines, records;
	struct nt_long_head *head;
	nt_long_visit *visit;
	void *argument;
	size_t held; /* bytes of line */
	char line[NT_LONG_LINE_MAX];
	unsigned char in[IN_BYTES];
};

/* ---- lines of a part */

static int read_head(const struct long_reader *reader, struct nt_text line, struct nt_error *err)
{
	struct nt_long_head *head = reader->head;
	json_object *object = NULL;
	struct nt_error reason;
	int rc = -1;

	nt_fields_clear(&nt_long_fields, head);
	if (nt_json_parse(line.at, line.bytes, &object, &reason) < 0 ||
	    !json_object_is_type(object, json_type_object) ||
	    nt_fields_read(&nt_long_fields, object, head, NT_READ_TO_COPY, &reason) < 0 ||
	    head->version < 0)
		nt_error_set(err, "it is not the long form of a record");
	else if (head->version != NT_LONG_VERSION)
		nt_error_set(err, "it is of version %lld (this nccl-tune reads version %d)",
			     (long long)head->version, NT_LONG_VERSION);
	else if (head->job < 0 || head->job > UINT32_MAX || !nt_step_name_valid(head->step) ||
		 !head->node[0])
		nt_error_set(err, "its first line does not name the job, step and node");
	else
		rc = 0;
	json_object_put(object);
	return rc;
}

static int read_line(struct long_reader *reader, struct nt_text line, struct nt_error *err)
{
	struct nt_json_member member;
	struct nt_json_scanner scan;

	if (reader->lines++ == 0)
		return read_head(reader, line, err);
	if (reader->lines > NT_LONG_LINES_MAX)
		return nt_error_set(err, "it has more than %d lines", NT_LONG_LINES_MAX);
	if (!nt_json_scan_is(line, '{'))
		return nt_error_set(err, "line %zu is not a JSON object", reader->lines);
	nt_json_scan_begin(&scan, line);
	if (nt_json_scan_next(&scan, &member) != 1)
		return 0;
	reader->records += nt_text_is(member.name, NT_LONG_RANK);
	return reader->visit(reader->argument, member.name, member.value, err);
}

static bool has_enough(const struct long_reader *reader)
{
	return reader->lines > 0 && !reader->visit;
}

/* Splits what was inflated into lines. */
static int take_lines(struct long_reader *reader, size_t bytes, struct nt_error *err)
{
	const char *end = memchr(reader->line + reader->held, '\n', bytes);
	const char *const stop = reader->line + reader->held + bytes;
	const char *start = reader->line;

	while (end && !has_enough(reader)) {
		const struct nt_text line = { start, (size_t)(end - start) };

		if (read_line(reader, line, err) < 0)
			return -1;
		start = end + 1;
		end = start < stop ? memchr(start, '\n', (size_t)(stop - start)) : NULL;
	}
	reader->held = (size_t)(stop - start);
	memmove(reader->line, start, reader->held);
	return 0;
}

/* ---- its bytes */

static int fill(struct long_reader *reader, struct nt_error *err)
{
	ssize_t got;

	if (reader->stream.avail_in > 0 || reader->ended)
		return 0;
	do
		got = read(reader->fd, reader->in, sizeof(reader->in));
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return nt_error_set(err, "it cannot be read: %m");
	reader->in_bytes += (size_t)got;
	if (reader->in_bytes > NT_LONG_TEXT_MAX)
		return nt_error_set(err, "it is larger than %zu bytes", NT_LONG_TEXT_MAX);
	reader->ended = got == 0;
	reader->stream.next_in = reader->in;
	reader->stream.avail_in = (uInt)got;
	return 0;
}

static int inflate_some(struct long_reader *reader, size_t *bytes, struct nt_error *err)
{
	size_t size = sizeof(reader->line) - reader->held;
	int rc;

	*bytes = 0;
	if (size == 0)
		return nt_error_set(err, "line %zu is too long", reader->lines + 1);
	if (reader->between)
		inflateReset(&reader->stream);
	reader->between = false;
	reader->stream.next_out = (unsigned char *)reader->line + reader->held;
	reader->stream.avail_out = (uInt)size;
	rc = inflate(&reader->stream, Z_NO_FLUSH);
	*bytes = size - reader->stream.avail_out;
	reader->text_bytes += *bytes;
	reader->between = rc == Z_STREAM_END;
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return nt_error_set(err, "corrupt after line %zu", reader->lines);
	if (reader->text_bytes > NT_LONG_TEXT_MAX)
		return nt_error_set(err, "it holds more than %zu bytes", NT_LONG_TEXT_MAX);
	return 0;
}

static int check_end(const struct long_reader *reader, struct nt_error *err)
{
	if (reader->in_bytes == 0)
		return nt_error_set(err, "it is empty");
	if (!reader->between || reader->held > 0 || reader->lines == 0)
		return nt_error_set(err, "truncated after line %zu", reader->lines);
	if (reader->head->records >= 0 && (size_t)reader->head->records != reader->records)
		return nt_error_set(err, "it has %zu records of %lld", reader->records,
				    (long long)reader->head->records);
	return 0;
}

static int read_all(struct long_reader *reader, struct nt_error *err)
{
	size_t bytes;

	for (;;) {
		if (fill(reader, err) < 0)
			return -1;
		if (reader->ended && (reader->between || reader->stream.avail_in == 0))
			return check_end(reader, err);
		if (inflate_some(reader, &bytes, err) < 0 || take_lines(reader, bytes, err) < 0)
			return -1;
		if (has_enough(reader))
			return 0;
	}
}

int nt_long_read(int fd, struct nt_long_head *head, nt_long_visit *visit, void *argument,
		 size_t *text_bytes, struct nt_error *err)
{
	struct long_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	nt_fields_clear(&nt_long_fields, head);
	if (!reader || inflateInit2(&reader->stream, GZIP_BITS) != Z_OK) {
		free(reader);
		return nt_error_set(err, "no memory to read it");
	}
	reader->fd = fd;
	reader->head = head;
	reader->visit = visit;
	reader->argument = argument;
	rc = read_all(reader, err);
	if (text_bytes)
		*text_bytes += reader->text_bytes;
	inflateEnd(&reader->stream);
	free(reader);
	return rc;
}

/* ---- which parts there are */

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
		    (kept > 0 && same_step(part, &set->parts[kept - 1]) &&
		     strcmp(part->head.node, set->parts[kept - 1].head.node) == 0))
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
