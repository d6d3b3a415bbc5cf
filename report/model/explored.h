/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* explored.h - print each explored choice of a process's record with its times, which are from a
 *              call's start to that of the next call and so not what NCCL predicts
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
