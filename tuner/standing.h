/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* standing.h - what the board says, or said when the seat was left, of a communicator and its keys
 *
 * Threads:  any that holds the process's lock.
 */
#ifndef NT_STANDING_H
#define NT_STANDING_H

#include "tuner/comm.h"

/* enum nt_comm_state; *why is "" or says why it was rejected, and lives as long as the lock is held.
 */
uint32_t nt_standing(const struct nt_comm *comm, const char **why);

/* NT_MEMBER_* that this rank or another one of its node has raised. */
uint32_t nt_standing_flags(const struct nt_comm *comm);

/* *state is an enum nt_key_state; true where the key is decided, and how. */
bool nt_standing_of_key(const struct nt_comm *comm, const struct nt_own_key *key, uint32_t *state,
			struct nt_outcome *outcome);

/* The newest round of a key that is open. */
struct nt_round {
	uint8_t kind; /* enum nt_schedule_kind: of one that explores */
	unsigned arms; /* AUTO included */
	uint32_t calls, done; /* that it takes, that have gone by on this rank */
};

/* False: the key is not open, or no round of it has been agreed on yet. */
bool nt_standing_round(const struct nt_comm *comm, const struct nt_own_key *key,
		       struct nt_round *round);

/* Give the seat back and keep what the board says. Takes the lock itself. */
void nt_standing_leave(struct nt_comm *comm);

#endif
