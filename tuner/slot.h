/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* slot.h - GPU times of the collectives under way: from the kernels' starts and stops to one duration a decision
 *
 * NCCL repeats stops on handles that it forgot to clear and lets events come late. So a handle is a number: slot,
 * generation, task and channel. What does not fit the slot's present use is told from it and ignored.
 *
 * One slot is one decision: all tasks that NCCL ran by it, each on its channels. Its duration is the last stop minus
 * the first start. Slots that never complete are taken again by age.
 *
 * Threads:  take, task and seal on the thread of the Coll events, start and stop on the proxy threads, forget on any.
 *           A late event that meets the reuse of its slot in the same nanoseconds may spoil that one duration.
 * Memory:   all static in struct nt_slots; no allocation, no lock, no system call.
 * Units:    nanoseconds of the GPU's clock.
 */
#ifndef NT_SLOT_H
#define NT_SLOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define NT_SLOTS 512		/* decisions being measured at once in a process */
#define NT_SLOT_TASKS 32	/* tasks of one decision; larger ones are not measured */

struct nt_comm;
struct nt_own_key;

/* Where a duration belongs. */
struct nt_sample {
	struct nt_comm *comm;
	struct nt_own_key *key;
	uint32_t run;		/* on the board; NT_NO_RUN: the key's own list */
	uint32_t owner;		/* of the run, as the board has it */
	uint32_t member;
	uint32_t position;
	uint32_t group;		/* of the communicator: one kernel may run several decisions of a group at once */
};

struct nt_slot {
	_Atomic uint64_t word;	/* generation << 32 | channels still missing (and one until sealed); 0 in the low half: free */
	_Atomic(struct nt_comm *) comm;
	_Atomic(struct nt_own_key *) key;
	_Atomic uint32_t run, owner, member, position, group;
	_Atomic uint64_t start_ns, stop_ns;
	_Atomic uint64_t started[NT_SLOT_TASKS], stopped[NT_SLOT_TASKS];	/* a bit a channel */
};

struct nt_slots {
	struct nt_slot slot[NT_SLOTS];
	_Atomic uint32_t next;
};

enum nt_slot_answer {
	NT_SLOT_STALE,		/* a handle of the past, or a repetition */
	NT_SLOT_MORE,		/* taken; something is still missing */
	NT_SLOT_DONE,		/* that was the last: *sample, *start_ns and *stop_ns say what */
};

struct nt_slot_result {
	struct nt_sample sample;
	uint64_t start_ns, stop_ns;
};

/* Handle of a fresh slot, 0: none. Where an unfinished one had to go, *lost is true and *victim its sample. */
uint64_t nt_slot_take(struct nt_slots *slots, const struct nt_sample *sample, bool *lost, struct nt_sample *victim);

/* Task number `task` of the decision, on so many channels: the handle for NCCL, NULL where it does not fit. */
void *nt_slot_task(struct nt_slots *slots, uint64_t handle, unsigned task, unsigned channels);

/* No task will follow. */
enum nt_slot_answer nt_slot_seal(struct nt_slots *slots, uint64_t handle, struct nt_slot_result *result);

/* Its time will not be known: free again, and its handles are stale. False: it was not in use any more. */
bool nt_slot_drop(struct nt_slots *slots, uint64_t handle);

/* task: the handle of nt_slot_task(). Returns the handle of the channel, NULL where the event is stale. */
void *nt_slot_start(struct nt_slots *slots, void *task, unsigned channel, uint64_t start_ns);
enum nt_slot_answer nt_slot_stop(struct nt_slots *slots, void *channel, uint64_t stop_ns, struct nt_slot_result *result);

/* Drops all slots of this communicator. */
void nt_slot_forget(struct nt_slots *slots, const struct nt_comm *comm);

#endif
