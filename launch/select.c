/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/select.h"

#include <math.h>
#include <string.h>
#include "launch/estimate.h"
#include "launch/step-ratio.h"

#define ALPHA 0.05 /* largest p, over all profiles together */
#define UNKNOWN_MOST 0.1 /* share of the calls that may be like none that was measured */
#define OCTAVES_MOST 4.0 /* to the nearest size */
#define SIZE_ERROR 0.10 /* of a ratio that was measured at another size */
#define KIND_ERROR 0.30 /* and of another collective */
/* If the calls are unknown: sizes that must have been measured, at least one so small, one so
 * large. */
#define BLIND_SMALL_BYTES (256 << 10)
#define BLIND_LARGE_BYTES (4 << 20)
#define CALIBRATIONS 64 /* of a place that are looked at */

/* What one calibration measured with a profile, and with the default. */
struct calibration {
	const struct nt_memory_entry *with, *base;
};

struct calibrations {
	unsigned count;
	struct calibration one[CALIBRATIONS]; /* the newest first */
};

/* ---- what was measured here */

/* Its job's; a job calibrates a place once. */
static const struct nt_memory_entry *base_of(const struct nt_memory *memory,
					     const struct nt_memory_entry *with)
{
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (entry->origin == NT_ORIGIN_CALIBRATE && entry->job == with->job &&
		    entry->keys > 0 && strcmp(entry->profile, NT_PROFILE_DEFAULT) == 0 &&
		    nt_where_same(&entry->where, &with->where) && nt_entry_newer(entry, newest))
			newest = entry;
	}
	return newest;
}

static void add_calibration(struct calibrations *out, const struct nt_memory_entry *with,
			    const struct nt_memory_entry *base)
{
	unsigned at = out->count;

	while (at > 0 && nt_entry_newer(with, out->one[at - 1].with))
		at--;
	if (at == CALIBRATIONS)
		return;
	if (out->count < CALIBRATIONS)
		out->count++;
	memmove(&out->one[at + 1], &out->one[at], (out->count - 1 - at) * sizeof(out->one[0]));
	out->one[at] = (struct calibration){ with, base };
}

static void find_calibrations(const struct nt_launch_case *launch, const char *profile,
			      struct calibrations *out)
{
	out->count = 0;
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = launch->memory[level];

		for (size_t i = 0; memory && i < memory->entries; i++) {
			const struct nt_memory_entry *entry = &memory->entry[i];
			const struct nt_memory_entry *base;

			if (entry->origin != NT_ORIGIN_CALIBRATE || entry->keys == 0 ||
			    strcmp(entry->profile, profile) != 0 ||
			    !nt_where_same(&entry->where, &launch->where))
				continue;
			base = base_of(memory, entry);
			if (base)
				add_calibration(out, entry, base);
		}
	}
}

/* Between median and mean: it reflects a quarter of slow calls, but not a single stall. */
static double middle_us(const struct nt_known_key *key)
{
	const struct nt_quantiles *us = nt_key_times(key);

	return (us->p25_us + 2 * us->median_us + us->p75_us) / 4;
}

static const struct nt_known_key *key_like(const struct nt_memory_entry *entry,
					   const struct nt_known_key *key,
					   const struct nt_where *where)
{
	for (size_t i = 0; i < entry->keys; i++)
		if (nt_key_same(&entry->key[i], &entry->where, key, where))
			return nt_key_times(&entry->key[i])->samples > 0 ? &entry->key[i] : NULL;
	return NULL;
}

/* A call of the program. */
struct call {
	struct nt_comm_shape shape;
	int coll;
	uint64_t bytes;
};

/* Where the ratio of a call is from. */
struct source {
	const struct calibration *from; /* NULL: there is none */
	double ratio, base_us;
	double error; /* 0: it was measured itself */
};

/* How unlike a call is what was measured: 0, or the error of its ratio; INFINITY: it says nothing.
 * Sends have variables of their own, and nodes have links of their own. */
