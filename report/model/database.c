/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Writes to accounting from a child process: without slurmdbd the library retries for minutes, and
 * if slurmdbd refuses, the accounting plugin that libslurm loads calls a symbol that only Slurm's
 * private library has (slurmdbd_msg_type_2_str, 22.05.8), which ends the process. */
#include "report/model/database.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/child.h"
#include "lib/clock.h"
#include "spank/slurm_compat.h"

#define TIMEOUT_MS 30000

enum outcome { WRITTEN = 0, REFUSED = 1, UNKNOWN_JOB = 2, NO_MEMORY = 3, SEVERAL_JOBS = 4 };

struct change {
	const char *cluster;
	const struct nt_jobid *job;
	const char *text;
};

static int modify(void *connection, slurmdb_job_cond_t *condition, const struct change *change)
{
	char *text = strdup(change->text);
	slurmdb_job_rec_t record;
	int outcome = REFUSED;
	void *changed;

	nt_slurm_init_change(&record);
	if (!text)
		return NO_MEMORY;
	record.admin_comment = text;
	changed = slurmdb_job_modify(connection, condition, &record);
	if (!changed)
		fprintf(stderr, "slurmdbd: %s\n", slurm_strerror(errno));
	else if (slurm_list_count(changed) == 1)
		outcome = WRITTEN;
	else
		outcome = slurm_list_count(changed) == 0 ? UNKNOWN_JOB : SEVERAL_JOBS;
	/* Without a commit the change is lost. */
	if (slurmdb_connection_commit(connection, outcome == WRITTEN) != SLURM_SUCCESS &&
	    outcome == WRITTEN)
		outcome = REFUSED;
	free(text);
	return outcome;
}

/* Runs in the child; its memory is freed with it. */
static int write_change(void *argument, int out_fd)
{
	const struct change *change = argument;
	slurm_selected_step_t job = {
		.array_task_id = change->job->task >= 0 ? (uint32_t)change->job->task : NO_VAL,
		.het_job_offset = change->job->component >= 0 ? (uint32_t)change->job->component
							      : NO_VAL,
		.step_id = { .job_id = change->job->job,
			     .step_id = NO_VAL,
			     .step_het_comp = NO_VAL },
	};
	slurmdb_job_cond_t condition = {
		.db_flags = SLURMDB_JOB_FLAG_NOTSET,
		.flags = JOBCOND_FLAG_NO_DEFAULT_USAGE | JOBCOND_FLAG_NO_WHOLE_HETJOB,
	};
	char *cluster = strdup(change->cluster);
	uint16_t flags = 0;
	void *connection;
	int outcome;

	(void)out_fd; /* the exit status is the answer */
	if (!cluster)
		return NO_MEMORY;
	slurm_init(NULL);
	condition.step_list = slurm_list_create(NULL);
	slurm_list_append(condition.step_list, &job);
	condition.cluster_list = slurm_list_create(NULL);
	slurm_list_append(condition.cluster_list, cluster);
	errno = 0;
	connection = slurmdb_connection_get(&flags);
	if (!connection || errno) {
		fprintf(stderr, "cannot connect to slurmdbd: %s\n", slurm_strerror(errno));
		return REFUSED;
	}
	outcome = modify(connection, &condition, change);
	slurmdb_connection_close(&connection);
	return outcome;
}

int nt_database_write(const char *cluster, const struct nt_jobid *job, const char *text,
		      struct nt_error *err)
{
	struct change change = { cluster, job, text };
	const struct nt_child_bounds bounds = { .deadline_ms = nt_clock_ms() + TIMEOUT_MS };
	struct nt_error reason;
	struct nt_child child;
	int rc = -1;

	if (nt_child_call(&child, write_change, &change, &bounds, &reason) < 0)
		nt_error_set(err, "accounting: %.140s", reason.text);
	else if (child.status == UNKNOWN_JOB)
		nt_error_set(err, "accounting has no such job of cluster %.60s", cluster);
	else if (child.status == SEVERAL_JOBS)
		nt_error_set(err, "accounting has several such jobs of cluster %.60s", cluster);
	else if (child.status != WRITTEN)
		nt_error_set(err, "slurmdbd rejected the change: %.120s",
			     child.complaint[0] ? child.complaint : "no reason given");
	else
		rc = 0;
	nt_child_fini(&child);
	return rc;
}
