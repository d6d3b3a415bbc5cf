/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "profiles/mix-cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 512
#define SAMPLES_MAX 32.0 /* that count: samples of one run are not independent */
#define SPREAD_LEAST 0.02 /* equal quartiles are due to rounding */
#define NEIGHBOUR_ERROR 0.10
#define LINE_ERROR 0.25
#define KIND_ERROR 0.30 /* another collective */
#define ANY_ORIGIN ~0u
#define NEAR_OCTAVES 4.0 /* largest distance of a single neighbour */

static const struct nt_mix_cost NOTHING_KNOWN = { .ratio = 1, .p = 1 };

/* Measurements that can be compared: a collective on a communicator of this shape. */
struct kind {
	struct nt_comm_shape shape;
	int coll;
};

/* A profile's measurements at one size: sums while entries are added, then means. */
struct point {
	struct kind kind;
	unsigned band;
	double weight;
	double log_us, variance; /* the latter of the samples within steps */
	double inverse; /* of the number of steps, as they are weighted */
	struct nt_turns turns;
};

struct points {
	bool untuned; /* times of NCCL's own choices, not of the best arms */
	unsigned count;
	struct point point[POINTS];
	unsigned turns;
	bool calibrated;
	int64_t newest_s;
};

void nt_mix_of(const struct nt_memory_entry *entry, struct nt_mix *mix)
{
	mix->count = 0;
	for (unsigned i = 0; i < entry->keys; i++) {
		if (entry->key[i].calls == 0)
			continue;
		mix->key[mix->count++] = (struct nt_mix_key){
			.shape = nt_key_shape(&entry->key[i], &entry->where),
			.coll = nt_mix_kind(entry->key[i].coll),
			.bytes = entry->key[i].bytes,
			.calls = (double)entry->key[i].calls,
		};
	}
}

static bool is_kind(const struct point *point, struct kind kind)
{
	return point->kind.coll == kind.coll && point->kind.shape.ranks == kind.shape.ranks &&
	       point->kind.shape.nodes == kind.shape.nodes;
}

static struct point *point_at(struct points *points, struct kind kind, unsigned band, bool make)
{
	for (unsigned i = 0; i < points->count; i++)
		if (is_kind(&points->point[i], kind) && points->point[i].band == band)
			return &points->point[i];
	if (!make || points->count == POINTS)
		return NULL;
	points->point[points->count] = (struct point){ .kind = kind, .band = band };
	return &points->point[points->count++];
}

/* Between median and mean: it reflects a quarter of slow calls, but not a single stall. */
static double middle_us(const struct nt_quantiles *us)
{
	return (us->p25_us + 2 * us->median_us + us->p75_us) / 4;
}

static void add_key(struct points *points, const struct nt_known_key *key,
		    const struct nt_memory_entry *entry, double age)
{
	const struct nt_quantiles *us = points->untuned ? &key->untuned : nt_key_times(key);
	double samples = us->samples < SAMPLES_MAX ? us->samples : SAMPLES_MAX;
	struct kind kind = { nt_key_shape(key, &entry->where), nt_mix_kind(key->coll) };
	struct nt_turns turns;
	struct point *point;
	double spread, weight;

	if (us->samples == 0)
		return;
	point = point_at(points, kind, nt_band(key->bytes), true);
	if (point == NULL)
		return;
	spread = log(us->p75_us / us->p25_us) / 1.349;
	spread = 1.2533 * (spread > SPREAD_LEAST ? spread : SPREAD_LEAST);
	weight = age * entry->turns * samples / (samples + 4);
	point->weight += weight;
	point->log_us += weight * log(middle_us(us));
	point->variance += weight * weight * spread * spread / (samples * entry->turns);
	point->inverse += weight * weight / entry->turns;
	turns = (struct nt_turns){ entry->turns, log(middle_us(us)),
				   (entry->turns - 1) * entry->deviation * entry->deviation };
	nt_turns_merge(&point->turns, &turns);
}

