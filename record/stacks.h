/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the stacks of a rank that others wait for, as a tool printed them
 *
 * A line of a node's part of the long form (long.h), from a tray:
 *
 *	{"stacks":{ NT_STACKS_FIELDS }}
 *
 * The lines are the user's text: printable ASCII when written, shown as text only.
 *
 * Threads:  pure functions, any thread.
 * Memory:   json_object_put() of line_array once it has been read.
 * Errors:   -1.
 */
#ifndef NT_RECORD_STACKS_H
#define NT_RECORD_STACKS_H

#include <stddef.h>
#include "lib/json-scanner.h"
#include "record/rank.h"

#define NT_STACKS_LINES "lines"
#define NT_STACKS_BYTES 65536 /* of a tool's output; more is cut */
#define NT_STACKS_TOP 320

struct nt_stacks {
	NT_STACKS_FIELDS(NT_FIELD_MEMBER)
	size_t step; /* of a summary */
	char node[64];
};

extern const struct nt_fields nt_stacks_fields;

/* The value of such a line, with the lines of text, of at most NT_STACKS_BYTES, as they have room.
 * Returns its length. */
size_t nt_stacks_format(const struct nt_stacks *stacks, const char *text, char *out,
			size_t out_bytes);

/* The same back; step and node are left. */
int nt_stacks_read(struct nt_stacks *stacks, struct nt_text value);

/* "poll < recv < main", or "get (queue.py:171) < main (train.py:9)": the newest functions of the first thread; "" if there are none. */
const char *nt_stacks_top(const struct nt_stacks *stacks, char out[NT_STACKS_TOP]);

#endif
