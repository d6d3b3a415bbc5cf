/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/times.h"

#include <math.h>
#include "contract/policy.h"

#define STEPS 2048 /* per doubling */
#define LEAST (10 * STEPS) /* encoding of the shortest time */
#define TURNED (UINT32_C(1) << 16) /* 32 doublings: values wrap around */

/* In steps, without the wrap-around. */
static uint32_t steps_of(uint16_t packed)
{
	return packed < LEAST ? packed + TURNED : packed;
}

uint16_t nt_times_pack(uint64_t ns)
{
	double log;
	uint16_t packed;

	if (ns == 0)
		return 0;
	log = round(STEPS * log2((double)ns));
	if (log < LEAST)
		return LEAST;
	if (log > TURNED + LEAST - 1)
		return LEAST - 1;
	packed = (uint16_t)(uint32_t)log; /* it wraps around */
	return packed == 0 ? 1 : packed; /* 0 is a missing sample */
}

double nt_times_ns(uint16_t packed)
{
	return packed == 0 ? 0 : exp2((double)steps_of(packed) / STEPS);
}

unsigned nt_times_duration_at(const struct nt_schedule *schedule, unsigned index)
{
	const unsigned each = schedule->kind == NT_SCHEDULE_SCREEN ? 1 : 2;

	return nt_schedule_samples(schedule) * each + index;
}

/* Times of a sample beside the slowest rank's. */
static unsigned others_of(unsigned measure)
{
	return measure == NT_MEASURE_SLOWEST ? 0 : measure == NT_MEASURE_ALL ? 2 : 1;
}

/* Where values are that are not the slowest rank's; samples 0: none are. */
struct layout {
	size_t from, samples, ranks_at;
	unsigned measure; /* the schedule's */
};

static struct layout layout_of(const struct nt_schedule *schedule)
{
	const size_t samples = nt_schedule_samples(schedule), values = nt_times_values(schedule);
	const unsigned others = others_of(schedule->measure);

	if (others == 0)
		return (struct layout){ .ranks_at = values };
	return (struct layout){ values - 1 - others * samples, samples, values - 1,
				schedule->measure };
}

/* From the bytes themselves; measure NT_MEASURES + 1: senseless. */
static struct layout layout_in(const uint8_t *bytes, size_t count)
{
	const struct layout senseless = { .measure = NT_MEASURES + 1 };
	const size_t values = count / 2;
	struct layout l;

	if (count % 2 == 0)
		return (struct layout){ .ranks_at = NT_TIMES_MAX };
	if (values < 2 + 1)
		return senseless;
	l = (struct layout){ .samples = bytes[count - 3] | (size_t)bytes[count - 2] << 8,
			     .ranks_at = values - 2,
			     .measure = bytes[count - 1] };
	if (l.samples == 0 || l.measure == NT_MEASURE_SLOWEST || l.measure > NT_MEASURE_ALL ||
	    others_of(l.measure) * l.samples > l.ranks_at)
		return senseless;
	l.from = l.ranks_at - others_of(l.measure) * l.samples;
	return l;
}

static enum nt_measure measure_at(const struct layout *l, size_t at)
{
	if (l->samples == 0 || at < l->from)
		return NT_MEASURE_SLOWEST;
	if (l->measure != NT_MEASURE_ALL)
		return (enum nt_measure)l->measure;
	return at - l->from < l->samples ? NT_MEASURE_MEAN : NT_MEASURE_FASTEST;
}

static uint16_t mean_of(uint16_t a, unsigned ranks, uint16_t b, unsigned more)
{
	const double ns = (nt_times_ns(a) * ranks + nt_times_ns(b) * more) / (ranks + more);

	return nt_times_pack((uint64_t)ns);
}

/* One value of these ranks and those together. */
static uint16_t merge_values(const struct layout *l, size_t at, uint16_t a, unsigned ranks,
			     uint16_t b, unsigned more)
{
	if (a == 0 || b == 0)
		return 0;
	if (at == l->ranks_at)
		return a + b > UINT16_MAX ? UINT16_MAX : (uint16_t)(a + b);
	switch (measure_at(l, at)) {
	case NT_MEASURE_MEAN: return mean_of(a, ranks, b, more);
	case NT_MEASURE_FASTEST: return steps_of(a) < steps_of(b) ? a : b;
	default: return steps_of(a) > steps_of(b) ? a : b;
	}
}

