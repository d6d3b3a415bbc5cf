/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* compared-nodes.h - read and print the result of a comparison of nodes
 *
 * It is a line of JSON (docs/schema/nodes.schema.json), made by nccl-tune-bench --pairs. nccl-tune
 * calibrate adds the job and the time, and keeps it in a file.
 *
 * Threads:  the main thread.
 * Memory:   the caller has the reference of what is returned.
 * Errors:   -1 or NULL and *err.
 */
#ifndef NT_COMPARED_NODES_H
#define NT_COMPARED_NODES_H

#include <json.h>
#include <stdbool.h>
#include <stdio.h>
#include "lib/error.h"

#define NT_COMPARED_FILE "nodes.json" /* in the user's memory */

/* The last whole line of a text that is such an object; NULL: there is none. */
json_object *nt_compared_parse(const char *text, size_t bytes, struct nt_error *err);

/* NULL and "" in *err: there is no such file. */
json_object *nt_compared_read(const char *path, struct nt_error *err);

/* Is any node, GPU or NIC named? */
bool nt_compared_names_any(json_object *compared);

int nt_compared_text(FILE *out, json_object *compared, struct nt_error *err);

#endif
