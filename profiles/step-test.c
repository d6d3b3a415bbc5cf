/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/step-test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "profiles/estimate.h"

static const char *const trusts[] = { "untried", "tried", "trusted", "marked", "quarantined" };

const char *nt_trust_name(int trust)
{
	return trust >= 0 && trust <= NT_TRUST_QUARANTINED ? trusts[trust] : "?";
}

#define TRUST_JOBS 3
#define MARKERS_DIFFER 1.1 /* of the numbers of calls */
#define SURE_P 0.01 /* largest that counts as faster, and as slower for other jobs, too */
#define SLOWER_P 0.10 /* as slower, for the job itself: going back costs little */
#define LOSS 0.02 /* smallest growth of the period that counts as slower */
#define GAIN 0.08 /* smallest fall that counts as faster: using a profile must be justified */

static unsigned shared_keys(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	unsigned shared = 0;

	for (unsigned i = 0; i < a->keys; i++) {
		for (unsigned j = 0; j < b->keys; j++) {
			if (nt_key_same(&a->key[i], &a->where, &b->key[j], &b->where)) {
				shared++;
				break;
			}
		}
	}
	return shared;
}

/* How often a step called another step's marker; 0: never or unknown. */
static double marker_calls(const struct nt_memory_entry *of, const struct nt_memory_entry *marker)
{
	for (unsigned i = 0; i < of->keys; i++) {
		const struct nt_known_key *key = &of->key[i];

		if (key->coll == marker->marker_coll &&
		    nt_band(key->bytes) == nt_band(marker->marker_bytes))
			return (double)key->calls;
	}
	return 0;
}

static bool same_marker(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	return a->marker_coll == b->marker_coll && a->marker_bytes == b->marker_bytes;
}

/* Calls of b's marker for each call of a's, in a and in b. */
static bool markers_agree(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	double own = marker_calls(a, a), other = marker_calls(a, b);
	double other_own = marker_calls(b, a), other_other = marker_calls(b, b);
	double change;

	if (own <= 0 || other <= 0 || other_own <= 0 || other_other <= 0)
		return false;
	change = (other / own) / (other_other / other_own);
	return change > 1 / MARKERS_DIFFER && change < MARKERS_DIFFER;
}

/* Are two entries probably steps of one program? Same place, most keys in common, and the same
 * marker, or both called both markers in the same proportion. */
static bool same_program(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	unsigned more = a->keys > b->keys ? a->keys : b->keys;

	return a->marker_coll >= 0 && b->marker_coll >= 0 && nt_where_same(&a->where, &b->where) &&
	       4 * shared_keys(a, b) >= 3 * more && (same_marker(a, b) || markers_agree(a, b));
}

void nt_history_add(struct nt_step_history *history, const struct nt_memory *memory,
		    const struct nt_where *where)
{
	if (memory == NULL)
		return;
	for (size_t i = 0; i < memory->entries && history->count < NT_HISTORY_MAX; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (entry->origin == NT_ORIGIN_JOB && nt_where_same(&entry->where, where))
			history->entry[history->count++] = entry;
	}
}

static int by_time(const void *left, const void *right)
{
	const struct nt_memory_entry *a = *(const struct nt_memory_entry *const *)left;
	const struct nt_memory_entry *b = *(const struct nt_memory_entry *const *)right;

	NT_COMPARE(a->when_s, b->when_s);
	NT_COMPARE(a->job, b->job);
	NT_COMPARE(a->step, b->step);
	return strcmp(a->id, b->id);
}

void nt_history_sort(struct nt_step_history *history)
{
	unsigned kept = 0;

	if (history->count > 1)
		qsort(history->entry, history->count, sizeof(*history->entry), by_time);
	for (unsigned i = 0; i < history->count; i++)
		if (kept == 0 || history->entry[i]->id[0] == '\0' ||
		    strcmp(history->entry[i]->id, history->entry[kept - 1]->id) != 0)
			history->entry[kept++] = history->entry[i];
	history->count = kept;
}

/* Which steps are samples: of a profile, and of which jobs. */
struct which {
	/* The newest step: its program, and the marker in which periods are told. */
	const struct nt_memory_entry *like;
	const char *profile;
	uint32_t job;
	bool only_newest, but_newest, only_job, but_job, but_asked;
};

static bool is_sample(const struct which *which, const struct nt_memory_entry *entry)
{
	return strcmp(entry->profile, which->profile) == 0 && entry->periods >= NT_STEPS_PERIODS &&
	       (!which->only_newest || entry == which->like) &&
	       (!which->but_newest || entry != which->like) &&
	       (!which->only_job || entry->job == which->job) &&
	       (!which->but_job || entry->job != which->job) &&
	       (!which->but_asked || !entry->asked) && same_program(which->like, entry);
}

static struct nt_turns samples_of(const struct nt_step_history *history, const struct which *which)
{
	struct nt_turns out = { 0 };

	for (unsigned i = 0; i < history->count; i++) {
		const struct nt_memory_entry *entry = history->entry[i];
		double scale = 1;

		if (!is_sample(which, entry))
			continue;
		if (!same_marker(which->like, entry))
			scale = marker_calls(entry, entry) / marker_calls(entry, which->like);
		nt_turns_add(&out, log(scale * nt_entry_period_us(entry)));
	}
	return out;
}

