/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobload.h - the text of a job's record, from wherever it is kept
 *
 * slurmctld knows a job from its submission until MinJobAge after its end; accounting knows it for
 * good, but gets the text only when the job ends, and keeps later repairs. Steps that are
 * not in AdminComment are looked for in the site's directory of files, and joined to what is there
 * (record-merge.h).
 *
 * Threads, host: as controller.h and accounting.h.
 * Errors:   -1 and *err if the job was not found and one of the two did not answer.
 */
#ifndef NT_JOBLOAD_H
#define NT_JOBLOAD_H

#include "report/model/jobtext.h"

/* From accounting, and from slurmctld if the job has not ended in accounting, since Slurm's library
 * tries for 18 s to reach slurmctld. Sorted by label. The comment of each is the joined text, or
 * another program's if no sink has a record. */
int nt_job_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

/* Join the steps that the site's files have of jobs from accounting. They are read for the first
 * 64 jobs. */
int nt_job_join(struct nt_jobtexts *texts, struct nt_error *err);

#endif
