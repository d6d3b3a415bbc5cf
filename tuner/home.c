/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* home.c - see home.h */
#include "tuner/home.h"

#include <stdlib.h>
#include <string.h>
#include "engine/patience.h"
#include "engine/queue.h"
#include "engine/times.h"
#include "engine/warmstart.h"
#include "pmix-sync/board.h"
#include "tuner/abi.h"
#include "tuner/clock.h"

/* At once: runs are left for keys with another home. */
#define OPEN_KEYS (NT_BOARD_RUNS / 4 * 3)
#define POLICY_KEYS 64u /* the same where no run is needed */
#define LOOK_MS 2000u /* between two looks at what all keys are worth, but for a key that is next */

_Static_assert(sizeof(struct nt_schedule) <= NT_PLAN_PAYLOAD, "a plan carries a schedule");

/* A key that is explored at this home. */
struct nt_open_key {
	struct nt_home *home;
	struct nt_open_key *next; /* of the home's */
	const struct nt_board_comm *comm;
	const struct nt_board_key *board_key;
	struct nt_engine_key *engine_key;
};

/* Has any of its ranks here one of these flags? */
static bool flagged(const struct nt_board_comm *comm, uint32_t flags)
{
	for (unsigned m = 0; nt_board_taken(comm, m); m++) {
		if (atomic_load(&comm->member[m].flags) & flags)
			return true;
	}
	return false;
}

/* Calls of the member that has most. */
static uint64_t most_calls(const struct nt_board_key *key)
{
	uint64_t calls = 0;

	for (unsigned m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint64_t of_member = atomic_load(&key->calls[m]);

		if (of_member > calls)
			calls = of_member;
	}
	return calls;
}

/* All cards of a communicator that takes plans are equal. */
static bool asks_for_chunks(const struct nt_board_comm *comm)
{
	for (unsigned m = 0; nt_board_taken(comm, m); m++) {
		if (atomic_load(&comm->member[m].state) == NT_MEMBER_JOINED)
			return comm->member[m].card.api >> 8 >= NT_TUNER_CHUNK_API;
	}
	return false;
}

/* An arm with a chunk size is none where NCCL does not ask for one. */
static void remember(const struct nt_home *home, const struct nt_board_comm *comm,
		     struct nt_known *known)
{
	int arm = -1;

	if (home->warm)
		arm = nt_warm_find(home->warm, known->ranks, known->nodes,
				   (int)nt_key_coll(known->key), nt_key_band(known->key));
	if (arm < 0 || (arm != NT_ARM_AUTO && nt_arm_chunk(arm) && !asks_for_chunks(comm)))
		return;
	known->remembered = true;
	known->remembered_arm = (uint16_t)arm;
}

/* Of the job's time; 0: not known. A job beyond its end goes on for no long time. */
static double left_us(const struct nt_home *home)
{
	const uint64_t now_us = home->end_us ? nt_clock_us() : 0;

	if (home->end_us == 0)
		return 0;
	return home->end_us > now_us ? (double)(home->end_us - now_us) : 1;
}

static double age_us(const struct nt_home *home)
{
	return home->began_us ? (double)(nt_clock_us() - home->began_us) : 0;
}

/* All but the channels, which are many words to read and wanted after a round only. */
static struct nt_known known_of(const struct nt_home *home, const struct nt_board_comm *comm,
				const struct nt_board_key *key)
{
	struct nt_known known = {
		.comm = atomic_load(&comm->id),
		.key = atomic_load(&key->id),
		.ranks = atomic_load(&comm->ranks),
		.nodes = atomic_load(&comm->nodes),
		.auto_arm = key->auto_arm,
		.forbidden = nt_policy_forbidden(&home->engine.policy),
		.calls = most_calls(key),
		.left_us = left_us(home),
		.age_us = age_us(home),
		.captured = flagged(comm, NT_MEMBER_GRAPHS),
	};

	if (home->board)
		known.worth = nt_worths_of(&home->worths, home->board,
					   (unsigned)(comm - home->board->comm), key);
	memcpy(known.cost_us, key->cost_us, sizeof(known.cost_us));
	remember(home, comm, &known);
	return known;
}

/* What NCCL gave any pair of this communicator, as far as our ranks saw. */
static unsigned most_channels(const struct nt_board_comm *comm)
{
	unsigned most = 0;

	for (unsigned k = 0; nt_board_claimed(comm, k); k++) {
		for (int pair = 0; pair < NT_PAIRS; pair++) {
			unsigned seen = atomic_load(&comm->key[k].channels[pair]);

			if (nt_pair_takes_channels(pair) && seen > most)
				most = seen;
		}
	}
	return most;
}

