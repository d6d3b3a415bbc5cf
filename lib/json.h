/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* json.h - build JSON values with json-c
 *
 * A whole value can be built without a check; *rc says at the end whether it is complete. Objects
 * and arrays may be NULL, after a failure.
 *
 * Threads:  any; one value, one thread.
 * Memory:   nt_json_add and nt_json_known take the value, even if they fail: add it when it is
 *           complete, and do not use it after.
 * Errors:   *rc becomes -1 without memory, and is otherwise unchanged.
 */
#ifndef NT_JSON_H
#define NT_JSON_H

#include <json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

json_object *nt_json_object(int *rc);
json_object *nt_json_array(int *rc);
/* With that many significant digits; NULL: not finite. */
json_object *nt_json_decimal(double value, int digits, int *rc);

/* name NULL adds an element to an array; value NULL is JSON's null. */
void nt_json_add(json_object *parent, const char *name, json_object *value, int *rc);
void nt_json_string(json_object *parent, const char *name, const char *value, int *rc);
void nt_json_integer(json_object *parent, const char *name, int64_t value, int *rc);
void nt_json_bool(json_object *parent, const char *name, bool value, int *rc);

/* The same, and unknown values are left out: NULL, "", negative, not finite. Numbers have 10
 * digits. */
void nt_json_known(json_object *parent, const char *name, json_object *value, int *rc);
void nt_json_text(json_object *parent, const char *name, const char *text, int *rc);
void nt_json_count(json_object *parent, const char *name, int64_t count, int *rc);
void nt_json_number(json_object *parent, const char *name, double value, int *rc);

/* The array; an empty one is freed, and NULL. */
json_object *nt_json_filled(json_object *array);

/* NULL: there is none, or object is NULL. */
json_object *nt_json_member(json_object *object, const char *name);

/* An integer or a decimal from 0 to the largest; false: it is not, or value is NULL. */
bool nt_json_take_number(json_object *value, double largest, double *out);

/* Indented, with a newline. -1: no memory, and nothing is printed. */
int nt_json_print(FILE *out, json_object *value);

#endif
