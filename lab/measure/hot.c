/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c - what one decision costs: nt-hot PLUGIN [CALLS] loads the plugin as NCCL 2.28 does and
 * times getCollInfo
 *
 * Three states of a key: counted only, an arm committed for good, and being explored; then each
 * callback of collectives that are explored and measured, on eight channels. Plans are put onto
 * the shared memory by this program itself, in place of a node leader. One JSON line; the clock's
 * own cost is taken off each call.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/quantile.h"
#include "lab/measure/measure.h"
#include "contract/policy.h"
#include "pmix-sync/shm.h"
#include "tuner/abi.h"
#include "tuner/costs.h"
#include "engine/schedule.h"

#define CALLS_MAX 10000000u
#define SIZE 262144u
#define CHANNELS 8u

static struct nt_tuner_v5 *tuner;
static struct nt_prof_v5 *profiler;
static void *tuner_ctx, *profiler_ctx;
static struct nt_shm_map map;
static int mask;
static uint64_t seq;
static uint32_t clock_cost = UINT32_MAX, epoch;

static void die(const char *what)
{
	fprintf(stderr, "nt-hot: %s\n", what);
	exit(1);
}

static float cost[NT_PAIRS];

/* One call as NCCL makes it: a fresh table of costs each time. */
static void decide(void)
{
	int channels = 0;

	for (int i = 0; i < NT_PAIRS; i++)
		cost[i] = i < 6 ? 20.0f + (float)i : -1.0f;
	if (tuner->get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)(void *)cost, NT_ALGOS,
				 NT_PROTOS, 0, &channels) != NT_NCCL_OK)
		die("the plugin returned an error");
}

/* The task that the last decision came to. */
static struct nt_prof_coll_v5 decided(void)
{
	int pair = nt_costs_baseline(cost, NT_PAIRS, false);

	return (struct nt_prof_coll_v5){ .seq = seq++,
					 .func = "AllReduce",
					 .count = SIZE / 4,
					 .datatype = "ncclFloat32",
					 .channels = CHANNELS,
					 .algo = nt_algo_name(pair / NT_PROTOS),
					 .proto = nt_proto_name(pair % NT_PROTOS) };
}

/* A collective with its Coll event, so that the turn moves on. */
static void call_with_events(void)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL };
	void *event = NULL;

	decide();
	if (!mask)
		return;
	descr.coll = decided();
	profiler->start(profiler_ctx, &event, &descr);
	if (event)
		profiler->stop(event);
}

static void time_clock(void)
{
	for (int i = 0; i < 10000; i++) {
		uint64_t a = nt_now_ns(), b = nt_now_ns();

		if (b - a < clock_cost)
			clock_cost = (uint32_t)(b - a);
	}
}

static uint32_t since(uint64_t began)
{
	uint64_t ns = nt_now_ns() - began;

	return ns > clock_cost ? (uint32_t)(ns - clock_cost) : 0;
}

static void measure(const char *name, uint32_t calls, bool last)
{
	uint32_t *took = calloc(calls, sizeof(*took));
	uint64_t began;

	if (!took)
		die("out of memory");
	for (uint32_t i = 0; i < calls; i++) {
		uint64_t a = nt_now_ns();

		decide();
		took[i] = since(a);
	}
	began = nt_now_ns();
	for (uint32_t i = 0; i < calls; i++)
		decide();
	began = nt_now_ns() - began;
	nt_sort_u32(took, calls);
	printf("\"%s\":{\"p50_ns\":%u,\"p99_ns\":%u,\"mean_ns\":%.1f}%s", name, took[calls / 2],
	       took[calls - calls / 100], (double)began / calls, last ? "" : ",");
	free(took);
}

/* Put a plan of these arms into the shared memory; every turn of it counts. */
static void plan(struct nt_schedule *schedule, uint64_t until)
{
	struct nt_shm_key *key = &map.shm->comm[0].key[0];
	struct nt_plan *at = &key->plan[++epoch & 1];

	memset(at, 0, sizeof(*at));
	at->until = until;
	at->epoch = epoch;
	at->stride = 1;
	at->run = NT_NO_RUN;
	at->payload_bytes = (uint32_t)nt_schedule_write(schedule, at->payload, sizeof(at->payload));
	atomic_store(&key->state, until == NT_NEVER ? NT_KEY_COMMITTED : NT_KEY_OPEN);
	atomic_store(&key->epoch, epoch);
	for (int i = 0; i < 2000 && (until == NT_NEVER || mask == 0 || i < 8); i++) {
		call_with_events();
		usleep(i < 20 ? 1000 : 0);
	}
}