static double error_of(const struct call *call, const struct nt_known_key *key,
		       const struct nt_where *where, double *octaves)
{
	const struct nt_comm_shape shape = nt_key_shape(key, where);

	*octaves = fabs((double)nt_band(key->bytes) - nt_band(call->bytes)) / 2;
	if (*octaves > OCTAVES_MOST || shape.nodes != call->shape.nodes)
		return INFINITY;
	if (shape.ranks == call->shape.ranks && key->coll == call->coll)
		return *octaves > 0 ? SIZE_ERROR : 0;
	if (shape.nodes == 1 || nt_kind_tunable(key->coll) != nt_kind_tunable(call->coll))
		return INFINITY;
	return KIND_ERROR;
}

/* The likest, then the nearest size, then the newest. */
static struct source find_source(const struct calibrations *known, const struct call *call)
{
	struct source best = { .error = INFINITY };
	double nearest = INFINITY;

	for (unsigned i = 0; i < known->count; i++) {
		const struct calibration *from = &known->one[i];

		for (size_t k = 0; k < from->base->keys; k++) {
			const struct nt_known_key *base = &from->base->key[k], *with;
			double octaves, error;

			error = error_of(call, base, &from->base->where, &octaves);
			if (error > best.error || isinf(error) ||
			    (error == best.error && octaves >= nearest))
				continue;
			with = key_like(from->with, base, &from->base->where);
			if (!with || nt_key_times(base)->samples == 0)
				continue;
			nearest = octaves;
			best = (struct source){ from, middle_us(with) / middle_us(base),
						middle_us(base), error };
		}
	}
	return best;
}

/* ---- a profile's gain */

/* Sums over calls, in microseconds. */
struct sums {
	double base, with, unknown, measured;
	double slack; /* the errors of what was not measured itself */
	double error, degrees; /* between laps: of the least certain calibration */
};

/* Of the ratio's logarithm. */
static double laps_error(const struct calibration *of, double *degrees)
{
	const double base = of->base->laps, with = of->with->laps;
	const double squares = (base - 1) * of->base->deviation * of->base->deviation +
			       (with - 1) * of->with->deviation * of->with->deviation;

	*degrees = base + with - 2;
	return nt_estimate_deviation(squares, *degrees) * sqrt(1 / base + 1 / with);
}

/* us: what the call is known to take with the default in all; 0: as each other one. */
static void add_call(struct sums *sums, struct nt_candidate *out, const struct call *call,
		     const struct source *source, double us)
{
	double error, degrees;

	if (!source->from) {
		sums->unknown += us;
		return;
	}
	error = laps_error(source->from, &degrees);
	if (error > sums->error) {
		sums->error = error;
		sums->degrees = degrees;
	}
	sums->base += us;
	sums->with += us * source->ratio;
	sums->slack += us * source->ratio * source->error;
	if (source->from->with->when_s > out->when_s)
		out->when_s = source->from->with->when_s;
	if (source->error > 0)
		return;
	sums->measured += us;
	if (source->ratio > out->worst)
		out->worst = source->ratio;
	if (out->least_bytes == 0 || call->bytes < out->least_bytes)
		out->least_bytes = call->bytes;
	if (call->bytes > out->most_bytes)
		out->most_bytes = call->bytes;
}

static void add_program(struct sums *sums, struct nt_candidate *out,
			const struct calibrations *known, const struct nt_memory_entry *step)
{
	for (size_t i = 0; i < step->keys; i++) {
		const struct nt_known_key *key = &step->key[i];
		const struct call call = { nt_key_shape(key, &step->where),
					   nt_measured_kind(key->coll), key->bytes };
		const struct source source = find_source(known, &call);

		if (key->calls > 0)
			add_call(sums, out, &call, &source,
				 source.error > 0 ? nt_key_cost_us(key)
						  : (double)key->calls * source.base_us);
	}
}

