/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* agree.h - join and two-phase plans of all communicators on one node, as a state machine
 *
 * Pure: no I/O, no clock, no threads. It sees the node's board, is told the time and what other
 * nodes' logs say, and hands out entries for this node's own log. docs/agreement.md says why it
 * is safe.
 *
 * agree.c drives. Below it, each file knows only what stands below it: join.c, member.c, home.c
 * and pending.c do a node's parts; recheck.c, retire.c and tree.c serve them; view.c looks at the
 * board, outbox.c holds what is to be said, state.h has the structures.
 *
 * Threads:  one thread at a time.
 * Memory:   the handle owns everything; bytes passed in are copied.
 * Errors:   create: NULL and *err set. Nothing else fails: what cannot be done leaves a
 *           communicator on AUTO.
 * Units:    milliseconds; turns in tasks.
 */
#ifndef NT_SYNC_AGREE_H
#define NT_SYNC_AGREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"
#include "pmix-sync/hooks.h"

struct nt_agree;

struct nt_agree *nt_agree_create(const struct nt_agree_config *config, struct nt_error *err);
void nt_agree_destroy(struct nt_agree *agree);

/* Look at the board and the time, and move on. True while something is pending (look again
 * soon); entries that are handed out while nothing is may wait. */
bool nt_agree_step(struct nt_agree *agree, uint64_t now_ms);

/* Packed entries that this node's log must carry next; 0 bytes: none. The same bytes are handed
 * out until nt_agree_sent() says that they are durable; only then do they take effect on this
 * node. */
size_t nt_agree_out(struct nt_agree *agree, const uint8_t **bytes);
void nt_agree_sent(struct nt_agree *agree, uint64_t now_ms);

/* One append of another node's log, in the order of that log. Damaged bytes are ignored and
 * counted. */
void nt_agree_in(struct nt_agree *agree, uint32_t node, const uint8_t *bytes, size_t count,
		 uint64_t now_ms);

enum nt_agree_need nt_agree_listens(const struct nt_agree *agree, uint32_t node);

/* From now on take no new plan that needs other nodes: reads of their logs are nearly spent.
 * Outcomes that are owed are still looked for. */
void nt_agree_limit(struct nt_agree *agree);

/* Last words before leaving in good order: aborts what this node coordinates, refuses what it
 * has not answered. The caller sends what nt_agree_out() then holds. */
void nt_agree_leave(struct nt_agree *agree, uint64_t now_ms);

struct nt_agree_counts nt_agree_count(const struct nt_agree *agree);

#endif
