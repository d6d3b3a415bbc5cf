/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* outbox.h - what this node wants to say: to all nodes through its log, or to itself alone
 *
 * What stands in the log takes effect on this node, too, but only once it is durable there. A
 * communicator inside one node needs no log: what is said of it goes into the queue, and takes
 * effect when agree.c empties that. So do this node's own answers, on their way up the tree.
 *
 * Memory:   entries are copied. Out of memory, or an entry too large, is a message that was never
 *           sent: the other side times out and aborts.
 */
#ifndef NT_SYNC_OUTBOX_H
#define NT_SYNC_OUTBOX_H

#include "pmix-sync/entry.h"
#include "pmix-sync/state.h"

void nt_outbox_say(struct nt_agree *a, const struct nt_agree_comm *comm,
		   const struct nt_entry *entry);
/* READY, ACK, NACK or DATA of this node's ranks alone; communicator and key are filled in. */
void nt_outbox_answer(struct nt_agree *a, const struct nt_agree_comm *comm,
		      const struct nt_agree_key *key, struct nt_entry entry);
/* This node takes no new plan for the communicator from now on. Said once. */
void nt_outbox_refuse(struct nt_agree *a, struct nt_agree_comm *comm, const char *why);

/* For the log: the same bytes until nt_outbox_sent(); 0: none. */
size_t nt_outbox_next(struct nt_agree *a, const uint8_t **bytes);
/* What is durable now, or what waits in the queue: taken out, and the caller's to free. NULL:
 * nothing, or no memory (what was handed out is then handed out again). */
uint8_t *nt_outbox_sent(struct nt_agree *a, size_t *count);
uint8_t *nt_outbox_queued(struct nt_agree *a, size_t *count);
void nt_outbox_free(struct nt_agree *a);

#endif
