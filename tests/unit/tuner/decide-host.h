/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-host.h - one rank of a communicator, and NCCL's calls, in a few functions
 *
 * The test is the node leader: it writes states and plans to shared memory itself (SLURM_LOCALID
 * is 1, so that the process's own thread does not).
 */
#ifndef NT_TEST_DECIDE_HOST_H
#define NT_TEST_DECIDE_HOST_H

#include <sys/statvfs.h>
#include <unistd.h>
#include "tests/lib/unit.h"
#undef stop /* a macro of cmocka 2, and a member of our tables */
#include "contract/policy.h"
#include "tuner/decide.h"
#include "tuner/costs.h"
#include "tuner/event.h"
#include "tuner/apply-plan.h"
#include "tuner/open.h"
#include "tuner/helper-thread.h"

#define TREE_LL 0
#define TREE_SIMPLE 2
#define RING_SIMPLE 5
#define HOST_LEGAL ((1u << TREE_SIMPLE) | (1u << RING_SIMPLE) | (1u << TREE_LL))

struct host {
	char dir[64];
	struct nt_process process;
	struct nt_comm *comm;
	int mask; /* NCCL's */
	uint64_t seq[NT_COLLS];
	uint64_t gpu_ns; /* the GPU's clock */
	uint64_t duration_ns; /* from the start of the next collectives to those after them */
	unsigned channels;
	float cost[NT_PAIRS];
	float table[NT_PAIRS]; /* table of the last decision, as the plugin left it */
	int asked_channels; /* ... and the channels that it asked for; 0: NCCL's own number */
	int rc; /* of the last decision */
};

static char host_said[1024]; /* the newest warning */
static bool host_shm_lacks; /* there is no /dev/shm */

/* Instead of libc's: the plugin asks about /dev/shm alone, and tests do not depend on the
 * machine's, which has no limit here. */
int statvfs(const char *restrict path, struct statvfs *restrict status)
{
	(void)path;
	memset(status, 0, sizeof(*status));
	return host_shm_lacks ? -1 : 0;
}

static inline void host_log(int level, unsigned long subsystems, const char *file, int line,
			    const char *format, ...) __attribute__((format(printf, 5, 6)));
static inline void host_log(int level, unsigned long subsystems, const char *file, int line,
			    const char *format, ...)
{
	va_list args;

	(void)subsystems, (void)file, (void)line;
	if (level != NT_NCCL_LOG_WARN)
		return;
	va_start(args, format);
	vsnprintf(host_said, sizeof(host_said), format, args);
	va_end(args);
}

static inline void host_policy(const char *dir, const char *option, char *out, size_t out_bytes)
{
	struct nt_node_step place = { .node = "n1", .job = 12, .step = 0, .fingerprint = 7 };
	struct nt_policy policy;
	struct nt_error err = { "" };

	nt_policy_default(&policy);
	snprintf(place.shm, sizeof(place.shm), "%s/shm", dir);
	if (nt_policy_parse_option(&policy, option, &err) < 0 ||
	    nt_policy_format_task(&policy, &place, out, out_bytes, &err) < 0)
		fail_msg("%s", err.text);
}

static inline struct nt_comm *host_add_comm(struct host *h, uint64_t id, int rank, int tuner_api,
					    int profiler_api)
{
	struct nt_comm_identity profiler = { id, "dp", rank, 8, 2, profiler_api };
	struct nt_comm_identity tuner = { tuner_api >= 5 ? id : 0, NULL, -1, 8, 2, tuner_api };

	if (profiler_api)
		(void)nt_comm_open_profiler(&h->process, &profiler);
	return nt_comm_open_tuner(&h->process, &tuner);
}

static inline void host_open_api(struct host *h, const char *option, int tuner_api,
				 int profiler_api)
{
	char text[NT_POLICY_MAX];
	struct nt_error err = { "" };

	memset(h, 0, sizeof(*h));
	host_said[0] = '\0';
	setenv("SLURM_PROCID", "3", 1);
	setenv("SLURM_LOCALID", "1", 1);
	snprintf(h->dir, sizeof(h->dir), "/tmp/nt-decide.XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	host_policy(h->dir, option, text, sizeof(text));
	if (nt_process_open(&h->process, text, host_log, &nt_helper_thread_work, &err) < 0)
		fail_msg("%s", err.text);
	nt_mask_attach(&h->process.mask, &h->mask);
	h->comm = host_add_comm(h, 0xabc, 3, tuner_api, profiler_api);
	assert_non_null(h->comm);
	for (int i = 0; i < NT_PAIRS; i++)
		h->cost[i] = -1.0f;
	h->cost[TREE_LL] = 90.0f;
	h->cost[TREE_SIMPLE] = 50.0f;
	h->cost[RING_SIMPLE] = 40.0f;
	h->duration_ns = 100000;
	h->gpu_ns = 1000000000;
	h->channels = 2;
}

static inline void host_open(struct host *h, const char *option)
{
	host_open_api(h, option, 5, 5);
}

/* The helper thread ends, however long a busy machine takes for that. */
static inline void host_unhelp(struct host *h)
{
	assert_true(nt_process_unhelp(&h->process, 600000));
}

static inline void host_close(struct host *h)
{
	char command[128];

	host_unhelp(h);
	nt_process_close(&h->process);
	snprintf(command, sizeof(command), "rm -rf %s", h->dir);
	if (system(command) != 0)
		fail_msg("cannot remove %s", h->dir);
}

/* NCCL's pick from the last table. */
static inline int host_picked(const struct host *h)
{
	return nt_costs_baseline(h->table, NT_PAIRS, false);
}

static inline void host_decide(struct host *h, int coll, size_t bytes)
{
	const struct nt_call call = { .coll = coll,
				      .bytes = bytes,
				      .cost = h->table,
				      .algos = NT_ALGOS,
				      .protos = NT_PROTOS,
				      .channels = &h->asked_channels };

	memcpy(h->table, h->cost, sizeof(h->table));
	h->asked_channels = 0;
	h->rc = nt_comm_decide(h->comm, &call);
}

/* The kernels of a collective start, one channel after the other; the next ones do duration_ns
 * later. */
static inline void host_kernels(struct host *h, void *coll_event)
{
	for (unsigned i = 0; i < h->channels; i++)
		nt_event_kernel(h->comm, coll_event, i, h->gpu_ns + i * 100);
	h->gpu_ns += h->duration_ns;
}

/* The Coll event of a task that ran by an arm. Returns its handle. */
static inline void *host_coll_event_of(struct host *h, int coll, size_t bytes, int arm)
{
	size_t count = bytes / 4;
	struct nt_coll_event event = {
		.func = nt_coll_name(coll),
		.datatype = "ncclFloat32",
		.algo = nt_algo_name(arm / NT_PROTOS),
		.proto = nt_proto_name(arm % NT_PROTOS),
		.seq = h->seq[coll]++,
		.channels = (uint8_t)h->channels,
	};

	if (coll == NT_ALLGATHER || coll == NT_REDUCESCATTER)
		count /= h->comm->fixed.ranks;
	event.count = count;
	return nt_event_coll(h->comm, &event);
}

/* ... that ran by the last table. */
static inline void *host_coll_event(struct host *h, int coll, size_t bytes)
{
	return host_coll_event_of(h, coll, bytes, host_picked(h));
}

/* One ungrouped collective, with the events that its mask asks for. Returns the arm that ran. */
static inline int host_collective(struct host *h, int coll, size_t bytes)
{
	int mask = h->mask;
	void *event;

	if (mask != 0 && h->comm->fixed.profiler_api >= 5)
		nt_event_call(h->comm, false);
	host_decide(h, coll, bytes);
	if (mask & (int)NT_PROF_KERNEL_LAUNCH && h->comm->fixed.profiler_api >= 5) {
		nt_event_launch(h->comm);
		assert_null(nt_event_group(h->comm));
	}
	if (!(mask & (int)NT_PROF_COLL)) {
		h->seq[coll]++;
		return host_picked(h);
	}
	event = host_coll_event(h, coll, bytes);
	if (mask & (int)NT_PROF_KERNEL_CH)
		host_kernels(h, event);
	return host_picked(h);
}

static inline struct nt_shm_key *host_key(struct host *h, int coll, size_t bytes)
{
	uint64_t id = nt_key_id((unsigned)coll, nt_band(bytes), HOST_LEGAL);

	for (int i = 0; i < NT_SHM_KEYS; i++) {
		if (atomic_load(&h->comm->fixed.shm->key[i].id) == id)
			return &h->comm->fixed.shm->key[i];
	}
	fail_msg("the key is not in the shared memory");
	return NULL;
}

static inline struct nt_local_key *host_own_key(struct host *h, int coll, size_t bytes)
{
	const struct nt_call call = { .cost = h->cost, .algos = NT_ALGOS };

	return nt_comm_key(h->comm, nt_key_id((unsigned)coll, nt_band(bytes), HOST_LEGAL), &call);
}

/* A place for the times of a plan of the key. */
static inline uint32_t host_run(struct host *h, const struct nt_shm_key *key)
{
	return nt_shm_run_take(h->process.map.shm, h->comm->fixed.slot.comm,
			       (uint32_t)(key - h->comm->fixed.shm->key));
}

static inline uint32_t host_owner(struct host *h, const struct nt_shm_key *key)
{
	return 1 + h->comm->fixed.slot.comm * NT_SHM_KEYS +
	       (uint32_t)(key - h->comm->fixed.shm->key);
}

/* As a node leader commits: the plan first, then its epoch. */
static inline void host_commit(struct nt_shm_key *key, const struct nt_plan *plan)
{
	key->plan[plan->epoch & 1] = *plan;
	atomic_store(&key->epoch, plan->epoch);
	if (plan->until == NT_NEVER)
		atomic_store(&key->state, NT_KEY_COMMITTED);
	atomic_store(&key->hold_at, 0);
}

static inline struct nt_plan host_plan(uint32_t epoch, uint64_t at,
				       const struct nt_schedule *schedule)
{
	struct nt_plan plan = { .at = at, .epoch = epoch, .stride = 1, .run = NT_NO_RUN };

	plan.until = schedule->kind == NT_SCHEDULE_COMMITTED ? NT_NEVER
							     : at + nt_schedule_positions(schedule);
	plan.payload_bytes = (uint32_t)nt_schedule_write(schedule, plan.payload,
							 sizeof(plan.payload));
	return plan;
}

static inline struct nt_schedule host_screen(void)
{
	return (struct nt_schedule){ .kind = NT_SCHEDULE_SCREEN,
				     .count = 3,
				     .blocks = 4,
				     .arm = { NT_ARM_BASELINE, TREE_SIMPLE, TREE_LL } };
}

static inline struct nt_schedule host_final(int arm)
{
	return (struct nt_schedule){ .kind = NT_SCHEDULE_COMMITTED,
				     .count = 1,
				     .arm = { (uint16_t)arm },
				     .outcome = { .verdict = NT_VERDICT_FASTER,
						  .baseline_arm = RING_SIMPLE,
						  .best_arm = (uint16_t)arm,
						  .chosen_arm = (uint16_t)arm,
						  .samples = 24,
						  .p = 0.0001f,
						  .baseline_us = 280,
						  .best_us = 170,
						  .baseline_p25_us = 270,
						  .best_p25_us = 160,
						  .baseline_p75_us = 300,
						  .best_p75_us = 180,
						  .predicted_baseline_us = 40,
						  .predicted_best_us = 50,
						  .spent_calls = 12,
						  .spent_ms = -0.5f,
						  .duration_baseline_us = 90,
						  .duration_best_us = 60,
						  .period_baseline_us = 900 } };
}

/* Open the key and make calls until its turn is known. Returns the turn of its next decision. */
static inline uint64_t host_open_key(struct host *h, int coll, size_t bytes)
{
	struct nt_shm_key *key;

	host_collective(h, coll, bytes);
	key = host_key(h, coll, bytes);
	atomic_store(&key->state, NT_KEY_OPEN);
	for (int i = 0;
	     i < 8 && atomic_load(&key->turn[h->comm->fixed.slot.index]) == NT_TURN_UNKNOWN; i++)
		host_collective(h, coll, bytes);
	assert_int_not_equal(atomic_load(&key->turn[h->comm->fixed.slot.index]), NT_TURN_UNKNOWN);
	return h->seq[coll];
}

#endif
