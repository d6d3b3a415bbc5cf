/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* read-pace.h - how often other nodes' logs are read
 *
 * A read costs the reader's slurmstepd memory that is never freed, more for longer logs
 * (docs/hosts.md). A step has a memory budget for reads: they become rarer the longer it listens
 * and the longer the logs are. A day of listening to short logs takes 1,000 to 1,400 reads, of one
 * log or of eight; the first two seconds take 150. Time in which nothing is pending does not count.
 *
 * Threads:  pure functions.
 * Units:    milliseconds; bytes of the reader's slurmstepd.
 */
#ifndef NT_SYNC_READ_PACE_H
#define NT_SYNC_READ_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define NT_PACE_LEAST_MS 10u /* least time between two reads of one log */
#define NT_PACE_URGENT_MS 50u /* most, if ranks may be waiting */
#define NT_PACE_LOGS 32u /* with more logs than this, while joining, */
/* ... this time per log between two reads of those that are missing */
#define NT_PACE_JOIN_MS 2u

#define NT_PACE_READ_BYTES 4096u /* cost of a read */
#define NT_PACE_KEY_BYTES 600u /* plus this for each key in the log, plus the contents */
/* until then, this much may be spent whenever the time grows by a factor of e */
#define NT_PACE_EARLY_MS 60000u
#define NT_PACE_EARLY_BYTES (700u << 10)
#define NT_PACE_LATE_BYTES (200u << 10) /* ... and this much later */

/* of a step; a PMIx client costs 8 MiB more */
#define NT_PACE_BUDGET (7u << 20)
#define NT_PACE_NODE_BYTES 8192u /* plus this for each node, whose log is read once to join */
#define NT_PACE_RESERVE (700u << 10) /* kept for outcomes that are owed */
#define NT_PACE_READS 2000u /* also limited to so many reads, and one per node */
#define NT_PACE_RESERVE_READS 200u

static inline uint64_t nt_pace_read_cost(uint32_t keys, uint64_t bytes)
{
	return NT_PACE_READ_BYTES + (uint64_t)keys * NT_PACE_KEY_BYTES + bytes;
}

/* Time between two reads of a log. listened_ms: at the first of them; cost: of one read of every
 * log listened to. */
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

/* Only urgent reads are left. */
static inline bool nt_pace_spent(uint32_t reads, uint64_t spent, uint32_t nodes)
{
	return reads >= NT_PACE_READS + nodes ||
	       spent >= NT_PACE_BUDGET + (uint64_t)nodes * NT_PACE_NODE_BYTES;
}

/* No new plans: the rest of the budget is for outcomes. */
static inline bool nt_pace_limited(uint32_t reads, uint64_t spent, uint32_t nodes)
{
	return nt_pace_spent(reads + NT_PACE_RESERVE_READS, spent + NT_PACE_RESERVE, nodes);
}

#endif
