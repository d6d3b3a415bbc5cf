/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* watchload.h - look at a running job: its state from slurmctld, its record from the freshest place
 *
 * The rank records of its steps (watchfiles.h), else the long form (longform.h), else the text in
 * AdminComment. slurmctld is asked every NT_WATCH_ASK_S, once more when the files go, and a little
 * more often for the last record of a job that has ended.
 *
 * Threads:  one; slurm_init before. Slurm's library may take many seconds where slurmctld is away.
 * Memory:   nt_watch_load_fini frees what is kept between looks.
 * Errors:   -1 and *err: there is no such job, or memory has run out. What could not be asked now
 *           is said in job->trouble.
 * Units:    seconds since 1970.
 */
#ifndef NT_WATCHLOAD_H
#define NT_WATCHLOAD_H

#include <stdbool.h>
#include "report/jobid.h"
#include "report/jobtext.h"
#include "report/watchframe.h"

#define NT_WATCH_ASK_S 10
#define NT_WATCH_ASK_LAST_S 4
#define NT_WATCH_READ_S 20 /* between two readings of a long form, which is written once a minute */

struct nt_watch_load {
	struct nt_jobid id;
	const char *rundir; /* where steps have their directories */
	/* From here on zeros at first. */
	double due_s; /* when to ask again */
	bool had_files;
	bool known; /* slurmctld or accounting knew it at some time */
	bool ended;
	uint32_t job; /* Slurm's own number */
	char label[NT_JOB_LABEL_MAX];
	char *comment; /* AdminComment when it was asked for last */
	const char *state;
	int64_t start_s, end_s; /* since 1970; 0: unknown */
	struct nt_error trouble;
	double read_s; /* when the record was read from elsewhere than here; 0: to be read */
	const char *source; /* a constant; NULL: none yet */
};

/* Adds to summary; nothing where nothing can be new. job is filled. */
int nt_watch_load(struct nt_watch_load *load, double now_s, struct nt_summary *summary,
		  struct nt_watch_job *job, struct nt_error *err);
void nt_watch_load_fini(struct nt_watch_load *load);

#endif
