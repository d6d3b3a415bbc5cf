/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - times to and from 16 bits, and their minimum over ranks and nodes */
#include "tuner/sample.h"

#define FRACTION_BITS 11	/* of the logarithm */

uint16_t nt_sample_pack(uint32_t ns)
{
	unsigned whole, fraction;
	double rest;

	if (ns < 2)
		return (uint16_t)ns;
	whole = 31u - (unsigned)__builtin_clz(ns);
	rest = (double)ns / (double)(UINT32_C(1) << whole);
	fraction = 0;
	for (unsigned bit = 0; bit <= FRACTION_BITS; bit++) {	/* one more, to round */
		rest *= rest;
		fraction <<= 1;
		if (rest >= 2) {
			rest /= 2;
			fraction |= 1;
		}
	}
	fraction = (whole << FRACTION_BITS) + (fraction + 1) / 2;
	return fraction > UINT16_MAX ? UINT16_MAX : (uint16_t)fraction;
}

double nt_sample_ns(uint16_t packed)
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

static uint32_t fastest(const struct nt_board_run *run, uint32_t members, uint32_t position)
{
	uint32_t best = 0;

	for (uint32_t m = 0; m < members && m < NT_BOARD_MEMBERS; m++) {
		uint32_t ns = atomic_load_explicit(&run->sample_ns[m][position], memory_order_relaxed);

		if (ns != 0 && (best == 0 || ns < best))
			best = ns;
	}
	return best;
}

size_t nt_sample_gather(const struct nt_board *board, const struct nt_plan *plan, uint32_t members, uint8_t *out,
			size_t cap)
{
	uint16_t packed[NT_RUN_POSITIONS] = { 0 };
	struct nt_schedule schedule;
	uint32_t positions;
	size_t used = 0;

	if (plan->run >= NT_BOARD_RUNS || nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0 ||
	    plan->until == NT_NEVER)
		return 0;
	positions = nt_schedule_positions(&schedule);
	for (uint32_t p = 0; p < positions; p++) {
		uint32_t first = p - p % schedule.count;	/* of the block */
		uint32_t ns = fastest(&board->run[plan->run], members, p);

		packed[first + (uint32_t)nt_schedule_index(&schedule, plan->epoch, p)] = nt_sample_pack(ns);
	}
	for (uint32_t p = 0; p < positions && 2 * (size_t)p + 2 <= cap; p++) {
		out[2 * p] = (uint8_t)(packed[p] & 255);
		out[2 * p + 1] = (uint8_t)(packed[p] >> 8);
		if (packed[p] != 0)
			used = 2 * (size_t)p + 2;
	}
	return used;
}

void nt_sample_absorb(uint16_t best[NT_RUN_POSITIONS], const struct nt_schedule *schedule, const uint8_t *bytes,
		      size_t count)
{
	if (count % 2 != 0 || count / 2 > nt_schedule_positions(schedule))
		return;
	for (size_t p = 0; p < count / 2; p++) {
		uint16_t packed = (uint16_t)(bytes[2 * p] | bytes[2 * p + 1] << 8);

		if (packed != 0 && (best[p] == 0 || packed < best[p]))
			best[p] = packed;
	}
}
