/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of a mix, measured where they can be and estimated where they must. */
#include "launch/weigh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 512
#define SAMPLES_MAX 32.0 /* that count: more of one run are not independent */
#define RUN_ERROR 0.03 /* of the logarithm: two runs of one thing */
#define SPREAD_LEAST 0.02 /* quartiles that are equal were rounded, not exact */
#define NEIGHBOUR_ERROR 0.10
#define LINE_ERROR 0.25
#define ANY_ORIGIN ~0u
#define NEAR_OCTAVES 4.0 /* how far a single neighbour may be */

/* What a profile's entries say of one size. Sums while they are added, then means. */
struct point {
	struct nt_comm_shape shape;
	int coll;
	unsigned band;
	double weight, square; /* sums of weights, and of their squares */
	double log_us, variance;
};

struct points {
	unsigned count;
	struct point point[POINTS];
	unsigned runs;
	bool calibrated;
	int64_t newest_s;
};

double nt_normal_tail(double z)
{
	return 0.5 * erfc(z / sqrt(2));
}

void nt_mix_of(const struct nt_memory_entry *entry, struct nt_mix *mix)
{
	mix->count = 0;
	for (unsigned i = 0; i < entry->keys; i++) {
		if (entry->key[i].calls == 0)
			continue;
		mix->key[mix->count++] = (struct nt_mix_key){
			.shape = nt_key_shape(&entry->key[i], &entry->where),
			.coll = entry->key[i].coll,
			.bytes = entry->key[i].bytes,
			.calls = (double)entry->key[i].calls,
		};
	}
}

/* What is measured alike: a collective on a communicator of this shape. */
struct kind {
	struct nt_comm_shape shape;
	int coll;
};

static bool is_kind(const struct point *point, struct kind kind)
{
	return point->coll == kind.coll && point->shape.ranks == kind.shape.ranks &&
	       point->shape.nodes == kind.shape.nodes;
}

static struct point *point_at(struct points *points, struct kind kind, unsigned band, bool make)
{
	for (unsigned i = 0; i < points->count; i++)
		if (is_kind(&points->point[i], kind) && points->point[i].band == band)
			return &points->point[i];
	if (!make || points->count == POINTS)
		return NULL;
	points->point[points->count] = (struct point){ .shape = kind.shape,
						       .coll = kind.coll,
						       .band = band };
	return &points->point[points->count++];
}

/* Between the median and the mean: a quarter of slow calls shows, a single stall does not. */
static double middle_us(const struct nt_quantiles *us)
{
	return (us->p25_us + 2 * us->median_us + us->p75_us) / 4;
}

static void add_key(struct points *points, const struct nt_known_key *key,
		    const struct nt_where *where, double age)
{
	const struct nt_quantiles *us = key->best.samples > 0 ? &key->best : &key->untuned;
	double samples = us->samples < SAMPLES_MAX ? us->samples : SAMPLES_MAX;
	struct kind kind = { nt_key_shape(key, where), key->coll };
	struct point *point;
	double spread, weight;

	if (us->samples == 0)
		return;
	point = point_at(points, kind, nt_band(key->bytes), true);
	if (point == NULL)
		return;
	spread = log(us->p75_us / us->p25_us) / 1.349;
	spread = 1.2533 * (spread > SPREAD_LEAST ? spread : SPREAD_LEAST);
	weight = age * samples / (samples + 4);
	point->weight += weight;
	point->square += weight * weight;
	point->log_us += weight * log(middle_us(us));
	point->variance += weight * weight * spread * spread / samples;
}

static bool near_enough(const struct nt_memory_entry *entry, const struct nt_where *where,
			enum nt_nearness nearness)
{
	if (nearness == NT_NEAR_SAME)
		return nt_where_same(&entry->where, where);
	if (nearness == NT_NEAR_SOFTWARE)
		return nt_where_same_place(&entry->where, where);
	return entry->where.fingerprint == where->fingerprint && where->fingerprint != 0 &&
	       entry->where.fabric == where->fabric && entry->where.own == where->own;
}

