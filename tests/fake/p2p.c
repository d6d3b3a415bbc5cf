/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fake/p2p.h"

#include <stdlib.h>
#include "tests/fake/event.h"

#define LATENCY_NS 20000
#define NS_PER_BYTE 0.1 /* 10 GB/s */

uint64_t nt_p2p_duration_ns(int kind, uint64_t bytes)
{
	(void)kind;
	return LATENCY_NS + (uint64_t)(NS_PER_BYTE * (double)bytes);
}

static void append(struct nt_plan *p, bool receives, unsigned peer, uint64_t bytes)
{
	struct nt_p2p_task *t = &p->p2p[p->p2ps++];

	*t = (struct nt_p2p_task){ .receives = receives,
				   .peer = (int)peer,
				   .count = bytes / 4,
				   .datatype = "ncclFloat32" };
	nt_event_append_p2p(p->comm, t);
}

/* As ncclAlltoAll and ncclSend are called. */
static void append_all(struct nt_plan *p)
{
	const unsigned ranks = (unsigned)p->comm->place.ranks, rank = p->comm->rank;
	const uint64_t bytes = p->p2p_bytes;

	switch (p->p2p_kind) {
	case NT_P2P_ALLTOALL:
		for (unsigned peer = 0; peer < ranks; peer++) {
			append(p, false, peer, bytes / ranks);
			append(p, true, peer, bytes / ranks);
		}
		break;
	case NT_P2P_SENDRECV:
		append(p, false, (rank + 1) % ranks, bytes);
		append(p, true, (rank + ranks - 1) % ranks, bytes);
		break;
	default: /* from even ranks to odd ones; of the last one, nothing */
		if (rank % 2)
			append(p, true, rank - 1, bytes);
		else if (rank + 1 < ranks)
			append(p, false, rank + 1, bytes);
		break;
	}
}

void nt_p2p_run(struct nt_comm *const *c, unsigned comms, int kind, uint64_t bytes)
{
	struct nt_plan *p[NT_MAX_RANKS];

	for (unsigned i = 0; i < comms; i++) {
		p[i] = calloc(1, sizeof(*p[i]));
		if (!p[i])
			nt_fake_leave(c[i]->owner->job, NT_EXIT_TROUBLE, "out of memory");
		p[i]->comm = c[i];
		p[i]->p2p_kind = kind;
		p[i]->p2p_bytes = bytes;
		atomic_store(&p[i]->references, 1);
		append_all(p[i]);
	}
	nt_event_group_end();
	for (unsigned i = 0; i < comms; i++)
		nt_plan_launch(p[i]);
	nt_event_group_done();
	for (unsigned i = 0; i < comms; i++)
		nt_plan_release(p[i]);
}
