/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h - walk over JSON text in place, strictly, without building anything
 *
 * For text that must be kept byte for byte (splice.h), and for a check by a process that should not
 * run a parser over what a user wrote. RFC 8259; bytes above 0x7f inside strings are taken as they
 * are.
 *
 * Threads:  pure functions, any thread.
 * Memory:   members point into the text.
 * Errors:   -1: not JSON, or nested deeper than NT_SCAN_DEPTH.
 */
#ifndef NT_SCAN_H
#define NT_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#define NT_SCAN_DEPTH 64

struct nt_text {
	const char *at;
	size_t bytes;
};

struct nt_member {
	struct nt_text name; /* without its quotes, escapes as they are */
	struct nt_text value;
};

struct nt_scan {
	struct nt_text text; /* one whole value, white space around it allowed */
	size_t pos;
	bool open; /* inside the object */
};

/* Is text one JSON value of that first character ('{' or '['), white space around it allowed? */
bool nt_scan_is(struct nt_text text, char first);

/* The members of an object: 1 and *member, 0 at the end, -1 where it is no object. */
void nt_scan_begin(struct nt_scan *scan, struct nt_text text);
int nt_scan_next(struct nt_scan *scan, struct nt_member *member);

/* The value of the last member of that name; false: there is none, or text is no object. */
bool nt_scan_member(struct nt_text text, const char *name, struct nt_text *value);

/* How many elements or members does a valid array or object have? 0 for other values. */
size_t nt_scan_count(struct nt_text text);

bool nt_text_is(struct nt_text text, const char *word);
struct nt_text nt_text_of(const char *string);

#endif
