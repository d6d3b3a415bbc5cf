/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary/site-memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/array.h"
#include "lib/compare.h"
#include "lib/hash.h"
#include "lib/hex.h"
#include "lib/plural.h"
#include "lib/printable.h"
#include "lib/quantile.h"
#include "record/rank.h"

#define JOBS_MAX 512 /* of one key; the newest */
#define NAMED_MAX 8 /* users named in a line's comment */

void nt_site_memory_init(struct nt_site_memory *learned)
{
	memset(learned, 0, sizeof(*learned));
}

void nt_site_memory_fini(struct nt_site_memory *learned)
{
	free(learned->item);
	nt_site_memory_init(learned);
}

/* ---- in */

/* "2.28.9" as 22809; 0: not a version */
static uint32_t nccl_of(const char *text)
{
	unsigned major, minor, patch;

	if (sscanf(text, "%3u.%2u.%2u", &major, &minor, &patch) != 3)
		return 0;
	return major * 10000 + minor * 100 + patch;
}

/* false: its record has no valid place. */
static bool place_of(const struct nt_step *step, struct nt_where *where)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	int fabric = step->fabric[0] ? nt_fabric_parse(step->fabric) : NT_FABRIC_ANY;

	memset(where, 0, sizeof(*where));
	if (nt_hex_parse(step->fingerprint, NT_HEX_U64, &where->fingerprint) < 0 ||
	    step->nodes < 1 || step->nodes > 1 << 20 || step->per_node < 1 ||
	    step->per_node > 4096 || fabric < 0 ||
	    strspn(step->driver, plain) != strlen(step->driver) || step->user_env < 0 ||
	    step->user_env > UINT32_MAX)
		return false;
	where->nodes = (uint32_t)step->nodes;
	where->per_node = (uint32_t)step->per_node;
	where->fabric = (enum nt_fabric)fabric;
	where->nccl = nccl_of(step->nccl);
	where->user_env = (uint32_t)step->user_env;
	snprintf(where->driver, sizeof(where->driver), "%s", step->driver);
	return where->fingerprint != 0;
}

static bool is_time(double us)
{
	return isfinite(us) && us > 0 && us < 1e12;
}

static int add_row(struct nt_site_memory *learned, const struct nt_observed *step,
		   const struct nt_key *row)
{
	struct nt_known_key key = { .ranks = row->ranks, .nodes = row->nodes };
	bool committed = row->arm != NT_ARM_BASELINE && nt_arm_valid(row->arm) &&
			 is_time(row->us[1]) && row->state == NT_KEYSTATE_COMMITTED;
	struct nt_observed *out;

	if (!is_time(row->us[0]) || row->samples < 1 || row->coll < 0 || row->coll >= NT_COLLS)
		return 0;
	out = nt_array_add(&learned->item, &learned->count, SIZE_MAX, sizeof(*out));
	if (!out)
		return -1;
	*out = *step;
	out->shape = nt_key_shape(&key, &step->where);
	out->coll = row->coll;
	out->bytes = row->bytes;
	out->arm = committed ? row->arm : NT_ARM_BASELINE;
	out->untuned_us = row->us[0];
	out->best_us = committed ? row->us[1] : row->us[0];
	out->calls = row->calls > 0 ? (double)row->calls : 1;
	return 0;
}

int nt_site_memory_add(struct nt_site_memory *learned, const char *user, uint32_t job,
		       int64_t when_s, const struct nt_summary *summary, struct nt_error *err)
{
	learned->jobs++;
	learned->steps += summary->step_count;
	for (size_t i = 0; i < summary->row_count; i++) {
		const struct nt_step *step = &summary->steps[summary->rows[i].step];
		bool first = i == 0 || summary->rows[i - 1].step != summary->rows[i].step;
		struct nt_observed observed = { .job = job, .when_s = when_s };

		if (!nt_profile_name_valid(step->launch) || !place_of(step, &observed.where)) {
			learned->without_place += first;
			continue;
		}
		snprintf(observed.user, sizeof(observed.user), "%s", user);
		snprintf(observed.profile, sizeof(observed.profile), "%s", step->launch);
		observed.calibration = false;
		if (add_row(learned, &observed, &summary->rows[i]) < 0)
			return nt_error_set(err, "no memory");
	}
	return 0;
}

