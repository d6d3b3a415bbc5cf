/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's AdminComment: what administrators and their programs say of it. */
#include "spank/sink.h"

static const char *shown(const slurm_job_info_t *job)
{
	return job->admin_comment;
}

static void update(job_desc_msg_t *update, char *text)
{
	update->admin_comment = text;
}

static void change(slurmdb_job_rec_t *change, char *text)
{
	change->admin_comment = text;
}

const struct nt_sink_place nt_sink_admincomment = {
	.name = "AdminComment",
	.users = false,
	.shown = shown,
	.update = update,
	.change = change,
};