static struct nt_channels channels_of(const struct nt_board_comm *comm,
				      const struct nt_board_key *key)
{
	struct nt_channels channels = {
		.ranks = atomic_load(&comm->ranks),
		.most = most_channels(comm),
		.chunks = asks_for_chunks(comm),
	};

	for (unsigned pair = 0; pair < NT_PAIRS; pair++)
		channels.own[pair] = atomic_load(&key->channels[pair]);
	return channels;
}

static bool may_open(const struct nt_home *home, const struct nt_board_comm *comm,
		     const struct nt_board_key *key)
{
	struct nt_known known;

	if (!atomic_load(&key->described))
		return false;
	known = known_of(home, comm, key);
	return nt_engine_worth(&home->engine, &known);
}

/* Home of a communicator is the node of its rank 0. */
static bool is_home(const struct nt_board_comm *comm)
{
	for (unsigned m = 0; nt_board_taken(comm, m); m++) {
		if (atomic_load(&comm->member[m].state) == NT_MEMBER_JOINED &&
		    comm->member[m].card.rank == 0)
			return true;
	}
	return false;
}

static struct nt_queued queued_of(const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	return (struct nt_queued){
		.comm = atomic_load(&comm->id),
		.key = atomic_load(&key->id),
		.ranks = atomic_load(&comm->ranks),
		.nodes = atomic_load(&comm->nodes),
		.calls = most_calls(key),
		.us = nt_worth_rank_us(key),
	};
}

/* A key that asks to be opened, and what stands against it. */
struct asking {
	const struct nt_home *home;
	const struct nt_board_comm *comm;
	struct nt_queued self;
	bool patient; /* it waits for others */
	unsigned ahead; /* keys of this home that come first */
};

static bool is_open(const struct nt_home *home, const struct nt_board_key *key)
{
	const struct nt_open_key *open = home->open;

	while (open && open->board_key != key)
		open = open->next;
	return open != NULL;
}

/* Must it wait for this key, which may be of the same communicator? */
static bool waits_for(struct asking *a, const struct nt_board_comm *comm,
		      const struct nt_board_key *key)
{
	const uint32_t state = atomic_load(&key->state);
	struct nt_queued other = queued_of(comm, key);

	if (state != NT_KEY_OPEN && state != NT_KEY_IDLE)
		return false;
	/* The board says so once all nodes can know. */
	other.open = state == NT_KEY_OPEN || is_open(a->home, key);
	/* Looked for only where it matters: there may be thousands of keys. */
	if (!other.open && nt_queue_before(&other, &a->self))
		other.ready = may_open(a->home, comm, key);
	if (other.ready && is_home(comm))
		a->ahead++;
	return a->patient && comm != a->comm && nt_queue_waits(&a->self, &other, true) &&
	       nt_queue_waits(&a->self, &other, nt_board_share_gpu(a->home->board, a->comm, comm));
}

static bool waits_for_comm(struct asking *a, const struct nt_board_comm *comm)
{
	for (unsigned k = 0; nt_board_claimed(comm, k); k++) {
		if (waits_for(a, comm, &comm->key[k]))
			return true;
	}
	return false;
}

