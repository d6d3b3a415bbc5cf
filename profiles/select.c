/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAIN_LEAST 0.03 /* smallest gain worth a profile */
#define ALPHA 0.05 /* largest p of the mix, over all profiles together */
#define STAY_P 0.25 /* largest p of the mix for the profile of the job's last step */
#define MISSING_P 0.05 /* largest p by which an expected gain is not there */
/* If the mix is unknown: the largest ratio at any size, with the arms found and with NCCL's own
 * choices, and the sizes that must have been measured: at least one so small and one so large. */
#define BLIND_WORST 1.10
#define BLIND_UNTUNED_WORST 1.25
#define BLIND_SMALL_BYTES (256 << 10)
#define BLIND_LARGE_BYTES (4 << 20)

/* The inputs of one decision. */
struct deciding {
	const struct nt_launch_case *launch;
	struct nt_launch_choice *out;
	struct nt_step_history history;
	struct nt_mix mix;
	const struct nt_memory_entry *last; /* this job's last step here; NULL: none yet */
	const struct nt_memory_entry *base; /* its newest step with the default */
	const struct nt_memory_entry *used; /* the step with the profile that is in use */
	unsigned looks; /* profiles of which anything is known */
	bool doubtful; /* the last step contradicts what is remembered of its profile */
};

static bool is_default(const struct nt_memory_entry *entry)
{
	return strcmp(entry->profile, NT_PROFILE_DEFAULT) == 0;
}

/* A step of a program here, with that profile; NULL: any. */
static bool is_step(const struct deciding *d, const struct nt_memory_entry *entry,
		    const char *profile)
{
	return entry->origin == NT_ORIGIN_JOB && nt_where_same(&entry->where, &d->launch->where) &&
	       (profile == NULL || strcmp(entry->profile, profile) == 0);
}

/* This job's newest. */
static const struct nt_memory_entry *step_with(const struct deciding *d, const char *profile)
{
	const struct nt_memory *job = d->launch->memory[NT_LEVEL_JOB];
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; job != NULL && i < job->entries; i++)
		if (is_step(d, &job->entry[i], profile) && nt_entry_newer(&job->entry[i], newest))
			newest = &job->entry[i];
	return newest;
}

/* That of the last step; if that was the job's first with the default, of the one before. Whether
 * it was in use, or given up, its calibration tells. */
static const struct nt_memory_entry *find_used(const struct deciding *d)
{
	const struct nt_memory *job = d->launch->memory[NT_LEVEL_JOB];
	const struct nt_memory_entry *before = NULL;

	if (d->last == NULL || d->last != d->base || d->last->asked)
		return d->last;
	for (size_t i = 0; i < job->entries; i++) {
		const struct nt_memory_entry *entry = &job->entry[i];

		if (!is_step(d, entry, NULL) || entry == d->last)
			continue;
		if (is_default(entry) || entry->asked)
			return d->last;
		if (nt_entry_newer(entry, before))
			before = entry;
	}
	return before != NULL ? before : d->last;
}

/* The newest step with a mix, of this job if possible; NULL if there is none. A failed step has
 * left an entry without keys. */
static const struct nt_memory_entry *newest_mix(const struct deciding *d)
{
	const struct nt_memory *job = d->launch->memory[NT_LEVEL_JOB];
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; d->last != NULL && i < job->entries; i++) {
		const struct nt_memory_entry *entry = &job->entry[i];

		if (entry->keys > 0 && is_step(d, entry, NULL) && nt_entry_newer(entry, newest))
			newest = entry;
	}
	for (unsigned i = d->history.count; newest == NULL && i > 0; i--)
		if (d->history.entry[i - 1]->keys > 0)
			newest = d->history.entry[i - 1];
	return newest;
}

/* The given mix, that of this job's last step, or that of the newest known job. */
static void find_mix(struct deciding *d)
{
	const struct nt_memory_entry *newest = newest_mix(d);

	if (d->launch->mix != NULL)
		d->mix = *d->launch->mix;
	else if (newest != NULL)
		nt_mix_of(newest, &d->mix);
	d->out->mix_known = d->mix.count > 0;
}

static uint32_t job_of(const struct deciding *d)
{
	return d->last != NULL ? d->last->job : 0;
}

