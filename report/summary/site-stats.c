/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/site-stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "lib/compare.h"
#include "report/model/job-figures.h"
#include "report/model/row-time.h"

#define TIMES_MAX 100 /* a plausible row has at most so many times its job's time, */
#define SLACK_S 60 /* plus this much, */
#define RANKS_MAX 128 /* and so many ranks on a node */
#define TIME_MAX_US (INT64_C(1) << 60) /* the sum of two does not overflow */
#define RUNS_MAX 20000 /* requeued jobs; of more, what later rows repeat is counted again */
#define USERS_MAX 65536
#define NAMED_MAX 16 /* new versions that one user can add */
#define OTHERS "others" /* the class of all that do not get their own */
#define UNKNOWN "unknown"

static const size_t classes_max[] = {
	[NT_BY_CLUSTER] = 64,
	[NT_BY_PARTITION] = 1024,
	[NT_BY_USER] = 4096,
	[NT_BY_NCCL] = 256,
};

void nt_site_stats_init(struct nt_site_stats *tally)
{
	memset(tally, 0, sizeof(*tally));
	for (int by = 0; by < NT_SITE_STATS_BYS; by++)
		nt_names_init(&tally->by[by].names, classes_max[by]);
	nt_names_init(&tally->runs.jobs, RUNS_MAX);
	nt_names_init(&tally->users, USERS_MAX);
}

void nt_site_stats_fini(struct nt_site_stats *tally)
{
	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		nt_names_fini(&tally->by[by].names);
		free(tally->by[by].class);
	}
	nt_names_fini(&tally->runs.jobs);
	free(tally->runs.next);
	nt_names_fini(&tally->users);
	free(tally->named);
	nt_site_stats_init(tally);
}

/* ---- sums */

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

static void add_row(struct nt_site_stats_sum *sum, const struct nt_key *row)
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
static bool add_missing(struct nt_site_stats_sum *sum, const struct nt_step *step)
{
	bool some = step->more > 0;

	for (int i = 0; i < NT_REASON_COUNT; i++) {
		some |= step->rest[i] > 0;
		sum->keys += step->rest[i];
		sum->chosen += is_arm_reason(i) ? step->rest[i] : 0;
		sum->decided += is_arm_reason(i) || nt_reason_about(i) == NT_ABOUT_KEY
					? step->rest[i]
					: 0;
	}
	return some;
}

/* gain: the job's */
static struct nt_site_stats_sum sum_of(const struct nt_summary *summary,
				       const struct nt_says_gain *gain, size_t step_at)
{
	struct nt_site_stats_sum sum = { .keys = 0 };
	const struct nt_step *step = &summary->steps[step_at];
	double saved_ms = step->saved_ms, spent_ms = step->spent_ms;
	uint32_t most = step->ranks > 0 ? (uint32_t)step->ranks : 1;
	uint32_t least = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_key *row = &summary->rows[i];

		if (row->step != step_at)
			continue;
		add_row(&sum, row);
		saved_ms -= nt_or_zero(row->saved_ms);
		spent_ms -= nt_or_zero(row->spent_ms);
		least = least == 0 || row->ranks < least ? row->ranks : least;
	}
	sum.comm_us = rank_us(step->comm_ms, most);
	sum.calibration_us = rank_us(nt_step_calibration_ms(step), most);
	sum.launch_us = rank_us(nt_step_launched_ms(gain, step), most);
	add_us(&sum.spent_us, sum.calibration_us);
	add_us(&sum.saved_us, sum.launch_us);
	if (!add_missing(&sum, step)) /* a difference is rounding */
		return sum;
	add_us(&sum.saved_us, rank_us(saved_ms, saved_ms < 0 ? most : least > 0 ? least : 1));
	add_us(&sum.spent_us, spent_ms > 0 ? rank_us(spent_ms, most) : 0);
	return sum;
}

static void add_sum(struct nt_site_stats_sum *sum, const struct nt_site_stats_sum *other)
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

/* ---- one job */

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

