/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/model/trace-wrap.h"

#include <stdlib.h>

#define NODES_MAX 65536u

void __real_nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
			uint64_t now_ms);
void __wrap_nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
			uint64_t now_ms);
uint8_t *__real_nt_outbox_sent(struct nt_agree *a, size_t *count);
uint8_t *__wrap_nt_outbox_sent(struct nt_agree *a, size_t *count);
size_t __real_nt_entry_read(struct nt_entry *entry, const uint8_t *in, size_t count);
size_t __wrap_nt_entry_read(struct nt_entry *entry, const uint8_t *in, size_t count);
void __real_nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
			  const struct nt_entry *entry);
void __wrap_nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
			  const struct nt_entry *entry);
void __real_nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
			     const struct nt_agree_key *key, struct nt_entry entry);
void __wrap_nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
			     const struct nt_agree_key *key, struct nt_entry entry);

/* What of a log takes effect now: entries are read one by one, and so do they take effect. */
static _Thread_local struct {
	uint32_t node, of;
	const uint8_t *bytes;
	size_t count;
} now;

void __wrap_nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
			uint64_t now_ms)
{
	now.node = trace_node_of(agree->config.shm);
	now.of = node;
	now.bytes = bytes;
	now.count = count;
	__real_nt_agree_in(agree, node, bytes, count, now_ms);
	now.count = 0;
}

uint8_t *__wrap_nt_outbox_sent(struct nt_agree *a, size_t *count)
{
	uint8_t *sent = __real_nt_outbox_sent(a, count);

	now.node = now.of = trace_node_of(a->config.shm);
	now.bytes = sent;
	now.count = sent ? *count : 0;
	return sent;
}

size_t __wrap_nt_entry_read(struct nt_entry *entry, const uint8_t *in, size_t count)
{
	const size_t used = __real_nt_entry_read(entry, in, count);
	struct trace_event event;

	if (used == 0 || in < now.bytes || in >= now.bytes + now.count)
		return used;
	event = trace_entry(TRACE_READ, now.node, entry);
	event.slot = now.of;
	trace_give(&event);
	if (in + used == now.bytes + now.count)
		now.count = 0; /* its memory may be used for something else */
	return used;
}

void __wrap_nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
			  const struct nt_entry *entry)
{
	struct trace_event event = trace_entry(TRACE_SAY, trace_node_of(a->config.shm), entry);

	if (comm->local)
		trace_give(&event);
	__real_nt_outbox_say(a, comm, entry);
}

void __wrap_nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
			     const struct nt_agree_key *key, struct nt_entry entry)
{
	struct trace_event event = trace_entry(TRACE_ANSWER, trace_node_of(a->config.shm), &entry);

	event.comm = comm->id;
	event.key = key->id;
	trace_give(&event);
	__real_nt_outbox_answer(a, comm, key, entry);
}

static void give_participants(uint32_t node, const struct nt_entry *agreed)
{
	struct trace_event event = trace_entry(TRACE_PARTICIPANT, node, agreed);
	uint32_t *nodes = calloc(NODES_MAX, sizeof(*nodes)), count = 0;

	if (!nodes || nt_entry_nodes_read(nodes, &count, NODES_MAX, NODES_MAX, agreed->bytes,
					  agreed->count) < 0)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		event.slot = nodes[i];
		trace_give(&event);
	}
	free(nodes);
}

void trace_append(uint32_t node, const uint8_t *bytes, size_t count)
{
	struct nt_entry entry;
	size_t used;

	for (size_t at = 0; at < count; at += used) {
		struct trace_event event;

		used = __real_nt_entry_read(&entry, bytes + at, count - at);
		if (used == 0)
			return;
		event = trace_entry(TRACE_APPEND, node, &entry);
		trace_give(&event);
		if (entry.type == NT_ENTRY_AGREED)
			give_participants(node, &entry);
	}
}
