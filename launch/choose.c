/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* What each profile is worth here, and which one is taken. */
#include "launch/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "launch/promise.h"

/* steps without the default, and then one with it */
#define CHECK_AFTER 3

void nt_launch_limits_default(struct nt_launch_limits *limits)
{
	*limits = (struct nt_launch_limits){
		.floor = 0.03,
		.alpha = 0.05,
		.measured = 0.6,
		.blind_worst = 1.10,
		.trust_jobs = 3,
		.tries = 4,
		.control_every = 10,
		.per_doubling = 0.2,
		.feel = { .test = NULL, .alpha = 0.01, .loss = 0.02, .gain = 0.08 },
	};
}

/* All that one decision looks at. */
struct deciding {
	const struct nt_launch_case *launch;
	const struct nt_launch_limits *limits;
	struct nt_launch_choice *out;
	struct nt_step_history history;
	struct nt_mix mix;
	const struct nt_memory_entry *last; /* this job's last step here; NULL: this is the first */
	const struct nt_memory_entry *base; /* its newest step with the default */
	unsigned tried; /* profiles that this job has run */
	bool doubtful; /* the last step was not what was remembered of its profile */
};

static bool is_default(const struct nt_memory_entry *entry)
{
	return strcmp(entry->profile, NT_PROFILE_DEFAULT) == 0;
}

static bool later(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	return b == NULL || a->when_s > b->when_s || (a->when_s == b->when_s && a->step > b->step);
}

/* This job's newest step here with a profile (NULL: any). */
static const struct nt_memory_entry *step_with(const struct deciding *d, const char *profile)
{
	const struct nt_memory *job = d->launch->memory[NT_LEVEL_JOB];
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; job != NULL && i < job->entries; i++) {
		const struct nt_memory_entry *entry = &job->entry[i];

		if (entry->origin == NT_ORIGIN_JOB &&
		    nt_where_same(&entry->where, &d->launch->where) &&
		    (profile == NULL || strcmp(entry->profile, profile) == 0) &&
		    later(entry, newest))
			newest = entry;
	}
	return newest;
}

static unsigned steps_with(const struct deciding *d, const char *profile)
{
	const struct nt_memory *job = d->launch->memory[NT_LEVEL_JOB];
	unsigned count = 0;

	for (size_t i = 0; job != NULL && i < job->entries; i++)
		if (job->entry[i].origin == NT_ORIGIN_JOB &&
		    nt_where_same(&job->entry[i].where, &d->launch->where) &&
		    (profile == NULL || strcmp(job->entry[i].profile, profile) == 0))
			count++;
	return count;
}

/* The newest step that tells its mix, of this job if there is one; NULL if there is none. A
 * candidate that failed has left an entry without keys. */
static const struct nt_memory_entry *newest_mix(const struct deciding *d)
{
	const struct nt_memory *job = d->launch->memory[NT_LEVEL_JOB];
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; d->last != NULL && i < job->entries; i++) {
		const struct nt_memory_entry *entry = &job->entry[i];

		if (entry->keys > 0 && entry->origin == NT_ORIGIN_JOB &&
		    nt_where_same(&entry->where, &d->launch->where) && later(entry, newest))
			newest = entry;
	}
	for (unsigned i = d->history.count; newest == NULL && i > 0; i--)
		if (d->history.entry[i - 1]->keys > 0)
			newest = d->history.entry[i - 1];
	return newest;
}

/* The mix that was given, this job's last step's, or that of the newest job known here. */
static void find_mix(struct deciding *d)
{
	const struct nt_memory_entry *newest = newest_mix(d);

	if (d->launch->mix != NULL)
		d->mix = *d->launch->mix;
	else if (newest != NULL)
		nt_mix_of(newest, &d->mix);
	d->out->mix_known = d->mix.count > 0;
}

static bool enough(const struct deciding *d, const struct nt_weight *weight)
{
	return nt_weight_suffices(weight, d->limits->measured);
}

