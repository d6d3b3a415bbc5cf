/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* read.h - read JSON objects into structs, by the tables of their fields (field.h)
 *
 * Threads:  pure functions, any thread.
 * Memory:   the target is the caller's; texts are copied, parts are borrowed.
 * Errors:   -1 and *err names the member, its value and what is accepted; the target is then
 *           unspecified.
 */
#ifndef NT_READ_H
#define NT_READ_H

#include <json.h>
#include "lib/error.h"
#include "record/field.h"

/* Unknown members are skipped: a newer writer may have more. */
enum nt_reading {
	/* For people: missing and malformed members are errors, and so is a text that is too long.
	 * Characters that cannot be printed become '?'. */
	NT_READ_TO_SHOW,
	/* For data that root copies: missing members stay unknown; a text is cut, and JSON's
	 * special characters are removed from it. */
	NT_READ_TO_COPY,
};

/* Parse one JSON text strictly: only white space after it, nested no deeper than a record may be
 * (NT_RECORD_DEPTH). If text follows: -1, and *object is set. */
int nt_json_parse(const char *text, size_t text_bytes, json_object **object, struct nt_error *err);

/* Members that are absent leave the target as it was. */
int nt_fields_read(const struct nt_fields *fields, json_object *object, void *target,
		   enum nt_reading how, struct nt_error *err);

/* An object in an array: members that are absent are unknown. */
int nt_fields_read_item(const struct nt_fields *fields, json_object *array, size_t at, void *target,
			enum nt_reading how, struct nt_error *err);

/* One member, already known by name. */
int nt_field_read(const struct nt_field *field, json_object *value, void *target,
		  enum nt_reading how, struct nt_error *err);

/* Is the member "v" NT_RECORD_VERSION? */
int nt_version_check(json_object *object, struct nt_error *err);

/* NULL: no such field. */
const struct nt_field *nt_field_find(const struct nt_fields *fields, const char *name);

#endif