/* ---- sorting */

static int by_line(const struct nt_observed *a, const struct nt_observed *b)
{
	NT_COMPARE(a->where.fingerprint, b->where.fingerprint);
	NT_COMPARE(a->where.fabric, b->where.fabric);
	NT_COMPARE(a->where.nodes, b->where.nodes);
	NT_COMPARE(a->where.per_node, b->where.per_node);
	NT_COMPARE(a->where.user_env, b->where.user_env);
	NT_COMPARE(a->where.nccl, b->where.nccl);
	NT_COMPARE_TEXT(a->where.driver, b->where.driver);
	NT_COMPARE_TEXT(a->profile, b->profile);
	NT_COMPARE(a->calibration, b->calibration);
	return 0;
}

static int by_key(const struct nt_observed *a, const struct nt_observed *b)
{
	const int order = by_line(a, b);

	if (order != 0)
		return order;
	NT_COMPARE(a->shape.ranks, b->shape.ranks);
	NT_COMPARE(a->shape.nodes, b->shape.nodes);
	NT_COMPARE(a->coll, b->coll);
	NT_COMPARE(nt_band(a->bytes), nt_band(b->bytes));
	return 0;
}

/* In a key by user, the newest jobs first. */
static int in_order(const void *left, const void *right)
{
	const struct nt_observed *a = left, *b = right;
	const int order = by_key(a, b);

	if (order != 0)
		return order;
	NT_COMPARE_TEXT(a->user, b->user);
	NT_COMPARE(b->when_s, a->when_s);
	NT_COMPARE(a->job, b->job);
	NT_COMPARE(a->best_us, b->best_us);
	return 0;
}

static struct nt_quantiles spread_of(double *values, unsigned count)
{
	nt_sort_doubles(values, count);
	return (struct nt_quantiles){ nt_quantile_doubles(values, count, 0.25),
				      nt_quantile_doubles(values, count, 0.5),
				      nt_quantile_doubles(values, count, 0.75), count };
}

/* ---- out */

/* What the jobs of a key have measured. Each job has one value, that of its first observation,
 * since the steps of a job are not independent. */
struct witnesses {
	unsigned jobs, users;
	unsigned voices; /* number of values: one of each job, or of each user */
	unsigned user[JOBS_MAX]; /* of each job: a number from 0, ascending */
	const char *name[JOBS_MAX]; /* of each user */
	unsigned of_user[JOBS_MAX]; /* number of jobs of each user */
	double best_us[JOBS_MAX], untuned_us[JOBS_MAX], calls[JOBS_MAX];
	int arm[JOBS_MAX];
	int64_t newest_s;
};

static void hear(struct witnesses *out, const struct nt_observed *item, size_t count,
		 const struct nt_site_memory_rules *rules)
{
	out->jobs = out->users = 0;
	out->newest_s = 0;
	for (size_t i = 0; i < count; i++) {
		bool same_user = i > 0 && strcmp(item[i].user, item[i - 1].user) == 0;
		bool same_job = same_user && item[i].job == item[i - 1].job;

		if (same_job || out->jobs == JOBS_MAX ||
		    (same_user && out->of_user[out->users - 1] == rules->user_jobs))
			continue;
		if (!same_user) {
			out->name[out->users] = item[i].user;
			out->of_user[out->users++] = 0;
		}
		out->of_user[out->users - 1]++;
		out->best_us[out->jobs] = item[i].best_us;
		out->user[out->jobs] = out->users - 1;
		out->untuned_us[out->jobs] = item[i].untuned_us;
		out->calls[out->jobs] = item[i].calls;
		out->arm[out->jobs++] = item[i].arm;
		if (item[i].when_s > out->newest_s)
			out->newest_s = item[i].when_s;
	}
}

