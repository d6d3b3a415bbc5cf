/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobload.h - the text of a job's record, from wherever it is kept
 *
 * slurmctld knows a job from its submission until MinJobAge after its end; accounting knows it for
 * good, but gets the text only when the job ends, and keeps what is mended later. Steps that are
 * not in AdminComment are looked for in the site's directory of files, in Extra and in Comment, and
 * joined to what is there (join.h).
 *
 * Threads, host: as controller.h and accounting.h.
 * Errors:   -1 and *err where the job was not found and one of the two did not answer.
 */
#ifndef NT_JOBLOAD_H
#define NT_JOBLOAD_H

#include "report/jobtext.h"

/* Accounting's, and slurmctld's for what accounting has not seen end: so an ended job costs
 * slurmctld nothing, and does not wait for it where it is away (Slurm's library tries for 18 s).
 * Sorted by label. The comment of each is the joined text; another program's where no place has a
 * record. */
int nt_job_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

/* Of jobs that accounting alone was asked for: joins what the other places have that the site's
 * list names, files of the first 64 jobs. */
int nt_job_join(struct nt_jobtexts *texts, struct nt_error *err);

#endif
