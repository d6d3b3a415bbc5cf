/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* counted-runs.h - steps of requeued jobs, so that each counts once
 *
 * A requeued job has a row in accounting for each run, and Slurm leaves an earlier run's record in
 * AdminComment, so that the row of a later run may have it, too. If the runs ended in different
 * slices of time (report/model/sacct-jobs.h), both rows are visited, in the order of their ends.
 *
 * Threads:  one at a time for one set.
 * Memory:   some 160 bytes for each requeued job, of at most NT_COUNTED_RUNS_MAX; of more, what
 *           later rows repeat is counted again.
 * Errors:   -1: no memory.
 */
#ifndef NT_COUNTED_RUNS_H
#define NT_COUNTED_RUNS_H

#include "lib/name-set.h"
#include "record/summary.h"
#include "report/model/sacct-jobs.h"

#define NT_COUNTED_RUNS_MAX 20000

struct nt_counted_runs {
	struct nt_names jobs;
	int64_t *next; /* of each: the first run that was not counted */
};

void nt_counted_runs_init(struct nt_counted_runs *runs);
void nt_counted_runs_fini(struct nt_counted_runs *runs);

/* Takes steps out of the job's summary that an earlier row has had, and notes the others. */
int nt_counted_runs_take(struct nt_counted_runs *runs, const struct nt_streamed_job *job,
			 struct nt_summary *summary);

#endif