/* The newest step with a profile that can be a sample; in a job, if it has one. */
static const struct nt_memory_entry *newest_with(const struct nt_step_history *history,
						 uint32_t job, const char *profile)
{
	const struct nt_memory_entry *any = NULL;

	for (unsigned i = history->count; i > 0; i--) {
		const struct nt_memory_entry *entry = history->entry[i - 1];

		if (strcmp(entry->profile, profile) != 0 || entry->periods < NT_STEPS_PERIODS ||
		    entry->marker_coll < 0)
			continue;
		if (entry->job == job || job == 0)
			return entry;
		if (any == NULL)
			any = entry;
	}
	return any;
}

static struct nt_step_test_result verdict_of(const struct nt_estimate *estimate)
{
	struct nt_step_test_result out = { .verdict = NT_STEPS_UNKNOWN, .ratio = 1, .p = 1 };
	double faster = nt_estimate_p_below(estimate);
	double slower = nt_estimate_p_above(estimate, 0);

	if (!estimate->known)
		return out;
	out.ratio = exp(estimate->log_ratio);
	out.p = faster < slower ? faster : slower;
	out.verdict = NT_STEPS_SAME;
	if (faster < SURE_P && out.ratio <= 1 - GAIN)
		out.verdict = NT_STEPS_FASTER;
	else if (slower < SLOWER_P && out.ratio >= 1 + LOSS)
		out.verdict = NT_STEPS_SLOWER;
	return out;
}

static struct nt_estimate compare(const struct nt_step_history *history,
				  const struct which *of_base, const struct which *of_arm)
{
	struct nt_turns arms = samples_of(history, of_arm);
	struct nt_turns bases = samples_of(history, of_base);

	if (bases.count == 0 && of_base->only_job) {
		struct which of_any = *of_base;

		of_any.only_job = false;
		bases = samples_of(history, &of_any);
	}
	return nt_estimate_of(&bases, &arms);
}

/* Of the job's steps with the profile; of the newest alone, if it contradicts the others. */
static struct nt_estimate in_job(const struct nt_step_history *history, struct which of_base,
				 struct which of_arm)
{
	struct nt_estimate all, newest, others;

	of_base.only_job = of_arm.only_job = true;
	all = compare(history, &of_base, &of_arm);
	of_arm.only_newest = true;
	newest = compare(history, &of_base, &of_arm);
	of_arm.only_newest = false;
	of_arm.but_newest = true;
	others = compare(history, &of_base, &of_arm);
	return newest.known && others.known && nt_estimate_contradict(&newest, &others) ? newest
											: all;
}

struct nt_step_test_result nt_history_test(const struct nt_step_history *history, uint32_t job,
					   const char *base, const char *profile)
{
	const struct nt_memory_entry *newest = newest_with(history, job, profile);
	struct which of_base = { .like = newest, .profile = base, .job = job };
	struct which of_arm = { .like = newest, .profile = profile, .job = job };
	struct nt_estimate near, far, both = { 0 };

	if (newest == NULL)
		return verdict_of(&both);
	near = in_job(history, of_base, of_arm);
	of_base.but_job = of_arm.but_job = true;
	far = compare(history, &of_base, &of_arm);
	both = nt_estimate_join(&near, &far);
	return verdict_of(&both);
}

/* Jobs with such steps. */
static unsigned jobs_of(const struct nt_step_history *history, const struct which *which)
{
	unsigned count = 0;

	for (unsigned i = 0; i < history->count; i++) {
		bool seen = !is_sample(which, history->entry[i]);

		for (unsigned k = 0; k < i && !seen; k++)
			seen = history->entry[k]->job == history->entry[i]->job &&
			       is_sample(which, history->entry[k]);
		count += !seen;
	}
	return count;
}

struct nt_profile_trust nt_history_trust(const struct nt_step_history *history, const char *profile)
{
	struct which of_base = { .profile = NT_PROFILE_DEFAULT };
	struct which of_arm = { .profile = profile, .but_asked = true };
	struct nt_profile_trust out = { .level = NT_TRUST_UNTRIED };
	struct nt_estimate estimate = { 0 };
	struct nt_turns arms, bases;

	out.test = verdict_of(&estimate);
	of_base.like = of_arm.like = newest_with(history, 0, profile);
	if (of_arm.like == NULL)
		return out;
	arms = samples_of(history, &of_arm);
	bases = samples_of(history, &of_base);
	estimate = nt_estimate_of(&bases, &arms);
	out.test = verdict_of(&estimate);
	out.jobs = jobs_of(history, &of_arm);
	if (out.test.verdict == NT_STEPS_SLOWER && out.test.p < SURE_P)
		out.level = arms.count > 1 ? NT_TRUST_QUARANTINED : NT_TRUST_MARKED;
	else if (out.test.verdict == NT_STEPS_FASTER && out.jobs >= TRUST_JOBS)
		out.level = NT_TRUST_TRUSTED;
	else if (out.test.verdict != NT_STEPS_UNKNOWN)
		out.level = NT_TRUST_TRIED;
	return out;
}
