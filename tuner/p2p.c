/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tuner/p2p.h"

#include <pthread.h>
#include <string.h>
#include "contract/coll.h"
#include "contract/shm-layout.h"

#define TAKEN (UINT32_C(1) << 31)

static uint32_t load(const _Atomic uint32_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static uint64_t load64(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

/* Single writer: no read-modify-write. */
static void add(_Atomic uint32_t *value, uint32_t more)
{
	atomic_store_explicit(value, load(value) + more, memory_order_relaxed);
}

static void add64(_Atomic uint64_t *value, uint64_t more)
{
	atomic_store_explicit(value, load64(value) + more, memory_order_relaxed);
}

static _Atomic uint32_t *group_of(struct nt_p2p_groups *groups)
{
	uint64_t hash = (uint64_t)(uintptr_t)pthread_self() * UINT64_C(0x9e3779b97f4a7c15);

	_Static_assert(NT_P2P_THREADS == 16, "four bits");
	return &groups->begun[hash >> 60];
}

void nt_p2p_begin_group(struct nt_p2p_groups *groups)
{
	atomic_fetch_add_explicit(group_of(groups), 1, memory_order_relaxed);
}

/* Two ranks that exchange something send it once; an all-to-all sends to the rank itself, too. */
static int kind_of(uint32_t ranks, uint32_t sends, uint32_t receives)
{
	const uint32_t all = ranks > 2 ? ranks - 1 : 2;

	if (sends >= all && receives >= all)
		return NT_P2P_ALLTOALL;
	if (receives == 0)
		return NT_P2P_SEND;
	return sends == 0 ? NT_P2P_RECV : NT_P2P_SENDRECV;
}

/* The size is what is sent, or received if that is more. */
static uint32_t id_of(uint32_t ranks, const struct nt_p2p_call *call)
{
	const uint64_t sent = load64(&call->sent_bytes), received = load64(&call->received_bytes);
	const int kind = kind_of(ranks, load(&call->sends), load(&call->receives));

	return TAKEN | (uint32_t)kind << 8 | nt_band(sent > received ? sent : received);
}

static int find_peer(const struct nt_p2p *p2p, uint32_t id)
{
	for (int i = 0; i < NT_P2P_KEYS; i++) {
		uint32_t there = load(&p2p->key[i].what);

		if (there == id || there == 0)
			return i;
	}
	return -1;
}

/* The call under way is over. False: no room. */
static bool end_call(struct nt_p2p *p2p, uint32_t ranks)
{
	const uint32_t serial = load(&p2p->serial);
	const uint32_t id = id_of(ranks, &p2p->call);
	int at = serial == 0 ? 0 : find_peer(p2p, id);

	if (serial == 0 || at < 0)
		return serial == 0;
	add64(&p2p->key[at].calls, 1);
	add64(&p2p->key[at].sent_bytes, load64(&p2p->call.sent_bytes));
	/* Pairs with the acquires of readers: the counts are there. */
	atomic_store_explicit(&p2p->key[at].what, id, memory_order_release);
	/* Pairs with the acquire in keep_time(): so is the key. */
	atomic_store_explicit(&p2p->ended[serial % NT_P2P_CALLS],
			      (uint64_t)serial << 32 | (uint32_t)at, memory_order_release);
	return true;
}

bool nt_p2p_note(struct nt_p2p *p2p, struct nt_p2p_groups *groups, uint32_t ranks,
		 const struct nt_p2p_event *event)
{
	const uint64_t bytes = (uint64_t)event->count * nt_datatype_bytes(event->datatype);
	const uintptr_t thread = (uintptr_t)pthread_self();
	const uint32_t group = load(group_of(groups));
	bool fits = true;

	if (load(&p2p->serial) == 0 || p2p->thread != thread || p2p->group != group) {
		fits = end_call(p2p, ranks);
		p2p->thread = thread;
		p2p->group = group;
		p2p->captured = false;
		atomic_store_explicit(&p2p->call.sends, 0, memory_order_relaxed);
		atomic_store_explicit(&p2p->call.receives, 0, memory_order_relaxed);
		atomic_store_explicit(&p2p->call.sent_bytes, 0, memory_order_relaxed);
		atomic_store_explicit(&p2p->call.received_bytes, 0, memory_order_relaxed);
		add(&p2p->serial, load(&p2p->serial) == UINT32_MAX ? 2 : 1);
	}
	p2p->captured |= event->captured;
	if (event->func && strcmp(event->func, "Recv") == 0) {
		add(&p2p->call.receives, 1);
		add64(&p2p->call.received_bytes, bytes);
	} else {
		add(&p2p->call.sends, 1);
		add64(&p2p->call.sent_bytes, bytes);
	}
	if (!atomic_load_explicit(&groups->seen, memory_order_relaxed))
		atomic_store_explicit(&groups->seen, true, memory_order_relaxed);
	return fits;
}

uint32_t nt_p2p_launch(const struct nt_p2p *p2p)
{
	return p2p->captured || p2p->thread != (uintptr_t)pthread_self()
		       ? 0
		       : load(&p2p->serial) % NT_P2P_SERIALS;
}

/* Another call has begun on the GPU: the last one's time is complete, and its key known. */
static void keep_time(struct nt_p2p *p2p)
{
	const uint32_t time = p2p->stop_ns > p2p->start_ns
				      ? nt_shm_time(p2p->stop_ns - p2p->start_ns)
				      : 0;
	struct nt_p2p_key *key;
	uint64_t ended;

	for (unsigned i = 0; time != 0 && i < NT_P2P_CALLS; i++) {
		ended = atomic_load_explicit(&p2p->ended[i], memory_order_acquire);
		if (ended == 0 || (ended >> 32) % NT_P2P_SERIALS != p2p->began)
			continue;
		key = &p2p->key[ended % NT_P2P_KEYS];
		atomic_store_explicit(&key->time[load(&key->timed) % NT_P2P_TIMES], time,
				      memory_order_relaxed);
		/* Pairs with the acquire in read_key(). */
		atomic_store_explicit(&key->timed, load(&key->timed) + 1, memory_order_release);
		return;
	}
}

void nt_p2p_kernel(struct nt_p2p *p2p, uint32_t serial, uint64_t start_ns)
{
	if (p2p->began == serial) {
		p2p->start_ns = start_ns < p2p->start_ns ? start_ns : p2p->start_ns;
		return;
	}
	if (p2p->began != 0)
		keep_time(p2p);
	p2p->began = serial;
	p2p->start_ns = start_ns;
	p2p->stop_ns = 0;
}

void nt_p2p_kernel_end(struct nt_p2p *p2p, uint32_t serial, uint64_t stop_ns)
{
	if (p2p->began == serial && stop_ns > p2p->stop_ns)
		p2p->stop_ns = stop_ns;
}

static void read_key(const struct nt_p2p_key *key, uint32_t id, struct nt_p2p_seen *out)
{
	uint32_t timed = atomic_load_explicit(&key->timed, memory_order_acquire);

	*out = (struct nt_p2p_seen){
		.kind = (int)(id >> 8 & 0xff),
		.band = id & 0xff,
		.calls = load64(&key->calls),
		.sent_bytes = load64(&key->sent_bytes),
		.times = timed < NT_P2P_TIMES ? timed : NT_P2P_TIMES,
	};
	for (unsigned i = 0; i < out->times; i++)
		out->time_ns[i] = nt_shm_time_ns(load(&key->time[i]));
}

unsigned nt_p2p_read(const struct nt_p2p *p2p, uint32_t ranks, struct nt_p2p_seen out[NT_P2P_KEYS])
{
	const uint32_t open = load(&p2p->serial) ? id_of(ranks, &p2p->call) : 0;
	unsigned count = 0, at;

	for (; count < NT_P2P_KEYS; count++) {
		uint32_t id = atomic_load_explicit(&p2p->key[count].what, memory_order_acquire);

		if (id == 0)
			break;
		read_key(&p2p->key[count], id, &out[count]);
	}
	for (at = 0; at < count; at++) {
		if (load(&p2p->key[at].what) == open)
			break;
	}
	if (open == 0 || at == NT_P2P_KEYS)
		return count;
	if (at == count)
		out[count++] = (struct nt_p2p_seen){ .kind = (int)(open >> 8 & 0xff),
						     .band = open & 0xff };
	out[at].calls++;
	out[at].sent_bytes += load64(&p2p->call.sent_bytes);
	return count;
}