static bool steps_fit(const struct nt_summary *summary, const struct nt_says_gain *gain,
		      const struct bounds *most)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];
		int64_t per_node = step->per_node > 0 ? step->per_node : 1;

		if (fabs(nt_or_zero(step->saved_ms)) > most->ms ||
		    nt_or_zero(step->spent_ms) > most->ms || nt_or_zero(step->comm_ms) > most->ms ||
		    fabs(nt_or_zero(nt_step_launched_ms(gain, step))) > most->ms ||
		    nt_step_calibration_ms(step) > most->ms || step->ranks > most->ranks ||
		    step->nodes > most->ranks || per_node > most->ranks ||
		    step->nodes * per_node > most->ranks)
			return false;
	}
	return true;
}

/* Could a job like this one have left such a record? */
static bool is_plausible(const struct nt_streamed_job *job, const struct nt_summary *summary,
			 const struct nt_says_gain *gain)
{
	const struct bounds most = {
		.ms = (double)(job->elapsed_s + SLACK_S) * 1000 * TIMES_MAX,
		.ranks = (int64_t)(job->nodes ? job->nodes : 1) * RANKS_MAX,
	};

	return rows_fit(summary, &most) && steps_fit(summary, gain, &most);
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

static enum nt_job_outcome outcome_of(const struct nt_summary *summary,
				      const struct nt_says_gain *gain)
{
	struct nt_site_stats_sum sum = { .keys = 0 };
	bool unworthy = false;
	enum nt_job_outcome open = open_outcome(summary, &unworthy);

	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_site_stats_sum step = sum_of(summary, gain, i);

		add_sum(&sum, &step);
	}
	if (sum.chosen > 0 && sum.saved_us == 0 && sum.spent_us == 0)
		return NT_JOB_REMEMBERED;
	if (sum.chosen > 0 || sum.launch_us != 0)
		return sum.saved_us > sum.spent_us ? NT_JOB_GAINED : NT_JOB_UNPAID;
	if (sum.decided > 0 || (open == NT_JOB_NOT_TUNED && unworthy))
		return NT_JOB_NOTHING_TO_GAIN;
	return open;
}

/* Remove the steps of earlier runs and their rows; the others keep their order. */
static void drop_before(struct nt_summary *summary, int64_t run)
{
	size_t rows = 0, steps = 0;

	for (size_t i = 0; i < summary->row_count; i++) {
		if (summary->steps[summary->rows[i].step].run >= run)
			summary->rows[rows++] = summary->rows[i];
	}
	summary->row_count = rows;
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->steps[i].run < run)
			continue;
		for (size_t j = 0; j < rows; j++) {
			if (summary->rows[j].step == i)
				summary->rows[j].step = steps;
		}
		summary->steps[steps++] = summary->steps[i];
	}
	summary->step_count = steps;
}

static int64_t next_of(const struct nt_summary *summary, int64_t next)
{
	for (size_t i = 0; i < summary->step_count; i++) {
		if (summary->steps[i].run >= next)
			next = summary->steps[i].run + 1;
	}
	return next;
}

/* Takes steps out of the job's summary that an earlier row has had, and notes the others. A
 * requeued job has a row in accounting for each run, and Slurm leaves an earlier run's record in
 * AdminComment, so that the row of a later run may have it, too. If the runs ended in different
 * slices of time (report/model/sacct-jobs.h), both rows are visited, in the order of their ends. */
static int drop_counted(struct nt_counted_runs *runs, const struct nt_streamed_job *job,
			struct nt_summary *summary)
{
	char name[NT_NAME_BYTES];
	int at;

	snprintf(name, sizeof(name), "%s %s", job->cluster, job->label);
	at = nt_names_find(&runs->jobs, name);
	if (at < 0 && !job->requeued)
		return 0;
	if (at < 0)
		at = nt_names_item(&runs->jobs, name, &runs->next, sizeof(*runs->next));
	if (at < 0)
		return runs->jobs.count == RUNS_MAX ? 0 : -1;
	drop_before(summary, runs->next[at]);
	runs->next[at] = next_of(summary, runs->next[at]);
	return 0;
}

/* ---- classes */

