/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.h - a state machine: one node's part in joining communicators and agreeing on plans
 *
 * Pure: no I/O, no clock, no threads. It reads and writes the node's shared memory, is given the
 * time and the contents of other nodes' logs, and returns entries for this node's own log.
 * docs/agreement.md shows that it is safe.
 *
 * agree.c drives the following files, each of which uses only later ones: join.c, participant.c and
 * coordinator.c; recheck-timer.c and tree.c; view.c (reads shared memory), outbox.c (outgoing
 * entries), agree-state.h (structures).
 *
 * Threads:  one thread at a time.
 * Memory:   the handle owns everything; bytes passed in are copied.
 * Errors:   create: NULL and *err. Otherwise none: after any failure the communicator keeps NCCL's
 *           choice.
 * Units:    milliseconds; turns in tasks.
 */
#ifndef NT_SYNC_AGREE_H
#define NT_SYNC_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/error.h"
#include "pmix-sync/hooks.h"

struct nt_agree;

struct nt_agree *nt_agree_create(const struct nt_agree_config *config, struct nt_error *err);
void nt_agree_destroy(struct nt_agree *agree);

/* One step. True: something is pending, call again soon. False: entries handed out may wait. */
bool nt_agree_step(struct nt_agree *agree, uint64_t now_ms);

/* Packed entries for this node's log; 0 bytes: none. The same bytes until nt_agree_sent() says that
 * they are durable; only then do they take effect on this node. */
size_t nt_agree_out(struct nt_agree *agree, const uint8_t **bytes);
void nt_agree_sent(struct nt_agree *agree, uint64_t now_ms);

/* One append of another node's log, in the order of the log. Damaged bytes are ignored and
 * counted. */
void nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
		 uint64_t now_ms);

enum nt_agree_need nt_agree_listens(const struct nt_agree *agree, uint32_t node);

/* Take no more plans with other nodes, because the budget for reading logs is nearly spent.
 * Outcomes that are owed are still read. */
void nt_agree_limit(struct nt_agree *agree);

/* Before an orderly exit: abort this coordinator's proposals, and refuse what is unanswered. Then
 * send what nt_agree_out() returns. */
void nt_agree_leave(struct nt_agree *agree, uint64_t now_ms);

struct nt_agree_counts nt_agree_count(const struct nt_agree *agree);

#endif