static int most_frequent(const int *arm, unsigned count)
{
	unsigned most = 0;
	int best = NT_ARM_BASELINE;

	for (unsigned i = 0; i < count; i++) {
		unsigned same = 0;

		for (unsigned j = 0; j < count; j++)
			same += arm[j] == arm[i];
		if (same > most) {
			most = same;
			best = arm[i];
		}
	}
	return best;
}

/* With several users, each has one value, the median of that user's jobs. With one, each job has
 * one, which gives the spread. */
static void give_voices(struct witnesses *heard)
{
	unsigned voices = 0;

	heard->voices = heard->jobs;
	if (heard->users < 2)
		return;
	for (unsigned i = 0, end; i < heard->jobs; i = end) {
		for (end = i + 1; end < heard->jobs && heard->user[end] == heard->user[i]; end++)
			continue;
		heard->arm[voices] = most_frequent(&heard->arm[i], end - i);
		heard->best_us[voices] = spread_of(&heard->best_us[i], end - i).median_us;
		heard->untuned_us[voices] = spread_of(&heard->untuned_us[i], end - i).median_us;
		heard->calls[voices] = spread_of(&heard->calls[i], end - i).median_us;
		voices++;
	}
	heard->voices = voices;
}

static int put_key(struct nt_memory_entry *entry, const struct nt_observed *item,
		   struct witnesses *heard)
{
	struct nt_known_key *key = nt_entry_add_key(entry);

	if (!key)
		return -1;
	key->ranks = item->shape.ranks;
	key->nodes = item->shape.nodes;
	key->coll = item->coll;
	key->bytes = nt_band_floor(nt_band(item->bytes));
	give_voices(heard);
	key->arm = most_frequent(heard->arm, heard->voices);
	key->calls = (uint64_t)spread_of(heard->calls, heard->voices).median_us;
	key->best = spread_of(heard->best_us, heard->voices);
	key->untuned = spread_of(heard->untuned_us, heard->voices);
	return 0;
}

/* The id depends only on what the line is about, so that versions of a file can be compared. */
static void name_line(struct nt_memory_entry *entry, const struct nt_observed *item)
{
	char text[256];

	snprintf(text, sizeof(text), "%016" PRIx64 " %d %u %u %u %u %s %s %d",
		 item->where.fingerprint, (int)item->where.fabric, item->where.nodes,
		 item->where.per_node, item->where.user_env, item->where.nccl, item->where.driver,
		 item->profile, item->calibration);
	snprintf(entry->id, sizeof(entry->id), "51e00000%016" PRIx64, nt_hash64_text(text));
}

struct merged_entry {
	struct nt_memory_entry entry;
	unsigned jobs_least, jobs_most, users_least, users_most;
	unsigned named; /* users; of_user: the most jobs of each that a key is based on */
	const char *name[NAMED_MAX];
	unsigned of_user[NAMED_MAX];
	bool more_users;
};

static void name_user(struct merged_entry *line, const char *name, unsigned jobs)
{
	unsigned at = 0;

	while (at < line->named && strcmp(line->name[at], name) != 0)
		at++;
	if (at == NAMED_MAX) {
		line->more_users = true;
		return;
	}
	if (at == line->named) {
		line->name[line->named++] = name;
		line->of_user[at] = 0;
	}
	if (jobs > line->of_user[at])
		line->of_user[at] = jobs;
}

