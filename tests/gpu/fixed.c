/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - an NCCL tuner that never changes its mind: one arm for each collective and size
 *
 * Tuner v5 (NCCL 2.28.3 and later). What the best arm gains is measured with it in a program
 * with one communicator, as NCCL's own choice and the plugin are: every further communicator
 * slows NCCL down.
 *
 *   NT_FIXED_PLAN  the file that says what (bench/plan.h); what it does not name, and what is
 *   not legal,
 *                  is NCCL's own choice
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "bench/plan.h"
#include "contract/coll.h"
#include "tuner/abi.h"

static struct nt_plan plan;

/* All ranks read the same file; one that cannot must not go on with other arms than the rest. */
static void read_plan(void)
{
	const char *path = getenv("NT_FIXED_PLAN");
	struct nt_error err;

	if (path && nt_plan_read(&plan, path, &err) == 0)
		return;
	fprintf(stderr, "nt-fixed: NT_FIXED_PLAN: %s\n", path ? err.text : "not set");
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

static int get_coll_info(void *ctx, int coll, size_t bytes, int pipe_ops, float **table, int algos,
			 int protos, int registered, int *channels)
{
	float *cost = (float *)table;

	(void)ctx;
	(void)pipe_ops;
	(void)registered;
	(void)channels;
	for (size_t i = 0; i < plan.lines && protos == NT_PROTOS; i++) {
		const struct nt_plan_line *line = &plan.line[i];
		int arm;

		if (line->coll != coll || line->bytes != bytes)
			continue;
		arm = nt_arm_parse(line->arm);
		if (arm >= 0 && arm < algos * protos && cost[arm] >= 0)
			cost[arm] = 0;
	}
	return NT_NCCL_OK;
}

static int finalize(void *ctx)
{
	(void)ctx;
	return NT_NCCL_OK;
}

NT_EXPORT extern const struct nt_tuner_v5 ncclTunerPlugin_v5;
const struct nt_tuner_v5 ncclTunerPlugin_v5 = { "nt-fixed", init, get_coll_info, finalize };
