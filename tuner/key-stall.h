/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key-stall.h - notice an open key without progress: its coordinator, or another node, is gone
 *
 * That is a key that is open for long, by the clock and by its own calls, without a new plan or a
 * measured window. A key that is called every ten seconds may take its time.
 *
 * Threads:  values, pure functions; the helper thread's.
 * Units:    milliseconds.
 */
#ifndef NT_KEY_STALL_H
#define NT_KEY_STALL_H

#include <stdbool.h>
#include <stdint.h>

#define NT_STALL_MS 180000u
#define NT_STALL_CALLS 64u

/* All 0: not started */
struct nt_stall {
	bool begun;
	uint32_t epoch; /* of the newest plan */
	uint64_t since_ms, since_calls;
};

/* With an open key's present state. moves: a window of it is being measured. True: it makes no
 * progress. */
static inline bool nt_stall_see(struct nt_stall *stall, uint32_t epoch, bool moves, uint64_t calls,
				uint64_t now_ms)
{
	if (!stall->begun || moves || epoch != stall->epoch)
		*stall = (struct nt_stall){ true, epoch, now_ms, calls };
	return now_ms - stall->since_ms >= NT_STALL_MS &&
	       calls - stall->since_calls >= NT_STALL_CALLS;
}

#endif
