/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* look.h - look at a running job: its state from slurmctld, its record from the freshest place
 *
 * The rank records of its steps (rank-files.h), else the long form
 * (report/model/longform-search.h), else the text in AdminComment. slurmctld is
 * asked every NT_WATCH_ASK_S, once more when the files disappear, and a little more often for the
 * last record of an ended job.
 *
 * Threads:  one; slurm_init before. Slurm's library may take many seconds if slurmctld is away.
 * Memory:   nt_watch_load_fini frees what is kept between looks.
 * Errors:   -1 and *err: there is no such job, or no memory. What could not be asked this time is
 *           in job->trouble.
 * Units:    seconds since 1970.
 */
#ifndef NT_WATCHLOAD_H
#define NT_WATCHLOAD_H

#include <stdbool.h>
#include "report/model/jobid.h"
#include "report/model/jobtext.h"
#include "report/watch/frame.h"

#define NT_WATCH_ASK_S 10
#define NT_WATCH_ASK_LAST_S 4
#define NT_WATCH_READ_S 20 /* between two readings of a long form, which is written once a minute */

struct nt_watch_load {
	struct nt_jobid id;
	const char *rundir; /* where steps have their directories */
	/* All of these are 0 at first. */
	double due_s; /* when to ask again */
	bool had_files;
	bool known; /* slurmctld or accounting knew it at some time */
	struct nt_jobtext job; /* when last asked, with the steps of its last run only */
	struct nt_error trouble;
	double read_s; /* when Slurm's record or the long form was read; 0: read it now */
	const char *source; /* a constant; NULL: none yet */
};

/* Adds to summary, if there can be anything new, and fills job. */
int nt_watch_load(struct nt_watch_load *load, double now_s, struct nt_summary *summary,
		  struct nt_watch_job *job, struct nt_error *err);
void nt_watch_load_fini(struct nt_watch_load *load);

#endif
