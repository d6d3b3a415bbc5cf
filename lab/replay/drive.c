/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/replay/drive.h"

#include <string.h>
#include "contract/key-id.h"
#include "engine/time-budget.h"
#include "engine/times.h"
#include "lab/replay/rng.h"

#define MAX_ROUNDS 24 /* the engine never needs more */
#define MAX_US 4e9 /* larger than any sample */
#define NO_END_US 1e18 /* of the job's remaining time, so that it limits nothing */
#define AT_THE_END_US 1.0
/* of a key whose calls are so far apart: there is no limit to the time it is explored in */
#define APART_CALLS 1000000
#define APART_STEP_US 1e15

void nt_drive_init(struct nt_drive *drive, const struct nt_policy *policy)
{
	*drive = (struct nt_drive){ .engine = { .policy = *policy } };
}

static void set_age(const struct nt_drive *drive, struct nt_key_info *known)
{
	if (drive->apart_us <= 0)
		return;
	known->calls = APART_CALLS;
	known->age_us = APART_CALLS * drive->apart_us;
	known->step_us = APART_STEP_US;
	if (drive->left_calls > 0)
		known->step_us = drive->left_calls * drive->apart_us * NT_TIME_BUDGET_LATE_PART /
				 NT_TIME_BUDGET_STEPS;
}

/* Called so often that no budget limits exploring. */
static struct nt_key_info known_of(const struct nt_drive *drive, const struct nt_drive_key *key)
{
	struct nt_key_info known = {
		.key = nt_key_id(NT_ALLREDUCE, nt_band(key->size_bytes), key->mask),
		.ranks = key->channels.ranks,
		.baseline_arm = key->auto_arm,
		.forbidden = nt_policy_forbidden(&drive->engine.policy),
		.calls = UINT64_MAX / 2,
		.left_us = key->left_us,
		.remembered = key->remembers,
		.remembered_arm = key->remembered,
		.channels = key->channels,
	};

	memcpy(known.cost_us, key->cost_us, sizeof(known.cost_us));
	set_age(drive, &known);
	return known;
}

static uint64_t ns_of(double us)
{
	return (uint64_t)((us < MAX_US ? us : MAX_US) * 1000 + 0.5);
}

/* A key in the engine, with the source of its times. */
struct driving {
	struct nt_drive *drive;
	const struct nt_drive_key *key;
	const struct nt_drive_rounds *rounds; /* NULL: times come from key */
	struct nt_key_info known;
	struct nt_engine_key *open; /* NULL: nothing is explored */
	struct nt_driven *out;
};

/* The durations as a job's ranks would sum them up. */
static void put_own(const struct nt_drive_key *key, const struct nt_schedule *schedule,
		    uint16_t packed[NT_TIMES_MAX])
{
	for (unsigned i = 0; i < schedule->count && key->own_share > 0; i++) {
		float us[UINT8_MAX];

		for (unsigned b = 0; b < schedule->blocks; b++)
			us[b] = (float)(nt_times_ns(packed[b * schedule->count + i]) / 1000);
		packed[nt_times_duration_at(schedule, i)] = nt_times_pack(
			ns_of(key->own_share * nt_sample_quantile(us, schedule->blocks, 0.5)));
	}
}

/* Makes every call of an exploration, on one rank. */
static void play(const struct driving *d, const struct nt_schedule *schedule, uint32_t epoch,
		 uint16_t packed[NT_TIMES_MAX])
{
	const struct nt_drive_key *key = d->key;

	for (unsigned p = 0; p < nt_schedule_positions(schedule); p++) {
		unsigned arm = (unsigned)nt_schedule_arm(schedule, epoch, p);
		double us = key->time_us(key->arg, arm, d->out->calls + p);
		double period_us = us;

		d->out->of_auto += arm == NT_ARM_BASELINE;
		d->out->us += us;
		if (d->drive->miss > 0 && nt_rng_unit(d->drive->seed++) < d->drive->miss)
			continue;
		if (key->rest_us)
			period_us += key->rest_us(key->arg, arm, d->out->calls + p);
		nt_times_put(packed, schedule, epoch, p, d->drive->engine.policy.reward,
			     (const uint64_t[NT_MEASURES]){ ns_of(us), ns_of(us), ns_of(us) },
			     ns_of(period_us));
		d->out->samples += nt_schedule_sample(schedule, p) >= 0;
	}
}

/* Writes the times of an exploration as bytes; -1: there are none. */
static int feed_played(const struct driving *d, const struct nt_schedule *schedule, uint32_t epoch,
		       uint8_t bytes[NT_TIMES_BYTES])
{
	uint16_t packed[NT_TIMES_MAX] = { 0 };

	play(d, schedule, epoch, packed);
	put_own(d->key, schedule, packed);
	return (int)nt_times_write(packed, schedule, 1, bytes, NT_TIMES_BYTES);
}

