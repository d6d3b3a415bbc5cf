/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/rank-record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "engine/marker.h"
#include "lib/quantile.h"
#include "pmix-sync/capabilities.h"
#include "pmix-sync/view.h"
#include "record/rank.h"
#include "tuner/chain.h"
#include "tuner/comm-status.h"
#include "tuner/gpu-times.h"
#include "tuner/ll128.h"
#include "tuner/key-shares.h"
#include "tuner/rank-history.h"

_Static_assert(NT_KEPT_CALLS <= NT_SAMPLED_MAX, "all kept calls go into a record");
_Static_assert(NT_MARKER_PERIODS <= NT_RANK_PERIODS_MAX, "all periods go into a record");

#define COUNT_BYTES 48u /* of one count, at most */

struct text {
	struct nt_json_writer put;
	uint32_t cut; /* keys and communicators that were left out */
	double of_us; /* predicted time of all calls of the process */
};

/* ---- a key: its choice, times, reason and trial */

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

/* NT_RISK_*: why LL128 is not tried on this communicator; 0: it may be. */
static uint32_t ll128_risks(const struct nt_comm *comm)
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
	if (NT_PAIRS_LL128 >> nt_arm_pair(arm) & 1 && ll128_risks(comm))
		return NT_REASON_LL128_ARM;
	return nt_comm_status_flags(comm) & NT_PARTICIPANT_GRAPHS ? NT_REASON_CAPTURED
								  : NT_REASON_NONE;
}

/* A key without other arms is never opened. Where NCCL's own choice is LL within a node it has none
 * (tuner/decide.c), unless the user allows nothing anyway. */
static int alone_reason(const struct nt_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_policy *policy = &comm->fixed.process->policy;
	uint32_t forbidden = nt_policy_forbidden(policy) | (ll128_risks(comm) ? NT_PAIRS_LL128 : 0);
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

static void put_key(struct nt_json_writer *put, const struct nt_comm *comm,
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

/* Of sends and receives, by the ends that NCCL stamps (tuner/p2p.h) */
static void put_p2p(struct text *t, struct nt_p2p_seen *seen)
{
	struct nt_json_writer before = t->put;
	struct nt_key out;

	nt_key_clear(&out);
	out.arm = NT_ARM_BASELINE;
	out.coll = seen->kind;
	out.bytes = (int64_t)nt_band_floor(seen->band);
	out.state = NT_KEYSTATE_COUNTED;
	out.reason = NT_REASON_P2P;
	out.calls = out.rank_calls = (int64_t)seen->calls;
	out.sent_bytes = (int64_t)seen->sent_bytes;
	if (seen->times > 0) {
		nt_sort_u64(seen->time_ns, seen->times);
		out.auto_own_us = (double)seen->time_ns[seen->times / 2] / 1e3;
		out.samples = seen->times;
	}
	nt_json_put_open(&t->put, NULL, '{');
	nt_fields_put(&t->put, &nt_rank_key_fields, &out);
	nt_json_put_close(&t->put);
	if (t->put.full) {
		t->put = before;
		t->cut++;
	}
}

static void put_p2p_keys(struct text *t, const struct nt_comm *comm)
{
	struct nt_p2p_seen *seen = calloc(NT_P2P_KEYS, sizeof(*seen));
	unsigned count = seen ? nt_p2p_read(&comm->p2p, comm->fixed.ranks, seen) : 0;

	for (unsigned i = 0; i < count; i++)
		put_p2p(t, &seen[i]);
	free(seen);
}

static void put_keys(struct text *t, const struct nt_comm *comm)
{
	nt_json_put_open(&t->put, NT_RANK_KEYS, '[');
	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		uint64_t id = nt_comm_key_id(comm, i);
		struct nt_json_writer before = t->put;

		if (id == 0)
			continue;
		put_key(&t->put, comm, &comm->key[i], id, t->of_us);
		if (t->put.full) {
			t->put = before;
			t->cut++;
		}
	}
	put_p2p_keys(t, comm);
	nt_json_put_close(&t->put);
}

/* ---- a communicator */

static void note_idle(struct nt_reason *why, const struct nt_comm_fixed *fixed)
{
	const uint32_t idle = !fixed->shm && fixed->tuner_api == 0 ? (uint32_t)NT_IDLE_HALF
								   : fixed->caps.idle;

	if (idle == NT_IDLE_API || idle == NT_IDLE_HALF || idle == NT_IDLE_ROOM ||
	    idle == NT_IDLE_LIMITS)
		nt_reason_set(why, nt_capabilities_idle(idle));
	else
		nt_reason_set(why, NT_REASON_NONE);
}

static void note_standing(struct nt_comm_seen *out, const struct nt_comm *comm)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;
	uint32_t state = nt_comm_status(comm, &out->why);

	/* Another process may have damaged it. */
	out->state = state < NT_COMM_STATES ? (int)state : NT_COMM_JOINING;
	if (state == NT_COMM_REJECTED)
		; /* nt_comm_status() has said why */
	else if (fixed->why.id != NT_REASON_NONE && (fixed->shm || fixed->tuner_api != 0))
		out->why = fixed->why;
	else
		note_idle(&out->why, fixed);
	/* What mode observe would have measured */
	if (out->why.id == NT_REASON_MODE && nt_gpu_times_lack(fixed->process) != NT_IDLE_NO)
		nt_reason_set(&out->why, nt_capabilities_idle(nt_gpu_times_lack(fixed->process)));
	/* Those refused because no rank takes plans were compared before: see compare() of
	 * pmix-sync/join.c. */
	out->alike = state == NT_COMM_AGREED ||
		     (state == NT_COMM_REJECTED && nt_capabilities_all_idle(&out->why));
}

