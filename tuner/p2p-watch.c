/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/p2p-watch.h"

#define QUIET_CALLS 1000u
#define FIRST_MS 10000u
#define LONGEST_MS 300000u
#define SILENT_MS 500u

bool nt_p2p_watch_step(struct nt_p2p_watch *watch, bool seen, uint64_t calls, uint32_t comms,
		       uint64_t ms)
{
	const bool opened = comms != watch->comms;

	watch->comms = comms;
	if (seen)
		watch->wait_ms = 0;
	/* Calls of communicators that NCCL has closed do not count any more. */
	if (seen || opened || calls < watch->calls || (watch->off && ms >= watch->until_ms)) {
		watch->off = false;
		watch->calls = calls;
	} else if (!watch->off && calls - watch->calls >= QUIET_CALLS) {
		watch->off = watch->gap = true;
		watch->wait_ms = watch->wait_ms ? 2 * watch->wait_ms : FIRST_MS;
		if (watch->wait_ms > LONGEST_MS)
			watch->wait_ms = LONGEST_MS;
		watch->until_ms = ms + watch->wait_ms;
	}
	return !watch->off;
}

bool nt_p2p_watch_times(struct nt_p2p_watch *watch, uint64_t p2p_calls, uint64_t ms)
{
	if (watch->timed || p2p_calls == 0)
		return false;
	if (watch->first_ms == 0) {
		watch->first_ms = ms;
		watch->first_calls = p2p_calls;
	}
	if (p2p_calls != watch->seen_calls) {
		watch->seen_calls = p2p_calls;
		watch->seen_ms = ms;
	}
	watch->timed = watch->gap || p2p_calls - watch->first_calls >= NT_P2P_TIMED ||
		       ms - watch->first_ms >= FIRST_MS;
	return !watch->timed && ms - watch->seen_ms < SILENT_MS;
}

void nt_p2p_watch_begin(struct nt_process *process, int api)
{
	const int bits = (int)(api >= 5 ? NT_PROF_P2P_API : NT_PROF_P2P);
	int none = 0;

	/* A single number; nothing to pair with. */
	if (atomic_compare_exchange_strong_explicit(&process->p2p_bits, &none, bits,
						    memory_order_relaxed, memory_order_relaxed))
		nt_mask_count(&process->mask, bits);
}

/* v4 does not tell of captures. A mode that only uses what is known measures nothing. */
static bool may_measure(const struct nt_process *process, int bits)
{
	const enum nt_mode mode = process->policy.mode;

	return mode != NT_MODE_POLICY &&
	       (bits == (int)NT_PROF_P2P_API || process->policy.graphs == NT_GRAPHS_NEVER);
}

void nt_p2p_watch_look(struct nt_p2p_watch *watch, struct nt_process *process, uint64_t calls,
		       uint64_t p2p_calls, uint64_t ms)
{
	const bool seen = atomic_exchange_explicit(&process->groups.seen, false,
						   memory_order_relaxed);
	const int bits = atomic_load_explicit(&process->p2p_bits, memory_order_relaxed);
	const bool on = nt_p2p_watch_step(watch, seen, calls, process->comms, ms);

	if (bits == 0)
		return;
	nt_mask_count(&process->mask, on ? bits : 0);
	nt_mask_measure(&process->mask, &process->p2p_measured,
			nt_p2p_watch_times(watch, p2p_calls, ms) && may_measure(process, bits));
}
