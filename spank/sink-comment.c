/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's Comment: what its user says of it. slurmctld hands it to accounting, where it has an
 * older name, at the job's end and only where AccountingStoreFlags has job_comment. */
#include "spank/sink.h"

static const char *shown(const slurm_job_info_t *job)
{
	return job->comment;
}

static void update(job_desc_msg_t *update, char *text)
{
	update->comment = text;
}

static void change(slurmdb_job_rec_t *change, char *text)
{
	change->derived_es = text;
}

const struct nt_sink_place nt_sink_comment = {
	.name = "Comment",
	.users = true,
	.shown = shown,
	.update = update,
	.change = change,
};
