/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - which keys to explore, with which schedules, and what comes of it
 *
 * A key of which an arm is remembered begins with that (engine/warmstart.h). Else it is explored
 * in two rounds. The first, SCREEN, measures AUTO and every legal arm that NCCL
 * does not predict to be many times slower; it finds the one or two arms that could win. The
 * second, CONFIRM, measures these and AUTO, and only it is evidence. An arm that is in force is
 * measured against AUTO again, in windows of RECHECK. engine/judge.h has what comes to a verdict.
 *
 * Who carries schedules out (in a job the agreement, through tuner/home.c) opens a key, asks what
 * is next, hands in the times of what was explored, and asks again, until there is an end.
 *
 * Threads:  one thread at a time; in a job, the speaker's helper thread.
 * Memory:   an engine is a value that must outlive its keys; each open key takes some 110 KiB of
 *           heap.
 * Errors:   start: NULL without memory. Times that do not fit the schedule are ignored.
 */
#ifndef NT_ENGINE_H
#define NT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/policy.h"
#include "engine/history.h"
#include "engine/known.h"
#include "engine/schedule.h"

struct nt_engine {
	struct nt_policy policy;
	unsigned open; /* keys being explored; 0 at first */
	struct nt_histories *histories; /* where histories are kept; NULL: nowhere */
};

struct nt_engine_key;

/* What a mode makes of the settings: mode profile measures from the first call on, whatever it
 * costs, and does not look again. An engine's policy is such a one. */
struct nt_policy nt_engine_policy(const struct nt_policy *asked);

/* Has the key arms, enough calls, a share of the time, and nothing against it? */
bool nt_engine_worth(const struct nt_engine *engine, const struct nt_known *known);

/* Is what this schedule has committed to be rechecked at all? */
bool nt_engine_worth_recheck(const struct nt_schedule *committed);

struct nt_engine_key *nt_engine_start(struct nt_engine *engine, const struct nt_known *known);
/* ... of a key with this arm in force. */
struct nt_engine_key *nt_engine_start_recheck(struct nt_engine *engine,
					      const struct nt_known *known, unsigned arm);
void nt_engine_end(struct nt_engine_key *key);

enum nt_engine_next {
	NT_ENGINE_EXPLORE, /* the schedule; then ask again */
	NT_ENGINE_COMMIT, /* the schedule is for good: an arm, or AUTO instead of one */
	NT_ENGINE_KEEP, /* AUTO stays, which was never left; the schedule says why */
	NT_ENGINE_STAY, /* what is in force stays; there is no schedule */
};

/* What is next? now: what is known by now. After all but EXPLORE the key is only to be ended. */
enum nt_engine_next nt_engine_next(struct nt_engine_key *key, const struct nt_known *now,
				   struct nt_schedule *schedule);

/* Will the first schedule be one for good, whatever is known by then? */
bool nt_engine_for_good(const struct nt_engine_key *key);

/* The times of one node, or of several as nt_times_combine() summed them up, of what was explored;
 * once for each of these before the engine is asked again. */
void nt_engine_absorb(struct nt_engine_key *key, const uint8_t *bytes, size_t count);

#endif
