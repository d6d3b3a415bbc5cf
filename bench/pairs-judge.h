/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pairs-judge.h - evaluate, on rank 0, the times of pairs so far, and decide how long to go on
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

/* What a rank has of a pair in a round. */
struct nt_pairs_entry {
	int32_t partner; /* its rank; -1: there was none */
	int32_t wrong; /* elements */
	float us[NT_PAIR_WHATS], predicted_us[NT_PAIR_WHATS];
};

/* Header of a rank's message; entries follow, for each round that of the pair on its node and that
 * of the pair on two nodes. */
struct nt_pairs_head {
	char node[NT_PAIRS_NODE];
	char leaf[192]; /* the switches above the node; "": not known */
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

/* Part r of all ranks' parts, of part_bytes each, is rank r's of these rounds. */
void nt_pairs_judge_add(struct nt_pairs_judge *judge, const char *parts, size_t part_bytes,
			int from_round, int end_round);

/* Prints a line, and returns the round to go on to; the present one if it is over. */
int nt_pairs_judge_look(struct nt_pairs_judge *judge, int rounds);

#endif