/* Every measured size, once and with the same share. */
static void add_all(struct sums *sums, struct nt_candidate *out, const struct calibrations *known)
{
	for (unsigned i = 0; i < known->count; i++) {
		const struct calibration *from = &known->one[i];

		for (size_t k = 0; k < from->base->keys; k++) {
			const struct nt_known_key *key = &from->base->key[k];
			const struct call call = { nt_key_shape(key, &from->base->where), key->coll,
						   key->bytes };
			const struct source source = find_source(known, &call);

			if (source.from == from && source.error == 0)
				add_call(sums, out, &call, &source, 1);
		}
	}
}

static void weigh(const struct nt_launch_case *launch, struct nt_candidate *out)
{
	struct calibrations known;
	struct sums sums = { 0 };
	struct nt_estimate estimate;

	out->ratio = out->p = 1;
	find_calibrations(launch, out->profile->name, &known);
	if (launch->step)
		add_program(&sums, out, &known, launch->step);
	else
		add_all(&sums, out, &known);
	if (sums.base <= 0)
		return;
	out->known = true;
	out->ratio = sums.with / sums.base;
	out->measured = sums.measured / sums.base;
	out->unknown = sums.unknown / (sums.base + sums.unknown);
	out->error = hypot(sums.error, sums.slack / sums.with);
	estimate = (struct nt_estimate){ log(out->ratio), out->error,
					 NT_DEVIATION_DEGREES + sums.degrees };
	out->p = nt_estimate_p_below(&estimate);
}

/* ---- what speaks against it */

static enum nt_why times_say(const struct nt_launch_case *launch, const struct nt_candidate *of,
			     unsigned looks)
{
	static const enum nt_why whys[] = {
		[NT_WORTH_IT] = NT_WHY_GAIN,	   [NT_WORTH_WORST] = NT_WHY_WORST,
		[NT_WORTH_SLOWER] = NT_WHY_SLOWER, [NT_WORTH_SMALL] = NT_WHY_SMALL,
		[NT_WORTH_NOISE] = NT_WHY_NOISE,
	};

	if (!of->known)
		return NT_WHY_NOTHING_KNOWN;
	if (of->unknown > UNKNOWN_MOST)
		return NT_WHY_TOO_LITTLE;
	if (!launch->step &&
	    (of->least_bytes > BLIND_SMALL_BYTES || of->most_bytes < BLIND_LARGE_BYTES))
		return NT_WHY_TOO_FEW_SIZES;
	return whys[nt_estimate_worth(log(of->ratio), of->p, ALPHA / looks,
				      launch->step ? 0 : of->worst)];
}

/* Since it was calibrated. */
static bool steps_were_slower(const struct nt_launch_case *launch, const struct nt_candidate *of)
{
	const struct nt_memory *user = launch->memory[NT_LEVEL_USER];
	struct nt_step_ratio steps;

	if (!user)
		return false;
	steps = nt_step_ratio(user, &launch->where, of->profile->name);
	return steps.slower && steps.when_s >= of->when_s;
}

/* Its newest step in this job left no measurements: NCCL may fail with it. */
static bool left_nothing(const struct nt_launch_case *launch, const char *profile)
{
	const struct nt_memory *user = launch->memory[NT_LEVEL_USER];
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; user && launch->job != 0 && i < user->entries; i++) {
		const struct nt_memory_entry *entry = &user->entry[i];

		if (entry->origin == NT_ORIGIN_JOB && entry->job == launch->job &&
		    nt_where_same(&entry->where, &launch->where) &&
		    strcmp(entry->profile, profile) == 0 && nt_entry_newer(entry, newest))
			newest = entry;
	}
	return newest && newest->keys == 0 && newest->periods == 0;
}

/* Its results were wrong on such hardware, with any shape and software. */
static bool was_wrong(const struct nt_launch_case *launch, const char *profile)
{
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = launch->memory[level];

		for (size_t i = 0; memory && i < memory->entries; i++)
			if (memory->entry[i].wrong &&
			    memory->entry[i].where.fingerprint == launch->where.fingerprint &&
			    strcmp(memory->entry[i].profile, profile) == 0)
				return true;
	}
	return false;
}

