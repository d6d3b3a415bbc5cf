/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* json-fields.h - the fields of a record's structs as JSON
 *
 * Threads, Memory, Errors: as lib/json.h.
 */
#ifndef NT_JSON_FIELDS_H
#define NT_JSON_FIELDS_H

#include "lib/json.h"
#include "record/field.h"

/* Every known field of source except objects and arrays, by its name in the record. Times are
 * arrays. */
void nt_json_fields(json_object *object, const struct nt_fields *fields, const void *source,
		    int *rc);

#endif
