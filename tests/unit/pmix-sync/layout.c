/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - the probable nodes of ranks and tasks, and lists of nodes in an entry */
#include "tests/lib/unit.h"
#include "pmix-sync/log-entry.h"
#include "pmix-sync/layout.h"
#include "pmix-sync/nodes.h"

#define NODES 16

static int node_of(void *arg, uint32_t task)
{
	return (int)(task / *(const uint32_t *)arg);
}

/* 16 nodes of `each` tasks; a bit for each likely node. */
static uint32_t likely(uint32_t each, uint32_t ranks, uint32_t self, int every,
		       const struct nt_layout_slot *slot, uint32_t slots)
{
	const struct nt_layout layout = { .slot = slot,
					  .slots = slots,
					  .ranks = ranks,
					  .self = self,
					  .nodes = NODES,
					  .tasks = NODES * each,
					  .node_of_task = node_of,
					  .arg = &each };
	uint8_t nodes[NODES] = { 0 };
	uint32_t bits = 0;

	nt_layout_likely(&layout, every, nodes);
	for (uint32_t n = 0; n < NODES; n++)
		bits |= (uint32_t)nodes[n] << n;
	return bits;
}

static void one_rank_to_a_task(void **state)
{
	const struct nt_layout_slot world[] = { { 20, 20 }, { 21, 21 } },
				    strided[] = { { 2, 8 }, { 3, 12 } };
	const struct nt_layout_slot across[] = { { 5, 22 } }, first[] = { { 0, 1 } };

	/* All ranks: the coordinator is node 0, and no other node is asked. */
	assert_int_equal(likely(4, 64, 5, 0, world, 2), 1 << 5 | 1 << 0);
	assert_int_equal(likely(4, 64, 5, 1, world, 2), 0xffff);
	/* Every fourth task, two a node of eight. */
	assert_int_equal(likely(8, 8, 1, 0, strided, 2), 1 << 1 | 1 << 0);
	assert_int_equal(likely(8, 8, 1, 1, strided, 2), 0xf);
	/* One rank of each node. */
	assert_true(likely(4, 16, 5, 0, across, 1) & 1 << 0);
	assert_int_equal(likely(4, 16, 0, 1, first, 1), 0xffff);
}

static void several_ranks_to_a_task(void **state)
{
	const struct nt_layout_slot world[] = { { 12, 3 }, { 13, 3 }, { 14, 3 }, { 15, 3 } };
	const struct nt_layout_slot pair[] = { { 4, 6 }, { 5, 6 }, { 6, 6 }, { 7, 6 } };
	const struct nt_layout_slot odd[] = { { 3, 6 }, { 5, 6 } };

	assert_true(likely(1, 64, 3, 0, world, 4) & 1 << 0);
	/* Blocks of two nodes: the coordinator is the node before, or one farther away. */
	assert_true(likely(1, 8, 6, 0, pair, 4) & 1 << 5);
	assert_true(likely(1, 8, 6, 0, pair, 4) & 1 << 4);
	/* No order: only this node. */
	assert_int_equal(likely(1, 8, 6, 0, odd, 2), 1 << 6);
}

/* Other processes write capabilities: they are untrusted. */
static void ranks_that_cannot_be_say_nothing(void **state)
{
	const struct nt_layout_slot twice[] = { { 3, 6 }, { 3, 7 } }, beyond[] = { { 64, 6 } };
	const struct nt_layout_slot far[] = { { 0, 0 }, { 1, UINT32_MAX } };
	const struct nt_layout_slot large[] = { { INT32_MAX, 1 }, { UINT32_MAX, UINT32_MAX } };

	assert_int_equal(likely(4, 64, 5, 1, twice, 2), 1 << 5);
	assert_int_equal(likely(4, 64, 5, 1, beyond, 1), 1 << 5);
	assert_int_equal(likely(4, 64, 5, 1, far, 2), 1 << 5);
	assert_int_equal(likely(4, UINT32_MAX, 5, 1, large, 2), 1 << 5);
	assert_int_equal(likely(4, 0, 5, 1, beyond, 1), 1 << 5);
}

static void tasks_are_on_their_nodes(void **state)
{
	static const char *const wrong[] = { "",
					     "(vector",
					     "(vector,(0,2,3))",
					     "(vector,(0,4000000000,2))",
					     "(vector,(0,2,4,,)(21,2))",
					     "(vector,(0,1,3),(1,1,4,,)",
					     "(vector,(0,1,7",
					     "nonsense" };
	struct nt_nodes n;

	assert_int_equal(nt_nodes_read(&n, 7, "(vector,(0,2,3),(2,1,1))", NULL), 0);
	assert_int_equal(n.nodes, 3);
	assert_int_equal(n.node_of[2], 0);
	assert_int_equal(n.node_of[6], 2);
	assert_int_equal(n.first[1], 3);
	nt_nodes_name(&n, "n1,n2,n3");
	assert_string_equal(n.name[2], "n3");
	nt_nodes_free(&n);
	/* dealt out in turn */
	assert_int_equal(nt_nodes_read(&n, 6, "(vector,(0,3,1),(0,3,1))", NULL), 0);
	assert_int_equal(n.node_of[4], 1);
	assert_int_equal(n.first[2], 2);
	assert_string_equal(n.name[1], "node 1");
	nt_nodes_free(&n);
	assert_int_equal(nt_nodes_read(&n, 11, NULL, "4(x2),3"), 0);
	assert_int_equal(n.node_of[10], 2);
	nt_nodes_free(&n);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(nt_nodes_read(&n, 7, wrong[i], "7"), -1);
		nt_nodes_free(&n);
	}
	assert_int_equal(nt_nodes_read(&n, 7, NULL, NULL), -1);
	nt_nodes_free(&n);
}

static void lists_of_nodes_round_trip(void **state)
{
	static const uint32_t lists[][6] = {
		{ 0 }, { 3 }, { 0, 1, 2, 3, 4, 5 }, { 1, 3, 5, 6, 7, 900 }
	};
	static const uint32_t counts[] = { 1, 1, 6, 6 };
	uint32_t back[6], count;
	uint8_t bytes[64];

	for (int i = 0; i < 4; i++) {
		size_t used = nt_entry_nodes_write(lists[i], counts[i], bytes, sizeof(bytes));

		assert_true(used > 0 && used <= 12);
		assert_int_equal(nt_entry_nodes_read(back, &count, 6, 1000, bytes, used), 0);
		assert_int_equal(count, counts[i]);
		assert_memory_equal(back, lists[i], count * sizeof(back[0]));
		assert_int_equal(
			nt_entry_nodes_read(back, &count, 6, lists[i][count - 1], bytes, used), -1);
		assert_int_equal(nt_entry_nodes_read(back, &count, 6, 1000, bytes, used - 1), -1);
	}
	assert_int_equal(nt_entry_nodes_write(lists[3], 6, bytes, 4), 0);
	assert_int_equal(nt_entry_nodes_read(back, &count, 5, 1000, bytes, 0), -1);
}

UNIT_TESTS(one_rank_to_a_task, several_ranks_to_a_task, ranks_that_cannot_be_say_nothing,
	   tasks_are_on_their_nodes, lists_of_nodes_round_trip);