static bool was_measured_elsewhere(const struct nt_launch_case *launch, const char *profile)
{
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = launch->memory[level];

		for (size_t i = 0; memory && i < memory->entries; i++)
			if (memory->entry[i].origin == NT_ORIGIN_CALIBRATE &&
			    strcmp(memory->entry[i].profile, profile) == 0 &&
			    nt_where_same_place(&memory->entry[i].where, &launch->where))
				return true;
	}
	return false;
}

static void consider(const struct nt_launch_case *launch, struct nt_candidate *of, unsigned looks)
{
	of->why = times_say(launch, of, looks);
	if (of->why == NT_WHY_NOTHING_KNOWN && was_measured_elsewhere(launch, of->profile->name))
		of->why = NT_WHY_OTHER_SOFTWARE;
	if (of->why == NT_WHY_GAIN && steps_were_slower(launch, of))
		of->why = NT_WHY_STEPS_SLOWER;
	if (left_nothing(launch, of->profile->name))
		of->why = NT_WHY_LEFT_NOTHING;
	if (was_wrong(launch, of->profile->name))
		of->why = NT_WHY_WRONG_RESULTS;
}

/* ---- the choice */

static void set_choice(struct nt_launch_choice *out, const struct nt_candidate *candidate,
		       enum nt_why why)
{
	out->chosen = candidate;
	out->why = why;
	snprintf(out->profile, sizeof(out->profile), "%s",
		 candidate ? candidate->profile->name : NT_PROFILE_DEFAULT);
}

static bool any_is(const struct nt_launch_choice *choice, enum nt_why why)
{
	for (unsigned i = 0; i < choice->count; i++)
		if (choice->candidate[i].why == why)
			return true;
	return false;
}

/* The fastest of those that may be used. */
static const struct nt_candidate *best_of(struct nt_launch_choice *out)
{
	struct nt_candidate *best = NULL;

	for (unsigned i = 0; i < out->count; i++) {
		struct nt_candidate *candidate = &out->candidate[i];

		if (candidate->why != NT_WHY_GAIN)
			continue;
		if (best && candidate->ratio >= best->ratio) {
			candidate->why = NT_WHY_LESS;
			continue;
		}
		if (best)
			best->why = NT_WHY_LESS;
		best = candidate;
	}
	return best;
}

const struct nt_candidate *nt_choice_find(const struct nt_launch_choice *choice,
					  const char *profile)
{
	for (unsigned i = 0; i < choice->count; i++)
		if (strcmp(choice->candidate[i].profile->name, profile) == 0)
			return &choice->candidate[i];
	return NULL;
}

void nt_profile_select(const struct nt_launch_case *launch, struct nt_launch_choice *out)
{
	const struct nt_profiles *profiles = launch->profiles;
	const struct nt_candidate *best;
	unsigned looks = 0;

	memset(out, 0, sizeof(*out));
	set_choice(out, NULL, NT_WHY_NO_HARDWARE);
	if (launch->where.fingerprint == 0)
		return;
	out->mix_known = launch->step != NULL;
	for (unsigned i = 0; i < profiles->count; i++)
		if (nt_profile_fits(&profiles->profile[i], launch->where.fabric))
			out->candidate[out->count++].profile = &profiles->profile[i];
	for (unsigned i = 0; i < out->count; i++) {
		weigh(launch, &out->candidate[i]);
		looks += out->candidate[i].known;
	}
	for (unsigned i = 0; i < out->count; i++)
		consider(launch, &out->candidate[i], looks);
	best = best_of(out);
	out->observe = was_wrong(launch, NT_PROFILE_DEFAULT);
	if (out->observe)
		set_choice(out, NULL, NT_WHY_WRONG_FORCED);
	else if (best)
		set_choice(out, best, NT_WHY_GAIN);
	else if (any_is(out, NT_WHY_STEPS_SLOWER))
		set_choice(out, NULL, NT_WHY_STEPS_SLOWER);
	else
		set_choice(out, NULL, looks > 0 ? NT_WHY_NONE_BETTER : NT_WHY_NOTHING_KNOWN);
}
