/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* write.c - see write.h */
#include "tuner/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/marker.h"
#include "pmix-sync/card.h"
#include "pmix-sync/view.h"
#include "record/rank.h"
#include "tuner/chain.h"
#include "tuner/standing.h"
#include "tuner/worth.h"
#include "tuner/writehistory.h"

_Static_assert(NT_MARKER_WINDOWS <= NT_RANK_PERIODS_MAX, "all periods go into a record");

#define COUNT_BYTES 48u /* of one count, at most */

struct text {
	struct nt_put put;
	uint32_t cut; /* keys and communicators left out */
	double of_us; /* what all calls of the process take, as predicted */
};

/* What the present arm saves, by what was measured of it, and what those before it did; NAN where
 * there is nothing to say. */
static double saved_ms(const struct nt_own_key *key, const struct nt_outcome *o)
{
	uint64_t since = nt_key_calls(key) -
			 atomic_load_explicit(&key->decision.commit_calls, memory_order_relaxed);
	int64_t saved_us = atomic_load_explicit(&key->decision.saved_us, memory_order_relaxed);
	double now_us = 0;

	if (o->chosen_arm != NT_ARM_AUTO && o->samples > 0 && isfinite(o->auto_us) &&
	    isfinite(o->best_us))
		now_us = (double)since * ((double)o->auto_us - (double)o->best_us);
	else if (saved_us == 0)
		return NAN;
	return ((double)saved_us + now_us) / 1000.0;
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

static double known_us(float us)
{
	return us > 0 ? (double)us : NAN;
}

/* What came of exploring a key. */
static void note_outcome(struct nt_rank_key *out, const struct nt_outcome *o)
{
	out->arm = o->best_arm;
	if (o->samples > 0) {
		out->auto_us = (double)o->auto_us;
		out->arm_us = (double)o->best_us;
		out->auto_p25_us = (double)o->auto_p25_us;
		out->arm_p25_us = (double)o->best_p25_us;
		out->auto_p75_us = (double)o->auto_p75_us;
		out->arm_p75_us = (double)o->best_p75_us;
		out->samples = o->samples;
		out->auto_own_us = known_us(o->own_auto_us);
		out->arm_own_us = known_us(o->own_best_us);
		out->auto_period_us = known_us(o->period_auto_us);
		out->arm_period_us = known_us(o->period_best_us);
	}
	if (o->verdict != NT_VERDICT_REMEMBERED)
		out->p = (double)o->p;
	snprintf(out->from, sizeof(out->from), "%s", from_name(o->from));
	if (o->verdict != NT_VERDICT_FASTER)
		snprintf(out->why, sizeof(out->why), "%s", nt_schedule_verdict_name(o->verdict));
	out->spent_calls = o->spent_calls;
	out->spent_ms = o->spent_ms < 0 ? 0 : (double)o->spent_ms;
	out->predicted_auto_us = (double)o->predicted_auto_us;
	out->predicted_arm_us = (double)o->predicted_best_us;
}

/* What has become of a committed arm since. */
static void note_committed(struct nt_rank_key *out, const struct nt_own_key *key,
			   const struct nt_outcome *o)
{
	out->decided = (int64_t)atomic_load_explicit(&key->decision.commit_calls,
						     memory_order_relaxed);
	out->saved_ms = saved_ms(key, o);
	out->rechecks = atomic_load_explicit(&key->decision.rechecks, memory_order_relaxed);
	out->rollbacks = atomic_load_explicit(&key->decision.rollbacks, memory_order_relaxed);
	out->changes = atomic_load_explicit(&key->decision.changes, memory_order_relaxed);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Durations of mode observe. Returns whether there are any. */
static bool note_observed(struct nt_rank_key *out, const struct nt_own_key *key)
{
	uint64_t ns[NT_OBSERVED_MAX];
	uint32_t count = 0;

	for (unsigned i = 0; key->fixed.observed && i < NT_OBSERVED_MAX; i++) {
		/* Pairs with the release in keep_time() of tuner/event.c. */
		uint32_t value = atomic_load_explicit(&key->fixed.observed[i],
						      memory_order_acquire);

		if (value != 0)
			ns[count++] = nt_board_time_ns(value);
	}
	if (count == 0)
		return false;
	qsort(ns, count, sizeof(ns[0]), by_value);
	out->auto_us = (double)ns[count / 2] / 1e3;
	out->auto_p25_us = (double)ns[count / 4] / 1e3;
	out->auto_p75_us = (double)ns[count * 3 / 4] / 1e3;
	out->samples = count;
	return true;
}

/* What the rounds of an exploration that goes on have cost, and AUTO's times in them. Returns
 * whether there are any. */
static bool note_so_far(struct nt_rank_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_history *history = nt_histories_find(comm->fixed.process->histories,
							     comm->fixed.id, id);

	if (history && history->spent_calls > 0) {
		out->spent_calls = history->spent_calls;
		out->spent_ms = history->spent_ms < 0 ? 0 : (double)history->spent_ms;
	}
	for (unsigned i = 0; history && i < history->arms; i++) {
		const struct nt_tried *tried = &history->arm[i];

		if (tried->arm != NT_ARM_AUTO || tried->samples == 0)
			continue;
		out->auto_us = (double)tried->us;
		out->auto_p25_us = (double)tried->p25_us;
		out->auto_p75_us = (double)tried->p75_us;
		out->samples = tried->samples;
		return true;
	}
	return false;
}

static void note_state(struct nt_rank_key *out, const struct nt_comm *comm,
		       const struct nt_own_key *key, uint64_t id)
{
	uint32_t own = nt_key_state(key);
	uint32_t shared;
	const char *state = NT_KEYSTATE_COUNTED;
	struct nt_outcome outcome = { .p = 1, .best_arm = NT_ARM_AUTO };
	bool has_outcome = nt_standing_of_key(comm, key, &shared, &outcome);
	bool committed = nt_key_commits(key, NULL) > 0;

	if (committed)
		state = outcome.chosen_arm == NT_ARM_AUTO ? NT_KEYSTATE_KEPT
							  : NT_KEYSTATE_COMMITTED;
	else if (shared == NT_KEY_CLOSED && has_outcome)
		state = NT_KEYSTATE_KEPT;
	else if (shared != NT_KEY_IDLE || own == NT_OWN_GONE)
		state = NT_KEYSTATE_EXPLORING; /* cut short, where the board has it closed */
	else if (key->fixed.observed &&
		 atomic_load_explicit(&key->laps.observed, memory_order_relaxed) > 0)
		state = NT_KEYSTATE_OBSERVED;
	snprintf(out->state, sizeof(out->state), "%s", state);
	out->auto_arm = has_outcome && outcome.auto_arm < NT_PAIRS ? outcome.auto_arm
								   : (int)key->fixed.auto_arm;
	if (has_outcome && strcmp(state, NT_KEYSTATE_EXPLORING) != 0) {
		note_outcome(out, &outcome);
		if (committed)
			note_committed(out, key, &outcome);
		else
			out->decided = (int64_t)atomic_load_explicit(&key->decision.closed_calls,
								     memory_order_relaxed);
	} else if (!note_observed(out, key) && !note_so_far(out, comm, id) &&
		   key->fixed.auto_arm < NT_PAIRS) {
		out->predicted_auto_us = (double)key->fixed.cost_us[key->fixed.auto_arm];
	}
}

/* How far exploring has come. */
static void note_round(struct nt_rank_key *out, const struct nt_comm *comm,
		       const struct nt_own_key *key)
{
	static const char *const names[NT_SCHEDULE_KINDS] = {
		[NT_SCHEDULE_SCREEN] = NT_KEYROUND_SCREEN,
		[NT_SCHEDULE_CONFIRM] = NT_KEYROUND_CONFIRM,
		[NT_SCHEDULE_RECHECK] = NT_KEYROUND_RECHECK,
	};
	struct nt_round round;

	if (!nt_standing_round(comm, key, &round) || !names[round.kind])
		return;
	snprintf(out->round, sizeof(out->round), "%s", names[round.kind]);
	out->round_arms = round.arms;
	out->round_calls = round.calls;
	out->round_done = round.done;
}

/* Only in the first half of the record, so that there is room for every key. */
static void put_trial(struct nt_put *put, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_history *history = nt_histories_find(comm->fixed.process->histories,
							     comm->fixed.id, id);
	struct nt_put before = *put;

	if (!history || history->rounds == 0)
		return;
	put->bytes /= 2;
	nt_write_trial(put, history);
	if (put->full)
		*put = before;
	put->bytes = before.bytes;
}

static bool is_open(const struct nt_rank_key *out)
{
	return strcmp(out->state, NT_KEYSTATE_COUNTED) == 0 ||
	       strcmp(out->state, NT_KEYSTATE_EXPLORING) == 0;
}

/* An arm is remembered of a key about which nothing was decided here. */
static void note_remembered(struct nt_rank_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_warm *arms = nt_process_warm_arms(&comm->fixed.process->warm);
	int arm = -1;

	if (arms && out->why[0] == '\0' && is_open(out))
		arm = nt_warm_find(arms, comm->fixed.ranks, comm->fixed.nodes, out->coll,
				   nt_key_band(id));
	if (arm < 0)
		return;
	if (arm == NT_ARM_AUTO) {
		snprintf(out->from, sizeof(out->from), NT_KEYFROM_WARM);
		snprintf(out->why, sizeof(out->why), "nothing better is remembered");
	} else if (!(nt_key_mask(id) & 1u << nt_arm_pair(arm))) {
		snprintf(out->why, sizeof(out->why), "the remembered arm is not legal here");
	} else if (nt_policy_forbidden(&comm->fixed.process->policy) >> nt_arm_pair(arm) & 1) {
		snprintf(out->why, sizeof(out->why), "the policy forbids the remembered arm");
	} else if (nt_standing_flags(comm) & NT_MEMBER_GRAPHS) {
		snprintf(out->why, sizeof(out->why),
			 "captured before the remembered arm was agreed on");
	}
}

/* Mode policy takes what is remembered, and looks for nothing else. */
static void note_policy(struct nt_rank_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_process *process = comm->fixed.process;
	const struct nt_warm *arms = nt_process_warm_arms(&process->warm);

	if (process->policy.mode == NT_MODE_POLICY && out->why[0] == '\0' && is_open(out) &&
	    (!arms || nt_warm_find(arms, comm->fixed.ranks, comm->fixed.nodes, out->coll,
				   nt_key_band(id)) < 0))
		snprintf(out->why, sizeof(out->why), "nothing is remembered");
}

/* A key of which there is nothing to explore is never opened. */
static void note_alone(struct nt_rank_key *out, const struct nt_comm *comm, uint64_t id)
{
	const struct nt_policy *policy = &comm->fixed.process->policy;
	uint32_t others = nt_key_mask(id) & ~nt_policy_forbidden(policy);

	if (out->why[0] == '\0' && strcmp(out->state, NT_KEYSTATE_COUNTED) == 0 &&
	    policy->channels == NT_SWITCH_OFF && policy->chunks == NT_SWITCH_OFF &&
	    out->auto_arm >= 0 && out->auto_arm < NT_PAIRS &&
	    (others & ((1u << NT_PAIRS) - 1) & ~(1u << out->auto_arm)) == 0)
		snprintf(out->why, sizeof(out->why), "%s",
			 nt_schedule_verdict_name(NT_VERDICT_ALONE));
}

static void note_worth(struct nt_rank_key *out, const struct nt_comm *comm,
		       const struct nt_own_key *key, double of_us)
{
	if (out->why[0] == '\0' && strcmp(out->state, NT_KEYSTATE_COUNTED) == 0 &&
	    nt_worth_lacks(comm->fixed.process, key, of_us))
		snprintf(out->why, sizeof(out->why), "%s", NT_KEYWHY_UNWORTHY);
}

/* Nothing was decided, and could not have been however long the step had gone on. */
static void note_barred(struct nt_rank_key *out, const struct nt_comm *comm)
{
	const char *barred = nt_view_barred(nt_standing_flags(comm));

	if (barred && out->why[0] == '\0' && is_open(out))
		snprintf(out->why, sizeof(out->why), "%s", barred);
}

static void put_key(struct nt_put *put, const struct nt_comm *comm, const struct nt_own_key *key,
		    uint64_t id, double of_us)
{
	struct nt_rank_key out;

	nt_fields_clear(&nt_rank_key_fields, &out);
	out.coll = (int)nt_key_coll(id);
	out.bytes = (int64_t)nt_band_floor(nt_key_band(id));
	note_state(&out, comm, key, id);
	note_round(&out, comm, key);
	note_remembered(&out, comm, id);
	note_policy(&out, comm, id);
	if (comm->fixed.board)
		note_alone(&out, comm, id);
	note_worth(&out, comm, key, of_us);
	note_barred(&out, comm);
	out.calls = (int64_t)nt_key_calls(key);
	out.forced = atomic_load_explicit(&key->events.forced, memory_order_relaxed);
	out.differed = atomic_load_explicit(&key->events.differed, memory_order_relaxed);
	nt_put_open(put, NULL, '{');
	nt_fields_put(put, &nt_rank_key_fields, &out);
	/* A later arm is from other times. */
	if (nt_key_commits(key, NULL) <= 1)
		put_trial(put, comm, id);
	nt_put_close(put);
}

static const char *idle_text(uint32_t idle)
{
	switch (idle) {
	case NT_IDLE_API: return "this NCCL gives no GPU times or no sequence numbers to plugins";
	case NT_IDLE_HALF: return "NCCL loaded only one half of the plugin";
	default: return "";
	}
}

/* Who is refused because no rank takes plans was compared before, see compare() of
 * pmix-sync/join.c. */
static bool cards_alike(uint32_t state, const char *rejected)
{
	for (uint32_t idle = NT_IDLE_MODE; state == NT_COMM_REJECTED && idle <= NT_IDLE_BOARD;
	     idle++) {
		if (strcmp(rejected, nt_card_idle(idle)) == 0)
			return true;
	}
	return state == NT_COMM_AGREED;
}

static void note_standing(struct nt_rank_comm *out, const struct nt_comm *comm)
{
	const char *why = comm->fixed.why[0] ? comm->fixed.why : idle_text(comm->fixed.card.idle),
		   *rejected;
	uint32_t state = nt_standing(comm, &rejected);
	const char *name = NT_COMMSTATE_JOINING;

	if (state == NT_COMM_AGREED)
		name = NT_COMMSTATE_AGREED;
	if (state == NT_COMM_REJECTED) {
		name = NT_COMMSTATE_REJECTED;
		why = rejected;
	} else if (!comm->fixed.board && comm->fixed.tuner_api == 0) {
		why = idle_text(NT_IDLE_HALF);
	}
	out->alike = cards_alike(state, rejected);
	snprintf(out->state, sizeof(out->state), "%s", name);
	snprintf(out->why, sizeof(out->why), "%s", why);
}

static void put_keys(struct text *t, const struct nt_comm *comm)
{
	nt_put_open(&t->put, NT_RANK_KEYS, '[');
	for (unsigned i = 0; i < nt_comm_keys(comm); i++) {
		uint64_t id = nt_comm_key_id(comm, i);
		struct nt_put before = t->put;

		if (id == 0)
			continue;
		put_key(&t->put, comm, &comm->key[i], id, t->of_us);
		if (t->put.full) {
			t->put = before;
			t->cut++;
		}
	}
	nt_put_close(&t->put);
}

static void put_comm(struct text *t, const struct nt_comm *comm)
{
	struct nt_rank_comm out;

	nt_fields_clear(&nt_rank_comm_fields, &out);
	snprintf(out.id, sizeof(out.id), "%016" PRIx64, comm->fixed.id);
	out.rank = comm->fixed.rank < 0 ? 0 : comm->fixed.rank;
	out.ranks = comm->fixed.ranks;
	out.nodes = comm->fixed.nodes;
	snprintf(out.name, sizeof(out.name), "%s", comm->fixed.name);
	note_standing(&out, comm);
	nt_put_open(&t->put, NULL, '{');
	nt_fields_put(&t->put, &nt_rank_comm_fields, &out);
	put_keys(t, comm);
	nt_put_close(&t->put);
}

static void put_comms(struct text *t, const struct nt_process *process)
{
	nt_put_open(&t->put, NT_RANK_COMMS, '[');
	for (uint32_t i = 0; i < process->comms; i++) {
		struct text before = *t;

		put_comm(t, process->comm[i]);
		if (t->put.full) {
			*t = before;
			t->cut++;
		}
	}
	nt_put_close(&t->put);
}

static void put_head(struct nt_put *put, struct nt_process *process, bool end)
{
	const struct nt_place *place = &process->place;
	struct nt_rank out;

	nt_fields_clear(&nt_rank_fields, &out);
	out.version = NT_RECORD_VERSION;
	out.job = place->job;
	out.step = place->step;
	out.task = process->task;
	out.pid = process->pid;
	snprintf(out.node, sizeof(out.node), "%s", place->node);
	snprintf(out.mode, sizeof(out.mode), "%s", nt_mode_name(process->policy.mode));
	if (nt_policy_format_option(&process->policy, out.policy, sizeof(out.policy), NULL) < 0)
		out.policy[0] = '\0';
	out.nccl = atomic_load(&process->nccl);
	out.flags = place->flags;
	snprintf(out.driver, sizeof(out.driver), "%s", process->platform.driver);
	snprintf(out.fabric, sizeof(out.fabric), "%s", process->platform.fabric);
	snprintf(out.launch, sizeof(out.launch), "%s", process->platform.launch);
	out.end = end;
	nt_fields_put(put, &nt_rank_fields, &out);
}

static void put_counts(struct text *t, struct nt_process *process)
{
	nt_put_open(&t->put, NT_RANK_COUNTS, '{');
	nt_put_count(&t->put, "cut", t->cut);
	for (int i = 0; i < NT_COUNT_ALL; i++) {
		uint64_t value = atomic_load_explicit(&process->count[i], memory_order_relaxed);

		if (value > NT_COUNT_MAX)
			value = NT_COUNT_MAX;
		if (value != 0)
			nt_put_count(&t->put, nt_count_name((enum nt_count)i), value);
	}
	nt_put_close(&t->put);
}

/* Plugins behind ours. */
static void put_plugins(struct nt_put *put)
{
	static const char *const names[] = {
		[NT_CHAINED_PROFILER] = "profiler", [NT_CHAINED_TUNER] = "tuner"
	};
	struct nt_put before = *put;
	char text[480];
	bool any = false;

	nt_put_open(put, NT_RANK_PLUGINS, '{');
	for (enum nt_chained which = 0; which < NT_CHAINED_ALL; which++) {
		nt_chain_describe(which, text, sizeof(text));
		if (text[0])
			nt_put_text(put, names[which], text);
		any = any || text[0];
	}
	nt_put_close(put);
	if (put->full || !any)
		*put = before;
}

/* Keys of one rank that follow a remembered arm. */
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

static void put_warm(struct nt_put *put, const struct nt_process *process)
{
	struct nt_rank_warm out = { .offered = process->warm.arms.count };
	struct nt_put before = *put;

	if (!process->warm.offered)
		return;
	for (uint32_t i = 0; i < process->comms; i++)
		out.used += warm_keys(process->comm[i]);
	snprintf(out.refused, sizeof(out.refused), "%s", process->warm.refused);
	nt_put_open(put, NT_RANK_WARM, '{');
	nt_fields_put(put, &nt_rank_warm_fields, &out);
	nt_put_close(put);
	if (put->full)
		*put = before;
}

static void put_marker(struct nt_put *put, const struct nt_marker *marker)
{
	struct nt_put before = *put;
	struct nt_marker_found found;
	struct nt_rank_marker out;

	if (!marker || !nt_marker_find(marker, &found))
		return;
	out = (struct nt_rank_marker){
		.coll = (int)nt_key_coll(found.key.key),
		.bytes = (int64_t)nt_band_floor(nt_key_band(found.key.key)),
		.ranks = found.key.ranks,
		.calls = (int64_t)found.calls,
		.periods = found.periods,
	};
	memcpy(out.period_us, found.period_us, found.periods * sizeof(out.period_us[0]));
	nt_rank_put_marker(put, &out);
	if (put->full)
		*put = before;
}

/* What it took to agree with other nodes. */
static void put_agreement(struct nt_put *put, const struct nt_speaker_counts *c)
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
	struct nt_put before = *put;

	nt_rank_put_agreement(put, &out, c->agree.commit_ms,
			      c->agree.timed < NT_AGREE_TIMES ? c->agree.timed : NT_AGREE_TIMES);
	if (put->full)
		*put = before;
}

/* What was measured of all arms, in the first half of the record: keys come behind it. */
static void put_explored(struct nt_put *put, const struct nt_histories *histories)
{
	const struct nt_history *h = nt_history_measured(histories->first);
	const size_t bytes = put->bytes;
	bool fits = true;

	if (!h)
		return;
	nt_put_open(put, NT_RANK_EXPLORED, '[');
	put->bytes /= 2;
	for (; h && fits; h = nt_history_measured(h->next)) {
		struct nt_put before = *put;

		nt_write_explored(put, h);
		fits = !put->full;
		if (!fits)
			*put = before;
	}
	put->bytes = bytes;
	nt_put_close(put);
}

size_t nt_write_text(struct nt_process *process, const struct nt_speaker_counts *agreement,
		     bool end, char *out, size_t out_bytes)
{
	/* Room for the counts and a newline is kept back, so that they always fit. */
	const size_t kept = (size_t)COUNT_BYTES * (NT_COUNT_ALL + 1) + 1;
	struct text t = { .of_us = nt_worth_process_us(process) };

	if (out_bytes <= kept)
		return 0;
	nt_put_begin(&t.put, out, out_bytes - kept, NT_RECORD_DEPTH);
	nt_put_open(&t.put, NULL, '{');
	put_head(&t.put, process, end);
	put_plugins(&t.put);
	put_warm(&t.put, process);
	put_marker(&t.put, process->marker);
	if (agreement)
		put_agreement(&t.put, agreement);
	if (process->histories)
		put_explored(&t.put, process->histories);
	put_comms(&t, process);
	t.put.bytes = out_bytes - 1;
	put_counts(&t, process);
	nt_put_close(&t.put);
	if (t.put.full)
		return 0;
	out[t.put.used++] = '\n';
	return t.put.used;
}

int nt_write_record(struct nt_process *process, const struct nt_speaker *speaker, bool end)
{
	struct nt_speaker_counts agreement;
	char *text = malloc((size_t)NT_RANK_RECORD_MAX);
	size_t bytes;
	int rc = -1;

	if (speaker)
		agreement = nt_speaker_count(speaker);
	if (text) {
		pthread_mutex_lock(&process->lock);
		bytes = nt_write_text(process, speaker ? &agreement : NULL, end, text,
				      NT_RANK_RECORD_MAX);
		pthread_mutex_unlock(&process->lock);
		if (bytes > 0)
			rc = nt_rank_save(process->place.dir, process->task, (int)process->pid,
					  text, bytes);
	}
	free(text);
	if (rc < 0)
		nt_process_count(process, NT_COUNT_RECORD);
	return rc;
}
