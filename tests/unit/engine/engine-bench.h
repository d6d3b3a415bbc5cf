/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-bench.h - one key whose arms take given times, through the hooks that the agreement
 * calls */
#ifndef NT_TEST_ENGINE_BENCH_H
#define NT_TEST_ENGINE_BENCH_H

#include <math.h>
#include "tests/lib/unit.h"
#include "tests/fake/rng.h"
#include "engine/judge.h"
#include "engine/schedule.h"
#include "engine/times.h"
#include "tuner/explorer.h"

#define RING_LL 3
#define RING_LL128 4
#define RING_SIMPLE 5
#define TREE_LL 0
#define TREE_SIMPLE 2
#define BIT(arm) (1u << (arm))

/* Arms of a key with their times; what was asked of the engine. */
struct bench {
	struct nt_explorer home;
	struct nt_agree_hooks hooks;
	struct nt_shm *shm;
	struct nt_shm_comm *comm;
	struct nt_shm_key *key;
	double us[NT_PAIRS + 1]; /* the baseline last */
	/* of arms with a cap or a chunk size; NULL: as their pair */
	double (*shaped_us)(int arm);
	/* of the program, from call to call; what an arm adds to it */
	double rest_us, drag_us[NT_PAIRS];
	/* the program's computing between a call's end and the next one's start; if set, ends are
	 * stamped and the samples include it */
	double between_us;
	bool stamped;
	double (*pause_us)(const struct nt_plan *plan, unsigned position); /* NULL: none */
	double skew_us; /* the second rank is up to so much before the first, and waits */
	double lag_us[NT_PAIRS]; /* with this arm it is done so much later */
	double after_us[NT_PAIRS + 1]; /* more, of a call after another arm's; the baseline last */
	unsigned lost_percent; /* of the samples */
	unsigned rounds, seed;
	struct nt_schedule first, last; /* schedules asked for */
	struct nt_schedule final;
};

/* Slots of ranks and of keys are claimed one after the other. */
static inline void fill_before(struct nt_shm *shm)
{
	for (unsigned c = 0; c < 8; c++) {
		for (unsigned m = 0; m < 16; m++)
			atomic_store(&shm->comm[c].slot[m].state, NT_PARTICIPANT_JOINING);
		for (unsigned k = 0; k < 3; k++)
			atomic_store(&shm->comm[c].key[k].id, nt_key_id(NT_BROADCAST, 1 + k, 1));
	}
}

static inline void setup(struct bench *b, uint32_t mask, unsigned baseline_arm)
{
	static struct nt_shm shm;

	memset(&shm, 0, sizeof(shm));
	*b = (struct bench){ .shm = &shm };
	fill_before(b->shm);
	nt_policy_default(&b->home.engine.policy);
	b->home.engine.policy.mode = NT_MODE_BANDIT;
	b->hooks = nt_explorer_hooks(&b->home);
	b->comm = &b->shm->comm[3];
	b->key = &b->comm->key[1];
	atomic_store(&b->key->id, nt_key_id(NT_ALLREDUCE, 40, mask));
	b->key->baseline_arm = baseline_arm;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		b->key->cost_us[arm] = mask & BIT(arm) ? 100 : -1;
		b->us[arm] = 1000;
	}
	b->us[NT_PAIRS] = 1000;
	atomic_store(&b->key->calls[2], (uint64_t)b->home.engine.policy.min_calls);
	atomic_store(&b->key->described, 1);
}

#define LEAD_NS 1000u /* no measure of the two ranks varies less than another */

/* Two ranks with 2 % of noise on the same calls; the first is always a little ahead. */
static inline void play(struct bench *b, const struct nt_plan *plan, const struct nt_schedule *s)
{
	struct nt_shm_run *run = &b->shm->run[plan->run];

	memset(run, 0, sizeof(*run));
	atomic_store(&run->issued[0], 1);
	atomic_store(&run->issued[1], 1);
	for (unsigned p = 0; p < nt_schedule_positions(s); p++) {
		int arm = nt_schedule_arm(s, plan->epoch, p);
		uint64_t draw = nt_rng_mix(plan->epoch, p);
		double us = b->us[arm == NT_ARM_BASELINE ? NT_PAIRS : nt_arm_pair(arm)];

		if (b->shaped_us && arm >= NT_PAIRS && arm != NT_ARM_BASELINE)
			us = b->shaped_us(arm);
		if (p == 0 || nt_schedule_arm(s, plan->epoch, p - 1) != arm)
			us += b->after_us[arm == NT_ARM_BASELINE ? NT_PAIRS : nt_arm_pair(arm)];
		us *= 1 + 0.02 * nt_rng_unit(draw);
		if (nt_rng_unit(draw ^ 5) * 100 < b->lost_percent)
			continue;
		if (b->stamped) {
			atomic_store(&run->duration[0][p], (uint32_t)(us * 900));
			atomic_store(&run->duration[1][p], (uint32_t)(us * 1000));
		}
		us += b->between_us * (1 + 0.002 * nt_rng_unit(draw ^ 7));
		us += b->pause_us ? b->pause_us(plan, p) : 0;
		atomic_store(&run->sample[0][p], (uint32_t)(us * 1000) - LEAD_NS);
		atomic_store(
			&run->sample[1][p],
			(uint32_t)((us + b->skew_us * nt_rng_unit(draw ^ 11) +
				    (arm == NT_ARM_BASELINE ? 0 : b->lag_us[nt_arm_pair(arm)])) *
				   1000));
		us += b->rest_us * (1 + 0.02 * nt_rng_unit(draw ^ 9));
		us += arm == NT_ARM_BASELINE ? 0 : b->drag_us[nt_arm_pair(arm)];
		atomic_store(&run->period[0][p], (uint32_t)(us * 1000));
		atomic_store(&run->period[1][p], (uint32_t)(us * 1000));
	}
}

/* Runs to the end. Returns the last result of next(). */
static inline int explore(struct bench *b)
{
	uint8_t bytes[NT_TIMES_BYTES];
	void *key = b->hooks.start(b->hooks.arg, b->comm, b->key);
	int more = 1;

	assert_non_null(key);
	assert_int_equal(b->home.engine.open, 1);
	while (more && b->rounds < 20) {
		struct nt_plan plan = { .run = 4, .epoch = 11 + b->rounds, .stride = 1 };
		struct nt_schedule s;

		more = b->hooks.next(key, &plan);
		assert_int_equal(nt_schedule_read(&s, plan.payload, plan.payload_bytes), 0);
		b->final = s;
		if (!more || plan.until == NT_NEVER)
			break;
		assert_int_equal(s.round, b->rounds);
		assert_int_equal(plan.until, nt_schedule_positions(&s));
		assert_int_equal(s.arm[0], NT_ARM_BASELINE);
		if (b->rounds++ == 0)
			b->first = s;
		b->last = s;
		play(b, &plan, &s);
		b->hooks.absorb(key, bytes,
				b->hooks.gather(b->hooks.arg, b->shm, &plan, NT_SHM_SLOTS, bytes,
						sizeof(bytes)));
	}
	assert_in_range(b->rounds, 0, 10);
	b->hooks.end(key);
	assert_int_equal(b->home.engine.open, 0);
	return more;
}

static const uint32_t sockets = BIT(RING_LL) | BIT(RING_SIMPLE) | BIT(TREE_LL) | BIT(TREE_SIMPLE);

static inline bool share(const struct bench *b)
{
	return b->hooks.may_open(b->hooks.arg, b->comm, b->key);
}

#endif
