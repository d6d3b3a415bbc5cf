/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how often the logs of other nodes are read
 *
 * Every read costs the reader's slurmstepd memory for good (docs/hosts.md). So the longer logs are listened to, the
 * rarer they are read: a day of listening costs some 1,800 reads in all, whether of one log or of nine; the first
 * seconds, in which most is agreed, a hundred or two. Time in which nothing is pending does not count.
 *
 * Threads:  pure functions.
 * Units:    milliseconds.
 */
#ifndef NT_SYNC_PACE_H
#define NT_SYNC_PACE_H

#include <stdint.h>

#define NT_PACE_LEAST_MS 10u		/* between two reads of one log */
#define NT_PACE_SHARE 128u		/* ... or the time listened so far, times the logs, divided by this */
#define NT_PACE_LOGS 32u		/* more than this only join, and are read once or twice */
#define NT_PACE_URGENT_MS 50u		/* at most, where ranks may wait */
#define NT_PACE_RESERVE 200u		/* reads kept for outcomes that are owed */

static inline uint64_t nt_pace_ms(uint64_t listened_ms, uint32_t logs, int urgent)
{
	uint64_t spacing_ms = listened_ms * (logs < NT_PACE_LOGS ? logs : NT_PACE_LOGS) / NT_PACE_SHARE;

	if (urgent && spacing_ms > NT_PACE_URGENT_MS)
		return NT_PACE_URGENT_MS;
	return spacing_ms > NT_PACE_LEAST_MS ? spacing_ms : NT_PACE_LEAST_MS;
}

#endif