/* Own times of its kept calls, unless they do not fit */
static void put_sampled(struct nt_json_writer *put, const struct nt_kept_calls *kept)
{
	struct nt_sampled_call calls[NT_KEPT_CALLS];
	struct nt_json_writer before = *put;
	struct nt_kept call;
	unsigned count = 0;

	while (count < NT_KEPT_CALLS && nt_kept_read(kept, count, &call))
		calls[count++] = (struct nt_sampled_call){
			.coll = call.coll,
			.ring = call.ring,
			.turn = call.turn,
			.us = (double)call.ns / 1e3,
			.s = (double)call.when_ms / 1e3,
		};
	put->bytes /= 2;
	nt_rank_put_sampled(put, calls, count);
	if (put->full)
		*put = before;
	put->bytes = before.bytes;
}

static void put_comm(struct text *t, const struct nt_comm *comm)
{
	struct nt_comm_seen out;

	nt_fields_clear(&nt_rank_comm_fields, &out);
	snprintf(out.id, sizeof(out.id), "%016" PRIx64, comm->fixed.id);
	out.rank = comm->fixed.rank < 0 ? 0 : comm->fixed.rank;
	out.ranks = comm->fixed.ranks;
	out.nodes = comm->fixed.nodes;
	snprintf(out.name, sizeof(out.name), "%s", comm->fixed.name);
	note_standing(&out, comm);
	nt_json_put_open(&t->put, NULL, '{');
	nt_fields_put(&t->put, &nt_rank_comm_fields, &out);
	put_sampled(&t->put, &comm->laps.kept);
	put_keys(t, comm);
	nt_json_put_close(&t->put);
}

static void put_comms(struct text *t, const struct nt_process *process)
{
	nt_json_put_open(&t->put, NT_RANK_COMMS, '[');
	for (uint32_t i = 0; i < process->comms; i++) {
		struct text before = *t;

		put_comm(t, process->comm[i]);
		if (t->put.full) {
			*t = before;
			t->cut++;
		}
	}
	nt_json_put_close(&t->put);
}

/* ---- the process */

/* Legal in some call so far */
static uint32_t legal_pairs(const struct nt_comm *comm)
{
	uint32_t legal = 0;

	for (unsigned k = 0; k < nt_comm_keys(comm); k++)
		legal |= nt_key_mask(nt_comm_key_id(comm, k));
	return legal;
}

/* NT_FLAG_LL128_*: LL128 was legal in some call, but not tried */
static uint32_t ll128_flags(const struct nt_process *process)
{
	uint32_t risks = 0;

	for (uint32_t i = 0; i < process->comms; i++) {
		const struct nt_comm *comm = process->comm[i];

		if (comm->fixed.shm && legal_pairs(comm) & NT_PAIRS_LL128)
			risks |= ll128_risks(comm);
	}
	return (risks & NT_RISK_NET ? NT_FLAG_LL128_NET : 0) |
	       (risks & NT_RISK_C2C ? NT_FLAG_LL128_C2C : 0);
}

/* One node uses no network. NCCL allows LL128 there where no path between GPUs is worse than NVLink
 * (ncclTopoTuneModel, src/graph/tuning.cc:491@v2.28.9-1); the largest communicator tells. */
