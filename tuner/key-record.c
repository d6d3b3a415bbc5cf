/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/key-record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "lib/quantile.h"
#include "pmix-sync/view.h"
#include "record/rank.h"
#include "tuner/comm-status.h"
#include "tuner/key-shares.h"
#include "tuner/ll128.h"
#include "tuner/rank-history.h"

/* By the present arm's measurements, and by earlier arms'; NAN: unknown */
static double saved_ms(const struct nt_local_key *key, const struct nt_outcome *o)
{
	uint64_t since = nt_key_calls(key) -
			 atomic_load_explicit(&key->decision.commit_calls, memory_order_relaxed);
	int64_t saved_us = atomic_load_explicit(&key->decision.saved_us, memory_order_relaxed);
	double now_us = 0;

	if (o->chosen_arm != NT_ARM_BASELINE && o->samples > 0 && isfinite(o->baseline_us) &&
	    isfinite(o->best_us))
		now_us = (double)since * ((double)o->baseline_us - (double)o->best_us);
	else if (saved_us == 0)
		return NAN;
	return ((double)saved_us + now_us) / 1000.0;
}

/* By what an earlier step measured; NAN: unknown, or measured here */
static double estimated_ms(const struct nt_key *out, const struct nt_comm *comm, uint64_t calls)
{
	const struct nt_warm *arms = nt_process_warm_arms(&comm->fixed.process->warm);
	const struct nt_warm_key want = { .ranks = comm->fixed.ranks,
					  .nodes = comm->fixed.nodes,
					  .coll = out->coll,
					  .bytes = (uint64_t)out->bytes,
					  .arm = out->arm };
	uint64_t gain_ns = arms && isnan(out->saved_ms) ? nt_warm_gain_ns(arms, &want) : 0;

	return gain_ns > 0 ? (double)gain_ns * (double)calls / 1e6 : NAN;
}

static const char *from_name(unsigned from)
{
	static const char *const names[NT_FROMS] = {
		[NT_FROM_STEP] = "",
		[NT_FROM_WARM] = NT_KEYFROM_WARM,
		[NT_FROM_POLICY] = NT_KEYFROM_POLICY,
	};

	return names[from < NT_FROMS ? from : NT_FROM_STEP];
}

static const char *measure_name(unsigned measure)
{
	static const char *const names[NT_MEASURES] = {
		[NT_MEASURE_SLOWEST] = "",
		[NT_MEASURE_MEAN] = "mean",
		[NT_MEASURE_FASTEST] = "fastest",
	};

	return names[measure < NT_MEASURES ? measure : NT_MEASURE_SLOWEST];
}

static double known_us(float us)
{
	return us > 0 ? (double)us : NAN;
}

/* What exploring the key has led to */
static void note_outcome(struct nt_key *out, const struct nt_outcome *o)
{
	if (out->state == NT_KEYSTATE_COMMITTED)
		out->arm = o->best_arm;
	else if (o->best_arm != NT_ARM_BASELINE)
		out->best_arm = o->best_arm;
	if (o->samples > 0) {
		out->auto_us = (double)o->baseline_us;
		out->arm_us = (double)o->best_us;
		out->auto_p25_us = (double)o->baseline_p25_us;
		out->arm_p25_us = (double)o->best_p25_us;
		out->auto_p75_us = (double)o->baseline_p75_us;
		out->arm_p75_us = (double)o->best_p75_us;
		out->samples = o->samples;
		out->auto_own_us = known_us(o->duration_baseline_us);
		out->arm_own_us = known_us(o->duration_best_us);
		out->auto_period_us = known_us(o->period_baseline_us);
		out->arm_period_us = known_us(o->period_best_us);
	}
	if (o->verdict != NT_VERDICT_REMEMBERED)
		out->p = (double)o->p;
	snprintf(out->from, sizeof(out->from), "%s", from_name(o->from));
	snprintf(out->timed, sizeof(out->timed), "%s", measure_name(o->measure));
	if (o->verdict != NT_VERDICT_FASTER)
		out->reason = nt_schedule_verdict_reason(o->verdict);
	out->spent_calls = o->spent_calls;
	out->spent_ms = o->spent_ms < 0 ? 0 : (double)o->spent_ms;
	out->auto_predicted_us = (double)o->predicted_baseline_us;
	out->arm_predicted_us = (double)o->predicted_best_us;
}

/* What a committed key has done since */
static void note_committed(struct nt_key *out, const struct nt_comm *comm,
			   const struct nt_local_key *key, const struct nt_outcome *o)
{
	out->decided = (int64_t)atomic_load_explicit(&key->decision.commit_calls,
						     memory_order_relaxed);
	out->saved_ms = saved_ms(key, o);
	out->estimated_ms = estimated_ms(out, comm, nt_key_calls(key) - (uint64_t)out->decided);
	out->rechecks = atomic_load_explicit(&key->decision.rechecks, memory_order_relaxed);
	out->rollbacks = atomic_load_explicit(&key->decision.rollbacks, memory_order_relaxed);
	out->changes = atomic_load_explicit(&key->decision.changes, memory_order_relaxed);
}

