/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's text from slurmctld. */
#include "report/model/controller.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "lib/printable.h"
#include "report/model/jobstate.h"
#include "spank/slurm_compat.h"

static struct nt_jobid id_of(const slurm_job_info_t *job)
{
	struct nt_jobid id = { .job = job->job_id, .task = -1, .component = -1 };

	if (job->array_job_id != 0 && job->array_task_id != NO_VAL) {
		id.job = job->array_job_id;
		id.task = job->array_task_id;
	} else if (job->het_job_id != 0) {
		id.job = job->het_job_id;
		id.component = job->het_job_offset;
	}
	return id;
}

static bool is_wanted(const struct nt_jobid *wanted, const slurm_job_info_t *job)
{
	struct nt_jobid id = id_of(job);

	if (wanted->task >= 0)
		return id.job == wanted->job && id.task == wanted->task;
	if (wanted->component >= 0)
		return id.job == wanted->job && id.component == wanted->component;
	return id.job == wanted->job || job->job_id == wanted->job;
}

static void name_user(char *out, size_t out_bytes, uint32_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(out, out_bytes, "%s", user->pw_name);
}

static int add_job(struct nt_jobtexts *texts, const slurm_job_info_t *job)
{
	const char *comment = job->admin_comment ? job->admin_comment : "";
	struct nt_jobid id = id_of(job);
	struct nt_jobtext *text;
	char label[NT_JOB_LABEL_MAX];
	time_t until;

	text = nt_jobtexts_add(texts, nt_jobid_text(&id, label, sizeof(label)), comment,
			       strlen(comment));
	if (!text)
		return -1;
	name_user(text->user, sizeof(text->user), job->user_id);
	text->job = job->job_id;
	text->ended = (job->job_state & JOB_STATE_BASE) > JOB_SUSPENDED;
	text->state = nt_job_state(job->job_state);
	text->nodes = job->num_nodes;
	nt_printable_copy(text->name, sizeof(text->name), job->name ? job->name : "",
			  job->name ? strlen(job->name) : 0);
	text->start_s = job->start_time;
	text->end_s = text->ended ? job->end_time : 0;
	text->run = job->restart_cnt;
	until = text->ended ? job->end_time : time(NULL);
	if (job->start_time > 0 && until > job->start_time)
		text->elapsed_s = until - job->start_time;
	snprintf(text->partition, sizeof(text->partition), "%s",
		 job->partition ? job->partition : "");
	return 0;
}

int nt_controller_load(struct nt_jobtexts *texts, const struct nt_jobid *id, struct nt_error *err)
{
	job_info_msg_t *jobs = NULL;
	int rc = 0;

	errno = 0;
	if (nt_slurm_load_job(&jobs, id->job, SHOW_ALL) != SLURM_SUCCESS) {
		if (errno == ESLURM_INVALID_JOB_ID)
			return 0;
		return nt_error_set(err, "slurmctld: %s", slurm_strerror(errno));
	}
	for (uint32_t i = 0; rc == 0 && i < jobs->record_count; i++) {
		if (is_wanted(id, &jobs->job_array[i]))
			rc = add_job(texts, &jobs->job_array[i]);
	}
	slurm_free_job_info_msg(jobs);
	return rc < 0 ? nt_error_set(err, "no memory for the job's text") : 0;
}
