/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/step-ratio.h"

#include <math.h>
#include <string.h>
#include "launch/estimate.h"

#define SLOWER_P 0.10 /* largest: going back costs little */
#define LOSS 0.02 /* smallest growth of the period that counts as slower */

static bool is_sample(const struct nt_memory_entry *entry, const struct nt_where *where,
		      const char *profile)
{
	return entry->origin == NT_ORIGIN_JOB && entry->marker_coll >= 0 &&
	       entry->periods >= NT_STEPS_PERIODS && strcmp(entry->profile, profile) == 0 &&
	       strcmp(entry->where.program, where->program) == 0 &&
	       nt_where_same(&entry->where, where);
}

/* The newest; like NULL: with any marker. */
static const struct nt_memory_entry *newest_sample(const struct nt_memory *memory,
						   const struct nt_where *where,
						   const char *profile,
						   const struct nt_memory_entry *like)
{
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (is_sample(entry, where, profile) &&
		    (!like || nt_entry_same_marker(entry, like)) && nt_entry_newer(entry, newest))
			newest = entry;
	}
	return newest;
}

static struct nt_log_times samples_of(const struct nt_memory *memory, const struct nt_where *where,
				      const char *profile, const struct nt_memory_entry *like)
{
	struct nt_log_times out = { 0 };

	for (size_t i = 0; i < memory->entries; i++)
		if (is_sample(&memory->entry[i], where, profile) &&
		    nt_entry_same_marker(&memory->entry[i], like))
			nt_log_times_add(&out, log(nt_entry_period_us(&memory->entry[i])));
	return out;
}

static bool is_slower(const struct nt_estimate *estimate)
{
	return estimate->log_ratio >= log1p(LOSS) && nt_estimate_p_above(estimate) < SLOWER_P;
}

struct nt_step_ratio nt_step_ratio(const struct nt_memory *memory, const struct nt_where *where,
				   const char *profile)
{
	const struct nt_memory_entry *newest = newest_sample(memory, where, profile, NULL);
	const struct nt_memory_entry *base = newest ? newest_sample(memory, where,
								    NT_PROFILE_DEFAULT, newest)
						    : NULL;
	struct nt_log_times with_all, base_all, with_one = { 0 }, base_one = { 0 };
	struct nt_estimate all, last;

	if (!base)
		return (struct nt_step_ratio){ .ratio = 1 };
	with_all = samples_of(memory, where, profile, newest);
	base_all = samples_of(memory, where, NT_PROFILE_DEFAULT, newest);
	all = nt_estimate_of(&base_all, &with_all);
	nt_log_times_add(&with_one, log(nt_entry_period_us(newest)));
	nt_log_times_add(&base_one, log(nt_entry_period_us(base)));
	last = nt_estimate_of(&base_one, &with_one);
	if (is_slower(&last) && !is_slower(&all))
		all = last;
	return (struct nt_step_ratio){ true, exp(all.log_ratio), is_slower(&all), newest->when_s };
}