static int find_promise(const struct deciding *d, struct nt_candidate *candidate)
{
	struct nt_scope scope = { .where = &d->launch->where,
				  .steps = NT_SCOPE_CALIBRATED,
				  .now_s = d->launch->now_s };

	candidate->promise.ratio = candidate->promise.p = 1;
	for (int level = 0; level < NT_LEVELS; level++) {
		struct nt_mix_cost cost;

		scope.memory = d->launch->memory[level];
		if (scope.memory == NULL)
			continue;
		if (nt_mix_cost(&scope, candidate->profile->name, &d->mix, &cost) < 0)
			return -1;
		candidate->promise = nt_mix_cost_join(&candidate->promise, &cost);
		scope.but_job = job_of(d);
	}
	return 0;
}

/* All evidence together: of this job's newest steps, of its others and its calibration, of the
 * user's other jobs, of the site. What contradicts nearer evidence does not count. */
static int find_mix_cost(const struct deciding *d, struct nt_candidate *candidate)
{
	struct nt_scope scope = { .where = &d->launch->where, .now_s = d->launch->now_s };
	struct nt_mix_cost *out = &candidate->cost;

	out->ratio = out->p = 1;
	for (int level = 0; level < NT_LEVELS; level++) {
		bool is_job = level == NT_LEVEL_JOB;

		scope.memory = d->launch->memory[level];
		scope.but_job = is_job ? 0 : job_of(d);
		for (unsigned older = 0; scope.memory != NULL && older <= is_job; older++) {
			struct nt_mix_cost cost;

			scope.steps = !is_job ? NT_SCOPE_ALL
					      : (older ? NT_SCOPE_OLDER : NT_SCOPE_NEWEST);
			if (nt_mix_cost(&scope, candidate->profile->name, &d->mix, &cost) < 0)
				return -1;
			if (cost.known && !nt_mix_cost_enough(out))
				candidate->level = (enum nt_level)level;
			*out = nt_mix_cost_enough(&cost) || !nt_mix_cost_enough(out)
				       ? nt_mix_cost_join(out, &cost)
				       : *out;
		}
	}
	return 0;
}

static void test_steps(const struct deciding *d, struct nt_candidate *candidate)
{
	const char *name = candidate->profile->name;

	candidate->trust = nt_history_trust(&d->history, name);
	candidate->here = step_with(d, name) != NULL;
	candidate->step_test = (struct nt_step_test_result){ .ratio = 1, .p = 1 };
	if (candidate->here)
		candidate->step_test = nt_history_test(&d->history, job_of(d), NT_PROFILE_DEFAULT,
						       name);
}

/* What the job's first step with the default interrupts is in use as long as its calibration says
 * so: that step was to measure the default, and alone it tells little. */
static bool is_in_use(const struct deciding *d, const struct nt_candidate *candidate)
{
	if (d->used == NULL || strcmp(d->used->profile, candidate->profile->name) != 0)
		return false;
	return d->used == d->last ||
	       (candidate->promise.ratio < 1 - GAIN_LEAST && candidate->promise.p < STAY_P);
}

/* The reason by the mix: NT_WHY_GAIN, or a reason against it. */
static enum nt_why mix_says(const struct deciding *d, const struct nt_candidate *candidate)
{
	const struct nt_mix_cost *cost = &candidate->cost;

	if (!cost->known)
		return NT_WHY_NOTHING_KNOWN;
	if (!nt_mix_cost_enough(cost))
		return NT_WHY_TOO_LITTLE;
	if (!d->out->mix_known &&
	    (cost->least_bytes > BLIND_SMALL_BYTES || cost->most_bytes < BLIND_LARGE_BYTES))
		return NT_WHY_TOO_FEW_SIZES;
	if (!d->out->mix_known &&
	    (cost->worst > BLIND_WORST || cost->untuned_worst > BLIND_UNTUNED_WORST))
		return NT_WHY_WORST;
	if (cost->ratio > 1)
		return NT_WHY_SLOWER;
	if (cost->ratio > 1 - GAIN_LEAST)
		return NT_WHY_SMALL;
	if (cost->untuned > NT_UNTUNED_MOST)
		return NT_WHY_UNTUNED;
	/* What is in use stays until something speaks against it. */
	return cost->p < (is_in_use(d, candidate) ? STAY_P : ALPHA / d->looks) ? NT_WHY_GAIN
									       : NT_WHY_NOISE;
}

