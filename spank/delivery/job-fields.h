/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-fields.h - the texts of a running job, read from slurmctld and written to it
 *
 * Slurm only replaces a whole text and has no compare-and-set: if another node writes between our
 * reading and writing, its text is lost, and ours may be. Callers therefore check again later
 * (job-writer.h).
 *
 * Threads:  a process of its own: libslurm may block for MessageTimeout, and end the process.
 * Memory:   nt_job_fields_fini frees what was read, whatever the result.
 * Errors:   the result; *err has the reason unless it is as below.
 * Host:     libslurm after slurm_init, as root or SlurmUser.
 */
#ifndef NT_JOB_FIELDS_H
#define NT_JOB_FIELDS_H

#include "spank/delivery/choose-sink.h"

/* The fields of the list that this release of Slurm has. NT_DELIVERED_PRESENT: they were read. */
enum nt_delivered nt_job_fields_read(struct nt_job_fields *fields, uint32_t job,
				     const struct nt_sinks *sinks, struct nt_error *err);

/* NT_DELIVERED_WRITTEN: slurmctld has it. */
enum nt_delivered nt_job_fields_write(const struct nt_job_fields *fields, uint32_t job,
				      enum nt_sink sink, struct nt_error *err);

#endif
