/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.c - times to and from 16 bits, and the slowest of ranks and nodes */
#include "engine/times.h"

#include <math.h>
#include "contract/policy.h"

#define STEPS 2048 /* to a doubling */
#define LEAST (10 * STEPS) /* what the shortest time is packed to */
#define TURNED (UINT32_C(1) << 16) /* 32 doublings: numbers begin again */

/* The other way round from a packed time: its logarithm in steps. */
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
	packed = (uint16_t)(uint32_t)log; /* numbers begin again */
	return packed == 0 ? 1 : packed; /* 0 stands for no sample */
}

double nt_times_ns(uint16_t packed)
{
	return packed == 0 ? 0 : exp2((double)steps_of(packed) / STEPS);
}

unsigned nt_times_own_at(const struct nt_schedule *schedule, unsigned index)
{
	const unsigned each = schedule->kind == NT_SCHEDULE_SCREEN ? 1 : 2;

	return nt_schedule_samples(schedule) * each + index;
}

unsigned nt_times_room(const struct nt_schedule *schedule)
{
	return nt_times_own_at(schedule, schedule->count);
}

void nt_times_put(uint16_t packed[NT_TIMES_MAX], const struct nt_schedule *schedule, uint32_t epoch,
		  uint32_t position, int64_t reward, uint64_t ns, uint64_t period_ns)
{
	const int64_t sample = nt_schedule_sample(schedule, position);
	uint32_t at;

	if (sample < 0)
		return;
	at = (uint32_t)(sample - sample % schedule->count) +
	     (uint32_t)nt_schedule_index(schedule, epoch, position);
	packed[at] = nt_times_pack(reward == NT_REWARD_PERIOD ? period_ns : ns);
	if (reward != NT_REWARD_PERIOD && schedule->kind != NT_SCHEDULE_SCREEN)
		packed[nt_schedule_samples(schedule) + at] = nt_times_pack(period_ns);
}

size_t nt_times_write(const uint16_t packed[NT_TIMES_MAX], uint8_t *out, size_t cap)
{
	size_t used = 0;

	for (size_t p = 0; p < NT_TIMES_MAX && 2 * p + 2 <= cap; p++) {
		out[2 * p] = (uint8_t)(packed[p] & 255);
		out[2 * p + 1] = (uint8_t)(packed[p] >> 8);
		if (packed[p] != 0)
			used = 2 * p + 2;
	}
	return used;
}

size_t nt_times_combine(uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	size_t used = 0;

	for (size_t p = 0; p + 2 <= count && p + 2 <= more; p += 2) {
		unsigned have = sum[p] | (unsigned)sum[p + 1] << 8,
			 other = bytes[p] | (unsigned)bytes[p + 1] << 8;

		if (have == 0 || other == 0)
			have = 0;
		else if (steps_of((uint16_t)other) > steps_of((uint16_t)have))
			have = other;
		sum[p] = (uint8_t)(have & 255);
		sum[p + 1] = (uint8_t)(have >> 8);
		if (have != 0)
			used = p + 2;
	}
	return used;
}

void nt_times_absorb(uint16_t worst[NT_TIMES_MAX], bool first, const struct nt_schedule *schedule,
		     const uint8_t *bytes, size_t count)
{
	if (count % 2 != 0 || count / 2 > nt_times_room(schedule))
		count = 0;
	for (size_t p = 0; p < NT_TIMES_MAX; p++) {
		uint16_t packed = 0;

		if (p < count / 2)
			packed = (uint16_t)(bytes[2 * p] | bytes[2 * p + 1] << 8);
		if (packed == 0 || first)
			worst[p] = packed;
		else if (worst[p] != 0 && steps_of(packed) > steps_of(worst[p]))
			worst[p] = packed;
	}
}
