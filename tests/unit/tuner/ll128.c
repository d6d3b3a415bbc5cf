/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* ll128.c - LL128 is not tried or used from memory if it may give wrong results, unless NCCL itself
 * uses it or the site allows it */
#include "tests/unit/engine/engine-bench.h"
#include "tuner/ll128.h"

#define MIB ((size_t)1 << 20)
#define PAIRS (BIT(TREE_SIMPLE) | BIT(RING_LL128) | BIT(RING_SIMPLE))
#define NET NT_RISK_NET
#define C2C NT_RISK_C2C

static void an_external_network_is_known(void **state)
{
	static const struct {
		const char *net, *plugin;
		bool loaded, external;
	} rows[] = {
		{ NULL, NULL, false, false },
		{ NULL, NULL, true, true },
		{ NULL, "none", false, false },
		{ NULL, "None", false, false },
		{ NULL, "", false, false },
		{ NULL, "ofi", false, true },
		/* another part of the program may have loaded it */
		{ NULL, "none", true, true },
		{ "AWS Libfabric", NULL, false, true },
		{ "", NULL, true, true },
		/* NCCL then uses none of another name. */
		{ "Socket", "ofi", true, false },
		{ "ib", NULL, true, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (nt_ll128_is_external(rows[i].net, rows[i].plugin, rows[i].loaded) !=
		    rows[i].external)
			fail_msg("row %zu", i);
	}
	setenv("NCCL_NET_PLUGIN", "ofi", 1);
	assert_int_equal(nt_ll128_look(false) & NET, NET);
	setenv("NCCL_NET", "Socket", 1);
	assert_int_equal(nt_ll128_look(true) & NET, 0);
	unsetenv("NCCL_NET");
	unsetenv("NCCL_NET_PLUGIN");
	assert_int_equal(nt_ll128_look(false) & NET, 0);
	assert_int_equal(nt_ll128_look(true) & NET, NET);
}

/* Of a communicator of 8 ranks, and whether its RING/LL128, which is the fastest and remembered, is
 * used. */
static const struct row {
	int64_t ll128;
	uint32_t risks, nodes;
	int pick; /* NCCL's own for another key; -1: there is none */
	bool used;
} rows[] = {
	{ NT_LL128_AUTO, 0, 2, -1, true },
	{ NT_LL128_AUTO, NET, 2, -1, false },
	{ NT_LL128_AUTO, C2C, 2, -1, false },
	{ NT_LL128_AUTO, NET | C2C, 2, -1, false },
	{ NT_LL128_AUTO, NET, 1, -1, true },
	{ NT_LL128_AUTO, C2C, 1, -1, false },
	{ NT_LL128_AUTO, NET | C2C, 2, TREE_SIMPLE, false },
	{ NT_LL128_AUTO, NET | C2C, 2, 1, true },
	{ NT_LL128_AUTO, NET | C2C, 2, RING_LL128, true },
	{ NT_LL128_ON, NET | C2C, 2, -1, true },
	{ NT_LL128_OFF, 0, 1, RING_LL128, false },
};

/* As a rank in the shared memory says of another size. */
static void pick(struct bench *b, int pair)
{
	static const float cost[NT_PAIRS];
	const struct nt_slot slot = { .shm = b->shm, .comm = 3, .index = 0 };

	if (pair >= 0)
		assert_true(nt_shm_key(&slot, nt_key_id(NT_ALLREDUCE, 30, PAIRS), (uint32_t)pair,
				       cost, NT_SHM_KEYS) >= 0);
}

static void setup_row(struct bench *b, const struct row *row)
{
	setup(b, PAIRS, RING_SIMPLE);
	b->us[RING_LL128] = 500;
	b->us[TREE_SIMPLE] = 800;
	b->home.engine.policy.ll128 = row->ll128;
	atomic_store(&b->comm->ranks, 8);
	atomic_store(&b->comm->nodes, row->nodes);
	atomic_store(&b->comm->risks, row->risks);
	pick(b, row->pick);
}

static void it_is_not_tried(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench b;
		bool tried = false;

		setup_row(&b, &rows[i]);
		assert_true(share(&b));
		assert_int_equal(explore(&b), 1);
		for (unsigned a = 0; a < b.first.count; a++)
			tried = tried || b.first.arm[a] == RING_LL128;
		if (tried != rows[i].used ||
		    b.final.arm[0] != (rows[i].used ? RING_LL128 : TREE_SIMPLE))
			fail_msg("row %zu: %s", i, nt_arm_name(b.final.arm[0]));
	}
}

static void it_is_not_taken_from_memory(void **state)
{
	struct nt_warm warm = { .nccl = 22809 };
	const int arms[] = { RING_LL128, nt_arm_make(RING_LL128, 8) };

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i / 2];
		const struct nt_warm_key key = { 8, row->nodes, NT_ALLREDUCE, MIB, arms[i % 2], 0 };
		struct bench b;

		setup_row(&b, row);
		b.home.engine.policy.mode = NT_MODE_POLICY;
		warm.count = 0;
		assert_int_equal(nt_warm_add(&warm, &key, NULL), 0);
		b.home.warm = &warm;
		if (share(&b) != row->used)
			fail_msg("row %zu", i);
		if (row->used) {
			assert_int_equal(explore(&b), 1);
			assert_int_equal(b.final.arm[0], arms[i % 2]);
		}
	}
}

/* It becomes legal when NCCL's own use is seen. */
static void what_nccl_picks_later_counts(void **state)
{
	static const struct row row = { NT_LL128_AUTO, NET, 2, -1, false };
	struct bench b;

	setup_row(&b, &row);
	b.key->cost_us[TREE_SIMPLE] = -1;
	atomic_store(&b.key->id, nt_key_id(NT_ALLREDUCE, 40, BIT(RING_LL128) | BIT(RING_SIMPLE)));
	assert_false(share(&b) && explore(&b) == 1);
	pick(&b, RING_LL128);
	assert_true(share(&b));
	assert_int_equal(explore(&b), 1);
	assert_int_equal(b.final.arm[0], RING_LL128);
}

/* A place in the shared memory is another communicator's later. */
static void what_was_picked_goes_with_the_communicator(void **state)
{
	static const float cost[NT_PAIRS];
	const struct nt_capabilities caps = { .rank = 0, .active = 1 };
	struct nt_shm *shm = calloc(1, sizeof(*shm));
	struct nt_slot slot;

	assert_non_null(shm);
	assert_int_equal(nt_shm_join(shm, 7, 1, 1, &caps, &slot, NULL), 0);
	atomic_store(&shm->comm[slot.comm].risks, NET);
	assert_int_equal(nt_shm_key(&slot, nt_key_id(NT_ALLREDUCE, 30, PAIRS), RING_LL128, cost,
				    NT_SHM_KEYS),
			 0);
	assert_int_equal(nt_shm_key(&slot, nt_key_id(NT_ALLREDUCE, 31, PAIRS), NT_ARM_BASELINE,
				    cost, NT_SHM_KEYS),
			 1);
	assert_int_equal(atomic_load(&shm->comm[slot.comm].baseline_pairs), BIT(RING_LL128));
	nt_shm_leave(&slot);
	assert_true(nt_shm_retire(shm, slot.comm));
	assert_int_equal(atomic_load(&shm->comm[slot.comm].baseline_pairs), 0);
	assert_int_equal(atomic_load(&shm->comm[slot.comm].risks), 0);
	free(shm);
}

UNIT_TESTS(an_external_network_is_known, it_is_not_tried, it_is_not_taken_from_memory,
	   what_nccl_picks_later_counts, what_was_picked_goes_with_the_communicator);
