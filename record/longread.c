/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/longread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "record/member-names.h"
#include "record/read.h"

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

/* ---- lines */

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

/* ---- bytes */

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
	size_t room = sizeof(reader->line) - reader->held;
	int rc;

	*bytes = 0;
	if (room == 0)
		return nt_error_set(err, "line %zu is too long", reader->lines + 1);
	if (reader->between)
		inflateReset(&reader->stream);
	reader->between = false;
	reader->stream.next_out = (unsigned char *)reader->line + reader->held;
	reader->stream.avail_out = (uInt)room;
	rc = inflate(&reader->stream, Z_NO_FLUSH);
	*bytes = room - reader->stream.avail_out;
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

bool nt_long_begins(int fd)
{
	unsigned char magic[2];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && magic[0] == 0x1f &&
	       magic[1] == 0x8b;
}
