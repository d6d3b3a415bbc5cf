/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/job-outcome.h"

#include <math.h>
#include <string.h>
#include "contract/coll.h"
#include "report/model/row-time.h"

#define TIMES_MAX 100 /* a plausible row has at most so many times its job's time, */
#define SLACK_S 60 /* plus this much, */
#define RANKS_MAX 128 /* and so many ranks on a node */
#define TIME_MAX_US (INT64_C(1) << 60) /* the sum of two does not overflow */

const char *nt_job_outcome_name(enum nt_job_outcome outcome)
{
	static const char *const names[] = {
		[NT_JOB_RUNNING] = "running",	    [NT_JOB_NO_RECORD] = "no_record",
		[NT_JOB_OTHER_TEXT] = "other_text", [NT_JOB_USERS_WORD] = "users_word",
		[NT_JOB_DAMAGED] = "damaged",	    [NT_JOB_IMPLAUSIBLE] = "implausible",
		[NT_JOB_NOT_TUNED] = "not_tuned",   [NT_JOB_OBSERVED] = "observed",
		[NT_JOB_UNDECIDED] = "undecided",   [NT_JOB_NOTHING_TO_GAIN] = "nothing_to_gain",
		[NT_JOB_REMEMBERED] = "remembered", [NT_JOB_UNPAID] = "unpaid",
		[NT_JOB_GAINED] = "gained",
	};

	return names[outcome];
}

int64_t nt_site_stats_jobs(const struct nt_site_stats_sum *sum)
{
	int64_t jobs = 0;

	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		jobs += sum->jobs[i];
	return jobs;
}

int64_t nt_site_stats_recorded(const struct nt_site_stats_sum *sum)
{
	int64_t jobs = 0;

	for (int i = NT_JOB_NOT_TUNED; i < NT_JOB_OUTCOMES; i++)
		jobs += sum->jobs[i];
	return jobs;
}

static bool is_decided(const struct nt_key *row)
{
	return nt_row_is_tuned(row) || row->state == NT_KEYSTATE_KEPT;
}

static int64_t rank_us(double ms, uint32_t ranks)
{
	double us = nt_or_zero(ms) * 1000 * ranks;

	return llround(fmax(fmin(us, (double)TIME_MAX_US), -(double)TIME_MAX_US));
}

/* Saturates: only false records get there. */
static void add_us(int64_t *sum, int64_t us)
{
	*sum += us;
	if (*sum > TIME_MAX_US)
		*sum = TIME_MAX_US;
	else if (*sum < -TIME_MAX_US)
		*sum = -TIME_MAX_US;
}

void nt_site_stats_add_row(struct nt_site_stats_sum *sum, const struct nt_key *row)
{
	sum->keys++;
	sum->decided += is_decided(row);
	sum->chosen += nt_row_is_tuned(row);
	sum->calls += row->calls > 0 ? row->calls : 0;
	add_us(&sum->saved_us, rank_us(row->saved_ms, row->ranks));
	add_us(&sum->spent_us, rank_us(row->spent_ms, row->ranks));
}

static bool is_arm_reason(int reason)
{
	return reason == NT_REASON_NONE || reason == NT_REASON_REMEMBERED;
}

/* The rows that did not fit into the record, of which it has the number by reason. */
static int64_t count_rest(const struct nt_step *step, struct nt_site_stats_sum *rest)
{
	for (int i = 0; i < NT_REASON_COUNT; i++) {
		rest->keys += step->rest[i];
		rest->chosen += is_arm_reason(i) ? step->rest[i] : 0;
		rest->decided += is_arm_reason(i) || nt_reason_about(i) == NT_ABOUT_KEY
					 ? step->rest[i]
					 : 0;
	}
	return rest->keys;
}

struct nt_site_stats_sum nt_site_stats_rest(const struct nt_summary *summary, size_t step_at)
{
	struct nt_site_stats_sum rest = { .keys = 0 };
	const struct nt_step *step = &summary->steps[step_at];
	double saved_ms = step->saved_ms, spent_ms = step->spent_ms;
	uint32_t most = step->ranks > 0 ? (uint32_t)step->ranks : 1;
	uint32_t least = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != step_at)
			continue;
		saved_ms -= nt_or_zero(row->saved_ms);
		spent_ms -= nt_or_zero(row->spent_ms);
		least = least == 0 || row->ranks < least ? row->ranks : least;
	}
	rest.comm_us = rank_us(step->comm_ms, most);
	rest.spent_us = rest.calibration_us = rank_us(nt_step_calibration_ms(step), most);
	rest.launch_us = rest.saved_us = rank_us(nt_step_launch_ms(step), most);
	if (count_rest(step, &rest) == 0 &&
	    step->more == 0) /* all rows are there: a difference is rounding */
		return rest;
	add_us(&rest.saved_us, rank_us(saved_ms, saved_ms < 0 ? most : least > 0 ? least : 1));
	add_us(&rest.spent_us, spent_ms > 0 ? rank_us(spent_ms, most) : 0);
	return rest;
}

