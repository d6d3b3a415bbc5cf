/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* decide-cap.c - limits of channels and chunk sizes: what a rank asks NCCL for, and when it keeps
 * NCCL's own */
#include "tests/unit/tuner/decide-host.h"

#define SIZE 262144u
#define OTHER (8 * SIZE)
#define KIB ((size_t)1 << 10)
#define OWN (512 * KIB) /* NCCL's chunk size */

static int arm(const char *name)
{
	int number = nt_arm_parse(name);

	assert_true(number >= 0);
	return number;
}

/* The key of this size is decided, for this arm, from its next call on. */
static void decide_for(struct host *h, size_t bytes, const char *name)
{
	const struct nt_schedule final = host_final(arm(name));
	struct nt_plan plan = host_plan(1, host_open_key(h, NT_ALLREDUCE, bytes), &final);

	host_commit(host_key(h, NT_ALLREDUCE, bytes), &plan);
}

static size_t chunk(struct host *h, int pair)
{
	size_t bytes = OWN;

	nt_comm_chunk(h->comm, NT_ALLREDUCE, pair, &bytes);
	return bytes;
}

static void a_cap_is_written_with_its_arm_alone(void **state)
{
	static struct host h;

	host_open(&h, "bandit,channels=on");
	decide_for(&h, SIZE, "TREE/SIMPLE/4ch");
	for (int i = 0; i < 100; i++) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
		assert_int_equal(h.asked_channels, 4);
		assert_true(h.table[NT_PAIRS - 1] < 0);
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, OTHER), RING_SIMPLE);
		assert_int_equal(h.asked_channels, 0);
	}
	assert_int_equal(h.comm->fixed.chunks, false);
	/* Events name the pair. */
	assert_int_equal(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.differed), 0);
	assert_true(atomic_load(&host_own_key(&h, NT_ALLREDUCE, SIZE)->events.forced) > 0);
	/* The pair is not legal today: NCCL's own choice, and its own channels. */
	h.cost[TREE_SIMPLE] = -1;
	assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
	assert_int_equal(h.asked_channels, 0);
	host_close(&h);
}

static void a_plain_arm_asks_for_nothing(void **state)
{
	static struct host h;

	host_open(&h, "bandit,channels=on");
	decide_for(&h, SIZE, "TREE/SIMPLE");
	for (int i = 0; i < 10; i++) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), TREE_SIMPLE);
		assert_int_equal(h.asked_channels, 0);
	}
	host_close(&h);
}

static void channels_of_pairs_are_told_to_the_node(void **state)
{
	const struct nt_schedule final = host_final(arm("TREE/SIMPLE/4ch"));
	struct nt_shm_key *key;
	struct nt_plan plan;
	static struct host h;

	host_open(&h, "bandit,channels=on");
	h.channels = 12;
	plan = host_plan(1, host_open_key(&h, NT_ALLREDUCE, SIZE), &final);
	key = host_key(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->channels[RING_SIMPLE]), 12);
	h.channels = 4;
	host_commit(key, &plan);
	for (int i = 0; i < 3; i++)
		host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(atomic_load(&key->channels[TREE_SIMPLE]), 0); /* was capped */
	host_close(&h);
}

static void a_chunk_size_is_answered_for_the_newest_decision(void **state)
{
	static struct host h;

	host_open_api(&h, "bandit,chunks=on", 6, 6);
	assert_true(h.comm->fixed.chunks);
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(chunk(&h, RING_SIMPLE), OWN);
	decide_for(&h, SIZE, "RING/SIMPLE/128K");
	for (int i = 0; i < 50; i++) {
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, SIZE), RING_SIMPLE);
		assert_int_equal(h.asked_channels, 0);
		assert_int_equal(chunk(&h, RING_SIMPLE), 128 * KIB);
		assert_int_equal(chunk(&h, TREE_SIMPLE), OWN);
		/* The baseline picks the same pair, without it. */
		assert_int_equal(host_collective(&h, NT_ALLREDUCE, OTHER), RING_SIMPLE);
		assert_int_equal(chunk(&h, RING_SIMPLE), OWN);
	}
	host_close(&h);
}

