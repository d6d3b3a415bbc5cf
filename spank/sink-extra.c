/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's Extra, for whatever a site likes. slurmctld hands it to accounting at the job's end where
 * AccountingStoreFlags has job_extra. */
#include "spank/sink.h"

#include "spank/slurm_compat.h"

static const char *shown(const slurm_job_info_t *job)
{
	return nt_slurm_extra(job);
}

static void update(job_desc_msg_t *update, char *text)
{
	update->extra = text;
}

static void change(slurmdb_job_rec_t *change, char *text)
{
	nt_slurm_change_extra(change, text);
}

const struct nt_sink_place nt_sink_extra = {
	.name = "Extra",
	.users = true,
	.shown = shown,
	.update = update,
	.change = change,
};