static void note_witnesses(struct merged_entry *line, const struct witnesses *heard)
{
	bool first = line->jobs_most == 0;

	if (first || heard->jobs < line->jobs_least)
		line->jobs_least = heard->jobs;
	if (heard->jobs > line->jobs_most)
		line->jobs_most = heard->jobs;
	if (first || heard->users < line->users_least)
		line->users_least = heard->users;
	if (heard->users > line->users_most)
		line->users_most = heard->users;
	for (unsigned i = 0; i < heard->users; i++)
		name_user(line, heard->name[i], heard->of_user[i]);
	if (heard->newest_s > line->entry.when_s)
		line->entry.when_s = heard->newest_s;
}

static int fill_line(struct merged_entry *line, const struct nt_observed *item, size_t count,
		     const struct nt_site_memory_rules *rules, struct witnesses *heard)
{
	struct nt_memory_entry *entry = &line->entry;

	memset(line, 0, sizeof(*line));
	nt_entry_init(entry);
	entry->origin = item->calibration ? NT_ORIGIN_CALIBRATE : NT_ORIGIN_IMPORT;
	entry->where = item->where;
	snprintf(entry->profile, sizeof(entry->profile), "%s", item->profile);
	name_line(entry, item);
	for (size_t i = 0, end; i < count && entry->keys < NT_ENTRY_KEYS; i = end) {
		for (end = i + 1; end < count && by_key(&item[end], &item[i]) == 0; end++)
			continue;
		hear(heard, &item[i], end - i, rules);
		if (heard->jobs < rules->jobs)
			continue;
		note_witnesses(line, heard);
		if (put_key(entry, &item[i], heard) < 0)
			return -1;
	}
	entry->added_us = entry->when_s * 1000000;
	return 0;
}

static void print_range(FILE *out, unsigned least, unsigned most, const char *what)
{
	if (least == most)
		fprintf(out, "%u %s%s", least, what, nt_plural(least));
	else
		fprintf(out, "%u to %u %ss", least, most, what);
}

static void print_users(const struct merged_entry *line, FILE *out)
{
	struct nt_shown shown;

	for (unsigned i = 0; i < line->named; i++)
		fprintf(out, "%s%s %u", i == 0 ? " (" : ", ", nt_shown(&shown, line->name[i]),
			line->of_user[i]);
	fputs(line->more_users ? ", and others)" : ")", out);
}

static void print_line(const struct merged_entry *line, FILE *out)
{
	fprintf(out, "# %s, %" PRIu32 " x %" PRIu32 ": ", line->entry.profile,
		line->entry.where.nodes, line->entry.where.per_node);
	print_range(out, line->jobs_least, line->jobs_most, "job");
	fputs(" of ", out);
	print_range(out, line->users_least, line->users_most, "user");
	print_users(line, out);
	fprintf(out, "%s\n", line->entry.origin == NT_ORIGIN_CALIBRATE ? ", calibrated" : "");
	nt_entry_print(&line->entry, out);
	fputc('\n', out);
}

int nt_site_memory_print(struct nt_site_memory *learned, const struct nt_site_memory_rules *rules,
			 FILE *out, size_t *lines, struct nt_error *err)
{
	struct witnesses *heard = malloc(sizeof(*heard));
	struct merged_entry *line = malloc(sizeof(*line));
	int rc = heard && line ? 0 : nt_error_set(err, "no memory");

	*lines = 0;
	if (rc == 0 && learned->count > 1)
		qsort(learned->item, learned->count, sizeof(learned->item[0]), in_order);
	for (size_t i = 0, end; rc == 0 && i < learned->count; i = end) {
		const struct nt_observed *item = &learned->item[i];

		for (end = i + 1; end < learned->count && by_line(&item[end - i], item) == 0; end++)
			continue;
		if (fill_line(line, item, end - i, rules, heard) < 0)
			rc = nt_error_set(err, "no memory");
		else if (line->entry.keys > 0) {
			print_line(line, out);
			++*lines;
		}
		nt_entry_fini(&line->entry);
	}
	free(heard);
	free(line);
	return rc;
}
