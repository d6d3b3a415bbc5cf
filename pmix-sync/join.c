/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* join.c - see join.h */
#include "pmix-sync/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pmix-sync/board.h"
#include "pmix-sync/card.h"
#include "pmix-sync/layout.h"
#include "pmix-sync/outbox.h"
#include "pmix-sync/tree.h"
#include "pmix-sync/view.h"

#define NT_DEAF_MS 1000 /* then ranks that are not on this board must be on another node */
#define NT_LIKELY_MS 2000 /* then ranks are looked for on all nodes, */
#define NT_WIDE_NODES 64u /* if these are not more than so many */
#define NT_RANKS_MAX (1u << 20) /* of a communicator; its number stands on the board */

static void set_rejected(struct nt_agree *a, struct nt_agree_comm *comm, const char *why)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	comm->rejected = true;
	a->counts.rejects++;
	snprintf(board->why, sizeof(board->why), "%s", why);
	atomic_store(&board->state, NT_COMM_REJECTED);
}

static void reject(struct nt_agree *a, struct nt_agree_comm *comm, const char *why)
{
	struct nt_entry entry = { .type = NT_ENTRY_REJECT,
				  .comm = comm->id,
				  .bytes = (const uint8_t *)why,
				  .count = strlen(why) };

	comm->rejected = true;
	nt_outbox_say(a, comm, &entry);
}

/* What an attempt without memory, or an AGREED that was not for us, has left. */
static void forget_home(struct nt_agree_comm *comm)
{
	free(comm->cards);
	free(comm->rank_node);
	free(comm->participants);
	comm->cards = NULL;
	comm->rank_node = NULL;
	comm->participants = NULL;
	comm->participant_count = 0;
}

static bool become_home(struct nt_agree *a, struct nt_agree_comm *comm)
{
	if (comm->ranks > NT_RANKS_MAX)
		return false; /* written by nobody who counts them: no memory for such */
	forget_home(comm);
	comm->cards = calloc(comm->ranks, sizeof(*comm->cards));
	comm->rank_node = malloc(comm->ranks * sizeof(*comm->rank_node));
	comm->participants = calloc(a->config.nodes, sizeof(*comm->participants));
	if (!comm->cards || !comm->rank_node || !comm->participants)
		return false;
	for (uint32_t r = 0; r < comm->ranks; r++)
		comm->rank_node[r] = -1;
	free(comm->expected); /* it was of those who look for home */
	comm->expected = NULL;
	comm->home_node = (int)a->config.self;
	comm->is_home = true;
	return true;
}

/* Home: where the other ranks may be. The others: where home may be. */
static void expect_nodes(struct nt_agree *a, struct nt_agree_comm *comm,
			 struct nt_board_comm *board)
{
	struct nt_layout_seat seat[NT_BOARD_MEMBERS];
	struct nt_layout layout = { .seat = seat,
				    .ranks = comm->ranks,
				    .self = a->config.self,
				    .nodes = a->config.nodes,
				    .tasks = a->config.tasks,
				    .node_of_task = a->config.node_of_task,
				    .arg = a->config.node_arg };

	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		const struct nt_card *card = &board->member[m].card;
		uint32_t at = layout.seats;

		if (!nt_view_seated(board, m))
			continue;
		for (; at > 0 && seat[at - 1].rank > (uint32_t)card->rank; at--)
			seat[at] = seat[at - 1];
		seat[at] = (struct nt_layout_seat){ .rank = (uint32_t)card->rank,
						    .task = card->task };
		layout.seats++;
	}
	if (layout.seats > 0)
		nt_layout_likely(&layout, comm->is_home, comm->expected);
}

/* Nothing has come of the likely nodes: look at all, where they are not too many. */
static void widen(struct nt_agree *a, struct nt_agree_comm *comm)
{
	if (comm->widened || a->config.nodes > NT_WIDE_NODES ||
	    a->now_ms - comm->seen_ms < NT_LIKELY_MS)
		return;
	comm->widened = true;
	for (uint32_t n = 0; n < a->config.nodes; n++)
		comm->expected[n] |= 1;
}

static void note_card(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node, uint32_t rank,
		      const struct nt_card *card)
{
	char why[96];

	if (rank >= comm->ranks || comm->rejected || comm->agreed)
		return;
	if (comm->rank_node[rank] == (int)node)
		return;
	if (comm->rank_node[rank] >= 0) {
		snprintf(why, sizeof(why), "rank %u was seen on two nodes", rank);
		reject(a, comm, why);
		return;
	}
	comm->rank_node[rank] = (int)node;
	comm->cards[rank] = *card;
	comm->seen++;
	for (uint32_t p = 0; p < comm->participant_count; p++) {
		if (comm->participants[p] == node)
			return;
	}
	comm->participants[comm->participant_count++] = node;
}