static bool near_enough(const struct nt_memory_entry *entry, const struct nt_where *where,
			enum nt_nearness nearness)
{
	if (nearness == NT_NEAR_SAME)
		return nt_where_same(&entry->where, where);
	if (nearness == NT_NEAR_PATCH)
		return nt_where_same_place(&entry->where, where) &&
		       entry->where.nccl / 100 == where->nccl / 100;
	if (nearness == NT_NEAR_SOFTWARE)
		return nt_where_same_place(&entry->where, where);
	return entry->where.fingerprint == where->fingerprint && where->fingerprint != 0 &&
	       entry->where.fabric == where->fabric && entry->where.user_env == where->user_env &&
	       entry->where.nodes <= 2 * (uint64_t)where->nodes &&
	       where->nodes <= 2 * (uint64_t)entry->where.nodes;
}

static void add_entry(struct points *points, const struct nt_memory_entry *entry, double age)
{
	for (unsigned i = 0; i < entry->keys; i++)
		add_key(points, &entry->key[i], entry, age);
	points->turns += entry->turns;
	if (entry->origin == NT_ORIGIN_CALIBRATE)
		points->calibrated = true;
	if (entry->when_s > points->newest_s)
		points->newest_s = entry->when_s;
}

/* Which entries are used. */
struct entry_filter {
	const struct nt_scope *scope;
	const char *profile;
	unsigned origins; /* a bit for each enum nt_entry_origin */
};

static bool is_wanted(const struct entry_filter *wanted, const struct nt_memory_entry *entry)
{
	const struct nt_scope *scope = wanted->scope;

	return entry->keys > 0 && (wanted->origins >> entry->origin & 1) != 0 &&
	       (scope->but_job == 0 || entry->job != scope->but_job ||
		entry->origin == NT_ORIGIN_IMPORT) &&
	       strcmp(entry->profile, wanted->profile) == 0 &&
	       near_enough(entry, scope->where, scope->nearness);
}

static const struct nt_memory_entry *newest_of(const struct entry_filter *wanted)
{
	const struct nt_memory *memory = wanted->scope->memory;
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < memory->entries; i++) {
		const struct nt_memory_entry *entry = &memory->entry[i];

		if (entry->origin == NT_ORIGIN_JOB && is_wanted(wanted, entry) &&
		    nt_entry_newer(entry, newest))
			newest = entry;
	}
	return newest;
}

static bool counts(const struct entry_filter *wanted, const struct nt_memory_entry *entry,
		   const struct nt_memory_entry *newest)
{
	switch (wanted->scope->steps) {
	case NT_SCOPE_NEWEST: return entry == newest;
	case NT_SCOPE_OLDER: return entry != newest && is_wanted(wanted, entry);
	case NT_SCOPE_CALIBRATED:
		return entry->origin == NT_ORIGIN_CALIBRATE && is_wanted(wanted, entry);
	default: return is_wanted(wanted, entry);
	}
}

static void gather(struct points *points, const struct entry_filter *wanted)
{
	const struct nt_scope *scope = wanted->scope;
	const struct nt_memory_entry *newest = newest_of(wanted);

	points->count = points->turns = 0;
	points->calibrated = false;
	points->newest_s = 0;
	for (size_t i = 0; i < scope->memory->entries; i++)
		if (counts(wanted, &scope->memory->entry[i], newest))
			add_entry(points, &scope->memory->entry[i],
				  nt_entry_weight(&scope->memory->entry[i], scope->now_s));
	for (unsigned i = 0; i < points->count; i++) {
		struct point *point = &points->point[i];

		if (point->weight <= 0)
			continue;
		point->log_us /= point->weight;
		point->variance /= point->weight * point->weight;
		point->inverse /= point->weight * point->weight;
	}
}

/* A time, its error, and whether it was measured. */
struct time {
	bool known, measured;
	double log_us, variance, estimate_error;
};