/* The nearest evidence that suffices; else the nearest there is. */
static int weigh_profile(const struct deciding *d, struct nt_weighed *weighed)
{
	weighed->weight.ratio = weighed->weight.p = 1;
	for (int level = 0; level < NT_LEVELS; level++) {
		struct nt_weight weight;

		if (d->launch->memory[level] == NULL)
			continue;
		if (nt_weigh(d->launch->memory[level], &d->launch->where, NT_NEAR_SAME,
			     level == NT_LEVEL_JOB, weighed->profile->name, &d->mix,
			     d->launch->now_s, &weight) < 0)
			return -1;
		if (weight.known && (!weighed->weight.known || enough(d, &weight))) {
			weighed->weight = weight;
			weighed->level = (enum nt_level)level;
		}
		if (enough(d, &weight))
			break;
	}
	return 0;
}

static void feel_profile(const struct deciding *d, struct nt_weighed *weighed)
{
	const char *name = weighed->profile->name;
	const struct nt_memory_entry *step = step_with(d, name);

	weighed->standing = nt_feel_standing(&d->history, name, &d->limits->feel,
					     d->limits->trust_jobs);
	weighed->here = step != NULL;
	weighed->felt = (struct nt_feeling){ .ratio = 1, .p = 1 };
	if (step != NULL && d->base != NULL && nt_feel_alike(step, d->base))
		weighed->felt = nt_feel_pair(&d->limits->feel, d->base, step);
	else if (step != NULL && weighed->standing.last.felt == NT_FELT_SLOWER &&
		 weighed->standing.last_job == step->job &&
		 weighed->standing.last_step == step->step)
		weighed->felt = weighed->standing.last; /* than the default of another job */
}

/* What the mix says of it: NT_WHY_GAIN, or what speaks against it. */
static enum nt_why mix_says(const struct deciding *d, const struct nt_weighed *weighed)
{
	const struct nt_weight *weight = &weighed->weight;
	unsigned looks = d->out->count > 0 ? d->out->count : 1;

	if (!weight->known)
		return NT_WHY_NOTHING_KNOWN;
	if (!enough(d, weight))
		return NT_WHY_TOO_LITTLE;
	if (!d->out->mix_known && weight->worst > d->limits->blind_worst)
		return NT_WHY_WORST;
	if (weight->ratio > 1)
		return NT_WHY_SLOWER;
	if (weight->ratio > 1 - d->limits->floor)
		return NT_WHY_SMALL;
	return weight->p < d->limits->alpha / looks ? NT_WHY_GAIN : NT_WHY_NOISE;
}

/* Its newest step here ended without a word of its calls: NCCL may not bear it. */
static bool left_nothing(const struct deciding *d, const struct nt_weighed *weighed)
{
	const struct nt_memory_entry *step = step_with(d, weighed->profile->name);

	return step != NULL && step->keys == 0 && step->periods == 0;
}

/* May it be used, and why (not). */
static void consider(const struct deciding *d, struct nt_weighed *weighed)
{
	const struct nt_standing *standing = &weighed->standing;
	bool felt_faster = weighed->felt.felt == NT_FELT_FASTER ||
			   (d->last == NULL && standing->trust == NT_TRUST_TRUSTED);

	weighed->why = mix_says(d, weighed);
	if (felt_faster && weighed->why != NT_WHY_GAIN)
		weighed->why = NT_WHY_FELT;
	if (weighed->felt.felt == NT_FELT_SLOWER)
		weighed->why = NT_WHY_FELT_SLOWER;
	if (left_nothing(d, weighed))
		weighed->why = NT_WHY_LEFT_NOTHING;
	if (standing->trust == NT_TRUST_QUARANTINED)
		weighed->why = NT_WHY_QUARANTINED;
	weighed->used = weighed->why == NT_WHY_GAIN || weighed->why == NT_WHY_FELT;
	if (!weighed->used || d->last != NULL)
		return;
	/* The first step of a job, which may be its only one. */
	if (standing->trust != NT_TRUST_TRUSTED &&
	    (!weighed->weight.calibrated || standing->trust == NT_TRUST_MARKED)) {
		weighed->used = false;
		weighed->why = NT_WHY_UNPROVEN;
	}
}

/* Whether a is to be preferred to b: by the program's own steps if both were felt and they differ,
 * else by the mix. */
