/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* pmix-log.h - one append-only log per node, readable by all nodes, over PMIx's put, commit and get
 *
 * PMIx under Slurm dictates the form (docs/hosts.md). An overwritten key stays stale on other
 * nodes, so entries are immutable keys nt/<number>. Only a process that has committed something
 * answers at once that a key is missing: each node leader commits one at its start, and readers
 * never block. A read from another node costs the reader's slurmstepd memory that is never freed,
 * so reads are counted and bounded.
 *
 * Threads:  all functions from one thread; PMIx's own thread delivers answers under a lock.
 * Memory:   the handle owns everything; bytes are copied to the caller's buffer.
 * Errors:   open: NULL; *why says what is missing or in the way (precheck.h). After a failed
 *           PMIx_Init there is no second one: it could crash the process. append: -1; the caller
 *           retries, and until then readers may or may not see the entry.
 * Host:     PMIx >= 4.1 (pmix.h) by dlopen; the program's copy, if it has one.
 */
#ifndef NT_SYNC_PMIX_LOG_H
#define NT_SYNC_PMIX_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/reason.h"
#include "pmix-sync/nodes.h"

struct nt_log;

/* task: of this process in the step; it is its PMIx rank, and the lowest on its node. *later: a
 * retry may succeed. */
struct nt_log *nt_log_open(uint32_t task, bool *later, struct nt_reason *why);
/* Why ranks of this step's only node cannot reach those of a communicator on others. */
void nt_log_elsewhere(struct nt_reason *why);
void nt_log_close(struct nt_log *log); /* PMIx_Finalize; NULL is fine */

/* Finalize PMIx until the next append or read, which then takes some milliseconds more. Earlier
 * appends stay readable. Slurm ends a step if a client dies without PMIx_Finalize. No effect during
 * a read, or in a program with MPI. */
void nt_log_leave(struct nt_log *log);

/* Finalize PMIx if a loaded MPI library would otherwise fail to start (mpi-library.h), and this is
 * its node's only task. Until MPI has started, appends fail and no reads begin. */
void nt_log_stand_aside(struct nt_log *log);
bool nt_log_is_away(const struct nt_log *log);

const struct nt_nodes *nt_log_nodes(const struct nt_log *log); /* of the step */
uint32_t nt_log_self(const struct nt_log *log); /* this node */

int nt_log_append(struct nt_log *log, const uint8_t *bytes, size_t count, struct nt_reason *why);

/* Begin to read new entries of a node's log. No effect during a read, and, unless urgent, once the
 * budget of read-pace.h is spent. */
void nt_log_poll(struct nt_log *log, uint32_t node, bool urgent);

/* The next append that has arrived; 0 bytes: none. Those of a node come in order. */
size_t nt_log_take(struct nt_log *log, uint32_t *node, uint8_t *out, size_t cap);

struct nt_log_counts {
	/* PMIx_Finalize so far; each costs 155 KiB here and 14 KiB in slurmstepd */
	uint32_t leaves;
	uint32_t fetches; /* reads from other nodes */
	uint32_t appends;
	uint64_t bytes; /* of them */
	uint64_t spent; /* slurmstepd's memory used by reads, estimated in bytes (read-pace.h) */
};
struct nt_log_counts nt_log_count(const struct nt_log *log);

uint64_t nt_log_read_cost(const struct nt_log *log, uint32_t node);

#endif