static const char *fabric_of(const struct nt_process *process)
{
	const uint32_t chosen = NT_FLAG_USER_ALGO | NT_FLAG_USER_PROTO;
	const struct nt_comm *largest = NULL;
	uint32_t legal;

	for (uint32_t i = 0; i < process->comms; i++) {
		const struct nt_comm *comm = process->comm[i];

		if (comm->fixed.nodes > 1)
			return process->platform.fabric;
		if (comm->fixed.ranks > 1 && legal_pairs(comm) != 0 &&
		    (!largest || comm->fixed.ranks > largest->fixed.ranks))
			largest = comm;
	}
	if (process->nodes > 1)
		return process->platform.fabric;
	legal = largest ? legal_pairs(largest) : 0;
	if (legal == 0 || legal & NT_PAIRS_LL128 || process->node_step.flags & chosen)
		return nt_fabric_name(NT_FABRIC_ANY);
	return nt_fabric_name(NT_FABRIC_PCIE);
}

static void put_head(struct nt_json_writer *put, struct nt_process *process, bool end)
{
	const struct nt_node_step *node_step = &process->node_step;
	struct nt_rank out;

	nt_fields_clear(&nt_rank_fields, &out);
	out.version = NT_RECORD_VERSION;
	out.job = node_step->job;
	out.step = node_step->step;
	out.task = process->task;
	out.pid = process->pid;
	snprintf(out.node, sizeof(out.node), "%s", node_step->node);
	snprintf(out.mode, sizeof(out.mode), "%s", nt_mode_name(process->policy.mode));
	if (nt_policy_format_option(&process->policy, out.policy, sizeof(out.policy)) < 0)
		out.policy[0] = '\0';
	out.nccl = atomic_load(&process->nccl);
	snprintf(out.library, sizeof(out.library), "%s", process->platform.library);
	out.flags = node_step->flags | ll128_flags(process);
	snprintf(out.driver, sizeof(out.driver), "%s", process->platform.driver);
	snprintf(out.fabric, sizeof(out.fabric), "%s", fabric_of(process));
	snprintf(out.variables, sizeof(out.variables), "%s", process->platform.outside);
	snprintf(out.variables_inside, sizeof(out.variables_inside), "%s",
		 process->platform.inside);
	snprintf(out.launch, sizeof(out.launch), "%s", process->platform.launch);
	out.end = end;
	out.written_s = (int64_t)time(NULL);
	nt_fields_put(put, &nt_rank_fields, &out);
}

/* Chained plugins. Left out if there are none or it does not fit, like the sections after it. */
static void put_plugins(struct nt_json_writer *put)
{
	static const char *const names[] = {
		[NT_CHAINED_PROFILER] = "profiler", [NT_CHAINED_TUNER] = "tuner"
	};
	struct nt_json_writer before = *put;
	char text[480];
	bool any = false;

	nt_json_put_open(put, NT_RANK_PLUGINS, '{');
	for (enum nt_chained which = 0; which < NT_CHAINED_ALL; which++) {
		nt_chain_describe(which, text, sizeof(text));
		if (text[0])
			nt_json_put_text(put, names[which], text);
		any = any || text[0];
	}
	nt_json_put_close(put);
	if (put->full || !any)
		*put = before;
}

/* Of one rank, those that use a remembered arm */
static int64_t warm_keys(const struct nt_comm *comm)
{
	struct nt_outcome outcome;
	int64_t used = 0;

	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		if (nt_comm_key_id(comm, i) != 0 && nt_key_commits(&comm->key[i], &outcome) > 0)
			used += outcome.from != NT_FROM_STEP;
	}
	return used;
}

/* Remembered arms: offered, used or refused */
static void put_warm(struct nt_json_writer *put, const struct nt_process *process)
{
	struct nt_rank_warm out = { .offered = process->warm.arms.count };
	struct nt_json_writer before = *put;

	if (!process->warm.offered)
		return;
	for (uint32_t i = 0; i < process->comms; i++)
		out.used += warm_keys(process->comm[i]);
	snprintf(out.refused, sizeof(out.refused), "%.159s", process->warm.refused.text);
	nt_json_put_open(put, NT_RANK_WARM, '{');
	nt_fields_put(put, &nt_rank_warm_fields, &out);
	nt_json_put_close(put);
	if (put->full)
		*put = before;
}

static void put_marker(struct nt_json_writer *put, const struct nt_marker *marker)
{
	struct nt_json_writer before = *put;
	struct nt_marker_found found;
	struct nt_rank_marker out;

	if (!marker || !nt_marker_find(marker, &found))
		return;
	out = (struct nt_rank_marker){
		.coll = (int)nt_key_coll(found.key.key),
		.bytes = (int64_t)nt_band_floor(nt_key_band(found.key.key)),
		.ranks = found.key.ranks,
		.calls = (int64_t)(found.steps * found.a_step),
		.a_step = found.a_step,
		.periods = found.periods,
	};
	memcpy(out.period_us, found.period_us, found.periods * sizeof(out.period_us[0]));
	nt_rank_put_marker(put, &out);
	if (put->full)
		*put = before;
}