static bool better(const struct deciding *d, const struct nt_weighed *a, const struct nt_weighed *b)
{
	const struct nt_memory_entry *of_a = a->here ? step_with(d, a->profile->name) : NULL;
	const struct nt_memory_entry *of_b = b->here ? step_with(d, b->profile->name) : NULL;

	if (of_a != NULL && of_b != NULL && nt_feel_alike(of_a, of_b)) {
		struct nt_feeling feeling = nt_feel_pair(&d->limits->feel, of_b, of_a);

		if (feeling.felt == NT_FELT_FASTER || feeling.felt == NT_FELT_SLOWER)
			return feeling.felt == NT_FELT_FASTER;
	}
	return a->weight.ratio < b->weight.ratio;
}

static struct nt_weighed *best_used(const struct deciding *d)
{
	struct nt_weighed *best = NULL;

	for (unsigned i = 0; i < d->out->count; i++) {
		struct nt_weighed *weighed = &d->out->weighed[i];

		if (!weighed->used)
			continue;
		if (best != NULL && !better(d, weighed, best)) {
			weighed->why = NT_WHY_LESS;
			continue;
		}
		if (best != NULL)
			best->why = NT_WHY_LESS;
		best = weighed;
	}
	return best;
}

static void take(struct nt_launch_choice *out, struct nt_weighed *weighed, enum nt_why why)
{
	out->chosen = weighed;
	out->why = why;
	snprintf(out->profile, sizeof(out->profile), "%s",
		 weighed != NULL ? weighed->profile->name : NT_PROFILE_DEFAULT);
	if (weighed != NULL)
		weighed->why = why;
}

/* The last step alone, and all that is remembered of the default; entries stay where they are. */
static int beside_default(const struct deciding *d, struct nt_memory *out)
{
	size_t room = 1;

	for (int level = NT_LEVEL_USER; level < NT_LEVELS; level++)
		room += d->launch->memory[level] != NULL ? d->launch->memory[level]->entries : 0;
	memset(out, 0, sizeof(*out));
	out->entry = calloc(room, sizeof(*out->entry));
	if (out->entry == NULL)
		return -1;
	out->entry[out->entries++] = *d->last;
	for (int level = NT_LEVEL_USER; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = d->launch->memory[level];

		for (size_t i = 0; memory != NULL && i < memory->entries; i++)
			if (is_default(&memory->entry[i]))
				out->entry[out->entries++] = memory->entry[i];
	}
	return 0;
}

/* The last step used a profile for what is remembered of it, and this job has no step with the
 * default to compare it with. If its calls took longer than the default's are remembered to take,
 * then it is not so here, or the network is not as it was: the default is to be measured. */
static int doubt(struct deciding *d)
{
	struct nt_memory both;
	struct nt_weight weight;
	int rc;

	if (d->last == NULL || d->base != NULL || is_default(d->last) || d->last->candidate)
		return 0;
	if (beside_default(d, &both) < 0)
		return -1;
	rc = nt_weigh(&both, &d->launch->where, NT_NEAR_SAME, false, d->last->profile, &d->mix,
		      d->launch->now_s, &weight);
	d->doubtful = rc == 0 && weight.known && weight.ratio > 1;
	free(both.entry);
	return rc;
}

/* The last step used a profile that was thought to be better, and the program felt it slower. */
static bool has_to_go_back(const struct deciding *d)
{
	if (d->last == NULL || is_default(d->last) || d->last->candidate)
		return false;
	for (unsigned i = 0; i < d->out->count; i++) {
		const struct nt_weighed *weighed = &d->out->weighed[i];

		if (strcmp(weighed->profile->name, d->last->profile) == 0)
			return weighed->felt.felt == NT_FELT_SLOWER ||
			       weighed->why == NT_WHY_SLOWER;
	}
	return false;
}

static bool anything_known(const struct nt_launch_choice *out)
{
	for (unsigned i = 0; i < out->count; i++)
		if (out->weighed[i].weight.known)
			return true;
	return false;
}

/* Somebody spent the time to find out here; what that left out is not worth a step of the program,
 * since a candidate may cost half of it. */
static bool is_calibrated(const struct deciding *d)
{
	for (int level = 0; level < NT_LEVELS; level++) {
		const struct nt_memory *memory = d->launch->memory[level];

		for (size_t i = 0; memory != NULL && i < memory->entries; i++) {
			const struct nt_memory_entry *entry = &memory->entry[i];

			if (entry->origin == NT_ORIGIN_CALIBRATE && !is_default(entry) &&
			    entry->keys > 0 && nt_where_same(&entry->where, &d->launch->where))
				return true;
		}
	}
	return false;
}