/* The callbacks of a collective that is explored; for KernelCh the first of a collective ends
 * the time of the one before. */
enum callback {
	DECISION,
	COLL_API,
	LAUNCH,
	GROUP,
	COLL,
	COLL_STOP,
	KERNEL_FIRST,
	KERNEL_NEXT,
	CALLBACKS
};

static const char *const callback_names[CALLBACKS] = { "decision",	"coll_api",
						       "kernel_launch", "group",
						       "coll",		"coll_stop",
						       "kernel_first",	"kernel_next" };

struct took {
	uint32_t *ns, count, room;
};

static void note(struct took *took, uint64_t began)
{
	uint32_t ns = since(began);

	if (took && took->count < took->room)
		took->ns[took->count++] = ns;
}

static void *timed_start(struct took *took, struct nt_prof_descr_v5 *descr)
{
	uint64_t began = nt_now_ns();
	void *event = NULL;

	profiler->start(profiler_ctx, &event, descr);
	note(took, began);
	return event;
}

/* With all events that the plugin asks for. took: CALLBACKS of them, or NULL. */
static void explored_call(struct took *took)
{
	static uint64_t gpu_ns = 1000000;
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL_API };
	uint64_t began;
	void *event;

	timed_start(took ? &took[COLL_API] : NULL, &descr);
	began = nt_now_ns();
	decide();
	note(took ? &took[DECISION] : NULL, began);
	descr.coll = decided();
	timed_start(took ? &took[LAUNCH] : NULL,
		    &(struct nt_prof_descr_v5){ .type = NT_PROF_KERNEL_LAUNCH });
	timed_start(took ? &took[GROUP] : NULL,
		    &(struct nt_prof_descr_v5){ .type = NT_PROF_GROUP });
	descr.type = NT_PROF_COLL;
	event = timed_start(took ? &took[COLL] : NULL, &descr);
	began = nt_now_ns();
	profiler->stop(event);
	note(took ? &took[COLL_STOP] : NULL, began);
	for (uint8_t i = 0; (mask & (int)NT_PROF_KERNEL_CH) && i < CHANNELS; i++) {
		struct nt_prof_descr_v5 kernel = { .type = NT_PROF_KERNEL_CH, .parent = event };

		kernel.kernel_ch.channel = i;
		kernel.kernel_ch.start_ns = gpu_ns + i;
		timed_start(took ? &took[i ? KERNEL_NEXT : KERNEL_FIRST] : NULL, &kernel);
	}
	gpu_ns += 50000;
}

/* One window after the other, each with a run in the shared memory. */
static void measure_callbacks(uint32_t calls)
{
	struct nt_schedule schedule = { .kind = NT_SCHEDULE_SCREEN,
					.count = 4,
					.blocks = 100,
					.arm = { NT_ARM_BASELINE, 1, 2, 3 } };
	struct nt_shm_key *key = &map.shm->comm[0].key[0];
	uint32_t positions = nt_schedule_positions(&schedule), taken = 0, made = 0;
	struct took took[CALLBACKS];

	for (unsigned i = 0; i < CALLBACKS; i++) {
		took[i] = (struct took){ .room = i == KERNEL_NEXT ? calls * (CHANNELS - 1)
								  : calls };
		took[i].ns = calloc(took[i].room, sizeof(took[i].ns[0]));
		if (!took[i].ns)
			die("out of memory");
	}
	atomic_store(&key->state, NT_KEY_OPEN);
	while (took[DECISION].count < calls) {
		struct nt_plan *at = &key->plan[++epoch & 1];
		uint32_t run = nt_shm_run_take(map.shm, 0, 0);

		*at = (struct nt_plan){ .at = seq + 40,
					.until = seq + 40 + positions,
					.epoch = epoch,
					.stride = positions,
					.cell = positions,
					.run = run };
		at->payload_bytes = (uint32_t)nt_schedule_write(&schedule, at->payload,
								sizeof(at->payload));
		atomic_store(&key->epoch, epoch);
		while (seq < at->at)
			explored_call(NULL);
		for (uint32_t i = 0; i < positions; i++)
			explored_call(took);
		explored_call(NULL);
		made += positions;
		for (uint32_t i = 0; i < positions; i++)
			taken += atomic_load(&map.shm->run[run].sample[0][i]) == 50000;
		nt_shm_run_free(map.shm, run);
	}
	printf("\"explored_share\":%.3f", (double)taken / made);
	for (unsigned i = 0; i < CALLBACKS; i++) {
		uint32_t n = took[i].count;

		nt_sort_u32(took[i].ns, n);
		if (n > 0)
			printf(",\"%s\":{\"p50_ns\":%u,\"p99_ns\":%u}", callback_names[i],
			       took[i].ns[n / 2], took[i].ns[n - n / 100 - 1]);
		free(took[i].ns);
	}
}

