/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* network.c - the nodes' logs, the messages that carry them, and what a node leader does in a step
 *
 * The messages under a log are lost, late, repeated and out of order. pmix-sync/pmix-log.h lets
 * nothing of that through but delay: entries are immutable keys nt/<sequence>, and a reader asks
 * for and takes the next sequence number alone. So the log of one node is read in order and each
 * append once, while the logs of two nodes have no order between them.
 * The same filter is here: an answer's appends other than the next one wanted are counted and
 *                          dropped.
 */
#include <string.h>
#include "pmix-sync/log-entry.h"
#include "lab/sim/sim.h"
#include "tests/model/trace-wrap.h"

#define IDLE_MS 50 /* as in pmix-sync/node-leader.c */

bool network_speaks(const struct sim *s, uint32_t node)
{
	return !s->node[node].dead && !s->node[node].left && !s->node[node].mute;
}

/* What the log now says of plans, for the checks. */
static void observe_append(struct sim *s, const uint8_t *bytes, size_t count)
{
	struct nt_entry entry;
	size_t used;

	for (size_t at = 0; at < count; at += used) {
		struct sim_comm *c;
		unsigned k;

		used = nt_entry_read(&entry, bytes + at, count - at);
		if (used == 0)
			return;
		c = comms_find(s, entry.comm);
		k = nt_key_band(entry.key) - 1;
		if (entry.type == NT_ENTRY_AGREED)
			s->t.agreed_comms++;
		if (!c || k >= SIM_KEYS)
			continue;
		if (entry.type == NT_ENTRY_PROPOSE) {
			c->proposal[k] = (struct sim_committed){ entry.turn,
								 entry.span == NT_NEVER
									 ? NT_NEVER
									 : entry.turn + entry.span,
								 entry.epoch };
			c->proposed_ms[k] = s->now_ms;
		} else if (entry.type == NT_ENTRY_COMMIT && entry.epoch == c->proposal[k].epoch) {
			c->committed[k][c->commits[k]++ % SIM_PLANS] = c->proposal[k];
			s->t.recheck_windows += c->for_good[k] && c->proposal[k].until != NT_NEVER;
			s->t.recheck_commits += c->for_good[k] && c->proposal[k].until == NT_NEVER;
			c->for_good[k] |= c->proposal[k].until == NT_NEVER;
		}
	}
}

/* How long the members of a plan were in doubt. */
static void observe_read(struct sim *s, const uint8_t *bytes, size_t count)
{
	struct nt_entry entry;
	size_t used;

	for (size_t at = 0; at < count; at += used) {
		struct sim_comm *c;
		unsigned k;

		used = nt_entry_read(&entry, bytes + at, count - at);
		if (used == 0)
			return;
		if (entry.type != NT_ENTRY_COMMIT)
			continue;
		c = comms_find(s, entry.comm);
		k = nt_key_band(entry.key) - 1;
		if (c && k < SIM_KEYS && c->proposal[k].epoch == entry.epoch)
			tally_note(s->t.commit_ms, s->now_ms - c->proposed_ms[k]);
	}
}

static void append_log(struct sim *s, struct sim_node *node, const uint8_t *bytes, size_t count)
{
	struct sim_append *a;
	uint64_t at_ms = s->now_ms;

	if (sim_chance(s, SIM_FAULT_late, 2)) {
		at_ms += sim_below(s, 6 * (uint32_t)s->tick_ms);
		s->t.late_reads++;
	}
	if (node->log_count > 0 && node->log[node->log_count - 1].at_ms > at_ms)
		at_ms = node->log[node->log_count - 1].at_ms;
	if (node->log_count == node->log_cap)
		node->log = sim_grow(node->log, &node->log_cap, sizeof(*node->log));
	a = &node->log[node->log_count++];
	a->bytes = sim_take(count, 1);
	memcpy(a->bytes, bytes, count);
	a->count = count;
	a->before = node->log_bytes;
	a->at_ms = at_ms;
	node->log_bytes += count;
	trace_append((uint32_t)(node - s->node), bytes, count);
	observe_append(s, bytes, count);
}

/* A failed append is tried again with the same bytes under the same sequence number; others may
 * see it before its writer knows. */
