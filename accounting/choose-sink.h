/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* choose-sink.h - which sink takes a job's records: AdminComment, or the site's directory of files
 *
 * Decides from texts alone. The caller reads the job's AdminComment and writes it if it was
 * changed: nt-recordd through slurmctld while the job runs (job-writer.h), `nccl-tune backfill`
 * through slurmdbd once it has ended.
 *
 * Threads:  pure functions, any thread; nt_choose_sink() calls back on the caller's.
 * Memory:   nt_job_comment_fini frees the text.
 * Errors:   the result; *err has the reason unless it is WRITTEN, FILED or PRESENT.
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
	NT_DELIVERED_WRITTEN = 'w', /* AdminComment was changed */
	NT_DELIVERED_FILED = 'd', /* it is in the site's directory */
	NT_DELIVERED_PRESENT = 'p', /* AdminComment had it already */
	NT_DELIVERED_LATER = 'q', /* it waits in the spool for another process, or the job's end */
	NT_DELIVERED_NOWHERE = 'f', /* no sink takes it */
	NT_DELIVERED_ENDED = 'e', /* the job has ended: slurmctld accepts no update */
	NT_DELIVERED_FAILED = 'x', /* another error; may be tried again */
};

static inline bool nt_delivered_well(enum nt_delivered result)
{
	return result == NT_DELIVERED_WRITTEN || result == NT_DELIVERED_FILED;
}

/* A job's AdminComment. */
struct nt_job_comment {
	char *text; /* NULL: it was not read */
	bool changed;
	int64_t read_ms; /* when it was read */
};

void nt_job_comment_fini(struct nt_job_comment *comment);

struct nt_choose_sink {
	const struct nt_sinks *sinks;
	struct nt_job_comment *comment;
	/* Reads the text when it is needed and not there. */
	enum nt_delivered (*read)(void *argument, struct nt_job_comment *comment,
				  struct nt_error *err);
	/* Writes the records into the site's directory. */
	int (*write_file)(void *argument, struct nt_error *err);
	void *argument;
};

/* Add all of these steps to AdminComment; if it does not take them, to the directory. */
enum nt_delivered nt_choose_sink(const struct nt_choose_sink *how,
				 const struct nt_admincomment_merge_step *steps, size_t count,
				 struct nt_error *err);

/* Does it have the step's record? by_name: a step that had no room and is only counted does not
 * suffice. */
bool nt_job_comment_holds(const struct nt_job_comment *comment,
			  const struct nt_admincomment_merge_step *step, bool by_name);

#endif
