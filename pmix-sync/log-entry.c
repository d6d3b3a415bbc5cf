/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are base-128 varints, low group first; ids are eight bytes. */
#include "pmix-sync/log-entry.h"

#include <string.h>

struct entry_writer {
	uint8_t *out;
	size_t cap, used;
	bool full;
};

struct entry_reader {
	const uint8_t *in;
	size_t count, used;
	bool bad;
};

static void write_bytes(struct entry_writer *w, const void *bytes, size_t count)
{
	if (w->full || count > w->cap - w->used) {
		w->full = true;
		return;
	}
	if (count > 0)
		memcpy(w->out + w->used, bytes, count);
	w->used += count;
}

static void write_number(struct entry_writer *w, uint64_t number)
{
	do {
		uint8_t group = number & 0x7f;

		number >>= 7;
		if (number)
			group |= 0x80;
		write_bytes(w, &group, 1);
	} while (number);
}

static const uint8_t *read_bytes(struct entry_reader *r, size_t count)
{
	const uint8_t *at = r->in + r->used;

	if (r->bad || count > r->count - r->used) {
		r->bad = true;
		return NULL;
	}
	r->used += count;
	return at;
}

static uint64_t read_number(struct entry_reader *r)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const uint8_t *group = read_bytes(r, 1);

		if (!group)
			return 0;
		number |= (uint64_t)(*group & 0x7f) << shift;
		if (!(*group & 0x80))
			return number;
	}
	r->bad = true;
	return 0;
}

static uint32_t read_u32(struct entry_reader *r)
{
	uint64_t number = read_number(r);

	if (number > UINT32_MAX)
		r->bad = true;
	return (uint32_t)number;
}

static uint64_t read_id(struct entry_reader *r)
{
	const uint8_t *at = read_bytes(r, sizeof(uint64_t));
	uint64_t id = 0;

	if (at)
		memcpy(&id, at, sizeof(id));
	return id;
}

bool nt_entry_is_answer(uint32_t type)
{
	return type == NT_ENTRY_READY || type == NT_ENTRY_ACK || type == NT_ENTRY_NACK ||
	       type == NT_ENTRY_DATA;
}

size_t nt_entry_write(const struct nt_entry *entry, uint8_t *out, size_t cap)
{
	struct entry_writer w = { .out = out, .cap = cap };

	write_number(&w, entry->type);
	write_bytes(&w, &entry->comm, sizeof(entry->comm));
	write_bytes(&w, &entry->key, sizeof(entry->key));
	if (nt_entry_is_answer(entry->type))
		write_number(&w, entry->to);
	write_number(&w, entry->epoch);
	write_number(&w, entry->stride);
	write_number(&w, entry->cell);
	write_number(&w, entry->turn);
	write_number(&w, entry->span == NT_NEVER ? 0 : entry->span + 1);
	write_number(&w, entry->count);
	write_bytes(&w, entry->bytes, entry->count);
	return w.full || entry->count > NT_ENTRY_BYTES_MAX ? 0 : w.used;
}

size_t nt_entry_read(struct nt_entry *entry, const uint8_t *in, size_t count)
{
	struct entry_reader r = { .in = in, .count = count };
	uint64_t span;

	entry->type = read_u32(&r);
	entry->comm = read_id(&r);
	entry->key = read_id(&r);
	entry->to = nt_entry_is_answer(entry->type) ? read_u32(&r) : 0;
	entry->epoch = read_u32(&r);
	entry->stride = read_u32(&r);
	entry->cell = read_u32(&r);
	entry->turn = read_number(&r);
	span = read_number(&r);
	entry->span = span == 0 ? NT_NEVER : span - 1;
	entry->count = (size_t)read_number(&r);
	if (entry->count > NT_ENTRY_BYTES_MAX)
		r.bad = true;
	entry->bytes = read_bytes(&r, entry->count);
	if (entry->type == 0 || entry->type >= NT_ENTRY_TYPES)
		r.bad = true;
	return r.bad ? 0 : r.used;
}

/* Hashes are sent as they are. */
#define CAPS_RAW offsetof(struct nt_capabilities, nccl)

size_t nt_entry_caps_write(const struct nt_entry_caps *all_caps, uint8_t *out, size_t cap)
{
	const struct nt_capabilities *c = &all_caps->common;
	struct entry_writer w = { .out = out, .cap = cap };

	write_bytes(&w, c, CAPS_RAW);
	write_number(&w, c->nccl);
	write_number(&w, c->api);
	write_number(&w, c->active);
	write_number(&w, c->idle);
	write_number(&w, c->risks);
	write_number(&w, all_caps->count);
	for (uint32_t i = 0; i < all_caps->count; i++) {
		write_number(&w, all_caps->slot[i].rank);
		write_number(&w, all_caps->slot[i].task);
	}
	return w.full ? 0 : w.used;
}

int nt_entry_caps_read(struct nt_entry_caps *all_caps, const uint8_t *in, size_t count)
{
	struct entry_reader r = { .in = in, .count = count };
	const uint8_t *at;

	memset(all_caps, 0, sizeof(*all_caps));
	at = read_bytes(&r, CAPS_RAW);
	if (at)
		memcpy(&all_caps->common, at, CAPS_RAW);
	all_caps->common.nccl = read_u32(&r);
	all_caps->common.api = read_u32(&r);
	all_caps->common.active = read_u32(&r);
	all_caps->common.idle = read_u32(&r);
	all_caps->common.risks = read_u32(&r);
	all_caps->count = read_u32(&r);
	if (r.bad || all_caps->count > NT_SHM_SLOTS)
		return -1;
	for (uint32_t i = 0; i < all_caps->count; i++) {
		all_caps->slot[i].rank = read_u32(&r);
		all_caps->slot[i].task = read_u32(&r);
	}
	return r.bad || r.used != count ? -1 : 0;
}

/* Runs of equal distances: first number, how many more, distance. */
size_t nt_entry_nodes_write(const uint32_t *node, uint32_t count, uint8_t *out, size_t cap)
{
	struct entry_writer w = { .out = out, .cap = cap };
	uint32_t at = 0, before = 0;

	while (at < count) {
		uint32_t more = 0, apart = 1;

		if (at + 1 < count)
			apart = node[at + 1] - node[at];
		while (at + more + 1 < count && node[at + more + 1] - node[at + more] == apart)
			more++;
		write_number(&w, node[at] - before);
		write_number(&w, more);
		write_number(&w, apart);
		at += more;
		before = node[at++];
	}
	return w.full ? 0 : w.used;
}

int nt_entry_nodes_read(uint32_t *node, uint32_t *count, uint32_t cap, uint32_t below,
			const uint8_t *in, size_t bytes)
{
	struct entry_reader r = { .in = in, .count = bytes };
	uint64_t at = 0;

	*count = 0;
	while (!r.bad && r.used < bytes) {
		uint64_t first = read_u32(&r), more = read_u32(&r), apart = read_u32(&r);

		if (r.bad || apart == 0 || (*count > 0 && first == 0))
			return -1;
		at += first;
		for (uint64_t i = 0; i <= more; i++) {
			if (at >= below || *count == cap)
				return -1;
			node[(*count)++] = (uint32_t)at;
			if (i < more)
				at += apart;
		}
	}
	return r.bad || *count == 0 ? -1 : 0;
}
