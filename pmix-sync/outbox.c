/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pmix-sync/outbox.h"

#include <stdlib.h>
#include <string.h>

static void append_entry(struct nt_agree_buffer *to, const struct nt_entry *entry)
{
	uint8_t bytes[NT_ENTRY_MAX];
	size_t count = nt_entry_write(entry, bytes, sizeof(bytes));

	if (to->count + count > to->cap) {
		size_t grown = (to->count + count) * 2;
		uint8_t *moved = realloc(to->bytes, grown);

		if (!moved)
			return;
		to->bytes = moved;
		to->cap = grown;
	}
	if (count > 0)
		memcpy(to->bytes + to->count, bytes, count);
	to->count += count;
}

void nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_entry *entry)
{
	append_entry(comm->local ? &a->queue : &a->log, entry);
}

void nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
		      const struct nt_agree_key *key, struct nt_entry entry)
{
	entry.to = (uint32_t)comm->coordinator_node;
	entry.comm = comm->id;
	entry.key = key->id;
	append_entry(&a->queue, &entry);
}

void nt_outbox_refuse(struct nt_agree *a, struct nt_agree_comm *comm, int why)
{
	const char *code = nt_reason_code(why);
	struct nt_entry entry = { .type = NT_ENTRY_REFUSE,
				  .comm = comm->id,
				  .bytes = (const uint8_t *)code,
				  .count = strlen(code) };

	if (comm->refusing)
		return;
	comm->refusing = true;
	a->counts.refusals++;
	nt_outbox_say(a, comm, &entry);
}

size_t nt_outbox_next(struct nt_agree *a, const uint8_t **bytes)
{
	if (a->log_marked == 0)
		a->log_marked = a->log.count;
	*bytes = a->log.bytes;
	return a->log_marked;
}

uint8_t *nt_outbox_sent(struct nt_agree *a, size_t *count)
{
	uint8_t *sent = a->log_marked ? malloc(a->log_marked) : NULL;

	if (!sent)
		return NULL;
	*count = a->log_marked;
	memcpy(sent, a->log.bytes, *count);
	a->log.count -= *count;
	memmove(a->log.bytes, a->log.bytes + *count, a->log.count);
	a->log_marked = 0;
	return sent;
}

uint8_t *nt_outbox_queued(struct nt_agree *a, size_t *count)
{
	uint8_t *queued = a->queue.count ? a->queue.bytes : NULL;

	if (!queued)
		return NULL;
	*count = a->queue.count;
	a->queue = (struct nt_agree_buffer){ .count = 0 };
	return queued;
}

void nt_outbox_free(struct nt_agree *a)
{
	free(a->log.bytes);
	free(a->queue.bytes);
}
