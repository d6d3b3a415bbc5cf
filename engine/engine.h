/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - decide which keys to explore, with which schedules, and with which result
 *
 * A key with a remembered arm starts with that (engine/warmstart.h). Otherwise it is explored in
 * two rounds. SCREEN measures the baseline and every legal arm that NCCL does not predict to be
 * many times slower, and finds the one or two arms that could win. CONFIRM measures these and the
 * baseline; only it is evidence. RECHECK windows compare a committed arm with the baseline again.
 * engine/judge.h lists the steps to a verdict.
 *
 * The caller (in a job the agreement, through tuner/explorer.c) opens a key, asks what is next,
 * hands in the measured times, and asks again until there is a result.
 *
 * Threads:  one thread at a time; in a job, the node leader's helper thread.
 * Memory:   an engine is a value that must outlive its keys; an open key takes 280 KiB of heap.
 * Errors:   start: NULL without memory. Times that do not fit the schedule are ignored.
 */
#ifndef NT_ENGINE_H
#define NT_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/policy.h"
#include "engine/history.h"
#include "engine/key-info.h"
#include "engine/schedule.h"

struct nt_engine {
	struct nt_policy policy;
	unsigned open; /* keys being explored; initially 0 */
	struct nt_histories *histories; /* where histories go; NULL: not kept */
};

struct nt_engine_key;

/* An engine's policy: the user's, with what the mode changes. Mode profile measures from the first
 * call at any cost, and does not recheck. */
struct nt_policy nt_engine_policy(const struct nt_policy *asked);

/* Has the key arms, enough calls and its min_share, and does nothing forbid exploring? */
bool nt_engine_may_open(const struct nt_engine *engine, const struct nt_key_info *info);

/* May this result be rechecked? */
bool nt_engine_may_recheck(const struct nt_schedule *committed);

struct nt_engine_key *nt_engine_start(struct nt_engine *engine, const struct nt_key_info *info);
/* ... to recheck a key with this committed arm, by the measure that chose it. */
struct nt_engine_key *nt_engine_start_recheck(struct nt_engine *engine,
					      const struct nt_key_info *info, unsigned arm,
					      enum nt_measure measure);
void nt_engine_end(struct nt_engine_key *key);

enum nt_engine_next {
	NT_ENGINE_EXPLORE, /* explore, then ask again */
	NT_ENGINE_COMMIT, /* commit the schedule's arm, or the baseline instead of one */
	NT_ENGINE_KEEP, /* the baseline stays; the schedule says why */
	NT_ENGINE_STAY, /* the plan in force stays */
};

/* now: current information. After anything but EXPLORE the key can only be ended. */
enum nt_engine_next nt_engine_next(struct nt_engine_key *key, const struct nt_key_info *now,
				   struct nt_schedule *schedule);

/* Will the first schedule be a commit, whatever is learnt until then? */
bool nt_engine_for_good(const struct nt_engine_key *key);

/* Times of one node, or merged by nt_times_combine(); once for each measurement, before the engine
 * is asked again. */
void nt_engine_absorb(struct nt_engine_key *key, const uint8_t *bytes, size_t count);

#endif
