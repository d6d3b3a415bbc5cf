/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sink.h - a place of a job's in which Slurm keeps a text, and with it a record of ours
 *
 * Each is a value of this interface in a file of its own, sink-NAME.c. Which of them a site wants,
 * and in which order, is in site/sinks.h; files of the site's are in record/filesink.h.
 *
 * Threads:  pure functions, any thread.
 * Memory:   texts stay their owner's.
 * Host:     Slurm's headers; slurmctld and slurmdbd take AdminComment from root and SlurmUser
 *           alone, the other two from the job's user, too (validate_super_user() guards only the
 *           first, slurmctld/job_mgr.c, 22.05.8).
 */
#ifndef NT_SINK_H
#define NT_SINK_H

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
#include <stdbool.h>
#include "site/sinks.h"

struct nt_sink_place {
	const char *name; /* as Slurm calls it, and as a column of sacct's */
	bool users; /* the job's user may write there: a record in it is that user's word */
	/* Of a job as slurmctld shows it; NULL: there is no text. */
	const char *(*shown)(const slurm_job_info_t *job);
	/* For slurmctld, while the job has not ended; for slurmdbd, after that. */
	void (*update)(job_desc_msg_t *update, char *text);
	void (*change)(slurmdb_job_rec_t *change, char *text);
};

extern const struct nt_sink_place nt_sink_admincomment, nt_sink_comment;
extern const struct nt_sink_place nt_sink_extra; /* see nt_sink_place() */

/* NULL: it is a file, or this release of Slurm does not have it. */
const struct nt_sink_place *nt_sink_place(enum nt_sink sink);

#endif