/* Its newest step here left no measurements: NCCL may fail with it. */
static bool left_nothing(const struct deciding *d, const struct nt_candidate *candidate)
{
	const struct nt_memory_entry *step = step_with(d, candidate->profile->name);

	return step != NULL && step->keys == 0 && step->periods == 0;
}

/* Its results were wrong on such hardware, with any shape and software. */
static bool was_wrong(const struct deciding *d, const char *profile)
{
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = d->launch->memory[level];

		for (size_t i = 0; memory != NULL && i < memory->entries; i++)
			if (memory->entry[i].wrong &&
			    memory->entry[i].where.fingerprint == d->launch->where.fingerprint &&
			    strcmp(memory->entry[i].profile, profile) == 0)
				return true;
	}
	return false;
}

/* Calibrated here, measured by steps of this job, or trusted. A profile that was slower once must
 * be measured in this job first. */
static bool is_proven(const struct deciding *d, const struct nt_candidate *candidate)
{
	if (candidate->trust.level == NT_TRUST_TRUSTED)
		return true;
	if (d->last == NULL && candidate->trust.level == NT_TRUST_MARKED)
		return false;
	/* Steps may tell of another gain than the calibration: then only they are in the cost. */
	return candidate->cost.calibrated || candidate->promise.known || candidate->here;
}

/* May it be used, and why or why not? */
static void consider(const struct deciding *d, struct nt_candidate *candidate)
{
	const struct nt_profile_trust *trust = &candidate->trust;
	bool felt_faster = candidate->step_test.verdict == NT_STEPS_FASTER ||
			   (d->last == NULL && trust->level == NT_TRUST_TRUSTED);

	candidate->why = mix_says(d, candidate);
	if (felt_faster && candidate->why != NT_WHY_GAIN)
		candidate->why = NT_WHY_STEPS_FASTER;
	if ((candidate->why == NT_WHY_GAIN || candidate->why == NT_WHY_STEPS_FASTER) &&
	    !is_proven(d, candidate))
		candidate->why = NT_WHY_UNPROVEN;
	if (candidate->step_test.verdict == NT_STEPS_SLOWER)
		candidate->why = NT_WHY_STEPS_SLOWER;
	if (left_nothing(d, candidate))
		candidate->why = NT_WHY_LEFT_NOTHING;
	if (trust->level == NT_TRUST_QUARANTINED)
		candidate->why = NT_WHY_QUARANTINED;
	if (was_wrong(d, candidate->profile->name))
		candidate->why = NT_WHY_WRONG_RESULTS;
	candidate->used = candidate->why == NT_WHY_GAIN || candidate->why == NT_WHY_STEPS_FASTER;
}

/* If nothing was measured here, measurements with other software or numbers of nodes give the order
 * in which a calibration tries profiles, and which it leaves out. */
static int look_nearby(const struct deciding *d, struct nt_candidate *candidate)
{
	static const enum nt_nearness nearness[] = { NT_NEAR_PATCH, NT_NEAR_SOFTWARE,
						     NT_NEAR_SHAPE };
	const unsigned kinds = sizeof(nearness) / sizeof(nearness[0]);

	for (unsigned i = 0; candidate->why == NT_WHY_NOTHING_KNOWN && i < kinds * NT_LEVELS; i++) {
		const enum nt_nearness near = nearness[i / NT_LEVELS];
		const struct nt_scope scope = { .memory = d->launch->memory[i % NT_LEVELS],
						.where = &d->launch->where,
						.nearness = near,
						.now_s = d->launch->now_s };
		struct nt_mix_cost cost;
		struct nt_estimate estimate;

		if (scope.memory == NULL)
			continue;
		if (nt_mix_cost(&scope, candidate->profile->name, &d->mix, &cost) < 0)
			return -1;
		estimate = nt_mix_cost_estimate(&cost);
		if (!cost.known)
			continue;
		candidate->nearby = log(cost.ratio);
		if (near == NT_NEAR_PATCH && nt_estimate_p_above(&estimate, 0) < ALPHA)
			candidate->why = NT_WHY_LOST_NEARBY;
		else if (near != NT_NEAR_SHAPE)
			candidate->why = NT_WHY_OTHER_SOFTWARE;
		break;
	}
	return 0;
}

