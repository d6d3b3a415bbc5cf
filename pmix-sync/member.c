/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* member.c - see member.h */
#include "pmix-sync/member.h"

#include <string.h>
#include "pmix-sync/board.h"
#include "pmix-sync/outbox.h"
#include "pmix-sync/recheck.h"
#include "pmix-sync/trail.h"
#include "pmix-sync/view.h"

/* How long late GPU times are waited for after a window: so long, or so many pauses of its key. */
#define NT_LATE_MS 1000
#define NT_LATE_PAUSES 2

struct nt_agree_key *nt_member_key(struct nt_agree_comm *comm, uint64_t id)
{
	struct nt_agree_key *key;

	for (uint32_t k = 0; k < comm->key_count; k++) {
		if (comm->keys[k].id == id)
			return &comm->keys[k];
	}
	if (comm->key_count == NT_BOARD_KEYS)
		return NULL;
	key = &comm->keys[comm->key_count++];
	key->id = id;
	key->slot = -1;
	return key;
}

static bool may_hold(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_agree_key *key,
		     uint32_t epoch)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	if (comm->refusing || nt_view_objection(board) || key->slot < 0 || key->closed ||
	    key->in_doubt || !key->wanted)
		return false;
	if (epoch <= key->installed.epoch || (key->committed && !key->rechecking) || key->data_due)
		return false;
	return nt_view_passed(&board->key[key->slot], board, &key->installed);
}

static bool copy_plan(struct nt_plan *plan, const struct nt_entry *entry)
{
	if (entry->count > sizeof(plan->payload) || entry->stride == 0 || entry->epoch == 0)
		return false;
	if (entry->cell == 0 || (entry->cell > 1 && entry->stride > NT_TRAIL))
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

/* Phase one. From the moment hold_at is set no rank of ours passes the plan's turn without the
 * outcome. */
static void on_propose(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		       const struct nt_entry *entry)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);
	struct nt_board_key *board_key = &board->key[key->slot < 0 ? 0 : key->slot];
	struct nt_plan plan;
	bool held = false, busy = false;

	if (!copy_plan(&plan, entry))
		return;
	if (may_hold(a, comm, key, plan.epoch)) {
		if (plan.until != NT_NEVER)
			plan.run = nt_board_run_take(a->config.board, comm->slot,
						     (uint32_t)key->slot);
		if (plan.until == NT_NEVER || plan.run != NT_NO_RUN) {
			atomic_store_explicit(&board_key->hold_at, plan.at + 1,
					      memory_order_seq_cst);
			/* Looked at again: a rank may have left, or raised a flag and gone on,
			 * before it was held. */
			held = nt_view_none_reached(board_key, board, plan.at) &&
			       !nt_view_objection(board);
		}
		busy = !held && plan.until != NT_NEVER && plan.run == NT_NO_RUN;
	}
	if (held) {
		key->in_doubt = true;
		key->pending = plan;
	} else if (key->slot >= 0 && !key->in_doubt) {
		atomic_store_explicit(&board_key->hold_at, 0, memory_order_seq_cst);
		nt_board_run_free(a->config.board, plan.run);
	}
	nt_outbox_answer(
		a, comm, key,
		(struct nt_entry){ .type = held ? NT_ENTRY_ACK : NT_ENTRY_NACK,
				   .epoch = plan.epoch,
				   .turn = key->slot < 0 ? 0 : nt_view_top_turn(board_key, board),
				   .span = busy });
}

/* What is in force from now on, whatever windows come. */
static void commit_key(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key)
{
	key->committed = true;
	key->committed_plan = key->installed;
	if (comm->committed_ms == 0)
		comm->committed_ms = a->now_ms;
	nt_recheck_end(a, comm, key);
}

/* Phase two. The plan is on the board before the hold is taken away, so a rank that waited finds
 * it. */
static void on_outcome(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		       const struct nt_entry *entry)
{
	struct nt_board_key *board_key;

	if (!key->in_doubt || key->pending.epoch != entry->epoch)
		return; /* we never held it */
	board_key = nt_view_key(a, comm, key);
	key->in_doubt = false;
	if (entry->type == NT_ENTRY_ABORT) {
		nt_board_run_free(a->config.board, key->pending.run);
		key->stir_ms = a->now_ms;
		a->counts.aborts++;
	} else {
		key->installed = key->pending;
		key->data_due = key->pending.run != NT_NO_RUN;
		key->passed_ms = 0;
		board_key->plan[entry->epoch & 1] = key->pending;
		atomic_store_explicit(&board_key->epoch, entry->epoch, memory_order_seq_cst);
		if (key->pending.until == NT_NEVER)
			commit_key(a, comm, key);
		a->counts.commits++;
	}
	atomic_store_explicit(&board_key->hold_at, 0, memory_order_seq_cst);
}