void nt_join_cards(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		   const struct nt_entry *entry)
{
	struct nt_entry_cards cards;

	if (entry->bytes == NULL || nt_entry_cards_read(&cards, entry->bytes, entry->count) < 0) {
		a->counts.damaged++;
		return;
	}
	if (comm->expected)
		comm->expected[node] = 2; /* it has said something */
	for (uint32_t i = 0; i < cards.count; i++)
		note_card(a, comm, node, cards.seat[i].rank, &cards.common);
}

/* Who is not named is not meant: what a log says may be about a communicator of the past. */
static bool take_part(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t home,
		      const struct nt_entry *entry)
{
	free(comm->participants);
	comm->participants = calloc(a->config.nodes, sizeof(*comm->participants));
	comm->participant_count = 0;
	if (!comm->participants ||
	    nt_entry_nodes_read(comm->participants, &comm->participant_count, a->config.nodes,
				a->config.nodes, entry->bytes, entry->count) < 0)
		return false;
	return nt_tree_make(a, comm, home) == 0;
}

static void on_agreed(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		      const struct nt_entry *entry)
{
	if (comm->is_home) {
		if (comm->agreed && node == a->config.self)
			atomic_store(&nt_view_comm(a, comm)->state, NT_COMM_AGREED);
		return;
	}
	/* Whoever it is: only the node of rank 0 speaks so, and it has seen our cards. */
	if (comm->agreed || comm->rejected || !comm->expected || !take_part(a, comm, node, entry))
		return;
	comm->home_node = (int)node;
	comm->agreed = true;
	atomic_store(&nt_view_comm(a, comm)->state, NT_COMM_AGREED);
}

void nt_join_outcome(struct nt_agree *a, struct nt_agree_comm *comm, uint32_t node,
		     const struct nt_entry *entry)
{
	char why[120];
	bool own = comm->is_home && node == a->config.self;

	if (entry->type == NT_ENTRY_AGREED) {
		on_agreed(a, comm, node, entry);
		return;
	}
	if (!own && (comm->is_home || comm->agreed || comm->rejected || !comm->expected))
		return;
	snprintf(why, sizeof(why), "%.*s", (int)entry->count, (const char *)entry->bytes);
	set_rejected(a, comm, why);
}

/* Not for this node. Its log says so to whoever reads it. */
static void keep_out(struct nt_agree *a, struct nt_agree_comm *comm, const char *why)
{
	if (comm->is_home)
		reject(a, comm, why);
	else
		set_rejected(a, comm, why);
	nt_outbox_refuse(a, comm, why);
}

static void agree_on(struct nt_agree *a, struct nt_agree_comm *comm)
{
	uint8_t bytes[NT_ENTRY_BYTES_MAX];
	struct nt_entry agreed = { .type = NT_ENTRY_AGREED, .comm = comm->id, .bytes = bytes };

	nt_tree_sort(comm);
	agreed.count = nt_entry_nodes_write(comm->participants, comm->participant_count, bytes,
					    sizeof(bytes));
	if (agreed.count == 0) {
		reject(a, comm, "its nodes are too many and stand in no order");
		return;
	}
	(void)nt_tree_make(a, comm, a->config.self); /* our own cards are among them */
	comm->agreed = true;
	nt_outbox_say(a, comm, &agreed);
}

static void compare(struct nt_agree *a, struct nt_agree_comm *comm)
{
	const struct nt_card *usual = nt_card_usual(comm->cards, comm->ranks);
	char difference[64], why[120];

	for (uint32_t r = 0; r < comm->ranks; r++) {
		if (nt_card_same(&comm->cards[r], usual))
			continue;
		nt_card_difference(&comm->cards[r], usual, difference, sizeof(difference));
		snprintf(why, sizeof(why), "rank %u on %s differs: %s", r,
			 a->config.node_name(a->config.node_arg, (uint32_t)comm->rank_node[r]),
			 difference);
		reject(a, comm, why);
		return;
	}
	if (!usual->active)
		reject(a, comm, nt_card_idle(usual->idle));
	else if (comm->refused)
		reject(a, comm, "a node takes no plan for it");
	else
		agree_on(a, comm);
}