unsigned nt_times_values(const struct nt_schedule *schedule)
{
	const unsigned others = others_of(schedule->measure);

	return nt_times_duration_at(schedule, schedule->count) +
	       (others == 0 ? 0 : others * nt_schedule_samples(schedule) + 1);
}

int nt_times_measure_at(const struct nt_schedule *schedule, enum nt_measure measure)
{
	const struct layout l = layout_of(schedule);

	if (measure == NT_MEASURE_SLOWEST)
		return 0;
	if (schedule->measure == NT_MEASURE_ALL)
		return (int)(l.from + (measure == NT_MEASURE_FASTEST ? l.samples : 0));
	return schedule->measure == measure ? (int)l.from : -1;
}

void nt_times_put(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule, uint32_t epoch,
		  uint32_t position, int64_t reward, const uint64_t ns[NT_MEASURES],
		  uint64_t period_ns)
{
	const int64_t sample = nt_schedule_sample(schedule, position);
	uint32_t at;

	if (sample < 0)
		return;
	at = (uint32_t)(sample - sample % schedule->count) +
	     (uint32_t)nt_schedule_index(schedule, epoch, position);
	for (unsigned m = 0; m < NT_MEASURES; m++) {
		const int from = nt_times_measure_at(schedule, (enum nt_measure)m);

		if (from >= 0)
			packed[(uint32_t)from + at] = nt_times_pack(
				reward == NT_REWARD_PERIOD ? period_ns : ns[m]);
	}
	if (reward != NT_REWARD_PERIOD && schedule->kind != NT_SCHEDULE_SCREEN)
		packed[nt_schedule_samples(schedule) + at] = nt_times_pack(period_ns);
}

static uint16_t value_at(const uint8_t *bytes, size_t at)
{
	return (uint16_t)(bytes[2 * at] | bytes[2 * at + 1] << 8);
}

static void put_value(uint8_t *bytes, size_t at, size_t value)
{
	bytes[2 * at] = (uint8_t)(value & 255);
	bytes[2 * at + 1] = (uint8_t)(value >> 8 & 255);
}

size_t nt_times_write(const uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule,
		      unsigned ranks, uint8_t *out, size_t cap)
{
	const struct layout l = layout_of(schedule);
	size_t used = 0;

	for (size_t p = 0; p < l.ranks_at && 2 * p + 2 <= cap; p++) {
		put_value(out, p, packed[p]);
		if (packed[p] != 0)
			used = 2 * p + 2;
	}
	if (l.samples == 0 || used == 0)
		return used;
	if (2 * l.ranks_at + 5 > cap)
		return 0;
	put_value(out, l.ranks_at, ranks < UINT16_MAX ? ranks : UINT16_MAX);
	put_value(out, l.ranks_at + 1, l.samples);
	out[2 * l.ranks_at + 4] = (uint8_t)l.measure;
	return 2 * l.ranks_at + 5;
}

size_t nt_times_combine(uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	const struct layout l = layout_in(sum, count), other = layout_in(bytes, more);
	const size_t values = (count < more ? count : more) / 2;
	unsigned ranks, more_ranks;
	size_t used = 0;

	if (l.measure != other.measure || l.measure > NT_MEASURES)
		return 0;
	if (l.samples != 0 && (count != more || l.samples != other.samples))
		return 0;
	ranks = l.samples ? value_at(sum, l.ranks_at) : 0;
	more_ranks = l.samples ? value_at(bytes, l.ranks_at) : 0;
	for (size_t p = 0; p < values && p <= l.ranks_at; p++) {
		const uint16_t value = merge_values(&l, p, value_at(sum, p), ranks,
						    value_at(bytes, p), more_ranks);

		put_value(sum, p, value);
		if (value != 0)
			used = 2 * p + 2;
	}
	return l.samples ? count : used;
}

/* Number of values, without what ends them between nodes; 0: not of this schedule. */
static size_t values_of(const struct nt_schedule *schedule, const uint8_t *bytes, size_t count)
{
	const struct layout l = layout_of(schedule), told = layout_in(bytes, count);

	if (count % 2 == 0)
		return count / 2 <= nt_times_values(schedule) ? count / 2 : 0;
	return told.measure == l.measure && told.samples == l.samples && told.ranks_at == l.ranks_at
		       ? l.ranks_at + 1
		       : 0;
}

void nt_times_read(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule,
		   const uint8_t *bytes, size_t count)
{
	const size_t values = values_of(schedule, bytes, count);

	for (size_t p = 0; p < NT_TIMES_MAX; p++)
		packed[p] = p < values ? value_at(bytes, p) : 0;
}
