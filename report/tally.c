/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, one after the other, into groups. */
#include "report/tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "record/rank.h"

#define USERS_MAX 65536
#define NAMED_MAX 16 /* fingerprints that nobody had before, of one user */
#define TIMES_MAX 100 /* a row claims at most so many times the time of its job, */
#define SLACK_S 60 /* which may have been a short one, */
#define RANKS_MAX 128 /* and so many ranks on each of its nodes */
#define TIME_MAX_US (INT64_C(1) << 60) /* two of them can be added */
#define OTHERS "others" /* the group of what has no group of its own */
#define UNKNOWN "unknown"

static const size_t groups_max[] = {
	[NT_BY_CLUSTER] = 64,	   [NT_BY_PARTITION] = 1024,  [NT_BY_ACCOUNT] = 4096,
	[NT_BY_FINGERPRINT] = 256, [NT_BY_COLLECTIVE] = 1024, [NT_BY_SIZE] = 4096,
};

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
		[NT_JOB_UNPAID] = "unpaid",
		[NT_JOB_GAINED] = "gained",
	};

	return names[outcome];
}

int64_t nt_tally_jobs(const struct nt_tally_sum *sum)
{
	int64_t jobs = 0;

	for (int i = 0; i < NT_JOB_OUTCOMES; i++)
		jobs += sum->jobs[i];
	return jobs;
}

int64_t nt_tally_recorded(const struct nt_tally_sum *sum)
{
	int64_t jobs = 0;

	for (int i = NT_JOB_NOT_TUNED; i < NT_JOB_OUTCOMES; i++)
		jobs += sum->jobs[i];
	return jobs;
}

void nt_tally_init(struct nt_tally *tally, size_t top)
{
	memset(tally, 0, sizeof(*tally));
	for (int by = 0; by < NT_TALLY_BYS; by++)
		nt_names_init(&tally->by[by].names, groups_max[by]);
	nt_names_init(&tally->users, USERS_MAX);
	nt_evidence_init(&tally->evidence);
	tally->top = top < NT_TALLY_TOP_MAX ? top : NT_TALLY_TOP_MAX;
}

void nt_tally_fini(struct nt_tally *tally)
{
	for (int by = 0; by < NT_TALLY_BYS; by++) {
		nt_names_fini(&tally->by[by].names);
		free(tally->by[by].group);
	}
	nt_names_fini(&tally->users);
	nt_evidence_fini(&tally->evidence);
	free(tally->named);
	nt_tally_init(tally, tally->top);
}

/* What is being added. */
struct adding {
	struct nt_tally *tally;
	const struct nt_streamed_job *job;
	const struct nt_summary *summary; /* NULL: no record that counts */
	enum nt_job_outcome outcome;
	int user; /* its number */
	struct nt_error *err;
};

/* ---- groups */

