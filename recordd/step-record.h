/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-record.h - make the step's record from its rank records and from what Slurm knows of it
 *
 * Threads:  any; in nt-recordd a child with the user's rights.
 * Memory:   the caller's; nt_sum_fini frees a sum.
 * Errors:   0 bytes.
 */
#ifndef NT_RECORDD_STEP_RECORD_H
#define NT_RECORDD_STEP_RECORD_H

#include <stddef.h>
#include "contract/names.h"
#include "launch/calibrated.h"
#include "launch/entry.h"
#include "launch/ticket.h"
#include "record/sum.h"
#include "recordd/collect.h"
#include "recordd/remember.h"

struct nt_recordd;

struct nt_sum_head {
	const char *mode;
	uint32_t flags; /* NT_FLAG_* */
	uint32_t tasks, nodes;
	bool final; /* the step has ended */
	uint32_t run; /* how often the job was restarted before */
	const struct nt_ticket *ticket; /* NULL: no launch profile was asked for */
	const struct nt_calibrated *calibration; /* before the program; NULL: none */
	double next_s; /* the program's next step calibrates for so long; 0: it does not */
	const struct nt_where *where; /* NULL: the step's measurements are no evidence */
	double measured; /* the program's speed relative to the default; 0: unknown */
	const char *remark, *slower; /* as struct nt_step_memory has them; NULL or "": none */
};

/* The record, at most NT_STEP_RECORD_MAX bytes and a NUL; returns its length. Sorts the
 * communicators. */
size_t nt_sum_format(struct nt_sum *sum, const struct nt_sum_head *head, char *out,
		     size_t out_bytes);

/* What is in the node's memory, and with what NCCL was started. */
struct nt_step_read {
	struct nt_sum sum; /* of the rank records */
	bool launched; /* there is a valid ticket */
	struct nt_ticket ticket; /* with what the tasks' calibration has chosen */
	bool calibrated; /* they have calibrated */
	struct nt_calibrated calibration;
};

void nt_step_read_init(struct nt_step_read *read, const struct nt_arguments *arguments);
void nt_step_read_add(struct nt_step_read *read, const struct nt_collected *item,
		      const struct nt_arguments *arguments);
/* Visit what the step's processes on this node have left. */
void nt_step_collect(const struct nt_recordd *recordd, nt_collect_visit *visit, void *argument);
/* All three. */
void nt_step_record_read(const struct nt_recordd *recordd, struct nt_step_read *read);
void nt_step_read_fini(struct nt_step_read *read);

#define NT_STEP_GOES_ON '0'
#define NT_STEP_HAS_DECIDED '1'
#define NT_STEP_IS_STILL '2' /* no rank here has begun a call for long */

/* One of these bytes, and the record; returns the number of bytes. remembered: the result of the
 * comparison with the user's memory; NULL: unknown. */
size_t nt_step_record_make(const struct nt_recordd *recordd, struct nt_step_read *read,
			   const struct nt_step_memory *remembered,
			   char text[NT_STEP_RECORD_MAX + 2]);

#endif
