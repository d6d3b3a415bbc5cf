/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/comm.h"

/* One writer at a time: no read-modify-write. */
static uint32_t change_open_keys(struct nt_comm_decision *d, int by)
{
	uint32_t keys = atomic_load_explicit(&d->open_keys, memory_order_relaxed) + (uint32_t)by;

	atomic_store_explicit(&d->open_keys, keys, memory_order_relaxed);
	return keys;
}

void nt_comm_open_key(struct nt_comm *comm, struct nt_local_key *key)
{
	struct nt_comm_decision *d = &comm->decision;

	if (key->decision.open)
		return;
	key->decision.open = true;
	if (change_open_keys(d, 1) != 1)
		return;
	nt_mask_open(&comm->fixed.process->mask, 1);
	d->losses_seen = nt_mask_losses(&comm->fixed.process->mask);
	d->blind = false;
	/* Tasks of this group may have been appended while the mask was off, without Coll events:
	 * turns count from the next group on. */
	atomic_store_explicit(&d->called, false, memory_order_relaxed);
	d->open_group = atomic_fetch_add_explicit(&d->group, 1, memory_order_relaxed) + 1;
	d->fifo_count = 0;
	atomic_store_explicit(&d->launch_judged,
			      atomic_load_explicit(&comm->launch.newest, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&d->thread, nt_thread_self(), memory_order_relaxed);
	/* Pairs with the acquire in nt_comm_listening(). */
	atomic_store_explicit(&d->listening, true, memory_order_release);
}

void nt_comm_measure_key(struct nt_comm *comm, struct nt_local_key *key, bool on)
{
	if (nt_mask_measures(&key->measured) == on)
		return;
	if (on)
		key->decision.measure_group = atomic_load_explicit(&comm->decision.group,
								   memory_order_relaxed);
	nt_mask_measure(&comm->fixed.process->mask, &key->measured, on);
}

void nt_comm_drop_key(struct nt_comm *comm, struct nt_local_key *key)
{
	nt_comm_measure_key(comm, key, false);
	if (!key->decision.open)
		return;
	key->decision.open = false;
	if (change_open_keys(&comm->decision, -1) != 0)
		return;
	atomic_store_explicit(&comm->decision.listening, false, memory_order_relaxed);
	nt_mask_open(&comm->fixed.process->mask, -1);
}

void nt_comm_flag(const struct nt_comm *comm, uint32_t flag)
{
	const struct nt_comm_fixed *fixed = &comm->fixed;

	/* After the communicator's end nobody sets or needs flags. */
	if (fixed->shm && !atomic_load_explicit(&comm->kept.left, memory_order_relaxed))
		atomic_fetch_or(&fixed->shm->slot[fixed->slot.index].flags, flag);
}
