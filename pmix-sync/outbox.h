/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - outgoing entries: to all nodes through this node's log, or to this node alone
 *
 * An entry in the log also takes effect on this node, but only once it is durable. Communicators
 * inside one node need no log: their entries, and this node's own answers on their way up the tree,
 * go through a local queue that agree.c drains.
 *
 * Memory:   entries are copied. If memory is short or an entry is too large, the entry is lost: the
 *           other side times out and aborts.
 */
#ifndef NT_SYNC_OUTBOX_H
#define NT_SYNC_OUTBOX_H

#include "pmix-sync/log-entry.h"
#include "pmix-sync/agree-state.h"

void nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_entry *entry);
/* READY, ACK, NACK or DATA of this node's ranks; fills in coordinator, communicator and
 * key. */
void nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
		      const struct nt_agree_key *key, struct nt_entry entry);
/* This node takes no more plans for the communicator; why: enum nt_reason_id. Sent once. */
void nt_outbox_refuse(struct nt_agree *a, struct nt_agree_comm *comm, int why);

/* Bytes for the log: the same until nt_outbox_sent(); 0: none. */
size_t nt_outbox_next(struct nt_agree *a, const uint8_t **bytes);
/* What has become durable, or what is in the queue. The caller owns it. NULL: nothing, or out of
 * memory (then the same bytes are handed out again). */
uint8_t *nt_outbox_sent(struct nt_agree *a, size_t *count);
uint8_t *nt_outbox_queued(struct nt_agree *a, size_t *count);
void nt_outbox_free(struct nt_agree *a);

#endif
