/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/explorer.h"

#include <stdlib.h>
#include <string.h>
#include "engine/time-budget.h"
#include "engine/scheduler.h"
#include "engine/times.h"
#include "engine/warmstart.h"
#include "lib/clock.h"
#include "lib/quantile.h"
#include "pmix-sync/log-entry.h"
#include "pmix-sync/shm.h"
#include "tuner/abi.h"
#include "tuner/ll128.h"

/* keys open at once; the rest of the sample areas is for other coordinators */
#define OPEN_KEYS (NT_SHM_RUNS / 4 * 3)
#define POLICY_KEYS 64u /* the same where no sample area is needed */
#define LOOK_MS 2000u /* between updates of all keys' shares; a key that comes next has its own */

_Static_assert(NT_TIMES_BYTES <= NT_ENTRY_BYTES_MAX, "an entry carries a round's times");
_Static_assert(sizeof(struct nt_schedule) <= NT_PLAN_PAYLOAD, "a plan carries a schedule");

/* A key that this coordinator explores */
struct nt_open_key {
	struct nt_explorer *explorer;
	struct nt_open_key *next;
	const struct nt_shm_comm *comm;
	const struct nt_shm_key *shm_key;
	struct nt_engine_key *engine_key;
};

/* Has any rank of this node one of them? */
static bool has_flags(const struct nt_shm_comm *comm, uint32_t flags)
{
	for (unsigned m = 0; nt_shm_taken(comm, m); m++) {
		if (atomic_load(&comm->slot[m].flags) & flags)
			return true;
	}
	return false;
}

/* Calls of the rank that has the most */
static uint64_t most_calls(const struct nt_shm_key *key)
{
	uint64_t calls = 0;

	for (unsigned m = 0; m < NT_SHM_SLOTS; m++) {
		uint64_t of_slot = atomic_load(&key->calls[m]);

		if (of_slot > calls)
			calls = of_slot;
	}
	return calls;
}

static void add_remembered(const struct nt_explorer *explorer, struct nt_key_info *info)
{
	int arm = -1;

	if (explorer->warm)
		arm = nt_warm_find(explorer->warm, info->ranks, info->nodes,
				   (int)nt_key_coll(info->key), nt_key_band(info->key));
	if (arm < 0)
		return;
	info->remembered = true;
	info->remembered_arm = (uint16_t)arm;
}

/* What the job has left; 0: unknown. Past its end it will not go on for long. */
static double left_us(const struct nt_explorer *explorer)
{
	const uint64_t now_us = explorer->end_us ? nt_clock_us() : 0;

	if (explorer->end_us == 0)
		return 0;
	return explorer->end_us > now_us ? (double)(explorer->end_us - now_us) : 1;
}

static double age_us(const struct nt_explorer *explorer)
{
	return explorer->began_us ? (double)(nt_clock_us() - explorer->began_us) : 0;
}

/* Only needed where arms are chosen */
static uint32_t forbidden_of(const struct nt_explorer *explorer, const struct nt_shm_comm *comm)
{
	const struct nt_policy *policy = &explorer->engine.policy;
	const uint32_t risks = nt_ll128_risks(policy, atomic_load(&comm->risks),
					      atomic_load(&comm->nodes),
					      atomic_load(&comm->baseline_pairs));

	return nt_policy_forbidden(policy) | (risks ? NT_PAIRS_LL128 : 0);
}

/* Without the channels, which are expensive to read and only needed after a round */
static struct nt_key_info info_of(const struct nt_explorer *explorer,
				  const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	struct nt_key_info info = {
		.comm = atomic_load(&comm->id),
		.key = atomic_load(&key->id),
		.ranks = atomic_load(&comm->ranks),
		.nodes = atomic_load(&comm->nodes),
		.baseline_arm = key->baseline_arm,
		.forbidden = forbidden_of(explorer, comm),
		.calls = most_calls(key),
		.left_us = left_us(explorer),
		.age_us = age_us(explorer),
		.captured = has_flags(comm, NT_PARTICIPANT_GRAPHS),
	};

	if (explorer->shm)
		info.share = nt_key_shares_of(&explorer->shares, explorer->shm,
					      (unsigned)(comm - explorer->shm->comm), key);
	memcpy(info.cost_us, key->cost_us, sizeof(info.cost_us));
	add_remembered(explorer, &info);
	return info;
}

/* Most channels that NCCL gave any pair of this communicator, as local ranks see it */
static unsigned most_channels(const struct nt_shm_comm *comm)
{
	unsigned most = 0;

	for (unsigned k = 0; nt_shm_claimed(comm, k); k++) {
		for (int pair = 0; pair < NT_PAIRS; pair++) {
			unsigned seen = atomic_load(&comm->key[k].channels[pair]);

			if (nt_pair_takes_channels(pair) && seen > most)
				most = seen;
		}
	}
	return most;
}

