/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sumtext.h - format the step's record, from its rank records and from Slurm's data
 *
 * Threads:  no state of its own; any thread.
 * Memory:   the caller's.
 * Errors:   0 bytes.
 */
#ifndef NT_SUMTEXT_H
#define NT_SUMTEXT_H

#include "profiles/entry.h"
#include "profiles/ticket.h"
#include "record/sum.h"

/* What Slurm knows of the step. */
struct nt_sum_head {
	const char *mode;
	uint32_t flags; /* NT_PLACE_* */
	uint32_t tasks, nodes;
	bool final; /* the step has ended */
	double took_s; /* from start to end; 0: it has not ended */
	uint32_t run; /* how often the job was started again before */
	const struct nt_ticket *ticket; /* NULL: nothing was asked for at the start */
	const struct nt_where *where; /* NULL: what the step shows is no evidence of a place */
	double measured; /* times as fast as the default, as the program felt it; 0: unknown */
	const char *remark; /* what else there is to say; NULL or "": nothing */
};

/* The step's record, at most NT_STEP_RECORD_MAX bytes and a NUL: its length, or 0 if it is empty.
 * Sorts the communicators. */
size_t nt_sum_format(struct nt_sum *sum, const struct nt_sum_head *head, char *out,
		     size_t out_bytes);

#endif