/* Is a better than b? By the program's own steps if both were tested and differ, else by the mix:
 * by calibrations, where both have one, since a program's calls include what it does between them,
 * and a profile with which it ran would seem to gain less. What is in use gives way to what is
 * faster by more than the error. */
static bool better(const struct deciding *d, const struct nt_candidate *a,
		   const struct nt_candidate *b)
{
	struct nt_step_test_result test = { .verdict = NT_STEPS_UNKNOWN };
	bool calibrated = a->promise.known && b->promise.known;
	const struct nt_mix_cost *of_a = calibrated ? &a->promise : &a->cost;
	const struct nt_mix_cost *of_b = calibrated ? &b->promise : &b->cost;
	double apart = log(of_a->ratio) - log(of_b->ratio), error = 0;

	if (a->here && b->here)
		test = nt_history_test(&d->history, job_of(d), b->profile->name, a->profile->name);
	if (test.verdict == NT_STEPS_FASTER || test.verdict == NT_STEPS_SLOWER)
		return test.verdict == NT_STEPS_FASTER;
	if (is_in_use(d, a) || is_in_use(d, b))
		error = hypot(of_a->error, of_b->error);
	return is_in_use(d, a) ? apart < error : apart < -error;
}

static struct nt_candidate *best_used(const struct deciding *d)
{
	struct nt_candidate *best = NULL;

	for (unsigned i = 0; i < d->out->count; i++) {
		struct nt_candidate *candidate = &d->out->candidate[i];

		if (!candidate->used)
			continue;
		if (best != NULL && !better(d, candidate, best)) {
			candidate->why = NT_WHY_LESS;
			continue;
		}
		if (best != NULL)
			best->why = NT_WHY_LESS;
		best = candidate;
	}
	return best;
}

static void take(struct nt_launch_choice *out, struct nt_candidate *candidate, enum nt_why why)
{
	out->chosen = candidate;
	out->why = why;
	snprintf(out->profile, sizeof(out->profile), "%s",
		 candidate != NULL ? candidate->profile->name : NT_PROFILE_DEFAULT);
	if (candidate != NULL)
		candidate->why = why;
}

static bool has_entry(const struct nt_memory *memory, const struct nt_memory_entry *entry)
{
	for (size_t i = 0; i < memory->entries; i++)
		if (memory->entry[i].id[0] != '\0' && strcmp(memory->entry[i].id, entry->id) == 0)
			return true;
	return false;
}

/* Only the last step, and all entries of the default; entries are not copied. */
static int beside_default(const struct deciding *d, struct nt_memory *out)
{
	size_t room = 1;

	for (int level = 0; level < NT_LEVELS; level++)
		room += d->launch->memory[level] != NULL ? d->launch->memory[level]->entries : 0;
	memset(out, 0, sizeof(*out));
	out->entry = calloc(room, sizeof(*out->entry));
	if (out->entry == NULL)
		return -1;
	out->entry[out->entries++] = *d->last;
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = d->launch->memory[level];

		for (size_t i = 0; memory != NULL && i < memory->entries; i++)
			if (is_default(&memory->entry[i]) && !has_entry(out, &memory->entry[i]))
				out->entry[out->entries++] = memory->entry[i];
	}
	return 0;
}

/* Less than half of what was expected is there, and that is more than steps differ by. */
static bool is_missing(const struct nt_mix_cost *expected, const struct nt_mix_cost *seen)
{
	struct nt_estimate less = { true, log(seen->ratio) - log(expected->ratio),
				    hypot(seen->error, expected->error), seen->degrees };

	return log(seen->ratio) > log(expected->ratio) / 2 &&
	       nt_estimate_p_above(&less, 0) < MISSING_P;
}

/* The last step used a profile for what is remembered of it, and this job has no step with the
 * default to compare it with. If its calls did not gain over what the default is remembered to take
 * what they were expected to, it is not so here, or the network is not as it was: the default is to
 * be measured. */
