/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sink.h - the fields of a job in which Slurm keeps a text, and in which we store records
 *
 * site/sinks.h has the site's list of them; record/filesink.h the site's directory of files.
 *
 * Threads:  pure functions, any thread.
 * Memory:   texts stay their owner's.
 * Host:     Slurm's headers; slurmctld and slurmdbd accept AdminComment from root and SlurmUser
 *           only, the other two also from the job's user (validate_super_user() only guards the
 *           first, slurmctld/job_mgr.c, 22.05.8).
 */
#ifndef NT_SINK_H
#define NT_SINK_H

#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
#include <stdbool.h>
#include "site/sinks.h"

struct nt_sink_field {
	const char *name; /* as Slurm calls it, and as a column of sacct's */
	bool users; /* the job's user may write there, so its records are not trusted */
	size_t shown, updated, changed; /* offsets in Slurm's structs */
};

/* NULL: it is the directory of files, or this release of Slurm does not have the field. */
const struct nt_sink_field *nt_sink_field(enum nt_sink sink);

/* Of a job as slurmctld shows it; NULL: there is no text. */
const char *nt_sink_shown(const struct nt_sink_field *field, const slurm_job_info_t *job);
/* For slurmctld, while the job has not ended; for slurmdbd, after that. */
void nt_sink_update(const struct nt_sink_field *field, job_desc_msg_t *update, char *text);
void nt_sink_change(const struct nt_sink_field *field, slurmdb_job_rec_t *change, char *text);

#endif
