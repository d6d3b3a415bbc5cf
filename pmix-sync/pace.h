/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how often the logs of other nodes are read
 *
 * Every read costs the reader's slurmstepd memory for good, and the more keys a log has the more
 * (docs/hosts.md). So memory is what is spent, from a budget for the whole step: the longer logs
 * are listened to, and the longer they are, the rarer they are read. Of short logs a day of
 * listening takes some 1,000 to 1,400 reads, whether of one log or of eight; the first two
 * seconds 150. Time in which nothing is pending does not count.
 *
 * Threads:  pure functions.
 * Units:    milliseconds; bytes of the reader's slurmstepd.
 */
#ifndef NT_SYNC_PACE_H
#define NT_SYNC_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define NT_PACE_LEAST_MS 10u /* between two reads of one log */
#define NT_PACE_URGENT_MS 50u /* at most, where ranks may wait */
#define NT_PACE_LOGS 32u /* more than this only join: */
/* ... for each of them, between two reads of those that have not come yet */
#define NT_PACE_JOIN_MS 2u

#define NT_PACE_READ_BYTES 4096u /* cost of a read, */
#define NT_PACE_KEY_BYTES 600u /* ... and for each key in the log, besides what the key holds */
#define NT_PACE_EARLY_MS 60000u /* until then so much may be spent while the time grows e-fold, */
#define NT_PACE_EARLY_BYTES (700u << 10)
#define NT_PACE_LATE_BYTES (200u << 10) /* ... and so much afterwards */

/* for the step; what a client of PMIx costs by itself is 8 MiB more */
#define NT_PACE_BUDGET (7u << 20)
#define NT_PACE_NODE_BYTES 8192u /* ... and for each node, whose log is read once to join */
#define NT_PACE_RESERVE (700u << 10) /* kept for outcomes that are owed */
#define NT_PACE_READS 2000u /* the same in reads; and one for each node */
#define NT_PACE_RESERVE_READS 200u

static inline uint64_t nt_pace_read_cost(uint32_t keys, uint64_t bytes)
{
	return NT_PACE_READ_BYTES + (uint64_t)keys * NT_PACE_KEY_BYTES + bytes;
}

/* Between two reads of one log. listened_ms: at the first of the two; cost: of one read of each
 * log that is listened to. */
static inline uint64_t nt_pace_ms(uint64_t listened_ms, uint32_t logs, uint64_t cost, bool urgent)
{
	uint64_t share = listened_ms < NT_PACE_EARLY_MS ? NT_PACE_EARLY_BYTES : NT_PACE_LATE_BYTES;
	uint64_t spacing_ms = listened_ms * cost / share;
	uint64_t least_ms = logs > NT_PACE_LOGS ? (uint64_t)logs * NT_PACE_JOIN_MS
						: NT_PACE_LEAST_MS;

	if (spacing_ms < least_ms)
		spacing_ms = least_ms;
	return urgent && spacing_ms > NT_PACE_URGENT_MS ? NT_PACE_URGENT_MS : spacing_ms;
}

/* Only what is urgent is read from here on. */
static inline bool nt_pace_spent(uint32_t reads, uint64_t spent, uint32_t nodes)
{
	return reads >= NT_PACE_READS + nodes ||
	       spent >= NT_PACE_BUDGET + (uint64_t)nodes * NT_PACE_NODE_BYTES;
}

/* No new plan from here on: the rest is for outcomes. */
static inline bool nt_pace_limited(uint32_t reads, uint64_t spent, uint32_t nodes)
{
	return nt_pace_spent(reads + NT_PACE_RESERVE_READS, spent + NT_PACE_RESERVE, nodes);
}

#endif