static struct nt_channels channels_of(const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	struct nt_channels channels = {
		.ranks = atomic_load(&comm->ranks),
		.most = most_channels(comm),
	};

	for (unsigned pair = 0; pair < NT_PAIRS; pair++)
		channels.given[pair] = atomic_load(&key->channels[pair]);
	return channels;
}

static bool may_open(const struct nt_explorer *explorer, const struct nt_shm_comm *comm,
		     const struct nt_shm_key *key)
{
	struct nt_key_info info;

	if (!atomic_load(&key->described))
		return false;
	info = info_of(explorer, comm, key);
	return nt_engine_may_open(&explorer->engine, &info);
}

/* The node of rank 0 coordinates a communicator. */
static bool is_coordinator(const struct nt_shm_comm *comm)
{
	for (unsigned m = 0; nt_shm_taken(comm, m); m++) {
		if (atomic_load(&comm->slot[m].state) == NT_PARTICIPANT_JOINED &&
		    comm->slot[m].caps.rank == 0)
			return true;
	}
	return false;
}

static struct nt_scheduled scheduled_of(const struct nt_shm_comm *comm,
					const struct nt_shm_key *key)
{
	return (struct nt_scheduled){
		.comm = atomic_load(&comm->id),
		.key = atomic_load(&key->id),
		.ranks = atomic_load(&comm->ranks),
		.nodes = atomic_load(&comm->nodes),
		.calls = most_calls(key),
		.us = nt_key_shares_rank_us(key),
	};
}

/* A key that asks to be opened, and what comes before it */
struct asking {
	const struct nt_explorer *explorer;
	const struct nt_shm_comm *comm;
	struct nt_scheduled self;
	bool patient; /* it waits for others */
	unsigned ahead; /* keys of this coordinator that come first */
};

static bool is_open(const struct nt_explorer *explorer, const struct nt_shm_key *key)
{
	const struct nt_open_key *open = explorer->open;

	while (open && open->shm_key != key)
		open = open->next;
	return open != NULL;
}

/* Must it wait for this key, perhaps one of its own communicator? */
static bool waits_for(struct asking *a, const struct nt_shm_comm *comm,
		      const struct nt_shm_key *key)
{
	const uint32_t state = atomic_load(&key->state);
	struct nt_scheduled other = scheduled_of(comm, key);

	if (state != NT_KEY_OPEN && state != NT_KEY_IDLE)
		return false;
	/* Shared memory shows a key as open once all nodes can know. */
	other.open = state == NT_KEY_OPEN || is_open(a->explorer, key);
	/* Checked only where it matters: there may be thousands of keys. */
	if (!other.open && nt_scheduler_before(&other, &a->self))
		other.ready = may_open(a->explorer, comm, key);
	if (other.ready && is_coordinator(comm))
		a->ahead++;
	return a->patient && comm != a->comm && nt_scheduler_waits(&a->self, &other, true) &&
	       nt_scheduler_waits(&a->self, &other,
				  nt_shm_share_gpu(a->explorer->shm, a->comm, comm));
}

static bool waits_for_comm(struct asking *a, const struct nt_shm_comm *comm)
{
	for (unsigned k = 0; nt_shm_claimed(comm, k); k++) {
		if (waits_for(a, comm, &comm->key[k]))
			return true;
	}
	return false;
}

/* Length and number of the program's steps */
static void take_steps(const struct nt_explorer *explorer, struct nt_key_info *info)
{
	struct nt_marker_found found;

	info->step_us = explorer->marker ? nt_marker_step_us(explorer->marker) : 0;
	if (info->step_us > 0 && nt_marker_find(explorer->marker, &found))
		info->steps = found.steps;
}

/* Has a key of so many calls time to wait for others? */
static bool is_patient(const struct nt_explorer *explorer, uint64_t calls)
{
	const struct nt_policy *policy = &explorer->engine.policy;
	struct nt_key_info info = { .calls = calls, .age_us = age_us(explorer) };

	if (nt_scheduler_waited(policy, calls, info.age_us))
		return false;
	if (!nt_time_budget_presses(policy, &info))
		return true;
	/* A longer step leaves more time; its length is expensive to find. */
	take_steps(explorer, &info);
	return !nt_time_budget_presses(policy, &info);
}

/* Is there room, and does no other key come first? */
static bool is_next(const struct nt_explorer *explorer, const struct nt_shm_comm *comm,
		    const struct nt_shm_key *key)
{
	struct asking a = { .explorer = explorer, .comm = comm, .self = scheduled_of(comm, key) };

	if (explorer->engine.open >= OPEN_KEYS)
		return false;
	a.patient = is_patient(explorer, a.self.calls);
	for (unsigned c = 0; explorer->shm && c < NT_SHM_COMMS; c++) {
		const struct nt_shm_comm *other = &explorer->shm->comm[c];

		if (atomic_load(&other->id) != 0 && atomic_load(&other->state) == NT_COMM_AGREED &&
		    waits_for_comm(&a, other))
			return false;
	}
	return !a.patient || a.ahead + explorer->engine.open < OPEN_KEYS;
}