void nt_site_stats_add_sum(struct nt_site_stats_sum *sum, const struct nt_site_stats_sum *other)
{
	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		sum->jobs[i] += other->jobs[i];
	sum->keys += other->keys;
	sum->decided += other->decided;
	sum->chosen += other->chosen;
	sum->calls += other->calls;
	add_us(&sum->saved_us, other->saved_us);
	add_us(&sum->launch_us, other->launch_us);
	add_us(&sum->spent_us, other->spent_us);
	add_us(&sum->calibration_us, other->calibration_us);
	add_us(&sum->comm_us, other->comm_us);
}

struct nt_site_stats_sum nt_site_stats_whole(const struct nt_summary *summary)
{
	struct nt_site_stats_sum sum = { .keys = 0 };

	for (size_t i = 0; i < summary->row_count; i++)
		nt_site_stats_add_row(&sum, &summary->rows[i]);
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_site_stats_sum rest = nt_site_stats_rest(summary, i);

		nt_site_stats_add_sum(&sum, &rest);
	}
	return sum;
}

/* The most that a job can have had. */
struct bounds {
	double ms;
	int64_t ranks;
};

static bool rows_fit(const struct nt_summary *summary, const struct bounds *most)
{
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (fabs(nt_or_zero(row->saved_ms)) > most->ms ||
		    nt_or_zero(row->spent_ms) > most->ms || row->ranks > most->ranks)
			return false;
	}
	return true;
}

static bool steps_fit(const struct nt_summary *summary, const struct bounds *most)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];
		int64_t per_node = step->per_node > 0 ? step->per_node : 1;

		if (fabs(nt_or_zero(step->saved_ms)) > most->ms ||
		    nt_or_zero(step->spent_ms) > most->ms || nt_or_zero(step->comm_ms) > most->ms ||
		    fabs(nt_or_zero(nt_step_launch_ms(step))) > most->ms ||
		    nt_step_calibration_ms(step) > most->ms || step->ranks > most->ranks ||
		    step->nodes > most->ranks || per_node > most->ranks ||
		    step->nodes * per_node > most->ranks)
			return false;
	}
	return true;
}

bool nt_site_stats_plausible(const struct nt_streamed_job *job, const struct nt_summary *summary)
{
	const struct bounds most = {
		.ms = (double)(job->elapsed_s + SLACK_S) * 1000 * TIMES_MAX,
		.ranks = (int64_t)(job->nodes ? job->nodes : 1) * RANKS_MAX,
	};

	return rows_fit(summary, &most) && steps_fit(summary, &most);
}

/* The outcome of a job with an undecided key of that reason; of several, the largest counts. */
static enum nt_job_outcome open_outcome_of(int reason)
{
	switch (reason) {
	/* NT_REASON_UNWORTHY: its calls take too little time for a gain to matter. */
	case NT_REASON_COMM_NOT_TUNED:
	case NT_REASON_NOT_REMEMBERED:
	case NT_REASON_P2P:
	case NT_REASON_UNWORTHY: return NT_JOB_NOT_TUNED;
	case NT_REASON_OBSERVED: return NT_JOB_OBSERVED;
	default:
		return nt_reason_about(reason) == NT_ABOUT_COMM ? NT_JOB_NOT_TUNED
								: NT_JOB_UNDECIDED;
	}
}

/* *unworthy: a key was not worth it. */
static enum nt_job_outcome open_outcome(const struct nt_summary *summary, bool *unworthy)
{
	enum nt_job_outcome open = NT_JOB_NOT_TUNED, outcome;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		/* Earlier releases have no reasons. */
		outcome = row->state == NT_KEYSTATE_OBSERVED ? NT_JOB_OBSERVED
							     : open_outcome_of(row->reason);
		open = outcome > open ? outcome : open;
		*unworthy |= row->reason == NT_REASON_UNWORTHY;
	}
	for (size_t i = 0; i < summary->step_count; i++) {
		for (int j = 0; j < NT_REASON_COUNT; j++) {
			outcome = open_outcome_of(j);
			if (summary->steps[i].rest[j] > 0 && outcome > open)
				open = outcome;
		}
		*unworthy |= summary->steps[i].rest[NT_REASON_UNWORTHY] > 0;
	}
	return open;
}

enum nt_job_outcome nt_site_stats_outcome(const struct nt_summary *summary)
{
	const struct nt_site_stats_sum sum = nt_site_stats_whole(summary);
	bool unworthy = false;
	enum nt_job_outcome open = open_outcome(summary, &unworthy);

	if (sum.chosen > 0 && sum.saved_us == 0 && sum.spent_us == 0)
		return NT_JOB_REMEMBERED;
	if (sum.chosen > 0 || sum.launch_us != 0)
		return sum.saved_us > sum.spent_us ? NT_JOB_GAINED : NT_JOB_UNPAID;
	if (sum.decided > 0 || (open == NT_JOB_NOT_TUNED && unworthy))
		return NT_JOB_NOTHING_TO_GAIN;
	return open;
}
