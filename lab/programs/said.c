/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/programs/said.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "lab/programs/node-shm.h"
#include "record/rankread.h"

static void take_key(struct nt_world *w, const struct nt_inst *inst, const struct nt_key *said)
{
	for (unsigned k = 0; k < w->p->keys; k++) {
		const struct nt_program_key *key = &w->p->key[k];
		struct nt_key_log *log = nt_world_key_log(w, inst, k);

		if (key->comm != inst->kind || key->coll != said->coll ||
		    nt_band(key->bytes) != nt_band((size_t)said->bytes))
			continue;
		snprintf(log->why, sizeof(log->why), "%s", nt_reason_code(said->reason));
		if (said->spent_ms > log->said_spent_ms)
			log->said_spent_ms = said->spent_ms;
	}
}

static void take_comm(struct nt_world *w, const struct nt_comm_seen *comm)
{
	uint64_t id = strtoull(comm->id, NULL, 16);

	for (unsigned i = 0; i < w->insts && comm->rank == 0; i++) {
		if (w->inst[i].id != id)
			continue;
		for (size_t k = 0; k < comm->key_count; k++)
			take_key(w, &w->inst[i], &comm->keys[k]);
	}
}

static void take_record(void *world, const char *text, size_t bytes)
{
	struct nt_rank rank = { 0 };

	if (nt_rank_parse(&rank, text, bytes, NULL) == 0) {
		for (size_t i = 0; i < rank.comm_count; i++)
			take_comm(world, &rank.comms[i]);
	}
	nt_rank_fini(&rank);
}

void nt_said_read(struct nt_world *w, struct nt_run_log *log, const char *dir)
{
	char path[PATH_MAX];

	w->log = log;
	for (unsigned n = 0; n < w->nodes; n++) {
		snprintf(path, sizeof(path), "%.3000s/n%u", dir, n);
		nt_node_shm_records(path, take_record, w);
	}
}
