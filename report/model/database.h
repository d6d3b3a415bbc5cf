/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* database.h - write the AdminComment of an ended job to accounting
 *
 * Threads:  single-threaded programs only (child.h).
 * Memory:   none is handed over.
 * Errors:   -1 and *err says why nothing was written, or that it is not known whether it was.
 * Host:     slurmdbd, as root or another Slurm administrator. Slurm's own sacctmgr turns quotes
 *           into backticks on this way (22.05.8); the C interface keeps them.
 */
#ifndef NT_DATABASE_H
#define NT_DATABASE_H

#include "lib/error.h"
#include "report/model/jobid.h"

/* job as accounting spells it: the bare number of an array or of a heterogeneous job would write
 * to all of its tasks or components (slurmdb_job_modify, 22.05.8). */
int nt_database_write(const char *cluster, const struct nt_jobid *job, const char *text,
		      struct nt_error *err);

#endif
