/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* comm-status.h - the state of a communicator and its keys: from shared memory or, once the slot is
 * left, as it was then
 *
 * Threads:  any that holds the process's lock.
 */
#ifndef NT_COMM_STATUS_H
#define NT_COMM_STATUS_H

#include "tuner/comm.h"

/* enum nt_comm_state. *why: why it was rejected */
uint32_t nt_comm_status(const struct nt_comm *comm, struct nt_reason *why);

/* NT_PARTICIPANT_* of all ranks of this node */
uint32_t nt_comm_status_flags(const struct nt_comm *comm);

/* NT_RISK_* of all ranks; of this rank alone until they have agreed. */
uint32_t nt_comm_status_risks(const struct nt_comm *comm);

/* *state: enum nt_key_state. True: the key is decided, and *outcome says how. */
bool nt_comm_status_of_key(const struct nt_comm *comm, const struct nt_local_key *key,
			   uint32_t *state, struct nt_outcome *outcome);

/* The newest round of an open key */
struct nt_round {
	uint8_t kind; /* of an exploration: enum nt_schedule_kind */
	unsigned arms; /* with the baseline */
	uint32_t calls, done; /* of the round; made by this rank */
};

/* False: the key is not open, or has no round yet. */
bool nt_comm_status_round(const struct nt_comm *comm, const struct nt_local_key *key,
			  struct nt_round *round);

/* Leave the slot, and keep the state. Takes the lock. */
void nt_comm_status_leave(struct nt_comm *comm);

#endif
