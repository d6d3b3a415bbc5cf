/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's AdminComment, read and written. */
#include "spank/account.h"

#include <errno.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "record/child.h"
#include "record/splice.h"
#include "spank/slurm_compat.h"

#define STALE_MS 20 /* a text read longer ago is read again before it is written back */

/* A copy of the job's text; an array's or a heterogeneous job's other members come along and are
 * skipped. */
static enum nt_account load(uint32_t job, char **comment, struct nt_error *err)
{
	job_info_msg_t *message = NULL;
	enum nt_account result = NT_ACCOUNT_ENDED;
	int problem;

	*comment = NULL;
	if (nt_slurm_load_job(&message, job, SHOW_ALL | SHOW_LOCAL) != 0) {
		problem = errno;
		nt_error_set(err, "slurmctld does not show job %" PRIu32 ": %s", job,
			     slurm_strerror(problem));
		return problem == ESLURM_INVALID_JOB_ID ? NT_ACCOUNT_ENDED : NT_ACCOUNT_FAILED;
	}
	nt_error_set(err, "slurmctld does not know job %" PRIu32, job);
	for (uint32_t i = 0; i < message->record_count; i++) {
		const char *text = message->job_array[i].admin_comment;

		if (message->job_array[i].job_id != job)
			continue;
		*comment = strdup(text ? text : "");
		result = *comment ? NT_ACCOUNT_WRITTEN : NT_ACCOUNT_FAILED;
		break;
	}
	slurm_free_job_info_msg(message);
	return result;
}

static enum nt_account store(uint32_t job, char *comment, struct nt_error *err)
{
	job_desc_msg_t update;
	int problem;

	nt_slurm_init_update(&update, job);
	update.admin_comment = comment;
	if (slurm_update_job(&update) == 0)
		return NT_ACCOUNT_WRITTEN;
	problem = errno;
	nt_error_set(err, "job %" PRIu32 ": %s", job, slurm_strerror(problem));
	switch (problem) {
	case ESLURM_ALREADY_DONE:
	case ESLURM_INVALID_JOB_ID: return NT_ACCOUNT_ENDED;
	default: return NT_ACCOUNT_FAILED;
	}
}

static enum nt_account refuse(enum nt_splice reason, uint32_t job, struct nt_error *err)
{
	switch (reason) {
	case NT_SPLICE_FOREIGN:
		nt_error_set(err, "AdminComment of job %" PRIu32 " holds another program's text",
			     job);
		return NT_ACCOUNT_FOREIGN;
	case NT_SPLICE_NO_ROOM:
		nt_error_set(err, "AdminComment of job %" PRIu32 " has no room for the record",
			     job);
		return NT_ACCOUNT_FOREIGN;
	default:
		nt_error_set(err, "no memory for the text of job %" PRIu32, job);
		return NT_ACCOUNT_FAILED;
	}
}

/* Nothing is written, and *stale, where the text may be out of date by then; unless that does not
 * matter any more. */
static enum nt_account write_once(uint32_t job, const struct nt_splice_step *steps, size_t count,
				  bool *stale, struct nt_error *err)
{
	bool at_any_rate = *stale;
	char *comment;
	char *text;
	enum nt_account result = load(job, &comment, err);
	int64_t loaded_ms = nt_clock_ms();
	enum nt_splice splice;

	*stale = false;
	if (result != NT_ACCOUNT_WRITTEN)
		return result;
	splice = nt_splice_steps(comment, steps, count, &text);
	free(comment);
	if (splice == NT_SPLICE_UNCHANGED)
		return NT_ACCOUNT_WRITTEN;
	if (splice != NT_SPLICED)
		return refuse(splice, job, err);
	*stale = !at_any_rate && nt_clock_ms() - loaded_ms > STALE_MS;
	if (!*stale)
		result = store(job, text, err);
	free(text);
	return result;
}

/* On a machine that is so busy it is left to the next look whether it stays. */
enum nt_account nt_account_write(uint32_t job, const struct nt_splice_step *steps, size_t count,
				 struct nt_error *err)
{
	enum nt_account result;
	bool stale = false;

	result = write_once(job, steps, count, &stale, err);
	if (result == NT_ACCOUNT_WRITTEN && stale)
		result = write_once(job, steps, count, &stale, err);
	return result;
}

enum nt_account nt_account_look(uint32_t job, const struct nt_splice_step *steps, size_t count,
				bool *there, struct nt_error *err)
{
	char *comment;
	enum nt_account result = load(job, &comment, err);

	*there = result == NT_ACCOUNT_WRITTEN;
	for (size_t i = 0; *there && i < count; i++)
		*there = nt_splice_holds(comment, steps[i].step, steps[i].record);
	if (result == NT_ACCOUNT_WRITTEN)
		free(comment);
	return result;
}
