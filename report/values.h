/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - the objects of print.h's JSON as comma-separated values (RFC 4180)
 *
 * A line for each object, behind one with the members' names, in their order; what is not known is
 * empty. Members that are objects or arrays have no column. Lines end in CR LF; a value with a
 * comma, a quote or a line's end stands in quotes. A text that a spreadsheet would take for a
 * formula is begun with an apostrophe.
 *
 * Threads:  no state of its own.
 * Errors:   write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_VALUES_H
#define NT_VALUES_H

#include <json.h>
#include <stdio.h>

void nt_values_print(FILE *out, json_object *array);

#endif
