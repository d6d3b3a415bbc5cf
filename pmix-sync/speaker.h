/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* speaker.h - the one process of a node that drives the agreement: board on one side, the nodes'
 * logs on the other
 *
 * Threads:  every function on the process's helper thread, create and destroy included; destroy
 *           may also be called from the exiting thread once the helper thread has ended.
 * Memory:   the speaker owns everything; hooks and strings must outlive it.
 * Errors:   create: NULL and *err set where this process is not the node's speaker (another one
 *           is, or the node's first task may still come) or memory is short. PMIx trouble is no
 *           error: the node then speaks to nobody, and only communicators inside it are tuned;
 *           nt_speaker_why() says what is missing.
 * Units:    milliseconds of CLOCK_MONOTONIC.
 * Host:     PMIx >= 4.1 by dlopen, and only in steps of more than one node.
 */
#ifndef NT_SYNC_SPEAKER_H
#define NT_SYNC_SPEAKER_H

#include "pmix-sync/agree.h"
#include "pmix-sync/log.h"

struct nt_speaker;

struct nt_speaker_config {
	struct nt_board *board;
	const char *dir; /* of the board; a file there is locked as long as the speaker lives */
	struct nt_agree_hooks hooks;
	uint32_t join_ms; /* how long a communicator's ranks may take to be seen */
	uint32_t join_calls; /* of one key, before other nodes are told of a communicator */
	uint32_t agree_ms; /* how long a rank waits for an outcome */
	uint32_t task, tasks; /* this process's task in the step, and how many there are */
	uint32_t local_task; /* SLURM_LOCALID */
	uint32_t nodes; /* of the step */
	bool late; /* the first task of the node had its time: another process may speak */
};

struct nt_speaker *nt_speaker_create(const struct nt_speaker_config *config, struct nt_error *err);
/* says its last words, leaves PMIx; NULL is fine */
void nt_speaker_destroy(struct nt_speaker *speaker);

/* One round. Returns how long the caller may sleep before the next, in milliseconds. */
uint32_t nt_speaker_step(struct nt_speaker *speaker, uint64_t now_ms);

/* "" or why this node cannot speak to the others, and what to do ("no PMIx server: start the
 * step with --mpi=pmix"). */
const char *nt_speaker_why(const struct nt_speaker *speaker);

/* For the record. */
struct nt_speaker_counts {
	struct nt_agree_counts agree;
	struct nt_log_counts log;
	uint32_t nodes;
};
struct nt_speaker_counts nt_speaker_count(const struct nt_speaker *speaker);

#endif
