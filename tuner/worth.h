/* SPDX-FileCopyrightText: 2026 The nccl-tune authors */
/* SPDX-License-Identifier: Apache-2.0 */
/* worth.h - what keys are worth: on a node's board, and in a process
 *
 * A key's calls times what NCCL predicts for one, against the same sum over all keys of all
 * communicators of the processes that call it. Processes are told apart by their pids; of one
 * with several ranks in a communicator, each rank is taken to have an equal part.
 *
 * Threads:  the helper thread. Ranks may write the board meanwhile.
 * Memory:   values.
 * Errors:   none.
 * Units:    microseconds.
 */
#ifndef NT_TUNER_WORTH_H
#define NT_TUNER_WORTH_H

#include "contract/board.h"
#include "engine/worth.h"
#include "tuner/comm.h"

/* What was seen of a board when it was looked at last. */
struct nt_worths {
	uint64_t looked_ms; /* 0: not yet */
	double of_us[NT_BOARD_COMMS];
};

/* Look at the board again. Keys that are not described count for nothing. */
void nt_worths_look(struct nt_worths *worths, const struct nt_board *board, uint64_t now_ms);

/* A key of board->comm[comm], by its calls now and the last look; zeros where it has no predicted
 * time. */
struct nt_worth nt_worths_of(const struct nt_worths *worths, const struct nt_board *board,
			     unsigned comm, const struct nt_board_key *key);

/* What one rank has spent in a key, by what NCCL predicts; 0: no such prediction. */
double nt_worth_rank_us(const struct nt_board_key *key);

/* What a rank has spent in a key, and in all keys of a communicator. On the decision thread, or
 * with the process's lock. */
double nt_worth_key_us(const struct nt_own_key *key);
double nt_worth_comm_us(const struct nt_comm *comm);

/* What one rank of a process has spent in all its communicators. With the process's lock. */
double nt_worth_process_us(const struct nt_process *process);

/* Has a key been called often enough to be explored, and is not, since it is not worth it?
 * of_us: nt_worth_process_us(). */
bool nt_worth_lacks(const struct nt_process *process, const struct nt_own_key *key, double of_us);

#endif