static void on_close(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_agree_key *key,
		     const struct nt_entry *entry)
{
	struct nt_board_key *board_key;

	if (key->committed) { /* its recheck is over, and the plan for good stays */
		if (key->rechecking && !key->in_doubt && !key->data_due)
			nt_recheck_end(a, comm, key);
		return;
	}
	if (key->closed)
		return; /* by this node's refusal: ranks may be reading what the board says */
	key->closed = true;
	if (key->slot < 0)
		return;
	board_key = nt_view_key(a, comm, key);
	if (entry->count <= sizeof(board_key->result)) {
		if (entry->count > 0)
			memcpy(board_key->result, entry->bytes, entry->count);
		board_key->result_bytes = (uint32_t)entry->count;
	}
	atomic_store(&board_key->state, NT_KEY_CLOSED);
}

void nt_member_entry(struct nt_agree *a, struct nt_agree_comm *comm, const struct nt_entry *entry)
{
	struct nt_agree_key *key = nt_member_key(comm, entry->key);

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

	entry.count = a->config.hooks.gather(a->config.hooks.arg, a->config.board, &key->installed,
					     nt_view_seats(nt_view_comm(a, comm)), bytes,
					     sizeof(bytes));
	nt_board_run_free(a->config.board, key->installed.run);
	key->data_due = false;
	key->stir_ms = a->now_ms;
	nt_outbox_answer(a, comm, key, entry);
}

/* This node takes no plan for the communicator any more: a key that none is in force for need
 * not be counted. */
static void close_refused(struct nt_board_key *board_key, const struct nt_board_comm *board,
			  struct nt_agree_key *key)
{
	if (key->in_doubt || key->committed || !nt_view_passed(board_key, board, &key->installed))
		return;
	key->closed = true;
	atomic_store(&board_key->state, NT_KEY_CLOSED);
}

static void note_calls(struct nt_agree *a, const struct nt_board_comm *board,
		       const struct nt_board_key *board_key, struct nt_agree_key *key)
{
	uint64_t calls = 0;

	for (uint32_t m = 0; nt_board_taken(board, m); m++)
		calls += atomic_load_explicit(&board_key->calls[m], memory_order_relaxed);
	nt_rhythm_see(&key->rhythm, calls, a->now_ms);
}

static void key_step(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_board_comm *board,
		     struct nt_agree_key *key)
{
	struct nt_board_key *board_key;

	if (key->closed || key->slot < 0)
		return;
	board_key = &board->key[key->slot];
	note_calls(a, board, board_key, key);
	if (!key->wanted)
		return;
	if (atomic_load(&board_key->state) == NT_KEY_IDLE)
		atomic_store(&board_key->state, NT_KEY_OPEN);
	if (!key->ready && nt_view_turns_known(board_key, board)) {
		key->ready = true;
		key->ready_ms = a->now_ms;
		nt_outbox_answer(a, comm, key,
				 (struct nt_entry){ .type = NT_ENTRY_READY,
						    .turn = nt_view_top_turn(board_key, board) });
	}
	if (nt_recheck_step(a, comm, key) && nt_view_turns_known(board_key, board)) {
		key->recheck_ready = true;
		nt_outbox_answer(a, comm, key,
				 (struct nt_entry){ .type = NT_ENTRY_READY,
						    .turn = nt_view_top_turn(board_key, board),
						    .span = key->recheck });
	}
	if (comm->refusing)
		close_refused(board_key, board, key);
	if (!key->data_due || !nt_view_passed(board_key, board, &key->installed))
		return;
	if (key->passed_ms == 0)
		key->passed_ms = a->now_ms;
	if (nt_view_measured(a, &key->installed, board) ||
	    a->now_ms - key->passed_ms >= nt_rhythm_ms(&key->rhythm, NT_LATE_PAUSES, NT_LATE_MS))
		send_data(a, comm, key, nt_view_top_turn(board_key, board));
}

/* Keys that our ranks have called since the last look: slots are claimed one after the other. */
static void note_slots(struct nt_agree_comm *comm, const struct nt_board_comm *board)
{
	for (; nt_board_claimed(board, comm->slots); comm->slots++) {
		struct nt_agree_key *key = nt_member_key(comm,
							 atomic_load(&board->key[comm->slots].id));

		if (key)
			key->slot = (int)comm->slots;
	}
}

void nt_member_step(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);
	const char *why = comm->refusing ? NULL : nt_view_objection(board);

	if (!why && a->limited && !comm->local && !comm->refusing)
		why = "too many looks at other nodes";
	if (why)
		nt_outbox_refuse(a, comm, why);
	note_slots(comm, board);
	nt_recheck_begin(a, comm);
	for (uint32_t k = 0; k < comm->key_count; k++)
		key_step(a, comm, board, &comm->keys[k]);
}
