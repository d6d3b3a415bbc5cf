/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* trail.h - of the newest tasks of a collective function, which size band each was of
 *
 * By it a rank knows how many calls of a key there were since a turn, however they lie among
 * others. The number is the same on all ranks, on the grounds on which the turn is: tasks are
 * reported in the order of the plans that NCCL launches, which all ranks share, or their kernels
 * would not meet; a task is noted by the number and the bytes that NCCL reports, not by what a
 * rank has decided, so that what one rank alone asks for leaves no trace; and from the first turn
 * that a rank has published on, no event is missing: its mask stays on while the key is open. A
 * plan begins after a turn that every rank has published (pmix-sync/turn.h).
 *
 * Threads:  one writes, the thread of the Coll events, before it publishes the turn; the decision
 *           thread reads what is below a turn that it has acquired.
 * Memory:   a value; all zero: empty. A task is forgotten when NT_TRAIL more have come.
 * Units:    tasks of one function on one communicator, by NCCL's sequence number.
 */
#ifndef NT_SYNC_TRAIL_H
#define NT_SYNC_TRAIL_H

#include <stdatomic.h>
#include <stdint.h>

#define NT_TRAIL 4096u /* a power of two */
#define NT_TRAIL_NONE 127u /* no key's band */

struct nt_trail {
	uint64_t next; /* the writer's: after the newest task */
	_Atomic uint8_t task[NT_TRAIL]; /* its band, and of which lap it is */
};

/* A task of a lap before does not look like one of this. */
static inline uint8_t nt_trail_mark(uint64_t seq, unsigned band)
{
	return (uint8_t)(band | (seq / NT_TRAIL % 2 == 0 ? 128u : 0));
}

/* Turns that no task was reported of, as where nobody listened, hold what was there laps ago, and
 * not on all ranks: they are emptied. */
static inline void nt_trail_note(struct nt_trail *trail, uint64_t seq, unsigned band)
{
	if (trail->next + NT_TRAIL < seq)
		trail->next = seq - NT_TRAIL;
	for (; trail->next < seq; trail->next++)
		atomic_store_explicit(&trail->task[trail->next % NT_TRAIL],
				      nt_trail_mark(trail->next, NT_TRAIL_NONE),
				      memory_order_relaxed);
	trail->next = seq + 1;
	atomic_store_explicit(&trail->task[seq % NT_TRAIL], nt_trail_mark(seq, band),
			      memory_order_relaxed);
}

/* Tasks of a band from one turn on, before another; the newest NT_TRAIL of them are looked at. */
static inline uint32_t nt_trail_count(const struct nt_trail *trail, uint64_t from, uint64_t until,
				      unsigned band)
{
	uint32_t count = 0;

	if (until > NT_TRAIL && from < until - NT_TRAIL)
		from = until - NT_TRAIL;
	for (uint64_t seq = from; seq < until; seq++)
		count += atomic_load_explicit(&trail->task[seq % NT_TRAIL], memory_order_relaxed) ==
			 nt_trail_mark(seq, band);
	return count;
}

#endif