/* Of mode observe. True: there are some. */
static bool note_observed(struct nt_key *out, const struct nt_local_key *key)
{
	uint64_t ns[NT_OBSERVED_MAX];
	uint32_t count = 0;

	for (unsigned i = 0; key->fixed.observed && i < NT_OBSERVED_MAX; i++) {
		/* Pairs with the release in keep_time() of tuner/event.c. */
		uint32_t value = atomic_load_explicit(&key->fixed.observed[i],
						      memory_order_acquire);

		if (value != 0)
			ns[count++] = nt_shm_time_ns(value);
	}
	if (count == 0)
		return false;
	nt_sort_u64(ns, count);
	out->auto_us = (double)ns[count / 2] / 1e3;
	out->auto_p25_us = (double)ns[count / 4] / 1e3;
	out->auto_p75_us = (double)ns[count * 3 / 4] / 1e3;
	out->samples = count;
	return true;
}

/* What an unfinished exploration has cost, and the baseline's times in it. True: there are some. */
static bool note_so_far(struct nt_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_history *history = nt_histories_find(comm->fixed.process->histories,
							     comm->fixed.id, id);

	if (history && history->spent_calls > 0) {
		out->spent_calls = history->spent_calls;
		out->spent_ms = history->spent_ms < 0 ? 0 : (double)history->spent_ms;
	}
	for (unsigned i = 0; history && i < history->arms; i++) {
		const struct nt_tried *tried = &history->arm[i];

		if (tried->arm != NT_ARM_BASELINE || tried->samples == 0)
			continue;
		out->auto_us = (double)tried->us;
		out->auto_p25_us = (double)tried->p25_us;
		out->auto_p75_us = (double)tried->p75_us;
		out->samples = tried->samples;
		return true;
	}
	return false;
}

static void note_state(struct nt_key *out, const struct nt_comm *comm,
		       const struct nt_local_key *key, uint64_t id)
{
	uint32_t local = nt_key_state(key);
	uint32_t shared;
	int state = NT_KEYSTATE_COUNTED;
	struct nt_outcome outcome = { .p = 1, .best_arm = NT_ARM_BASELINE };
	bool has_outcome = nt_comm_status_of_key(comm, key, &shared, &outcome);
	bool committed = nt_key_commits(key, NULL) > 0;

	if (committed)
		state = outcome.chosen_arm == NT_ARM_BASELINE ? NT_KEYSTATE_KEPT
							      : NT_KEYSTATE_COMMITTED;
	else if (shared == NT_KEY_CLOSED && has_outcome)
		state = NT_KEYSTATE_KEPT;
	else if (shared != NT_KEY_IDLE || local == NT_LOCAL_GONE)
		state = NT_KEYSTATE_EXPLORING; /* closed in shared memory before its end */
	else if (key->fixed.observed &&
		 atomic_load_explicit(&key->laps.observed, memory_order_relaxed) > 0)
		state = NT_KEYSTATE_OBSERVED;
	out->state = state;
	out->auto_arm = has_outcome && outcome.baseline_arm < NT_PAIRS
				? outcome.baseline_arm
				: (int)key->fixed.baseline_arm;
	if (has_outcome && state != NT_KEYSTATE_EXPLORING) {
		note_outcome(out, &outcome);
		if (committed)
			note_committed(out, comm, key, &outcome);
		else
			out->decided = (int64_t)atomic_load_explicit(&key->decision.closed_calls,
								     memory_order_relaxed);
		return;
	}
	if (!note_observed(out, key))
		(void)note_so_far(out, comm, id);
	if (key->fixed.baseline_arm < NT_PAIRS)
		out->auto_predicted_us = (double)key->fixed.cost_us[key->fixed.baseline_arm];
}

static void note_round(struct nt_key *out, const struct nt_comm *comm,
		       const struct nt_local_key *key)
{
	static const char *const names[NT_SCHEDULE_KINDS] = {
		[NT_SCHEDULE_SCREEN] = NT_KEYROUND_SCREEN,
		[NT_SCHEDULE_CONFIRM] = NT_KEYROUND_CONFIRM,
		[NT_SCHEDULE_RECHECK] = NT_KEYROUND_RECHECK,
	};
	struct nt_round round;

	if (!nt_comm_status_round(comm, key, &round) || !names[round.kind])
		return;
	snprintf(out->round, sizeof(out->round), "%s", names[round.kind]);
	out->round_arms = round.arms;
	out->round_calls = round.calls;
	out->round_done = round.done;
}

/* In the record's first half only: every key must find room. */
static void put_trial(struct nt_json_writer *put, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_history *history = nt_histories_find(comm->fixed.process->histories,
							     comm->fixed.id, id);
	struct nt_json_writer before = *put;

	if (!history || history->rounds == 0)
		return;
	put->bytes /= 2;
	nt_rank_history_trial(put, history);
	if (put->full)
		*put = before;
	put->bytes = before.bytes;
}