/* The job that is being added. */
struct adding {
	struct nt_site_stats *tally;
	const struct nt_streamed_job *job;
	const struct nt_summary *summary; /* NULL: no record that counts */
	struct nt_job_figures figures;
	enum nt_job_outcome outcome;
	int user; /* its number */
	struct nt_error *err;
};

/* NULL: no room, or no memory. */
static struct nt_site_stats_class *class_of(struct nt_site_stats_classes *classes,
					    const char *cluster, const char *name)
{
	char key[NT_NAME_BYTES];
	struct nt_site_stats_class *class;
	int number;

	snprintf(key, sizeof(key), "%s/%s", cluster, name);
	number = nt_names_item(&classes->names, key, &classes->class, sizeof(*class));
	if (number < 0)
		return NULL;
	class = &classes->class[number];
	if (!class->cluster[0] && !class->name[0]) {
		snprintf(class->cluster, sizeof(class->cluster), "%s", cluster);
		snprintf(class->name, sizeof(class->name), "%s", name);
	}
	return class;
}

/* Count the job in the class, or in that of all others if there is no room. Returns the class. */
static struct nt_site_stats_class *enter(const struct adding *adding, enum nt_site_stats_by by,
					 const char *name)
{
	struct nt_site_stats_classes *classes = &adding->tally->by[by];
	struct nt_site_stats_class *class = class_of(classes, adding->job->cluster, name);

	if (!class && classes->names.count > 0) {
		classes->names.max = classes_max[by] + 1;
		class = class_of(classes, "", OTHERS);
	}
	if (!class) {
		nt_error_set(adding->err, "no memory for the summary");
		return NULL;
	}
	if (class->newest_job != adding->tally->jobs) {
		class->newest_job = adding->tally->jobs;
		class->sum.jobs[adding->outcome]++;
	}
	return class;
}

/* A user can put any text into a record, so the number of classes by one user is limited. */
static const char *version_of(const struct adding *adding, const struct nt_step *step)
{
	struct nt_site_stats *tally = adding->tally;
	char key[NT_NAME_BYTES];

	if (!step->nccl[0] || step->nccl[strspn(step->nccl, "0123456789.")])
		return UNKNOWN;
	snprintf(key, sizeof(key), "%s/%s", adding->job->cluster, step->nccl);
	if (nt_names_find(&tally->by[NT_BY_NCCL].names, key) >= 0)
		return step->nccl;
	if (adding->user < 0 || tally->named[adding->user] == NAMED_MAX)
		return OTHERS;
	tally->named[adding->user]++;
	return step->nccl;
}

/* The class of a step; "" for the cluster. */
static const char *name_of(const struct adding *adding, int by, const struct nt_step *step)
{
	switch (by) {
	case NT_BY_PARTITION: return adding->job->partition;
	case NT_BY_USER: return adding->job->user;
	case NT_BY_NCCL: return version_of(adding, step);
	default: return "";
	}
}

static int enter_step(const struct adding *adding, size_t step_at)
{
	const struct nt_step *step = &adding->summary->steps[step_at];
	const struct nt_site_stats_sum sum = sum_of(adding->summary, &adding->figures.gain,
						    step_at);
	struct nt_site_stats_class *class;

	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		class = enter(adding, (enum nt_site_stats_by)by, name_of(adding, by, step));
		if (!class)
			return -1;
		add_sum(&class->sum, &sum);
	}
	return 0;
}

/* ---- jobs */

static int number_user(struct adding *adding)
{
	struct nt_site_stats *tally = adding->tally;

	adding->user = nt_names_item(&tally->users, adding->job->user, &tally->named,
				     sizeof(*tally->named));
	return adding->user >= 0 || tally->users.count == USERS_MAX
		       ? 0
		       : nt_error_set(adding->err, "no memory for the summary");
}

static int add_record(struct adding *adding)
{
	const struct nt_summary *summary = adding->summary;

	for (size_t i = 0; i < summary->step_count; i++) {
		if (enter_step(adding, i) < 0)
			return -1;
		adding->tally->left_out += summary->steps[i].more;
	}
	adding->tally->left_out += summary->more_steps;
	return 0;
}

