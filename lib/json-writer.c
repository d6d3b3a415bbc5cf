/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/json-writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void nt_json_put_begin(struct nt_json_writer *put, char *out, size_t out_bytes, unsigned depth)
{
	*put = (struct nt_json_writer){
		.out = out,
		.bytes = out_bytes,
		.depth_max = depth < NT_RECORD_DEPTH ? depth : NT_RECORD_DEPTH,
	};
	out[0] = '\0';
}

/* Without the closing brackets and the NUL. */
static size_t bytes_left(const struct nt_json_writer *put)
{
	size_t taken = put->used + put->depth + 1;

	return !put->full && put->bytes > taken ? put->bytes - taken : 0;
}

static void put_format(struct nt_json_writer *put, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/* All or nothing. */
static void put_format(struct nt_json_writer *put, const char *format, va_list args)
{
	size_t left = bytes_left(put);
	int length = vsnprintf(put->out + put->used, left + 1, format, args);

	if (length < 0 || (size_t)length > left)
		put->full = true;
	else
		put->used += (size_t)length;
	put->out[put->used] = '\0';
}

static void put_char(struct nt_json_writer *put, char c)
{
	if (bytes_left(put) == 0) {
		put->full = true;
		return;
	}
	put->out[put->used++] = c;
	put->out[put->used] = '\0';
}

static void put_string(struct nt_json_writer *put, const char *text)
{
	while (*text)
		put_char(put, *text++);
}

/* The comma and the name before a value. */
static void put_front(struct nt_json_writer *put, const char *name)
{
	if (put->comma)
		put_char(put, ',');
	put->comma = true;
	if (!name)
		return;
	put_char(put, '"');
	put_string(put, name);
	put_string(put, "\":");
}

void nt_json_put_open(struct nt_json_writer *put, const char *name, char bracket)
{
	put_front(put, name);
	if (put->depth >= put->depth_max || bytes_left(put) < 2) {
		put->full = true;
		return;
	}
	put_char(put, bracket);
	put->closer[put->depth++] = bracket == '{' ? '}' : ']';
	put->comma = false;
}

/* In a full writer the bracket may not be open. */
void nt_json_put_close(struct nt_json_writer *put)
{
	if (put->full || put->depth == 0)
		return;
	put->depth--;
	put->out[put->used++] = put->closer[put->depth];
	put->out[put->used] = '\0';
	put->comma = true;
}

void nt_json_put_value(struct nt_json_writer *put, const char *name, const char *format, ...)
{
	va_list args;

	put_front(put, name);
	va_start(args, format);
	put_format(put, format, args);
	va_end(args);
}

void nt_json_put_count(struct nt_json_writer *put, const char *name, uint64_t count)
{
	nt_json_put_value(put, name, "%" PRIu64, count);
}

void nt_json_put_bool(struct nt_json_writer *put, const char *name, bool value)
{
	nt_json_put_value(put, name, "%s", value ? "true" : "false");
}

static void put_plain(struct nt_json_writer *put, char c)
{
	put_char(put, c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '|' ? c : '?');
}

void nt_json_put_text(struct nt_json_writer *put, const char *name, const char *text)
{
	put_front(put, name);
	put_char(put, '"');
	while (*text)
		put_plain(put, *text++);
	put_char(put, '"');
}

void nt_json_put_quoted(struct nt_json_writer *put, const char *name, const char *text)
{
	put_front(put, name);
	put_char(put, '"');
	for (; *text; text++) {
		if (*text == '"')
			put_string(put, "\\\"");
		else
			put_plain(put, *text);
	}
	put_char(put, '"');
}

void nt_json_put_samples(struct nt_json_writer *put, const char *name, const uint16_t *sample,
			 unsigned count)
{
	uint32_t held = 0;
	unsigned bits = 0;

	put_front(put, name);
	put_char(put, '"');
	for (unsigned i = 0; i < 2 * count; i++) {
		held = held << 8 | ((i % 2 ? sample[i / 2] >> 8 : sample[i / 2]) & 0xff);
		for (bits += 8; bits >= 6; bits -= 6)
			put_char(put, digits[held >> (bits - 6) & 63]);
	}
	if (bits > 0)
		put_char(put, digits[held << (6 - bits) & 63]);
	put_char(put, '"');
}