static int doubt(struct deciding *d)
{
	const struct nt_candidate *last;
	struct nt_memory both;
	struct nt_mix_cost seen;
	int rc;

	if (d->last == NULL || d->base != NULL || is_default(d->last) || d->last->asked)
		return 0;
	if (beside_default(d, &both) < 0)
		return -1;
	rc = nt_mix_cost(&(struct nt_scope){ .memory = &both,
					     .where = &d->launch->where,
					     .now_s = d->launch->now_s },
			 d->last->profile, &d->mix, &seen);
	last = nt_choice_find(d->out, d->last->profile);
	if (rc == 0 && last != NULL && last->cost.known && seen.known &&
	    seen.measured >= NT_MEASURED_LEAST)
		d->doubtful = is_missing(&last->cost, &seen);
	free(both.entry);
	return rc;
}

/* The last step used a profile that should have been faster, and the program was slower. */
static bool has_to_go_back(const struct deciding *d)
{
	const struct nt_candidate *last;

	if (d->last == NULL || is_default(d->last) || d->last->asked)
		return false;
	last = nt_choice_find(d->out, d->last->profile);
	return last != NULL && last->step_test.verdict == NT_STEPS_SLOWER;
}

static void decide(struct deciding *d)
{
	struct nt_launch_choice *out = d->out;
	struct nt_candidate *best = best_used(d);

	if (has_to_go_back(d))
		take(out, NULL, NT_WHY_STEPS_SLOWER);
	else if (d->doubtful)
		take(out, NULL, NT_WHY_DOUBT);
	else if (best != NULL)
		take(out, best, best->why);
	else
		take(out, NULL, d->looks > 0 ? NT_WHY_NONE_BETTER : NT_WHY_NOTHING_KNOWN);
}

const struct nt_candidate *nt_choice_find(const struct nt_launch_choice *choice,
					  const char *profile)
{
	for (unsigned i = 0; i < choice->count; i++)
		if (strcmp(choice->candidate[i].profile->name, profile) == 0)
			return &choice->candidate[i];
	return NULL;
}

static int test_all(struct deciding *d)
{
	const struct nt_profiles *profiles = d->launch->profiles;
	struct nt_launch_choice *out = d->out;

	for (unsigned i = 0; i < profiles->count; i++)
		if (nt_profile_fits(&profiles->profile[i], d->launch->where.fabric))
			out->candidate[out->count++].profile = &profiles->profile[i];
	for (unsigned i = 0; i < out->count; i++) {
		if (find_mix_cost(d, &out->candidate[i]) < 0 ||
		    find_promise(d, &out->candidate[i]) < 0)
			return -1;
		test_steps(d, &out->candidate[i]);
		d->looks += out->candidate[i].cost.known;
	}
	for (unsigned i = 0; i < out->count; i++) {
		consider(d, &out->candidate[i]);
		if (look_nearby(d, &out->candidate[i]) < 0)
			return -1;
	}
	return 0;
}

static int choose(struct deciding *d)
{
	const struct nt_launch_case *launch = d->launch;
	struct nt_launch_choice *out = d->out;

	if (launch->where.fingerprint == 0) {
		take(out, NULL, NT_WHY_NO_HARDWARE);
		return 0;
	}
	for (int level = 0; level < NT_LEVELS; level++)
		nt_history_add(&d->history, launch->memory[level], &launch->where);
	nt_history_sort(&d->history);
	d->last = step_with(d, NULL);
	d->base = step_with(d, NT_PROFILE_DEFAULT);
	d->used = find_used(d);
	find_mix(d);
	out->observe = was_wrong(d, NT_PROFILE_DEFAULT);
	if (test_all(d) < 0 || doubt(d) < 0)
		return -1;
	if (out->observe)
		take(out, NULL, NT_WHY_WRONG_FORCED);
	else
		decide(d);
	return 0;
}

int nt_select(const struct nt_launch_case *launch, struct nt_launch_choice *out)
{
	struct deciding *d = calloc(1, sizeof(*d));
	int rc = -1;

	memset(out, 0, sizeof(*out));
	take(out, NULL, NT_WHY_NOTHING_KNOWN);
	if (d == NULL)
		return -1;
	d->launch = launch;
	d->out = out;
	rc = choose(d);
	if (rc < 0)
		take(out, NULL, NT_WHY_NOTHING_KNOWN);
	free(d);
	return rc;
}
