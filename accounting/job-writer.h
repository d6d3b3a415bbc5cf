/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-writer.h - deliver a job's records from the spool, for all steps of a node together
 *
 * Each step has stored its record in the spool before. The process that has the job's lock
 * (job-lock.h) delivers all of them in one update, to the sink that accepts them (choose-sink.h).
 * It moves them to the spool's part NT_PART_SENT and checks again after a while; records in files
 * of the site are removed from the spool. The other processes find no records left. If the next
 * update is not due yet, one process waits for it and the others end. Records that a writer did
 * not deliver before it died are still in the spool.
 *
 * Threads:  a process of its own: libslurm may block for MessageTimeout, and end the process.
 * Errors:   the result; *err has the reason unless it is NT_DELIVERED_WRITTEN, _FILED or _LATER.
 * Units:    milliseconds.
 * Host:     libslurm after slurm_init, as root or SlurmUser: slurmctld and slurmdbd accept
 *           AdminComment from nobody else.
 */
#ifndef NT_JOB_WRITER_H
#define NT_JOB_WRITER_H

#include "record/spool.h"
#include "accounting/job-lock.h"
#include "accounting/choose-sink.h"

struct nt_job_writing {
	struct nt_spool_entry entry; /* ours; without a record: deliver only what is in the spool */
	bool spooled; /* ours is in the spool; otherwise it is delivered directly */
	const struct nt_sinks *sinks;
	const char *spool;
	const char *rundir;
	enum nt_job_urgency urgency;
	/* Called once, when the step need not wait any longer: slurmctld has the record, or the
	 * next update is not due. */
	void (*handed)(void *argument);
	void *argument;
};

enum nt_delivered nt_job_write(const struct nt_job_writing *writing, struct nt_error *err);

#endif