static bool by_line(const struct points *points, struct kind kind, unsigned band, struct time *out)
{
	uint64_t bytes[POINTS];
	double us[POINTS];
	struct nt_line line;
	unsigned count = 0;

	for (unsigned i = 0; i < points->count; i++) {
		if (!is_kind(&points->point[i], kind) || points->point[i].weight <= 0)
			continue;
		bytes[count] = nt_band_floor(points->point[i].band);
		us[count++] = exp(points->point[i].log_us);
	}
	if (!nt_line_fit(bytes, us, count, &line))
		return false;
	out->log_us = log(nt_line_us(&line, nt_band_floor(band)));
	out->estimate_error = LINE_ERROR;
	return true;
}

static struct time time_at(struct points *points, struct kind kind, unsigned band)
{
	const struct point *point = point_at(points, kind, band, false);
	struct time out = { 0 };

	if (point != NULL && point->weight > 0) {
		out.known = out.measured = true;
		out.log_us = point->log_us;
		out.variance = point->variance;
	} else {
		out.known = by_line(points, kind, band, &out);
	}
	return out;
}

/* The profile's ratio to the default at the nearest sizes at which both were measured. */
static bool by_neighbours(struct points *profile, struct points *base, struct kind kind,
			  unsigned band, double *log_ratio)
{
	double octaves[2] = { INFINITY, INFINITY }, ratio[2] = { 0, 0 };

	for (unsigned i = 0; i < profile->count; i++) {
		const struct point *of = &profile->point[i];
		const struct point *to = point_at(base, kind, of->band, false);
		double distance = ((double)of->band - band) / 2;
		unsigned side = distance > 0;

		if (!is_kind(of, kind) || to == NULL || of->weight <= 0 || to->weight <= 0 ||
		    fabs(distance) >= octaves[side])
			continue;
		octaves[side] = fabs(distance);
		ratio[side] = of->log_us - to->log_us;
	}
	if (isfinite(octaves[0]) && isfinite(octaves[1])) {
		*log_ratio = (ratio[0] * octaves[1] + ratio[1] * octaves[0]) /
			     (octaves[0] + octaves[1]);
		return true;
	}
	for (unsigned side = 0; side < 2; side++) {
		if (octaves[side] <= NEAR_OCTAVES) {
			*log_ratio = ratio[side];
			return true;
		}
	}
	return false;
}

/* A collective that was never calibrated here is estimated from the one that was measured at most
 * sizes between as many nodes: its cost and the profile's ratio. false if there is none. Sends have
 * variables of their own, so they say nothing of collectives. */
static bool by_kind(struct points *profile, struct points *base, struct kind kind, unsigned band,
		    struct time *of_base, double *log_ratio)
{
	struct kind best = { 0 };
	unsigned most = 0;

	if (!profile->calibrated || !base->calibrated || kind.shape.nodes == 1)
		return false;
	for (unsigned i = 0; i < base->count; i++) {
		struct kind other = base->point[i].kind;
		unsigned count = 0;

		if (other.shape.nodes != kind.shape.nodes ||
		    (nt_kind_tunable(kind.coll) && !nt_kind_tunable(other.coll)))
			continue;
		for (unsigned k = 0; k < base->count; k++)
			count += is_kind(&base->point[k], other);
		if (count > most) {
			most = count;
			best = other;
		}
	}
	if (most == 0 || !by_neighbours(profile, base, best, band, log_ratio))
		return false;
	*of_base = time_at(base, best, band);
	of_base->measured = false;
	of_base->estimate_error = KIND_ERROR;
	return of_base->known;
}

/* Sums over the keys of a mix. */
struct mix_sums {
	double base, profile; /* costs of keys at which both are known */
	double base_all; /* and of all at which the default is known */
	double bytes, bytes_unknown; /* of all keys, and of those at which the default is unknown */
	double measured;
	double variance_base, variance_profile, slack;
	double squares, degrees, inverse; /* between steps, times the default's cost */
	double worst;
	uint64_t least_bytes, most_bytes; /* measured */
};

