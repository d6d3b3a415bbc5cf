/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* log-entry.h - the entries of logs, by which nodes communicate, packed to tens of bytes
 *
 * Threads:  pure functions.
 * Memory:   a parsed entry points into the bytes it was parsed from.
 * Errors:   0: the entry does not fit (write), or the bytes are no entry (read).
 * Units:    turns in tasks.
 */
#ifndef NT_SYNC_LOG_ENTRY_H
#define NT_SYNC_LOG_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/shm-layout.h"

enum nt_entry_type {
	NT_ENTRY_CAPS = 1, /* participant: the communicator's ranks on this node */
	/* coordinator: all ranks were seen and match; epoch: NT_RISK_* of any rank; bytes:
	 * participating nodes */
	NT_ENTRY_AGREED,
	/* coordinator: the communicator is not tuned; bytes: why (contract/reason.h) */
	NT_ENTRY_REJECT,
	NT_ENTRY_WANT, /* coordinator: start counting turns of this key */
	/* participant: all ranks of this branch know their turn; turn: the highest; span: number of
	 * the recheck, 0: first exploration */
	NT_ENTRY_READY,
	/* coordinator: plan `epoch` from `turn` on for `span` turns; bytes: payload */
	NT_ENTRY_PROPOSE,
	/* participant: no rank of this branch passes `turn` before it knows the outcome */
	NT_ENTRY_ACK,
	/* participant: a rank of this branch has passed `turn`, or must not be asked; turn: the
	 * highest; span 1: only for want of a sample area */
	NT_ENTRY_NACK,
	NT_ENTRY_COMMIT, /* coordinator: plan `epoch` is in force */
	NT_ENTRY_ABORT, /* coordinator: plan `epoch` is void */
	/* participant: all ranks of this branch have passed plan `epoch`; bytes: their
	 * measurements */
	NT_ENTRY_DATA,
	/* coordinator: NCCL's choice, or the committed plan, stays for this key; span: number of
	 * the recheck, 0: first exploration; bytes: result */
	NT_ENTRY_CLOSE,
	/* participant: this node takes no more plans for this communicator; bytes: why
	 * (contract/reason.h) */
	NT_ENTRY_REFUSE,
	NT_ENTRY_TYPES,
};

#define NT_ENTRY_BYTES_MAX 4096 /* of the variable part */
#define NT_ENTRY_MAX (NT_ENTRY_BYTES_MAX + 80)

struct nt_entry {
	uint32_t type; /* enum nt_entry_type */
	uint32_t to; /* answers: node of the coordinator that asked; else 0 */
	uint32_t epoch;
	uint32_t stride, cell;
	uint64_t comm, key;
	uint64_t turn;
	uint64_t span; /* NT_NEVER: for good */
	const uint8_t *bytes;
	size_t count;
};

bool nt_entry_is_answer(uint32_t type);

size_t nt_entry_write(const struct nt_entry *entry, uint8_t *out, size_t cap);
size_t nt_entry_read(struct nt_entry *entry, const uint8_t *in, size_t count);

/* Bytes of CAPS: ranks with equal capabilities; their risks are combined. */
struct nt_entry_caps {
	struct nt_capabilities common; /* rank and task are unused */
	uint32_t count;
	struct nt_entry_slot {
		uint32_t rank, task;
	} slot[NT_SHM_SLOTS];
};

size_t nt_entry_caps_write(const struct nt_entry_caps *all_caps, uint8_t *out, size_t cap);
int nt_entry_caps_read(struct nt_entry_caps *all_caps, const uint8_t *in, size_t count);

/* Bytes of AGREED: rising node numbers. read: -1 if a number is not below `below`, or there are
 * more than cap. */
size_t nt_entry_nodes_write(const uint32_t *node, uint32_t count, uint8_t *out, size_t cap);
int nt_entry_nodes_read(uint32_t *node, uint32_t *count, uint32_t cap, uint32_t below,
			const uint8_t *in, size_t bytes);

#endif
