/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/watch.h"

#include "lab/programs/node-shm.h"
#include "pmix-sync/shm.h"
#include "lab/programs/pmix.h"

static const struct nt_shm *node_shm[NT_PMIX_TASKS];

void nt_watch_open(unsigned node, const char *path)
{
	node_shm[node] = nt_node_shm_open(path);
}

/* What the shared memory of its first rank's node has of a communicator. */
static const struct nt_shm_comm *shm_of(const struct nt_world *w, const struct nt_inst *inst)
{
	const struct nt_shm *shm = node_shm[nt_world_node(w, inst->member[0])];

	for (unsigned i = 0; shm && i < NT_SHM_COMMS; i++) {
		if (atomic_load(&shm->comm[i].id) == inst->id)
			return &shm->comm[i];
	}
	return NULL;
}

static uint32_t state_of(const struct nt_shm_comm *b, const struct nt_program_key *key)
{
	for (unsigned i = 0; i < NT_SHM_KEYS; i++) {
		uint64_t id = atomic_load(&b->key[i].id);

		if (id && (int)nt_key_coll(id) == key->coll &&
		    nt_key_band(id) == nt_band(key->bytes))
			return atomic_load(&b->key[i].state);
	}
	return NT_KEY_IDLE;
}

void nt_watch_step(struct nt_world *w, uint64_t step)
{
	for (unsigned i = 0; i < w->insts; i++) {
		const struct nt_shm_comm *b = shm_of(w, &w->inst[i]);

		for (unsigned k = 0; b && k < w->p->keys; k++) {
			struct nt_key_log *log = nt_world_key_log(w, &w->inst[i], k);

			if (!log->calls)
				continue;
			log->state = (uint16_t)state_of(b, &w->p->key[k]);
			if (log->decided_call ||
			    (log->state != NT_KEY_COMMITTED && log->state != NT_KEY_CLOSED))
				continue;
			log->decided_call = log->calls;
			log->decided_step = (uint32_t)step;
		}
	}
}