/* One rank alone was asked without a call (ncclGroupSimulateEnd); its next decision counts. */
static void what_one_rank_asked_alone_changes_nothing(void **state)
{
	static struct host h;

	host_open_api(&h, "bandit,chunks=on", 6, 6);
	decide_for(&h, SIZE, "RING/SIMPLE/128K");
	host_collective(&h, NT_ALLREDUCE, SIZE);
	host_decide(&h, NT_ALLREDUCE, OTHER); /* the baseline, nothing follows */
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(chunk(&h, RING_SIMPLE), 128 * KIB);
	host_decide(&h, NT_ALLREDUCE, SIZE); /* nothing follows */
	host_collective(&h, NT_ALLREDUCE, OTHER);
	assert_int_equal(chunk(&h, RING_SIMPLE), OWN);
	host_close(&h);
}

static void a_call_beyond_all_keys_has_nccls_chunks(void **state)
{
	static struct host h;

	host_open_api(&h, "bandit,chunks=on", 6, 6);
	decide_for(&h, SIZE, "RING/SIMPLE/128K");
	for (int kind = 0; kind < 2; kind++) {
		const float was = h.cost[TREE_SIMPLE];

		h.cost[TREE_SIMPLE] = kind == 0 ? was : -1; /* other keys, by what is legal */
		for (int coll = 0; coll < NT_ALLREDUCE; coll++) {
			for (unsigned band = 2; band < 68; band++)
				host_collective(&h, coll, nt_band_floor(band));
		}
		h.cost[TREE_SIMPLE] = was;
	}
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(chunk(&h, RING_SIMPLE), 128 * KIB);
	host_collective(&h, NT_ALLREDUCE, OTHER);
	assert_true(atomic_load(&h.process.count[NT_COUNT_NO_KEY]) > 0);
	assert_int_equal(chunk(&h, RING_SIMPLE), OWN);
	host_close(&h);
}

static void chunks_are_never_larger_than_nccls(void **state)
{
	size_t small = 16 * KIB;
	static struct host h;

	host_open_api(&h, "bandit,chunks=on", 6, 6);
	decide_for(&h, SIZE, "RING/SIMPLE/4ch/128K");
	host_collective(&h, NT_ALLREDUCE, SIZE);
	assert_int_equal(h.asked_channels, 4);
	nt_comm_chunk(h.comm, NT_ALLREDUCE, RING_SIMPLE, &small);
	assert_int_equal(small, 16 * KIB);
	for (int odd = -1; odd <= NT_PAIRS; odd += NT_PAIRS + 1)
		assert_int_equal(chunk(&h, odd), OWN);
	nt_comm_chunk(h.comm, NT_COLLS, RING_SIMPLE, &small);
	assert_int_equal(small, 16 * KIB);
	host_close(&h);
}

static void old_interfaces_and_other_policies_have_no_chunks(void **state)
{
	static struct host h;

	host_open_api(&h, "bandit,chunks=on", 5, 5);
	assert_false(h.comm->fixed.chunks);
	host_close(&h);
	host_open_api(&h, "bandit", 6, 6);
	assert_false(h.comm->fixed.chunks);
	host_close(&h);
}

UNIT_TESTS(a_cap_is_written_with_its_arm_alone, a_plain_arm_asks_for_nothing,
	   channels_of_pairs_are_told_to_the_node, a_chunk_size_is_answered_for_the_newest_decision,
	   what_one_rank_asked_alone_changes_nothing, a_call_beyond_all_keys_has_nccls_chunks,
	   chunks_are_never_larger_than_nccls, old_interfaces_and_other_policies_have_no_chunks);
