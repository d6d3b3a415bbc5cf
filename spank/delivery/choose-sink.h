/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* choose-sink.h - which sink takes a job's records: the first of the site's list that accepts them
 *
 * Decides from texts alone. The caller reads a job's fields and writes those that were changed:
 * nt-recordd through slurmctld while the job runs (job-writer.h), `nccl-tune backfill` through
 * slurmdbd once it has ended.
 *
 * Threads:  pure functions, any thread; nt_choose_sink() calls back on the caller's.
 * Memory:   nt_job_fields_fini frees the texts.
 * Errors:   the result; *err has the reason unless it is NT_DELIVERED_WRITTEN or _PRESENT.
 */
#ifndef NT_CHOOSE_SINK_H
#define NT_CHOOSE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "record/admincomment-merge.h"
#include "site/sinks.h"

/* The result for a record. nt-recordd's child sends it to its parent as this letter. */
enum nt_delivered {
	NT_DELIVERED_NOT = 0, /* nothing yet */
	NT_DELIVERED_WRITTEN = 'w',
	NT_DELIVERED_PRESENT = 'p', /* the sink had it already */
	NT_DELIVERED_LATER = 'q', /* it waits in the spool for another process, or the job's end */
	NT_DELIVERED_NOWHERE = 'f', /* no sink takes it */
	NT_DELIVERED_ENDED = 'e', /* the job has ended: slurmctld accepts no update */
	NT_DELIVERED_FAILED = 'x', /* another error; may be tried again */
};

/* The texts of a job, by enum nt_sink. */
struct nt_job_fields {
	char *text[NT_SINK_KINDS]; /* NULL: no such field here */
	bool changed[NT_SINK_KINDS];
	int64_t read_ms; /* when they were read */
};

void nt_job_fields_fini(struct nt_job_fields *fields);

struct nt_choose_sink {
	const struct nt_sinks *sinks;
	struct nt_job_fields *fields;
	/* Reads the fields when they are first needed; NULL: they have been read. */
	enum nt_delivered (*read)(void *argument, struct nt_job_fields *fields,
				  struct nt_error *err);
	/* Writes the records into the site's directory of files. */
	int (*write_file)(void *argument, struct nt_error *err);
	void *argument;
};

/* Add all of these steps to one sink, *sink. WRITTEN: the file was written, or the field's text was
 * changed. */
enum nt_delivered nt_choose_sink(const struct nt_choose_sink *how,
				 const struct nt_admincomment_merge_step *steps, size_t count,
				 enum nt_sink *sink, struct nt_error *err);

/* Does one of the fields have the step's record? by_name: a step that had no room and is only
 * counted does not suffice. */
bool nt_job_fields_hold(const struct nt_job_fields *fields,
			const struct nt_admincomment_merge_step *step, bool by_name);

#endif
