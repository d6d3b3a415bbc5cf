/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - the frame of the state machine: which communicators there are, what goes out, who
 * gets what comes in */
#include "pmix-sync/agree.h"

#include <stdlib.h>
#include <string.h>
#include "pmix-sync/state.h"

struct nt_agree *nt_agree_create(const struct nt_agree_config *config, struct nt_error *err)
{
	struct nt_agree *a = calloc(1, sizeof(*a));

	if (!a)
		goto fail;
	a->config = *config;
	a->listen = calloc(config->nodes ? config->nodes : 1, 1);
	a->stash = calloc(NT_STASH_MAX, sizeof(*a->stash));
	if (!a->listen || !a->stash)
		goto fail;
	return a;
fail:
	nt_agree_destroy(a);
	nt_error_set(err, "out of memory");
	return NULL;
}

void agree_comm_free(struct agree_comm *comm, const struct nt_agree_hooks *hooks)
{
	for (uint32_t k = 0; comm && k < comm->key_count; k++) {
		if (comm->keys[k].tuner)
			hooks->end(comm->keys[k].tuner);
		tree_reset(&comm->keys[k].tally);
		tree_reset(&comm->keys[k].again_tally);
	}
	if (comm) {
		free(comm->cards);
		free(comm->rank_node);
		free(comm->expected);
		free(comm->participants);
	}
	free(comm);
}

void nt_agree_destroy(struct nt_agree *agree)
{
	if (!agree)
		return;
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++)
		agree_comm_free(agree->comms[i], &agree->config.hooks);
	for (uint32_t i = 0; agree->stash && i < NT_STASH_MAX; i++)
		free(agree->stash[i].bytes);
	free(agree->listen);
	free(agree->stash);
	free(agree->past.id);
	free(agree->out);
	free(agree->queue);
	free(agree);
}

static bool append(uint8_t **buffer, size_t *count, size_t *cap, const uint8_t *bytes, size_t more)
{
	if (*count + more > *cap) {
		size_t grown = (*count + more) * 2;
		uint8_t *moved = realloc(*buffer, grown);

		if (!moved)
			return false;
		*buffer = moved;
		*cap = grown;
	}
	memcpy(*buffer + *count, bytes, more);
	*count += more;
	return true;
}

/* Out of memory or an entry too large is a message that was never sent: the other side times out
 * and aborts. */
void agree_emit(struct nt_agree *a, struct agree_comm *comm, const struct nt_entry *entry)
{
	uint8_t bytes[NT_ENTRY_MAX];
	size_t count;

	count = nt_entry_write(entry, bytes, sizeof(bytes));
	if (comm->local)
		(void)append(&a->queue, &a->queue_count, &a->queue_cap, bytes, count);
	else
		(void)append(&a->out, &a->out_count, &a->out_cap, bytes, count);
}

struct nt_board_comm *agree_board(struct nt_agree *a, const struct agree_comm *comm)
{
	return &a->config.board->comm[comm->slot];
}

struct nt_board_key *agree_board_key(struct nt_agree *a, const struct agree_comm *comm,
				     const struct agree_key *key)
{
	return &agree_board(a, comm)->key[key->slot];
}

struct agree_key *agree_key_of(struct agree_comm *comm, uint64_t id)
{
	struct agree_key *key;

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

bool agree_seated(const struct nt_board_comm *board, uint32_t member)
{
	return atomic_load(&board->member[member].state) == NT_MEMBER_JOINED;
}

uint64_t agree_top_turn(struct nt_board_key *key, const struct nt_board_comm *board)
{
	uint64_t top = 0;

	for (uint32_t m = 0; m < NT_BOARD_MEMBERS; m++) {
		uint64_t turn = agree_seated(board, m) ? atomic_load(&key->turn[m]) : 0;

		if (turn > top)
			top = turn;
	}
	return top;
}

static struct agree_comm *find_comm(struct nt_agree *a, uint64_t id)
{
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		if (a->comms[i] && a->comms[i]->id == id)
			return a->comms[i];
	}
	return NULL;
}

