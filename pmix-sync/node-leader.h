/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* node-leader.h - the one process of a node that drives the agreement, between shared memory and
 * logs
 *
 * Threads:  all functions on the process's helper thread; destroy also on the exiting thread once
 *           the helper thread has ended.
 * Memory:   the leader owns everything; hooks and strings must outlive it.
 * Errors:   create: NULL and *err if another process leads, or the node's first task may still
 *           become the leader, or memory is short. Without PMIx, only communicators within the
 *           node are tuned.
 * Units:    milliseconds of CLOCK_MONOTONIC.
 * Host:     PMIx >= 4.1 by dlopen, only in steps of more than one node.
 */
#ifndef NT_SYNC_NODE_LEADER_H
#define NT_SYNC_NODE_LEADER_H

#include "pmix-sync/agree.h"
#include "pmix-sync/pmix-log.h"

struct nt_node_leader;

struct nt_node_leader_config {
	struct nt_shm *shm;
	int fd; /* the node's memory, for the leader's lock */
	struct nt_agree_hooks hooks;
	uint32_t join_ms; /* time limit for all ranks of a communicator to join */
	/* least calls of a key before its communicator is announced */
	uint32_t join_calls;
	uint32_t agree_ms; /* how long a rank waits for an outcome */
	uint32_t task, tasks; /* this process's task in the step, and the number of tasks */
	uint32_t local_task; /* SLURM_LOCALID */
	uint32_t nodes; /* of the step */
	bool late; /* the node's first task had its chance: others may lead */
};

struct nt_node_leader *nt_node_leader_create(const struct nt_node_leader_config *config,
					     struct nt_error *err);
/* Sends the last entries and finalizes PMIx. NULL is fine. */
void nt_node_leader_destroy(struct nt_node_leader *leader);

/* One iteration. Returns how long the caller may sleep, in milliseconds. */
uint32_t nt_node_leader_step(struct nt_node_leader *leader, uint64_t now_ms);

/* For the record. */
struct nt_node_leader_counts {
	struct nt_agree_counts agree;
	struct nt_log_counts log;
	uint32_t nodes;
};
struct nt_node_leader_counts nt_node_leader_count(const struct nt_node_leader *leader);

#endif
