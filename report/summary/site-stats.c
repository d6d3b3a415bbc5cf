/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/site-stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"

#define USERS_MAX 65536
#define NAMED_MAX 16 /* new versions that one user can add */
#define OTHERS "others" /* the group of all that do not get their own */
#define UNKNOWN "unknown"

static const size_t groups_max[] = {
	[NT_BY_CLUSTER] = 64,
	[NT_BY_PARTITION] = 1024,
	[NT_BY_USER] = 4096,
	[NT_BY_NCCL] = 256,
};

void nt_site_stats_init(struct nt_site_stats *tally)
{
	memset(tally, 0, sizeof(*tally));
	for (int by = 0; by < NT_SITE_STATS_BYS; by++)
		nt_names_init(&tally->by[by].names, groups_max[by]);
	nt_counted_runs_init(&tally->runs);
	nt_names_init(&tally->users, USERS_MAX);
}

void nt_site_stats_fini(struct nt_site_stats *tally)
{
	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		nt_names_fini(&tally->by[by].names);
		free(tally->by[by].group);
	}
	nt_counted_runs_fini(&tally->runs);
	nt_names_fini(&tally->users);
	free(tally->named);
	nt_site_stats_init(tally);
}

/* The job that is being added. */
struct adding {
	struct nt_site_stats *tally;
	const struct nt_streamed_job *job;
	const struct nt_summary *summary; /* NULL: no record that counts */
	enum nt_job_outcome outcome;
	int user; /* its number */
	struct nt_error *err;
};

/* ---- groups */

/* NULL: no room, or no memory. */
static struct nt_site_stats_group *group_of(struct nt_site_stats_groups *groups,
					    const char *cluster, const char *name)
{
	char key[NT_NAME_BYTES];
	struct nt_site_stats_group *group;
	int number;

	snprintf(key, sizeof(key), "%s/%s", cluster, name);
	number = nt_names_item(&groups->names, key, &groups->group, sizeof(*group));
	if (number < 0)
		return NULL;
	group = &groups->group[number];
	if (!group->cluster[0] && !group->name[0]) {
		snprintf(group->cluster, sizeof(group->cluster), "%s", cluster);
		snprintf(group->name, sizeof(group->name), "%s", name);
	}
	return group;
}

/* Count the job in the group, or in that of all others if there is no room. Returns the group. */
static struct nt_site_stats_group *enter(const struct adding *adding, enum nt_site_stats_by by,
					 const char *name)
{
	struct nt_site_stats_groups *groups = &adding->tally->by[by];
	struct nt_site_stats_group *group = group_of(groups, adding->job->cluster, name);

	if (!group && groups->names.count > 0) {
		groups->names.max = groups_max[by] + 1;
		group = group_of(groups, "", OTHERS);
	}
	if (!group) {
		nt_error_set(adding->err, "no memory for the summary");
		return NULL;
	}
	if (group->newest_job != adding->tally->jobs) {
		group->newest_job = adding->tally->jobs;
		group->sum.jobs[adding->outcome]++;
	}
	return group;
}

/* A user can put any text into a record, so the number of groups by one user is limited. */
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

/* The group of a step; "" for the cluster. */
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
	const struct nt_site_stats_sum rest = nt_site_stats_rest(adding->summary, step_at);
	struct nt_site_stats_group *group;

	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		group = enter(adding, (enum nt_site_stats_by)by, name_of(adding, by, step));
		if (!group)
			return -1;
		nt_site_stats_add_sum(&group->sum, &rest);
	}
	return 0;
}

static int enter_row(const struct adding *adding, const struct nt_key *row)
{
	const struct nt_step *step = &adding->summary->steps[row->step];
	struct nt_site_stats_group *group;

	for (int by = 0; by < NT_SITE_STATS_BYS; by++) {
		group = enter(adding, (enum nt_site_stats_by)by, name_of(adding, by, step));
		if (!group)
			return -1;
		nt_site_stats_add_row(&group->sum, row);
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

	for (size_t i = 0; i < summary->row_count; i++) {
		if (enter_row(adding, &summary->rows[i]) < 0)
			return -1;
	}
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

/* Only AdminComment is evidence: users cannot write it. Records elsewhere are only counted. */
static enum nt_job_outcome without_record(const struct nt_streamed_job *job,
					  enum nt_holding holding)
{
	for (int i = NT_STREAMED_ADMINCOMMENT + 1; i < NT_STREAMED_TEXTS; i++) {
		if (nt_summary_holding(job->text[i], job->text_bytes[i]) == NT_HOLDS_RECORD)
			return NT_JOB_USERS_WORD;
	}
	return holding == NT_HOLDS_OTHER ? NT_JOB_OTHER_TEXT : NT_JOB_NO_RECORD;
}

int nt_site_stats_add(struct nt_site_stats *tally, const struct nt_streamed_job *job,
		      struct nt_error *err)
{
	struct adding adding = { .tally = tally, .job = job, .user = -1, .err = err };
	struct nt_summary summary;
	const char *text = job->text[NT_STREAMED_ADMINCOMMENT];
	size_t text_bytes = job->text_bytes[NT_STREAMED_ADMINCOMMENT];
	enum nt_holding holding = nt_summary_holding(text, text_bytes);
	size_t had_steps;
	int rc;

	tally->jobs++;
	nt_summary_init(&summary);
	if (job->end_s == 0) {
		adding.outcome = NT_JOB_RUNNING;
	} else if (holding != NT_HOLDS_RECORD) {
		adding.outcome = without_record(job, holding);
	} else {
		if (nt_summary_parse(&summary, text, text_bytes, NULL, err) < 0) {
			nt_summary_fini(&summary);
			return -1;
		}
		had_steps = summary.step_count;
		if (nt_counted_runs_take(&tally->runs, job, &summary) < 0) {
			nt_summary_fini(&summary);
			return nt_error_set(err, "no memory for the summary");
		}
		if (nt_summary_damaged(&summary))
			adding.outcome = NT_JOB_DAMAGED;
		else if (!nt_site_stats_plausible(job, &summary))
			adding.outcome = NT_JOB_IMPLAUSIBLE;
		else if (had_steps > 0 && summary.step_count == 0)
			adding.outcome = NT_JOB_NO_RECORD; /* all its steps are of earlier runs */
		else {
			adding.outcome = nt_site_stats_outcome(&summary);
			adding.summary = &summary;
		}
	}
	rc = add_job(&adding);
	nt_summary_fini(&summary);
	return rc;
}

/* ---- out */

static int in_order(const void *left, const void *right)
{
	const struct nt_site_stats_group *a = left, *b = right;
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
			qsort(tally->by[by].group, tally->by[by].names.count,
			      sizeof(struct nt_site_stats_group), in_order);
	}
}

struct nt_site_stats_sum nt_site_stats_total(const struct nt_site_stats *tally)
{
	const struct nt_site_stats_groups *clusters = &tally->by[NT_BY_CLUSTER];
	struct nt_site_stats_sum total = { .keys = 0 };

	for (size_t i = 0; i < clusters->names.count; i++)
		nt_site_stats_add_sum(&total, &clusters->group[i].sum);
	return total;
}
