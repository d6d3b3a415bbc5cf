/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* log-entry.c - what nodes tell each other, and which task is where: entries of logs as bytes and
 *           from fields, maps of nodes
 *
 * Input: a byte that says which, then bytes, fields or text.
 */
#include <string.h>
#include "pmix-sync/log-entry.h"
#include "pmix-sync/layout.h"
#include "pmix-sync/nodes.h"
#include "tests/fuzz/fuzz.h"

#define TASKS 512

static void check_entry(const struct nt_entry *entry)
{
	uint8_t bytes[NT_ENTRY_MAX];
	struct nt_entry again;
	const size_t count = nt_entry_write(entry, bytes, sizeof(bytes));

	FUZZ_CHECK(count > 0 && nt_entry_read(&again, bytes, count) == count);
	FUZZ_CHECK(again.type == entry->type && again.comm == entry->comm);
	FUZZ_CHECK(again.to == (nt_entry_is_answer(entry->type) ? entry->to : 0));
	FUZZ_CHECK(again.key == entry->key && again.epoch == entry->epoch);
	FUZZ_CHECK(again.stride == entry->stride && again.cell == entry->cell);
	FUZZ_CHECK(again.turn == entry->turn && again.span == entry->span);
	FUZZ_CHECK(again.count == entry->count);
	FUZZ_CHECK(again.count == 0 || memcmp(again.bytes, entry->bytes, again.count) == 0);
}

static void check_cards(const uint8_t *in, size_t count)
{
	struct nt_entry_caps all_caps, again;
	uint8_t bytes[2048];
	size_t used;

	if (nt_entry_caps_read(&all_caps, in, count) < 0)
		return;
	FUZZ_CHECK(all_caps.count <= NT_SHM_SLOTS);
	used = nt_entry_caps_write(&all_caps, bytes, sizeof(bytes));
	FUZZ_CHECK(used > 0 && nt_entry_caps_read(&again, bytes, used) == 0);
	FUZZ_CHECK(memcmp(&all_caps, &again, sizeof(all_caps)) == 0);
}

static void check_nodes(const uint8_t *in, size_t count)
{
	uint32_t node[64], again[64], nodes, same;
	uint8_t bytes[1024];
	size_t used;

	if (nt_entry_nodes_read(node, &nodes, 64, 1000, in, count) < 0)
		return;
	FUZZ_CHECK(nodes > 0 && nodes <= 64);
	for (uint32_t i = 0; i < nodes; i++)
		FUZZ_CHECK(node[i] < 1000 && (i == 0 || node[i] > node[i - 1]));
	used = nt_entry_nodes_write(node, nodes, bytes, sizeof(bytes));
	FUZZ_CHECK(nt_entry_nodes_read(again, &same, 64, 1000, bytes, used) == 0);
	FUZZ_CHECK(same == nodes && memcmp(node, again, nodes * sizeof(node[0])) == 0);
}

static void read_log(struct fuzz *in)
{
	char *copy = fuzz_text(in->at, in->left);
	struct nt_entry entry;
	size_t used;

	for (size_t at = 0; at < in->left; at += used) {
		used = nt_entry_read(&entry, (const uint8_t *)copy + at, in->left - at);
		if (used == 0)
			break;
		check_entry(&entry);
		check_cards(entry.bytes, entry.count);
		check_nodes(entry.bytes, entry.count);
	}
	check_cards((const uint8_t *)copy, in->left);
	check_nodes((const uint8_t *)copy, in->left);
	free(copy);
}

static void make_entry(struct fuzz *in)
{
	struct nt_entry entry = { .type = 1 + fuzz_below(in, NT_ENTRY_TYPES - 1),
				  .epoch = (uint32_t)fuzz_odd_number(in),
				  .to = (uint32_t)fuzz_odd_number(in),
				  .stride = (uint32_t)fuzz_odd_number(in),
				  .cell = (uint32_t)fuzz_odd_number(in),
				  .comm = fuzz_odd_number(in),
				  .key = fuzz_odd_number(in),
				  .turn = fuzz_odd_number(in),
				  .span = fuzz_odd_number(in) };

	entry.bytes = in->at;
	entry.count = in->left < NT_ENTRY_BYTES_MAX ? in->left : NT_ENTRY_BYTES_MAX;
	check_entry(&entry);
}

/* ---- who is where */

static int node_of_task(void *arg, uint32_t task)
{
	const struct nt_nodes *nodes = arg;

	return task < nodes->tasks ? (int)nodes->node_of[task] : -1;
}

static void check_layout(struct nt_nodes *nodes, struct fuzz *in)
{
	struct nt_layout_slot slot[8];
	struct nt_layout layout = { .slot = slot,
				    .slots = 1 + fuzz_below(in, 8),
				    .ranks = (uint32_t)fuzz_odd_number(in),
				    .self = fuzz_below(in, nodes->nodes),
				    .nodes = nodes->nodes,
				    .tasks = nodes->tasks,
				    .node_of_task = node_of_task,
				    .arg = nodes };
	uint8_t *likely = calloc(nodes->nodes, 1);

	FUZZ_CHECK(likely != NULL);
	for (uint32_t s = 0, rank = 0; s < layout.slots; s++) {
		rank += (uint32_t)fuzz_odd_number(in);
		slot[s] = (struct nt_layout_slot){ rank, (uint32_t)fuzz_odd_number(in) };
	}
	nt_layout_likely(&layout, (int)fuzz_below(in, 2), likely);
	free(likely);
}

static void check_map(struct fuzz *in)
{
	const uint32_t tasks = 1 + fuzz_below(in, TASKS), which = fuzz_below(in, 2);
	char *map = fuzz_part(in, '\n'), *list = fuzz_part(in, '\n');
	struct nt_nodes nodes;

	if (map && nt_nodes_read(&nodes, tasks, which ? map : NULL, which ? NULL : map) == 0) {
		FUZZ_CHECK(nodes.tasks == tasks && nodes.nodes > 0);
		for (uint32_t t = 0; t < tasks; t++)
			FUZZ_CHECK(nodes.node_of[t] < nodes.nodes &&
				   nodes.first[nodes.node_of[t]] <= t);
		nt_nodes_name(&nodes, list);
		for (uint32_t n = 0; n < nodes.nodes; n++)
			FUZZ_CHECK(memchr(nodes.name[n], 0, sizeof(nodes.name[n])) != NULL);
		check_layout(&nodes, in);
	}
	if (map)
		nt_nodes_free(&nodes);
	free(map);
	free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = { data, size };

	switch (fuzz_below(&in, 3)) {
	case 0: read_log(&in); break;
	case 1: make_entry(&in); break;
	default: check_map(&in);
	}
	return 0;
}

FUZZ_TEXT_TARGET("(vector,(0,2,4))", "(0,1,1)", "(vector,", ")", ",", "4(x2),3", "(x2)", "-", "\n",
		 "\x01", "\x02\x20")
