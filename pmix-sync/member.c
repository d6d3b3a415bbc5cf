/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* member.c - what a node does as one of a communicator's nodes: hold, answer, install, sum up */
#include <string.h>
#include "pmix-sync/state.h"

/* What this node says goes up with what those below it say. */
static void answer(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key,
		   const struct nt_entry *entry)
{
	struct nt_entry own = *entry;

	own.comm = comm->id;
	own.key = key->id;
	tree_answer(a, comm, key, a->config.self, &own);
}

void member_refuse(struct nt_agree *a, struct agree_comm *comm, const char *why)
{
	struct nt_entry entry = { .type = NT_ENTRY_REFUSE,
				  .comm = comm->id,
				  .bytes = (const uint8_t *)why,
				  .count = strlen(why) };

	if (comm->refusing)
		return;
	comm->refusing = true;
	a->counts.refusals++;
	agree_emit(a, comm, &entry);
}

static const char *objection(const struct nt_board_comm *board)
{
	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint32_t flags = atomic_load(&board->member[m].flags);

		if (atomic_load(&board->member[m].state) == NT_MEMBER_LEFT)
			return "a rank has left";
		if (flags & NT_MEMBER_GRAPHS)
			return "CUDA graphs are captured on this communicator";
		if (flags & NT_MEMBER_ASYNC)
			return "collectives are issued asynchronously to their calls";
		if (flags & NT_MEMBER_ODD)
			return "two communicators have one id";
		if (flags & NT_MEMBER_PROBES)
			return "symmetric kernels may take this communicator's collectives";
	}
	return NULL;
}

/* All our ranks know their turn of this key. */
static bool turns_known(struct nt_board_key *board_key, const struct nt_board_comm *board)
{
	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (agree_seated(board, m) && atomic_load(&board_key->turn[m]) == 0)
			return false;
	}
	return true;
}

/* All our ranks have reached the newest plan here and, where it ends, its end. */
static bool plan_passed(struct nt_board_key *board_key, const struct nt_board_comm *board,
			const struct nt_plan *plan)
{
	for (uint32_t m = 0; plan->epoch != 0 && m < NT_BOARD_MEMBERS; m++) {
		if (!agree_seated(board, m))
			continue;
		if (atomic_load(&board_key->passed[m]) < plan->epoch)
			return false;
		/* Turns are published plus one. */
		if (plan->until != NT_NEVER && atomic_load(&board_key->turn[m]) <= plan->until)
			return false;
	}
	return true;
}

/* No rank of ours has decided this key at turn `at` or later. Read after the hold was set. */
static bool none_reached(struct nt_board_key *board_key, const struct nt_board_comm *board,
			 uint64_t at)
{
	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint64_t turn;

		if (!agree_seated(board, m))
			continue;
		turn = atomic_load_explicit(&board_key->turn[m], memory_order_seq_cst);
		if (turn == 0 || turn > at)
			return false;
	}
	return true;
}

static bool may_hold(struct nt_agree *a, struct agree_comm *comm, const struct agree_key *key,
		     uint32_t epoch)
{
	struct nt_board_comm *board = agree_board(a, comm);

	if (comm->refusing || objection(board) || key->slot < 0 || key->closed || key->in_doubt ||
	    !key->wanted)
		return false;
	if (epoch <= key->installed.epoch || (key->based && !key->again) || key->data_due)
		return false;
	return plan_passed(&board->key[key->slot], board, &key->installed);
}

static bool copy_plan(struct nt_plan *plan, const struct nt_entry *entry)
{
	if (entry->count > sizeof(plan->payload) || entry->stride == 0 || entry->epoch == 0)
		return false;
	memset(plan, 0, sizeof(*plan));
	plan->at = entry->turn;
	plan->until = entry->span == NT_NEVER ? NT_NEVER : entry->turn + entry->span;
	plan->epoch = entry->epoch;
	plan->stride = entry->stride;
	plan->run = NT_NO_RUN;
	plan->payload_bytes = (uint32_t)entry->count;
	if (entry->count > 0)
		memcpy(plan->payload, entry->bytes, entry->count);
	return true;
}

/* Phase one. From the moment hold_at is set no rank of ours passes the plan's turn without the
 * outcome. */
static void on_propose(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key,
		       const struct nt_entry *entry)
{
	struct nt_board_comm *board = agree_board(a, comm);
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
			held = none_reached(board_key, board, plan.at) && !objection(board);
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
	answer(a, comm, key,
	       &(struct nt_entry){ .type = held ? NT_ENTRY_ACK : NT_ENTRY_NACK,
				   .epoch = plan.epoch,
				   .turn = key->slot < 0 ? 0 : agree_top_turn(board_key, board),
				   .span = busy });
}

/* What is in force from now on, whatever windows come. */
static void settle(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key)
{
	key->based = true;
	key->base = key->installed;
	if (comm->settled_ms == 0)
		comm->settled_ms = a->now_ms;
	again_rest(a, comm, key);
}

/* Phase two. The plan is on the board before the hold is taken away, so a rank that waited finds
 * it. */
