/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A running job's AdminComment at slurmctld. */
#include "spank/delivery/job-comment.h"

#include <errno.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <string.h>
#include "lib/clock.h"
#include "spank/slurm_compat.h"

static enum nt_delivered copy_text(struct nt_job_comment *comment, const slurm_job_info_t *job,
				   struct nt_error *err)
{
	comment->text = strdup(job->admin_comment ? job->admin_comment : "");
	if (comment->text)
		return NT_DELIVERED_PRESENT;
	nt_error_set(err, "no memory for the text of job %" PRIu32, job->job_id);
	return NT_DELIVERED_FAILED;
}

/* slurmctld may also return other members of an array or a heterogeneous job. */
enum nt_delivered nt_job_comment_read(struct nt_job_comment *comment, uint32_t job,
				      struct nt_error *err)
{
	enum nt_delivered result = NT_DELIVERED_ENDED;
	job_info_msg_t *message = NULL;
	int problem;

	*comment = (struct nt_job_comment){ .read_ms = 0 };
	if (nt_slurm_load_job(&message, job, SHOW_ALL | SHOW_LOCAL) != 0) {
		problem = errno;
		nt_error_set(err, "slurmctld does not show job %" PRIu32 ": %s", job,
			     slurm_strerror(problem));
		return problem == ESLURM_INVALID_JOB_ID ? NT_DELIVERED_ENDED : NT_DELIVERED_FAILED;
	}
	nt_error_set(err, "slurmctld does not know job %" PRIu32, job);
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (message->job_array[i].job_id != job)
			continue;
		result = copy_text(comment, &message->job_array[i], err);
		break;
	}
	slurm_free_job_info_msg(message);
	comment->read_ms = nt_clock_ms();
	return result;
}

enum nt_delivered nt_job_comment_write(const struct nt_job_comment *comment, uint32_t job,
				       struct nt_error *err)
{
	job_desc_msg_t update;
	int problem;

	nt_slurm_init_update(&update, job);
	update.admin_comment = comment->text;
	if (slurm_update_job(&update) == 0)
		return NT_DELIVERED_WRITTEN;
	problem = errno;
	nt_error_set(err, "job %" PRIu32 ": %s", job, slurm_strerror(problem));
	return problem == ESLURM_ALREADY_DONE || problem == ESLURM_INVALID_JOB_ID
		       ? NT_DELIVERED_ENDED
		       : NT_DELIVERED_FAILED;
}
