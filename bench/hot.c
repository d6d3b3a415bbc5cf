/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* hot.c - what one decision costs: nt-hot PLUGIN [CALLS] loads the plugin as NCCL 2.28 does and times getCollInfo
 *
 * Three states of a key: counted only, an arm committed for good, and being explored. A plan is put onto the board by
 * this program itself, in place of a speaker. One JSON line; the clock's own cost is taken off each call.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench/measure.h"
#include "contract/policy.h"
#include "pmix-sync/board.h"
#include "tuner/abi.h"
#include "tuner/schedule.h"

#define CALLS_MAX 10000000u
#define SIZE 262144u

static struct nt_tuner_v5 *tuner;
static struct nt_prof_v5 *profiler;
static void *tuner_ctx, *profiler_ctx;
static struct nt_board_map map;
static int mask;
static uint64_t seq;

static void die(const char *what)
{
	fprintf(stderr, "nt-hot: %s\n", what);
	exit(1);
}

/* One call as NCCL makes it: a fresh table of costs each time. */
static void decide(void)
{
	float cost[NT_PAIRS];
	int channels = 0;

	for (int i = 0; i < NT_PAIRS; i++)
		cost[i] = i < 6 ? 20.0f + (float)i : -1.0f;
	if (tuner->get_coll_info(tuner_ctx, NT_ALLREDUCE, SIZE, 1, (float **)(void *)cost, NT_ALGOS, NT_PROTOS, 0,
				 &channels) != NT_NCCL_OK)
		die("the plugin returned an error");
}

/* A collective with its Coll event, so that the turn moves on. */
static void call_with_events(void)
{
	struct nt_prof_descr_v5 descr = { .type = NT_PROF_COLL };
	void *event = NULL;

	decide();
	if (!mask)
		return;
	descr.coll = (struct nt_prof_coll_v5){ .seq = seq++, .func = "AllReduce", .count = SIZE / 4,
					       .datatype = "ncclFloat32", .channels = 2, .algo = "TREE", .proto = "LL" };
	profiler->start(profiler_ctx, &event, &descr);
	if (event)
		profiler->stop(event);
}

static void measure(const char *name, uint32_t calls, bool last)
{
	uint32_t *took = calloc(calls, sizeof(*took));
	uint32_t clock_cost = UINT32_MAX;
	uint64_t began;

	if (!took)
		die("out of memory");
	for (int i = 0; i < 10000; i++) {
		uint64_t a = nt_now_ns(), b = nt_now_ns();

		if (b - a < clock_cost)
			clock_cost = (uint32_t)(b - a);
	}
	for (uint32_t i = 0; i < calls; i++) {
		uint64_t a = nt_now_ns(), b;

		decide();
		b = nt_now_ns();
		took[i] = b - a > clock_cost ? (uint32_t)(b - a - clock_cost) : 0;
	}
	began = nt_now_ns();
	for (uint32_t i = 0; i < calls; i++)
		decide();
	began = nt_now_ns() - began;
	qsort(took, calls, sizeof(*took), nt_by_number);
	printf("\"%s\":{\"p50_ns\":%u,\"p99_ns\":%u,\"mean_ns\":%.1f}%s", name, took[calls / 2], took[calls - calls / 100],
	       (double)began / calls, last ? "" : ",");
	free(took);
}

/* Put a plan of these arms onto the board; every turn of it counts. */
static void plan(uint32_t epoch, struct nt_schedule *schedule, uint64_t until)
{
	struct nt_board_key *key = &map.board->comm[0].key[0];
	struct nt_plan *at = &key->plan[epoch & 1];

	memset(at, 0, sizeof(*at));
	at->until = until;
	at->epoch = epoch;
	at->stride = 1;
	at->run = NT_NO_RUN;
	at->payload_bytes = (uint32_t)nt_schedule_write(schedule, at->payload, sizeof(at->payload));
	atomic_store(&key->state, until == NT_NEVER ? NT_KEY_FINAL : NT_KEY_OPEN);
	atomic_store(&key->epoch, epoch);
	for (int i = 0; i < 2000 && (until == NT_NEVER || mask == 0 || i < 8); i++) {
		call_with_events();
		usleep(i < 20 ? 1000 : 0);
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

/* A communicator of two ranks whose other rank never comes: nobody else writes plans onto the board. */
static void open_comm(const char *dir)
{
	struct nt_place place = { .node = "n1" };
	struct nt_policy policy;
	char text[NT_POLICY_MAX];

	nt_policy_default(&policy);
	policy.mode = NT_MODE_BANDIT;
	policy.join_timeout_s = 3600;
	snprintf(place.dir, sizeof(place.dir), "%s", dir);
	if (nt_policy_format_task(&policy, &place, text, sizeof(text), NULL) < 0)
		die("the directory's name does not fit");
	setenv(NT_ENV_POLICY, text, 1);
	if (profiler->init(&profiler_ctx, 42, &mask, "hot", 1, 2, 0, nt_quiet) != NT_NCCL_OK ||
	    tuner->init(&tuner_ctx, 42, 2, 1, nt_quiet, NULL, NULL) != NT_NCCL_OK)
		die("the plugin's init failed");
	if (nt_board_open(&map, dir, NULL) < 0)
		die("no board");
	decide();
	if (atomic_load(&map.board->comm[0].key[0].id) == 0)
		die("the key is not on the board");
}

int main(int argc, char **argv)
{
	struct nt_schedule explore = { .kind = NT_SCHEDULE_SCREEN, .count = 4, .blocks = 100,
				       .arm = { NT_ARM_AUTO, 1, 2, 3 } };
	struct nt_schedule final = { .kind = NT_SCHEDULE_FINAL, .count = 1, .arm = { 3 } };
	uint32_t calls = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000;
	const char *scratch = getenv("TMPDIR");	/* the plugin leaves its record there at exit */
	char dir[128], board[192];

	if (argc < 2 || calls < 100 || calls > CALLS_MAX) {
		fprintf(stderr, "usage: nt-hot PLUGIN [CALLS]\n");
		return 2;
	}
	snprintf(dir, sizeof(dir), "%s/nt-hot.XXXXXX", scratch ? scratch : "/tmp");
	if (!mkdtemp(dir))
		die("no directory for the board");
	load(argv[1]);
	open_comm(dir);
	printf("{\"calls\":%u,", calls);
	measure("counted", calls, false);
	plan(1, &explore, 400);
	measure("explored", calls, false);
	plan(2, &final, NT_NEVER);
	if (mask != 0)
		die("events are still wanted in the steady state");
	measure("committed", calls, true);
	printf("}\n");
	tuner->finalize(tuner_ctx);
	profiler->finalize(profiler_ctx);
	snprintf(board, sizeof(board), "%s/%s.%u", dir, NT_BOARD_FILE, NT_BOARD_LAYOUT);
	unlink(board);
	return 0;
}