/* The oldest makes room. */
static void keep_for_later(struct nt_agree *a, uint32_t node, const struct nt_entry *entry)
{
	struct stash *stash = &a->stash[a->stash_next % NT_STASH_MAX];
	uint8_t *bytes = malloc(entry->count ? entry->count : 1);

	if (!bytes)
		return;
	a->stash_next++;
	free(stash->bytes);
	*stash = (struct stash){
		.node = node, .comm = entry->comm, .count = entry->count, .bytes = bytes
	};
	if (entry->count > 0)
		memcpy(bytes, entry->bytes, entry->count);
}

static void on_refusal(struct nt_agree *a, struct agree_comm *comm, uint32_t node)
{
	if (comm->is_home)
		comm->refused = true;
	else if ((int)node == comm->home_node)
		comm->refusing = true; /* no plan will come any more */
	else if (tree_is_child(a, comm, node))
		member_refuse(a, comm, "another node takes no plan");
}

static void on_answer(struct nt_agree *a, struct agree_comm *comm, uint32_t node,
		      const struct nt_entry *entry)
{
	struct agree_key *key;

	if (!comm->agreed || !tree_is_child(a, comm, node))
		return;
	key = agree_key_of(comm, entry->key);
	if (key)
		tree_answer(a, comm, key, node, entry);
}

static void dispatch(struct nt_agree *a, uint32_t node, const struct nt_entry *entry)
{
	struct agree_comm *comm = find_comm(a, entry->comm);

	if (!comm) {
		if (entry->type == NT_ENTRY_CARDS && node != a->config.self &&
		    !past_knows(&a->past, entry->comm))
			keep_for_later(a, node, entry);
		return;
	}
	switch (entry->type) {
	case NT_ENTRY_CARDS:
		if (comm->is_home)
			join_cards(a, comm, node, entry);
		else if (!comm->agreed && !comm->rejected && node != a->config.self)
			keep_for_later(a, node, entry); /* rank 0 may sit down yet */
		return;
	case NT_ENTRY_READY:
	case NT_ENTRY_ACK:
	case NT_ENTRY_NACK:
	case NT_ENTRY_DATA: on_answer(a, comm, node, entry); return;
	case NT_ENTRY_REFUSE: on_refusal(a, comm, node); return;
	case NT_ENTRY_AGREED:
	case NT_ENTRY_REJECT: join_verdict(a, comm, node, entry); return;
	default:
		if (comm->agreed && (int)node == comm->home_node)
			member_entry(a, comm, entry);
	}
}

static void dispatch_all(struct nt_agree *a, uint32_t node, const uint8_t *bytes, size_t count)
{
	struct nt_entry entry;
	size_t used;

	for (size_t at = 0; at < count; at += used) {
		used = nt_entry_read(&entry, bytes + at, count - at);
		if (used == 0) {
			a->counts.damaged++;
			return;
		}
		dispatch(a, node, &entry);
	}
}

/* What this node tells itself, until nothing is left to tell. */
static void drain_queue(struct nt_agree *a)
{
	while (a->queue_count > 0) {
		uint8_t *bytes = a->queue;
		size_t count = a->queue_count;

		a->queue = NULL;
		a->queue_count = a->queue_cap = 0;
		dispatch_all(a, a->config.self, bytes, count);
		free(bytes);
	}
}

/* Cards that came before this node knew that it is home of the communicator. */
static void replay_stash(struct nt_agree *a, struct agree_comm *comm)
{
	for (uint32_t i = 0; i < NT_STASH_MAX; i++) {
		struct stash *stash = &a->stash[i];
		struct nt_entry entry = { .type = NT_ENTRY_CARDS,
					  .comm = comm->id,
					  .bytes = stash->bytes,
					  .count = stash->count };

		if (!stash->bytes || stash->comm != comm->id)
			continue;
		join_cards(a, comm, stash->node, &entry);
		free(stash->bytes);
		*stash = (struct stash){ .node = 0 };
	}
}

