/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* entry.h - what nodes tell each other: one entry of a log, packed to tens of bytes
 *
 * Threads:  pure functions.
 * Memory:   a parsed entry points into the bytes it was parsed from.
 * Errors:   write returns 0 where it does not fit, read 0 where the bytes are no entry.
 * Units:    turns in tasks.
 */
#ifndef NT_SYNC_ENTRY_H
#define NT_SYNC_ENTRY_H

#include <stddef.h>
#include <stdint.h>
#include "contract/board.h"

enum nt_entry_type {
	NT_ENTRY_CARDS = 1, /* member: ranks of a communicator on this node */
	NT_ENTRY_AGREED, /* home: all cards seen and equal; bytes: the nodes that take part */
	NT_ENTRY_REJECT, /* home: AUTO for good; bytes: why */
	NT_ENTRY_WANT, /* home: count turns of this key */
	/* member: all ranks of my branch know their turn; the highest is `turn`; `span`: of which
	 * recheck, 0: the first time */
	NT_ENTRY_READY,
	NT_ENTRY_PROPOSE, /* home: plan `epoch` from `turn` on for `span` turns; bytes: payload */
	NT_ENTRY_ACK, /* member: no rank of my branch passes `turn` before it knows the outcome */
	/* member: a rank of my branch has passed, or must not be asked; `turn`: the highest;
	 * span 1: only for want of an exploration area */
	NT_ENTRY_NACK,
	NT_ENTRY_COMMIT, /* home: plan `epoch` holds */
	NT_ENTRY_ABORT, /* home: plan `epoch` is void */
	/* member: all ranks of my branch left plan `epoch` behind; bytes: what they saw */
	NT_ENTRY_DATA,
	NT_ENTRY_CLOSE, /* home: AUTO stays for this key; bytes: result */
	NT_ENTRY_REFUSE, /* member: this communicator takes no new plan from now on; bytes: why */
	NT_ENTRY_TYPES,
};

#define NT_ENTRY_BYTES_MAX 4096 /* of the variable part */
#define NT_ENTRY_MAX (NT_ENTRY_BYTES_MAX + 80)

struct nt_entry {
	uint32_t type; /* enum nt_entry_type */
	uint32_t epoch;
	uint32_t stride, cell;
	uint64_t comm, key;
	uint64_t turn;
	uint64_t span; /* NT_NEVER: for good */
	const uint8_t *bytes;
	size_t count;
};

size_t nt_entry_write(const struct nt_entry *entry, uint8_t *out, size_t cap);
size_t nt_entry_read(struct nt_entry *entry, const uint8_t *in, size_t count);

/* CARDS, in bytes: what the ranks have in common, and their numbers. One entry carries ranks with
 * equal cards only. */
struct nt_entry_cards {
	struct nt_card common; /* rank and task unused */
	uint32_t count;
	struct nt_entry_seat {
		uint32_t rank, task;
	} seat[NT_BOARD_MEMBERS];
};

size_t nt_entry_cards_write(const struct nt_entry_cards *cards, uint8_t *out, size_t cap);
int nt_entry_cards_read(struct nt_entry_cards *cards, const uint8_t *in, size_t count);

/* AGREED: numbers of nodes in rising order, as runs of equal distances. read: -1 if one is not
 * below `below`, or there are more than cap. */
size_t nt_entry_nodes_write(const uint32_t *node, uint32_t count, uint8_t *out, size_t cap);
int nt_entry_nodes_read(uint32_t *node, uint32_t *count, uint32_t cap, uint32_t below,
			const uint8_t *in, size_t bytes);

#endif
