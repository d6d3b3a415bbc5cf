/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/longwrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "lib/array.h"
#include "lib/json-writer.h"
#include "lib/json-scanner.h"
#include "lib/write-all.h"

#define GZIP_BITS (15 + 16) /* zlib's largest window, and gzip's wrapping */
#define LEVEL 4 /* rank records shrink to a fifth; 6 takes twice as long for a tenth more */
#define HEAD_MAX 2048 /* the first line, before it is compressed and after */

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
	    !nt_array_room(&out->data, &out->room, out->used + most))
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