/* New communicators on the board; old ones that all our ranks have left. */
static void look_at_board(struct nt_agree *a)
{
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		uint64_t id = atomic_load(&a->config.board->comm[i].id);
		struct agree_comm *comm = a->comms[i];

		if (comm && retire_comm(a, comm)) {
			agree_comm_free(comm, &a->config.hooks);
			a->comms[i] = NULL;
			continue;
		}
		if (comm || id == 0 || atomic_load(&a->config.board->comm[i].ranks) == 0)
			continue;
		comm = calloc(1, sizeof(*comm));
		if (!comm)
			return;
		comm->id = id;
		comm->slot = i;
		comm->ranks = atomic_load(&a->config.board->comm[i].ranks);
		comm->seen_ms = a->now_ms;
		comm->home_node = -1;
		comm->rtt_ms = 50;
		/* A speaker before us knew it: what it had promised, nobody can tell. */
		comm->rejected = comm->refusing = atomic_load(&a->config.board->comm[i].state) !=
						  NT_COMM_JOINING;
		a->comms[i] = comm;
	}
}

bool nt_agree_step(struct nt_agree *agree, uint64_t now_ms)
{
	agree->now_ms = now_ms;
	if (agree->began_ms == 0)
		agree->began_ms = now_ms;
	look_at_board(agree);
	drain_queue(agree);
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		struct agree_comm *comm = agree->comms[i];
		bool was_home;

		if (!comm)
			continue;
		was_home = comm->is_home;
		join_step(agree, comm);
		if (comm->is_home && !was_home)
			replay_stash(agree, comm);
		drain_queue(agree);
		if (comm->agreed && !comm->rejected) {
			member_step(agree, comm);
			drain_queue(agree);
			if (comm->is_home)
				home_step(agree, comm);
			drain_queue(agree);
		}
	}
	memset(agree->listen, 0, agree->config.nodes);
	agree->pending = false;
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		if (agree->comms[i])
			pending_note(agree, agree->comms[i]);
	}
	return agree->pending;
}

size_t nt_agree_out(struct nt_agree *agree, const uint8_t **bytes)
{
	if (agree->out_marked == 0)
		agree->out_marked = agree->out_count;
	*bytes = agree->out;
	return agree->out_marked;
}

void nt_agree_sent(struct nt_agree *agree, uint64_t now_ms)
{
	size_t count = agree->out_marked;
	uint8_t *own = malloc(count ? count : 1);

	agree->now_ms = now_ms;
	if (!own)
		return; /* handed out and told again at the next call */
	memcpy(own, agree->out, count);
	memmove(agree->out, agree->out + count, agree->out_count - count);
	agree->out_count -= count;
	agree->out_marked = 0;
	dispatch_all(agree, agree->config.self, own, count);
	free(own);
	drain_queue(agree);
}

void nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
		 uint64_t now_ms)
{
	agree->now_ms = now_ms;
	dispatch_all(agree, node, bytes, count);
	drain_queue(agree);
}

enum nt_agree_need nt_agree_listens(const struct nt_agree *agree, uint32_t node)
{
	return node < agree->config.nodes ? agree->listen[node] : NT_AGREE_DEAF;
}

void nt_agree_be_thrifty(struct nt_agree *agree)
{
	agree->thrifty = true;
}

void nt_agree_leave(struct nt_agree *agree, uint64_t now_ms)
{
	agree->now_ms = now_ms;
	for (uint32_t i = 0; i < NT_BOARD_COMMS; i++) {
		struct agree_comm *comm = agree->comms[i];

		if (!comm || comm->local)
			continue;
		if (comm->is_home)
			home_leave(agree, comm);
		member_refuse(agree, comm, "a node's speaker left");
	}
}

struct nt_agree_counts nt_agree_count(const struct nt_agree *agree)
{
	struct nt_agree_counts counts = agree->counts;

	counts.looks = agree->looks;
	return counts;
}
