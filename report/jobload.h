/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* jobload.h - the text in a job's AdminComment, from where Slurm keeps it
 *
 * slurmctld knows a job from its submission until MinJobAge after its end; accounting knows it for
 * good, but gets the text only when the job ends, and keeps what is mended later.
 *
 * Threads, host: as controller.h and accounting.h.
 * Errors:   -1 and *err where the job was not found and one of the two did not answer.
 */
#ifndef NT_JOBLOAD_H
#define NT_JOBLOAD_H

#include "report/jobtext.h"

/* Accounting's, and slurmctld's for what accounting has not seen end: so an ended job costs
 * slurmctld nothing, and does not wait for it where it is away (Slurm's library tries for 18 s).
 * Sorted by label. */
int nt_job_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err);

#endif
