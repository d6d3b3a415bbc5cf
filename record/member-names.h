/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* member-names.h - parse the names of members of a job's record
 *
 * Threads:  pure functions, any thread.
 * Errors:   -1 for what record/step.h does not allow; outputs are then unspecified.
 */
#ifndef NT_LABEL_H
#define NT_LABEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/json-scanner.h"

/* "0" to "4294967295", perhaps with a component of a heterogeneous step ("0+1"); or "batch". */
bool nt_step_name_valid(const char *name);

/* Is the member a step, and an object? */
bool nt_step_member_is(const struct nt_json_member *member);

/* As strcmp: numbers first, in order, then the batch script. */
int nt_step_name_order(const char *left, const char *right);

/* Is it that step, or a component of it? */
bool nt_step_name_matches(const char *name, const char *wanted);

int nt_shape_parse(const char *text, uint32_t *ranks, uint32_t *nodes); /* "8r2n" */
/* "8r2n", perhaps with a name of less than NT_COMM_NAME characters: "8r2n tp". */
int nt_family_parse(const char *text, uint32_t *ranks, uint32_t *nodes, char *name);
int nt_member_name_parse(const char *text, int *coll, size_t *bytes); /* "AllReduce 256K" */

#endif
