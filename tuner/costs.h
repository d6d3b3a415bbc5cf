/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* costs.h - NCCL's cost table: one block of algos * NT_PROTOS floats; lower is better, a negative
 * entry is not legal
 *
 * A newer NCCL may have more algorithms than we know. Their entries are no arms: they are compared
 * with, and never win over a forced one; a call for which NCCL picks one of them is left alone.
 *
 * Threads:  the decision thread. Inline, because every collective pays for it.
 * Host:     src/enqueue.cc:1828@v2.28.9-1; ncclTuningSelectBestTuning,
 *           src/tuning/tuning.cc@88980683
 */
#ifndef NT_COSTS_H
#define NT_COSTS_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "contract/coll.h"
#include "tuner/abi.h"

#define NT_COSTS_ALGOS 16 /* a table has so many algorithms at most */
#define NT_COSTS_MAX (NT_COSTS_ALGOS * NT_PROTOS)

/* NCCL 2.28 never chooses an entry of this or more (enqueue.cc:1828@v2.28.9-1). */
#define NT_NOT_WORTH_US 3.6e9f

/* 0 <= cost < NT_NOT_WORTH_US in one comparison: as unsigned integers, floats from 0 up keep their
 * order, and those of negative floats and NANs are larger. */
static inline uint32_t nt_costs_entry_legal(float cost)
{
	const float limit_us = NT_NOT_WORTH_US;
	uint32_t limit, bits;

	memcpy(&limit, &limit_us, sizeof(limit));
	memcpy(&bits, &cost, sizeof(bits));
	return bits < limit;
}

/* One bit per pair. Unrolled by protocol: no inner loop is left. */
static inline uint32_t nt_costs_legal(const float *cost, int algos)
{
	uint32_t mask = 0;

	_Static_assert(NT_PROTOS == 3, "three entries an algorithm");
	for (int a = 0; a < algos && a < NT_ALGOS; a++, cost += NT_PROTOS)
		mask |= (nt_costs_entry_legal(cost[0]) | nt_costs_entry_legal(cost[1]) << 1 |
			 nt_costs_entry_legal(cost[2]) << 2)
			<< (a * NT_PROTOS);
	return mask;
}

/* The arm if its pair is legal, else NT_ARM_BASELINE */
static inline int nt_costs_allowed(uint32_t legal, int arm)
{
	int pair = nt_arm_pair(arm);

	return pair < NT_PAIRS && (legal >> pair & 1) ? arm : NT_ARM_BASELINE;
}

/* NCCL takes the first of the lowest (enqueue.cc:1828@v2.28.9-1), from 2.31 on the last: 0 wins
 * unless another entry is 0, too. Entries that are not legal stay. */
static inline void nt_costs_force(float *cost, int pairs, int arm)
{
	for (int i = 0; i < pairs; i++) {
		if (cost[i] == 0.0f)
			cost[i] = FLT_MIN;
	}
	cost[arm] = 0.0f;
}

/* NCCL's choice: the first of the lowest, or the last. From NT_PAIRS on: of an algorithm that we do
 * not know. NT_ARM_BASELINE: nothing is legal. */
static inline int nt_costs_baseline(const float *cost, int pairs, bool last)
{
	int pick = NT_ARM_BASELINE;
	float least = FLT_MAX;

	for (int i = 0; i < pairs; i++) {
		if (cost[i] >= 0.0f && (cost[i] < least || (last && cost[i] == least))) {
			least = cost[i];
			pick = i;
		}
	}
	return pick;
}

static inline bool nt_costs_known(int coll, const float *cost, int algos, int protos)
{
	return (unsigned)coll < NT_COLLS && protos == NT_PROTOS && cost != NULL &&
	       algos >= NT_TUNER_ALGOS_OLD && algos <= NT_COSTS_ALGOS;
}

#endif