uint32_t nt_key_record_risks(const struct nt_comm *comm)
{
	uint32_t baseline_pairs = 0;

	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		const uint32_t pick = comm->key[i].fixed.baseline_arm;

		if (nt_comm_key_id(comm, i) != 0 && pick < NT_PAIRS)
			baseline_pairs |= 1u << pick;
	}
	return nt_ll128_risks(&comm->fixed.process->policy, nt_comm_status_risks(comm),
			      comm->fixed.nodes, baseline_pairs);
}

/* Why an undecided key's remembered arm is not in use */
static int remembered_reason(struct nt_key *out, const struct nt_comm *comm, uint64_t id, int arm)
{
	if (arm == NT_ARM_BASELINE) {
		snprintf(out->from, sizeof(out->from), NT_KEYFROM_WARM);
		return NT_REASON_NOTHING_BETTER;
	}
	if (!(nt_key_mask(id) & 1u << nt_arm_pair(arm)))
		return NT_REASON_ILLEGAL;
	if (nt_policy_forbidden(&comm->fixed.process->policy) >> nt_arm_pair(arm) & 1)
		return NT_REASON_FORBIDDEN;
	if (NT_PAIRS_LL128 >> nt_arm_pair(arm) & 1 && nt_key_record_risks(comm))
		return NT_REASON_LL128_ARM;
	return nt_comm_status_flags(comm) & NT_PARTICIPANT_GRAPHS ? NT_REASON_CAPTURED
								  : NT_REASON_NONE;
}

/* A key without other arms is never opened. Where NCCL's own choice is LL within a node it has none
 * (tuner/decide.c), unless the user allows nothing anyway. */
static int alone_reason(const struct nt_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_policy *policy = &comm->fixed.process->policy;
	uint32_t forbidden = nt_policy_forbidden(policy) |
			     (nt_key_record_risks(comm) ? NT_PAIRS_LL128 : 0);
	uint32_t others = nt_key_mask(id) & ~forbidden & NT_PAIRS_ALL;
	const uint32_t users = NT_FLAG_USER_ALGO | NT_FLAG_USER_PROTO;

	if (!comm->fixed.shm || policy->channels != NT_SWITCH_OFF || out->auto_arm < 0 ||
	    out->auto_arm >= NT_PAIRS || (others & ~(1u << out->auto_arm)) != 0)
		return NT_REASON_NONE;
	return nt_key_mask(id) == 0 && !(comm->fixed.process->node_step.flags & users)
		       ? NT_REASON_SYMMETRIC
		       : NT_REASON_ALONE;
}

/* Why a key is undecided */
static int undecided_reason(struct nt_key *out, const struct nt_comm *comm,
			    const struct nt_local_key *key, uint64_t id, double of_us)
{
	const struct nt_process *process = comm->fixed.process;
	const struct nt_warm *arms = nt_process_warm_arms(&process->warm);
	int arm = arms ? nt_warm_find(arms, comm->fixed.ranks, comm->fixed.nodes, out->coll,
				      nt_key_band(id))
		       : -1;
	int reason = arm < 0 ? NT_REASON_NONE : remembered_reason(out, comm, id, arm);

	/* Mode policy uses remembered arms, and explores nothing. */
	if (arm < 0 && process->policy.mode == NT_MODE_POLICY)
		return NT_REASON_NOT_REMEMBERED;
	if (reason == NT_REASON_NONE && out->state == NT_KEYSTATE_COUNTED) {
		reason = alone_reason(out, comm, id);
		if (reason == NT_REASON_NONE && nt_key_shares_lacks(process, key, of_us))
			reason = NT_REASON_UNWORTHY;
	}
	return reason != NT_REASON_NONE ? reason : nt_view_barred(nt_comm_status_flags(comm));
}

void nt_key_record_put(struct nt_json_writer *put, const struct nt_comm *comm,
		       const struct nt_local_key *key, uint64_t id, double of_us)
{
	struct nt_key out;

	nt_key_clear(&out);
	out.arm = NT_ARM_BASELINE;
	out.coll = (int)nt_key_coll(id);
	out.bytes = (int64_t)nt_band_floor(nt_key_band(id));
	note_state(&out, comm, key, id);
	note_round(&out, comm, key);
	if (out.reason == NT_REASON_NONE &&
	    (out.state == NT_KEYSTATE_COUNTED || out.state == NT_KEYSTATE_EXPLORING))
		out.reason = undecided_reason(&out, comm, key, id, of_us);
	out.calls = (int64_t)nt_key_calls(key);
	out.forced = atomic_load_explicit(&key->events.forced, memory_order_relaxed);
	out.differed = atomic_load_explicit(&key->events.differed, memory_order_relaxed);
	nt_json_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_rank_key_fields, &out);
	/* Later decisions have other times. */
	if (nt_key_commits(key, NULL) <= 1)
		put_trial(put, comm, id);
	nt_json_put_close(put);
}