static void speak(struct sim *s, struct sim_node *node)
{
	const uint8_t *bytes;
	size_t count = nt_agree_out(node->agree, &bytes);

	if (count == 0)
		return;
	if (sim_chance(s, SIM_FAULT_lost, s->append_loss)) {
		s->t.lost_appends++;
		if (!node->append_hidden && sim_below(s, 2) == 0) {
			append_log(s, node, bytes, count);
			node->append_hidden = true;
			s->t.hidden_appends++;
		}
		return;
	}
	if (!node->append_hidden)
		append_log(s, node, bytes, count);
	node->append_hidden = false;
	if (sim_chance(s, SIM_FAULT_die, 400)) {
		node->dead = true;
		s->t.deaths_between++;
		return;
	}
	nt_agree_sent(node->agree, s->now_ms);
}

static struct sim_tail *tail_of(struct sim_node *node, uint32_t other)
{
	if (node->tail_of[other] == 0) {
		if (node->tail_count == node->tail_cap)
			node->tail = sim_grow(node->tail, &node->tail_cap, sizeof(*node->tail));
		node->tail[node->tail_count++].node = other;
		node->tail_of[other] = (uint16_t)node->tail_count;
	}
	return &node->tail[node->tail_of[other] - 1];
}

static void receive(struct sim *s, uint32_t self, const struct sim_message *message)
{
	struct sim_node *node = &s->node[self], *from = &s->node[message->from];
	struct sim_tail *tail = tail_of(node, message->from);
	uint32_t left = message->most;

	if (!message->copy)
		tail->asked_ms = 0;
	for (uint32_t e = message->first;
	     e < from->log_count && from->log[e].at_ms <= message->served_ms; e++) {
		const struct sim_append *a = &from->log[e];

		if (left-- == 0) {
			s->t.pieces++;
			return;
		}
		s->t.repeats += e < tail->next;
		s->t.gaps += e > tail->next;
		if (e != tail->next)
			continue;
		tail->next++;
		tail->bytes += a->count;
		node->spent += NT_PACE_KEY_BYTES + a->count;
		s->t.read_bytes += a->count;
		observe_read(s, a->bytes, a->count);
		nt_agree_in(node->agree, message->from, a->bytes, a->count, s->now_ms);
	}
}

static void hear(struct sim *s, uint32_t self)
{
	struct sim_node *node = &s->node[self];

	for (uint32_t i = 0; i < node->message_count;) {
		struct sim_message message = node->message[i];

		if (message.due_ms > s->now_ms) {
			i++;
			continue;
		}
		node->message[i] = node->message[--node->message_count];
		receive(s, self, &message);
	}
}

static void send(struct sim_node *node, struct sim_message message)
{
	if (node->message_count == node->message_cap)
		node->message = sim_grow(node->message, &node->message_cap, sizeof(*node->message));
	node->message[node->message_count++] = message;
}

/* One read that leaves the node. */
static void ask(struct sim *s, struct sim_node *node, struct sim_tail *tail)
{
	const struct sim_node *from = &s->node[tail->node];
	struct sim_message message = { .from = tail->node,
				       .first = tail->next,
				       .most = UINT32_MAX };
	uint32_t delay_ms = 1;
	uint64_t cost = nt_pace_read_cost(tail->next, tail->bytes);

	if (tail->need != NT_AGREE_IN_DOUBT &&
	    nt_pace_spent(sim_reads(s, node), node->spent + cost, s->nodes))
		return;
	if (tail->asked_ms != 0 && s->now_ms < tail->asked_ms)
		return;
	node->fetches++;
	node->spent += cost;
	tail->asked_ms = UINT64_MAX;
	if (from->mute)
		return; /* its server knows of no key yet, and answers when there is one */
	if (sim_chance(s, SIM_FAULT_lost, 6)) {
		tail->asked_ms = s->now_ms + sim_below(s, 1000);
		s->t.lost_reads++;
		return;
	}
	if (sim_chance(s, SIM_FAULT_late, 3)) {
		delay_ms += sim_below(s, 40 * (uint32_t)s->tick_ms);
		if (sim_below(s, 4) < (s->brief ? 3u : 2u))
			message.most = 1;
		s->t.late_reads++;
	}
	message.due_ms = s->now_ms + delay_ms;
	message.served_ms = s->now_ms + sim_below(s, delay_ms + 1);
	s->t.fetch_bytes += from->log_bytes;
	send(node, message);
	if (sim_chance(s, SIM_FAULT_repeat, 2)) {
		message.copy = true;
		message.due_ms += sim_below(s, 60 * (uint32_t)s->tick_ms);
		send(node, message);
	}
}

