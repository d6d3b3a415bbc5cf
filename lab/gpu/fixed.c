/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - an NCCL tuner that never learns: one arm for each collective and size, or several by
 * turns
 *
 * Tuner v5 (NCCL 2.28.3 and later). What the best arm gains is measured with it in a program
 * with one communicator, as NCCL's own choice and the plugin are: every further communicator
 * slows NCCL down.
 *
 *   NT_FIXED_PLAN  a file with one call a line, as AllReduce 262144 TREE/SIMPLE; what it does not
 *                  name, and what is not legal, is NCCL's own choice. Several lines for one
 *                  collective and size take turns in blocks: each block has all of them, in an
 *                  order of its own
 *   NT_FIXED_RUN   calls of each in a row (1)
 *   NT_FIXED_LOG   rank 0 writes there which arm each call had, COLLECTIVE BYTES ARM a line
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "contract/coll.h"
#include "tuner/abi.h"

#define LOG_CALLS (1 << 20)

struct plan_line {
	int coll;
	size_t bytes;
	char arm[24];
};

static struct {
	struct plan_line *line;
	size_t lines;
} plan;

static unsigned run = 1;
static unsigned *calls; /* of the key whose first line it is */
static unsigned short *made; /* the line of each call */
static size_t made_count;

static int take_line(const char *text)
{
	struct plan_line *more = realloc(plan.line, (plan.lines + 1) * sizeof(*more));
	char coll[32];
	int end = 0;

	if (!more)
		return -1;
	plan.line = more;
	more += plan.lines++;
	if (sscanf(text, "%31s %zu %23s %n", coll, &more->bytes, more->arm, &end) != 3 || text[end])
		return -1;
	more->coll = nt_coll_find(coll);
	return more->coll >= 0 ? 0 : -1;
}

static int read_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	char text[128];
	int rc = f ? 0 : -1;

	while (rc == 0 && fgets(text, sizeof(text), f))
		rc = take_line(text);
	if (f)
		fclose(f);
	return rc == 0 && plan.lines > 0 ? 0 : -1;
}

/* All ranks read the same file; one that cannot must not go on with other arms than the rest. */
static void read_plan(void)
{
	const char *path = getenv("NT_FIXED_PLAN"), *text = getenv("NT_FIXED_RUN");

	if (text)
		run = (unsigned)strtoul(text, NULL, 10);
	if (path && run > 0 && read_lines(path) == 0) {
		calls = calloc(plan.lines, sizeof(*calls));
		made = calloc(LOG_CALLS, sizeof(*made));
		if (calls && made)
			return;
	}
	fprintf(stderr, "nt-fixed: NT_FIXED_PLAN or NT_FIXED_RUN: %s\n", path ? path : "not set");
	abort();
}

static int init(void **ctx, uint64_t id, size_t ranks, size_t nodes, nt_nccl_log log,
		struct nt_tuner_nvl_v5 *nvl, struct nt_tuner_constants_v5 *constants)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)id;
	(void)ranks;
	(void)nodes;
	(void)log;
	(void)nvl;
	(void)constants;
	pthread_once(&once, read_plan);
	*ctx = &plan;
	return NT_NCCL_OK;
}

/* The turn-th place of a block of count, in an order that all ranks come to alike. */
static unsigned place(unsigned block, unsigned turn, unsigned count)
{
	uint64_t state = (block + 1) * UINT64_C(0x9e3779b97f4a7c15);
	unsigned order[64];

	for (unsigned i = 0; i < count; i++) {
		unsigned j;

		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		j = (unsigned)((state >> 33) % (i + 1));
		order[i] = order[j];
		order[j] = i;
	}
	return order[turn];
}

/* The line that this call follows; NULL: none names it. */
static const struct plan_line *next_line(int coll, size_t bytes)
{
	size_t line[64];
	unsigned count = 0, call, turn;

	for (size_t i = 0; i < plan.lines && count < 64; i++) {
		if (plan.line[i].coll == coll && plan.line[i].bytes == bytes)
			line[count++] = i;
	}
	if (count == 0)
		return NULL;
	call = calls[line[0]]++;
	turn = place(call / (run * count), call / run % count, count);
	if (made_count < LOG_CALLS)
		made[made_count++] = (unsigned short)line[turn];
	return &plan.line[line[turn]];
}

static int get_coll_info(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algos,
			 int protos, int registered, int *channels)
{
	const struct plan_line *line = protos == NT_PROTOS ? next_line(coll, bytes) : NULL;
	float *cost = (float *)table;
	int arm = line ? nt_arm_parse(line->arm) : -1;

	(void)ctx;
	(void)pipe_ops;
	(void)registered;
	(void)channels;
	if (arm >= 0 && arm < algos * protos && cost[arm] >= 0)
		cost[arm] = 0;
	return NT_NCCL_OK;
}

static int finalize(void *ctx)
{
	const char *path = getenv("NT_FIXED_LOG"), *rank = getenv("SLURM_PROCID");
	FILE *f = path && rank && strcmp(rank, "0") == 0 ? fopen(path, "w") : NULL;

	(void)ctx;
	for (size_t i = 0; f && i < made_count; i++) {
		const struct plan_line *line = &plan.line[made[i]];

		fprintf(f, "%s %zu %s\n", nt_coll_name(line->coll), line->bytes, line->arm);
	}
	if (f)
		fclose(f);
	return NT_NCCL_OK;
}

NT_EXPORT extern const struct nt_tuner_v5 ncclTunerPlugin_v5;
const struct nt_tuner_v5 ncclTunerPlugin_v5 = { "nt-fixed", init, get_coll_info, finalize };