/* Two candidates right after the default, so that a job of four steps runs its last with the best
 * of them; from the fifth step on, each further one after a step that used what is known. */
static bool may_try(const struct deciding *d)
{
	if (d->last == NULL || d->tried >= d->limits->tries || is_calibrated(d))
		return false;
	if (d->out->steps < 4)
		return d->tried < 2 && d->out->steps == d->tried + (d->base != NULL);
	return d->out->steps >= 2 * d->tried && !d->last->candidate;
}

/* A profile that only a calibration speaks for: in a job of many steps the program's own word is
 * asked for once. */
static bool has_to_check(const struct deciding *d, const struct nt_weighed *best)
{
	return best != NULL && d->base == NULL && d->out->steps >= CHECK_AFTER &&
	       best->standing.trust == NT_TRUST_UNTRIED;
}

static void decide(struct deciding *d)
{
	struct nt_launch_choice *out = d->out;
	struct nt_weighed *best = best_used(d);

	if (has_to_go_back(d)) {
		take(out, NULL, NT_WHY_FELT_SLOWER);
		return;
	}
	if (d->doubtful || (d->last != NULL && d->base == NULL && best == NULL)) {
		take(out, NULL, NT_WHY_FIRST);
		return;
	}
	if (has_to_check(d, best)) {
		take(out, NULL, NT_WHY_CHECK);
		return;
	}
	if (may_try(d) && d->base != NULL && out->next_count > 0) {
		take(out, &out->weighed[out->next[0]], NT_WHY_TRY);
		out->candidate = true;
		return;
	}
	if (best != NULL)
		take(out, best, best->why);
	else
		take(out, NULL, anything_known(out) ? NT_WHY_NONE_BETTER : NT_WHY_NOTHING_KNOWN);
}

static bool fits(const struct deciding *d, const struct nt_profile *profile)
{
	return profile->fabric == NT_FABRIC_ANY || d->launch->where.fabric == NT_FABRIC_ANY ||
	       profile->fabric == d->launch->where.fabric;
}

static int weigh_all(struct deciding *d)
{
	const struct nt_profiles *profiles = d->launch->profiles;
	struct nt_launch_choice *out = d->out;

	for (unsigned i = 0; i < profiles->count; i++)
		if (!profiles->profile[i].disabled && fits(d, &profiles->profile[i]))
			out->weighed[out->count++].profile = &profiles->profile[i];
	for (unsigned i = 0; i < out->count; i++) {
		if (weigh_profile(d, &out->weighed[i]) < 0)
			return -1;
		feel_profile(d, &out->weighed[i]);
		consider(d, &out->weighed[i]);
		d->tried += out->weighed[i].here;
	}
	return 0;
}

static int choose(struct deciding *d)
{
	const struct nt_launch_case *launch = d->launch;
	struct nt_launch_choice *out = d->out;
	unsigned every = d->limits->control_every;

	if (launch->where.fingerprint == 0) {
		take(out, NULL, NT_WHY_NO_HARDWARE);
		return 0;
	}
	for (int level = 0; level < NT_LEVELS; level++)
		nt_history_add(&d->history, launch->memory[level], &launch->where);
	nt_history_sort(&d->history);
	d->last = step_with(d, NULL);
	d->base = step_with(d, NT_PROFILE_DEFAULT);
	out->steps = steps_with(d, NULL);
	find_mix(d);
	if (weigh_all(d) < 0 || doubt(d) < 0 || nt_promise(launch, &d->mix, d->limits, out) < 0)
		return -1;
	if (launch->array_task >= 0 && every > 0 && launch->array_task % every == 0)
		take(out, NULL, NT_WHY_CONTROL);
	else
		decide(d);
	return 0;
}

int nt_choose(const struct nt_launch_case *launch, const struct nt_launch_limits *limits,
	      struct nt_launch_choice *out)
{
	struct deciding *d = calloc(1, sizeof(*d));
	int rc = -1;

	memset(out, 0, sizeof(*out));
	take(out, NULL, NT_WHY_NOTHING_KNOWN);
	if (d == NULL)
		return -1;
	d->launch = launch;
	d->limits = limits;
	d->out = out;
	rc = choose(d);
	if (rc < 0)
		take(out, NULL, NT_WHY_NOTHING_KNOWN);
	free(d);
	return rc;
}
