/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - jobs as comma-separated values (RFC 4180), from their JSON (report-json.h)
 *
 * The first line has the names of the columns, then each key has a line: its place, then the fields
 * of its JSON. A pair has two columns, auto_NAME and arm_NAME. After the keys come lines for
 * reasons why something was not tuned, for damage, for what did not fit and for each step's launch
 * profile; these have no collective. What is unknown is empty.
 *
 * Lines end in CR LF; a value with a comma, a quote or a newline is quoted. A text that a
 * spreadsheet would take for a formula begins with an apostrophe.
 *
 * Threads:  no state of its own.
 * Errors:   write errors stay on the stream for the caller (ferror).
 */
#ifndef NT_VALUES_H
#define NT_VALUES_H

#include <json.h>
#include <stdio.h>

/* jobs: from nt_summary_json(). Prints nothing if there are none. */
void nt_values_print(FILE *out, json_object *jobs);

/* before, then one value. */
void nt_values_put(FILE *out, const char *before, json_object *value);

#endif
