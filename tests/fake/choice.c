/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* choice.c - one decision: cost table, the plugin's answer, NCCL's pick
 * (enqueue.cc:1918@v2.28.9-1) */
#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include "tests/fake/fake.h"
#include "tests/fake/guard.h"
#include "tests/fake/rng.h"
#include "tests/fake/sum.h"

#define GRAIN_BYTES(proto) ((proto) == 0 ? 16u : (proto) == 1 ? 1920u : 512u)
#define CHUNK_BYTES(proto) ((proto) == 0 ? 16384u : (proto) == 1 ? 76800u : 524288u)

enum algo { RING = 1, NVLS = 4, PAT = 6 };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Costs as this rank computes them: ranks differ slightly, but NCCL's own pick is the same, even
 * if two arms cost the same. */
static void fill(struct nt_comm *c, int coll, uint64_t bytes, int pipe_ops, float *table)
{
	const struct nt_job *job = c->owner->job;
	int pairs = c->place.algos * NT_PROTOS;
	int pick;

	nt_model_costs(&job->model, &c->place, coll, bytes, pipe_ops, table);
	pick = nt_model_pick(table, c->place.algos);
	for (int i = 0; i < pairs; i++) {
		uint64_t key = nt_rng_mix(c->owner->rank + 1, (uint64_t)i);

		if (table[i] >= 0)
			table[i] *= (float)(1.0 +
					    job->options->cost_skew * (nt_rng_unit(key) - 0.5));
	}
	for (int i = 0; pick >= 0 && i < pairs; i++) {
		if (i != pick && table[i] >= 0 && table[i] <= table[pick])
			table[i] = nextafterf(table[pick], INFINITY);
	}
}

/* NCCL does not check this and would crash. */
static void check(struct nt_comm *c, const float *before, const float *after, int channels)
{
	struct nt_job *job = c->owner->job;
	int pairs = c->place.algos * NT_PROTOS;

	if (nt_guard_check(NT_GUARD_TABLE, (size_t)pairs * sizeof(float)) < 0)
		nt_fake_leave(job, NT_EXIT_CONTRACT, "the tuner wrote before the cost table");
	for (int i = 0; i < pairs; i++) {
		if (before[i] < 0 && after[i] >= 0)
			nt_fake_leave(job, NT_EXIT_CONTRACT,
				      "the tuner raised %s, which is not legal (%g)",
				      nt_arm_name(i), (double)before[i]);
		if (!(after[i] == after[i]))
			nt_fake_leave(job, NT_EXIT_CONTRACT, "the tuner made %s not a number",
				      nt_arm_name(i));
	}
	if (channels < 0 || channels > NT_MAX_CHANNELS)
		nt_fake_leave(job, NT_EXIT_CONTRACT, "the tuner wants %d channels (0 to %d)",
			      channels, NT_MAX_CHANNELS);
}

/* These use the number without a bound (enqueue.cc:567@v2.28.9-1). */
static void check_cap(struct nt_comm *c, int arm, int channels)
{
	int algo = arm / NT_PROTOS;
	bool bounded = algo <= RING || algo == PAT || (algo == NVLS && c->place.nodes == 1);

	if (!bounded && channels > (int)c->place.channels)
		nt_fake_leave(c->owner->job, NT_EXIT_CONTRACT,
			      "the tuner wants %d channels for %s, which has %u", channels,
			      nt_arm_name(arm), c->place.channels);
}

static void ask(struct nt_comm *c, int coll, uint64_t bytes, int pipe_ops, float *table,
		int *channels)
{
	bool timed = c->owner->job->options->time_decisions;
	uint64_t from_ns = timed ? now_ns() : 0;
	int rc = c->tuner->get_coll_info(c->tuner_ctx, coll, bytes, pipe_ops, (float **)table,
					 c->place.algos, NT_PROTOS, 0, channels);

	if (timed)
		nt_fake_sum_decided(c->owner->sum, now_ns() - from_ns);
	if (rc != NT_NCCL_OK)
		nt_fake_leave(c->owner->job, NT_EXIT_NCCL_ERROR,
			      "getCollInfo returned %d: the collective fails on rank %u", rc,
			      c->owner->rank);
}

/* From 2.31 on: the last of the lowest among those that were legal, also below 0
 * (ncclTuningSelectBestTuning, src/tuning/tuning.cc@88980683). */
static int pick(const struct nt_comm *c, const float *before, const float *after)
{
	float least = FLT_MAX;
	int arm = -1;

	if (c->owner->job->release->code < NT_RELEASE_TUNING)
		return nt_model_pick(after, c->place.algos);
	for (int i = c->place.algos * NT_PROTOS; i-- > 0;) {
		if (before[i] >= 0 && after[i] < least) {
			least = after[i];
			arm = i;
		}
	}
	return arm;
}

/* From 2.31 on it only lowers NCCL's own. */
static int effective(const struct nt_comm *c, int asked, int own)
{
	return c->owner->job->release->code >= NT_RELEASE_TUNING && asked >= own ? 0 : asked;
}

