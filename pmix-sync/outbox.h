/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - outgoing entries: for all nodes, through this node's log, or for this node alone
 *
 * An entry in the log takes effect on this node, too, once it is durable. Entries of a communicator
 * within one node, and this node's own answers on their way up the tree, go through a local queue
 * that agree.c drains.
 *
 * Memory:   entries are copied. Without memory, or if it is too large, an entry is lost: the other
 *           side times out and aborts.
 */
#ifndef NT_SYNC_OUTBOX_H
#define NT_SYNC_OUTBOX_H

#include "pmix-sync/log-entry.h"
#include "pmix-sync/agree-state.h"

void nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_entry *entry);
/* READY, ACK, NACK or DATA of this node's ranks. Fills in coordinator, communicator and key. */
void nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
		      const struct nt_agree_key *key, struct nt_entry entry);
/* Take no more plans for the communicator; why: enum nt_reason_id. Sent once. */
void nt_outbox_refuse(struct nt_agree *a, struct nt_agree_comm *comm, int why);

/* Bytes for the log: the same until nt_outbox_sent(); 0: none. */
size_t nt_outbox_next(struct nt_agree *a, const uint8_t **bytes);
/* What has become durable, and what is queued; the caller's. NULL: nothing, or no memory (then the
 * same bytes come again). */
uint8_t *nt_outbox_sent(struct nt_agree *a, size_t *count);
uint8_t *nt_outbox_queued(struct nt_agree *a, size_t *count);
void nt_outbox_free(struct nt_agree *a);

#endif
