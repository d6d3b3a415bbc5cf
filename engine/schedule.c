/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Reading schedules, and the order of arms in a block. */
#include "engine/schedule.h"

#include <stdbool.h>
#include <string.h>
#include "contract/reason.h"

static bool is_repeated(const struct nt_schedule *s, unsigned at)
{
	unsigned first = 0;

	while (s->arm[first] != s->arm[at])
		first++;
	return first < at;
}

static bool arms_valid(const struct nt_schedule *s)
{
	uint32_t seen = 0;

	for (unsigned i = 0; i < s->count; i++) {
		unsigned bit = s->arm[i] == NT_ARM_BASELINE ? NT_PAIRS : s->arm[i];

		if (bit > NT_PAIRS ? !nt_arm_valid(s->arm[i]) || is_repeated(s, i)
				   : (seen & 1u << bit) != 0)
			return false;
		if (bit <= NT_PAIRS)
			seen |= 1u << bit;
	}
	return true;
}

static bool has_baseline(const struct nt_schedule *s)
{
	unsigned at = 0;

	while (at < s->count && s->arm[at] != NT_ARM_BASELINE)
		at++;
	return at < s->count;
}

static bool is_exploration(const struct nt_schedule *s)
{
	return s->kind == NT_SCHEDULE_SCREEN || s->kind == NT_SCHEDULE_CONFIRM ||
	       s->kind == NT_SCHEDULE_RECHECK;
}

struct nt_schedule nt_schedule_explore(enum nt_schedule_kind kind, const uint16_t *others,
				       unsigned count, unsigned blocks)
{
	struct nt_schedule s = { .kind = (uint8_t)kind, .count = 1, .arm = { NT_ARM_BASELINE } };

	for (unsigned i = 0; i < count && s.count < NT_SCHEDULE_ARMS; i++)
		s.arm[s.count++] = others[i];
	if (s.count * blocks > NT_RUN_POSITIONS)
		blocks = NT_RUN_POSITIONS / s.count;
	s.blocks = (uint8_t)blocks;
	return s;
}

int nt_schedule_read(struct nt_schedule *schedule, const uint8_t *bytes, size_t count)
{
	struct nt_schedule s;

	if (count != sizeof(s))
		return -1;
	memcpy(&s, bytes, sizeof(s));
	if (s.kind < NT_SCHEDULE_SCREEN || s.kind >= NT_SCHEDULE_KINDS)
		return -1;
	if (s.count < 1 || s.count > NT_SCHEDULE_ARMS || !arms_valid(&s))
		return -1;
	if (is_exploration(&s) && (s.blocks <= NT_SCHEDULE_WARM_UP || !has_baseline(&s)))
		return -1;
	if (nt_schedule_positions(&s) > NT_RUN_POSITIONS)
		return -1;
	if (!is_exploration(&s) && (s.count != 1 || s.outcome.verdict >= NT_VERDICTS ||
				    s.outcome.from >= NT_FROMS || s.outcome.measure >= NT_MEASURES))
		return -1;
	if (s.measure == NT_MEASURE_ALL && s.kind != NT_SCHEDULE_SCREEN)
		return -1;
	*schedule = s;
	return 0;
}

size_t nt_schedule_write(const struct nt_schedule *schedule, uint8_t *out, size_t cap)
{
	if (cap < sizeof(*schedule))
		return 0;
	memcpy(out, schedule, sizeof(*schedule));
	return sizeof(*schedule);
}

uint32_t nt_schedule_positions(const struct nt_schedule *schedule)
{
	if (schedule->kind == NT_SCHEDULE_COMMITTED)
		return 1;
	return nt_schedule_samples(schedule) << schedule->twice;
}

uint32_t nt_schedule_samples(const struct nt_schedule *schedule)
{
	return is_exploration(schedule) ? (uint32_t)schedule->count * schedule->blocks : 0;
}

int64_t nt_schedule_sample(const struct nt_schedule *schedule, uint32_t position)
{
	return schedule->twice && position % 2 == 0 ? -1 : (int64_t)(position >> schedule->twice);
}

/* splitmix64's finalizer: every bit of the result depends on every bit of x. */
static uint64_t mix_bits(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

uint32_t nt_schedule_salt(uint32_t ranks, uint32_t nodes, uint64_t key)
{
	return (uint32_t)mix_bits(((uint64_t)nodes << 32 | ranks) ^ mix_bits(key));
}

/* Element `index` of a random permutation of 0..count-1: Fisher-Yates on sixteen 4-bit numbers in
 * one integer, until `index` is final. */
static unsigned shuffled_index(uint64_t seed, unsigned count, unsigned index)
{
	uint64_t order = UINT64_C(0xfedcba9876543210);
	uint64_t random = mix_bits(seed);

	for (unsigned i = 0; i <= index; i++) {
		unsigned other = i + (unsigned)(((random >> 32) * (count - i)) >> 32);
		uint64_t differ = ((order >> (4 * i)) ^ (order >> (4 * other))) & 15;

		order ^= differ << (4 * i);
		order ^= differ << (4 * other);
		random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	}
	return (unsigned)(order >> (4 * index)) & 15;
}

int nt_schedule_index(const struct nt_schedule *schedule, uint32_t epoch, int64_t position)
{
	uint32_t at = (uint32_t)position >> schedule->twice;
	uint32_t block;
	uint64_t seed;

	if (position < 0 || position >= (int64_t)nt_schedule_positions(schedule))
		return -1;
	if (schedule->count == 1)
		return 0;
	block = at / schedule->count;
	seed = ((uint64_t)epoch << 32 | block) + UINT64_C(0x9e3779b97f4a7c15) +
	       schedule->salt * UINT64_C(0xd1342543de82ef95);
	return (int)shuffled_index(seed, schedule->count, at % schedule->count);
}

int nt_schedule_arm(const struct nt_schedule *schedule, uint32_t epoch, int64_t position)
{
	int index = nt_schedule_index(schedule, epoch, position);

	return index < 0 ? NT_ARM_BASELINE : schedule->arm[index];
}

int nt_schedule_verdict_reason(unsigned verdict)
{
	static const uint8_t reasons[NT_VERDICTS] = {
		[NT_VERDICT_NONE] = NT_REASON_UNFINISHED,
		[NT_VERDICT_ALONE] = NT_REASON_ALONE,
		[NT_VERDICT_SCREENED] = NT_REASON_SCREENED,
		[NT_VERDICT_SMALL] = NT_REASON_SMALL,
		[NT_VERDICT_CHANCE] = NT_REASON_CHANCE,
		[NT_VERDICT_MEAN] = NT_REASON_MEAN,
		[NT_VERDICT_PERIOD] = NT_REASON_PERIOD,
		[NT_VERDICT_SLOWEST] = NT_REASON_SLOWEST,
		[NT_VERDICT_SAMPLES] = NT_REASON_SAMPLES,
		[NT_VERDICT_BUDGET] = NT_REASON_BUDGET,
		[NT_VERDICT_REMEMBERED] = NT_REASON_REMEMBERED,
	};

	return verdict < NT_VERDICTS ? reasons[verdict] : NT_REASON_NONE;
}
