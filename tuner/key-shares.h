/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* key-shares.h - each key's share of the communication time, on a node and in a process
 *
 * A key's time is its calls times NCCL's prediction for one. Its share is that part of the sum over
 * all keys of all communicators of the processes that call it. A process is known by its pid; if it
 * has several ranks in a communicator, each counts for an equal part.
 *
 * Threads:  the helper thread. Ranks may write shared memory meanwhile.
 * Memory:   values.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_KEY_SHARES_H
#define NT_KEY_SHARES_H

#include "contract/shm-layout.h"
#include "engine/key-info.h"
#include "tuner/comm.h"

/* At the last update */
struct nt_key_shares {
	uint64_t looked_ms; /* 0: never */
	double of_us[NT_SHM_COMMS];
};

/* Keys that are not described count as 0. */
void nt_key_shares_update(struct nt_key_shares *shares, const struct nt_shm *shm, uint64_t now_ms);

/* Of a key of shm->comm[comm], by its present calls and the last update; zeros if it has no
 * prediction. */
struct nt_share nt_key_shares_of(const struct nt_key_shares *shares, const struct nt_shm *shm,
				 unsigned comm, const struct nt_shm_key *key);

/* Predicted, of one rank; 0: no prediction. */
double nt_key_shares_rank_us(const struct nt_shm_key *key);

/* Predicted, of a rank in a key, and in all keys of a communicator. Decision thread, or with the
 * process's lock held. */
double nt_key_shares_key_us(const struct nt_local_key *key);
double nt_key_shares_comm_us(const struct nt_comm *comm);

/* Predicted, of one rank of a process in all its communicators. With the process's lock held. */
double nt_key_shares_process_us(const struct nt_process *process);

/* Has the key enough calls to be explored, but less than min_share? of_us:
 * nt_key_shares_process_us(). */
bool nt_key_shares_lacks(const struct nt_process *process, const struct nt_local_key *key,
			 double of_us);

#endif
