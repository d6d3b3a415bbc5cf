/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine_state.h - what the parts of the engine share: engine.c, the rounds of a key; evidence.c,
 *                  what was measured in them; refine_round.c, one with caps and chunk sizes;
 *                  recheck.c, a second look at its arm; budget.c, what exploring may cost; queue.c,
 *                  which communicator is first; nobody else includes it
 */
#ifndef NT_ENGINE_STATE_H
#define NT_ENGINE_STATE_H

#include "tuner/decide.h"
#include "tuner/engine.h"
#include "tuner/rule.h"
#include "tuner/schedule.h"
#include "tuner/times.h"

#define ENOUGH_PERCENT 60 /* of a round's samples */
#define POOLED_BLOCKS 384 /* NT_ENGINE_LOOKS rounds of the largest confirm_blocks, 128 */
#define KINDS (NT_SCHEDULE_RECHECK + 1)

/* What was measured in the rounds of one kind: sample b of every arm is from one block. Arm 0 is
 * AUTO. */
struct evidence {
	unsigned count, blocks;
	uint16_t arm[NT_SCHEDULE_ARMS];
	float us[NT_SCHEDULE_ARMS][POOLED_BLOCKS];
	float period_us[NT_SCHEDULE_ARMS][POOLED_BLOCKS]; /* 0: not known */
};

struct engine_key {
	struct nt_engine *engine;
	const struct nt_board_comm *comm;
	const struct nt_board_key *board_key;
	const struct nt_named *named; /* another's rule decides, after one round; NULL: ours */
	uint64_t id; /* nt_key_id() */
	uint32_t auto_arm;
	float cost_us[NT_PAIRS];
	unsigned arms; /* screened */
	unsigned finalists; /* of the first second round: what the test is corrected for */
	unsigned rounds[KINDS]; /* done, by kind */
	bool running; /* the schedule was handed out */
	bool again; /* `current` is in force, and looked at once more */
	uint16_t current;
	bool refined; /* screened once more, with caps and chunk sizes */
	struct nt_schedule schedule;
	uint16_t sample[NT_TIMES_MAX]; /* of it, by block and place in arm[]; then the periods */
	unsigned absorbed; /* nodes' times in it */
	struct evidence screen, confirm, recheck;
	struct nt_trial *trial; /* NULL: not kept */
	double explored_us; /* sum of all samples */
	unsigned explored; /* their number */
	uint32_t spent_calls;
	struct nt_finding finding;
};

_Static_assert(NT_DECIDE_SAMPLES >= POOLED_BLOCKS, "all evidence is looked at");

/* engine.c */
struct engine_key *engine_key_make(struct nt_engine *engine, const struct nt_board_comm *comm,
				   const struct nt_board_key *board_key);
float engine_predicted(const struct engine_key *key, unsigned arm); /* its pair's; < 0: none */
void engine_plan_screen(struct engine_key *key);
/* or as many as there is room for */
void engine_set_blocks(struct nt_schedule *schedule, int64_t blocks);
int engine_explore(struct engine_key *key, struct nt_plan *plan);
int engine_commit(struct engine_key *key, struct evidence *evidence, unsigned arm,
		  const struct nt_contest *contest, struct nt_plan *plan);

/* Has any of its ranks here one of these flags? */
bool engine_flagged(const struct nt_board_comm *comm, uint32_t flags);
/* Has it arms, enough calls, and nothing against it? */
bool engine_may_open(const struct nt_engine *engine, const struct nt_board_comm *comm,
		     const struct nt_board_key *key);

/* queue.c. Is another communicator to be explored first? calls: of the key. */
bool queue_waits(const struct nt_engine *engine, const struct nt_board_comm *comm, uint64_t calls);

/* evidence.c */
float *engine_evidence(struct evidence *evidence, unsigned arm); /* NULL: none */
/* The samples of the round that ended go where those of its kind are; the warm-up counts as cost
 * only. */
void engine_close_round(struct engine_key *key, struct evidence *evidence);
/* Of one round like the one that has just ended. */
bool engine_enough(const struct engine_key *key, unsigned samples);
/* Index of the arm with the lowest p25 among those with enough samples and not in `taken`; 0 (which
 * is AUTO) if there is none. */
unsigned engine_next_best(const struct engine_key *key, const struct evidence *evidence,
			  uint32_t taken);
double engine_p25(const struct evidence *evidence, unsigned index);
/* Is the arm of these times slower than AUTO, beyond chance: at best, on average, or more often
 * slow? p: what counts as evidence. Missing times give none. */
bool engine_behind(const float *base, const float *arm, unsigned count, double p);

/* recheck.c */
bool recheck_worth(void *arg, const struct nt_board_comm *comm, const struct nt_plan *base);
void *recheck_start(void *arg, const struct nt_board_comm *comm,
		    const struct nt_board_key *board_key, const struct nt_plan *base);
/* The first window, then what follows from the one that has ended; -1: explore anew. */
int recheck_next(struct engine_key *key, struct nt_plan *plan);
/* What follows where all was explored anew. */
int recheck_conclude(struct engine_key *key, struct evidence *evidence, unsigned arm,
		     const struct nt_contest *contest, struct nt_plan *plan);

/* refine_round.c. After the first round: one more, of the best two pairs, AUTO's among them, and of
 * what else can be done with them. False: nothing can, and no schedule was planned. */
bool refine_plan(struct engine_key *key);

/* budget.c */
uint64_t budget_calls(const struct nt_board_key *key); /* of the member that has most */
bool budget_worth(const struct nt_policy *policy, const struct nt_board_key *key, uint32_t mask);
/* Whether the schedule that stands in the key may be carried out. */
bool budget_allows(const struct engine_key *key);
double budget_spent_us(const struct engine_key *key, const struct evidence *evidence);

#endif
