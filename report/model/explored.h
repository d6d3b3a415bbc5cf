/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* explored.h - print the explored choices of a process's record with their times
 *
 * The times are from the start of a call to that of the next one, so they cannot be compared with
 * NCCL's predictions.
 *
 * Threads:  no state of its own.
 * Memory:   the array is the caller's.
 * Errors:   -1 and *err: a member is damaged; everything before it was printed.
 * Units:    microseconds.
 */
#ifndef NT_EXPLORED_H
#define NT_EXPLORED_H

#include <json.h>
#include <stdio.h>
#include "lib/error.h"

/* The member "explored" of a rank record (record/rank.h); NULL: there is none. */
int nt_explored_print(FILE *out, json_object *array, struct nt_error *err);

#endif
