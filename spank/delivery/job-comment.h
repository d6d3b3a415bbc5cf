/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-comment.h - the AdminComment of a running job, read from slurmctld and written to it
 *
 * Slurm only replaces the whole text and has no compare-and-set: if another node writes between our
 * reading and writing, its text is lost, and ours may be. Callers therefore check again later
 * (job-writer.h).
 *
 * Threads:  a process of its own: libslurm may block for MessageTimeout, and end the process.
 * Memory:   nt_job_comment_fini frees what was read, whatever the result.
 * Errors:   the result; *err has the reason unless it is as below.
 * Host:     libslurm after slurm_init, as root or SlurmUser: slurmctld and slurmdbd accept
 *           AdminComment from nobody else.
 */
#ifndef NT_JOB_COMMENT_H
#define NT_JOB_COMMENT_H

#include "spank/delivery/choose-sink.h"

/* NT_DELIVERED_PRESENT: it was read. */
enum nt_delivered nt_job_comment_read(struct nt_job_comment *comment, uint32_t job,
				      struct nt_error *err);

/* NT_DELIVERED_WRITTEN: slurmctld has it. */
enum nt_delivered nt_job_comment_write(const struct nt_job_comment *comment, uint32_t job,
				       struct nt_error *err);

#endif
