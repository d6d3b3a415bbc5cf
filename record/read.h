/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* read.h - read JSON objects into structs by the tables of their fields (field.h)
 *
 * Threads:  pure functions, any thread.
 * Memory:   texts are copied, parts are borrowed.
 * Errors:   -1 and *err names the member, its value and what is accepted; the target is then
 *           unspecified.
 */
#ifndef NT_READ_H
#define NT_READ_H

#include <json.h>
#include "lib/error.h"
#include "record/field.h"

/* Unknown members are skipped. */
enum nt_reading {
	/* For people: missing and malformed members and texts that are too long are errors.
	 * Unprintable characters become '?'. */
	NT_READ_TO_SHOW,
	/* For data that root copies: missing members stay unknown; texts are cut, and JSON's
	 * special characters in them replaced. */
	NT_READ_TO_COPY,
};

/* Parses one JSON text strictly, nested at most NT_RECORD_DEPTH deep. If other text follows: -1,
 * and *object is set. */
int nt_json_parse(const char *text, size_t text_bytes, json_object **object, struct nt_error *err);

/* Absent members leave the target unchanged. */
int nt_fields_read(const struct nt_fields *fields, json_object *object, void *target,
		   enum nt_reading how, struct nt_error *err);

/* The same for an object in an array; absent members become unknown. */
int nt_fields_read_item(const struct nt_fields *fields, json_object *array, size_t at, void *target,
			enum nt_reading how, struct nt_error *err);

/* One member. */
int nt_field_read(const struct nt_field *field, json_object *value, void *target,
		  enum nt_reading how, struct nt_error *err);

/* Is the member "v" NT_RECORD_VERSION? */
int nt_version_check(json_object *object, struct nt_error *err);

/* NULL if there is none. */
const struct nt_field *nt_field_find(const struct nt_fields *fields, const char *name);

#endif