static int add_job(struct adding *adding)
{
	for (int by = NT_BY_CLUSTER; by <= NT_BY_USER; by++) {
		if (!enter(adding, (enum nt_site_stats_by)by, name_of(adding, by, NULL)))
			return -1;
	}
	if (!adding->summary)
		return 0;
	if (number_user(adding) < 0)
		return -1;
	return add_record(adding);
}

int nt_site_stats_add(struct nt_site_stats *tally, const struct nt_streamed_job *job,
		      struct nt_error *err)
{
	struct adding adding = { .tally = tally, .job = job, .user = -1, .err = err };
	struct nt_summary summary;
	enum nt_holding holding = nt_summary_holding(job->text, job->text_bytes);
	size_t had_steps;
	int rc;

	tally->jobs++;
	nt_summary_init(&summary);
	if (job->end_s == 0) {
		adding.outcome = NT_JOB_RUNNING;
	} else if (holding != NT_HOLDS_RECORD) {
		adding.outcome = holding == NT_HOLDS_OTHER ? NT_JOB_OTHER_TEXT : NT_JOB_NO_RECORD;
	} else {
		if (nt_summary_parse(&summary, job->text, job->text_bytes, NULL, err) < 0) {
			nt_summary_fini(&summary);
			return -1;
		}
		had_steps = summary.step_count;
		if (drop_counted(&tally->runs, job, &summary) < 0) {
			nt_summary_fini(&summary);
			return nt_error_set(err, "no memory for the summary");
		}
		nt_job_figures_make(&adding.figures, &summary);
		if (nt_summary_damaged(&summary))
			adding.outcome = NT_JOB_DAMAGED;
		else if (!is_plausible(job, &summary, &adding.figures.gain))
			adding.outcome = NT_JOB_IMPLAUSIBLE;
		else if (had_steps > 0 && summary.step_count == 0)
			adding.outcome = NT_JOB_NO_RECORD; /* all its steps are of earlier runs */
		else {
			adding.outcome = outcome_of(&summary, &adding.figures.gain);
			adding.summary = &summary;
		}
	}
	rc = add_job(&adding);
	nt_summary_fini(&summary);
	return rc;
}

/* ---- out */

const char *nt_job_outcome_name(enum nt_job_outcome outcome)
{
	static const char *const names[] = {
		[NT_JOB_RUNNING] = "running",
		[NT_JOB_NO_RECORD] = "no_record",
		[NT_JOB_OTHER_TEXT] = "other_text",
		[NT_JOB_DAMAGED] = "damaged",
		[NT_JOB_IMPLAUSIBLE] = "implausible",
		[NT_JOB_NOT_TUNED] = "not_tuned",
		[NT_JOB_OBSERVED] = "observed",
		[NT_JOB_UNDECIDED] = "undecided",
		[NT_JOB_NOTHING_TO_GAIN] = "nothing_to_gain",
		[NT_JOB_REMEMBERED] = "remembered",
		[NT_JOB_UNPAID] = "unpaid",
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

static int in_order(const void *left, const void *right)
{
	const struct nt_site_stats_class *a = left, *b = right;
	int64_t a_net = a->sum.saved_us - a->sum.spent_us;
	int64_t b_net = b->sum.saved_us - b->sum.spent_us;

	NT_COMPARE_TEXT(a->cluster, b->cluster);
	NT_COMPARE(b_net, a_net);
	return strcmp(a->name, b->name);
}

void nt_site_stats_sort(struct nt_site_stats *tally)
{
	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		if (tally->by[by].names.count > 1)
			qsort(tally->by[by].class, tally->by[by].names.count,
			      sizeof(struct nt_site_stats_class), in_order);
	}
}

struct nt_site_stats_sum nt_site_stats_total(const struct nt_site_stats *tally)
{
	const struct nt_site_stats_classes *clusters = &tally->by[NT_BY_CLUSTER];
	struct nt_site_stats_sum total = { .keys = 0 };

	for (size_t i = 0; i < clusters->names.count; i++)
		add_sum(&total, &clusters->class[i].sum);
	return total;
}