/* NULL where there is no room for another, or no memory. */
static struct nt_tally_group *group_of(struct nt_tally_groups *groups, const char *cluster,
				       const char *name)
{
	char key[NT_NAME_BYTES];
	struct nt_tally_group *grown;
	int number;

	snprintf(key, sizeof(key), "%s/%s", cluster, name);
	number = nt_names_find(&groups->names, key);
	if (number >= 0)
		return &groups->group[number];
	grown = reallocarray(groups->group, groups->names.count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	groups->group = grown;
	number = nt_names_add(&groups->names, key);
	if (number < 0)
		return NULL;
	grown = &groups->group[number];
	memset(grown, 0, sizeof(*grown));
	snprintf(grown->cluster, sizeof(grown->cluster), "%s", cluster);
	snprintf(grown->name, sizeof(grown->name), "%s", name);
	return grown;
}

/* The group, with this job counted in it; that of all others where there is no room. */
static struct nt_tally_group *enter(const struct adding *adding, enum nt_tally_by by,
				    const char *name)
{
	struct nt_tally_groups *groups = &adding->tally->by[by];
	struct nt_tally_group *group = group_of(groups, adding->job->cluster, name);

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

/* ---- rows */

static bool is_chosen(const struct nt_row *row)
{
	return row->arm != NT_ARM_AUTO;
}

static bool is_decided(const struct nt_row *row)
{
	return is_chosen(row) || strcmp(row->state, NT_KEYSTATE_KEPT) == 0;
}

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

static int64_t rank_us(double ms, uint32_t ranks)
{
	double us = known(ms) * 1000 * ranks;

	return llround(fmax(fmin(us, (double)TIME_MAX_US), -(double)TIME_MAX_US));
}

/* Ends at the bound: only records that lie get there. */
static void add_us(int64_t *sum, int64_t us)
{
	*sum += us;
	if (*sum > TIME_MAX_US)
		*sum = TIME_MAX_US;
	else if (*sum < -TIME_MAX_US)
		*sum = -TIME_MAX_US;
}

static void add_row(struct nt_tally_sum *sum, const struct nt_row *row)
{
	sum->keys++;
	sum->decided += is_decided(row);
	sum->chosen += is_chosen(row);
	sum->calls += row->calls > 0 ? row->calls : 0;
	add_us(&sum->saved_us, rank_us(row->saved_ms, row->ranks));
	add_us(&sum->spent_us, rank_us(row->spent_ms, row->ranks));
}

/* Could a job like this one have left such a record? */
static bool is_plausible(const struct nt_streamed_job *job, const struct nt_summary *summary)
{
	double most_ms = (double)(job->elapsed_s + SLACK_S) * 1000 * TIMES_MAX;
	int64_t most_ranks = (int64_t)(job->nodes ? job->nodes : 1) * RANKS_MAX;

	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_row *row = &summary->rows[i];

		if (fabs(known(row->saved_ms)) > most_ms ||
		    fabs(known(row->spent_ms)) > most_ms || row->ranks > most_ranks)
			return false;
	}
	for (size_t i = 0; i < summary->step_count; i++) {
		const struct nt_step *step = &summary->steps[i];

		if (step->nodes > most_ranks || step->per_node > most_ranks ||
		    (step->nodes > 0 && step->nodes * step->per_node > most_ranks))
			return false;
	}
	return true;
}

static enum nt_job_outcome outcome_of(const struct nt_summary *summary)
{
	struct nt_tally_sum sum = { .keys = 0 };
	bool observed = true;

	for (size_t i = 0; i < summary->row_count; i++) {
		add_row(&sum, &summary->rows[i]);
		observed &= strcmp(summary->rows[i].state, NT_KEYSTATE_OBSERVED) == 0;
	}
	if (sum.keys == 0)
		return NT_JOB_NOT_TUNED;
	if (sum.chosen > 0)
		return sum.saved_us > sum.spent_us ? NT_JOB_GAINED : NT_JOB_UNPAID;
	if (sum.decided > 0)
		return NT_JOB_NOTHING_TO_GAIN;
	return observed ? NT_JOB_OBSERVED : NT_JOB_UNDECIDED;
}

/* Any user may have any fingerprint in a record: only so many get groups by one user alone. */
static const char *fingerprint_of(const struct adding *adding, const struct nt_step *step)
{
	struct nt_tally *tally = adding->tally;
	char key[NT_NAME_BYTES];

	if (strlen(step->fingerprint) != 16 ||
	    strspn(step->fingerprint, "0123456789abcdef") != 16)
		return UNKNOWN;
	snprintf(key, sizeof(key), "%s/%s", adding->job->cluster, step->fingerprint);
	if (nt_names_find(&tally->by[NT_BY_FINGERPRINT].names, key) >= 0)
		return step->fingerprint;
	if (adding->user < 0 || tally->named[adding->user] == NAMED_MAX)
		return OTHERS;
	tally->named[adding->user]++;
	return step->fingerprint;
}

/* "64K-256K", and where it begins. */
static uint64_t size_name(size_t bytes, char *out, size_t out_bytes)
{
	char least[16], most[16];
	unsigned four = 5;

	if (bytes < 1024) {
		snprintf(out, out_bytes, "0-1K");
		return 0;
	}
	while (four < 30 && bytes >> 2 * (four + 1) != 0)
		four++;
	snprintf(out, out_bytes, "%s-%s",
		 nt_size_text((size_t)1 << 2 * four, least, sizeof(least)),
		 nt_size_text((size_t)1 << (2 * four + 2), most, sizeof(most)));
	return UINT64_C(1) << 2 * four;
}

static int enter_row(const struct adding *adding, const struct nt_row *row)
{
	const struct nt_step *step = &adding->summary->steps[row->step];
	struct nt_tally_group *size, *group;
	char name[48];
	uint64_t order = size_name(row->bytes, name, sizeof(name));
	const struct {
		enum nt_tally_by by;
		const char *name;
	} places[] = {
		{ NT_BY_CLUSTER, "" },
		{ NT_BY_PARTITION, adding->job->partition },
		{ NT_BY_ACCOUNT, adding->job->account },
		{ NT_BY_FINGERPRINT, fingerprint_of(adding, step) },
		{ NT_BY_COLLECTIVE, nt_coll_name(row->coll) },
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		group = enter(adding, places[i].by, places[i].name);
		if (!group)
			return -1;
		add_row(&group->sum, row);
	}
	size = enter(adding, NT_BY_SIZE, name);
	if (!size)
		return -1;
	size->order = order;
	add_row(&size->sum, row);
	return 0;
}

/* ---- the best and the worst */

static int64_t net_of(const struct nt_tally_job *job)
{
	return job->saved_us - job->spent_us;
}

/* Is a before b, where sign is 1 for the best and -1 for the worst? Never by when it came. */
static bool is_before(const struct nt_tally_job *a, const struct nt_tally_job *b, int sign)
{
	int order = 0;

	if (net_of(a) != net_of(b))
		return sign > 0 ? net_of(a) > net_of(b) : net_of(a) < net_of(b);
	order = strcmp(a->cluster, b->cluster);
	return order != 0 ? order < 0 : strverscmp(a->label, b->label) < 0;
}

static void offer(struct nt_tally_top *top, size_t most, const struct nt_tally_job *job, int sign)
{
	size_t at = top->count;

	while (at > 0 && is_before(job, &top->job[at - 1], sign))
		at--;
	if (at >= most)
		return;
	if (top->count < most)
		top->count++;
	memmove(&top->job[at + 1], &top->job[at], (top->count - 1 - at) * sizeof(*job));
	top->job[at] = *job;
}

static void offer_job(const struct adding *adding)
{
	const struct nt_streamed_job *job = adding->job;
	struct nt_tally_job entry = { .saved_us = 0 };
	struct nt_tally_sum sum = { .keys = 0 };

	for (size_t i = 0; i < adding->summary->row_count; i++)
		add_row(&sum, &adding->summary->rows[i]);
	snprintf(entry.label, sizeof(entry.label), "%s", job->label);
	snprintf(entry.cluster, sizeof(entry.cluster), "%s", job->cluster);
	snprintf(entry.partition, sizeof(entry.partition), "%s", job->partition);
	snprintf(entry.user, sizeof(entry.user), "%s", job->user);
	entry.saved_us = sum.saved_us;
	entry.spent_us = sum.spent_us;
	if (net_of(&entry) > 0)
		offer(&adding->tally->best, adding->tally->top, &entry, 1);
	else if (net_of(&entry) < 0)
		offer(&adding->tally->worst, adding->tally->top, &entry, -1);
}

/* ---- jobs */

static int number_user(struct adding *adding)
{
	struct nt_tally *tally = adding->tally;
	size_t users = tally->users.count;
	uint8_t *grown;

	adding->user = nt_names_add(&tally->users, adding->job->user);
	if (tally->users.count == users)
		return 0;
	grown = realloc(tally->named, tally->users.count);
	if (!grown)
		return nt_error_set(adding->err, "no memory for the summary");
	tally->named = grown;
	grown[adding->user] = 0;
	return 0;
}

static int add_record(struct adding *adding)
{
	const struct nt_summary *summary = adding->summary;
	const struct nt_evidence_from from = { adding->job->cluster, adding->tally->jobs,
					       adding->user, adding->job->elapsed_s };

	for (size_t i = 0; i < summary->row_count; i++) {
		if (enter_row(adding, &summary->rows[i]) < 0)
			return -1;
	}
	for (size_t i = 0; i < summary->step_count; i++) {
		adding->tally->left_out += summary->steps[i].more;
		nt_evidence_add(&adding->tally->evidence, &from, &summary->steps[i]);
	}
	adding->tally->left_out += summary->more_steps;
	offer_job(adding);
	return 0;
}

static int add_job(struct adding *adding)
{
	if (!enter(adding, NT_BY_CLUSTER, "") ||
	    !enter(adding, NT_BY_PARTITION, adding->job->partition) ||
	    !enter(adding, NT_BY_ACCOUNT, adding->job->account))
		return -1;
	if (!adding->summary)
		return 0;
	if (number_user(adding) < 0)
		return -1;
	return add_record(adding);
}

/* The first of its texts that holds a record; -1: none, and *outcome says what there is. */
static int find_text(const struct nt_streamed_job *job, enum nt_job_outcome *outcome)
{
	*outcome = NT_JOB_NO_RECORD;
	for (int i = 0; i < NT_STREAMED_TEXTS; i++) {
		enum nt_holding holding = nt_summary_holding(job->text[i], job->text_bytes[i]);

		if (holding == NT_HOLDS_RECORD)
			return i;
		if (holding == NT_HOLDS_OTHER)
			*outcome = NT_JOB_OTHER_TEXT;
	}
	return -1;
}

int nt_tally_add(struct nt_tally *tally, const struct nt_streamed_job *job, struct nt_error *err)
{
	struct adding adding = { .tally = tally, .job = job, .user = -1, .err = err };
	struct nt_summary summary;
	int text = find_text(job, &adding.outcome);
	int rc;

	tally->jobs++;
	nt_summary_init(&summary);
	if (job->end_s == 0) {
		adding.outcome = NT_JOB_RUNNING;
	} else if (text >= 0) {
		if (nt_summary_parse(&summary, job->text[text], job->text_bytes[text], NULL, err) <
		    0) {
			nt_summary_fini(&summary);
			return -1;
		}
		if (nt_summary_damaged(&summary))
			adding.outcome = NT_JOB_DAMAGED;
		else if (!is_plausible(job, &summary))
			adding.outcome = NT_JOB_IMPLAUSIBLE;
		else {
			adding.outcome = outcome_of(&summary);
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
	const struct nt_tally_group *a = left, *b = right;
	int64_t a_net = a->sum.saved_us - a->sum.spent_us;
	int64_t b_net = b->sum.saved_us - b->sum.spent_us;
	int order = strcmp(a->cluster, b->cluster);

	if (order == 0)
		order = (a->order > b->order) - (a->order < b->order);
	if (order == 0)
		order = (a_net < b_net) - (a_net > b_net);
	return order ? order : strcmp(a->name, b->name);
}

void nt_tally_sort(struct nt_tally *tally)
{
	for (int by = 0; by < NT_TALLY_BYS; by++) {
		if (tally->by[by].names.count > 1)
			qsort(tally->by[by].group, tally->by[by].names.count,
			      sizeof(struct nt_tally_group), in_order);
	}
}

struct nt_tally_sum nt_tally_total(const struct nt_tally *tally)
{
	const struct nt_tally_groups *clusters = &tally->by[NT_BY_CLUSTER];
	struct nt_tally_sum total = { .keys = 0 };

	for (size_t i = 0; i < clusters->names.count; i++) {
		const struct nt_tally_sum *sum = &clusters->group[i].sum;

		for (int j = 0; j < NT_JOB_OUTCOMES; j++)
			total.jobs[j] += sum->jobs[j];
		total.keys += sum->keys;
		total.decided += sum->decided;
		total.chosen += sum->chosen;
		total.calls += sum->calls;
		add_us(&total.saved_us, sum->saved_us);
		add_us(&total.spent_us, sum->spent_us);
	}
	return total;
}
