/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* remember.h - what a step showed into the user's memory, and what the memory says of the step
 *
 * First the entry is put in place, with the hardware of the step's hosts, so that the job's next
 * srun finds both; only then is the memory read, to compare the step with what the default gave.
 *
 * Runs with the user's rights and no others: where the memory is, is the user's word, and so is
 * what it holds. A file system that hangs hangs this process.
 *
 * Threads:  one process of its own.
 * Memory:   nothing is kept.
 * Errors:   in the result, as words.
 */
#ifndef NT_REMEMBER_H
#define NT_REMEMBER_H

#include <stdbool.h>
#include "profiles/ticket.h"
#include "spank/arguments.h"
#include "record/sum.h"

/* Longer lists are not written with every step, only where the memory does not know them. */
#define NT_REMEMBER_HOSTS 256
#define NT_REMEMBER_FILE_MAX ((size_t)64 << 20) /* that it may write */

struct nt_step_memory {
	double measured; /* times as fast as the default; 0: unknown */
	bool failed; /* it could not be remembered, remark says why */
	char remark[176]; /* for the step's record; "": nothing */
};

void nt_remember(const struct nt_sum *sum, const struct nt_arguments *arguments,
		 const struct nt_ticket *ticket, struct nt_step_memory *out);

#endif
