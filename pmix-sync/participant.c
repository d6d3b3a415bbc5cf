/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/participant.h"

#include <string.h>
#include "pmix-sync/shm.h"
#include "pmix-sync/outbox.h"
#include "pmix-sync/recheck-timer.h"
#include "pmix-sync/task-log.h"
#include "pmix-sync/view.h"

/* How long to wait for GPU times after a window: so long, and so many pauses of its key. */
#define NT_LATE_MS 1000
#define NT_LATE_PAUSES 2

struct nt_agree_key *nt_participant_key(struct nt_agree_comm *comm, uint64_t id)
{
	struct nt_agree_key *key;

	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].id == id)
			return &comm->keys[k];
	}
	if (comm->key_count == NT_SHM_KEYS)
		return NULL;
	key = &comm->keys[comm->key_count++];
	key->id = id;
	key->slot = -1;
	return key;
}

static bool may_hold(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_agree_key *key,
		     uint32_t epoch)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);

	if (comm->refusing || nt_view_objection(shm) || key->slot < 0 || key->closed ||
	    key->in_doubt || !key->wanted)
		return false;
	if (epoch <= key->installed.epoch || (key->committed && !key->rechecking) || key->data_due)
		return false;
	return nt_view_passed(&shm->key[key->slot], shm, &key->installed);
}

static bool copy_plan(struct nt_plan *plan, const struct nt_entry *entry)
{
	if (entry->count > sizeof(plan->payload) || entry->stride == 0 || entry->epoch == 0)
		return false;
	if (entry->cell == 0 || (entry->cell > 1 && entry->stride > NT_TASK_LOG))
		return false;
	memset(plan, 0, sizeof(*plan));
	plan->at = entry->turn;
	plan->until = entry->span == NT_NEVER ? NT_NEVER : entry->turn + entry->span;
	plan->epoch = entry->epoch;
	plan->stride = entry->stride;
	plan->cell = entry->cell;
	plan->run = NT_NO_RUN;
	plan->payload_bytes = (uint32_t)entry->count;
	if (entry->count > 0)
		memcpy(plan->payload, entry->bytes, entry->count);
	return true;
}

/* Phase one. With hold_at set, no local rank passes the plan's turn without the outcome. */
static void on_propose(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		       const struct nt_entry *entry)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);
	struct nt_shm_key *shm_key = &shm->key[key->slot < 0 ? 0 : key->slot];
	struct nt_plan plan;
	bool held = false, busy = false;

	if (!copy_plan(&plan, entry))
		return;
	if (may_hold(a, comm, key, plan.epoch)) {
		if (plan.until != NT_NEVER)
			plan.run = nt_shm_run_take(a->config.shm, comm->slot, (uint32_t)key->slot);
		if (plan.until == NT_NEVER || plan.run != NT_NO_RUN) {
			atomic_store_explicit(&shm_key->hold_at, plan.at + 1, memory_order_seq_cst);
			/* Check again: before the hold, a rank may have left, or set a flag and
			 * gone on. */
			held = nt_view_none_reached(shm_key, shm, plan.at) &&
			       !nt_view_objection(shm);
		}
		busy = !held && plan.until != NT_NEVER && plan.run == NT_NO_RUN;
	}
	if (held) {
		key->in_doubt = true;
		key->pending = plan;
	} else if (key->slot >= 0 && !key->in_doubt) {
		atomic_store_explicit(&shm_key->hold_at, 0, memory_order_seq_cst);
		nt_shm_run_free(a->config.shm, plan.run);
	}
	nt_outbox_answer(
		a, comm, key,
		(struct nt_entry){ .type = held ? NT_ENTRY_ACK : NT_ENTRY_NACK,
				   .epoch = plan.epoch,
				   .turn = key->slot < 0 ? 0 : nt_view_top_turn(shm_key, shm),
				   .span = busy });
}

/* Phase two. The plan is stored before the hold is released: a waiting rank finds it. */
static void on_outcome(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		       const struct nt_entry *entry)
{
	struct nt_shm_key *shm_key;

	if (!key->in_doubt || key->pending.epoch != entry->epoch)
		return; /* not held here */
	shm_key = nt_view_key(a, comm, key);
	key->in_doubt = false;
	if (entry->type == NT_ENTRY_ABORT) {
		nt_shm_run_free(a->config.shm, key->pending.run);
		key->stir_ms = a->now_ms;
		a->counts.aborts++;
	} else {
		key->installed = key->pending;
		key->data_due = key->pending.run != NT_NO_RUN;
		key->passed_ms = 0;
		shm_key->plan[entry->epoch & 1] = key->pending;
		atomic_store_explicit(&shm_key->epoch, entry->epoch, memory_order_seq_cst);
		if (key->pending.until == NT_NEVER) { /* in force whenever no window is */
			key->committed = true;
			key->committed_plan = key->installed;
			if (comm->committed_ms == 0)
				comm->committed_ms = a->now_ms;
			nt_recheck_end(a, comm, key);
		}
		a->counts.commits++;
	}
	atomic_store_explicit(&shm_key->hold_at, 0, memory_order_seq_cst);
}

