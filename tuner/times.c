/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* times.c - times to and from 16 bits, and the slowest of ranks and nodes */
#include "tuner/times.h"

#define FRACTION_BITS 11 /* of the logarithm */

uint16_t nt_times_pack(uint32_t ns)
{
	unsigned whole, log;
	unsigned fraction = 0;
	double rest;

	if (ns < 2)
		return (uint16_t)ns;
	whole = 31u - (unsigned)__builtin_clz(ns);
	rest = (double)ns / (double)(UINT32_C(1) << whole);
	for (unsigned bit = 0; bit <= FRACTION_BITS; bit++) { /* one more, to round */
		rest *= rest;
		fraction <<= 1;
		if (rest >= 2) {
			rest /= 2;
			fraction |= 1;
		}
	}
	log = (whole << FRACTION_BITS) + (fraction + 1) / 2;
	return log > UINT16_MAX ? UINT16_MAX : (uint16_t)log;
}

double nt_times_ns(uint16_t packed)
{
	/* 2 to the power of 1/2, 1/4, ... 1/2048 */
	static const double root[FRACTION_BITS] = {
		1.4142135623730951, 1.189207115002721,	1.0905077326652577, 1.0442737824274138,
		1.0218971486541166, 1.0108892860517005, 1.0054299011128027, 1.0027112750502025,
		1.0013547198921082, 1.0006771306930664, 1.0003385080526823,
	};
	double ns;

	if (packed == 0)
		return 0;
	ns = (double)(UINT32_C(1) << (packed >> FRACTION_BITS));
	for (unsigned bit = 0; bit < FRACTION_BITS; bit++) {
		if (packed & (1u << (FRACTION_BITS - 1 - bit)))
			ns *= root[bit];
	}
	return ns;
}

unsigned nt_times_room(const struct nt_schedule *schedule)
{
	return nt_schedule_positions(schedule) * (schedule->kind == NT_SCHEDULE_SCREEN ? 1 : 2);
}

/* The slowest rank's time: it defines the collective. 0 where a rank that takes part has none:
 * it may have been that. */
static uint32_t slowest(const struct nt_board_run *run, uint32_t members, uint32_t position,
			bool period)
{
	uint32_t worst = 0;

	for (uint32_t m = 0; m < members && m < NT_BOARD_MEMBERS; m++) {
		const _Atomic uint32_t *times = period ? run->period_ns[m] : run->sample_ns[m];
		uint32_t ns = atomic_load_explicit(&times[position], memory_order_relaxed);

		if (ns == 0 && atomic_load_explicit(&run->issued[m], memory_order_relaxed) != 0)
			return 0;
		if (ns > worst)
			worst = ns;
	}
	return worst;
}

size_t nt_times_gather(const struct nt_board *board, const struct nt_plan *plan, uint32_t members,
		       int64_t reward, uint8_t *out, size_t cap)
{
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	const struct nt_board_run *run;
	struct nt_schedule schedule;
	uint32_t positions, count;
	size_t used = 0;

	if (plan->run >= NT_BOARD_RUNS || plan->until == NT_NEVER ||
	    nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
		return 0;
	run = &board->run[plan->run];
	positions = nt_schedule_positions(&schedule);
	count = reward == NT_REWARD_PERIOD ? positions : nt_times_room(&schedule);
	for (uint32_t p = 0; p < positions; p++) {
		uint32_t first = p - p % schedule.count; /* of the block */
		uint32_t at = first + (uint32_t)nt_schedule_index(&schedule, plan->epoch, p);

		packed[at] = nt_times_pack(slowest(run, members, p, reward == NT_REWARD_PERIOD));
		if (count > positions)
			packed[positions + at] = nt_times_pack(slowest(run, members, p, true));
	}
	for (uint32_t p = 0; p < count && 2 * (size_t)p + 2 <= cap; p++) {
		out[2 * p] = (uint8_t)(packed[p] & 255);
		out[2 * p + 1] = (uint8_t)(packed[p] >> 8);
		if (packed[p] != 0)
			used = 2 * (size_t)p + 2;
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
		else if (other > have)
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
		else if (worst[p] != 0 && packed > worst[p])
			worst[p] = packed;
	}
}