static void add_entry(struct points *points, const struct nt_memory_entry *entry, double age)
{
	for (unsigned i = 0; i < entry->keys; i++)
		add_key(points, &entry->key[i], &entry->where, age);
	points->runs++;
	if (entry->origin == NT_ORIGIN_CALIBRATE)
		points->calibrated = true;
	if (entry->when_s > points->newest_s)
		points->newest_s = entry->when_s;
}

static bool newer(const struct nt_memory_entry *a, const struct nt_memory_entry *b)
{
	return a->when_s > b->when_s || (a->when_s == b->when_s && a->step > b->step);
}

/* Which entries are looked at. */
struct wanted {
	const struct nt_memory *memory;
	const struct nt_where *where;
	enum nt_nearness nearness;
	bool only_newest;
	const char *profile;
	unsigned origins; /* a bit for each enum nt_entry_origin */
	int64_t now_s;
};

static bool is_wanted(const struct wanted *wanted, const struct nt_memory_entry *entry)
{
	return entry->keys > 0 && (wanted->origins >> entry->origin & 1) != 0 &&
	       strcmp(entry->profile, wanted->profile) == 0 &&
	       near_enough(entry, wanted->where, wanted->nearness);
}

static const struct nt_memory_entry *newest_of(const struct wanted *wanted)
{
	const struct nt_memory_entry *newest = NULL;

	for (size_t i = 0; i < wanted->memory->entries; i++) {
		const struct nt_memory_entry *entry = &wanted->memory->entry[i];

		if (is_wanted(wanted, entry) && (newest == NULL || newer(entry, newest)))
			newest = entry;
	}
	return newest;
}

/* Where the newest is all that counts: the runs of a calibration are one measurement. */
static bool counts_beside(const struct nt_memory_entry *entry, const struct nt_memory_entry *newest)
{
	return entry == newest ||
	       (entry->origin == NT_ORIGIN_CALIBRATE && newest->origin == NT_ORIGIN_CALIBRATE &&
		entry->job == newest->job);
}

/* The origins of what counts. */
static unsigned origins_of(const struct wanted *wanted)
{
	const struct nt_memory_entry *newest = newest_of(wanted);
	unsigned origins = 0;

	if (newest != NULL && wanted->only_newest)
		return 1u << newest->origin;
	for (size_t i = 0; newest != NULL && i < wanted->memory->entries; i++)
		if (is_wanted(wanted, &wanted->memory->entry[i]))
			origins |= 1u << wanted->memory->entry[i].origin;
	return origins;
}

static void gather(struct points *points, const struct wanted *wanted)
{
	const struct nt_memory_entry *newest = newest_of(wanted);

	for (size_t i = 0; newest != NULL && i < wanted->memory->entries; i++) {
		const struct nt_memory_entry *entry = &wanted->memory->entry[i];

		if (!is_wanted(wanted, entry))
			continue;
		if (!wanted->only_newest)
			add_entry(points, entry, nt_entry_weight(entry, wanted->now_s));
		else if (counts_beside(entry, newest))
			add_entry(points, entry, 1);
	}
	for (unsigned i = 0; i < points->count; i++) {
		struct point *point = &points->point[i];

		if (point->weight <= 0)
			continue;
		point->log_us /= point->weight;
		point->variance /= point->weight * point->weight;
	}
}

/* A time, how sure, and whether it was measured. */
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

/* The profile's ratio to the default at the nearest sizes that both were measured at. */
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

/* Sums over the keys of a mix. */
struct sums {
	double base, profile; /* costs, of keys that both are known at */
	double base_all; /* and of all that the default is known at */
	double bytes, bytes_unknown; /* of keys, and of those the default is unknown at */
	double measured;
	double variance_base, variance_profile, slack;
	double worst;
};

