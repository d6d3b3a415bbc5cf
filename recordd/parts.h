/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h - read on a step's first node what all its nodes have written at its end (record/long.h)
 *
 * Nodes end at the same time, as a rule, and write into a directory that they share, as a rule:
 * where a part is missing or was not written in time, nothing is known of the whole step.
 *
 * Threads:  a child's with the user's rights: it hangs if the file system does.
 * Memory:   the set is the caller's: nt_long_set_init first, nt_long_set_fini.
 * Errors:   -1: not all are there.
 * Units:    points in time on nt_clock_ms().
 */
#ifndef NT_RECORDD_PARTS_H
#define NT_RECORDD_PARTS_H

#include <stdbool.h>
#include <stdint.h>
#include "record/longset.h"
#include "spank/arguments.h"

/* After the step's end: how long the step waits for them, and how long they are waited for. */
#define NT_PARTS_MS 300
#define NT_PARTS_LATE_MS 5000

/* The last part of each of the step's nodes, as soon as all are there. */
int nt_parts_gather(const struct nt_arguments *arguments, struct nt_long_set *set,
		    int64_t until_ms);

/* Does each part name this node's hardware? */
bool nt_parts_alike(const struct nt_arguments *arguments, const struct nt_long_set *set);

#endif
