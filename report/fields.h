/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fields.h - read the members of a JSON object into a struct, by a table of what may be there
 *
 * Threads:  pure functions, any thread.
 * Memory:   the target is the caller's; strings are copied, cut to nothing, refused when too long.
 * Errors:   -1 and *err names the member, its value and what is accepted; the target is then
 *           unspecified. An unknown, a missing and a malformed member are errors alike.
 */
#ifndef NT_FIELDS_H
#define NT_FIELDS_H

#include <json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"

enum nt_field_kind {
	NT_FIELD_COUNT, /* int64_t: a whole number from 0 */
	NT_FIELD_NUMBER, /* double: any finite number */
	NT_FIELD_TIME, /* double: a finite number from 0 */
	NT_FIELD_SHARE, /* double: 0 to 1 */
	NT_FIELD_BOOL, /* bool */
	NT_FIELD_TEXT, /* char[room]: what cannot be printed becomes '?' */
	NT_FIELD_COLL, /* int: enum nt_coll */
	NT_FIELD_ARM, /* int: as nt_arm_parse has it */
	NT_FIELD_TIMES, /* double[2]: an array of one or two times; the second stays as it was */
	NT_FIELD_OBJECT, /* json_object *: borrowed */
	NT_FIELD_ARRAY, /* json_object *: borrowed */
};

struct nt_field {
	const char *name;
	size_t offset; /* of the member in the target */
	size_t room; /* NT_FIELD_TEXT only */
	enum nt_field_kind kind;
	bool required;
};

/* One JSON text, strictly: nothing but white space behind it. After text behind it -1, and
 * *object is there. */
int nt_json_parse(const char *text, size_t text_bytes, json_object **object, struct nt_error *err);

/* Members that are absent leave the target as it was. */
int nt_fields_read(const struct nt_field *fields, size_t count, json_object *object, void *target,
		   struct nt_error *err);

/* One member, already known by name. */
int nt_field_read(const struct nt_field *field, json_object *value, void *target,
		  struct nt_error *err);

/* Copy text, with '?' for every byte that is not printable ASCII; -1 if it did not fit (then it
 * is cut). */
int nt_printable_copy(char *out, size_t out_bytes, const char *text, size_t text_bytes);

#endif
