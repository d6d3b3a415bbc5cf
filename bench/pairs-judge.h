/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pairs-judge.h - evaluate on rank 0 the times of pairs so far, and decide how long to go on
 *
 * Threads:  one.
 * Memory:   nt_pairs_judge_fini() frees all.
 * Errors:   as gpu.h.
 * Units:    seconds; microseconds in entries.
 */
#ifndef NT_BENCH_PAIRS_JUDGE_H
#define NT_BENCH_PAIRS_JUDGE_H

#include <stdint.h>
#include "bench/gpu.h"
#include "profiles/measure/low-nodes.h"

#define NT_PAIRS_NODE 64

/* A rank's results of one pair in one round. */
struct nt_pairs_entry {
	int32_t partner; /* its rank; -1: none */
	int32_t wrong; /* elements */
	float us[NT_PAIR_WHATS], predicted_us[NT_PAIR_WHATS];
};

/* Header of a rank's message. Two entries follow for each round: the pair on its node, and the pair
 * across nodes. */
struct nt_pairs_head {
	char node[NT_PAIRS_NODE];
	char leaf[192]; /* the switches above the node; "": unknown */
};

struct nt_pairs_judge {
	const struct nt_bench_gpu *gpu;
	double start_s;
	struct nt_pairs_head *head; /* of each rank */
	struct nt_pair_time *time;
	size_t count;
};

void nt_pairs_judge_init(struct nt_pairs_judge *judge, const struct nt_bench_gpu *gpu);
void nt_pairs_judge_fini(struct nt_pairs_judge *judge);

/* parts: one of part_bytes bytes for each rank, with its entries of these rounds. */
void nt_pairs_judge_add(struct nt_pairs_judge *judge, const char *parts, size_t part_bytes,
			int from_round, int end_round);

/* Prints a line. Returns the round to go on to, or `rounds` at the end. */
int nt_pairs_judge_look(struct nt_pairs_judge *judge, int rounds);

#endif