/* What counting costs a program that sends: an event for each group and one for each task. */
static void measure_sends(uint32_t calls)
{
	static const char *const names[] = { "group_api", "p2p_api" };
	struct took took[2];

	for (unsigned i = 0; i < 2; i++) {
		took[i] = (struct took){ .room = calls };
		took[i].ns = calloc(calls, sizeof(took[i].ns[0]));
		if (!took[i].ns)
			die("out of memory");
	}
	for (uint32_t i = 0; i < calls; i++) {
		struct nt_prof_descr_v5 send = { .type = NT_PROF_P2P_API };

		send.p2p_api.func = i % 2 ? "Recv" : "Send";
		send.p2p_api.count = SIZE / 4;
		send.p2p_api.datatype = "ncclFloat32";
		timed_start(&took[0], &(struct nt_prof_descr_v5){ .type = NT_PROF_GROUP_API });
		timed_start(&took[1], &send);
	}
	for (unsigned i = 0; i < 2; i++) {
		nt_sort_u32(took[i].ns, calls);
		printf(",\"%s\":{\"p50_ns\":%u,\"p99_ns\":%u}", names[i], took[i].ns[calls / 2],
		       took[i].ns[calls - calls / 100 - 1]);
		free(took[i].ns);
	}
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		die(dlerror());
	tuner = dlsym(library, "ncclTunerPlugin_v5");
	profiler = dlsym(library, "ncclProfiler_v5");
	if (!tuner || !profiler)
		die("no plugin of NCCL 2.28");
}

/* A communicator of two ranks whose other rank never comes: nobody else writes plans onto the
 * shared memory. */
static void open_comm(const char *dir)
{
	const struct nt_node_step place = nt_measure_place(dir);

	if (nt_measure_policy(dir) < 0)
		die("the directory's name does not fit");
	if (profiler->init(&profiler_ctx, 42, &mask, "hot", 1, 2, 0, nt_quiet) != NT_NCCL_OK ||
	    tuner->init(&tuner_ctx, 42, 2, 1, nt_quiet, NULL, NULL) != NT_NCCL_OK)
		die("the plugin's init failed");
	if (nt_shm_open(&map, &place, NULL) < 0 || nt_shm_map(&map, NULL) < 0)
		die("no shared memory");
	decide();
	if (atomic_load(&map.shm->comm[0].key[0].id) == 0)
		die("the key is not in the shared memory");
}

int main(int argc, char **argv)
{
	struct nt_schedule explore = { .kind = NT_SCHEDULE_SCREEN,
				       .count = 4,
				       .blocks = 100,
				       .arm = { NT_ARM_BASELINE, 1, 2, 3 } };
	struct nt_schedule final = { .kind = NT_SCHEDULE_COMMITTED, .count = 1, .arm = { 3 } };
	uint32_t calls = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000;
	const char *scratch = getenv("TMPDIR"); /* the plugin leaves its record there at exit */
	char dir[128], shm[192];

	if (argc < 2 || calls < 100 || calls > CALLS_MAX) {
		fprintf(stderr, "usage: nt-hot PLUGIN [CALLS]\n");
		return 2;
	}
	snprintf(dir, sizeof(dir), "%s/nt-hot.XXXXXX", scratch ? scratch : "/tmp");
	if (!mkdtemp(dir))
		die("no directory for the shared memory");
	load(argv[1]);
	open_comm(dir);
	printf("{\"calls\":%u,", calls);
	time_clock();
	measure("counted", calls, false);
	plan(&explore, 400);
	measure("explored", calls, false);
	printf("\"callbacks\":{");
	measure_callbacks(calls / 10);
	printf("},");
	plan(&final, NT_NEVER);
	if (mask != 0)
		die("events are still wanted in the steady state");
	measure("committed", calls, true);
	measure_sends(calls);
	printf("}\n");
	tuner->finalize(tuner_ctx);
	profiler->finalize(profiler_ctx);
	snprintf(shm, sizeof(shm), "%s/%s.%u", dir, NT_SHM_FILE, NT_SHM_LAYOUT);
	unlink(shm);
	return 0;
}
