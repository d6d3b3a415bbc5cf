/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/step-before.h"

#include <math.h>
#include <string.h>
#include "launch/estimate.h"
#include "launch/step-ratio.h"

static bool is_software(const struct nt_memory_entry *entry, const struct nt_where *where)
{
	return entry->where.nccl == where->nccl && strcmp(entry->where.driver, where->driver) == 0;
}

static double most_calls(const struct nt_memory_entry *entry)
{
	double most = 1;

	for (size_t i = 0; i < entry->keys; i++)
		most = fmax(most, (double)entry->key[i].calls);
	return most;
}

static double calls_of(const struct nt_memory_entry *entry, const struct nt_known_key *key,
		       const struct nt_where *where)
{
	for (size_t i = 0; i < entry->keys; i++) {
		if (nt_key_same(&entry->key[i], &entry->where, key, where))
			return (double)entry->key[i].calls;
	}
	return 0;
}

/* What b calls often enough to be in each of its steps a calls as often, next to what both call
 * most. */
static bool has_calls_of(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	const double most_a = most_calls(a), most_b = most_calls(b);

	for (size_t i = 0; i < b->keys; i++) {
		const double wanted = (double)b->key[i].calls / most_b;

		if (wanted >= 0.25 &&
		    fabs(calls_of(a, &b->key[i], &b->where) / most_a - wanted) > 0.1)
			return false;
	}
	return true;
}

/* Of the program's own step; if the step marker is not known, as in mode observe, from a call to
 * the next in the mean. 0: not known. */
static double time_of(const struct nt_memory_entry *entry)
{
	double us = 0, calls = 0;

	if (entry->marker_coll >= 0)
		return entry->periods >= NT_STEPS_PERIODS ? nt_entry_period_us(entry) : 0;
	for (size_t i = 0; i < entry->keys; i++) {
		const struct nt_known_key *key = &entry->key[i];

		if (!nt_kind_tunable(key->coll) || key->untuned.samples < NT_STEPS_PERIODS)
			continue;
		us += (double)key->calls * key->untuned.median_us;
		calls += (double)key->calls;
	}
	return calls > 0 ? us / calls : 0;
}

/* like: of whose work it must be; NULL: of any. */
static bool is_sample(const struct nt_memory_entry *entry, const struct nt_where *where,
		      const char *profile, const struct nt_memory_entry *like)
{
	return entry->origin == NT_ORIGIN_JOB && time_of(entry) > 0 && entry->where.nccl != 0 &&
	       strcmp(entry->profile, profile) == 0 && where->program[0] &&
	       strcmp(entry->where.program, where->program) == 0 &&
	       nt_where_same_place(&entry->where, where) &&
	       (!like || (nt_entry_same_marker(entry, like) && has_calls_of(entry, like) &&
			  has_calls_of(like, entry)));
}

/* The newest with this software, or, with other, the newest of those. */
static const struct nt_memory_entry *newest(const struct nt_memory *memory,
					    const struct nt_where *where, const char *profile,
					    const struct nt_memory_entry *like, bool other)
{
	const struct nt_memory_entry *found = NULL;

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (is_software(entry, where) != other && nt_entry_newer(entry, found) &&
		    is_sample(entry, where, profile, like))
			found = entry;
	}
	return found;
}

static struct nt_log_times samples_of(const struct nt_memory *memory,
				      const struct nt_memory_entry *of,
				      const struct nt_memory_entry *like)
{
	struct nt_log_times out = { 0 };

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (is_software(entry, &of->where) &&
		    is_sample(entry, &of->where, of->profile, like))
			nt_log_times_add(&out, log(time_of(entry)));
	}
	return out;
}

static void name_software(const struct nt_where *before, const struct nt_where *now, char out[40])
{
	if (before->nccl != now->nccl)
		snprintf(out, 40, "NCCL " NT_NCCL_TEXT, NT_NCCL_PARTS(before->nccl));
	else
		snprintf(out, 40, "driver %s", before->driver);
}

bool nt_step_slower(const struct nt_memory *memory, const struct nt_where *where,
		    const char *profile, struct nt_step_before *out)
{
	const struct nt_memory_entry *now = newest(memory, where, profile, NULL, false);
	const struct nt_memory_entry *before = now ? newest(memory, where, profile, now, true)
						   : NULL;
	struct nt_log_times new, old;
	struct nt_estimate estimate;

	if (!before || (before->where.nccl == now->where.nccl && !before->where.driver[0]))
		return false;
	new = samples_of(memory, now, now);
	old = samples_of(memory, before, now);
	if (new.count < NT_BEFORE_STEPS || old.count < NT_BEFORE_STEPS)
		return false;
	estimate = nt_estimate_of(&old, &new);
	if (estimate.log_ratio < log1p(NT_BEFORE_LOSS) ||
	    nt_estimate_p_above(&estimate) > NT_BEFORE_P ||
	    log(time_of(now)) < old.mean + log1p(NT_BEFORE_LOSS))
		return false;
	*out = (struct nt_step_before){ .growth = expm1(estimate.log_ratio),
					.when_s = before->when_s,
					.job = before->job };
	name_software(&before->where, where, out->than);
	return true;
}