static int by_us(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* How long a step of the program takes; 0: not known. */
static double step_us(const struct nt_home *home)
{
	struct nt_marker_found found;

	if (!home->marker || !nt_marker_find(home->marker, &found) || found.periods == 0)
		return 0;
	qsort(found.period_us, found.periods, sizeof(found.period_us[0]), by_us);
	return found.period_us[found.periods / 2];
}

/* Has it time to wait for others? */
static bool is_patient(const struct nt_home *home, const struct nt_board_comm *comm,
		       const struct nt_board_key *key)
{
	const struct nt_policy *policy = &home->engine.policy;
	struct nt_known known = known_of(home, comm, key);

	if (nt_queue_waited(policy, known.calls, known.age_us))
		return false;
	if (!nt_patience_presses(policy, &known))
		return true;
	/* Longer steps leave more time; how long they are takes time to find. */
	known.step_us = step_us(home);
	return !nt_patience_presses(policy, &known);
}

/* Is there a place, and no other key that is to be explored first? */
static bool is_next(const struct nt_home *home, const struct nt_board_comm *comm,
		    const struct nt_board_key *key)
{
	struct asking a = { .home = home, .comm = comm, .self = queued_of(comm, key) };

	if (home->engine.open >= OPEN_KEYS)
		return false;
	a.patient = is_patient(home, comm, key);
	for (unsigned c = 0; home->board && c < NT_BOARD_COMMS; c++) {
		const struct nt_board_comm *other = &home->board->comm[c];

		if (atomic_load(&other->id) != 0 && atomic_load(&other->state) == NT_COMM_AGREED &&
		    waits_for_comm(&a, other))
			return false;
	}
	return !a.patient || a.ahead + home->engine.open < OPEN_KEYS;
}

static void look_at_worths(struct nt_home *home, uint64_t age_ms)
{
	const uint64_t now_ms = nt_clock_ms();

	if (home->board &&
	    (home->worths.looked_ms == 0 || now_ms - home->worths.looked_ms >= age_ms))
		nt_worths_look(&home->worths, home->board, now_ms);
}

static bool key_worth(void *arg, const struct nt_board_comm *comm, const struct nt_board_key *key)
{
	struct nt_home *home = arg;

	/* What is taken as it is needs no room for times, and no quiet. */
	if (home->engine.policy.mode == NT_MODE_POLICY)
		return home->engine.open < POLICY_KEYS && may_open(home, comm, key);
	look_at_worths(home, LOOK_MS);
	if (!may_open(home, comm, key) || !is_next(home, comm, key))
		return false;
	/* Others may have been called since. */
	look_at_worths(home, 0);
	return may_open(home, comm, key);
}

/* A remembered arm waits for no calls, and what is rarely called for fewer: has any key of it such
 * a one, or so many? */
static bool comm_early(void *arg, const struct nt_board_comm *comm)
{
	const struct nt_home *home = arg;
	const struct nt_policy *policy = &home->engine.policy;
	const uint64_t least = nt_warm_least_calls(policy, age_us(home));

	if (!home->warm && least == (uint64_t)policy->min_calls)
		return false;
	for (unsigned k = 0; nt_board_claimed(comm, k); k++) {
		const struct nt_board_key *key = &comm->key[k];
		struct nt_known known;

		if (!atomic_load(&key->described))
			continue;
		known = known_of(home, comm, key);
		if (known.calls >= least || (home->warm && nt_warm_worth(policy, &known)))
			return true;
	}
	return false;
}

/* Takes the engine's key. */
static struct nt_open_key *open_key(struct nt_home *home, const struct nt_board_comm *comm,
				    const struct nt_board_key *board_key,
				    struct nt_engine_key *engine_key)
{
	struct nt_open_key *key = engine_key ? malloc(sizeof(*key)) : NULL;

	if (key) {
		*key = (struct nt_open_key){ home, home->open, comm, board_key, engine_key };
		home->open = key;
	} else if (engine_key) {
		nt_engine_end(engine_key);
	}
	return key;
}

static void *key_start(void *arg, const struct nt_board_comm *comm,
		       const struct nt_board_key *board_key)
{
	struct nt_home *home = arg;
	const struct nt_known known = known_of(home, comm, board_key);

	return open_key(home, comm, board_key, nt_engine_start(&home->engine, &known));
}

static bool recheck_worth(void *arg, const struct nt_board_comm *comm, const struct nt_plan *base)
{
	struct nt_schedule s;

	(void)arg;
	return !flagged(comm, UINT32_MAX) &&
	       nt_schedule_read(&s, base->payload, base->payload_bytes) == 0 &&
	       nt_engine_worth_recheck(&s);
}

static void *recheck_start(void *arg, const struct nt_board_comm *comm,
			   const struct nt_board_key *board_key, const struct nt_plan *base)
{
	struct nt_home *home = arg;
	const struct nt_known known = known_of(home, comm, board_key);
	struct nt_schedule s;

	if (nt_schedule_read(&s, base->payload, base->payload_bytes) < 0)
		return NULL;
	return open_key(home, comm, board_key,
			nt_engine_start_recheck(&home->engine, &known, s.arm[0]));
}

static int key_next(void *arg, struct nt_plan *plan)
{
	const struct nt_open_key *key = arg;
	struct nt_known known = known_of(key->home, key->comm, key->board_key);
	enum nt_engine_next next;
	struct nt_schedule s;

	known.channels = channels_of(key->comm, key->board_key);
	known.step_us = step_us(key->home);
	next = nt_engine_next(key->engine_key, &known, &s);
	if (next == NT_ENGINE_STAY)
		return 0;
	plan->payload_bytes = (uint32_t)nt_schedule_write(&s, plan->payload, sizeof(plan->payload));
	plan->until = next == NT_ENGINE_EXPLORE ? nt_schedule_positions(&s) : NT_NEVER;
	return next != NT_ENGINE_KEEP;
}

static bool key_ready(void *arg)
{
	const struct nt_open_key *key = arg;

	return nt_engine_for_good(key->engine_key);
}

static void key_absorb(void *arg, const uint8_t *bytes, size_t count)
{
	struct nt_open_key *key = arg;

	nt_engine_absorb(key->engine_key, bytes, count);
}

static void key_end(void *arg)
{
	struct nt_open_key *key = arg;
	struct nt_open_key **at = &key->home->open;

	while (*at != key)
		at = &(*at)->next;
	*at = key->next;
	nt_engine_end(key->engine_key);
	free(key);
}

/* The slowest rank's time: it defines the collective. 0 where a rank that takes part has none:
 * it may have been that. */
static uint64_t slowest_ns(const _Atomic uint32_t times[][NT_RUN_POSITIONS],
			   const struct nt_board_run *run, uint32_t members, uint32_t position)
{
	uint32_t worst = 0;

	for (uint32_t m = 0; m < members && m < NT_BOARD_MEMBERS; m++) {
		uint32_t time = atomic_load_explicit(&times[m][position], memory_order_relaxed);

		if (time == 0 && atomic_load_explicit(&run->issued[m], memory_order_relaxed) != 0)
			return 0;
		if (time > worst)
			worst = time;
	}
	return nt_board_time_ns(worst);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median of an arm's calls' own times; 0: there are none. */
static uint64_t own_ns(const struct nt_board_run *run, uint32_t members,
		       const struct nt_schedule *schedule, uint32_t epoch, unsigned index)
{
	uint64_t ns[NT_RUN_POSITIONS];
	unsigned count = 0;

	for (uint32_t p = 0; p < nt_schedule_positions(schedule); p++) {
		if (nt_schedule_sample(schedule, p) < 0 ||
		    nt_schedule_index(schedule, epoch, p) != (int)index)
			continue;
		ns[count] = slowest_ns(run->own, run, members, p);
		count += ns[count] != 0;
	}
	qsort(ns, count, sizeof(ns[0]), by_value);
	return count ? ns[count / 2] : 0;
}

size_t nt_home_gather(const struct nt_board *board, const struct nt_plan *plan, uint32_t members,
		      int64_t reward, uint8_t *out, size_t cap)
{
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	const struct nt_board_run *run;
	struct nt_schedule schedule;

	if (plan->run >= NT_BOARD_RUNS || plan->until == NT_NEVER ||
	    nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
		return 0;
	run = &board->run[plan->run];
	for (uint32_t p = 0; p < nt_schedule_positions(&schedule); p++)
		nt_times_put(packed, &schedule, plan->epoch, p, reward,
			     slowest_ns(run->sample, run, members, p),
			     slowest_ns(run->period, run, members, p));
	for (unsigned i = 0; i < schedule.count; i++)
		packed[nt_times_own_at(&schedule, i)] = nt_times_pack(
			own_ns(run, members, &schedule, plan->epoch, i));
	return nt_times_write(packed, out, cap);
}

static size_t gather(void *arg, const struct nt_board *board, const struct nt_plan *plan,
		     uint32_t members, uint8_t *out, size_t cap)
{
	const struct nt_home *home = arg;

	return nt_home_gather(board, plan, members, home->engine.policy.reward, out, cap);
}

static size_t combine(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	(void)arg;
	return nt_times_combine(sum, count, bytes, more);
}

struct nt_agree_hooks nt_home_hooks(struct nt_home *home)
{
	return (struct nt_agree_hooks){
		.arg = home,
		.worth = key_worth,
		.early = comm_early,
		.start = key_start,
		.next = key_next,
		.ready = key_ready,
		.absorb = key_absorb,
		.end = key_end,
		.gather = gather,
		.combine = combine,
		.worth_recheck = recheck_worth,
		.start_recheck = recheck_start,
		.recheck_ms = (uint32_t)home->engine.policy.recheck_s * 1000,
	};
}
