/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/world.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "pmix-sync/log-entry.h"
#include "record/rankread.h"
#include "lib/clock.h"
#include "tuner/costs.h"
#include "tuner/decide.h"
#include "tuner/event.h"
#include "tuner/open.h"
#include "tuner/helper-thread.h"
#include "tuner/rank-record.h"

/* Rounds are short, and nothing is too small or too dear to be tried. */
#define OPTION                                                                         \
	"bandit,screen_blocks=2,confirm_blocks=8,channels=on,min_calls=2,min_share=0," \
	"max_calls=0,max_extra=0,recheck=5,join_timeout=2,agree_timeout=1"

/* ---- a clock that goes on by itself (-Wl,--wrap) */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);

static uint64_t clock_us;

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (clock != CLOCK_MONOTONIC)
		return __real_clock_gettime(clock, now);
	clock_us += 20;
	*now = (struct timespec){ .tv_sec = (time_t)(clock_us / 1000000),
				  .tv_nsec = (long)(clock_us % 1000000) * 1000 };
	return 0;
}

int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
	(void)wanted;
	(void)left;
	clock_us += 50000;
	return 0;
}

/* ---- opening and closing */

static struct nt_shm *empty_shm(void)
{
	static void *shm;

	if (!shm)
		shm = mmap(NULL, sizeof(struct nt_shm), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	FUZZ_CHECK(shm != MAP_FAILED);
	FUZZ_CHECK(madvise(shm, sizeof(struct nt_shm), MADV_DONTNEED) == 0);
	return shm;
}

static void open_comm(struct world *w, unsigned comm, int rank)
{
	const struct nt_comm_identity who = { .id = WORLD_ID(comm),
					      .name = "dp",
					      .rank = rank,
					      .ranks = 2,
					      .nodes = 1 + comm,
					      .api = 5 };

	FUZZ_CHECK(nt_comm_open_profiler(&w->process, &who) != NULL);
	w->comm[comm] = nt_comm_open_tuner(&w->process, &who);
	FUZZ_CHECK(w->comm[comm] != NULL && w->comm[comm]->fixed.shm != NULL);
}

static int node_of_task(void *arg, uint32_t task)
{
	(void)arg;
	return task < 4 ? (int)task / 2 : -1;
}

static const char *node_name(void *arg, uint32_t node)
{
	(void)arg;
	return node ? "n2" : "n1";
}

static void open_agreement(struct world *w)
{
	struct nt_agree_config config = {
		.shm = w->process.map.shm,
		.self = 0,
		.nodes = 2,
		.tasks = 4,
		.node_of_task = node_of_task,
		.node_name = node_name,
		.join_ms = 2000,
		.join_calls = 1,
		.agree_ms = 1000,
	};

	w->home.engine.policy = nt_engine_policy(&w->process.policy);
	w->home.engine.histories = &w->histories;
	w->home.shm = w->process.map.shm;
	w->process.histories = &w->histories;
	config.hooks = nt_explorer_hooks(&w->home);
	w->agree = nt_agree_create(&config, NULL);
	FUZZ_CHECK(w->agree != NULL);
}

static void open_process(struct nt_process *process)
{
	const struct nt_node_step place = {
		.shm = "/nonexistent/shm", .node = "n1", .fingerprint = 7, .job = 12
	};
	struct nt_policy policy;
	char text[NT_POLICY_MAX];
	struct nt_error err;

	setenv("SLURM_PROCID", "0", 1);
	setenv("SLURM_LOCALID", "1", 1);
	nt_policy_default(&policy);
	FUZZ_CHECK(nt_policy_parse_option(&policy, OPTION, &err) == 0);
	FUZZ_CHECK(nt_policy_format_task(&policy, &place, text, sizeof(text), &err) == 0);
	FUZZ_CHECK(nt_process_open(process, text, NULL, &nt_helper_thread_work, &err) == 0);
}

void world_open(struct world *w, struct fuzz *in)
{
	const uint32_t how = fuzz_below(in, 8);
	struct nt_capabilities caps;

	memset(w, 0, sizeof(*w));
	clock_us = 1000000;
	open_process(&w->process);
	w->process.helper.stop = true; /* it is not started */
	w->process.map = (struct nt_shm_map){ .shm = empty_shm(), .fd = -1 };
	nt_reason_set(&w->process.no_shm, NT_REASON_NONE);
	atomic_store(&w->process.nccl, how & 4 ? 23200 : 22809);
	nt_mask_attach(&w->process.mask, &w->mask);
	w->gpu_ns = 1000000000;
	w->away = how & 1;
	w->answers = (how & 2) == 0;
	open_comm(w, 0, 0);
	open_comm(w, 1, w->away);
	caps = w->comm[0]->fixed.caps;
	caps.rank = 1;
	caps.task = 1;
	FUZZ_CHECK(nt_shm_join(w->process.map.shm, WORLD_ID(0), 2, 1, &caps, &w->other, NULL) == 0);
	open_agreement(w);
}

void world_close(struct world *w)
{
	nt_agree_leave(w->agree, nt_clock_ms());
	for (int c = 0; c < WORLD_COMMS; c++) {
		nt_comm_close_tuner(w->comm[c]);
		nt_comm_close_profiler(w->comm[c]);
	}
	world_record(w);
	nt_agree_destroy(w->agree);
	nt_histories_clear(&w->histories);
	w->process.histories = NULL;
	w->process.map.shm = NULL;
	nt_process_close(&w->process);
}

/* ---- NCCL */

static const float tables[][NT_PAIRS] = {
	{ 90, -1, 50, 80, -1, 40, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
	{ 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 },
	{ -1, -1, 0, -1, -1, 0, -1, -1, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
	{ NAN, -1, 3.6e9f, INFINITY, -INFINITY, 4, -0.0f, 1e-40f, -1, -1, -1, -1, -1, -1, -1, -1 },
};

static const size_t sizes[] = { 65536, 16 << 20, 8, 1 << 20 };

static uint32_t bits_of(float cost)
{
	uint32_t bits;

	memcpy(&bits, &cost, sizeof(bits));
	return bits;
}

/* At most one entry is 0 that was not, and it was legal; entries that were 0 may be the least
 * number above; all else is as it was. */
static void check_table(const float *before, const float *after, bool failed)
{
	unsigned forced = 0;

	for (int i = 0; i < NT_PAIRS; i++) {
		if (bits_of(before[i]) == bits_of(after[i]))
			continue;
		FUZZ_CHECK(!failed);
		if (before[i] == 0.0f && after[i] == FLT_MIN)
			continue;
		FUZZ_CHECK(before[i] >= 0.0f && before[i] < NT_NOT_WORTH_US && after[i] == 0.0f);
		FUZZ_CHECK(++forced == 1);
	}
}

/* As the helper thread does. */
static void publish_calls(struct nt_comm *c)
{
	for (unsigned k = 0; k < nt_comm_keys(c); k++) {
		struct nt_shm_key *shared = c->key[k].fixed.shared;

		if (shared)
			atomic_store(&shared->calls[c->fixed.slot.index], nt_key_calls(&c->key[k]));
	}
}

/* The other rank of communicator 0 does as ours. */
static void mirror(struct world *w)
{
	struct nt_shm_comm *shm = w->comm[0]->fixed.shm;
	const uint32_t mine = w->comm[0]->fixed.slot.index, other = w->other.index;

	for (uint32_t k = 0; k < 4; k++) {
		struct nt_shm_key *key = &shm->key[k];

		atomic_store(&key->calls[other], atomic_load(&key->calls[mine]));
		atomic_store(&key->turn[other], atomic_load(&key->turn[mine]));
		atomic_store(&key->passed[other], atomic_load(&key->passed[mine]));
	}
}

static void tell(struct world *w, unsigned comm, int coll, size_t bytes, const float *table)
{
	struct nt_comm *c = w->comm[comm];
	const int pair = nt_costs_baseline(table, NT_PAIRS, c->fixed.last_wins);
	struct nt_coll_event event = { .func = nt_coll_name(coll),
				       .datatype = "ncclInt8",
				       .count = bytes,
				       .seq = w->seq[comm][coll]++,
				       .channels = 2 };
	void *handle, *kernel;

	if (w->mask & (int)NT_PROF_KERNEL_LAUNCH) {
		nt_event_launch(c);
		(void)nt_event_group(c);
	}
	if (!(w->mask & (int)NT_PROF_COLL) || pair >= NT_PAIRS)
		return;
	if (coll == NT_ALLGATHER || coll == NT_REDUCESCATTER)
		event.count = bytes / 2;
	event.algo = nt_algo_name(pair / NT_PROTOS);
	event.proto = nt_proto_name(pair % NT_PROTOS);
	handle = nt_event_coll(c, &event);
	if (!(w->mask & (int)NT_PROF_KERNEL_CH))
		return;
	kernel = nt_event_kernel(c, handle, 0, w->gpu_ns);
	w->gpu_ns += pair == 5 ? 100000 : 60000;
	if (kernel)
		nt_event_kernel_end(&w->process, kernel, w->gpu_ns - 10000);
}

static void collective(struct world *w, unsigned comm, int coll, unsigned size, unsigned table)
{
	float cost[NT_PAIRS];
	int channels = 0, rc;
	const struct nt_call call = { .coll = coll,
				      .bytes = sizes[size],
				      .cost = cost,
				      .algos = NT_ALGOS,
				      .protos = NT_PROTOS,
				      .channels = &channels };

	memcpy(cost, tables[table], sizeof(cost));
	if (w->mask)
		nt_event_call(w->comm[comm], false);
	rc = nt_comm_decide(w->comm[comm], &call);
	/* The one exception: the outcome of a promise is not to be had. */
	FUZZ_CHECK(rc == NT_NCCL_OK || (rc == NT_NCCL_SYSTEM_ERROR && channels == 0));
	check_table(tables[table], cost, rc != NT_NCCL_OK);
	FUZZ_CHECK(channels >= 0 && channels <= 64);
	tell(w, comm, coll, sizes[size], cost);
	clock_us += 1000;
}

void world_collective(struct world *w, struct fuzz *in)
{
	const uint32_t how = fuzz_below(in, 256), more = fuzz_below(in, 256);

	for (uint32_t n = 0; n <= more % 32; n++) {
		collective(w, how & 1, how & 2 ? (int)(how >> 2 & 3) : NT_ALLREDUCE, how >> 4 & 3,
			   how >> 6);
		publish_calls(w->comm[how & 1]);
		if (w->answers)
			mirror(w);
		if (more & 128 && n % 4 == 3)
			(void)nt_agree_step(w->agree, nt_clock_ms());
	}
}

/* ---- the other node */

struct nt_shm_key *world_key(struct world *w, unsigned comm, struct fuzz *in)
{
	return &w->comm[comm]->fixed.shm->key[fuzz_below(in, 3)];
}

static struct nt_schedule some_schedule(struct fuzz *in)
{
	static const uint16_t others[] = { 2, 0, 3, 7 };
	const uint32_t how = fuzz_below(in, 256);
	struct nt_schedule schedule = { .kind = NT_SCHEDULE_COMMITTED, .count = 1, .arm = { 2 } };

	if (how & 1)
		schedule = nt_schedule_explore(how & 2 ? NT_SCHEDULE_SCREEN : NT_SCHEDULE_CONFIRM,
					       others, how >> 2 & 3, 2 + (how >> 4 & 7));
	else
		schedule.arm[0] = (uint16_t)(how & 2 ? NT_ARM_BASELINE : how >> 2);
	if ((how & 0x80) && (how & 0x40)) {
		uint8_t *bytes = (uint8_t *)&schedule;

		bytes[fuzz_below(in, sizeof(schedule))] = (uint8_t)fuzz_number(in, 1);
		bytes[fuzz_below(in, sizeof(schedule))] = (uint8_t)fuzz_number(in, 1);
	}
	return schedule;
}

struct nt_plan world_plan(struct world *w, unsigned comm, struct fuzz *in)
{
	const struct nt_comm *c = w->comm[comm];
	const struct nt_schedule schedule = some_schedule(in);
	const struct nt_shm_key *key = &c->fixed.shm->key[0];
	const uint32_t how = fuzz_below(in, 64);
	struct nt_plan plan = { .epoch = atomic_load(&key->epoch) + 1,
				.stride = 1 + how / 16,
				.cell = 1 + (how >> 2 & 3),
				.run = NT_NO_RUN };

	plan.at = atomic_load(&key->turn[c->fixed.slot.index]) + (how & 3) * 2;
	plan.until = schedule.kind == NT_SCHEDULE_COMMITTED
			     ? NT_NEVER
			     : plan.at + (uint64_t)nt_schedule_positions(&schedule) * plan.stride;
	plan.payload_bytes = (uint32_t)nt_schedule_write(&schedule, plan.payload,
							 sizeof(plan.payload));
	return plan;
}

static void hear(struct world *w, const struct nt_entry *entry)
{
	uint8_t bytes[NT_ENTRY_MAX];
	const size_t count = nt_entry_write(entry, bytes, sizeof(bytes));

	nt_agree_in(w->agree, 1, bytes, count, nt_clock_ms());
}

static size_t cards_of(const struct world *w, struct fuzz *in, uint8_t *bytes, size_t room)
{
	struct nt_entry_caps all_caps = { .common = w->comm[1]->fixed.caps, .count = 1 };
	const uint32_t odd = in ? fuzz_below(in, 8) : 0;

	all_caps.slot[0].rank = !w->away;
	all_caps.slot[0].task = 2;
	if (odd == 1)
		all_caps.count = fuzz_below(in, NT_SHM_SLOTS + 1);
	for (uint32_t i = 0; odd == 1 && i < all_caps.count; i++)
		all_caps.slot[i].rank = (uint32_t)fuzz_odd_number(in);
	if (odd == 2)
		all_caps.common.idle = (uint32_t)fuzz_odd_number(in);
	if (odd == 3)
		all_caps.common.active = (uint32_t)fuzz_odd_number(in);
	return nt_entry_caps_write(&all_caps, bytes, room);
}

/* What an entry of this type should have in its bytes. */
static size_t fill(struct world *w, struct fuzz *in, struct nt_entry *entry, uint8_t *bytes,
		   size_t room)
{
	const uint32_t nodes[] = { 0, 1 };
	struct nt_plan plan;
	size_t count = 0;

	switch (entry->type) {
	case NT_ENTRY_CAPS: return cards_of(w, in, bytes, room);
	case NT_ENTRY_AGREED: return nt_entry_nodes_write(nodes, 2, bytes, room);
	case NT_ENTRY_PROPOSE:
		plan = world_plan(w, 1, in);
		entry->epoch = plan.epoch;
		entry->turn = plan.at;
		entry->stride = plan.stride;
		entry->cell = plan.cell;
		entry->span = plan.until == NT_NEVER ? NT_NEVER : plan.until - plan.at;
		memcpy(bytes, plan.payload, plan.payload_bytes);
		return plan.payload_bytes;
	case NT_ENTRY_DATA:
		count = fuzz_number(in, 2) % room;
		fuzz_bytes(in, bytes, count < in->left ? count : in->left);
		return count;
	case NT_ENTRY_REJECT:
	case NT_ENTRY_REFUSE: memcpy(bytes, "no\x1b[2J", 6); return 6;
	default: return 0;
	}
}

static void spoil(struct fuzz *in, struct nt_entry *entry, uint8_t *bytes, uint32_t what)
{
	if (what & 1)
		entry->comm = fuzz_below(in, 2) ? WORLD_ID(0) : fuzz_odd_number(in);
	if (what & 2)
		entry->key = fuzz_odd_number(in);
	if (what & 4)
		entry->epoch = (uint32_t)fuzz_odd_number(in);
	if (what & 8)
		entry->turn = fuzz_odd_number(in);
	if (what & 16)
		entry->span = fuzz_odd_number(in);
	if (what & 32)
		entry->stride = entry->to = (uint32_t)fuzz_odd_number(in);
	if (what & 64)
		entry->cell = (uint32_t)fuzz_odd_number(in);
	if (what & 128) {
		entry->count = fuzz_number(in, 2) % NT_ENTRY_BYTES_MAX;
		fuzz_bytes(in, bytes, entry->count);
	}
}

void world_entry(struct world *w, struct fuzz *in)
{
	uint8_t bytes[NT_ENTRY_BYTES_MAX] = { 0 };
	struct nt_shm_key *key = world_key(w, 1, in);
	struct nt_entry entry = { .type = 1 + fuzz_below(in, NT_ENTRY_TYPES - 1),
				  .comm = WORLD_ID(1),
				  .key = atomic_load(&key->id),
				  .epoch = atomic_load(&key->epoch) + fuzz_below(in, 2),
				  .turn = atomic_load(&key->turn[0]),
				  .bytes = bytes };

	entry.count = fill(w, in, &entry, bytes, sizeof(bytes));
	/* Half of them are right: what comes later is else never met. */
	if (fuzz_below(in, 2))
		spoil(in, &entry, bytes, (uint32_t)fuzz_number(in, 1));
	hear(w, &entry);
}

/* As a node does whose ranks do as ours. */
static void answer(struct world *w, const struct nt_entry *said)
{
	uint8_t bytes[1024] = { 0 };
	struct nt_entry entry = *said;

	entry.bytes = bytes;
	entry.count = 0;
	switch (said->type) {
	case NT_ENTRY_WANT: entry.type = NT_ENTRY_READY; break;
	case NT_ENTRY_PROPOSE:
		entry.type = NT_ENTRY_ACK;
		entry.span = 0;
		break;
	case NT_ENTRY_COMMIT:
		entry.type = NT_ENTRY_DATA;
		entry.count = 200;
		for (size_t i = 1; i < entry.count; i += 2)
			bytes[i] = 0x80;
		break;
	case NT_ENTRY_CAPS: /* it is home */
		entry.type = NT_ENTRY_AGREED;
		entry.count = nt_entry_nodes_write((const uint32_t[]){ 0, 1 }, 2, bytes,
						   sizeof(bytes));
		break;
	default: return;
	}
	hear(w, &entry);
}

static void carry(struct world *w)
{
	const uint8_t *bytes = NULL;
	size_t count = nt_agree_out(w->agree, &bytes);
	char *copy = count ? fuzz_text(bytes, count) : NULL;
	struct nt_entry entry;
	size_t used;

	if (!copy)
		return;
	nt_agree_sent(w->agree, nt_clock_ms());
	for (size_t at = 0; w->answers && at < count; at += used) {
		used = nt_entry_read(&entry, (const uint8_t *)copy + at, count - at);
		FUZZ_CHECK(used > 0); /* what we say can be read */
		answer(w, &entry);
	}
	free(copy);
}

void world_step(struct world *w, struct fuzz *in)
{
	const uint32_t how = fuzz_below(in, 256);

	clock_us += (how & 128 ? 1000000u : 10000u) * (uint64_t)(how & 15);
	if (w->answers && !w->away && how & 64) {
		uint8_t bytes[256];
		struct nt_entry entry = { .type = NT_ENTRY_CAPS,
					  .comm = WORLD_ID(1),
					  .bytes = bytes };

		entry.count = cards_of(w, NULL, bytes, sizeof(bytes));
		hear(w, &entry);
	}
	for (uint32_t n = 0; n <= (how >> 4 & 3); n++) {
		(void)nt_agree_step(w->agree, nt_clock_ms());
		carry(w);
	}
	for (uint32_t n = 0; n < 3; n++)
		FUZZ_CHECK(nt_agree_listens(w->agree, n) <= NT_AGREE_IN_DOUBT);
}

void world_record(struct world *w)
{
	static char text[NT_RANK_RECORD_MAX];
	struct nt_node_leader_counts counts = { .agree = nt_agree_count(w->agree), .nodes = 2 };
	struct nt_rank rank = { .root = NULL };
	struct nt_error err = { "" };
	size_t bytes;

	pthread_mutex_lock(&w->process.lock);
	bytes = nt_rank_record_print(&w->process, &counts, true, text, sizeof(text));
	pthread_mutex_unlock(&w->process.lock);
	FUZZ_CHECK(bytes > 0);
	fuzz_check_plain(text, bytes);
	if (nt_rank_parse(&rank, text, bytes, &err) < 0) {
		fprintf(stderr, "%s: %.*s\n", err.text, (int)bytes, text);
		FUZZ_CHECK(!"the record is read");
	}
	nt_rank_fini(&rank);
}