/* NCCL's first question if it may use a symmetric kernel: nothing else is legal
 * (src/scheduler/symmetric_sched.cc@88980683). Returns NCCL's pick of the others. */
int nt_choice_probe(struct nt_comm *c, int coll, uint64_t bytes)
{
	int pairs = c->place.algos * NT_PROTOS, channels = 0;
	float *table = nt_guard_take(NT_GUARD_TABLE, (size_t)pairs * sizeof(float));
	float before[NT_PAIRS];

	for (int i = 0; i < pairs; i++)
		before[i] = table[i] = -1.0f;
	if (c->tuner) {
		ask(c, coll, bytes, 0, table, &channels);
		check(c, before, table, channels);
	}
	fill(c, coll, bytes, 1, before);
	return pick(c, before, before);
}

/* algSelection with forceAlgSelection=0: only these, if any of them is legal (ncclGetAlgoInfo,
 * src/enqueue/enqueue.cc@88980683). */
static void select_pairs(const struct nt_comm *c, float *table, uint32_t selection)
{
	int pairs = c->place.algos * NT_PROTOS;
	bool any = false;

	for (int i = 0; i < pairs; i++)
		any = any || (table[i] >= 0 && selection >> i & 1);
	for (int i = 0; any && i < pairs; i++) {
		if (!(selection >> i & 1))
			table[i] = -1.0f;
	}
}

void nt_choice_make(struct nt_comm *c, int coll, uint64_t bytes, int pipe_ops, uint32_t selection,
		    struct nt_choice *out)
{
	size_t table_bytes = (size_t)c->place.algos * NT_PROTOS * sizeof(float);
	float *table = nt_guard_take(NT_GUARD_TABLE, table_bytes);
	float before[NT_PAIRS];
	int channels = 0;

	fill(c, coll, bytes, pipe_ops, table);
	select_pairs(c, table, selection);
	memcpy(before, table, table_bytes);
	if (c->tuner) {
		ask(c, coll, bytes, pipe_ops, table, &channels);
		check(c, before, table, channels);
	}
	out->auto_arm = pick(c, before, before);
	out->arm = pick(c, before, table);
	if (out->arm < 0)
		nt_fake_leave(c->owner->job, NT_EXIT_NCCL_ERROR,
			      "no algorithm is left for %s: the collective fails",
			      nt_coll_name(coll));
	out->us = table[out->arm];
	out->auto_us = before[out->auto_arm];
	out->changed = channels || memcmp(before, table, table_bytes) != 0;
	out->max_channels = nt_model_channels(&c->place, bytes, out->arm);
	channels = effective(c, channels, out->max_channels);
	check_cap(c, out->arm, channels);
	out->cap = channels;
	if (channels)
		out->max_channels = channels;
}

static size_t ask_chunk(struct nt_comm *c, const struct nt_task *t, uint64_t bytes)
{
	int proto = t->arm % NT_PROTOS;
	size_t chunk = CHUNK_BYTES(proto);
	int rc = c->tuner->get_chunk_size(c->tuner_ctx, t->coll, bytes, t->arm / NT_PROTOS, proto,
					  1, &chunk);

	if (rc != NT_NCCL_OK)
		nt_fake_leave(c->owner->job, NT_EXIT_NCCL_ERROR,
			      "getChunkSize returned %d: the collective fails", rc);
	if (chunk > CHUNK_BYTES(proto))
		chunk = CHUNK_BYTES(proto);
	if (chunk < GRAIN_BYTES(proto))
		nt_fake_leave(c->owner->job, NT_EXIT_CONTRACT,
			      "the tuner wants chunks of %zu bytes: NCCL divides by zero", chunk);
	return chunk / GRAIN_BYTES(proto) * GRAIN_BYTES(proto);
}

/* Asked for the first channel, the last one and those between, if any, each separately
 * (enqueue.cc:720, :2308@v2.30.7-1). */
void nt_choice_chunks(struct nt_comm *c, struct nt_task *t)
{
	uint64_t share = t->bytes / (unsigned)t->channels;

	t->chunk_bytes = t->chunk_rest = 0;
	if (!c->tuner || !__atomic_load_n(&c->tuner->get_chunk_size, __ATOMIC_RELAXED) ||
	    c->owner->job->release->code < 23003)
		return;
	t->chunk_bytes = (uint32_t)ask_chunk(c, t, share);
	if (t->channels > 1)
		t->chunk_rest = (uint32_t)ask_chunk(c, t, share + t->bytes % (unsigned)t->channels);
	if (t->channels > 2)
		t->chunk_rest = t->chunk_rest * 31 + (uint32_t)ask_chunk(c, t, share);
}

int nt_choice_arm(int pair, int cap)
{
	int arm = nt_arm_make(pair, (unsigned)cap);

	return arm < 0 ? pair : arm;
}
