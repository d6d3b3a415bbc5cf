/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/trace.h"

#include <stdbool.h>

#define WITHIN(offset, type, member) ((offset)-offsetof(type, member) < sizeof(((type *)0)->member))
#define INDEX(offset, type, member) \
	((uint32_t)(((offset)-offsetof(type, member)) / sizeof(((type *)0)->member[0])))

static uint64_t plain(const _Atomic uint64_t *at)
{
	return __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
}

static bool place_in_key(size_t offset, struct trace_event *event)
{
	event->slot = TRACE_NOBODY;
	if (WITHIN(offset, struct nt_shm_key, turn)) {
		event->field = TRACE_TURN;
		event->slot = INDEX(offset, struct nt_shm_key, turn);
	} else if (WITHIN(offset, struct nt_shm_key, passed)) {
		event->field = TRACE_PASSED;
		event->slot = INDEX(offset, struct nt_shm_key, passed);
	} else if (WITHIN(offset, struct nt_shm_key, hold_at)) {
		event->field = TRACE_HOLD;
	} else if (WITHIN(offset, struct nt_shm_key, epoch)) {
		event->field = TRACE_EPOCH;
	} else if (WITHIN(offset, struct nt_shm_key, state)) {
		event->field = TRACE_STATE;
	} else {
		return false;
	}
	return true;
}

static bool place_in_slot(size_t offset, struct trace_event *event)
{
	if (WITHIN(offset, struct nt_shm_slot, state))
		event->field = TRACE_SEAT;
	else if (WITHIN(offset, struct nt_shm_slot, flags))
		event->field = TRACE_FLAGS;
	else
		return false;
	return true;
}

bool trace_place(const struct nt_shm *shm, const void *at, struct trace_event *event)
{
	size_t offset = (size_t)((const char *)at - (const char *)shm);
	const struct nt_shm_comm *comm;
	uint32_t k;

	if ((const char *)at < (const char *)shm || !WITHIN(offset, struct nt_shm, comm))
		return false;
	comm = &shm->comm[INDEX(offset, struct nt_shm, comm)];
	offset = (size_t)((const char *)at - (const char *)comm);
	event->comm = plain(&comm->id);
	if (WITHIN(offset, struct nt_shm_comm, id)) {
		event->field = TRACE_NO_FIELD;
		return true;
	}
	if (WITHIN(offset, struct nt_shm_comm, slot)) {
		event->slot = INDEX(offset, struct nt_shm_comm, slot);
		return place_in_slot(
			(size_t)((const char *)at - (const char *)&comm->slot[event->slot]), event);
	}
	if (!WITHIN(offset, struct nt_shm_comm, key))
		return false;
	k = INDEX(offset, struct nt_shm_comm, key);
	event->key = plain(&comm->key[k].id);
	return place_in_key((size_t)((const char *)at - (const char *)&comm->key[k]), event);
}

void trace_plan(const void *at, struct trace_event *event)
{
	const struct nt_shm_key *key = (const void *)((const char *)at -
						      offsetof(struct nt_shm_key, epoch));
	const struct nt_plan *plan = &key->plan[event->value & 1];

	event->epoch = plan->epoch;
	event->turn = plan->at;
	event->until = plan->until;
}

struct trace_event trace_entry(enum trace_what what, uint32_t node, const struct nt_entry *entry)
{
	return (struct trace_event){ .what = (uint8_t)what,
				     .type = (uint8_t)entry->type,
				     .node = node,
				     .slot = node,
				     .epoch = entry->epoch,
				     .comm = entry->comm,
				     .key = entry->key,
				     .turn = entry->turn,
				     .until = entry->span == NT_NEVER ? NT_NEVER
								      : entry->turn + entry->span };
}
