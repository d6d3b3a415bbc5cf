/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* A job's texts, read and written. */
#include "spank/account.h"

#include <errno.h>
#include <inttypes.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/child.h"
#include "record/splice.h"
#include "spank/sink.h"
#include "spank/slurm_compat.h"

#define STALE_MS 20 /* a text read longer ago is read again before it is written back */

/* What stands in each place of the list; NULL in one that is none. */
struct texts {
	char *at[NT_SINK_KINDS];
};

static void free_texts(struct texts *texts)
{
	for (unsigned i = 0; i < NT_SINK_KINDS; i++)
		free(texts->at[i]);
}

static enum nt_account copy_texts(const struct nt_account_steps *steps, const slurm_job_info_t *job,
				  struct texts *texts, struct nt_error *err)
{
	for (unsigned i = 0; i < steps->sinks->count; i++) {
		const struct nt_sink_place *place = nt_sink_place(steps->sinks->at[i]);
		const char *text = place ? place->shown(job) : NULL;

		if (!place)
			continue;
		texts->at[i] = strdup(text ? text : "");
		if (texts->at[i])
			continue;
		nt_error_set(err, "no memory for the texts of job %" PRIu32, steps->job);
		return NT_ACCOUNT_FAILED;
	}
	return NT_ACCOUNT_WRITTEN;
}

/* Copies of the job's texts; an array's or a heterogeneous job's other members come along and are
 * skipped. */
static enum nt_account load(const struct nt_account_steps *steps, struct texts *texts,
			    struct nt_error *err)
{
	job_info_msg_t *message = NULL;
	enum nt_account result = NT_ACCOUNT_ENDED;
	const uint32_t job = steps->job;
	int problem;

	*texts = (struct texts){ { NULL } };
	if (nt_slurm_load_job(&message, job, SHOW_ALL | SHOW_LOCAL) != 0) {
		problem = errno;
		nt_error_set(err, "slurmctld does not show job %" PRIu32 ": %s", job,
			     slurm_strerror(problem));
		return problem == ESLURM_INVALID_JOB_ID ? NT_ACCOUNT_ENDED : NT_ACCOUNT_FAILED;
	}
	nt_error_set(err, "slurmctld does not know job %" PRIu32, job);
	for (uint32_t i = 0; i < message->record_count; i++) {
		if (message->job_array[i].job_id != job)
			continue;
		result = copy_texts(steps, &message->job_array[i], texts, err);
		break;
	}
	slurm_free_job_info_msg(message);
	return result;
}

static enum nt_account store(uint32_t job, const struct nt_sink_place *place, char *text,
			     struct nt_error *err)
{
	job_desc_msg_t update;
	int problem;

	nt_slurm_init_update(&update, job);
	place->update(&update, text);
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

static enum nt_account refuse(enum nt_splice reason, const char *name, uint32_t job,
			      struct nt_error *err)
{
	switch (reason) {
	case NT_SPLICE_FOREIGN:
		nt_error_set(err, "%s of job %" PRIu32 " holds another program's text", name, job);
		return NT_ACCOUNT_FOREIGN;
	case NT_SPLICE_NO_ROOM:
		nt_error_set(err, "%s of job %" PRIu32 " has no room for the record", name, job);
		return NT_ACCOUNT_FOREIGN;
	default:
		nt_error_set(err, "no memory for the text of job %" PRIu32, job);
		return NT_ACCOUNT_FAILED;
	}
}

/* The first place that takes the steps: *place is NULL where they stand there already, else *text
 * is what belongs there. */
static enum nt_account choose(const struct nt_account_steps *steps, const struct texts *texts,
			      const struct nt_sink_place **place, char **text, struct nt_error *err)
{
	enum nt_account result = NT_ACCOUNT_FOREIGN;

	nt_error_set(err, "Slurm has no place for the record of job %" PRIu32, steps->job);
	*place = NULL;
	for (unsigned i = 0; i < steps->sinks->count && result == NT_ACCOUNT_FOREIGN; i++) {
		const struct nt_sink_place *next = nt_sink_place(steps->sinks->at[i]);
		enum nt_splice splice;

		if (!next)
			continue;
		splice = nt_splice_steps(texts->at[i], steps->steps, steps->count, text);
		if (splice == NT_SPLICED)
			*place = next;
		result = splice == NT_SPLICED || splice == NT_SPLICE_UNCHANGED
				 ? NT_ACCOUNT_WRITTEN
				 : refuse(splice, next->name, steps->job, err);
	}
	return result;
}

/* Nothing is written, and *stale, where the text may be out of date by then; unless that does not
 * matter any more. */
static enum nt_account write_once(const struct nt_account_steps *steps, bool *stale,
				  struct nt_error *err)
{
	bool at_any_rate = *stale;
	const struct nt_sink_place *place = NULL;
	struct texts texts;
	char *text = NULL;
	enum nt_account result = load(steps, &texts, err);
	int64_t loaded_ms = nt_clock_ms();

	*stale = false;
	if (result == NT_ACCOUNT_WRITTEN)
		result = choose(steps, &texts, &place, &text, err);
	free_texts(&texts);
	if (result != NT_ACCOUNT_WRITTEN || !place)
		return result;
	*stale = !at_any_rate && nt_clock_ms() - loaded_ms > STALE_MS;
	if (!*stale)
		result = store(steps->job, place, text, err);
	free(text);
	return result;
}

/* On a machine that is so busy it is left to the next look whether it stays. */
enum nt_account nt_account_write(const struct nt_account_steps *steps, struct nt_error *err)
{
	enum nt_account result;
	bool stale = false;

	result = write_once(steps, &stale, err);
	if (result == NT_ACCOUNT_WRITTEN && stale)
		result = write_once(steps, &stale, err);
	return result;
}

/* The newest is there by its name. That an older one is not may mean that it had no room. */
static bool is_there(const struct texts *texts, const struct nt_splice_step *step, bool newest)
{
	for (unsigned i = 0; i < NT_SINK_KINDS; i++) {
		if (texts->at[i] && nt_splice_holds(texts->at[i], step->step, step->record) &&
		    (!newest || nt_splice_shows(texts->at[i], step->step)))
			return true;
	}
	return false;
}

enum nt_account nt_account_look(const struct nt_account_steps *steps, bool *there,
				struct nt_error *err)
{
	struct texts texts;
	enum nt_account result = load(steps, &texts, err);

	*there = result == NT_ACCOUNT_WRITTEN;
	for (size_t i = 0; *there && i < steps->count; i++)
		*there = is_there(&texts, &steps->steps[i], i + 1 == steps->count);
	free_texts(&texts);
	return result;
}
