/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Steps against steps. */
#include "launch/feel.h"

#include <stdlib.h>
#include <string.h>

static const char *const trusts[] = { "untried", "tried", "trusted", "marked", "quarantined" };

const char *nt_trust_name(int trust)
{
	return trust >= 0 && trust <= NT_TRUST_QUARANTINED ? trusts[trust] : "?";
}

static int by_value(const void *left, const void *right)
{
	float a = *(const float *)left, b = *(const float *)right;

	return (a > b) - (a < b);
}

static double median_of(const float *us, unsigned count)
{
	float sorted[NT_ENTRY_PERIODS];

	memcpy(sorted, us, count * sizeof(*us));
	qsort(sorted, count, sizeof(*sorted), by_value);
	return ((double)sorted[(count - 1) / 2] + (double)sorted[count / 2]) / 2;
}

static void thin(const float *from, unsigned from_count, float *to, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		to[i] = from[(size_t)i * from_count / count];
}

struct nt_feeling nt_feel(const struct nt_feel_rule *how, const float *base, unsigned base_count,
			  const float *arm, unsigned arm_count)
{
	struct nt_feeling out = { .felt = NT_FELT_UNKNOWN, .ratio = 1, .p = 1 };
	unsigned count = base_count < arm_count ? base_count : arm_count;
	float with[NT_ENTRY_PERIODS], without[NT_ENTRY_PERIODS];
	double faster, slower;

	if (count > NT_ENTRY_PERIODS)
		count = NT_ENTRY_PERIODS;
	if (how->test == NULL || count < NT_FELT_SAMPLES)
		return out;
	thin(base, base_count, without, count);
	thin(arm, arm_count, with, count);
	out.samples = count;
	out.ratio = median_of(with, count) / median_of(without, count);
	faster = how->test(without, with, count);
	slower = how->test(with, without, count);
	out.p = faster < slower ? faster : slower;
	out.felt = NT_FELT_SAME;
	if (faster < how->alpha && out.ratio <= 1 - how->gain)
		out.felt = NT_FELT_FASTER;
	else if (slower < how->alpha && out.ratio >= 1 + how->loss)
		out.felt = NT_FELT_SLOWER;
	return out;
}

#define MARKERS_DIFFER 1.1 /* of how often they are called */

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

/* How often a step called another one's marker; 0: never, or it is not known. */
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

/* Calls of b's marker to one of a's, as a made them and as b did. */
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

bool nt_feel_alike(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	unsigned more = a->keys > b->keys ? a->keys : b->keys;

	return a->marker_coll >= 0 && b->marker_coll >= 0 && nt_where_same(&a->where, &b->where) &&
	       4 * shared_keys(a, b) >= 3 * more && (same_marker(a, b) || markers_agree(a, b));
}

struct nt_feeling nt_feel_pair(const struct nt_feel_rule *how, const struct nt_memory_entry *base,
			       const struct nt_memory_entry *arm)
{
	float periods[NT_ENTRY_PERIODS];
	double scale = 1;

	if (!same_marker(base, arm))
		scale = marker_calls(arm, arm) / marker_calls(arm, base);
	for (unsigned i = 0; i < arm->periods; i++)
		periods[i] = (float)(arm->period_us[i] * scale);
	return nt_feel(how, base->period_us, base->periods, periods, arm->periods);
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

	if (a->when_s != b->when_s)
		return a->when_s < b->when_s ? -1 : 1;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
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

/* The default's step to compare history->entry[at] with: the newest before it of the same job, the
 * oldest after it of the same job, the newest of any job; NULL if there is none. */
static const struct nt_memory_entry *base_of(const struct nt_step_history *history, unsigned at)
{
	const struct nt_memory_entry *arm = history->entry[at], *after = NULL, *any = NULL;

	for (unsigned i = history->count; i > 0; i--) {
		const struct nt_memory_entry *base = history->entry[i - 1];

		if (strcmp(base->profile, NT_PROFILE_DEFAULT) != 0 || !nt_feel_alike(base, arm))
			continue;
		if (any == NULL)
			any = base;
		if (base->job == arm->job && i - 1 < at)
			return base;
		if (base->job == arm->job)
			after = base;
	}
	return after != NULL ? after : any;
}

/* Jobs that won, each counted once; a handful is enough. */
struct winners {
	unsigned count;
	uint32_t job[16];
};

static void add_winner(struct winners *winners, uint32_t job)
{
	for (unsigned i = 0; i < winners->count; i++)
		if (winners->job[i] == job)
			return;
	if (winners->count < 16)
		winners->job[winners->count++] = job;
}

/* A loss counts where the profile was used for being better. What was only tried may lose. Enough
 * wins after one loss make up for it; after two nothing does. */
static void fold(struct nt_standing *standing, struct winners *winners,
		 const struct nt_memory_entry *entry, unsigned trust_jobs)
{
	if (standing->last.felt == NT_FELT_FASTER) {
		add_winner(winners, entry->job);
		if (standing->losses == 1 && winners->count >= trust_jobs)
			standing->losses = 0;
	} else if (standing->last.felt == NT_FELT_SLOWER && !entry->candidate) {
		standing->losses++;
		winners->count = 0;
	}
}

struct nt_feeling nt_feel_step(const struct nt_step_history *history, unsigned at,
			       const struct nt_feel_rule *how)
{
	const struct nt_memory_entry *arm = history->entry[at];
	const struct nt_memory_entry *base = NULL;

	if (strcmp(arm->profile, NT_PROFILE_DEFAULT) != 0)
		base = base_of(history, at);
	if (base == NULL)
		return (struct nt_feeling){ .ratio = 1, .p = 1 };
	return nt_feel_pair(how, base, arm);
}

struct nt_standing nt_feel_standing(const struct nt_step_history *history, const char *profile,
				    const struct nt_feel_rule *how, unsigned trust_jobs)
{
	struct nt_standing out = { .last = { .ratio = 1, .p = 1 } };
	struct winners winners = { 0 };

	for (unsigned i = 0; i < history->count && out.losses < 2; i++) {
		const struct nt_memory_entry *arm = history->entry[i];

		if (strcmp(arm->profile, profile) != 0)
			continue;
		out.last_job = arm->job;
		out.last_step = arm->step;
		out.last = nt_feel_step(history, i, how);
		if (out.last.felt != NT_FELT_UNKNOWN && out.trust == NT_TRUST_UNTRIED)
			out.trust = NT_TRUST_TRIED;
		fold(&out, &winners, arm, trust_jobs);
	}
	out.wins = winners.count;
	if (out.losses >= 2)
		out.trust = NT_TRUST_QUARANTINED;
	else if (out.losses == 1)
		out.trust = NT_TRUST_MARKED;
	else if (out.wins >= trust_jobs)
		out.trust = NT_TRUST_TRUSTED;
	return out;
}
