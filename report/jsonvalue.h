/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jsonvalue.h - what a summary holds as values of JSON
 *
 * NULL is JSON's null: what is not known. A value for which there is no memory reads the same,
 * which is not wrong.
 *
 * Threads:  any.
 * Memory:   a new reference; nt_value_add takes the value's, also where it fails.
 */
#ifndef NT_JSONVALUE_H
#define NT_JSONVALUE_H

#include <json.h>
#include <stdint.h>
#include "record/field.h"

json_object *nt_value_text(const char *text); /* NULL and "" are not known */
json_object *nt_value_count(int64_t count); /* nor are negative ones */
json_object *nt_value_decimal(double value); /* nor is NAN; the record's decimals, not 17 digits */
json_object *nt_value_arm(int arm);

/* -1: no memory. */
int nt_value_add(json_object *object, const char *name, json_object *value);
int nt_value_append(json_object *array, json_object *value);

/* Every field of source but for its parts, by its name in the record; times are arrays. */
int nt_value_add_fields(json_object *object, const struct nt_fields *fields, const void *source);

#endif