/* Tell the others about ranks of ours that they have not been told of. */
static void send_cards(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_board_comm *board)
{
	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		struct nt_entry entry = { .type = NT_ENTRY_CARDS, .comm = comm->id };
		struct nt_entry_cards cards = { .common = board->member[m].card };
		uint8_t bytes[1024];

		if (!nt_view_seated(board, m) || (comm->carded & (UINT64_C(1) << m)))
			continue;
		for (uint32_t o = m; nt_board_taken(board, o); o++) {
			const struct nt_card *card = &board->member[o].card;

			if (!nt_view_seated(board, o) || (comm->carded & (UINT64_C(1) << o)) ||
			    !nt_card_same(card, &cards.common))
				continue;
			cards.seat[cards.count].rank = (uint32_t)card->rank;
			cards.seat[cards.count++].task = card->task;
			comm->carded |= UINT64_C(1) << o;
		}
		entry.count = nt_entry_cards_write(&cards, bytes, sizeof(bytes));
		entry.bytes = bytes;
		if (entry.count > 0)
			nt_outbox_say(a, comm, &entry);
	}
}

static void join_home(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_board_comm *board)
{
	char why[120];
	uint32_t missing = 0;

	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		if (nt_view_seated(board, m))
			note_card(a, comm, a->config.self, (uint32_t)board->member[m].card.rank,
				  &board->member[m].card);
	}
	if (comm->rejected)
		return;
	if (comm->seen == comm->ranks) {
		compare(a, comm);
		return;
	}
	if (a->now_ms - comm->seen_ms < a->config.join_ms)
		return;
	while (missing < comm->ranks - 1 && comm->rank_node[missing] >= 0)
		missing++;
	snprintf(
		why, sizeof(why),
		"rank %u was not seen: no plugin there, or its node cannot be heard (%u of %u seen)",
		missing, comm->seen, comm->ranks);
	reject(a, comm, why);
}

/* Everything that concerns other nodes, once the first ranks of this node had time to be seated. */
static void join_spanning(struct nt_agree *a, struct nt_agree_comm *comm,
			  struct nt_board_comm *board)
{
	if (a->config.deaf) {
		if (a->now_ms - comm->seen_ms >= NT_DEAF_MS)
			set_rejected(a, comm, a->config.deaf);
		return;
	}
	if (a->config.nodes < 2)
		return;
	if (!comm->remembered) {
		bool known = nt_past_knows(&a->past, comm->id);

		if (known || !nt_past_add(&a->past, comm->id)) {
			keep_out(a, comm,
				 known ? "its id was another communicator's before"
				       : "too many communicators in one step");
			return;
		}
		comm->remembered = true;
	}
	if (!comm->expected) {
		comm->expected = calloc(a->config.nodes, 1);
		if (!comm->expected)
			return;
		expect_nodes(a, comm, board);
	}
	widen(a, comm);
	if (!comm->is_home)
		send_cards(a, comm, board);
}

static void note_local(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_board_comm *board)
{
	uint32_t seated = 0;
	bool has_first = false;

	for (uint32_t m = 0; nt_board_taken(board, m); m++) {
		if (!nt_view_seated(board, m))
			continue;
		seated++;
		has_first |= board->member[m].card.rank == 0;
	}
	comm->local = seated == comm->ranks;
	if (has_first && !comm->is_home)
		(void)become_home(a, comm);
}

static bool called_often(const struct nt_agree *a, struct nt_board_comm *board)
{
	for (uint32_t k = 0; nt_board_claimed(board, k); k++) {
		for (uint32_t m = 0; nt_board_taken(board, m); m++) {
			if (atomic_load(&board->key[k].calls[m]) >= a->config.join_calls)
				return true;
		}
	}
	return a->config.join_calls == 0;
}

/* What is soon over is not worth an entry in a log, which makes each read of it dearer for good. */
static bool in_use(struct nt_agree *a, struct nt_agree_comm *comm, struct nt_board_comm *board)
{
	const struct nt_agree_hooks *hooks = &a->config.hooks;

	if (!comm->used && !comm->local &&
	    (a->config.deaf || called_often(a, board) ||
	     (hooks->early && hooks->early(hooks->arg, board)))) {
		comm->used = true;
		comm->seen_ms = a->now_ms;
	}
	return comm->used || comm->local;
}

void nt_join_step(struct nt_agree *a, struct nt_agree_comm *comm)
{
	struct nt_board_comm *board = nt_view_comm(a, comm);

	if (comm->agreed || comm->rejected)
		return;
	note_local(a, comm, board);
	if (!in_use(a, comm, board))
		return;
	if (!comm->local && a->now_ms - comm->seen_ms < NT_GRACE_MS)
		return;
	if (!comm->local)
		join_spanning(a, comm, board);
	if (comm->rejected)
		return;
	if (comm->is_home)
		join_home(a, comm, board);
	else if (a->now_ms - comm->seen_ms >= 2 * (uint64_t)a->config.join_ms)
		set_rejected(a, comm, "nothing was heard from the node of rank 0");
}
