/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* step-record.h - make the step's record from the ranks' records
 *
 * Threads:  a child with the user's rights.
 * Memory:   values; nt_sum_fini frees what was read.
 */
#ifndef NT_RECORDD_STEP_RECORD_H
#define NT_RECORDD_STEP_RECORD_H

#include <stddef.h>
#include "profiles/ticket.h"
#include "record/sum.h"
#include "spank/recordd/state.h"
#include "spank/recordd/remember.h"

void nt_step_record_read(const struct nt_recordd *recordd, struct nt_sum *sum);

/* remembered: the result of the comparison with the user's memory; NULL: not known. The first byte
 * says whether the record has a decision. Returns the number of bytes. */
size_t nt_step_record_format(const struct nt_recordd *recordd, struct nt_sum *sum,
			     const struct nt_step_memory *remembered,
			     char text[NT_STEP_RECORD_MAX + 2]);

#endif