static void add_to_sums(struct mix_sums *sums, struct points *profile, struct points *base,
			const struct nt_mix_key *key)
{
	struct kind kind = { key->shape, key->coll };
	unsigned band = nt_band(key->bytes);
	struct time of_base = time_at(base, kind, band);
	struct time of_profile = time_at(profile, kind, band);
	double base_us, profile_us, ratio, error;

	sums->bytes += key->calls * (double)key->bytes;
	if (!of_base.known && by_kind(profile, base, kind, band, &of_base, &ratio)) {
		of_profile = of_base;
		of_profile.log_us += ratio;
	}
	if (!of_base.known) {
		sums->bytes_unknown += key->calls * (double)key->bytes;
		return;
	}
	base_us = key->calls * exp(of_base.log_us);
	sums->base_all += base_us;
	if (of_base.estimate_error < KIND_ERROR && !of_profile.measured &&
	    by_neighbours(profile, base, kind, band, &ratio)) {
		of_profile.known = true;
		of_profile.log_us = of_base.log_us + ratio;
		of_profile.estimate_error = NEIGHBOUR_ERROR;
	}
	if (!of_profile.known)
		return;
	profile_us = key->calls * exp(of_profile.log_us);
	error = of_profile.estimate_error > of_base.estimate_error ? of_profile.estimate_error
								   : of_base.estimate_error;
	sums->base += base_us;
	sums->profile += profile_us;
	sums->variance_base += base_us * base_us * of_base.variance;
	sums->variance_profile += profile_us * profile_us * of_profile.variance;
	sums->slack += profile_us * error;
	if (of_base.measured && of_profile.measured) {
		const struct point *a = point_at(base, kind, band, false);
		const struct point *b = point_at(profile, kind, band, false);

		sums->squares += base_us * (a->turns.squares + b->turns.squares);
		sums->degrees += base_us * (a->turns.count + b->turns.count - 2);
		sums->inverse += base_us * (a->inverse + b->inverse);
		sums->measured += base_us;
		if (profile_us / base_us > sums->worst)
			sums->worst = profile_us / base_us;
		if (sums->least_bytes == 0 || key->bytes < sums->least_bytes)
			sums->least_bytes = key->bytes;
		if (key->bytes > sums->most_bytes)
			sums->most_bytes = key->bytes;
	}
}

static void sum_blind(struct mix_sums *sums, struct points *profile, struct points *base)
{
	for (unsigned i = 0; i < base->count; i++) {
		struct nt_mix_key key = { .shape = base->point[i].kind.shape,
					  .coll = base->point[i].kind.coll,
					  .bytes = nt_band_floor(base->point[i].band),
					  .calls = exp(-base->point[i].log_us) };

		add_to_sums(sums, profile, base, &key);
	}
}

/* The variance between steps, from keys that were measured with both. */
static double steps_variance(const struct mix_sums *sums, const struct points *profile,
			     const struct points *base, struct nt_mix_cost *out)
{
	double inverse = 1.0 / profile->turns + 1.0 / base->turns;
	double squares = 0, degrees = 0;

	if (sums->measured > 0) {
		squares = sums->squares / sums->measured;
		degrees = sums->degrees / sums->measured;
		inverse = sums->inverse / sums->measured;
	}
	out->deviation = nt_deviation(squares, degrees);
	out->degrees = NT_DEVIATION_DEGREES + degrees;
	return out->deviation * out->deviation * inverse;
}

static void conclude(const struct mix_sums *sums, const struct points *profile,
		     const struct points *base, struct nt_mix_cost *out)
{
	struct nt_estimate estimate;
	double variance;

	/* Unknown keys may cost anything: they may have a tenth of the bytes. */
	if (sums->base <= 0 || sums->bytes_unknown > 0.1 * sums->bytes)
		return;
	out->known = true;
	out->ratio = sums->profile / sums->base;
	out->measured = sums->measured / sums->base_all;
	out->estimated = (sums->base - sums->measured) / sums->base_all;
	out->worst = sums->worst;
	out->least_bytes = sums->least_bytes;
	out->most_bytes = sums->most_bytes;
	variance = sums->variance_base / (sums->base * sums->base) +
		   sums->variance_profile / (sums->profile * sums->profile) +
		   sums->slack * sums->slack / (sums->profile * sums->profile) +
		   steps_variance(sums, profile, base, out);
	out->error = sqrt(variance);
	estimate = nt_mix_cost_estimate(out);
	out->p = nt_estimate_p_below(&estimate);
	out->turns = profile->turns;
	out->calibrated = profile->calibrated && base->calibrated;
	out->newest_s = profile->newest_s;
}

