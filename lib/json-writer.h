/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* json-writer.h - write JSON into a buffer of fixed size
 *
 * Writes commas, brackets and escapes. Room for closing every open bracket is reserved. What does
 * not fit, or is nested too deep, is not written, and the writer is full from then on. To leave out
 * a whole item, keep a copy of the writer:
 *
 *	struct nt_json_writer before = *put;
 *	... the item ...
 *	if (put->full)
 *		*put = before;
 *
 * Threads:  one writer, one thread.
 * Memory:   the caller's buffer; nothing is allocated, as this runs in the NCCL process.
 * Errors:   put->full.
 */
#ifndef NT_JSON_PUT_H
#define NT_JSON_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_RECORD_DEPTH 16 /* most brackets open at once, in writers and readers */

struct nt_json_writer {
	char *out;
	size_t bytes; /* room with a NUL; may be lowered and raised while writing */
	size_t used;
	bool full; /* something was left out */
	bool comma; /* before the next item */
	unsigned depth, depth_max;
	char closer[NT_RECORD_DEPTH];
};

/* depth: of the format, at most NT_RECORD_DEPTH. out_bytes: at least 1. */
void nt_json_put_begin(struct nt_json_writer *put, char *out, size_t out_bytes, unsigned depth);

/* name NULL: an element of an array, or the outermost value. Names must need no escapes. bracket:
 * '{' or '['. */
void nt_json_put_open(struct nt_json_writer *put, const char *name, char bracket);
void nt_json_put_close(struct nt_json_writer *put);

/* A number, or JSON text. */
void nt_json_put_value(struct nt_json_writer *put, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void nt_json_put_count(struct nt_json_writer *put, const char *name, uint64_t count);
void nt_json_put_bool(struct nt_json_writer *put, const char *name, bool value);

/* Quotes, backslashes, '|' (sacct -P has it between columns) and bytes that are not printable ASCII
 * become '?'. */
void nt_json_put_text(struct nt_json_writer *put, const char *name, const char *text);

/* The same, but quotes are escaped, for JSON text inside JSON text. */
void nt_json_put_quoted(struct nt_json_writer *put, const char *name, const char *text);

/* Two bytes per sample, low byte first, in base64 without padding. */
void nt_json_put_samples(struct nt_json_writer *put, const char *name, const uint16_t *sample,
			 unsigned count);

#endif
