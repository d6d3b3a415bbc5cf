/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* json-scanner.h - a strict scan of JSON text in place, without a tree
 *
 * For text that must be kept byte for byte (admincomment-merge.h), and for processes that should
 * not run a full parser on a user's text. RFC 8259; bytes above 0x7f in strings are accepted.
 *
 * Threads:  pure functions, any thread.
 * Memory:   members point into the text.
 * Errors:   -1: not JSON, or nested deeper than NT_JSON_SCAN_DEPTH.
 */
#ifndef NT_JSON_SCAN_H
#define NT_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#define NT_JSON_SCAN_DEPTH 64

struct nt_text {
	const char *at;
	size_t bytes;
};

struct nt_json_member {
	struct nt_text name; /* without quotes; escapes are kept */
	struct nt_text value;
};

struct nt_json_scanner {
	struct nt_text text; /* one value, perhaps with white space around it */
	size_t pos;
	bool open; /* the object has begun */
};

/* Is text one JSON value that begins with '{' or '[', perhaps with white space around it? */
bool nt_json_scan_is(struct nt_text text, char first);

/* The next member of an object: 1; 0 at the end; -1 if it is no object. */
void nt_json_scan_begin(struct nt_json_scanner *scan, struct nt_text text);
int nt_json_scan_next(struct nt_json_scanner *scan, struct nt_json_member *member);

/* The last member of that name; false: none, or text is no object. */
bool nt_json_scan_member(struct nt_text text, const char *name, struct nt_text *value);

/* The number of members of an object. */
size_t nt_json_scan_count(struct nt_text text);

/* The next text of an array of texts without escapes; *pos is 0 at first. */
bool nt_json_scan_text(struct nt_text array, size_t *pos, struct nt_text *text);

bool nt_text_is(struct nt_text text, const char *word);
bool nt_text_begins(struct nt_text text, const char *with);
struct nt_text nt_text_of(const char *string);

#endif