bool nt_mix_cost_enough(const struct nt_mix_cost *cost)
{
	return cost->known && (cost->calibrated || cost->measured >= NT_MEASURED_LEAST);
}

struct nt_estimate nt_mix_cost_estimate(const struct nt_mix_cost *cost)
{
	if (!cost->known)
		return (struct nt_estimate){ 0 };
	return (struct nt_estimate){ true, log(cost->ratio), cost->error, cost->degrees };
}

struct nt_mix_cost nt_mix_cost_join(const struct nt_mix_cost *nearer,
				    const struct nt_mix_cost *farther)
{
	struct nt_estimate near = nt_mix_cost_estimate(nearer);
	struct nt_estimate far = nt_mix_cost_estimate(farther);
	struct nt_estimate both = nt_estimate_join(&near, &far);
	bool joined = near.known && far.known && both.error != near.error;
	struct nt_mix_cost out = nearer->known ? *nearer : *farther;

	if (joined && farther->measured > nearer->measured)
		out = *farther;
	out.untuned = nearer->untuned > 0 ? nearer->untuned : farther->untuned;
	out.untuned_worst = nearer->untuned > 0 ? nearer->untuned_worst : farther->untuned_worst;
	if (!joined)
		return out;
	out.ratio = exp(both.log_ratio);
	out.error = both.error;
	out.degrees = both.degrees;
	out.p = nt_estimate_p_below(&both);
	out.turns = nearer->turns + farther->turns;
	out.calibrated = nearer->calibrated || farther->calibrated;
	out.newest_s = nearer->newest_s > farther->newest_s ? nearer->newest_s : farther->newest_s;
	return out;
}

/* points: room for two. */
static void compare_times(struct points *points, const struct entry_filter *wanted,
			  const struct nt_mix *mix, struct nt_mix_cost *out)
{
	struct entry_filter of_base = *wanted;
	struct mix_sums sums = { 0 };

	*out = NOTHING_KNOWN;
	of_base.profile = NT_PROFILE_DEFAULT;
	gather(&points[0], wanted);
	gather(&points[1], &of_base);
	if (points[0].count == 0 || points[1].count == 0)
		return;
	if (mix == NULL || mix->count == 0)
		sum_blind(&sums, &points[0], &points[1]);
	for (unsigned i = 0; mix != NULL && i < mix->count; i++)
		add_to_sums(&sums, &points[0], &points[1], &mix->key[i]);
	conclude(&sums, &points[0], &points[1], out);
}

static void compare(struct points *points, const struct entry_filter *wanted,
		    const struct nt_mix *mix, struct nt_mix_cost *out)
{
	struct nt_mix_cost untuned;

	points[0].untuned = points[1].untuned = true;
	compare_times(points, wanted, mix, &untuned);
	points[0].untuned = points[1].untuned = false;
	compare_times(points, wanted, mix, out);
	if (nt_mix_cost_enough(&untuned)) {
		out->untuned = untuned.ratio;
		out->untuned_worst = untuned.worst;
	}
}

int nt_mix_cost(const struct nt_scope *scope, const char *profile, const struct nt_mix *mix,
		struct nt_mix_cost *out)
{
	struct entry_filter wanted = { scope, profile, 0 };
	struct points *points = calloc(2, sizeof(*points));

	*out = NOTHING_KNOWN;
	if (points == NULL)
		return -1;
	for (unsigned origin = NT_ORIGIN_JOB; origin <= NT_ORIGIN_IMPORT; origin++) {
		struct nt_mix_cost of_origin;

		wanted.origins = 1u << origin;
		compare(points, &wanted, mix, &of_origin);
		*out = nt_mix_cost_join(out, &of_origin);
	}
	wanted.origins = ANY_ORIGIN;
	if (!out->known)
		compare(points, &wanted, mix, out);
	free(points);
	return 0;
}
