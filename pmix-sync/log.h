/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* log.h - one append-only log per node, readable by all nodes, over PMIx put, commit and
 * direct-modex get
 *
 * What PMIx under Slurm does decides the form (docs/slurm-pmix.md): an overwritten key stays
 * stale elsewhere, so entries are immutable keys nt/<sequence>; a key that is not there yet is
 * answered at once only by a process that has committed something, so each speaker commits one
 * at its start and everyone reads without blocking; every read that leaves the node costs the
 * asking slurmstepd memory for good, so reads are counted and bounded.
 *
 * Threads:  all functions from one thread; PMIx's own thread delivers into an inbox under a lock.
 * Memory:   the handle owns everything; bytes handed out are the caller's buffer.
 * Errors:   open: NULL and *err says what is missing and what to type. append: -1, and the
 *           caller tries again; the entry is then not readable anywhere, or readable once a
 *           later append succeeds.
 * Host:     PMIx >= 4.1 (pmix.h), loaded with dlopen, the application's own copy where it has
 *           one.
 */
#ifndef NT_SYNC_LOG_H
#define NT_SYNC_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "contract/error.h"

struct nt_log;

/* task: this process's task in the step, which must be its PMIx rank and the lowest of its node. */
struct nt_log *nt_log_open(uint32_t task, struct nt_error *err);
void nt_log_close(struct nt_log *log); /* PMIx_Finalize; NULL is fine */

/* Leave PMIx until the next append or read, which take some milliseconds then; what was appended
 * stays readable. Slurm ends a step when a process that has not left dies. Nothing happens while
 * a read is under way, nor in a program that has MPI. */
void nt_log_stand_aside(struct nt_log *log);
bool nt_log_stands_aside(const struct nt_log *log);

uint32_t nt_log_nodes(const struct nt_log *log);
uint32_t nt_log_tasks(const struct nt_log *log);
uint32_t nt_log_self(const struct nt_log *log); /* this node */
int nt_log_node_of_task(const struct nt_log *log, uint32_t task); /* -1: no such task */
const char *nt_log_node_name(const struct nt_log *log, uint32_t node);

int nt_log_append(struct nt_log *log, const uint8_t *bytes, size_t count, struct nt_error *err);

/* Ask for what the log of this node holds beyond what was read. Nothing happens while an earlier
 * read is under way or, where it is not urgent, once the budget of pace.h is spent. */
void nt_log_poll(struct nt_log *log, uint32_t node, bool urgent);

/* The next append that has arrived, in the order of its node's log; 0 bytes: none. */
size_t nt_log_take(struct nt_log *log, uint32_t *node, uint8_t *out, size_t cap);

/* So far. */
struct nt_log_counts {
	/* times that PMIx was left; each costs 155 KiB here and 14 KiB in slurmstepd */
	uint32_t asides;
	uint32_t fetches; /* reads that left the node */
	uint32_t appends;
	uint64_t bytes; /* of them */
	uint64_t spent; /* by reads, of slurmstepd's memory, in bytes, by calculation (pace.h) */
};
struct nt_log_counts nt_log_count(const struct nt_log *log);

/* Of the next read of this node's log. */
uint64_t nt_log_read_cost(const struct nt_log *log, uint32_t node);

#endif