/* Which logs are wanted, how many, and what it costs to read them all. */
static uint32_t note_needs(struct sim *s, struct sim_node *node, uint64_t *cost)
{
	uint32_t wanted = 0;

	for (uint32_t i = 0; i < node->tail_count; i++)
		node->tail[i].need = NT_AGREE_DEAF;
	for (uint32_t other = 0; other < s->nodes; other++) {
		enum nt_agree_need need = nt_agree_listens(node->agree, other);
		struct sim_tail *tail;

		if (need == NT_AGREE_DEAF)
			continue;
		tail = tail_of(node, other);
		tail->need = need;
		*cost += nt_pace_read_cost(tail->next, tail->bytes);
		wanted++;
	}
	return wanted;
}

/* As poll_logs() there. */
static void poll_logs(struct sim *s, struct sim_node *node)
{
	uint64_t passed_ms = s->now_ms - node->stepped_ms, cost = 0;
	uint32_t wanted = note_needs(s, node, &cost);
	bool limited = nt_pace_limited(sim_reads(s, node), node->spent, s->nodes);

	if (wanted == 0)
		return;
	node->listened_ms += passed_ms < IDLE_MS ? passed_ms : IDLE_MS;
	if (limited)
		nt_agree_limit(node->agree);
	node->limited |= limited;
	for (uint32_t i = 0; i < node->tail_count; i++) {
		struct sim_tail *tail = &node->tail[i];
		bool urgent = tail->need == NT_AGREE_IN_DOUBT;
		uint64_t least_ms = nt_pace_ms(tail->listened_ms, wanted, cost, urgent);

		if (tail->need < (limited ? NT_AGREE_OWED : NT_AGREE_LISTENS) ||
		    s->now_ms - tail->polled_ms < least_ms)
			continue;
		tail->polled_ms = s->now_ms;
		tail->listened_ms = node->listened_ms;
		ask(s, node, tail);
	}
}

static void fail_leader(struct sim *s, struct sim_node *node)
{
	if (sim_chance(s, SIM_FAULT_stall, 60)) {
		bool is_long = sim_below(s, 4) == 0;

		node->frozen_until_ms = s->now_ms +
					sim_below(s, is_long ? 12000 : 60 * (uint32_t)s->tick_ms);
		s->t.stalls += !is_long;
		s->t.long_stalls += is_long;
	}
	if (sim_chance(s, SIM_FAULT_die, 2000)) {
		node->dead = true;
		s->t.deaths++;
	} else if (sim_chance(s, SIM_FAULT_leave, 1000)) {
		nt_agree_leave(node->agree, s->now_ms);
		speak(s, node);
		node->left = true;
		s->t.leaves++;
	}
}

/* A node whose node leader has died gets another one, or none. */
static void step_heir(struct sim *s, uint32_t self)
{
	struct sim_node *node = &s->node[self];

	if (node->heir_ms == 0)
		node->heir_ms = sim_below(s, 2) == 0 ? s->now_ms + sim_below(s, 1000) : UINT64_MAX;
	if (!node->heir && s->now_ms >= node->heir_ms)
		sim_make_heir(s, self);
	if (node->heir)
		(void)nt_agree_step(node->agree, s->now_ms);
	node->next_ms = s->now_ms + IDLE_MS;
}

void network_step(struct sim *s, uint32_t self)
{
	struct sim_node *node = &s->node[self];
	bool pending;

	if (node->dead)
		step_heir(s, self);
	if (!network_speaks(s, self) || s->now_ms < node->frozen_until_ms)
		return;
	fail_leader(s, node);
	if (!network_speaks(s, self))
		return;
	hear(s, self);
	pending = nt_agree_step(node->agree, s->now_ms);
	speak(s, node);
	poll_logs(s, node);
	node->stepped_ms = s->now_ms;
	node->next_ms = s->now_ms + (!pending	  ? IDLE_MS
				     : s->o.plain ? 1
						  : sim_below(s, 3 * (uint32_t)s->tick_ms));
}