static void on_close(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		     const struct nt_entry *entry)
{
	struct nt_shm_key *shm_key;

	if (key->committed) { /* its recheck is over */
		/* Perhaps that of an earlier recheck, which this node has left. */
		if (key->rechecking && entry->span == key->recheck && !key->in_doubt &&
		    !key->data_due)
			nt_recheck_end(a, comm, key);
		return;
	}
	if (key->closed)
		return; /* this node refused: ranks may be reading the result */
	key->closed = true;
	if (key->slot < 0)
		return;
	shm_key = nt_view_key(a, comm, key);
	if (entry->count <= sizeof(shm_key->result)) {
		if (entry->count > 0)
			memcpy(shm_key->result, entry->bytes, entry->count);
		shm_key->result_bytes = (uint32_t)entry->count;
	}
	atomic_store(&shm_key->state, NT_KEY_CLOSED);
}

void nt_participant_entry(struct nt_agree *a, struct nt_agree_comm *comm,
			  const struct nt_entry *entry)
{
	struct nt_agree_key *key = nt_participant_key(comm, entry->key);

	if (!key)
		return; /* silence is a refusal */
	switch (entry->type) {
	case NT_ENTRY_WANT: key->wanted = true; return;
	case NT_ENTRY_PROPOSE: on_propose(a, comm, key, entry); return;
	case NT_ENTRY_COMMIT:
	case NT_ENTRY_ABORT: on_outcome(a, comm, key, entry); return;
	case NT_ENTRY_CLOSE: on_close(a, comm, key, entry); return;
	default: return;
	}
}

static void send_data(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		      uint64_t top)
{
	uint8_t bytes[NT_ENTRY_BYTES_MAX];
	struct nt_entry entry = {
		.type = NT_ENTRY_DATA, .epoch = key->installed.epoch, .turn = top, .bytes = bytes
	};

	entry.count = a->config.hooks.gather(a->config.hooks.arg, a->config.shm, &key->installed,
					     nt_view_slots(nt_view_comm(a, comm)), bytes,
					     sizeof(bytes));
	nt_shm_run_free(a->config.shm, key->installed.run);
	key->data_due = false;
	key->stir_ms = a->now_ms;
	nt_outbox_answer(a, comm, key, entry);
}

/* After a refusal: close keys without a plan in force. */
static void close_refused(struct nt_shm_key *shm_key, const struct nt_shm_comm *shm,
			  struct nt_agree_key *key)
{
	if (key->in_doubt || key->committed || !nt_view_passed(shm_key, shm, &key->installed))
		return;
	key->closed = true;
	atomic_store(&shm_key->state, NT_KEY_CLOSED);
}

static void note_calls(struct nt_agree *a, const struct nt_shm_comm *shm,
		       const struct nt_shm_key *shm_key, struct nt_agree_key *key)
{
	uint64_t calls = 0;

	for (uint32_t m = 0; nt_shm_taken(shm, m); m++)
		calls += atomic_load_explicit(&shm_key->calls[m], memory_order_relaxed);
	nt_call_interval_see(&key->interval, calls, a->now_ms);
}

static void key_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_shm_comm *shm,
		     struct nt_agree_key *key)
{
	struct nt_shm_key *shm_key;

	if (key->closed || key->slot < 0)
		return;
	shm_key = &shm->key[key->slot];
	note_calls(a, shm, shm_key, key);
	if (!key->wanted)
		return;
	if (atomic_load(&shm_key->state) == NT_KEY_IDLE)
		atomic_store(&shm_key->state, NT_KEY_OPEN);
	if (!key->ready && nt_view_turns_known(shm_key, shm)) {
		key->ready = true;
		key->ready_ms = a->now_ms;
		nt_outbox_answer(a, comm, key,
				 (struct nt_entry){ .type = NT_ENTRY_READY,
						    .turn = nt_view_top_turn(shm_key, shm) });
	}
	if (nt_recheck_step(a, comm, key) && nt_view_turns_known(shm_key, shm)) {
		key->recheck_ready = true;
		nt_outbox_answer(a, comm, key,
				 (struct nt_entry){ .type = NT_ENTRY_READY,
						    .turn = nt_view_top_turn(shm_key, shm),
						    .span = key->recheck });
	}
	if (comm->refusing)
		close_refused(shm_key, shm, key);
	if (!key->data_due || !nt_view_passed(shm_key, shm, &key->installed))
		return;
	if (key->passed_ms == 0)
		key->passed_ms = a->now_ms;
	if (nt_view_measured(a, &key->installed, shm) ||
	    a->now_ms - key->passed_ms >=
		    nt_call_interval_ms(&key->interval, NT_LATE_PAUSES, NT_LATE_MS))
		send_data(a, comm, key, nt_view_top_turn(shm_key, shm));
}

void nt_participant_step(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_shm_comm *shm = nt_view_comm(a, comm);
	int why = comm->refusing ? NT_REASON_NONE : nt_view_objection(shm);

	if (why == NT_REASON_NONE && a->limited && !comm->local && !comm->refusing)
		why = NT_REASON_READS;
	if (why != NT_REASON_NONE)
		nt_outbox_refuse(a, comm, why);
	/* Local ranks claim keys in order. */
	for (; nt_shm_claimed(shm, comm->slots); comm->slots++) {
		struct nt_agree_key *key = nt_participant_key(
			comm, atomic_load(&shm->key[comm->slots].id));

		if (key)
			key->slot = (int)comm->slots;
	}
	nt_recheck_begin(a, comm);
	for (uint32_t k = 0; k < comm->key_count; k++)
		key_step(a, comm, shm, &comm->keys[k]);
}