/* After the keys, which are worth more */
static void put_facts(struct nt_json_writer *put, const struct nt_facts *facts)
{
	struct nt_json_writer before = *put;

	nt_json_put_open(put, NT_RANK_FACTS, '{');
	nt_fields_put(put, &nt_facts_fields, facts);
	nt_json_put_close(put);
	if (put->full)
		*put = before;
}

/* What agreeing with other nodes has cost */
static void put_agreement(struct nt_json_writer *put, const struct nt_node_leader_counts *c)
{
	const struct nt_agreement out = {
		.nodes = c->nodes,
		.fetches = c->log.fetches,
		.appends = c->log.appends,
		.bytes = (int64_t)c->log.bytes,
		.spent_kib = (int64_t)(c->log.spent >> 10),
		.commits = c->agree.commits,
		.aborts = c->agree.aborts,
		.rejects = c->agree.rejects,
		.refusals = c->agree.refusals,
		.rechecks = c->agree.rechecks,
		.looks = c->agree.looks,
	};
	struct nt_json_writer before = *put;

	nt_rank_put_agreement(put, &out, c->agree.commit_ms,
			      c->agree.timed < NT_AGREE_TIMES ? c->agree.timed : NT_AGREE_TIMES);
	if (put->full)
		*put = before;
}

/* All arms' measurements, in at most half of what is left of the record: keys follow. */
static void put_explored(struct nt_json_writer *put, const struct nt_histories *histories)
{
	const struct nt_history *h = nt_history_measured(histories->first);
	const size_t bytes = put->bytes;
	bool fits = true;

	if (!h)
		return;
	nt_json_put_open(put, NT_RANK_EXPLORED, '[');
	put->bytes /= 2;
	for (; h && fits; h = nt_history_measured(h->next)) {
		struct nt_json_writer before = *put;

		nt_rank_history_explored(put, h);
		fits = !put->full;
		if (!fits)
			*put = before;
	}
	put->bytes = bytes;
	nt_json_put_close(put);
}

static void put_counts(struct text *t, struct nt_process *process)
{
	nt_json_put_open(&t->put, NT_RANK_COUNTS, '{');
	nt_json_put_count(&t->put, "cut", t->cut);
	for (int i = 0; i < NT_COUNT_ALL; i++) {
		uint64_t value = atomic_load_explicit(&process->count[i], memory_order_relaxed);

		if (value > NT_COUNT_MAX)
			value = NT_COUNT_MAX;
		if (value != 0)
			nt_json_put_count(&t->put, nt_count_name((enum nt_count)i), value);
	}
	nt_json_put_close(&t->put);
}

size_t nt_rank_record_print(struct nt_process *process,
			    const struct nt_node_leader_counts *agreement, bool end, char *out,
			    size_t out_bytes)
{
	/* The counts and a newline must always fit. */
	const size_t kept = (size_t)COUNT_BYTES * (NT_COUNT_ALL + 1) + 1;
	struct text t = { .of_us = nt_key_shares_process_us(process) };

	if (out_bytes <= kept)
		return 0;
	nt_json_put_begin(&t.put, out, out_bytes - kept, NT_RECORD_DEPTH);
	nt_json_put_open(&t.put, NULL, '{');
	put_head(&t.put, process, end);
	put_plugins(&t.put);
	put_warm(&t.put, process);
	put_marker(&t.put, process->marker);
	if (agreement)
		put_agreement(&t.put, agreement);
	if (process->histories)
		put_explored(&t.put, process->histories);
	put_comms(&t, process);
	if (process->has_facts)
		put_facts(&t.put, &process->facts);
	t.put.bytes = out_bytes - 1;
	put_counts(&t, process);
	nt_json_put_close(&t.put);
	if (t.put.full)
		return 0;
	out[t.put.used++] = '\n';
	return t.put.used;
}

int nt_rank_record_write(struct nt_process *process, const struct nt_node_leader *leader, bool end)
{
	struct nt_node_leader_counts agreement;
	char *text = malloc((size_t)NT_RANK_RECORD_MAX);
	size_t bytes;
	int rc = -1;

	if (leader)
		agreement = nt_node_leader_count(leader);
	if (text) {
		pthread_mutex_lock(&process->lock);
		bytes = nt_rank_record_print(process, leader ? &agreement : NULL, end, text,
					     NT_RANK_RECORD_MAX);
		pthread_mutex_unlock(&process->lock);
		if (bytes > 0)
			rc = nt_tray_put(&process->tray, text, bytes);
	}
	free(text);
	if (rc < 0)
		nt_process_count(process, NT_COUNT_RECORD);
	return rc;
}
