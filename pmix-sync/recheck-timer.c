/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/recheck-timer.h"

#include "pmix-sync/tree.h"
#include "pmix-sync/view.h"

/* A recheck ends after so long, and so many pauses of its key, without activity: its turn must
 * become known, and then its calls are counted for a while. */
#define NT_QUIET_MS 10000
#define NT_QUIET_PAUSES 16
#define NT_LOOK_MS 500 /* least time between two reads for rechecks */
#define NT_LOOKS_A_DAY 200u /* ... and most reads */
#define NT_DAY_MS 86400000u

/* Number of the newest recheck that is due: 2 * n from recheck_ms * (2^n - 1) after the first
 * commit on, and 2 * n + 1 once the program has become slower after that. A node that does not see
 * the slowdown misses one recheck and no more. */
static uint32_t is_due(const struct nt_agree *a, const struct nt_agree_comm *comm)
{
	uint64_t past_ms = a->now_ms - comm->committed_ms;
	uint32_t n = 0;

	while (n < 32 && past_ms >= (uint64_t)a->config.hooks.recheck_ms * ((UINT64_C(2) << n) - 1))
		n++;
	return 2 * n + (a->config.hooks.slower && a->config.hooks.slower(a->config.hooks.arg));
}

/* Reads cost memory for good. */
static bool may_look(const struct nt_agree *a, const struct nt_agree_comm *comm)
{
	uint64_t days = 1 + (a->now_ms - a->began_ms) / NT_DAY_MS;

	return comm->local || (!a->limited && a->counts.looks < NT_LOOKS_A_DAY * days);
}

void nt_recheck_begin(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);
	const struct nt_agree_hooks *hooks = &a->config.hooks;
	uint32_t number;

	if (comm->committed_ms == 0 || !hooks->may_recheck || hooks->recheck_ms == 0 ||
	    comm->refusing || comm->refused)
		return;
	number = is_due(a, comm);
	if (number <= comm->rechecks)
		return;
	comm->rechecks = number;
	for (uint32_t k = 0; k < comm->key_count && may_look(a, comm); k++) {
		struct nt_agree_key *key = &comm->keys[k];

		if (!key->committed || key->rechecking || key->in_doubt || key->data_due ||
		    nt_view_silent(a, key) ||
		    !hooks->may_recheck(hooks->arg, shm, &key->committed_plan))
			continue;
		key->rechecking = true;
		key->recheck_ready = false;
		key->recheck = number;
		key->stir_ms = a->now_ms;
		a->counts.rechecks++;
		atomic_store(&nt_view_key(a, comm, key)->state, NT_KEY_RECHECK);
	}
}

void nt_recheck_end(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	key->rechecking = false;
	atomic_store(&nt_view_key(a, comm, key)->state, NT_KEY_COMMITTED);
}

bool nt_recheck_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	if (!key->rechecking)
		return false;
	if (key->in_doubt || key->data_due) {
		key->stir_ms = a->now_ms;
		return false;
	}
	if (comm->refusing ||
	    a->now_ms - key->stir_ms >=
		    nt_call_interval_ms(&key->interval, NT_QUIET_PAUSES, NT_QUIET_MS)) {
		nt_recheck_end(a, comm, key);
		return false;
	}
	return !key->recheck_ready;
}

bool nt_recheck_listens(const struct nt_agree_key *key)
{
	return key->rechecking && !key->data_due;
}

bool nt_recheck_looks(struct nt_agree *a, struct nt_agree_comm *comm)
{
	const uint32_t *child;

	if (a->now_ms - comm->looked_ms < NT_LOOK_MS)
		return false;
	comm->looked_ms = a->now_ms;
	a->counts.looks += nt_tree_children(comm, &child) + !comm->is_coordinator;
	return true;
}
