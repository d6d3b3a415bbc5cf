/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* job-writer.h - bring what waits of a job in the spool to a sink, for all steps of a node together
 *
 * Each step has put its record into the spool before. Whoever has the job's lock (job-lock.h)
 * brings all that waits with one writing, into the first of the site's sinks that takes it, moves
 * it into the spool's part NT_PART_SENT, and looks once more after a while; what went into files of
 * the site's is done with; the others find theirs gone. Where the next writing is not due yet, one
 * process waits for it and the others leave. What a writer that dies has not brought still lies in
 * the spool.
 *
 * Threads:  a process of its own, see job-fields.h.
 * Errors:   the result; *err says why where it is neither NT_DELIVERED_WRITTEN nor _LATER.
 * Units:    milliseconds.
 */
#ifndef NT_JOB_WRITER_H
#define NT_JOB_WRITER_H

#include "record/spool.h"
#include "spank/delivery/job-lock.h"
#include "spank/delivery/choose-sink.h"

struct nt_job_writing {
	struct nt_spool_entry entry; /* ours; without a record: what others have left */
	bool spooled; /* ours is in the spool; else it is brought at once, as it is */
	const struct nt_sinks *sinks;
	const char *spool;
	const char *rundir;
	enum nt_job_urgency urgency;
	/* Called once, when the step need not wait any longer: slurmctld has the record, or the
	 * next writing is not due. */
	void (*handed)(void *argument);
	void *argument;
};

enum nt_delivered nt_job_write(const struct nt_job_writing *writing, struct nt_error *err);

#endif
