/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* put.h - write JSON into a buffer of fixed size: the one writer of all records
 *
 * Commas, brackets and escapes are its business. It keeps room for every bracket that is open, so
 * closing always succeeds. What does not fit, or would be nested deeper than its reader goes, is
 * not written, and the writer is full from then on. To leave a whole item out, keep a copy of the
 * writer before it:
 *
 *	struct nt_put before = *put;
 *	... the item ...
 *	if (put->full)
 *		*put = before;
 *
 * Threads:  one writer, one thread.
 * Memory:   the caller's buffer; nothing is allocated, as this runs in the NCCL process.
 * Errors:   put->full.
 */
#ifndef NT_PUT_H
#define NT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_RECORD_DEPTH \
	16 /* brackets open at once, at most: writers stop there, readers go so far */

struct nt_put {
	char *out;
	size_t bytes; /* room, with that for a NUL; may be lowered and raised again while writing */
	size_t used;
	bool full; /* something was left out */
	bool comma; /* one goes in front of the next item */
	unsigned depth, depth_max;
	char closer[NT_RECORD_DEPTH];
};

/* depth: of the format that is written, at most NT_RECORD_DEPTH. out_bytes: at least 1. */
void nt_put_begin(struct nt_put *put, char *out, size_t out_bytes, unsigned depth);

/* A name is NULL for an element of an array, and for the outermost value. Names are ours and hold
 * nothing to escape, or have been cleaned. bracket: '{' or '['. */
void nt_put_open(struct nt_put *put, const char *name, char bracket);
void nt_put_close(struct nt_put *put);

/* A number, or JSON text. */
void nt_put_value(struct nt_put *put, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void nt_put_count(struct nt_put *put, const char *name, uint64_t count);
void nt_put_bool(struct nt_put *put, const char *name, bool value);

/* What is not printable ASCII, and quotes and backslashes, become '?'. */
void nt_put_text(struct nt_put *put, const char *name, const char *text);

/* The same, but quotes are kept, each behind a backslash: JSON text inside JSON text. */
void nt_put_quoted(struct nt_put *put, const char *name, const char *text);

/* Two bytes a sample, low byte first, in base64 without padding. */
void nt_put_samples(struct nt_put *put, const char *name, const uint16_t *sample, unsigned count);
/* Bytes of such a text: how many, at most cap; -1: it is no base64, or longer. */
int nt_base64_decode(const char *text, uint8_t *out, size_t cap);

#endif