static int feed_recorded(const struct driving *d, const struct nt_schedule *schedule,
			 uint8_t bytes[NT_TIMES_BYTES])
{
	const unsigned samples = nt_schedule_samples(schedule);
	size_t length;

	if (d->out->rounds >= d->rounds->count)
		return -1;
	length = d->rounds->length[d->out->rounds];
	if (length > (size_t)2 * nt_times_values(schedule))
		return -1;
	memcpy(bytes, d->rounds->bytes[d->out->rounds], length);
	d->out->samples += samples < length / 2 ? samples : (unsigned)length / 2;
	return (int)length;
}

/* Encoded and decoded as for the ranks: a schedule that they could not read is none. */
static bool readable(const struct nt_schedule *schedule)
{
	uint8_t bytes[sizeof(*schedule)];
	struct nt_schedule read;

	return nt_schedule_read(&read, bytes, nt_schedule_write(schedule, bytes, sizeof(bytes))) ==
	       0;
}

/* The next schedule, and the epoch of its plan; false if there is none that can be read. */
static bool next_schedule(const struct driving *d, struct nt_schedule *schedule, uint32_t *epoch,
			  bool *done)
{
	enum nt_engine_next next = nt_engine_next(d->open, &d->known, schedule);

	*done = next != NT_ENGINE_EXPLORE;
	if (next == NT_ENGINE_STAY)
		return true;
	*epoch = (uint32_t)nt_rng_hash(d->drive->seed++);
	return readable(schedule);
}

/* A job may have stopped because of its budget, the share of calls, or its time, which are not in
 * its record. Nor does the record say how often the key was called; it was called for as many
 * blocks as its rounds had. */
static void leave_budget(struct driving *d)
{
	if (!d->rounds)
		return;
	d->known.left_us = NO_END_US;
	d->known.blocks = 0;
	if (d->out->rounds < d->rounds->count) {
		d->known.blocks = d->rounds->blocks[d->out->rounds];
		return;
	}
	d->known.calls = 0;
	d->known.left_us = AT_THE_END_US;
}

static bool explore(struct driving *d)
{
	struct nt_schedule schedule = { .kind = 0 };
	uint8_t bytes[NT_TIMES_BYTES];
	bool done = false;

	*d->out = (struct nt_driven){ .calls = 0 };
	while (d->open && d->out->rounds < MAX_ROUNDS) {
		uint32_t epoch = 0;
		int length;

		leave_budget(d);
		if (!next_schedule(d, &schedule, &epoch, &done) || done)
			break;
		length = d->rounds ? feed_recorded(d, &schedule, bytes)
				   : feed_played(d, &schedule, epoch, bytes);
		if (length < 0)
			break;
		d->out->calls += nt_schedule_positions(&schedule);
		d->out->rounds++;
		nt_engine_absorb(d->open, bytes, (size_t)length);
	}
	if (d->open)
		nt_engine_end(d->open);
	d->out->outcome = schedule.outcome;
	return done;
}

static struct nt_engine_key *open_key(struct nt_drive *drive, const struct nt_key_info *known)
{
	return nt_engine_may_open(&drive->engine, known) ? nt_engine_start(&drive->engine, known)
							 : NULL;
}

bool nt_drive_run(struct nt_drive *drive, const struct nt_drive_key *key, struct nt_driven *out)
{
	struct driving d = {
		.drive = drive, .key = key, .known = known_of(drive, key), .out = out
	};

	d.open = open_key(drive, &d.known);
	return explore(&d);
}

bool nt_drive_recheck(struct nt_drive *drive, const struct nt_drive_key *key, unsigned arm,
		      struct nt_driven *out)
{
	struct driving d = {
		.drive = drive, .key = key, .known = known_of(drive, key), .out = out
	};
	bool done;

	d.open = nt_engine_start_recheck(&drive->engine, &d.known, arm, NT_MEASURE_SLOWEST);
	done = explore(&d);
	/* A window without an outcome does not change the arm. */
	if (out->outcome.verdict == NT_VERDICT_NONE)
		out->outcome.chosen_arm = (uint16_t)arm;
	return done;
}

bool nt_drive_repeat(struct nt_drive *drive, const struct nt_drive_key *key,
		     const struct nt_drive_rounds *rounds, struct nt_driven *out)
{
	struct driving d = { .drive = drive,
			     .key = key,
			     .rounds = rounds,
			     .known = known_of(drive, key),
			     .out = out };

	d.open = open_key(drive, &d.known);
	return explore(&d) && out->rounds == rounds->count;
}