static void add_to_sums(struct sums *sums, struct points *profile, struct points *base,
			const struct nt_mix_key *key)
{
	struct kind kind = { key->shape, key->coll };
	unsigned band = nt_band(key->bytes);
	struct time of_base = time_at(base, kind, band);
	struct time of_profile = time_at(profile, kind, band);
	double base_us, profile_us, ratio, error;

	sums->bytes += key->calls * (double)key->bytes;
	if (!of_base.known) {
		sums->bytes_unknown += key->calls * (double)key->bytes;
		return;
	}
	base_us = key->calls * exp(of_base.log_us);
	sums->base_all += base_us;
	if (!of_profile.measured && by_neighbours(profile, base, kind, band, &ratio)) {
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
		sums->measured += base_us;
		if (profile_us / base_us > sums->worst)
			sums->worst = profile_us / base_us;
	}
}

static void sum_blind(struct sums *sums, struct points *profile, struct points *base)
{
	for (unsigned i = 0; i < base->count; i++) {
		struct nt_mix_key key = { .shape = base->point[i].shape,
					  .coll = base->point[i].coll,
					  .bytes = nt_band_floor(base->point[i].band),
					  .calls = exp(-base->point[i].log_us) };

		add_to_sums(sums, profile, base, &key);
	}
}

static void conclude(const struct sums *sums, const struct points *profile,
		     const struct points *base, struct nt_weight *out)
{
	double runs_error, variance;

	/* Keys that nothing is known of may cost anything: a tenth of the bytes is bearable. */
	if (sums->base <= 0 || sums->bytes_unknown > 0.1 * sums->bytes)
		return;
	out->known = true;
	out->ratio = sums->profile / sums->base;
	out->measured = sums->measured / sums->base_all;
	out->estimated = (sums->base - sums->measured) / sums->base_all;
	out->worst = sums->worst;
	runs_error = RUN_ERROR * RUN_ERROR * (1.0 / profile->runs + 1.0 / base->runs);
	variance = sums->variance_base / (sums->base * sums->base) +
		   sums->variance_profile / (sums->profile * sums->profile) +
		   sums->slack * sums->slack / (sums->profile * sums->profile) + runs_error;
	out->error = sqrt(variance);
	out->p = nt_normal_tail(-log(out->ratio) / out->error);
	out->runs = profile->runs;
	out->calibrated = profile->calibrated && base->calibrated;
	out->newest_s = profile->newest_s;
}

/* Like is compared with like: a program's calls wait for each other and for its kernels, those of
 * a calibration do not. Where there is a choice, the default's entries are of the same origins. */
static void gather_both(struct points *profile, struct points *base, struct wanted *wanted)
{
	unsigned origins = origins_of(wanted);

	gather(profile, wanted);
	wanted->profile = NT_PROFILE_DEFAULT;
	wanted->origins = origins;
	if (newest_of(wanted) == NULL)
		wanted->origins = ANY_ORIGIN;
	gather(base, wanted);
}

int nt_weigh(const struct nt_memory *memory, const struct nt_where *where,
	     enum nt_nearness nearness, bool only_newest, const char *profile,
	     const struct nt_mix *mix, int64_t now_s, struct nt_weight *out)
{
	struct wanted wanted = { memory, where, nearness, only_newest, profile, ANY_ORIGIN, now_s };
	struct points *points = calloc(2, sizeof(*points));
	struct sums sums = { 0 };

	memset(out, 0, sizeof(*out));
	out->ratio = out->p = 1;
	if (points == NULL)
		return -1;
	gather_both(&points[0], &points[1], &wanted);
	if (points[0].count > 0 && points[1].count > 0) {
		if (mix == NULL || mix->count == 0)
			sum_blind(&sums, &points[0], &points[1]);
		for (unsigned i = 0; mix != NULL && i < mix->count; i++)
			add_to_sums(&sums, &points[0], &points[1], &mix->key[i]);
		conclude(&sums, &points[0], &points[1], out);
	}
	free(points);
	return 0;
}
