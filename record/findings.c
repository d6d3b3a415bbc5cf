/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "record/findings.h"

#include <stdlib.h>
#include <string.h>
#include "lib/compare.h"
#include "record/findings-differs.h"
#include "record/findings-left.h"
#include "record/findings-net.h"
#include "record/findings-rank.h"

static int by_node(const void *left, const void *right)
{
	const struct nt_facts_seen *a = left, *b = right;

	NT_COMPARE_TEXT(a->node, b->node);
	NT_COMPARE(a->rank, b->rank);
	NT_COMPARE(a->task, b->task);
	return 0;
}

static int worst_first(const void *left, const void *right)
{
	const struct nt_finding *a = left, *b = right;

	NT_COMPARE(a->id, b->id);
	NT_COMPARE_TEXT(a->text, b->text);
	return 0;
}

/* Those of the largest communicator move to the front; returns their number. */
static size_t keep_largest(struct nt_facts_seen *seen, size_t count)
{
	int64_t most = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		most = seen[i].ranks > most ? seen[i].ranks : most;
	for (size_t i = 0; i < count; i++) {
		if (most < 2 || seen[i].ranks != most)
			continue;
		if (kept != i)
			seen[kept] = seen[i];
		kept++;
	}
	return kept;
}

/* A step may be on more nodes than its communicators. */
static int64_t nodes_of(const struct nt_facts_seen *seen, size_t count, int64_t nodes)
{
	int64_t most = 0;

	for (size_t i = 0; i < count; i++) {
		if (seen[i].nodes <= 0)
			return nodes;
		most = seen[i].nodes > most ? seen[i].nodes : most;
	}
	return most < nodes ? most : nodes;
}

static void count_local(struct nt_facts_seen *seen, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		end = nt_findings_node_end(seen, count, i);
		for (size_t k = i; k < end; k++)
			seen[k].local = (int64_t)(end - i);
	}
}

static void judge(struct nt_findings *findings, struct nt_facts_seen *seen, size_t count,
		  int64_t nodes, bool small_shm)
{
	int64_t most = 0;

	for (size_t i = 0; i < count; i++)
		most = seen[i].ranks > most ? seen[i].ranks : most;
	if (count == 0 || most < 2)
		return;
	qsort(seen, count, sizeof(seen[0]), by_node);
	nt_findings_judge_cpus(findings, seen, count);
	count = keep_largest(seen, count);
	count_local(seen, count);
	nodes = nodes_of(seen, count, nodes);
	nt_findings_judge_ranks(findings, seen, count, nodes, small_shm);
	nt_findings_judge_left(findings, seen, count, nodes);
	nt_findings_judge_differs(findings, seen, count);
	nt_findings_judge_net(findings, seen, count, nodes);
}

void nt_findings_judge(struct nt_findings *findings, struct nt_facts_seen *seen, size_t count,
		       int64_t nodes, bool small_shm, const char *slower)
{
	struct nt_finding finding;

	findings->count = 0;
	judge(findings, seen, count, nodes, small_shm);
	if (slower[0]) {
		nt_finding_set(&finding, NT_FINDING_SLOWER, ":%s", slower);
		nt_findings_add(findings, &finding);
	}
	if (findings->count > 1)
		qsort(findings->item, findings->count, sizeof(findings->item[0]), worst_first);
}