static void update_shares(struct nt_explorer *explorer, uint64_t age_ms)
{
	const uint64_t now_ms = nt_clock_ms();

	if (explorer->shm &&
	    (explorer->shares.looked_ms == 0 || now_ms - explorer->shares.looked_ms >= age_ms))
		nt_key_shares_update(&explorer->shares, explorer->shm, now_ms);
}

static bool key_may_open(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *key)
{
	struct nt_explorer *explorer = arg;

	/* An arm committed without a test needs no sample area, and disturbs no measurement. */
	if (explorer->engine.policy.mode == NT_MODE_POLICY)
		return explorer->engine.open < POLICY_KEYS && may_open(explorer, comm, key);
	update_shares(explorer, LOOK_MS);
	if (!may_open(explorer, comm, key) || !is_next(explorer, comm, key))
		return false;
	/* Other keys may have been called since. */
	update_shares(explorer, 0);
	return may_open(explorer, comm, key);
}

/* A remembered arm waits for no calls, and a rarely called key for fewer: has the communicator such
 * a key, or enough calls? */
static bool comm_early(void *arg, const struct nt_shm_comm *comm)
{
	const struct nt_explorer *explorer = arg;
	const struct nt_policy *policy = &explorer->engine.policy;
	const uint64_t least = nt_warm_least_calls(policy, age_us(explorer));

	if (!explorer->warm && least == (uint64_t)policy->min_calls)
		return false;
	for (unsigned k = 0; nt_shm_claimed(comm, k); k++) {
		const struct nt_shm_key *key = &comm->key[k];
		struct nt_key_info info;

		if (!atomic_load(&key->described))
			continue;
		info = info_of(explorer, comm, key);
		if (info.calls >= least || (explorer->warm && nt_warm_may_open(policy, &info)))
			return true;
	}
	return false;
}

/* Takes the engine's key over. */
static struct nt_open_key *open_key(struct nt_explorer *explorer, const struct nt_shm_comm *comm,
				    const struct nt_shm_key *shm_key,
				    struct nt_engine_key *engine_key)
{
	struct nt_open_key *key = engine_key ? malloc(sizeof(*key)) : NULL;

	if (key) {
		*key = (struct nt_open_key){ explorer, explorer->open, comm, shm_key, engine_key };
		explorer->open = key;
	} else if (engine_key) {
		nt_engine_end(engine_key);
	}
	return key;
}

static void *key_start(void *arg, const struct nt_shm_comm *comm, const struct nt_shm_key *shm_key)
{
	struct nt_explorer *explorer = arg;
	const struct nt_key_info info = info_of(explorer, comm, shm_key);

	return open_key(explorer, comm, shm_key, nt_engine_start(&explorer->engine, &info));
}

static bool recheck_may_open(void *arg, const struct nt_shm_comm *comm,
			     const struct nt_plan *committed)
{
	struct nt_schedule s;

	(void)arg;
	return !has_flags(comm, UINT32_MAX) &&
	       nt_schedule_read(&s, committed->payload, committed->payload_bytes) == 0 &&
	       nt_engine_may_recheck(&s);
}

static bool program_slower(void *arg)
{
	const struct nt_explorer *explorer = arg;

	return explorer->slower;
}

static void *recheck_start(void *arg, const struct nt_shm_comm *comm,
			   const struct nt_shm_key *shm_key, const struct nt_plan *committed)
{
	struct nt_explorer *explorer = arg;
	const struct nt_key_info info = info_of(explorer, comm, shm_key);
	struct nt_schedule s;

	if (nt_schedule_read(&s, committed->payload, committed->payload_bytes) < 0)
		return NULL;
	return open_key(explorer, comm, shm_key,
			nt_engine_start_recheck(&explorer->engine, &info, s.arm[0],
						(enum nt_measure)s.outcome.measure));
}

static int key_next(void *arg, struct nt_plan *plan)
{
	const struct nt_open_key *key = arg;
	struct nt_key_info info = info_of(key->explorer, key->comm, key->shm_key);
	enum nt_engine_next next;
	struct nt_schedule s;

	info.channels = channels_of(key->comm, key->shm_key);
	take_steps(key->explorer, &info);
	next = nt_engine_next(key->engine_key, &info, &s);
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
	struct nt_open_key **at = &key->explorer->open;

	while (*at != key)
		at = &(*at)->next;
	*at = key->next;
	nt_engine_end(key->engine_key);
	free(key);
}

