/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* low-nodes.h - find nodes, GPUs and NICs that are slower than their like, from times of pairs
 *
 * A pair is two GPUs of a node, or GPUs of two nodes that have the same number there. Its time is
 * compared with the median of its like: the same numbers, behind one switch or two. A unit (a node,
 * a GPU, a NIC by the number of its GPU) is named if the mean of its pairs is above the median of
 * the units by more than chance allows, over all units, quantities and looks together, and by
 * NT_LOW_LEAST at least. Pairs of a unit that is named say nothing of its partners: the slowest
 * unit is named first, and the others are compared without it. If most GPUs of a node are low, the
 * node is named. A pair with wrong results has no time.
 *
 * Pairs of a round run side by side, and are one sample each: what differs between rounds (the
 * communicator's connections, other traffic) is the noise.
 *
 * Threads:  pure; there is no clock in it.
 * Memory:   heap while a function runs; nt_low_fini() frees a verdict.
 * Errors:   -1 and *err: out of memory.
 * Units:    microseconds; slowness as the natural logarithm of a ratio of times, above 0 slower.
 */
#ifndef NT_LOW_NODES_H
#define NT_LOW_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"

#define NT_LOW_NODES_LEAST 3 /* fewer cannot be told apart */
#define NT_LOW_LEAST 0.03 /* less is not worth naming */
#define NT_LOW_ALPHA 2e-4 /* the share of comparisons that name anything where nothing is low */
#define NT_LOW_LOOKS 10 /* at most so many at the times of one comparison */

enum nt_pair_what { NT_PAIR_LATENCY, NT_PAIR_BANDWIDTH, NT_PAIR_WHATS };
enum nt_pair_place { NT_PAIR_INSIDE, NT_PAIR_BETWEEN, NT_PAIR_PLACES };

struct nt_pair_time {
	uint32_t round;
	uint16_t node[2], gpu[2];
	bool far; /* behind different switches, as far as known */
	bool wrong; /* its results */
	float us[NT_PAIR_WHATS];
	float predicted_us[NT_PAIR_WHATS]; /* by NCCL; below 0: not known */
};

enum nt_low_part { NT_LOW_NODE, NT_LOW_GPU, NT_LOW_NIC };

struct nt_low {
	unsigned node;
	int gpu; /* -1: the whole node */
	enum nt_low_part part;
	enum nt_pair_place place;
	bool wrong; /* results were; the rest up to sure is then 0 */
	enum nt_pair_what what;
	double slower, error; /* than the median, and its standard error */
	double p; /* of such a difference by chance, anywhere and in any look */
	bool expected; /* NCCL itself predicts a longer time: it sees fewer or slower links */
	/* Wrong results with two partners or more, or within the node. Otherwise either node of the
	 * pair may be wrong. */
	bool sure;
};

struct nt_low_middle {
	double us; /* median; 0: not measured */
	double predicted; /* median of time over NCCL's prediction; 0: not known */
	double deviation; /* of the logarithm, of a pair from its like */
};

struct nt_low_verdict {
	struct nt_low *low; /* the slowest first */
	size_t count;
	unsigned open; /* nodes for which more rounds might find something worth naming */
	struct nt_low_middle middle[NT_PAIR_PLACES][NT_PAIR_WHATS];
};

/* Judge all pairs so far, in any order; gpus: of each node. */
int nt_low_judge(const struct nt_pair_time *time, size_t count, unsigned nodes, unsigned gpus,
		 struct nt_low_verdict *verdict, struct nt_error *err);
void nt_low_fini(struct nt_low_verdict *verdict);

#endif
