/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine-bench.h - one key whose arms take given times, through the hooks as the agreement calls
 * them */
#ifndef NT_TEST_ENGINE_BENCH_H
#define NT_TEST_ENGINE_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "tests/fake/rng.h"
#include "engine/judge.h"
#include "engine/schedule.h"
#include "engine/times.h"
#include "tuner/home.h"

#define RING_LL 3
#define RING_LL128 4
#define RING_SIMPLE 5
#define TREE_LL 0
#define TREE_SIMPLE 2
#define BIT(arm) (1u << (arm))

/* Arms of a key and how long each takes; what was asked of the engine. */
struct bench {
	struct nt_home home;
	struct nt_agree_hooks hooks;
	struct nt_board *board;
	struct nt_board_comm *comm;
	struct nt_board_key *key;
	double us[NT_PAIRS + 1]; /* AUTO last */
	/* of arms with a cap or a chunk size; NULL: as their pair */
	double (*shaped_us)(int arm);
	/* of the program, from call to call; what an arm adds to it */
	double rest_us, drag_us[NT_PAIRS];
	/* what the program computes between a call's end and the next one's start; the ends are
	 * stamped, and then this is in the samples */
	double between_us;
	bool stamped;
	double (*pause_us)(const struct nt_plan *plan, unsigned position); /* NULL: none */
	double after_us[NT_PAIRS + 1]; /* more, of a call after another arm's; AUTO last */
	unsigned lost_percent; /* of the samples */
	unsigned rounds, seed;
	struct nt_schedule first, last; /* schedules asked for */
	struct nt_schedule final;
};

/* Seats are taken, and keys claimed, one after the other. */
static inline void fill_before(struct nt_board *board)
{
	for (unsigned c = 0; c < 8; c++) {
		for (unsigned m = 0; m < 16; m++)
			atomic_store(&board->comm[c].member[m].state, NT_MEMBER_JOINING);
		for (unsigned k = 0; k < 3; k++)
			atomic_store(&board->comm[c].key[k].id, nt_key_id(NT_BROADCAST, 1 + k, 1));
	}
}

static inline void setup(struct bench *b, uint32_t mask, unsigned auto_arm)
{
	*b = (struct bench){ .board = calloc(1, sizeof(*b->board)) };
	assert_non_null(b->board);
	fill_before(b->board);
	nt_policy_default(&b->home.engine.policy);
	b->home.engine.policy.mode = NT_MODE_BANDIT;
	b->hooks = nt_home_hooks(&b->home);
	b->comm = &b->board->comm[3];
	b->key = &b->comm->key[1];
	atomic_store(&b->key->id, nt_key_id(NT_ALLREDUCE, 40, mask));
	b->key->auto_arm = auto_arm;
	for (unsigned arm = 0; arm < NT_PAIRS; arm++) {
		b->key->cost_us[arm] = mask & BIT(arm) ? 100 : -1;
		b->us[arm] = 1000;
	}
	b->us[NT_PAIRS] = 1000;
	atomic_store(&b->key->calls[2], (uint64_t)b->home.engine.policy.min_calls);
	atomic_store(&b->key->described, 1);
}

/* Two ranks with 2 % of noise on the same calls; the first is always a little ahead. */
static inline void play(struct bench *b, const struct nt_plan *plan, const struct nt_schedule *s)
{
	struct nt_board_run *run = &b->board->run[plan->run];

	memset(run, 0, sizeof(*run));
	atomic_store(&run->issued[0], 1);
	atomic_store(&run->issued[1], 1);
	for (unsigned p = 0; p < nt_schedule_positions(s); p++) {
		int arm = nt_schedule_arm(s, plan->epoch, p);
		uint64_t draw = nt_rng_mix(plan->epoch, p);
		double us = b->us[arm == NT_ARM_AUTO ? NT_PAIRS : nt_arm_pair(arm)];

		if (b->shaped_us && arm >= NT_PAIRS && arm != NT_ARM_AUTO)
			us = b->shaped_us(arm);
		if (p == 0 || nt_schedule_arm(s, plan->epoch, p - 1) != arm)
			us += b->after_us[arm == NT_ARM_AUTO ? NT_PAIRS : nt_arm_pair(arm)];
		us *= 1 + 0.02 * nt_rng_unit(draw);
		if (nt_rng_unit(draw ^ 5) * 100 < b->lost_percent)
			continue;
		if (b->stamped) {
			atomic_store(&run->own[0][p], (uint32_t)(us * 900));
			atomic_store(&run->own[1][p], (uint32_t)(us * 1000));
		}
		us += b->between_us * (1 + 0.002 * nt_rng_unit(draw ^ 7));
		us += b->pause_us ? b->pause_us(plan, p) : 0;
		atomic_store(&run->sample[0][p], (uint32_t)(us * 900));
		atomic_store(&run->sample[1][p], (uint32_t)(us * 1000));
		us += b->rest_us * (1 + 0.02 * nt_rng_unit(draw ^ 9));
		us += arm == NT_ARM_AUTO ? 0 : b->drag_us[nt_arm_pair(arm)];
		atomic_store(&run->period[0][p], (uint32_t)(us * 1000));
		atomic_store(&run->period[1][p], (uint32_t)(us * 1000));
	}
}

/* Until the last word. Returns what next() did then. */
static inline int explore(struct bench *b)
{
	uint8_t bytes[2 * NT_TIMES_MAX];
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
		assert_int_equal(s.arm[0], NT_ARM_AUTO);
		if (b->rounds++ == 0)
			b->first = s;
		b->last = s;
		play(b, &plan, &s);
		b->hooks.absorb(key, bytes,
				b->hooks.gather(b->hooks.arg, b->board, &plan, NT_BOARD_MEMBERS,
						bytes, sizeof(bytes)));
	}
	assert_in_range(b->rounds, 0, 10);
	b->hooks.end(key);
	assert_int_equal(b->home.engine.open, 0);
	return more;
}

static const uint32_t sockets = BIT(RING_LL) | BIT(RING_SIMPLE) | BIT(TREE_LL) | BIT(TREE_SIMPLE);

static inline bool worth(const struct bench *b)
{
	return b->hooks.worth(b->hooks.arg, b->comm, b->key);
}

#endif