/* By enum nt_measure, and their number. Zeros if a participating rank has no time: it may have been
 * the slowest. */
static unsigned times_of(const _Atomic uint32_t times[][NT_RUN_POSITIONS],
			 const struct nt_shm_run *run, uint32_t slots, uint32_t position,
			 uint64_t ns[NT_MEASURES])
{
	uint64_t slowest = 0, fastest = UINT64_MAX, sum = 0;
	unsigned ranks = 0;

	memset(ns, 0, NT_MEASURES * sizeof(ns[0]));
	for (uint32_t m = 0; m < slots && m < NT_SHM_SLOTS; m++) {
		const uint64_t time = nt_shm_time_ns(
			atomic_load_explicit(&times[m][position], memory_order_relaxed));

		if (time == 0 && atomic_load_explicit(&run->issued[m], memory_order_relaxed) != 0)
			return 0;
		if (time == 0)
			continue;
		slowest = time > slowest ? time : slowest;
		fastest = time < fastest ? time : fastest;
		sum += time;
		ranks++;
	}
	if (ranks == 0)
		return 0;
	ns[NT_MEASURE_SLOWEST] = slowest;
	ns[NT_MEASURE_MEAN] = sum / ranks;
	ns[NT_MEASURE_FASTEST] = fastest;
	return ranks;
}

static uint64_t slowest_ns(const _Atomic uint32_t times[][NT_RUN_POSITIONS],
			   const struct nt_shm_run *run, uint32_t slots, uint32_t position)
{
	uint64_t ns[NT_MEASURES];

	(void)times_of(times, run, slots, position, ns);
	return ns[NT_MEASURE_SLOWEST];
}

/* Median of an arm's calls; 0: none */
static uint64_t duration_ns(const struct nt_shm_run *run, uint32_t slots,
			    const struct nt_schedule *schedule, uint32_t epoch, unsigned index)
{
	uint64_t ns[NT_RUN_POSITIONS];
	unsigned count = 0;

	for (uint32_t p = 0; p < nt_schedule_positions(schedule); p++) {
		if (nt_schedule_sample(schedule, p) < 0 ||
		    nt_schedule_index(schedule, epoch, p) != (int)index)
			continue;
		ns[count] = slowest_ns(run->duration, run, slots, p);
		count += ns[count] != 0;
	}
	nt_sort_u64(ns, count);
	return count ? ns[count / 2] : 0;
}

size_t nt_explorer_gather(const struct nt_shm *shm, const struct nt_plan *plan, uint32_t slots,
			  int64_t reward, uint8_t *out, size_t cap)
{
	uint16_t packed[NT_TIMES_MAX] = { 0 };
	const struct nt_shm_run *run;
	struct nt_schedule schedule;
	unsigned ranks = 0;

	if (plan->run >= NT_SHM_RUNS || plan->until == NT_NEVER ||
	    nt_schedule_read(&schedule, plan->payload, plan->payload_bytes) < 0)
		return 0;
	run = &shm->run[plan->run];
	for (uint32_t p = 0; p < nt_schedule_positions(&schedule); p++) {
		uint64_t ns[NT_MEASURES];
		const unsigned of = times_of(run->sample, run, slots, p, ns);

		ranks = of > ranks ? of : ranks;
		nt_times_put(packed, &schedule, plan->epoch, p, reward, ns,
			     slowest_ns(run->period, run, slots, p));
	}
	for (unsigned i = 0; i < schedule.count; i++)
		packed[nt_times_duration_at(&schedule, i)] = nt_times_pack(
			duration_ns(run, slots, &schedule, plan->epoch, i));
	return nt_times_write(packed, &schedule, ranks, out, cap);
}

static size_t gather(void *arg, const struct nt_shm *shm, const struct nt_plan *plan,
		     uint32_t slots, uint8_t *out, size_t cap)
{
	const struct nt_explorer *explorer = arg;

	return nt_explorer_gather(shm, plan, slots, explorer->engine.policy.reward, out, cap);
}

static size_t combine(void *arg, uint8_t *sum, size_t count, const uint8_t *bytes, size_t more)
{
	(void)arg;
	return nt_times_combine(sum, count, bytes, more);
}

struct nt_agree_hooks nt_explorer_hooks(struct nt_explorer *explorer)
{
	return (struct nt_agree_hooks){
		.arg = explorer,
		.may_open = key_may_open,
		.early = comm_early,
		.start = key_start,
		.next = key_next,
		.ready = key_ready,
		.absorb = key_absorb,
		.end = key_end,
		.gather = gather,
		.combine = combine,
		.may_recheck = recheck_may_open,
		.start_recheck = recheck_start,
		.slower = program_slower,
		.recheck_ms = (uint32_t)explorer->engine.policy.recheck_s * 1000,
	};
}
