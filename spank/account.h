/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - a step's record into its job's AdminComment, which other steps write, too
 *
 * Slurm takes the whole text at once and knows no compare-and-set, so a writer reads, splices,
 * writes, waits longer than another writer can lie between its reading and its writing, and reads
 * again; if its record is gone it begins anew after a random pause. Writers on one machine take
 * turns, as long as that does not take long.
 *
 * Threads:  a process of its own: libslurm may block for MessageTimeout, and end the process.
 * Errors:   the result; *err says why where it is not NT_ACCOUNT_WRITTEN.
 * Units:    milliseconds.
 * Host:     libslurm after slurm_init, as root or SlurmUser.
 */
#ifndef NT_ACCOUNT_H
#define NT_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include "contract/error.h"

enum nt_account {
	NT_ACCOUNT_WRITTEN = 'w', /* and, if it was to settle, still there afterwards */
	NT_ACCOUNT_FOREIGN = 'f', /* the text is another program's */
	/* the job has ended: its text can no longer be changed this way */
	NT_ACCOUNT_ENDED = 'e',
	NT_ACCOUNT_FAILED = 'x', /* anything else; may be tried again */
};

/* lock_fd is a file that all writers of the machine have in common; -1: none. Without settle it is
 * for the caller to call again later: a step that waits does not wait for that. */
enum nt_account nt_account_write(uint32_t job, const char *step, const char *record, int lock_fd,
				 bool settle, struct nt_error *err);

#endif
