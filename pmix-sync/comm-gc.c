/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/comm-gc.h"

#include "pmix-sync/shm.h"
#include "pmix-sync/view.h"

#define NT_LEFT_MS 100 /* memory is kept this long after the last rank has left */

/* Other nodes may still wait for an outcome from this coordinator. Outcomes owed to this node no
 * longer matter. */
static bool outcome_owed(const struct nt_agree_comm *comm)
{
	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].coordinator == NT_COORDINATOR_PROPOSED)
			return true;
	}
	return false;
}

static void free_runs(struct nt_agree *a, uint32_t slot)
{
	for (uint32_t r = 0; r < NT_SHM_RUNS; r++) {
		uint32_t owner = atomic_load(&a->config.shm->run[r].owner);

		if (owner != 0 && (owner - 1) / NT_SHM_KEYS == slot)
			nt_shm_run_free(a->config.shm, r);
	}
}

bool nt_comm_gc_comm(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	if (!nt_shm_left(shm)) {
		comm->left_ms = 0;
		return false;
	}
	if (comm->left_ms == 0)
		comm->left_ms = a->now_ms;
	/* Leave time to send a refusal or an outcome. */
	if (outcome_owed(comm) || a->now_ms - comm->left_ms < NT_LEFT_MS)
		return false;
	free_runs(a, comm->slot);
	return nt_shm_retire(a->config.shm, comm->slot);
}
