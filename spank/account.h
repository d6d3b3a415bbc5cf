/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* account.h - records of a job's steps into the places that Slurm has for it (sink.h), by slurmctld
 *
 * Slurm takes the whole text at once and knows no compare-and-set: what another node's writer puts
 * there between reading and writing is lost, and so may ours be. Who calls these looks again later
 * (post.h).
 *
 * Threads:  a process of its own: libslurm may block for MessageTimeout, and end the process.
 * Errors:   the result; *err says why where it is not NT_ACCOUNT_WRITTEN.
 * Host:     libslurm after slurm_init, as root or SlurmUser.
 */
#ifndef NT_ACCOUNT_H
#define NT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "record/splice.h"
#include "site/sinks.h"

enum nt_account {
	NT_ACCOUNT_WRITTEN = 'w', /* slurmctld has it */
	NT_ACCOUNT_QUEUED = 'q', /* in the spool, and another process will bring it */
	NT_ACCOUNT_FOREIGN = 'f', /* what is there is others', or has no room */
	/* the job has ended: its text can no longer be changed this way */
	NT_ACCOUNT_ENDED = 'e',
	NT_ACCOUNT_FAILED = 'x', /* anything else; may be tried again */
};

struct nt_account_steps {
	uint32_t job;
	/* The first of these that takes them all; files are passed over, and so is what this
	 * release of Slurm does not have. */
	const struct nt_sinks *sinks;
	const struct nt_splice_step *steps;
	size_t count;
};

/* All of them with one reading and at most one writing, in this order. */
enum nt_account nt_account_write(const struct nt_account_steps *steps, struct nt_error *err);

/* With one reading: is every one of them there? */
enum nt_account nt_account_look(const struct nt_account_steps *steps, bool *there,
				struct nt_error *err);

#endif
