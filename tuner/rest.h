/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* rest.h - events end by time, too: a key that is not called any more holds none on
 *
 * A key ends its events when its window is over, at one of its own calls. Start-up, evaluation and
 * checkpoints have keys that are called a few times and then not for long, or never again; NCCL's
 * events would stay on for all other calls of the process. So a key that is not called for half a
 * second, and for several of its pauses, rests: GPU times go off, and then Coll events, if no plan
 * can come before its next call. In a window whose turn stands still, or before one, Coll events
 * stay: without them this rank would not know its turn.
 *
 * Mode observe has a budget besides: 50 ms, and a quarter of a percent of the communication time
 * that NCCL predicts. While it is spent, no key is measured.
 *
 * Threads:  the helper thread, with the process's lock held. Holds a communicator's `taken` for
 *           some instructions, and skips it if another thread does.
 * Memory:   values.
 * Errors:   none.
 * Units:    milliseconds, microseconds.
 */
#ifndef NT_REST_H
#define NT_REST_H

#include "tuner/comm.h"

struct nt_observe_budget {
	uint64_t calls; /* of the process, at the last look */
	double all_us, predicted_us, spent_us;
	bool on; /* GPU times were, at the last look */
};

/* Calls of the process so far, the time that NCCL predicts for them, and whether GPU times are on.
 * True: the budget is spent. */
bool nt_observe_budget_see(struct nt_observe_budget *budget, uint64_t calls, double all_us,
			   bool on);

/* Note the calls of all keys, and end what was not called for long. spent: measure nothing in mode
 * observe. */
void nt_rest_look(struct nt_comm *comm, uint64_t ms, bool spent);

#endif