static void on_outcome(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key,
		       const struct nt_entry *entry)
{
	struct nt_board_key *board_key;

	if (!key->in_doubt || key->pending.epoch != entry->epoch)
		return; /* we never held it */
	board_key = agree_board_key(a, comm, key);
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
			settle(a, comm, key);
		a->counts.commits++;
	}
	atomic_store_explicit(&board_key->hold_at, 0, memory_order_seq_cst);
}

static void on_close(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key,
		     const struct nt_entry *entry)
{
	struct nt_board_key *board_key;

	if (key->based) { /* it is open again, and the plan for good stays */
		if (key->again && !key->in_doubt && !key->data_due)
			again_rest(a, comm, key);
		return;
	}
	key->closed = true;
	if (key->slot < 0)
		return;
	board_key = agree_board_key(a, comm, key);
	if (entry->count <= sizeof(board_key->result)) {
		if (entry->count > 0)
			memcpy(board_key->result, entry->bytes, entry->count);
		board_key->result_bytes = (uint32_t)entry->count;
	}
	atomic_store(&board_key->state, NT_KEY_CLOSED);
}

void member_entry(struct nt_agree *a, struct agree_comm *comm, const struct nt_entry *entry)
{
	struct agree_key *key = agree_key_of(comm, entry->key);

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

static bool measured(struct nt_agree *a, const struct nt_plan *plan,
		     const struct nt_board_comm *board)
{
	struct nt_board_run *run = &a->config.board->run[plan->run];

	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		if (agree_seated(board, m) &&
		    atomic_load(&run->done[m]) < atomic_load(&run->issued[m]))
			return false;
	}
	return true;
}

static void send_data(struct nt_agree *a, struct agree_comm *comm, struct agree_key *key,
		      uint64_t top)
{
	uint8_t bytes[NT_ENTRY_BYTES_MAX];
	struct nt_entry entry = {
		.type = NT_ENTRY_DATA, .epoch = key->installed.epoch, .turn = top, .bytes = bytes
	};

	entry.count = a->config.hooks.gather(a->config.hooks.arg, a->config.board, &key->installed,
					     NT_BOARD_MEMBERS, bytes, sizeof(bytes));
	nt_board_run_free(a->config.board, key->installed.run);
	key->data_due = false;
	key->stir_ms = a->now_ms;
	answer(a, comm, key, &entry);
}

/* This node takes no plan for the communicator any more: a key that none is in force for need
 * not be counted. */
static void close_refused(struct nt_board_key *board_key, const struct nt_board_comm *board,
			  struct agree_key *key)
{
	if (key->in_doubt || key->based || !plan_passed(board_key, board, &key->installed))
		return;
	key->closed = true;
	atomic_store(&board_key->state, NT_KEY_CLOSED);
}

static void note_calls(struct nt_agree *a, struct nt_board_key *board_key, struct agree_key *key)
{
	uint64_t calls = 0;

	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++)
		calls += atomic_load_explicit(&board_key->calls[m], memory_order_relaxed);
	if (calls != key->calls)
		key->called_ms = a->now_ms;
	key->calls = calls;
}

static void key_step(struct nt_agree *a, struct agree_comm *comm, struct nt_board_comm *board,
		     struct agree_key *key)
{
	struct nt_board_key *board_key;

	for (int s = 0; key->slot < 0 && s < NT_BOARD_KEYS; s++) {
		if (atomic_load(&board->key[s].id) == key->id)
			key->slot = s;
	}
	if (key->closed || key->slot < 0)
		return;
	board_key = &board->key[key->slot];
	note_calls(a, board_key, key);
	if (!key->wanted)
		return;
	if (atomic_load(&board_key->state) == NT_KEY_IDLE)
		atomic_store(&board_key->state, NT_KEY_OPEN);
	if (!key->ready && turns_known(board_key, board)) {
		key->ready = true;
		key->ready_ms = a->now_ms;
		answer(a, comm, key,
		       &(struct nt_entry){ .type = NT_ENTRY_READY,
					   .turn = agree_top_turn(board_key, board) });
	}
	if (again_step(a, comm, key) && turns_known(board_key, board)) {
		key->again_ready = true;
		answer(a, comm, key,
		       &(struct nt_entry){ .type = NT_ENTRY_READY,
					   .turn = agree_top_turn(board_key, board),
					   .span = key->session });
	}
	if (comm->refusing)
		close_refused(board_key, board, key);
	if (!key->data_due || !plan_passed(board_key, board, &key->installed))
		return;
	if (key->passed_ms == 0)
		key->passed_ms = a->now_ms;
	if (measured(a, &key->installed, board) || a->now_ms - key->passed_ms >= NT_SETTLE_MS)
		send_data(a, comm, key, agree_top_turn(board_key, board));
}

void member_step(struct nt_agree *a, struct agree_comm *comm)
{
	struct nt_board_comm *board = agree_board(a, comm);
	const char *why = comm->refusing ? NULL : objection(board);

	if (!why && a->thrifty && !comm->local && !comm->refusing)
		why = "too many looks at other nodes";
	if (why)
		member_refuse(a, comm, why);
	for (int s = 0; s < NT_BOARD_KEYS; s++) {
		uint64_t id = atomic_load(&board->key[s].id);

		if (id != 0)
			(void)agree_key_of(comm, id);
	}
	again_begin(a, comm);
	for (uint32_t k = 0; k < comm->key_count; k++)
		key_step(a, comm, board, &comm->keys[k]);
}
